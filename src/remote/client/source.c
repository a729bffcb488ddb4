/* SPDX-License-Identifier: MIT
 *
 * Remote file as a source: reads through the range cache, coalescing of nearby ranges, and prefetch.
 */
#include "remote/client/client.h"

#include <ntuple/source.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/thread.h"
#include "core/io/address.h"
#include "core/io/objects.h"
#include "core/base/scheme.h"
#include "core/io/source.h"
#include "remote/protocol.h"

/* ---- Range coalescing ---- */

_Static_assert(NT_OBJECT_MAX_BYTES + NT_LINK_MAX_GAP < NT_OBJECT_SPACE, "no range has parts of two objects");

enum { NOBODY_NOTICES = 128 * 1024, SHARE_OF_GAPS = 4 };
enum { SHORT_BYTES = 64 * 1024 };
enum { FEWEST_BYTES = 256 * 1024, FEWEST_IF_COLD = 16 * 1024 };

static int compare_bytes(const void *one, const void *other)
{
    const struct nt_extent *a = one, *b = other;
    return a->bytes > b->bytes ? -1 : a->bytes < b->bytes ? 1 : nt_compare_u64(one, other);
}

static size_t omit(struct nt_extent *extents, size_t count, uint64_t size, uint64_t *bytes_ret)
{
    size_t left = 0;
    *bytes_ret = 0;
    for (size_t i = 0; i < count; i++)
        if (extents[i].bytes && nt_fits(extents[i].offset, extents[i].bytes, size)) {
            *bytes_ret += extents[i].bytes;
            extents[left++] = extents[i];
        }
    return left;
}

static uint64_t end_of(const struct nt_extent *extent)
{
    return extent->offset + extent->bytes;
}

/* Sorts extents by offset and merges those that touch. */
static size_t melt(struct nt_extent *extents, size_t count)
{
    size_t last = 0;
    for (size_t i = 1; i < count; i++)
        if (extents[i].offset > end_of(&extents[last]))
            extents[++last] = extents[i];
        else if (end_of(&extents[i]) > end_of(&extents[last]))
            extents[last].bytes = end_of(&extents[i]) - extents[last].offset;
    return last + 1;
}

static uint64_t gap_after(const struct nt_extent *extent)
{
    return extent[1].offset - end_of(extent);
}

static uint64_t sum_of_gaps(const struct nt_extent *extents, size_t count, uint64_t most)
{
    uint64_t sum = 0;
    for (size_t i = 0; i + 1 < count; i++)
        sum += gap_after(&extents[i]) <= most ? gap_after(&extents[i]) : 0;
    return sum;
}

/* The largest size up to which all gaps fit in `bytes`; `left_ret` is the rest, for some of the gaps
 * that are one byte larger. */
static uint64_t largest_gap(const struct nt_extent *extents, size_t count, uint64_t most, uint64_t bytes,
                            uint64_t *left_ret)
{
    uint64_t least = 0;
    while (least < most) {
        uint64_t middle = most - (most - least) / 2;
        if (sum_of_gaps(extents, count, middle) <= bytes)
            least = middle;
        else
            most = middle - 1;
    }
    *left_ret = bytes - sum_of_gaps(extents, count, least);
    return least;
}

size_t nt_ranges_coalesce(struct nt_extent *extents, size_t count, uint64_t size, uint64_t gap)
{
    uint64_t bytes, left;
    size_t last = 0;
    count = omit(extents, count, size, &bytes);
    if (!count)
        return 0;
    qsort(extents, count, sizeof(*extents), nt_compare_u64);
    count = melt(extents, count);
    uint64_t all = largest_gap(extents, count, gap, NOBODY_NOTICES + bytes / SHARE_OF_GAPS, &left);
    for (size_t i = 1; i < count; i++) {
        struct nt_extent next = extents[i];
        uint64_t between = next.offset - end_of(&extents[last]);
        bool is_next = between == all + 1 && between <= gap && between <= left;
        if (between > all && !is_next) {
            extents[++last] = next;
            continue;
        }
        left -= is_next ? between : 0;
        extents[last].bytes = end_of(&next) - extents[last].offset;
    }
    return last + 1;
}

