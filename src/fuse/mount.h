/* SPDX-License-Identifier: MIT
 *
 * Mounts a virtual tree: the mountpoint, the session that answers requests, the supervisor process, and
 * the log. Does not include headers of libfuse, so any program can use it.
 */
#pragma once

#include <sys/types.h>

#include "vfs/vfs.h"

struct nt_leader;
struct nt_mount;

/* ---- Mount settings ---- */

/* Do reads of sized files bypass the kernel's page cache? That is faster the first time, and slower
 * when a file is read or mapped again. */
enum nt_direct_io {
    NT_DIRECT_IO_AUTO, /* the fastest in measurements: off */
    NT_DIRECT_IO_ON,
    NT_DIRECT_IO_OFF,
};

/* The strings and `leaders` must outlive the mount. */
struct nt_mount_settings {
    const char *program;    /* for libfuse's messages */
    const char *mountpoint; /* absolute path of a directory */
    const char *source;     /* the device that mount(8) and df(1) show; any text */
    const char *subtype;    /* the filesystem type is fuse.<subtype> */
    const char *options;    /* comma-separated, for libfuse and the kernel; may be empty */
    bool allow_other;       /* other users may access the mount, subject to the file modes */
    bool auto_unmount;      /* also unmount when the program is killed */
    bool is_debugging;      /* print every request */
    bool is_single_threaded;
    unsigned threads; /* concurrent requests */
    unsigned reads;   /* concurrent reads */
    /* While so many requests are in the background, the kernel starts no more readahead: what the threads
     * cannot serve would delay the reads that users wait for. */
    unsigned reads_ahead;
    uint64_t reply_bytes;      /* limit for reply buffers; at the limit, requests wait */
    struct nt_leader *leaders; /* of the threads; slow work releases its followers */
    enum nt_direct_io direct_io;
    unsigned idle_seconds;               /* unmount after this time without use; 0: never */
    void (*on_ready)(void *context);     /* once, when the kernel accepts the mount; may be NULL */
    void (*on_unmounted)(void *context); /* unmounted: no caller waits; any thread; may be NULL */
    bool (*unmount)(void *context);      /* for the idle timer; false if the mount is in use */
    void *context;
};

/* ---- The channel between the worker and the supervisor ---- */

#define NT_NO_CHANNEL (-1)

enum nt_message_kind {
    NT_MESSAGE_END, /* the other process has ended */
    /* From the worker: */
    NT_MESSAGE_LINE,   /* a line for the log */
    NT_MESSAGE_OPENED, /* the sources are open: mount. The answer is MOUNTED, or nothing */
    NT_MESSAGE_READY,  /* the kernel has accepted the mount. The answer is NOTED */
    NT_MESSAGE_KEPT,   /* the worker has saved what it learned */
    NT_MESSAGE_LEFT,   /* the worker ends though mounted: it received a signal */
    NT_MESSAGE_IDLE,   /* the mount is unused: unmount. The answer is UNMOUNTED or BUSY */
    /* From the supervisor: */
    NT_MESSAGE_MOUNTED, /* with descriptors */
    NT_MESSAGE_NOTED,
    NT_MESSAGE_UNMOUNTED,
    NT_MESSAGE_BUSY,
    NT_MESSAGE_COUNT
};

enum {
    NT_MESSAGE_BYTES = 16 * 1024, /* of a text; longer ones are truncated */
    NT_MESSAGE_DESCRIPTORS = 2,   /* at most */
};

struct nt_message {
    enum nt_message_kind kind;
    int level;                       /* of a line: syslog level */
    char text[NT_MESSAGE_BYTES + 1]; /* NUL-terminated */
};

/* Returns false and sets errno on failure. Both ends are close-on-exec. */
bool nt_channel_new(int ends_ret[2]);

/* Thread-safe. Return false if the other side has ended. */
bool nt_channel_send(int channel, enum nt_message_kind kind);
bool nt_channel_send_line(int channel, int level, const char *line);
/* The same without blocking: the sender must not depend on the other. Also false if it does not
 * read. */
bool nt_channel_answer(int channel, enum nt_message_kind kind);
bool nt_channel_answer_mounted(int channel, const int *descriptors, int count);

