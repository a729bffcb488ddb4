/* SPDX-License-Identifier: MIT
 *
 * Opens a tree as a dataset, and describes it in JSON.
 */

#include <stdio.h>

#include "container/container.h"
#include "core/json/json.h"
#include "formats/ttree/ttree.h"

/* ---- JSON ---- */

void nt_ttree_describe_friends(const struct nt_ttree *tree, struct nt_json *json)
{
    nt_json_member_array(json, "friends");
    for (uint32_t i = 0; i < tree->friend_count; i++) {
        const struct nt_ttree_friend *friend = &tree->friends[i];
        nt_json_object(json);
        nt_json_member_text(json, "name", friend->name);
        nt_json_member_text(json, "tree", friend->tree);
        nt_json_member_text(json, "file", friend->file);
        nt_json_member_bool(json, "is_shown", friend->joined != NULL);
        if (friend->joined)
            nt_json_member_text(json, "field", friend->field);
        if (friend->refusal)
            nt_json_member_text(json, "reason", nt_text_of(friend->refusal));
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

static enum nt_status describe_dataset(const struct nt_dataset *dataset, struct nt_json *json)
{
    const struct nt_ttree *tree = nt_ttree_of(dataset);
    nt_json_member_text(json, "class", tree->class_name);
    nt_json_member_bool(json, "is_recovered", tree->is_recovered);
    nt_json_member_signed(json, "auto_flush", tree->auto_flush);
    nt_json_member_unsigned(json, "branches", tree->branch_count);
    nt_ttree_describe_friends(tree, json);
    return NT_OK;
}

NT_DEFINE_LAST_AT_MOST(last_branch_at, struct nt_branch_map, .field)

/* The branch that a field is, or belongs to. */
static uint32_t branch_of_field(const struct nt_ttree *tree, uint32_t field)
{
    return last_branch_at(tree->map->branches, tree->branch_count, field);
}

static bool is_of_record(const struct nt_ttree *tree, uint32_t field)
{
    return tree->branch_count && tree->map->branches[branch_of_field(tree, field)].field == field;
}

static bool is_branch(const struct nt_dataset *dataset, uint32_t field)
{
    const struct nt_ttree *tree = nt_ttree_of(dataset);
    return is_of_record(tree, field) && !tree->branches[branch_of_field(tree, field)].friend;
}

static void describe_field(const struct nt_dataset *dataset, uint32_t field, struct nt_json *json)
{
    const struct nt_ttree *tree = nt_ttree_of(dataset);
    uint32_t number = branch_of_field(tree, field);
    if (!is_of_record(tree, field))
        return;
    const struct nt_ttree_branch *branch = &tree->branches[number];
    if (branch->friend) {
        nt_json_member_text(json, "friend", branch->friend->tree);
        return;
    }
    nt_json_member_unsigned(json, "branch", number);
    nt_json_member_text(json, "branch_class", branch->class_name);
}

static enum nt_status write_branch(const struct nt_dataset *dataset, uint32_t field, struct nt_buffer *out,
                                   struct nt_error *error)
{
    const struct nt_ttree *tree = nt_ttree_of(dataset);
    return nt_ttree_describe_branch(tree, &tree->branches[branch_of_field(tree, field)], out, error);
}

const struct nt_ttree_column *nt_ttree_column_source(const struct nt_dataset *dataset, uint32_t column)
{
    const struct nt_ttree_map *map = nt_ttree_of(dataset)->map;
    return &(dataset == dataset->logical ? map->columns : map->physical_columns)[column];
}

void nt_ttree_describe_column(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json)
{
    const struct nt_ttree_map *map = nt_ttree_of(dataset)->map;
    nt_json_member_unsigned(json, "branch",
                            map->branches[nt_ttree_column_source(dataset, column)->branch].branch);
}

static bool is_embedded(const struct nt_dataset *dataset, const struct nt_ttree_column *column_source,
                        const struct nt_page *page)
{
    const struct nt_ttree *tree = nt_ttree_of(dataset);
    return page->source == tree->branches[tree->map->branches[column_source->branch].branch].object_source;
}

/* The basket that a page is; NULL: it is missing. Pages of values have its number. Those of end offsets
 * have something else there: only chains show them. */
static const struct nt_basket_location *basket_of(const struct nt_branch_map *branch, bool is_offsets,
                                                  bool is_embedded, const struct nt_page *page)
{
    if (page->is_missing || (!is_offsets && page->parameter >= branch->basket_count))
        return NULL;
    if (!is_offsets)
        return &branch->baskets[page->parameter];
    for (uint32_t i = 0; i < branch->basket_count; i++)
        if (branch->baskets[i].offset == page->offset && branch->baskets[i].is_embedded == is_embedded)
            return &branch->baskets[i];
    return NULL;
}

enum nt_status nt_ttree_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                      const struct nt_page *page, struct nt_json *json)
{
    const struct nt_ttree_column *column_source = nt_ttree_column_source(dataset, column);
    const struct nt_branch_map *branch = &nt_ttree_of(dataset)->map->branches[column_source->branch];
    bool is_offsets = column_source->output != NT_OUTPUT_RAW &&
                      branch->interpretation.outputs[column_source->output].is_offsets;
    NT_LOCK_GUARD(&dataset->logical->lock);
    const struct nt_basket_location *basket =
        basket_of(branch, is_offsets, is_embedded(dataset, column_source, page), page);
    if (basket) {
        nt_json_member_unsigned(json, "basket", basket->slot);
        nt_json_member_bool(json, "is_embedded", basket->is_embedded);
        if (basket->is_embedded)
            nt_json_member_unsigned(json, "object_offset", basket->offset);
        nt_json_member_unsigned(json, "first_entry", basket->first_entry);
        nt_json_member_unsigned(json, "entries", basket->end_entry - basket->first_entry);
    }
    return NT_OK;
}

enum nt_status nt_ttree_fail_elsewhere(const struct nt_dataset *dataset, const struct nt_page *page,
                                       struct nt_error *error)
{
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                   "the branch has no basket for the entries from %" PRIu64 " on", page->parameter);
}

