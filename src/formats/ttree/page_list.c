/* SPDX-License-Identifier: MIT
 *
 * Clusters of a tree, and page lists: a basket is a page of each column that its branch has.
 */
#include "formats/ttree/ttree.h"

/* ---- Baskets of a branch ---- */

static enum nt_status fail_in_branch(const struct nt_ttree *tree, const struct nt_branch_map *map,
                                     enum nt_status status, struct nt_error *error)
{
    struct nt_text name = tree->branches[map->branch].name;
    return nt_with_context(status, error, "branch %.*s", NT_FORMAT_TEXT(name, 100));
}

static enum nt_status list_baskets(struct nt_dataset *dataset, uint32_t branch, struct nt_error *error)
{
    const struct nt_ttree *tree = nt_ttree_of(dataset);
    struct nt_branch_map *map = &tree->map->branches[branch];
    if (map->baskets)
        return NT_OK;
    const struct nt_ttree_branch *record = &tree->branches[map->branch];
    enum nt_status status = nt_ttree_list_baskets(record, dataset->sources[record->file_source]->size,
                                                  &map->baskets, &map->basket_count, error);
    if (status == NT_OK)
        status = nt_budget_take(&dataset->file->budget, NT_COST_ENVELOPE_BYTE,
                                map->basket_count * sizeof(*map->baskets), NT_NO_OFFSET, error);
    if (status != NT_OK && map->baskets) {
        free(map->baskets);
        map->baskets = NULL;
        map->basket_count = 0;
    }
    return fail_in_branch(tree, map, status, error);
}

/* Lists of all branches at once would take much memory. */
static void drop_baskets(struct nt_dataset *dataset, struct nt_branch_map *map)
{
    nt_budget_release(&dataset->file->budget, NT_COST_ENVELOPE_BYTE,
                      map->basket_count * sizeof(*map->baskets));
    free(map->baskets);
    map->baskets = NULL;
    map->basket_count = 0;
}

NT_DEFINE_COUNT_UP_TO(count_starting_by, struct nt_basket_location, .first_entry)

/* The first basket of a branch that begins at or after an entry. */
static uint32_t first_basket(const struct nt_branch_map *map, uint64_t entry)
{
    return entry == 0 ? 0 : count_starting_by(map->baskets, map->basket_count, entry - 1);
}

/* ---- Clusters ---- */

/* Entries where clusters may begin, ascending, without 0 and the end. */
struct boundaries {
    uint64_t *items;
    size_t count, capacity;
};

static enum nt_status add_boundary(struct boundaries *boundaries, uint64_t entry, struct nt_error *error)
{
    NT_TRY(nt_check_memory(NT_GROW(boundaries->items, boundaries->count, boundaries->capacity), error));
    boundaries->items[boundaries->count++] = entry;
    return NT_OK;
}

/* A boundary divides no basket of a branch: one begins there, or the branch has none around it. */
static bool divides_basket(const struct nt_branch_map *map, uint64_t entry)
{
    uint32_t next = first_basket(map, entry);
    return next > 0 && map->baskets[next - 1].end_entry > entry;
}

static void keep_common(struct boundaries *boundaries, const struct nt_branch_map *map)
{
    size_t kept = 0;
    for (size_t i = 0; i < boundaries->count; i++)
        if (!divides_basket(map, boundaries->items[i]))
            boundaries->items[kept++] = boundaries->items[i];
    boundaries->count = kept;
}

enum { MAX_BOUNDARIES = 1 << 20 };

/* The boundaries that the tree declares: cluster ranges, then the automatic flush after the last range. */
static enum nt_status declared_boundaries(const struct nt_ttree *tree, uint64_t entries,
                                          struct boundaries *boundaries, struct nt_error *error)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i <= tree->range_count && at < entries; i++) {
        bool is_last = i == tree->range_count;
        int64_t step = is_last ? tree->auto_flush : tree->ranges[i].size;
        uint64_t end = is_last || tree->ranges[i].last_entry < 0
                           ? entries
                           : nt_min((uint64_t)tree->ranges[i].last_entry + 1, entries);
        while (step > 0 && end - at > (uint64_t)step && at < end && boundaries->count < MAX_BOUNDARIES) {
            at += (uint64_t)step;
            NT_TRY(add_boundary(boundaries, at, error));
        }
        if (end <= at || is_last)
            continue;
        at = end;
        if (at < entries)
            NT_TRY(add_boundary(boundaries, at, error));
    }
    return NT_OK;
}

/* Without declared clusters: where the baskets of the branch with the fewest begin. */
static enum nt_status basket_boundaries(struct nt_dataset *dataset, const struct nt_ttree *tree,
                                        struct boundaries *boundaries, struct nt_error *error)
{
    uint32_t fewest = NT_NONE;
    for (uint32_t i = 0; i < tree->branch_count; i++)
        if (tree->branches[i].slot_count &&
            (fewest == NT_NONE || tree->branches[i].slot_count < tree->branches[fewest].slot_count))
            fewest = i;
    if (fewest == NT_NONE)
        return NT_OK;
    NT_TRY(list_baskets(dataset, fewest, error));
    const struct nt_branch_map *map = &tree->map->branches[fewest];
    for (uint32_t i = 1; i < map->basket_count; i++)
        if (map->baskets[i].first_entry < dataset->entries)
            NT_TRY(add_boundary(boundaries, map->baskets[i].first_entry, error));
    return NT_OK;
}

