/* SPDX-License-Identifier: MIT
 *
 * In: an array's directory, as blz, bcolz or the format's first description lay it out ("Persistent format
 * for BLZ"). Out: a column (column-wise structures: one for each member) with its files in order.
 */
#include "formats/blz/array.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/text.h"
#include "formats/blz/failure.h"
#include "formats/blz/listing.h"
#include "formats/blz/meta_files.h"
#include "formats/blz/metadata.h"

enum {
    MAXIMUM_DIMENSIONS = 32,
    MAXIMUM_MISSING_FILES = 65536,
    LISTED_BYTES = 16, /* what is read of a file in a list: its name */
};

/* ---- metadata ---- */

static enum nt_status load_json(struct nt_blz_build *build, const char *name, json_t **value_ret,
                                struct nt_error *error)
{
    enum nt_status status = nt_blz_json_load(build->folder, name, build->metadata.count,
                                             &build->dataset->file->budget, value_ret, error);
    return status == NT_OK ? nt_blz_add_file(build, &build->metadata, name, error) : status;
}

static enum nt_status load_object(struct nt_blz_build *build, const char *directory, const char *name,
                                  json_t **value_ret, struct nt_error *error)
{
    const char *file = nt_blz_name(build, directory, name);
    if (!file)
        return nt_fail_memory(error);
    enum nt_status status = load_json(build, file, value_ret, error);
    if (status == NT_NOT_FOUND)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s is missing", nt_blz_path(build, file));
    if (status == NT_OK && !json_is_object(*value_ret))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: not a JSON object", nt_blz_path(build, file));
    return status;
}

/* Attributes are the user's: without them, or where they are damaged, the data is what it is. */
enum nt_status nt_blz_attributes_read(struct nt_blz_build *build, const char *directory,
                                      struct nt_blz_node *node, struct nt_error *error)
{
    static const char *const names[] = {"__attrs__", "meta/attributes"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct nt_error failure = {0};
        const char *file = nt_blz_name(build, directory, names[i]);
        enum nt_status status =
            file ? load_json(build, file, &node->attributes, &failure) : nt_fail_memory(&failure);
        if (status == NT_OK)
            return NT_OK;
        if (nt_is_refused_for_now(status, &failure))
            return nt_fail_with(error, &failure);
        if (status == NT_NOT_FOUND)
            continue;
        node->problem = nt_arena_format(build->dataset->arena, "%s", failure.message);
        node->failure = status;
        if (!node->problem)
            return nt_fail_memory(error);
    }
    return NT_OK;
}

enum nt_status nt_blz_shape_read(struct nt_arena *arena, const json_t *shape, uint64_t *rows_ret,
                                 uint64_t **dimensions_ret, uint32_t *count_ret, struct nt_error *error)
{
    size_t count = json_array_size(shape);
    if (!json_is_array(shape) || count > MAXIMUM_DIMENSIONS)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the shape is not a list of up to 32 integers");
    uint64_t *dimensions = nt_arena_alloc(arena, count + 1, sizeof(*dimensions));
    if (!dimensions)
        return nt_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(shape, i);
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the shape has a dimension that is no size");
        dimensions[i] = (uint64_t)json_integer_value(value);
    }
    *rows_ret = count ? dimensions[0] : 1;
    *dimensions_ret = dimensions + (count > 0);
    *count_ret = count ? (uint32_t)count - 1 : 0;
    return NT_OK;
}

/* A member's name may lead nowhere but into the directory. */
static bool is_plain_name(const struct nt_text *name)
{
    return name->length && !memchr(name->bytes, '/', name->length) &&
           !memchr(name->bytes, '\0', name->length) && strcmp(name->bytes, ".") && strcmp(name->bytes, "..");
}

