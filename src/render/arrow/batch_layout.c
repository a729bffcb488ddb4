/* SPDX-License-Identifier: MIT
 *
 * Divides a table into record batches: takes the clusters of the requested entries, cuts them at the
 * ends of the range, and splits them if 32-bit offsets cannot count the items. Computes sizes and offsets
 * of the buffers of a batch from page lists, without decoding. Counts nulls of dense optionals
 * immediately, and those of nullable fields when the metadata is read.
 */
#include "render/arrow/arrow.h"

/* ---- Cut clusters ---- */

enum { BLOCK_ROWS = 16384 };

static const uint64_t unknown = UINT64_MAX;

NT_DEFINE_LAST_AT_MOST(find_cluster, uint64_t, )

/* ---- Row positions of an entry ---- */

static enum nt_status read_offset(const struct nt_arrow *arrow, uint32_t field, uint64_t row,
                                  uint64_t *offset_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_stream_close_at) struct nt_stream *stream = NULL;
    NT_TRY(nt_stream_open(arrow->reader, arrow->dataset, field, NT_STREAM_OFFSETS, &stream, error));
    return nt_stream_read(stream, row * sizeof(*offset_ret), offset_ret, sizeof(*offset_ret), error);
}

/* Adds to *count the rows in [first, end) of a variant that have the given tag. */
static enum nt_status count_tags(const struct nt_arrow *arrow, uint32_t variant, uint32_t tag, uint64_t first,
                                 uint64_t end, uint64_t *count, struct nt_error *error)
{
    NT_CLEANUP(nt_stream_close_at) struct nt_stream *stream = NULL;
    NT_AUTO_FREE uint32_t *tags = malloc(BLOCK_ROWS * sizeof(*tags));
    NT_TRY(nt_check_memory(tags, error));
    NT_TRY(nt_stream_open(arrow->reader, arrow->dataset, variant, NT_STREAM_TAGS, &stream, error));
    for (uint64_t rows; first < end; first += rows) {
        rows = nt_min(end - first, BLOCK_ROWS);
        NT_TRY(nt_stream_read(stream, first * sizeof(*tags), tags, rows * sizeof(*tags), error));
        for (uint64_t i = 0; i < rows; i++)
            *count += tags[i] == tag;
    }
    return NT_OK;
}

/* Counts the rows of an alternative before a row of its variant: those of all previous clusters, and
 * the matching tags in the current one. */
static enum nt_status find_alternative(const struct nt_arrow *arrow, uint32_t variant, uint32_t field,
                                       uint64_t row, uint64_t *row_ret, struct nt_error *error)
{
    NT_AUTO_FREE uint64_t *rows = NULL;
    NT_AUTO_FREE uint64_t *alternatives = NULL;
    uint32_t clusters, same, count, tag = 0;
    const uint32_t *children = nt_dataset_children(arrow->dataset, variant, &count);
    while (children[tag++] != field)
        ;
    NT_TRY(nt_field_row_boundaries(arrow->reader, arrow->dataset, variant, &rows, &clusters, error));
    NT_TRY(nt_field_row_boundaries(arrow->reader, arrow->dataset, field, &alternatives, &same, error));
    if (clusters != same)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "clusters that hold a field", clusters, same);
    uint32_t cluster = find_cluster(rows, clusters + 1, row);
    *row_ret = alternatives[cluster];
    return count_tags(arrow, variant, tag, rows[cluster], row, row_ret, error);
}

/* Maps a row of a field to the first row of its child at or after it. */
static enum nt_status pass_field(const struct nt_arrow *arrow, uint32_t field, uint32_t child, uint64_t row,
                                 uint64_t *row_ret, struct nt_error *error)
{
    const struct nt_field *f = &arrow->dataset->fields[field];
    if (f->kind == NT_FIELD_VARIANT)
        return find_alternative(arrow, field, child, row, row_ret, error);
    if (!nt_field_is_row_aligned(f))
        return read_offset(arrow, field, row, row_ret, error);
    return nt_checked_multiply(row, nt_field_rows_below(f), row_ret)
               ? NT_OK
               : nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the number of rows overflows");
}

/* Finds the first row of a field at a cut. Recursive: the depth is at most NT_MAX_DEPTH. */
static enum nt_status find_row(const struct nt_arrow *arrow, uint32_t field, const struct nt_arrow_cut *cut,
                               uint64_t *row_ret, struct nt_error *error)
{
    uint32_t parent = arrow->dataset->fields[field].parent;
    uint64_t *known = &cut->rows[field], row;
    enum nt_status status = NT_OK;
    if (*known == unknown && parent == NT_NONE) {
        *known = cut->entry;
    } else if (*known == unknown) {
        status = find_row(arrow, parent, cut, &row, error);
        if (status == NT_OK)
            status = pass_field(arrow, parent, field, row, known, error);
    }
    *row_ret = *known;
    return status;
}

