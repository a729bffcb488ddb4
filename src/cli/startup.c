/* SPDX-License-Identifier: MIT
 *
 * What both programs do first: make sure that the standard streams are open, hide credentials in the
 * command line, and print versions. Also how they write and finish their output.
 */
#include "cli/cli.h"

#include <ntuple/version.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/io/address.h"

/* ---- Standard streams ---- */

bool nt_standard_streams_open(void)
{
    static const int contrary_modes[] = {
        [STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_RDONLY};
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        bool is_closed = fcntl(stream, F_GETFD) < 0 && errno == EBADF;
        /* open returns the lowest free descriptor: this stream. */
        if (is_closed && open("/dev/null", contrary_modes[stream]) != stream)
            return false;
    }
    return true;
}

const char *nt_cannot_create(int system_error)
{
    return system_error == EEXIST ? "cannot create without -f" : "cannot create";
}

enum nt_status nt_fail_write(struct nt_error *error, int system_error)
{
    return system_error == EPIPE ? NT_OK : nt_fail_system(error, system_error, "cannot write");
}

enum nt_status nt_standard_output_finish(struct nt_error *error)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return NT_OK;
    return nt_with_context(nt_fail_write(error, errno), error, "standard output");
}

/* ---- Hide credentials ---- */

/* The redacted address is never longer than the address. */
static bool hide(char *argument)
{
    NT_AUTO_FREE char *shown = nt_is_address(argument) ? nt_address_redact(argument) : NULL;
    if (!shown)
        return !nt_is_address(argument);
    size_t length = strlen(argument), shown_length = strlen(shown);
    if (shown_length < length) {
        memset(argument, 0, length);
        memcpy(argument, shown, shown_length);
    }
    return true;
}

char **nt_arguments_hide(int count, char **arguments, struct nt_arena *arena)
{
    char **copies = nt_arena_alloc(arena, (size_t)count + 1, sizeof(*copies));
    for (int i = 0; copies && i < count; i++) {
        copies[i] = nt_arena_copy(arena, arguments[i], strlen(arguments[i]));
        if (!copies[i] || !hide(arguments[i]))
            return NULL;
    }
    return copies;
}

/* ---- Print versions ---- */

void nt_print_versions(const char *program, const char *libfuse)
{
    printf("%s %s\n", program, nt_version());
    if (*nt_commit)
        printf("commit %s\n", nt_commit);
    if (libfuse)
        printf("libfuse %s\n", libfuse);
    printf("%s\nliblzma %s\n", nt_deflate_library(), nt_lzma_version());
}

enum nt_status nt_check_versions(int operand_count, struct nt_error *error)
{
    if (operand_count == 0)
        return NT_OK;
    return nt_fail(
        error, NT_INVALID, NT_NO_OFFSET,
        "-V and --version take no operands; use --version=N|TAG|BRANCH for a version of a dataset");
}
