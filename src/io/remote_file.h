/* SPDX-License-Identifier: MIT
 *
 * A file on another machine, as its reader has it: being open, and why it is not. All is under the fetcher's lock.
 */
#ifndef NT_IO_REMOTE_FILE_H
#define NT_IO_REMOTE_FILE_H

#include "io/fetcher.h"
#include "io/source.h"

struct nt_remote_file {
    struct nt_source source;
    struct nt_fetcher *fetcher;
    char *address, *shown;
    /* All that follows is under the fetcher's lock. */
    uint32_t file;  /* its number there */
    uint32_t epoch; /* in which it was opened; 0: it was not yet */
    bool is_opening;
    int64_t modified;
    char stamp[NT_FETCH_STAMP_BYTES];   /* what tells it from another one; "": nothing does */
    char server[NT_FETCH_SERVER_BYTES]; /* that had it last */
    struct nt_stretches stretches;
    struct nt_error refusal; /* the last failure, for all until: */
    uint64_t refused_until;
    bool has_changed;
};

/* A part of the file that is asked for. */
struct nt_remote_part {
    struct nt_stretch stretch;
    struct nt_fetch fetch;
    size_t got;
    bool is_ahead; /* nobody has waited for it yet: it counts in the fetcher */
};

/* Until it can be read, or the deadline. It is opened again where the process that fetches is another one, by one thread, while the
 * others wait; and must be the same file then. */
enum nt_status nt_remote_be_open(struct nt_remote_file *file, uint64_t deadline, struct nt_error *error);

/* For a second it is taken to be out of reach: each read would take its time to find that out. */
enum nt_status nt_remote_refuse(struct nt_remote_file *file, struct nt_error *error);

/* What a request's failure means for the reader; it did not end in time; the file is another one now. */
enum nt_status nt_remote_fail(struct nt_remote_file *file, const struct nt_fetch *fetch,
                              struct nt_error *error);
enum nt_status nt_remote_fail_silent(struct nt_remote_file *file, struct nt_error *error);
enum nt_status nt_remote_fail_changed(struct nt_remote_file *file, struct nt_error *error);

#endif
