/* SPDX-License-Identifier: MIT
 *
 * Counts the rows of a field in each span of entries. If the field has no column to count by, the count
 * comes from a sub-field, or from the offsets or tags of the enclosing collection or variant.
 */
#include "read/read.h"

#include "read/page.h"

/* ---- Item counts from offsets and tags ---- */

/* The items below a field, and then their number, if it is known. If a bad page makes the number unknown,
 * `error` has the page's failure although the status is NT_OK. */
struct item_count {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t field;
    uint32_t branch; /* of a variant: the child whose rows are counted */
    uint64_t count;
    bool is_known;
    struct nt_error *error;
};

/* The tag of an alternative: 1 for the variant's first child. */
static uint32_t tag_of(const struct item_count *items)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(items->dataset, items->field, &count);
    for (uint32_t i = 0; i < count; i++)
        if (children[i] == items->branch)
            return i + 1;
    return 0;
}

/* Counts on a page of an index, whose last value is the number, or on one of switches. A bad page, or one on
 * a bad part of a disk, makes the number unknown; other failures stop the work. */
static enum nt_status count_on_page(struct item_count *items, uint32_t column, const struct nt_page *page,
                                    bool is_index)
{
    enum nt_element element = nt_page_decoder(items->dataset, page)->element;
    uint32_t decoded = nt_page_decoded_elements(page);
    struct nt_error failure = {0};
    struct nt_cache_entry *pinned;
    const uint8_t *data;
    items->is_known = is_index || element == NT_ELEMENT_SWITCH;
    if (!items->is_known)
        return NT_OK;
    enum nt_status status =
        nt_page_pin(NT_CACHE_READER, items->reader, items->dataset, column, page, &pinned, &data, &failure);
    if (status != NT_OK) {
        items->is_known = false;
        nt_fail_copy(items->error, &failure);
        return status == NT_CHANGED || nt_is_transient(status) ? status : NT_OK;
    }
    uint32_t tag = is_index ? 0 : tag_of(items);
    if (is_index)
        items->is_known = nt_load_index(element, data, decoded - 1, &items->count);
    for (uint32_t i = 0; !is_index && i < decoded; i++)
        items->count += nt_load_le32(data + NT_SWITCH_BYTES * (size_t)i + NT_SWITCH_TAG) == tag;
    nt_page_unpin(items->reader, pinned, NT_CACHE_KEEP);
    return NT_OK;
}

/* In a cluster whose group is pinned. Reads at most one page of an index. Unknown if elements are missing,
 * unless a deferred column stores nothing: no items. */
static enum nt_status count_in_cluster(struct item_count *items, uint32_t cluster, bool is_index)
{
    struct nt_active_column active;
    nt_active_column_find(items->dataset, items->field, 0, cluster, &active);
    items->count = 0;
    items->is_known = active.present == 1 || (active.present == 0 && active.is_deferred);
    if (items->is_known && active.elements && is_index)
        return count_on_page(items, active.column,
                             nt_find_page(active.pages, active.page_count, active.elements - 1), true);
    for (uint32_t i = 0; !is_index && items->is_known && i < active.page_count; i++)
        NT_TRY(count_on_page(items, active.column, &active.pages[i], false));
    return NT_OK;
}

/* Unknown if the page list is bad. */
static enum nt_status items_in_cluster(struct item_count *items, uint32_t cluster)
{
    const struct nt_dataset *dataset = items->dataset;
    enum nt_rows_below below = nt_field_kind_info(dataset->fields[items->field].kind)->below;
    NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = NULL;
    NT_TRY(nt_group_pin_readable(items->dataset, nt_cluster_group(dataset, cluster), &group, items->error));
    items->is_known = group && (below == NT_BELOW_INDEX || below == NT_BELOW_SWITCH);
    return items->is_known ? count_in_cluster(items, cluster, below == NT_BELOW_INDEX) : NT_OK;
}

/* Another column group may divide the same entries into other clusters. */
static enum nt_status items_in_shards(struct item_count *items, const struct nt_span *span)
{
    NT_AUTO_FREE struct nt_span *spans = NULL;
    uint32_t count;
    NT_TRY(nt_spans_build(items->reader, items->dataset, items->field, true, &spans, &count, items->error));
    uint64_t total = 0, span_end = span->first_entry + span->entries;
    items->is_known = true;
    for (uint32_t i = 0; items->is_known && i < count; i++) {
        uint64_t end = spans[i].first_entry + spans[i].entries;
        if (end <= span->first_entry || spans[i].first_entry >= span_end)
            continue;
        bool is_inside = spans[i].first_entry >= span->first_entry && end <= span_end;
        items->is_known = is_inside && spans[i].fault == NT_FAULT_NONE;
        if (items->is_known)
            NT_TRY(items_in_cluster(items, spans[i].cluster));
        items->is_known = items->is_known && nt_checked_add(total, items->count, &total);
    }
    items->count = total;
    return NT_OK;
}

