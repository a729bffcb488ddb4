/* SPDX-License-Identifier: MIT
 *
 * Metadata budget: charges and limits per file, coverage of metadata, bounded reads of metadata, and
 * the ceiling derived from RAM and cgroup limits.
 */
#include "core/model/budget.h"

#include <stdio.h>
#include <unistd.h>

#include "core/model/builder.h"

/* ---- Interval set ---- */

enum { MAX_OUT_OF_ORDER = 1 << 14 };

void nt_interval_set_deinit(struct nt_interval_set *covered)
{
    free(covered->ranges);
    *covered = (struct nt_interval_set){0};
}

NT_DEFINE_COUNT_UP_TO(ranges_ending_up_to, struct nt_interval, .end)

/* The first range that ends at an offset or after it. */
static size_t find(const struct nt_interval_set *covered, uint64_t offset)
{
    return offset ? ranges_ending_up_to(covered->ranges, covered->count, offset - 1) : 0;
}

static void replace(struct nt_interval_set *covered, size_t at, size_t removed, struct nt_interval range)
{
    struct nt_interval *ranges = covered->ranges;
    memmove(ranges + at + 1, ranges + at + removed, (covered->count - at - removed) * sizeof(*ranges));
    ranges[at] = range;
    covered->count += 1 - removed;
}

uint64_t nt_interval_set_add(struct nt_interval_set *covered, uint64_t first, uint64_t bytes)
{
    struct nt_interval range = {first, 0};
    if (!nt_checked_add(first, bytes, &range.end) || !bytes)
        return 0;
    size_t at = find(covered, first), end = at;
    uint64_t known = 0;
    for (; end < covered->count && covered->ranges[end].first <= range.end; end++) {
        const struct nt_interval *other = &covered->ranges[end];
        uint64_t from = other->first > first ? other->first : first;
        uint64_t to = other->end < first + bytes ? other->end : first + bytes;
        known += to - from;
        range.first = other->first < range.first ? other->first : range.first;
        range.end = other->end > range.end ? other->end : range.end;
    }
    if (end == at && at < covered->count && covered->count > MAX_OUT_OF_ORDER)
        return 0;
    if (!NT_GROW(covered->ranges, covered->count, covered->capacity))
        return 0;
    replace(covered, at, end - at, range);
    return bytes - known;
}

/* ---- Memory ceiling ---- */

#define MEBIBYTE (UINT64_C(1) << 20)

enum { PATH_BYTES = 4096 };

/* The number in a file; UINT64_MAX for "max" or a missing file. */
static uint64_t read_number(const char *path)
{
    uint64_t number = UINT64_MAX;
    FILE *file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    if (fscanf(file, "%" SCNu64, &number) != 1)
        number = UINT64_MAX;
    fclose(file);
    return number;
}

/* The limit of a group and its ancestors. */
static uint64_t read_groups(const char *mount, const char *group, const char *name)
{
    char path[PATH_BYTES], file[PATH_BYTES + 64];
    uint64_t memory = UINT64_MAX;
    if (snprintf(path, sizeof(path), "%s%s", mount, group) >= (int)sizeof(path))
        return memory;
    for (size_t end = strlen(path), first = strlen(mount); end >= first; end--) {
        if (path[end] != '/' && path[end])
            continue;
        path[end] = '\0';
        snprintf(file, sizeof(file), "%s/%s", path, name);
        memory = nt_min(memory, read_number(file));
    }
    return memory;
}

static uint64_t read_line(char *line, const char *root)
{
    char mount[PATH_BYTES];
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return UINT64_MAX;
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    controllers++;
    if (*controllers == '\0')
        return read_groups(root, group, "memory.max");
    if (strcmp(controllers, "memory") != 0)
        return UINT64_MAX;
    snprintf(mount, sizeof(mount), "%s/memory", root);
    return read_groups(mount, group, "memory.limit_in_bytes");
}

uint64_t nt_cgroup_memory(const char *groups, const char *root)
{
    char line[PATH_BYTES];
    uint64_t memory = UINT64_MAX;
    FILE *file = fopen(groups, "re");
    while (file && fgets(line, sizeof(line), file))
        memory = nt_min(memory, read_line(line, root));
    if (file)
        fclose(file);
    return memory;
}

uint64_t nt_metadata_ceiling_of(uint64_t memory_bytes)
{
    const uint64_t most = 1024 * MEBIBYTE, requested = 160 * MEBIBYTE;
    uint64_t eighth = memory_bytes / 8, room = nt_min(requested, memory_bytes / 8 * 5);
    return nt_min(most, eighth > room ? eighth : room);
}

static uint64_t memory_here;

