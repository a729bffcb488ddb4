/* SPDX-License-Identifier: MIT
 *
 * Reads the directory tree of a BLZ or bcolz array or table: sizes, storage, attributes, columns and
 * chunk files. A column that cannot be read becomes a field that reports its error.
 */
#include "formats/blz/blz.h"

#include <errno.h>
#include <search.h>

/* ---- List chunk files ---- */

/* Names end so after "__" and a number: those of blz and bcolz; from the first description of the format. */
static const char chunk_suffix[] = ".blp", superchunk_suffix[] = "__.bin";

/* Parses "__", a number without leading zeros, and the suffix. */
static bool parse_name(const char *name, const char *suffix, uint64_t *number_ret)
{
    if (strncmp(name, "__", 2) || name[2] < '0' || name[2] > '9' ||
        (name[2] == '0' && name[3] >= '0' && name[3] <= '9'))
        return false;
    char *end;
    errno = 0;
    *number_ret = strtoull(name + 2, &end, 10);
    return errno == 0 && !strcmp(end, suffix);
}

struct listing_context {
    const char *suffix;
    struct nt_buffer *numbers;
};

static enum nt_status take_chunk_file(void *context, const struct nt_folder_entry *entry,
                                      struct nt_error *error)
{
    struct listing_context *c = context;
    uint64_t number;
    if (parse_name(entry->name, c->suffix, &number))
        nt_buffer_append(c->numbers, &number, sizeof(number));
    return nt_check_memory(!c->numbers->failed, error);
}

/* Lists the numbers of the files in a directory with such names, ascending, into the arena. None if there is
 * no directory. */
static enum nt_status list_numbers(struct nt_blz_build *build, const char *name, const char *suffix,
                                   uint64_t **numbers_ret, uint32_t *count_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer found = {0};
    struct listing_context context = {.suffix = suffix, .numbers = &found};
    enum nt_status status = nt_folder_list(build->folder, name, take_chunk_file, &context, error);
    if (status != NT_OK && status != NT_NOT_FOUND)
        return status;
    size_t count = found.length / sizeof(uint64_t);
    if (count > UINT32_MAX)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%s/%s: more than 2^32 files", build->folder->path,
                       name);
    uint64_t *numbers = (void *)nt_arena_copy(build->dataset->arena, found.bytes, found.length);
    NT_TRY(nt_check_memory(numbers, error));
    qsort(numbers, count, sizeof(*numbers), nt_compare_u64);
    *numbers_ret = numbers;
    *count_ret = (uint32_t)count;
    return NT_OK;
}

/* ---- Other metadata files ---- */

enum { MAX_FILES = 4096 };

struct missing_names {
    struct nt_arena *arena;
    const char **list; /* from malloc; the texts are in the arena */
    size_t count, capacity;
};

static bool is_known(const char *name)
{
    static const char *const known[] = {"sizes", "storage", "attributes", NULL};
    return name[0] == '.' || nt_text_is_one_of(nt_text_of(name), known);
}

static enum nt_status take_meta_file(void *context, const struct nt_folder_entry *entry,
                                     struct nt_error *error)
{
    struct missing_names *names = context;
    if (is_known(entry->name) || entry->kind == NT_ENTRY_FOLDER || entry->kind == NT_ENTRY_OTHER)
        return NT_OK;
    if (names->count == MAX_FILES)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the dataset has more than %d files of metadata",
                       MAX_FILES);
    NT_TRY(nt_check_memory(NT_GROW(names->list, names->count, names->capacity), error));
    names->list[names->count] = nt_arena_copy(names->arena, entry->name, strlen(entry->name));
    return nt_check_memory(names->list[names->count++], error);
}

/* Users write these files, so a damaged file costs nothing but itself. */
static enum nt_status read_file(struct nt_blz_build *build, const char *path, struct nt_blz_meta_file *file,
                                struct nt_error *error)
{
    struct nt_error failure = {0};
    enum nt_status status = nt_blz_json_load(build->folder, path, build->metadata.count,
                                             &build->dataset->file->budget, &file->content, &failure);
    if (nt_is_retryable(status, &failure))
        return nt_fail_copy(error, &failure);
    if (status != NT_OK)
        file->unreadable = nt_arena_format(build->dataset->arena, "%s", failure.message);
    return status == NT_OK || file->unreadable ? nt_blz_add_file(build, &build->metadata, path, error)
                                               : nt_fail_memory(error);
}