/* Returns the number of items of a collection, or bytes of a string, before a cut. */
static enum nt_status arrow_items_before(const struct nt_arrow *arrow, uint32_t field,
                                         const struct nt_arrow_cut *cut, uint64_t *items_ret,
                                         struct nt_error *error)
{
    uint64_t row;
    struct nt_arrow_texts *texts = nt_arrow_texts_of(arrow, field);
    NT_TRY(find_row(arrow, field, cut, &row, error));
    return texts ? nt_arrow_texts_before(arrow, texts, row, 1, items_ret, error)
                 : read_offset(arrow, field, row, items_ret, error);
}

/* ---- Cuts ---- */

/* Creates a cut inside a cluster. The caller deinits it, also after a failure. */
static enum nt_status arrow_cut_init(const struct nt_arrow *arrow, uint64_t entry, uint32_t stored,
                                     struct nt_arrow_cut *cut, struct nt_error *error)
{
    size_t bytes = (arrow->dataset->field_count + (size_t)1) * sizeof(*cut->rows);
    *cut = (struct nt_arrow_cut){.entry = entry, .stored = stored, .rows = malloc(bytes)};
    NT_TRY(nt_check_memory(cut->rows, error));
    memset(cut->rows, 0xFF, bytes);
    return NT_OK;
}

static void arrow_cut_deinit(struct nt_arrow_cut *cut)
{
    free(cut->rows);
    cut->rows = NULL;
}

void nt_arrow_free_cuts(struct nt_arrow *arrow)
{
    for (uint32_t i = 0; arrow->cuts && i <= arrow->cluster_count; i++)
        arrow_cut_deinit(&arrow->cuts[i]);
    free(arrow->cuts);
    arrow->cuts = NULL;
}

/* `least` is the previous boundary. */
static enum nt_status cut_boundary(const struct nt_arrow *arrow, uint32_t field, bool are_bytes,
                                   const uint64_t *boundaries, const struct nt_arrow_cut *cut, uint64_t least,
                                   uint64_t *boundary_ret, struct nt_error *error)
{
    uint64_t at = boundaries[cut->stored];
    if (cut->rows)
        NT_TRY(are_bytes ? arrow_items_before(arrow, field, cut, &at, error)
                         : find_row(arrow, field, cut, &at, error));
    if (least < boundaries[cut->stored])
        least = boundaries[cut->stored];
    if (at < least)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "rows of a field before an entry", least, at);
    if (cut->rows && at > boundaries[cut->stored + 1])
        return nt_fail_above(error, NT_CORRUPT, NT_NO_OFFSET, "rows of a field before an entry",
                             boundaries[cut->stored + 1], at);
    *boundary_ret = at;
    return NT_OK;
}

/* Converts boundaries of a field from stored to table clusters. Replaces *boundaries. */
static enum nt_status arrow_cut_boundaries(const struct nt_arrow *arrow, uint32_t field, bool are_bytes,
                                           uint64_t **boundaries, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (!arrow->cuts)
        return NT_OK;
    uint64_t *cut = malloc((arrow->cluster_count + (size_t)1) * sizeof(*cut));
    NT_TRY(nt_check_memory(cut, error));
    for (uint32_t i = 0; i <= arrow->cluster_count && status == NT_OK; i++)
        status = cut_boundary(arrow, field, are_bytes, *boundaries, &arrow->cuts[i], i ? cut[i - 1] : 0,
                              &cut[i], error);
    free(*boundaries);
    *boundaries = cut;
    return status;
}

void nt_arrow_free_boundaries(struct nt_arrow *arrow)
{
    for (uint32_t i = 0; i < arrow->node_count; i++) {
        struct nt_arrow_node *node = &arrow->nodes[i];
        free(node->byte_boundaries);
        free(node->space_boundaries);
        free(node->boundaries);
        node->byte_boundaries = node->space_boundaries = node->boundaries = NULL;
    }
    for (uint32_t i = 0; i < arrow->variant_count; i++)
        nt_arrow_variant_deinit(&arrow->variants[i], arrow->cluster_count);
}

/* ---- Range of entries ---- */

/* Finds the stored clusters [*begin_ret, *end_ret). Trims clusters without entries at both ends. */
static void find_clusters(const struct nt_arrow *arrow, uint32_t *begin_ret, uint32_t *end_ret)
{
    uint64_t first = arrow->options.first_entry, end = first + arrow->options.entries;
    uint32_t begin = 0, stop = arrow->cluster_count;
    while (begin < stop && arrow->entries[begin + 1] <= first)
        begin++;
    while (stop > begin && arrow->entries[stop - 1] >= end)
        stop--;
    *begin_ret = begin;
    *end_ret = first < end ? stop : begin;
}

