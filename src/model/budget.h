/* SPDX-License-Identifier: MIT
 *
 * What a file's description may take: a bound in proportion to the file over all that is made from its
 * metadata (envelopes, fields, clusters, page lists), however little of it stands in the file because it is
 * compressed or shared. Thread-safe.
 */
#ifndef NT_MODEL_BUDGET_H
#define NT_MODEL_BUDGET_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/error.h"

/* What is counted. A row of the table says what one takes: the model's own memory and what is made of it
 * while it is served (names, orders, spans, lines of the layout). */
enum nt_cost {
    NT_COST_ENVELOPE_BYTE, /* uncompressed, while it is in memory */
    NT_COST_DATASET,
    NT_COST_FIELD,
    NT_COST_COLUMN,
    NT_COST_GROUP,
    NT_COST_CLUSTER,
    NT_COST_RANGE, /* a column in a cluster */
    NT_COST_PAGE,
    NT_COST_STEP,       /* or input of a plan */
    NT_COST_JSON_VALUE, /* of parsed metadata */
    NT_COST_COUNT
};

struct nt_cost_info {
    const char *name; /* "pages" */
    uint32_t bytes;
};
const struct nt_cost_info *nt_cost_info(enum nt_cost cost);

struct nt_budget {
    uint64_t limit;
    bool is_fixed; /* it was given, and does not follow the file */
    _Atomic uint64_t used;
};

/* The limit of a file of `source_bytes`, or `limit` where it is not 0. */
void nt_budget_init(struct nt_budget *budget, uint64_t source_bytes, uint64_t limit);

/* The file has so many bytes more: parts that are found one after the other. */
void nt_budget_widen(struct nt_budget *budget, uint64_t source_bytes);

/* Count so many more. NT_LIMIT with the limit's name, what is allowed and what was found where they are too
 * many; then nothing is counted. */
enum nt_status nt_budget_take(struct nt_budget *budget, enum nt_cost cost, uint64_t count, uint64_t offset,
                              struct nt_error *error);
/* Give back what was taken. */
void nt_budget_give(struct nt_budget *budget, enum nt_cost cost, uint64_t count);

#endif
