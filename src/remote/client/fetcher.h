/* SPDX-License-Identifier: MIT
 *
 * Asking the process that fetches: many requests at once, of many threads, over one socket.
 */
#ifndef NT_IO_FETCHER_H
#define NT_IO_FETCHER_H

#include <pthread.h>

#include <ntuple/source.h>

#include "core/base/error.h"
#include "core/base/lock.h"
#include "remote/client/disk_cache.h"
#include "remote/client/extents.h"
#include "remote/fetch.h"
#include "remote/client/fetch_start.h"
#include "remote/client/pace.h"

enum { NT_FETCH_PACKET_BYTES = sizeof(struct nt_fetch_answer) + NT_FETCH_DATA_BYTES };

/* So much longer than asked for it is waited: the process that fetches keeps to the time itself, as long as it works. */
enum { NT_FETCH_GRACE_MILLISECONDS = 2000 };

/* So long what a server has told is taken for what is there now. */
enum { NT_FRESH_MILLISECONDS = 2000 };

enum nt_fetch_state { NT_FETCH_UNDERWAY, NT_FETCH_GOOD, NT_FETCH_BAD };

/* A request, embedded in what it is for. All of it is under the fetcher's lock. */
struct nt_fetch {
    uint64_t id;
    uint32_t file;
    enum nt_fetch_state state;
    /* An answer that is not an end, and the bytes behind it; false where it is not what was asked for. */
    bool (*take)(struct nt_fetch *fetch, const struct nt_fetch_answer *answer, const uint8_t *bytes,
                 size_t count);
    /* The state is another one; before those who wait are told. */
    void (*end)(struct nt_fetch *fetch);
    enum nt_fetch_failure failure; /* of a BAD one */
    char message[256];
    struct nt_fetch *next, **link;
};

/* Whoever keeps something about the process that fetches; embedded in it. */
struct nt_fetch_user {
    /* The process is another one, of this forked process: nothing is under way, nothing is open. Under the lock. */
    void (*begin_anew)(struct nt_fetch_user *user);
    struct nt_fetch_user *next, **link;
};

/* Since it began. */
struct nt_fetch_counters {
    uint64_t requests, retries; /* of processes that are gone; see also `totals` */
    uint64_t reads, ahead;      /* parts that were asked for, among them those that nobody waited for yet */
    uint64_t bytes;             /* that have come */
    uint64_t failures;          /* answers that told one */
    uint64_t waits;             /* of who opens or reads, for what had to come first: one behind the other */
    uint64_t wait_milliseconds; /* that they took */
};

/* A process that was forked has a process that fetches of its own, from the first time on that it asks. */
struct nt_fetcher {
    struct nt_lock lock; /* of all that follows, and of the files that are fetched: nt_fetcher_lock */
    pthread_cond_t changed;
    unsigned holders;
    struct nt_fetch_user *users;
    char *program; /* that fetches; NULL: nobody has named one */
    struct nt_fetch_rules
        rules;           /* what each of these processes is told first; the addresses are the fetcher's own */
    bool is_handed_over; /* forked processes have the same one */
    bool is_forked;      /* what is here is the parent's still */
    uint64_t milliseconds;      /* to the end of which a read has its bytes, or an error */
    int channel, wake[2];       /* -1: there is none yet */
    bool has_receiver, is_over; /* over: there is nobody any more to ask */
    pthread_t receiver;
    uint64_t epoch; /* of the process that fetches now; 0: it has not said anything yet */
    uint64_t last_id;
    uint32_t last_file;
    struct nt_fetch *underway;
    struct nt_range_cache_room room;
    struct nt_disk_cache disk;
    struct nt_paces paces;
    uint64_t ahead_bytes; /* that are asked for while nobody waits for them */
    unsigned ahead_count;
    struct nt_remote_file *newest, *oldest; /* that are open, and told from others */
    unsigned open_count;
    struct nt_fetch_counters counters;
    struct nt_fetch_sandbox sandbox; /* of the process that fetches now, as it says */
    struct nt_fetch_totals totals;   /* as the process that fetches now told them last */
    uint8_t *packet;
};

/* What takes the answers, as a thread. */
void *nt_fetcher_receive(void *fetcher);

/* For `end`: a GOOD answer that was not all has failed. */
void nt_fetch_fall_short(struct nt_fetch *fetch);

void nt_fetcher_add_user(struct nt_fetcher *fetcher, struct nt_fetch_user *user);

void nt_fetcher_lock(struct nt_fetcher *fetcher);
void nt_fetcher_unlock(struct nt_fetcher *fetcher);

/* The following under the lock. */

void nt_fetcher_remove_user(struct nt_fetch_user *user);
/* Ask; kind, file, offset and bytes are the caller's. What cannot be asked has failed. */
void nt_fetcher_ask(struct nt_fetcher *fetcher, struct nt_fetch *fetch, struct nt_fetch_request request,
                    const char *text, size_t text_bytes);
/* Its answer is not wanted any more. */
void nt_fetcher_drop(struct nt_fetcher *fetcher, struct nt_fetch *fetch);
/* No answer is expected, nor whether it was heard. */
void nt_fetcher_tell(struct nt_fetcher *fetcher, enum nt_fetch_kind kind, uint64_t id, uint32_t file);
/* Until something has changed; false at the deadline. */
bool nt_fetcher_wait(struct nt_fetcher *fetcher, uint64_t deadline);

/* Why nothing came: the answer that told a failure; nobody who answers in time. */
enum nt_status nt_fetch_fail(const struct nt_fetch *fetch, const char *shown, struct nt_error *error);
enum nt_status nt_fetcher_fail_silent(const struct nt_fetcher *fetcher, const char *shown,
                                      struct nt_error *error);

/* ---- what others ask of it ---- */

/* Where a remote file was found, and what tells this version of it from another one; "": it is not told. */
struct nt_remote_names {
    char server[NT_FETCH_SERVER_BYTES], validator[NT_FETCH_STAMP_BYTES];
};

/* False of sources that are no remote files. */
bool nt_source_remote(const struct nt_source *source, struct nt_remote_names *names_ret);
/* Counters of all that was fetched, by number: names and values, all since its beginning but remote_kept_bytes and remote_open_files. False behind the last. */
bool nt_fetch_counter(struct nt_fetcher *fetcher, uint32_t index, const char **name_ret, uint64_t *value_ret);
/* What holds of the sandbox of the process that fetches, once a file was opened. Before, that may be waited for, by one thread alone. */
void nt_fetch_sandbox(struct nt_fetcher *fetcher, struct nt_fetch_sandbox *sandbox_ret);
enum nt_status nt_fetch_await_sandbox(struct nt_fetcher *fetcher, struct nt_fetch_sandbox *sandbox_ret,
                                      struct nt_error *error);

#endif