static enum nt_status read_files(struct nt_blz_build *build, const char *meta, struct missing_names *names,
                                 struct nt_blz_node *node, struct nt_error *error)
{
    if (names->count)
        qsort(names->list, names->count, sizeof(*names->list), nt_compare_strings);
    node->others = nt_arena_alloc(names->arena, names->count + 1, sizeof(*node->others));
    NT_TRY(nt_check_memory(node->others, error));
    for (size_t i = 0; i < names->count; i++) {
        const char *path = nt_blz_name(build, meta, names->list[i]);
        struct nt_blz_meta_file *file = &node->others[node->other_count++];
        file->name = nt_text_of(names->list[i]);
        NT_TRY(nt_check_memory(path, error));
        NT_TRY(read_file(build, path, file, error));
    }
    return NT_OK;
}

/* Reads the files of `directory` into `node`, sorted by name. A file that is not JSON keeps the reason;
 * hidden files are omitted. */
static enum nt_status blz_meta_files_read(struct nt_blz_build *build, const char *directory,
                                          struct nt_blz_node *node, struct nt_error *error)
{
    struct missing_names names = {.arena = build->dataset->arena};
    const char *meta = nt_blz_name(build, directory, "meta");
    enum nt_status status =
        meta ? nt_folder_list(build->folder, meta, take_meta_file, &names, error) : nt_fail_memory(error);
    if (status == NT_OK)
        status = read_files(build, meta, &names, node, error);
    free(names.list);
    return status == NT_NOT_FOUND ? NT_OK : status;
}

/* ---- Array directories ---- */

struct nt_blz_array {
    const char *directory, *data; /* in the directory: the array's, and that of its files */
    struct nt_blz_dtype dtype;
    struct nt_text type;       /* the text of the dtype */
    uint64_t rows, chunk_rows; /* chunk_rows 0: unknown */
    uint64_t *dimensions;      /* after the rows */
    uint32_t dimension_count;
    bool is_scalar;      /* no dimensions, not even rows */
    bool is_column_wise; /* a structure whose members have their own directories */
};

enum {
    MAXIMUM_DIMENSIONS = 32,
    MAXIMUM_MISSING_FILES = 65536,
    LISTED_BYTES = 16, /* counts for each file in a listing: its name */
};

/* ---- Metadata ---- */

static enum nt_status load_json(struct nt_blz_build *build, const char *name, json_t **value_ret,
                                struct nt_error *error)
{
    NT_TRY(nt_blz_json_load(build->folder, name, build->metadata.count, &build->dataset->file->budget,
                            value_ret, error));
    return nt_blz_add_file(build, &build->metadata, name, error);
}

static enum nt_status load_object(struct nt_blz_build *build, const char *directory, const char *name,
                                  json_t **value_ret, struct nt_error *error)
{
    const char *file = nt_blz_name(build, directory, name);
    NT_TRY(nt_check_memory(file, error));
    enum nt_status status = load_json(build, file, value_ret, error);
    if (status == NT_NOT_FOUND)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s is missing", nt_blz_path(build, file));
    if (status == NT_OK && !json_is_object(*value_ret))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: not a JSON object", nt_blz_path(build, file));
    return status;
}

/* Reads the attributes of an array or table into `node`: __attrs__, or meta/attributes.
 *
 * Users write attributes, so missing or damaged ones do not affect the data. */
static enum nt_status blz_attributes_read(struct nt_blz_build *build, const char *directory,
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
        if (nt_is_retryable(status, &failure))
            return nt_fail_copy(error, &failure);
        if (status == NT_NOT_FOUND)
            continue;
        node->problem = nt_arena_format(build->dataset->arena, "%s", failure.message);
        node->failure = status;
        NT_TRY(nt_check_memory(node->problem, error));
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
    NT_TRY(nt_check_memory(dimensions, error));
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(shape, i);
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a dimension of the shape is not a valid size");
        dimensions[i] = (uint64_t)json_integer_value(value);
    }
    *rows_ret = count ? dimensions[0] : 1;
    *dimensions_ret = dimensions + (count > 0);
    *count_ret = count ? (uint32_t)count - 1 : 0;
    return NT_OK;
}

