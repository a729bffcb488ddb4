/* SPDX-License-Identifier: MIT
 *
 * In: the bytes of a Roaring file, read once from front to back. Out: its bitmaps and containers, checked
 * against the Roaring format specification ("Standard 32-bit Roaring Bitmap", "Extension for 64-bit
 * implementations").
 */
#include "formats/roaring_walk.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/bytes.h"

enum {
    COOKIE_WITHOUT_RUNS = 12346, /* 32 bits, followed by the number of containers */
    COOKIE_WITH_RUNS = 12347,    /* low 16 bits; the high ones are the number of containers - 1 */
    OFFSETS_FROM = 4,            /* with run flags, offsets are left out below so many containers */
    MAXIMUM_CONTAINERS = 65536,
    DESCRIPTOR_BYTES = 4,
    OFFSET_BYTES = 4,
    BUCKET_COUNT_BYTES = 8,
    BUCKET_KEY_BYTES = 4,
    READ_AHEAD_HEADERS = 4096, /* where containers are skipped, more would be read in vain */
};

/* The walk's state: where it is, and the parts of the current bitmap's header that are needed until
 * its end. */
struct walker {
    struct nt_roaring_walk *walk;
    struct nt_roaring_window window;
    uint8_t run_flags[MAXIMUM_CONTAINERS / 8];
    uint8_t descriptors[MAXIMUM_CONTAINERS * DESCRIPTOR_BYTES];
    uint8_t offsets[MAXIMUM_CONTAINERS * OFFSET_BYTES];
};

bool nt_roaring_is_cookie(const uint8_t *bytes)
{
    return nt_load_le32(bytes) == COOKIE_WITHOUT_RUNS || nt_load_le16(bytes) == COOKIE_WITH_RUNS;
}

static enum nt_status copy_bytes(struct walker *walker, uint8_t *target, size_t count, struct nt_error *error)
{
    const uint8_t *bytes;
    enum nt_status status = nt_roaring_window_bytes(&walker->window, count, &bytes, error);
    if (status == NT_OK)
        memcpy(target, bytes, count);
    return status;
}

/* Cookie, number of containers and run flags. */
static enum nt_status read_cookie(struct walker *walker, struct nt_roaring_bitmap *bitmap,
                                  struct nt_error *error)
{
    const uint8_t *bytes;
    enum nt_status status = nt_roaring_window_bytes(&walker->window, 4, &bytes, error);
    if (status != NT_OK)
        return status;
    bitmap->cookie = nt_load_le32(bytes);
    if (!nt_roaring_is_cookie(bytes))
        return nt_fail(error, NT_CORRUPT, bitmap->offset,
                       "the cookie of a 32-bit bitmap is 12346, or 12347 in its low 16 bits; found %" PRIu32,
                       bitmap->cookie);
    bitmap->has_run_flags = bitmap->cookie != COOKIE_WITHOUT_RUNS;
    if (bitmap->has_run_flags) {
        bitmap->containers = (bitmap->cookie >> 16) + 1;
        status = copy_bytes(walker, walker->run_flags, (bitmap->containers + 7) / 8, error);
    } else {
        status = nt_roaring_window_bytes(&walker->window, 4, &bytes, error);
        if (status == NT_OK)
            bitmap->containers = nt_load_le32(bytes);
    }
    if (status == NT_OK && bitmap->containers > MAXIMUM_CONTAINERS)
        return nt_fail(error, NT_CORRUPT, bitmap->offset + 4,
                       "%" PRIu32 " containers; a 32-bit bitmap has at most 65536", bitmap->containers);
    bitmap->header_bytes = (uint32_t)(walker->window.position - bitmap->offset);
    return status;
}

static enum nt_status read_header(struct walker *walker, struct nt_roaring_bitmap *bitmap,
                                  struct nt_error *error)
{
    enum nt_status status = read_cookie(walker, bitmap, error);
    if (status != NT_OK)
        return status;
    bitmap->has_offsets = !bitmap->has_run_flags || bitmap->containers >= OFFSETS_FROM;
    bitmap->descriptor_bytes = bitmap->containers * DESCRIPTOR_BYTES;
    bitmap->offset_bytes = bitmap->has_offsets ? bitmap->containers * OFFSET_BYTES : 0;
    status = copy_bytes(walker, walker->descriptors, bitmap->descriptor_bytes, error);
    if (status == NT_OK)
        status = copy_bytes(walker, walker->offsets, bitmap->offset_bytes, error);
    return status;
}

/* The descriptor of container `number`, and what its flags and cardinality make of it. */
static void describe_container(const struct walker *walker, const struct nt_roaring_bitmap *bitmap,
                               uint32_t number, struct nt_roaring_container *container)
{
    const uint8_t *descriptor = walker->descriptors + (size_t)number * DESCRIPTOR_BYTES;
    *container = (struct nt_roaring_container){
        .key = nt_load_le16(descriptor),
        .cardinality = nt_load_le16(descriptor + 2) + UINT32_C(1),
        .offset = walker->window.position,
    };
    if (bitmap->has_run_flags && walker->run_flags[number / 8] >> number % 8 & 1)
        container->kind = NT_ROARING_RUN;
    else
        container->kind =
            container->cardinality > NT_ROARING_ARRAY_MAXIMUM ? NT_ROARING_BITSET : NT_ROARING_ARRAY;
}

