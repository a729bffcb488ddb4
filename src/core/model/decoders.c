/* SPDX-License-Identifier: MIT
 *
 * Deduplicated table of decoders. Equal decoders share one row, and rows never move.
 */
#include "core/model/model.h"

#include <stddef.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/hash_table.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/codec/plan.h"
#include "core/model/budget.h"
#include "formats/lance/decode/decode.h"

_Static_assert(sizeof(struct nt_decoder) == 4 * sizeof(uint32_t) + 2 * sizeof(double) + sizeof(void *),
               "a decoder has no padding");
_Static_assert(sizeof(struct nt_step) == (2 + NT_STEP_OPERANDS) * sizeof(uint32_t) + sizeof(uint64_t) +
                                             sizeof(struct nt_decoder) + sizeof(void *) +
                                             sizeof(struct nt_tree_want),
               "a step has no padding");
_Static_assert(sizeof(struct nt_page) == 48, "a page has no padding");

bool nt_decoders_init(struct nt_decoders *decoders)
{
    *decoders = (struct nt_decoders){.count = 0};
    return nt_hash_table_init(&decoders->table);
}

void nt_decoders_deinit(struct nt_decoders *decoders)
{
    nt_hash_table_deinit(&decoders->table);
}

/* ---- equality ---- */

enum { OWN_BYTES = offsetof(struct nt_decoder, plan) };

static uint64_t hash_of(const struct nt_decoder *decoder, uint64_t seed)
{
    const struct nt_plan *plan = decoder->plan;
    uint64_t hash = nt_xxh3_seeded(decoder, OWN_BYTES, seed);
    if (!plan)
        return hash;
    hash ^= nt_xxh3_seeded(plan->steps, plan->step_count * sizeof(*plan->steps), seed);
    return hash * 3 + nt_xxh3_seeded(plan->inputs, plan->input_count * sizeof(*plan->inputs), seed);
}

static bool are_plans_equal(const struct nt_plan *a, const struct nt_plan *b)
{
    if (!a || !b)
        return a == b;
    return a->step_count == b->step_count && a->input_count == b->input_count &&
           !memcmp(a->steps, b->steps, a->step_count * sizeof(*a->steps)) &&
           (a->input_count == 0 || !memcmp(a->inputs, b->inputs, a->input_count * sizeof(*a->inputs)));
}

static const struct nt_decoder_row *find(const struct nt_decoders *decoders, const struct nt_decoder *decoder,
                                         uint64_t hash)
{
    for (struct nt_link *link = nt_hash_table_find(&decoders->table, hash); link;
         link = nt_hash_table_next(link)) {
        const struct nt_decoder_row *row = NT_LINKED(link, struct nt_decoder_row, link);
        if (!memcmp(&row->decoder, decoder, OWN_BYTES) && are_plans_equal(row->decoder.plan, decoder->plan))
            return row;
    }
    return NULL;
}

/* ---- plans ---- */

/* How deep a plan's inputs need plans themselves; 0: it has none. Their decoders have lower numbers, so that
 * there are no circles. */
static enum nt_status check_plan(const struct nt_decoders *decoders, const struct nt_decoder *decoder,
                                 uint32_t *depth_ret, struct nt_error *error)
{
    const struct nt_plan *plan = decoder->plan;
    const struct nt_decoder *inputs[NT_PLAN_INPUTS];
    *depth_ret = 0;
    for (uint32_t i = 0; i < plan->input_count && i < NT_PLAN_INPUTS; i++) {
        uint32_t number = plan->inputs[i].decoder;
        if (number >= decoders->count)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a plan's input has no decoder");
        inputs[i] = nt_decoders_get(decoders, number);
        uint32_t depth = nt_decoder_row(decoders, number)->depth + 1;
        if (depth > *depth_ret)
            *depth_ret = depth;
    }
    if (*depth_ret > NT_PLAN_DEPTH)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "inputs of plans are nested deeper than %d",
                       NT_PLAN_DEPTH);
    return nt_plan_check(decoder, inputs, error);
}

static const struct nt_plan *copy_plan(struct nt_arena *arena, const struct nt_plan *plan)
{
    struct nt_plan *copy = nt_arena_alloc(arena, 1, sizeof(*copy));
    if (!copy)
        return NULL;
    *copy = *plan;
    copy->steps = (void *)nt_arena_copy(arena, plan->steps, plan->step_count * sizeof(*plan->steps));
    copy->inputs = (void *)nt_arena_copy(arena, plan->inputs, plan->input_count * sizeof(*plan->inputs));
    return copy->steps && copy->inputs ? copy : NULL;
}

/* ---- adding ---- */

/* The row of the next number; NULL without memory. */
static struct nt_decoder_row *next_row(struct nt_decoders *decoders, struct nt_arena *arena)
{
    unsigned segment = nt_decoder_segment(decoders->count);
    struct nt_decoder_row **rows = &decoders->segments[segment];
    if (!*rows)
        *rows = nt_arena_alloc(arena, (size_t)NT_FIRST_DECODERS << segment, sizeof(**rows));
    return *rows ? *rows + (decoders->count - nt_decoder_segment_first(segment)) : NULL;
}

enum nt_status nt_decoders_add(struct nt_decoders *decoders, struct nt_arena *arena, struct nt_budget *budget,
                               const struct nt_decoder *decoder, uint32_t *number_ret, struct nt_error *error)
{
    uint32_t depth = 0;
    enum nt_status status = decoder->plan ? check_plan(decoders, decoder, &depth, error) : NT_OK;
    if (status != NT_OK)
        return status;
    uint64_t hash = hash_of(decoder, decoders->table.seed);
    const struct nt_decoder_row *known = find(decoders, decoder, hash);
    if (known) {
        *number_ret = known->number;
        return NT_OK;
    }
    if (decoders->count >= UINT32_MAX - NT_FIRST_DECODERS)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "more than 2^32 ways of decoding");
    if (decoder->plan)
        status = nt_budget_take(budget, NT_COST_STEP, decoder->plan->step_count + decoder->plan->input_count,
                                NT_NO_OFFSET, error);
    if (status != NT_OK)
        return status;
    const struct nt_plan *plan = decoder->plan ? copy_plan(arena, decoder->plan) : NULL;
    struct nt_decoder_row *row = next_row(decoders, arena);
    if (!row || (decoder->plan && !plan))
        return nt_fail_memory(error);
    row->decoder = *decoder;
    row->decoder.plan = plan;
    row->depth = depth;
    row->number = *number_ret = decoders->count++;
    nt_hash_table_insert(&decoders->table, &row->link, hash);
    return NT_OK;
}
