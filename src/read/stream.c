/* SPDX-License-Identifier: MIT
 *
 * Opens streams and finds their segments, one per cluster in entry order: the column and pages that
 * store the elements, leading elements that a deferred column omits, and the base of offsets that count
 * within a cluster (RNTuple specification, "Column Description", "Deferred Columns", "Suppressed
 * Columns").
 */
#include "read/read.h"

#include "read/page.h"

/* ---- Segments of a stream ---- */

/* Begins a call of the library: checks the numbers of field and stream. stream_find_row also finds the
 * stream; NT_NOT_FOUND or another reason if there is none. */
static enum nt_status stream_check_field(struct nt_reader *reader, const struct nt_dataset *dataset,
                                         uint32_t field, enum nt_stream_kind kind, struct nt_error *error)
{
    if (dataset->failure)
        return nt_fail_copy(error, dataset->failure);
    if (field >= dataset->field_count || (unsigned)kind >= NT_STREAM_COUNT)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "field %" PRIu32 " does not exist, or has no stream %d", field, (int)kind);
    return nt_reader_after_fork(reader, error);
}

void nt_field_stream_dtype(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind,
                           struct nt_dtype *dtype_ret)
{
    static const enum nt_element elements[NT_STREAM_COUNT] = {
        [NT_STREAM_OFFSETS] = NT_ELEMENT_INT64,
        [NT_STREAM_TAGS] = NT_ELEMENT_UINT32,
        [NT_STREAM_INDEX] = NT_ELEMENT_INT64,
        [NT_STREAM_VALID] = NT_ELEMENT_BOOL,
    };
    *dtype_ret = kind == NT_STREAM_DATA ? dataset->fields[field].dtype : nt_element_dtype(elements[kind]);
}

static enum nt_status stream_find_row(struct nt_reader *reader, const struct nt_dataset *dataset,
                                      uint32_t field, enum nt_stream_kind kind,
                                      const struct nt_stream_row **row_ret, struct nt_error *error)
{
    NT_TRY(stream_check_field(reader, dataset, field, kind, error));
    const struct nt_field *f = &dataset->fields[field];
    *row_ret = nt_field_stream(f, kind);
    if (*row_ret)
        return NT_OK;
    if (f->unreadable)
        return nt_name_field(dataset, field, NULL,
                             nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s", f->unreadable), error);
    return nt_name_field(dataset, field, NULL,
                         nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "it has no %s", nt_stream_name(kind)),
                         error);
}

/* The number of elements of such a stream for so many rows. */
static enum nt_status stream_count_elements(const struct nt_dataset *dataset, uint32_t field,
                                            const struct nt_stream_row *row, uint64_t rows,
                                            uint64_t *elements_ret, struct nt_error *error)
{
    if (!nt_checked_multiply(rows, nt_stream_row_elements(&dataset->fields[field], row), elements_ret) ||
        !nt_checked_add(*elements_ret, row->has_leading_zero, elements_ret))
        return nt_name_field(dataset, field, NULL,
                             nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "its number of elements overflows"),
                             error);
    return NT_OK;
}

/* ---- Opening ---- */

/* Does a deferred column omit the missing elements, which are the leading ones? Wherever the column begins:
 * if the elements of a cluster are too few for its entries, ROOT's reader puts zeros before them. Its merger
 * writes such clusters. */
static bool explain_zeros(const struct nt_stream *stream, const struct nt_active_column *active,
                          uint64_t start, uint64_t elements, uint64_t missing)
{
    uint64_t before = active->deferred_first > start ? active->deferred_first - start : 0;
    bool is_per_entry =
        stream->row->of == NT_COUNTED_ROWS && nt_field_row_parent(stream->dataset, stream->field) == NT_NONE;
    return active->is_deferred && (nt_min(before, elements) == missing || (active->present && is_per_entry));
}

