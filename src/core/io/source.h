/* SPDX-License-Identifier: MIT
 *
 * Sources: random-access byte input with all-or-nothing reads. Declares the operations of a source,
 * regular files with change detection, and file pools.
 */
#pragma once

#include <ntuple/source.h>

#include <stdatomic.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/scheme.h"

struct nt_folder;
struct nt_source;
struct nt_source_pool;
struct stat;
NT_DEFINE_CLEANUP(struct nt_source, nt_source_close)

/* ---- Sources ---- */

/* The location of stored bytes. */
struct nt_extent {
    uint64_t offset; /* bytes from the start of the source */
    uint64_t bytes;
};

/* Who needs bytes that are prefetched. */
enum nt_prefetch_need {
    NT_PREFETCH_SOON, /* a later read */
    NT_PREFETCH_NOW,  /* a thread waits for all of them */
    NT_PREFETCH_ONLY, /* the same, and nothing near them will be read */
    NT_PREFETCH_COLD, /* as NT_PREFETCH_NOW, over new connections, each of which sends little at first */
};

/* All operations are thread-safe. */
struct nt_source_ops {
    /* If `size` is known, the caller has checked the range. */
    enum nt_status (*read_at)(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                              struct nt_error *error);
    /* NT_OK while the source is unchanged, else NT_CHANGED or NT_IO. NULL: always NT_OK. */
    enum nt_status (*check)(struct nt_source *source, struct nt_error *error);
    bool reads_check; /* a successful read includes a check */
    /* For a new opening: may be NULL. See nt_source_revive. */
    void (*revive)(struct nt_source *source);
    /* Owner, times and mode for generated files. NULL: none. */
    enum nt_status (*stat)(struct nt_source *source, struct stat *attributes, struct nt_error *error);
    /* NULL: `size` is always known. */
    enum nt_status (*size)(struct nt_source *source, uint64_t *size_ret, struct nt_error *error);
    /* The first offset at or after `offset` outside holes of a sparse file. NULL: holes are not
     * known. */
    uint64_t (*skip_hole)(struct nt_source *source, uint64_t offset);
    /* Hint: these bytes will be read, in about this order. Returns at once. NULL: prefetching has no use. */
    void (*prefetch)(struct nt_source *source, const struct nt_extent *extents, size_t count,
                     enum nt_prefetch_need need);
    /* How many bytes may be prefetched that are likely to be read soon, or that may never be. NULL: none. */
    uint64_t (*spare_bytes)(struct nt_source *source, bool are_likely);
    /* These bytes are invalid: drop cached copies. False if that would not help. NULL: always false. */
    bool (*forget)(struct nt_source *source, uint64_t offset, uint64_t bytes);
    /* See nt_source_open_objects. NULL: no objects. */
    enum nt_status (*open_objects)(struct nt_source *source, const char *name, struct nt_source **objects_ret,
                                   struct nt_error *error);
    void (*close)(struct nt_source *source);
};

#define NT_UNKNOWN_SIZE UINT64_MAX

/* First member of implementations. The pointer identifies the source while it is open. */
struct nt_source {
    const struct nt_source_ops *ops;
    uint64_t size;                       /* NT_UNKNOWN_SIZE: ask nt_source_size */
    uint64_t split_bytes;                /* longer payloads have several extents; 0: all have one */
    struct nt_source *beneath;           /* read single extents from here, at equal offsets; or NULL */
    const char *path;                    /* for messages; owned by the implementation */
    atomic_uint_least64_t checked_reads; /* reads that included a successful check */
    atomic_uint revivals;                /* how often it was found unchanged after it seemed changed */
    bool is_object_store;                /* see nt_source_open_objects */
    struct nt_folder *folder;            /* for a source without bytes: its directory; else NULL */
    uint64_t
        first_byte; /* its place in the file `path`; NT_NO_OFFSET: none, its bytes are compressed there */
};

/* Opens the objects beneath a source's address as one source (core/base/scheme.h). Reads must stay within an
 * object, before NT_OBJECT_MAX_BYTES. `name`: object names, with NT_OBJECT_NUMBER. Close it before the
 * source, whose changes apply to it. NT_UNSUPPORTED without objects. */
enum nt_status nt_source_open_objects(struct nt_source *source, const char *name,
                                      struct nt_source **objects_ret, struct nt_error *error);

/* The name of the file or object that contains an offset; the offset within it. */
void nt_source_append_name(const struct nt_source *source, uint64_t offset, struct nt_buffer *out);
static inline uint64_t nt_source_local_offset(const struct nt_source *source, uint64_t offset)
{
    return source->is_object_store ? offset % NT_OBJECT_SPACE : offset;
}

/* The place in that file; NT_NO_OFFSET: it has none. */
static inline uint64_t nt_source_file_offset(const struct nt_source *source, uint64_t offset)
{
    return source->first_byte == NT_NO_OFFSET ? NT_NO_OFFSET
                                              : source->first_byte + nt_source_local_offset(source, offset);
}

/* nt_source_read to the end of a buffer. The caller refuses excessive sizes first. */
enum nt_status nt_source_append(struct nt_source *source, uint64_t offset, uint64_t bytes,
                                struct nt_buffer *out, struct nt_error *error);

/* Are so many bytes one extent, so that reads may be joined or split? Otherwise they are a payload of
 * several extents, identified by its full size, and must be read in one call. */
