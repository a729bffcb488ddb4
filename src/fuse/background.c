/* SPDX-License-Identifier: MIT
 *
 * In: nothing but two processes and a pipe between them. The child writes a byte when it is ready; when it
 * dies before, the pipe ends and its exit status is passed on.
 */
#include "fuse/background.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* True where the child got ready; false where its end of the pipe was closed before. */
static bool wait_until_ready(int descriptor)
{
    char byte;
    ssize_t count;
    do
        count = read(descriptor, &byte, 1);
    while (count < 0 && errno == EINTR);
    return count == 1;
}

static int wait_for_exit(pid_t child, int death_status)
{
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return death_status;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : death_status;
}

enum nt_background_role nt_background_start(struct nt_background *background, int death_status,
                                            int *exit_status_ret)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NT_BACKGROUND_FAILED;
    pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return NT_BACKGROUND_FAILED;
    }
    if (child == 0) {
        close(ends[0]);
        background->ready_pipe = ends[1];
        return NT_BACKGROUND_CHILD;
    }
    close(ends[1]);
    *exit_status_ret = wait_until_ready(ends[0]) ? 0 : wait_for_exit(child, death_status);
    close(ends[0]);
    return NT_BACKGROUND_PARENT;
}

int nt_background_null(void)
{
    return open("/dev/null", O_RDWR | O_CLOEXEC);
}

void nt_background_leave(int null)
{
    setsid();
    int unused =
        chdir("/"); /* cannot fail in a way that matters: it only keeps other mounts from being busy */
    (void)unused;
    if (null < 0)
        return;
    for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; standard++)
        dup2(null, standard);
    if (null > STDERR_FILENO)
        close(null);
}

void nt_background_forget(struct nt_background *background)
{
    if (background->ready_pipe >= 0)
        close(background->ready_pipe);
    background->ready_pipe = -1;
}

void nt_background_ready(struct nt_background *background)
{
    if (background->ready_pipe < 0)
        return;
    nt_background_leave(nt_background_null());
    ssize_t written = write(background->ready_pipe, "", 1);
    (void)written; /* a parent that is gone needs no answer */
    nt_background_forget(background);
}
