/* SPDX-License-Identifier: MIT
 *
 * In: stored bytes. Out: how many of them count. LZ4 gets room for a part of a piece: where it needs more, all of it
 * counts.
 */
#include "core/codec/worth.h"

#include <lz4.h>

enum { PIECE = 1 << 16, RATIO = 16, RATIO_OF_COMPRESSED = 4 };

static uint64_t worth_of_piece(const uint8_t *bytes, size_t count, unsigned ratio)
{
    char room[PIECE / RATIO_OF_COMPRESSED];
    int made = LZ4_compress_default((const char *)bytes, room, (int)count, (int)(count / ratio));
    return made > 0 ? (uint64_t)made * ratio : count;
}

uint64_t nt_worth(const uint8_t *bytes, size_t count, bool is_compressed)
{
    uint64_t worth = 0;
    for (size_t done = 0; done < count;) {
        size_t piece = count - done < PIECE ? count - done : PIECE;
        worth += worth_of_piece(bytes + done, piece, is_compressed ? RATIO_OF_COMPRESSED : RATIO);
        done += piece;
    }
    return worth;
}