/* Fields with clusters of their own share the boundaries. */
static enum nt_status items_in_part(struct item_count *items, const struct nt_span *span)
{
    struct nt_dataset *dataset = items->dataset;
    uint32_t part = nt_span_part(dataset, items->field, span);
    uint32_t cluster = nt_part_cluster(dataset, items->field, part);
    items->is_known = cluster != NT_NONE;
    if (items->is_known)
        NT_TRY(items_in_cluster(items, cluster));
    if (!items->is_known || !dataset->part_deletions)
        return NT_OK;
    NT_CLEANUP(nt_row_mask_deinit) struct nt_row_mask mask = {0};
    NT_TRY(
        nt_row_mask_find(items->reader, dataset, items->field, NT_COUNTED_ITEMS, part, &mask, items->error));
    if (mask.deletions)
        items->count = nt_row_mask_kept(&mask);
    return NT_OK;
}

/* Items below a collection or variant in a span. */
static enum nt_status items_below(struct item_count *items, const struct nt_span *span)
{
    if (items->dataset->field_groups)
        return items_in_part(items, span);
    if (items->dataset->has_sharded_clusters)
        return items_in_shards(items, span);
    items->is_known = span->fault == NT_FAULT_NONE;
    return items->is_known ? items_in_cluster(items, span->cluster) : NT_OK;
}

/* Rows of the field in a span, from the enclosing fields. Goes up the tree to the first level that can be
 * counted. Its count helps only if it is the nearest level or has no items. */
static enum nt_status items_rows(struct item_count *items, const struct nt_span *span)
{
    const struct nt_dataset *dataset = items->dataset;
    uint32_t field = items->field, below = field;
    uint64_t per_item;
    items->is_known = false;
    if (!nt_rows_per_item(dataset, field, &per_item))
        return NT_OK;
    while ((items->field = nt_field_row_parent(dataset, below)) != NT_NONE) {
        items->branch = below;
        while (dataset->fields[items->branch].parent != items->field)
            items->branch = dataset->fields[items->branch].parent;
        NT_TRY(items_below(items, span));
        if (items->is_known) {
            items->is_known = below == field ? nt_checked_multiply(items->count, per_item, &items->count)
                                             : items->count == 0;
            return NT_OK;
        }
        below = items->field;
    }
    items->count = 0;
    items->is_known = span->entries == 0;
    return NT_OK;
}

/* The number of bytes, from the last end offset; 0 if there are no rows. */
static enum nt_status count_bytes(struct item_count *items, const struct nt_span *span)
{
    struct nt_span own = *span;
    struct nt_group *group;
    enum nt_status status = nt_span_pin(items->dataset, &own, &group, items->error);
    if (group)
        status = count_in_cluster(items, span->cluster, true);
    nt_group_unpin(group);
    if (status != NT_OK || items->is_known)
        return status;
    status = items_rows(items, span);
    items->is_known = items->is_known && items->count == 0;
    return status;
}

/* ---- Rows of a field ---- */

/* Rows of a field in each span of entries. Outside of collections, the enclosing arrays determine the
 * rows per entry. Below a collection or variant, the field's principal column counts. Without one, the
 * first column of a sub-field in step with it counts; if that is deferred or absent, the data of the
 * enclosing collection or variant. Rows of an unreadable span follow from the start of the next
 * readable one in its page list. */

/* How rows are counted. */
struct unit {
    enum nt_counted of;
    uint32_t field;        /* whose rows */
    uint32_t column_field; /* whose column counts them; NT_NONE: none */
    uint32_t position;     /* of that column */
    uint64_t divisor;      /* elements of that column per row */
    bool is_per_entry;     /* outside of collections: the entries suffice */
    uint64_t per_entry;
};

/* Finds the first field with columns among a field and the readable sub-fields in step with it, depth
 * first, and multiplies `divisor` by the elements of its first column per row of the field. If a record or
 * array has a column, it has one element per row: is the row valid? If the product overflows, it becomes 0,
 * and none is found. Recursive: fields nest no deeper than NT_MAX_DEPTH. */
static uint32_t find_counter(const struct nt_dataset *dataset, uint32_t field, bool is_below,
                             uint64_t *divisor)
{
    const struct nt_field *f = &dataset->fields[field];
    uint64_t per_row = f->column_count ? nt_field_row_elements(f) : nt_field_rows_below(f), product;
    bool overflows = !nt_checked_multiply(*divisor, per_row ? per_row : 1, &product);
    *divisor = overflows ? 0 : product;
    if (!overflows && f->column_count && (!is_below || f->kind != NT_FIELD_UNREADABLE))
        return field;
    uint32_t count, found = NT_NONE;
    const uint32_t *children = nt_dataset_children(dataset, field, &count);
    for (uint32_t i = 0; nt_field_is_row_aligned(f) && i < count && *divisor && found == NT_NONE; i++) {
        *divisor = product;
        found = find_counter(dataset, children[i], true, divisor);
    }
    return found;
}

