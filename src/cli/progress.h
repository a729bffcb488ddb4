/* SPDX-License-Identifier: MIT
 *
 * A line on a terminal that tells how far a command is: bytes, rate, and what is left of the bytes that are known, or
 * can be guessed, and of texts whose sizes nobody knows before they are made. It appears once the command has taken a
 * second, and is drawn ten times a second at most.
 */
#ifndef NT_CLI_PROGRESS_H
#define NT_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/settings.h"

struct nt_progress {
    bool is_wanted, is_drawn;
    uint64_t bytes, total;      /* done; of the work, as far as it is known */
    bool is_text;               /* the present file is no part of the total, but as far as it is done */
    uint64_t guess;             /* what it probably has besides */
    uint64_t texts, texts_done; /* such files; those of the work, 0: not known */
    void (*count)(
        void *work); /* works out total and texts before the line is drawn for the first time; or NULL */
    void *work;
    size_t piece;                   /* that is being done, of NT_PROGRESS_PIECE at most; 0: it is the first */
    uint64_t asked;                 /* when it was asked for, by nt_nanoseconds as all times are */
    uint64_t started, began, drawn; /* the command, the present work; when the line was */
};

/* The option of a command that shows a progress, a row of its table. */
#define NT_PROGRESS_QUIET_OPTION                                                                             \
    {                                                                                                        \
        .letter = 'q', .name = "quiet", .kind = NT_OPTION_FLAG,                                              \
        .member = offsetof(struct nt_settings, quiet), .help = "do not show on a terminal how far it is",    \
    }

/* At the start of a command. Nothing is ever drawn where it is not wanted, or standard error is no terminal. */
void nt_progress_start(struct nt_progress *progress, bool is_wanted);

/* Work of so many bytes begins, 0: nobody knows how many. */
void nt_progress_begin(struct nt_progress *progress, uint64_t total);
/* So many bytes of the work are done. */
void nt_progress_reach(struct nt_progress *progress, uint64_t bytes);
/* So many bytes more of the present file are done; where it is a text, about `guess` are left, 0: nobody knows. */
void nt_progress_advance(struct nt_progress *progress, uint64_t bytes, uint64_t guess);
/* How much to do before the next advance: more where that comes soon, so that it takes few of them, less where it comes late (a server is
 * slow), so that the line moves. */
enum { NT_PROGRESS_PIECE = 4 << 20 };
size_t nt_progress_piece(struct nt_progress *progress);
/* The present file is done. */
void nt_progress_end_file(struct nt_progress *progress);
/* Erase the line: before anything else is printed, and at the end. */
void nt_progress_clear(struct nt_progress *progress);

#endif
