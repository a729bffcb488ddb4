/* SPDX-License-Identifier: MIT
 *
 * Client of the network helper: connection, remote files as sources, remote directories, and the memory and
 * disk caches.
 */
#pragma once

#include "core/base/error.h"
#include "core/base/thread.h"
#include "core/io/folder.h"
#include "core/io/source.h"
#include "remote/protocol.h"

struct nt_cached_range;
struct nt_disk_cache_file;
struct nt_fetcher;
struct nt_fetcher_options;
struct nt_remote_file;
struct nt_remote_folder;
NT_DEFINE_CLEANUP(struct nt_fetcher, nt_fetcher_free)

/* ---- Requests ---- */

/* Extra wait beyond a request's time limit, which a working network helper enforces itself. */
enum { NT_FETCH_GRACE_MILLISECONDS = 2000 };

/* How long a server's answer counts as current. */
enum { NT_FRESH_MILLISECONDS = 2000 };

/* A request that was never sent is done. */
enum nt_helper_request_state { NT_HELPER_REQUEST_DONE, NT_HELPER_REQUEST_PENDING, NT_HELPER_REQUEST_FAILED };

/* A request, embedded in the caller's structure. The fetcher's lock protects it. */
struct nt_helper_request {
    uint64_t id;
    uint32_t file;
    enum nt_helper_request_state state;
    /* An answer before the end, and its bytes; false if it does not match the request. */
    bool (*take)(struct nt_helper_request *fetch, const struct nt_fetch_answer *answer, const uint8_t *bytes,
                 size_t count);
    /* Called when the state changes, before waiting threads wake up. May be NULL. */
    void (*end)(struct nt_helper_request *fetch);
    enum nt_fetch_failure failure; /* of a failed request */
    char message[256];
    LIST_ENTRY(nt_helper_request) all;
};

/* ---- Link estimates ---- */

/* Concurrent requests; more of them queue. */
enum { NT_LINK_CONNECTIONS = 16, NT_LINK_MIN_GAP = 32 * 1024 };

enum { NT_LINK_MAX_GAP = 1024 * 1024 };

struct nt_link_estimate {
    uint64_t latency; /* to the first byte, without queueing; 0: unknown */
    uint64_t rate;    /* bytes per millisecond of all requests together; 0: unknown */
    unsigned underway;
    /* The current sample: bytes since its start. is_first: the link was idle before. */
    uint64_t since, bytes;
    bool is_first;
    char server[NT_FETCH_SERVER_BYTES];
    LIST_ENTRY(nt_link_estimate) all;
};

/* One estimate per server; zero-initialised. */
struct nt_link_estimates {
    LIST_HEAD(, nt_link_estimate) servers;
    size_t count;
    struct nt_link_estimate others; /* for servers beyond the limit, or if out of memory */
};

struct nt_link_estimate *nt_link_estimates_of(struct nt_link_estimates *link_estimates, const char *server);
void nt_link_estimates_deinit(struct nt_link_estimates *link_estimates);
/* Forgets active requests. Keeps what is known about servers. */
void nt_link_estimates_restart(struct nt_link_estimates *link_estimates);

/* A request to the server, embedded in the caller's structure. */
struct nt_link_request {
    struct nt_link_estimate *link_estimate;
    uint64_t asked;
    bool is_alone; /* it did not queue */
};

void nt_link_request_sent(struct nt_link_estimate *link_estimate, struct nt_link_request *request,
                          uint64_t now);
/* The first bytes have arrived. */
void nt_link_request_answered(struct nt_link_request *request, uint64_t now);
/* The request is complete, with `bytes` bytes. */
void nt_link_request_done(struct nt_link_request *request, uint64_t bytes, uint64_t now);

/* The bytes that arrive during the latency of one more request while others continue: reading a gap of
 * this size costs no more than skipping it. */
uint64_t nt_link_coalesce_gap(const struct nt_link_estimate *link_estimate);

/* ---- Range cache ---- */

/* Bytes of a file that are in memory, or requested. From malloc. */
struct nt_cached_range {
    struct nt_helper_request fetch; /* done if none was necessary */
    struct nt_link_request link;
    struct nt_remote_file *owner;
    uint64_t offset;
    size_t bytes;
    uint8_t *data;                /* from malloc */
    unsigned pins;                /* number of users; a pinned range stays */
    size_t got, wanted;           /* bytes; wanted: a reader waits for so many. 0: for none, or for all */
    bool is_prefetch;             /* no reader has waited yet; counted in the fetcher */
    bool is_kept;                 /* complete, and counted in the space */
    struct nt_range_cache *cache; /* NULL: detached */
    TAILQ_ENTRY(nt_cached_range) used;
};