/* A member's name must not lead out of the directory. */
static bool is_plain_name(const struct nt_text *name)
{
    return name->length && !memchr(name->bytes, '/', name->length) &&
           !memchr(name->bytes, '\0', name->length) && strcmp(name->bytes, ".") && strcmp(name->bytes, "..");
}

/* Does a data directory contain directories for the members of a structure? */
static enum nt_status is_column_wise(struct nt_blz_build *build, const char *data,
                                     const struct nt_blz_dtype *dtype, bool *is_column_wise_ret,
                                     struct nt_error *error)
{
    *is_column_wise_ret = false;
    for (uint32_t i = 0; i < dtype->member_count && !*is_column_wise_ret; i++) {
        const struct nt_text *name = &dtype->members[i].name;
        if (!is_plain_name(name))
            continue;
        const char *directory = nt_blz_name(build, data, name->bytes);
        NT_TRY(nt_check_memory(directory, error));
        NT_TRY(nt_folder_has_folder(build->folder, directory, is_column_wise_ret, error));
    }
    return NT_OK;
}

/* Reads meta/sizes, meta/storage and the attributes of the array in `directory` into `node`, and
 * derives the array from them. */
static enum nt_status blz_array_read(struct nt_blz_build *build, const char *directory,
                                     struct nt_blz_node *node, struct nt_blz_array *array,
                                     struct nt_error *error)
{
    struct nt_arena *arena = build->dataset->arena;
    *array = (struct nt_blz_array){.directory = directory};
    NT_TRY(blz_attributes_read(build, directory, node, error));
    NT_TRY(load_object(build, directory, "meta/sizes", &node->sizes, error));
    NT_TRY(load_object(build, directory, "meta/storage", &node->storage, error));
    NT_TRY(blz_meta_files_read(build, directory, node, error));
    const json_t *text = json_object_get(node->storage, "dtype");
    if (!json_is_string(text))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: meta/storage has no dtype",
                       nt_blz_path(build, directory));
    array->type = (struct nt_text){json_string_value(text), json_string_length(text)};
    enum nt_status status =
        nt_blz_dtype_parse(arena, array->type.bytes, array->type.length, &array->dtype, error);
    if (status == NT_OK)
        status = nt_blz_shape_read(arena, json_object_get(node->sizes, "shape"), &array->rows,
                                   &array->dimensions, &array->dimension_count, error);
    if (status != NT_OK)
        return nt_with_context(status, error, "%s", nt_blz_path(build, directory));
    array->is_scalar = json_array_size(json_object_get(node->sizes, "shape")) == 0;
    nt_blz_json_unsigned(node->storage, "chunklen", &array->chunk_rows);
    array->data = nt_blz_name(build, directory, "data");
    NT_TRY(nt_check_memory(array->data, error));
    return is_column_wise(build, array->data, &array->dtype, &array->is_column_wise, error);
}

/* ---- Files ---- */

static enum nt_status add_files(struct nt_blz_build *build, const char *data, const char *suffix,
                                struct nt_blz_column *column, struct nt_error *error)
{
    column->first_source = build->chunks.count;
    for (uint32_t i = 0; i < column->file_count; i++) {
        const char *file =
            nt_arena_format(build->dataset->arena, "%s/__%" PRIu64 "%s", data, column->numbers[i], suffix);
        NT_TRY(nt_check_memory(file, error));
        NT_TRY(nt_blz_add_file(build, &build->chunks, file, error));
    }
    return NT_OK;
}

