/* SPDX-License-Identifier: MIT
 *
 * In: fields, columns and files, one after another as directories are read. Out: a data set of the model,
 * with one cluster that holds all rows.
 */
#include <string.h>

#include "base/arena.h"
#include "base/overflow.h"
#include "format/blz/blz.h"

static uint32_t count_of(const struct nt_buffer *list, size_t size)
{
    return (uint32_t)(list->length / size);
}

uint32_t nt_blz_field_count(const struct nt_blz_build *build)
{
    return count_of(&build->fields, sizeof(struct nt_field));
}

struct nt_field *nt_blz_field(struct nt_blz_build *build, uint32_t field)
{
    return (struct nt_field *)(void *)build->fields.bytes + field;
}

uint32_t nt_blz_add_field(struct nt_blz_build *build, uint32_t parent, struct nt_text name,
                          struct nt_text type, enum nt_field_kind kind)
{
    uint32_t index = nt_blz_field_count(build);
    struct nt_field field = {
        .id = index,
        .parent = parent,
        .source_field = NT_NONE,
        .role = kind == NT_FIELD_CONTAINER ? NT_ROLE_RECORD : NT_ROLE_PLAIN,
        .kind = kind,
        .name = name,
        .type = type,
        .alias = {"", 0},
        .description = {"", 0},
    };
    nt_buffer_append(&build->fields, &field, sizeof(field));
    return build->fields.failed ? NT_NONE : index;
}

enum nt_status nt_blz_add_source(struct nt_blz_build *build, struct nt_buffer *list, const char *path,
                                 struct nt_error *error)
{
    struct nt_source *source;
    enum nt_status status = nt_source_open_file_lazily(build->blz->pool, path, &source, error);
    if (status != NT_OK)
        return status;
    nt_buffer_append(list, &source, sizeof(struct nt_source *));
    if (!list->failed)
        return NT_OK;
    nt_source_close(source);
    return nt_fail_memory(error);
}

/* ---- columns ---- */

/* The index of a decoder for elements of this type; one is added where there is none. */
static enum nt_status find_decoder(struct nt_blz_build *build, const struct nt_dtype *dtype,
                                   uint16_t *index_ret, struct nt_error *error)
{
    const struct nt_decoder *decoders = (const void *)build->decoders.bytes;
    uint32_t count = count_of(&build->decoders, sizeof(struct nt_decoder));
    for (uint32_t i = 0; i < count; i++)
        if (decoders[i].element == dtype->element && decoders[i].element_bytes == dtype->bytes) {
            *index_ret = (uint16_t)i;
            return NT_OK;
        }
    struct nt_decoder decoder;
    enum nt_status status = nt_decoder_init(&decoder, NT_ENCODING_OPAQUE, dtype->bytes * 8, 0, 0, error);
    if (status != NT_OK)
        return status;
    decoder.element = dtype->element;
    decoder.element_bytes = dtype->bytes;
    if (count > UINT16_MAX)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "more than 65536 different data types");
    nt_buffer_append(&build->decoders, &decoder, sizeof(decoder));
    *index_ret = (uint16_t)count;
    return build->decoders.failed ? nt_fail_memory(error) : NT_OK;
}

/* A member that is an array is served as bytes, an item of the array after the other. */
static enum nt_status set_member(struct nt_blz_build *build, uint32_t index, uint64_t offset,
                                 const struct nt_blz_dtype *type, struct nt_error *error)
{
    struct nt_arena *arena = build->dataset->arena;
    struct nt_field *field = nt_blz_field(build, index);
    const struct nt_field *structure = nt_blz_field(build, field->parent);
    field->dimensions = structure->dimensions; /* an item for each of the structure's */
    field->dimension_count = structure->dimension_count;
    field->is_fortran_order = structure->is_fortran_order;
    field->member_offset = offset;
    field->dtype = type->dtype;
    if (type->dimension_count) {
        uint64_t bytes = type->items * type->dtype.bytes; /* checked when the dtype was read */
        field->dtype = (struct nt_dtype){.element = NT_ELEMENT_OPAQUE, .bytes = (uint32_t)bytes};
        field->dtype.text = nt_arena_format(arena, "'|V%u'", field->dtype.bytes);
    }
    return field->dtype.text ? NT_OK : nt_fail_memory(error);
}

