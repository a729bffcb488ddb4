/* SPDX-License-Identifier: MIT
 *
 * Sources of bytes: a file, memory, or anything that a program can read at any offset. A source is a
 * constant sequence of bytes of known size. Reads are exact: they return all requested bytes or fail.
 */
#ifndef NTUPLE_SOURCE_H
#define NTUPLE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntuple/api.h>
#include <ntuple/error.h>

NT_API_BEGIN

struct nt_source;

/* Opens a regular file and keeps it open, so that renaming or deleting it has no effect. Each read
 * checks that the file was not modified (NT_CHANGED). NT_NOT_FOUND, NT_INVALID if it is not a regular
 * file, NT_IO. Reads nothing. An address ("https://host/path") is opened by nt_source_open_address with
 * a fetcher of its own. */
NT_CHECKED enum nt_status nt_source_open_file(const char *path, struct nt_source **source_ret,
                                              struct nt_error *error);

/* Opens memory of the caller, which must outlive the source. Copies `name`. Reads nothing. */
NT_CHECKED enum nt_status nt_source_open_memory(const void *bytes, size_t size, const char *name,
                                                struct nt_source **source_ret, struct nt_error *error);

/* ---- custom sources ---- */

/* Functions of a custom source; grows as nt_open_options does. `context` is that of nt_source_new. They
 * must not throw exceptions, nor call anything that reads from the source. */
struct nt_source_callbacks {
    size_t struct_bytes;
    /* Reads bytes [offset, offset + bytes) into `buffer`: all of them, or fails. They are within the
     * size, and `bytes` is not 0. Several threads call it at once. Failures are NT_IO, NT_CHANGED,
     * NT_TRUNCATED, NT_NO_MEMORY or NT_CANCELED (all others become NT_IO), with an optional message in
     * `error->message`; `error` is never NULL. After a failure the contents of `buffer` are ignored.
     * Not NULL. */
    enum nt_status (*read_at)(void *context, uint64_t offset, void *buffer, size_t bytes,
                              struct nt_error *error);
    /* Releases the source; no call follows. NULL if there is nothing to do. */
    void (*close)(void *context);
};
#define NT_SOURCE_CALLBACKS_INIT                                                                             \
    {                                                                                                        \
        sizeof(struct nt_source_callbacks), NULL, NULL                                                       \
    }

/* Creates a source of `size` bytes from callbacks. Copies `callbacks` and `name`. The name, often a
 * URL, is used in messages and, without its last extension, for datasets that have no name. On success
 * the source owns `context` until it calls close; on failure it calls nothing. NT_INVALID,
 * NT_NO_MEMORY. Reads nothing. */
NT_CHECKED enum nt_status nt_source_new(const struct nt_source_callbacks *callbacks, void *context,
                                        uint64_t size, const char *name, struct nt_source **source_ret,
                                        struct nt_error *error);

/* ---- files on other machines ---- */

struct nt_fetcher;

enum { NT_MAX_TIMEOUT_SECONDS = 24 * 60 * 60 };

/* Options for remote files; grows as nt_open_options does. */
struct nt_fetcher_options {
    size_t struct_bytes;
    const char *program;       /* the network helper; NULL: NTUPLE_FETCH or the installed one */
    unsigned timeout_seconds;  /* for one read, which then fails; 0: 60 */
    uint64_t cache_bytes;      /* limit of the memory cache; 0: 128 MiB */
    const char *disk_cache;    /* directory of a cache shared by readers of equal versions; NULL: none */
    uint64_t disk_cache_bytes; /* limit of that directory; 0: 1 GiB */
    /* Only these addresses, and those below them, may be opened; all others fail (NT_IO with EACCES).
     * Patterns allow the directory before their first wildcard. Ends with NULL; copied. NULL: each address
     * that is opened. */
    const char *const *addresses;
    bool certificate_to_origin; /* do not send the user's certificate to redirect targets */
};
#define NT_FETCHER_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        sizeof(struct nt_fetcher_options), NULL, 0, 0, NULL, 0, NULL, false                                  \
    }

/* Starts one network helper for all sources that use the fetcher. A forked process starts its own at
 * the first read that needs it. `options` may be NULL. NT_UNSUPPORTED if the program is not installed,
 * NT_INVALID, NT_NO_MEMORY, NT_IO. */
NT_CHECKED enum nt_status nt_fetcher_new(const struct nt_fetcher_options *options,
                                         struct nt_fetcher **fetcher_ret, struct nt_error *error);
/* The network helper ends when its last source is closed. Accepts NULL. */
void nt_fetcher_free(struct nt_fetcher *fetcher);

/* Opens an address: http, https, dav, davs, s3, root, roots, xroot, xroots, ntpl+s3+https or
 * ntpl+s3+http. nt_file_open also opens an address of a directory. Reads ranges, and checks that each
 * answer is from the file that was opened (NT_CHANGED). `fetcher` NULL: starts one for this source. Waits for
 * the server. NT_UNREACHABLE if it does not answer properly, NT_UNSUPPORTED if it has no ranges,
 * NT_NOT_FOUND, NT_IO (EACCES) if it refuses, NT_INVALID. */
NT_CHECKED enum nt_status nt_source_open_address(const char *address, struct nt_fetcher *fetcher,
                                                 struct nt_source **source_ret, struct nt_error *error);

/* ---- using a source ---- */

/* Reads bytes [offset, offset + bytes) into `buffer` with one read. NT_TRUNCATED past the end, NT_IO,
 * NT_CHANGED, NT_UNREACHABLE. Any thread. */
NT_CHECKED enum nt_status nt_source_read(struct nt_source *source, uint64_t offset, void *buffer,
                                         size_t bytes, struct nt_error *error);

/* The size in bytes. NT_UNSUPPORTED for a dataset in an object store, whose size is unknown; for an
 * address also the failures of nt_source_open_address. Any thread. */
NT_CHECKED enum nt_status nt_source_size(struct nt_source *source, uint64_t *size_ret,
                                         struct nt_error *error);

/* Do not call it for a source that a file owns (nt_file_open_source). No other thread may use the
 * source. Accepts NULL. */
void nt_source_close(struct nt_source *source);

NT_API_END

#endif
