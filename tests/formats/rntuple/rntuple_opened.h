/* SPDX-License-Identifier: MIT
 *
 * A dataset as the tests' writer describes it, written and opened again.
 */
#pragma once

#include <string.h>

#include "formats/formats.h"
#include "formats/rntuple/rntuple.h"
#include "rntuple_writer.h"
#include "support.h"
#include "core/base/memory.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include <ntuple/source.h>

struct written {
    struct nt_buffer bytes;
    struct nt_file *file;
    struct nt_dataset *dataset; /* the first */
};

/* Opens the bytes of a file; `written->bytes` must live as long. */
static inline enum nt_status open_bytes(struct written *written, struct nt_error *error)
{
    struct nt_source *source;
    ck_assert(nt_source_open_memory(written->bytes.bytes, written->bytes.length, "test.root", &source,
                                    error) == NT_OK);
    enum nt_status status =
        nt_format_rntuple.open(source, &(struct nt_open_options){.format = "rntuple"}, &written->file, error);
    if (status != NT_OK) {
        nt_source_close(source);
        return status;
    }
    written->dataset = written->file->datasets[0];
    if (!written->dataset->failure)
        return NT_OK;
    *error = *written->dataset->failure;
    return error->status;
}

/* Writes and opens; a dataset that fails returns its failure. Close in any case. */
static inline enum nt_status write_and_open(struct written *written, enum rntuple_generation generation,
                                            const struct rntuple_description *description,
                                            struct nt_error *error)
{
    *written = (struct written){0};
    rntuple_write(generation, description, &written->bytes);
    return open_bytes(written, error);
}

static inline void written_close(struct written *written)
{
    nt_file_close(written->file);
    nt_buffer_deinit(&written->bytes);
    *written = (struct written){0};
}

static inline bool is_text(struct nt_text text, const char *expected)
{
    return text.length == strlen(expected) && memcmp(text.bytes, expected, text.length) == 0;
}

/* The specification's number of a column type: predraft, drafts, final. */
struct column_number {
    uint16_t predraft, draft, final;
};

static inline uint16_t column_number(enum rntuple_generation generation, struct column_number number)
{
    return generation == RNTUPLE_PREDRAFT ? number.predraft
           : generation < RNTUPLE_RC3     ? number.draft
                                          : number.final;
}
