/* SPDX-License-Identifier: MIT
 *
 * In: counts from a file's metadata, and how much of that was read. Out: whether the file may ask for so many.
 */
#include "core/model/budget.h"

#include <inttypes.h>

#include "core/base/overflow.h"
#include "core/codec/worth.h"

#define MEBIBYTE (UINT64_C(1) << 20)

/* The first megabytes are given to every file. Metadata that are compressed as well as headers with a hundred thousand fields
 * are have 6 bytes a field, and such a field takes 1100 while it is read. */
enum { FREE_MEBIBYTES = 8, PER_METADATA_BYTE = 192 };

/* On a disk here, a file that has data for its fields and pages is large: there, all bytes count, and no others. But those that are no
 * metadata cost hardly anything where all are equal, so that they count only up to a bound. */
enum { PER_DISK_BYTE = 16, MOST_FOR_DISK_MEBIBYTES = 48 };

/* How large a file elsewhere is nobody knows: from here on, its metadata have less for each of their bytes. */
enum { ELSEWHERE_MEBIBYTES = 96, PER_BYTE_ELSEWHERE = 30 };

/* Above that, a file takes no more than this and its size: of a file elsewhere, what was read of it. */
enum { PLENTY_MEBIBYTES = 200, PER_FURTHER_BYTE = 16 };

static const struct nt_cost_info costs[NT_COST_COUNT] = {
    [NT_COST_ENVELOPE_BYTE] = {.name = "bytes of envelopes", .bytes = 1},
    [NT_COST_DATASET] = {.name = "data sets", .bytes = 8192},
    [NT_COST_FIELD] = {.name = "fields", .bytes = 640},
    [NT_COST_COLUMN] = {.name = "columns", .bytes = 128},
    [NT_COST_FIELD_RECORD] = {.name = "fields", .bytes = 144},
    [NT_COST_COLUMN_RECORD] = {.name = "columns", .bytes = 80},
    [NT_COST_PLAIN_GROUP] = {.name = "cluster groups", .bytes = 64},
    [NT_COST_GROUP] = {.name = "cluster groups", .bytes = 64},
    [NT_COST_CLUSTER] = {.name = "clusters", .bytes = 64},
    [NT_COST_RANGE] = {.name = "columns of clusters", .bytes = 32},
    [NT_COST_PAGE] = {.name = "pages", .bytes = 56},
    [NT_COST_STEP] = {.name = "steps of decoding", .bytes = 160},
    [NT_COST_JSON_VALUE] = {.name = "values of JSON", .bytes = 128},
};

const struct nt_cost_info *nt_cost_info(enum nt_cost cost)
{
    return &costs[cost];
}

/* ---- the limit ---- */

