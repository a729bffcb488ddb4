/* SPDX-License-Identifier: MIT
 *
 * In: signals, and messages of the process that decodes. Out: a mount that is there as long as that process answers.
 * Nothing in a message is believed: the worst that it can bring about is an unmount. Nor is that process waited for: it need not
 * read what it asked for.
 */
#include "fuse/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

/* ---- from one process to two ---- */

static const int ending_signals[] = {SIGHUP, SIGINT, SIGTERM};
enum { ENDING_SIGNALS = sizeof(ending_signals) / sizeof(*ending_signals) };

/* Those that end a mount. What the caller has ignored (nohup) stays ignored. */
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

/* What a terminal sends to both is for the supervisor. */
static void become_decoder(struct nt_supervisor *supervisor, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    close(supervisor->signals);
    supervisor->signals = -1;
    sigprocmask(SIG_SETMASK, &supervisor->blocked, NULL);
}

static enum nt_status start(struct nt_supervisor *supervisor, const int ends[2],
                            enum nt_supervisor_role *role_ret, struct nt_error *error)
{
    sigset_t signals = watched_signals();
    pid_t parent = getpid();
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &signals, &supervisor->blocked);
    supervisor->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    supervisor->decoder = supervisor->signals >= 0 ? fork() : -1;
    if (supervisor->decoder < 0)
        return nt_fail_system(error, errno, "cannot start the process that decodes");
    *role_ret = supervisor->decoder == 0 ? NT_ROLE_DECODER : NT_ROLE_SUPERVISOR;
    supervisor->channel = ends[*role_ret];
    close(ends[1 - *role_ret]);
    if (*role_ret == NT_ROLE_DECODER)
        become_decoder(supervisor, parent);
    return NT_OK;
}

enum nt_status nt_supervisor_start(struct nt_supervisor *supervisor, enum nt_supervisor_role *role_ret,
                                   struct nt_error *error)
{
    int ends[2];
    if (!nt_channel_new(ends))
        return nt_fail_system(error, errno, "cannot start the process that decodes");
    return start(supervisor, ends, role_ret, error);
}

/* ---- supervising ---- */

struct watch {
    struct nt_supervisor *supervisor;
    const struct nt_supervisor_tasks *tasks;
    struct nt_supervisor_end *end;
    bool is_mounted, has_ended;
    bool is_left; /* mounted, without anybody who answers */
    struct nt_message message;
};

/* The tree is gone before who answers is, so that nobody finds a dead mount. */
static void tell_to_end(struct watch *watch)
{
    if (watch->is_mounted)
        watch->tasks->unmount(watch->tasks->context, true);
    kill(watch->supervisor->decoder, watch->is_mounted ? SIGTERM : SIGKILL);
}

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
    nt_channel_answer_descriptors(channel, NT_MESSAGE_MOUNTED, descriptors, count);
    while (count > 0)
        close(descriptors[--count]); /* the mount is dead when the other process is */
}

static void unmount_idle(struct watch *watch)
{
    bool is_done = watch->is_mounted && watch->tasks->unmount(watch->tasks->context, false);
    watch->end->was_idle |= is_done;
    nt_channel_answer(watch->supervisor->channel, is_done ? NT_MESSAGE_UNMOUNTED : NT_MESSAGE_BUSY);
}

/* Neither what every terminal is told, nor lines of other parts of the system. */
static int level_of(const struct nt_message *message)
{
    return message->level >= LOG_ERR && message->level <= LOG_DEBUG ? message->level : LOG_ERR;
}

/* False at the end of the channel. */
static bool take_message(struct watch *watch)
{
    const struct nt_supervisor_tasks *tasks = watch->tasks;
    nt_channel_receive(watch->supervisor->channel, &watch->message);
    switch (watch->message.kind) {
    case NT_MESSAGE_LINE:
        tasks->line(tasks->context, level_of(&watch->message), watch->message.text);
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
        unmount_idle(watch);
        break;
    default:
        return watch->message.kind != NT_MESSAGE_END;
    }
    return true;
}

static void take_end(struct watch *watch)
{
    int status;
    if (waitpid(watch->supervisor->decoder, &status, WNOHANG) != watch->supervisor->decoder)
        return;
    watch->has_ended = true;
    watch->end->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    watch->end->death_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    watch->is_left |= watch->end->exit_status != 0;
}

/* What comes behind the decoder's end is not for it: its number may be that of another process by now. */
static void take_signals(struct watch *watch)
{
    struct signalfd_siginfo signal;
    while (read(watch->supervisor->signals, &signal, sizeof(signal)) == (ssize_t)sizeof(signal)) {
        if (signal.ssi_signo == SIGCHLD) {
            take_end(watch);
        } else if (!watch->end->signal && !watch->has_ended) {
            watch->end->signal = (int)signal.ssi_signo;
            tell_to_end(watch);
        }
    }
}

void nt_supervise(struct nt_supervisor *supervisor, const struct nt_supervisor_tasks *tasks,
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
            events[1].fd = -1; /* its end follows */
        if (events[0].revents)
            take_signals(&watch);
    }
    while (events[1].fd >= 0 && take_message(&watch)) /* what it said at last */
        ;
    /* Where it ended because it was unmounted, there may be another mount by now, with the same number of its device. */
    if (watch.is_mounted && watch.is_left)
        tasks->unmount(tasks->context, true);
    close(supervisor->channel);
    close(supervisor->signals);
}
