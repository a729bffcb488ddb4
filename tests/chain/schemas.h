/* SPDX-License-Identifier: MIT
 *
 * Datasets without entries, from lists of fields, for the tests of chains.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/model/builder.h"
#include "core/model/field.h"
#include "support.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include <ntuple/source.h>

struct made_field {
    const char *name;
    uint32_t parent; /* its index in the list */
    enum nt_field_kind kind;
    enum nt_element element; /* of values */
    const char *shows;       /* index of the field in the list whose columns it projects */
    bool is_nullable;
    uint64_t items; /* length of a row of values, if it is an array */
    const char *unreadable;
};

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof(*(array))))
#define TOP NT_NONE
#define FIELD(name_, parent_, kind_) .name = (name_), .parent = (parent_), .kind = (kind_)
#define VALUE(name_, parent_, element_) FIELD(name_, parent_, NT_FIELD_VALUE), .element = (element_)

static inline enum nt_encoding_kind encoding_of(enum nt_element element)
{
    for (unsigned i = 0; i < NT_ENCODING_COUNT; i++)
        if (nt_encoding_info((enum nt_encoding_kind)i)->element == element)
            return (enum nt_encoding_kind)i;
    ck_abort_msg("no encoding of %s", nt_element_info(element)->name);
}

static inline void add_made_column(struct nt_builder *builder, uint32_t field, enum nt_encoding_kind encoding)
{
    struct nt_error error;
    struct nt_decoder decoder;
    const struct nt_column column = {.id = builder->column_count,
                                     .field = field,
                                     .dtype = nt_element_dtype(nt_encoding_info(encoding)->element)};
    assert_ok(nt_decoder_init(&decoder, encoding, 0, 0, 0, &error));
    assert_ok(nt_builder_add_column(builder, &column, &decoder, &error));
}

/* `stored`: the type of all stored values, if it differs; else NT_ELEMENT_OPAQUE. */
static inline struct nt_file *make_file_storing(const char *path, const struct made_field *made,
                                                uint32_t count, enum nt_element stored)
{
    struct nt_error error;
    struct nt_source *source;
    struct nt_file *file;
    struct nt_dataset *dataset;
    struct nt_builder builder;
    uint32_t *owners = malloc(((size_t)count + 1) * sizeof(*owners));
    ck_assert_ptr_nonnull(owners);
    assert_ok(nt_source_open_memory("", 0, path, &source, &error));
    assert_ok(nt_file_new(path, source, &(struct nt_limits){.metadata_bytes = 1u << 30}, &file, &error));
    assert_ok(nt_file_add_dataset(file, &dataset, &error));
    nt_builder_init(&builder, dataset);
    for (uint32_t i = 0; i < count; i++) {
        const struct made_field *of = &made[i];
        bool is_value = of->kind == NT_FIELD_VALUE;
        owners[i] = NT_NONE;
        for (uint32_t k = 0; of->shows && k < i; k++)
            if (strcmp(made[k].name, of->shows) == 0)
                owners[i] = k;
        struct nt_field field = {
            .id = i,
            .parent = of->parent,
            .kind = of->kind,
            .is_nullable = of->is_nullable,
            .repetition = of->items,
            .dimension_count = of->items > 0,
            .dimensions = &of->items,
            .unreadable = of->unreadable,
            .name = {of->name, strlen(of->name)},
            .dtype = is_value                      ? nt_element_dtype(of->element)
                     : of->kind == NT_FIELD_STRING ? nt_element_dtype(NT_ELEMENT_BYTE)
                                                   : (struct nt_dtype){0},
        };
        ck_assert(nt_field_set_source(dataset->arena, &field, owners[i]));
        assert_ok(nt_builder_add_field(&builder, &field, NULL, &error));
        if (owners[i] != NT_NONE)
            continue;
        if (is_value)
            add_made_column(&builder, i, encoding_of(stored == NT_ELEMENT_OPAQUE ? of->element : stored));
        else if (nt_field_kind_info(of->kind)->columns)
            add_made_column(&builder, i, NT_ENCODING_INDEX64);
        if (of->kind == NT_FIELD_STRING)
            add_made_column(&builder, i, NT_ENCODING_CHAR);
        if (of->is_nullable)
            add_made_column(&builder, i, NT_ENCODING_BIT);
    }
    assert_ok(nt_builder_finish(&builder, &error));
    nt_builder_deinit(&builder);
    for (uint32_t i = 0; i < count; i++)
        if (owners[i] != NT_NONE)
            nt_field_project_columns(dataset, i, owners[i]);
    free(owners);
    return file;
}

static inline struct nt_file *make_file(const char *path, const struct made_field *made, uint32_t count)
{
    return make_file_storing(path, made, count, NT_ELEMENT_OPAQUE);
}

/* Many values, whose names are numbers: they count up or down from `number`. */
enum { WIDE_FIELDS = 100000 };

static inline struct nt_file *make_wide_file(const char *path, unsigned number, int step)
{
    enum { NAME_BYTES = 12 };
    struct made_field *fields = calloc(WIDE_FIELDS, sizeof(*fields));
    char *names = malloc((size_t)WIDE_FIELDS * NAME_BYTES);
    ck_assert(fields && names);
    for (uint32_t i = 0; i < WIDE_FIELDS; i++, number += (unsigned)step) {
        char *name = names + (size_t)i * NAME_BYTES;
        snprintf(name, NAME_BYTES, "%u", number);
        fields[i] = (struct made_field){VALUE(name, TOP, NT_ELEMENT_INT32)};
    }
    struct nt_file *file = make_file(path, fields, WIDE_FIELDS);
    ck_assert(nt_arena_adopt(file->arena, names));
    free(fields);
    return file;
}
