/* SPDX-License-Identifier: MIT
 *
 * Texts that are read piece by piece, between two reads of theirs. What each keeps makes the next read fast;
 * where that is too much for all of them, those that were not read for longest are put aside: they keep only
 * where they stand.
 */
#ifndef NT_VFS_TEXTS_H
#define NT_VFS_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

struct nt_reader;
struct nt_texts;

/* A member of whoever has the text; zero at first. */
struct nt_waiting_text {
    /* Give the memory back; false where the text is being read again already. */
    bool (*put_aside)(struct nt_waiting_text *text);
    struct nt_waiting_text *newer, *older;
    size_t bytes;
    bool is_listed;
};

/* The memory counts as the reader's. NULL without memory. */
struct nt_texts *nt_texts_new(struct nt_reader *reader);
void nt_texts_free(struct nt_texts *texts); /* accepts NULL; all texts have left */

/* The text is being read. */
void nt_texts_use(struct nt_texts *texts, struct nt_waiting_text *text);
/* It was, and now takes so many bytes. */
void nt_texts_wait(struct nt_texts *texts, struct nt_waiting_text *text, size_t bytes);
/* It is no more. */
void nt_texts_leave(struct nt_texts *texts, struct nt_waiting_text *text);

#endif
