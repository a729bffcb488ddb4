/* SPDX-License-Identifier: MIT
 *
 * Joins friends: shows the branches of other trees in the same file as fields of a tree.
 */
#include "formats/ttree/ttree.h"

#include <stdio.h>

#include "container/container.h"

enum { MAX_FRIENDS = 64 };

struct friend_join {
    struct nt_dataset *dataset;
    struct nt_ttree *tree;
    uint32_t directory; /* of the tree */
    struct nt_ttree_friend *friend;
    struct nt_error *error;
};

/* ---- Find the friend ---- */

/* Removes a name, and the slash in front of it, from the end of a path. */
static bool drop_last(struct nt_text *path, struct nt_text name)
{
    size_t length = name.length;
    if (path->length < length || memcmp(path->bytes + path->length - length, name.bytes, length) != 0)
        return false;
    path->length -= length;
    if (path->length && path->bytes[path->length - 1] != '/')
        return false;
    path->length -= path->length != 0;
    return true;
}

/* Is a path, from a directory on, that of the newest cycle of a tree? */
static bool is_at(const struct nt_file *file, const struct nt_tfile_object *object, uint32_t directory,
                  struct nt_text path)
{
    uint32_t at = object->directory;
    if (!object->is_newest_cycle || !drop_last(&path, object->name))
        return false;
    for (; at != directory && at != 0; at = file->directories[at].parent)
        if (!drop_last(&path, file->directories[at].name))
            return false;
    return at == directory && path.length == 0;
}

/* ROOT searches from the root directory of the file, then in the current one, mostly the tree's own. */
static const struct nt_tfile_object *find(const struct friend_join *joined)
{
    const struct nt_file *file = joined->dataset->file;
    const struct nt_container *container = nt_container_of(file);
    const uint32_t directories[] = {0, joined->directory};
    for (unsigned i = 0; i < sizeof(directories) / sizeof(*directories); i++)
        for (uint32_t k = 0; k < container->object_count; k++)
            if (is_at(file, &container->objects[k], directories[i], joined->friend->tree))
                return &container->objects[k];
    return NULL;
}

/* ---- Is the friend in the same file? ---- */

/* The working directory of a relative name is unknown: the name may be the end of the path. */
static bool ends_in(const char *path, struct nt_text name)
{
    struct nt_text rest = nt_text_of(path);
    while (nt_text_skip(&name, "./"))
        ;
    return name.length && drop_last(&rest, name);
}

/* The first record of a file has the name with which the file was created. */
static enum nt_status compare_first_name(struct nt_file *file, struct nt_text name, bool *is_same_ret,
                                         struct nt_error *error)
{
    struct nt_tfile_key key;
    NT_AUTO_FREE uint8_t *buffer = malloc(NT_TFILE_MAX_KEY_BYTES);
    NT_TRY(nt_check_memory(buffer, error));
    enum nt_status status =
        nt_tfile_read_key(file->source, nt_tfile_of(file)->header.begin, buffer, &key, error);
    *is_same_ret = status == NT_OK && nt_texts_are_equal(key.name, name);
    return nt_is_environmental(status) ? status : NT_OK;
}

static enum nt_status is_in_file(const struct friend_join *joined, bool *is_same_ret)
{
    struct nt_file *file = joined->dataset->file;
    struct nt_text name = joined->friend->file;
    *is_same_ret = name.length == 0 || ends_in(file->path, name);
    return *is_same_ret ? NT_OK : compare_first_name(file, name, is_same_ret, joined->error);
}

/* ---- Read the friend ---- */

static enum nt_status read_friend(const struct friend_join *joined, const struct nt_tfile_object *object,
                                  struct nt_ttree **record_ret, struct nt_error *error)
{
    struct nt_dataset *dataset = joined->dataset;
    struct nt_ttree *record = nt_arena_alloc(dataset->arena, 1, sizeof(*record));
    NT_TRY(nt_check_memory(record, error));
    *record_ret = record;
    return nt_ttree_read_object(dataset->file, dataset->arena, object, record, error);
}

static enum nt_status refuse(const struct friend_join *joined, const char *reason)
{
    joined->friend->refusal = nt_arena_copy(joined->dataset->arena, reason, strlen(reason));
    return nt_check_memory(joined->friend->refusal, joined->error);
}

static enum nt_status check(const struct friend_join *joined, const struct nt_ttree *record)
{
    char text[128];
    if (record->has_index)
        return refuse(joined, "it has an index (TTreeIndex), which is not supported");
    if (record->entries != joined->tree->entries) {
        snprintf(text, sizeof(text), "it has %" PRId64 " entries, but the tree has %" PRId64, record->entries,
                 joined->tree->entries);
        return refuse(joined, text);
    }
    joined->friend->joined = record;
    return NT_OK;
}

/* A failure to read a friend is the reason why it is not joined. */
static enum nt_status examine(const struct friend_join *joined)
{
    struct nt_error failure = {0};
    struct nt_ttree *record = NULL;
    bool is_same;
    NT_TRY(is_in_file(joined, &is_same));
    if (!is_same)
        return refuse(joined, "it is in another file");
    const struct nt_tfile_object *object = find(joined);
    if (!object)
        return refuse(joined, "the file has no tree of this name");
    enum nt_status status = read_friend(joined, object, &record, &failure);
    if (nt_is_environmental(status))
        return nt_fail_copy(joined->error, &failure);
    return status == NT_OK ? check(joined, record) : refuse(joined, failure.message);
}

/* ---- Join branches ---- */

