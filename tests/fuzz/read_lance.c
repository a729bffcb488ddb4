/* SPDX-License-Identifier: MIT
 *
 * What a mount reads of a file: documents, layout, columns and streams, the first rows as text, the whole table as Arrow
 * has it, and what verification says of it. A failure that does not say why ends the program.
 */
#include "read_lance.h"

#include <stdlib.h>

#include <ntuple/arrow.h>
#include <ntuple/document.h>
#include <ntuple/read.h>

#include "everything.h"
#include "format/format.h"
#include "view/row_lines.h"
#include "view/verify.h"

enum { METADATA_BYTES = 16 << 20, PAGE_BYTES = 4 << 20, CACHE_BYTES = 4 << 20, PIECE = 1 << 16, PIECES = 64 };

/* A failure says why. */
static void check(enum nt_status status, const struct nt_error *error)
{
    if (status != NT_OK && !error->message[0])
        abort();
}

static void read_rows(struct nt_reader *reader, struct nt_dataset *dataset)
{
    struct nt_error error = {0};
    struct nt_buffer out = {0};
    struct nt_long_text *text;
    bool more = true;
    enum nt_status status = nt_rows_lines(reader, dataset, NT_NONE, 0, UINT64_MAX, &text, &error);
    check(status, &error);
    if (status != NT_OK)
        return;
    for (unsigned i = 0; status == NT_OK && more && i < PIECES; i++) {
        nt_buffer_clear(&out);
        check(status = text->next(text, &out, &more, &error), &error);
    }
    text->free(text);
    nt_buffer_deinit(&out);
}

static void read_arrow(struct nt_reader *reader, struct nt_dataset *dataset)
{
    static uint8_t piece[PIECE];
    struct nt_arrow_options options = NT_ARROW_OPTIONS_INIT;
    struct nt_error error = {0};
    struct nt_arrow *arrow;
    enum nt_status status = nt_arrow_new(reader, dataset, &options, &arrow, &error);
    check(status, &error);
    if (status != NT_OK)
        return;
    uint64_t size = nt_arrow_file_bytes(arrow);
    for (uint64_t at = 0; at < size && at < (uint64_t)PIECE * PIECES; at += PIECE) {
        size_t wanted = size - at < PIECE ? (size_t)(size - at) : PIECE;
        check(nt_arrow_file_read(arrow, at, piece, wanted, &error), &error);
    }
    nt_arrow_free(arrow);
}

static void take_finding(void *context, const struct nt_finding *finding)
{
    (void)context;
    check(NT_CORRUPT, &finding->error);
}

static void read_views(struct nt_file *file)
{
    const struct nt_reader_options options = {.struct_bytes = sizeof(options), .cache_bytes = CACHE_BYTES};
    const struct nt_verify_options verify = {.on_finding = take_finding};
    struct nt_verify_summary summary;
    struct nt_error error = {0};
    struct nt_reader *reader;
    if (nt_reader_new(&options, &reader, &error) != NT_OK)
        return;
    read_rows(reader, file->datasets[0]);
    read_arrow(reader, file->datasets[0]);
    check(nt_verify(reader, file, &verify, &summary, &error), &error);
    nt_reader_free(reader);
}

void read_lance(struct nt_source *source)
{
    struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    struct nt_error error = {0};
    struct nt_file *file;
    options.metadata_bytes = METADATA_BYTES;
    options.page_bytes = PAGE_BYTES;
    enum nt_status status = nt_format_lance.open(source, &options, &file, &error);
    check(status, &error);
    if (status != NT_OK) {
        nt_source_close(source);
        return;
    }
    read_everything(file, NULL, NULL);
    read_views(file);
    nt_file_close(file);
}
