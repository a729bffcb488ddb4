/* SPDX-License-Identifier: MIT
 *
 * How the pages of a data set are decoded: each way once, by number. Columns of the same encoding share a
 * row, and so do pages whose list brings decoders of its own. Rows stay where they are while others are
 * added.
 */
#ifndef NT_MODEL_DECODERS_H
#define NT_MODEL_DECODERS_H

#include "core/base/arena.h"
#include "core/base/hash_table.h"
#include "core/codec/plan.h"
#include "core/model/budget.h"

struct nt_decoder_row {
    struct nt_link link;
    uint32_t number;
    uint32_t depth; /* how deep its inputs' plans have inputs themselves */
    struct nt_decoder decoder;
};

enum { NT_FIRST_DECODERS = 32, NT_DECODER_SEGMENTS = 27 };

struct nt_decoders {
    struct nt_decoder_row *segments[NT_DECODER_SEGMENTS]; /* each twice as long as the one before */
    uint32_t count;
    struct nt_hash_table table;
};

/* False without memory. */
bool nt_decoders_init(struct nt_decoders *decoders);
void nt_decoders_deinit(struct nt_decoders *decoders);

/* The number of a decoder: that of an equal one, or of a new row in the arena's memory, with a copy of its
 * plan, which is taken from the budget. A plan is checked (see nt_plan_check); its inputs' decoders were added
 * before. Not thread-safe, but others may get the rows that they know the numbers of. */
enum nt_status nt_decoders_add(struct nt_decoders *decoders, struct nt_arena *arena, struct nt_budget *budget,
                               const struct nt_decoder *decoder, uint32_t *number_ret,
                               struct nt_error *error);

static inline unsigned nt_decoder_segment(uint32_t number)
{
    return 31u - (unsigned)__builtin_clz(number / NT_FIRST_DECODERS + 1);
}

static inline uint32_t nt_decoder_segment_first(unsigned segment)
{
    return NT_FIRST_DECODERS * ((1u << segment) - 1);
}

static inline const struct nt_decoder_row *nt_decoder_row(const struct nt_decoders *decoders, uint32_t number)
{
    unsigned segment = nt_decoder_segment(number);
    return &decoders->segments[segment][number - nt_decoder_segment_first(segment)];
}

static inline const struct nt_decoder *nt_decoders_get(const struct nt_decoders *decoders, uint32_t number)
{
    return &nt_decoder_row(decoders, number)->decoder;
}

#endif