static enum nt_status unit_init(struct unit *unit, const struct nt_dataset *dataset, uint32_t field,
                                enum nt_counted of, struct nt_error *error)
{
    *unit = (struct unit){.of = of, .field = field, .column_field = NT_NONE, .divisor = 1};
    if (of == NT_COUNTED_ROWS) {
        unit->column_field = find_counter(dataset, field, false, &unit->divisor);
        unit->is_per_entry = nt_field_row_parent(dataset, field) == NT_NONE;
        if (!nt_rows_per_item(dataset, field, &unit->per_entry))
            return nt_name_field(dataset, field, NULL,
                                 nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "its number of rows overflows"),
                                 error);
    } else if (of != NT_COUNTED_ITEMS) {
        unit->column_field = field;
        unit->position = of == NT_COUNTED_SECOND_COLUMN;
    }
    return NT_OK;
}

static bool has_page_per_row(const struct nt_dataset *dataset, const struct unit *unit)
{
    return unit->of == NT_COUNTED_ROWS &&
           nt_field_kind_info(dataset->fields[unit->column_field].kind)->has_page_per_row;
}

/* The field whose spans to use. Without columns, a field has the clusters of the enclosing data. */
static uint32_t span_field(const struct nt_dataset *dataset, const struct unit *unit)
{
    if (unit->column_field != NT_NONE)
        return unit->column_field;
    uint32_t above = nt_field_row_parent(dataset, unit->field);
    return above == NT_NONE || unit->of == NT_COUNTED_ITEMS ? unit->field : above;
}

/* ---- One span ---- */

struct span_builder {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    struct unit unit;
    struct nt_row_counts *rows;
    uint32_t number;  /* of the span */
    uint64_t row;     /* the next */
    uint32_t unknown; /* the last span with unknown rows; NT_NONE: none */
    uint32_t file;    /* in a concatenated dataset: the first group of the current file */
    uint64_t origin;  /* the row that positions count from */
    bool has_positions;
    struct nt_part_counts *remembered; /* NULL: nothing is */
};

/* Concatenated files count from their own first rows. */
static void enter_file(struct span_builder *build, const struct nt_span *span)
{
    const struct nt_dataset *dataset = build->dataset;
    if (!dataset->is_concatenated || span->cluster == NT_NONE)
        return;
    uint32_t file = nt_group_record(dataset, nt_cluster_group(dataset, span->cluster)).origin;
    if (file == build->file)
        return;
    build->file = file;
    build->origin = build->row;
    build->has_positions = build->unknown == NT_NONE && !dataset->field_groups;
}

/* The rows according to data of other columns. */
static enum nt_status count_from_above(const struct span_builder *build, struct nt_row_span *counted,
                                       bool *known_ret, struct nt_error *error)
{
    const struct unit *unit = &build->unit;
    struct item_count items = {.reader = build->reader,
                               .dataset = build->dataset,
                               .field = unit->field,
                               .branch = NT_NONE,
                               .error = error};
    enum nt_status status = NT_OK;
    if (unit->of == NT_COUNTED_ROWS)
        status = items_rows(&items, &counted->span);
    else if (unit->of == NT_COUNTED_ITEMS)
        status = items_below(&items, &counted->span);
    else if (unit->of == NT_COUNTED_SECOND_COLUMN)
        status = count_bytes(&items, &counted->span);
    counted->rows = items.count;
    *known_ret = items.is_known;
    return status;
}

/* After spans with unknown rows, the page list of this span says where it begins. */
static void resume(struct span_builder *build, const struct nt_active_column *active)
{
    uint64_t row;
    if (build->unknown == NT_NONE || active->present != 1 || !build->has_positions ||
        !nt_checked_add(build->origin, active->first_element / build->unit.divisor, &row) || row < build->row)
        return;
    build->row = row;
    build->unknown = NT_NONE;
    build->rows->refusal = NT_OK;
}

/* Subtracts deleted rows. */
static enum nt_status omit_deleted(const struct span_builder *build, struct nt_row_span *counted,
                                   struct nt_error *error)
{
    const struct unit *unit = &build->unit;
    struct nt_row_mask mask;
    if (!build->dataset->part_deletions)
        return NT_OK;
    NT_TRY(nt_row_mask_find(build->reader, build->dataset, unit->field, unit->of,
                            nt_span_part(build->dataset, unit->field, &counted->span), &mask, error));
    if (!mask.deletions)
        return NT_OK;
    if (nt_row_mask_physical(&mask) != counted->rows)
        counted->span.fault = NT_FAULT_COUNT;
    counted->rows = nt_row_mask_kept(&mask);
    nt_row_mask_deinit(&mask);
    return NT_OK;
}