/* Appends a branch for the friend, the friend's branches as its children, and their leaves. */
static void append(struct nt_ttree *tree, struct nt_ttree_friend *friend, uint32_t object_source)
{
    const struct nt_ttree *record = friend->joined;
    uint32_t head = tree->branch_count, first = head + 1, first_leaf = tree->leaf_count;
    tree->branches[head] = (struct nt_ttree_branch){.parent = NT_NONE,
                                                    .name = friend->name,
                                                    .title = record->title,
                                                    .object_class = record->class_name,
                                                    .counter = NT_NONE,
                                                    .second_counter = NT_NONE,
                                                    .first_leaf = first_leaf,
                                                    .record = record,
                                                    .friend = friend};
    for (uint32_t i = 0; i < record->branch_count; i++) {
        struct nt_ttree_branch *branch = &tree->branches[first + i];
        *branch = record->branches[i];
        branch->object_source = object_source;
        branch->first_leaf += first_leaf;
        branch->parent = branch->parent == NT_NONE ? head : first + branch->parent;
        branch->counter += branch->counter == NT_NONE ? 0 : first;
        branch->second_counter += branch->second_counter == NT_NONE ? 0 : first;
    }
    for (uint32_t i = 0; i < record->leaf_count; i++) {
        struct nt_ttree_leaf *leaf = &tree->leaves[first_leaf + i];
        *leaf = record->leaves[i];
        leaf->branch += first;
        leaf->counter += leaf->counter == NT_NONE ? 0 : first_leaf;
    }
    tree->branch_count += 1 + record->branch_count;
    tree->leaf_count += record->leaf_count;
}

/* Charges `count` + `more` items to the budget, allocates them, and copies the first `count`. */
static enum nt_status grow(struct friend_join *joined, const void *items, size_t count, uint64_t more,
                           size_t size, void **larger_ret)
{
    struct nt_dataset *dataset = joined->dataset;
    if (count + more >= NT_NONE)
        return nt_fail(joined->error, NT_LIMIT, NT_NO_OFFSET, "the friends have more than 2^32 branches");
    NT_TRY(nt_budget_take(&dataset->file->budget, NT_COST_ENVELOPE_BYTE, (count + more) * size, NT_NO_OFFSET,
                          joined->error));
    *larger_ret = nt_arena_alloc(dataset->arena, count + more + 1, size);
    NT_TRY(nt_check_memory(*larger_ret, joined->error));
    memcpy(*larger_ret, items, count * size);
    return NT_OK;
}

static enum nt_status join(struct friend_join *joined)
{
    struct nt_ttree *tree = joined->tree;
    uint64_t branches = 0, leaves = 0;
    uint32_t source = NT_TTREE_SOURCES;
    void *all_branches, *all_leaves;
    for (uint32_t i = 0; i < tree->friend_count; i++) {
        const struct nt_ttree *record = tree->friends[i].joined;
        branches += record ? 1ull + record->branch_count : 0;
        leaves += record ? record->leaf_count : 0;
    }
    if (!branches)
        return NT_OK;
    NT_TRY(
        grow(joined, tree->branches, tree->branch_count, branches, sizeof(*tree->branches), &all_branches));
    NT_TRY(grow(joined, tree->leaves, tree->leaf_count, leaves, sizeof(*tree->leaves), &all_leaves));
    tree->branches = all_branches;
    tree->leaves = all_leaves;
    for (uint32_t i = 0; i < tree->friend_count; i++)
        if (tree->friends[i].joined)
            append(tree, &tree->friends[i], source++);
    return NT_OK;
}

/* ---- Notes about friends that are not joined ---- */

static void write_note(const struct nt_ttree_friend *friend, struct nt_error *note)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0};
    nt_buffer_append_string(&text, "friend ");
    nt_append_printable(&text, friend->name.bytes, friend->name.length);
    if (friend->file.length) {
        nt_buffer_append_string(&text, " of file ");
        nt_append_printable(&text, friend->file.bytes, friend->file.length);
    }
    nt_fail(note, NT_UNSUPPORTED, NT_NO_OFFSET, "%s is not shown: %s",
            text.failed ? "a friend" : nt_buffer_string(&text), friend->refusal);
}

/* One note stands for all friends beyond the limit. */
static enum nt_status add_notes(const struct friend_join *joined)
{
    struct nt_dataset *dataset = joined->dataset;
    const struct nt_ttree *tree = joined->tree;
    uint32_t count = tree->friend_count <= MAX_FRIENDS ? tree->friend_count : MAX_FRIENDS + 1;
    struct nt_error *notes = nt_arena_alloc(dataset->arena, count, sizeof(*notes));
    NT_TRY(nt_check_memory(notes, joined->error));
    dataset->notes = notes;
    for (uint32_t i = 0; i < count; i++)
        if (tree->friends[i].refusal)
            write_note(&tree->friends[i], &notes[dataset->note_count++]);
    return NT_OK;
}

enum nt_status nt_ttree_join_friends(struct nt_dataset *dataset, struct nt_ttree *tree, uint32_t directory,
                                     struct nt_error *error)
{
    struct friend_join joined = {.dataset = dataset, .tree = tree, .directory = directory, .error = error};
    for (uint32_t i = 0; i < tree->friend_count; i++) {
        joined.friend = &tree->friends[i];
        NT_TRY(i < MAX_FRIENDS ? examine(&joined)
                               : refuse(&joined, "the tree has more than the limit of 64 friends"));
    }
    NT_TRY(add_notes(&joined));
    return join(&joined);
}