uint64_t nt_ranges_split_bytes(uint64_t bytes, bool is_cold)
{
    const uint64_t fewest = is_cold ? FEWEST_IF_COLD : FEWEST_BYTES;
    uint64_t piece = bytes / NT_LINK_CONNECTIONS + (bytes % NT_LINK_CONNECTIONS != 0);
    if (piece < fewest)
        piece = fewest;
    return piece < NT_FETCH_MAX_BYTES ? piece : NT_FETCH_MAX_BYTES;
}

uint64_t nt_ranges_piece_bytes(uint64_t bytes, uint64_t split_bytes)
{
    uint64_t count = bytes / split_bytes + (bytes % split_bytes > split_bytes / 2);
    if (count < 2 && bytes <= NT_FETCH_MAX_BYTES)
        return bytes > split_bytes ? bytes : split_bytes;
    count += (bytes - 1) / NT_FETCH_MAX_BYTES >= count;
    return bytes / count + (bytes % count != 0);
}

/* ---- Range requests ---- */

/* One request for a range of the file. */
struct nt_remote_part {
    struct nt_cached_range range;
    struct nt_helper_request fetch;
    struct nt_link_request link_estimate;
    size_t got, wanted; /* bytes; wanted: a reader waits for so many. 0: for none, or for all */
    bool is_prefetch;   /* no reader has waited yet; counted in the fetcher */
};

static struct nt_remote_part *part_of(struct nt_helper_request *fetch)
{
    return (struct nt_remote_part *)((char *)fetch - offsetof(struct nt_remote_part, fetch));
}

static struct nt_remote_file *file_of(const struct nt_remote_part *part)
{
    return (struct nt_remote_file *)((char *)part->range.file - offsetof(struct nt_remote_file, range_cache));
}

static bool take_bytes(struct nt_helper_request *fetch, const struct nt_fetch_answer *answer,
                       const uint8_t *bytes, size_t count)
{
    struct nt_remote_part *part = part_of(fetch);
    bool is_next = answer->kind == NT_FETCH_DATA && answer->offset == part->range.offset + part->got;
    if (!is_next || count > part->range.bytes - part->got)
        return false;
    if (!part->got)
        nt_link_request_answered(&part->link_estimate, nt_nanoseconds());
    memcpy(part->range.data + part->got, bytes, count);
    part->got += count;
    if (part->wanted && part->got >= part->wanted) {
        part->wanted = 0;
        pthread_cond_broadcast(&file_of(part)->fetcher->changed);
    }
    return true;
}

/* Ends the prefetch accounting: a reader waits, or the part is complete. */
static void count_no_more(struct nt_remote_file *file, struct nt_remote_part *part)
{
    if (!part->is_prefetch)
        return;
    part->is_prefetch = false;
    file->fetcher->ahead_bytes -= part->range.bytes;
    file->fetcher->ahead_count--;
}

/* Removes a failed part from the cache. Without waiting readers, its last user frees it. */
static void end_part(struct nt_helper_request *fetch)
{
    struct nt_remote_part *part = part_of(fetch);
    struct nt_remote_file *file = file_of(part);
    if (fetch->state == NT_FETCH_GOOD && part->got != part->range.bytes)
        nt_helper_request_fail_short(fetch);
    nt_link_request_done(&part->link_estimate, part->got, nt_nanoseconds());
    part->range.pins++; /* the pin of the active request */
    file->underway--;
    count_no_more(file, part);
    if (fetch->state == NT_FETCH_GOOD) {
        nt_disk_cache_file_add(file->disk, part->range.offset, part->range.data, part->range.bytes);
        nt_cached_range_keep(&file->fetcher->range_space, &part->range);
    } else
        nt_range_cache_remove(&part->range);
    nt_cached_range_unpin(&file->fetcher->range_space, &part->range);
}

/* Creates a range with a pin for the caller. NULL if out of memory. */
static struct nt_remote_part *new_part(struct nt_remote_file *file, uint64_t offset, size_t bytes)
{
    struct nt_remote_part *part = calloc(1, sizeof(*part));
    uint8_t *data = malloc(bytes);
    if (part)
        part->range = (struct nt_cached_range){.offset = offset, .bytes = bytes, .data = data, .pins = 1};
    if (part && data && nt_range_cache_add(&file->range_cache, &part->range))
        return part;
    free(data);
    free(part);
    return NULL;
}

