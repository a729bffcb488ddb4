/* SPDX-License-Identifier: MIT
 *
 * A file that appears under its name when it is complete: it is written under a temporary name and then
 * renamed.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"

/* The incomplete file, for the signal handler, which has no other way to know it. */
static const char *volatile incomplete;

static const int ending_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/* Also ends a program that waits for a server. */
static void remove_incomplete(int number)
{
    if (incomplete)
        unlink(incomplete);
    signal(number, SIG_DFL);
    raise(number);
}

/* Signals that the caller ignores (nohup) stay ignored. A file larger than the limit of the process is a
 * failed write. */
static void handle_signals(void)
{
    struct sigaction action = {.sa_handler = remove_incomplete}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(ending_signals) / sizeof(*ending_signals); i++)
        if (sigaction(ending_signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ending_signals[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
}

/* A name that no other process uses, on this machine or another one. */
static char *temporary_name(const char *path)
{
    struct nt_buffer name = {0};
    uint64_t number = (uint64_t)getpid();
    (void)!getrandom(&number, sizeof(number), 0);
    nt_buffer_append(&name, path, (size_t)(nt_path_name(path).bytes - path));
    nt_buffer_format(&name, ".ntuple-export-%016" PRIx64 ".part", number);
    return nt_buffer_take(&name);
}

/* A signal may come at any time, so the name is known before the file is there. */
static enum nt_status create_temporary(struct nt_output_file *file, struct nt_error *error)
{
    file->temporary = temporary_name(file->path);
    if (!file->temporary)
        return nt_fail_memory(error);
    incomplete = file->temporary;
    file->descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->descriptor >= 0)
        return NT_OK;
    incomplete = NULL;
    return nt_fail_system(error, errno, "cannot create");
}

enum nt_status nt_output_file_open(struct nt_output_file *file, const char *path, bool overwrite,
                                   struct nt_error *error)
{
    struct stat attributes;
    *file = (struct nt_output_file){.path = path, .descriptor = -1};
    if (!overwrite && lstat(path, &attributes) == 0)
        return nt_fail_system(error, EEXIST, "cannot create");
    if (nt_is_directory(path))
        return nt_fail_system(error, EISDIR, "cannot create");
    handle_signals();
    return create_temporary(file, error);
}

/* The C library would use another call if there are no flags. */
static int rename_file(const char *from, const char *to, unsigned flags)
{
    return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags) == 0 ? 0 : errno;
}

/* Some file systems cannot refuse to replace a file. */
static int move(const char *from, const char *to, bool overwrite)
{
    struct stat attributes;
    int problem = overwrite ? EINVAL : rename_file(from, to, RENAME_NOREPLACE);
    if (problem != EINVAL)
        return problem;
    if (!overwrite && lstat(to, &attributes) == 0)
        return EEXIST;
    return rename_file(from, to, 0);
}

enum nt_status nt_output_file_finish(struct nt_output_file *file, bool overwrite, struct nt_error *error)
{
    int problem = close(file->descriptor) == 0 ? 0 : errno;
    file->descriptor = -1;
    if (problem)
        return nt_fail_system(error, problem, "cannot write");
    problem = move(file->temporary, file->path, overwrite);
    if (problem)
        return nt_fail_system(error, problem, "cannot create");
    incomplete = NULL;
    return NT_OK;
}

void nt_output_file_deinit(struct nt_output_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    if (file->temporary && incomplete == file->temporary)
        unlink(file->temporary);
    incomplete = NULL;
    free(file->temporary);
}