static enum nt_status add_members(struct nt_blz_build *build, uint32_t parent, uint64_t offset,
                                  const struct nt_blz_dtype *dtype, unsigned depth, struct nt_error *error)
{
    if (depth == NT_BLZ_DEPTH)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "structures nested deeper than %d", NT_BLZ_DEPTH);
    for (uint32_t i = 0; i < dtype->member_count; i++) {
        const struct nt_blz_member *member = &dtype->members[i];
        if (member->type.items == 0)
            continue; /* an array of no items has no bytes to serve */
        const char *text = member->type.dtype.text;
        uint32_t field = nt_blz_add_field(build, parent, member->name, (struct nt_text){text, strlen(text)},
                                          NT_FIELD_MEMBER);
        if (field == NT_NONE)
            return nt_fail_memory(error);
        enum nt_status status = set_member(build, field, offset + member->offset, &member->type, error);
        if (status == NT_OK && !member->type.dimension_count)
            status = add_members(build, field, offset + member->offset, &member->type, depth + 1, error);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

/* The dimensions of a row: the array's own, then those of a sub-array that is its element. */
static enum nt_status set_shape(struct nt_blz_build *build, struct nt_field *field,
                                const struct nt_blz_dtype *dtype, const uint64_t *dimensions, uint32_t count,
                                uint64_t *items_ret, struct nt_error *error)
{
    uint32_t total = count + dtype->dimension_count;
    uint64_t *all = nt_arena_alloc(build->dataset->arena, total + 1, sizeof(*all));
    if (!all)
        return nt_fail_memory(error);
    uint64_t items = dtype->items;
    for (uint32_t i = 0; i < count; i++) {
        all[i] = dimensions[i];
        if (!nt_multiply(items, dimensions[i], &items))
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the shape has more than 2^64 items");
    }
    if (dtype->dimension_count)
        memcpy(all + count, dtype->dimensions, dtype->dimension_count * sizeof(*all));
    field->dimensions = all;
    field->dimension_count = total;
    field->repetition = total ? items : 0;
    *items_ret = items;
    return NT_OK;
}

/* The dtype's text: `<f8`, without the quotes that the Python literal of a plain type has. */
static enum nt_status name_type(struct nt_blz_build *build, const struct nt_blz_dtype *dtype,
                                const char **name_ret, struct nt_error *error)
{
    const char *text = dtype->is_object ? "pickle" : dtype->dtype.text;
    size_t length = strlen(text);
    bool is_quoted = length >= 2 && text[0] == '\'';
    *name_ret =
        is_quoted ? nt_arena_format(build->dataset->arena, "%.*s", (int)(length - 2), text + 1) : text;
    return *name_ret ? NT_OK : nt_fail_memory(error);
}

enum nt_status nt_blz_add_column(struct nt_blz_build *build, uint32_t field, const struct nt_blz_dtype *dtype,
                                 const uint64_t *dimensions, uint32_t dimension_count,
                                 struct nt_blz_column *info, struct nt_error *error)
{
    static const struct nt_dtype byte = {NT_ELEMENT_BYTE, 1, "'|u1'"};
    const struct nt_dtype *stored = dtype->is_object ? &byte : &dtype->dtype;
    struct nt_column column = {.id = count_of(&build->columns, sizeof(column)), .field = field};
    enum nt_status status = find_decoder(build, stored, &column.decoder, error);
    if (status == NT_OK)
        status = name_type(build, dtype, &column.type_name, error);
    if (status == NT_OK)
        status = set_shape(build, nt_blz_field(build, field), dtype, dimensions, dimension_count,
                           &info->items, error);
    if (status != NT_OK)
        return status;
    nt_blz_field(build, field)->dtype = *stored;
    if (info->rows > build->entries)
        build->entries = info->rows;
    nt_buffer_append(&build->columns, &column, sizeof(column));
    nt_buffer_append(&build->column_infos, info, sizeof(*info));
    if (build->columns.failed || build->column_infos.failed)
        return nt_fail_memory(error);
    return info->items ? add_members(build, field, 0, dtype, 0, error) : NT_OK;
}

/* ---- the end ---- */

/* Move a list into the data set's memory. */
static void *settle(struct nt_blz_build *build, const struct nt_buffer *list, size_t size,
                    uint32_t *count_ret)
{
    *count_ret = count_of(list, size);
    return nt_arena_copy(build->dataset->arena, list->bytes, list->length);
}

/* Members read the column of the field whose elements they are part of. */
static void link_members(struct nt_dataset *dataset)
{
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        struct nt_field *field = &dataset->fields[i];
        if (field->kind != NT_FIELD_MEMBER)
            continue;
        const struct nt_field *parent =
            &dataset->fields[field->parent]; /* has a lower index: is linked by now */
        field->first_column = parent->first_column;
        field->column_count = parent->column_count;
        field->columns_per_representation = parent->columns_per_representation;
        field->owns_columns = false;
    }
}

