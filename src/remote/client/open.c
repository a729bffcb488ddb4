/* SPDX-License-Identifier: MIT
 *
 * Opens and reopens remote files. A reopened file must be the same version.
 */
#include "remote/client/client.h"

#include <stdio.h>

#include "core/base/queue.h"
#include "core/io/address.h"

/* ---- Open ---- */

/* Limit of files open in the helper, among those with a known version. */
enum { MAX_OPEN = 1024 };

/* A larger number from the helper is not credible. */
enum { MAX_ROUND_TRIPS = 16 };

struct remote_opener {
    struct nt_helper_request fetch;
    uint64_t epoch, round_trips;
    struct nt_remote_version version;
    char server[NT_FETCH_SERVER_BYTES];
    bool is_listed;   /* only the end arrives */
    bool has_listing; /* size, validator and server have arrived */
    uint8_t *ends;
    size_t got; /* bytes of the ends */
};

/* ---- Failures ---- */

/* How long after that the server is asked again. */
enum { LOOK_MILLISECONDS = 30 * 1000 };

static void note_change(struct nt_remote_file *file)
{
    if (!file->has_changed)
        file->look_due = nt_milliseconds() + LOOK_MILLISECONDS;
    file->has_changed = true;
}

enum nt_status nt_remote_fail_changed(struct nt_remote_file *file, struct nt_error *error)
{
    note_change(file);
    return nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s: was replaced or modified since it was opened",
                   file->anchor ? file->anchor->shown : file->shown);
}

/* Names the file: the path may refer to many. */
static enum nt_status fail_named(const struct nt_remote_file *file, const struct nt_helper_request *fetch,
                                 uint64_t offset, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer name = {0};
    nt_source_append_name(&file->source, offset, &name);
    return nt_helper_request_fail(fetch, name.failed ? file->shown : nt_buffer_string(&name), error);
}

/* A file that existed and is missing has changed. An object may never have existed: a missing or short
 * one means that the file is truncated. */
enum nt_status nt_remote_fail(struct nt_remote_file *file, const struct nt_helper_request *fetch,
                              uint64_t offset, struct nt_error *error)
{
    bool was_there = file->is_known, is_missing = fetch->failure == NT_FETCH_NOT_FOUND;
    if (fetch->failure == NT_FETCH_CHANGED)
        return nt_remote_fail_changed(file, error);
    if (is_missing && file->source.is_object_store) {
        fail_named(file, fetch, offset, error);
        if (error)
            error->status = NT_TRUNCATED;
        return NT_TRUNCATED;
    }
    if (was_there && is_missing) {
        note_change(file);
        return nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s: no longer exists", file->shown);
    }
    enum nt_status status = fail_named(file, fetch, offset, error);
    if (was_there && error)
        error->status = NT_UNREACHABLE; /* access worked before: a token may be renewed */
    return was_there ? NT_UNREACHABLE : status;
}

/* ---- Limit of open files ---- */

static void forget_use(struct nt_remote_file *file)
{
    struct nt_fetcher *fetcher = file->fetcher;
    if (!file->is_in_use)
        return;
    TAILQ_REMOVE(&fetcher->used, file, used);
    file->is_in_use = false;
    fetcher->open_count--;
}

void nt_remote_close(struct nt_remote_file *file)
{
    forget_use(file);
    if (nt_remote_is_open(file))
        nt_fetcher_notify(file->fetcher, NT_FETCH_CLOSE, 0, file->file);
    file->is_closed = true;
}

/* Reopening a listed file is free: it asks no server. */
static void close_oldest(struct nt_fetcher *fetcher)
{
    struct nt_remote_file *file;
    NT_TAILQ_FOREACH_REVERSE (file, &fetcher->used, nt_remote_file, used)
        if (!file->underway) {
            nt_remote_close(file);
            return;
        }
}

/* Marks the file as used. Closes the least recently used files with a validator beyond the limit. */
static void remote_note_use(struct nt_remote_file *file)
{
    struct nt_fetcher *fetcher = file->fetcher;
    if (!file->version.validator[0] || TAILQ_FIRST(&fetcher->used) == file)
        return;
    forget_use(file);
    if (fetcher->open_count >= MAX_OPEN)
        close_oldest(fetcher);
    TAILQ_INSERT_HEAD(&fetcher->used, file, used);
    file->is_in_use = true;
    fetcher->open_count++;
}

/* ---- Opening ---- */

static uint64_t end_bytes(uint64_t size)
{
    return nt_min(size, 2 * NT_FETCH_END_BYTES);
}

static bool take_names(struct remote_opener *opener, const uint8_t *bytes, size_t count)
{
    const uint8_t *end = count ? memchr(bytes, '\0', count) : NULL;
    size_t validator = end ? (size_t)(end - bytes) : 0, server = end ? count - validator - 1 : 0;
    if (!end || validator >= sizeof(opener->version.validator) || server >= sizeof(opener->server))
        return false;
    memcpy(opener->version.validator, bytes, validator);
    opener->version.validator[validator] = '\0';
    memcpy(opener->server, end + 1, server);
    opener->server[server] = '\0';
    opener->has_listing = true;
    return true;
}

