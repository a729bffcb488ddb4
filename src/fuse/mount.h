/* SPDX-License-Identifier: MIT
 *
 * Mounts a virtual tree: the mountpoint, the session that answers requests, the supervisor process, and
 * the log. Does not include headers of libfuse, so any program can use it.
 */
#ifndef NT_FUSE_MOUNT_H
#define NT_FUSE_MOUNT_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "vfs/vfs.h"

struct nt_leader;
struct nt_mount;

/* ---- Mount settings ---- */

/* Whether files of known size are read past the kernel's page cache: faster the first time, slower when the
 * same file is read or mapped again. */
enum nt_direct_io {
    NT_DIRECT_IO_AUTO, /* as measured to be best: not */
    NT_DIRECT_IO_ON,
    NT_DIRECT_IO_OFF,
};

/* Texts and `lead` must outlive the mount. */
struct nt_mount_settings {
    const char *program;    /* for libfuse's messages */
    const char *mountpoint; /* absolute path of a directory */
    const char *source;     /* what mount(8) and df(1) show as the device; any text */
    const char *subtype;    /* the type is shown as fuse.<subtype> */
    const char *options;    /* mount options for libfuse and the kernel, separated by commas; may be empty */
    bool allow_other;       /* other users may use the mount, as far as the modes in it let them */
    bool auto_unmount;      /* unmount also when the program is killed */
    bool is_debugging;      /* print every request */
    bool is_single_threaded;
    unsigned threads; /* requests that are served at once */
    /* Reads ahead of readers that the kernel may have sent at once. All requests stand in one queue: more
     * than can be served at once keep calls waiting that a user waits for. */
    unsigned reads_ahead;
    uint64_t reply_bytes;   /* memory for answers that are being made; a request waits while others have it */
    struct nt_leader *lead; /* of the threads; what the tree says is slow lets them go */
    enum nt_direct_io direct_io;
    unsigned idle_seconds;           /* unmount when nobody has used the mount for so long; 0: never */
    void (*on_ready)(void *context); /* once, when the kernel has accepted the mount; may be NULL */
    void (*on_gone)(void *context);  /* it was unmounted: nobody waits for answers; any thread; may be NULL */
    bool (*unmount)(void *context);  /* when it is over; false where somebody uses it */
    void *context;
};

/* ---- The channel between both processes ---- */

#define NT_NO_CHANNEL (-1)

enum nt_message_kind {
    NT_MESSAGE_END, /* the other process is gone */
    /* From the worker: */
    NT_MESSAGE_LINE,   /* for the log */
    NT_MESSAGE_OPENED, /* the sources are open: mount. Answered by MOUNTED, or not at all */
    NT_MESSAGE_READY,  /* the kernel has accepted the mount. Answered by NOTED */
    NT_MESSAGE_KEPT,   /* what it has learned is written */
    NT_MESSAGE_LEFT,   /* it ends though it is mounted: somebody else told it to */
    NT_MESSAGE_IDLE,   /* nobody uses it: unmount. Answered by UNMOUNTED or BUSY */
    /* From the supervisor: */
    NT_MESSAGE_MOUNTED, /* with descriptors */
    NT_MESSAGE_NOTED,
    NT_MESSAGE_UNMOUNTED,
    NT_MESSAGE_BUSY,
    NT_MESSAGE_COUNT
};

enum {
    NT_MESSAGE_BYTES = 16 * 1024, /* of a text; the rest is cut off */
    NT_MESSAGE_DESCRIPTORS = 2,   /* at most */
};

struct nt_message {
    enum nt_message_kind kind;
    int level;                       /* of a line: syslog's */
    char text[NT_MESSAGE_BYTES + 1]; /* ends with NUL */
};

/* False, with errno. Both ends are closed by exec. */
bool nt_channel_new(int ends_ret[2]);

/* Any thread. False where the other side is gone. */
bool nt_channel_send(int channel, enum nt_message_kind kind);
bool nt_channel_send_line(int channel, int level, const char *line);
/* The same without waiting, for who must not depend on the other: false, too, where that one does not read. */
bool nt_channel_answer(int channel, enum nt_message_kind kind);
bool nt_channel_answer_descriptors(int channel, enum nt_message_kind kind, const int *descriptors, int count);

