/* SPDX-License-Identifier: MIT
 *
 * Variants as structs of nullable alternatives: which rows of an alternative belong to some rows of its
 * variant. The page lists do not tell, so the tags of a cluster are counted, block by block, when a byte of an
 * alternative is wanted first.
 *
 * Invariant: counted tags are in order, that is, the n-th row of a cluster that has an alternative has the n-th
 * row of that alternative, and no row of it is left over. The format would allow others; a struct cannot
 * show them, so reading them fails.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "render/arrow/arrow_internal.h"

enum { BLOCK_ROWS = 16384 };

static enum nt_status read_tags(const struct nt_arrow *arrow, const struct nt_arrow_variant *variant,
                                uint64_t first_row, uint64_t rows, uint32_t *tags, struct nt_error *error)
{
    return nt_arrow_read_stream(arrow, variant->tags, first_row * sizeof(*tags), tags, rows * sizeof(*tags),
                                error);
}

/* ---- counting ---- */

struct counting {
    const struct nt_arrow *arrow;
    const struct nt_arrow_variant *variant;
    uint32_t cluster;
    uint32_t *tags; /* [BLOCK_ROWS] */
    int64_t *index; /* [BLOCK_ROWS] */
    uint64_t counts[INT8_MAX + 1];
    struct nt_error *error;
};

static enum nt_status no_struct(const struct counting *counting, const char *what, uint64_t expected,
                                uint64_t found)
{
    const struct nt_field *field = &counting->arrow->dataset->fields[counting->variant->field];
    enum nt_status status =
        nt_fail_number(counting->error, NT_UNSUPPORTED, NT_NO_OFFSET, what, expected, found);
    nt_error_context(counting->error, "a struct of the variant of field %" PRIu32, field->id);
    return status;
}

static enum nt_status count_row(struct counting *counting, uint32_t tag, uint64_t index)
{
    const struct nt_arrow_variant *variant = counting->variant;
    if (tag > variant->alternative_count)
        return nt_fail_number(counting->error, NT_CORRUPT, NT_NO_OFFSET,
                              "the alternative of a variant, at most", variant->alternative_count, tag);
    uint64_t row = counting->counts[tag]++;
    if (tag == 0 || !variant->borders[tag])
        return NT_OK;
    row += variant->borders[tag][counting->cluster];
    if (index != row)
        return no_struct(counting, "the next row of an alternative", row, index);
    return NT_OK;
}

static enum nt_status count_block(struct counting *counting, uint64_t first_row, uint64_t rows)
{
    const struct nt_arrow_variant *variant = counting->variant;
    enum nt_status status =
        read_tags(counting->arrow, variant, first_row, rows, counting->tags, counting->error);
    if (status == NT_OK)
        status = nt_arrow_read_stream(counting->arrow, variant->index, first_row * sizeof(int64_t),
                                      counting->index, rows * sizeof(int64_t), counting->error);
    for (uint64_t i = 0; i < rows && status == NT_OK; i++)
        status = count_row(counting, counting->tags[i], (uint64_t)counting->index[i]);
    return status;
}

static enum nt_status check_totals(const struct counting *counting)
{
    const struct nt_arrow_variant *variant = counting->variant;
    for (uint32_t tag = 1; tag <= variant->alternative_count; tag++) {
        const uint64_t *borders = variant->borders[tag];
        uint64_t rows = borders ? borders[counting->cluster + 1] - borders[counting->cluster] : 0;
        if (borders && rows != counting->counts[tag])
            return no_struct(counting, "rows of an alternative", rows, counting->counts[tag]);
    }
    return NT_OK;
}

