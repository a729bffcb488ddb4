/* SPDX-License-Identifier: MIT
 *
 * In: a directory that is an array or a table. Out: its fields: "values", or one for each column, in the
 * order that the table names; tables in tables become fields of fields. A column that cannot be read stays as
 * a field that says why.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/text.h"
#include "format/blz/array.h"
#include "format/blz/metadata.h"

static enum nt_status read_table(struct nt_blz_build *build, const char *path, struct nt_blz_node *node,
                                 uint32_t parent, unsigned depth, struct nt_error *error);

static bool exists(const char *path)
{
    struct stat attributes;
    return path && stat(path, &attributes) == 0;
}

static bool is_table(struct nt_arena *arena, const char *path)
{
    return exists(nt_arena_format(arena, "%s/__rootdirs__", path));
}

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

/* A column's directory: told by the table, else its name. It may lie below the table only. */
static const char *column_path(struct nt_blz_build *build, const char *table, const struct nt_blz_node *node,
                               const struct nt_text *name)
{
    const json_t *told = json_object_get(json_object_get(node->names, "dirs"), name->bytes);
    const char *directory = json_is_string(told) ? json_string_value(told) : name->bytes;
    size_t length = json_is_string(told) ? json_string_length(told) : name->length;
    if (length == 0 || strlen(directory) != length || directory[0] == '/')
        return NULL;
    for (const char *part = directory; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        if (!strncmp(part, "..", 2) && (part[2] == '/' || part[2] == '\0'))
            return NULL;
    return nt_arena_format(build->dataset->arena, "%s/%s", table, directory);
}

static enum nt_status read_array_column(struct nt_blz_build *build, const char *path,
                                        struct nt_blz_node *node, uint32_t field, struct nt_error *error)
{
    struct nt_blz_array array;
    enum nt_status status = nt_blz_array_read(build, path, node, &array, error);
    if (status != NT_OK)
        return status;
    if (!array.is_column_wise)
        return nt_blz_array_add(build, &array, field, error);
    nt_blz_field(build, field)->kind = NT_FIELD_CONTAINER;
    nt_blz_field(build, field)->role = NT_ROLE_RECORD;
    nt_blz_field(build, field)->type = array.type;
    return nt_blz_array_add_members(build, &array, field, error);
}

static enum nt_status read_column(struct nt_blz_build *build, const char *path, struct nt_blz_node *node,
                                  uint32_t field, unsigned depth, struct nt_error *error)
{
    if (!path)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the column's directory is not below the table's");
    if (!is_table(build->dataset->arena, path))
        return read_array_column(build, path, node, field, error);
    nt_blz_field(build, field)->kind = NT_FIELD_CONTAINER;
    nt_blz_field(build, field)->role = NT_ROLE_RECORD;
    return read_table(build, path, node, field, depth + 1, error);
}

static enum nt_status add_column(struct nt_blz_build *build, const char *table, struct nt_blz_node *node,
                                 const json_t *name_value, uint32_t parent, unsigned depth,
                                 struct nt_error *error)
{
    struct nt_text name = {json_string_value(name_value), json_string_length(name_value)};
    struct nt_blz_node *column = add_node(build, node, name);
    uint32_t field = nt_blz_add_field(build, parent, name, (struct nt_text){"", 0}, NT_FIELD_VALUE);
    if (!column || field == NT_NONE)
        return nt_fail_memory(error);
    struct nt_error failure = {0};
    const char *path = column_path(build, table, node, &name);
    enum nt_status status = read_column(build, path, column, field, depth, &failure);
    if (status == NT_OK)
        return NT_OK;
    if (status == NT_NO_MEMORY)
        return nt_fail_memory(error);
    column->problem = nt_arena_format(build->dataset->arena, "%s", failure.message);
    nt_blz_field(build, field)->kind = NT_FIELD_UNREADABLE;
    nt_blz_field(build, field)->unreadable = column->problem;
    return column->problem ? NT_OK : nt_fail_memory(error);
}

static enum nt_status read_table(struct nt_blz_build *build, const char *path, struct nt_blz_node *node,
                                 uint32_t parent, unsigned depth, struct nt_error *error)
{
    if (depth == NT_BLZ_DEPTH)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "tables nested deeper than %d", NT_BLZ_DEPTH);
    const char *file = nt_arena_format(build->dataset->arena, "%s/__rootdirs__", path);
    if (!file)
        return nt_fail_memory(error);
    enum nt_status status = nt_blz_json_load(file, &node->names, error);
    if (status == NT_OK)
        status = nt_blz_add_source(build, &build->metadata_sources, file, error);
    if (status == NT_OK)
        status = nt_blz_attributes_read(build, path, node, error);
    if (status != NT_OK)
        return status;
    const json_t *names = json_object_get(node->names, "names");
    if (!json_is_array(names))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: no list of names", file);
    for (size_t i = 0; status == NT_OK && i < json_array_size(names); i++) {
        const json_t *name = json_array_get(names, i);
        if (!json_is_string(name))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s: a name that is no text", file);
        status = add_column(build, path, node, name, parent, depth, error);
    }
    return status;
}

/* ---- the data set ---- */

static enum nt_status read_array(struct nt_blz_build *build, const char *path, struct nt_blz_node *node,
                                 struct nt_error *error)
{
    struct nt_blz_array array;
    enum nt_status status = nt_blz_array_read(build, path, node, &array, error);
    if (status != NT_OK)
        return status;
    if (array.is_column_wise)
        return nt_blz_array_add_members(build, &array, NT_NONE, error);
    uint32_t field =
        nt_blz_add_field(build, NT_NONE, (struct nt_text){"values", 6}, array.type, NT_FIELD_VALUE);
    return field == NT_NONE ? nt_fail_memory(error) : nt_blz_array_add(build, &array, field, error);
}

enum nt_status nt_blz_read_directory(struct nt_blz_build *build, const char *path, struct nt_error *error)
{
    size_t length;
    const char *name = nt_path_name(path, &length);
    struct nt_blz_node *node = add_node(build, NULL, (struct nt_text){name, length});
    if (!node)
        return nt_fail_memory(error);
    build->blz->root = node;
    return is_table(build->dataset->arena, path) ? read_table(build, path, node, NT_NONE, 0, error)
                                                 : read_array(build, path, node, error);
}
