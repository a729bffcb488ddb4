/* SPDX-License-Identifier: MIT
 *
 * The supervisor process, which mounts, unmounts and logs on behalf of the sandboxed worker, and the
 * messages between both. The supervisor does not trust the worker: a compromised one can at most cause
 * an unmount.
 */
#include <errno.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "fuse/mount.h"

/* ---- Messages between both processes ---- */

enum { HEADER_BYTES = 2 };

bool nt_channel_new(int ends_ret[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_ret) == 0;
}

static bool send_packet(int channel, enum nt_message_kind kind, int level, const char *text)
{
    unsigned char packet[HEADER_BYTES + NT_MESSAGE_BYTES];
    size_t length = strnlen(text, NT_MESSAGE_BYTES);
    packet[0] = (unsigned char)kind;
    packet[1] = (unsigned char)level;
    memcpy(packet + HEADER_BYTES, text, length);
    return TEMP_FAILURE_RETRY(write(channel, packet, HEADER_BYTES + length)) >= 0;
}

bool nt_channel_send(int channel, enum nt_message_kind kind)
{
    return send_packet(channel, kind, 0, "");
}

bool nt_channel_answer(int channel, enum nt_message_kind kind)
{
    const unsigned char packet[HEADER_BYTES] = {(unsigned char)kind, 0};
    return send(channel, packet, sizeof(packet), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

bool nt_channel_send_line(int channel, int level, const char *line)
{
    return send_packet(channel, NT_MESSAGE_LINE, level, line);
}

void nt_channel_receive(int channel, struct nt_message *message)
{
    unsigned char packet[HEADER_BYTES + NT_MESSAGE_BYTES];
    ssize_t count = TEMP_FAILURE_RETRY(read(channel, packet, sizeof(packet)));
    bool is_whole = count >= HEADER_BYTES && packet[0] < NT_MESSAGE_COUNT;
    size_t length = is_whole ? (size_t)count - HEADER_BYTES : 0;
    message->kind = is_whole ? (enum nt_message_kind)packet[0] : NT_MESSAGE_END;
    message->level = is_whole ? packet[1] : 0;
    memcpy(message->text, packet + HEADER_BYTES, length);
    message->text[length] = '\0';
}

/* ---- Descriptors ---- */

union supervisor_control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(NT_MESSAGE_DESCRIPTORS * sizeof(int))];
};