/* Wait for the next message, in whose text there may be anything. */
void nt_channel_receive(int channel, struct nt_message *message);
/* The same where descriptors come with it, `descriptors_ret[NT_MESSAGE_DESCRIPTORS]` at most, numbered upwards. */
enum nt_message_kind nt_channel_receive_descriptors(int channel, int *descriptors_ret, int *count_ret);

/* ---- The supervisor process ---- */

struct nt_supervisor {
    int channel;      /* to the other process */
    int signals;      /* the supervisor's: a signalfd */
    pid_t decoder;    /* the supervisor's */
    sigset_t blocked; /* before */
};

enum nt_supervisor_role { NT_SUPERVISOR_ROLE_WORKER, NT_SUPERVISOR_ROLE_SUPERVISOR };

/* Fork, before any thread has been started. The worker ends when the other does, and leaves SIGINT and SIGHUP to
 * it. */
enum nt_status nt_supervisor_start(struct nt_supervisor *supervisor, enum nt_supervisor_role *role_ret,
                                   struct nt_error *error);

/* What the supervisor does when it is asked. */
struct nt_supervisor_tasks {
    /* Descriptors for the other process, NT_MESSAGE_DESCRIPTORS at most; false: there is no mount. */
    bool (*mount)(void *context, int *descriptors_ret, int *count_ret);
    void (*ready)(void *context);
    void (*line)(void *context, int level, const char *line);
    void (*kept)(void *context);
    bool (*unmount)(void *context, bool is_lazy); /* false where it is in use, or not mounted */
    void *context;
};

/* How it came to an end. */
struct nt_supervisor_end {
    int signal;    /* by which the supervisor was told to; 0: by none */
    bool was_idle; /* it unmounted because nobody used it */
    bool was_ready;
    int exit_status; /* of the worker; -1: it was ended by: */
    int death_signal;
};

/* Until the other process has ended; then nothing is mounted any more. */
void nt_supervisor_run(struct nt_supervisor *supervisor, const struct nt_supervisor_tasks *tasks,
                       struct nt_supervisor_end *end_ret);

/* ---- Startup, background and log ---- */

/* Descriptors that the caller left open are closed, all but standard input, output and error, and those that
 * an argument names as /dev/fd/N or /proc/self/fd/N: who keeps the end of a pipe keeps whoever reads the
 * other end waiting. Before the program opens anything. */
void nt_close_inherited(int argument_count, char *const *arguments);

struct nt_background {
    int ready_pipe; /* -1: in the foreground */
};

#define NT_FOREGROUND ((struct nt_background){.ready_pipe = -1})

enum nt_background_role {
    NT_BACKGROUND_CHILD,  /* go on, and call nt_background_ready when all works */
    NT_BACKGROUND_PARENT, /* end with *exit_status_ret */
    NT_BACKGROUND_FAILED, /* errno tells why */
};

/* Nothing lies about success: the process that the shell waits for ends only when the one in the background
 * is ready, or with its exit status when it is not. Fork, before any thread has been started. The child keeps
 * stderr, terminal and directory for now. In the parent this returns when the child is ready or has ended.
 * `death_status` is given where a signal ended it. */
enum nt_background_role nt_background_start(struct nt_background *background, int death_status,
                                            int *exit_status_ret);

/* Let the parent go with exit status 0, and leave the terminal. Does nothing in the foreground. */
void nt_background_ready(struct nt_background *background);

/* For a child of the one that will be ready. */
void nt_background_forget(struct nt_background *background);

/* Leave the terminal: own session, stdio on /dev/null, directory /. /dev/null is opened while that can be done. */
int nt_background_null(void);
void nt_background_leave(int null);

/* ---- the log ---- */

/* Where messages go: stderr while somebody can see it, syslog from the moment the program is in the
 * background; of the process that decodes then, to the one that has the log. */
struct nt_log {
    const char *program;
    int channel; /* NT_NO_CHANNEL: the log is here */
    bool to_syslog;
};