static enum nt_status write_tree(const struct nt_document_request *request, struct nt_buffer *out,
                                 struct nt_error *error)
{
    return nt_ttree_describe_tree(nt_ttree_of(request->dataset), out, error);
}

static const struct nt_document documents[] = {
    {.prefix = "tree.json", .write = write_tree},
};

/* ---- Opening ---- */

static void close_dataset(struct nt_dataset *dataset)
{
    struct nt_ttree *tree = dataset->format_data;
    nt_ttree_free_page_lists(tree);
    for (uint32_t i = NT_TTREE_OBJECT; i < tree->object_source_end; i++)
        nt_source_close(dataset->sources[i]);
}

static bool has_offsets(const struct nt_ttree_map *map, const struct nt_ttree_column *column)
{
    return map->branches[column->branch].interpretation.outputs[column->output].is_offsets;
}

/* Notes that a column is decoded. Returns whether several columns of its branch have been. Those of where
 * lists end do not count: they are read with the items of any list. */
static bool note_decoded(struct nt_ttree_map *map, uint32_t column)
{
    atomic_uint *decoded = &map->branches[map->columns[column].branch].decoded_column;
    unsigned before = atomic_load_explicit(decoded, memory_order_relaxed), now = column + 1;
    if (before == NT_NONE || before == now || has_offsets(map, &map->columns[column]))
        return before == NT_NONE;
    atomic_store_explicit(decoded, before ? NT_NONE : now, memory_order_relaxed);
    return before;
}

/* Is the next column of the same branch, and needed with this one: the items of lists whose ends this one
 * has, or (`takes_any`) whatever it has? */
static bool is_next_needed(const struct nt_ttree_map *map, uint32_t column, bool takes_any)
{
    const struct nt_ttree_column *one = &map->columns[column];
    return one[1].branch == one->branch && (takes_any || has_offsets(map, one));
}

