/* SPDX-License-Identifier: MIT
 *
 * Builds small datasets for the tests of the model, from a list of fields and a list of columns.
 */
#pragma once

#include "core/base/memory.h"
#include "core/model/model.h"
#include "support.h"
#include "core/io/source.h"
#include <ntuple/source.h>

/* A file without bytes, with one dataset that has copies of these fields and columns. */
static inline struct nt_file *build_file(const struct nt_field *fields, uint32_t field_count,
                                         const struct nt_column *columns, uint32_t column_count)
{
    struct nt_error error;
    struct nt_source *source;
    struct nt_file *file;
    assert_ok(nt_source_open_memory("", 0, "memory", &source, &error));
    assert_ok(nt_file_new("/memory", source, &(struct nt_limits){0}, &file, &error));
    struct nt_dataset *dataset;
    assert_ok(nt_file_add_dataset(file, &dataset, &error));
    dataset->fields = nt_arena_alloc(dataset->arena, field_count ? field_count : 1, sizeof(*fields));
    dataset->columns = nt_arena_alloc(dataset->arena, column_count ? column_count : 1, sizeof(*columns));
    ck_assert(dataset->fields && dataset->columns);
    for (uint32_t i = 0; i < field_count; i++)
        dataset->fields[i] = fields[i];
    for (uint32_t i = 0; i < column_count; i++)
        dataset->columns[i] = columns[i];
    dataset->field_count = field_count;
    dataset->column_count = column_count;
    return file;
}

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define BUILD(fields, columns) build_file(fields, LENGTH(fields), columns, LENGTH(columns))
#define BUILD_FIELDS(fields) build_file(fields, LENGTH(fields), NULL, 0)
