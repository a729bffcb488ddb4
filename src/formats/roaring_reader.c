/* SPDX-License-Identifier: MIT
 *
 * Reads and validates serialized Roaring bitmaps, 32-bit and 64-bit, in one pass with bounded memory.
 * Used for Roaring files and for Lance's deletion files.
 */
#include "formats/roaring_reader.h"

/* ---- Container types ---- */

enum {
    NT_ROARING_ARRAY_MAXIMUM = 4096, /* values; a container with more is a bitset unless it has runs */
    NT_ROARING_BITSET_BYTES = 8192,
    NT_ROARING_RUN_COUNT_BYTES = 2,
    NT_ROARING_RUN_BYTES = 4,
};

static enum nt_status check_array(const uint8_t *bytes, size_t count, uint32_t cardinality, uint64_t offset,
                                  uint16_t *first_ret, uint16_t *last_ret, struct nt_error *error)
{
    (void)cardinality; /* implied by the length of an array */
    size_t values = count / 2, disorders = 0;
    for (size_t i = 1; i < values; i++)
        disorders += nt_load_le16(bytes + 2 * i) <= nt_load_le16(bytes + 2 * (i - 1));
    if (disorders)
        return nt_fail(error, NT_CORRUPT, offset,
                       "array container: values are not in ascending order, in %zu places", disorders);
    *first_ret = nt_load_le16(bytes);
    *last_ret = nt_load_le16(bytes + 2 * (values - 1));
    return NT_OK;
}

static enum nt_status check_bitset(const uint8_t *bytes, size_t count, uint32_t cardinality, uint64_t offset,
                                   uint16_t *first_ret, uint16_t *last_ret, struct nt_error *error)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < count; i += 8)
        bits += (uint32_t)__builtin_popcountll(nt_load_le64(bytes + i));
    if (bits != cardinality)
        return nt_fail_number(error, NT_CORRUPT, offset, "bitset container: bits that are set", cardinality,
                              bits);
    size_t first = 0, last = count - 1;
    while (!bytes[first])
        first++;
    while (!bytes[last])
        last--;
    *first_ret = (uint16_t)(8 * first + (unsigned)__builtin_ctz(bytes[first]));
    *last_ret = (uint16_t)(8 * last + 31 - (unsigned)__builtin_clz(bytes[last]));
    return NT_OK;
}

static enum nt_status check_run(const uint8_t *bytes, size_t count, uint32_t cardinality, uint64_t offset,
                                uint16_t *first_ret, uint16_t *last_ret, struct nt_error *error)
{
    if (count == NT_ROARING_RUN_COUNT_BYTES)
        return nt_fail(error, NT_CORRUPT, offset, "run container without a run");
    uint32_t next = 0, values = 0;
    for (size_t at = NT_ROARING_RUN_COUNT_BYTES; at < count; at += NT_ROARING_RUN_BYTES) {
        uint32_t start = nt_load_le16(bytes + at), length = nt_load_le16(bytes + at + 2) + UINT32_C(1);
        if (start < next || start + length > UINT32_C(65536))
            return nt_fail(error, NT_CORRUPT, offset + at,
                           start < next ? "run container: the run from %" PRIu32 " of %" PRIu32
                                          " values starts before the previous run ends"
                                        : "run container: the run from %" PRIu32 " of %" PRIu32
                                          " values ends above 65,535",
                           start, length);
        next = start + length;
        values += length;
    }
    if (values != cardinality)
        return nt_fail_number(error, NT_CORRUPT, offset, "run container: values in its runs", cardinality,
                              values);
    *first_ret = nt_load_le16(bytes + NT_ROARING_RUN_COUNT_BYTES);
    *last_ret = (uint16_t)(next - 1);
    return NT_OK;
}

static const struct nt_roaring_kind_info kinds[NT_ROARING_KIND_COUNT] = {
    [NT_ROARING_ARRAY] = {"array", NT_ENCODING_ROARING_ARRAY, check_array},
    [NT_ROARING_BITSET] = {"bitset", NT_ENCODING_ROARING_BITSET, check_bitset},
    [NT_ROARING_RUN] = {"run", NT_ENCODING_ROARING_RUN, check_run},
};

