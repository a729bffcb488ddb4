/* SPDX-License-Identifier: MIT
 *
 * UTF-8 in pieces that may cut a character.
 */
#ifndef NT_VIEW_VERIFY_TEXT_H
#define NT_VIEW_VERIFY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero at first. */
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