/* Each field has a group per cluster, so many clusters are joined: then each has several of the
 * declared ones. */
static void join_clusters(struct boundaries *boundaries, uint32_t fields)
{
    enum { MAX_GROUPS = 1 << 18 };
    size_t most = MAX_GROUPS / (fields ? fields : 1) + 1, step = boundaries->count / most + 1, kept = 0;
    for (size_t i = step - 1; i < boundaries->count; i += step)
        boundaries->items[kept++] = boundaries->items[i];
    boundaries->count = kept;
}

static enum nt_status find_boundaries(struct nt_dataset *dataset, const struct nt_ttree *tree,
                                      struct boundaries *boundaries, struct nt_error *error)
{
    NT_TRY(declared_boundaries(tree, dataset->entries, boundaries, error));
    if (boundaries->count == 0 && tree->auto_flush <= 0)
        NT_TRY(basket_boundaries(dataset, tree, boundaries, error));
    for (uint32_t i = 0; boundaries->count && i < tree->branch_count; i++) {
        if (!tree->branches[i].slot_count)
            continue;
        NT_TRY(list_baskets(dataset, i, error));
        keep_common(boundaries, &tree->map->branches[i]);
        drop_baskets(dataset, &tree->map->branches[i]);
    }
    join_clusters(boundaries, dataset->field_count);
    return NT_OK;
}

static void boundaries_deinit(struct boundaries *boundaries)
{
    free(boundaries->items);
}

enum nt_status nt_ttree_add_clusters(struct nt_dataset *dataset, struct nt_ttree *tree,
                                     struct nt_error *error)
{
    NT_CLEANUP(boundaries_deinit) struct boundaries boundaries = {0};
    uint64_t entries = dataset->entries, start = 0;
    NT_TRY(find_boundaries(dataset, tree, &boundaries, error));
    uint64_t *parts = nt_arena_alloc(dataset->arena, boundaries.count + 1, sizeof(*parts));
    NT_TRY(nt_check_memory(parts, error));
    for (size_t i = 0; i < boundaries.count; i++) {
        parts[i] = boundaries.items[i] - start;
        start = boundaries.items[i];
    }
    parts[boundaries.count] = entries - start;
    tree->map->part_count = entries ? (uint32_t)boundaries.count + 1 : 0;
    return nt_dataset_add_field_groups(dataset, parts, tree->map->part_count, error);
}

/* ---- Counting the elements of baskets ---- */

/* The baskets of one branch in one part. */
struct span {
    struct nt_dataset *dataset; /* the logical one */
    const struct nt_ttree *tree;
    struct nt_branch_map *map;
    uint32_t part;
    uint64_t first, end; /* entries */
    const struct nt_basket_location *baskets;
    uint32_t basket_count;
    bool is_raw; /* only headers are needed: the baskets are shown as they are */
};

static enum nt_status find_span(struct nt_dataset *dataset, uint32_t branch, uint32_t part, struct span *span,
                                struct nt_error *error)
{
    const struct nt_ttree *tree = nt_ttree_of(dataset);
    struct nt_branch_map *map = &tree->map->branches[branch];
    NT_TRY(list_baskets(dataset, branch, error));
    *span = (struct span){.dataset = dataset,
                          .tree = tree,
                          .map = map,
                          .part = part,
                          .first = dataset->part_boundaries[part],
                          .end = dataset->part_boundaries[part + 1]};
    uint32_t first = first_basket(map, span->first), end = first_basket(map, span->end);
    span->baskets = map->baskets + first;
    span->basket_count = end - first;
    return NT_OK;
}

/* The entries of a basket that the tree has. */
static uint64_t entries_of(const struct span *span, const struct nt_basket_location *basket)
{
    return nt_min(basket->end_entry, span->end) - basket->first_entry;
}

/* Index into the sources of the dataset. */
static uint32_t source_of(const struct span *span, const struct nt_basket_location *basket)
{
    const struct nt_ttree_branch *branch = &span->tree->branches[span->map->branch];
    return basket->is_embedded ? branch->object_source : branch->file_source;
}

/* Reads the start of a basket's record, or all of it, into `record`. */
static enum nt_status read_record(const struct span *span, const struct nt_basket_location *basket,
                                  bool is_header, struct nt_buffer *record, struct nt_error *error)
{
    uint64_t bytes = is_header ? nt_min(basket->bytes, NT_BASKET_HEADER_BYTES) : basket->bytes;
    uint64_t limit = nt_file_page_limit(span->dataset->file, basket->bytes);
    nt_buffer_clear(record);
    if (bytes > limit)
        return nt_fail(error, NT_LIMIT, basket->offset,
                       "the basket has %" PRIu64 " bytes, more than the limit pagesize of %" PRIu64, bytes,
                       limit);
    return nt_source_append(span->dataset->sources[source_of(span, basket)], basket->offset, bytes, record,
                            error);
}