const struct nt_roaring_kind_info *nt_roaring_kind_info(enum nt_roaring_kind kind)
{
    return &kinds[kind];
}

/* ---- Buffered sequential reads ---- */

struct nt_roaring_window {
    struct nt_source *source;
    uint64_t position; /* of the next byte to return */
    size_t read_ahead; /* minimum bytes of a read, if that many are left */
    uint8_t *buffer;
    uint64_t buffer_offset;
    size_t buffered;
};

/* Starts a window at the start of a source; the caller keeps owning the source. */
static enum nt_status roaring_window_init(struct nt_roaring_window *window, struct nt_source *source,
                                          size_t read_ahead, struct nt_error *error)
{
    *window = (struct nt_roaring_window){.source = source, .read_ahead = read_ahead};
    window->buffer = malloc(NT_ROARING_WINDOW_BYTES);
    return nt_check_memory(window->buffer, error);
}

/* accepts a zeroed window */
static void roaring_window_deinit(struct nt_roaring_window *window)
{
    free(window->buffer);
    *window = (struct nt_roaring_window){0};
}

static enum nt_status check_left(const struct nt_roaring_window *window, uint64_t count,
                                 struct nt_error *error)
{
    if (nt_range_fits(window->position, count, window->source->size))
        return NT_OK;
    return nt_fail(error, NT_TRUNCATED, window->position,
                   "the file ends early: expected %" PRIu64 " bytes, %" PRIu64 " are left", count,
                   window->source->size - window->position);
}

/* Reads from the current position: at least `count` bytes, and up to `read_ahead` if available. */
static enum nt_status refill(struct nt_roaring_window *window, size_t count, struct nt_error *error)
{
    uint64_t left = window->source->size - window->position;
    size_t requested = count > window->read_ahead ? count : window->read_ahead;
    if (requested > NT_ROARING_WINDOW_BYTES)
        requested = NT_ROARING_WINDOW_BYTES;
    if (requested > left)
        requested = (size_t)left;
    window->buffered = 0;
    NT_TRY(nt_source_read(window->source, window->position, window->buffer, requested, error));
    window->buffer_offset = window->position;
    window->buffered = requested;
    return NT_OK;
}

/* Returns the next `count` bytes, valid until the next call, and advances. NT_TRUNCATED if the source
 * has fewer, NT_LIMIT above NT_ROARING_WINDOW_BYTES. */
static enum nt_status window_bytes_of(struct nt_roaring_window *window, size_t count,
                                      const uint8_t **bytes_ret, struct nt_error *error)
{
    if (count > NT_ROARING_WINDOW_BYTES)
        return nt_fail(error, NT_LIMIT, window->position, "cannot read %zu bytes at once", count);
    NT_TRY(check_left(window, count, error));
    uint64_t skipped = window->position - window->buffer_offset;
    if (!nt_range_fits(skipped, count, window->buffered)) {
        NT_TRY(refill(window, count, error));
        skipped = 0;
    }
    *bytes_ret = window->buffer + skipped;
    window->position += count;
    return NT_OK;
}

/* Skips bytes without reading them. NT_TRUNCATED if the source has fewer. */
static enum nt_status roaring_window_skip(struct nt_roaring_window *window, uint64_t count,
                                          struct nt_error *error)
{
    NT_TRY(check_left(window, count, error));
    window->position += count;
    return NT_OK;
}

/* ---- Parse bitmaps and containers ---- */

enum {
    COOKIE_WITHOUT_RUNS = 12346, /* 32 bits, followed by the number of containers */
    COOKIE_WITH_RUNS = 12347,    /* low 16 bits; the high ones are the number of containers - 1 */
    OFFSETS_FROM = 4,            /* with run flags, offsets exist from this number of containers on */
    MAXIMUM_CONTAINERS = 65536,
    DESCRIPTOR_BYTES = 4,
    OFFSET_BYTES = 4,
    BUCKET_COUNT_BYTES = 8,
    BUCKET_KEY_BYTES = 4,
    READ_AHEAD_HEADERS = 4096, /* when containers are skipped, larger reads would be wasted */
};