/* A failure, or a note of what happens: one line, without its newline. Characters that could harm a terminal or forge a line are escaped. Any
 * thread. */
void nt_log_line(struct nt_log *log, const char *line);
void nt_log_note(struct nt_log *log, const char *line);

void nt_log_put(struct nt_log *log, int level, const char *line); /* syslog's level */

/* From now on to syslog. */
void nt_log_to_syslog(struct nt_log *log);
/* From now on to another process, libfuse's own messages, too. Before any thread is started. */
void nt_log_to_channel(struct nt_log *log, int channel);

/* ---- The mount table ---- */

struct nt_mountinfo {
    unsigned major, minor; /* device of the mount */
    char type[64];         /* "fuse.ntuplefs" */
};

/* The topmost mount at `mountpoint` (absolute, without symbolic links), from a stream in the format of
 * /proc/self/mountinfo, see proc_pid_mountinfo(5). False where there is none. */
bool nt_mountinfo_find(FILE *stream, const char *mountpoint, struct nt_mountinfo *info);

/* The same from this process's own table. */
bool nt_mountinfo_get(const char *mountpoint, struct nt_mountinfo *info);

/* ---- The mountpoint ---- */

struct nt_mountpoint {
    char *path;   /* absolute, without symbolic links */
    bool is_ours; /* the directory was made by nt_mountpoint_prepare */
};

/* Find or make the directory. A mount of ntuplefs that is there already is refused where it lives; where its
 * daemon is dead it is said, or, with `force`, unmounted. On failure nothing is left behind. */
enum nt_status nt_mountpoint_prepare(struct nt_mountpoint *mountpoint, const char *path, bool force,
                                     struct nt_error *error);

/* After the unmount: removes the directory if it is ours and empty, never anything else. Accepts what a
 * failed or missing (zeroed) preparation left. */
void nt_mountpoint_release(struct nt_mountpoint *mountpoint);

/* Unmount what is mounted at an absolute path: root by the system call, others by fusermount3. Where it is in
 * use: false, or with `is_lazy` it goes from the tree at once and for good when nobody uses it any more. */
bool nt_unmount(const char *path, bool is_lazy);

/* ---- Mounting and unmounting ---- */

/* A mount that was made here. */
struct nt_kernel_mount {
    const char *mountpoint;
    unsigned major, minor; /* what else lies at the mountpoint is left alone */
    bool is_made;
};

/* Mount by the settings, which must outlive the mount; `*mounting` is `{0}`. What the one who answers must have is the
 * caller's to give away and to close: the device, last; with auto_unmount, the socket by whose end its helper learns
 * that the mount is dead. The device has the higher number there, too: Linux releases what a killed program has open from
 * the highest descriptor down, and the helper must find the device released already. */
enum nt_status nt_kernel_mount_make(struct nt_kernel_mount *mounting,
                                    const struct nt_mount_settings *settings,
                                    int descriptors_ret[NT_MESSAGE_DESCRIPTORS], int *count_ret,
                                    struct nt_error *error);

/* Unmount it if it is still there, and not covered by another mount. Where it is in use: false, or with `is_lazy` as
 * nt_unmount. */
bool nt_kernel_mount_end(struct nt_kernel_mount *mounting, bool is_lazy);

/* ---- Leader and followers ---- */

/* Which of many threads wait for requests.
 * 
 * The kernel wakes the thread that has waited for longest, on another processor mostly, which takes longer than
 * answering a small request. While all requests are quick only one thread waits for them, the leader, and answers
 * them itself; the others wait behind it. Before work that may be slow it lets them go: then all receive, as
 * several requests are to be served at once, until NT_LEADER_QUIET quick ones have arrived one after the other. It
 * does so, too, where one request waits behind another again and again: several ask at once, and there is work for
 * several processors.
 * 
 * Nobody has to know beforehand what is slow: of those behind the leader one watches it, and lets all go where
 * one request takes longer than its patience. It sleeps while the leader waits.
 * 
 * A processor without work sleeps, and takes longer to wake than a small request takes to be answered. So where
 * a request came soon, the leader looks out for the next one as long before it sleeps.
 * 
 * Who asks sleeps meanwhile, too, and is woken by the answer. It need not be where both take turns on one processor. So where
 * the leader has to look out for requests again and again, it moves to another processor until it finds them there when it
 * has answered; each time in vain it is twice as slow to try again. */

