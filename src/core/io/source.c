/* SPDX-License-Identifier: MIT
 *
 * Common part of all sources: range checks and dispatch. Implements sources in memory and sources over
 * callbacks of the application.
 */
#include "core/io/source.h"

#include <ntuple/source.h>

#include "core/base/abi.h"
#include "core/base/thread.h"

/* ---- Dispatch ---- */

enum nt_status nt_source_read(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                              struct nt_error *error)
{
    while (source->beneath && nt_source_is_range(source, bytes))
        source = source->beneath;
    if (source->size != NT_UNKNOWN_SIZE && !nt_range_fits(offset, bytes, source->size))
        return nt_fail(error, NT_TRUNCATED, offset, "%s: %zu bytes are outside the file of %" PRIu64 " bytes",
                       source->path, bytes, source->size);
    if (!bytes)
        return NT_OK;
    const unsigned sections = nt_critical_section_suspend(); /* may take long and wait for other threads */
    enum nt_status status = source->ops->read_at(source, offset, buffer, bytes, error);
    nt_critical_section_resume(sections);
    if (status == NT_OK && source->ops->reads_check)
        atomic_fetch_add_explicit(&source->checked_reads, 1, memory_order_release);
    return status;
}

enum nt_status nt_source_append(struct nt_source *source, uint64_t offset, uint64_t bytes,
                                struct nt_buffer *out, struct nt_error *error)
{
    uint8_t *room = nt_buffer_extend(out, bytes);
    return room ? nt_source_read(source, offset, room, bytes, error) : nt_fail_memory(error);
}

enum nt_status nt_source_size(struct nt_source *source, uint64_t *size_ret, struct nt_error *error)
{
    if (source->ops->size)
        return source->ops->size(source, size_ret, error);
    *size_ret = source->size;
    return NT_OK;
}

uint64_t nt_source_skip_hole(struct nt_source *source, uint64_t offset)
{
    return source->ops->skip_hole && offset < source->size ? source->ops->skip_hole(source, offset) : offset;
}

enum nt_status nt_source_check(struct nt_source *source, struct nt_error *error)
{
    return source->ops->check ? source->ops->check(source, error) : NT_OK;
}

enum nt_status nt_source_stat(struct nt_source *source, struct stat *attributes, struct nt_error *error)
{
    if (!source->ops->stat)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s: is not a file and has no attributes",
                       source->path);
    return source->ops->stat(source, attributes, error);
}

/* ---- Prefetch of many ranges ---- */

enum { MAX_RANGES = 1 << 16 }; /* a source drops most of so many */

void nt_prefetch_add_range(struct nt_prefetch *prefetch, struct nt_source *source, uint32_t number,
                           struct nt_extent extent)
{
    if (prefetch->count >= MAX_RANGES || !NT_GROW(prefetch->ranges, prefetch->count, prefetch->capacity))
        return;
    prefetch->ranges[prefetch->count] =
        (struct nt_prefetch_range){source, number, (uint32_t)prefetch->count, extent};
    prefetch->count++;
    prefetch->bytes += extent.bytes;
}

static int compare_ranges(const void *left, const void *right)
{
    const struct nt_prefetch_range *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    if (a->source != b->source)
        return (uintptr_t)a->source < (uintptr_t)b->source ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void nt_prefetch_submit(struct nt_prefetch *prefetch)
{
    struct nt_prefetch_range *ranges = prefetch->ranges;
    NT_AUTO_FREE struct nt_extent *extents =
        prefetch->count ? malloc(prefetch->count * sizeof(*extents)) : NULL;
    if (extents)
        qsort(ranges, prefetch->count, sizeof(*ranges), compare_ranges);
    for (size_t i = 0, count; extents && i < prefetch->count; i += count) {
        for (count = 0; i + count < prefetch->count && ranges[i + count].source == ranges[i].source; count++)
            extents[count] = ranges[i + count].extent;
        nt_source_prefetch(ranges[i].source, extents, count, prefetch->need);
    }
    free(ranges);
    *prefetch = (struct nt_prefetch){.count = 0};
}

enum nt_status nt_source_open_objects(struct nt_source *source, const char *name,
                                      struct nt_source **objects_ret, struct nt_error *error)
{
    char schemes[NT_SCHEME_LIST_BYTES];
    if (!source->ops->open_objects)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "%s: has no objects; the address of an object store begins with %s", source->path,
                       nt_scheme_list(schemes, true));
    return source->ops->open_objects(source, name, objects_ret, error);
}

