/* SPDX-License-Identifier: MIT
 *
 * Where messages go: stderr while somebody can see it, syslog from the moment the program is in the
 * background.
 */
#ifndef NT_FUSE_LOG_H
#define NT_FUSE_LOG_H

#include <stdatomic.h>

struct nt_log {
    const char *program;
    atomic_bool to_syslog;
};

/* A failure, or a note of what happens: one line, without its newline. Characters that could harm a terminal
 * or forge a line are escaped. Any thread. */
void nt_log_line(struct nt_log *log, const char *line);
void nt_log_note(struct nt_log *log, const char *line);

/* From now on to syslog, libfuse's own messages too. */
void nt_log_to_syslog(struct nt_log *log);

#endif