static enum nt_status check_place(const struct walker *walker, const struct nt_roaring_bitmap *bitmap,
                                  uint32_t number, uint16_t previous_key,
                                  const struct nt_roaring_container *container, struct nt_error *error)
{
    uint64_t descriptor = bitmap->offset + bitmap->header_bytes + (uint64_t)number * DESCRIPTOR_BYTES;
    if (number > 0 && container->key <= previous_key)
        return nt_fail(error, NT_CORRUPT, descriptor, "container %" PRIu32 ": key %u follows key %u", number,
                       container->key, previous_key);
    if (!bitmap->has_offsets)
        return NT_OK;
    uint32_t told = nt_load_le32(walker->offsets + (size_t)number * OFFSET_BYTES);
    uint64_t offset =
        bitmap->offset + bitmap->header_bytes + bitmap->descriptor_bytes + (uint64_t)number * OFFSET_BYTES;
    if (told != container->offset - bitmap->offset)
        return nt_fail_number(error, NT_CORRUPT, offset, "container's place in the offset header",
                              container->offset - bitmap->offset, told);
    return NT_OK;
}

/* How many bytes a container has: for runs, its own first two tell. The window is left behind those. */
static enum nt_status measure(struct walker *walker, struct nt_roaring_container *container,
                              struct nt_error *error)
{
    if (container->kind == NT_ROARING_ARRAY)
        container->bytes = 2 * container->cardinality;
    if (container->kind == NT_ROARING_BITSET)
        container->bytes = NT_ROARING_BITSET_BYTES;
    if (container->kind != NT_ROARING_RUN)
        return NT_OK;
    const uint8_t *bytes;
    enum nt_status status =
        nt_roaring_window_bytes(&walker->window, NT_ROARING_RUN_COUNT_BYTES, &bytes, error);
    if (status == NT_OK)
        container->bytes = NT_ROARING_RUN_COUNT_BYTES + (uint32_t)nt_load_le16(bytes) * NT_ROARING_RUN_BYTES;
    return status;
}

static enum nt_status walk_container(struct walker *walker, struct nt_roaring_bitmap *bitmap, uint32_t number,
                                     uint16_t *key, struct nt_error *error)
{
    struct nt_roaring_walk *walk = walker->walk;
    struct nt_roaring_container container;
    describe_container(walker, bitmap, number, &container);
    enum nt_status status = check_place(walker, bitmap, number, *key, &container, error);
    if (status == NT_OK)
        status = measure(walker, &container, error);
    if (status != NT_OK)
        return status;
    walker->window.position = container.offset;
    if (walk->check_contents) {
        const uint8_t *bytes;
        status = nt_roaring_window_bytes(&walker->window, container.bytes, &bytes, error);
        if (status == NT_OK)
            status = nt_roaring_kind_info(container.kind)
                         ->check(bytes, container.bytes, container.cardinality, container.offset,
                                 &container.first, &container.last, error);
    } else {
        status = nt_roaring_window_skip(&walker->window, container.bytes, error);
    }
    if (status == NT_OK && walk->on_container)
        status = walk->on_container(walk->context, bitmap, &container, error);
    bitmap->cardinality += container.cardinality;
    bitmap->kinds[container.kind]++;
    *key = container.key;
    return status;
}

static enum nt_status walk_bitmap(struct walker *walker, uint64_t number, uint32_t high,
                                  struct nt_error *error)
{
    struct nt_roaring_bitmap bitmap = {.number = number, .high = high, .offset = walker->window.position};
    enum nt_status status = read_header(walker, &bitmap, error);
    uint16_t key = 0;
    for (uint32_t i = 0; status == NT_OK && i < bitmap.containers; i++)
        status = walk_container(walker, &bitmap, i, &key, error);
    bitmap.bytes = walker->window.position - bitmap.offset;
    if (status == NT_OK && walker->walk->on_bitmap)
        status = walker->walk->on_bitmap(walker->walk->context, &bitmap, error);
    return status;
}

static enum nt_status walk_buckets(struct walker *walker, struct nt_error *error)
{
    const uint8_t *bytes;
    enum nt_status status = nt_roaring_window_bytes(&walker->window, BUCKET_COUNT_BYTES, &bytes, error);
    if (status != NT_OK)
        return status;
    walker->walk->buckets = nt_load_le64(bytes);
    uint32_t previous = 0;
    for (uint64_t i = 0; status == NT_OK && i < walker->walk->buckets; i++) {
        uint64_t offset = walker->window.position;
        status = nt_roaring_window_bytes(&walker->window, BUCKET_KEY_BYTES, &bytes, error);
        if (status != NT_OK)
            break;
        uint32_t high = nt_load_le32(bytes);
        if (i > 0 && high <= previous)
            return nt_fail(error, NT_CORRUPT, offset,
                           "bucket %" PRIu64 ": key %" PRIu32 " follows key %" PRIu32, i, high, previous);
        previous = high;
        status = walk_bitmap(walker, i, high, error);
    }
    return status;
}

enum nt_status nt_roaring_walk(struct nt_roaring_walk *walk, struct nt_error *error)
{
    struct walker *walker = calloc(1, sizeof(*walker));
    if (!walker)
        return nt_fail_memory(error);
    walker->walk = walk;
    enum nt_status status =
        nt_roaring_window_init(&walker->window, walk->source,
                               walk->check_contents ? NT_ROARING_WINDOW_BYTES : READ_AHEAD_HEADERS, error);
    if (status != NT_OK)
        goto out;
    walk->buckets = 1;
    status = walk->width == NT_ROARING_32 ? walk_bitmap(walker, 0, 0, error) : walk_buckets(walker, error);
    walk->end = walker->window.position;
out:
    nt_roaring_window_deinit(&walker->window);
    free(walker);
    return status;
}
