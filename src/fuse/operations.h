/* SPDX-License-Identifier: MIT
 *
 * Private declarations of the request handlers, the state of a mount, and scheduling. Includes the
 * headers of libfuse.
 */
#pragma once

#include <errno.h>
#include <fuse_lowlevel.h>

#include "core/base/thread.h"
#include "fuse/mount.h"
#include "vfs/tree.h"
#include "vfs/vfs.h"

struct nt_file_handle;

/* ---- Errno values ---- */

/* The errno value of a status; 0 for NT_OK. */
int nt_status_errno(enum nt_status status);
/* The same for a failure with details. `error` must have been clear before the operation; a denied
 * permission is EACCES. */
int nt_failure_errno(enum nt_status status, const struct nt_error *error);

/* ---- Oversubscription ---- */

enum {
    NT_OVERSUBSCRIPTION_READS = 64, /* reads that are remembered */
    NT_OVERSUBSCRIPTION_SURE = 2,   /* distant reads minus close ones that mean oversubscription */
    NT_OVERSUBSCRIPTION_MAX = 16,   /* upper limit of this count */
};

/* Initialize with zeros. */
struct nt_oversubscription {
    atomic_uint_least32_t readers[NT_OVERSUBSCRIPTION_READS]; /* a ring; 0: empty */
    atomic_uint next;
    atomic_int evidence;
};

/* Notes a large read. `reader` is the thread id from the kernel; 0 (a thread of another namespace) is
 * ignored. `processors`: how many readers may alternate without oversubscription. Thread-safe;
 * concurrent calls may record reads slightly out of order. */
void nt_oversubscription_note(struct nt_oversubscription *oversubscription, uint32_t reader,
                              unsigned processors);
bool nt_is_oversubscribed(const struct nt_oversubscription *oversubscription);

/* ---- Scheduler time slices ---- */

enum nt_time_slice {
    NT_TIME_SLICE_DEFAULT, /* the kernel's default */
    NT_TIME_SLICE_SHORT,
    NT_TIME_SLICE_LONG,
};

/* The first version of struct sched_attr. Some <linux/sched/types.h> conflict with <sched.h>. */
struct nt_sched_attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period; /* runtime is the slice, in nanoseconds */
};

/* Sets the time slice of the calling thread; policy and nice value stay. Does nothing if the kernel
 * lacks support or denies it. */
void nt_time_slice_set(enum nt_time_slice slice);

/* ---- CPU migration ---- */

/* Moves the calling thread to its next allowed processor. The set of allowed processors stays the same,
 * so the kernel may move the thread again at once. Does nothing with one processor, or if denied. */
void nt_cpu_migrate(void);

/* ---- The idle timer ---- */

struct nt_idle {
    atomic_uint_least64_t last_use; /* nanoseconds of the monotonic clock */
    bool is_started, must_end;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t requested;
};

/* Starts the timer of a mount, if its settings request one. Returns 0 or an errno value. */
int nt_idle_start(struct nt_mount *mount);
/* Also valid if the timer was not started. */
void nt_idle_stop(struct nt_mount *mount);

/* Notes a request by its opcode from <linux/fuse.h>. Thread-safe. */
void nt_idle_note(struct nt_mount *mount, uint32_t opcode);

/* ---- Interrupted requests ---- */

enum { NT_MAX_INTERRUPTS = 256 }; /* pending at once; further callers wait for the normal answer */

struct nt_interrupts {
    int device;
    uint64_t patience; /* nanoseconds */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool is_started, must_end;
    unsigned first, count;
    struct nt_interrupt {
        uint64_t request;
        uint64_t due;
    } list[NT_MAX_INTERRUPTS]; /* a ring */
};

/* 0 or an errno value. */
int nt_interrupts_init(struct nt_interrupts *interrupts, int device, uint64_t patience);
/* Sends no more answers after it returns. */
void nt_interrupts_deinit(struct nt_interrupts *interrupts);

/* Notes that the caller of a request was interrupted. Thread-safe. */
void nt_interrupts_note(struct nt_interrupts *interrupts, uint64_t request);

/* ---- Reply buffers ---- */

struct nt_reply_buffer {
    void *bytes;
    size_t capacity;
    SLIST_ENTRY(nt_reply_buffer) link;
};
SLIST_HEAD(nt_reply_buffer_list, nt_reply_buffer);

struct nt_reply_buffers {
    pthread_mutex_t lock;
    struct nt_fifo fifo;
    uint64_t limit;
    uint64_t lent, kept;              /* bytes of the lent and of the idle buffers */
    struct nt_reply_buffer_list idle; /* last returned first */
};

/* `limit` bounds all buffers together, except for a single larger one. Returns 0 or an errno value. */
int nt_reply_buffers_init(struct nt_reply_buffers *buffers, uint64_t limit);
/* All buffers must be returned. */
void nt_reply_buffers_deinit(struct nt_reply_buffers *buffers);

/* Borrows at least `size` bytes. Blocks while the lent buffers exceed the limit. NULL: out of
 * memory. */
struct nt_reply_buffer *nt_reply_buffer_borrow(struct nt_reply_buffers *buffers, size_t size);
/* Accepts NULL. */
void nt_reply_buffer_return(struct nt_reply_buffers *buffers, struct nt_reply_buffer *buffer);

/* ---- The queue of reads ---- */

