/* SPDX-License-Identifier: MIT
 *
 * Serializations of Roaring libraries that look alike but are not the portable format, so that refusing one
 * can say what it is. Best guesses from a few bytes: they word a message and decide nothing.
 */
#include "formats/roaring/opened.h"

#include "core/base/bytes.h"
#include "formats/roaring_walk.h"

enum {
    HEAD_BYTES = 16,
    TAIL_BYTES = 4,
    FROZEN_COOKIE = 13766, /* low 15 bits of the last word */
    FROZEN_FLAGS = 3,
    FROZEN_64_HEAD_BYTES = 9,
    FROZEN_LINE_BYTES = 64,
    BITSET_BYTES = 8192,
    ART_NODE_KINDS = 5,
    ART_KEY_BYTES = 6,
};

struct ends {
    struct nt_source *source;
    uint8_t head[HEAD_BYTES], tail[TAIL_BYTES];
    uint64_t size;
};

/* A flag (are the longs signed?), the number of bitmaps and the first key, big-endian, then a
 * 32-bit bitmap. */
static bool is_navigable_map(const struct ends *ends)
{
    uint32_t bitmaps = nt_load_be32(ends->head + 1);
    return ends->head[0] <= 1 && bitmaps > 0 && bitmaps <= ends->size / 12 &&
           nt_roaring_is_cookie(ends->head + 9);
}

/* 1, the number of keys (little-endian, 64 bits), the root node: its kind, children and prefix length. */
static bool is_art(const struct ends *ends)
{
    uint64_t keys = nt_load_le64(ends->head + 1);
    return ends->head[0] == 1 && keys > 0 && keys <= ends->size / 8 && ends->head[9] < ART_NODE_KINDS &&
           ends->head[12] <= ART_KEY_BYTES;
}

static bool is_native_bitmap(const struct ends *ends)
{
    return ends->head[0] == 2 && nt_roaring_is_cookie(ends->head + 1);
}

static bool is_native_array(const struct ends *ends)
{
    return ends->head[0] == 1 && 5 + 4 * (uint64_t)nt_load_le32(ends->head + 1) == ends->size;
}

static bool is_frozen(const struct ends *ends)
{
    return (nt_load_le32(ends->tail) & 0x7FFF) == FROZEN_COOKIE;
}

/* Flags, the number of containers (64 bits), an element count less one for each of them (16 bits), then the bytes of bitsets, runs
 * and arrays (64 bits each); the file is as long as 64-byte lines are. */
static bool is_frozen_64(const struct ends *ends)
{
    uint8_t sizes[24];
    uint64_t containers = nt_load_le64(ends->head + 1), at = FROZEN_64_HEAD_BYTES + 2 * containers;
    if (ends->head[0] > FROZEN_FLAGS || ends->size % FROZEN_LINE_BYTES || containers == 0 ||
        containers > ends->size / 4 || at > ends->size - sizeof(sizes) ||
        nt_source_read(ends->source, at, sizes, sizeof(sizes), NULL) != NT_OK)
        return false;
    uint64_t bitsets = nt_load_le64(sizes), runs = nt_load_le64(sizes + 8), arrays = nt_load_le64(sizes + 16);
    bool may_be = bitsets < ends->size && runs < ends->size && arrays < ends->size &&
                  bitsets % BITSET_BYTES == 0 && runs % 4 == 0 && arrays % 2 == 0;
    return may_be && bitsets + runs + arrays > 0 && bitsets + runs + arrays < ends->size &&
           bitsets / BITSET_BYTES <= containers;
}

static const struct {
    const char *name;
    bool (*matches)(const struct ends *ends);
} relatives[] = {
    {"Java's Roaring64NavigableMap in its own serialization", is_navigable_map},
    {"CRoaring's own serialization of a bitmap", is_native_bitmap},
    {"CRoaring's own serialization of an array", is_native_array},
    {"CRoaring's frozen format of 64 bits", is_frozen_64},
    {"Java's Roaring64Bitmap (an adaptive radix tree)", is_art},
    {"CRoaring's frozen format", is_frozen},
};

const char *nt_roaring_relative(struct nt_source *source)
{
    struct ends ends = {.source = source, .size = source->size};
    if (ends.size < HEAD_BYTES || nt_source_read(source, 0, ends.head, HEAD_BYTES, NULL) != NT_OK ||
        nt_source_read(source, ends.size - TAIL_BYTES, ends.tail, TAIL_BYTES, NULL) != NT_OK)
        return NULL;
    for (size_t i = 0; i < sizeof(relatives) / sizeof(*relatives); i++)
        if (relatives[i].matches(&ends))
            return relatives[i].name;
    return NULL;
}