static enum nt_status add_cluster(struct nt_blz_build *build, struct nt_error *error)
{
    struct nt_dataset *dataset = build->dataset;
    dataset->entries = build->entries;
    dataset->clusters_known = true;
    if (build->entries == 0)
        return NT_OK;
    dataset->groups = nt_arena_alloc(dataset->arena, 1, sizeof(*dataset->groups));
    dataset->clusters = nt_arena_alloc(dataset->arena, 1, sizeof(*dataset->clusters));
    if (!dataset->groups || !dataset->clusters)
        return nt_fail_memory(error);
    dataset->group_count = dataset->cluster_count = 1;
    dataset->groups[0].entries = build->entries;
    dataset->groups[0].clusters = 1;
    dataset->clusters[0] = (struct nt_cluster){.entries = build->entries, .column_group = NT_NONE};
    return NT_OK;
}

/* Chunk files first, then those of metadata, then the failures. From here on, the data set closes them. */
static enum nt_status add_sources(struct nt_blz_build *build, struct nt_error *error)
{
    struct nt_dataset *dataset = build->dataset;
    struct nt_blz *blz = build->blz;
    blz->chunk_file_count = count_of(&build->sources, sizeof(struct nt_source *));
    nt_buffer_append(&build->sources, build->metadata_sources.bytes, build->metadata_sources.length);
    if (build->sources.failed)
        return nt_fail_memory(error);
    nt_buffer_clear(&build->metadata_sources);
    blz->file_count = count_of(&build->sources, sizeof(struct nt_source *));
    for (int i = 0; i < NT_BLZ_FAILURE_COUNT; i++) {
        struct nt_source *source;
        enum nt_status status = nt_blz_failure_source((enum nt_blz_failure)i, &source, error);
        if (status != NT_OK)
            return status;
        nt_buffer_append(&build->sources, &source, sizeof(struct nt_source *));
        if (build->sources.failed) {
            nt_source_close(source);
            return nt_fail_memory(error);
        }
    }
    dataset->sources = settle(build, &build->sources, sizeof(struct nt_source *), &dataset->source_count);
    if (!dataset->sources)
        return nt_fail_memory(error);
    nt_buffer_clear(&build->sources);
    return NT_OK;
}

enum nt_status nt_blz_build_finish(struct nt_blz_build *build, struct nt_error *error)
{
    struct nt_dataset *dataset = build->dataset;
    uint32_t info_count, decoder_count;
    dataset->fields = settle(build, &build->fields, sizeof(struct nt_field), &dataset->field_count);
    dataset->columns = settle(build, &build->columns, sizeof(struct nt_column), &dataset->column_count);
    dataset->decoders = settle(build, &build->decoders, sizeof(struct nt_decoder), &decoder_count);
    dataset->decoder_count = decoder_count;
    build->blz->columns = settle(build, &build->column_infos, sizeof(struct nt_blz_column), &info_count);
    if (!dataset->fields || !dataset->columns || !dataset->decoders || !build->blz->columns)
        return nt_fail_memory(error);
    enum nt_status status = nt_dataset_link(dataset, error);
    if (status != NT_OK)
        return status;
    link_members(dataset);
    status = add_cluster(build, error);
    return status == NT_OK ? add_sources(build, error) : status;
}

static void close_sources(const struct nt_buffer *list, const struct nt_source *kept)
{
    struct nt_source **sources = (struct nt_source **)(void *)list->bytes;
    for (uint32_t i = 0; i < count_of(list, sizeof(*sources)); i++)
        if (sources[i] != kept)
            nt_source_close(sources[i]);
}

void nt_blz_build_deinit(struct nt_blz_build *build)
{
    close_sources(&build->sources, build->dataset->file->source);
    close_sources(&build->metadata_sources, NULL);
    nt_buffer_deinit(&build->fields);
    nt_buffer_deinit(&build->columns);
    nt_buffer_deinit(&build->column_infos);
    nt_buffer_deinit(&build->decoders);
    nt_buffer_deinit(&build->sources);
    nt_buffer_deinit(&build->metadata_sources);
}