struct nt_range_cache {
    struct nt_cached_range **list; /* by offset */
    size_t count, capacity;
};

struct nt_range_cache_space {
    uint64_t bytes, max_bytes;
    TAILQ_HEAD(nt_used_ranges, nt_cached_range) used; /* most recently used first; TAILQ_INIT */
};

/* Drops all pins of kept ranges. */
void nt_range_cache_release(struct nt_range_cache_space *space);
/* Frees ranges that are not kept; nothing else owns them. */
void nt_range_cache_drop_underway(struct nt_range_cache *file);

/* The range with the byte at `offset`. NULL: none; `next_ret` is the next range's start, or
 * UINT64_MAX. */
struct nt_cached_range *nt_range_cache_at(const struct nt_range_cache *file, uint64_t offset,
                                          uint64_t *next_ret);
/* The range must not overlap others. False if out of memory. */
bool nt_range_cache_add(struct nt_range_cache *file, struct nt_cached_range *range);
void nt_range_cache_remove(struct nt_cached_range *range);
/* Does not free ranges that are not kept. */
void nt_range_cache_deinit(struct nt_range_cache *file, struct nt_range_cache_space *space);

/* Keeps a range that has arrived. Evicts the least recently used ranges if space is short. */
void nt_cached_range_keep(struct nt_range_cache_space *space, struct nt_cached_range *range);
/* Detaches a kept range from its file; the last unpin frees it. */
void nt_cached_range_forget(struct nt_range_cache_space *space, struct nt_cached_range *range);
void nt_cached_range_pin(struct nt_range_cache_space *space, struct nt_cached_range *range);
/* Frees a range that is detached from its file. */
void nt_cached_range_unpin(struct nt_range_cache_space *space, struct nt_cached_range *range);

/* ---- Origins of ranges ---- */

/* Requests a range, under the lock, and pins it for the caller. `is_prefetch`: it is a prefetch.
 * `is_now`: a reader waits for it. NULL if out of memory. */
struct nt_cached_range *nt_range_request(struct nt_remote_file *file, uint64_t offset, size_t bytes,
                                         bool is_prefetch, bool is_now);
/* Loads the cached bytes of [at, next) that begin at `at`, pinned. NULL if there are none, or damaged ones.
 */
struct nt_cached_range *nt_range_from_disk(struct nt_remote_file *file, uint64_t at, uint64_t next);
/* Caches bytes that arrived with another answer, unless some of them are cached already. */
void nt_range_keep_bytes(struct nt_remote_file *file, uint64_t offset, const uint8_t *bytes, size_t count);
/* If it was a prefetch: a reader waits for it now. */
void nt_range_promote(struct nt_cached_range *range);
/* Waits for the needed bytes of a range, or for all of one that is short or needed as a whole. */
enum nt_status nt_range_wait(struct nt_cached_range *range, uint64_t needed, uint64_t deadline,
                             struct nt_error *error);
/* Drops a pin. The last one of a reader that failed cancels an incomplete request. */
void nt_range_release(struct nt_cached_range *range, bool is_good);

/* ---- Backoff ---- */

enum { NT_BACKOFF_MILLISECONDS = 1000 };

/* Zero-initialised: no failure. */
struct nt_backoff {
    struct nt_error *failure; /* applies to all requests before `until` */
    uint64_t until;
};

/* Replaces the previous failure. Does not store transient failures (nt_is_transient), nor any if out of
 * memory: the next request then tries again. */
void nt_backoff_note(struct nt_backoff *backoff, const struct nt_error *failure, uint64_t now);
/* Returns the current failure (`error` may be NULL), else NT_OK. */
enum nt_status nt_backoff_check(const struct nt_backoff *backoff, uint64_t now, struct nt_error *error);
void nt_backoff_deinit(struct nt_backoff *backoff);

/* ---- Disk cache space ---- */

enum { NT_DISK_NAME_LENGTH = 32 };

struct nt_disk_cache {
    int folder; /* -1: no disk cache */
    uint64_t max_bytes;
    uint64_t allowance; /* bytes to write before the next scan of the directory */
    uint64_t read_bytes, written_bytes, bad_pieces;
    LIST_HEAD(, nt_disk_cache_file) open; /* by this process */
};

