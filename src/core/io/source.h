/* SPDX-License-Identifier: MIT
 *
 * Sources: random-access byte input with all-or-nothing reads. Declares the operations of a source,
 * regular files with change detection, and file pools.
 */
#ifndef NT_CORE_IO_SOURCE_H
#define NT_CORE_IO_SOURCE_H

#include <ntuple/error.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "core/base/memory.h"
#include "core/io/objects.h"

struct nt_folder;
struct nt_source;
struct nt_source_pool;

/* ---- Sources ---- */

/* Where stored bytes lie. */
struct nt_extent {
    uint64_t offset; /* bytes from the start of the source */
    uint64_t bytes;
};

/* All may be called from several threads at once. */
struct nt_source_ops {
    /* Where `size` is known, the range has been checked against it. */
    enum nt_status (*read_at)(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                              struct nt_error *error);
    /* NT_OK while the source is still what was opened, else NT_CHANGED or NT_IO. NULL: always. */
    enum nt_status (*check)(struct nt_source *source, struct nt_error *error);
    bool reads_check; /* a read that succeeds has checked, too */
    /* Owner, times and mode for the files made from the source. NULL: none. */
    enum nt_status (*stat)(struct nt_source *source, struct stat *attributes, struct nt_error *error);
    /* NULL: `size` is always known. */
    enum nt_status (*size)(struct nt_source *source, uint64_t *size_ret, struct nt_error *error);
    /* The first place at or behind `offset` that is not in a hole of a sparse file. NULL: no holes
     * are known. */
    uint64_t (*skip_hole)(struct nt_source *source, uint64_t offset);
    /* A hint: these will be read soon, in about this order; or `is_now`, somebody waits for all of them. Returns at once. NULL: it
     * is as well to read them then. */
    void (*prefetch)(struct nt_source *source, const struct nt_extent *extents, size_t count, bool is_now);
    /* These bytes make no sense: whatever is kept of them is read again. False where that would not help. NULL: it would not. */
    bool (*forget)(struct nt_source *source, uint64_t offset, uint64_t bytes);
    /* See nt_source_open_objects. NULL: there are none. */
    enum nt_status (*open_objects)(struct nt_source *source, const char *name, struct nt_source **objects_ret,
                                   struct nt_error *error);
    void (*close)(struct nt_source *source);
};

#define NT_UNKNOWN_SIZE UINT64_MAX

/* Embedded as the first member by implementations. The pointer identifies the source for as long as it is
 * open. */
struct nt_source {
    const struct nt_source_ops *ops;
    uint64_t size;        /* NT_UNKNOWN_SIZE: ask nt_source_size */
    uint64_t split_bytes; /* payloads that are longer lie in several extents; 0: however long, they do not */
    struct nt_source
        *beneath;     /* what lies in one extent is read of this one, at the same offset; NULL: of none */
    const char *path; /* for messages; owned by the implementation */
    atomic_uint_least64_t checked_reads; /* those that have found it to be what was opened */
    struct nt_folder *folder;            /* a source of no bytes that stands for a folder; NULL: bytes */
    bool is_of_objects;                  /* see nt_source_open_objects */
};

/* The objects of a store that lie beneath the address of a source, as one source (io/objects.h). What is read of it lies within one object,
 * before NT_OBJECT_MAX_BYTES. `name`: how they are called there, with NT_OBJECT_NUMBER in it. They are closed before the source: where that has
 * changed, they have. NT_UNSUPPORTED where nothing lies beneath it. */
enum nt_status nt_source_open_objects(struct nt_source *source, const char *name,
                                      struct nt_source **objects_ret, struct nt_error *error);

/* How whatever has the byte at an offset is called; the offset in there. */
void nt_source_append_name(const struct nt_source *source, uint64_t offset, struct nt_buffer *out);
static inline uint64_t nt_source_local_offset(const struct nt_source *source, uint64_t offset)
{
    return source->is_of_objects ? offset % NT_OBJECT_SPACE : offset;
}

/* The same as nt_source_read, behind what a buffer has. What is too much is to be refused before. */
enum nt_status nt_source_append(struct nt_source *source, uint64_t offset, uint64_t bytes,
                                struct nt_buffer *out, struct nt_error *error);