/* Files of one chunk. Files after the last one that the rows need remain from before a truncation. */
static enum nt_status find_chunk_files(struct nt_blz_build *build, const char *data,
                                       struct nt_blz_column *column, struct nt_error *error)
{
    uint64_t *numbers;
    uint32_t count;
    NT_TRY(list_numbers(build, data, chunk_suffix, &numbers, &count, error));
    nt_budget_add_metadata(&build->dataset->file->budget, (uint64_t)count * LISTED_BYTES);
    if (column->rows > 0 && column->chunk_rows == 0)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: the storage has no chunklen",
                       nt_blz_path(build, data));
    uint64_t needed = column->rows == 0 ? 0 : (column->rows - 1) / column->chunk_rows + 1;
    while (count > 0 && numbers[count - 1] >= needed)
        count--;
    if (needed - count > MAXIMUM_MISSING_FILES)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "%s: %" PRIu64 " rows need %" PRIu64 " chunk files, found %" PRIu32,
                       nt_blz_path(build, data), column->rows, needed, count);
    column->numbers = numbers;
    column->file_count = count;
    return add_files(build, data, chunk_suffix, column, error);
}

static enum nt_status find_files(struct nt_blz_build *build, const char *data, bool is_object,
                                 struct nt_blz_column *column, struct nt_error *error)
{
    uint64_t *numbers;
    uint32_t count;
    NT_TRY(list_numbers(build, data, superchunk_suffix, &numbers, &count, error));
    if (is_object) {
        column->chunking = NT_BLZ_OBJECT_FILES;
        column->chunk_rows = 1;
    } else if (count) { /* numbered from 1; from 0, if that file exists */
        column->chunking = NT_BLZ_SUPERCHUNKS;
        column->numbers = numbers;
        column->file_count = count;
        return add_files(build, data, superchunk_suffix, column, error);
    }
    return find_chunk_files(build, data, column, error);
}

/* ---- Columns ---- */

static enum nt_status add_array_column(struct nt_blz_build *build, const struct nt_blz_array *array,
                                       uint32_t field, const struct nt_blz_dtype *dtype, const char *data,
                                       struct nt_error *error)
{
    struct nt_blz_column column = {.rows = array->rows, .chunk_rows = array->chunk_rows};
    NT_TRY(find_files(build, data, dtype->is_object, &column, error));
    return nt_blz_add_column(build, field, dtype, array->dimensions, array->dimension_count, &column, error);
}

/* Adds the array's rows to `field`. */
static enum nt_status blz_array_add(struct nt_blz_build *build, const struct nt_blz_array *array,
                                    uint32_t field, struct nt_error *error)
{
    build->model.fields[field].type = array->type;
    const struct nt_field_extra extra = {.is_scalar = array->is_scalar};
    NT_TRY(nt_check_memory(nt_field_set_extra(build->dataset->arena, &build->model.fields[field], &extra),
                           error));
    if (array->dtype.is_object)
        build->model.fields[field].kind = NT_FIELD_PAGE_BYTES;
    return add_array_column(build, array, field, &array->dtype, array->data, error);
}

/* Adds a field below `parent` (NT_NONE: top level) for each member of a column-wise array. */
static enum nt_status add_member_columns(struct nt_blz_build *build, const struct nt_blz_array *array,
                                         uint32_t parent, const struct nt_blz_dtype *dtype, const char *data,
                                         struct nt_error *error)
{
    for (uint32_t i = 0; i < dtype->member_count; i++) {
        const struct nt_blz_member *member = &dtype->members[i];
        if (!is_plain_name(&member->name))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "%s: the name of member %" PRIu32 " cannot be the name of a directory",
                           nt_blz_path(build, array->directory), i);
        const char *directory = nt_blz_name(build, data, member->name.bytes);
        NT_TRY(nt_check_memory(directory, error));
        bool is_nested;
        NT_TRY(is_column_wise(build, directory, &member->type, &is_nested, error));
        struct nt_text type = nt_text_of(member->type.dtype.numpy);
        uint32_t field;
        NT_TRY(nt_blz_add_field(build, parent, member->name, type,
                                is_nested ? NT_FIELD_RECORD : NT_FIELD_VALUE, &field, error));
        NT_TRY(is_nested ? add_member_columns(build, array, field, &member->type, directory, error)
                         : add_array_column(build, array, field, &member->type, directory, error));
    }
    return NT_OK;
}

/* ---- Table directories ---- */

