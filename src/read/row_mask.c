/* SPDX-License-Identifier: MIT
 *
 * Row masks: which rows, list items and string bytes a stream omits, because their rows are deleted in
 * the file or their entries are not selected. Masks of items follow from masks of rows and the
 * enclosing end offsets.
 */
#include "read/read.h"

#include "read/page.h"

/* ---- Elements of rows ---- */

void nt_row_mask_deinit(struct nt_row_mask *mask)
{
    free(mask->owned);
    *mask = (struct nt_row_mask){0};
}

enum nt_status nt_row_mask_multiply(struct nt_row_mask *mask, uint64_t factor, struct nt_error *error)
{
    uint64_t total;
    if (!mask->deletions ||
        (nt_checked_multiply(mask->per_row, factor, &mask->per_row) &&
         nt_checked_multiply(mask->deletions->items[mask->deletions->count].first, mask->per_row, &total)))
        return NT_OK;
    return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of elements overflows");
}

struct nt_kept_run nt_row_mask_kept_from(const struct nt_row_mask *mask, uint64_t element)
{
    uint64_t within = element % mask->per_row;
    struct nt_kept_run kept = nt_deletion_vector_find_kept(mask->deletions, element / mask->per_row);
    kept.physical = kept.physical * mask->per_row + within;
    kept.count = kept.count * mask->per_row - within;
    return kept;
}

uint64_t nt_row_mask_before(const struct nt_row_mask *mask, uint64_t physical)
{
    if (!mask->deletions || !mask->per_row)
        return physical;
    return nt_deletion_vector_kept_before(mask->deletions, physical / mask->per_row) * mask->per_row +
           physical % mask->per_row;
}

enum nt_status nt_row_mask_check(const struct nt_row_mask *mask, uint64_t elements, struct nt_error *error)
{
    uint64_t expected;
    if (!nt_checked_multiply(mask->deletions->items[mask->deletions->count].first, mask->per_row, &expected))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of elements overflows");
    if (expected == elements)
        return NT_OK;
    return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "elements according to the parent field", expected,
                          elements);
}

/* ---- Items of rows, through end offsets ---- */

static enum nt_status map(const struct nt_row_mask *rows, nt_get_end *get_end, void *context,
                          struct nt_deletion_vector *items, struct nt_error *error)
{
    uint64_t deleted = 0, first = 0, end = 0, last;
    for (uint32_t i = 0; i <= rows->deletions->count; i++) {
        const struct nt_deletion_run *run = &rows->deletions->items[i];
        last = end;
        NT_TRY(get_end(context, run->first * rows->per_row, &first, error));
        items->items[i] = (struct nt_deletion_run){first, first - deleted};
        end = first;
        if (i < rows->deletions->count)
            NT_TRY(get_end(context, nt_deletion_run_end(run) * rows->per_row, &end, error));
        if (first < last || end < first)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the index decreases within its cluster");
        deleted += end - first;
    }
    return NT_OK;
}

enum nt_status nt_row_mask_map(const struct nt_row_mask *rows, nt_get_end *get_end, void *context,
                               struct nt_deletion_vector **items_ret, struct nt_error *error)
{
    struct nt_row_mask checked = *rows;
    NT_TRY(nt_row_mask_multiply(&checked, 1, error));
    struct nt_deletion_vector *items = nt_deletion_vector_new(rows->deletions->count);
    NT_TRY(nt_check_memory(items, error));
    enum nt_status status = map(rows, get_end, context, items, error);
    if (status == NT_OK)
        *items_ret = items;
    else
        free(items);
    return status;
}

/* ---- Deletions: in one cluster ---- */

/* End offsets for requests in ascending order: the current page stays pinned. */
struct page_ends {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    struct nt_active_column active;
    bool is_page_per_row;
    const struct nt_page *page;
    struct nt_cache_entry *pinned;
    const uint8_t *data;
};

static void unpin(struct page_ends *page_ends)
{
    if (page_ends->pinned)
        nt_page_unpin(page_ends->reader, page_ends->pinned, NT_CACHE_KEEP);
    page_ends->pinned = NULL;
    page_ends->page = NULL;
}

static enum nt_status pin_page_of(struct page_ends *page_ends, uint64_t element, struct nt_error *error)
{
    const struct nt_page *page = page_ends->page;
    if (page && element >= page->first_element && element - page->first_element < page->elements)
        return NT_OK;
    unpin(page_ends);
    page = nt_find_page(page_ends->active.pages, page_ends->active.page_count, element);
    NT_TRY(nt_page_pin(NT_CACHE_READER, page_ends->reader, page_ends->dataset, page_ends->active.column, page,
                       &page_ends->pinned, &page_ends->data, error));
    page_ends->page = page;
    return NT_OK;
}

