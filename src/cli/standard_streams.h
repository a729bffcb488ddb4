/* SPDX-License-Identifier: MIT
 *
 * Standard input, output and error of both programs.
 */
#ifndef NT_CLI_STANDARD_STREAMS_H
#define NT_CLI_STANDARD_STREAMS_H

#include <stdbool.h>

/* A caller may have closed them. What the program opens would get their numbers then: be read for what the caller says, be
 * written messages into, or be closed in their place. So /dev/null takes these, the other way round: who uses one gets an
 * error as if it were closed. First of all in a program; false where it cannot be done. */
bool nt_standard_streams_open(void);

#endif
