/* SPDX-License-Identifier: MIT
 *
 * In: a file. Out: whether it is a Roaring bitmap, 32-bit or 64-bit, all of it, and its figures. The 32-bit
 * format has a cookie, the 64-bit one has no magic at all: it starts with the number of its buckets, so that
 * the first bucket's cookie must do.
 */
#include "formats/roaring/opened.h"

#include <inttypes.h>

#include "core/base/bytes.h"
#include "core/base/overflow.h"

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
        return nt_fail(error, NT_LIMIT, container->offset, "the file holds all 2^64 values");
    return NT_OK;
}

static enum nt_status keep_bitmap(void *context, const struct nt_roaring_bitmap *bitmap,
                                  struct nt_error *error)
{
    (void)error;
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
        status = nt_fail(error, NT_CORRUPT, walk.end, "%" PRIu64 " bytes behind the end of the bitmap",
                         source->size - walk.end);
    if (status != NT_OK) {
        nt_error_context(error, "as a %u-bit Roaring bitmap", nt_roaring_bits(roaring));
        return status;
    }
    roaring->buckets = walk.buckets;
    roaring->end = walk.end;
    return NT_OK;
}

/* Whether the first bytes may be those of a 64-bit file. An empty one has nothing but its count of 0, which
 * is too little to go by where more follows. */
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
                       "looks like %s; of Roaring bitmaps, the portable serialization is read", relative);
    return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "not a Roaring bitmap");
}

/* As 32 bits first, where there is a cookie; then as 64 bits. */
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
    if (status_64 == NT_OK || has_cookie) /* in doubt, the cookie's verdict stands */
        return status_64 == NT_OK ? NT_OK : status;
    if (error)
        *error = error_64;
    return status_64;
}

/* A reading that ends with the file is the right one; only where there is none, bytes behind the end may
 * stay. */
enum nt_status nt_roaring_validate(struct nt_source *source, bool accept_trailing_bytes,
                                   struct nt_roaring *roaring, struct nt_error *error)
{
    uint8_t start[START_BYTES] = {0};
    if (source->size < SMALLEST_BYTES)
        return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET,
                       "not a Roaring bitmap: %" PRIu64 " bytes are less than an empty one has",
                       source->size);
    size_t known = source->size < START_BYTES ? (size_t)source->size : START_BYTES;
    enum nt_status status = nt_source_read(source, 0, start, known, error);
    if (status != NT_OK)
        return status;
    bool has_cookie = nt_roaring_is_cookie(start), may_be_64 = may_be_64_bit(start, source->size);
    if (!has_cookie && !may_be_64)
        return not_roaring(source, error);
    status = validate_either(source, has_cookie, may_be_64, false, roaring, error);
    if (status != NT_OK && accept_trailing_bytes &&
        validate_either(source, has_cookie, may_be_64, true, roaring, NULL) == NT_OK)
        return NT_OK;
    return status;
}