/* Waits for the next message. Its text is untrusted. */
void nt_channel_receive(int channel, struct nt_message *message);
/* The same for a message with descriptors: at most NT_MESSAGE_DESCRIPTORS, in ascending order. */
enum nt_message_kind nt_channel_receive_descriptors(int channel, int *descriptors_ret, int *count_ret);

/* ---- The supervisor process ---- */

struct nt_supervisor {
    int channel;      /* to the other process */
    int signals;      /* of the supervisor: a signalfd */
    pid_t worker;     /* the worker's pid, in the supervisor */
    sigset_t blocked; /* signal mask before the start */
};

enum nt_supervisor_role { NT_SUPERVISOR_ROLE_WORKER, NT_SUPERVISOR_ROLE_SUPERVISOR };

/* Forks; no thread may run yet. The worker ends with the supervisor, and leaves it SIGINT and
 * SIGHUP. */
enum nt_status nt_supervisor_start(struct nt_supervisor *supervisor, enum nt_supervisor_role *role_ret,
                                   struct nt_error *error);

/* What the supervisor does on request. */
struct nt_supervisor_tasks {
    /* Mounts and returns at most NT_MESSAGE_DESCRIPTORS descriptors for the worker; false: failed. */
    bool (*mount)(void *context, int *descriptors_ret, int *count_ret);
    void (*ready)(void *context);
    void (*line)(void *context, int level, const char *line);
    void (*kept)(void *context);
    bool (*unmount)(void *context, bool is_lazy); /* false if in use, or not mounted */
    void *context;
};

/* How the worker and the supervisor ended. */
struct nt_supervisor_end {
    int signal;    /* that ended the supervisor; 0: none */
    bool was_idle; /* unmounted by the idle timer */
    bool was_ready;
    int exit_status; /* of the worker; -1: see death_signal */
    int death_signal;
};

/* Runs until the worker has ended; afterwards nothing is mounted. */
void nt_supervisor_run(struct nt_supervisor *supervisor, const struct nt_supervisor_tasks *tasks,
                       struct nt_supervisor_end *end_ret);

/* ---- Startup, background and log ---- */

/* Closes inherited descriptors except standard input, output and error, and those that an argument
 * or a value of an option names as /dev/fd/N or /proc/self/fd/N: an inherited end of a pipe would block the
 * reader of the other end. Call it before the program opens anything. */
void nt_close_inherited(int argument_count, char *const *arguments);

struct nt_background {
    int ready_pipe; /* -1: in the foreground */
};

#define NT_FOREGROUND ((struct nt_background){.ready_pipe = -1})

enum nt_background_role {
    NT_BACKGROUND_CHILD,  /* continue, and call nt_background_ready when ready */
    NT_BACKGROUND_PARENT, /* exit with *exit_status_ret */
    NT_BACKGROUND_FAILED, /* see errno */
};

/* Reports success only when it is true: the process that the shell waits for exits with 0 when the
 * background process is ready, or with its exit status (`death_status` after a signal) if it fails.
 * Forks; no thread may run yet. The child keeps stderr, terminal and directory for now. The parent
 * returns when the child is ready or has ended. */
enum nt_background_role nt_background_start(struct nt_background *background, int death_status,
                                            int *exit_status_ret);

/* Lets the parent exit with 0, and leaves the terminal. Does nothing in the foreground. */
void nt_background_ready(struct nt_background *background);

/* For other children of the process that reports. */
void nt_background_forget(struct nt_background *background);

/* Leaves the terminal: own session, stdio on /dev/null, directory /. The first opens /dev/null while
 * that is still possible. */
int nt_background_null(void);
void nt_background_leave(int null);

/* ---- The log ---- */

/* The destination of messages: stderr in the foreground, syslog in the background. The worker sends its
 * messages to the supervisor, which owns the log. */
struct nt_log {
    const char *program;
    int channel; /* NT_NO_CHANNEL: this process owns the log */
    bool to_syslog;
};

/* Log a failure, or a note: one line, without its newline. Characters that could harm a terminal or
 * forge a line are escaped. Thread-safe. */
