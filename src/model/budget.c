/* SPDX-License-Identifier: MIT
 *
 * In: counts from a file's metadata. Out: whether the file is large enough to ask for so many.
 */
#include "model/budget.h"

#include <inttypes.h>

#include "base/overflow.h"

/* A file of nothing but metadata that is compressed as well as text is takes 64 times its bytes; the first
 * megabytes are given to the smallest file. */
enum { FREE_BYTES = 8 << 20, BYTES_PER_SOURCE_BYTE = 64 };

static const struct nt_cost_info costs[NT_COST_COUNT] = {
    [NT_COST_ENVELOPE_BYTE] = {.name = "bytes of envelopes", .bytes = 4},
    [NT_COST_DATASET] = {.name = "data sets", .bytes = 8192},
    [NT_COST_FIELD] = {.name = "fields", .bytes = 512},
    [NT_COST_COLUMN] = {.name = "columns", .bytes = 256},
    [NT_COST_GROUP] = {.name = "cluster groups", .bytes = 256},
    [NT_COST_CLUSTER] = {.name = "clusters", .bytes = 160},
    [NT_COST_RANGE] = {.name = "columns of clusters", .bytes = 32},
    [NT_COST_PAGE] = {.name = "pages", .bytes = 160},
    [NT_COST_STEP] = {.name = "steps of decoding", .bytes = 160},
    [NT_COST_JSON_VALUE] = {.name = "values of JSON", .bytes = 128},
};

const struct nt_cost_info *nt_cost_info(enum nt_cost cost)
{
    return &costs[cost];
}

void nt_budget_init(struct nt_budget *budget, uint64_t source_bytes, uint64_t limit)
{
    uint64_t derived;
    if (!nt_multiply(source_bytes, BYTES_PER_SOURCE_BYTE, &derived) || !nt_add(derived, FREE_BYTES, &derived))
        derived = UINT64_MAX;
    budget->limit = limit ? limit : derived;
    budget->is_fixed = limit != 0;
    atomic_init(&budget->used, 0);
}

void nt_budget_widen(struct nt_budget *budget, uint64_t source_bytes)
{
    uint64_t more;
    if (budget->is_fixed)
        return;
    if (!nt_multiply(source_bytes, BYTES_PER_SOURCE_BYTE, &more) ||
        !nt_add(budget->limit, more, &budget->limit))
        budget->limit = UINT64_MAX;
}

enum nt_status nt_budget_take(struct nt_budget *budget, enum nt_cost cost, uint64_t count, uint64_t offset,
                              struct nt_error *error)
{
    uint64_t bytes, used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    bool is_counted = nt_multiply(count, costs[cost].bytes, &bytes);
    do {
        if (!is_counted || bytes > budget->limit - used)
            return nt_fail(error, NT_LIMIT, offset,
                           "%" PRIu64 " more %s take %" PRIu64
                           " bytes, and of the limit metadatasize, %" PRIu64
                           " bytes for a file of this size, %" PRIu64 " are left",
                           count, costs[cost].name, is_counted ? bytes : UINT64_MAX, budget->limit,
                           budget->limit - used);
    } while (!atomic_compare_exchange_weak_explicit(&budget->used, &used, used + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    return NT_OK;
}

void nt_budget_give(struct nt_budget *budget, enum nt_cost cost, uint64_t count)
{
    atomic_fetch_sub_explicit(&budget->used, count * costs[cost].bytes, memory_order_relaxed);
}