static void find_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    uint64_t machine = pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes : UINT64_MAX;
    memory_here = nt_min(machine, nt_cgroup_memory("/proc/self/cgroup", "/sys/fs/cgroup"));
}

uint64_t nt_memory_available(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_memory);
    return memory_here;
}

uint64_t nt_metadata_ceiling(void)
{
    return nt_metadata_ceiling_of(nt_memory_available());
}

/* ---- Budget ---- */

/* Every file gets the first megabytes. Metadata that compress as well as headers of a hundred thousand
 * fields have 6 bytes per field, and such a field needs 1100 while it is read. */
enum { FREE_MEBIBYTES = 8, PER_METADATA_BYTE = 192 };

/* On a local disk, a file with data for its fields and pages is large: all allocated bytes count, and
 * no others. Bytes other than metadata cost an attacker little if all are equal, so they count only up
 * to a limit. */
enum { PER_DISK_BYTE = 18, MAX_FOR_DISK_MEBIBYTES = 48 };

/* The size of a remote file cannot be verified: above this, each byte of its metadata earns less. */
enum { ELSEWHERE_MEBIBYTES = 96, PER_BYTE_ELSEWHERE = 30 };

/* Above this, a file takes no more than this and its size (remote: what was read of it). */
enum { PLENTY_MEBIBYTES = 200, PER_FURTHER_BYTE = 16 };
/* Remote: the bytes that were read stay in the range cache, so less is left for what is built from them. */
enum { PLENTY_ELSEWHERE_MEBIBYTES = 140 };

static const struct nt_cost_info costs[NT_COST_COUNT] = {
    [NT_COST_ENVELOPE_BYTE] = {.name = "bytes of envelopes", .bytes = 1},
    [NT_COST_DATASET] = {.name = "datasets", .bytes = 8192},
    [NT_COST_FIELD] = {.name = "fields", .bytes = 640},
    [NT_COST_COLUMN] = {.name = "columns", .bytes = 128},
    [NT_COST_FIELD_RECORD] = {.name = "fields", .bytes = 144},
    [NT_COST_COLUMN_RECORD] = {.name = "columns", .bytes = 80},
    [NT_COST_GROUP_BLOCK] = {.name = "blocks of cluster groups", .bytes = 16},
    [NT_COST_GROUP_OWNER] = {.name = "cluster groups", .bytes = 60},
    [NT_COST_GROUP_RECORD] = {.name = "cluster groups", .bytes = 64},
    [NT_COST_LOADED_GROUP] = {.name = "cluster groups in memory", .bytes = 56},
    [NT_COST_GROUP_SLOT_MAP] = {.name = "blocks of cluster groups in memory", .bytes = 272},
    [NT_COST_CLUSTER] = {.name = "clusters", .bytes = 64},
    [NT_COST_RANGE] = {.name = "columns of clusters", .bytes = 32},
    [NT_COST_PAGE] = {.name = "pages", .bytes = 56},
    [NT_COST_STEP] = {.name = "decoding steps", .bytes = 160},
    [NT_COST_JSON_VALUE] = {.name = "JSON values", .bytes = 128},
};

const struct nt_cost_info *nt_cost_info(enum nt_cost cost)
{
    return &costs[cost];
}

/* ---- The limit ---- */

/* UINT64_MAX on overflow. */
static uint64_t times_and(uint64_t bytes, uint64_t factor, uint64_t more)
{
    uint64_t sum;
    return nt_checked_multiply(bytes, factor, &sum) && nt_checked_add(sum, more, &sum) ? sum : UINT64_MAX;
}

static uint64_t limit_on_disk(uint64_t metadata, uint64_t disk)
{
    uint64_t further = nt_min(times_and(metadata, PER_FURTHER_BYTE, 0), disk);
    return nt_min(times_and(disk, PER_DISK_BYTE, FREE_MEBIBYTES * MEBIBYTE),
                  times_and(further, 1, PLENTY_MEBIBYTES * MEBIBYTE));
}

static uint64_t limit_elsewhere(uint64_t metadata, bool is_in_folder)
{
    uint64_t plenty = (is_in_folder ? PLENTY_MEBIBYTES : PLENTY_ELSEWHERE_MEBIBYTES) * MEBIBYTE;
    return nt_min(times_and(metadata, PER_BYTE_ELSEWHERE, ELSEWHERE_MEBIBYTES * MEBIBYTE),
                  times_and(metadata, 1, plenty));
}

