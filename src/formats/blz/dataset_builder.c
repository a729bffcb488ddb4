/* SPDX-License-Identifier: MIT
 *
 * Collects fields, columns and files while directories are read, and builds a dataset of the model with
 * one cluster from them.
 */
#include "formats/blz/blz.h"

enum nt_status nt_blz_add_field(struct nt_blz_build *build, uint32_t parent, struct nt_text name,
                                struct nt_text type, enum nt_field_kind kind, uint32_t *index_ret,
                                struct nt_error *error)
{
    const struct nt_field field = {
        .id = build->model.field_count,
        .parent = parent,
        .role = kind == NT_FIELD_RECORD ? NT_ROLE_RECORD : NT_ROLE_PLAIN,
        .kind = kind,
        .name = name,
        .type = type,
        .description = {"", 0},
    };
    return nt_builder_add_field(&build->model, &field, index_ret, error);
}

char *nt_blz_name(struct nt_blz_build *build, const char *directory, const char *name)
{
    return nt_arena_format(build->dataset->arena, "%s%s%s", directory, *directory ? "/" : "", name);
}

const char *nt_blz_path(struct nt_blz_build *build, const char *directory)
{
    const char *path = nt_arena_format(build->dataset->arena, "%s%s%s", build->folder->path,
                                       *directory ? "/" : "", directory);
    return path ? path : directory;
}

enum nt_status nt_blz_add_source(struct nt_blz_files *files, struct nt_source *source, struct nt_error *error)
{
    NT_TRY(nt_check_memory(NT_GROW(files->sources, files->count, files->capacity), error));
    files->sources[files->count++] = source;
    return NT_OK;
}

enum nt_status nt_blz_add_file(struct nt_blz_build *build, struct nt_blz_files *files, const char *name,
                               struct nt_error *error)
{
    NT_CLEANUP(nt_source_close_at) struct nt_source *source = NULL;
    NT_TRY(nt_folder_open_file_lazily(build->folder, name, &source, error));
    NT_TRY(nt_blz_add_source(files, source, error));
    source = NULL;
    return NT_OK;
}

/* ---- Columns ---- */

/* Serves a member that is an array as bytes, the items one after the other. */
static enum nt_status set_member(struct nt_blz_build *build, uint32_t index, uint64_t offset,
                                 const struct nt_blz_dtype *type, struct nt_error *error)
{
    struct nt_arena *arena = build->dataset->arena;
    struct nt_field *field = &build->model.fields[index];
    const struct nt_field_extra extra = {.is_fortran_order =
                                             nt_field_is_fortran_order(&build->model.fields[field->parent]),
                                         .member_offset = offset};
    NT_TRY(nt_check_memory(nt_field_set_extra(arena, field, &extra), error));
    field->dtype = type->dtype;
    if (type->dimension_count) {
        uint64_t bytes = type->items * type->dtype.bytes; /* checked when the dtype was read */
        field->dtype = nt_element_dtype(NT_ELEMENT_OPAQUE);
        field->dtype.bytes = (uint32_t)bytes;
        field->dtype.numpy = nt_arena_format(arena, "|V%u", field->dtype.bytes);
    }
    return nt_check_memory(field->dtype.numpy, error);
}