/* Sets a boundary. An entry that begins a cluster of all fields needs no row positions. */
static enum nt_status set_cut(struct nt_arrow *arrow, uint32_t number, uint64_t entry, uint32_t stored,
                              struct nt_error *error)
{
    struct nt_arrow_cut *cut = &arrow->cuts[number];
    bool begins_cluster = entry == arrow->entries[stored];
    if (!nt_dataset_shares_boundaries(arrow->dataset)) {
        stored = entry && entry == nt_dataset_entries(arrow->dataset);
        begins_cluster = !entry || stored;
    }
    if (!begins_cluster)
        return arrow_cut_init(arrow, entry, stored, cut, error);
    *cut = (struct nt_arrow_cut){.entry = entry, .stored = stored};
    return NT_OK;
}

static enum nt_status arrow_cut_entries(struct nt_arrow *arrow, struct nt_error *error)
{
    const struct nt_arrow_options *options = &arrow->options;
    uint64_t end = options->has_range ? options->first_entry + options->entries : UINT64_MAX;
    uint32_t begin = 0, stop = arrow->cluster_count;
    bool is_shared = nt_dataset_shares_boundaries(arrow->dataset);
    arrow->stored_clusters = is_shared ? arrow->cluster_count : 1; /* fields that do not share have one */
    if (!options->has_range && is_shared)
        return NT_OK;
    if (options->has_range)
        find_clusters(arrow, &begin, &stop);
    arrow->cluster_count = stop - begin;
    arrow->cuts = calloc(arrow->cluster_count + (size_t)1, sizeof(*arrow->cuts));
    NT_TRY(nt_check_memory(arrow->cuts, error));
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; i <= arrow->cluster_count && status == NT_OK; i++) {
        uint64_t entry = arrow->entries[begin + i];
        bool is_last = i > 0 && i == arrow->cluster_count && entry > end;
        if (i == 0 && arrow->cluster_count && entry < options->first_entry)
            entry = options->first_entry;
        status = set_cut(arrow, i, is_last ? end : entry, begin + i - is_last, error);
    }
    for (uint32_t i = 0; i <= arrow->cluster_count; i++)
        arrow->entries[i] = arrow->cuts[i].entry;
    return status;
}

/* ---- Split large clusters ---- */

/* Limits the memory: each part stores the boundaries of all nodes and a row per field. Only a file that
 * claims more items than it can hold exceeds the limit. */
enum { MAX_NUMBERS = 1 << 22, MAX_PARTS = 1 << 16 };

struct batch_splitter {
    const struct nt_arrow *arrow;
    uint32_t *nodes; /* nodes with too many items in some cluster */
    uint32_t node_count;
    uint64_t parts, max_parts;
    struct nt_arrow_cut *cuts;
    uint32_t cut_count;
    size_t cut_capacity;
    struct nt_error *error;
};

static enum nt_status find_nodes(struct batch_splitter *splitter)
{
    const struct nt_arrow *arrow = splitter->arrow;
    splitter->nodes = calloc(arrow->node_count, sizeof(*splitter->nodes));
    NT_TRY(nt_check_memory(splitter->nodes, splitter->error));
    for (uint32_t i = 1; i < arrow->node_count; i++) {
        bool is_one = false;
        if (!arrow->nodes[i].has_short_offsets) /* only lists and strings have boundaries */
            continue;
        const uint64_t *boundaries = nt_arrow_item_boundaries(&arrow->nodes[i]);
        for (uint32_t cluster = 0; cluster < arrow->cluster_count; cluster++)
            is_one |= boundaries[cluster + 1] - boundaries[cluster] > arrow->limits.max_items;
        if (is_one)
            splitter->nodes[splitter->node_count++] = i;
    }
    return NT_OK;
}

/* Takes ownership of the cut. */
static enum nt_status add_cut(struct batch_splitter *splitter, struct nt_arrow_cut *cut)
{
    NT_TRY(nt_check_memory(NT_GROW(splitter->cuts, splitter->cut_count, splitter->cut_capacity),
                           splitter->error));
    splitter->cuts[splitter->cut_count++] = *cut;
    *cut = (struct nt_arrow_cut){0};
    return NT_OK;
}

/* Counts the items of each node before a cut, and checks them against the surrounding boundaries. */
static enum nt_status count_items(const struct batch_splitter *splitter, const struct nt_arrow_cut *cut,
                                  const uint64_t *before, const uint64_t *after, uint64_t *items)
{
    for (uint32_t i = 0; i < splitter->node_count; i++) {
        uint32_t field = splitter->arrow->nodes[splitter->nodes[i]].field;
        NT_TRY(arrow_items_before(splitter->arrow, field, cut, &items[i], splitter->error));
        if (items[i] < before[i])
            return nt_fail_below(splitter->error, NT_CORRUPT, NT_NO_OFFSET,
                                 "items of a field before an entry", before[i], items[i]);
        if (items[i] > after[i])
            return nt_fail_above(splitter->error, NT_CORRUPT, NT_NO_OFFSET,
                                 "items of a field before an entry", after[i], items[i]);
    }
    return NT_OK;
}

static bool fits(const struct batch_splitter *splitter, const uint64_t *before, const uint64_t *after)
{
    for (uint32_t i = 0; i < splitter->node_count; i++)
        if (after[i] - before[i] > splitter->arrow->limits.max_items)
            return false;
    return true;
}