/* Creates a missing directory. The user must own it, and no other user may write to it. */
enum nt_status nt_disk_cache_open(struct nt_disk_cache *cache, const char *path, uint64_t max_bytes,
                                  struct nt_error *error);
void nt_disk_cache_close(struct nt_disk_cache *cache);
/* Removes a file and truncates it, which frees its space even if other processes have it open. */
void nt_disk_cache_remove(struct nt_disk_cache *cache, const char *name);

/* ---- Disk cache ---- */

/* The cache of a file of `size` bytes. `key` identifies the file; other readers of the directory can see
 * it. NULL if nothing can be cached. */
struct nt_disk_cache_file *nt_disk_cache_file_open(struct nt_disk_cache *cache, const char *key,
                                                   uint64_t size);
void nt_disk_cache_file_close(struct nt_disk_cache_file *entry);

/* Finds the piece that holds the byte at `offset`, and its end. Else false, with the start of the next
 * piece, or UINT64_MAX. An `entry` of NULL has no pieces. */
bool nt_disk_cache_file_find(const struct nt_disk_cache_file *entry, uint64_t offset,
                             uint64_t *end_or_next_ret);
/* Reads bytes of one piece. If it is damaged, removes it and returns false. */
bool nt_disk_cache_file_read(struct nt_disk_cache_file *entry, uint64_t offset, void *bytes, size_t count);
/* Stores a range. Ignores failures. */
void nt_disk_cache_file_add(struct nt_disk_cache_file *entry, uint64_t offset, const uint8_t *bytes,
                            size_t count);
/* Removes the pieces that overlap a range of invalid bytes. */
void nt_disk_cache_file_invalidate(struct nt_disk_cache_file *entry, uint64_t offset, uint64_t bytes);

/* ---- Launch ---- */

/* The rules that the helper receives first (remote/protocol.h). */
struct nt_helper_rules {
    const char *const *addresses; /* ends with NULL: the only allowed ones; NULL: all */
    bool certificate_to_origin;
};

/* Starts `program` (NULL: $NTUPLE_FETCH, else the installed one) with a close-on-exec socket to it. It
 * ends when the socket has no other user. NT_UNSUPPORTED if there is no such program. */
typedef enum nt_status nt_fetch_starter(const char *program, const struct nt_helper_rules *rules,
                                        int *channel_ret, struct nt_error *error);
nt_fetch_starter nt_helper_start;

/* Since the fetcher began. */
struct nt_fetch_counters {
    uint64_t requests, retries; /* of earlier helper processes; see also `totals` */
    uint64_t reads, ahead;      /* parts requested, and those prefetched */
    uint64_t bytes;             /* received */
    uint64_t failures;          /* failure answers */
    uint64_t waits;             /* sequential waits for something else while opening or reading */
    uint64_t wait_milliseconds; /* total time of `waits` */
};
/* The helper's sandbox, known after the first open. */
void nt_helper_sandbox(struct nt_fetcher *fetcher, struct nt_helper_sandbox *sandbox_ret);
/* The first server that reported no version of an opened file; "": none. */
void nt_fetcher_unversioned(struct nt_fetcher *fetcher, char server_ret[NT_FETCH_SERVER_BYTES]);

/* A forked process starts its own network helper at its first request. */
struct nt_fetcher {
    struct nt_lock lock; /* protects all that follows, and the fetcher's files: nt_fetcher_lock */
    pthread_cond_t changed;
    unsigned holders;
    LIST_HEAD(, nt_remote_file) files;
    struct nt_arena *arena; /* of the options */
    const char *program;    /* of the network helper; NULL: not configured */
    nt_fetch_starter *start_process;
    struct nt_helper_rules rules; /* sent to each helper first */
    bool is_handed_over;          /* forked processes share the helper */
    bool reads_later;             /* see nt_fetcher_read_later */
    bool is_forked;               /* the state is still the parent's */
    uint64_t milliseconds;        /* time limit for a read */
    int channel, wake[2];         /* -1: none yet */
    bool has_receiver, is_over;   /* is_over: no helper can be reached any more */
    pthread_t receiver;
    uint64_t epoch; /* of the current network helper; 0: no HELLO yet */
    uint64_t last_id;
    uint32_t last_file;
    LIST_HEAD(, nt_helper_request) underway;
    struct nt_range_cache_space range_space;
    struct nt_disk_cache disk;
    struct nt_link_estimates link_estimates;
    bool more_follow;     /* other ranges are requested at once after the next one */
    uint64_t ahead_bytes; /* of active prefetch */
    unsigned ahead_count;
    TAILQ_HEAD(nt_used_files, nt_remote_file)
    used; /* open files with a validator, most recently used first */
    unsigned open_count;
    struct nt_fetch_counters counters;
    struct nt_helper_sandbox sandbox;        /* of the current network helper, as reported */
    char unversioned[NT_FETCH_SERVER_BYTES]; /* see nt_fetcher_unversioned */
    struct nt_fetch_totals totals;           /* as last reported by the current network helper */
    uint8_t *packet;
};

