/* SPDX-License-Identifier: MIT
 *
 * Decides if a file is a valid 32-bit or 64-bit Roaring bitmap and collects its statistics. Other
 * serializations written by Roaring libraries are recognized so that the error message can name them.
 */
#include "formats/roaring/roaring.h"

#include <ntuple/source.h>

#include <inttypes.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/io/source.h"
#include "formats/roaring_reader.h"

/* ---- Recognize other serializations ---- */

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

/* A flag (are the longs signed?), the number of bitmaps, the first key, big-endian; a 32-bit bitmap. */
static bool is_navigable_map(const struct ends *ends)
{
    uint32_t bitmaps = nt_load_be32(ends->head + 1);
    return ends->head[0] <= 1 && bitmaps > 0 && bitmaps <= ends->size / 12 &&
           nt_roaring_is_cookie(ends->head + 9);
}

/* 1, the number of keys (64 bits, little-endian), the root node: kind, children and prefix length. */
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

/* Flags, the number of containers (64 bits), an element count minus one for each of them (16 bits),
 * then the bytes of bitsets, runs and arrays (64 bits each). The file consists of 64-byte lines. */
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

/* ---- Validate bitmaps ---- */

enum {
    START_BYTES = 16,           /* 64-bit: bucket count, first key, first cookie */
    SMALLEST_BYTES = 8,         /* an empty bitmap */
    SMALLEST_BUCKET_BYTES = 12, /* a key and an empty bitmap */
};

static enum nt_status add_container(void *context, const struct nt_roaring_bitmap *bitmap,
                                    const struct nt_roaring_container *container, struct nt_error *error)
{
    struct nt_roaring *roaring = context;
    uint64_t high = (uint64_t)bitmap->high << 32 | (uint64_t)container->key << 16;
    if (roaring->containers == 0)
        roaring->minimum = high | container->first;
    roaring->maximum = high | container->last;
    roaring->containers++;
    roaring->kinds[container->kind]++;
    if (!nt_add(roaring->cardinality, container->cardinality, &roaring->cardinality))
        return nt_fail(error, NT_LIMIT, container->offset,
                       "the bitmap holds all 2^64 values, more than a 64-bit count can express");
    return NT_OK;
}

static enum nt_status keep_bitmap(void *context, const struct nt_roaring_bitmap *bitmap,
                                  struct nt_error *error)
{
    ((struct nt_roaring *)context)->bitmap = *bitmap;
    return NT_OK;
}

static enum nt_status validate_as(struct nt_source *source, enum nt_roaring_width width,
                                  bool accept_trailing_bytes, struct nt_roaring *roaring,
                                  struct nt_error *error)
{
    *roaring = (struct nt_roaring){.width = width};
    struct nt_roaring_walk walk = {
        .source = source,
        .width = width,
        .check_contents = true,
        .context = roaring,
        .on_container = add_container,
        .on_bitmap = keep_bitmap,
    };
    enum nt_status status = nt_roaring_walk(&walk, error);
    if (status == NT_OK && walk.end != source->size && !accept_trailing_bytes)
        status = nt_fail(error, NT_CORRUPT, walk.end, "%" PRIu64 " bytes after the end of the bitmap",
                         source->size - walk.end);
    if (status != NT_OK) {
        nt_error_context(error, "as a %u-bit Roaring bitmap", nt_roaring_bits(roaring));
        return status;
    }
    roaring->buckets = walk.buckets;
    roaring->end = walk.end;
    return NT_OK;
}

/* Can the first bytes be those of a 64-bit file? An empty one has nothing but its count of 0, which
 * proves nothing if more bytes follow. */
static bool may_be_64_bit(const uint8_t *start, uint64_t size)
{
    uint64_t buckets = nt_load_le64(start);
    if (buckets == 0)
        return size == SMALLEST_BYTES;
    return size >= START_BYTES && buckets <= (size - SMALLEST_BYTES) / SMALLEST_BUCKET_BYTES &&
           nt_roaring_is_cookie(start + 12);
}

static enum nt_status not_roaring(struct nt_source *source, struct nt_error *error)
{
    const char *relative = nt_roaring_relative(source);
    if (relative)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "looks like %s; only the portable serialization of Roaring bitmaps can be read",
                       relative);
    return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "not a Roaring bitmap");
}

/* First as 32-bit if there is a cookie, then as 64-bit. */
static enum nt_status validate_either(struct nt_source *source, bool has_cookie, bool may_be_64,
                                      bool accept_trailing_bytes, struct nt_roaring *roaring,
                                      struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (has_cookie)
        status = validate_as(source, NT_ROARING_32, accept_trailing_bytes, roaring, error);
    if (has_cookie && (status == NT_OK || !may_be_64))
        return status;
    struct nt_error error_64 = {0};
    enum nt_status status_64 = validate_as(source, NT_ROARING_64, accept_trailing_bytes, roaring, &error_64);
    if (status_64 == NT_OK || has_cookie) /* in doubt, the result for the cookie counts */
        return status_64 == NT_OK ? NT_OK : status;
    if (error)
        *error = error_64;
    return status_64;
}

/* The start of a file that may be a bitmap; zeros behind its end. */
static enum nt_status read_start(struct nt_source *source, uint8_t start[static START_BYTES],
                                 struct nt_error *error)
{
    memset(start, 0, START_BYTES);
    if (source->size < SMALLEST_BYTES)
        return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET,
                       "not a Roaring bitmap: %" PRIu64 " bytes are fewer than an empty one has",
                       source->size);
    size_t known = source->size < START_BYTES ? (size_t)source->size : START_BYTES;
    enum nt_status status = nt_source_read(source, 0, start, known, error);
    bool may_be = nt_roaring_is_cookie(start) || may_be_64_bit(start, source->size);
    return status != NT_OK || may_be ? status : not_roaring(source, error);
}

enum nt_status nt_roaring_recognize(struct nt_source *source, struct nt_error *error)
{
    uint8_t start[START_BYTES];
    return read_start(source, start, error);
}

/* A reading that ends with the file is right; if there is none, bytes after the end are accepted. */
enum nt_status nt_roaring_validate(struct nt_source *source, bool accept_trailing_bytes,
                                   struct nt_roaring *roaring, struct nt_error *error)
{
    uint8_t start[START_BYTES];
    enum nt_status status = read_start(source, start, error);
    if (status != NT_OK)
        return status;
    bool has_cookie = nt_roaring_is_cookie(start), may_be_64 = may_be_64_bit(start, source->size);
    status = validate_either(source, has_cookie, may_be_64, false, roaring, error);
    if (status != NT_OK && accept_trailing_bytes &&
        validate_either(source, has_cookie, may_be_64, true, roaring, NULL) == NT_OK)
        return NT_OK;
    return status;
}