/* Whether so many bytes are what follows one another from an offset, so that their reads may be joined or
 * divided. Else they are a payload in several extents, which is known by its full size: it is read in one call. */
static inline bool nt_source_is_range(const struct nt_source *source, uint64_t bytes)
{
    return !source->split_bytes || bytes <= source->split_bytes;
}
/* Where the next bytes are that are stored; `offset` itself where that cannot be told, the size where there
 * are none. */
uint64_t nt_source_skip_hole(struct nt_source *source, uint64_t offset);
/* NT_OK while the source is what was opened, NT_CHANGED where it was modified or replaced. */
enum nt_status nt_source_check(struct nt_source *source, struct nt_error *error);
/* Grows with each read that has checked the same: where it has, a check of one's own would find no more. */
static inline uint64_t nt_source_checked_reads(const struct nt_source *source)
{
    return atomic_load_explicit(&source->checked_reads, memory_order_acquire);
}
/* Whether hints make a difference; and a hint, see above. */
static inline bool nt_source_can_prefetch(const struct nt_source *source)
{
    return source->ops->prefetch != NULL;
}
static inline void nt_source_prefetch(struct nt_source *source, const struct nt_extent *extents, size_t count,
                                      bool is_now)
{
    if (count && source->ops->prefetch)
        source->ops->prefetch(source, extents, count, is_now);
}
static inline bool nt_source_forget(struct nt_source *source, uint64_t offset, uint64_t bytes)
{
    return source->ops->forget && source->ops->forget(source, offset, bytes);
}
enum nt_status nt_source_stat(struct nt_source *source, struct stat *attributes, struct nt_error *error);

/* nt_source_open_file of a path that is no address. */
enum nt_status nt_source_open_local(const char *path, struct nt_source **source_ret, struct nt_error *error);

/* ---- Files ---- */

/* What tells a file from another one, or from itself before it was written to. The time of the last status
 * change (ctime) is omitted: a new mode, owner, name or link changes it, but not a byte of the file. */
struct nt_identity {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified;
    /* The size that the file had when a change was found out, else -1: it stays changed, and the message the
     * same, whatever the file looks like later. */
    atomic_llong changed_size;
};

/* Flags of open(2) for a file that is read; opening a FIFO must not wait for a writer. */
#define NT_DESCRIPTOR_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/* Tell the identity of a file that was opened so. NT_INVALID for anything else than a regular file. */
enum nt_status nt_descriptor_identify(int descriptor, const char *path, struct nt_identity *identity_ret,
                                      struct nt_error *error);

/* What a file or folder says is trusted only where nobody but the user and root may have written it: NT_INVALID where
 * another user owns it, or group or others may write to it. `path` names it in the message. */
enum nt_status nt_check_writers(const struct stat *attributes, const char *path, struct nt_error *error);

enum nt_status nt_descriptor_stat(int descriptor, const char *path, struct stat *attributes,
                                  struct nt_error *error);

/* A source that reads from the descriptor and closes it, also where this fails. */
enum nt_status nt_source_of_descriptor(int descriptor, const char *path, const struct nt_identity *identity,
                                       struct nt_source **source_ret, struct nt_error *error);

/* ---- File pools ---- */

/* What the sources of a pool are opened by, whenever they are; called by several threads at once. */
struct nt_pool_opener {
    enum nt_status (*open)(void *context, const char *name, int *descriptor_ret,
                           struct nt_identity *identity_ret, struct nt_error *error);
    void (*release)(void *context); /* with the pool's end */
    void *context;
};

/* NULL without memory; then nothing is released. */
struct nt_source_pool *nt_source_pool_new(const struct nt_pool_opener *opener);
/* Drop the caller's hold; the pool lives until its last source is closed. Accepts NULL. */
void nt_source_pool_free(struct nt_source_pool *pool);

/* How many of its sources are open. */
size_t nt_source_pool_open(struct nt_source_pool *pool);

/* A source that is opened when it is first used, by the part of its path from `name_at` on. The path is for
 * messages and copied. */
enum nt_status nt_source_pool_add(struct nt_source_pool *pool, const char *path, size_t name_at,
                                  struct nt_source **source_ret, struct nt_error *error);

#endif
