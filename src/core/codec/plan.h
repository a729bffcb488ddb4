/* SPDX-License-Identifier: MIT
 *
 * Decode pipelines for pages that need more than one encoding: a list of steps over the page and its
 * dictionary pages.
 */
#ifndef NT_CORE_CODEC_PLAN_H
#define NT_CORE_CODEC_PLAN_H

#include "core/codec/codec.h"
#include "formats/lance/decode/decode.h"

struct nt_page;

enum nt_step_kind {
    NT_STEP_DECOMPRESS, /* bytes, by a row of the compressions */
    NT_STEP_DECODE,     /* bytes, by a row of the encodings */
    NT_STEP_DICTIONARY, /* elements of the second operand, by the first one's, which number them from 0 */
    NT_STEP_TREE, /* what is wanted of bytes in nested encodings; further operands are a dictionary's items */
    NT_STEP_COUNT
};

enum { NT_PLAN_STEPS = 32, NT_PLAN_INPUTS = 4, NT_PLAN_DEPTH = 4, NT_STEP_OPERANDS = 4 };

struct nt_step {
    enum nt_step_kind kind;
    enum nt_compression_kind compression; /* DECOMPRESS */
    /* 0: the page's packed bytes; 1 ...: the inputs; behind them what the steps made, in order. */
    uint32_t operands[NT_STEP_OPERANDS];
    uint64_t elements; /* how many it makes; 0: as many as the page has */
    /* What they are: DECODE: and how; DECOMPRESS: packed, so that its `bits` tell how many bytes they take.
     */
    struct nt_decoder decoder;
    const struct nt_tree *tree; /* TREE; equal ones are one, as the format makes them. Else NULL */
    struct nt_tree_want want;
};

/* The data set's, with all it points to; two of the same content are one row of its decoders. */
struct nt_plan {
    const struct nt_step *steps;
    const struct nt_page *inputs; /* whoever runs the plan has them decoded */
    uint32_t step_count, input_count;
};

struct nt_step_info {
    const char *name; /* as in JSON: "dictionary" */
    unsigned operands;
    bool makes_bytes; /* packed ones, not elements */
    /* Whether the step can work on operands of these elements (their data is not looked at). */
    enum nt_status (*check)(const struct nt_step *step, const struct nt_value *operands,
                            struct nt_error *error);
    /* Bytes that it makes, from operands that are there; false where they overflow. */
    bool (*bound)(const struct nt_step *step, uint64_t elements, uint64_t *bytes_ret);
    /* Make them: exactly as many. Operands and output never overlap. */
    enum nt_status (*run)(const struct nt_step *step, const struct nt_packed *packed, uint64_t elements,
                          const struct nt_value *operands, uint8_t *output, size_t bytes,
                          struct nt_error *error);
};

/* The row of a kind; never NULL for a member of the enum. */
const struct nt_step_info *nt_step_info(enum nt_step_kind kind);

/* A plan can be run: NT_CORRUPT where an operand is not made before it is used, or is not of a kind that the
 * step takes, or the last step does not make the decoder's elements. `inputs` are the inputs' decoders. */
enum nt_status nt_plan_check(const struct nt_decoder *decoder, const struct nt_decoder *const *inputs,
                             struct nt_error *error);

/* What nt_decode is for one step, for NT_ENCODING_PLAN: run a checked plan with `packed->inputs`. What the steps between make takes at
 * most `packed->limit` bytes together, else NT_LIMIT. */
enum nt_status nt_plan_run(const struct nt_packed *packed, uint8_t *output, struct nt_error *error);

/* Whether elements of both decoders can be made of one page together, which does once what they have in common. */
bool nt_plans_are_shared(const struct nt_decoder *a, const struct nt_decoder *b);
enum { NT_PLAN_TOGETHER = 4 };
/* nt_plan_run for up to NT_PLAN_TOGETHER decoders that are shared, each with each; all with the same bytes and the same context. */
enum nt_status nt_plan_run_together(const struct nt_packed *packed, uint8_t *const *outputs, uint32_t count,
                                    struct nt_error *error);

#endif
