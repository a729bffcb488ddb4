/* SPDX-License-Identifier: MIT
 *
 * In: what is wanted of a remote file. Out: parts of it, of which several have the use: from the disk, or asked for, on their way, and
 * come or not.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "remote/client/remote_file.h"

static struct nt_remote_part *part_of(struct nt_fetch *fetch)
{
    return (struct nt_remote_part *)((char *)fetch - offsetof(struct nt_remote_part, fetch));
}

static bool take_bytes(struct nt_fetch *fetch, const struct nt_fetch_answer *answer, const uint8_t *bytes,
                       size_t count)
{
    struct nt_remote_part *part = part_of(fetch);
    bool is_next = answer->kind == NT_FETCH_DATA && answer->offset == part->stretch.offset + part->got;
    if (!is_next || count > part->stretch.bytes - part->got)
        return false;
    if (!part->got)
        nt_pace_answer(&part->pace, nt_nanoseconds());
    memcpy(part->stretch.data + part->got, bytes, count);
    part->got += count;
    return true;
}

/* Somebody waits for it now, or it has come to its end. */
static void count_no_more(struct nt_remote_file *file, struct nt_remote_part *part)
{
    if (!part->is_ahead)
        return;
    part->is_ahead = false;
    file->fetcher->ahead_bytes -= part->stretch.bytes;
    file->fetcher->ahead_count--;
}

/* What did not come is not found by others any more. Where nobody waits for it, it is freed by the one who gave up last. */
static void end_part(struct nt_fetch *fetch)
{
    struct nt_remote_part *part = part_of(fetch);
    struct nt_remote_file *file =
        (struct nt_remote_file *)((char *)part->stretch.file - offsetof(struct nt_remote_file, stretches));
    if (fetch->state == NT_FETCH_GOOD && part->got != part->stretch.bytes)
        nt_fetch_fall_short(fetch);
    nt_pace_end(&part->pace, part->got, nt_nanoseconds());
    part->stretch.pins++; /* by whom it was under way */
    file->underway--;
    count_no_more(file, part);
    if (fetch->state == NT_FETCH_GOOD) {
        nt_disk_cache_file_add(file->disk, part->stretch.offset, part->stretch.data, part->stretch.bytes);
        nt_cached_range_keep(&file->fetcher->room, &part->stretch);
    } else
        nt_range_cache_remove(&part->stretch);
    nt_cached_range_unpin(&file->fetcher->room, &part->stretch);
}

/* With a pin of the caller's. NULL without memory. */
static struct nt_remote_part *add_part(struct nt_remote_file *file, uint64_t offset, size_t bytes)
{
    struct nt_remote_part *part = calloc(1, sizeof(*part));
    uint8_t *data = malloc(bytes);
    if (part)
        part->stretch = (struct nt_cached_range){.offset = offset, .bytes = bytes, .data = data, .pins = 1};
    if (part && data && nt_range_cache_add(&file->stretches, &part->stretch))
        return part;
    free(data);
    free(part);
    return NULL;
}

/* What can be had again is not missed. */
void nt_remote_part_keep(struct nt_remote_file *file, uint64_t offset, const uint8_t *bytes, size_t count)
{
    uint64_t next;
    if (!count || nt_range_cache_at(&file->stretches, offset, &next) || next - offset < count)
        return;
    struct nt_remote_part *part = add_part(file, offset, count);
    if (!part)
        return;
    memcpy(part->stretch.data, bytes, count);
    nt_cached_range_keep(&file->fetcher->room, &part->stretch);
    nt_cached_range_unpin(&file->fetcher->room, &part->stretch);
}

struct nt_remote_part *nt_remote_part_from_disk(struct nt_remote_file *file, uint64_t at, uint64_t next)
{
    uint64_t end;
    if (!nt_disk_cache_file_find(file->disk, at, &end))
        return NULL;
    struct nt_remote_part *part = add_part(file, at, (size_t)((end < next ? end : next) - at));
    if (!part)
        return NULL;
    if (nt_disk_cache_file_read(file->disk, at, part->stretch.data, part->stretch.bytes)) {
        nt_cached_range_keep(&file->fetcher->room, &part->stretch);
        return part;
    }
    nt_range_cache_remove(&part->stretch);
    nt_cached_range_unpin(&file->fetcher->room, &part->stretch);
    return NULL;
}

struct nt_remote_part *nt_remote_part_ask(struct nt_remote_file *file, uint64_t offset, size_t bytes,
                                          bool is_ahead, bool is_now)
{
    struct nt_remote_part *part = add_part(file, offset, bytes);
    if (!part)
        return NULL;
    part->fetch.take = take_bytes;
    part->fetch.end = end_part;
    part->is_ahead = is_ahead;
    file->underway++;
    nt_pace_ask(file->pace, &part->pace, nt_nanoseconds());
    file->fetcher->ahead_bytes += is_ahead ? bytes : 0;
    file->fetcher->ahead_count += is_ahead;
    nt_fetcher_ask(
        file->fetcher, &part->fetch,
        (struct nt_fetch_request){
            .kind = NT_FETCH_READ, .file = file->file, .is_ahead = !is_now, .offset = offset, .bytes = bytes},
        "", 0);
    return part;
}

void nt_remote_part_want(struct nt_remote_file *file, struct nt_remote_part *part)
{
    if (part->is_ahead)
        nt_fetcher_tell(file->fetcher, NT_FETCH_WANTED, part->fetch.id, file->file);
    count_no_more(file, part);
}

void nt_remote_part_release(struct nt_remote_file *file, struct nt_remote_part *part)
{
    if (part->stretch.pins == 1 && part->fetch.link)
        nt_fetcher_drop(file->fetcher, &part->fetch);
    nt_cached_range_unpin(&file->fetcher->room, &part->stretch);
}
