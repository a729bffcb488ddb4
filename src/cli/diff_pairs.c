/* SPDX-License-Identifier: MIT
 *
 * In: the data sets of two scopes. Out: pairs of them, by name.
 */
#include "cli/diff_pairs.h"

#include <string.h>

/* A data set with the name by which it is looked for. */
struct item {
    struct nt_dataset *dataset;
    const char *path, *name;
    bool is_taken;
};

struct side {
    struct nt_arena *arena;
    struct item *items;
    size_t count;
    bool has_failed;
};

static enum nt_exit_status count_dataset(void *context, const struct nt_scope *scope, uint32_t index,
                                         uint32_t field)
{
    struct side *side = context;
    (void)scope, (void)index, (void)field;
    side->count++;
    return NT_EXIT_OK;
}

static char *path_of(struct nt_arena *arena, const struct nt_dataset *dataset)
{
    size_t length = nt_dataset_path(dataset, NULL, 0);
    char *path = length ? nt_arena_alloc(arena, length + 1, 1) : NULL;
    if (path)
        nt_dataset_path(dataset, path, length + 1);
    return path;
}

/* Behind the names of the directories that lead to the scope; a slash in a name is encoded. */
static const char *below_scope(const struct nt_scope *scope, const char *path)
{
    uint32_t directory = scope->dataset ? 0 : scope->node.item;
    for (; directory && strchr(path, '/'); directory = scope->file->directories[directory].parent)
        path = strchr(path, '/') + 1;
    return path;
}

static enum nt_exit_status add_dataset(void *context, const struct nt_scope *scope, uint32_t index,
                                       uint32_t field)
{
    struct side *side = context;
    struct item *item = &side->items[side->count];
    (void)field;
    item->dataset = scope->file->datasets[index];
    item->path = path_of(side->arena, item->dataset);
    side->has_failed |= !item->path;
    if (!item->path)
        return NT_EXIT_INTERNAL;
    item->name = below_scope(scope, item->path);
    side->count++;
    return NT_EXIT_OK;
}

static bool list_datasets(const struct nt_scope *scope, struct side *side)
{
    nt_for_each_dataset(scope, count_dataset, side);
    side->items = nt_arena_alloc(side->arena, side->count + 1, sizeof(*side->items));
    side->count = 0;
    if (!side->items)
        return false;
    nt_for_each_dataset(scope, add_dataset, side);
    return !side->has_failed;
}

/* The only data set that is no attribute set and no older cycle; NULL where there are several or none. */
static const struct item *only_one(const struct side *side)
{
    const struct item *found = NULL;
    if (side->count == 1)
        return side->items;
    for (size_t i = 0; i < side->count; i++) {
        const struct nt_dataset *dataset = side->items[i].dataset;
        if (dataset->attribute_of != NT_NONE || !dataset->is_newest_cycle)
            continue;
        if (found)
            return NULL;
        found = &side->items[i];
    }
    return found;
}

/* Take the name of a data set out of its own and of those of its attribute sets. */
static void leave_name_out(struct side *side, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < side->count; i++) {
        const char *other = side->items[i].name;
        if (strncmp(other, name, length) == 0 && (other[length] == '/' || other[length] == '\0'))
            side->items[i].name = other + length;
    }
}

static struct item *partner_of(struct side *side, const struct item *item)
{
    for (size_t i = 0; i < side->count; i++)
        if (!side->items[i].is_taken && strcmp(side->items[i].name, item->name) == 0)
            return &side->items[i];
    return NULL;
}

bool nt_dataset_pairs(const struct nt_scope scopes[NT_PAIR_SIDES], struct nt_arena *arena,
                      struct nt_dataset_pair **pairs_ret, size_t *count_ret)
{
    struct side a = {.arena = arena}, b = {.arena = arena};
    if (!list_datasets(&scopes[0], &a) || !list_datasets(&scopes[1], &b))
        return false;
    struct nt_dataset_pair *pairs = nt_arena_alloc(arena, a.count + b.count + 1, sizeof(*pairs));
    const struct item *only_a = only_one(&a), *only_b = only_one(&b);
    size_t count = 0;
    if (!pairs)
        return false;
    if (only_a && only_b) {
        leave_name_out(&a, only_a->name);
        leave_name_out(&b, only_b->name);
    }
    for (size_t i = 0; i < a.count; i++) {
        struct item *partner = partner_of(&b, &a.items[i]);
        pairs[count] = (struct nt_dataset_pair){{a.items[i].dataset, NULL}, {a.items[i].path, NULL}};
        if (partner) {
            partner->is_taken = true;
            pairs[count].datasets[1] = partner->dataset;
            pairs[count].paths[1] = partner->path;
        }
        count++;
    }
    for (size_t i = 0; i < b.count; i++)
        if (!b.items[i].is_taken)
            pairs[count++] = (struct nt_dataset_pair){{NULL, b.items[i].dataset}, {NULL, b.items[i].path}};
    *pairs_ret = pairs;
    *count_ret = count;
    return true;
}
