/* SPDX-License-Identifier: MIT
 *
 * Client of the network helper: connection, remote files as sources, remote folders, and the memory and
 * disk caches.
 */
#ifndef NT_REMOTE_CLIENT_CLIENT_H
#define NT_REMOTE_CLIENT_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/base/thread.h"
#include "core/io/folder.h"
#include "core/io/source.h"
#include "remote/protocol.h"

struct nt_arena;
struct nt_disk_cache_file;
struct nt_fetcher;
struct nt_fetcher_options;
struct nt_range_cache;
struct nt_remote_entry;
struct nt_remote_file;
struct nt_remote_sublist;
struct nt_remote_list;
struct nt_server_link;

/* ---- Range cache ---- */

/* The beginning of a structure from malloc. */
struct nt_cached_range {
    uint64_t offset;
    size_t bytes;
    uint8_t *data;               /* from malloc */
    unsigned pins;               /* who uses it: then it stays */
    bool is_kept;                /* all of it is here, and it counts */
    struct nt_range_cache *file; /* NULL: it is in none any more */
    TAILQ_ENTRY(nt_cached_range) used;
};

struct nt_range_cache {
    struct nt_cached_range **list; /* by offset */
    size_t count, capacity;
};

struct nt_range_cache_space {
    uint64_t bytes, max_bytes;
    TAILQ_HEAD(nt_used_ranges, nt_cached_range) used; /* the most recently used first; TAILQ_INIT */
};

/* Nobody uses any that is kept. */
void nt_range_cache_release(struct nt_range_cache_space *room);
/* Those that are not kept are nobody's: they are freed. */
void nt_range_cache_drop_underway(struct nt_range_cache *file);

/* The one with the byte at `offset`; NULL where there is none, and `next_ret` is where the next one begins, or UINT64_MAX. */
struct nt_cached_range *nt_range_cache_at(const struct nt_range_cache *file, uint64_t offset,
                                          uint64_t *next_ret);
/* False without memory. It may not overlap others. */
bool nt_range_cache_add(struct nt_range_cache *file, struct nt_cached_range *range);
void nt_range_cache_remove(struct nt_cached_range *range);
/* Of those that are not kept nothing is freed. */
void nt_range_cache_deinit(struct nt_range_cache *file, struct nt_range_cache_space *room);

/* It has arrived: keep it. Those that were not used for longest go where there is no room. */
void nt_cached_range_keep(struct nt_range_cache_space *room, struct nt_cached_range *range);
/* One that is kept is in its file no more, and goes when nobody uses it. */
void nt_cached_range_forget(struct nt_range_cache_space *room, struct nt_cached_range *range);
void nt_cached_range_pin(struct nt_range_cache_space *room, struct nt_cached_range *range);
/* Frees one that is in no file any more. */
void nt_cached_range_unpin(struct nt_range_cache_space *room, struct nt_cached_range *range);

/* ---- Link estimates ---- */

/* Requests that are under way together; more of them wait for one another. */
enum { NT_LINK_CONNECTIONS = 16 };

enum { NT_LINK_MAX_GAP = 1024 * 1024 };

struct nt_link_estimate {
    uint64_t latency; /* until the first bytes come, where nothing queues; 0: not known */
    uint64_t rate;    /* bytes of a millisecond, by all requests together; 0: not known */
    unsigned underway;
    /* What has arrived since a moment from which on something was under way; at first only the first one was. */
    uint64_t since, bytes;
    bool is_first;
};

/* Of each server one; all zero at first. */
struct nt_link_estimates {
    struct nt_server_link *first;
    size_t count;
    struct nt_link_estimate others; /* of servers that are too many, or without memory */
};

struct nt_link_estimate *nt_link_estimates_of(struct nt_link_estimates *link_estimates, const char *server);
void nt_link_estimates_deinit(struct nt_link_estimates *link_estimates);
/* What is under way is nobody's. What was found about servers stays. */
void nt_link_estimates_restart(struct nt_link_estimates *link_estimates);

