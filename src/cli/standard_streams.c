/* SPDX-License-Identifier: MIT
 *
 * In: the descriptors that a program was started with. Out: all of 0, 1 and 2.
 */
#include "cli/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
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