/* The state of the walk: its position, and the parts of the current bitmap's header that are needed
 * until its end. */
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
    const uint8_t *bytes = NULL;
    NT_TRY(window_bytes_of(&walker->window, count, &bytes, error));
    memcpy(target, bytes, count);
    return NT_OK;
}

/* Reads cookie, number of containers and run flags. */
static enum nt_status read_cookie(struct walker *walker, struct nt_roaring_bitmap *bitmap,
                                  struct nt_error *error)
{
    const uint8_t *bytes;
    NT_TRY(window_bytes_of(&walker->window, 4, &bytes, error));
    bitmap->cookie = nt_load_le32(bytes);
    if (!nt_roaring_is_cookie(bytes))
        return nt_fail(error, NT_CORRUPT, bitmap->offset,
                       "the cookie of a 32-bit bitmap is 12346, or 12347 in its low 16 bits; found %" PRIu32,
                       bitmap->cookie);
    bitmap->has_run_flags = bitmap->cookie != COOKIE_WITHOUT_RUNS;
    if (bitmap->has_run_flags) {
        bitmap->containers = (bitmap->cookie >> 16) + 1;
        NT_TRY(copy_bytes(walker, walker->run_flags, (bitmap->containers + 7) / 8, error));
    } else {
        NT_TRY(window_bytes_of(&walker->window, 4, &bytes, error));
        bitmap->containers = nt_load_le32(bytes);
    }
    if (bitmap->containers > MAXIMUM_CONTAINERS)
        return nt_fail(error, NT_CORRUPT, bitmap->offset + 4,
                       "%" PRIu32 " containers; a 32-bit bitmap has at most 65536", bitmap->containers);
    bitmap->header_bytes = (uint32_t)(walker->window.position - bitmap->offset);
    return NT_OK;
}

static enum nt_status read_header(struct walker *walker, struct nt_roaring_bitmap *bitmap,
                                  struct nt_error *error)
{
    NT_TRY(read_cookie(walker, bitmap, error));
    bitmap->has_offsets = !bitmap->has_run_flags || bitmap->containers >= OFFSETS_FROM;
    bitmap->descriptor_bytes = bitmap->containers * DESCRIPTOR_BYTES;
    bitmap->offset_bytes = bitmap->has_offsets ? bitmap->containers * OFFSET_BYTES : 0;
    NT_TRY(copy_bytes(walker, walker->descriptors, bitmap->descriptor_bytes, error));
    return copy_bytes(walker, walker->offsets, bitmap->offset_bytes, error);
}

/* Derives a container from its descriptor, its flags and its cardinality. */
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

static enum nt_status check_descriptor(const struct walker *walker, const struct nt_roaring_bitmap *bitmap,
                                       uint32_t number, uint16_t previous_key,
                                       const struct nt_roaring_container *container, struct nt_error *error)
{
    uint64_t descriptor = bitmap->offset + bitmap->header_bytes + (uint64_t)number * DESCRIPTOR_BYTES;
    if (number > 0 && container->key <= previous_key)
        return nt_fail(error, NT_CORRUPT, descriptor, "container %" PRIu32 ": key %u follows key %u", number,
                       container->key, previous_key);
    if (!bitmap->has_offsets)
        return NT_OK;
    uint32_t stored = nt_load_le32(walker->offsets + (size_t)number * OFFSET_BYTES);
    uint64_t offset =
        bitmap->offset + bitmap->header_bytes + bitmap->descriptor_bytes + (uint64_t)number * OFFSET_BYTES;
    if (stored != container->offset - bitmap->offset)
        return nt_fail_number(error, NT_CORRUPT, offset, "container's position in the offset header",
                              container->offset - bitmap->offset, stored);
    return NT_OK;
}