void nt_log_line(struct nt_log *log, const char *line);
void nt_log_note(struct nt_log *log, const char *line);

void nt_log_put(struct nt_log *log, int level, const char *line); /* level: syslog's */

/* Switches to syslog. */
void nt_log_to_syslog(struct nt_log *log);
/* Switches to the other process, also for libfuse's own messages. No thread may run yet. */
void nt_log_to_channel(struct nt_log *log, int channel);

/* ---- The mount table ---- */

struct nt_mountinfo {
    unsigned major, minor; /* device of the mount */
    char type[64];         /* "fuse.ntuplefs" */
};

/* Finds the topmost mount at `mountpoint` (absolute, without symbolic links) in a stream in the format
 * of /proc/self/mountinfo, see proc_pid_mountinfo(5). Returns false if there is none. */
bool nt_mountinfo_find(FILE *stream, const char *mountpoint, struct nt_mountinfo *info);

/* The same in this process's own table. */
bool nt_mountinfo_get(const char *mountpoint, struct nt_mountinfo *info);

/* ---- The mountpoint ---- */

struct nt_mountpoint {
    char *path;    /* absolute, without symbolic links */
    bool is_ours;  /* nt_mountpoint_prepare created the directory */
    int directory; /* its lock keeps other mounts from removing it; -1: it cannot be opened */
};

enum {
    NT_MOUNTPOINT_FORCE = 1, /* unmount a dead mount of ntuplefs first */
    NT_MOUNTPOINT_EMPTY = 2, /* refuse a directory that is not empty */
};

/* Finds or creates the directory. Refuses a path with a running ntuplefs mount, and one with a dead mount
 * unless NT_MOUNTPOINT_FORCE is set. Leaves nothing after a failure. */
enum nt_status nt_mountpoint_prepare(struct nt_mountpoint *mountpoint, const char *path, unsigned flags,
                                     struct nt_error *error);

/* After the unmount: removes the directory if prepare created it, it is empty, and no other mount has
 * prepared it since. Accepts the result of a failed or missing (zeroed) preparation. */
void nt_mountpoint_release(struct nt_mountpoint *mountpoint);

/* Unmounts an absolute path: root by the system call, others with fusermount3. If it is in use, returns
 * false; with `is_lazy` it leaves the tree at once and ends with its last user. */
bool nt_unmount(const char *path, bool is_lazy);

/* ---- Mounting and unmounting ---- */

/* A mount that this process created. */
struct nt_kernel_mount {
    const char *mountpoint;
    unsigned major, minor; /* identify the mount; any other at the mountpoint stays */
    bool is_made;
};

/* Mounts with the settings, which must outlive the mount. Initialize *mounting with `{0}`. Returns
 * descriptors for the serving process; the caller passes them on and closes them: with auto_unmount,
 * first the socket whose end informs fusermount3 that the mount is dead; last the device. The device
 * must have the higher number in the serving process, too: Linux closes the descriptors of a killed
 * process from the highest down, and fusermount3 must find the device closed. */
enum nt_status nt_kernel_mount_make(struct nt_kernel_mount *mount, const struct nt_mount_settings *settings,
                                    int descriptors_ret[NT_MESSAGE_DESCRIPTORS], int *count_ret,
                                    struct nt_error *error);

/* Unmounts if the mount exists and no other covers it. If it is in use: false, or like nt_unmount. */
bool nt_kernel_mount_end(struct nt_kernel_mount *mount, bool is_lazy);

/* ---- Leader and followers ---- */

/* Decides which threads wait for requests.
 *
 * The kernel wakes the thread that has waited longest, usually on another processor, which takes longer
 * than answering a small request. So while all requests are quick, only one thread, the leader,
 * receives and answers them; the followers wait. Before slow work the leader releases its followers:
 * then all threads receive, until NT_LEADER_QUIET quick requests arrive in a row. It also releases them
 * when requests repeatedly queue up: then several callers are active, and there is work for several
 * processors.
 *
 * Slow work need not be known in advance: one follower is the watcher, and releases all when a request
 * exceeds the patience. The watcher sleeps while the leader waits for requests.
 *
 * An idle processor sleeps, and wakes more slowly than the leader answers a small request. So if the
 * last request came soon, the leader polls for the next one for that long before it sleeps.
 *
 * The caller sleeps meanwhile, too, and the answer wakes it. No wakeup is needed if both alternate on
 * one processor. So if the leader has to poll again and again, it migrates to other processors until
 * requests are pending when it has answered. Each failed attempt doubles the time to the next. */