static enum nt_status read_table(struct nt_blz_build *build, const char *directory, struct nt_blz_node *node,
                                 uint32_t parent, unsigned depth, struct nt_error *error);

static enum nt_status is_table(struct nt_blz_build *build, const char *directory, bool *is_table_ret,
                               struct nt_error *error)
{
    const char *name = nt_blz_name(build, directory, "__rootdirs__");
    NT_TRY(nt_check_memory(name, error));
    return nt_folder_has(build->folder, name, is_table_ret, error);
}

/* The identity of a table's directory. */
struct nt_blz_table {
    dev_t device;
    ino_t inode;
    const char *directory;
};

static struct nt_blz_node *add_node(struct nt_blz_build *build, struct nt_blz_node *parent,
                                    struct nt_text name)
{
    struct nt_blz_node *node = nt_arena_alloc(build->dataset->arena, 1, sizeof(*node));
    if (!node)
        return NULL;
    node->name = name;
    if (parent && parent->last_child)
        parent->last_child->next = node;
    else if (parent)
        parent->children = node;
    if (parent)
        parent->last_child = node;
    return node;
}

/* ---- Columns of a table ---- */

/* Finds the directory of a column: from the table, else the column's name. */
static enum nt_status find_column(struct nt_blz_build *build, const char *table,
                                  const struct nt_blz_node *node, const struct nt_text *name,
                                  const char **directory_ret, struct nt_error *error)
{
    const json_t *listed = json_object_get(json_object_get(node->names, "dirs"), name->bytes);
    const char *directory = json_is_string(listed) ? json_string_value(listed) : name->bytes;
    size_t length = json_is_string(listed) ? json_string_length(listed) : name->length;
    if (!nt_folder_is_name_below((struct nt_text){directory, length}))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "%s: the column's directory, '%s', is not inside the table's directory",
                       nt_blz_path(build, table), directory);
    *directory_ret = nt_blz_name(build, table, directory);
    return nt_check_memory(*directory_ret, error);
}

static enum nt_status read_array_column(struct nt_blz_build *build, const char *directory,
                                        struct nt_blz_node *node, uint32_t field, struct nt_error *error)
{
    struct nt_blz_array array;
    NT_TRY(blz_array_read(build, directory, node, &array, error));
    if (!array.is_column_wise)
        return blz_array_add(build, &array, field, error);
    build->model.fields[field].kind = NT_FIELD_RECORD;
    build->model.fields[field].role = NT_ROLE_RECORD;
    build->model.fields[field].type = array.type;
    return add_member_columns(build, &array, field, &array.dtype, array.data, error);
}

static enum nt_status read_column(struct nt_blz_build *build, const char *directory, struct nt_blz_node *node,
                                  uint32_t field, unsigned depth, struct nt_error *error)
{
    bool is_nested;
    NT_TRY(is_table(build, directory, &is_nested, error));
    if (!is_nested)
        return read_array_column(build, directory, node, field, error);
    build->model.fields[field].kind = NT_FIELD_RECORD;
    build->model.fields[field].role = NT_ROLE_RECORD;
    return read_table(build, directory, node, field, depth + 1, error);
}

static enum nt_status add_table_column(struct nt_blz_build *build, const char *table,
                                       struct nt_blz_node *node, const json_t *name_value, uint32_t parent,
                                       unsigned depth, struct nt_error *error)
{
    struct nt_text name = {json_string_value(name_value), json_string_length(name_value)};
    struct nt_blz_node *column = add_node(build, node, name);
    uint32_t field;
    NT_TRY(column
               ? nt_blz_add_field(build, parent, name, (struct nt_text){"", 0}, NT_FIELD_VALUE, &field, error)
               : nt_fail_memory(error));
    struct nt_error failure = {0};
    const char *directory;
    enum nt_status status = find_column(build, table, node, &name, &directory, &failure);
    if (status == NT_OK)
        status = read_column(build, directory, column, field, depth, &failure);
    if (status == NT_OK)
        return NT_OK;
    if (nt_is_retryable(status, &failure))
        return nt_fail_copy(error, &failure);
    column->problem = nt_arena_format(build->dataset->arena, "%s", failure.message);
    column->failure = status;
    build->model.fields[field].kind = NT_FIELD_UNREADABLE;
    build->model.fields[field].unreadable = column->problem;
    return nt_check_memory(column->problem, error);
}