/* Names the basket and its place: that of the tree's record if it is in there. The first basket shows what is
 * unsupported in a branch, so another one that differs is damaged: its branch has readable data. */
static enum nt_status fail_in_basket(const struct span *span, const struct nt_basket_location *basket,
                                     enum nt_status status, struct nt_error *error)
{
    if (status == NT_UNSUPPORTED && basket != span->map->baskets)
        status = NT_CORRUPT;
    if (status == NT_OK || !error)
        return status;
    error->status = status;
    nt_error_context(error, "basket %" PRIu32, basket->slot);
    if (error->offset == NT_NO_OFFSET && !nt_is_transient(status))
        error->offset = basket->is_embedded ? span->tree->branches[span->map->branch].record->record_offset
                                            : basket->offset;
    return status;
}

/* The baskets of the branch that has the lengths of arrays. */
struct lengths {
    struct span span;
    uint32_t output;
    const struct nt_output_count *counts; /* of its baskets; NULL: follow from the entries */
    uint32_t first, end;                  /* those of its baskets that have the lengths of one basket */
    uint64_t before, used; /* numbers in baskets before `first`; lengths of all baskets so far */
};

struct item_counter {
    const struct span *span;
    const struct nt_interpretation *interpretation;
    struct nt_codec_context *context;
    struct nt_buffer record;
    struct lengths lengths;
    struct nt_value numbers[NT_DECODER_DEPENDENCIES]; /* of its baskets from `decoded` on */
    uint32_t decoded, decoded_end;
    struct nt_error *error;
};

static enum nt_status count_basket(struct item_counter *counter, const struct nt_basket_location *basket,
                                   struct nt_output_count *counts)
{
    const struct span *span = counter->span;
    const struct nt_interpretation *interpretation = counter->interpretation;
    uint64_t entries = entries_of(span, basket);
    bool is_whole = entries == basket->end_entry - basket->first_entry;
    bool is_header = interpretation->count_by == NT_COUNT_BY_BYTES && is_whole;
    uint64_t limit = nt_file_page_limit(span->dataset->file, basket->bytes);
    const struct nt_basket_lengths lengths = {.values = counter->numbers,
                                              .count = counter->lengths.end - counter->lengths.first,
                                              .first = counter->lengths.used - counter->lengths.before};
    enum nt_status status;
    if (entries > INT32_MAX)
        return nt_fail(counter->error, NT_CORRUPT, basket->offset,
                       "basket %" PRIu32 " has %" PRIu64 " entries, more than 2^31", basket->slot, entries);
    for (;;) {
        status = read_record(span, basket, is_header, &counter->record, counter->error);
        if (status != NT_OK)
            break;
        status =
            nt_basket_count(interpretation, (const uint8_t *)counter->record.bytes, counter->record.length,
                            (uint32_t)entries, &lengths, limit, counter->context, counts, counter->error);
        if (status != NT_TRUNCATED || !is_header || basket->bytes <= NT_BASKET_HEADER_BYTES)
            break;
        is_header = false; /* a key with long names */
    }
    return fail_in_basket(span, basket, status, counter->error);
}

static struct nt_source *file_of(const struct span *span)
{
    return span->dataset->sources[span->tree->branches[span->map->branch].file_source];
}

/* How many bytes of a basket to request, if up to `left` bytes may turn out to be unnecessary. If values are
 * read right after their sizes, a server would send many short ranges slowly. A mount lists sizes of which no
 * values may be read, so it requests no large basket. */
static uint64_t prefetched_bytes(const struct span *span, const struct nt_basket_location *basket,
                                 uint64_t left, bool is_read_next)
{
    enum { SMALL = 1 << 16, VERY_SMALL = 1 << 12 };
    bool needs_header = span->is_raw || span->map->interpretation.count_by == NT_COUNT_BY_BYTES;
    bool is_whole = basket->bytes <= (is_read_next ? SMALL : VERY_SMALL) ||
                    (basket->bytes <= left && (is_read_next || basket->bytes <= SMALL));
    return needs_header && !is_whole ? NT_BASKET_HEADER_BYTES : basket->bytes;
}

enum { MAX_BASKETS = 128, MAX_BYTES = 8 << 20 };

static void add_basket(const struct span *span, const struct nt_basket_location *basket, uint64_t bytes,
                       struct nt_prefetch *prefetch)
{
    uint32_t number = span->tree->branches[span->map->branch].file_source;
    if (!basket->is_embedded)
        nt_prefetch_add_range(prefetch, span->dataset->sources[number], number,
                              (struct nt_extent){basket->offset, bytes});
}

