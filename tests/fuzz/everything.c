/* SPDX-License-Identifier: MIT
 *
 * Reads documents, columns and streams of a file, one after the other. Failures are ignored.
 */
#include "everything.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "core/json/json.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include "read/read.h"
#include <ntuple/source.h>

enum { DOCUMENTS_OF_A_KIND = 4, PIECES_OF_A_TEXT = 64 };

/* ---- documents ---- */

static void read_text(struct nt_text_generator *text)
{
    struct nt_buffer out = {0};
    bool more = true;
    for (unsigned i = 0; more && i < PIECES_OF_A_TEXT; i++) {
        nt_buffer_clear(&out);
        if (text->next(text, &out, &more, NULL) != NT_OK)
            break;
    }
    text->free(text);
    nt_buffer_deinit(&out);
}

static void read_documents(const struct nt_file *file, const struct nt_dataset *dataset,
                           const struct nt_document *documents, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct nt_document *document = &documents[i];
        uint64_t numbers = document->count ? document->count(file, dataset) : 1;
        for (uint64_t number = 0; number < numbers && number < DOCUMENTS_OF_A_KIND; number++) {
            const struct nt_document_request request = {document, file, dataset, number};
            struct nt_buffer out = {0};
            struct nt_text_generator *text;
            if (document->write)
                document->write(&request, &out, NULL);
            else if (document->open(&request, &text, NULL) == NT_OK)
                read_text(text);
            nt_buffer_deinit(&out);
        }
    }
}

static enum nt_status count_range(void *context, const struct nt_layout_range *range)
{
    *(uint64_t *)context += range->bytes;
    return NT_OK;
}

/* ---- columns ---- */

/* The description of a page's parts. */
static void read_page_texts(struct nt_dataset *dataset, uint32_t column, const struct nt_page *page)
{
    struct nt_page_file files[NT_PAGE_FILES];
    uint32_t count = dataset->ops->page_files ? dataset->ops->page_files(dataset, column, page, files) : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct nt_text_generator *text;
        if (files[i].kind == NT_PAGE_FILE_TEXT && files[i].open(dataset, column, page, &text, NULL) == NT_OK)
            read_text(text);
    }
}

static void read_column(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column, uint8_t *room)
{
    uint64_t elements, pages, first;
    uint32_t cluster;
    const struct nt_page *page;
    if (nt_column_size(reader, dataset, column, &elements, &pages, NULL) != NT_OK)
        return;
    uint32_t bytes = nt_column_decoder(dataset, column)->element_bytes;
    uint64_t most = bytes ? EVERYTHING_BYTES / bytes : 0;
    size_t count = (size_t)(elements < most ? elements : most);
    struct nt_error error = {0};
    if (nt_column_read(reader, dataset, column, 0, room, count * bytes, &error) != NT_OK && !error.message[0])
        abort(); /* each failure has a message */
    if (nt_column_page(reader, dataset, column, 0, &page, &cluster, &first, NULL) != NT_OK)
        return;
    struct nt_buffer out = {0};
    struct nt_json json;
    nt_json_line(&json, &out);
    if (dataset->ops->describe_page)
        dataset->ops->describe_page(dataset, column, page, &json);
    nt_json_finish(&json);
    nt_buffer_deinit(&out);
    read_page_texts(dataset, column, page);
}

static void read_columns(struct nt_reader *reader, struct nt_dataset *dataset, uint8_t *room)
{
    for (uint32_t column = 0; dataset && column < dataset->column_count; column++)
        read_column(reader, dataset, column, room);
}

/* ---- streams ---- */

static void read_stream(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                        enum nt_stream_kind kind, uint8_t *room, everything_stream *report, void *context)
{
    struct nt_stream *stream = NULL;
    uint64_t bytes = 0;
    enum nt_status status = nt_stream_open(reader, dataset, field, kind, &stream, NULL);
    if (status == NT_NOT_FOUND)
        return;
    if (status == NT_OK) {
        bytes = nt_stream_elements(stream) * nt_stream_element_bytes(stream);
        size_t count = bytes < EVERYTHING_BYTES ? (size_t)bytes : EVERYTHING_BYTES;
        status = nt_stream_read(stream, 0, room, count, NULL);
    }
    if (report)
        report(context, dataset->index, field, kind, status,
               status == NT_OK && bytes <= EVERYTHING_BYTES ? room : NULL, bytes);
    nt_stream_close(stream);
}

static void read_streams(struct nt_reader *reader, struct nt_file *file, everything_stream *report,
                         void *context)
{
    static uint8_t room[EVERYTHING_BYTES];
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        struct nt_dataset *dataset = file->datasets[i];
        for (uint32_t field = 0; !dataset->failure && field < dataset->field_count; field++)
            for (int kind = 0; kind < NT_STREAM_COUNT; kind++)
                read_stream(reader, dataset, field, (enum nt_stream_kind)kind, room, report, context);
    }
}

static void read_physical(struct nt_reader *reader, struct nt_file *file)
{
    static uint8_t room[EVERYTHING_BYTES];
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        struct nt_dataset *dataset = file->datasets[i], *stored;
        if (dataset->failure)
            continue;
        read_documents(file, dataset, dataset->documents, dataset->document_count);
        read_columns(reader, dataset, room);
        if (nt_dataset_physical(dataset, &stored, NULL) != NT_OK)
            continue;
        read_columns(reader, stored != dataset ? stored : NULL, room);
        read_columns(reader, dataset->levels, room);
    }
}

void read_everything(struct nt_file *file, everything_stream *report, void *context)
{
    const struct nt_reader_options options = {.struct_bytes = sizeof(options), .cache_bytes = 1 << 20};
    struct nt_reader *reader;
    uint64_t covered = 0;
    if (nt_reader_new(&options, &reader, NULL) != NT_OK)
        return;
    read_documents(file, NULL, file->documents, file->document_count);
    if (file->layout)
        file->layout(file, count_range, &covered, NULL);
    read_physical(reader, file);
    read_streams(reader, file, report, context);
    nt_reader_free(reader);
}

static enum nt_status dataset_status(const struct nt_file *file)
{
    for (uint32_t i = 0; i < file->dataset_count; i++)
        if (!file->datasets[i]->failure)
            return NT_OK;
    return file->dataset_count ? file->datasets[0]->failure->status : NT_NOT_FOUND;
}

enum nt_status open_and_read(const struct nt_format *format, struct nt_source *source,
                             everything_stream *report, void *context)
{
    struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    struct nt_file *file;
    options.page_bytes = 16 << 20;
    enum nt_status status = format->open(source, &options, &file, NULL);
    if (status != NT_OK) {
        nt_source_close(source);
        return status;
    }
    status = dataset_status(file);
    read_everything(file, report, context);
    nt_file_close(file);
    return status;
}
