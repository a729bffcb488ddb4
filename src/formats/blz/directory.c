/* SPDX-License-Identifier: MIT
 *
 * In: a directory that is an array or a table. Out: its fields: "values", or one for each column, in the
 * order that the table names; tables in tables become fields of fields. A column that cannot be read stays as
 * a field that says why.
 */
#include "formats/blz/build.h"

#include <search.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/text.h"
#include "formats/blz/array.h"
#include "formats/blz/failure.h"
#include "formats/blz/meta_files.h"
#include "formats/blz/metadata.h"

static enum nt_status read_table(struct nt_blz_build *build, const char *directory, struct nt_blz_node *node,
                                 uint32_t parent, unsigned depth, struct nt_error *error);

static enum nt_status is_table(struct nt_blz_build *build, const char *directory, bool *is_table_ret,
                               struct nt_error *error)
{
    const char *name = nt_blz_name(build, directory, "__rootdirs__");
    return name ? nt_folder_has(build->folder, name, is_table_ret, error) : nt_fail_memory(error);
}

/* A directory that is a table, by what tells it from others. */
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

/* ---- columns of a table ---- */

/* A column's directory: told by the table, else its name. */
static enum nt_status find_column(struct nt_blz_build *build, const char *table,
                                  const struct nt_blz_node *node, const struct nt_text *name,
                                  const char **directory_ret, struct nt_error *error)
{
    const json_t *told = json_object_get(json_object_get(node->names, "dirs"), name->bytes);
    const char *directory = json_is_string(told) ? json_string_value(told) : name->bytes;
    size_t length = json_is_string(told) ? json_string_length(told) : name->length;
    if (!nt_folder_is_name_below((struct nt_text){directory, length}))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "%s: the column's directory, '%s', is not below the table's",
                       nt_blz_path(build, table), directory);
    *directory_ret = nt_blz_name(build, table, directory);
    return *directory_ret ? NT_OK : nt_fail_memory(error);
}

static enum nt_status read_array_column(struct nt_blz_build *build, const char *directory,
                                        struct nt_blz_node *node, uint32_t field, struct nt_error *error)
{
    struct nt_blz_array array;
    enum nt_status status = nt_blz_array_read(build, directory, node, &array, error);
    if (status != NT_OK)
        return status;
    if (!array.is_column_wise)
        return nt_blz_array_add(build, &array, field, error);
    build->model.fields[field].kind = NT_FIELD_RECORD;
    build->model.fields[field].role = NT_ROLE_RECORD;
    build->model.fields[field].type = array.type;
    return nt_blz_array_add_members(build, &array, field, error);
}

static enum nt_status read_column(struct nt_blz_build *build, const char *directory, struct nt_blz_node *node,
                                  uint32_t field, unsigned depth, struct nt_error *error)
{
    bool is_nested;
    enum nt_status status = is_table(build, directory, &is_nested, error);
    if (status != NT_OK)
        return status;
    if (!is_nested)
        return read_array_column(build, directory, node, field, error);
    build->model.fields[field].kind = NT_FIELD_RECORD;
    build->model.fields[field].role = NT_ROLE_RECORD;
    return read_table(build, directory, node, field, depth + 1, error);
}

static enum nt_status add_column(struct nt_blz_build *build, const char *table, struct nt_blz_node *node,
                                 const json_t *name_value, uint32_t parent, unsigned depth,
                                 struct nt_error *error)
{
    struct nt_text name = {json_string_value(name_value), json_string_length(name_value)};
    struct nt_blz_node *column = add_node(build, node, name);
    uint32_t field;
    enum nt_status status =
        column ? nt_blz_add_field(build, parent, name, (struct nt_text){"", 0}, NT_FIELD_VALUE, &field, error)
               : nt_fail_memory(error);
    if (status != NT_OK)
        return status;
    struct nt_error failure = {0};
    const char *directory;
    status = find_column(build, table, node, &name, &directory, &failure);
    if (status == NT_OK)
        status = read_column(build, directory, column, field, depth, &failure);
    if (status == NT_OK)
        return NT_OK;
    if (nt_is_refused_for_now(status, &failure))
        return nt_fail_with(error, &failure);
    column->problem = nt_arena_format(build->dataset->arena, "%s", failure.message);
    column->failure = status;
    build->model.fields[field].kind = NT_FIELD_UNREADABLE;
    build->model.fields[field].unreadable = column->problem;
    return column->problem ? NT_OK : nt_fail_memory(error);
}