/* Finds the stored elements of a segment, whose group is pinned. */
static void find_stored(const struct nt_stream *stream, struct nt_segment *segment)
{
    struct nt_active_column active;
    nt_active_column_find(stream->dataset, stream->field, stream->row->position, segment->span.cluster,
                          &active);
    bool is_page_per_row = stream->row->conversion == NT_CONVERT_PAGE_ENDS;
    uint64_t stored = is_page_per_row ? active.page_count : active.elements;
    if (active.present > 1) {
        segment->span.fault = NT_FAULT_SEVERAL;
        return;
    }
    segment->found = stored;
    segment->are_true = active.is_valid;
    segment->column = active.column;
    segment->pages = active.pages;
    segment->page_count = active.page_count;
    if (active.present && segment->masks) {
        if (stored != nt_segment_end(segment) ||
            nt_row_mask_kept(&segment->masks->elements) != segment->elements)
            segment->span.fault = NT_FAULT_COUNT;
        return;
    }
    if (stored > segment->elements)
        segment->span.fault = NT_FAULT_COUNT;
    else
        segment->zeros = segment->elements - stored;
    if (!segment->zeros)
        return;
    uint64_t origin = nt_row_counts_origin(&stream->rows, segment->number) * stream->per_row;
    if (!explain_zeros(stream, &active, segment->first - origin, segment->elements, segment->zeros))
        segment->span.fault = active.present ? NT_FAULT_COUNT : NT_FAULT_MISSING;
}

/* Accepts NULL. */
static void free_masks(struct nt_segment_masks *masks)
{
    if (!masks)
        return;
    nt_row_mask_deinit(&masks->elements);
    nt_row_mask_deinit(&masks->items);
    free(masks);
}

static enum nt_status fill_masks(const struct nt_stream *stream, uint32_t part,
                                 struct nt_segment_masks *masks, struct nt_error *error)
{
    struct nt_dataset *dataset = stream->dataset;
    const struct nt_field *field = &dataset->fields[stream->field];
    NT_TRY(nt_row_mask_find(stream->reader, dataset, stream->field, stream->row->of, part, &masks->elements,
                            error));
    if (stream->row->of == NT_COUNTED_ROWS)
        NT_TRY(nt_row_mask_multiply(&masks->elements, nt_stream_row_elements(field, stream->row), error));
    if (stream->row->has_leading_zero)
        NT_TRY(nt_row_mask_find(stream->reader, dataset, stream->field, NT_COUNTED_ITEMS, part, &masks->items,
                                error));
    return NT_OK;
}

/* Are rows of the segment's part deleted? Requires a page list that was loaded. */
static bool has_deletions(const struct nt_stream *stream, const struct nt_segment *segment)
{
    const struct nt_dataset *dataset = stream->dataset;
    return stream->masks && dataset->part_deletions[nt_span_part(dataset, stream->field, &segment->span)];
}

/* The deleted elements of such a segment, found once; NULL: none. */
static enum nt_status find_masks(const struct nt_stream *stream, const struct nt_segment *segment,
                                 const struct nt_segment_masks **masks_ret, struct nt_error *error)
{
    uint32_t part = nt_span_part(stream->dataset, stream->field, &segment->span);
    struct nt_segment_masks *found = atomic_load(&stream->masks[segment->number]);
    enum nt_status status = NT_OK;
    if (!found) {
        struct nt_segment_masks *masks = calloc(1, sizeof(*masks));
        status = masks ? fill_masks(stream, part, masks, error) : nt_fail_memory(error);
        if (status != NT_OK ||
            !atomic_compare_exchange_strong(&stream->masks[segment->number], &found, masks))
            free_masks(masks);
        else
            found = masks;
    }
    if (status == NT_OK && found->elements.deletions)
        *masks_ret = found;
    return status;
}

/* Sets what a segment's page list says. The segment takes over the pin of the group. */
static enum nt_status locate_in(const struct nt_stream *stream, struct nt_group *group,
                                struct nt_segment *segment, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (has_deletions(stream, segment))
        status = find_masks(stream, segment, &segment->masks, error);
    if (status == NT_OK && segment->masks && segment->masks->items.deletions)
        segment->limit = nt_row_mask_physical(&segment->masks->items);
    if (status == NT_OK && (segment->elements || segment->masks || segment->is_unverified))
        find_stored(stream, segment);
    if (status == NT_OK && segment->page_count && segment->span.fault == NT_FAULT_NONE)
        segment->group = group;
    else
        nt_group_unpin(group);
    return status;
}

static enum nt_status locate(struct nt_stream *stream, struct nt_segment *segment, struct nt_error *error)
{
    struct nt_group *group = NULL;
    /* even if all rows are deleted, elements are stored */
    bool is_stored =
        segment->span.cluster != NT_NONE && (segment->elements || segment->is_unverified || stream->masks);
    if (segment->group || !is_stored)
        return NT_OK;
    enum nt_status status = nt_span_pin(stream->dataset, &segment->span, &group, error);
    return status == NT_OK && group ? locate_in(stream, group, segment, error) : status;
}

static void set_proved(struct nt_stream *stream, const struct nt_segment *segment)
{
    if (segment->is_unverified && segment->span.fault == NT_FAULT_NONE)
        atomic_store(&stream->rows.unverified[segment->number], false);
}