static inline bool nt_source_is_range(const struct nt_source *source, uint64_t bytes)
{
    return !source->split_bytes || bytes <= source->split_bytes;
}
/* The offset of the next stored byte; `offset` itself if unknown, the size if there are none. */
uint64_t nt_source_skip_hole(struct nt_source *source, uint64_t offset);
/* NT_OK while the source is unchanged, NT_CHANGED if it was modified or replaced. */
enum nt_status nt_source_check(struct nt_source *source, struct nt_error *error);
/* Grows with each read that included a check; if it grew, another check is redundant. */
static inline uint64_t nt_source_checked_reads(const struct nt_source *source)
{
    return atomic_load_explicit(&source->checked_reads, memory_order_acquire);
}
/* Call it before a source that seemed changed is used again: checks, at intervals, whether it still has the
 * version that was opened. If so, increments `revivals`; users that saw the change must continue to fail. */
static inline void nt_source_revive(struct nt_source *source)
{
    if (source->ops->revive)
        source->ops->revive(source);
}
static inline unsigned nt_source_revivals(const struct nt_source *source)
{
    return atomic_load_explicit(&source->revivals, memory_order_acquire);
}
/* Does prefetch have an effect? The functions after it call the operations above. */
static inline bool nt_source_can_prefetch(const struct nt_source *source)
{
    return source->ops->prefetch != NULL;
}
static inline void nt_source_prefetch(struct nt_source *source, const struct nt_extent *extents, size_t count,
                                      enum nt_prefetch_need need)
{
    if (count && source->ops->prefetch)
        source->ops->prefetch(source, extents, count, need);
}
static inline uint64_t nt_source_spare_bytes(struct nt_source *source, bool are_likely)
{
    return source->ops->spare_bytes ? source->ops->spare_bytes(source, are_likely) : 0;
}
static inline bool nt_source_invalidate(struct nt_source *source, uint64_t offset, uint64_t bytes)
{
    return source->ops->forget && source->ops->forget(source, offset, bytes);
}
enum nt_status nt_source_stat(struct nt_source *source, struct stat *attributes, struct nt_error *error);

/* ---- Prefetch of many ranges ---- */

/* Future reads of one or more sources, collected so that each source can coalesce its own. Starts
 * zeroed; submitting empties it. */
struct nt_prefetch {
    struct nt_prefetch_range {
        struct nt_source *source;
        uint32_t number; /* the source's place in the order of reading */
        uint32_t order;
        struct nt_extent extent;
    } * ranges; /* from malloc */
    size_t count, capacity;
    uint64_t bytes; /* of all ranges since it was zeroed */
    enum nt_prefetch_need need;
};
/* Harmlessly drops the range if there are 65,536 already, or no memory. */
void nt_prefetch_add_range(struct nt_prefetch *prefetch, struct nt_source *source, uint32_t number,
                           struct nt_extent extent);
void nt_prefetch_submit(struct nt_prefetch *prefetch);

/* nt_source_open_file for a path that is not an address. */
enum nt_status nt_source_open_local(const char *path, struct nt_source **source_ret, struct nt_error *error);

/* ---- Files ---- */

/* Identifies a file and its state. Omits ctime: a change of mode, owner, name or links changes it, but
 * not the contents. */
struct nt_identity {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified;
    /* The size of the file when a change was detected, else -1. The file stays changed, with the same
     * message, whatever happens later. */
    atomic_llong changed_size;
};

/* Flags of open(2) for reading; opening a FIFO must not wait for a writer. */
#define NT_DESCRIPTOR_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/* The identity of a descriptor opened with these flags. NT_INVALID if it is not regular. */
enum nt_status nt_descriptor_identify(int descriptor, const char *path, struct nt_identity *identity_ret,
                                      struct nt_error *error);

/* Trust contents only if no user except this one and root can write them: NT_INVALID if another user
 * owns the file, or group or others may write to it. `path` is for the message. */
enum nt_status nt_check_writers(const struct stat *attributes, const char *path, struct nt_error *error);

enum nt_status nt_descriptor_stat(int descriptor, const char *path, struct stat *attributes,
                                  struct nt_error *error);

/* Creates a source that owns the descriptor; on failure, too, the descriptor is closed. */
enum nt_status nt_source_of_descriptor(int descriptor, const char *path, const struct nt_identity *identity,
                                       struct nt_source **source_ret, struct nt_error *error);

/* Writes all bytes. Returns 0 or an errno value. */
int nt_write_all(int descriptor, const char *bytes, size_t count);

/* ---- File pools ---- */

/* Opens the sources of a pool on demand; called by several threads at once. */
struct nt_pool_opener {
    enum nt_status (*open)(void *context, const char *name, int *descriptor_ret,
                           struct nt_identity *identity_ret, struct nt_error *error);
    void (*release)(void *context); /* when the pool is freed */
    void *context;
};

/* NULL without memory; then `release` is not called. */
enum { NT_POOLED_SOURCE_BYTES = 176 }; /* of a source of a pool, without its path */
struct nt_source_pool *nt_source_pool_new(const struct nt_pool_opener *opener);
/* Releases the caller's reference; the pool lives until its last source is closed. Accepts NULL. */
void nt_source_pool_free(struct nt_source_pool *pool);

/* The number of open sources. */
size_t nt_source_pool_open(struct nt_source_pool *pool);

/* Adds a source that is opened on first use, by the part of its path from `name_at` on. Copies the
 * path, which is also for messages. */
enum nt_status nt_source_pool_add(struct nt_source_pool *pool, const char *path, size_t name_at,
                                  struct nt_source **source_ret, struct nt_error *error);
