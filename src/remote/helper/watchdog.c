/* SPDX-License-Identifier: MIT
 *
 * Main program of the network helper. A watchdog process keeps the socket, restarts the worker when it
 * dies, and passes copies of credential files to it.
 */
#include "remote/helper/helper.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/sanitizer.h"
#include "sandbox/sandbox.h"

/* The program that fetches remote files, for a mount or another user of the library. Its standard input
 * is a socket that speaks the protocol of src/remote/protocol.h. It has two processes: the worker
 * fetches; the watchdog keeps the socket and restarts a worker that dies. So a sandboxed client needs
 * no right to start processes. The watchdog has no connections. It passes copies of credential files to
 * the worker, which cannot read their directories. */

enum { CHANNEL = STDIN_FILENO, FIRST_OTHER = STDERR_FILENO + 1 };

/* Delay before a restart, so that a worker that dies at once does not occupy a processor. */
static const struct timespec pause_between = {.tv_nsec = 100 * 1000 * 1000};

static void close_others(void)
{
#ifdef SYS_close_range
    syscall(SYS_close_range, FIRST_OTHER, ~0u, 0);
#endif
}

/* Random, so that it is unique among network helpers. */
static uint64_t next_epoch(uint64_t last)
{
    uint64_t epoch = 0;
    (void)!getrandom(&epoch, sizeof(epoch), 0);
    return epoch && epoch != last ? epoch : last == 1 ? 2 : 1;
}

static bool is_client_gone(void)
{
    struct pollfd event = {.fd = CHANNEL};
    return poll(&event, 1, 0) > 0 && (event.revents & POLLHUP);
}

/* Returns in the worker, with the socket that provides credential files. */
static int fork_worker(pid_t *watchdog_ret)
{
    int ends[2];
    *watchdog_ret = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        _exit(1);
    if (fork() == 0) {
        close(ends[0]);
        return ends[1];
    }
    int status = SIGKILL;
    close(ends[1]);
    nt_credentials_serve(ends[0]);
    close(ends[0]);
    wait(&status);
    /* The client is gone, or a worker cannot begin here. */
    bool is_done = (WIFEXITED(status) && WEXITSTATUS(status) == 0) || is_client_gone();
    bool has_reported = WIFEXITED(status) && NT_IS_SANITIZED; /* a test must not go on as if it had not */
    if (is_done || has_reported)
        _exit(0);
    nanosleep(&pause_between, NULL);
    return -1;
}

int main(void)
{
    uint64_t epoch = 0;
    pid_t watchdog;
    int credentials;
    struct nt_allow_list rules;
    close_others();
    signal(SIGPIPE, SIG_IGN);
    if (fork() != 0) /* detach: the parent does not wait for the watchdog */
        _exit(0);
    if (!nt_allow_list_receive(&rules, CHANNEL))
        _exit(0);
    nt_sandbox_drop_privileges();
    do {
        epoch = next_epoch(epoch);
        credentials = fork_worker(&watchdog);
    } while (getpid() == watchdog);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != watchdog)
        return 0;
    nt_helper_run(CHANNEL, epoch, credentials, &rules);
}