/* Proves a segment empty, if that is not verified. */
static enum nt_status prove_empty(struct nt_stream *stream, uint32_t number, bool *is_proved_ret,
                                  struct nt_error *error)
{
    NT_CLEANUP(nt_segment_release) struct nt_segment empty = {0};
    nt_stream_segment(stream, number, &empty);
    if (!empty.is_unverified)
        return NT_OK;
    NT_TRY(locate(stream, &empty, error));
    set_proved(stream, &empty);
    *is_proved_ret &= empty.span.fault == NT_FAULT_NONE;
    return NT_OK;
}

/* Proves the empty segments before one, and those after the last one that is not empty. */
static enum nt_status prove_around(struct nt_stream *stream, uint32_t number, bool *is_proved_ret,
                                   struct nt_error *error)
{
    const struct nt_row_counts *rows = &stream->rows;
    uint32_t end = number + 1;
    for (uint32_t i = number; i > 0 && !nt_row_counts_get(rows, i - 1).rows; i--)
        NT_TRY(prove_empty(stream, i - 1, is_proved_ret, error));
    while (end < rows->count && !nt_row_counts_get(rows, end).rows)
        end++;
    for (uint32_t i = number + 1; end == rows->count && i < end; i++)
        NT_TRY(prove_empty(stream, i, is_proved_ret, error));
    return NT_OK;
}

enum nt_status nt_stream_locate(struct nt_stream *stream, struct nt_segment *segment, struct nt_error *error)
{
    bool is_proved = true;
    if (segment->elements && segment->is_unverified && !segment->group)
        NT_TRY(prove_around(stream, segment->number, &is_proved, error));
    if (!is_proved)
        segment->span.fault = NT_FAULT_POSITION;
    NT_TRY(locate(stream, segment, error));
    set_proved(stream, segment);
    return NT_OK;
}

void nt_segment_release(struct nt_segment *segment)
{
    nt_group_unpin(segment->group);
    segment->group = NULL;
}

/* Locates a segment without deletions if its page list is in memory, and nothing is left to prove. */
static void try_locate(const struct nt_stream *stream, struct nt_segment *segment)
{
    bool is_stored = segment->span.cluster != NT_NONE && segment->span.fault == NT_FAULT_NONE;
    struct nt_group *group = NULL;
    if (is_stored && !segment->is_unverified)
        group = nt_group_try_pin(stream->dataset, nt_cluster_group(stream->dataset, segment->span.cluster));
    if (group && !has_deletions(stream, segment))
        (void)!locate_in(stream, group, segment, NULL);
    else
        nt_group_unpin(group);
}

/* The items below a segment: with equal boundaries, those at the same index of the list. */
static bool items_of(const struct nt_row_counts *items, uint32_t segment, const struct nt_span *span,
                     struct nt_alternative *found)
{
    *found = (struct nt_alternative){.base = items->total};
    if (segment < items->count) {
        const struct nt_row_span same = nt_row_counts_get(items, segment);
        if (same.span.cluster != NT_NONE && span->cluster != NT_NONE &&
            same.span.first_entry == span->first_entry && same.span.entries == span->entries) {
            *found = (struct nt_alternative){same.first_row, same.rows};
            return same.span.fault == NT_FAULT_NONE || same.span.fault == NT_FAULT_COUNT;
        }
    }
    bool is_good = true, is_first = true;
    for (uint32_t i = 0; i < items->count; i++) {
        const struct nt_row_span inside = nt_row_counts_get(items, i);
        if (inside.span.first_entry < span->first_entry ||
            inside.span.first_entry >= span->first_entry + span->entries)
            continue;
        if (is_first)
            found->base = inside.first_row;
        is_first = false;
        found->rows += inside.rows;
        is_good &= inside.span.fault != NT_FAULT_POSITION;
    }
    return is_good;
}

/* Can the items of offsets stay as they are counted, so that all streams share the counts of parts? Both must
 * count the same parts, which store them. */
static bool keeps_items(const struct nt_stream *stream, const struct nt_row_counts *items)
{
    const struct nt_row_counts *rows = &stream->rows;
    return stream->kind != NT_STREAM_INDEX && nt_dataset_reloads_parts(stream->dataset) && !rows->spans &&
           !items->spans && rows->count == items->count && rows->groups.first != rows->groups.end &&
           items->groups.first != items->groups.end;
}