/* Splits entries [first, end) recursively, at most 64 deep, given the items before and after them. */
static enum nt_status split_entries(struct batch_splitter *splitter, uint32_t stored, uint64_t first,
                                    uint64_t end, const uint64_t *before, const uint64_t *after)
{
    if (end - first < 2 || fits(splitter, before, after))
        return NT_OK;
    if (splitter->parts++ == splitter->max_parts)
        return nt_fail(splitter->error, NT_LIMIT, NT_NO_OFFSET,
                       "32-bit offsets need more than %" PRIu64 " batches", splitter->max_parts);
    uint64_t middle = first + (end - first) / 2;
    NT_CLEANUP(arrow_cut_deinit) struct nt_arrow_cut cut = {0};
    NT_AUTO_FREE uint64_t *items = calloc(splitter->node_count, sizeof(*items));
    NT_TRY(nt_check_memory(items, splitter->error));
    NT_TRY(arrow_cut_init(splitter->arrow, middle, stored, &cut, splitter->error));
    NT_TRY(count_items(splitter, &cut, before, after, items));
    NT_TRY(split_entries(splitter, stored, first, middle, before, items));
    NT_TRY(add_cut(splitter, &cut));
    return split_entries(splitter, stored, middle, end, items, after);
}

/* Keeps an existing boundary of the table. Moves it if it is already a cut. */
static enum nt_status keep_boundary(struct batch_splitter *splitter, uint32_t number)
{
    NT_CLEANUP(arrow_cut_deinit)
    struct nt_arrow_cut cut = {.entry = splitter->arrow->entries[number], .stored = number};
    if (splitter->arrow->cuts) {
        cut = splitter->arrow->cuts[number];
        splitter->arrow->cuts[number].rows = NULL;
    }
    return add_cut(splitter, &cut);
}

static enum nt_status split_cluster(struct batch_splitter *splitter, uint32_t cluster)
{
    const struct nt_arrow *arrow = splitter->arrow;
    NT_AUTO_FREE uint64_t *before = calloc(splitter->node_count, sizeof(*before));
    NT_AUTO_FREE uint64_t *after = calloc(splitter->node_count, sizeof(*after));
    NT_TRY(before && after ? keep_boundary(splitter, cluster) : nt_fail_memory(splitter->error));
    for (uint32_t i = 0; i < splitter->node_count; i++) {
        const uint64_t *boundaries = nt_arrow_item_boundaries(&arrow->nodes[splitter->nodes[i]]);
        before[i] = boundaries[cluster];
        after[i] = boundaries[cluster + 1];
    }
    return split_entries(splitter, splitter->cuts[splitter->cut_count - 1].stored, arrow->entries[cluster],
                         arrow->entries[cluster + 1], before, after);
}

/* Replaces the clusters of the table with the parts between the cuts. */
static enum nt_status take_cuts(struct batch_splitter *splitter, struct nt_arrow *arrow)
{
    uint64_t *entries = calloc(splitter->cut_count, sizeof(*entries));
    NT_TRY(nt_check_memory(entries, splitter->error));
    for (uint32_t i = 0; i < splitter->cut_count; i++)
        entries[i] = splitter->cuts[i].entry;
    nt_arrow_free_boundaries(arrow);
    nt_arrow_free_cuts(arrow);
    free(arrow->entries);
    arrow->entries = entries;
    arrow->cluster_count = splitter->cut_count - 1;
    arrow->cuts = splitter->cuts;
    splitter->cuts = NULL;
    splitter->cut_count = 0;
    return NT_OK;
}

static uint64_t max_parts_of(const struct nt_arrow *arrow)
{
    uint64_t numbers = 3 * (uint64_t)arrow->node_count + arrow->dataset->field_count;
    uint64_t parts = MAX_NUMBERS / numbers;
    return parts < MAX_PARTS ? parts : MAX_PARTS;
}

static void splitting_deinit(struct batch_splitter *splitter)
{
    for (uint32_t i = 0; i < splitter->cut_count; i++)
        arrow_cut_deinit(&splitter->cuts[i]);
    free(splitter->cuts);
    free(splitter->nodes);
}

/* Splits clusters whose items exceed the range of 32-bit offsets into clusters that
 * fit. Clusters of one entry stay. Sets *split_ret if any cluster exceeds the range. */
static enum nt_status arrow_split(struct nt_arrow *arrow, bool *split_ret, struct nt_error *error)
{
    NT_CLEANUP(splitting_deinit)
    struct batch_splitter splitter = {.arrow = arrow, .max_parts = max_parts_of(arrow), .error = error};
    NT_TRY(find_nodes(&splitter));
    *split_ret = splitter.node_count > 0;
    if (!*split_ret)
        return NT_OK;
    for (uint32_t cluster = 0; cluster < arrow->cluster_count; cluster++)
        NT_TRY(split_cluster(&splitter, cluster));
    NT_TRY(keep_boundary(&splitter, arrow->cluster_count));
    return take_cuts(&splitter, arrow);
}