/* Plans to request the baskets of a part, and of the next ones while that is little: if the size of a column
 * is needed, so are they. `spare` bytes may be requested in vain. Returns the end of their entries. */
static uint64_t plan(const struct span *span, uint64_t spare, struct nt_prefetch *prefetch)
{
    const struct nt_branch_map *map = span->map;
    uint32_t count = 0, most = span->basket_count > MAX_BASKETS ? span->basket_count : MAX_BASKETS;
    uint32_t first = (uint32_t)(span->baskets - map->baskets), end = first + span->basket_count;
    uint64_t bytes = 0, end_entry = 0;
    bool is_read_next = nt_source_spare_bytes(file_of(span), false) > 0;
    for (uint32_t i = first; i < map->basket_count && count < most; i++) {
        const struct nt_basket_location *basket = &map->baskets[i];
        uint64_t some = prefetched_bytes(span, basket, bytes < spare ? spare - bytes : 0, is_read_next);
        bytes += some;
        if (i >= end && bytes > MAX_BYTES)
            break;
        add_basket(span, basket, some, prefetch);
        count += !basket->is_embedded;
        end_entry = basket->end_entry;
    }
    return end_entry;
}

static bool is_counted(const struct nt_branch_map *map, const struct nt_ttree_column *column)
{
    return column->output != NT_OUTPUT_RAW && map->interpretation.count_by != NT_COUNT_BY_ENTRIES;
}

static void add_announced(struct nt_dataset *dataset, uint32_t field)
{
    struct nt_ttree_map *map = nt_ttree_of(dataset)->map;
    uint32_t count;
    const uint32_t *columns = nt_field_columns(dataset, field, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct nt_ttree_column *column = &map->columns[columns[i]];
        struct nt_branch_map *branch = &map->branches[column->branch];
        if (branch->announced || !is_counted(branch, column))
            continue;
        map->announced[map->announced_count++] = column->branch;
        branch->announced = map->announced_count;
    }
    const uint32_t *children = nt_dataset_children(dataset, field, &count);
    for (uint32_t i = 0; i < count; i++)
        add_announced(dataset, children[i]);
}

void nt_ttree_announce_fields(struct nt_dataset *dataset, const uint32_t *fields, size_t count)
{
    struct nt_ttree_map *map = nt_ttree_of(dataset)->map;
    if (!map->announced)
        map->announced = calloc((size_t)map->branch_count + 1, sizeof(*map->announced));
    while (map->announced && map->announced_count)
        map->branches[map->announced[--map->announced_count]].announced = 0;
    map->plans_again = 0;
    for (size_t i = 0; map->announced && i < count; i++)
        if (fields[i] < dataset->field_count)
            add_announced(dataset, fields[i]);
}

/* Plans the same for the branches that will be counted next. Opening those after the first few bytes plans
 * again what the source had no room for. */
static void plan_next(const struct span *span, uint64_t spare, struct nt_prefetch *prefetch)
{
    enum { MAX_PLANNED = 4096 };
    struct nt_ttree_map *map = span->tree->map;
    uint64_t first_bytes = nt_min(spare, MAX_BYTES) / 2;
    if (span->map->announced < map->plans_again)
        return;
    map->plans_again = span->map->announced;
    for (uint32_t i = span->map->announced; i < map->announced_count && prefetch->count < MAX_PLANNED; i++) {
        struct span next;
        struct nt_error error;
        if (!map->branches[map->announced[i]].parts &&
            find_span(span->dataset, map->announced[i], 0, &next, &error) == NT_OK)
            plan(&next, 0, prefetch);
        if (prefetch->bytes < first_bytes)
            map->plans_again = i + 1;
    }
}

/* How many bytes of a branch to request that may turn out to be unnecessary. Of several branches, only
 * headers are requested after those of the first one: a reader needs values of all of them then, in the order
 * of entries. A mount does not know whether only a size is needed, unless those of others are, too. */
static uint64_t spare_bytes(const struct span *span)
{
    enum { UNKNOWN_USE = 256 << 10 };
    const struct nt_branch_map *map = span->map;
    if (map->announced > 1 || span->is_raw)
        return 0;
    uint64_t spare = nt_source_spare_bytes(file_of(span), false);
    if (spare || map->announced || map->prefetched_end[true])
        return spare;
    return nt_min(nt_source_spare_bytes(file_of(span), true), UNKNOWN_USE);
}

static void prefetch(const struct span *span)
{
    struct nt_branch_map *map = span->map;
    struct nt_source *source = file_of(span);
    struct nt_prefetch own = {.need = NT_PREFETCH_ONLY}, next = {.need = NT_PREFETCH_ONLY};
    uint64_t spare = spare_bytes(span);
    uint64_t *prefetched_end = &map->prefetched_end[span->is_raw];
    if (!nt_source_can_prefetch(source) || !span->basket_count ||
        span->baskets->first_entry < *prefetched_end)
        return;
    *prefetched_end = plan(span, nt_min(spare, MAX_BYTES), &own);
    nt_prefetch_submit(&own);
    if (map->announced && !span->is_raw)
        plan_next(span, nt_source_spare_bytes(source, false), &next);
    nt_prefetch_submit(&next);
}