/* One of its requests, embedded in it. */
struct nt_link_request {
    struct nt_link_estimate *link_estimate;
    uint64_t asked;
    bool is_alone; /* it did not queue */
};

void nt_link_request_sent(struct nt_link_estimate *link_estimate, struct nt_link_request *request,
                          uint64_t now);
/* Its first bytes. */
void nt_link_request_answered(struct nt_link_request *request, uint64_t now);
/* With so many bytes. */
void nt_link_request_done(struct nt_link_request *request, uint64_t bytes, uint64_t now);

/* What comes in the time that one more request takes, where the others go on: the gap that is as well read as omitted. */
uint64_t nt_link_coalesce_gap(const struct nt_link_estimate *link_estimate);

/* ---- Backoff ---- */

enum { NT_BACKOFF_MILLISECONDS = 1000 };

/* Zeroed: there was none. */
struct nt_backoff {
    struct nt_error *failure; /* for all until: */
    uint64_t until;
};

/* In place of one before. Of one that is its caller's own (nt_is_transient), and without memory, who asks next finds out itself. */
void nt_backoff_note(struct nt_backoff *backoff, const struct nt_error *failure, uint64_t now);
/* The failure that stands (`error` may be NULL), else NT_OK. */
enum nt_status nt_backoff_check(const struct nt_backoff *backoff, uint64_t now, struct nt_error *error);
void nt_backoff_deinit(struct nt_backoff *backoff);

/* ---- Disk cache space ---- */

enum { NT_DISK_NAME_LENGTH = 32 };

struct nt_disk_cache {
    int folder; /* -1: there is none, and nothing is kept */
    uint64_t max_bytes;
    uint64_t allowance; /* that may be written before the folder is looked through again */
    uint64_t read_bytes, written_bytes, bad_pieces;
    LIST_HEAD(, nt_disk_cache_file) open; /* by this process */
};

/* The folder is made where it is missing. It must be the user's, and nobody else may write to it. */
enum nt_status nt_disk_cache_open(struct nt_disk_cache *cache, const char *path, uint64_t max_bytes,
                                  struct nt_error *error);
void nt_disk_cache_close(struct nt_disk_cache *cache);
/* It takes nothing any more, even of others who have it open. */
void nt_disk_cache_remove(struct nt_disk_cache *cache, const char *name);

/* ---- Disk cache ---- */

/* What is kept of a file of `size` bytes. `key` tells it from all others, and is seen by who reads the folder. NULL where nothing
 * can be kept. */
struct nt_disk_cache_file *nt_disk_cache_file_open(struct nt_disk_cache *cache, const char *key,
                                                   uint64_t size);
void nt_disk_cache_file_close(struct nt_disk_cache_file *entry);

/* The piece that has the byte at `offset`, and its end; else false, and where the next one begins, or UINT64_MAX. Of NULL there
 * is none. */
bool nt_disk_cache_file_find(const struct nt_disk_cache_file *entry, uint64_t offset,
                             uint64_t *end_or_next_ret);
/* Bytes of one piece. False where it is not what was written: then it is there no more. */
bool nt_disk_cache_file_read(struct nt_disk_cache_file *entry, uint64_t offset, void *bytes, size_t count);
/* Keep a range. Nothing is said where that cannot be. */
void nt_disk_cache_file_add(struct nt_disk_cache_file *entry, uint64_t offset, const uint8_t *bytes,
                            size_t count);
/* Bytes that make no sense: the pieces that have some of them are not there any more. */
void nt_disk_cache_file_forget(struct nt_disk_cache_file *entry, uint64_t offset, uint64_t bytes);

/* ---- Launch ---- */

/* What it is told first (io/fetch.h). */
struct nt_helper_rules {
    const char *const *addresses; /* ends with NULL: they alone may be asked for; NULL: all */
    bool certificate_to_origin;
};