/* A deferred column may begin within a row, in the middle of an array. */
static bool begins_deferred(const struct span_builder *build, const struct nt_active_column *active)
{
    uint64_t divisor = build->unit.divisor;
    uint64_t rows = active->deferred_first / divisor + (active->deferred_first % divisor != 0);
    return active->is_deferred && build->unit.of == NT_COUNTED_ROWS && build->row - build->origin < rows;
}

/* Rows that are known without the page list. */
static bool find_unverified_rows(const struct span_builder *build, const struct nt_span *span,
                                 uint64_t *rows_ret)
{
    struct nt_dataset *dataset = build->dataset;
    const struct unit *unit = &build->unit;
    uint64_t elements;
    bool is_asked = dataset->ops->unverified_elements && unit->column_field != NT_NONE &&
                    span->fault == NT_FAULT_NONE && build->unknown == NT_NONE && !dataset->part_deletions &&
                    !has_page_per_row(dataset, unit);
    if (!is_asked ||
        !dataset->ops->unverified_elements(dataset, span->cluster, unit->column_field, unit->position,
                                           &elements) ||
        elements % unit->divisor)
        return false;
    *rows_ret = elements / unit->divisor;
    return true;
}

/* From the page list, and pages if rows are deleted. */
static enum nt_status count_stored(struct span_builder *build, struct nt_row_span *counted, bool *known_ret,
                                   struct nt_error *error)
{
    const struct unit *unit = &build->unit;
    struct nt_active_column active = {0};
    struct nt_group *group = NULL;
    NT_TRY(unit->column_field != NT_NONE ? nt_span_pin(build->dataset, &counted->span, &group, error)
                                         : NT_OK);
    if (group) {
        nt_active_column_find(build->dataset, unit->column_field, unit->position, counted->span.cluster,
                              &active);
        nt_group_unpin(group); /* only numbers are needed from here on */
        resume(build, &active);
    }
    if (active.present != 1 || begins_deferred(build, &active))
        return count_from_above(build, counted, known_ret, error);
    bool is_page_per_row = has_page_per_row(build->dataset, unit);
    counted->rows = is_page_per_row ? active.page_count : active.elements / unit->divisor;
    if (!is_page_per_row && active.elements % unit->divisor)
        counted->span.fault = NT_FAULT_COUNT;
    *known_ret = true;
    return omit_deleted(build, counted, error);
}

static bool recall(const struct span_builder *build, struct nt_row_span *counted)
{
    if (!build->remembered || counted->span.fault != NT_FAULT_NONE)
        return false;
    counted->rows = atomic_load_explicit(&build->remembered->rows[build->number], memory_order_relaxed);
    return counted->rows != NT_UNCOUNTED;
}

static void remember(const struct span_builder *build, const struct nt_row_span *counted)
{
    if (build->remembered && counted->span.fault == NT_FAULT_NONE && counted->rows < NT_UNCOUNTED)
        atomic_store_explicit(&build->remembered->rows[build->number], (uint32_t)counted->rows,
                              memory_order_relaxed);
}

static enum nt_status count_span(struct span_builder *build, struct nt_row_span *counted, bool *known_ret,
                                 struct nt_error *error)
{
    const struct unit *unit = &build->unit;
    if (unit->is_per_entry)
        return nt_checked_multiply(counted->span.entries, unit->per_entry, &counted->rows)
                   ? NT_OK
                   : nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of rows overflows");
    if (recall(build, counted))
        return NT_OK;
    counted->is_unverified = find_unverified_rows(build, &counted->span, &counted->rows);
    if (counted->is_unverified)
        return NT_OK;
    NT_TRY(count_stored(build, counted, known_ret, error));
    if (*known_ret)
        remember(build, counted);
    return NT_OK;
}

static enum nt_status add_span(struct span_builder *build, struct nt_error *error)
{
    struct nt_row_counts *rows = build->rows;
    struct nt_row_span counted = nt_row_counts_get(rows, build->number);
    bool is_known = true;
    struct nt_error cause;
    cause.status = NT_OK; /* an unknown count may have no cause */
    enter_file(build, &counted.span);
    enum nt_status status = count_span(build, &counted, &is_known, &cause);
    if (status != NT_OK)
        return nt_fail_copy(error, &cause);
    if (!is_known && nt_is_environmental(cause.status))
        rows->refusal = cause.status;
    if (!is_known && counted.span.fault == NT_FAULT_NONE)
        counted.span.fault = NT_FAULT_MISSING;
    bool is_placed = counted.span.fault == NT_FAULT_NONE || counted.span.fault == NT_FAULT_COUNT;
    if (build->unknown != NT_NONE && is_placed)
        counted.span.fault = NT_FAULT_POSITION;
    if (!is_known)
        build->unknown = build->number;
    rows->faults[build->number] = (uint8_t)counted.span.fault;
    rows->first_rows[build->number] = build->row;
    if (rows->origins)
        rows->origins[build->number] = build->origin;
    if (rows->unverified)
        rows->unverified[build->number] = counted.is_unverified;
    if (is_known && (!nt_checked_add(build->row, counted.rows, &build->row) || build->row > INT64_MAX))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the field has more than 2^63 - 1 rows");
    return NT_OK;
}