/* A failure does no harm: the bytes can be requested again. */
void nt_remote_part_keep(struct nt_remote_file *file, uint64_t offset, const uint8_t *bytes, size_t count)
{
    uint64_t next;
    if (!count || nt_range_cache_at(&file->range_cache, offset, &next) || next - offset < count)
        return;
    struct nt_remote_part *part = new_part(file, offset, count);
    if (!part)
        return;
    memcpy(part->range.data, bytes, count);
    nt_cached_range_keep(&file->fetcher->range_space, &part->range);
    nt_cached_range_unpin(&file->fetcher->range_space, &part->range);
}

/* Loads the cached bytes of [at, next) that begin at `at`. NULL if there are none, or damaged ones. */
static struct nt_remote_part *remote_part_from_disk(struct nt_remote_file *file, uint64_t at, uint64_t next)
{
    uint64_t end;
    if (!nt_disk_cache_file_find(file->disk, at, &end))
        return NULL;
    struct nt_remote_part *part = new_part(file, at, (size_t)((end < next ? end : next) - at));
    if (!part)
        return NULL;
    if (nt_disk_cache_file_read(file->disk, at, part->range.data, part->range.bytes)) {
        nt_cached_range_keep(&file->fetcher->range_space, &part->range);
        return part;
    }
    nt_range_cache_remove(&part->range);
    nt_cached_range_unpin(&file->fetcher->range_space, &part->range);
    return NULL;
}

/* Requests a range, under the lock, and pins it for the caller. `is_prefetch`: it is a prefetch.
 * `is_now`: a reader waits for it. NULL if out of memory. */
static struct nt_remote_part *remote_part_ask(struct nt_remote_file *file, uint64_t offset, size_t bytes,
                                              bool is_prefetch, bool is_now)
{
    struct nt_remote_part *part = new_part(file, offset, bytes);
    if (!part)
        return NULL;
    part->fetch.take = take_bytes;
    part->fetch.end = end_part;
    part->is_prefetch = is_prefetch;
    file->underway++;
    nt_link_request_sent(file->link_estimate, &part->link_estimate, nt_nanoseconds());
    file->fetcher->ahead_bytes += is_prefetch ? bytes : 0;
    file->fetcher->ahead_count += is_prefetch;
    nt_fetcher_send(file->fetcher, &part->fetch,
                    (struct nt_fetch_request){.kind = NT_FETCH_READ,
                                              .file = file->file,
                                              .is_prefetch = !is_now,
                                              .offset = offset,
                                              .bytes = bytes},
                    "", 0);
    return part;
}

/* Promotes a prefetch: a reader waits for it now. */
static void promote_part(struct nt_remote_file *file, struct nt_remote_part *part)
{
    if (part->is_prefetch)
        nt_fetcher_notify(file->fetcher, NT_FETCH_PROMOTE, part->fetch.id, file->file);
    count_no_more(file, part);
}

/* Drops a pin. The last one of a reader that failed cancels an incomplete request. */
static void remote_part_release(struct nt_remote_file *file, struct nt_remote_part *part, bool is_good)
{
    if (!is_good && part->range.pins == 1 && part->fetch.state == NT_FETCH_UNDERWAY)
        nt_fetcher_cancel(file->fetcher, &part->fetch);
    nt_cached_range_unpin(&file->fetcher->range_space, &part->range);
}

/* ---- Source operations ---- */

/* ---- Reading ---- */

static uint64_t fewest_bytes(const struct nt_remote_file *file)
{
    return file->source.is_of_objects ? 0 : 32 * 1024; /* objects are read whole */
}

/* Readers usually continue with the next page: extends a short request, up to bytes that are in memory,
 * on disk or in flight. */
static uint64_t end_of_request(const struct nt_remote_file *file, uint64_t at, uint64_t requested,
                               uint64_t fewest, uint64_t next)
{
    uint64_t end = requested - at < fewest ? at + fewest : requested, on_disk;
    if (end > file->size)
        end = file->size;
    if (!nt_disk_cache_file_find(file->disk, at, &on_disk) && on_disk < end)
        end = on_disk;
    return end < next ? end : next;
}