/* Allocates what has the items below each segment. */
static enum nt_status allocate_items(struct nt_stream *stream, const struct nt_row_counts *items,
                                     struct nt_error *error)
{
    size_t total = (size_t)stream->alternative_count * stream->rows.count;
    if (keeps_items(stream, items)) {
        stream->items = calloc(1, sizeof(*stream->items));
        return nt_check_memory(stream->items, error);
    }
    if (!stream->alternatives)
        stream->alternatives = calloc(total + 1, sizeof(*stream->alternatives));
    return nt_check_memory(stream->alternatives, error);
}

/* Sets the items below each segment: those of offsets, or of one alternative of a variant. */
static enum nt_status add_items(struct nt_stream *stream, uint32_t child, enum nt_counted of,
                                uint32_t alternative, struct nt_error *error)
{
    struct nt_row_counts items;
    enum nt_status status = nt_row_counts_build(stream->reader, stream->dataset, child, of, &items, error);
    if (status == NT_OK)
        status = allocate_items(stream, &items, error);
    for (uint32_t i = 0; status == NT_OK && i < stream->rows.count; i++) {
        struct nt_span span = nt_row_counts_get(&stream->rows, i).span;
        enum nt_row_fault fault = span.fault;
        if (fault == NT_FAULT_NONE && /* the items may have needed the list, too */
            nt_group_failure(stream->dataset, nt_cluster_group(stream->dataset, span.cluster)))
            span.fault = NT_FAULT_GROUP;
        struct nt_alternative found;
        if (!items_of(&items, i, &span, &found) && span.fault == NT_FAULT_NONE)
            span.fault = NT_FAULT_POSITION;
        if (!stream->items)
            stream->alternatives[(size_t)i * stream->alternative_count + alternative] = found;
        if (status == NT_OK && span.fault != fault)
            status = nt_row_counts_set_fault(&stream->rows, i, span.fault, error);
    }
    if (stream->items)
        *stream->items = items;
    else
        nt_row_counts_deinit(&items);
    return status;
}

/* Offsets count the field's own bytes, or its sub-field's items; else only the index has them. */
static enum nt_status add_bases(struct nt_stream *stream, struct nt_error *error)
{
    const struct nt_field *field = &stream->dataset->fields[stream->field];
    const struct nt_stream_row *data = nt_field_stream(field, NT_STREAM_DATA);
    uint32_t child_count;
    const uint32_t *children = nt_dataset_children(stream->dataset, stream->field, &child_count);
    if (data || !child_count)
        return add_items(stream, stream->field, data ? data->of : NT_COUNTED_ITEMS, 0, error);
    return add_items(stream, *children, NT_COUNTED_ROWS, 0, error);
}

static enum nt_status add_alternatives(struct nt_stream *stream, struct nt_error *error)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(stream->dataset, stream->field, &count);
    for (uint32_t i = 0; i < count; i++)
        NT_TRY(add_items(stream, children[i], NT_COUNTED_ROWS, i, error));
    return NT_OK;
}

/* What is below each segment, and memory for its masks. */
static enum nt_status add_below(struct nt_stream *stream, struct nt_error *error)
{
    uint32_t segments = stream->rows.count;
    bool is_index = stream->kind == NT_STREAM_INDEX;
    if (is_index)
        nt_dataset_children(stream->dataset, stream->field, &stream->alternative_count);
    else
        stream->alternative_count = stream->row->has_leading_zero;
    if (stream->dataset->part_deletions &&
        !(stream->masks = calloc((size_t)segments + 1, sizeof(*stream->masks))))
        return nt_fail_memory(error);
    if (is_index)
        return add_alternatives(stream, error);
    return stream->row->has_leading_zero ? add_bases(stream, error) : NT_OK;
}

/* The reported size comes from the last cluster alone: it must be the sum over all clusters. If a bad page
 * list makes the sum unknown, an unbounded stream has the known elements. */
static enum nt_status check_size(struct nt_stream *stream, bool needs_end, struct nt_error *error)
{
    const struct nt_row_counts *rows = &stream->rows;
    uint64_t size, total = 0;
    enum nt_status status =
        nt_row_counts_total(stream->reader, stream->dataset, stream->field, stream->row->of, &total, error);
    if (status != NT_OK && (needs_end || rows->is_total_known || nt_is_environmental(status)))
        return status;
    if (status != NT_OK)
        total = rows->total;
    NT_TRY(
        stream_count_elements(stream->dataset, stream->field, stream->row, total, &stream->elements, error));
    if (rows->total != total)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET,
                              "rows of all clusters according to the last cluster's page list", total,
                              rows->total);
    if (!nt_checked_multiply(stream->elements, stream->element_bytes, &size) || size > INT64_MAX)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the stream is larger than a file can be");
    return NT_OK;
}

