/* SPDX-License-Identifier: MIT
 *
 * Finds the nodes of the tree that a PATH of the command line means: by its path, without the dataset
 * where there is only one, or by a pattern; and explains a path that means nothing.
 */
#include "cli/cli.h"

/* ---- What a directory of a field contains ---- */

/* The path of the only field at the end of a chain of items; else the field itself. */
static uint32_t follow_items(const struct nt_dataset *dataset, uint32_t field, struct nt_buffer *path)
{
    uint32_t count;
    while (dataset->fields[field].child_count == 1 &&
           !nt_field_has_stream(&dataset->fields[field], NT_STREAM_DATA)) {
        field = *nt_dataset_children(dataset, field, &count);
        nt_name_encode(dataset->fields[field].name, NT_NAME_FIELD, path);
        nt_buffer_append_byte(path, '/');
    }
    return field;
}

static void append_members(const struct nt_dataset *dataset, uint32_t field, const char *path,
                           struct nt_buffer *out)
{
    enum { SHOWN = 5 };
    uint32_t count;
    const uint32_t *members = nt_dataset_children(dataset, field, &count);
    for (uint32_t i = 0; i < count && i < SHOWN; i++) {
        nt_buffer_append_format(out, "%s%s", i ? ", " : "members are ", path);
        nt_name_encode(dataset->fields[members[i]].name, NT_NAME_FIELD, out);
    }
    nt_buffer_append_string(out, count > SHOWN ? ", …" : "");
}

/* "a collection: values are in _0/data.bin; offsets are in offsets.bin". */
static void append_contents(const struct nt_dataset *dataset, uint32_t field, struct nt_buffer *out)
{
    static const char *const words[NT_STREAM_COUNT] = {[NT_STREAM_OFFSETS] = "offsets are",
                                                       [NT_STREAM_TAGS] = "tags are",
                                                       [NT_STREAM_INDEX] = "rows of the alternatives are",
                                                       [NT_STREAM_VALID] = "validity is"};
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    const struct nt_field *top = &dataset->fields[field];
    const char *kind = nt_field_kind_name(top->kind);
    uint32_t end = follow_items(dataset, field, &path);
    nt_buffer_append_format(out, "%s %s: ", strchr("aeiou", kind[0]) ? "an" : "a", kind);
    if (nt_field_has_stream(&dataset->fields[end], NT_STREAM_DATA))
        nt_buffer_append_format(out, "values are in %sdata.bin", nt_buffer_string(&path));
    else
        append_members(dataset, end, nt_buffer_string(&path), out);
    for (unsigned kind_of = 0; kind_of < NT_STREAM_COUNT; kind_of++)
        if (words[kind_of] && nt_field_has_stream(top, (enum nt_stream_kind)kind_of))
            nt_buffer_append_format(out, "; %s in %s.bin", words[kind_of],
                                    nt_stream_name((enum nt_stream_kind)kind_of));
}

bool nt_fail_field_contents(struct nt_vfs *vfs, uint64_t node, struct nt_error *error)
{
    struct nt_resolved_node resolved;
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0};
    if (nt_node_resolve(vfs, node, &resolved, NULL) != NT_OK)
        return false;
    bool is_field = resolved.node.type == NT_NODE_FIELD && resolved.node.file == NT_NODE_SELF;
    if (is_field) {
        append_contents(resolved.dataset, resolved.field, &text);
        nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s", nt_buffer_string(&text));
    }
    nt_node_release(&resolved);
    return is_field;
}

/* ---- Nodes ---- */

static enum nt_status add(struct nt_node_list *named, uint64_t node, const char *path, struct nt_error *error)
{
    char *copy = NT_GROW(named->items, named->count, named->capacity) ? strdup(path) : NULL;
    NT_TRY(nt_check_memory(copy, error));
    named->items[named->count++] = (struct nt_node_list_item){node, copy};
    return NT_OK;
}

static void cut(struct nt_node_list *named, size_t count)
{
    while (named->count > count)
        free(named->items[--named->count].path);
}

void nt_node_list_deinit(struct nt_node_list *named)
{
    cut(named, 0);
    free(named->items);
    *named = (struct nt_node_list){.count = 0};
}