/* ---- Lengths of arrays, from another branch ---- */

static enum nt_status load_counts(const struct span *span, const struct nt_output_count **counts_ret,
                                  struct nt_error *error);

/* The baskets of both branches must have all entries, as numbers are found by their place among all. */
static bool has_gaps(const struct span *span)
{
    uint64_t at = span->first;
    for (uint32_t i = 0; i < span->basket_count; at = span->baskets[i++].end_entry)
        if (span->baskets[i].first_entry != at)
            return true;
    return false;
}

/* Finds the baskets that have the lengths of a branch's arrays. */
static enum nt_status open_lengths(struct lengths *lengths, const struct span *span, struct nt_error *error)
{
    NT_TRY(
        find_span(span->dataset, span->map->interpretation.lengths - 1, span->part, &lengths->span, error));
    const struct nt_interpretation *interpretation = &lengths->span.map->interpretation;
    lengths->output = nt_basket_lengths_output(interpretation);
    if (has_gaps(span) || has_gaps(&lengths->span))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "entries are missing, so that the lengths of arrays cannot be found");
    return interpretation->count_by == NT_COUNT_BY_ENTRIES
               ? NT_OK
               : load_counts(&lengths->span, &lengths->counts, error);
}

static uint64_t count_numbers(const struct lengths *lengths, uint32_t basket)
{
    const struct nt_interpretation *interpretation = &lengths->span.map->interpretation;
    return lengths->counts
               ? lengths->counts[(size_t)basket * interpretation->output_count + lengths->output].elements
               : entries_of(&lengths->span, &lengths->span.baskets[basket]);
}

/* Finds those for the next basket. */
static enum nt_status find_lengths(struct lengths *lengths, const struct nt_basket_location *basket,
                                   struct nt_error *error)
{
    const struct span *span = &lengths->span;
    uint64_t limit = nt_file_page_limit(span->dataset->file, basket->bytes), numbers = 0;
    while (lengths->first < span->basket_count &&
           span->baskets[lengths->first].end_entry <= basket->first_entry)
        lengths->before += count_numbers(lengths, lengths->first++);
    lengths->end = lengths->first;
    while (lengths->end < span->basket_count && span->baskets[lengths->end].first_entry < basket->end_entry)
        numbers += count_numbers(lengths, lengths->end++);
    if (lengths->end - lengths->first > NT_DECODER_DEPENDENCIES || numbers > limit / sizeof(uint32_t))
        return nt_fail(error, NT_LIMIT, basket->offset,
                       "the lengths of its arrays are %" PRIu64 " numbers in %" PRIu32
                       " baskets of another branch, more than the limit of %" PRIu64 " in %d",
                       numbers, lengths->end - lengths->first, limit / sizeof(uint32_t),
                       NT_DECODER_DEPENDENCIES);
    return lengths->used >= lengths->before
               ? NT_OK
               : nt_fail(error, NT_CORRUPT, basket->offset,
                         "earlier baskets have fewer arrays than another branch has lengths of them");
}

/* After a basket: each item has one length, or each entry. */
static void use_lengths(struct lengths *lengths, const struct nt_interpretation *interpretation,
                        const struct nt_output_count *counts, uint64_t entries)
{
    const struct nt_ttree_shape *shape = &interpretation->shapes[0];
    lengths->used += shape->kind == NT_SHAPE_LIST ? counts[shape->output].items : entries;
}

static enum nt_status decode_numbers(struct item_counter *counter, uint32_t number)
{
    const struct lengths *lengths = &counter->lengths;
    const struct span *span = &lengths->span;
    const struct nt_basket_location *basket = &span->baskets[number];
    struct nt_value *value = &counter->numbers[number - counter->decoded];
    const struct nt_interpretation *interpretation = &span->map->interpretation;
    void *elements = NULL;
    *value = (struct nt_value){.elements = count_numbers(lengths, number),
                               .element = interpretation->outputs[lengths->output].element,
                               .element_bytes = sizeof(uint32_t)};
    enum nt_status status = read_record(span, basket, false, &counter->record, counter->error);
    if (status == NT_OK)
        status = nt_basket_decode(interpretation, lengths->output, (const uint8_t *)counter->record.bytes,
                                  counter->record.length, value->elements,
                                  nt_file_page_limit(span->dataset->file, basket->bytes), counter->context,
                                  &elements, counter->error);
    value->data = elements;
    counter->decoded_end++;
    return fail_in_basket(span, basket, status, counter->error);
}