/* If all segments are said to be empty, no read proves it. */
static enum nt_status check_empty(struct nt_stream *stream, struct nt_error *error)
{
    if (!stream->rows.unverified || stream->rows.total)
        return NT_OK;
    for (uint32_t i = 0; i < stream->rows.count; i++) {
        NT_CLEANUP(nt_segment_release) struct nt_segment segment = {0};
        nt_stream_segment(stream, i, &segment);
        if (!segment.is_unverified)
            continue;
        NT_TRY(locate(stream, &segment, error));
        if (segment.span.fault != NT_FAULT_NONE)
            return nt_fault_error(stream->dataset, &segment.span, 0, segment.found, error);
    }
    return NT_OK;
}

static enum nt_status fill_stream(struct nt_stream *stream, bool needs_end, struct nt_error *error)
{
    stream->per_row = nt_stream_row_elements(&stream->dataset->fields[stream->field], stream->row);
    NT_TRY(nt_row_counts_build(stream->reader, stream->dataset, stream->field, stream->row->of, &stream->rows,
                               error));
    NT_TRY(check_size(stream, needs_end, error));
    NT_TRY(add_below(stream, error));
    return check_empty(stream, error);
}

struct nt_stream *nt_stream_new(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                enum nt_stream_kind kind)
{
    struct nt_stream *stream = calloc(1, sizeof(*stream));
    if (!stream)
        return NULL;
    stream->reader = reader;
    stream->dataset = dataset;
    stream->field = field;
    stream->kind = kind;
    stream->row = nt_field_stream(&dataset->fields[field], kind);
    stream->transform = nt_transform_of(stream->row->conversion);
    nt_field_stream_dtype(dataset, field, kind, &stream->dtype);
    stream->element_bytes = stream->dtype.bytes;
    return stream;
}

static enum nt_status open_stream(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                  enum nt_stream_kind kind, bool needs_end, struct nt_stream **stream_ret,
                                  struct nt_error *error)
{
    const struct nt_stream_row *row;
    NT_TRY(stream_find_row(reader, dataset, field, kind, &row, error));
    struct nt_stream *stream = nt_stream_new(reader, dataset, field, kind);
    NT_TRY(nt_check_memory(stream, error));
    enum nt_status status = fill_stream(stream, needs_end, error);
    if (status != NT_OK) {
        nt_stream_close(stream);
        return nt_name_field(dataset, field, nt_stream_name(kind), status, error);
    }
    *stream_ret = stream;
    return NT_OK;
}

enum nt_status nt_stream_open_unfiltered(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                         enum nt_stream_kind kind, struct nt_stream **stream_ret,
                                         struct nt_error *error)
{
    return open_stream(reader, dataset, field, kind, true, stream_ret, error);
}

enum nt_status nt_stream_open_unbounded(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                        enum nt_stream_kind kind, struct nt_stream **stream_ret,
                                        struct nt_error *error)
{
    return dataset->selection ? nt_stream_open(reader, dataset, field, kind, stream_ret, error)
                              : open_stream(reader, dataset, field, kind, false, stream_ret, error);
}

void nt_stream_close(struct nt_stream *stream)
{
    if (!stream)
        return;
    for (uint32_t i = 0; stream->masks && i < stream->rows.count; i++)
        free_masks(atomic_load(&stream->masks[i]));
    if (stream->filter) {
        nt_stream_close(stream->filter->unfiltered);
        nt_stream_close(stream->filter->tags);
        free(stream->filter->alternatives);
        free(stream->filter);
    }
    nt_row_counts_deinit(&stream->rows);
    if (stream->items)
        nt_row_counts_deinit(stream->items);
    free(stream->items);
    free(stream->alternatives);
    free(stream->masks);
    free(stream);
}

/* ---- Properties ---- */

uint64_t nt_stream_elements(const struct nt_stream *stream)
{
    return stream->elements;
}

const struct nt_dtype *nt_stream_dtype(const struct nt_stream *stream)
{
    return &stream->dtype;
}

size_t nt_stream_memory(const struct nt_stream *stream)
{
    if (stream->filter)
        stream = stream->filter->unfiltered;
    size_t per_segment =
        (stream->alternatives ? stream->alternative_count * sizeof(*stream->alternatives) : 0) +
        (stream->masks ? sizeof(*stream->masks) : 0);
    return sizeof(*stream) + nt_row_counts_memory(&stream->rows) + stream->rows.count * per_segment +
           (stream->items ? nt_row_counts_memory(stream->items) : 0);
}