void nt_source_append_name(const struct nt_source *source, uint64_t offset, struct nt_buffer *out)
{
    const char *number = source->is_object_store ? strstr(source->path, NT_OBJECT_NUMBER) : NULL;
    if (number)
        nt_buffer_append_format(out, "%.*s%" PRIu64 "%s", (int)(number - source->path), source->path,
                                offset / NT_OBJECT_SPACE, number + strlen(NT_OBJECT_NUMBER));
    else
        nt_buffer_append_string(out, source->path);
}

void nt_source_close(struct nt_source *source)
{
    if (source)
        source->ops->close(source);
}

/* ---- Memory ---- */

struct memory_source {
    struct nt_source source;
    const uint8_t *bytes;
    char path[];
};

static enum nt_status memory_read_at(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                     struct nt_error *error)
{
    memcpy(buffer, ((struct memory_source *)source)->bytes + offset, bytes);
    return NT_OK;
}

static void memory_close(struct nt_source *source)
{
    free(source);
}

static const struct nt_source_ops memory_ops = {.read_at = memory_read_at, .close = memory_close};

enum nt_status nt_source_open_memory(const void *bytes, size_t size, const char *path,
                                     struct nt_source **source_ret, struct nt_error *error)
{
    const size_t path_bytes = strlen(path) + 1;
    struct memory_source *memory = calloc(1, sizeof(*memory) + path_bytes);
    NT_TRY(nt_check_memory(memory, error));
    memcpy(memory->path, path, path_bytes);
    memory->source = (struct nt_source){.ops = &memory_ops, .size = size, .path = memory->path};
    memory->bytes = bytes;
    *source_ret = &memory->source;
    return NT_OK;
}

/* ---- Callbacks ---- */

struct callback_source {
    struct nt_source source;
    struct nt_source_callbacks callbacks;
    void *context;
    char name[];
};

/* Other statuses have a different meaning here, such as trying another format. */
static bool is_of_reading(enum nt_status status)
{
    return status == NT_CHANGED || status == NT_TRUNCATED || status == NT_NO_MEMORY || status == NT_CANCELED;
}

static enum nt_status callback_read_at(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                       struct nt_error *error)
{
    const struct callback_source *called = (struct callback_source *)source;
    struct nt_error reported = {0};
    enum nt_status status = called->callbacks.read_at(called->context, offset, buffer, bytes, &reported);
    if (status == NT_OK)
        return NT_OK;
    if (!is_of_reading(status))
        status = NT_IO;
    reported.message[sizeof(reported.message) - 1] = '\0';
    nt_fail(error, status, offset, "%s: %s", source->path,
            reported.message[0] ? reported.message : "cannot be read");
    if (error && status == NT_IO)
        error->system_error = reported.system_error;
    return status;
}

static void callback_close(struct nt_source *source)
{
    struct callback_source *called = (struct callback_source *)source;
    if (called->callbacks.close)
        called->callbacks.close(called->context);
    free(called);
}

static const struct nt_source_ops callback_ops = {
    .read_at = callback_read_at,
    .close = callback_close,
};

enum nt_status nt_source_new(const struct nt_source_callbacks *callbacks, void *context, uint64_t size,
                             const char *name, struct nt_source **source_ret, struct nt_error *error)
{
    struct nt_source_callbacks known;
    NT_TRY(nt_copy_struct(callbacks, &known, sizeof(known), "nt_source_callbacks", error));
    if (!known.read_at || size == NT_UNKNOWN_SIZE)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: a source needs a size and the function read_at",
                       name);
    const size_t name_bytes = strlen(name) + 1;
    struct callback_source *called = calloc(1, sizeof(*called) + name_bytes);
    NT_TRY(nt_check_memory(called, error));
    memcpy(called->name, name, name_bytes);
    called->source = (struct nt_source){.ops = &callback_ops, .size = size, .path = called->name};
    called->callbacks = known;
    called->context = context;
    *source_ret = &called->source;
    return NT_OK;
}
