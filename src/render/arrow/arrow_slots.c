/* SPDX-License-Identifier: MIT
 *
 * In: slots of an Arrow node. Out: which rows of its streams are behind them: optionals and variants leave some out, arrays
 * multiply them.
 */
#include "render/arrow/arrow_slots.h"

#include <stdlib.h>
#include <string.h>

enum { SLOT_ABSENT = 0 };

struct reading {
    const struct nt_arrow *arrow;
    const struct nt_arrow_node *node;
    uint32_t cluster;
    struct nt_error *error;
};

uint64_t nt_arrow_row_space_begin(const struct nt_arrow *arrow, const struct nt_arrow_node *node,
                                  uint32_t cluster)
{
    while (!node->begins_row_space)
        node = &arrow->nodes[node->parent];
    return node->space_borders[cluster];
}

/* Each of the slots becomes `size` slots, of which [skip, skip + count) are kept; skip < size. */
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
    if (!marks)
        return nt_fail_memory(error);
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
    if (!slots->marks)
        return nt_fail_memory(error);
    memset(slots->marks, NT_ARROW_SLOT_VALID, slots->count);
    return NT_OK;
}

/* A sparse optional: each of its rows has no or one row below. */
static enum nt_status pass_optional(const struct nt_arrow *arrow, struct nt_arrow_slots *slots,
                                    const struct nt_arrow_step *step, struct nt_error *error)
{
    uint64_t *ends = malloc((slots->rows + 1) * sizeof(*ends));
    enum nt_status status = ends ? make_marks(slots, error) : nt_fail_memory(error);
    if (status == NT_OK)
        status = nt_arrow_read_stream(arrow, step->stream, slots->first_row * sizeof(*ends), ends,
                                      (slots->rows + 1) * sizeof(*ends), error);
    if (status != NT_OK)
        goto out;
    uint64_t row = 0;
    for (uint64_t i = 0; i < slots->count; i++) {
        if (!(slots->marks[i] & NT_ARROW_SLOT_PRESENT))
            continue;
        uint64_t values = ends[row + 1] - ends[row];
        if (values > 1) {
            status = nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "optional: row %llu has %llu values",
                             (unsigned long long)(slots->first_row + row), (unsigned long long)values);
            goto out;
        }
        if (values == 0)
            slots->marks[i] = SLOT_ABSENT;
        row++;
    }
    uint64_t first = ends[0];
    slots->rows = ends[slots->rows] - first;
    slots->first_row = first;
out:
    free(ends);
    return status;
}

/* A dense optional, or a nullable field: a row is stored for each of its rows, valid or not. */
static enum nt_status pass_valid(const struct nt_arrow *arrow, struct nt_arrow_slots *slots, uint32_t stream,
                                 struct nt_error *error)
{
    uint8_t *valid = malloc(slots->rows + 1);
    enum nt_status status = valid ? make_marks(slots, error) : nt_fail_memory(error);
    if (status == NT_OK)
        status = nt_arrow_read_stream(arrow, stream, slots->first_row, valid, slots->rows, error);
    for (uint64_t i = 0, row = 0; status == NT_OK && i < slots->count; i++)
        if (slots->marks[i] & NT_ARROW_SLOT_PRESENT && !valid[row++])
            slots->marks[i] = NT_ARROW_SLOT_PRESENT;
    free(valid);
    return status;
}

/* An alternative of a variant: those of its rows that have it have one row below each. */
static enum nt_status pass_alternative(const struct reading *reading, struct nt_arrow_slots *slots,
                                       const struct nt_arrow_step *step)
{
    uint64_t first_row = 0, row = 0, left = 0;
    uint32_t *tags = malloc((slots->rows + 1) * sizeof(*tags));
    enum nt_status status = tags ? make_marks(slots, reading->error) : nt_fail_memory(reading->error);
    if (status == NT_OK)
        status = nt_arrow_read_tags(reading->arrow, step, reading->cluster, slots->first_row, slots->rows,
                                    tags, &first_row, reading->error);
    for (uint64_t i = 0; status == NT_OK && i < slots->count; i++) {
        if (!(slots->marks[i] & NT_ARROW_SLOT_PRESENT))
            continue;
        if (tags[row++] == step->tag)
            left++;
        else
            slots->marks[i] = SLOT_ABSENT;
    }
    slots->first_row = first_row;
    slots->rows = left;
    free(tags);
    return status;
}