uint32_t nt_stream_element_bytes(const struct nt_stream *stream)
{
    return stream->element_bytes;
}

void nt_stream_segment(const struct nt_stream *stream, uint32_t number, struct nt_segment *segment_ret)
{
    *segment_ret = (struct nt_segment){.number = number, .span.cluster = NT_NONE, .column = NT_NONE};
    if (number >= stream->rows.count)
        return;
    const struct nt_row_span rows = nt_row_counts_get(&stream->rows, number);
    segment_ret->span = rows.span;
    segment_ret->first = rows.first_row * stream->per_row;
    segment_ret->elements = rows.rows * stream->per_row;
    segment_ret->is_unverified = rows.is_unverified;
    if (stream->items) {
        const struct nt_row_span below = nt_row_counts_get(stream->items, number);
        segment_ret->base = below.first_row;
        segment_ret->limit = below.rows;
    }
    if (!stream->alternatives)
        return;
    segment_ret->alternatives = &stream->alternatives[(size_t)number * stream->alternative_count];
    if (stream->row->has_leading_zero) {
        segment_ret->base = segment_ret->alternatives->base;
        segment_ret->limit = segment_ret->alternatives->rows;
    }
}

void nt_stream_segment_of(const struct nt_stream *stream, uint64_t element, struct nt_segment *segment_ret)
{
    uint64_t row = stream->per_row ? element / stream->per_row : 0;
    nt_stream_segment(stream, nt_row_counts_find(&stream->rows, row), segment_ret);
}

uint64_t nt_stream_segment_end(const struct nt_stream *stream, uint64_t element)
{
    uint64_t lead = nt_stream_leading_zeros(stream);
    struct nt_segment segment;
    if (stream->filter)
        return stream->elements;
    nt_stream_segment_of(stream, element < lead ? 0 : element - lead, &segment);
    return lead + segment.first + segment.elements;
}

uint64_t nt_stream_part_end(const struct nt_stream *stream, uint64_t element)
{
    bool has_end =
        !stream->filter && nt_dataset_reloads_parts(stream->dataset) && !nt_prefetch_helps(stream->dataset);
    return has_end ? nt_stream_segment_end(stream, element) : UINT64_MAX;
}

/* The page of an element in a segment; takes over its pin. No page if the segment is not located, or each
 * element represents a page: its pages count bytes. */
static void page_of(const struct nt_stream *stream, struct nt_segment *segment, uint64_t element,
                    struct nt_readahead_page *page_ret)
{
    uint64_t within = element - segment->first;
    *page_ret = (struct nt_readahead_page){.column = NT_NONE, .end = segment->first + segment->elements};
    if (!segment->group || segment->masks || !stream->transform) {
        nt_segment_release(segment);
        return;
    }
    page_ret->column = segment->column;
    if (within < segment->zeros) {
        page_ret->end = segment->first + segment->zeros;
        nt_segment_release(segment);
        return;
    }
    page_ret->group = segment->group;
    page_ret->page = nt_find_page(segment->pages, segment->page_count, within - segment->zeros);
    page_ret->end =
        segment->first + segment->zeros + page_ret->page->first_element + page_ret->page->elements;
}

void nt_stream_find_page(const void *walked, uint64_t element, struct nt_readahead_page *page_ret)
{
    const struct nt_stream *stream = walked;
    struct nt_segment segment;
    *page_ret = (struct nt_readahead_page){.column = NT_NONE, .end = stream->elements};
    if (stream->filter)
        return;
    nt_stream_segment_of(stream, element, &segment);
    try_locate(stream, &segment);
    page_of(stream, &segment, element, page_ret);
}

/* The same, and loads a missing page list. */
static enum nt_status load_page_of(struct nt_stream *stream, uint64_t element,
                                   struct nt_readahead_page *page_ret)
{
    struct nt_segment segment;
    nt_stream_segment_of(stream, element, &segment);
    enum nt_status status = nt_stream_locate(stream, &segment, NULL);
    page_of(stream, &segment, element, page_ret);
    return status;
}

enum { PLANNED = 64 }; /* segments at once */

static bool is_unloaded(const struct nt_stream *stream, const struct nt_segment *segment)
{
    return segment->span.cluster != NT_NONE && segment->span.fault == NT_FAULT_NONE &&
           !nt_group_is_loaded(stream->dataset, nt_cluster_group(stream->dataset, segment->span.cluster));
}