/* ---- All spans ---- */

NT_DEFINE_LAST_AT_MOST(find_row, uint64_t, )

void nt_row_counts_deinit(struct nt_row_counts *rows)
{
    free(rows->spans);
    free(rows->first_rows);
    free(rows->origins);
    free(rows->faults);
    free(rows->unverified);
    *rows = (struct nt_row_counts){0};
}

/* How many spans have one of `first_rows`, if their counts are shared. */
enum { COUNTED_TOGETHER = 32 };

static uint64_t shared_count(const struct nt_row_counts *rows, uint32_t number)
{
    return atomic_load_explicit(&rows->counts->rows[number], memory_order_relaxed);
}

static uint64_t first_row(const struct nt_row_counts *rows, uint32_t number)
{
    if (!rows->counts)
        return rows->first_rows[number];
    uint64_t row = rows->first_rows[number / COUNTED_TOGETHER];
    for (uint32_t i = number / COUNTED_TOGETHER * COUNTED_TOGETHER; i < number; i++)
        row += shared_count(rows, i);
    return row;
}

/* The last span that begins at a row or before it. */
static uint32_t find_by_counts(const struct nt_row_counts *rows, uint64_t row)
{
    uint32_t blocks = (rows->count + COUNTED_TOGETHER - 1) / COUNTED_TOGETHER;
    uint32_t block = find_row(rows->first_rows, blocks, row), number = block * COUNTED_TOGETHER;
    uint64_t next = rows->first_rows[block] + shared_count(rows, number);
    while (number + 1 < rows->count && next <= row)
        next += shared_count(rows, ++number);
    return number;
}

/* Uses the counts that all streams share, if they are all known. */
static void share_counts(struct nt_row_counts *rows, const struct nt_part_counts *counts)
{
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->faults[i] != NT_FAULT_NONE ||
            atomic_load_explicit(&counts->rows[i], memory_order_relaxed) !=
                rows->first_rows[i + 1] - rows->first_rows[i])
            return;
    uint32_t blocks = (rows->count + COUNTED_TOGETHER - 1) / COUNTED_TOGETHER;
    for (uint32_t i = 0; i < blocks; i++)
        rows->first_rows[i] = rows->first_rows[i * COUNTED_TOGETHER];
    uint64_t *fewer = realloc(rows->first_rows, blocks * sizeof(*fewer));
    rows->first_rows = fewer ? fewer : rows->first_rows;
    rows->counts = counts;
    free(rows->faults);
    rows->faults = NULL;
}

struct nt_row_span nt_row_counts_get(const struct nt_row_counts *rows, uint32_t number)
{
    struct nt_row_span found = {
        .span = rows->spans ? rows->spans[number]
                            : nt_part_span(rows->dataset, &rows->parts, rows->groups, number)};
    if (rows->faults && rows->faults[number] != NT_FAULT_NONE)
        found.span.fault = rows->faults[number];
    found.is_unverified = rows->unverified && rows->unverified[number];
    if (rows->first_rows) {
        found.first_row = first_row(rows, number);
        found.rows =
            rows->counts ? shared_count(rows, number) : rows->first_rows[number + 1] - found.first_row;
    } else {
        found.first_row = found.span.first_entry * rows->per_entry;
        found.rows = found.span.entries * rows->per_entry;
    }
    return found;
}

uint32_t nt_row_counts_find(const struct nt_row_counts *rows, uint64_t row)
{
    if (rows->counts)
        return find_by_counts(rows, row);
    if (rows->first_rows)
        return find_row(rows->first_rows, rows->count, row);
    return rows->per_entry ? find_row(rows->parts.boundaries, rows->count, row / rows->per_entry) : 0;
}

uint64_t nt_row_counts_origin(const struct nt_row_counts *rows, uint32_t number)
{
    if (rows->origins)
        return rows->origins[number];
    if (rows->first_rows || !rows->dataset->is_concatenated || rows->groups.first == rows->groups.end)
        return 0;
    uint32_t first_part = nt_group_record(rows->dataset, rows->groups.first + number).origin;
    return rows->parts.boundaries[first_part] * rows->per_entry;
}

enum nt_status nt_row_counts_set_fault(struct nt_row_counts *rows, uint32_t number, enum nt_row_fault fault,
                                       struct nt_error *error)
{
    if (!rows->faults && !(rows->faults = calloc((size_t)rows->count + 1, sizeof(*rows->faults))))
        return nt_fail_memory(error);
    rows->faults[number] = (uint8_t)fault;
    return NT_OK;
}