/* `first` and `count` are the slots wanted behind the step, `before` the first in front of it. */
static enum nt_status pass_step(const struct reading *reading, struct nt_arrow_slots *slots,
                                const struct nt_arrow_step *step, uint64_t before, uint64_t first,
                                uint64_t count)
{
    switch (step->kind) {
    case NT_ARROW_STEP_SIZE:
        return multiply_slots(slots, step->size, first - before * step->size, count, reading->error);
    case NT_ARROW_STEP_OPTIONAL:
        return pass_optional(reading->arrow, slots, step, reading->error);
    case NT_ARROW_STEP_DENSE_OPTIONAL:
        return pass_valid(reading->arrow, slots, step->stream, reading->error);
    case NT_ARROW_STEP_ALTERNATIVE:
        break;
    }
    return pass_alternative(reading, slots, step);
}

/* The rows of slots [first, first + count). slots->marks is the caller's to free, also after a failure. */
static enum nt_status resolve(const struct reading *reading, uint64_t first, uint64_t count,
                              struct nt_arrow_slots *slots)
{
    const struct nt_arrow_node *node = reading->node;
    const struct nt_arrow_step *steps = nt_arrow_steps(reading->arrow, node);
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
        .first_row = nt_arrow_row_space_begin(reading->arrow, node, reading->cluster) + firsts[0],
        .rows = counts[0],
        .count = counts[0],
    };
    enum nt_status status = NT_OK;
    for (uint32_t k = 0; k < node->step_count && status == NT_OK; k++)
        status = pass_step(reading, slots, &steps[k], firsts[k], firsts[k + 1], counts[k + 1]);
    return status;
}

/* The same, where only those count as valid that are so themselves. */
static enum nt_status resolve_valid(const struct reading *reading, uint64_t first, uint64_t count,
                                    struct nt_arrow_slots *slots)
{
    enum nt_status status = resolve(reading, first, count, slots);
    if (status == NT_OK && reading->node->valid != NT_NONE)
        status = pass_valid(reading->arrow, slots, reading->node->valid, reading->error);
    return status;
}

/* How many slots from one on are counted together, of which `looked_ret` are looked at: of many rows that are equal, one. */
static enum nt_status next_piece(const struct reading *reading, uint64_t first, uint64_t slots,
                                 uint64_t *count_ret, uint64_t *looked_ret)
{
    const struct nt_arrow_node *node = reading->node;
    uint64_t equal = 1, left = slots - first;
    enum nt_status status = NT_OK;
    if (node->valid != NT_NONE && !node->step_count)
        status = nt_arrow_equal_elements(
            reading->arrow, node->valid,
            nt_arrow_row_space_begin(reading->arrow, node, reading->cluster) + first, &equal, reading->error);
    bool is_equal = equal > NT_ARROW_PIECE_SLOTS;
    uint64_t most = is_equal ? equal : NT_ARROW_PIECE_SLOTS;
    *count_ret = left < most ? left : most;
    *looked_ret = is_equal ? 1 : *count_ret;
    return status;
}

enum nt_status nt_arrow_count_valid(const struct nt_arrow *arrow, uint32_t node, uint32_t cluster,
                                    uint64_t slots, uint64_t *count_ret, struct nt_error *error)
{
    struct reading reading = {
        .arrow = arrow, .cluster = cluster, .node = &arrow->nodes[node], .error = error};
    uint64_t valid = 0, count = 0, looked;
    for (uint64_t first = 0; first < slots; first += count) {
        struct nt_arrow_slots piece = {0};
        enum nt_status status = next_piece(&reading, first, slots, &count, &looked);
        if (status == NT_OK)
            status = resolve_valid(&reading, first, looked, &piece);
        for (uint64_t i = 0; status == NT_OK && i < looked; i++)
            if (!piece.marks || piece.marks[i] == NT_ARROW_SLOT_VALID)
                valid += count / looked;
        free(piece.marks);
        if (status != NT_OK)
            return status;
    }
    *count_ret = valid;
    return NT_OK;
}

enum nt_status nt_arrow_resolve_slots(const struct nt_arrow *arrow, const struct nt_arrow_node *node,
                                      uint32_t cluster, bool is_validity, uint64_t first, uint64_t count,
                                      struct nt_arrow_slots *slots, struct nt_error *error)
{
    const struct reading reading = {arrow, node, cluster, error};
    return (is_validity ? resolve_valid : resolve)(&reading, first, count, slots);
}