/* ---- Batches of a size ---- */

/* Computes the bytes of each cluster's batch. UINT64_MAX: Arrow cannot hold it, or only in parts. */
static enum nt_status measure_clusters(const struct nt_arrow *arrow, uint64_t **bytes_ret,
                                       struct nt_error *error)
{
    uint64_t *bytes = calloc((size_t)arrow->cluster_count + 1, sizeof(*bytes));
    NT_TRY(nt_check_memory(bytes, error));
    *bytes_ret = bytes;
    for (uint32_t cluster = 0; cluster < arrow->cluster_count; cluster++) {
        NT_AUTO_FREE struct nt_arrow_body *body = NULL;
        enum nt_status status = nt_arrow_body_new(arrow, cluster, &body, error);
        if (status != NT_OK && status != NT_LIMIT)
            return status;
        bytes[cluster] = body ? body->buffer_start[arrow->buffer_count] : UINT64_MAX;
    }
    return NT_OK;
}

/* How many parts a cluster needs, at most one for each entry. arrow_split divides what has no size. */
static uint64_t count_parts(const struct nt_arrow *arrow, uint32_t cluster, uint64_t bytes, uint64_t most)
{
    uint64_t entries = arrow->entries[cluster + 1] - arrow->entries[cluster];
    uint64_t parts = bytes == UINT64_MAX ? 1 : bytes / most + (bytes % most != 0);
    parts = parts < entries ? parts : entries;
    return parts ? parts : 1;
}

/* The size to aim at: larger than requested if there were too many parts. */
static uint64_t find_size(const struct nt_arrow *arrow, const uint64_t *bytes, uint64_t most)
{
    uint64_t parts, max_parts = max_parts_of(arrow);
    do {
        parts = 0;
        for (uint32_t cluster = 0; cluster < arrow->cluster_count; cluster++)
            parts += count_parts(arrow, cluster, bytes[cluster], most) - 1;
    } while (parts > max_parts && (most *= 2));
    return most;
}

/* Cuts a cluster, whose boundary is the last cut so far, into parts with equally many entries. */
static enum nt_status cut_cluster(struct batch_splitter *splitter, uint32_t cluster, uint64_t parts)
{
    const uint64_t *entries = splitter->arrow->entries + cluster;
    uint32_t stored = splitter->cuts[splitter->cut_count - 1].stored;
    for (uint64_t i = 1; i < parts; i++) {
        uint64_t part = (entries[1] - entries[0]) / parts, rest = (entries[1] - entries[0]) % parts;
        uint64_t entry = entries[0] + part * i + nt_min(i, rest);
        NT_CLEANUP(arrow_cut_deinit) struct nt_arrow_cut cut = {0};
        NT_TRY(arrow_cut_init(splitter->arrow, entry, stored, &cut, splitter->error));
        NT_TRY(add_cut(splitter, &cut));
    }
    return NT_OK;
}

/* Keeps the boundary of a cluster unless its batch is merged with the one before. */
static enum nt_status set_parts(struct batch_splitter *splitter, const uint64_t *bytes, uint64_t most)
{
    const struct nt_arrow *arrow = splitter->arrow;
    uint64_t before = most; /* bytes of the last batch so far */
    for (uint32_t cluster = 0; cluster < arrow->cluster_count; cluster++) {
        uint64_t parts = count_parts(arrow, cluster, bytes[cluster], most);
        if (cluster && before <= most && bytes[cluster] <= most - before) {
            before += bytes[cluster];
            continue;
        }
        NT_TRY(keep_boundary(splitter, cluster));
        NT_TRY(cut_cluster(splitter, cluster, parts));
        before = bytes[cluster] / parts;
    }
    return keep_boundary(splitter, arrow->cluster_count);
}

/* Merges and divides clusters, so that batches have about `most` bytes. The caller loads the
 * boundaries before and after. */
static enum nt_status arrow_regroup(struct nt_arrow *arrow, uint64_t most, struct nt_error *error)
{
    NT_CLEANUP(splitting_deinit) struct batch_splitter splitter = {.arrow = arrow, .error = error};
    NT_AUTO_FREE uint64_t *bytes = NULL;
    NT_TRY(measure_clusters(arrow, &bytes, error));
    NT_TRY(set_parts(&splitter, bytes, find_size(arrow, bytes, most)));
    return take_cuts(&splitter, arrow);
}

/* ---- Rows per cluster ---- */