struct reading {
    struct nt_remote_file *file;
    uint64_t offset, end;
    struct nt_remote_part **parts; /* pinned */
    size_t count, capacity;
    bool waits; /* some bytes have not arrived yet */
};

static bool add_part(struct reading *reading, struct nt_remote_part *part)
{
    struct nt_remote_part **parts =
        nt_grow(reading->parts, reading->count, &reading->capacity, sizeof(*reading->parts));
    if (!parts)
        return false;
    reading->parts = parts;
    parts[reading->count++] = part;
    return true;
}

/* Opening a listed file fetches no ends: the first read of one fetches that end, or a small file. */
static struct nt_remote_part *request_end(struct nt_remote_file *file, uint64_t at, uint64_t end)
{
    uint64_t bytes = file->size <= UINT64_C(2) * NT_FETCH_END_BYTES ? file->size : NT_FETCH_END_BYTES;
    bool is_new = file->is_listed && !file->source.is_of_objects && file->range_cache.count == 0;
    if (is_new && end <= bytes)
        return remote_part_ask(file, 0, (size_t)bytes, false, true);
    if (is_new && at >= file->size - bytes)
        return remote_part_ask(file, file->size - bytes, (size_t)bytes, false, true);
    return NULL;
}

static struct nt_remote_part *request_bytes(struct nt_remote_file *file, uint64_t at, uint64_t end,
                                            uint64_t next, size_t piece)
{
    struct nt_remote_part *part = request_end(file, at, end);
    uint64_t border = end_of_request(file, at, end, fewest_bytes(file), next);
    return part ? part
                : remote_part_ask(file, at, border - at < piece ? (size_t)(border - at) : piece, false, true);
}

/* Pins all parts that cover the range, and requests missing ones. */
static enum nt_status collect(struct reading *reading, struct nt_error *error)
{
    struct nt_remote_file *file = reading->file;
    struct nt_range_cache_space *space = &file->fetcher->range_space;
    const size_t piece = (size_t)nt_ranges_split_bytes(reading->end - reading->offset, false);
    for (uint64_t at = reading->offset; at < reading->end;) {
        uint64_t next;
        struct nt_cached_range *range = nt_range_cache_at(&file->range_cache, at, &next);
        if (range) {
            nt_cached_range_pin(space, range);
            promote_part(file, (struct nt_remote_part *)range);
        } else {
            struct nt_remote_part *part = remote_part_from_disk(file, at, next);
            if (!part)
                part = request_bytes(file, at, reading->end, next, piece);
            range = part ? &part->range : NULL;
        }
        reading->waits |= range && !range->is_kept;
        if (!range || !add_part(reading, (struct nt_remote_part *)range)) {
            if (range)
                nt_cached_range_unpin(space, range);
            return nt_fail_memory(error);
        }
        at = range->offset + range->bytes;
    }
    return NT_OK;
}

/* Waits for the needed bytes of a part, or for all of one that is short or needed as a whole. */
static enum nt_status wait_for(struct nt_remote_file *file, struct nt_remote_part *part, uint64_t needed,
                               uint64_t deadline, struct nt_error *error)
{
    bool are_all = needed >= part->range.bytes || part->range.bytes <= SHORT_BYTES;
    while (part->fetch.state == NT_FETCH_UNDERWAY && (are_all || part->got < needed)) {
        if (!are_all && (!part->wanted || part->wanted > needed))
            part->wanted = (size_t)needed;
        if (!nt_fetcher_wait(file->fetcher, deadline))
            return nt_fetcher_fail_timeout(file->fetcher, file->shown, error);
    }
    return part->fetch.state == NT_FETCH_BAD ? nt_remote_fail(file, &part->fetch, part->range.offset, error)
                                             : NT_OK;
}

/* Copies without the lock: bytes of a pinned part that have arrived do not change. */
static void copy(const struct reading *reading, const struct nt_remote_part *part, uint8_t *output)
{
    const struct nt_cached_range *range = &part->range;
    uint64_t first = range->offset > reading->offset ? range->offset : reading->offset;
    uint64_t end = range->offset + range->bytes;
    if (end > reading->end)
        end = reading->end;
    nt_fetcher_unlock(reading->file->fetcher);
    memcpy(output + (first - reading->offset), range->data + (first - range->offset), (size_t)(end - first));
    nt_fetcher_lock(reading->file->fetcher);
}