/* The segments from one on that lie in [element, end) and whose page lists are not loaded. */
static uint32_t count_unloaded(const struct nt_stream *stream, uint32_t number, uint64_t element,
                               uint64_t end)
{
    uint32_t count = 0;
    for (; stream->dataset->field_groups && number + count < stream->rows.count && count < PLANNED; count++) {
        struct nt_segment segment;
        nt_stream_segment(stream, number + count, &segment);
        bool is_inside =
            segment.first >= element && segment.first < end && segment.elements <= end - segment.first;
        if (!is_inside || !is_unloaded(stream, &segment))
            break;
    }
    return count;
}

/* The lists and pages of whole segments are requested together if the format knows where they are. The
 * lists of other segments tell which pages are needed. */
static uint64_t plan(const void *walked, struct nt_prefetch *prefetch, uint64_t element, uint64_t end)
{
    struct nt_stream *stream = (struct nt_stream *)(uintptr_t)walked;
    struct nt_segment segment;
    if (element >= end)
        return end;
    for (nt_stream_segment_of(stream, element, &segment);
         segment.number < stream->rows.count && segment.first < end;
         nt_stream_segment(stream, segment.number, &segment)) {
        uint32_t count = count_unloaded(stream, segment.number, element, end);
        const struct nt_groups groups = {segment.span.cluster, segment.span.cluster + count};
        bool is_planned = count && nt_groups_plan(stream->dataset, groups, true, prefetch);
        if (!is_planned && nt_stream_locate(stream, &segment, NULL) != NT_OK)
            return end;
        nt_segment_release(&segment);
        segment.number += is_planned ? count : 1;
        if (count == PLANNED) {
            nt_stream_segment(stream, segment.number - 1, &segment);
            return segment.first + segment.elements;
        }
    }
    return end;
}

/* An nt_readahead_find that also loads a missing page list: the reader will need it. */
static void find_requested(const void *walked, uint64_t element, struct nt_readahead_page *page_ret)
{
    (void)!load_page_of((struct nt_stream *)(uintptr_t)walked, element, page_ret);
}

struct nt_walk nt_stream_walk(struct nt_stream *stream)
{
    return (struct nt_walk){.reader = stream->reader,
                            .dataset = stream->dataset,
                            .access = &stream->access,
                            .elements = stream->elements,
                            .element_bytes = stream->element_bytes,
                            .lead = nt_stream_leading_zeros(stream),
                            .find = stream->transform ? find_requested : NULL,
                            .find_planned = nt_stream_find_page,
                            .plan = plan,
                            .walked = stream};
}

void nt_stream_prefetch(struct nt_stream *stream, struct nt_prefetch *prefetch, uint64_t first, uint64_t end,
                        uint64_t bytes)
{
    const struct nt_walk walk = nt_stream_walk(stream);
    if (!stream->filter)
        nt_prefetch_elements(prefetch, &walk, first, end, bytes);
}

void nt_stream_prefetch_exclusive(struct nt_stream *stream, struct nt_prefetch *prefetch, uint64_t first,
                                  uint64_t end)
{
    atomic_store_explicit(&stream->access.has_prefetcher, true, memory_order_relaxed);
    nt_stream_prefetch(stream, prefetch, first, end, UINT64_MAX);
}

void nt_stream_prefetch_only(struct nt_stream *stream, struct nt_prefetch *prefetch, uint64_t first,
                             uint64_t end)
{
    atomic_store_explicit(&stream->access.is_bounded, true, memory_order_relaxed);
    nt_stream_prefetch_exclusive(stream, prefetch, first, end);
}

uint64_t nt_stream_page_end(struct nt_stream *stream, uint64_t element)
{
    struct nt_readahead_page found;
    if (load_page_of(stream, element, &found) != NT_OK)
        return element + 1;
    nt_group_unpin(found.group);
    return found.end;
}

uint64_t nt_stream_gap_end(struct nt_stream *stream, uint64_t element)
{
    uint64_t lead = nt_stream_leading_zeros(stream);
    struct nt_segment segment;
    struct nt_readahead_page found;
    if (stream->filter || element < lead || element >= stream->elements)
        return element;
    nt_stream_segment_of(stream, element - lead, &segment);
    bool is_located = nt_stream_locate(stream, &segment, NULL) == NT_OK;
    bool has_fault = is_located && segment.span.fault != NT_FAULT_NONE;
    page_of(stream, &segment, element - lead, &found);
    bool is_gap = has_fault || (found.page && found.page->is_missing);
    nt_group_unpin(found.group);
    return is_gap ? lead + found.end : element;
}

