/* SPDX-License-Identifier: MIT
 *
 * Maps the fields of the schema to columns of each fragment's data files, finds fields that cannot be
 * read, and builds the physical view from those columns.
 */
#include "formats/lance/dataset/dataset.h"

/* ---- Columns of a fragment ---- */

static int compare_ids(const void *left, const void *right)
{
    const struct nt_lance_id *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

enum nt_status nt_lance_sort_ids(struct nt_arena *arena, struct nt_lance_dataset *lance,
                                 struct nt_error *error)
{
    uint32_t count = lance->schema.field_count;
    struct nt_lance_id *ids = nt_arena_alloc(arena, (size_t)count + 1, sizeof(*ids));
    NT_TRY(nt_check_memory(ids, error));
    for (uint32_t i = 0; i < count; i++)
        ids[i] = (struct nt_lance_id){lance->schema.fields[i].id, i};
    qsort(ids, count, sizeof(*ids), compare_ids);
    lance->ids = ids;
    return NT_OK;
}

/* Returns NT_NONE if the schema has no such field. */
static uint32_t find_field(const struct nt_lance_dataset *lance, int32_t id)
{
    const struct nt_lance_id key = {.id = id};
    const struct nt_lance_id *found =
        bsearch(&key, lance->ids, lance->schema.field_count, sizeof(key), compare_ids);
    return found && id >= 0 ? found->field : NT_NONE;
}

struct column_search {
    const struct nt_lance_dataset *lance;
    const struct nt_lance_fragment_part *fragment;
    uint64_t position; /* of the current DataFile in the manifest */
    struct nt_lance_leaf *leaves;
    struct nt_error *error;
};

static enum nt_status add_column(const struct column_search *search, uint32_t number, int32_t id,
                                 uint64_t column)
{
    uint32_t file = number - search->fragment->first_file;
    uint32_t field = find_field(search->lance, id);
    struct nt_lance_leaf *leaf = field == NT_NONE ? NULL : &search->leaves[field];
    bool has_none = (int32_t)column < 0; /* from 2.1 on: fields that only contain other fields */
    if (!leaf || has_none)
        return NT_OK;
    if (leaf->field != NT_NONE && leaf->file != file)
        return NT_OK;
    if (leaf->field != NT_NONE)
        return nt_fail(search->error, NT_CORRUPT, search->position, "field %" PRId32 " has two columns", id);
    if (column > UINT32_MAX)
        return nt_fail(search->error, NT_CORRUPT, search->position,
                       "field %" PRId32 " has the impossible column %" PRIu64, id, column);
    *leaf = (struct nt_lance_leaf){.field = field, .column = (uint32_t)column, .file = file};
    return NT_OK;
}

/* In legacy files, which have no column numbers, the field's id identifies the column. */
static enum nt_status add_legacy_file(const struct column_search *search, uint32_t number)
{
    struct nt_proto_numbers ids =
        nt_proto_numbers(search->lance->files[number].message, NT_LANCE_DATA_FILE_FIELDS);
    uint64_t id;
    while (nt_proto_next_number(&ids, &id))
        if ((int32_t)id >= 0)
            NT_TRY(add_column(search, number, (int32_t)id, (uint32_t)id));
    return NT_OK;
}

static enum nt_status add_numbered_file(const struct column_search *search, uint32_t number)
{
    struct nt_proto message = search->lance->files[number].message;
    struct nt_proto_numbers ids = nt_proto_numbers(message, NT_LANCE_DATA_FILE_FIELDS),
                            columns = nt_proto_numbers(message, NT_LANCE_DATA_FILE_COLUMN_INDICES);
    uint64_t id_count = nt_proto_count_numbers(message, NT_LANCE_DATA_FILE_FIELDS),
             column_count = nt_proto_count_numbers(message, NT_LANCE_DATA_FILE_COLUMN_INDICES), id, column;
    if (id_count != column_count)
        return nt_fail_number(search->error, NT_CORRUPT, search->position,
                              "column indices (one for each field id)", id_count, column_count);
    while (nt_proto_next_number(&ids, &id) && nt_proto_next_number(&columns, &column))
        NT_TRY(add_column(search, number, (int32_t)id, column));
    return NT_OK;
}

static enum nt_status add_file(struct column_search *search, uint32_t number)
{
    const struct nt_lance_manifest_file *manifest = &search->lance->manifest;
    struct nt_proto message = search->lance->files[number].message;
    search->position = nt_lance_manifest_offset(manifest, message);
    enum nt_status status = search->lance->files[number].generation == NT_LANCE_IS_LEGACY
                                ? add_legacy_file(search, number)
                                : add_numbered_file(search, number);
    if (status != NT_OK) {
        struct nt_text path = nt_proto_text(message, NT_LANCE_DATA_FILE_PATH);
        nt_error_context(search->error, "%s: data file '%.*s'", manifest->name, (int)path.length, path.bytes);
    }
    return status;
}

static enum nt_status find_leaves(struct column_search *search)
{
    for (uint32_t i = 0; i < search->lance->schema.field_count; i++)
        search->leaves[i] = (struct nt_lance_leaf){.field = NT_NONE, .column = NT_NONE};
    for (uint32_t i = 0; i < search->fragment->file_count; i++)
        NT_TRY(add_file(search, search->fragment->first_file + i));
    nt_lance_inherit_leaves(&search->lance->schema, search->leaves);
    return NT_OK;
}

/* Consecutive fragments are mostly alike. */
static enum nt_status share_leaves(struct nt_file *file, struct nt_lance_dataset *lance,
                                   const struct nt_lance_leaf *leaves, struct nt_error *error)
{
    uint32_t count = lance->schema.field_count;
    size_t bytes = count * sizeof(*leaves);
    if (lance->last_leaves && memcmp(lance->last_leaves, leaves, bytes) == 0)
        return NT_OK;
    NT_TRY(nt_budget_take(&file->budget, NT_COST_RANGE, count, NT_NO_OFFSET, error));
    const void *copy = nt_arena_copy(file->arena, (const void *)leaves, bytes);
    NT_TRY(nt_check_memory(copy, error));
    lance->last_leaves = copy;
    return NT_OK;
}

enum nt_status nt_lance_find_columns(struct nt_file *file, struct nt_lance_dataset *lance,
                                     struct nt_lance_fragment_part *fragment, struct nt_error *error)
{
    if (fragment->leaves)
        return NT_OK;
    NT_AUTO_FREE struct nt_lance_leaf *leaves =
        calloc((size_t)lance->schema.field_count + 1, sizeof(*leaves));
    NT_TRY(nt_check_memory(leaves, error));
    struct column_search search = {.lance = lance, .fragment = fragment, .leaves = leaves, .error = error};
    NT_TRY(find_leaves(&search));
    NT_TRY(share_leaves(file, lance, leaves, error));
    fragment->leaves = lance->last_leaves;
    return NT_OK;
}

/* ---- Unsupported encodings ---- */

struct field_search {
    struct nt_dataset *dataset;
    struct nt_lance_dataset *lance;
    bool *is_known; /* by field */
    uint32_t left;  /* number of unknown fields */
    struct nt_error *error;
};

static bool has_known_version(const struct nt_lance_data_file *data_file)
{
    enum { MAJOR = 2, MINOR = 2 };
    uint64_t major = nt_proto_number(data_file->message, NT_LANCE_DATA_FILE_MAJOR_VERSION),
             minor = nt_proto_number(data_file->message, NT_LANCE_DATA_FILE_MINOR_VERSION);
    return major < MAJOR || (major == MAJOR && minor <= MINOR);
}

static enum nt_status look_at_field(struct field_search *search,
                                    const struct nt_lance_fragment_part *fragment, uint32_t field)
{
    const struct nt_lance_leaf *leaf = &fragment->leaves[field];
    struct nt_error failure;
    const struct nt_lance *opened;
    uint32_t file = fragment->first_file + leaf->file;
    enum nt_status status = nt_lance_open_data_file(search->dataset, file, &opened, &failure);
    search->is_known[field] = true;
    search->left--;
    if (status != NT_OK)
        return nt_is_environmental(status) ? nt_fail_copy(search->error, &failure) : NT_OK;
    if (leaf->column >= opened->tail.columns || !opened->columns[leaf->column].failure)
        return NT_OK;
    const char **refusal = &search->lance->schema.refusals[field];
    *refusal = nt_arena_format(search->dataset->arena, "%s: %s", search->lance->files[file].name,
                               opened->columns[leaf->column].failure->message);
    return nt_check_memory(*refusal, search->error);
}

static enum nt_status look_at_fragment(struct field_search *search, struct nt_lance_fragment_part *fragment)
{
    const struct nt_lance_data_file *files = search->lance->files;
    bool are_all_known = true;
    for (uint32_t i = 0; i < fragment->file_count; i++)
        are_all_known &= has_known_version(&files[fragment->first_file + i]);
    if (are_all_known)
        return NT_OK;
    NT_TRY(nt_lance_find_columns(search->dataset->file, search->lance, fragment, search->error));
    for (uint32_t i = 0; i < search->lance->schema.field_count; i++) {
        const struct nt_lance_leaf *leaf = &fragment->leaves[i];
        if (leaf->column != NT_NONE && !search->is_known[i] &&
            !has_known_version(&files[fragment->first_file + leaf->file]))
            NT_TRY(look_at_field(search, fragment, i));
    }
    return NT_OK;
}

enum nt_status nt_lance_find_unsupported(struct nt_dataset *dataset, struct nt_error *error)
{
    struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    size_t count = (size_t)lance->schema.field_count + 1;
    NT_AUTO_FREE bool *is_known = calloc(count, sizeof(*is_known));
    struct field_search search = {.dataset = dataset,
                                  .lance = lance,
                                  .is_known = is_known,
                                  .left = lance->schema.field_count,
                                  .error = error};
    lance->schema.refusals = nt_arena_alloc(dataset->arena, count, sizeof(*lance->schema.refusals));
    NT_TRY(nt_check_memory(lance->schema.refusals && is_known, error));
    for (uint32_t i = 0; search.left && i < lance->fragment_count; i++)
        NT_TRY(look_at_fragment(&search, &lance->fragments[i]));
    return NT_OK;
}

/* ---- Sliced structures ---- */

enum { MAX_FRAGMENTS = 64 };

static bool has_members(const struct nt_lance_schema *schema)
{
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (schema->layouts[i].type.shape == NT_LANCE_IS_STRUCT && schema->layouts[i].children)
            return true;
    return false;
}

/* Adds a file's fields that fail for reasons other than the format of their pages. */
static enum nt_status look_at(struct nt_dataset *dataset, const struct nt_lance_data_file *data_file,
                              const struct nt_lance *opened, const char **refusals, struct nt_error *error)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    for (uint32_t i = 0; opened->legacy && i < opened->schema.field_count; i++) {
        const struct nt_error *failure = opened->columns[i].failure;
        uint32_t field = nt_lance_find_id(&lance->schema, opened->schema.fields[i].id);
        if (!failure || failure == opened->legacy->pagings[i].failure || field == NT_NONE || refusals[field])
            continue;
        refusals[field] =
            nt_arena_format(dataset->arena, "fragment %" PRIu64 ": %s: %s",
                            lance->fragments[data_file->fragment].id, data_file->name, failure->message);
        NT_TRY(nt_check_memory(refusals[field], error));
    }
    return NT_OK;
}