/* Another process that runs `program` (NULL: the one that was installed; the variable NTUPLE_FETCH names another), with a socket to
 * it, which is closed by exec. It ends when the socket has no other user. NT_UNSUPPORTED where there is no such program. */
typedef enum nt_status nt_fetch_starter(const char *program, const struct nt_helper_rules *rules,
                                        int *channel_ret, struct nt_error *error);
nt_fetch_starter nt_helper_start;

/* ---- Requests ---- */

/* So much longer than asked for it is waited: the network helper keeps to the time itself, as long as it works. */
enum { NT_FETCH_GRACE_MILLISECONDS = 2000 };

/* So long what a server has told is taken for what is there now. */
enum { NT_FRESH_MILLISECONDS = 2000 };

/* What was not asked for is good. */
enum nt_helper_request_state { NT_FETCH_GOOD, NT_FETCH_UNDERWAY, NT_FETCH_BAD };

/* A request, embedded in what it is for. All of it is under the fetcher's lock. */
struct nt_helper_request {
    uint64_t id;
    uint32_t file;
    enum nt_helper_request_state state;
    /* An answer that is not an end, and the bytes behind it; false where it is not what was asked for. */
    bool (*take)(struct nt_helper_request *fetch, const struct nt_fetch_answer *answer, const uint8_t *bytes,
                 size_t count);
    /* The state is another one; before those who wait are told. NULL: there is nothing to do. */
    void (*end)(struct nt_helper_request *fetch);
    enum nt_fetch_failure failure; /* of a BAD one */
    char message[256];
    LIST_ENTRY(nt_helper_request) all;
};

/* Since it began. */
struct nt_fetch_counters {
    uint64_t requests, retries; /* of processes that are gone; see also `totals` */
    uint64_t reads, ahead;      /* parts that were asked for, among them those that nobody waited for yet */
    uint64_t bytes;             /* that have arrived */
    uint64_t failures;          /* answers that told one */
    uint64_t waits;             /* of who opens or reads, for what had to come first: one after the other */
    uint64_t wait_milliseconds; /* that they took */
};
/* What holds of the sandbox of the network helper, once a file was opened. Before, that may be waited for, by one thread alone. */
void nt_helper_sandbox(struct nt_fetcher *fetcher, struct nt_helper_sandbox *sandbox_ret);

/* A process that was forked has a network helper of its own, from the first time on that it asks. */
struct nt_fetcher {
    struct nt_lock lock; /* of all that follows, and of the files that are fetched: nt_fetcher_lock */
    pthread_cond_t changed;
    unsigned holders;
    LIST_HEAD(, nt_remote_file) files;
    char *program; /* that fetches; NULL: nobody has named one */
    nt_fetch_starter *start_process;
    struct nt_helper_rules
        rules;           /* what each of these processes is told first; the addresses are the fetcher's own */
    bool is_handed_over; /* forked processes have the same one */
    bool is_forked;      /* what is here is the parent's still */
    uint64_t milliseconds;      /* to the end of which a read has its bytes, or an error */
    int channel, wake[2];       /* -1: there is none yet */
    bool has_receiver, is_over; /* over: there is nobody any more to ask */
    pthread_t receiver;
    uint64_t epoch; /* of the current network helper; 0: it has not said anything yet */
    uint64_t last_id;
    uint32_t last_file;
    LIST_HEAD(, nt_helper_request) underway;
    struct nt_range_cache_space room;
    struct nt_disk_cache disk;
    struct nt_link_estimates link_estimates;
    uint64_t ahead_bytes; /* that are asked for while nobody waits for them */
    unsigned ahead_count;
    TAILQ_HEAD(nt_used_files, nt_remote_file)
    used; /* open files with a validator, the most recently used first */
    unsigned open_count;
    struct nt_fetch_counters counters;
    struct nt_helper_sandbox sandbox; /* of the current network helper, as it says */
    struct nt_fetch_totals totals;    /* as the current network helper told them last */
    uint8_t *packet;
};

