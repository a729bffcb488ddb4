/* SPDX-License-Identifier: MIT
 *
 * Remote files and the objects of a store as sources, and the opening of addresses.
 */
#include "remote/client/client.h"

#include <unistd.h>

#include "core/io/address.h"

/* ---- Source ---- */

static struct nt_remote_file *file_of(struct nt_source *source)
{
    return (struct nt_remote_file *)source;
}

/* Beyond half of the space, bytes could be dropped before their reader comes. Likely ones may replace those
 * that are there. */
static uint64_t fetched_spare_bytes(struct nt_source *source, bool are_likely)
{
    struct nt_fetcher *fetcher = file_of(source)->fetcher;
    NT_FETCHER_GUARD(fetcher);
    uint64_t most = fetcher->range_space.max_bytes / 2;
    uint64_t used = fetcher->ahead_bytes + (are_likely ? 0 : fetcher->range_space.bytes);
    return used >= most || (fetcher->reads_later && !are_likely) ? 0 : most - used;
}

/* Waits for a range that is underway, of which a reader has seen a part. */
static void forget_range(struct nt_remote_file *file, struct nt_cached_range *range)
{
    uint64_t deadline = nt_milliseconds() + file->fetcher->milliseconds + NT_FETCH_GRACE_MILLISECONDS;
    nt_cached_range_pin(&file->fetcher->range_space, range);
    bool is_good = nt_range_wait(range, range->bytes, deadline, NULL) == NT_OK;
    if (range->is_kept)
        nt_cached_range_forget(&file->fetcher->range_space, range);
    nt_range_release(range, is_good);
}

static bool fetched_forget(struct nt_source *source, uint64_t offset, uint64_t bytes)
{
    struct nt_remote_file *file = file_of(source);
    uint64_t end = offset + bytes, next;
    NT_FETCHER_GUARD(file->fetcher);
    while (offset < end) {
        struct nt_cached_range *range = nt_range_cache_at(&file->range_cache, offset, &next);
        offset = range ? range->offset + range->bytes : next;
        if (range)
            forget_range(file, range);
    }
    nt_disk_cache_file_invalidate(file->disk, end - bytes, bytes);
    return true;
}

/* Cached bytes belong to the opened version. A changed file is noticed by the next read that asks the
 * server; every later read fails. */
static enum nt_status fetched_check(struct nt_source *source, struct nt_error *error)
{
    struct nt_remote_file *file = file_of(source);
    NT_FETCHER_GUARD(file->fetcher);
    return file->has_changed ? nt_remote_fail_changed(file, error) : NT_OK;
}

static void fetched_revive(struct nt_source *source)
{
    struct nt_remote_file *file = file_of(source);
    NT_FETCHER_GUARD(file->fetcher);
    nt_remote_revive(file);
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
    struct nt_remote_file *file = file_of(source);
    NT_FETCHER_GUARD(file->fetcher);
    enum nt_status status = be_known(file, error);
    *attributes = (struct stat){.st_mode = S_IFREG | 0444,
                                .st_nlink = 1,
                                .st_size = (off_t)file->version.size,
                                .st_uid = geteuid(),
                                .st_gid = getegid(),
                                .st_mtim.tv_sec = file->version.modified,
                                .st_ctim.tv_sec = file->version.modified};
    return status;
}

static enum nt_status fetched_size(struct nt_source *source, uint64_t *size_ret, struct nt_error *error)
{
    struct nt_remote_file *file = file_of(source);
    if (source->is_object_store)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s: the number of objects is unknown",
                       file->shown);
    NT_FETCHER_GUARD(file->fetcher);
    enum nt_status status = be_known(file, error);
    *size_ret = file->version.size;
    return status;
}

/* No readers are left: cancels all requests. Closing alone ends them, too, and comes first: many messages
 * may fill the channel. */