/* ---- Tables ---- */

static int compare_tables(const void *left, const void *right)
{
    const struct nt_blz_table *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->inode > b->inode) - (a->inode < b->inode);
}

/* Enters each table only once: if links and lists of columns lead to it repeatedly, the result could
 * exceed any memory. */
static enum nt_status enter_table(struct nt_blz_build *build, const char *directory, struct nt_error *error)
{
    struct stat attributes;
    NT_TRY(nt_folder_stat(build->folder, directory, &attributes, error));
    struct nt_blz_table *table = nt_arena_alloc(build->dataset->arena, 1, sizeof(*table));
    NT_TRY(nt_check_memory(table, error));
    *table = (struct nt_blz_table){attributes.st_dev, attributes.st_ino, directory};
    struct nt_blz_table **found = tsearch(table, &build->tables, compare_tables);
    NT_TRY(nt_check_memory(found, error));
    if (*found != table)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: the table is the same directory as '%s'",
                       nt_blz_path(build, directory), (*found)->directory);
    return NT_OK;
}

static enum nt_status load_names(struct nt_blz_build *build, const char *directory, struct nt_blz_node *node,
                                 const json_t **names_ret, struct nt_error *error)
{
    const char *file = nt_blz_name(build, directory, "__rootdirs__");
    NT_TRY(nt_check_memory(file, error));
    NT_TRY(load_json(build, file, &node->names, error));
    const json_t *names = json_object_get(node->names, "names");
    if (!json_is_array(names))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: expected a list of names",
                       nt_blz_path(build, file));
    for (size_t i = 0; i < json_array_size(names); i++)
        if (!json_is_string(json_array_get(names, i)))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: a name is not a string",
                           nt_blz_path(build, file));
    *names_ret = names;
    return NT_OK;
}

static enum nt_status read_table(struct nt_blz_build *build, const char *directory, struct nt_blz_node *node,
                                 uint32_t parent, unsigned depth, struct nt_error *error)
{
    if (depth == NT_BLZ_DEPTH)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%s: tables are nested deeper than %d levels",
                       nt_blz_path(build, directory), NT_BLZ_DEPTH);
    const json_t *names = NULL;
    NT_TRY(enter_table(build, directory, error));
    NT_TRY(load_names(build, directory, node, &names, error));
    NT_TRY(blz_attributes_read(build, directory, node, error));
    NT_TRY(blz_meta_files_read(build, directory, node, error));
    for (size_t i = 0; i < json_array_size(names); i++)
        NT_TRY(add_table_column(build, directory, node, json_array_get(names, i), parent, depth, error));
    return NT_OK;
}

/* ---- The dataset ---- */

static enum nt_status read_array(struct nt_blz_build *build, struct nt_blz_node *node, struct nt_error *error)
{
    struct nt_blz_array array;
    NT_TRY(blz_array_read(build, "", node, &array, error));
    if (array.is_column_wise)
        return add_member_columns(build, &array, NT_NONE, &array.dtype, array.data, error);
    uint32_t field;
    NT_TRY(nt_blz_add_field(build, NT_NONE, (struct nt_text){"values", 6}, array.type, NT_FIELD_VALUE, &field,
                            error));
    return blz_array_add(build, &array, field, error);
}

/* The arena owns the tables. */
static void leave_table(void *table)
{
}

enum nt_status nt_blz_read_directory(struct nt_blz_build *build, struct nt_error *error)
{
    struct nt_blz_node *node = add_node(build, NULL, nt_path_name(build->folder->path));
    NT_TRY(nt_check_memory(node, error));
    build->blz->root = node;
    bool has_columns;
    enum nt_status status = is_table(build, "", &has_columns, error);
    if (status == NT_OK)
        status =
            has_columns ? read_table(build, "", node, NT_NONE, 0, error) : read_array(build, node, error);
    tdestroy(build->tables, leave_table);
    build->tables = NULL;
    return status;
}