/* Finds the size of a container: the first two bytes of a run container contain its number of runs. The
 * window then is after those. */
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
    NT_TRY(window_bytes_of(&walker->window, NT_ROARING_RUN_COUNT_BYTES, &bytes, error));
    container->bytes = NT_ROARING_RUN_COUNT_BYTES + (uint32_t)nt_load_le16(bytes) * NT_ROARING_RUN_BYTES;
    return NT_OK;
}

static enum nt_status walk_container(struct walker *walker, struct nt_roaring_bitmap *bitmap, uint32_t number,
                                     uint16_t *key, struct nt_error *error)
{
    struct nt_roaring_walk *walk = walker->walk;
    struct nt_roaring_container container;
    describe_container(walker, bitmap, number, &container);
    NT_TRY(check_descriptor(walker, bitmap, number, *key, &container, error));
    NT_TRY(measure(walker, &container, error));
    walker->window.position = container.offset;
    if (walk->check_contents) {
        const uint8_t *bytes;
        NT_TRY(window_bytes_of(&walker->window, container.bytes, &bytes, error));
        NT_TRY(nt_roaring_kind_info(container.kind)
                   ->check(bytes, container.bytes, container.cardinality, container.offset, &container.first,
                           &container.last, error));
    } else
        NT_TRY(roaring_window_skip(&walker->window, container.bytes, error));
    if (walk->on_container)
        NT_TRY(walk->on_container(walk->context, bitmap, &container, error));
    bitmap->cardinality += container.cardinality;
    bitmap->kinds[container.kind]++;
    *key = container.key;
    return NT_OK;
}

static enum nt_status walk_bitmap(struct walker *walker, uint32_t high, struct nt_error *error)
{
    struct nt_roaring_bitmap bitmap = {.high = high, .offset = walker->window.position};
    NT_TRY(read_header(walker, &bitmap, error));
    uint16_t key = 0;
    for (uint32_t i = 0; i < bitmap.containers; i++)
        NT_TRY(walk_container(walker, &bitmap, i, &key, error));
    bitmap.bytes = walker->window.position - bitmap.offset;
    return walker->walk->on_bitmap ? walker->walk->on_bitmap(walker->walk->context, &bitmap, error) : NT_OK;
}

static enum nt_status walk_buckets(struct walker *walker, struct nt_error *error)
{
    const uint8_t *bytes;
    NT_TRY(window_bytes_of(&walker->window, BUCKET_COUNT_BYTES, &bytes, error));
    walker->walk->buckets = nt_load_le64(bytes);
    uint32_t previous = 0;
    for (uint64_t i = 0; i < walker->walk->buckets; i++) {
        uint64_t offset = walker->window.position;
        NT_TRY(window_bytes_of(&walker->window, BUCKET_KEY_BYTES, &bytes, error));
        uint32_t high = nt_load_le32(bytes);
        if (i > 0 && high <= previous)
            return nt_fail(error, NT_CORRUPT, offset,
                           "bucket %" PRIu64 ": key %" PRIu32 " follows key %" PRIu32, i, high, previous);
        previous = high;
        NT_TRY(walk_bitmap(walker, high, error));
    }
    return NT_OK;
}

enum nt_status nt_roaring_walk(struct nt_roaring_walk *walk, struct nt_error *error)
{
    struct walker *walker = calloc(1, sizeof(*walker));
    NT_TRY(nt_check_memory(walker, error));
    walker->walk = walk;
    enum nt_status status =
        roaring_window_init(&walker->window, walk->source,
                            walk->check_contents ? NT_ROARING_WINDOW_BYTES : READ_AHEAD_HEADERS, error);
    if (status != NT_OK)
        goto out;
    walk->buckets = 1;
    status = walk->width == NT_ROARING_32 ? walk_bitmap(walker, 0, error) : walk_buckets(walker, error);
    walk->end = walker->window.position;
out:
    roaring_window_deinit(&walker->window);
    free(walker);
    return status;
}