/* The counts before each block of a cluster, and before its end where that is a block's. */
static enum nt_status count_blocks(struct counting *counting, struct nt_buffer *tally)
{
    const uint64_t *borders = &counting->variant->borders[0][counting->cluster];
    size_t counts_bytes = (counting->variant->alternative_count + 1) * sizeof(counting->counts[0]);
    uint64_t rows = borders[1] - borders[0], left = rows;
    enum nt_status status = NT_OK;
    for (;; left -= BLOCK_ROWS) {
        nt_buffer_append(tally, counting->counts, counts_bytes);
        status = count_block(counting, borders[0] + (rows - left), left < BLOCK_ROWS ? left : BLOCK_ROWS);
        if (status != NT_OK || left < BLOCK_ROWS)
            break;
    }
    if (status == NT_OK)
        status = check_totals(counting);
    return status == NT_OK && tally->failed ? nt_fail_memory(counting->error) : status;
}

static enum nt_status make_tally(const struct nt_arrow *arrow, const struct nt_arrow_variant *variant,
                                 uint32_t cluster, struct nt_buffer *tally, struct nt_error *error)
{
    struct counting counting = {.arrow = arrow, .variant = variant, .cluster = cluster, .error = error};
    counting.tags = malloc(BLOCK_ROWS * sizeof(*counting.tags));
    counting.index = malloc(BLOCK_ROWS * sizeof(*counting.index));
    enum nt_status status =
        counting.tags && counting.index ? count_blocks(&counting, tally) : nt_fail_memory(error);
    free(counting.tags);
    free(counting.index);
    return status;
}

/* Made by the first who asks: [block][tag]. */
static enum nt_status find_tally(const struct nt_arrow *arrow, const struct nt_arrow_variant *variant,
                                 uint32_t cluster, const uint64_t **tally_ret, struct nt_error *error)
{
    uint64_t *tally = atomic_load_explicit(&variant->tallies[cluster], memory_order_acquire), *other = NULL;
    struct nt_buffer made = {0};
    if (!tally) {
        enum nt_status status = make_tally(arrow, variant, cluster, &made, error);
        if (status != NT_OK) {
            nt_buffer_deinit(&made);
            return status;
        }
        tally = (uint64_t *)(void *)made.bytes;
        if (!atomic_compare_exchange_strong(&variant->tallies[cluster], &other, tally)) {
            nt_buffer_deinit(&made); /* another thread came first */
            tally = other;
        }
    }
    *tally_ret = tally;
    return NT_OK;
}

/* ---- asking ---- */

enum nt_status nt_arrow_read_tags(const struct nt_arrow *arrow, const struct nt_arrow_step *step,
                                  uint32_t cluster, uint64_t first_row, uint64_t rows, uint32_t *tags,
                                  uint64_t *alternative_row_ret, struct nt_error *error)
{
    const struct nt_arrow_variant *variant = &arrow->variants[step->variant];
    const uint64_t *tally;
    enum nt_status status = find_tally(arrow, variant, cluster, &tally, error);
    if (status != NT_OK)
        return status;
    uint64_t within = first_row - variant->borders[0][cluster], skip = within % BLOCK_ROWS;
    uint64_t row = variant->borders[step->tag][cluster] +
                   tally[within / BLOCK_ROWS * (variant->alternative_count + 1) + step->tag];
    uint32_t *before = malloc((skip + 1) * sizeof(*before));
    status =
        before ? read_tags(arrow, variant, first_row - skip, skip, before, error) : nt_fail_memory(error);
    for (uint64_t i = 0; i < skip && status == NT_OK; i++)
        row += before[i] == step->tag;
    free(before);
    if (status == NT_OK)
        status = read_tags(arrow, variant, first_row, rows, tags, error);
    *alternative_row_ret = row;
    return status;
}

void nt_arrow_variant_deinit(struct nt_arrow_variant *variant, uint32_t cluster_count)
{
    for (uint32_t tag = 0; variant->borders && tag <= variant->alternative_count; tag++)
        free(variant->borders[tag]);
    for (uint32_t cluster = 0; variant->tallies && cluster < cluster_count; cluster++)
        free(variant->tallies[cluster]);
    free(variant->borders);
    free(variant->tallies);
    variant->borders = NULL;
    variant->tallies = NULL;
}