/* Whether a data directory has directories for the members of a structure. */
static enum nt_status is_column_wise(struct nt_blz_build *build, const char *data,
                                     const struct nt_blz_dtype *dtype, bool *is_column_wise_ret,
                                     struct nt_error *error)
{
    enum nt_status status = NT_OK;
    *is_column_wise_ret = false;
    for (uint32_t i = 0; i < dtype->member_count && status == NT_OK && !*is_column_wise_ret; i++) {
        const struct nt_text *name = &dtype->members[i].name;
        if (!is_plain_name(name))
            continue;
        const char *directory = nt_blz_name(build, data, name->bytes);
        status = directory ? nt_folder_has_folder(build->folder, directory, is_column_wise_ret, error)
                           : nt_fail_memory(error);
    }
    return status;
}

enum nt_status nt_blz_array_read(struct nt_blz_build *build, const char *directory, struct nt_blz_node *node,
                                 struct nt_blz_array *array, struct nt_error *error)
{
    struct nt_arena *arena = build->dataset->arena;
    *array = (struct nt_blz_array){.directory = directory};
    enum nt_status status = nt_blz_attributes_read(build, directory, node, error);
    if (status == NT_OK)
        status = load_object(build, directory, "meta/sizes", &node->sizes, error);
    if (status == NT_OK)
        status = load_object(build, directory, "meta/storage", &node->storage, error);
    if (status == NT_OK)
        status = nt_blz_meta_files_read(build, directory, node, error);
    if (status != NT_OK)
        return status;
    const json_t *text = json_object_get(node->storage, "dtype");
    if (!json_is_string(text))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: meta/storage has no dtype",
                       nt_blz_path(build, directory));
    array->type = (struct nt_text){json_string_value(text), json_string_length(text)};
    status = nt_blz_dtype_parse(arena, array->type.bytes, array->type.length, &array->dtype, error);
    if (status == NT_OK)
        status = nt_blz_shape_read(arena, json_object_get(node->sizes, "shape"), &array->rows,
                                   &array->dimensions, &array->dimension_count, error);
    if (status != NT_OK) {
        nt_error_context(error, "%s", nt_blz_path(build, directory));
        return status;
    }
    array->is_scalar = json_array_size(json_object_get(node->sizes, "shape")) == 0;
    nt_blz_json_unsigned(node->storage, "chunklen", &array->chunk_rows);
    array->data = nt_blz_name(build, directory, "data");
    if (!array->data)
        return nt_fail_memory(error);
    return is_column_wise(build, array->data, &array->dtype, &array->is_column_wise, error);
}

/* ---- files ---- */

static enum nt_status add_files(struct nt_blz_build *build, const char *data, enum nt_blz_naming naming,
                                struct nt_blz_column *column, struct nt_error *error)
{
    column->first_source = build->chunks.count;
    for (uint32_t i = 0; i < column->file_count; i++) {
        char *file = nt_blz_file_name(build->dataset->arena, data, naming, column->numbers[i]);
        enum nt_status status =
            file ? nt_blz_add_file(build, &build->chunks, file, error) : nt_fail_memory(error);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

/* Files of one chunk. Those behind the last one that the rows need are left over from before the array was
 * cut. */
static enum nt_status find_chunk_files(struct nt_blz_build *build, const char *data,
                                       struct nt_blz_column *column, struct nt_error *error)
{
    struct nt_blz_listing listing;
    enum nt_status status =
        nt_blz_list(build->dataset->arena, build->folder, data, NT_BLZ_NAMED_CHUNKS, &listing, error);
    if (status != NT_OK)
        return status;
    nt_budget_add_metadata(&build->dataset->file->budget, (uint64_t)listing.count * LISTED_BYTES);
    if (column->rows > 0 && column->chunk_rows == 0)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: the storage has no chunklen",
                       nt_blz_path(build, data));
    uint64_t needed = column->rows == 0 ? 0 : (column->rows - 1) / column->chunk_rows + 1;
    uint32_t count = listing.count;
    while (count > 0 && listing.numbers[count - 1] >= needed)
        count--;
    if (needed - count > MAXIMUM_MISSING_FILES)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "%s: %" PRIu64 " rows need %" PRIu64 " chunk files; %" PRIu32 " are there",
                       nt_blz_path(build, data), column->rows, needed, count);
    column->numbers = listing.numbers;
    column->file_count = count;
    return add_files(build, data, NT_BLZ_NAMED_CHUNKS, column, error);
}

