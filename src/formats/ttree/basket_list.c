/* SPDX-License-Identifier: MIT
 *
 * Where the baskets of a branch are, by the lists in its record. Each basket has bytes of its own: a list
 * that names some bytes twice makes a small file a large one, and no writer makes such lists.
 */
#include "formats/ttree/ttree.h"

/* ---- Slots ---- */

static uint64_t load(const uint8_t *numbers, uint8_t width, uint32_t index)
{
    const uint8_t *number = numbers + (size_t)index * width;
    return width == 8 ? nt_load_be64(number) : nt_load_be32(number);
}

/* The first entry of a slot, or the end of the entries. */
static int64_t first_entry(const struct nt_ttree_branch *branch, uint32_t slot)
{
    int64_t end;
    if (slot < branch->slot_count)
        return branch->entry_width == 8 ? (int64_t)load(branch->basket_entries, 8, slot)
                                        : (int32_t)load(branch->basket_entries, 4, slot);
    return __builtin_add_overflow(branch->first_entry, branch->entries, &end) ? branch->entries : end;
}

/* Does a basket in the object have no entries? The branches of split objects have such baskets. Its number of
 * entries is in front of the last two of its members, which are the end of its key. */
static bool is_empty(const struct nt_ttree *tree, const struct nt_ttree_embedded *embedded)
{
    enum { KEY_BYTES_OFFSET = 14, BYTES_AFTER = 4 + 4 + 1 };
    struct nt_cursor cursor = nt_cursor(tree->object + embedded->offset, embedded->bytes);
    nt_cursor_skip(&cursor, KEY_BYTES_OFFSET);
    uint16_t key_bytes = nt_get_be16(&cursor);
    if (cursor.failed || key_bytes < BYTES_AFTER || key_bytes > embedded->bytes)
        return false;
    return nt_load_be32(cursor.bytes + key_bytes - BYTES_AFTER) == 0;
}

/* Has a slot a basket that is a record of a file? */
static bool has_record(const struct nt_ttree_branch *branch, uint32_t slot)
{
    return load(branch->basket_seeks, branch->seek_width, slot) != 0 &&
           load(branch->basket_bytes, sizeof(uint32_t), slot) != 0;
}

bool nt_ttree_is_elsewhere(const struct nt_ttree_branch *branch)
{
    for (uint32_t slot = 0; branch->file_name.length && slot < branch->slot_count; slot++)
        if (has_record(branch, slot))
            return true;
    return false;
}

/* Sets the location of a slot's basket; false if it has none. */
static bool set_location(const struct nt_ttree_branch *branch, uint32_t slot, uint32_t *embedded,
                         struct nt_basket_location *location)
{
    const struct nt_ttree_embedded *items = branch->record->embedded + branch->first_embedded;
    while (*embedded < branch->embedded_count && items[*embedded].slot < slot)
        ++*embedded;
    location->slot = slot;
    location->offset = load(branch->basket_seeks, branch->seek_width, slot);
    location->bytes = (uint32_t)load(branch->basket_bytes, sizeof(uint32_t), slot);
    location->is_embedded = false;
    if (has_record(branch, slot))
        return true;
    if (*embedded == branch->embedded_count || items[*embedded].slot != slot ||
        is_empty(branch->record, &items[*embedded]))
        return false;
    location->offset = items[*embedded].offset;
    location->bytes = items[*embedded].bytes;
    location->is_embedded = true;
    return true;
}

/* ---- Bytes that two baskets have ---- */

/* The location of a basket in the file. */
struct basket_extent {
    uint64_t offset, end;
    uint32_t branch, slot;
};

static int compare_extents(const void *a, const void *b)
{
    const struct basket_extent *one = a, *other = b;
    if (one->offset != other->offset)
        return one->offset < other->offset ? -1 : 1;
    if (one->branch != other->branch)
        return one->branch < other->branch ? -1 : 1;
    return (one->slot > other->slot) - (one->slot < other->slot);
}

/* Most baskets of a branch ascend in the file. */
static bool do_ascend(const struct nt_basket_location *baskets, uint32_t count)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (baskets[i].is_embedded)
            continue;
        if (baskets[i].offset < end)
            return false;
        end = baskets[i].offset + baskets[i].bytes;
    }
    return true;
}

static enum nt_status check_overlap(const struct nt_basket_location *baskets, uint32_t count,
                                    struct nt_error *error)
{
    size_t found = 0;
    if (do_ascend(baskets, count))
        return NT_OK;
    NT_AUTO_FREE struct basket_extent *extents = calloc(count, sizeof(*extents));
    NT_TRY(nt_check_memory(extents, error));
    for (uint32_t i = 0; i < count; i++)
        if (!baskets[i].is_embedded)
            extents[found++] = (struct basket_extent){.offset = baskets[i].offset,
                                                      .end = baskets[i].offset + baskets[i].bytes,
                                                      .slot = baskets[i].slot};
    qsort(extents, found, sizeof(*extents), compare_extents);
    for (size_t i = 1; i < found; i++)
        if (extents[i].offset < extents[i - 1].end)
            return nt_fail(error, NT_CORRUPT, extents[i].offset,
                           "basket %" PRIu32 " overlaps basket %" PRIu32 " at byte %" PRIu64, extents[i].slot,
                           extents[i - 1].slot, extents[i - 1].offset);
    return NT_OK;
}

