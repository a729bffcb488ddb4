/* SPDX-License-Identifier: MIT
 *
 * Asking the process that fetches: many requests at once, of many threads, over one socket.
 */
#ifndef NT_IO_FETCHER_H
#define NT_IO_FETCHER_H

#include <pthread.h>

#include <ntuple/source.h>

#include "base/error.h"
#include "io/disk_cache.h"
#include "io/extents.h"
#include "io/fetch.h"
#include "io/pace.h"

/* So much longer than asked for it is waited: the process that fetches keeps to the time itself, as long as it works. */
enum { NT_FETCH_GRACE_MILLISECONDS = 2000 };

/* So long what a server has told is taken for what is there now. */
enum { NT_FRESH_MILLISECONDS = 2000 };

enum nt_fetch_state { NT_FETCH_UNDERWAY, NT_FETCH_GOOD, NT_FETCH_BAD };

/* A request, embedded in what it is for. All of it is under the fetcher's lock. */
struct nt_fetch {
    uint64_t id;
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

/* Since it began. */
struct nt_fetch_counters {
    uint64_t requests, retries; /* of processes that are gone; see also `totals` */
    uint64_t reads, ahead;      /* parts that were asked for, among them those that nobody waited for yet */
    uint64_t bytes;             /* that have come */
    uint64_t failures;          /* answers that told one */
    uint64_t waits;             /* of who opens or reads, for what had to come first: one behind the other */
    uint64_t wait_milliseconds; /* that they took */
};

struct nt_fetcher {
    pthread_mutex_t lock; /* of all that follows, and of the files that are fetched */
    pthread_cond_t changed;
    unsigned holders;
    uint64_t milliseconds; /* to the end of which a read has its bytes, or an error */
    int channel, wake[2];
    bool has_receiver, is_over; /* over: there is nobody any more to ask */
    pthread_t receiver;
    uint32_t epoch; /* of the process that fetches now; 0: it has not said anything yet */
    uint64_t last_id;
    uint32_t last_file;
    struct nt_fetch *underway;
    struct nt_stretch_room room;
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

/* For `end`: a GOOD answer that was not all has failed. */
void nt_fetch_fall_short(struct nt_fetch *fetch);

/* One user more, and from the first one on a thread that takes the answers. */
enum nt_status nt_fetcher_hold(struct nt_fetcher *fetcher, struct nt_error *error);

/* Where none is given, a new one, which `own_ret` has then, too: whoever asked frees that. */
enum nt_status nt_fetcher_or_own(struct nt_fetcher **fetcher, struct nt_fetcher **own_ret,
                                 struct nt_error *error);

/* In another process that has the same one: all that is under way in any of them fails, and whatever is asked for later. */
void nt_fetcher_stop(struct nt_fetcher *fetcher);

/* The following under the lock. */

/* Until there is somebody to ask; false where there is not, and will not be before the deadline. */
bool nt_fetcher_is_there(struct nt_fetcher *fetcher, uint64_t deadline);
/* Ask; kind, file, offset and bytes are the caller's. What cannot be asked has failed. */
void nt_fetcher_ask(struct nt_fetcher *fetcher, struct nt_fetch *fetch, struct nt_fetch_request request,
                    const char *text, size_t text_bytes);
/* Its answer is not wanted any more. */
void nt_fetcher_drop(struct nt_fetcher *fetcher, struct nt_fetch *fetch);
/* No answer is expected, nor whether it was heard. */
void nt_fetcher_tell(struct nt_fetcher *fetcher, enum nt_fetch_kind kind, uint64_t id, uint32_t file);
/* Until something has changed; false at the deadline. */
bool nt_fetcher_wait(struct nt_fetcher *fetcher, uint64_t deadline);

/* Why nothing came: the answer that told a failure; nobody to ask, or nobody who answers in time. */
enum nt_status nt_fetch_fail(const struct nt_fetch *fetch, const char *shown, struct nt_error *error);
enum nt_status nt_fetcher_fail_absent(const struct nt_fetcher *fetcher, const char *shown,
                                      struct nt_error *error);
enum nt_status nt_fetcher_fail_silent(const struct nt_fetcher *fetcher, const char *shown,
                                      struct nt_error *error);

#endif