enum {
    NT_LEADER_QUIET = 64,     /* quick requests after slow work before one thread leads again */
    NT_LEADER_QUEUED = 16,    /* consecutive requests with another one queued */
    NT_LEADER_CROWDED = 1024, /* as NT_LEADER_QUIET, after these */
    NT_LEADER_SPINS = 32,     /* polled requests minus others before a migration; */
    NT_LEADER_MOVES = 10,     /* doubles with each migration, this many times */
};

/* How a request reached the leader. */
enum nt_request_arrival {
    NT_ARRIVAL_AWAITED,
    NT_ARRIVAL_PENDING, /* pending already, or after a yield to other threads */
    NT_ARRIVAL_QUEUED,  /* likewise, and another request is queued */
};

struct nt_leader {
    pthread_mutex_t lock;
    pthread_cond_t freed;           /* a follower may proceed */
    pthread_cond_t has_begun;       /* for the watcher */
    atomic_uintptr_t leader;        /* a pthread_t; 0: none. Set under the lock */
    atomic_int until_quiet;         /* quick requests; positive: all receive */
    atomic_uint_least64_t progress; /* of leaders: 2 * received requests, + 1 while serving */
    atomic_bool watcher_sleeps;
    bool is_watched;
    unsigned queued;                   /* leader: consecutive requests with another one queued */
    unsigned apart;                    /* leader: polled requests minus others */
    unsigned moves;                    /* leader: migrations without success */
    atomic_uint_least64_t waits_since; /* by the leader: nanoseconds of the monotonic clock */
    atomic_bool is_busy;               /* the last request came soon after the one before */
    uint64_t patience, soon;
};

/* `patience`: nanoseconds until a request counts as slow; detection takes up to twice as long. `soon`:
 * nanoseconds for which the leader polls. Returns 0 or an errno value. */
int nt_leader_init(struct nt_leader *leaders, uint64_t patience, uint64_t soon);
void nt_leader_deinit(struct nt_leader *leaders); /* no thread may use it */

/* Waits until this thread may receive; true for the leader. A cancellation point without cleanup. */
bool nt_leader_wait(struct nt_leader *leaders);
/* Called by the leader when no request is pending: should it poll again instead of sleeping? Yields to
 * other threads of its processor first. */
bool nt_leader_spins(const struct nt_leader *leaders);
/* A thread has received a request. `arrival` matters only for the leader. */
void nt_leader_received(struct nt_leader *leaders, bool is_quick, enum nt_request_arrival arrival);
/* Call it from any thread before slow work: other threads receive meanwhile. */
void nt_leader_release_followers(struct nt_leader *leaders);

/* ---- The session ---- */

/* Loads a library that thread cancellation needs but no binary links to; call it before files open. */
enum nt_status nt_unwinder_load(struct nt_error *error);

/* Creates the session for a mount from nt_kernel_mount_make. The tree remains the caller's and must
 * outlive the session, which takes ownership of the device. */
enum nt_status nt_mount_new(struct nt_vfs *vfs, const struct nt_mount_settings *settings, int device,
                            struct nt_mount **mount_ret, struct nt_error *error);

/* Serves requests until the unmount, or until a terminating signal, which is no failure: then the mount
 * remains and *is_left_ret is true. */
enum nt_status nt_mount_serve(struct nt_mount *mount, bool *is_left_ret, struct nt_error *error);

/* Does not unmount. Accepts NULL. */
void nt_mount_free(struct nt_mount *mount);
NT_DEFINE_CLEANUP(struct nt_mount, nt_mount_free)

/* The version of libfuse, e.g. "3.14.0". */
const char *nt_mount_libfuse_version(void);
/* Features that libfuse is too old for; NULL: none. */
const char *nt_mount_missing_features(void);