uint32_t nt_node_list_fields(const struct nt_node_list_item *nodes, size_t count, uint32_t *fields)
{
    struct nt_node first, node;
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (!nt_node_unpack(nodes[i].node, &node) || node.type != NT_NODE_FIELD ||
            node.file != NT_NODE_SELF || (i && node.owner != first.owner))
            break;
        first = node;
        fields[found++] = node.item;
    }
    return found;
}

static enum nt_status go_down(struct nt_vfs *vfs, const char *path, uint64_t *node)
{
    while (*path) {
        char name[NT_NAME_BYTES + 1];
        size_t length = strcspn(path, "/");
        if (length > NT_NAME_BYTES)
            return NT_NOT_FOUND;
        memcpy(name, path, length);
        name[length] = '\0';
        path += length + (path[length] == '/');
        NT_TRY(length ? nt_vfs_lookup(vfs, *node, name, node, NULL) : NT_OK);
    }
    return NT_OK;
}

/* The longest beginning of a path that exists, and the rest of it. */
static uint64_t longest_prefix(struct nt_vfs *vfs, char *path, const char **rest_ret)
{
    uint64_t node = NT_VFS_ROOT, next;
    *rest_ret = path + strspn(path, "/");
    for (char *at = path; (at = strchr(at, '/')); at++) {
        *at = '\0';
        enum nt_status status = nt_vfs_resolve(vfs, path, &next, NULL);
        *at = '/';
        if (status != NT_OK)
            break;
        node = next;
        *rest_ret = at + 1;
    }
    return node;
}

/* ---- Names ---- */

/* 0: the tree cannot show it. */
static uint64_t node_of(const struct nt_resolved_node *scope, const struct nt_match *match)
{
    uint32_t owner = scope->opened->first_dataset_id + match->dataset;
    return match->field == NT_NONE ? nt_node_number(NT_NODE_DATASET, owner, 0, NT_NODE_SELF)
                                   : nt_node_number(NT_NODE_FIELD, owner, match->field, NT_NODE_SELF);
}

/* Adds the nodes of all matches; if a part of the path is left, the files of that name below them. */
static enum nt_status add_matches(struct nt_vfs *vfs, const struct nt_resolved_node *scope,
                                  const struct nt_matches *matches, struct nt_node_list *named,
                                  struct nt_error *error)
{
    for (size_t i = 0; i < matches->count; i++) {
        uint64_t node = node_of(scope, &matches->items[i]);
        NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
        if (!node || go_down(vfs, matches->rest, &node) != NT_OK)
            continue;
        NT_TRY(nt_node_path(vfs, node, &path, error));
        NT_TRY(add(named, node, nt_buffer_string(&path), error));
    }
    return NT_OK;
}

/* Appends ": PATH is a collection: ..." for the directory of a field. */
static void explain(struct nt_vfs *vfs, uint64_t node, struct nt_buffer *out)
{
    struct nt_error contents = {0};
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    if (nt_fail_field_contents(vfs, node, &contents) && nt_node_path(vfs, node, &path, NULL) == NT_OK)
        nt_buffer_append_format(out, ": %s is %s", nt_buffer_string(&path), contents.message);
}

/* If only the last name of the path does not exist, the message lists what exists; else similar names. */
static enum nt_status refuse(struct nt_vfs *vfs, const struct nt_resolved_node *scope,
                             const struct nt_name_scope *names, const struct nt_matches *matches,
                             const char *path, const char *rest, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0}, before = {0};
    uint64_t node = matches->count ? node_of(scope, &matches->items[0]) : 0;
    if (node)
        explain(vfs, node, &text);
    nt_buffer_append(&before, path, (size_t)(rest - path));
    if (!text.length)
        nt_name_suggest(names, nt_buffer_string(&before), rest, &text);
    if (!text.length && names->field != NT_NONE)
        explain(vfs, scope->number, &text);
    return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "no such file or field%s", nt_buffer_string(&text));
}

static enum nt_status find_in(struct nt_vfs *vfs, const struct nt_resolved_node *scope, const char *path,
                              const char *rest, struct nt_node_list *named, struct nt_error *error)
{
    bool is_in_dataset = scope->dataset != NULL;
    const struct nt_name_scope names = {.file = scope->file,
                                        .directory = is_in_dataset ? 0 : scope->node.item,
                                        .dataset = scope->dataset,
                                        .field = scope->field};
    NT_CLEANUP(nt_matches_deinit) struct nt_matches matches = {.count = 0};
    size_t before = named->count;
    NT_TRY(nt_name_match(&names, rest, true, &matches, error));
    NT_TRY(add_matches(vfs, scope, &matches, named, error));
    return named->count > before ? NT_OK : refuse(vfs, scope, &names, &matches, path, rest, error);
}

