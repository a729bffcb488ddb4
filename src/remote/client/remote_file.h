/* SPDX-License-Identifier: MIT
 *
 * A file on another machine, as its reader has it: being open, and why it is not.
 */
#ifndef NT_IO_REMOTE_FILE_H
#define NT_IO_REMOTE_FILE_H

#include "remote/client/fetcher.h"
#include "remote/client/refusal.h"
#include "core/io/source.h"

/* What is known of a file before its server is asked. */
struct nt_remote_known {
    bool is_known;
    uint64_t size;
    int64_t modified; /* NT_FETCH_NO_TIME */
    char stamp[NT_FETCH_STAMP_BYTES];
};

/* Who may know something of a file when it is opened first. */
struct nt_remote_teller {
    enum nt_status (*tell)(void *context, const char *name, struct nt_remote_known *known_ret,
                           struct nt_error *error);
    void (*release)(void *context); /* with the file's end */
    void *context;
};

struct nt_remote_file {
    struct nt_source source;
    struct nt_fetcher *fetcher;
    struct nt_fetch_user user;
    char *address, *shown;
    struct nt_remote_teller teller; /* of nothing, or until it has told: */
    const char *name;               /* that it knows the file by; in `shown` */
    /* All that follows is under the fetcher's lock. */
    uint32_t file;  /* its number there */
    uint64_t epoch; /* in which it was opened; 0: it was not yet */
    bool is_opening;
    bool is_told, is_listed;              /* the teller has told; and what it knew is what the file is */
    bool is_closed;                       /* it was open, and others had to be */
    unsigned underway;                    /* parts and checks */
    struct nt_remote_file *newer, *older; /* of those that are open, and told from others */
    uint64_t size;
    int64_t modified;
    bool is_known;                      /* what follows is, of the file that was opened first or listed */
    char stamp[NT_FETCH_STAMP_BYTES];   /* what tells it from another one; "": nothing does */
    char server[NT_FETCH_SERVER_BYTES]; /* that had it last */
    struct nt_pace *pace;               /* its */
    struct nt_range_cache stretches;
    struct nt_disk_cache_file *disk; /* NULL: nothing of it is kept there */
    struct nt_refusal refusal;       /* of all who read */
    bool has_changed;
    /* Of objects: the file at their address, and when it is looked at again. */
    struct nt_remote_file *anchor;
    uint64_t check_due;
};

/* A part of the file that is asked for. */
struct nt_remote_part {
    struct nt_cached_range stretch;
    struct nt_fetch fetch;
    struct nt_pace_request pace;
    size_t got;
    bool is_ahead; /* nobody has waited for it yet: it counts in the fetcher */
};

/* Parts are made with a pin of the caller's; all under the fetcher's lock. NULL without memory. */
/* Ask for one, for who reads it, or is ahead of those who will; `is_now`: somebody waits for it. */
struct nt_remote_part *nt_remote_part_ask(struct nt_remote_file *file, uint64_t offset, size_t bytes,
                                          bool is_ahead, bool is_now);
/* What is on disk of [at, next), from `at` on. NULL, too, where there is nothing, or nothing good. */
struct nt_remote_part *nt_remote_part_from_disk(struct nt_remote_file *file, uint64_t at, uint64_t next);
/* What has come with something else is one, unless some of it is there. */
void nt_remote_part_keep(struct nt_remote_file *file, uint64_t offset, const uint8_t *bytes, size_t count);
/* Somebody waits for it now. */
void nt_remote_part_want(struct nt_remote_file *file, struct nt_remote_part *part);
/* Give a pin back. The last one who waits for what has not come takes the question back. */
void nt_remote_part_release(struct nt_remote_file *file, struct nt_remote_part *part);

/* Until it can be read, or the deadline. It is opened again where the process that fetches is another one, by one thread, while the
 * others wait; and must be the same file then. */
enum nt_status nt_remote_be_open(struct nt_remote_file *file, uint64_t deadline, struct nt_error *error);

/* A question to the file at the address of objects. */
struct nt_remote_check {
    struct nt_fetch fetch;
    struct nt_remote_file *anchor;
};

/* Whether the file at the address of objects is still what was opened, asked at times while they are read, and where one is missing. The end
 * gives the status of the reading, but where it has changed. Of other files nothing is asked. */
void nt_remote_check_begin(struct nt_remote_file *objects, struct nt_remote_check *check, uint64_t deadline);
enum nt_status nt_remote_check_end(struct nt_remote_file *objects, struct nt_remote_check *check,
                                   uint64_t deadline, enum nt_status status, struct nt_error *error);
/* It was looked at now. */
void nt_remote_check_later(struct nt_remote_file *objects);

/* A file that is opened when it is first used: its source does not know its size before. `teller` is the file's from now on, also where
 * this fails. The path of messages, `shown`, ends with the name that the teller knows the file by. */
enum nt_status nt_remote_file_new(struct nt_fetcher *fetcher, const char *address, const char *shown,
                                  const char *name, const struct nt_remote_teller *teller,
                                  struct nt_remote_file **file_ret, struct nt_error *error);
/* Now: then the source knows its size. */
enum nt_status nt_remote_file_open(struct nt_remote_file *file, struct nt_error *error);

/* Whether it can be read now. */
bool nt_remote_is_open(const struct nt_remote_file *file);
/* As nt_fetch_user.begin_anew has it. */
void nt_remote_begin_anew(struct nt_fetch_user *user);

/* It is used: of those that are told from others, the ones that were not used for longest may be closed. */
void nt_remote_note_use(struct nt_remote_file *file);
void nt_remote_forget_use(struct nt_remote_file *file);

/* What the failure of a request, for what is at an offset, means for the reader; the file is another one now. */
enum nt_status nt_remote_fail(struct nt_remote_file *file, const struct nt_fetch *fetch, uint64_t offset,
                              struct nt_error *error);
enum nt_status nt_remote_fail_changed(struct nt_remote_file *file, struct nt_error *error);

#endif