static uint64_t least(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

/* Or UINT64_MAX. */
static uint64_t times_and(uint64_t bytes, uint64_t factor, uint64_t more)
{
    uint64_t sum;
    return nt_multiply(bytes, factor, &sum) && nt_add(sum, more, &sum) ? sum : UINT64_MAX;
}

static uint64_t limit_on_disk(uint64_t metadata, uint64_t disk)
{
    uint64_t further = least(times_and(metadata, PER_FURTHER_BYTE, 0), disk);
    return least(times_and(disk, PER_DISK_BYTE, FREE_MEBIBYTES * MEBIBYTE),
                 times_and(further, 1, PLENTY_MEBIBYTES * MEBIBYTE));
}

static uint64_t limit_elsewhere(uint64_t metadata)
{
    return least(times_and(metadata, PER_BYTE_ELSEWHERE, ELSEWHERE_MEBIBYTES * MEBIBYTE),
                 times_and(metadata, 1, PLENTY_MEBIBYTES * MEBIBYTE));
}

static void follow(struct nt_budget *budget)
{
    if (budget->is_fixed)
        return;
    uint64_t metadata = budget->metadata_bytes;
    if (budget->is_on_disk)
        metadata = least(metadata, budget->disk_bytes);
    uint64_t disk =
        least(times_and(budget->disk_bytes, PER_DISK_BYTE, 0), MOST_FOR_DISK_MEBIBYTES * MEBIBYTE);
    uint64_t limit = times_and(metadata, PER_METADATA_BYTE, FREE_MEBIBYTES * MEBIBYTE + disk);
    limit = least(limit, budget->is_on_disk ? limit_on_disk(metadata, budget->disk_bytes)
                                            : limit_elsewhere(metadata));
    atomic_store_explicit(&budget->limit, least(limit, budget->ceiling), memory_order_relaxed);
}

void nt_budget_init(struct nt_budget *budget, uint64_t limit, uint64_t ceiling)
{
    *budget = (struct nt_budget){.is_fixed = limit != 0, .ceiling = ceiling};
    atomic_init(&budget->limit, limit);
    atomic_init(&budget->used, 0);
    pthread_mutex_init(&budget->lock, NULL);
    follow(budget);
}

void nt_budget_deinit(struct nt_budget *budget)
{
    if (budget->total)
        atomic_fetch_sub_explicit(&budget->total->used, budget->used, memory_order_relaxed);
    budget->total = NULL;
    nt_covered_deinit(&budget->covered);
    pthread_mutex_destroy(&budget->lock);
}

static void add(struct nt_budget *budget, uint64_t disk_bytes, uint64_t metadata_bytes)
{
    if (!nt_add(budget->disk_bytes, disk_bytes, &budget->disk_bytes))
        budget->disk_bytes = UINT64_MAX;
    if (!nt_add(budget->metadata_bytes, metadata_bytes, &budget->metadata_bytes))
        budget->metadata_bytes = UINT64_MAX;
    follow(budget);
}

void nt_budget_add_disk(struct nt_budget *budget, uint64_t bytes, bool is_all)
{
    pthread_mutex_lock(&budget->lock);
    budget->is_on_disk |= is_all;
    add(budget, bytes, 0);
    pthread_mutex_unlock(&budget->lock);
}

void nt_budget_add_metadata(struct nt_budget *budget, uint64_t bytes)
{
    pthread_mutex_lock(&budget->lock);
    add(budget, 0, bytes);
    pthread_mutex_unlock(&budget->lock);
}

uint64_t nt_budget_add_stored(struct nt_budget *budget, uint64_t place, const uint8_t *bytes, size_t count,
                              bool is_compressed)
{
    if (budget->is_fixed)
        return 0;
    uint64_t worth = nt_worth(bytes, count, is_compressed);
    pthread_mutex_lock(&budget->lock);
    worth = least(worth, nt_covered_add(&budget->covered, place, count));
    add(budget, 0, worth);
    pthread_mutex_unlock(&budget->lock);
    return worth;
}

void nt_budget_withdraw(struct nt_budget *budget, uint64_t metadata_bytes)
{
    pthread_mutex_lock(&budget->lock);
    budget->metadata_bytes -= metadata_bytes;
    follow(budget);
    pthread_mutex_unlock(&budget->lock);
}

/* ---- what is taken ---- */

static enum nt_status take_bytes(struct nt_budget *budget, uint64_t bytes)
{
    uint64_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    do {
        uint64_t limit = atomic_load_explicit(&budget->limit, memory_order_relaxed);
        if (used > limit || bytes > limit - used)
            return NT_LIMIT;
    } while (!atomic_compare_exchange_weak_explicit(&budget->used, &used, used + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    return NT_OK;
}

static void give_bytes(struct nt_budget *budget, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
}

uint64_t nt_budget_used(const struct nt_budget *budget)
{
    const struct nt_budget *counted = budget->total ? budget->total : budget;
    return atomic_load_explicit(&counted->used, memory_order_relaxed);
}

uint64_t nt_budget_left(const struct nt_budget *budget)
{
    uint64_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    uint64_t limit = atomic_load_explicit(&budget->limit, memory_order_relaxed);
    uint64_t left = used < limit ? limit - used : 0;
    return budget->total ? least(left, nt_budget_left(budget->total)) : left;
}

bool nt_budget_is_tight(const struct nt_budget *budget, uint64_t bytes)
{
    enum { SMALL_PART = 16, LARGE_PART = 4 };
    uint64_t limit = atomic_load_explicit(&budget->limit, memory_order_relaxed);
    uint64_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    return bytes > limit / LARGE_PART || (bytes > limit / SMALL_PART && used > limit / 2) ||
           (budget->total && nt_budget_is_tight(budget->total, bytes));
}

/* From a budget and from the common one; or from none, and which has too little is told. */
static const struct nt_budget *take_from_both(struct nt_budget *budget, uint64_t bytes)
{
    if (take_bytes(budget, bytes) != NT_OK)
        return budget;
    if (!budget->total || take_bytes(budget->total, bytes) == NT_OK)
        return NULL;
    give_bytes(budget, bytes);
    return budget->total;
}

static enum nt_status refuse(const struct nt_budget *budget, const struct nt_budget *short_one,
                             enum nt_cost cost, uint64_t count, uint64_t bytes, uint64_t offset,
                             struct nt_error *error)
{
    const char *whose = short_one != budget ? "for all files of the chain"
                        : budget->is_fixed  ? "as it was given"
                                            : "for a file with so much metadata";
    return nt_fail(error, NT_LIMIT, offset,
                   "%" PRIu64 " more %s take %" PRIu64 " bytes, and of the limit metadatasize, %" PRIu64
                   " bytes %s, %" PRIu64 " are left",
                   count, costs[cost].name, bytes,
                   atomic_load_explicit(&short_one->limit, memory_order_relaxed), whose,
                   nt_budget_left(short_one));
}

enum nt_status nt_budget_take(struct nt_budget *budget, enum nt_cost cost, uint64_t count, uint64_t offset,
                              struct nt_error *error)
{
    uint64_t bytes = UINT64_MAX;
    bool is_counted = nt_multiply(count, costs[cost].bytes, &bytes);
    const struct nt_budget *short_one = is_counted ? take_from_both(budget, bytes) : budget;
    return short_one ? refuse(budget, short_one, cost, count, is_counted ? bytes : UINT64_MAX, offset, error)
                     : NT_OK;
}

void nt_budget_give(struct nt_budget *budget, enum nt_cost cost, uint64_t count)
{
    uint64_t bytes = count * costs[cost].bytes;
    give_bytes(budget, bytes);
    if (budget->total)
        give_bytes(budget->total, bytes);
}

enum nt_status nt_budget_join(struct nt_budget *budget, struct nt_budget *total, struct nt_error *error)
{
    uint64_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    if (take_bytes(total, used) != NT_OK)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "its metadata take %" PRIu64 " bytes, and of the limit metadatasize, %" PRIu64
                       " bytes for all files of the chain, %" PRIu64 " are left",
                       used, atomic_load_explicit(&total->limit, memory_order_relaxed),
                       nt_budget_left(total));
    budget->total = total;
    return NT_OK;
}
