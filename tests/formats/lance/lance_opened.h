/* SPDX-License-Identifier: MIT
 *
 * The metadata of a Lance file, read from memory or from a path.
 */
#pragma once

#include "formats/lance/file/file.h"
#include "lance_writer.h"
#include "support.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include <ntuple/source.h>

struct lance_opened {
    struct nt_file *file; /* NULL if it was not read */
    struct nt_lance_memory memory;
    struct nt_lance lance;
};

static inline enum nt_status lance_open_source(struct lance_opened *opened, struct nt_source *source,
                                               struct nt_error *error)
{
    ck_assert(nt_file_new(source->path, source, &(struct nt_limits){0}, &opened->file, error) == NT_OK);
    opened->memory = (struct nt_lance_memory){.file = opened->file, .arena = opened->file->arena};
    enum nt_status status = nt_lance_read(&opened->memory, source, 0, &opened->lance, error);
    if (status == NT_OK)
        status = nt_lance_read_schema(opened->file, &opened->lance, error);
    if (status != NT_OK) {
        nt_file_close(opened->file);
        opened->file = NULL;
    }
    return status;
}

static inline enum nt_status lance_open_bytes(struct lance_opened *opened, const void *bytes, size_t size,
                                              struct nt_error *error)
{
    struct nt_source *source;
    ck_assert(nt_source_open_memory(bytes, size, "test.lance", &source, error) == NT_OK);
    return lance_open_source(opened, source, error);
}

static inline void lance_close(struct lance_opened *opened)
{
    if (opened->file)
        nt_file_close(opened->file);
    opened->file = NULL;
}
