/* SPDX-License-Identifier: MIT
 *
 * Where bytes come from: a file, memory, or whatever a program can read at any place. A source is a sequence
 * of bytes of known size that does not change. Reading is exact: all the bytes that were asked for, or a
 * failure.
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

/* A regular file. It is kept open, so that what is read is always the file that was opened, whatever becomes
 * of its path; each read checks that it was not modified (NT_CHANGED). NT_NOT_FOUND, NT_INVALID where it is
 * no regular file, NT_IO. Reads nothing. Of an address ("https://host/path"): nt_source_open_address with a
 * fetcher of its own. */
NT_CHECKED enum nt_status nt_source_open_file(const char *path, struct nt_source **source_ret,
                                              struct nt_error *error);

/* Memory that stays the caller's and must outlive the source. `name` is copied. Reads nothing. */
NT_CHECKED enum nt_status nt_source_open_memory(const void *bytes, size_t size, const char *name,
                                                struct nt_source **source_ret, struct nt_error *error);

/* ---- sources of a program's own ---- */

/* How a program answers for its source; grows as nt_open_options does. `context` is what nt_source_new was
 * given. No exception may leave the functions, and none may call back into what is read from the source. */
struct nt_source_callbacks {
    size_t struct_bytes;
    /* Put bytes [offset, offset + bytes) into `buffer`: all of them, or fail. They lie within the size, and
     * `bytes` is not 0. Called by several threads at once. A failure is NT_IO, NT_CHANGED, NT_TRUNCATED,
     * NT_NO_MEMORY or NT_CANCELED (anything else is taken for NT_IO); what happened may be written into
     * `error->message`, where `error` is never NULL. What is in `buffer` then does not matter. May not be
     * NULL. */
    enum nt_status (*read_at)(void *context, uint64_t offset, void *buffer, size_t bytes,
                              struct nt_error *error);
    /* The source's end, after which nothing is called any more. NULL: nothing to do. */
    void (*close)(void *context);
};
#define NT_SOURCE_CALLBACKS_INIT                                                                             \
    {                                                                                                        \
        sizeof(struct nt_source_callbacks), NULL, NULL                                                       \
    }

/* A source of `size` bytes that a program answers for. `callbacks` and `name` are copied; the name, often a
 * URL, is how the source is called in messages and, without its last extension, how datasets that have no
 * name of their own are. On success `context` is the source's until it closes it; otherwise nothing is
 * called. NT_INVALID, NT_NO_MEMORY. Reads nothing. */
NT_CHECKED enum nt_status nt_source_new(const struct nt_source_callbacks *callbacks, void *context,
                                        uint64_t size, const char *name, struct nt_source **source_ret,
                                        struct nt_error *error);

/* ---- files on other machines ---- */

struct nt_fetcher;

enum { NT_MOST_TIMEOUT_SECONDS = 24 * 60 * 60 };

/* How remote files are read; grows as nt_open_options does. */
struct nt_fetcher_options {
    size_t struct_bytes;
    const char *program;      /* that fetches; NULL: the one that was installed, or what NTUPLE_FETCH names */
    unsigned timeout_seconds; /* a read has its bytes by then, or an error; 0: 60 */
    uint64_t cache_bytes;     /* of what was read, for those who read it again; 0: 128 MiB */
    const char *
        disk_cache; /* a folder where it stays for others who read the same version, with the same folder; NULL: none */
    uint64_t disk_cache_bytes; /* in that folder at most; 0: 1 GiB */
    /* These addresses, and what lies beneath them, may be opened, and no others (NT_IO with EACCES), whatever asks for them; of patterns the
     * folder in front of the first wildcard. Ends with NULL; copied. NULL: each address that is opened. */
    const char *const *addresses;
    bool
        certificate_to_origin; /* the user's certificate is not shown to servers that others send requests to */
};
#define NT_FETCHER_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        sizeof(struct nt_fetcher_options), NULL, 0, 0, NULL, 0, NULL, false                                  \
    }

/* Start a network helper, a network helper for all sources that are opened with it. A process that was forked from
 * this one starts another, with the first read that asks for something. `options` may be NULL.
 * NT_UNSUPPORTED where the program is not installed, NT_INVALID, NT_NO_MEMORY, NT_IO. */
NT_CHECKED enum nt_status nt_fetcher_new(const struct nt_fetcher_options *options,
                                         struct nt_fetcher **fetcher_ret, struct nt_error *error);
/* The process ends with the last source that was opened with it. Accepts NULL. */
void nt_fetcher_free(struct nt_fetcher *fetcher);

/* A file at an address: http, https, dav, davs, s3, root, roots, xroot, xroots, ntpl+s3+https or ntpl+s3+http
 * (a folder: nt_file_open). It is read by ranges, and each answer is checked to be of the
 * file that was opened (NT_CHANGED). `fetcher` NULL: one of its own. Waits for the server. NT_UNREACHABLE where that does not
 * answer as it should, NT_UNSUPPORTED where it sends no ranges, NT_NOT_FOUND, NT_IO (EACCES) where it refuses,
 * NT_INVALID. */
NT_CHECKED enum nt_status nt_source_open_address(const char *address, struct nt_fetcher *fetcher,
                                                 struct nt_source **source_ret, struct nt_error *error);

/* ---- using a source ---- */

/* Bytes [offset, offset + bytes) into `buffer`: one read. NT_TRUNCATED past the end, NT_IO, NT_CHANGED,
 * NT_UNREACHABLE. Any thread. */
NT_CHECKED enum nt_status nt_source_read(struct nt_source *source, uint64_t offset, void *buffer,
                                         size_t bytes, struct nt_error *error);

/* How many bytes it has. Any thread. */
NT_CHECKED enum nt_status nt_source_size(struct nt_source *source, uint64_t *size_ret,
                                         struct nt_error *error);

/* Not of a source that a file took (nt_file_open_source). Accepts NULL. */
void nt_source_close(struct nt_source *source);

NT_API_END

#endif