/* Their nesting is bounded by that of the text of their type. */
static enum nt_status add_members(struct nt_blz_build *build, uint32_t parent, uint64_t offset,
                                  const struct nt_blz_dtype *dtype, struct nt_error *error)
{
    for (uint32_t i = 0; i < dtype->member_count; i++) {
        const struct nt_blz_member *member = &dtype->members[i];
        if (member->type.items == 0) /* an array of no items has no bytes to serve */
            continue;
        uint32_t field;
        NT_TRY(nt_blz_add_field(build, parent, member->name, nt_text_of(member->type.dtype.numpy),
                                NT_FIELD_MEMBER, &field, error));
        NT_TRY(set_member(build, field, offset + member->offset, &member->type, error));
        if (!member->type.dimension_count)
            NT_TRY(add_members(build, field, offset + member->offset, &member->type, error));
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
    NT_TRY(nt_check_memory(all, error));
    uint64_t items = dtype->items;
    for (uint32_t i = 0; i < count; i++) {
        all[i] = dimensions[i];
        if (!nt_checked_multiply(items, dimensions[i], &items))
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

static enum nt_status add_info(struct nt_blz_build *build, const struct nt_blz_column *info,
                               struct nt_error *error)
{
    NT_TRY(nt_check_memory(NT_GROW(build->infos, build->model.column_count, build->info_capacity), error));
    build->infos[build->model.column_count] = *info;
    return NT_OK;
}

/* Elements are stored in the chunks as they are served. */
static enum nt_status init_decoder(struct nt_decoder *decoder, const struct nt_dtype *dtype,
                                   struct nt_error *error)
{
    NT_TRY(nt_decoder_init(decoder, NT_ENCODING_OPAQUE, dtype->bytes * 8, 0, 0, error));
    decoder->element = dtype->element;
    decoder->element_bytes = dtype->bytes;
    return NT_OK;
}

enum nt_status nt_blz_add_column(struct nt_blz_build *build, uint32_t field, const struct nt_blz_dtype *dtype,
                                 const uint64_t *dimensions, uint32_t dimension_count,
                                 struct nt_blz_column *info, struct nt_error *error)
{
    const struct nt_column column = {
        .id = build->model.column_count,
        .field = field,
        .type_name = dtype->is_object ? "pickle" : dtype->dtype.numpy,
        .dtype = dtype->is_object ? nt_element_dtype(NT_ELEMENT_BYTE) : dtype->dtype,
    };
    struct nt_decoder decoder;
    NT_TRY(init_decoder(&decoder, &column.dtype, error));
    NT_TRY(set_shape(build, &build->model.fields[field], dtype, dimensions, dimension_count, &info->items,
                     error));
    NT_TRY(add_info(build, info, error));
    NT_TRY(nt_builder_add_column(&build->model, &column, &decoder, error));
    build->model.fields[field].dtype = column.dtype;
    if (info->rows > build->entries)
        build->entries = info->rows;
    return info->items ? add_members(build, field, 0, dtype, error) : NT_OK;
}

/* ---- Finish ---- */

/* A member reads the column of the field whose elements contain it. */
static void link_members(struct nt_dataset *dataset)
{
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        const struct nt_field *field = &dataset->fields[i];
        if (field->kind == NT_FIELD_MEMBER) /* the parent's index is lower, so its columns are set */
            nt_field_project_columns(dataset, i, field->parent);
    }
}

static void close_files(struct nt_blz_files *files, const struct nt_source *kept)
{
    for (uint32_t i = 0; i < files->count; i++)
        if (files->sources[i] != kept)
            nt_source_close(files->sources[i]);
    free(files->sources);
}

/* Chunk files first, then metadata files, then failure sources. The dataset closes the files from now on. */
static enum nt_status add_sources(struct nt_blz_build *build, struct nt_error *error)
{
    struct nt_dataset *dataset = build->dataset;
    struct nt_blz_files *const lists[] = {&build->chunks, &build->metadata};
    uint32_t count = build->chunks.count + build->metadata.count;
    dataset->sources =
        nt_arena_alloc(dataset->arena, (size_t)count + NT_BLZ_FAILURE_COUNT, sizeof(struct nt_source *));
    NT_TRY(nt_check_memory(dataset->sources &&
                               nt_blz_failure_sources(dataset->arena, build->blz, dataset->sources + count),
                           error));
    dataset->source_count = count + NT_BLZ_FAILURE_COUNT;
    build->blz->chunk_file_count = build->chunks.count;
    build->blz->file_count = count;
    count = 0;
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        for (uint32_t k = 0; k < lists[i]->count; k++)
            dataset->sources[count++] = lists[i]->sources[k];
        lists[i]->count = 0;
    }
    return NT_OK;
}

enum nt_status nt_blz_build_finish(struct nt_blz_build *build, struct nt_error *error)
{
    struct nt_dataset *dataset = build->dataset;
    build->blz->columns = (void *)nt_arena_copy(dataset->arena, build->infos,
                                                build->model.column_count * sizeof(*build->infos));
    NT_TRY(nt_check_memory(build->blz->columns, error));
    NT_TRY(nt_builder_finish(&build->model, error));
    link_members(dataset);
    NT_TRY(nt_dataset_add_only_cluster(dataset, build->entries, error));
    return add_sources(build, error);
}

void nt_blz_build_deinit(struct nt_blz_build *build)
{
    nt_builder_deinit(&build->model);
    free(build->infos);
    close_files(&build->chunks, build->dataset->file->source);
    close_files(&build->metadata, NULL);
}