/* Stores the ends one after the other, in order of arrival. */
static bool take_opened(struct nt_helper_request *fetch, const struct nt_fetch_answer *answer,
                        const uint8_t *bytes, size_t count)
{
    struct remote_opener *opener = (struct remote_opener *)fetch;
    if (answer->kind == NT_FETCH_OPENED) {
        opener->version.size = answer->size;
        opener->version.modified = answer->modified;
        opener->round_trips = nt_min(answer->offset, MAX_ROUND_TRIPS);
        return !opener->is_listed && !opener->has_listing && answer->size <= INT64_MAX &&
               take_names(opener, bytes, count);
    }
    uint64_t expected = end_bytes(opener->version.size);
    if (answer->kind != NT_FETCH_DATA || !opener->has_listing || count > expected - opener->got)
        return false;
    memcpy(opener->ends + opener->got, bytes, count);
    opener->got += count;
    return true;
}

static void end_opening(struct nt_helper_request *fetch)
{
    struct remote_opener *opener = (struct remote_opener *)fetch;
    bool is_whole =
        opener->is_listed || (opener->has_listing && opener->got == end_bytes(opener->version.size));
    if (fetch->state == NT_HELPER_REQUEST_DONE && !is_whole)
        nt_helper_request_fail_short(fetch);
}

static void keep_ends(struct nt_remote_file *file, const struct remote_opener *opener)
{
    size_t first = nt_min(opener->got, NT_FETCH_END_BYTES);
    nt_range_keep_bytes(file, 0, opener->ends, first);
    nt_range_keep_bytes(file, opener->version.size - (opener->got - first), opener->ends + first,
                        opener->got - first);
}

/* The key must not contain secrets: an address with a query may, so it is not cached. Nor is a file
 * without a validator. */
static void open_on_disk(struct nt_remote_file *file)
{
    size_t length = strlen(file->shown);
    const char *rest = strlen(file->address) >= length ? file->address + length : "?";
    char *key;
    if (!file->version.validator[0] || (*rest && *rest != '#') ||
        strncmp(file->address, file->shown, length) != 0)
        return;
    const char *server = nt_address_has_host(file->address) ? "" : file->server;
    if (asprintf(&key, "%s\n%s\n%s\n%" PRIu64 "\n", file->shown, server, file->version.validator,
                 file->version.size) < 0)
        return;
    file->disk = nt_disk_cache_file_open(&file->fetcher->disk, key, file->version.size);
    free(key);
}

static int64_t time_or_now(int64_t modified)
{
    return modified == NT_FETCH_NO_TIME ? (int64_t)time(NULL) : modified;
}

static bool is_same(const struct nt_remote_version *one, const struct nt_remote_version *other)
{
    return one->size == other->size && strcmp(one->validator, other->validator) == 0;
}

static void store_first_version(struct nt_remote_file *file, const struct remote_opener *opener)
{
    file->is_known = true;
    file->version = opener->version;
    file->version.modified = time_or_now(opener->version.modified);
    keep_ends(file, opener);
    if (!file->version.validator[0] && !file->fetcher->unversioned[0])
        memcpy(file->fetcher->unversioned, opener->server, sizeof(opener->server));
}

static enum nt_status store_answer(struct nt_remote_file *file, const struct remote_opener *opener,
                                   struct nt_error *error)
{
    if (opener->fetch.state != NT_HELPER_REQUEST_DONE)
        return nt_remote_fail(file, &opener->fetch, 0, error);
    if (!file->is_known)
        store_first_version(file, opener);
    else if (!opener->is_listed && !is_same(&opener->version, &file->version))
        return nt_remote_fail_changed(file, error);
    memcpy(file->server, opener->server, sizeof(file->server));
    file->link_estimate = nt_link_estimates_of(&file->fetcher->link_estimates, file->server);
    file->fetcher->counters.waits += opener->round_trips;
    if (!file->disk)
        open_on_disk(file);
    file->epoch = opener->epoch;
    file->is_closed = false;
    remote_note_use(file);
    return NT_OK;
}

/* Sends the address and, for a listed file, its validator. */
static void ask(struct nt_remote_file *file, struct remote_opener *opener)
{
    char text[NT_FETCH_TEXT_BYTES];
    bool is_listed = opener->is_listed;
    size_t address = strlen(file->address), validator = is_listed ? strlen(file->version.validator) : 0;
    struct nt_fetch_request request = {.kind = is_listed ? NT_FETCH_OPEN_LISTED : NT_FETCH_OPEN,
                                       .file = file->file,
                                       .is_prefetch = file->fetcher->reads_later,
                                       .bytes = is_listed ? file->version.size : 0};
    size_t bytes = address + is_listed + validator;
    if (address < sizeof(text) && validator < sizeof(text) - address) {
        memcpy(text, file->address, address + 1);
        memcpy(text + address + is_listed, is_listed ? file->version.validator : "", validator);
    } else {
        bytes = sizeof(text) + 1; /* too long: refused */
    }
    nt_fetcher_send(file->fetcher, &opener->fetch, request, text, bytes);
}