/* The kernel has one queue for all requests. A lookup, or the release of a closed file, should not wait for
 * all reads before it. So if enough reads are in service, a thread that receives one more puts it here, and
 * receives the next request. While reads wait, at least one is in service, and its thread takes them. */
struct nt_read_queue {
    pthread_mutex_t lock;
    STAILQ_HEAD(, nt_read_request) waiting;
    unsigned in_service; /* at most `settings.reads`, except without memory */
};

/* ---- Page cache prefill ---- */

enum {
    NT_PREFILL_BYTES = 16 * 1024, /* limit for small files; less than a slow load */
    NT_PREFILLED_BITS = 1 << 18,
};

/* Remembers which files the page cache was filled with: a bit per node, which several nodes may share.
 * A node with its bit set opens like any file. The owner's lock protects it. */
struct nt_prefilled {
    uint64_t bits[NT_PREFILLED_BITS / 64];
    uint32_t count; /* of set bits */
};

/* Sets a node's bit; false if it was set. `is_idle`: no file is open, so it may clear all bits. */
bool nt_prefilled_add(struct nt_prefilled *prefilled, uint64_t node, bool is_idle);

/* ---- Request handlers ---- */

/* The user data of the session. */
struct nt_mount {
    struct nt_vfs *vfs;
    struct nt_mount_settings settings;
    struct fuse_session *session;
    struct nt_reply_buffers reply_buffers;
    struct nt_read_queue reads;
    LIST_HEAD(nt_open_file_list, nt_file_handle) open_files, spare_files;
    struct nt_prefilled prefilled;
    pthread_mutex_t open_files_lock; /* for both lists */
    struct nt_idle idle;
    struct nt_interrupts interrupts;
    struct nt_oversubscription oversubscription;
    bool has_interrupts;
    bool has_signal_handlers;
    bool is_ready; /* the kernel has accepted the mount */

    /* For custom_io.c. The INIT request whose answer needs additional flags (0: none), and these flags.
     * `replies` orders a thread's work before a reply and another's after the next request: the kernel
     * does that already, but the compiler and the thread sanitizer do not know. */
    uint32_t init_flags, init_flags2;
    atomic_uint_least64_t init_to_extend, replies;
};

void nt_add_node_operations(struct fuse_lowlevel_ops *operations);      /* lookup, attrs, statfs */
void nt_add_file_operations(struct fuse_lowlevel_ops *operations);      /* open, read, release */
void nt_add_directory_operations(struct fuse_lowlevel_ops *operations); /* opendir, readdir(plus) */
void nt_add_readonly_operations(struct fuse_lowlevel_ops *operations);  /* requests that modify */

/* Initializes the state of the file operations; 0 or an errno value. After the loop, _deinit closes the
 * files that the kernel did not release because the mount ended while they were open. */
int nt_file_operations_init(struct nt_mount *mount);
void nt_file_operations_deinit(struct nt_mount *mount);
bool nt_has_open_files(struct nt_mount *mount);

static inline bool nt_request_is_interrupted(void *request)
{
    return fuse_req_interrupted(request);
}

/* The caller of a request, for long work. */
static inline struct nt_vfs_caller nt_caller(fuse_req_t request)
{
    return (struct nt_vfs_caller){nt_request_is_interrupted, request};
}

/* How long the kernel may cache attributes or a name, in seconds. */
static inline double nt_timeout(bool is_lasting)
{
    return is_lasting ? 1e9 : 0;
}

/* The kernel's form of a node's attributes. */
static inline struct fuse_entry_param nt_entry_param(const struct nt_vfs_attributes *attributes)
{
    return (struct fuse_entry_param){.ino = attributes->node,
                                     .generation = attributes->generation,
                                     .attr = attributes->stat,
                                     .attr_timeout = nt_timeout(attributes->is_immutable),
                                     .entry_timeout = nt_timeout(attributes->is_name_lasting)};
}

/* Creates a libfuse session for the settings, without a device. */
enum nt_status nt_session_new(const struct nt_mount_settings *settings,
                              const struct fuse_lowlevel_ops *operations, void *userdata,
                              struct fuse_session **session_ret, struct nt_error *error);

/* Attaches the session to the device of a mount. The session closes it. Returns 0, or -1 if libfuse
 * refuses and has logged the reason. */
int nt_device_use(struct nt_mount *mount, int device);
/* Serves requests with several threads after nt_device_use. Returns the same as fuse_session_loop(). */
int nt_device_loop_threads(struct nt_mount *mount);

/* Does the errno value of a failed read or write of the device mean that the kernel has ended the mount?
 * Which of the three values it is depends on the kernel and the moment. */
static inline bool nt_is_unmounted(int system_error)
{
    return system_error == ENODEV || system_error == ECONNABORTED || system_error == EPERM;
}

/* Call these around the read of a request. The first waits until this thread may receive, and returns
 * whether a request was pending already, or after a yield to other threads; pass that to the second as
 * `was_there`. `count` is the result of read(). */
bool nt_before_receive(struct nt_mount *mount);
void nt_after_receive(struct nt_mount *mount, const void *bytes, ssize_t count, bool was_there);
/* Call it instead if no more requests will come. */
void nt_end_receive(struct nt_mount *mount);
/* Is a request pending? False for the leader, which serves all requests in turn. */
bool nt_others_are_pending(struct nt_mount *mount);