static void follow(struct nt_budget *budget)
{
    if (budget->is_fixed)
        return;
    uint64_t metadata = budget->metadata_bytes;
    if (budget->is_on_disk)
        metadata = nt_min(metadata, budget->disk_bytes);
    uint64_t disk =
        nt_min(times_and(budget->disk_bytes, PER_DISK_BYTE, 0), MAX_FOR_DISK_MEBIBYTES * MEBIBYTE);
    uint64_t limit = times_and(metadata, PER_METADATA_BYTE, FREE_MEBIBYTES * MEBIBYTE + disk);
    limit = nt_min(limit, budget->is_on_disk ? limit_on_disk(metadata, budget->disk_bytes)
                                             : limit_elsewhere(metadata, budget->is_in_folder));
    limit = limit > budget->min_limit ? limit : budget->min_limit;
    atomic_store_explicit(&budget->limit, nt_min(limit, budget->ceiling), memory_order_relaxed);
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
    nt_interval_set_deinit(&budget->covered);
    pthread_mutex_destroy(&budget->lock);
}

static void add(struct nt_budget *budget, uint64_t disk_bytes, uint64_t metadata_bytes)
{
    if (!nt_checked_add(budget->disk_bytes, disk_bytes, &budget->disk_bytes))
        budget->disk_bytes = UINT64_MAX;
    if (!nt_checked_add(budget->metadata_bytes, metadata_bytes, &budget->metadata_bytes))
        budget->metadata_bytes = UINT64_MAX;
    follow(budget);
}

void nt_budget_add_disk(struct nt_budget *budget, uint64_t bytes, bool is_all)
{
    NT_MUTEX_GUARD(&budget->lock);
    budget->is_on_disk |= is_all;
    add(budget, bytes, 0);
}

void nt_budget_set_in_folder(struct nt_budget *budget)
{
    NT_MUTEX_GUARD(&budget->lock);
    budget->is_in_folder = true;
    follow(budget);
}

void nt_budget_add_metadata(struct nt_budget *budget, uint64_t bytes)
{
    NT_MUTEX_GUARD(&budget->lock);
    add(budget, 0, bytes);
}

uint64_t nt_budget_add_stored(struct nt_budget *budget, uint64_t position, const uint8_t *bytes, size_t count,
                              bool is_compressed)
{
    if (budget->is_fixed)
        return 0;
    uint64_t worth = nt_information_bytes(bytes, count, is_compressed);
    NT_MUTEX_GUARD(&budget->lock);
    worth = nt_min(worth, nt_interval_set_add(&budget->covered, position, count));
    add(budget, 0, worth);
    return worth;
}

void nt_budget_set_min_limit(struct nt_budget *budget, uint64_t bytes)
{
    NT_MUTEX_GUARD(&budget->lock);
    budget->min_limit = bytes;
    follow(budget);
}

void nt_budget_withdraw(struct nt_budget *budget, uint64_t metadata_bytes)
{
    NT_MUTEX_GUARD(&budget->lock);
    budget->metadata_bytes -= metadata_bytes;
    follow(budget);
}

/* ---- Charges ---- */

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

/* How many bytes are left. */
static uint64_t budget_left(const struct nt_budget *budget)
{
    uint64_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    uint64_t limit = atomic_load_explicit(&budget->limit, memory_order_relaxed);
    uint64_t left = used < limit ? limit - used : 0;
    return budget->total ? nt_min(left, budget_left(budget->total)) : left;
}

bool nt_budget_is_half_used(const struct nt_budget *budget)
{
    uint64_t limit = atomic_load_explicit(&budget->limit, memory_order_relaxed);
    uint64_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    return used > limit / 2 || (budget->total && nt_budget_is_half_used(budget->total));
}

bool nt_budget_is_tight(const struct nt_budget *budget, uint64_t bytes)
{
    enum { SMALL_PART = 16, LARGE_PART = 4 };
    uint64_t limit = atomic_load_explicit(&budget->limit, memory_order_relaxed);
    return bytes > limit / LARGE_PART || (bytes > limit / SMALL_PART && nt_budget_is_half_used(budget)) ||
           (budget->total && nt_budget_is_tight(budget->total, bytes));
}

/* Takes from both budgets, or from none and returns the one with too little. */
static const struct nt_budget *take_from_both(struct nt_budget *budget, uint64_t bytes)
{
    if (take_bytes(budget, bytes) != NT_OK)
        return budget;
    if (!budget->total || take_bytes(budget->total, bytes) == NT_OK)
        return NULL;
    give_bytes(budget, bytes);
    return budget->total;
}

/* Is there more room in the budget, or in the common one, than before? */
static bool find_room(const struct nt_budget *budget)
{
    if (budget->make_room)
        return budget->make_room(budget->context);
    return budget->total && find_room(budget->total);
}

