/* SPDX-License-Identifier: MIT
 *
 * Where ranges of the range cache come from: requests to the network helper, the disk cache, and answers
 * to an opening.
 */
#include "remote/client/client.h"

/* A reader waits for all of a range that is so short. */
enum { SHORT_BYTES = 64 * 1024 };

/* Creates a range with a pin for the caller. NULL if out of memory. */
static struct nt_cached_range *new_range(struct nt_remote_file *file, uint64_t offset, size_t bytes)
{
    struct nt_cached_range *range = calloc(1, sizeof(*range));
    uint8_t *data = malloc(bytes);
    if (range)
        *range = (struct nt_cached_range){
            .owner = file, .offset = offset, .bytes = bytes, .data = data, .pins = 1};
    if (range && data && nt_range_cache_add(&file->range_cache, range))
        return range;
    free(data);
    free(range);
    return NULL;
}

/* ---- Requests ---- */

static bool take_bytes(struct nt_helper_request *fetch, const struct nt_fetch_answer *answer,
                       const uint8_t *bytes, size_t count)
{
    struct nt_cached_range *range = (struct nt_cached_range *)fetch;
    bool is_next = answer->kind == NT_FETCH_DATA && answer->offset == range->offset + range->got;
    if (!is_next || count > range->bytes - range->got)
        return false;
    if (!range->got)
        nt_link_request_answered(&range->link, nt_nanoseconds());
    memcpy(range->data + range->got, bytes, count);
    range->got += count;
    if (range->wanted && range->got >= range->wanted) {
        range->wanted = 0;
        pthread_cond_broadcast(&range->owner->fetcher->changed);
    }
    return true;
}

/* Ends the prefetch accounting: a reader waits, or the range is complete. */
static void count_no_more(struct nt_cached_range *range)
{
    if (!range->is_prefetch)
        return;
    range->is_prefetch = false;
    range->owner->fetcher->ahead_bytes -= range->bytes;
    range->owner->fetcher->ahead_count--;
}

/* Removes a failed range from the cache. Without waiting readers, its last user frees it. */
static void end_range(struct nt_helper_request *fetch)
{
    struct nt_cached_range *range = (struct nt_cached_range *)fetch;
    struct nt_remote_file *file = range->owner;
    if (fetch->state == NT_HELPER_REQUEST_DONE && range->got != range->bytes)
        nt_helper_request_fail_short(fetch);
    nt_link_request_done(&range->link, range->got, nt_nanoseconds());
    range->pins++; /* the pin of the active request */
    file->underway--;
    count_no_more(range);
    if (fetch->state == NT_HELPER_REQUEST_DONE) {
        nt_disk_cache_file_add(file->disk, range->offset, range->data, range->bytes);
        nt_cached_range_keep(&file->fetcher->range_space, range);
    } else
        nt_range_cache_remove(range);
    nt_cached_range_unpin(&file->fetcher->range_space, range);
}

struct nt_cached_range *nt_range_request(struct nt_remote_file *file, uint64_t offset, size_t bytes,
                                         bool is_prefetch, bool is_now)
{
    struct nt_cached_range *range = new_range(file, offset, bytes);
    if (!range)
        return NULL;
    range->fetch.take = take_bytes;
    range->fetch.end = end_range;
    range->is_prefetch = is_prefetch;
    file->underway++;
    nt_link_request_sent(file->link_estimate, &range->link, nt_nanoseconds());
    file->fetcher->ahead_bytes += is_prefetch ? bytes : 0;
    file->fetcher->ahead_count += is_prefetch;
    nt_fetcher_send(file->fetcher, &range->fetch,
                    (struct nt_fetch_request){.kind = NT_FETCH_READ,
                                              .file = file->file,
                                              .is_prefetch = !is_now,
                                              .more_follow = file->fetcher->more_follow,
                                              .offset = offset,
                                              .bytes = bytes},
                    "", 0);
    return range;
}

void nt_range_promote(struct nt_cached_range *range)
{
    if (range->is_prefetch)
        nt_fetcher_notify(range->owner->fetcher, NT_FETCH_PROMOTE, range->fetch.id, range->owner->file);
    count_no_more(range);
}

enum nt_status nt_range_wait(struct nt_cached_range *range, uint64_t needed, uint64_t deadline,
                             struct nt_error *error)
{
    struct nt_remote_file *file = range->owner;
    bool are_all = needed >= range->bytes || range->bytes <= SHORT_BYTES;
    while (range->fetch.state == NT_HELPER_REQUEST_PENDING && (are_all || range->got < needed)) {
        if (!are_all && (!range->wanted || range->wanted > needed))
            range->wanted = (size_t)needed;
        if (!nt_fetcher_wait(file->fetcher, deadline))
            return nt_fetcher_fail_timeout(file->fetcher, file->shown, error);
    }
    return range->fetch.state == NT_HELPER_REQUEST_FAILED
               ? nt_remote_fail(file, &range->fetch, range->offset, error)
               : NT_OK;
}

void nt_range_release(struct nt_cached_range *range, bool is_good)
{
    struct nt_fetcher *fetcher = range->owner->fetcher;
    if (!is_good && range->pins == 1 && range->fetch.state == NT_HELPER_REQUEST_PENDING)
        nt_fetcher_cancel(fetcher, &range->fetch);
    nt_cached_range_unpin(&fetcher->range_space, range);
}

/* ---- Other origins ---- */

/* A failure does no harm: the bytes can be requested again. */
void nt_range_keep_bytes(struct nt_remote_file *file, uint64_t offset, const uint8_t *bytes, size_t count)
{
    uint64_t next;
    if (!count || nt_range_cache_at(&file->range_cache, offset, &next) || next - offset < count)
        return;
    struct nt_cached_range *range = new_range(file, offset, count);
    if (!range)
        return;
    memcpy(range->data, bytes, count);
    nt_cached_range_keep(&file->fetcher->range_space, range);
    nt_cached_range_unpin(&file->fetcher->range_space, range);
}

struct nt_cached_range *nt_range_from_disk(struct nt_remote_file *file, uint64_t at, uint64_t next)
{
    uint64_t end;
    if (!nt_disk_cache_file_find(file->disk, at, &end))
        return NULL;
    struct nt_cached_range *range = new_range(file, at, (size_t)((end < next ? end : next) - at));
    if (!range)
        return NULL;
    if (nt_disk_cache_file_read(file->disk, at, range->data, range->bytes)) {
        nt_cached_range_keep(&file->fetcher->range_space, range);
        return range;
    }
    nt_range_cache_remove(range);
    nt_cached_range_unpin(&file->fetcher->range_space, range);
    return NULL;
}