enum { NT_FETCH_PACKET_BYTES = sizeof(struct nt_fetch_answer) + NT_FETCH_DATA_BYTES };

/* Sends one message, with flags of send(2). False on failure, with errno. */
bool nt_helper_send(int channel, const struct nt_fetch_request *request, const char *text, size_t length,
                    int flags);
/* Starts the thread that receives answers, if there is none. */
enum nt_status nt_fetcher_start_receiver(struct nt_fetcher *fetcher, struct nt_error *error);

/* For `end`: fails a request whose answer is incomplete. */
void nt_helper_request_fail_short(struct nt_helper_request *fetch);

/* nt_fetcher_new with another function in place of nt_helper_start. */
enum nt_status nt_fetcher_new_by(nt_fetch_starter *start_process, const struct nt_fetcher_options *options,
                                 struct nt_fetcher **fetcher_ret, struct nt_error *error);

/* Returns the lock. */
struct nt_lock *nt_fetcher_lock(struct nt_fetcher *fetcher);
void nt_fetcher_unlock(struct nt_fetcher *fetcher);
/* The message of requests that fail because the network helper is gone. */
#define NT_FETCHER_EXITED "the network helper exited: open or mount the file again"
/* As NT_LOCK_GUARD. */
#define NT_FETCHER_GUARD(fetcher)                                                                            \
    __attribute__((cleanup(nt_lock_release_at), unused)) struct nt_lock *held_lock = nt_fetcher_lock(fetcher)

/* The caller of the following holds the lock. */

/* Sends a request. The caller sets kind, file, offset and bytes. Fails it if it cannot be sent. */
void nt_fetcher_send(struct nt_fetcher *fetcher, struct nt_helper_request *fetch,
                     struct nt_fetch_request request, const char *text, size_t text_bytes);
/* Cancels the request. */
void nt_fetcher_cancel(struct nt_fetcher *fetcher, struct nt_helper_request *fetch);
/* Sends a message that has no answer; ignores failures. */
void nt_fetcher_notify(struct nt_fetcher *fetcher, enum nt_helper_message kind, uint64_t id, uint32_t file);
/* Waits for the end of a request. At the deadline cancels it; false. */
bool nt_helper_request_wait(struct nt_fetcher *fetcher, struct nt_helper_request *fetch, uint64_t deadline);
/* Blocks until something changes; false at the deadline. */
bool nt_fetcher_wait(struct nt_fetcher *fetcher, uint64_t deadline);

/* Convert a failed request, or a missed deadline, to a status. */
enum nt_status nt_helper_request_fail(const struct nt_helper_request *fetch, const char *shown,
                                      struct nt_error *error);
enum nt_status nt_fetcher_fail_timeout(const struct nt_fetcher *fetcher, const char *shown,
                                       struct nt_error *error);

/* ---- Fetcher interface ---- */

/* The server of a remote file, and the validator of its version; "": unknown. */
struct nt_remote_names {
    char server[NT_FETCH_SERVER_BYTES], validator[NT_FETCH_VALIDATOR_BYTES];
};

/* False if the source is not a remote file. */
bool nt_source_remote(const struct nt_source *source, struct nt_remote_names *names_ret);
/* Counters by index: names, and values since the start (remote_kept_bytes and remote_open_files:
 * current ones). False after the last. */
bool nt_fetch_counter(struct nt_fetcher *fetcher, uint32_t index, const char **name_ret, uint64_t *value_ret);
/* Waits for it before the first request. Only one thread. */
enum nt_status nt_helper_await_sandbox(struct nt_fetcher *fetcher, struct nt_helper_sandbox *sandbox_ret,
                                       struct nt_error *error);

