/* SPDX-License-Identifier: MIT
 *
 * Where bytes come from. A source is a sequence of `size` bytes that can be read at any place. Reading is
 * exact: all the bytes that were asked for, or an error. All functions may be called from several threads.
 */
#ifndef NTUPLE_SOURCE_H
#define NTUPLE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <ntuple/error.h>

#pragma GCC visibility push(default)

struct nt_extent {
    uint64_t offset; /* bytes from the start of the source */
    uint64_t bytes;
};

struct nt_source;

struct nt_source_ops {
    /* Where `size` is known, the range has been checked against it. */
    enum nt_status (*read_at)(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                              struct nt_error *error);
    /* NT_OK while the source is still what was opened, else NT_CHANGED or NT_IO. NULL: always. */
    enum nt_status (*check)(struct nt_source *source, struct nt_error *error);
    /* Owner, times and mode for the files made from the source. NULL: none. */
    enum nt_status (*stat)(struct nt_source *source, struct stat *attributes, struct nt_error *error);
    /* NULL: `size` is always known. */
    enum nt_status (*size)(struct nt_source *source, uint64_t *size_ret, struct nt_error *error);
    /* The first place at or behind `offset` that is not in a hole of a sparse file. NULL: no holes are known.
     */
    uint64_t (*skip_hole)(struct nt_source *source, uint64_t offset);
    void (*close)(struct nt_source *source);
};

#define NT_UNKNOWN_SIZE UINT64_MAX

/* Embedded as the first member by implementations. The pointer identifies the source for as long as it is
 * open. */
struct nt_source {
    const struct nt_source_ops *ops;
    uint64_t size;        /* NT_UNKNOWN_SIZE: ask nt_source_size */
    uint64_t split_bytes; /* payloads that are longer lie in several parts; 0: however long, they do not */
    const char *path;     /* for messages; owned by the implementation */
};

/* Open a regular file. Its descriptor is kept until the source is closed, so that what is read is always the
 * file that was opened, whatever becomes of its path. NT_NOT_FOUND, NT_INVALID where it is no regular file,
 * NT_IO. */
enum nt_status nt_source_open_file(const char *path, struct nt_source **source_ret, struct nt_error *error);

/* A pool bounds how many descriptors its sources hold open at once (a quarter of RLIMIT_NOFILE, at most 128):
 * the one that was not used for longest is closed, and opened again when it is wanted. NULL without memory.
 */
struct nt_source_pool;
struct nt_source_pool *nt_source_pool_new(void);
/* Drop the caller's hold; the pool lives until its last source is closed. Accepts NULL. */
void nt_source_pool_free(struct nt_source_pool *pool);

/* A file of which many are used together. Nothing is opened before the first use: `size` is NT_UNKNOWN_SIZE,
 * and a file that is missing is found missing then. Whenever it is opened again it must be the same file as
 * at first (device, inode, size, time of modification), else NT_CHANGED. */
enum nt_status nt_source_open_file_lazily(struct nt_source_pool *pool, const char *path,
                                          struct nt_source **source_ret, struct nt_error *error);

/* A directory: a source of size 0 that answers stat and check. NT_NOT_FOUND, NT_INVALID where it is none,
 * NT_IO. */
enum nt_status nt_source_open_directory(const char *path, struct nt_source **source_ret,
                                        struct nt_error *error);

/* A source over memory that stays the caller's and must outlive it. `path` is copied. */
enum nt_status nt_source_open_memory(const void *bytes, size_t size, const char *path,
                                     struct nt_source **source_ret, struct nt_error *error);

/* Exactly `bytes` bytes from `offset`: NT_TRUNCATED where the source is shorter, NT_IO, NT_CHANGED. */
enum nt_status nt_source_read(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                              struct nt_error *error);
/* Whether so many bytes are what follows one another from an offset, so that their reads may be joined or
 * divided. Else they are a payload in parts, which is known by its full size: it is read in one call. */
static inline bool nt_source_is_range(const struct nt_source *source, uint64_t bytes)
{
    return !source->split_bytes || bytes <= source->split_bytes;
}
/* The size, also of a source that was opened lazily. */
enum nt_status nt_source_size(struct nt_source *source, uint64_t *size_ret, struct nt_error *error);
/* Where the next bytes are that are stored; `offset` itself where that cannot be told, the size where there
 * are none. */
uint64_t nt_source_skip_hole(struct nt_source *source, uint64_t offset);
/* NT_OK while the source is what was opened, NT_CHANGED where it was modified or replaced. */
enum nt_status nt_source_check(struct nt_source *source, struct nt_error *error);
enum nt_status nt_source_stat(struct nt_source *source, struct stat *attributes, struct nt_error *error);

/* Accepts NULL. */
void nt_source_close(struct nt_source *source);

#pragma GCC visibility pop

#endif
