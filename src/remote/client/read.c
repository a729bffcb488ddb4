/* SPDX-License-Identifier: MIT
 *
 * Reads and prefetches of remote files: which bytes are in memory, on disk, under way, or requested now.
 */
#include "remote/client/client.h"

/* ---- Reading ---- */

static uint64_t fewest_bytes(const struct nt_remote_file *file, enum nt_prefetch_need need)
{
    bool is_exact = file->source.is_object_store || need == NT_PREFETCH_ONLY; /* objects are read whole */
    return is_exact ? 0 : need == NT_PREFETCH_COLD ? 16 * 1024 : 32 * 1024;
}

/* Readers usually continue with the next page: extends a short request, up to bytes that are in memory,
 * on disk or in flight. */
static uint64_t end_of_request(const struct nt_remote_file *file, uint64_t at, uint64_t requested,
                               uint64_t fewest, uint64_t next)
{
    uint64_t end = requested - at < fewest ? at + fewest : requested, on_disk;
    end = nt_min(end, nt_min(file->version.size, next));
    return nt_disk_cache_file_find(file->disk, at, &on_disk) ? end : nt_min(end, on_disk);
}

struct remote_read {
    struct nt_remote_file *file;
    uint64_t offset, end;
    struct nt_cached_range **ranges; /* pinned */
    size_t count, capacity;
    bool waits; /* some bytes have not arrived yet */
};

static bool add_range(struct remote_read *read, struct nt_cached_range *range)
{
    if (!NT_GROW(read->ranges, read->count, read->capacity))
        return false;
    read->ranges[read->count++] = range;
    read->waits |= !range->is_kept;
    return true;
}

/* Opening a listed file fetches no ends: the first read of one fetches that end, or a small file. Else
 * requests the missing bytes from `at` on, up to the next ones that are here. */
static struct nt_cached_range *request_bytes(struct nt_remote_file *file, uint64_t at, uint64_t end,
                                             uint64_t next, size_t piece)
{
    const uint64_t size = file->version.size;
    uint64_t bytes = size <= UINT64_C(2) * NT_FETCH_END_BYTES ? size : NT_FETCH_END_BYTES;
    uint64_t boundary = end_of_request(file, at, end, fewest_bytes(file, NT_PREFETCH_NOW), next);
    bool is_new = file->is_listed && !file->source.is_object_store && file->range_cache.count == 0;
    if (is_new && end <= bytes)
        return nt_range_request(file, 0, (size_t)bytes, false, true);
    if (is_new && at >= size - bytes)
        return nt_range_request(file, size - bytes, (size_t)bytes, false, true);
    return nt_range_request(file, at, (size_t)nt_min(boundary - at, piece), false, true);
}

/* Pins all ranges that cover the bytes, and requests missing ones. */
static enum nt_status collect(struct remote_read *read, struct nt_error *error)
{
    struct nt_remote_file *file = read->file;
    struct nt_range_cache_space *space = &file->fetcher->range_space;
    const size_t piece = (size_t)nt_ranges_split_bytes(read->end - read->offset, false, false);
    for (uint64_t at = read->offset; at < read->end;) {
        uint64_t next;
        struct nt_cached_range *range = nt_range_cache_at(&file->range_cache, at, &next);
        if (range) {
            nt_cached_range_pin(space, range);
            nt_range_promote(range);
        } else if (!(range = nt_range_from_disk(file, at, next))) {
            range = request_bytes(file, at, read->end, next, piece);
        }
        NT_TRY(nt_check_memory(range, error));
        if (!add_range(read, range)) {
            nt_cached_range_unpin(space, range);
            return nt_fail_memory(error);
        }
        at = range->offset + range->bytes;
    }
    return NT_OK;
}