static void fetched_close(struct nt_source *source)
{
    struct nt_remote_file *file = file_of(source);
    nt_fetcher_lock(file->fetcher);
    nt_remote_close(file);
    for (size_t i = file->range_cache.count; i-- > 0;)
        if (!file->range_cache.list[i]->is_kept)
            nt_fetcher_cancel(file->fetcher, &file->range_cache.list[i]->fetch);
    LIST_REMOVE(file, all);
    nt_range_cache_deinit(&file->range_cache, &file->fetcher->range_space);
    nt_disk_cache_file_close(file->disk);
    nt_fetcher_unlock(file->fetcher);
    nt_fetcher_free(file->fetcher);
    nt_folder_close(file->listed_in);
    free(file->address);
    free(file->shown);
    nt_backoff_deinit(&file->backoff);
    free(file);
}

static enum nt_status fetched_open_objects(struct nt_source *source, const char *name,
                                           struct nt_source **objects_ret, struct nt_error *error);

static const struct nt_source_ops fetched_ops = {.read_at = nt_remote_read_at,
                                                 .check = fetched_check,
                                                 .revive = fetched_revive,
                                                 .stat = fetched_stat,
                                                 .size = fetched_size,
                                                 .prefetch = nt_remote_prefetch,
                                                 .spare_bytes = fetched_spare_bytes,
                                                 .forget = fetched_forget,
                                                 .open_objects = fetched_open_objects,
                                                 .close = fetched_close};

enum nt_status nt_remote_file_new(struct nt_fetcher *fetcher, const char *address, const char *shown,
                                  struct nt_folder *listed_in, const char *name,
                                  struct nt_source **source_ret, struct nt_error *error)
{
    NT_AUTO_FREE struct nt_remote_file *file = calloc(1, sizeof(*file));
    NT_AUTO_FREE char *address_copy = strdup(address), *shown_copy = strdup(shown);
    NT_TRY(nt_check_memory(file && address_copy && shown_copy, error));
    NT_TRY(nt_fetcher_ref(fetcher, error));
    *file =
        (struct nt_remote_file){.source = {.ops = &fetched_ops, .size = NT_UNKNOWN_SIZE, .path = shown_copy},
                                .fetcher = fetcher,
                                .address = address_copy,
                                .shown = shown_copy,
                                .listed_in = listed_in,
                                .name = shown_copy + strlen(shown) - strlen(name)};
    if (listed_in)
        nt_folder_ref(listed_in);
    NT_FETCHER_GUARD(fetcher);
    LIST_INSERT_HEAD(&fetcher->files, file, all);
    *source_ret = &file->source;
    file = NULL;
    address_copy = shown_copy = NULL;
    return NT_OK;
}

/* ---- Objects ---- */

static char *name_below(const char *address, const char *name)
{
    struct nt_buffer text = {0};
    nt_buffer_append_format(&text, "%s/%s", address, name);
    return nt_buffer_take(&text);
}

/* To the network helper, the objects are a file that opens without asking a server
 * (NT_FETCH_OPEN_LISTED); each range requests an object. The file at the address is written last, so
 * its version identifies the objects. */
static void begin_objects(struct nt_remote_file *objects, struct nt_remote_file *file)
{
    objects->source.is_object_store = true;
    objects->is_known = objects->is_listed = true;
    objects->version = file->version;
    objects->version.size = INT64_MAX;
    objects->anchor = file;
    nt_revalidate_later(objects);
    /* open it now, so that prefetch works; if this fails, the first read reports it */
    nt_remote_reopen(objects, nt_milliseconds() + file->fetcher->milliseconds, NULL);
}

static enum nt_status fetched_open_objects(struct nt_source *source, const char *name,
                                           struct nt_source **objects_ret, struct nt_error *error)
{
    struct nt_remote_file *file = file_of(source);
    char schemes[NT_SCHEME_LIST_BYTES];
    if (!nt_address_is_store(file->address))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "%s: cannot read its objects unless its address begins with %s", file->shown,
                       nt_scheme_list(schemes, true));
    NT_AUTO_FREE char *address = name_below(file->address, name), *shown = name_below(file->shown, name);
    NT_TRY(nt_check_memory(address && shown, error));
    NT_TRY(nt_remote_file_new(file->fetcher, address, shown, NULL, "", objects_ret, error));
    NT_FETCHER_GUARD(file->fetcher);
    begin_objects(file_of(*objects_ret), file);
    return NT_OK;
}

