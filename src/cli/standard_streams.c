/* SPDX-License-Identifier: MIT
 *
 * In: the descriptors that a program was started with. Out: all of 0, 1 and 2, and whether what was written arrived.
 */
#include "cli/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

bool nt_standard_streams_open(void)
{
    static const int contrary_modes[] = {
        [STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_RDONLY};
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        bool is_closed = fcntl(stream, F_GETFD) < 0 && errno == EBADF;
        /* The lowest number that is free is this one. */
        if (is_closed && open("/dev/null", contrary_modes[stream]) != stream)
            return false;
    }
    return true;
}

enum nt_status nt_fail_write(struct nt_error *error, int system_error)
{
    return system_error == EPIPE ? NT_OK : nt_fail_system(error, system_error, "cannot write");
}

enum nt_status nt_standard_output_finish(struct nt_error *error)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return NT_OK;
    enum nt_status status = nt_fail_write(error, errno);
    if (status != NT_OK)
        nt_error_context(error, "standard output");
    return status;
}