size_t nt_row_counts_memory(const struct nt_row_counts *rows)
{
    size_t each = (rows->spans ? sizeof(*rows->spans) : 0) +
                  (rows->first_rows && !rows->counts ? sizeof(*rows->first_rows) : 0) +
                  (rows->origins ? sizeof(*rows->origins) : 0) + (rows->faults ? sizeof(*rows->faults) : 0) +
                  (rows->unverified ? sizeof(*rows->unverified) : 0);
    size_t shared = rows->counts ? rows->count / COUNTED_TOGETHER * sizeof(*rows->first_rows) : 0;
    return rows->count * each + shared;
}

/* The spans of a field: stored ones, or parts. A single part's page list is loaded at once, unless its rows
 * may be known and a server can send it with its pages. */
static enum nt_status find_spans(const struct span_builder *build, struct nt_error *error)
{
    struct nt_row_counts *rows = build->rows;
    struct nt_dataset *dataset = build->dataset;
    uint32_t field = span_field(dataset, &build->unit);
    rows->dataset = dataset;
    if (!dataset->field_groups) /* what the index does not have is loaded when it is counted */
        return nt_spans_build(build->reader, dataset, field,
                              !build->unit.is_per_entry && !dataset->ops->unverified_elements, &rows->spans,
                              &rows->count, error);
    rows->parts = nt_field_parts(dataset, field);
    rows->groups = nt_groups_of_field(dataset, field);
    rows->count = rows->parts.count;
    bool is_alone = rows->count == 1 && rows->groups.first != rows->groups.end;
    bool may_be_known = build->unit.is_per_entry || dataset->ops->unverified_elements;
    bool is_later = may_be_known && nt_prefetch_helps(dataset);
    return is_alone && !is_later ? nt_groups_load_readable(dataset, rows->groups, error) : NT_OK;
}

static enum nt_status allocate_rows(struct nt_row_counts *rows, struct nt_error *error)
{
    size_t count = (size_t)rows->count + 1;
    bool has_origins = rows->dataset->is_concatenated,
         has_unverified = rows->dataset->ops->unverified_elements;
    rows->first_rows = calloc(count, sizeof(*rows->first_rows));
    rows->faults = calloc(count, sizeof(*rows->faults));
    rows->origins = has_origins ? calloc(count, sizeof(*rows->origins)) : NULL;
    rows->unverified = has_unverified ? calloc(count, sizeof(*rows->unverified)) : NULL;
    bool has_all = rows->first_rows && rows->faults && (rows->origins || !has_origins) &&
                   (rows->unverified || !has_unverified);
    return has_all ? NT_OK : nt_fail_memory(error);
}

/* Spans without rows are never read. So reading the rows after them verifies that they have none, or reading
 * the last rows. */
static void verify_empty_with_next(struct nt_row_counts *rows)
{
    uint32_t last = NT_NONE;
    bool is_unverified = false;
    for (uint32_t i = 0; rows->unverified && i < rows->count; i++) {
        is_unverified |= rows->unverified[i];
        if (rows->first_rows[i] == rows->first_rows[i + 1])
            continue;
        rows->unverified[i] = is_unverified;
        is_unverified = false;
        last = i;
    }
    if (is_unverified && last != NT_NONE)
        rows->unverified[last] = true;
}

static enum nt_status count_all(struct span_builder *build, struct nt_error *error)
{
    struct nt_row_counts *rows = build->rows;
    NT_TRY(allocate_rows(rows, error));
    for (; build->number < rows->count; build->number++)
        NT_TRY(add_span(build, error));
    rows->first_rows[rows->count] = build->row;
    rows->total = build->row;
    rows->is_total_known = build->unknown == NT_NONE;
    verify_empty_with_next(rows);
    if (build->remembered && rows->count)
        share_counts(rows, build->remembered);
    return NT_OK;
}

/* Of parts whose rows follow from their entries. */
static enum nt_status count_entries(struct nt_row_counts *rows, uint64_t per_entry, struct nt_error *error)
{
    rows->per_entry = per_entry;
    rows->is_total_known = true;
    uint64_t entries = rows->count ? rows->parts.boundaries[rows->count] : 0;
    if (!nt_checked_multiply(entries, per_entry, &rows->total) || rows->total > INT64_MAX)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the field has more than 2^63 - 1 rows");
    return NT_OK;
}

enum nt_status nt_row_counts_build(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                   enum nt_counted of, struct nt_row_counts *rows, struct nt_error *error)
{
    struct span_builder build = {.reader = reader,
                                 .dataset = dataset,
                                 .rows = rows,
                                 .unknown = NT_NONE,
                                 .file = NT_NONE,
                                 .has_positions = nt_dataset_has_positions(dataset)};
    *rows = (struct nt_row_counts){0};
    enum nt_status status = unit_init(&build.unit, dataset, field, of, error);
    if (status == NT_OK && !build.unit.is_per_entry)
        build.remembered = nt_part_counts_get(reader->indexes, dataset, field, of);
    if (status == NT_OK)
        status = find_spans(&build, error);
    if (status == NT_OK)
        status = build.unit.is_per_entry && !rows->spans ? count_entries(rows, build.unit.per_entry, error)
                                                         : count_all(&build, error);
    if (status != NT_OK)
        nt_row_counts_deinit(rows);
    return status;
}

