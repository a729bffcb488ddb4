/* SPDX-License-Identifier: MIT
 *
 * Maps the slots of a node to rows of its streams: optionals and variants skip rows, arrays multiply
 * them. Counts tags to find the rows of a variant's alternatives.
 */
#include "render/arrow/arrow.h"

/* ---- Variants as structs ---- */

/* Variants as structs of nullable alternatives: finds the rows of an alternative that belong to rows of
 * its variant. Page lists do not contain them, so the first read of an alternative counts the tags of
 * the cluster in blocks.
 *
 * Invariant: tags are in order. The n-th row of a cluster with an alternative has the n-th row of that
 * alternative, and no row of it remains. The format allows other orders, but a struct cannot: reading
 * them fails. */

enum { BLOCK_ROWS = 16384 };

static enum nt_status read_tags(const struct nt_arrow *arrow, const struct nt_arrow_variant *variant,
                                uint64_t first_row, uint64_t rows, uint32_t *tags, struct nt_error *error)
{
    return nt_arrow_read_stream(arrow, variant->tags, first_row * sizeof(*tags), tags, rows * sizeof(*tags),
                                error);
}

/* ---- Counting ---- */

struct slot_counter {
    const struct nt_arrow *arrow;
    const struct nt_arrow_variant *variant;
    uint32_t cluster;
    uint32_t *tags;  /* [BLOCK_ROWS] */
    uint64_t *index; /* [BLOCK_ROWS] */
    uint64_t counts[INT8_MAX + 1];
    struct nt_error *error;
};

static enum nt_status no_struct(const struct slot_counter *counter, const char *what, uint64_t expected,
                                uint64_t found)
{
    return nt_name_field(counter->arrow->dataset, counter->variant->field, "a struct of the variant",
                         nt_fail_number(counter->error, NT_UNSUPPORTED, NT_NO_OFFSET, what, expected, found),
                         counter->error);
}

static enum nt_status count_row(struct slot_counter *counter, uint32_t tag, uint64_t index)
{
    const struct nt_arrow_variant *variant = counter->variant;
    if (tag > variant->alternative_count)
        return nt_fail_above(counter->error, NT_CORRUPT, NT_NO_OFFSET, "the alternative of a variant",
                             variant->alternative_count, tag);
    uint64_t row = counter->counts[tag]++;
    if (tag == 0 || !variant->boundaries[tag])
        return NT_OK;
    row += variant->boundaries[tag][counter->cluster];
    if (index != row)
        return no_struct(counter, "the next row of an alternative", row, index);
    return NT_OK;
}

static enum nt_status count_block(struct slot_counter *counter, uint64_t first_row, uint64_t rows)
{
    const struct nt_arrow_variant *variant = counter->variant;
    NT_TRY(read_tags(counter->arrow, variant, first_row, rows, counter->tags, counter->error));
    NT_TRY(nt_arrow_read_stream(counter->arrow, variant->index, first_row * sizeof(uint64_t), counter->index,
                                rows * sizeof(uint64_t), counter->error));
    for (uint64_t i = 0; i < rows; i++)
        NT_TRY(count_row(counter, counter->tags[i], counter->index[i]));
    return NT_OK;
}

static enum nt_status check_totals(const struct slot_counter *counter)
{
    const struct nt_arrow_variant *variant = counter->variant;
    for (uint32_t tag = 1; tag <= variant->alternative_count; tag++) {
        const uint64_t *boundaries = variant->boundaries[tag];
        uint64_t rows = boundaries ? boundaries[counter->cluster + 1] - boundaries[counter->cluster] : 0;
        if (boundaries && rows != counter->counts[tag])
            return no_struct(counter, "rows of an alternative", rows, counter->counts[tag]);
    }
    return NT_OK;
}

/* Stores the counts before each block of a cluster, and before its end if it ends a block. */
static enum nt_status count_blocks(struct slot_counter *counter, struct nt_buffer *tag_counts)
{
    const uint64_t *boundaries = &counter->variant->boundaries[0][counter->cluster];
    size_t counts_bytes = (counter->variant->alternative_count + 1) * sizeof(counter->counts[0]);
    uint64_t row = boundaries[0], rows;
    do {
        rows = nt_min(boundaries[1] - row, BLOCK_ROWS);
        nt_buffer_append(tag_counts, counter->counts, counts_bytes);
        NT_TRY(count_block(counter, row, rows));
        row += rows;
    } while (rows == BLOCK_ROWS);
    NT_TRY(check_totals(counter));
    return nt_check_memory(!tag_counts->failed, counter->error);
}