/* Decodes the lengths for a basket, and drops those before them. */
static enum nt_status load_lengths(struct item_counter *counter, const struct nt_basket_location *basket)
{
    struct lengths *lengths = &counter->lengths;
    NT_TRY(find_lengths(lengths, basket, counter->error));
    for (; counter->decoded < lengths->first && counter->decoded < counter->decoded_end; counter->decoded++) {
        free((void *)counter->numbers[0].data);
        memmove(counter->numbers, counter->numbers + 1, sizeof(counter->numbers) - sizeof(*counter->numbers));
    }
    if (counter->decoded_end < lengths->first)
        counter->decoded = counter->decoded_end = lengths->first;
    while (counter->decoded_end < lengths->end)
        NT_TRY(decode_numbers(counter, counter->decoded_end));
    return NT_OK;
}

static void drop_numbers(struct item_counter *counter)
{
    for (uint32_t i = counter->decoded; i < counter->decoded_end; i++)
        free((void *)counter->numbers[i - counter->decoded].data);
}

/* ---- Counting all baskets ---- */

static enum nt_status count_baskets(struct item_counter *counter, struct nt_output_count *counts)
{
    const struct span *span = counter->span;
    const struct nt_interpretation *interpretation = counter->interpretation;
    if (interpretation->lengths)
        NT_TRY(open_lengths(&counter->lengths, span, counter->error));
    for (uint32_t i = 0; i < span->basket_count; i++, counts += interpretation->output_count) {
        const struct nt_basket_location *basket = &span->baskets[i];
        if (interpretation->lengths)
            NT_TRY(load_lengths(counter, basket));
        NT_TRY(count_basket(counter, basket, counts));
        if (interpretation->lengths)
            use_lengths(&counter->lengths, interpretation, counts, entries_of(span, basket));
    }
    return NT_OK;
}

static enum nt_status count_all(struct item_counter *counter, struct nt_output_count *counts)
{
    const struct span *span = counter->span;
    /* Also counts the content of a basket that has more entries than the tree. */
    if (counter->interpretation->count_by != NT_COUNT_BY_ENTRIES) {
        counter->context = nt_codec_context_new();
        NT_TRY(nt_check_memory(counter->context, counter->error));
    }
    prefetch(span);
    enum nt_status status = count_baskets(counter, counts);
    drop_numbers(counter);
    return fail_in_branch(span->tree, span->map, status, counter->error);
}

/* Counts the outputs of a branch's baskets in a part, once: several columns need them. */
static enum nt_status load_counts(const struct span *span, const struct nt_output_count **counts_ret,
                                  struct nt_error *error)
{
    struct nt_branch_map *map = span->map;
    struct nt_budget *budget = &span->dataset->file->budget;
    size_t count = (size_t)span->basket_count * map->interpretation.output_count;
    if (!map->parts)
        map->parts = calloc(span->dataset->part_count, sizeof(*map->parts));
    NT_TRY(nt_check_memory(map->parts, error));
    *counts_ret = map->parts[span->part];
    if (*counts_ret)
        return NT_OK;
    NT_TRY(nt_budget_take(budget, NT_COST_ENVELOPE_BYTE, count * sizeof(struct nt_output_count), NT_NO_OFFSET,
                          error));
    struct nt_output_count *counts = calloc(count + 1, sizeof(*counts));
    struct item_counter counter = {.span = span, .interpretation = &map->interpretation, .error = error};
    enum nt_status status = counts ? count_all(&counter, counts) : nt_fail_memory(error);
    nt_codec_context_free(counter.context);
    nt_buffer_deinit(&counter.record);
    if (status == NT_OK) {
        *counts_ret = map->parts[span->part] = counts;
        return NT_OK;
    }
    free(counts);
    nt_budget_release(budget, NT_COST_ENVELOPE_BYTE, count * sizeof(struct nt_output_count));
    return status;
}

/* ---- Baskets as they are ---- */

static void plan_column(struct nt_dataset *physical, uint32_t column, uint32_t part,
                        struct nt_prefetch *prefetch)
{
    const struct nt_ttree_column *source = nt_ttree_column_source(physical, column);
    struct span span;
    if (source->output != NT_OUTPUT_RAW ||
        find_span(physical->logical, source->branch, part, &span, NULL) != NT_OK)
        return;
    span.is_raw = true;
    if (!prefetch->count)
        prefetch->need = NT_PREFETCH_ONLY;
    bool is_read_next = nt_source_spare_bytes(file_of(&span), false) > 0;
    for (uint32_t i = 0; i < span.basket_count; i++)
        add_basket(&span, &span.baskets[i], prefetched_bytes(&span, &span.baskets[i], 0, is_read_next),
                   prefetch);
}

bool nt_ttree_plan_groups(struct nt_dataset *physical, struct nt_groups groups, bool with_pages,
                          struct nt_prefetch *prefetch)
{
    for (uint32_t i = groups.first; i < groups.end && !with_pages; i++) {
        uint32_t count, part, field = nt_group_field(physical, i, &part);
        const uint32_t *columns = nt_field_columns(physical, field, &count);
        for (uint32_t k = 0; k < count && !nt_group_is_loaded(physical, i); k++)
            plan_column(physical, columns[k], part, prefetch);
    }
    return !with_pages;
}