/* Copies without the lock: bytes of a pinned range that have arrived do not change. */
static void copy(const struct remote_read *read, const struct nt_cached_range *range, uint8_t *output)
{
    uint64_t first = range->offset > read->offset ? range->offset : read->offset;
    uint64_t end = nt_min(range->offset + range->bytes, read->end);
    nt_fetcher_unlock(read->file->fetcher);
    memcpy(output + (first - read->offset), range->data + (first - range->offset), (size_t)(end - first));
    nt_fetcher_lock(read->file->fetcher);
}

static enum nt_status read_ranges(struct remote_read *read, uint8_t *output, uint64_t deadline,
                                  struct nt_error *error)
{
    struct nt_remote_file *file = read->file;
    struct nt_revalidation check = {.anchor = file->anchor};
    enum nt_status status = collect(read, error);
    if (read->waits)
        nt_revalidate_begin(file, &check, deadline);
    for (size_t i = 0; i < read->count && status == NT_OK; i++) {
        struct nt_cached_range *range = read->ranges[i];
        status = nt_range_wait(range, read->end - range->offset, deadline, error);
        if (status == NT_OK)
            copy(read, range, output);
    }
    for (size_t i = 0; i < read->count; i++)
        nt_range_release(read->ranges[i], status == NT_OK);
    free(read->ranges);
    return nt_revalidate_end(file, &check, deadline, status, error);
}

/* Is the whole range in memory? */
static bool is_here(const struct nt_remote_file *file, uint64_t offset, uint64_t end)
{
    uint64_t next;
    while (offset < end) {
        const struct nt_cached_range *range = nt_range_cache_at(&file->range_cache, offset, &next);
        if (!range || !range->is_kept)
            return false;
        offset = range->offset + range->bytes;
    }
    return true;
}

enum nt_status nt_remote_read_at(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                 struct nt_error *error)
{
    struct nt_remote_file *file = (struct nt_remote_file *)source;
    struct nt_error failure; /* set only on failure: zeroing it on every read is expensive */
    struct remote_read read = {.file = file, .offset = offset, .end = offset + bytes};
    nt_fetcher_lock(file->fetcher);
    uint64_t start = nt_milliseconds();
    uint64_t deadline = start + file->fetcher->milliseconds + NT_FETCH_GRACE_MILLISECONDS;
    enum nt_status status =
        is_here(file, offset, read.end) ? NT_OK : nt_remote_reopen(file, deadline, &failure);
    if (status == NT_OK && !nt_range_fits(offset, bytes, file->version.size)) /* the source has no size yet */
        status =
            nt_fail(&failure, NT_TRUNCATED, offset, "%s: %zu bytes are outside the file of %" PRIu64 " bytes",
                    file->shown, bytes, file->version.size);
    if (status == NT_OK)
        status = read_ranges(&read, buffer, deadline, &failure);
    file->fetcher->counters.waits += read.waits;
    const uint64_t now = nt_milliseconds();
    if (status == NT_UNREACHABLE && nt_backoff_check(&file->backoff, now, NULL) == NT_OK)
        nt_backoff_note(&file->backoff, &failure, now);
    file->fetcher->counters.wait_milliseconds += now - start;
    nt_fetcher_unlock(file->fetcher);
    return status == NT_OK ? NT_OK : nt_fail_copy(error, &failure);
}

/* ---- Prefetch ---- */

/* Limits the bytes and the number of prefetches, to leave room for readers. */
static bool has_room_ahead(const struct nt_fetcher *fetcher, size_t bytes)
{
    enum { MAX_PARTS = 192 };
    return fetcher->ahead_count < MAX_PARTS &&
           fetcher->ahead_bytes + bytes <= fetcher->range_space.max_bytes / 2;
}

/* The end of the bytes from `at` on that are in memory, on disk or in flight; `at` if there are none. The
 * next ones in memory or in flight begin at `next_ret`. */
static uint64_t end_of_known(const struct nt_remote_file *file, uint64_t at, uint64_t *next_ret)
{
    const struct nt_cached_range *range = nt_range_cache_at(&file->range_cache, at, next_ret);
    uint64_t on_disk;
    if (range)
        return range->offset + range->bytes;
    return nt_disk_cache_file_find(file->disk, at, &on_disk) ? on_disk : at;
}