static enum nt_status count_all_tags(const struct nt_arrow *arrow, const struct nt_arrow_variant *variant,
                                     uint32_t cluster, struct nt_buffer *tag_counts, struct nt_error *error)
{
    NT_AUTO_FREE uint32_t *tags = malloc(BLOCK_ROWS * sizeof(*tags));
    NT_AUTO_FREE uint64_t *index = malloc(BLOCK_ROWS * sizeof(*index));
    struct slot_counter counter = {arrow, variant, cluster, tags, index, .error = error};
    return tags && index ? count_blocks(&counter, tag_counts) : nt_fail_memory(error);
}

/* Returns the counts [block][tag]. The first caller computes them. */
static enum nt_status find_tag_counts(const struct nt_arrow *arrow, const struct nt_arrow_variant *variant,
                                      uint32_t cluster, const uint64_t **tag_counts_ret,
                                      struct nt_error *error)
{
    uint64_t *tag_counts = atomic_load_explicit(&variant->tag_counts[cluster], memory_order_acquire),
             *other = NULL;
    if (!tag_counts) {
        NT_CLEANUP(nt_buffer_deinit) struct nt_buffer made = {0};
        NT_TRY(count_all_tags(arrow, variant, cluster, &made, error));
        tag_counts = (uint64_t *)(void *)made.bytes;
        if (atomic_compare_exchange_strong(&variant->tag_counts[cluster], &other, tag_counts))
            made = (struct nt_buffer){0};
        else
            tag_counts = other; /* another thread was faster */
    }
    *tag_counts_ret = tag_counts;
    return NT_OK;
}

/* ---- Lookup ---- */

/* Reads the tags of rows [first_row, first_row + rows) of a variant, all in one cluster. Returns the
 * first row of the step's alternative at or after them. */
static enum nt_status arrow_read_tags(const struct nt_arrow *arrow, const struct nt_arrow_step *step,
                                      uint32_t cluster, uint64_t first_row, uint64_t rows, uint32_t *tags,
                                      uint64_t *alternative_row_ret, struct nt_error *error)
{
    const struct nt_arrow_variant *variant = &arrow->variants[step->variant];
    const uint64_t *tag_counts;
    NT_TRY(find_tag_counts(arrow, variant, cluster, &tag_counts, error));
    uint64_t within = first_row - variant->boundaries[0][cluster], skip = within % BLOCK_ROWS;
    uint64_t row = variant->boundaries[step->tag][cluster] +
                   tag_counts[within / BLOCK_ROWS * (variant->alternative_count + 1) + step->tag];
    NT_AUTO_FREE uint32_t *before = malloc((skip + 1) * sizeof(*before));
    NT_TRY(before ? read_tags(arrow, variant, first_row - skip, skip, before, error) : nt_fail_memory(error));
    for (uint64_t i = 0; i < skip; i++)
        row += before[i] == step->tag;
    *alternative_row_ret = row;
    return read_tags(arrow, variant, first_row, rows, tags, error);
}

void nt_arrow_variant_deinit(struct nt_arrow_variant *variant, uint32_t cluster_count)
{
    for (uint32_t tag = 0; variant->boundaries && tag <= variant->alternative_count; tag++)
        free(variant->boundaries[tag]);
    for (uint32_t cluster = 0; variant->tag_counts && cluster < cluster_count; cluster++)
        free(variant->tag_counts[cluster]);
    free(variant->boundaries);
    free(variant->tag_counts);
    variant->boundaries = NULL;
    variant->tag_counts = NULL;
}

/* ---- Rows of slots ---- */

enum { SLOT_ABSENT = 0 };

struct slot_reader {
    const struct nt_arrow *arrow;
    const struct nt_arrow_node *node;
    uint32_t cluster;
    struct nt_error *error;
};

uint64_t nt_arrow_row_space_begin(const struct nt_arrow *arrow, const struct nt_arrow_node *node,
                                  uint32_t cluster)
{
    while (!node->starts_row_space)
        node = &arrow->nodes[node->parent];
    return node->space_boundaries[cluster];
}

