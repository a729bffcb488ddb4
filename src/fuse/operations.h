/* SPDX-License-Identifier: MIT
 *
 * Private declarations of the request handlers, the state of a mount, and scheduling. Includes the headers
 * of libfuse.
 */
#ifndef NT_FUSE_OPERATIONS_H
#define NT_FUSE_OPERATIONS_H

#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/base/thread.h"
#include "fuse/mount.h"
#include "vfs/tree.h"
#include "vfs/vfs.h"

struct open_file;

/* ---- Errno values ---- */

/* The errno value of a status; 0 for NT_OK. */
int nt_status_errno(enum nt_status status);
/* The same of a failure whose error was clear before, and may have been filled in: what the system forbids is
 * EACCES. */
int nt_failure_errno(enum nt_status status, const struct nt_error *error);

/* ---- Oversubscription ---- */

enum {
    NT_OVERSUBSCRIPTION_READS = 64, /* that are remembered */
    NT_OVERSUBSCRIPTION_SURE = 2,   /* reads from afar, less those from near, that make a crowd ... */
    NT_OVERSUBSCRIPTION_MAX = 16,   /* ... of which no more count */
};

/* All 0 at first. */
struct nt_oversubscription {
    atomic_uint_least32_t readers[NT_OVERSUBSCRIPTION_READS]; /* a ring; 0: none yet */
    atomic_uint next;
    atomic_int evidence;
};

/* A large read of a thread, by the number that the kernel tells; 0, one that cannot be seen from here, is nobody.
 * `processors`: how many may take turns without being a crowd. Any thread; where several call at once, what is remembered
 * may be a little out of order. */
void nt_oversubscription_note(struct nt_oversubscription *oversubscription, uint32_t reader,
                              unsigned processors);
bool nt_is_oversubscribed(const struct nt_oversubscription *oversubscription);

/* ---- Scheduler time slices ---- */

enum nt_time_slice {
    NT_TIME_SLICE_DEFAULT, /* the kernel's, which others have */
    NT_TIME_SLICE_SHORT,
    NT_TIME_SLICE_LONG,
};

/* struct sched_attr as the kernel had it first; <linux/sched/types.h> of some systems cannot be included beside <sched.h>. */
struct nt_sched_attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period; /* runtime is the slice, in nanoseconds */
};

/* The calling thread's. Nothing where the kernel does not know it or does not let it; policy and nice value stay. */
void nt_time_slice_set(enum nt_time_slice slice);

/* ---- CPU migration ---- */

/* Move the calling thread to the next one of the processors that it may run on, which are the same afterwards: the kernel may
 * move it again at once. Nothing where there is one, or the kernel does not let it. */
void nt_cpu_migrate(void);

/* ---- The idle timer ---- */

struct nt_idle {
    unsigned seconds; /* 0: never */
    bool (*is_in_use)(void *context);
    void *context;
    bool (*unmount)(void *context); /* false where it is in use after all */
    void *unmount_context;
    atomic_uint_least64_t last_use; /* nanoseconds of the monotonic clock */
    bool is_started, must_end;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wanted;
};

/* Begin to watch; the first five members are set, the rest is 0. 0 or an errno
 * value. */
int nt_idle_start(struct nt_idle *idle);
/* Also where it was not started. */
void nt_idle_stop(struct nt_idle *idle);

/* A request has arrived, by its number in <linux/fuse.h>. Any thread. */
void nt_idle_note(struct nt_idle *idle, uint32_t opcode);

/* ---- Interrupted requests ---- */

enum { NT_MAX_INTERRUPTS = 256 }; /* at once; who comes then waits for the answer */

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
/* After this no answer is given any more. */
void nt_interrupts_deinit(struct nt_interrupts *interrupts);

/* Who waits for this request was interrupted. Any thread. */
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
    uint64_t lent, kept;              /* bytes of those that are lent, and of the idle ones */
    struct nt_reply_buffer_list idle; /* the last one returned first */
};

/* `limit` bounds the bytes of all buffers, but for one that is larger. 0 or an errno value. */
int nt_reply_buffers_init(struct nt_reply_buffers *buffers, uint64_t limit);
/* All buffers have been returned. */
void nt_reply_buffers_deinit(struct nt_reply_buffers *buffers);

