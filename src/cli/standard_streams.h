/* SPDX-License-Identifier: MIT
 *
 * Standard input, output and error of both programs, and what becomes of what they write.
 */
#ifndef NT_CLI_STANDARD_STREAMS_H
#define NT_CLI_STANDARD_STREAMS_H

#include <stdbool.h>

#include "core/base/error.h"

/* A caller may have closed them. What the program opens would get their numbers then: be read for what the caller says, be
 * written messages into, or be closed in their place. So /dev/null takes these, the other way round: who uses one gets an
 * error as if it were closed. First of all in a program; false where it cannot be done. */
bool nt_standard_streams_open(void);

/* A write that failed with an errno value; NT_OK where the reader of a pipe has had enough, which is no failure. */
enum nt_status nt_fail_write(struct nt_error *error, int system_error);

/* The same of what stdio could not write to standard output, which the message names. At the end of a program. */
enum nt_status nt_standard_output_finish(struct nt_error *error);

#endif
