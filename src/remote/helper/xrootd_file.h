/* SPDX-License-Identifier: MIT
 *
 * Files on XRootD's servers: open, or opened anew where a server has forgotten them, and then only if they are what they were.
 */
#ifndef NT_FETCH_XROOTD_FILE_H
#define NT_FETCH_XROOTD_FILE_H

#include "remote/helper/jobs.h"
#include "remote/helper/xrd_session.h"

/* A job's try: it waits for its file to be open, and then for what was asked. */
struct nt_xrd_attempt {
    struct nt_transfer *job;
    uint64_t deadline;
    struct nt_xrd_attempt *next, **link; /* of those that wait for the file; link NULL: it does not */
    struct nt_xrd_read *read;            /* that it is a part of; NULL: none */
    bool is_opening;                     /* both ends of the file are wanted, wherever they are */
};

/* Files of which something is to be asked. */
struct nt_xrootd_wanting {
    struct nt_xrootd_file *first;
};

struct nt_xrootd_file {
    struct nt_remote remote;
    char *url;
    struct nt_xrootd_wanting *wanting;
    struct nt_xrd_session *session; /* NULL: it is not open, nor opened */
    bool is_open;                   /* the session is */
    bool is_known;                  /* the attributes are */
    struct nt_xrd_attributes attributes;
    uint64_t checked; /* when they were found to be the same; milliseconds */
    struct nt_xrd_attempt *waiting;
    struct nt_xrootd_file *next, **link; /* of those that want something; link NULL: it does not */
    struct nt_xrd_edges *edges;          /* while it is opened for the first time */
    struct nt_xrd_walk *walk;            /* of a folder that is listed; NULL: a file */
};

/* One more that waits; and one that does not any more. */
void nt_xrootd_file_await(struct nt_xrootd_file *file, struct nt_xrd_attempt *attempt);
void nt_xrd_attempt_leave(struct nt_xrd_attempt *attempt);
/* It wants nothing. */
void nt_xrootd_file_rest(struct nt_xrootd_file *file);

/* Begin to open it, for those who wait. False without memory. */
bool nt_xrootd_file_open(struct nt_xrootd_file *file, struct nt_xrd_queue *queue);
/* Before anything else is asked it has to be opened again. */
void nt_xrootd_file_lose(struct nt_xrootd_file *file);
/* Whether this is of the file that was opened first. */
bool nt_xrootd_file_is_same(const struct nt_xrootd_file *file, const struct nt_xrd_attributes *found);
/* Of those who wait. */
void nt_xrootd_file_fail(struct nt_xrootd_file *file, const struct nt_result *result);

/* What tells it from other files at the address. The number of the file on its server is not in it: where it is opened by another
 * process it may be from another server, which has the same file by another number. */
void nt_xrootd_stamp(char stamp[NT_FETCH_STAMP_BYTES], int64_t modified);

extern const struct nt_result nt_xrootd_changed;

#endif