/* For generated strings, converts boundaries of rows to boundaries of bytes. */
static enum nt_status load_boundaries(struct nt_arrow *arrow, uint32_t field, bool are_bytes,
                                      uint64_t **boundaries_ret, struct nt_error *error)
{
    uint32_t count = 0;
    const struct nt_arrow_texts *texts = are_bytes ? nt_arrow_texts_of(arrow, field) : NULL;
    NT_TRY(
        are_bytes && !texts
            ? nt_field_byte_boundaries(arrow->reader, arrow->dataset, field, boundaries_ret, &count, error)
            : nt_field_row_boundaries(arrow->reader, arrow->dataset, field, boundaries_ret, &count, error));
    if (!nt_dataset_shares_boundaries(arrow->dataset)) {
        (*boundaries_ret)[1] = (*boundaries_ret)[count];
        count = arrow->stored_clusters;
    }
    if (count != arrow->stored_clusters)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "clusters that hold a field",
                              arrow->stored_clusters, count);
    if (texts)
        nt_arrow_texts_boundaries(texts, *boundaries_ret, count + 1);
    return arrow_cut_boundaries(arrow, field, are_bytes, boundaries_ret, error);
}

static enum nt_status set_boundaries(struct nt_arrow *arrow, struct nt_arrow_node *node,
                                     struct nt_error *error)
{
    if (node->field == NT_NONE)
        return NT_OK;
    if (node->starts_row_space) {
        uint32_t field = node->step_count ? nt_arrow_steps(arrow, node)->field : node->field;
        NT_TRY(load_boundaries(arrow, field, false, &node->space_boundaries, error));
    }
    if (node->own_steps)
        NT_TRY(load_boundaries(arrow, node->field, false, &node->boundaries, error));
    if (node->kind == NT_ARROW_BYTES)
        NT_TRY(load_boundaries(arrow, node->field, true, &node->byte_boundaries, error));
    return NT_OK;
}

static enum nt_status set_variant_boundaries(struct nt_arrow *arrow, struct nt_arrow_variant *variant,
                                             struct nt_error *error)
{
    variant->boundaries = calloc((size_t)variant->alternative_count + 1, sizeof(*variant->boundaries));
    variant->tag_counts = calloc((size_t)arrow->cluster_count + 1, sizeof(*variant->tag_counts));
    NT_TRY(nt_check_memory(variant->boundaries && variant->tag_counts, error));
    return load_boundaries(arrow, variant->field, false, &variant->boundaries[0], error);
}

/* Loads the boundaries of an alternative of a step. The struct omits alternatives without a step. */
static enum nt_status set_alternative_boundaries(struct nt_arrow *arrow, const struct nt_arrow_step *step,
                                                 struct nt_error *error)
{
    uint32_t count;
    if (step->kind != NT_ARROW_STEP_ALTERNATIVE || arrow->variants[step->variant].boundaries[step->tag])
        return NT_OK;
    const uint32_t *alternatives = nt_dataset_children(arrow->dataset, step->field, &count);
    return load_boundaries(arrow, alternatives[step->tag - 1], false,
                           &arrow->variants[step->variant].boundaries[step->tag], error);
}

static enum nt_status load_all_boundaries(struct nt_arrow *arrow, struct nt_error *error)
{
    for (uint32_t i = 1; i < arrow->node_count; i++)
        NT_TRY(set_boundaries(arrow, &arrow->nodes[i], error));
    for (uint32_t i = 0; i < arrow->variant_count; i++)
        NT_TRY(set_variant_boundaries(arrow, &arrow->variants[i], error));
    for (uint32_t i = 0; i < arrow->step_count; i++)
        NT_TRY(set_alternative_boundaries(arrow, &arrow->steps[i], error));
    return NT_OK;
}

static uint64_t rows_between(const uint64_t *boundaries, uint32_t cluster)
{
    return boundaries[cluster + 1] - boundaries[cluster];
}

/* ---- One batch ---- */

static enum nt_status count_nulls(const struct nt_arrow *arrow, uint32_t number, struct nt_arrow_body *body,
                                  struct nt_error *error)
{
    const struct nt_arrow_node *node = &arrow->nodes[number];
    uint64_t slots = body->slots[number], valid = rows_between(node->boundaries, body->cluster);
    bool is_dense = false, is_alternative = false;
    for (uint32_t i = 0; i < node->step_count; i++) {
        is_dense |= nt_arrow_steps(arrow, node)[i].kind == NT_ARROW_STEP_DENSE_OPTIONAL;
        is_alternative |= nt_arrow_steps(arrow, node)[i].kind == NT_ARROW_STEP_ALTERNATIVE;
    }
    if (is_dense) {
        NT_TRY(nt_arrow_count_valid(arrow, number, body->cluster, slots, &valid, error));
    }
    if (valid > slots && is_alternative)
        valid = slots; /* no tag refers to the other rows; reading them fails */
    if (valid > slots)
        return nt_fail_above(error, NT_CORRUPT, NT_NO_OFFSET, "values of an optional or variant", slots,
                             valid);
    body->null_counts[number] = slots - valid;
    return NT_OK;
}