/* ---- Several fields at once ---- */

struct units {
    struct span_builder *items;
    size_t count, capacity;
};

/* Adds what the streams of a field count, unless it follows from the entries. False without memory. */
static bool add_units(struct units *units, struct nt_reader *reader, struct nt_dataset *dataset,
                      uint32_t field)
{
    bool is_counted[NT_COUNTED_ITEMS + 1] = {false};
    for (unsigned kind = 0; kind < NT_STREAM_COUNT; kind++) {
        const struct nt_stream_row *row = nt_field_stream(&dataset->fields[field], (enum nt_stream_kind)kind);
        struct span_builder build = {
            .reader = reader, .dataset = dataset, .unknown = NT_NONE, .file = NT_NONE};
        if (!row || is_counted[row->of] || unit_init(&build.unit, dataset, field, row->of, NULL) != NT_OK ||
            build.unit.is_per_entry ||
            !(build.remembered = nt_part_counts_get(reader->indexes, dataset, field, row->of)))
            continue;
        is_counted[row->of] = true;
        if (!NT_GROW(units->items, units->count, units->capacity))
            return false;
        units->items[units->count++] = build;
    }
    return true;
}

/* Adds these fields and those below them. */
static bool find_units(struct units *units, struct nt_reader *reader, struct nt_dataset *dataset,
                       const uint32_t *fields, size_t count)
{
    NT_AUTO_FREE bool *is_requested = calloc((size_t)dataset->field_count + 1, sizeof(*is_requested));
    if (!is_requested)
        return false;
    for (size_t i = 0; i < count; i++)
        is_requested[fields[i]] = true;
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        uint32_t at = i;
        while (at != NT_NONE && !is_requested[at])
            at = dataset->fields[at].parent;
        if (at != NT_NONE && !add_units(units, reader, dataset, i))
            return false;
    }
    return true;
}

/* Ignores failures, which streams report. Returns false after one of the environment. */
static bool count_part(struct span_builder *build, uint32_t part)
{
    const struct nt_dataset *dataset = build->dataset;
    uint32_t field = span_field(dataset, &build->unit);
    const struct nt_parts parts = nt_field_parts(dataset, field);
    struct nt_row_span counted = {
        .span = nt_part_span(dataset, &parts, nt_groups_of_field(dataset, field), part)};
    bool is_known = true;
    build->number = part;
    return !nt_is_environmental(count_span(build, &counted, &is_known, NULL));
}

void nt_rows_count_together(struct nt_reader *reader, struct nt_dataset *dataset, const uint32_t *fields,
                            size_t count)
{
    struct units units = {0};
    bool goes_on = !dataset->failure && !dataset->file->resolve && nt_dataset_reloads_parts(dataset) &&
                   !nt_prefetch_helps(dataset) && find_units(&units, reader, dataset, fields, count);
    for (uint32_t part = 0; goes_on && units.count && part < dataset->part_count; part++)
        for (size_t i = 0; goes_on && i < units.count; i++)
            goes_on = count_part(&units.items[i], part);
    free(units.items);
}

enum nt_status nt_row_counts_check_total(const struct nt_dataset *dataset, const struct nt_row_counts *rows,
                                         struct nt_error *error)
{
    if (rows->is_total_known)
        return NT_OK;
    if (rows->refusal)
        return nt_fail(error, rows->refusal, NT_NO_OFFSET,
                       "cannot read a page that stores the number of rows");
    for (uint32_t i = rows->count; i-- > 0;) {
        const struct nt_span span = nt_row_counts_get(rows, i).span;
        if (span.fault == NT_FAULT_GROUP || span.fault == NT_FAULT_NOT_COVERED ||
            span.fault == NT_FAULT_MISSING)
            return nt_fault_error(dataset, &span, 0, 0, error);
    }
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the number of rows is unknown");
}

static enum nt_status total_from_all(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                     enum nt_counted of, uint64_t *total_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_row_counts_deinit) struct nt_row_counts rows = {0};
    NT_TRY(nt_row_counts_build(reader, dataset, field, of, &rows, error));
    *total_ret = rows.total;
    return nt_row_counts_check_total(dataset, &rows, error);
}

