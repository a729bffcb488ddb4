/* SPDX-License-Identifier: MIT
 *
 * What the parts of a verification share: findings that are kept until it is their turn, and text that comes
 * in pieces.
 */
#ifndef NT_VIEW_VERIFY_INTERNAL_H
#define NT_VIEW_VERIFY_INTERNAL_H

#include <stdbool.h>

#include "view/verify.h"

/* A column's share of the work. */
struct nt_verify_part {
    struct nt_finding *findings; /* from malloc */
    size_t count, capacity;
    bool has_failed; /* for want of memory */
    bool is_done;
    uint64_t pages, stored_bytes;
};

struct nt_verify_job {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column;
    bool is_alone;               /* the data set's borders are bad: look at the pages only */
    struct nt_verify_part *part; /* result */
    void (*on_cluster)(void *context, uint64_t stored_bytes); /* some pages are done */
    void *context;
};

/* A finding with nothing but its error, whose status tells its kind. */
struct nt_finding nt_finding(const struct nt_dataset *dataset, const struct nt_error *error);

void nt_verify_add(struct nt_verify_part *part, const struct nt_finding *finding);

/* Verify one column: its pages, and its elements against the columns that they belong with. */
void nt_verify_column(struct nt_verify_job *job);

/* UTF-8 in pieces that may cut a character. */
struct nt_text_check {
    uint8_t pending[4]; /* the beginning of a character */
    size_t pending_count;
};

/* Whether the text is UTF-8 up to and with this piece. */
bool nt_text_check_piece(struct nt_text_check *check, const uint8_t *bytes, size_t count);
/* Whether the text may end here. */
static inline bool nt_text_check_end(const struct nt_text_check *check)
{
    return check->pending_count == 0;
}

#endif