/* ---- Opening ---- */

bool nt_source_remote(const struct nt_source *source, struct nt_remote_names *names_ret)
{
    struct nt_remote_file *file = (struct nt_remote_file *)source;
    if (source->ops != &fetched_ops)
        return false;
    NT_FETCHER_GUARD(file->fetcher);
    memcpy(names_ret->server, file->server, sizeof(names_ret->server));
    memcpy(names_ret->validator, file->version.validator, sizeof(names_ret->validator));
    return true;
}

static enum nt_status open_with(struct nt_fetcher *fetcher, const char *address,
                                struct nt_source **source_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_source_close_at) struct nt_source *source = NULL;
    NT_AUTO_FREE char *own = nt_address_is_store(address) ? nt_address_folder_of(address) : strdup(address);
    NT_AUTO_FREE char *shown = own ? nt_address_redact(own) : NULL;
    NT_TRY(nt_check_memory(shown, error));
    NT_TRY(nt_remote_file_new(fetcher, own, shown, NULL, "", &source, error));
    NT_TRY(nt_source_size(source, &source->size, error));
    *source_ret = source;
    source = NULL;
    return NT_OK;
}

enum nt_status nt_source_open_address(const char *address, struct nt_fetcher *fetcher,
                                      struct nt_source **source_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_fetcher_free_at) struct nt_fetcher *own = NULL;
    char schemes[NT_SCHEME_LIST_BYTES];
    if (!nt_is_address(address))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: expected an address (%s)", address,
                       nt_scheme_list(schemes, false));
    NT_TRY(nt_address_check(address, error));
    NT_TRY(nt_fetcher_or_own(&fetcher, &own, error));
    return open_with(fetcher, address, source_ret, error);
}

enum nt_status nt_source_open_file(const char *path, struct nt_source **source_ret, struct nt_error *error)
{
    return nt_is_address(path) ? nt_source_open_address(path, NULL, source_ret, error)
                               : nt_source_open_local(path, source_ret, error);
}

/* ---- Files or directories ---- */

static enum nt_status open_folder_source(const char *address, struct nt_fetcher *fetcher,
                                         struct nt_source **source_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_folder_close_at) struct nt_folder *folder = NULL;
    NT_TRY(nt_folder_open_address(address, fetcher, &folder, error));
    NT_TRY(nt_source_of_folder(folder, source_ret, error));
    folder = NULL; /* the source's */
    return NT_OK;
}

/* A server may give any of these for a directory requested as a file: it does not exist, it returns an
 * index page, its name is not valid for a file. */
static bool may_be_folder(enum nt_status status)
{
    return status == NT_NOT_FOUND || status == NT_UNSUPPORTED || status == NT_INVALID;
}

static enum nt_status open_whatever(const char *address, struct nt_fetcher *fetcher,
                                    struct nt_source **source_ret, struct nt_error *error)
{
    struct nt_error failure = {0};
    if (nt_address_is_folder(address))
        return open_folder_source(address, fetcher, source_ret, error);
    enum nt_status status = nt_source_open_address(address, fetcher, source_ret, &failure);
    if (may_be_folder(status) && open_folder_source(address, fetcher, source_ret, NULL) == NT_OK)
        return NT_OK;
    return status == NT_OK ? NT_OK : nt_fail_copy(error, &failure);
}

enum nt_status nt_source_open_remote(const char *address, struct nt_fetcher *fetcher,
                                     struct nt_source **source_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_fetcher_free_at) struct nt_fetcher *own = NULL;
    NT_TRY(nt_fetcher_or_own(&fetcher, &own, error));
    return open_whatever(address, fetcher, source_ret, error);
}