/* Expands each slot to `size` slots and keeps [skip, skip + count) of them; skip < size. */
static enum nt_status multiply_slots(struct nt_arrow_slots *slots, uint64_t size, uint64_t skip,
                                     uint64_t count, struct nt_error *error)
{
    slots->first_row *= size;
    slots->count = count;
    if (!slots->marks) {
        slots->first_row += skip;
        slots->rows = count;
        return NT_OK;
    }
    uint8_t *marks = malloc(count + 1);
    NT_TRY(nt_check_memory(marks, error));
    if (skip)
        slots->first_row += slots->marks[0] & NT_ARROW_SLOT_PRESENT ? skip : 0;
    slots->rows = 0;
    for (uint64_t i = 0; i < count; i++) {
        marks[i] = slots->marks[(skip + i) / size];
        slots->rows += marks[i] & NT_ARROW_SLOT_PRESENT;
    }
    free(slots->marks);
    slots->marks = marks;
    return NT_OK;
}

static enum nt_status make_marks(struct nt_arrow_slots *slots, struct nt_error *error)
{
    if (slots->marks)
        return NT_OK;
    slots->marks = malloc(slots->count + 1);
    NT_TRY(nt_check_memory(slots->marks, error));
    memset(slots->marks, NT_ARROW_SLOT_VALID, slots->count);
    return NT_OK;
}

/* Applies a sparse optional: each of its rows has at most one row below. */
static enum nt_status pass_optional(const struct nt_arrow *arrow, struct nt_arrow_slots *slots,
                                    const struct nt_arrow_step *step, struct nt_error *error)
{
    NT_AUTO_FREE uint64_t *ends = malloc((slots->rows + 1) * sizeof(*ends));
    NT_TRY(ends ? make_marks(slots, error) : nt_fail_memory(error));
    NT_TRY(nt_arrow_read_stream(arrow, step->stream, slots->first_row * sizeof(*ends), ends,
                                (slots->rows + 1) * sizeof(*ends), error));
    uint64_t row = 0;
    for (uint64_t i = 0; i < slots->count; i++) {
        if (!(slots->marks[i] & NT_ARROW_SLOT_PRESENT))
            continue;
        uint64_t values = ends[row + 1] - ends[row];
        if (values > 1)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "optional: row %" PRIu64 ": expected at most 1 value, found %" PRIu64,
                           slots->first_row + row, values);
        if (values == 0)
            slots->marks[i] = SLOT_ABSENT;
        row++;
    }
    slots->rows = ends[slots->rows] - ends[0];
    slots->first_row = ends[0];
    return NT_OK;
}

/* Applies a row mask (a dense optional or nullable field): every row is stored, valid or not. */
static enum nt_status pass_valid(const struct nt_arrow *arrow, struct nt_arrow_slots *slots, uint32_t stream,
                                 struct nt_error *error)
{
    NT_AUTO_FREE uint8_t *valid = malloc(slots->rows + 1);
    NT_TRY(valid ? make_marks(slots, error) : nt_fail_memory(error));
    NT_TRY(nt_arrow_read_stream(arrow, stream, slots->first_row, valid, slots->rows, error));
    for (uint64_t i = 0, row = 0; i < slots->count; i++)
        if (slots->marks[i] & NT_ARROW_SLOT_PRESENT && !valid[row++])
            slots->marks[i] = NT_ARROW_SLOT_PRESENT;
    return NT_OK;
}

/* Applies an alternative of a variant: each row with its tag has one row below. */
static enum nt_status pass_alternative(const struct slot_reader *reader, struct nt_arrow_slots *slots,
                                       const struct nt_arrow_step *step)
{
    uint64_t row = 0, left = 0;
    NT_AUTO_FREE uint32_t *tags = malloc((slots->rows + 1) * sizeof(*tags));
    NT_TRY(tags ? make_marks(slots, reader->error) : nt_fail_memory(reader->error));
    NT_TRY(arrow_read_tags(reader->arrow, step, reader->cluster, slots->first_row, slots->rows, tags,
                           &slots->first_row, reader->error));
    for (uint64_t i = 0; i < slots->count; i++) {
        if (!(slots->marks[i] & NT_ARROW_SLOT_PRESENT))
            continue;
        if (tags[row++] == step->tag)
            left++;
        else
            slots->marks[i] = SLOT_ABSENT;
    }
    slots->rows = left;
    return NT_OK;
}

/* `first` and `count` are the requested slots after the step; `before` is the first slot before it. */
static enum nt_status pass_step(const struct slot_reader *reader, struct nt_arrow_slots *slots,
                                const struct nt_arrow_step *step, uint64_t before, uint64_t first,
                                uint64_t count)
{
    switch (step->kind) {
    case NT_ARROW_STEP_SIZE:
        return multiply_slots(slots, step->size, first - before * step->size, count, reader->error);
    case NT_ARROW_STEP_OPTIONAL:
        return pass_optional(reader->arrow, slots, step, reader->error);
    case NT_ARROW_STEP_DENSE_OPTIONAL:
        return pass_valid(reader->arrow, slots, step->stream, reader->error);
    case NT_ARROW_STEP_ALTERNATIVE:
        break;
    }
    return pass_alternative(reader, slots, step);
}