static enum nt_status read_parts(struct reading *reading, uint8_t *output, uint64_t deadline,
                                 struct nt_error *error)
{
    struct nt_remote_file *file = reading->file;
    struct nt_revalidation check = {.anchor = file->anchor};
    enum nt_status status = collect(reading, error);
    if (reading->waits)
        nt_revalidate_begin(file, &check, deadline);
    for (size_t i = 0; i < reading->count; i++) {
        if (status == NT_OK)
            status = wait_for(file, reading->parts[i], reading->end - reading->parts[i]->range.offset,
                              deadline, error);
        if (status == NT_OK)
            copy(reading, reading->parts[i], output);
    }
    for (size_t i = 0; i < reading->count; i++)
        remote_part_release(file, reading->parts[i], status == NT_OK);
    free(reading->parts);
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

static enum nt_status fetched_read_at(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                      struct nt_error *error)
{
    struct nt_remote_file *file = (struct nt_remote_file *)source;
    struct nt_error failure; /* set only on failure: zeroing it on every read is expensive */
    struct reading reading = {.file = file, .offset = offset, .end = offset + bytes};
    nt_fetcher_lock(file->fetcher);
    uint64_t start = nt_milliseconds();
    uint64_t deadline = start + file->fetcher->milliseconds + NT_FETCH_GRACE_MILLISECONDS;
    enum nt_status status =
        is_here(file, offset, reading.end) ? NT_OK : nt_remote_reopen(file, deadline, &failure);
    if (status == NT_OK && !nt_fits(offset, bytes, file->size)) /* the source has no size yet */
        status = nt_fail(&failure, NT_TRUNCATED, offset,
                         "%s: cannot read %zu bytes of a file of %" PRIu64 " bytes", file->shown, bytes,
                         file->size);
    if (status == NT_OK)
        status = read_parts(&reading, buffer, deadline, &failure);
    file->fetcher->counters.waits += reading.waits;
    const uint64_t now = nt_milliseconds();
    if (status == NT_UNREACHABLE && nt_backoff_check(&file->backoff, now, NULL) == NT_OK)
        nt_backoff_note(&file->backoff, &failure, now);
    file->fetcher->counters.wait_milliseconds += now - start;
    nt_fetcher_unlock(file->fetcher);
    return status == NT_OK ? NT_OK : nt_fail_with(error, &failure);
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
        uint64_t at = extents[i].offset, end = end_of(&extents[i]), known, next;
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
        uint64_t fewest = need == NT_PREFETCH_ONLY ? 0 : fewest_bytes(file);
        uint64_t border = end_of_request(file, at, end, fewest, next);
        size_t bytes = border - at < piece ? (size_t)(border - at) : piece;
        struct nt_remote_part *part = has_room_ahead(file->fetcher, bytes)
                                          ? remote_part_ask(file, at, bytes, true, need != NT_PREFETCH_SOON)
                                          : NULL;
        if (!part)
            return false;
        nt_cached_range_unpin(&file->fetcher->range_space, &part->range);
        at += bytes;
    }
    return true;
}

/* Stops if out of memory: the reader requests the rest. */
static void request_all(struct nt_remote_file *file, const struct nt_extent *extents, size_t count,
                        enum nt_prefetch_need need)
{
    struct nt_extent *ranges = malloc(count * sizeof(*ranges));
    uint64_t bytes = 0;
    bool has_room = ranges != NULL;
    uint64_t gap = need == NT_PREFETCH_ONLY ? NT_LINK_MIN_GAP : nt_link_coalesce_gap(file->link_estimate);
    size_t unknown = ranges ? copy_unknown(file, extents, count, ranges) : 0;
    size_t joined = nt_ranges_coalesce(ranges, unknown, file->size, gap);
    for (size_t i = 0; i < joined; i++)
        bytes += ranges[i].bytes;
    const uint64_t split = nt_ranges_split_bytes(bytes, need == NT_PREFETCH_COLD);
    if (joined && need == NT_PREFETCH_ONLY) /* the last of them counts: long ones first */
        qsort(ranges, joined, sizeof(*ranges), compare_bytes);
    for (size_t i = 0; i < joined && has_room; i++)
        has_room = ask_ahead(file, ranges[i].offset, ranges[i].offset + ranges[i].bytes,
                             (size_t)nt_ranges_piece_bytes(ranges[i].bytes, split), need);
    free(ranges);
}