static enum nt_status load_end(struct page_ends *page_ends, uint64_t element, uint64_t *end_ret,
                               struct nt_error *error)
{
    NT_TRY(pin_page_of(page_ends, element, error));
    uint64_t within = (element - page_ends->page->first_element) % nt_page_decoded_elements(page_ends->page);
    if (!nt_load_index(nt_page_decoder(page_ends->dataset, page_ends->page)->element, page_ends->data,
                       (size_t)within, end_ret))
        return nt_fail(error, NT_CORRUPT, page_ends->page->offset, "the end offsets are not numbers");
    return NT_OK;
}

/* An nt_get_end: the end of the items of the rows before `row`. */
static enum nt_status end_before(void *context, uint64_t row, uint64_t *end_ret, struct nt_error *error)
{
    struct page_ends *page_ends = context;
    uint64_t rows = page_ends->is_page_per_row ? page_ends->active.page_count : page_ends->active.elements;
    *end_ret = 0;
    if (row == 0 || page_ends->active.present == 0)
        return NT_OK;
    if (row > rows)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "rows of the field", row, rows);
    if (!page_ends->is_page_per_row)
        return load_end(page_ends, row - 1, end_ret, error);
    *end_ret = page_ends->active.pages[row - 1].first_element + page_ends->active.pages[row - 1].elements;
    return NT_OK;
}

/* The deleted items or bytes of a field in a part, from its deleted rows. */
static enum nt_status items_in_part(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                    uint32_t part, const struct nt_row_mask *rows,
                                    struct nt_deletion_vector **items_ret, struct nt_error *error)
{
    struct page_ends page_ends = {.reader = reader, .dataset = dataset};
    uint32_t cluster = nt_part_cluster(dataset, field, part);
    if (cluster == NT_NONE)
        return nt_name_field(
            dataset, field, NULL,
            nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "no column counts the items of its lists"), error);
    struct nt_group *group;
    NT_TRY(nt_group_pin(dataset, nt_cluster_group(dataset, cluster), &group, error));
    page_ends.is_page_per_row = nt_field_kind_info(dataset->fields[field].kind)->has_page_per_row;
    nt_active_column_find(dataset, field, 0, cluster, &page_ends.active);
    enum nt_status status = nt_row_mask_map(rows, end_before, &page_ends, items_ret, error);
    unpin(&page_ends);
    nt_group_unpin(group);
    return status;
}

/* ---- Selections: in all clusters ---- */

enum { MAX_AT_ONCE = 1024 }; /* elements per read */

/* End offsets for requests in ascending order. */
struct item_ends {
    struct nt_stream *stream;
    uint64_t rows;         /* total */
    uint64_t first, count; /* `values` has the item ends before these rows */
    uint64_t reach;        /* how many to read at once */
    uint64_t values[MAX_AT_ONCE];
};

/* Finds the end before a cluster's first row, or of all rows, in page lists; false otherwise. */
static enum nt_status find_boundary(struct item_ends *ends, uint64_t row, uint64_t *end_ret,
                                    bool *is_boundary_ret, struct nt_error *error)
{
    struct nt_stream *stream = ends->stream;
    struct nt_segment segment;
    if (row < ends->rows)
        nt_stream_segment_of(stream, row, &segment);
    else
        nt_stream_segment(stream, stream->rows.count - 1, &segment);
    *is_boundary_ret = row == ends->rows || segment.first == row;
    if (!*is_boundary_ret)
        return NT_OK;
    /* What is not deleted is known since the stream opened, mostly without the segment's page list. */
    enum nt_status status = stream->masks ? nt_stream_locate(stream, &segment, error) : NT_OK;
    *is_boundary_ret = status == NT_OK && segment.span.fault == NT_FAULT_NONE;
    *end_ret = segment.base;
    if (row == ends->rows) /* `limit` includes deleted items */
        *end_ret += segment.masks ? nt_row_mask_kept(&segment.masks->items) : segment.limit;
    nt_segment_release(&segment);
    return status;
}

/* Reads ends from a row on, within a page. Reads few if the last request was far before it. */
static enum nt_status read_ends(struct item_ends *ends, uint64_t row, struct nt_error *error)
{
    bool is_near = ends->count && row - ends->first < ends->count + ends->reach;
    uint64_t page_end = nt_stream_page_end(ends->stream, row - 1) + 1; /* the row after the page */
    ends->reach = is_near ? nt_min(2 * ends->reach, MAX_AT_ONCE) : 1;
    ends->first = row;
    ends->count = nt_min(ends->reach, page_end - row);
    enum nt_status status =
        nt_stream_produce(ends->stream, row, ends->count, NULL, (uint8_t *)ends->values, error);
    if (status != NT_OK)
        ends->count = 0;
    return status;
}