/* For `end`: a GOOD answer that was not all has failed. */
void nt_helper_request_fail_short(struct nt_helper_request *fetch);

/* nt_fetcher_new whose answers come from elsewhere than the installed program: what is called instead of nt_helper_start. */
enum nt_status nt_fetcher_new_by(nt_fetch_starter *start_process, const struct nt_fetcher_options *options,
                                 struct nt_fetcher **fetcher_ret, struct nt_error *error);

void nt_fetcher_lock(struct nt_fetcher *fetcher);
void nt_fetcher_unlock(struct nt_fetcher *fetcher);

/* The following under the lock. */

/* Ask; kind, file, offset and bytes are the caller's. What cannot be asked has failed. */
void nt_fetcher_send(struct nt_fetcher *fetcher, struct nt_helper_request *fetch,
                     struct nt_fetch_request request, const char *text, size_t text_bytes);
/* Its answer is not wanted any more. */
void nt_fetcher_cancel(struct nt_fetcher *fetcher, struct nt_helper_request *fetch);
/* No answer is expected, nor whether it was heard. */
void nt_fetcher_notify(struct nt_fetcher *fetcher, enum nt_helper_message kind, uint64_t id, uint32_t file);
/* Until something has changed; false at the deadline. */
bool nt_fetcher_wait(struct nt_fetcher *fetcher, uint64_t deadline);

/* Why nothing came: the answer that told a failure; nobody who answers in time. */
enum nt_status nt_helper_request_fail(const struct nt_helper_request *fetch, const char *shown,
                                      struct nt_error *error);
enum nt_status nt_fetcher_fail_timeout(const struct nt_fetcher *fetcher, const char *shown,
                                       struct nt_error *error);

/* ---- what others ask of it ---- */

/* Where a remote file was found, and what tells this version of it from another one; "": it is not told. */
struct nt_remote_names {
    char server[NT_FETCH_SERVER_BYTES], validator[NT_FETCH_VALIDATOR_BYTES];
};

/* False of sources that are no remote files. */
bool nt_source_remote(const struct nt_source *source, struct nt_remote_names *names_ret);
/* Counters of all that was fetched, by number: names and values, all since its beginning but remote_kept_bytes and remote_open_files. False behind the last. */
bool nt_fetch_counter(struct nt_fetcher *fetcher, uint32_t index, const char **name_ret, uint64_t *value_ret);
enum nt_status nt_helper_await_sandbox(struct nt_fetcher *fetcher, struct nt_helper_sandbox *sandbox_ret,
                                       struct nt_error *error);

/* ---- Connection lifetime ---- */

/* One holder more, and from the first one on a thread that takes the answers. */
enum nt_status nt_fetcher_ref(struct nt_fetcher *fetcher, struct nt_error *error);

/* Where none is given, a new one, which `own_ret` has then, too: whoever asked frees that. */
enum nt_status nt_fetcher_or_own(struct nt_fetcher **fetcher, struct nt_fetcher **own_ret,
                                 struct nt_error *error);

/* Forked processes will have this one, of which one alone may ask: it is the one that forks before it has asked for anything, and hands it over. */
void nt_fetcher_hand_over(struct nt_fetcher *fetcher);

/* In another process that has the same one: all that is under way in any of them fails, and whatever is asked for later. */
void nt_fetcher_stop(struct nt_fetcher *fetcher);

/* Under the lock. Until there is somebody to ask, who is started where this process has nobody. NT_UNREACHABLE where there is nobody before the deadline. */
enum nt_status nt_fetcher_connect(struct nt_fetcher *fetcher, const char *shown, uint64_t deadline,
                                  struct nt_error *error);

/* ---- Range coalescing ---- */