/* ---- Connection lifetime ---- */

/* Adds a reference. The first one starts the thread that receives answers. */
enum nt_status nt_fetcher_ref(struct nt_fetcher *fetcher, struct nt_error *error);

/* If `fetcher` is NULL, creates one and also stores it in `own_ret`; the caller frees that. */
enum nt_status nt_fetcher_or_own(struct nt_fetcher **fetcher, struct nt_fetcher **own_ret,
                                 struct nt_error *error);

/* Shares the fetcher with forked processes. Only one process may send requests: the one that forks
 * before its first request and hands the fetcher over. */
void nt_fetcher_hand_over(struct nt_fetcher *fetcher);

/* Declares that nothing is read right after a file is opened: further connections are then made once its size
 * is known, in proportion to it. By default all are made with the first file of a server, which saves the
 * first read two round trips, and sources have spare bytes. */
void nt_fetcher_read_later(struct nt_fetcher *fetcher);

/* For another process with the same fetcher: fails all active and future requests in each process. */
void nt_fetcher_stop(struct nt_fetcher *fetcher);

/* Under the lock. Blocks until a network helper answers; starts one if this process has none.
 * NT_UNREACHABLE at the deadline. */
enum nt_status nt_fetcher_connect(struct nt_fetcher *fetcher, const char *shown, uint64_t deadline,
                                  struct nt_error *error);

/* ---- Range coalescing ---- */

/* Merges extents, in any order, into sorted ranges that cover them. Joins extents no more than `gap`
 * bytes apart, the nearest first. In place; returns the number of ranges. Omits extents beyond `size`;
 * reading those fails. */
size_t nt_ranges_coalesce(struct nt_extent *extents, size_t count, uint64_t size, uint64_t gap);

/* The request size for a read of `bytes`: several connections share a large read. Cold ones, which send
 * little at first, also share a smaller one, but not if `has_two` that have opened the file are enough. */
uint64_t nt_ranges_split_bytes(uint64_t bytes, bool is_cold, bool has_two);

/* The size of equal requests for one of the ranges of a read: about `split_bytes`, so that they are not more
 * than the connections. */
uint64_t nt_ranges_piece_bytes(uint64_t bytes, uint64_t split_bytes);

/* ---- Remote files ---- */

/* From the answer to an opening, or from a listing. */
struct nt_remote_version {
    uint64_t size;
    int64_t modified;                         /* NT_FETCH_NO_TIME */
    char validator[NT_FETCH_VALIDATOR_BYTES]; /* "": unknown */
};

struct nt_remote_file {
    struct nt_source source;
    struct nt_fetcher *fetcher;
    LIST_ENTRY(nt_remote_file) all; /* of the fetcher */
    char *address, *shown;
    struct nt_folder *listed_in; /* a remote directory, or NULL */
    const char *name;            /* in this directory; points into `shown` */
    /* The fetcher's lock protects all that follows. */
    uint32_t file;  /* its number in the helper */
    uint64_t epoch; /* epoch in which it was opened; 0: never */
    bool is_opening;
    bool is_looked_up, is_listed; /* in the list of its directory; its version is from there */
    bool is_closed;               /* was open, and closed to make room for others */
    unsigned underway;            /* active parts and checks */
    bool is_in_use;               /* it is in `used`: */
    TAILQ_ENTRY(nt_remote_file) used;
    bool is_known; /* the version is known */
    struct nt_remote_version version;
    char server[NT_FETCH_SERVER_BYTES];     /* last server that had the file */
    struct nt_link_estimate *link_estimate; /* of `server` */
    struct nt_range_cache range_cache;
    struct nt_disk_cache_file *disk; /* NULL: not cached on disk */
    struct nt_backoff backoff;       /* for all readers */
    bool has_changed;
    uint64_t look_due; /* after that: when the server may be asked again */
    /* For objects: the file at their address, and the time of its next check. */
    struct nt_remote_file *anchor;
    uint64_t check_due;
};

/* Operations of the source. */
enum nt_status nt_remote_read_at(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                 struct nt_error *error);
void nt_remote_prefetch(struct nt_source *source, const struct nt_extent *extents, size_t count,
                        enum nt_prefetch_need need);

/* Blocks until the file can be read, or the deadline. After a restart of the network helper, one thread
 * opens it again while others wait; the file must be unchanged. */
