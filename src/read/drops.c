/* SPDX-License-Identifier: MIT
 *
 * In: the rows of a cluster that are dropped. Out: which items of lists, and bytes of strings, are dropped with them: those
 * from where the first row's begin to where the last one's end, as the end offsets tell.
 */
#include "read/drops.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/overflow.h"
#include "core/base/search.h"
#include "read/clusters.h"
#include "read/elements.h"
#include "read/page.h"
#include "read/pages.h"

NT_DEFINE_LAST_AT_MOST(find_kept, struct nt_drop, .kept)

uint64_t nt_drops_count(const struct nt_drops *drops, uint32_t number)
{
    return number ? nt_drop_end(&drops->items[number - 1]) - drops->items[number - 1].kept : 0;
}

struct nt_kept nt_drops_kept(const struct nt_drops *drops, uint64_t row)
{
    struct nt_kept kept = {.number = 0, .stored = row};
    if (drops->items[0].kept <= row) {
        kept.number = find_kept(drops->items, drops->count, row) + 1;
        kept.stored = row + nt_drops_count(drops, kept.number);
    }
    kept.count = drops->items[kept.number].first - kept.stored;
    return kept;
}

bool nt_drops_next_kept(const struct nt_drops *drops, struct nt_kept *kept)
{
    do {
        if (kept->number == drops->count)
            return false;
        kept->stored = nt_drop_end(&drops->items[kept->number++]);
        kept->count = drops->items[kept->number].first - kept->stored;
    } while (!kept->count);
    return true;
}

void nt_drops_free(struct nt_drops *drops)
{
    free(drops);
}

/* As many runs as in another list; not filled. NULL without memory. */
static struct nt_drops *new_like(const struct nt_drops *drops)
{
    struct nt_drops *made = malloc(sizeof(*made) + ((size_t)drops->count + 1) * sizeof(*made->items));
    if (!made)
        return NULL;
    made->items = (struct nt_drop *)(made + 1);
    made->count = drops->count;
    return made;
}

enum nt_status nt_drops_scale(const struct nt_drops *drops, uint64_t factor, struct nt_drops **made_ret,
                              struct nt_error *error)
{
    struct nt_drops *made = new_like(drops);
    uint64_t total;
    if (!made)
        return nt_fail_memory(error);
    if (!nt_multiply(nt_drops_total_stored(drops), factor, &total)) {
        free(made);
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of elements overflows");
    }
    for (uint64_t i = 0; i <= drops->count; i++)
        made->items[i] = (struct nt_drop){drops->items[i].first * factor, drops->items[i].kept * factor};
    *made_ret = made;
    return NT_OK;
}

/* ---- through end offsets ---- */

static enum nt_status map(const struct nt_drops *rows, nt_tell_end *tell, void *context,
                          struct nt_drops *items, struct nt_error *error)
{
    uint64_t dropped = 0, first = 0, end = 0, last;
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; i <= rows->count; i++) {
        last = end;
        status = tell(context, rows->items[i].first, &first, error);
        items->items[i] = (struct nt_drop){first, first - dropped};
        end = first;
        if (status == NT_OK && i < rows->count)
            status = tell(context, nt_drop_end(&rows->items[i]), &end, error);
        if (status != NT_OK)
            return status;
        if (first < last || end < first)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the index decreases within its cluster");
        dropped += end - first;
    }
    return NT_OK;
}

enum nt_status nt_drops_map(const struct nt_drops *rows, nt_tell_end *tell, void *context,
                            struct nt_drops **items_ret, struct nt_error *error)
{
    struct nt_drops *items = new_like(rows);
    if (!items)
        return nt_fail_memory(error);
    enum nt_status status = map(rows, tell, context, items, error);
    if (status == NT_OK)
        *items_ret = items;
    else
        free(items);
    return status;
}

/* End offsets that are asked for in ascending order: the page at hand stays pinned. */
struct ends {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    struct nt_active active;
    bool is_page_per_row;
    const struct nt_page *page;
    struct nt_cached *pinned;
    const uint8_t *data;
};

static void let_go(struct ends *ends)
{
    if (ends->pinned)
        nt_page_unpin(ends->reader, ends->pinned, NT_CACHE_STAY);
    ends->pinned = NULL;
    ends->page = NULL;
}

static enum nt_status hold(struct ends *ends, uint64_t element, struct nt_error *error)
{
    const struct nt_page *page = ends->page;
    if (page && element >= page->first_element && element - page->first_element < page->elements)
        return NT_OK;
    let_go(ends);
    page = nt_find_page(ends->active.pages, ends->active.page_count, element);
    enum nt_status status = nt_page_pin(ends->reader, ends->dataset, ends->active.column, page, &ends->pinned,
                                        &ends->data, error);
    if (status == NT_OK)
        ends->page = page;
    return status;
}