/* Does nothing if the file is closed: the next read finds out why. */
static void fetched_prefetch(struct nt_source *source, const struct nt_extent *extents, size_t count,
                             enum nt_prefetch_need need)
{
    struct nt_remote_file *file = (struct nt_remote_file *)source;
    nt_fetcher_lock(file->fetcher);
    if (!file->has_changed && nt_backoff_check(&file->backoff, nt_milliseconds(), NULL) == NT_OK &&
        nt_remote_is_open(file))
        request_all(file, extents, count, need);
    nt_fetcher_unlock(file->fetcher);
}

/* Beyond half of the space, bytes could be dropped before their reader comes. */
static uint64_t fetched_spare_bytes(struct nt_source *source)
{
    struct nt_fetcher *fetcher = ((struct nt_remote_file *)source)->fetcher;
    nt_fetcher_lock(fetcher);
    uint64_t most = fetcher->range_space.max_bytes / 2;
    uint64_t used = fetcher->range_space.bytes + fetcher->ahead_bytes;
    nt_fetcher_unlock(fetcher);
    return fetcher->reads_later || used >= most ? 0 : most - used;
}

/* Waits for a range that is underway, of which a reader has seen a part. */
static void forget_range(struct nt_remote_file *file, struct nt_cached_range *range)
{
    struct nt_remote_part *part = (struct nt_remote_part *)range;
    uint64_t deadline = nt_milliseconds() + file->fetcher->milliseconds + NT_FETCH_GRACE_MILLISECONDS;
    nt_cached_range_pin(&file->fetcher->range_space, range);
    bool is_good = wait_for(file, part, range->bytes, deadline, NULL) == NT_OK;
    if (range->is_kept)
        nt_cached_range_forget(&file->fetcher->range_space, range);
    remote_part_release(file, part, is_good);
}

static bool fetched_forget(struct nt_source *source, uint64_t offset, uint64_t bytes)
{
    struct nt_remote_file *file = (struct nt_remote_file *)source;
    uint64_t end = offset + bytes, next;
    nt_fetcher_lock(file->fetcher);
    while (offset < end) {
        struct nt_cached_range *range = nt_range_cache_at(&file->range_cache, offset, &next);
        offset = range ? range->offset + range->bytes : next;
        if (range)
            forget_range(file, range);
    }
    nt_disk_cache_file_forget(file->disk, end - bytes, bytes);
    nt_fetcher_unlock(file->fetcher);
    return true;
}

/* ---- Source ---- */

/* Cached bytes belong to the opened version. A changed file is noticed by the next read that asks the
 * server; every later read fails. */
static enum nt_status fetched_check(struct nt_source *source, struct nt_error *error)
{
    struct nt_remote_file *file = (struct nt_remote_file *)source;
    nt_fetcher_lock(file->fetcher);
    enum nt_status status = file->has_changed ? nt_remote_fail_changed(file, error) : NT_OK;
    nt_fetcher_unlock(file->fetcher);
    return status;
}

static void fetched_revive(struct nt_source *source)
{
    struct nt_remote_file *file = (struct nt_remote_file *)source;
    nt_fetcher_lock(file->fetcher);
    nt_remote_revive(file);
    nt_fetcher_unlock(file->fetcher);
}

/* Opens a file that was never used, to learn its attributes. */
static enum nt_status be_known(struct nt_remote_file *file, struct nt_error *error)
{
    uint64_t start = nt_milliseconds(), most = file->fetcher->milliseconds + NT_FETCH_GRACE_MILLISECONDS;
    if (file->is_known)
        return NT_OK;
    enum nt_status status = nt_remote_reopen(file, start + most, error);
    file->fetcher->counters.wait_milliseconds += nt_milliseconds() - start;
    return status;
}