/* Where lists end, and the next column of the branch: their items, or where the lists in them end. If the
 * branch is read by several columns, also its other ones: a basket is decompressed for all of them once. */
static uint32_t sibling_columns(const struct nt_dataset *dataset, uint32_t column,
                                uint32_t columns[NT_MAX_SHARED_OUTPUTS - 1])
{
    enum { MOST = NT_MAX_SHARED_OUTPUTS - 1 };
    struct nt_ttree_map *map = nt_ttree_of(dataset)->map;
    bool is_whole = note_decoded(map, column);
    uint32_t first = column, end = column, count = 0;
    for (int takes_any = false; takes_any <= is_whole; takes_any++) {
        while (end - first < MOST && end + 1 < dataset->column_count && is_next_needed(map, end, takes_any))
            end++;
        while (end - first < MOST && first > 0 && is_next_needed(map, first - 1, takes_any))
            first--;
    }
    for (uint32_t i = first; i <= end; i++)
        if (i != column)
            columns[count++] = i;
    return count;
}

static const struct nt_dataset_ops dataset_ops = {
    .load_group = nt_ttree_load_group,
    .announce_fields = nt_ttree_announce_fields,
    .describe_dataset = describe_dataset,
    .describe_field = describe_field,
    .describe_column = nt_ttree_describe_column,
    .describe_page = nt_ttree_describe_page,
    .is_branch = is_branch,
    .write_branch = write_branch,
    .sibling_columns = sibling_columns,
    .repeated_lengths = nt_ttree_repeated_lengths,
    .fail_elsewhere = nt_ttree_fail_elsewhere,
    .add_physical = nt_ttree_add_physical,
    .close = close_dataset,
};

static enum nt_status add_object(struct nt_dataset *dataset, struct nt_ttree *tree,
                                 const struct nt_ttree *record, struct nt_error *error)
{
    NT_TRY(nt_source_open_memory(record->object, record->object_bytes, dataset->file->source->path,
                                 &dataset->sources[dataset->source_count], error));
    bool is_compressed = record->record_bytes - record->key_bytes < record->object_bytes;
    dataset->sources[dataset->source_count]->first_byte =
        is_compressed ? NT_NO_OFFSET : record->record_offset + record->key_bytes;
    tree->object_source_end = ++dataset->source_count;
    return NT_OK;
}

static enum nt_status set_sources(struct nt_dataset *dataset, struct nt_ttree *tree, struct nt_error *error)
{
    dataset->sources =
        nt_arena_alloc(dataset->arena, NT_TTREE_SOURCES + tree->friend_count, sizeof(*dataset->sources));
    NT_TRY(nt_check_memory(dataset->sources, error));
    dataset->sources[NT_TTREE_FILE] = dataset->file->source;
    dataset->source_count = 1;
    NT_TRY(add_object(dataset, tree, tree, error));
    for (uint32_t i = 0; i < tree->friend_count; i++)
        if (tree->friends[i].joined)
            NT_TRY(add_object(dataset, tree, tree->friends[i].joined, error));
    return NT_OK;
}

static enum nt_status set_texts(struct nt_dataset *dataset, const struct nt_ttree *tree,
                                struct nt_error *error)
{
    uint32_t root = nt_tfile_root_version(nt_tfile_of(dataset->file)->header.version);
    const char *writer =
        nt_arena_format(dataset->arena, "ROOT v%u.%02u.%02u", root / 10000, root / 100 % 100, root % 100);
    dataset->format = "ttree";
    dataset->parts_are_clusters = true;
    dataset->version = dataset->generation = nt_arena_format(dataset->arena, "%u", tree->version);
    dataset->generation_reason = "the version of class TTree in the record";
    dataset->title = tree->name;
    dataset->description = tree->title;
    dataset->writer = nt_text_of(writer);
    return nt_check_memory(dataset->version && writer, error);
}