enum nt_status nt_node_list_find(struct nt_vfs *vfs, const char *path, struct nt_node_list *named,
                                 struct nt_error *error)
{
    struct nt_resolved_node scope;
    uint64_t node;
    size_t before = named->count;
    enum nt_status status = nt_vfs_resolve(vfs, path, &node, error);
    if (status == NT_OK)
        return add(named, node, path, error);
    if (status != NT_NOT_FOUND)
        return status;
    NT_AUTO_FREE char *copy = strdup(path);
    NT_TRY(nt_check_memory(copy, error));
    const char *rest;
    node = longest_prefix(vfs, copy, &rest);
    if (nt_node_resolve(vfs, node, &scope, NULL) == NT_OK) {
        if (scope.inode_kind == NT_INODE_FAILED)
            status = nt_inodes_failure(vfs->inodes, scope.inode, error);
        else if (scope.dataset && scope.dataset->failure)
            status = nt_fail_copy(error, scope.dataset->failure);
        else if (scope.file && nt_node_is_directory(&scope) && scope.column == NT_NONE)
            status = find_in(vfs, &scope, copy, rest, named, error);
        nt_node_release(&scope);
    }
    if (status != NT_OK)
        cut(named, before);
    return status;
}

/* Adds the fields that one name of --columns means below a path. */
static enum nt_status find_columns(struct nt_vfs *vfs, const char *path, struct nt_text part,
                                   struct nt_node_list *all, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer name = {0};
    nt_buffer_append_format(&name, "%s%s%.*s", path, *path ? "/" : "", (int)part.length, part.bytes);
    return nt_with_context(nt_node_list_find(vfs, nt_buffer_string(&name), all, error), error, "%s",
                           nt_buffer_string(&name));
}

enum nt_status nt_node_list_columns(struct nt_vfs *vfs, const char *path, const char *columns,
                                    struct nt_node_list *all, struct nt_error *error)
{
    for (const char *at = columns, *end; *at; at = *end ? end + 1 : end) {
        end = strchrnul(at, ',');
        if (end > at)
            NT_TRY(find_columns(vfs, path, (struct nt_text){at, (size_t)(end - at)}, all, error));
    }
    return all->count ? NT_OK
                      : nt_fail(error, NT_INVALID, NT_NO_OFFSET, "--columns=%s names no field", columns);
}

enum nt_status nt_find_one_node(struct nt_vfs *vfs, const char *path, uint64_t *node_ret,
                                struct nt_error *error)
{
    NT_CLEANUP(nt_node_list_deinit) struct nt_node_list named = {.count = 0};
    NT_TRY(nt_node_list_find(vfs, path, &named, error));
    if (named.count > 1)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "the pattern matches %zu paths: %s, %s%s; name one of them", named.count,
                       named.items[0].path, named.items[1].path, named.count > 2 ? ", …" : "");
    *node_ret = named.items[0].node;
    return NT_OK;
}

bool nt_entry_is_field(const struct nt_tree_entry *entry)
{
    struct nt_node node;
    return entry->class == NT_VFS_DIRECTORY && nt_node_unpack(entry->node, &node) &&
           node.file == NT_NODE_SELF &&
           (node.type == NT_NODE_INODE || node.type == NT_NODE_DATASET || node.type == NT_NODE_FIELD);
}

bool nt_entry_is_shown(const struct nt_tree_entry *entry, const struct nt_settings *settings)
{
    return settings->fields ? nt_entry_is_field(entry) : settings->all || entry->name[0] != '.';
}

uint64_t nt_node_only_dataset(struct nt_vfs *vfs, uint64_t node)
{
    struct nt_resolved_node resolved;
    if (nt_node_resolve(vfs, node, &resolved, NULL) != NT_OK)
        return node;
    const struct nt_dataset *only =
        resolved.file && !resolved.dataset && !resolved.node.item ? nt_file_only(resolved.file, NULL) : NULL;
    if (only)
        node =
            nt_node_number(NT_NODE_DATASET, resolved.opened->first_dataset_id + only->index, 0, NT_NODE_SELF);
    nt_node_release(&resolved);
    return node;
}
