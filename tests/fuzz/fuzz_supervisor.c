/* SPDX-License-Identifier: MIT
 *
 * Messages of the worker to the supervisor. The input is a list of events: each first byte says whether
 * the next is a packet (its length and bytes follow), a signal, a success or a failure of a mount, or the
 * end. The test replaces the system calls (tests/fuzz/meson.build), so that nothing is mounted and no
 * process is killed.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <syslog.h>

#include "fuse/mount.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
ssize_t __real_read(int file, void *buffer, size_t bytes);
ssize_t __wrap_read(int file, void *buffer, size_t bytes);
int __wrap_poll(struct pollfd *files, nfds_t count, int milliseconds);
ssize_t __wrap_send(int file, const void *packet, size_t bytes, int flags);
ssize_t __wrap_sendmsg(int file, const struct msghdr *packet, int flags);
pid_t __wrap_waitpid(pid_t process, int *status, int options);
int __wrap_kill(pid_t process, int number);
int __wrap_close(int file);
int __real_close(int file);

enum {
    CHANNEL = 1 << 20, /* numbers of no file */
    SIGNALS,
    DEVICE,
    DECODER = 1 << 22, /* nor of a process */
    UNREAD = 100,      /* answers that fit into the channel */
};

enum event { EVENT_NONE, EVENT_PACKET, EVENT_SIGNAL, EVENT_END, EVENTS };

static struct {
    const uint8_t *at, *end;
    enum event event; /* the next one, if it was read */
    bool has_event, is_mounted, has_ended, was_reported;
    bool is_waited_for; /* its number may belong to another by now */
    unsigned unread;
} world;

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

static uint8_t next_byte(void)
{
    return world.at < world.end ? *world.at++ : 0;
}

/* The worker ends when nothing is left. After that, more signals may arrive. */
static enum event look(void)
{
    if (!world.has_event)
        world.event = world.at < world.end ? (enum event)(next_byte() % EVENTS)
                      : world.has_ended    ? EVENT_NONE
                                           : EVENT_END;
    world.has_event = true;
    return world.event;
}

/* ---- the system ---- */

int __wrap_poll(struct pollfd *files, nfds_t count, int milliseconds)
{
    enum event event = look();
    files[0].revents = event == EVENT_SIGNAL || event == EVENT_END ? POLLIN : 0;
    files[1].revents = files[1].fd >= 0 && event == EVENT_PACKET ? POLLIN : 0;
    if (event == EVENT_NONE || (event == EVENT_PACKET && files[1].fd < 0))
        world.has_event = false; /* no reader */
    return 1;
}

static ssize_t read_packet(void *buffer, size_t bytes)
{
    if (look() != EVENT_PACKET)
        return 0;
    size_t length = next_byte();
    length = length < 255 ? length : 255 * (size_t)next_byte();
    size_t left = (size_t)(world.end - world.at);
    length = length < left ? length : left;
    length = length < bytes ? length : bytes;
    memcpy(buffer, world.at, length);
    world.at += length;
    world.has_event = false;
    return (ssize_t)length;
}

static ssize_t read_signal(struct signalfd_siginfo *signal)
{
    static const uint32_t numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
    enum event event = look();
    if (event != EVENT_SIGNAL && event != EVENT_END)
        return errno = EAGAIN, -1;
    world.has_ended |= event == EVENT_END;
    world.has_event = false;
    signal->ssi_signo = event == EVENT_END ? SIGCHLD : numbers[next_byte() % 4];
    return sizeof(*signal);
}

ssize_t __wrap_read(int file, void *buffer, size_t bytes)
{
    if (file == CHANNEL)
        return read_packet(buffer, bytes);
    return file == SIGNALS ? read_signal(buffer) : __real_read(file, buffer, bytes);
}

/* The worker reads none of its answers: a caller that waits for that would wait forever. */
static ssize_t take_answer(int file, int flags)
{
    demand(file == CHANNEL && flags & MSG_DONTWAIT && flags & MSG_NOSIGNAL);
    return ++world.unread > UNREAD ? (errno = EAGAIN, -1) : 2;
}

ssize_t __wrap_send(int file, const void *packet, size_t bytes, int flags)
{
    return take_answer(file, flags);
}

ssize_t __wrap_sendmsg(int file, const struct msghdr *packet, int flags)
{
    return take_answer(file, flags);
}

pid_t __wrap_waitpid(pid_t process, int *status, int options)
{
    demand(process == DECODER && options == WNOHANG);
    *status = next_byte() << 8;
    if (world.is_waited_for)
        return errno = ECHILD, -1;
    world.is_waited_for = world.has_ended;
    return world.has_ended ? DECODER : 0;
}

int __wrap_kill(pid_t process, int number)
{
    demand(process == DECODER && (number == SIGTERM || number == SIGKILL) && !world.is_waited_for);
    world.was_reported = true;
    return 0;
}

int __wrap_close(int file)
{
    return file >= CHANNEL && file <= DEVICE ? 0 : __real_close(file);
}

/* ---- Requests ---- */

static bool mount(void *context, int *descriptors_ret, int *count_ret)
{
    demand(!world.is_mounted);
    world.is_mounted = next_byte() & 1;
    descriptors_ret[0] = DEVICE;
    *count_ret = world.is_mounted ? 1 : 0;
    return world.is_mounted;
}

static bool unmount(void *context, bool is_lazy)
{
    bool is_done = is_lazy || next_byte() & 1;
    world.is_mounted &= !is_done;
    return is_done;
}

static void do_nothing(void *context)
{
}

static void take_line(void *context, int level, const char *line)
{
    demand(strlen(line) <= NT_MESSAGE_BYTES && level >= LOG_ERR && level <= LOG_DEBUG);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const struct nt_supervisor_tasks tasks = {
        .mount = mount, .ready = do_nothing, .line = take_line, .kept = do_nothing, .unmount = unmount};
    struct nt_supervisor supervisor = {.channel = CHANNEL, .signals = SIGNALS, .worker = DECODER};
    struct nt_supervisor_end end;
    memset(&world, 0, sizeof(world));
    world.at = bytes;
    world.end = bytes + count;
    nt_supervisor_run(&supervisor, &tasks, &end);
    demand(world.has_ended);
    demand(!end.signal || world.was_reported);
    /* After an orderly end, it is unmounted; else nothing stays mounted. */
    demand(!world.is_mounted || (end.exit_status == 0 && !end.signal));
    return 0;
}