static enum nt_status fetched_stat(struct nt_source *source, struct stat *attributes, struct nt_error *error)
{
    struct nt_remote_file *file = (struct nt_remote_file *)source;
    nt_fetcher_lock(file->fetcher);
    enum nt_status status = be_known(file, error);
    *attributes = (struct stat){.st_mode = S_IFREG | 0444,
                                .st_nlink = 1,
                                .st_size = (off_t)file->size,
                                .st_uid = geteuid(),
                                .st_gid = getegid(),
                                .st_mtim.tv_sec = file->modified,
                                .st_ctim.tv_sec = file->modified};
    nt_fetcher_unlock(file->fetcher);
    return status;
}

static enum nt_status fetched_size(struct nt_source *source, uint64_t *size_ret, struct nt_error *error)
{
    struct nt_remote_file *file = (struct nt_remote_file *)source;
    if (source->is_of_objects)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s: the number of objects is unknown",
                       file->shown);
    nt_fetcher_lock(file->fetcher);
    enum nt_status status = be_known(file, error);
    *size_ret = file->size;
    nt_fetcher_unlock(file->fetcher);
    return status;
}

/* No readers are left: cancels all requests. */
static void fetched_close(struct nt_source *source)
{
    struct nt_remote_file *file = (struct nt_remote_file *)source;
    nt_fetcher_lock(file->fetcher);
    for (size_t i = file->range_cache.count; i-- > 0;)
        if (!file->range_cache.list[i]->is_kept)
            nt_fetcher_cancel(file->fetcher, &((struct nt_remote_part *)file->range_cache.list[i])->fetch);
    nt_remote_close(file);
    LIST_REMOVE(file, all);
    nt_range_cache_deinit(&file->range_cache, &file->fetcher->range_space);
    nt_disk_cache_file_close(file->disk);
    nt_fetcher_unlock(file->fetcher);
    nt_fetcher_free(file->fetcher);
    if (file->attribute_source.release)
        file->attribute_source.release(file->attribute_source.context);
    free(file->address);
    free(file->shown);
    nt_backoff_deinit(&file->backoff);
    free(file);
}

static enum nt_status fetched_open_objects(struct nt_source *source, const char *name,
                                           struct nt_source **objects_ret, struct nt_error *error);

static const struct nt_source_ops fetched_ops = {.read_at = fetched_read_at,
                                                 .check = fetched_check,
                                                 .revive = fetched_revive,
                                                 .stat = fetched_stat,
                                                 .size = fetched_size,
                                                 .prefetch = fetched_prefetch,
                                                 .spare_bytes = fetched_spare_bytes,
                                                 .forget = fetched_forget,
                                                 .open_objects = fetched_open_objects,
                                                 .close = fetched_close};

enum nt_status nt_remote_file_new(struct nt_fetcher *fetcher, const char *address, const char *shown,
                                  const char *name, const struct nt_remote_attribute_source *attribute_source,
                                  struct nt_remote_file **file_ret, struct nt_error *error)
{
    struct nt_remote_file *file = calloc(1, sizeof(*file));
    char *address_copy = strdup(address), *shown_copy = strdup(shown);
    enum nt_status status =
        file && address_copy && shown_copy ? nt_fetcher_ref(fetcher, error) : nt_fail_memory(error);
    if (status != NT_OK) {
        if (attribute_source->release)
            attribute_source->release(attribute_source->context);
        free(file);
        free(address_copy);
        free(shown_copy);
        return status;
    }
    *file =
        (struct nt_remote_file){.source = {.ops = &fetched_ops, .size = NT_UNKNOWN_SIZE, .path = shown_copy},
                                .fetcher = fetcher,
                                .address = address_copy,
                                .shown = shown_copy,
                                .name = shown_copy + strlen(shown) - strlen(name),
                                .attribute_source = *attribute_source};
    nt_fetcher_lock(fetcher);
    LIST_INSERT_HEAD(&fetcher->files, file, all);
    nt_fetcher_unlock(fetcher);
    *file_ret = file;
    return NT_OK;
}

/* ---- Objects ---- */

static char *name_below(const char *address, const char *name)
{
    struct nt_buffer text = {0};
    nt_buffer_format(&text, "%s/%s", address, name);
    return nt_buffer_take(&text);
}