/* At least `size` bytes, the caller's until they are returned; waits while others have too many. NULL without
 * memory. */
struct nt_reply_buffer *nt_reply_buffer_borrow(struct nt_reply_buffers *buffers, size_t size);
/* Accepts NULL. */
void nt_reply_buffer_return(struct nt_reply_buffers *buffers, struct nt_reply_buffer *buffer);

/* ---- Page cache prefill ---- */

enum {
    NT_PREFILL_BYTES = 16 * 1024, /* of a file that is small: less than what is slow to load */
    NT_PREFILLED_BITS = 1 << 18,
};

/* Which files' bytes the kernel was given, as far as is remembered: a bit for each node, which others may have,
 * too. Whose bit is set is opened as any file is. Under a lock of its owner's. */
struct nt_prefilled {
    uint64_t bits[NT_PREFILLED_BITS / 64];
    uint32_t count; /* of the bits that are set */
};

/* Set a node's bit; false where it was set. `is_idle`: no file is open, all may be forgotten. */
bool nt_prefilled_add(struct nt_prefilled *stored, uint64_t node, bool is_idle);

/* ---- Request handlers ---- */

/* What the operations work with: the session's user data. */
struct nt_mount {
    struct nt_vfs *vfs;
    struct nt_mount_settings settings;
    struct fuse_session *session;
    struct nt_reply_buffers reply_buffers;
    LIST_HEAD(nt_open_file_list, open_file) open_files, spare_files;
    struct nt_prefilled stored;
    pthread_mutex_t open_files_lock; /* of both */
    struct nt_idle idle;
    struct nt_interrupts interrupts;
    struct nt_oversubscription oversubscription;
    bool has_interrupts;
    bool has_signal_handlers;
    bool is_ready; /* the kernel has accepted the mount */

    /* For custom_io.c: the number of an INIT request whose answer is to be extended (0: none), and by which flags; and what
     * orders a thread's work before a reply and another's after the next request. The kernel does that already, but
     * the compiler and the thread sanitizer cannot know. */
    uint32_t init_flags, init_flags2;
    atomic_uint_least64_t init_to_extend, replies;
};

void nt_add_node_operations(struct fuse_lowlevel_ops *operations); /* lookup, attributes, xattrs, statfs */
void nt_add_file_operations(struct fuse_lowlevel_ops *operations); /* open, read, release */
void nt_add_directory_operations(struct fuse_lowlevel_ops *operations); /* opendir, readdir, readdirplus */
void nt_add_readonly_operations(struct fuse_lowlevel_ops *operations);  /* all that would change something */

/* What the file operations need of a mount; 0 or an errno value. After the loop, _deinit closes the files
 * that the kernel has not released, because the mount was ended while they were open. */
int nt_file_operations_init(struct nt_mount *mount);
void nt_file_operations_deinit(struct nt_mount *mount);
bool nt_has_open_files(void *mount);

static inline bool nt_request_is_gone(void *request)
{
    return fuse_req_interrupted(request);
}

/* Who sent a request, for work that may take long. */
static inline struct nt_vfs_caller nt_caller(fuse_req_t request)
{
    return (struct nt_vfs_caller){nt_request_is_gone, request};
}

/* How long the kernel may keep what it was told about a node or name, in seconds. */
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

/* A session of libfuse as the settings have it, without a device. */
enum nt_status nt_session_new(const struct nt_mount_settings *settings,
                              const struct fuse_lowlevel_ops *operations, void *userdata,
                              struct fuse_session **session_ret, struct nt_error *error);

/* Let the session talk to the device of a mount; it is closed with the session. 0, or -1 where libfuse refuses (it has told
 * why). */
int nt_device_use(struct nt_mount *mount, int device);
/* Answer requests by several threads, in a session that was mounted so; as fuse_session_loop(). */
int nt_device_loop_threads(struct nt_mount *mount);

/* Around the reading of a request: wait until this thread is to receive, and note what has arrived. `count` is what
 * read() returned. The first returns whether a request was there already, or as soon as others of its processor had gone first;
 * the second wants to know. */
bool nt_before_receive(struct nt_mount *mount, int device);
void nt_after_receive(struct nt_mount *mount, int device, const void *bytes, ssize_t count, bool was_there);
/* Instead of a request: there will be none any more. */
void nt_end_receive(struct nt_mount *mount);

#endif