/* An nt_get_end. */
static enum nt_status get_end_offset(void *context, uint64_t row, uint64_t *end_ret, struct nt_error *error)
{
    struct item_ends *ends = context;
    bool is_boundary;
    *end_ret = 0;
    if (row == 0)
        return NT_OK;
    if (row > ends->rows)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "rows of the field", row, ends->rows);
    if (row < ends->first || row - ends->first >= ends->count) {
        NT_TRY(find_boundary(ends, row, end_ret, &is_boundary, error));
        if (is_boundary)
            return NT_OK;
        NT_TRY(read_ends(ends, row, error));
    }
    *end_ret = ends->values[row - ends->first];
    return NT_OK;
}

static enum nt_status omit_items(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                 const struct nt_row_mask *rows, struct nt_deletion_vector **items_ret,
                                 struct nt_error *error)
{
    NT_CLEANUP(nt_stream_close_at) struct nt_stream *stream = NULL;
    NT_TRY(nt_stream_open_unfiltered(reader, dataset, field, NT_STREAM_OFFSETS, &stream, error));
    struct item_ends ends = {
        .stream = stream,
        .rows = nt_stream_elements(stream) - nt_stream_leading_zeros(stream),
        .reach = 1,
    };
    return nt_row_mask_map(rows, get_end_offset, &ends, items_ret, error);
}

/* ---- Alternatives, through tags and row numbers ---- */

struct selected_rows {
    struct nt_stream *tags, *index;
    uint32_t tag;
    uint64_t *rows; /* of the alternative */
    size_t count, capacity;
    bool ascend;
};

static void selected_rows_deinit(struct selected_rows *selected)
{
    nt_stream_close(selected->tags);
    nt_stream_close(selected->index);
    free(selected->rows);
}

static enum nt_status note(struct selected_rows *selected, uint64_t row, struct nt_error *error)
{
    NT_TRY(nt_check_memory(NT_GROW(selected->rows, selected->count, selected->capacity), error));
    selected->ascend = selected->ascend && (!selected->count || selected->rows[selected->count - 1] < row);
    selected->rows[selected->count++] = row;
    return NT_OK;
}

/* Rows [first, first + count) of the variant are selected. */
static enum nt_status look_at(struct selected_rows *selected, uint64_t first, uint64_t count,
                              struct nt_error *error)
{
    uint32_t tags[MAX_AT_ONCE];
    uint64_t index[MAX_AT_ONCE], some;
    for (; count; first += some, count -= some) {
        some = nt_min(count, MAX_AT_ONCE);
        NT_TRY(nt_stream_produce(selected->tags, first, some, NULL, (uint8_t *)tags, error));
        NT_TRY(nt_stream_produce(selected->index, first, some, NULL, (uint8_t *)index, error));
        for (uint64_t i = 0; i < some; i++)
            if (tags[i] == selected->tag)
                NT_TRY(note(selected, index[i], error));
    }
    return NT_OK;
}

/* Writers number the rows consecutively; otherwise a row is selected if any variant refers to it. */
static enum nt_status omit_others(struct selected_rows *selected, uint64_t physical,
                                  struct nt_deletion_vector **rows_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_deletion_vector_builder_deinit) struct nt_deletion_vector_builder builder = {0};
    if (!selected->ascend)
        qsort(selected->rows, selected->count, sizeof(*selected->rows), nt_compare_u64);
    for (size_t i = 0; i < selected->count; i++)
        if (!i || selected->rows[i] != selected->rows[i - 1])
            NT_TRY(nt_deletion_vector_builder_add(&builder, selected->rows[i], 1, error));
    return nt_deletion_vector_builder_finish(&builder, physical, rows_ret, error);
}

static enum nt_status collect(struct selected_rows *selected, const struct nt_row_mask *variants,
                              struct nt_error *error)
{
    struct nt_kept_run kept = nt_deletion_vector_find_kept(variants->deletions, 0);
    uint64_t per_row = variants->per_row;
    bool has_more = kept.count || nt_deletion_vector_next_kept(variants->deletions, &kept);
    for (; has_more; has_more = nt_deletion_vector_next_kept(variants->deletions, &kept))
        NT_TRY(look_at(selected, kept.physical * per_row, kept.count * per_row, error));
    return NT_OK;
}