/* The group of these that may hold the dataset's last entries; NT_NONE. */
static uint32_t find_last_group(const struct nt_dataset *dataset, struct nt_groups groups)
{
    for (uint32_t i = groups.end; i-- > groups.first;) {
        const struct nt_group_record group = nt_group_record(dataset, i);
        if (!dataset->clusters_known && group.entries &&
            group.first_entry + group.entries == dataset->entries)
            return i;
        for (uint32_t k = 0; dataset->clusters_known && k < group.clusters; k++) {
            const struct nt_cluster cluster = nt_dataset_cluster(dataset, group.first_cluster + k);
            if (cluster.entries && cluster.first_entry + cluster.entries == dataset->entries)
                return i;
        }
    }
    return NT_NONE;
}

/* Pins the group of the cluster that holds a field's last entries; NT_NONE and NULL if no single page list
 * determines it. */
static enum nt_status pin_last_cluster(struct nt_dataset *dataset, uint32_t field, uint32_t *cluster_ret,
                                       struct nt_group **group_ret, struct nt_error *error)
{
    uint32_t last = !nt_dataset_shares_boundaries(dataset)
                        ? NT_NONE
                        : find_last_group(dataset, nt_groups_of_field(dataset, field));
    *cluster_ret = NT_NONE;
    *group_ret = NULL;
    if (last == NT_NONE)
        return NT_OK;
    NT_TRY(nt_group_pin(dataset, last, group_ret, error));
    const struct nt_group *group = *group_ret;
    for (uint32_t i = group->first_cluster; i < group->first_cluster + group->clusters; i++) {
        const struct nt_cluster cluster = nt_dataset_cluster(dataset, i);
        if (cluster.entries && cluster.first_entry + cluster.entries == dataset->entries)
            *cluster_ret = i;
    }
    return NT_OK;
}

enum nt_status nt_row_counts_total(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                   enum nt_counted of, uint64_t *total_ret, struct nt_error *error)
{
    struct unit unit;
    struct nt_active_column active = {0};
    struct nt_group *group;
    uint32_t cluster;
    NT_TRY(unit_init(&unit, dataset, field, of, error));
    if (unit.is_per_entry) {
        if (!nt_checked_multiply(dataset->entries, unit.per_entry, total_ret))
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of rows overflows");
        return NT_OK;
    }
    /* Elements that are known without a page list spare loading the last one. */
    if (unit.column_field == NT_NONE || !nt_dataset_has_positions(dataset) ||
        dataset->ops->unverified_elements)
        return total_from_all(reader, dataset, field, of, total_ret, error);
    NT_TRY(pin_last_cluster(dataset, unit.column_field, &cluster, &group, error));
    if (cluster != NT_NONE)
        nt_active_column_find(dataset, unit.column_field, unit.position, cluster, &active);
    nt_group_unpin(group); /* only numbers are needed from here on */
    uint64_t elements;
    if (active.present != 1 || has_page_per_row(dataset, &unit) ||
        !nt_checked_add(active.first_element, active.elements, &elements))
        return total_from_all(reader, dataset, field, of, total_ret, error);
    *total_ret = elements / unit.divisor;
    return NT_OK;
}

/* The error of the page list at fault: the span's, or another one that its position needs. */
static const struct nt_error *cause_of(const struct nt_dataset *dataset, const struct nt_span *span)
{
    if (span->fault == NT_FAULT_GROUP)
        return nt_span_failure(dataset, span->cluster, span->first_entry, span->entries);
    if (span->fault != NT_FAULT_POSITION)
        return NULL;
    const struct nt_error *before = nt_span_failure(dataset, NT_NONE, 0, span->first_entry);
    return before ? before : nt_span_failure(dataset, NT_NONE, 0, dataset->entries); /* its end is unproved */
}

enum nt_status nt_fault_error(const struct nt_dataset *dataset, const struct nt_span *span, uint64_t expected,
                              uint64_t found, struct nt_error *error)
{
    static const char *const texts[] = {
        [NT_FAULT_GROUP] = "the page list cannot be read",
        [NT_FAULT_NOT_COVERED] = "no cluster holds these entries of the field",
        [NT_FAULT_MISSING] = "none of the field's columns is stored in the cluster",
        [NT_FAULT_SEVERAL] = "more than one representation of the field is stored in the cluster",
        [NT_FAULT_POSITION] = "the start of the cluster's rows depends on a part that cannot be read",
    };
    uint64_t last_entry = span->first_entry + span->entries - (span->entries != 0);
    const struct nt_error *cause = cause_of(dataset, span);
    enum nt_status status;
    if (cause) {
        status = cause->status;
        if (error)
            *error = *cause;
        if (span->fault == NT_FAULT_POSITION)
            nt_error_context(error, "%s", texts[span->fault]);
    } else if (span->fault == NT_FAULT_COUNT) {
        status = nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "stored elements of the cluster", expected,
                                found);
    } else {
        status = nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s", texts[span->fault]);
    }
    if (span->cluster == NT_NONE)
        nt_error_context(error, "entries %" PRIu64 " to %" PRIu64, span->first_entry, last_entry);
    else
        nt_error_context(error, "cluster %" PRIu32, span->cluster);
    return status;
}