enum nt_status nt_lance_find_slices(struct nt_dataset *dataset, struct nt_error *error)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    const struct nt_lance *opened;
    if (!lance->schema.is_legacy || lance->fragment_count > MAX_FRAGMENTS || !has_members(&lance->schema))
        return NT_OK;
    for (uint32_t i = 0; i < lance->file_count; i++) {
        struct nt_error unused;
        enum nt_status status = nt_lance_open_data_file(dataset, i, &opened, &unused);
        if (nt_is_environmental(status))
            return nt_fail_copy(error, &unused);
        if (status == NT_OK)
            NT_TRY(look_at(dataset, &lance->files[i], opened, lance->schema.refusals, error));
    }
    return NT_OK;
}

/* ---- Physical columns ---- */

/* Fields that only contain other fields have no column in files from 2.1 on. */
static enum nt_status find_physical_column(struct nt_dataset *dataset, uint32_t field, uint32_t part,
                                           struct nt_lance_physical_column *physical_column_ret,
                                           struct nt_error *error)
{
    struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    struct nt_lance_fragment_part *fragment = &lance->fragments[part];
    const struct nt_lance_model_field *shown = &lance->schema.parts[field];
    *physical_column_ret = (struct nt_lance_physical_column){.fragment = fragment->id};
    NT_TRY(nt_lance_find_columns(dataset->file, lance, fragment, error));
    const struct nt_lance_leaf *leaf = &fragment->leaves[shown->field];
    if (leaf->field != shown->field)
        return NT_OK;
    uint32_t file = fragment->first_file + leaf->file;
    physical_column_ret->name = lance->files[file].name;
    enum nt_status status = nt_lance_open_data_file(dataset, file, &physical_column_ret->lance, error);
    if (status == NT_OK)
        physical_column_ret->column_map = nt_lance_map_column(
            &lance->schema, leaf, nt_lance_has_item_columns(&physical_column_ret->lance->tail), shown);
    if (status == NT_OK)
        status = nt_lance_check_column(&lance->schema, physical_column_ret->lance, leaf, false, error);
    return nt_with_context(status, error, "fragment %" PRIu64, fragment->id);
}

enum nt_status nt_lance_prepare_physical(struct nt_dataset *dataset, struct nt_error *error)
{
    struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    struct nt_lance_physical *physical_view = &lance->physical_view;
    uint32_t count;
    physical_view->schema = &lance->schema;
    physical_view->find_physical_column = find_physical_column;
    return nt_lance_number_columns(dataset->arena, &lance->schema, &physical_view->leaves, &count, error);
}

void nt_lance_find_physical_columns(struct nt_dataset *dataset)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    for (uint32_t i = 0; i < dataset->column_count; i++) {
        uint32_t field = lance->schema.parts[dataset->columns[i].field].field;
        dataset->columns[i].physical = lance->physical_view.leaves[field].column;
    }
}

enum nt_status nt_lance_add_dataset_physical(struct nt_dataset *dataset, struct nt_error *error)
{
    return nt_lance_add_physical_of(dataset, &nt_lance_dataset_of(dataset)->physical_view, error);
}