/* Of extents, in any order, ranges by offset that have all of them: what is no further apart than `gap` bytes is one, the nearest first.
 * In place; how many they are. Those that are not within `size` bytes are omitted: who reads them is told. */
size_t nt_ranges_coalesce(struct nt_extent *extents, size_t count, uint64_t size, uint64_t gap);

/* How much of so many bytes is asked for at once: many connections share what is large. */
uint64_t nt_ranges_split_bytes(uint64_t bytes);

/* ---- Remote files ---- */

/* What is known of a file before its server is asked. */
struct nt_remote_attributes {
    bool is_known;
    uint64_t size;
    int64_t modified; /* NT_FETCH_NO_TIME */
    char validator[NT_FETCH_VALIDATOR_BYTES];
};

/* Who may know something of a file when it is opened first. */
struct nt_remote_attribute_source {
    enum nt_status (*tell)(void *context, const char *name, struct nt_remote_attributes *known_ret,
                           struct nt_error *error);
    void (*release)(void *context); /* with the file's end */
    void *context;
};

struct nt_remote_file {
    struct nt_source source;
    struct nt_fetcher *fetcher;
    LIST_ENTRY(nt_remote_file) all; /* of the fetcher */
    char *address, *shown;
    struct nt_remote_attribute_source teller; /* of nothing, or until it has told: */
    const char *name;                         /* that it knows the file by; in `shown` */
    /* All that follows is under the fetcher's lock. */
    uint32_t file;  /* its number there */
    uint64_t epoch; /* in which it was opened; 0: it was not yet */
    bool is_opening;
    bool has_listing, is_listed; /* the teller has told; and what it knew is what the file is */
    bool is_closed;              /* it was open, and others had to be */
    unsigned underway;           /* parts and checks */
    bool is_in_use;              /* it is in: */
    TAILQ_ENTRY(nt_remote_file) used;
    uint64_t size;
    int64_t modified;
    bool is_known; /* what follows is, of the file that was opened first or listed */
    char validator[NT_FETCH_VALIDATOR_BYTES]; /* what tells it from another one; "": nothing does */
    char server[NT_FETCH_SERVER_BYTES];       /* that had it last */
    struct nt_link_estimate *link_estimate;   /* its */
    struct nt_range_cache range_cache;
    struct nt_disk_cache_file *disk; /* NULL: nothing of it is kept there */
    struct nt_backoff backoff;       /* of all who read */
    bool has_changed;
    /* Of objects: the file at their address, and when it is looked at again. */
    struct nt_remote_file *anchor;
    uint64_t check_due;
};
/* What has arrived with something else is one, unless some of it is there. */
void nt_remote_part_keep(struct nt_remote_file *file, uint64_t offset, const uint8_t *bytes, size_t count);

/* Until it can be read, or the deadline. It is opened again where the network helper is another one, by one thread, while the
 * others wait; and must be the same file then. */
enum nt_status nt_remote_reopen(struct nt_remote_file *file, uint64_t deadline, struct nt_error *error);

/* A question to the file at the address of objects. */
struct nt_revalidation {
    struct nt_helper_request fetch;
    struct nt_remote_file *anchor;
};

/* Whether the file at the address of objects is still what was opened, asked at times while they are read, and where one is missing. The end
 * gives the status of the reading, but where it has changed. Of other files nothing is asked. */
void nt_revalidate_begin(struct nt_remote_file *objects, struct nt_revalidation *check, uint64_t deadline);
enum nt_status nt_revalidate_end(struct nt_remote_file *objects, struct nt_revalidation *check,
                                 uint64_t deadline, enum nt_status status, struct nt_error *error);
/* It was looked at now. */
void nt_revalidate_later(struct nt_remote_file *objects);

/* A file that is opened when it is first used: its source does not know its size before. `teller` is the file's from now on, also where
 * this fails. The path of messages, `shown`, ends with the name that the teller knows the file by. */