enum nt_status nt_remote_reopen(struct nt_remote_file *file, uint64_t deadline, struct nt_error *error);

/* A file that has changed: asks the server twice, at most every 30 seconds, and goes on with the file if
 * both answers have its size and validator. Call it under the lock. */
void nt_remote_revive(struct nt_remote_file *file);

/* A check of the file at the address of objects. */
struct nt_revalidation {
    struct nt_helper_request fetch;
    struct nt_remote_file *anchor;
};

/* Checks now and then during reads, and when an object is missing, that the file at the address of
 * objects is unchanged. The end returns `status`, unless it has changed. Other files: no checks. */
void nt_revalidate_begin(struct nt_remote_file *objects, struct nt_revalidation *check, uint64_t deadline);
enum nt_status nt_revalidate_end(struct nt_remote_file *objects, struct nt_revalidation *check,
                                 uint64_t deadline, enum nt_status status, struct nt_error *error);
/* Restarts the interval: the file was checked now. */
void nt_revalidate_later(struct nt_remote_file *objects);

/* Creates a file that opens at first use: its source has no known size before. `shown`, the path for
 * messages, ends with its name in the directory that lists it, if there is one. */
enum nt_status nt_remote_file_new(struct nt_fetcher *fetcher, const char *address, const char *shown,
                                  struct nt_folder *listed_in, const char *name,
                                  struct nt_source **source_ret, struct nt_error *error);

/* Can it be read now? */
bool nt_remote_is_open(const struct nt_remote_file *file);
/* For a forked process with a new helper: resets active and open state. Under the lock. */
void nt_remote_on_restart(struct nt_remote_file *file);
/* Closes the file in the network helper, if it is open there. It can be opened again. */
void nt_remote_close(struct nt_remote_file *file);

/* Convert a failed request at an offset, or a changed file, to the reader's status. */
enum nt_status nt_remote_fail(struct nt_remote_file *file, const struct nt_helper_request *fetch,
                              uint64_t offset, struct nt_error *error);
enum nt_status nt_remote_fail_changed(struct nt_remote_file *file, struct nt_error *error);

/* ---- Listings ---- */

struct nt_remote_entry {
    const char *name;
    const char *validator; /* identifies the version; "": only opening the file reveals it */
    uint64_t size;
    int64_t modified; /* NT_FETCH_NO_TIME */
    bool is_folder;
    uint32_t number; /* in order of arrival */
};

struct nt_remote_list {
    struct nt_helper_request fetch;
    struct nt_remote_entry *entries; /* by name, each once */
    size_t count, capacity;
    struct nt_arena *arena;
    atomic_uint extra_references; /* besides the first */
    uint64_t asked, number;       /* time of the request, and its number in the directory */
    uint64_t last;                /* time of the last answer */
    bool is_without_memory;
};

/* Requests a list: one round trip, or one per thousand files. NT_NOT_FOUND; NT_UNSUPPORTED if the
 * server lists no directories; else as nt_source_open_address. */
enum nt_status nt_remote_list_new(struct nt_fetcher *fetcher, const char *address,
                                  struct nt_remote_list **list_ret, struct nt_error *error);
/* Drops a reference. Accepts NULL. */
void nt_remote_list_free(struct nt_remote_list *list);
NT_DEFINE_CLEANUP(struct nt_remote_list, nt_remote_list_free)
/* NULL: no such name. */
const struct nt_remote_entry *nt_remote_list_find(const struct nt_remote_list *list, struct nt_text name);

/* ---- Remote directories ---- */

/* What the list of its directory says of a file. A file that the list lacks may have been created since:
 * then refreshes the list. */
enum nt_status nt_remote_folder_known(struct nt_remote_folder *folder, const char *name,
                                      struct nt_remote_version *known_ret, struct nt_error *error);

/* The directory at an address, in its current state: requests the list of each one once, at its first
 * use. NT_NOT_FOUND; NT_UNSUPPORTED if the server lists no directories; else as nt_source_open_address.
 * `fetcher` NULL: creates its own. */
enum nt_status nt_folder_open_address(const char *address, struct nt_fetcher *fetcher,
                                      struct nt_folder **folder_ret, struct nt_error *error);

/* Opens a file or directory as a source. A slash at the end means a directory; else an address that is not a
 * file is tried as a directory. */
enum nt_status nt_source_open_remote(const char *address, struct nt_fetcher *fetcher,
                                     struct nt_source **source_ret, struct nt_error *error);