/* Opens the file in the helper under a new number, and waits for the answer. */
static enum nt_status request_open(struct nt_remote_file *file, struct remote_opener *opener,
                                   uint64_t deadline, struct nt_error *error)
{
    struct nt_fetcher *fetcher = file->fetcher;
    NT_TRY(nt_fetcher_connect(fetcher, file->shown, deadline, error));
    file->file = ++fetcher->last_file;
    opener->epoch = fetcher->epoch;
    opener->fetch.take = take_opened;
    opener->fetch.end = end_opening;
    ask(file, opener);
    return nt_helper_request_wait(fetcher, &opener->fetch, deadline)
               ? NT_OK
               : nt_fetcher_fail_timeout(fetcher, file->shown, error);
}

/* Without success, the network helper must not keep what it may have opened by now. */
static enum nt_status open_by(struct nt_remote_file *file, bool is_listed, uint64_t deadline,
                              struct nt_error *error)
{
    NT_AUTO_FREE uint8_t *ends = malloc(2 * NT_FETCH_END_BYTES);
    struct remote_opener opener = {.ends = ends, .is_listed = is_listed};
    NT_TRY(nt_check_memory(ends, error));
    enum nt_status status = request_open(file, &opener, deadline, error);
    bool may_be_open = status != NT_OK || opener.fetch.state == NT_HELPER_REQUEST_DONE;
    if (status == NT_OK)
        status = store_answer(file, &opener, error);
    if (status != NT_OK && may_be_open)
        nt_fetcher_notify(file->fetcher, NT_FETCH_CLOSE, 0, file->file);
    return status;
}

/* Looks a file up in the list of its directory before its first opening. This may request the list: releases
 * the lock meanwhile. */
static enum nt_status look_up(struct nt_remote_file *file, struct nt_error *error)
{
    struct nt_remote_version known;
    if (!file->listed_in || file->is_looked_up)
        return NT_OK;
    nt_fetcher_unlock(file->fetcher);
    enum nt_status status =
        nt_remote_folder_known((struct nt_remote_folder *)file->listed_in, file->name, &known, error);
    nt_fetcher_lock(file->fetcher);
    NT_TRY(status);
    file->is_looked_up = true;
    if (!known.validator[0])
        return NT_OK;
    file->is_known = file->is_listed = true;
    file->version = known;
    file->version.modified = time_or_now(known.modified);
    return NT_OK;
}

static enum nt_status open_once(struct nt_remote_file *file, uint64_t deadline, struct nt_error *error)
{
    NT_TRY(look_up(file, error));
    return open_by(file, file->is_listed, deadline, error);
}

bool nt_remote_is_open(const struct nt_remote_file *file)
{
    return file->epoch && file->epoch == file->fetcher->epoch && !file->is_closed && !file->fetcher->is_over;
}

/* Keeps what has arrived: the reopened file has the same version. Closes the disk cache, whose
 * descriptors share their file offset with the parent. */
void nt_remote_on_restart(struct nt_remote_file *file)
{
    nt_range_cache_drop_underway(&file->range_cache);
    forget_use(file);
    nt_disk_cache_file_close(file->disk);
    file->disk = NULL;
    file->underway = 0;
    file->epoch = 0;
    file->is_opening = file->is_closed = false;
}

/* One thread opens the file again; the others wait. */
enum nt_status nt_remote_reopen(struct nt_remote_file *file, uint64_t deadline, struct nt_error *error)
{
    for (;;) {
        if (file->has_changed)
            return nt_remote_fail_changed(file, error);
        NT_TRY(nt_backoff_check(&file->backoff, nt_milliseconds(), error));
        if (nt_remote_is_open(file)) {
            remote_note_use(file);
            return NT_OK;
        }
        if (!file->is_opening)
            break;
        if (!nt_fetcher_wait(file->fetcher, deadline))
            return nt_fetcher_fail_timeout(file->fetcher, file->shown, error);
    }
    file->is_opening = true;
    enum nt_status status = open_once(file, deadline, error);
    file->is_opening = false;
    pthread_cond_broadcast(&file->fetcher->changed);
    return status;
}

/* ---- Revival ---- */

/* Asks the server itself, even if a listing has the file. */
static bool is_as_opened(struct nt_remote_file *file)
{
    uint64_t deadline = nt_milliseconds() + file->fetcher->milliseconds + NT_FETCH_GRACE_MILLISECONDS;
    nt_remote_close(file);
    return open_by(file, false, deadline, NULL) == NT_OK;
}

void nt_remote_revive(struct nt_remote_file *file)
{
    bool can_tell = file->has_changed && file->is_known && file->version.validator[0] && !file->anchor;
    if (!can_tell || file->is_opening || file->underway || nt_milliseconds() < file->look_due)
        return;
    file->is_opening = true;
    file->look_due = nt_milliseconds() + LOOK_MILLISECONDS;
    bool is_as_before = is_as_opened(file) && is_as_opened(file);
    file->is_opening = false;
    if (is_as_before) {
        file->has_changed = false;
        atomic_fetch_add_explicit(&file->source.revivals, 1, memory_order_release);
    }
    pthread_cond_broadcast(&file->fetcher->changed);
}