/* ---- Pages of a column ---- */

struct basket_lister {
    struct nt_group_builder builder;
    const struct nt_ttree_column *column;
    uint32_t decoder;
    struct span span;
    const struct nt_output_count *counts; /* NULL: follows from the entries */
    struct nt_buffer record;
    uint64_t base; /* items before the next page, of end offsets */
    struct lengths lengths;
    uint32_t lengths_decoder;
    struct nt_error *error;
};

static const struct nt_output *output_of(const struct basket_lister *listing)
{
    static const struct nt_output raw = {.element = NT_ELEMENT_BYTE};
    const struct nt_ttree_column *column = listing->column;
    return column->output == NT_OUTPUT_RAW ? &raw
                                           : &listing->span.map->interpretation.outputs[column->output];
}

/* Entries without a basket: reading them fails, and the parameter is the first. */
static enum nt_status add_gap(struct basket_lister *listing, uint64_t first, uint64_t entries)
{
    const struct nt_output *output = output_of(listing);
    uint64_t elements, most = UINT32_MAX;
    if (!nt_checked_multiply(entries, output->fixed_items, &elements))
        return nt_fail(listing->error, NT_LIMIT, NT_NO_OFFSET, "the number of elements overflows");
    for (uint64_t count; elements; elements -= count) {
        count = elements < most ? elements : most;
        const struct nt_page page = {.elements = (uint32_t)count,
                                     .parameter = first,
                                     .decoder = listing->decoder,
                                     .compression = NT_COMPRESSION_ELSEWHERE,
                                     .is_missing = true};
        NT_TRY(nt_group_builder_add(&listing->builder, &page, listing->error));
    }
    return NT_OK;
}

static enum nt_status parse_header(struct basket_lister *listing, const struct nt_basket_location *basket,
                                   struct nt_basket *parsed)
{
    for (bool is_header = true;; is_header = false) { /* a key with long names is read whole */
        enum nt_status status =
            read_record(&listing->span, basket, is_header, &listing->record, listing->error);
        if (status == NT_OK)
            status = nt_basket_parse((const uint8_t *)listing->record.bytes, listing->record.length, parsed,
                                     listing->error);
        if (status != NT_TRUNCATED || !is_header || basket->bytes <= NT_BASKET_HEADER_BYTES)
            return status;
    }
}

/* The elements of an output in a basket, and the items of its lists. */
static enum nt_status count_page(struct basket_lister *listing, uint32_t number,
                                 struct nt_output_count *count_ret)
{
    const struct nt_basket_location *basket = &listing->span.baskets[number];
    const struct nt_ttree_column *column = listing->column;
    struct nt_basket parsed;
    if (listing->counts) {
        *count_ret =
            listing->counts[(size_t)number * listing->span.map->interpretation.output_count + column->output];
        return NT_OK;
    }
    *count_ret = (struct nt_output_count){.elements = 0};
    if (column->output != NT_OUTPUT_RAW) {
        if (nt_checked_multiply(entries_of(&listing->span, basket), output_of(listing)->fixed_items,
                                &count_ret->elements))
            return NT_OK;
        return nt_fail(listing->error, NT_LIMIT, basket->offset, "the number of elements overflows");
    }
    enum nt_status status = parse_header(listing, basket, &parsed);
    if (status == NT_OK)
        count_ret->elements = parsed.is_embedded ? parsed.value_bytes : parsed.object_bytes;
    return fail_in_basket(&listing->span, basket, status, listing->error);
}

static struct nt_page page_of(const struct span *span, const struct nt_basket_location *basket,
                              uint64_t elements, uint32_t decoder)
{
    return (struct nt_page){
        .offset = basket->offset,
        .stored_bytes = basket->bytes,
        .parameter = (uint64_t)(basket - span->map->baskets),
        .elements = (uint32_t)elements,
        .decoder = decoder,
        .source = source_of(span, basket),
        .checksum = NT_CHECKSUM_NONE,
        .compression = basket->is_embedded ? NT_COMPRESSION_NONE : NT_COMPRESSION_ROOT_BASKET,
    };
}

static enum nt_status add_decoder(struct basket_lister *listing,
                                  const struct nt_interpretation *interpretation, uint32_t output,
                                  const struct nt_page *pages, uint32_t page_count, uint32_t *number_ret)
{
    struct nt_dataset *dataset = listing->builder.dataset;
    struct nt_decoder decoder;
    NT_AUTO_FREE void *state = NULL;
    NT_TRY(nt_basket_decoder(interpretation, output, &decoder, &state, listing->error));
    decoder.dependencies = pages;
    decoder.dependency_count = page_count;
    if (page_count)
        nt_basket_set_lengths(state, listing->lengths.used - listing->lengths.before);
    return nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &decoder, number_ret,
                           listing->error);
}