/* The record of a tree that was not closed is older than its last baskets, or newer: shows the entries
 * that the baskets of all branches have. Of a split object, only the sub-branches may have any. */
static enum nt_status recover_entries(const struct nt_ttree *tree, uint64_t *entries_ret,
                                      struct nt_error *error)
{
    uint64_t entries = tree->entries < 0 ? 0 : (uint64_t)tree->entries;
    for (uint32_t i = 0; i < tree->branch_count; i++) {
        const struct nt_ttree_branch *branch = &tree->branches[i];
        struct nt_basket_location *baskets;
        uint32_t count;
        if (!branch->slot_count)
            continue;
        enum nt_status status = nt_ttree_list_baskets(branch, UINT64_MAX, &baskets, &count, error);
        if (nt_is_environmental(status))
            return status;
        if (status != NT_OK)
            continue; /* its reads fail */
        if (count || tree->map->branches[i].interpretation.output_count)
            entries = nt_min(entries, count ? baskets[count - 1].end_entry : 0);
        free(baskets);
    }
    *entries_ret = entries;
    return NT_OK;
}

enum nt_status nt_ttree_read_object(struct nt_file *file, struct nt_arena *arena,
                                    const struct nt_tfile_object *object, struct nt_ttree *tree,
                                    struct nt_error *error)
{
    tree->record_offset = object->offset;
    tree->key_bytes = object->key_bytes;
    tree->record_bytes = object->bytes;
    tree->is_recovered = !object->is_listed;
    NT_TRY(nt_ttree_streamer_info(file, &tree->info, error));
    NT_TRY(nt_tfile_read_object(file, object, &tree->object, &tree->object_bytes, error));
    NT_TRY(
        nt_ttree_read(tree, tree->info, object->class_name, object->key_bytes, arena, &file->budget, error));
    if (tree->entries < 0 || tree->entries > INT64_MAX / 2)
        return nt_fail(error, NT_CORRUPT, object->offset,
                       "the tree has an impossible number of entries, %" PRId64, tree->entries);
    return nt_ttree_find_overlaps(tree, file->source->size, file->budget.disk_bytes, &file->budget, error);
}

/* A copy of the tree has the branches of its friends, too. */
static enum nt_status read_tree(struct nt_dataset *dataset, const struct nt_tfile_object *object,
                                bool joins_friends, struct nt_ttree **tree_ret, struct nt_error *error)
{
    struct nt_ttree *trees = nt_arena_alloc(dataset->arena, 2, sizeof(*trees));
    NT_TRY(nt_check_memory(trees, error));
    *tree_ret = &trees[0];
    NT_TRY(nt_ttree_read_object(dataset->file, dataset->arena, object, &trees[0], error));
    if (!joins_friends || !trees[0].friend_count)
        return NT_OK;
    *tree_ret = &trees[1];
    trees[1] = trees[0];
    return nt_ttree_join_friends(dataset, &trees[1], object->directory, error);
}

enum nt_status nt_ttree_add(struct nt_dataset *dataset, const struct nt_tfile_object *object,
                            const struct nt_open_options *options, struct nt_error *error)
{
    struct nt_ttree *tree = NULL;
    NT_TRY(read_tree(dataset, object, options->friends, &tree, error));
    dataset->format_data = tree;
    dataset->ops = &dataset_ops; /* from now on, closes the sources */
    NT_TRY(set_sources(dataset, tree, error));
    NT_TRY(nt_ttree_open_other_files(dataset, tree, options, error));
    NT_TRY(set_texts(dataset, tree, error));
    dataset->documents = documents;
    dataset->document_count = sizeof(documents) / sizeof(*documents);
    dataset->entries = (uint64_t)tree->entries;
    NT_TRY(nt_ttree_build_schema(dataset, tree, error));
    if (tree->is_recovered)
        NT_TRY(recover_entries(tree, &dataset->entries, error));
    return nt_ttree_add_clusters(dataset, tree, error);
}