static enum nt_status load_end(struct ends *ends, uint64_t element, uint64_t *end_ret, struct nt_error *error)
{
    enum nt_status status = hold(ends, element, error);
    if (status != NT_OK)
        return status;
    uint64_t within = (element - ends->page->first_element) % nt_page_made_elements(ends->page);
    if (!nt_load_index(nt_page_decoder(ends->dataset, ends->page)->element, ends->data, (size_t)within,
                       end_ret))
        return nt_fail(error, NT_CORRUPT, ends->page->offset, "end offsets that are no numbers");
    return NT_OK;
}

/* Where the items of the rows in front of `row` end; an nt_tell_end. */
static enum nt_status end_before(void *context, uint64_t row, uint64_t *end_ret, struct nt_error *error)
{
    struct ends *ends = context;
    uint64_t rows = ends->is_page_per_row ? ends->active.page_count : ends->active.elements;
    *end_ret = 0;
    if (row == 0 || ends->active.present == 0)
        return NT_OK;
    if (row > rows)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "rows of the field, at least", row, rows);
    if (!ends->is_page_per_row)
        return load_end(ends, row - 1, end_ret, error);
    *end_ret = ends->active.pages[row - 1].first_element + ends->active.pages[row - 1].elements;
    return NT_OK;
}

/* What is dropped of a field's items or bytes in a cluster, with its rows. */
static enum nt_status go_below(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                               uint32_t cluster, const struct nt_drops *rows, struct nt_drops **items_ret,
                               struct nt_error *error)
{
    struct ends ends = {.reader = reader, .dataset = dataset};
    ends.is_page_per_row = nt_field_kind_info(dataset->fields[field].kind)->has_page_per_row;
    nt_active_find(dataset, field, 0, cluster, &ends.active);
    enum nt_status status = nt_drops_map(rows, end_before, &ends, items_ret, error);
    let_go(&ends);
    return status;
}

/* ---- all ---- */

void nt_field_ancestry_find(const struct nt_dataset *dataset, uint32_t field, struct nt_field_ancestry *way)
{
    way->count = 0;
    for (uint32_t at = field; at != NT_NONE && way->count <= NT_MAX_DEPTH;
         at = nt_field_row_parent(dataset, at))
        way->fields[way->count++] = at;
}

/* From rows of the data set, or items of the list above, to rows of the field: in place of *drops. */
static enum nt_status to_rows(const struct nt_dataset *dataset, uint32_t field, uint64_t per_row,
                              struct nt_drops **drops, struct nt_error *error)
{
    struct nt_drops *made = NULL;
    uint64_t factor;
    if (!nt_rows_per_item(dataset, field, &factor) || !nt_multiply(factor, per_row, &factor))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of rows overflows");
    if (factor == 1)
        return NT_OK;
    enum nt_status status = nt_drops_scale(*drops, factor, &made, error);
    if (status != NT_OK)
        return status;
    free(*drops);
    *drops = made;
    return NT_OK;
}

static enum nt_status to_items(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                               uint32_t part, struct nt_drops **drops, struct nt_error *error)
{
    struct nt_drops *made = NULL;
    uint32_t cluster = nt_part_cluster(dataset, field, part);
    if (cluster == NT_NONE)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "no column tells of the items of field %" PRIu32,
                       dataset->fields[field].id);
    enum nt_status status = nt_dataset_load_group(dataset, nt_dataset_cluster(dataset, cluster).group, error);
    if (status == NT_OK)
        status = go_below(reader, dataset, field, cluster, *drops, &made, error);
    if (status != NT_OK)
        return status;
    free(*drops);
    *drops = made;
    return NT_OK;
}

enum nt_status nt_drops_find(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             enum nt_rows_of of, uint64_t per_row, uint32_t part, struct nt_drops **drops_ret,
                             struct nt_error *error)
{
    struct nt_field_ancestry way;
    struct nt_drops *drops = NULL;
    bool is_below = of != NT_ROWS_OF_FIELD;
    *drops_ret = NULL;
    if (!dataset->field_groups || !dataset->part_drops || !dataset->part_drops[part])
        return NT_OK;
    nt_field_ancestry_find(dataset, field, &way);
    enum nt_status status = nt_drops_scale(dataset->part_drops[part], 1, &drops, error);
    for (uint32_t i = way.count; status == NT_OK && i-- > 0;) {
        status = to_rows(dataset, way.fields[i], i || is_below ? 1 : per_row, &drops, error);
        if (status == NT_OK && (i || is_below))
            status = to_items(reader, dataset, way.fields[i], part, &drops, error);
    }
    if (status == NT_OK)
        *drops_ret = drops;
    else
        free(drops);
    return status;
}