/* ---- tables ---- */

static int compare_tables(const void *left, const void *right)
{
    const struct nt_blz_table *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->inode > b->inode) - (a->inode < b->inode);
}

/* A directory is one table: read as often as links and lists of columns lead to it, it could become more than
 * any machine holds. */
static enum nt_status enter_table(struct nt_blz_build *build, const char *directory, struct nt_error *error)
{
    struct stat attributes;
    enum nt_status status = nt_folder_stat(build->folder, directory, &attributes, error);
    if (status != NT_OK)
        return status;
    struct nt_blz_table *table = nt_arena_alloc(build->dataset->arena, 1, sizeof(*table));
    if (!table)
        return nt_fail_memory(error);
    *table = (struct nt_blz_table){attributes.st_dev, attributes.st_ino, directory};
    struct nt_blz_table **found = tsearch(table, &build->tables, compare_tables);
    if (!found)
        return nt_fail_memory(error);
    if (*found != table)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "%s: the table is the same directory as '%s', which is read already",
                       nt_blz_path(build, directory), (*found)->directory);
    return NT_OK;
}

static enum nt_status load_names(struct nt_blz_build *build, const char *directory, struct nt_blz_node *node,
                                 const json_t **names_ret, struct nt_error *error)
{
    const char *file = nt_blz_name(build, directory, "__rootdirs__");
    if (!file)
        return nt_fail_memory(error);
    enum nt_status status = nt_blz_json_load(build->folder, file, build->metadata.count,
                                             &build->dataset->file->budget, &node->names, error);
    if (status == NT_OK)
        status = nt_blz_add_file(build, &build->metadata, file, error);
    if (status != NT_OK)
        return status;
    const json_t *names = json_object_get(node->names, "names");
    if (!json_is_array(names))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: no list of names", nt_blz_path(build, file));
    for (size_t i = 0; i < json_array_size(names); i++)
        if (!json_is_string(json_array_get(names, i)))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: a name that is no text",
                           nt_blz_path(build, file));
    *names_ret = names;
    return NT_OK;
}

static enum nt_status read_table(struct nt_blz_build *build, const char *directory, struct nt_blz_node *node,
                                 uint32_t parent, unsigned depth, struct nt_error *error)
{
    if (depth == NT_BLZ_DEPTH)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%s: tables nested deeper than %d",
                       nt_blz_path(build, directory), NT_BLZ_DEPTH);
    const json_t *names = NULL;
    enum nt_status status = enter_table(build, directory, error);
    if (status == NT_OK)
        status = load_names(build, directory, node, &names, error);
    if (status == NT_OK)
        status = nt_blz_attributes_read(build, directory, node, error);
    if (status == NT_OK)
        status = nt_blz_meta_files_read(build, directory, node, error);
    for (size_t i = 0; status == NT_OK && i < json_array_size(names); i++)
        status = add_column(build, directory, node, json_array_get(names, i), parent, depth, error);
    return status;
}

/* ---- the data set ---- */

static enum nt_status read_array(struct nt_blz_build *build, struct nt_blz_node *node, struct nt_error *error)
{
    struct nt_blz_array array;
    enum nt_status status = nt_blz_array_read(build, "", node, &array, error);
    if (status != NT_OK)
        return status;
    if (array.is_column_wise)
        return nt_blz_array_add_members(build, &array, NT_NONE, error);
    uint32_t field;
    status = nt_blz_add_field(build, NT_NONE, (struct nt_text){"values", 6}, array.type, NT_FIELD_VALUE,
                              &field, error);
    return status == NT_OK ? nt_blz_array_add(build, &array, field, error) : status;
}

/* Tables lie in the arena. */
static void leave_table(void *table)
{
    (void)table;
}

enum nt_status nt_blz_read_directory(struct nt_blz_build *build, struct nt_error *error)
{
    struct nt_blz_node *node = add_node(build, NULL, nt_path_name(build->folder->path));
    if (!node)
        return nt_fail_memory(error);
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
