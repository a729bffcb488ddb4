/* SPDX-License-Identifier: MIT
 *
 * A line on a terminal that tells how far a command is: bytes, rate, and a bar with the time that is left where the
 * size is known. It appears once the command has taken a second, and is drawn ten times a second at most.
 */
#ifndef NT_CLI_PROGRESS_H
#define NT_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct nt_progress {
    bool is_wanted, is_drawn;
    uint64_t bytes, total;
    struct timespec started, began, drawn; /* the command, the present work; when the line was */
};

/* At the start of a command. Nothing is ever drawn where it is not wanted, or standard error is no terminal. */
void nt_progress_start(struct nt_progress *progress, bool is_wanted);

/* Work of so many bytes begins, 0: nobody knows how many. */
void nt_progress_begin(struct nt_progress *progress, uint64_t total);
/* So many bytes of the work are done. */
void nt_progress_reach(struct nt_progress *progress, uint64_t bytes);
/* Erase the line: before anything else is printed, and at the end. */
void nt_progress_clear(struct nt_progress *progress);

#endif