static enum nt_status new_objects(const struct nt_remote_file *file, const char *name,
                                  struct nt_remote_file **objects_ret, struct nt_error *error)
{
    static const struct nt_remote_attribute_source nobody = {.get = NULL};
    char *address = name_below(file->address, name), *shown = name_below(file->shown, name);
    enum nt_status status =
        address && shown ? nt_remote_file_new(file->fetcher, address, shown, "", &nobody, objects_ret, error)
                         : nt_fail_memory(error);
    free(address);
    free(shown);
    return status;
}

/* To the network helper, the objects are a file that opens without asking a server
 * (NT_FETCH_OPEN_LISTED); each range requests an object. The file at the address is written last, so
 * its version identifies the objects. */
static enum nt_status fetched_open_objects(struct nt_source *source, const char *name,
                                           struct nt_source **objects_ret, struct nt_error *error)
{
    struct nt_remote_file *file = (struct nt_remote_file *)source;
    struct nt_remote_file *objects;
    char schemes[NT_SCHEME_LIST_BYTES];
    if (!nt_address_is_store(file->address))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "%s: cannot read its objects unless its address begins with %s", file->shown,
                       nt_scheme_list(schemes, true));
    enum nt_status status = new_objects(file, name, &objects, error);
    if (status != NT_OK)
        return status;
    objects->source.is_of_objects = true;
    nt_fetcher_lock(file->fetcher);
    objects->is_known = objects->has_listing = objects->is_listed = true;
    objects->size = INT64_MAX;
    objects->modified = file->modified;
    objects->anchor = file;
    nt_revalidate_later(objects);
    memcpy(objects->validator, file->validator, sizeof(objects->validator));
    /* open it now, so that prefetch works; if this fails, the first read reports it */
    nt_remote_reopen(objects, nt_milliseconds() + file->fetcher->milliseconds, NULL);
    nt_fetcher_unlock(file->fetcher);
    *objects_ret = &objects->source;
    return NT_OK;
}

/* ---- Opening ---- */

enum nt_status nt_remote_file_open(struct nt_remote_file *file, struct nt_error *error)
{
    return fetched_size(&file->source, &file->source.size, error);
}

bool nt_source_remote(const struct nt_source *source, struct nt_remote_names *names_ret)
{
    struct nt_remote_file *file = (struct nt_remote_file *)source;
    if (source->ops != &fetched_ops)
        return false;
    nt_fetcher_lock(file->fetcher);
    memcpy(names_ret->server, file->server, sizeof(names_ret->server));
    memcpy(names_ret->validator, file->validator, sizeof(names_ret->validator));
    nt_fetcher_unlock(file->fetcher);
    return true;
}

static enum nt_status open_with(struct nt_fetcher *fetcher, const char *address,
                                struct nt_source **source_ret, struct nt_error *error)
{
    static const struct nt_remote_attribute_source nobody = {.get = NULL};
    struct nt_remote_file *file;
    char *own = nt_address_is_store(address) ? nt_address_folder_of(address) : strdup(address);
    char *shown = own ? nt_address_redact(own) : NULL;
    enum nt_status status =
        shown ? nt_remote_file_new(fetcher, own, shown, "", &nobody, &file, error) : nt_fail_memory(error);
    free(own);
    free(shown);
    if (status != NT_OK)
        return status;
    status = nt_remote_file_open(file, error);
    if (status != NT_OK)
        nt_source_close(&file->source);
    else
        *source_ret = &file->source;
    return status;
}

enum nt_status nt_source_open_address(const char *address, struct nt_fetcher *fetcher,
                                      struct nt_source **source_ret, struct nt_error *error)
{
    struct nt_fetcher *own = NULL;
    char schemes[NT_SCHEME_LIST_BYTES];
    if (!nt_is_address(address))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: expected an address (%s)", address,
                       nt_scheme_list(schemes, false));
    enum nt_status status = nt_address_check(address, error);
    if (status == NT_OK)
        status = nt_fetcher_or_own(&fetcher, &own, error);
    if (status == NT_OK)
        status = open_with(fetcher, address, source_ret, error);
    nt_fetcher_free(own);
    return status;
}

enum nt_status nt_source_open_file(const char *path, struct nt_source **source_ret, struct nt_error *error)
{
    return nt_is_address(path) ? nt_source_open_address(path, NULL, source_ret, error)
                               : nt_source_open_local(path, source_ret, error);
}