/* A page whose arrays have their lengths on other pages has a decoder of its own. */
static enum nt_status find_decoder(struct basket_lister *listing, uint32_t number, uint32_t *decoder_ret)
{
    const struct nt_interpretation *interpretation = &listing->span.map->interpretation;
    const struct nt_basket_location *basket = &listing->span.baskets[number];
    struct lengths *lengths = &listing->lengths;
    struct nt_page pages[NT_DECODER_DEPENDENCIES];
    uint32_t count = 0;
    *decoder_ret = listing->decoder;
    if (!listing->counts || !interpretation->lengths)
        return NT_OK;
    NT_TRY(find_lengths(lengths, basket, listing->error));
    for (uint32_t i = lengths->first; i < lengths->end; i++)
        if (count_numbers(lengths, i))
            pages[count++] = page_of(&lengths->span, &lengths->span.baskets[i], count_numbers(lengths, i),
                                     listing->lengths_decoder);
    NT_TRY(add_decoder(listing, interpretation, listing->column->output, pages, count, decoder_ret));
    use_lengths(lengths, interpretation, listing->counts + (size_t)number * interpretation->output_count,
                entries_of(&listing->span, basket));
    return NT_OK;
}

static enum nt_status add_page(struct basket_lister *listing, uint32_t number)
{
    const struct nt_basket_location *basket = &listing->span.baskets[number];
    struct nt_output_count count;
    uint32_t decoder;
    NT_TRY(count_page(listing, number, &count));
    NT_TRY(find_decoder(listing, number, &decoder));
    if (count.elements == 0)
        return NT_OK;
    if (count.elements > UINT32_MAX)
        return nt_fail(listing->error, NT_LIMIT, basket->offset,
                       "basket %" PRIu32 " has %" PRIu64 " elements, more than the limit of 2^32",
                       basket->slot, count.elements);
    struct nt_page page = page_of(&listing->span, basket, count.elements, decoder);
    if (output_of(listing)->is_offsets)
        page.parameter = listing->base;
    listing->base += count.items;
    return nt_group_builder_add(&listing->builder, &page, listing->error);
}

static enum nt_status add_pages(struct basket_lister *listing)
{
    const struct span *span = &listing->span;
    uint64_t at = span->first;
    for (uint32_t i = 0; i < span->basket_count; i++) {
        if (span->baskets[i].first_entry > at)
            NT_TRY(add_gap(listing, at, span->baskets[i].first_entry - at));
        at = span->baskets[i].end_entry;
        NT_TRY(add_page(listing, i));
    }
    return at < span->end ? add_gap(listing, at, span->end - at) : NT_OK;
}

static enum nt_status begin_lengths(struct basket_lister *listing)
{
    listing->lengths = (struct lengths){.output = NT_NONE};
    NT_TRY(open_lengths(&listing->lengths, &listing->span, listing->error));
    return add_decoder(listing, &listing->lengths.span.map->interpretation, listing->lengths.output, NULL, 0,
                       &listing->lengths_decoder);
}

static enum nt_status list_column(struct basket_lister *listing, uint32_t cluster, uint32_t part,
                                  uint32_t column)
{
    struct nt_dataset *physical = listing->builder.dataset, *logical = physical->logical;
    listing->column = nt_ttree_column_source(physical, column);
    listing->decoder = physical->columns[column].decoder;
    listing->counts = NULL;
    listing->base = 0;
    NT_TRY(find_span(logical, listing->column->branch, part, &listing->span, listing->error));
    listing->span.is_raw = listing->column->output == NT_OUTPUT_RAW;
    if (listing->span.is_raw)
        prefetch(&listing->span);
    else if (is_counted(listing->span.map, listing->column))
        NT_TRY(load_counts(&listing->span, &listing->counts, listing->error));
    if (listing->counts && listing->span.map->interpretation.lengths)
        NT_TRY(begin_lengths(listing));
    NT_TRY(nt_group_builder_start(&listing->builder, cluster, column, listing->error));
    return fail_in_branch(listing->span.tree, listing->span.map, add_pages(listing), listing->error);
}

enum nt_status nt_ttree_load_group(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    uint32_t count, part, field = nt_group_field(dataset, number, &part);
    const uint32_t *columns = nt_field_columns(dataset, field, &count);
    struct basket_lister listing = {.error = error};
    enum nt_status status =
        nt_group_builder_init(&listing.builder, dataset, number, "baskets", NT_NO_OFFSET, error);
    for (uint32_t i = 0; status == NT_OK && i < count; i++)
        status = list_column(&listing, number, part, columns[i]);
    nt_buffer_deinit(&listing.record);
    return nt_group_builder_finish(&listing.builder, status);
}

void nt_ttree_free_page_lists(struct nt_ttree *tree)
{
    for (uint32_t i = 0; tree->map && i < tree->map->branch_count; i++) {
        struct nt_branch_map *map = &tree->map->branches[i];
        for (uint32_t part = 0; map->parts && part < tree->map->part_count; part++)
            free(map->parts[part]);
        free(map->parts);
        free(map->baskets);
    }
    if (tree->map)
        free(tree->map->announced);
}