/* Computes the slots of a node. The null child of a union is as long as the union, at no cost. */
static bool count_slots(const struct nt_arrow *arrow, uint32_t number, struct nt_arrow_body *body)
{
    const struct nt_arrow_node *node = &arrow->nodes[number], *parent = &arrow->nodes[node->parent];
    uint64_t *slots = &body->slots[number];
    uint64_t per_slot = parent->kind == NT_ARROW_FIXED_LIST ? parent->list_size : 1;
    if (node->starts_row_space)
        *slots = rows_between(node->space_boundaries, body->cluster);
    else if (!nt_checked_multiply(body->slots[node->parent], per_slot, slots))
        return false;
    if (node->kind == NT_ARROW_NULL)
        body->null_counts[number] = *slots;
    return *slots <= (parent->kind == NT_ARROW_UNION ? INT32_MAX : INT64_MAX);
}

static enum nt_status too_large(const struct nt_arrow *arrow, uint32_t cluster, struct nt_error *error)
{
    return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the cluster of entry %llu is larger than Arrow allows",
                   (unsigned long long)arrow->entries[cluster]);
}

static enum nt_status count_node(const struct nt_arrow *arrow, uint32_t number, struct nt_arrow_body *body,
                                 struct nt_error *error)
{
    if (!count_slots(arrow, number, body))
        return too_large(arrow, body->cluster, error);
    const struct nt_arrow_node *node = &arrow->nodes[number];
    if (node->has_short_offsets &&
        rows_between(nt_arrow_item_boundaries(node), body->cluster) > arrow->limits.max_items)
        return too_large(arrow, body->cluster, error);
    if (node->valid != NT_NONE)
        body->null_counts[number] = NT_ARROW_UNCOUNTED;
    else if (node->own_steps)
        return count_nulls(arrow, number, body, error);
    return NT_OK;
}

enum nt_status nt_arrow_count_nulls(const struct nt_arrow *arrow, struct nt_arrow_body *body,
                                    struct nt_error *error)
{
    for (uint32_t i = 1; i < arrow->node_count; i++) {
        uint64_t valid = 0;
        if (body->null_counts[i] != NT_ARROW_UNCOUNTED)
            continue;
        NT_TRY(nt_arrow_count_valid(arrow, i, body->cluster, body->slots[i], &valid, error));
        body->null_counts[i] = body->slots[i] - valid;
    }
    return NT_OK;
}

static bool buffer_bytes(const struct nt_arrow *arrow, const struct nt_arrow_body *body, uint32_t number,
                         uint64_t *bytes_ret)
{
    const struct nt_arrow_buffer *buffer = &arrow->buffers[number];
    const struct nt_arrow_node *node = &arrow->nodes[buffer->node];
    uint64_t slots = body->slots[buffer->node];
    switch (buffer->kind) {
    case NT_ARROW_VALIDITY:
        *bytes_ret = body->null_counts[buffer->node] ? slots / 8 + (slots % 8 != 0) : 0;
        return true;
    case NT_ARROW_OFFSETS:
        return nt_checked_add(slots, 1, &slots) &&
               nt_checked_multiply(slots, nt_arrow_offset_bytes(node), bytes_ret);
    case NT_ARROW_TYPES:
        *bytes_ret = slots;
        return true;
    case NT_ARROW_UNION_OFFSETS:
        return nt_checked_multiply(slots, 4, bytes_ret);
    case NT_ARROW_DATA:
        break;
    }
    if (node->kind == NT_ARROW_BYTES) {
        *bytes_ret = rows_between(node->byte_boundaries, body->cluster);
        return true;
    }
    if (node->kind == NT_ARROW_BOOL) {
        *bytes_ret = slots / 8 + (slots % 8 != 0);
        return true;
    }
    *bytes_ret = 0;
    return node->kind == NT_ARROW_EMPTY || nt_checked_multiply(slots, node->dtype->bytes, bytes_ret);
}

/* Places the buffers one behind another. `is_large` before a buffer: the last one with bytes is large. A body
 * with a large buffer has whole memory pages. */
static bool place_buffers(const struct nt_arrow *arrow, struct nt_arrow_body *body)
{
    uint64_t at = 0;
    bool is_large = false;
    for (uint32_t i = 0; i < arrow->buffer_count; i++) {
        uint64_t *bytes = &body->buffer_bytes[i];
        if (!buffer_bytes(arrow, body, i, bytes) || *bytes > INT64_MAX)
            return false;
        bool follows_large = is_large;
        if (*bytes)
            is_large = *bytes >= NT_ARROW_LARGE_BUFFER;
        body->has_large |= is_large;
        at = nt_arrow_align(at, is_large || follows_large);
        body->buffer_start[i] = at;
        if (!nt_checked_add(at, *bytes, &at) || at > INT64_MAX / 2)
            return false;
    }
    if (at >= NT_ARROW_LARGE_BATCH) {
        for (uint32_t i = 0; i < arrow->buffer_count; i++)
            body->buffer_start[i] += NT_ARROW_GAP;
        at += 2 * NT_ARROW_GAP;
    }
    body->buffer_start[arrow->buffer_count] = nt_arrow_align(at, body->has_large);
    return true;
}