enum nt_status nt_remote_file_new(struct nt_fetcher *fetcher, const char *address, const char *shown,
                                  const char *name, const struct nt_remote_attribute_source *teller,
                                  struct nt_remote_file **file_ret, struct nt_error *error);
/* Now: then the source knows its size. */
enum nt_status nt_remote_file_open(struct nt_remote_file *file, struct nt_error *error);

/* Whether it can be read now. */
bool nt_remote_is_open(const struct nt_remote_file *file);
/* The helper is another one, of this forked process: nothing is under way, nothing is open. Under the lock. */
void nt_remote_on_restart(struct nt_remote_file *file);
void nt_remote_forget_use(struct nt_remote_file *file);

/* What the failure of a request, for what is at an offset, means for the reader; the file is another one now. */
enum nt_status nt_remote_fail(struct nt_remote_file *file, const struct nt_helper_request *fetch,
                              uint64_t offset, struct nt_error *error);
enum nt_status nt_remote_fail_changed(struct nt_remote_file *file, struct nt_error *error);

/* ---- Directory listings ---- */

struct nt_remote_entry {
    const char *name;
    const char *validator; /* what tells this file from another one; "": it has to be opened to be known */
    uint64_t size;
    int64_t modified; /* NT_FETCH_NO_TIME */
    bool is_folder;
    uint32_t number; /* as they came */
};

struct nt_remote_list {
    struct nt_remote_entry *entries; /* by name, each once */
    size_t count, capacity;
    struct nt_arena *arena;
    atomic_uint holders;
    uint64_t asked, number; /* who asked: when, as nt_milliseconds tells, and which of their lists it is */
};
/* It has one holder more; it goes with the last one. */
void nt_remote_list_ref(struct nt_remote_list *list);
void nt_remote_list_free(struct nt_remote_list *list); /* accepts NULL */

/* ---- Listing cache ---- */

/* Filled in by who has them, but for: */
struct nt_remote_lists {
    struct nt_fetcher *fetcher;
    const char *address, *shown;     /* of the folder that they are all beneath */
    struct nt_remote_sublist *inner; /* those that somebody wanted */
    uint64_t count;                  /* of lists that were asked for */
};

void nt_remote_lists_deinit(struct nt_remote_lists *lists);

/* The list of a folder, "" of the outermost. NT_NOT_FOUND where there is no such folder, which the lists of those above may tell. It
 * is there until the next refreshing, or longer with a holder of its own. */
enum nt_status nt_remote_lists_get(struct nt_remote_lists *lists, struct nt_text name,
                                   struct nt_remote_list **list_ret, struct nt_error *error);
/* What the list of its folder tells of a file or folder. */
enum nt_status nt_remote_lists_find(struct nt_remote_lists *lists, const char *name,
                                    const struct nt_remote_entry **entry_ret, struct nt_error *error);
/* See nt_folder_refresh. The innermost folder on the way to a name that was listed is asked for again: those below it will be, when
 * they are wanted. What was known stays where nothing can be learned. */
enum nt_status nt_remote_lists_refresh(struct nt_remote_lists *lists, struct nt_text name,
                                       uint64_t *number_ret, struct nt_error *error);

/* ---- Remote folders ---- */

/* The folder at an address, as it is now: what is in it is asked for once, when it is first looked at, and what is in its folders likewise. NT_NOT_FOUND,
 * NT_UNSUPPORTED where its server tells of no folders; else as nt_source_open_address. `fetcher` NULL: one of its own. */
enum nt_status nt_folder_open_address(const char *address, struct nt_fetcher *fetcher,
                                      struct nt_folder **folder_ret, struct nt_error *error);

/* What an address leads to: a file, or a folder, as a source. That it is a folder a slash at its end says; else what is no file is tried as one. */
enum nt_status nt_source_open_remote(const char *address, struct nt_fetcher *fetcher,
                                     struct nt_source **source_ret, struct nt_error *error);

#endif