uint64_t nt_stream_run_length(struct nt_stream *stream, uint64_t element)
{
    struct nt_readahead_page found;
    if (stream->filter)
        return 1;
    (void)!load_page_of(stream, element, &found);
    bool is_run = found.page && found.page->is_uniform;
    nt_group_unpin(found.group);
    return is_run ? found.end - element : 1;
}

/* ---- Open a stream ---- */

void nt_fields_announce(struct nt_dataset *dataset, const uint32_t *fields, size_t count)
{
    if (dataset->failure || dataset->file->resolve || !nt_prefetch_helps(dataset))
        return;
    nt_groups_announce_fields(dataset, fields, count);
    if (!dataset->ops->announce_fields)
        return;
    nt_lock_acquire(&dataset->logical->lock);
    dataset->ops->announce_fields(dataset, fields, count);
    nt_lock_release(&dataset->logical->lock);
}

static enum nt_status count_rows(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                 enum nt_counted of, uint64_t *rows_ret, struct nt_error *error)
{
    struct nt_row_mask mask;
    NT_TRY(nt_row_mask_find(reader, dataset, field, of, NT_NONE, &mask, error));
    if (!mask.deletions)
        return nt_name_field(dataset, field, NULL,
                             nt_row_counts_total(reader, dataset, field, of, rows_ret, error), error);
    *rows_ret = nt_row_mask_kept(&mask);
    return nt_row_mask_multiply(&mask, 1, error);
}

enum nt_status nt_field_rows(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             uint64_t *rows_ret, struct nt_error *error)
{
    NT_TRY(stream_check_field(reader, dataset, field, NT_STREAM_DATA, error));
    return count_rows(reader, dataset, field, NT_COUNTED_ROWS, rows_ret, error);
}

enum nt_status nt_field_stream_elements(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                        enum nt_stream_kind kind, uint64_t *elements_ret,
                                        struct nt_error *error)
{
    const struct nt_stream_row *row;
    uint64_t rows;
    NT_TRY(stream_find_row(reader, dataset, field, kind, &row, error));
    NT_TRY(count_rows(reader, dataset, field, row->of, &rows, error));
    return stream_count_elements(dataset, field, row, rows, elements_ret, error);
}

static enum nt_status find_boundaries(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                      enum nt_counted of, uint64_t **boundaries_ret, uint32_t *count_ret,
                                      struct nt_error *error)
{
    NT_CLEANUP(nt_row_counts_deinit) struct nt_row_counts rows = {0};
    struct nt_row_mask mask;
    NT_TRY(nt_row_counts_build(reader, dataset, field, of, &rows, error));
    NT_TRY(nt_name_field(dataset, field, NULL, nt_row_counts_check_total(dataset, &rows, error), error));
    NT_TRY(nt_row_mask_find(reader, dataset, field, of, NT_NONE, &mask, error));
    uint64_t *boundaries = calloc((size_t)rows.count + 1, sizeof(*boundaries));
    NT_TRY(nt_check_memory(boundaries, error));
    for (uint32_t i = 0; i <= rows.count; i++)
        boundaries[i] =
            nt_row_mask_before(&mask, i < rows.count ? nt_row_counts_get(&rows, i).first_row : rows.total);
    *boundaries_ret = boundaries;
    *count_ret = rows.count;
    return NT_OK;
}

enum nt_status nt_field_row_boundaries(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                       uint64_t **boundaries_ret, uint32_t *count_ret, struct nt_error *error)
{
    return find_boundaries(reader, dataset, field, NT_COUNTED_ROWS, boundaries_ret, count_ret, error);
}

enum nt_status nt_field_byte_boundaries(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                        uint64_t **boundaries_ret, uint32_t *count_ret,
                                        struct nt_error *error)
{
    const struct nt_stream_row *row;
    NT_TRY(stream_find_row(reader, dataset, field, NT_STREAM_DATA, &row, error));
    return find_boundaries(reader, dataset, field, row->of, boundaries_ret, count_ret, error);
}

enum nt_status nt_stream_open(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                              enum nt_stream_kind kind, struct nt_stream **stream_ret, struct nt_error *error)
{
    struct nt_stream *stream = NULL;
    enum nt_status status = nt_stream_open_unfiltered(reader, dataset, field, kind, &stream, error);
    if (status == NT_OK && dataset->selection)
        status = nt_stream_set_filter(&stream, error);
    if (status == NT_OK)
        *stream_ret = stream;
    else
        nt_stream_close(stream);
    return status;
}
