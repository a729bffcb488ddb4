/* SPDX-License-Identifier: MIT
 *
 * In: text, piece by piece. Out: whether it is UTF-8. A character that a piece cuts waits for the next one.
 */
#include "tools/verify_text.h"

#include <string.h>

#include "core/base/text.h"

/* Bytes of a character by its first byte; 1 where that cannot begin one. */
static size_t character_bytes(uint8_t first)
{
    return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
}

/* Bytes at the end that begin a character which is not there in full: 0 to 3. */
static size_t cut_bytes(const uint8_t *bytes, size_t count)
{
    for (size_t back = 1; back <= 3 && back <= count; back++) {
        uint8_t byte = bytes[count - back];
        if ((byte & 0xc0) != 0x80)
            return character_bytes(byte) > back ? back : 0;
    }
    return 0;
}

bool nt_text_check_piece(struct nt_text_check *check, const uint8_t *bytes, size_t count)
{
    uint32_t code_point;
    while (check->pending_count && count) {
        check->pending[check->pending_count++] = *bytes++;
        count--;
        if (check->pending_count < character_bytes(check->pending[0]))
            continue;
        if (!nt_utf8_decode(check->pending, check->pending_count, &code_point))
            return false;
        check->pending_count = 0;
    }
    size_t cut = cut_bytes(bytes, count);
    if (!nt_is_utf8(bytes, count - cut))
        return false;
    if (cut) {
        memcpy(check->pending, bytes + count - cut, cut);
        check->pending_count = cut;
    }
    return true;
}
