/* SPDX-License-Identifier: MIT
 *
 * Main program of the network helper. A watchdog process keeps the socket, restarts the worker when it
 * dies, and passes copies of credential files to it.
 */
#include "remote/helper/helper.h"

#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/sandbox.h"

/* The program that fetches remote files, for a mount or another user of the library. In: a socket as its standard input, which
 * src/io/fetch.h describes. Out: answers.
 * 
 * It is two processes: one fetches, the other one keeps the socket and starts the first again where it ends before its time. So a
 * user that has no right any more to start anything need not. The one that keeps has no connection, and gives the other one copies of the
 * files that credentials lie in, whose folders that one cannot read. */

enum { CHANNEL = STDIN_FILENO, FIRST_OTHER = STDERR_FILENO + 1 };

/* So long it waits before it starts another one: whatever ends them at once must not keep a processor busy. */
static const struct timespec pause_between = {.tv_nsec = 100 * 1000 * 1000};

static void close_others(void)
{
#ifdef SYS_close_range
    syscall(SYS_close_range, FIRST_OTHER, ~0u, 0);
#endif
}

/* Random, so that no other network helper has the same. */
static uint64_t next_epoch(uint64_t last)
{
    uint64_t epoch = 0;
    (void)!getrandom(&epoch, sizeof(epoch), 0);
    return epoch && epoch != last ? epoch : last == 1 ? 2 : 1;
}

/* Returns in the process that is to fetch: by which socket it has files of credentials. */
static int divide(pid_t *keeper_ret)
{
    int ends[2];
    *keeper_ret = getpid();
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
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) /* nobody asks any more */
        _exit(0);
    nanosleep(&pause_between, NULL);
    return -1;
}

int main(void)
{
    uint64_t epoch = 0;
    pid_t keeper;
    int credentials;
    struct nt_allow_list rules;
    close_others();
    signal(SIGPIPE, SIG_IGN);
    if (fork() != 0) /* nobody waits for the end of the other */
        _exit(0);
    if (!nt_allow_list_receive(&rules, CHANNEL))
        _exit(0);
    nt_sandbox_drop_privileges();
    do {
        epoch = next_epoch(epoch);
        credentials = divide(&keeper);
    } while (getpid() == keeper);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper)
        return 0;
    nt_helper_run(CHANNEL, epoch, credentials, &rules);
}