bool nt_channel_answer_mounted(int channel, const int *descriptors, int count)
{
    union supervisor_control control = {0};
    unsigned char header[HEADER_BYTES] = {NT_MESSAGE_MOUNTED, 0};
    size_t bytes = (size_t)count * sizeof(int);
    struct msghdr packet = {.msg_iov = &(struct iovec){header, sizeof(header)},
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = CMSG_SPACE(bytes)};
    control.header =
        (struct cmsghdr){.cmsg_len = CMSG_LEN(bytes), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), descriptors, bytes);
    return sendmsg(channel, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

enum nt_message_kind nt_channel_receive_descriptors(int channel, int *descriptors_ret, int *count_ret)
{
    union supervisor_control control = {0};
    unsigned char header[HEADER_BYTES];
    struct msghdr packet = {.msg_iov = &(struct iovec){header, sizeof(header)},
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control)};
    *count_ret = 0;
    ssize_t count = TEMP_FAILURE_RETRY(recvmsg(channel, &packet, MSG_CMSG_CLOEXEC));
    if (count < HEADER_BYTES || header[0] >= NT_MESSAGE_COUNT)
        return NT_MESSAGE_END;
    const struct cmsghdr *first = CMSG_FIRSTHDR(&packet);
    if (first && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS) {
        *count_ret = (int)((first->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(descriptors_ret, CMSG_DATA(first), (size_t)*count_ret * sizeof(int));
    }
    return (enum nt_message_kind)header[0];
}

/* ---- Split into two processes ---- */

static const int ending_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
enum { ENDING_SIGNALS = sizeof(ending_signals) / sizeof(*ending_signals) };

/* The signals that end a mount. Signals that the caller ignores (nohup) stay ignored. */
static sigset_t watched_signals(void)
{
    sigset_t signals;
    struct sigaction action;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    for (int i = 0; i < ENDING_SIGNALS; i++)
        if (sigaction(ending_signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&signals, ending_signals[i]);
    return signals;
}

/* The supervisor handles the signals that a terminal sends to both. */
static void become_worker(struct nt_supervisor *supervisor, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    close(supervisor->signals);
    supervisor->signals = -1;
    sigprocmask(SIG_SETMASK, &supervisor->blocked, NULL);
}

enum nt_status nt_supervisor_start(struct nt_supervisor *supervisor, enum nt_supervisor_role *role_ret,
                                   struct nt_error *error)
{
    sigset_t signals = watched_signals();
    pid_t parent = getpid();
    int ends[2];
    if (!nt_channel_new(ends))
        return nt_fail_system(error, errno, "cannot start the worker");
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &signals, &supervisor->blocked);
    supervisor->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    supervisor->worker = supervisor->signals >= 0 ? fork() : -1;
    if (supervisor->worker < 0)
        return nt_fail_system(error, errno, "cannot start the worker");
    *role_ret = supervisor->worker == 0 ? NT_SUPERVISOR_ROLE_WORKER : NT_SUPERVISOR_ROLE_SUPERVISOR;
    supervisor->channel = ends[*role_ret];
    close(ends[1 - *role_ret]);
    if (*role_ret == NT_SUPERVISOR_ROLE_WORKER)
        become_worker(supervisor, parent);
    return NT_OK;
}

/* ---- Supervise ---- */

struct watch {
    struct nt_supervisor *supervisor;
    const struct nt_supervisor_tasks *tasks;
    struct nt_supervisor_end *end;
    bool is_mounted, has_ended;
    bool is_left; /* mounted, but the worker has ended */
    struct nt_message message;
};

static void mount(struct watch *watch)
{
    int descriptors[NT_MESSAGE_DESCRIPTORS], count, channel = watch->supervisor->channel;
    if (watch->is_mounted || watch->has_ended || watch->end->signal)
        return;
    watch->is_mounted = watch->tasks->mount(watch->tasks->context, descriptors, &count);
    if (!watch->is_mounted) {
        shutdown(channel, SHUT_WR); /* no answer will come */
        return;
    }
    nt_channel_answer_mounted(channel, descriptors, count);
    while (count > 0)
        close(descriptors[--count]); /* so that the mount dies with the worker */
}

/* Returns false at the end of the channel. */
static bool take_message(struct watch *watch)
{
    const struct nt_supervisor_tasks *tasks = watch->tasks;
    int channel = watch->supervisor->channel, level;
    bool is_done;
    nt_channel_receive(channel, &watch->message);
    switch (watch->message.kind) {
    case NT_MESSAGE_LINE:
        level = watch->message.level; /* rejects levels that reach all terminals, and facility bits */
        tasks->line(tasks->context, level >= LOG_ERR && level <= LOG_DEBUG ? level : LOG_ERR,
                    watch->message.text);
        break;
    case NT_MESSAGE_OPENED:
        mount(watch);
        break;
    case NT_MESSAGE_READY:
        if (watch->is_mounted && !watch->end->was_ready) {
            watch->end->was_ready = true;
            tasks->ready(tasks->context);
        }
        nt_channel_answer(watch->supervisor->channel, NT_MESSAGE_NOTED);
        break;
    case NT_MESSAGE_KEPT:
        tasks->kept(tasks->context);
        break;
    case NT_MESSAGE_LEFT:
        watch->is_left = true;
        break;
    case NT_MESSAGE_IDLE:
        is_done = watch->is_mounted && tasks->unmount(tasks->context, false);
        watch->end->was_idle |= is_done;
        nt_channel_answer(channel, is_done ? NT_MESSAGE_UNMOUNTED : NT_MESSAGE_BUSY);
        break;
    default:
        return watch->message.kind != NT_MESSAGE_END;
    }
    return true;
}

static void take_end(struct watch *watch)
{
    int status;
    if (waitpid(watch->supervisor->worker, &status, WNOHANG) != watch->supervisor->worker)
        return;
    watch->has_ended = true;
    watch->end->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    watch->end->death_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    watch->is_left |= watch->end->exit_status != 0;
}

/* Ignores signals after the worker's end: its pid may belong to another process. */
static void take_signals(struct watch *watch)
{
    struct signalfd_siginfo signal;
    while (read(watch->supervisor->signals, &signal, sizeof(signal)) == (ssize_t)sizeof(signal)) {
        if (signal.ssi_signo == SIGCHLD) {
            take_end(watch);
        } else if (!watch->end->signal && !watch->has_ended) {
            watch->end->signal = (int)signal.ssi_signo;
            if (watch->is_mounted) /* before the worker ends, so that no process finds a dead mount */
                watch->tasks->unmount(watch->tasks->context, true);
            kill(watch->supervisor->worker, watch->is_mounted ? SIGTERM : SIGKILL);
        }
    }
}

void nt_supervisor_run(struct nt_supervisor *supervisor, const struct nt_supervisor_tasks *tasks,
                       struct nt_supervisor_end *end_ret)
{
    struct watch watch = {.supervisor = supervisor, .tasks = tasks, .end = end_ret};
    struct pollfd events[] = {{.fd = supervisor->signals, .events = POLLIN},
                              {.fd = supervisor->channel, .events = POLLIN}};
    *end_ret = (struct nt_supervisor_end){0};
    while (!watch.has_ended) {
        if (poll(events, 2, -1) < 0)
            continue;
        if (events[1].revents && !take_message(&watch))
            events[1].fd = -1; /* SIGCHLD follows */
        if (events[0].revents)
            take_signals(&watch);
    }
    while (events[1].fd >= 0 && take_message(&watch)) /* remaining messages */
        ;
    /* After an unmount by others, another mount may exist with the same device number. */
    if (watch.is_mounted && watch.is_left)
        tasks->unmount(tasks->context, true);
    close(supervisor->channel);
    close(supervisor->signals);
}
