/* SPDX-License-Identifier: MIT
 *
 * Starts the network helper, a detached process with one end of a socket pair, to which the access rules
 * are sent first.
 */
#include "remote/client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/io/address.h"

extern char **environ;

/* Archives, wheels and build directories have the helper beside the programs. "": none. */
static const char *installed_path(char beside[PATH_MAX])
{
    static const char name[] = "ntuplefs-fetch";
    ssize_t length = readlink("/proc/self/exe", beside, PATH_MAX - sizeof(name));
    beside[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(beside, '/');
    if (!slash)
        return NT_FETCH_PROGRAM;
    memcpy(slash + 1, name, sizeof(name));
    return access(beside, X_OK) == 0 ? beside : NT_FETCH_PROGRAM;
}

static const char *path_of(const char *program, char beside[PATH_MAX])
{
    if (program)
        return program;
    program = secure_getenv("NTUPLE_FETCH");
    return program && *program ? program : installed_path(beside);
}

/* Detaches from the terminal's signals; resets ignored and blocked signals of the parent. */
static int spawn(const char *program, int channel, pid_t *child_ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    char *arguments[] = {(char *)program, NULL};
    sigemptyset(&none);
    sigfillset(&all);
    int problem = posix_spawn_file_actions_init(&actions);
    if (problem)
        return problem;
    problem = posix_spawnattr_init(&attributes);
    if (problem) {
        posix_spawn_file_actions_destroy(&actions);
        return problem;
    }
    problem = posix_spawn_file_actions_adddup2(&actions, channel, STDIN_FILENO);
    for (int output = STDOUT_FILENO; output <= STDERR_FILENO && !problem; output++)
        problem = posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    if (!problem)
        problem = posix_spawn(child_ret, program, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return problem;
}

static enum nt_status fail_start(int problem, const char *program, struct nt_error *error)
{
    if (problem == ENOENT || problem == ENOTDIR)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "remote files need %s, which is not installed",
                       program);
    return nt_fail_system(error, problem, "cannot start %s", program);
}

/* The helper reads rules at once. A later request notices a helper that has ended. */
static bool send_rule(int channel, struct nt_fetch_request request, const char *text)
{
    return nt_helper_send(channel, &request, text, strlen(text), 0) || errno == EPIPE || errno == ECONNRESET;
}

static bool send_rules(int channel, const struct nt_helper_rules *rules)
{
    uint64_t flags = (rules->addresses ? NT_FETCH_ALLOWED_ALONE : 0) |
                     (rules->certificate_to_origin ? NT_FETCH_CERTIFICATE_TO_ORIGIN : 0);
    for (size_t i = 0; rules->addresses && rules->addresses[i]; i++) {
        char *address = nt_address_allowed(rules->addresses[i]);
        bool is_sent =
            address && (strlen(address) > NT_FETCH_TEXT_BYTES || /* no request is so long */
                        send_rule(channel, (struct nt_fetch_request){.kind = NT_FETCH_ALLOW}, address));
        free(address);
        if (!is_sent)
            return false;
    }
    return send_rule(channel, (struct nt_fetch_request){.kind = NT_FETCH_BEGIN, .bytes = flags}, "");
}

/* As much as the kernel grants: a request that the channel does not take at once fails. */
enum { CHANNEL_BYTES = 4 << 20 };

enum nt_status nt_helper_start(const char *program, const struct nt_helper_rules *rules, int *channel_ret,
                               struct nt_error *error)
{
    int ends[2];
    pid_t child;
    char beside[PATH_MAX];
    program = path_of(program, beside);
    if (!*program)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "remote files need ntuplefs-fetch, which is neither next to this program nor in this "
                       "build (-Dhttp=enabled, libcurl, expat)");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return nt_fail_system(error, errno, "cannot start %s", program);
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &(int){CHANNEL_BYTES}, sizeof(int));
    int problem = spawn(program, ends[1], &child);
    close(ends[1]);
    if (problem) {
        close(ends[0]);
        return fail_start(problem, program, error);
    }
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (!send_rules(ends[0], rules)) {
        close(ends[0]);
        return nt_fail_system(error, errno, "cannot send %s the addresses that it may fetch", program);
    }
    *channel_ret = ends[0];
    return NT_OK;
}
