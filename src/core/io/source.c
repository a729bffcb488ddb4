/* SPDX-License-Identifier: MIT
 *
 * What all sources share: the range of a read is checked here, then the source's own function is called.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/lock.h"
#include "core/base/overflow.h"
#include "core/io/source.h"

enum nt_status nt_source_read(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                              struct nt_error *error)
{
    if (source->size != NT_UNKNOWN_SIZE && !nt_fits(offset, bytes, source->size))
        return nt_fail(error, NT_TRUNCATED, offset,
                       "%s: %zu bytes are wanted of a source of %" PRIu64 " bytes", source->path, bytes,
                       source->size);
    if (!bytes)
        return NT_OK;
    const unsigned sections = nt_fork_allow(); /* it may take long, and wait for other threads */
    enum nt_status status = source->ops->read_at(source, offset, buffer, bytes, error);
    nt_fork_forbid(sections);
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
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s: not a file, has no attributes", source->path);
    return source->ops->stat(source, attributes, error);
}

enum nt_status nt_source_open_objects(struct nt_source *source, const char *name,
                                      struct nt_source **objects_ret, struct nt_error *error)
{
    if (!source->ops->open_objects)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "%s: no objects lie beneath it; the address of a store begins with ntpl+s3+https://",
                       source->path);
    return source->ops->open_objects(source, name, objects_ret, error);
}

void nt_source_append_name(const struct nt_source *source, uint64_t offset, struct nt_buffer *out)
{
    const char *number = source->is_of_objects ? strstr(source->path, NT_OBJECT_NUMBER) : NULL;
    if (number)
        nt_buffer_format(out, "%.*s%" PRIu64 "%s", (int)(number - source->path), source->path,
                         offset / NT_OBJECT_ROOM, number + strlen(NT_OBJECT_NUMBER));
    else
        nt_buffer_text(out, source->path);
}

void nt_source_close(struct nt_source *source)
{
    if (source)
        source->ops->close(source);
}
