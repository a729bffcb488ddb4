/* SPDX-License-Identifier: MIT
 *
 * Where bytes come from. A source is a sequence of `size` bytes that can be read at any place. Reading is
 * exact: all the bytes that were asked for, or an error. All functions may be called from several threads.
 */
#ifndef NTUPLE_SOURCE_H
#define NTUPLE_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <ntuple/error.h>

struct nt_extent {
    uint64_t offset; /* bytes from the start of the source */
    uint64_t bytes;
};

struct nt_source;

struct nt_source_ops {
    enum nt_status (*read_at)(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                              struct nt_error *error);
    /* NT_OK while the source is still what was opened, else NT_CHANGED or NT_IO. NULL: always. */
    enum nt_status (*check)(struct nt_source *source, struct nt_error *error);
    /* Owner, times and mode for the files made from the source. NULL: none. */
    enum nt_status (*stat)(struct nt_source *source, struct stat *attributes, struct nt_error *error);
    void (*close)(struct nt_source *source);
};

/* Embedded as the first member by implementations. The pointer identifies the source for as long as it is open. */
struct nt_source {
    const struct nt_source_ops *ops;
    uint64_t size;
    const char *path; /* for messages; owned by the implementation */
};

/* Open a regular file. The descriptor may be closed and opened again behind the caller's back when many
 * sources are open at once; that it is still the same file (device, inode, size, times) is checked then. */
enum nt_status nt_source_open_file(const char *path, struct nt_source **source_ret, struct nt_error *error);

/* The same, when the size is not needed to be known before the first read: no descriptor is opened now. */
enum nt_status nt_source_open_file_lazily(const char *path, struct nt_source **source_ret,
                                          struct nt_error *error);

/* A source over memory that stays the caller's and must outlive it. `path` is copied. */
enum nt_status nt_source_open_memory(const void *bytes, size_t size, const char *path,
                                     struct nt_source **source_ret, struct nt_error *error);

/* Exactly `bytes` bytes from `offset`: NT_TRUNCATED where the source is shorter, NT_IO, NT_CHANGED. */
enum nt_status nt_source_read(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                              struct nt_error *error);
enum nt_status nt_source_check(struct nt_source *source, struct nt_error *error);
enum nt_status nt_source_stat(struct nt_source *source, struct stat *attributes, struct nt_error *error);

/* Accepts NULL. */
void nt_source_close(struct nt_source *source);

#endif