static enum nt_status omit_alternative(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t variant,
                                       uint32_t branch, const struct nt_row_mask *variants,
                                       struct nt_deletion_vector **rows_ret, struct nt_error *error)
{
    NT_CLEANUP(selected_rows_deinit) struct selected_rows selected = {.ascend = true};
    uint32_t count;
    uint64_t physical = 0;
    const uint32_t *children = nt_dataset_children(dataset, variant, &count);
    while (selected.tag < count && children[selected.tag++] != branch)
        ;
    NT_TRY(nt_stream_open_unfiltered(reader, dataset, variant, NT_STREAM_TAGS, &selected.tags, error));
    NT_TRY(nt_stream_open_unfiltered(reader, dataset, variant, NT_STREAM_INDEX, &selected.index, error));
    NT_TRY(nt_row_counts_total(reader, dataset, branch, NT_COUNTED_ROWS, &physical, error));
    NT_TRY(nt_row_mask_check(variants, nt_stream_elements(selected.tags), error));
    NT_TRY(collect(&selected, variants, error));
    return omit_others(&selected, physical, rows_ret, error);
}

/* ---- All levels ---- */

/* The mask of a list's items or of an alternative's rows: cached, or computed now. Threads may compute
 * it concurrently: the first result is kept. */
static enum nt_status go_below(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                               uint32_t branch, const struct nt_row_mask *rows,
                               const struct nt_deletion_vector **below_ret, struct nt_error *error)
{
    struct nt_dataset_index *index = nt_dataset_index_get(reader->indexes, dataset);
    NT_TRY(nt_check_memory(index, error));
    if (!index->filtered_rows)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "cannot select entries of a dataset that was already read");
    if (branch != NT_NONE && nt_field_kind_info(dataset->fields[field].kind)->below == NT_BELOW_OWN)
        return nt_name_field(dataset, field, NULL,
                             nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                                     "cannot select rows below it, because it cannot be read"),
                             error);
    bool is_variant = nt_field_kind_info(dataset->fields[field].kind)->below == NT_BELOW_SWITCH;
    _Atomic(struct nt_deletion_vector *) *slot =
        &index->filtered_rows[is_variant ? (size_t)dataset->field_count + branch : field];
    struct nt_deletion_vector *deletions = NULL, *known = atomic_load_explicit(slot, memory_order_acquire);
    enum nt_status status = NT_OK;
    if (!known && is_variant)
        status = omit_alternative(reader, dataset, field, branch, rows, &deletions, error);
    else if (!known)
        status = omit_items(reader, dataset, field, rows, &deletions, error);
    if (deletions && atomic_compare_exchange_strong(slot, &known, deletions))
        known = deletions;
    else
        free(deletions);
    *below_ret = known;
    return status;
}

/* The child of `above` that is `field` or contains it. */
static uint32_t branch_of(const struct nt_dataset *dataset, uint32_t field, uint32_t above)
{
    while (dataset->fields[field].parent != above)
        field = dataset->fields[field].parent;
    return field;
}

enum nt_status nt_row_mask_find(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                enum nt_counted of, uint32_t part, struct nt_row_mask *mask,
                                struct nt_error *error)
{
    uint32_t way[NT_MAX_DEPTH + 1], count = 0; /* the field and its enclosing fields, innermost first */
    enum nt_status status = NT_OK;
    *mask = (struct nt_row_mask){.per_row = 1};
    if (part == NT_NONE && dataset->selection)
        mask->deletions = dataset->selection->excluded;
    else if (part != NT_NONE && dataset->field_groups && dataset->part_deletions)
        mask->deletions = dataset->part_deletions[part];
    for (uint32_t at = field; at != NT_NONE && count <= NT_MAX_DEPTH; at = nt_field_row_parent(dataset, at))
        way[count++] = at;
    for (uint32_t i = count; mask->deletions && status == NT_OK && i-- > 0;) {
        uint32_t at = way[i];
        struct nt_deletion_vector *deletions = NULL;
        if (!nt_rows_per_item(dataset, at, &mask->per_row))
            status = nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of rows overflows");
        else if (!i && of == NT_COUNTED_ROWS)
            break;
        else if (part == NT_NONE)
            status = go_below(reader, dataset, at, i ? branch_of(dataset, field, at) : NT_NONE, mask,
                              &mask->deletions, error);
        else
            status = items_in_part(reader, dataset, at, part, mask, &deletions, error);
        if (deletions) {
            free(mask->owned);
            mask->deletions = mask->owned = deletions;
        }
        mask->per_row = 1;
    }
    if (status != NT_OK)
        nt_row_mask_deinit(mask);
    return status;
}