/* A basket with entries in the tree's own file, if a slot has one. */
static bool set_extent(const struct nt_ttree_branch *branch, uint32_t slot, uint64_t file_bytes,
                       struct basket_extent *extent)
{
    extent->offset = load(branch->basket_seeks, branch->seek_width, slot);
    uint64_t bytes = load(branch->basket_bytes, 4, slot);
    extent->end = extent->offset + bytes;
    extent->slot = slot;
    return extent->offset && bytes && nt_range_fits(extent->offset, bytes, file_bytes) &&
           first_entry(branch, slot) < first_entry(branch, slot + 1);
}

/* Counts the baskets of all branches in the file, and their bytes; sets `extents` unless it is NULL. */
static size_t list_extents(const struct nt_ttree *tree, uint64_t file_bytes, struct basket_extent *extents,
                           uint64_t *bytes_ret)
{
    size_t count = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < tree->branch_count; i++) {
        const struct nt_ttree_branch *branch = &tree->branches[i];
        for (uint32_t slot = 0; slot < branch->slot_count && !branch->file_name.length; slot++) {
            struct basket_extent extent = {.branch = i};
            if (!set_extent(branch, slot, file_bytes, &extent))
                continue;
            if (extents)
                extents[count] = extent;
            sum += extent.end - extent.offset;
            count++;
        }
    }
    *bytes_ret = sum;
    return count;
}

/* Of two baskets the later one is marked. Those of one branch are found when they are listed. */
static void mark_overlaps(struct nt_ttree *tree, const struct basket_extent *extents, size_t count)
{
    const struct basket_extent *longest = extents;
    for (size_t i = 1; i < count; i++) {
        if (extents[i].offset < longest->end && extents[i].branch != longest->branch)
            tree->branches[extents[i].branch].overlap =
                (struct nt_ttree_overlap){extents[i].slot, longest->branch, longest->slot, extents[i].offset};
        if (extents[i].end > longest->end)
            longest = &extents[i];
    }
}

enum nt_status nt_ttree_find_overlaps(struct nt_ttree *tree, uint64_t file_bytes, uint64_t disk_bytes,
                                      struct nt_budget *budget, struct nt_error *error)
{
    uint64_t bytes;
    size_t count = list_extents(tree, file_bytes, NULL, &bytes);
    if (bytes <= disk_bytes || count == 0)
        return NT_OK;
    NT_TRY(nt_budget_take(budget, NT_COST_ENVELOPE_BYTE, count * sizeof(struct basket_extent),
                          tree->record_offset, error));
    NT_AUTO_FREE struct basket_extent *extents = calloc(count, sizeof(*extents));
    if (extents) {
        list_extents(tree, file_bytes, extents, &bytes);
        qsort(extents, count, sizeof(*extents), compare_extents);
        mark_overlaps(tree, extents, count);
    }
    nt_budget_release(budget, NT_COST_ENVELOPE_BYTE, count * sizeof(struct basket_extent));
    return nt_check_memory(extents, error);
}

static enum nt_status check_other_branches(const struct nt_ttree_branch *branch, struct nt_error *error)
{
    const struct nt_ttree_overlap *overlap = &branch->overlap;
    if (!overlap->offset)
        return NT_OK;
    const struct nt_ttree_branch *other = &branch->record->branches[overlap->branch];
    return nt_fail(error, NT_CORRUPT, overlap->offset,
                   "basket %" PRIu32 " overlaps basket %" PRIu32 " of branch %.*s", overlap->slot,
                   overlap->other_slot, NT_FORMAT_TEXT(other->name, 80));
}

/* ---- The list ---- */

static enum nt_status check_location(const struct nt_ttree *tree, const struct nt_basket_location *location,
                                     int64_t first, int64_t end, uint64_t file_bytes, struct nt_error *error)
{
    if (first < 0 || end < first)
        return nt_fail(error, NT_CORRUPT, tree->record_offset,
                       "basket %" PRIu32 ": its entries are impossible: from %" PRId64 " up to %" PRId64,
                       location->slot, first, end);
    if (location->offset == 0 || location->is_embedded || first == end ||
        nt_range_fits(location->offset, location->bytes, file_bytes))
        return NT_OK;
    return nt_fail(error, NT_CORRUPT, tree->record_offset,
                   "basket %" PRIu32 ": %" PRIu32 " bytes at byte %" PRIu64
                   " are outside the file of %" PRIu64 " bytes",
                   location->slot, location->bytes, location->offset, file_bytes);
}

enum nt_status nt_ttree_list_baskets(const struct nt_ttree_branch *branch, uint64_t file_bytes,
                                     struct nt_basket_location **baskets_ret, uint32_t *count_ret,
                                     struct nt_error *error)
{
    uint32_t count = 0, embedded = 0;
    NT_AUTO_FREE struct nt_basket_location *baskets =
        calloc((size_t)branch->slot_count + 1, sizeof(*baskets));
    NT_TRY(nt_check_memory(baskets, error));
    NT_TRY(check_other_branches(branch, error));
    for (uint32_t slot = 0; slot < branch->slot_count; slot++) {
        struct nt_basket_location *location = &baskets[count];
        int64_t first = first_entry(branch, slot), end = first_entry(branch, slot + 1);
        bool has_location = set_location(branch, slot, &embedded, location);
        location->first_entry = (uint64_t)first;
        location->end_entry = (uint64_t)end;
        NT_TRY(check_location(branch->record, location, first, end, has_location ? file_bytes : UINT64_MAX,
                              error));
        count += has_location && first < end;
    }
    NT_TRY(check_overlap(baskets, count, error));
    *baskets_ret = baskets;
    *count_ret = count;
    baskets = NULL;
    return NT_OK;
}