/* Files of many chunks, numbered from 1 (from 0, where that is there). */
static enum nt_status add_superchunks(struct nt_blz_build *build, const char *data,
                                      const struct nt_blz_listing *listing, struct nt_blz_column *column,
                                      struct nt_error *error)
{
    column->chunking = NT_BLZ_SUPERCHUNKS;
    column->numbers = listing->numbers;
    column->file_count = listing->count;
    return add_files(build, data, NT_BLZ_NAMED_SUPERCHUNKS, column, error);
}

static enum nt_status find_files(struct nt_blz_build *build, const char *data, bool is_object,
                                 struct nt_blz_column *column, struct nt_error *error)
{
    struct nt_blz_listing superchunks;
    enum nt_status status = nt_blz_list(build->dataset->arena, build->folder, data, NT_BLZ_NAMED_SUPERCHUNKS,
                                        &superchunks, error);
    if (status != NT_OK)
        return status;
    if (is_object) {
        column->chunking = NT_BLZ_OBJECT_FILES;
        column->chunk_rows = 1;
    } else if (superchunks.count) {
        return add_superchunks(build, data, &superchunks, column, error);
    }
    return find_chunk_files(build, data, column, error);
}

/* ---- columns ---- */

static enum nt_status add_column(struct nt_blz_build *build, const struct nt_blz_array *array, uint32_t field,
                                 const struct nt_blz_dtype *dtype, const char *data, struct nt_error *error)
{
    struct nt_blz_column column = {.rows = array->rows, .chunk_rows = array->chunk_rows};
    enum nt_status status = find_files(build, data, dtype->is_object, &column, error);
    if (status != NT_OK)
        return status;
    return nt_blz_add_column(build, field, dtype, array->dimensions, array->dimension_count, &column, error);
}

enum nt_status nt_blz_array_add(struct nt_blz_build *build, const struct nt_blz_array *array, uint32_t field,
                                struct nt_error *error)
{
    build->model.fields[field].type = array->type;
    build->model.fields[field].is_scalar = array->is_scalar;
    if (array->dtype.is_object)
        build->model.fields[field].kind = NT_FIELD_PAGE_BYTES;
    return add_column(build, array, field, &array->dtype, array->data, error);
}

static enum nt_status add_member_columns(struct nt_blz_build *build, const struct nt_blz_array *array,
                                         uint32_t parent, const struct nt_blz_dtype *dtype, const char *data,
                                         struct nt_error *error)
{
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; status == NT_OK && i < dtype->member_count; i++) {
        const struct nt_blz_member *member = &dtype->members[i];
        if (!is_plain_name(&member->name))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "%s: a member whose name cannot be that of a directory",
                           nt_blz_path(build, array->directory));
        const char *directory = nt_blz_name(build, data, member->name.bytes);
        if (!directory)
            return nt_fail_memory(error);
        bool is_nested;
        status = is_column_wise(build, directory, &member->type, &is_nested, error);
        if (status != NT_OK)
            return status;
        struct nt_text type = nt_text_of(member->type.dtype.numpy);
        uint32_t field;
        status = nt_blz_add_field(build, parent, member->name, type,
                                  is_nested ? NT_FIELD_RECORD : NT_FIELD_VALUE, &field, error);
        if (status != NT_OK)
            return status;
        status = is_nested ? add_member_columns(build, array, field, &member->type, directory, error)
                           : add_column(build, array, field, &member->type, directory, error);
    }
    return status;
}

enum nt_status nt_blz_array_add_members(struct nt_blz_build *build, const struct nt_blz_array *array,
                                        uint32_t parent, struct nt_error *error)
{
    return add_member_columns(build, array, parent, &array->dtype, array->data, error);
}