/* Resolves slots [first, first + count) to rows. The caller always frees slots->marks. */
static enum nt_status resolve(const struct slot_reader *reader, uint64_t first, uint64_t count,
                              struct nt_arrow_slots *slots)
{
    const struct nt_arrow_node *node = reader->node;
    const struct nt_arrow_step *steps = nt_arrow_steps(reader->arrow, node);
    uint64_t firsts[2 * NT_MAX_DEPTH + 9], counts[2 * NT_MAX_DEPTH + 9];
    firsts[node->step_count] = first;
    counts[node->step_count] = count;
    for (uint32_t k = node->step_count; k-- > 0;) {
        uint64_t size = steps[k].kind == NT_ARROW_STEP_SIZE ? steps[k].size : 1;
        uint64_t end = firsts[k + 1] + counts[k + 1];
        firsts[k] = firsts[k + 1] / size;
        counts[k] = end / size + (end % size != 0) - firsts[k];
    }
    *slots = (struct nt_arrow_slots){
        .first_row = nt_arrow_row_space_begin(reader->arrow, node, reader->cluster) + firsts[0],
        .rows = counts[0],
        .count = counts[0],
    };
    for (uint32_t k = 0; k < node->step_count; k++)
        NT_TRY(pass_step(reader, slots, &steps[k], firsts[k], firsts[k + 1], counts[k + 1]));
    return NT_OK;
}

/* Same, and applies the row mask of the node. */
static enum nt_status resolve_valid(const struct slot_reader *reader, uint64_t first, uint64_t count,
                                    struct nt_arrow_slots *slots)
{
    NT_TRY(resolve(reader, first, count, slots));
    if (reader->node->valid != NT_NONE)
        NT_TRY(pass_valid(reader->arrow, slots, reader->node->valid, reader->error));
    return NT_OK;
}

/* Returns how many slots to count together, and how many of them to read: one if all rows are equal. */
static enum nt_status next_piece(const struct slot_reader *reader, uint64_t first, uint64_t slots,
                                 uint64_t *count_ret, uint64_t *looked_ret)
{
    const struct nt_arrow_node *node = reader->node;
    uint64_t equal = 1;
    if (node->valid != NT_NONE && !node->step_count)
        NT_TRY(nt_arrow_equal_elements(reader->arrow, node->valid,
                                       nt_arrow_row_space_begin(reader->arrow, node, reader->cluster) + first,
                                       &equal, reader->error));
    bool is_equal = equal > NT_ARROW_PIECE_SLOTS;
    *count_ret = nt_min(slots - first, is_equal ? equal : NT_ARROW_PIECE_SLOTS);
    *looked_ret = is_equal ? 1 : *count_ret;
    return NT_OK;
}

enum nt_status nt_arrow_count_valid(const struct nt_arrow *arrow, uint32_t node, uint32_t cluster,
                                    uint64_t slots, uint64_t *count_ret, struct nt_error *error)
{
    struct slot_reader reader = {
        .arrow = arrow, .cluster = cluster, .node = &arrow->nodes[node], .error = error};
    uint64_t valid = 0, count = 0, looked;
    for (uint64_t first = 0; first < slots; first += count) {
        NT_CLEANUP(nt_arrow_slots_deinit) struct nt_arrow_slots piece = {0};
        NT_TRY(next_piece(&reader, first, slots, &count, &looked));
        NT_TRY(resolve_valid(&reader, first, looked, &piece));
        for (uint64_t i = 0; i < looked; i++)
            if (!piece.marks || piece.marks[i] == NT_ARROW_SLOT_VALID)
                valid += count / looked;
    }
    *count_ret = valid;
    return NT_OK;
}

enum nt_status nt_arrow_resolve_slots(const struct nt_arrow *arrow, const struct nt_arrow_node *node,
                                      uint32_t cluster, bool is_validity, uint64_t first, uint64_t count,
                                      struct nt_arrow_slots *slots, struct nt_error *error)
{
    const struct slot_reader reader = {arrow, node, cluster, error};
    return (is_validity ? resolve_valid : resolve)(&reader, first, count, slots);
}