enum {
    NT_LEADER_QUIET = 64,     /* quick requests after a slow one */
    NT_LEADER_QUEUED = 16,    /* requests one after the other behind which there was another */
    NT_LEADER_CROWDED = 1024, /* quick requests after these */
    NT_LEADER_SPINS = 32,     /* requests looked out for, less others, before it moves, ... */
    NT_LEADER_MOVES = 10,     /* ... twice as many each time, so often */
};

/* How a request has arrived to the leader. */
enum nt_request_arrival {
    NT_ARRIVAL_AWAITED,
    NT_ARRIVAL_PENDING, /* when it came, or had let others of its processor go first */
    NT_ARRIVAL_QUEUED,  /* so, and another one is there behind it */
};

struct nt_leader {
    pthread_mutex_t lock;
    pthread_cond_t freed;     /* who waits behind the leader may go */
    pthread_cond_t has_begun; /* for the one who watches */
    atomic_uintptr_t leader;  /* a pthread_t; 0: none. Changed under the lock */
    atomic_int until_quiet;   /* quick requests; positive: all receive */
    atomic_uint_least64_t
        progress; /* of leaders: twice the requests received, plus one while one is served */
    atomic_bool watcher_sleeps;
    bool is_watched;
    unsigned queued;                   /* the leader's: requests behind which there was another, ... */
    unsigned apart;                    /* ... those that it looked out for, less others, ... */
    unsigned moves;                    /* ... and how often it has moved in vain */
    atomic_uint_least64_t waits_since; /* the leader: nanoseconds of the monotonic clock */
    atomic_bool is_busy;               /* the last request came soon */
    uint64_t patience, soon;
};

/* `patience`: nanoseconds until a request is taken for slow; it may last twice as long. `soon`: nanoseconds between
 * requests that are looked out for. 0 or an errno value. */
int nt_leader_init(struct nt_leader *lead, uint64_t patience, uint64_t soon);
void nt_leader_deinit(struct nt_leader *lead); /* nobody is in it */

/* Before a thread waits for a request: returns when it may, and whether it leads. A cancellation point, which
 * leaves nothing behind. */
bool nt_leader_wait(struct nt_leader *lead);
/* By the leader and finds no request: whether to look once more rather than to sleep. Lets other threads of its
 * processor go first. */
bool nt_leader_spins(const struct nt_leader *lead);
/* It has received one. `arrival` matters where it leads. */
void nt_leader_received(struct nt_leader *lead, bool is_quick, enum nt_request_arrival arrival);
/* Before work that may be slow, by any thread: others receive meanwhile. */
void nt_leader_release_followers(struct nt_leader *lead);

/* ---- The session ---- */

/* Before a file is opened: load what threads cannot be ended without, and nothing links to. */
enum nt_status nt_unwinder_load(struct nt_error *error);

/* Be who answers the requests of a mount that was made (nt_kernel_mount_make). The tree stays the caller's and must outlive
 * the mount; the device becomes the mount's. */
enum nt_status nt_mount_new(struct nt_vfs *vfs, const struct nt_mount_settings *settings, int device,
                            struct nt_mount **mount_ret, struct nt_error *error);

/* Answer requests until the mount is unmounted, or a signal arrives that ends a program (which is no failure): then the mount
 * is left. */
enum nt_status nt_mount_serve(struct nt_mount *mount, bool *is_left_ret, struct nt_error *error);

/* Does not unmount. Accepts NULL. */
void nt_mount_free(struct nt_mount *mount);

/* The version of libfuse, e.g. "3.14.0". */
const char *nt_mount_libfuse_version(void);
/* What does not work because libfuse is too old; NULL where everything does. */
const char *nt_mount_missing_features(void);

#endif
