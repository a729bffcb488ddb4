/* SPDX-License-Identifier: MIT
 *
 * Files that are open and folders that are listed, and what is asked of them.
 */
#ifndef NT_FETCH_FILES_H
#define NT_FETCH_FILES_H

#include "remote/helper/jobs.h"
#include "remote/helper/listings.h"
#include "remote/helper/output.h"
#include "remote/helper/rules.h"

struct nt_files {
    struct nt_rules rules;
    struct nt_transfers jobs;
    struct nt_output output;
    struct nt_fetched *first;
    unsigned count;
    struct nt_listings listings;
};

struct nt_fetched {
    struct nt_files *files;
    struct nt_remote *remote; /* its engine's, from `open` on */
    uint32_t number;
    uint64_t open_id;
    uint64_t milliseconds; /* to the end of which it is open, or not */
    bool is_open;
    uint64_t size;
    struct nt_file_part *parts; /* that somebody reads */
    struct nt_fetched *next;
};

/* A file as it was found when it was opened. */
struct nt_open_result {
    uint64_t size;
    int64_t modified;  /* seconds since 1970, or NT_FETCH_NO_TIME */
    const char *stamp; /* the same of the same version whatever process asks; "": the server does not tell */
    char server[NT_FETCH_SERVER_BYTES]; /* where it is: scheme, host and port. What is longer is cut off */
    const char *head, *tail;
    size_t head_bytes, tail_bytes; /* of the edges: all of the file, or NT_FETCH_EDGE_BYTES each */
    unsigned round_trips;          /* one behind the other, connecting not counted */
};

/* For engines: the end of opening. Where it failed, the file is closed and gone. */
void nt_file_opened(struct nt_fetched *file, const struct nt_open_result *opened);
void nt_file_not_opened(struct nt_fetched *file, enum nt_fetch_failure failure, const char *message);

/* What was asked for, with the text behind it. */
void nt_files_take(struct nt_files *files, const struct nt_fetch_request *request, const char *text,
                   size_t bytes);

#endif