enum nt_status nt_arrow_body_new(const struct nt_arrow *arrow, uint32_t cluster,
                                 struct nt_arrow_body **body_ret, struct nt_error *error)
{
    size_t nodes = arrow->node_count, buffers = (size_t)arrow->buffer_count + 1;
    NT_AUTO_FREE struct nt_arrow_body *body =
        calloc(1, sizeof(*body) + 2 * (nodes + buffers) * sizeof(*body->numbers));
    NT_TRY(nt_check_memory(body, error));
    body->cluster = cluster;
    body->slots = body->numbers;
    body->null_counts = body->slots + nodes;
    body->buffer_start = body->null_counts + nodes;
    body->buffer_bytes = body->buffer_start + buffers;
    body->slots[0] = rows_between(arrow->entries, cluster);
    for (uint32_t i = 1; i < arrow->node_count; i++)
        NT_TRY(count_node(arrow, i, body, error));
    if (!place_buffers(arrow, body))
        return too_large(arrow, cluster, error);
    *body_ret = body;
    body = NULL;
    return NT_OK;
}

/* ---- All batches ---- */

/* Sets the clusters in entry order. Every top-level field has them, with one row per entry. A dataset
 * without fields is one batch. */
static enum nt_status set_clusters(struct nt_arrow *arrow, struct nt_error *error)
{
    struct nt_dataset *dataset = arrow->dataset;
    if (dataset->top_count && !dataset->field_groups)
        return nt_field_row_boundaries(arrow->reader, dataset, dataset->children[0], &arrow->entries,
                                       &arrow->cluster_count, error);
    uint32_t parts = dataset->field_groups ? dataset->part_count : 1;
    arrow->entries = calloc((size_t)parts + 1, sizeof(uint64_t));
    NT_TRY(nt_check_memory(arrow->entries, error));
    if (dataset->field_groups) {
        for (uint32_t i = 0; i <= parts; i++)
            arrow->entries[i] = nt_dataset_selected_before(dataset, dataset->part_boundaries[i]);
        arrow->cluster_count = parts;
        return NT_OK;
    }
    arrow->entries[1] = nt_dataset_entries(dataset);
    arrow->cluster_count = arrow->entries[1] > 0;
    return NT_OK;
}

static enum nt_status omit_cluster(struct nt_arrow *arrow, uint32_t cluster, struct nt_error *error)
{
    NT_TRY(nt_check_memory(
        NT_GROW(arrow->omitted_clusters, arrow->omitted_cluster_count, arrow->omitted_cluster_capacity),
        error));
    arrow->omitted_clusters[arrow->omitted_cluster_count++] = cluster;
    return NT_OK;
}

/* Adds the batch of a cluster, or omits a cluster that Arrow cannot hold. */
static enum nt_status add_batch(struct nt_arrow *arrow, uint32_t cluster, struct nt_error *error)
{
    struct nt_arrow_body *body;
    enum nt_status status = nt_arrow_body_new(arrow, cluster, &body, error);
    if (status == NT_LIMIT)
        return omit_cluster(arrow, cluster, error);
    NT_TRY(status);
    arrow->batch_starts[arrow->batch_count++] = body->buffer_start[arrow->buffer_count] + body->has_large;
    if (arrow->batch_count == 1)
        arrow->recent[0] = body;
    else
        free(body);
    return NT_OK;
}

/* After a failure, nt_arrow_free frees the cuts. */
enum nt_status nt_arrow_build_batches(struct nt_arrow *arrow, struct nt_error *error)
{
    bool is_split = false;
    NT_TRY(set_clusters(arrow, error));
    NT_TRY(arrow_cut_entries(arrow, error));
    NT_TRY(load_all_boundaries(arrow, error));
    if (arrow->limits.batch_bytes && arrow->cluster_count) {
        NT_TRY(arrow_regroup(arrow, arrow->limits.batch_bytes, error));
        NT_TRY(load_all_boundaries(arrow, error));
    }
    NT_TRY(arrow_split(arrow, &is_split, error));
    if (is_split)
        NT_TRY(load_all_boundaries(arrow, error));
    nt_arrow_free_cuts(arrow);
    arrow->batch_starts = calloc((size_t)arrow->cluster_count + 1, sizeof(*arrow->batch_starts));
    NT_TRY(nt_check_memory(arrow->batch_starts, error));
    for (uint32_t cluster = 0; cluster < arrow->cluster_count; cluster++)
        NT_TRY(add_batch(arrow, cluster, error));
    return NT_OK;
}

uint32_t nt_arrow_omitted_clusters(const struct nt_arrow *arrow)
{
    return arrow->omitted_cluster_count;
}

uint64_t nt_arrow_omitted_cluster(const struct nt_arrow *arrow, uint32_t number, uint64_t *first_entry_ret)
{
    const uint64_t *entries = arrow->entries + arrow->omitted_clusters[number];
    *first_entry_ret = entries[0];
    return entries[1] - entries[0];
}