/* Copies the extents of which some bytes must be requested. Between others, gaps are not worth it. */
static size_t copy_unknown(const struct nt_remote_file *file, const struct nt_extent *extents, size_t count,
                           struct nt_extent *unknown)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t at = extents[i].offset, end = extents[i].offset + extents[i].bytes, known, next;
        while (at < end && (known = end_of_known(file, at, &next)) > at)
            at = known;
        if (at < end)
            unknown[found++] = extents[i];
    }
    return found;
}

/* Requests the bytes that are not known yet. False if there is no more room. */
static bool ask_ahead(struct nt_remote_file *file, uint64_t at, uint64_t end, size_t piece,
                      enum nt_prefetch_need need)
{
    while (at < end) {
        uint64_t next, known = end_of_known(file, at, &next);
        if (known > at) {
            at = known;
            continue;
        }
        uint64_t boundary = end_of_request(file, at, end, fewest_bytes(file, need), next);
        size_t bytes = (size_t)nt_min(boundary - at, piece);
        struct nt_cached_range *range =
            has_room_ahead(file->fetcher, bytes)
                ? nt_range_request(file, at, bytes, true, need != NT_PREFETCH_SOON)
                : NULL;
        if (!range)
            return false;
        nt_cached_range_unpin(&file->fetcher->range_space, range);
        at += bytes;
    }
    return true;
}

static int compare_bytes(const void *one, const void *other)
{
    const struct nt_extent *a = one, *b = other;
    return a->bytes > b->bytes ? -1 : a->bytes < b->bytes ? 1 : nt_compare_u64(one, other);
}

/* Between ranges near which nothing will be read: the network helper requests short ones together. */
enum { SHORT_GAP = 4096 };

/* Stops if out of memory: the reader requests the rest. */
static void request_all(struct nt_remote_file *file, const struct nt_extent *extents, size_t count,
                        enum nt_prefetch_need need)
{
    NT_AUTO_FREE struct nt_extent *ranges = malloc(count * sizeof(*ranges));
    uint64_t bytes = 0;
    bool has_room = ranges != NULL;
    uint64_t gap = need == NT_PREFETCH_ONLY ? SHORT_GAP : nt_link_coalesce_gap(file->link_estimate);
    size_t unknown = ranges ? copy_unknown(file, extents, count, ranges) : 0;
    size_t joined = nt_ranges_coalesce(ranges, unknown, file->version.size, gap);
    for (size_t i = 0; i < joined; i++)
        bytes += ranges[i].bytes;
    const uint64_t split = nt_ranges_split_bytes(bytes, need == NT_PREFETCH_COLD, file->fetcher->reads_later);
    if (joined && need == NT_PREFETCH_ONLY) /* the last of them counts: long ones first */
        qsort(ranges, joined, sizeof(*ranges), compare_bytes);
    for (size_t i = 0; i < joined && has_room; i++) {
        file->fetcher->more_follow = i + 1 < joined;
        has_room = ask_ahead(file, ranges[i].offset, ranges[i].offset + ranges[i].bytes,
                             (size_t)nt_ranges_piece_bytes(ranges[i].bytes, split), need);
    }
    file->fetcher->more_follow = false;
}

/* Does nothing if the file is closed: the next read finds out why. */
void nt_remote_prefetch(struct nt_source *source, const struct nt_extent *extents, size_t count,
                        enum nt_prefetch_need need)
{
    struct nt_remote_file *file = (struct nt_remote_file *)source;
    NT_FETCHER_GUARD(file->fetcher);
    if (!file->has_changed && nt_backoff_check(&file->backoff, nt_milliseconds(), NULL) == NT_OK &&
        nt_remote_is_open(file))
        request_all(file, extents, count, need);
}