static enum nt_status refuse(const struct nt_budget *budget, const struct nt_budget *short_one,
                             enum nt_cost cost, uint64_t count, uint64_t bytes, uint64_t offset,
                             struct nt_error *error)
{
    const char *whose = short_one != budget ? "for all files of the chain"
                        : budget->is_fixed  ? "as given"
                                            : "for a file with so much metadata";
    return nt_fail(error, NT_LIMIT, offset,
                   "%" PRIu64 " more %s need %" PRIu64 " bytes, but the limit metadatasize (%" PRIu64
                   " bytes %s) leaves %" PRIu64,
                   count, costs[cost].name, bytes,
                   atomic_load_explicit(&short_one->limit, memory_order_relaxed), whose,
                   budget_left(short_one));
}

enum nt_status nt_budget_take(struct nt_budget *budget, enum nt_cost cost, uint64_t count, uint64_t offset,
                              struct nt_error *error)
{
    uint64_t bytes = UINT64_MAX;
    bool is_counted = nt_checked_multiply(count, costs[cost].bytes, &bytes);
    const struct nt_budget *short_one = is_counted ? take_from_both(budget, bytes) : budget;
    if (short_one && is_counted && find_room(budget))
        short_one = take_from_both(budget, bytes);
    return short_one ? refuse(budget, short_one, cost, count, is_counted ? bytes : UINT64_MAX, offset, error)
                     : NT_OK;
}

void nt_budget_release(struct nt_budget *budget, enum nt_cost cost, uint64_t count)
{
    uint64_t bytes = count * costs[cost].bytes;
    give_bytes(budget, bytes);
    if (budget->total)
        give_bytes(budget->total, bytes);
}

void nt_budget_set_make_room(struct nt_budget *budget, nt_budget_make_room *make_room, void *context)
{
    budget->make_room = make_room;
    budget->context = context;
    if (budget->total)
        nt_budget_set_make_room(budget->total, make_room, context);
}

enum nt_status nt_budget_join(struct nt_budget *budget, struct nt_budget *total, struct nt_error *error)
{
    uint64_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    if (take_bytes(total, used) != NT_OK)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "its metadata needs %" PRIu64 " bytes, but the limit metadatasize (%" PRIu64
                       " bytes for all files of the chain) leaves %" PRIu64,
                       used, atomic_load_explicit(&total->limit, memory_order_relaxed), budget_left(total));
    budget->total = total;
    return NT_OK;
}

/* ---- Reading metadata ---- */

/* Smaller pieces are not read separately. */
enum { MIN_PIECE = 1 << 16 };

/* The size of the next read. */
static uint64_t piece_of(const struct nt_budget *budget, uint64_t rest)
{
    uint64_t left = budget_left(budget);
    return rest <= left || left < MIN_PIECE ? rest : left;
}

static enum nt_status read_piece(struct nt_budget *budget, struct nt_source *source,
                                 const struct nt_metadata_range *metadata_range, uint64_t done,
                                 uint64_t piece, uint8_t **bytes, struct nt_error *error)
{
    uint64_t offset = metadata_range->offset + done;
    NT_TRY(nt_budget_take(budget, NT_COST_ENVELOPE_BYTE, piece, offset, error));
    uint8_t *larger = realloc(*bytes, (size_t)(done + piece) + 1);
    if (larger)
        *bytes = larger;
    enum nt_status status =
        larger ? nt_source_read(source, offset, larger + done, (size_t)piece, error) : nt_fail_memory(error);
    if (status != NT_OK)
        nt_budget_release(budget, NT_COST_ENVELOPE_BYTE, piece);
    return status;
}

enum nt_status nt_metadata_read(struct nt_budget *budget, struct nt_source *source,
                                const struct nt_metadata_range *metadata_range, uint8_t **bytes_ret,
                                uint64_t *counted_ret, struct nt_error *error)
{
    NT_AUTO_FREE uint8_t *bytes = NULL;
    uint64_t done = 0, counted = 0;
    do {
        uint64_t piece = piece_of(budget, metadata_range->bytes - done);
        enum nt_status status = read_piece(budget, source, metadata_range, done, piece, &bytes, error);
        if (status != NT_OK) {
            nt_budget_release(budget, NT_COST_ENVELOPE_BYTE, done);
            nt_budget_withdraw(budget, counted);
            return status;
        }
        counted += nt_budget_add_stored(budget, metadata_range->position + done, bytes + done, (size_t)piece,
                                        metadata_range->is_compressed);
        done += piece;
    } while (done < metadata_range->bytes);
    if (counted_ret)
        *counted_ret = counted;
    *bytes_ret = bytes;
    bytes = NULL;
    return NT_OK;
}
