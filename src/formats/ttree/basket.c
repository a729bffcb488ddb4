/* SPDX-License-Identifier: MIT
 *
 * The record of a basket: key, members, values and offsets of entries.
 */
#include "formats/ttree/ttree.h"

#include <limits.h>

#include "container/container.h"

/* ---- Key and members ---- */

enum {
    LARGE_VERSION = 1000, /* keys of higher versions have places of 8 bytes */
    NEWEST_VERSION = 3,
    IO_GENERATES_OFFSETS = 1, /* fIOBits: offsets are left out, or stored as sizes */
    IO_RESERVED = 1 << 7,
    FLAG_GENERATED = 80,   /* added to the flag: the offsets are left out */
    FLAG_DISPLACEMENT = 40 /* added to the flag: displacements follow the offsets */
};

static void skip_names(struct nt_cursor *cursor)
{
    for (unsigned i = 0; i < 3; i++) /* of the class, the branch and the tree */
        nt_tfile_get_string(cursor);
}

static enum nt_status fail_cut(size_t count, struct nt_error *error)
{
    return nt_fail(error, NT_TRUNCATED, NT_NO_OFFSET, "%zu bytes are too few for the header of a basket",
                   count);
}

/* A number that is stored as an Int_t, but is never negative. */
static enum nt_status check_sign(const char *what, uint32_t stored, struct nt_error *error)
{
    return stored <= INT32_MAX
               ? NT_OK
               : nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                         "%s of a basket: expected 0 or more, found %" PRId32, what, (int32_t)stored);
}

static enum nt_status read_key(struct nt_cursor *cursor, struct nt_basket *basket, struct nt_error *error)
{
    basket->bytes = nt_get_be32(cursor);
    uint16_t key_version = nt_get_be16(cursor);
    basket->object_bytes = nt_get_be32(cursor);
    nt_cursor_skip(cursor, sizeof(uint32_t)); /* time */
    basket->key_bytes = nt_get_be16(cursor);
    basket->cycle = nt_get_be16(cursor);
    nt_cursor_skip(cursor, key_version > LARGE_VERSION ? 2 * sizeof(uint64_t) : 2 * sizeof(uint32_t));
    if (cursor->failed)
        return fail_cut(cursor->end, error);
    if (basket->key_bytes > INT16_MAX || basket->key_bytes < cursor->position)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "fKeylen of a basket: expected %zu to %d bytes, found %" PRIu32, cursor->position,
                       INT16_MAX, basket->key_bytes);
    NT_TRY(check_sign("fNbytes", basket->bytes, error));
    return check_sign("fObjlen", basket->object_bytes, error);
}

/* The sign of fNevBufSize says whether fIOBits follow. Returns false if those are impossible. */
static bool read_members(struct nt_cursor *cursor, struct nt_basket *basket)
{
    basket->version = nt_get_be16(cursor);
    nt_cursor_skip(cursor, sizeof(uint32_t)); /* fBufferSize: capacity of the writer's buffer */
    basket->entry_bytes = nt_get_be32(cursor);
    bool has_io_bits = basket->entry_bytes > INT32_MAX;
    if (has_io_bits) {
        basket->entry_bytes = -basket->entry_bytes;
        basket->io_bits = nt_get_u8(cursor);
    }
    basket->entries = nt_get_be32(cursor);
    basket->last = nt_get_be32(cursor);
    basket->flag = nt_get_u8(cursor);
    basket->header_end = (uint32_t)cursor->position;
    basket->is_without_offsets = basket->flag >= FLAG_GENERATED;
    return !has_io_bits || (basket->io_bits && !(basket->io_bits & IO_RESERVED));
}

static enum nt_status check_members(const struct nt_basket *basket, struct nt_error *error)
{
    if (basket->version > NEWEST_VERSION)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "version of a basket: expected 1 to %d, found %u",
                       NEWEST_VERSION, basket->version);
    if (basket->version == 0)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "version of a basket", 1, 0);
    if (basket->io_bits & ~IO_GENERATES_OFFSETS)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "fIOBits of a basket: expected %d, found %u",
                       IO_GENERATES_OFFSETS, basket->io_bits);
    NT_TRY(check_sign("fNevBuf", basket->entries, error));
    NT_TRY(check_sign("fLast", basket->last, error));
    if (basket->last < basket->key_bytes)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "fLast of a basket", basket->key_bytes,
                             basket->last);
    return NT_OK;
}

/* ---- Sizes ---- */

static uint8_t flag_of(const struct nt_basket *basket)
{
    return basket->flag < FLAG_GENERATED ? basket->flag : (uint8_t)(basket->flag - FLAG_GENERATED);
}

static uint64_t array_bytes(uint64_t count)
{
    return sizeof(uint32_t) + sizeof(uint32_t) * count;
}

/* A basket within the tree's object: flags say which arrays follow the members; then the buffer. Its
 * fNbytes and fObjlen say nothing. */
static enum nt_status measure_embedded(struct nt_basket *basket, struct nt_error *error)
{
    uint8_t flag = flag_of(basket);
    bool has_offsets = !basket->is_without_offsets && flag % 10 != 2 && basket->entries > 0;
    uint64_t offset_bytes = has_offsets ? array_bytes(basket->entries) : 0;
    uint64_t displacement_bytes = has_offsets && flag > FLAG_DISPLACEMENT ? array_bytes(basket->entries) : 0;
    uint64_t count_bytes = basket->version > 1 ? 0 : sizeof(uint32_t); /* of the buffer */
    uint64_t bytes = basket->header_end + offset_bytes + displacement_bytes + count_bytes + basket->last;
    if (bytes > INT32_MAX)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "a basket in the tree's object: %" PRIu64 " bytes are more than a record can have",
                       bytes);
    basket->is_embedded = true;
    basket->bytes = (uint32_t)bytes;
    basket->offset_bytes = (uint32_t)offset_bytes;
    basket->object_bytes = basket->value_bytes + basket->offset_bytes;
    return NT_OK;
}

static enum nt_status measure_record(struct nt_basket *basket, struct nt_error *error)
{
    if (basket->bytes < basket->key_bytes)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "fNbytes of a basket", basket->key_bytes,
                             basket->bytes);
    if (basket->value_bytes > basket->object_bytes)
        return nt_fail_above(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of values in a basket",
                             basket->object_bytes, basket->value_bytes);
    basket->offset_bytes = basket->object_bytes - basket->value_bytes;
    basket->has_sizes = basket->offset_bytes && basket->io_bits & IO_GENERATES_OFFSETS;
    return NT_OK;
}

enum nt_status nt_basket_parse(const uint8_t *bytes, size_t count, struct nt_basket *basket_ret,
                               struct nt_error *error)
{
    struct nt_basket basket = {0};
    struct nt_cursor cursor = nt_cursor(bytes, count);
    NT_TRY(read_key(&cursor, &basket, error));
    if (basket.key_bytes < count)
        cursor.end = basket.key_bytes;
    skip_names(&cursor);
    bool has_valid_bits = read_members(&cursor, &basket);
    if (cursor.failed && count < basket.key_bytes)
        return fail_cut(count, error);
    if (cursor.failed)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "fKeylen of a basket: names and members do not fit in %" PRIu32 " bytes",
                       basket.key_bytes);
    if (!has_valid_bits)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "fIOBits of a basket: expected 1 to %d, found %u",
                       IO_RESERVED - 1, basket.io_bits);
    NT_TRY(check_members(&basket, error));
    basket.value_bytes = basket.last - basket.key_bytes;
    uint8_t flag = flag_of(&basket);
    NT_TRY(flag == 1 || flag > 10 ? measure_embedded(&basket, error) : measure_record(&basket, error));
    *basket_ret = basket;
    return NT_OK;
}

/* ---- Offsets ---- */

static enum nt_status check_count(const char *what, uint64_t expected, uint32_t found, struct nt_error *error)
{
    return found == expected ? NT_OK : nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, what, expected, found);
}

/* Stores where entries begin for sizes (the first of which is 0), or without the highest byte, which
 * held a displacement before ROOT 3. */
static void rewrite_offsets(const struct nt_basket *basket, const uint8_t *stored, uint8_t *output)
{
    uint32_t offset = basket->key_bytes;
    for (uint32_t i = 0; i < basket->entries; i++) {
        uint32_t item = nt_load_be32(stored + sizeof(item) * i);
        offset = basket->has_sizes ? offset + item : item & 0x00FFFFFF;
        uint32_t swapped = __builtin_bswap32(offset);
        memcpy(output + sizeof(item) * i, &swapped, sizeof(swapped));
    }
}

static enum nt_status fail_offset(const struct nt_basket *basket, const uint8_t *offsets,
                                  struct nt_error *error)
{
    uint32_t before = basket->key_bytes;
    for (uint32_t i = 0; i < basket->entries; i++) {
        uint32_t offset = nt_load_be32(offsets + sizeof(offset) * i);
        if (offset < before || offset > basket->last || (i == 0 && offset != before))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "offset of entry %" PRIu32 " of a basket: expected %" PRIu32 " to %" PRIu32
                           ", found %" PRIu32,
                           i, before, i == 0 ? before : basket->last, offset);
        before = offset;
    }
    return NT_OK;
}

/* The first entry begins after the key; no entry begins before the previous one, or after the values. */
static enum nt_status check_offsets(const struct nt_basket *basket, const uint8_t *offsets,
                                    struct nt_error *error)
{
    enum { TOGETHER = 64 };
    uint32_t some[TOGETHER + 1] = {basket->key_bytes}, are_falling = 0;
    for (uint32_t first = 0, count; first < basket->entries; first += count) { /* becomes vector code */
        count = basket->entries - first < TOGETHER ? basket->entries - first : TOGETHER;
        nt_swap32(offsets + sizeof(*some) * first, count, (uint8_t *)(some + 1));
        for (uint32_t i = 0; i < count; i++)
            are_falling |= some[i + 1] < some[i];
        some[0] = some[count];
    }
    if (are_falling || some[0] > basket->last ||
        (basket->entries && nt_load_be32(offsets) != basket->key_bytes))
        return fail_offset(basket, offsets, error);
    return NT_OK;
}

/* A record has one offset more than entries, which means nothing; displacements may follow. */
static enum nt_status find_record_offsets(const struct nt_basket *basket, const uint8_t *array,
                                          const uint8_t **offsets_ret, struct nt_error *error)
{
    uint64_t expected = array_bytes(UINT64_C(1) + basket->entries);
    *offsets_ret = NULL;
    if (basket->offset_bytes == 0)
        return NT_OK;
    if (basket->offset_bytes < sizeof(uint32_t))
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of offsets in a basket", expected,
                              basket->offset_bytes);
    uint32_t count = nt_load_be32(array);
    if (count == 0 && basket->offset_bytes == sizeof(uint32_t)) /* ROOT ignores such an array, too */
        return NT_OK;
    if (basket->offset_bytes != expected && basket->offset_bytes != 2 * expected)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of offsets in a basket", expected,
                              basket->offset_bytes);
    *offsets_ret = array + sizeof(count);
    return check_count("number of offsets in a basket", UINT64_C(1) + basket->entries, count, error);
}

/* ---- Content ---- */

static enum nt_status check_limit(uint64_t bytes, uint64_t limit, struct nt_error *error)
{
    return bytes <= limit
               ? NT_OK
               : nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                         "a basket takes %" PRIu64 " bytes, more than the limit of %" PRIu64, bytes, limit);
}

static enum nt_status decompress(const struct nt_basket *basket, const uint8_t *record, uint8_t *object,
                                 struct nt_codec_context *context, struct nt_error *error)
{
    return nt_compression_info(NT_COMPRESSION_ROOT_BLOCKS)
        ->decompress(record + basket->key_bytes, basket->bytes - basket->key_bytes, object,
                     basket->object_bytes, context, error);
}

/* Finds values and offsets after the members. */
static enum nt_status find_embedded(const struct nt_basket *basket, const uint8_t *record,
                                    struct nt_basket_content *content, struct nt_error *error)
{
    const uint8_t *at = record + basket->header_end;
    if (basket->offset_bytes) {
        NT_TRY(check_count("number of offsets in a basket", basket->entries, nt_load_be32(at), error));
        content->offsets = at + sizeof(uint32_t);
        at += basket->offset_bytes;
    }
    if (basket->offset_bytes && flag_of(basket) > FLAG_DISPLACEMENT) {
        NT_TRY(check_count("number of displacements in a basket", basket->entries, nt_load_be32(at), error));
        at += basket->offset_bytes;
    }
    if (basket->version == 1) {
        NT_TRY(check_count("bytes of the buffer of a basket", basket->last, nt_load_be32(at), error));
        at += sizeof(uint32_t);
    }
    content->values = at + basket->key_bytes; /* the buffer begins with room for a key */
    return NT_OK;
}

/* Takes scratch memory for what is not as in the record: uncompressed bytes, and offsets. */
static enum nt_status take_scratch(const struct nt_basket *basket, uint64_t limit,
                                   struct nt_codec_context *context, uint8_t **object_ret,
                                   uint8_t **offsets_ret, struct nt_error *error)
{
    bool is_packed = !basket->is_embedded && basket->bytes - basket->key_bytes != basket->object_bytes;
    uint8_t flag = flag_of(basket);
    bool has_displacements = basket->is_embedded && basket->offset_bytes && flag > 20 && flag < 40;
    uint64_t object_bytes = is_packed ? basket->object_bytes : 0;
    uint64_t offset_bytes = basket->has_sizes || has_displacements ? basket->offset_bytes : 0;
    *object_ret = *offsets_ret = NULL;
    if (object_bytes + offset_bytes == 0)
        return NT_OK;
    NT_TRY(check_limit(object_bytes + offset_bytes, limit, error));
    uint8_t *scratch = nt_codec_scratch(context, NT_SCRATCH_TREE, (size_t)(object_bytes + offset_bytes));
    NT_TRY(nt_check_memory(scratch, error));
    *object_ret = is_packed ? scratch : NULL;
    *offsets_ret = offset_bytes ? scratch + object_bytes : NULL;
    return NT_OK;
}

static enum nt_status find_content(const uint8_t *record, uint8_t *object, struct nt_codec_context *context,
                                   struct nt_basket_content *content, struct nt_error *error)
{
    const struct nt_basket *basket = &content->basket;
    if (basket->is_embedded)
        return find_embedded(basket, record, content, error);
    if (object)
        NT_TRY(decompress(basket, record, object, context, error));
    content->values = object ? object : record + basket->key_bytes;
    return find_record_offsets(basket, content->values + basket->value_bytes, &content->offsets, error);
}

static void cut(struct nt_basket_content *content)
{
    const struct nt_basket *basket = &content->basket;
    content->is_cut = content->offsets || basket->entries == 1;
    if (content->is_cut || basket->is_without_offsets ||
        (uint64_t)basket->entries * basket->entry_bytes != basket->value_bytes)
        return;
    content->fixed_bytes = basket->entry_bytes;
    content->is_cut = true;
}

enum nt_status nt_basket_unpack(struct nt_buffer *record, uint64_t limit, struct nt_codec_context *context,
                                struct nt_error *error)
{
    struct nt_basket_content content;
    const uint8_t *bytes = (const uint8_t *)record->bytes;
    NT_TRY(nt_basket_open(bytes, record->length, limit, context, &content, error));
    const struct nt_basket *basket = &content.basket;
    uint32_t unpacked_bytes = __builtin_bswap32(basket->key_bytes + basket->object_bytes);
    struct nt_buffer unpacked = {0};
    if (basket->is_embedded || content.values == bytes + basket->key_bytes)
        return NT_OK;
    nt_buffer_append(&unpacked, &unpacked_bytes, sizeof(unpacked_bytes)); /* fNbytes */
    nt_buffer_append(&unpacked, bytes + sizeof(unpacked_bytes), basket->key_bytes - sizeof(unpacked_bytes));
    nt_buffer_append(&unpacked, content.values, basket->object_bytes);
    nt_buffer_deinit(record);
    *record = unpacked;
    return nt_check_memory(!record->failed, error);
}

enum nt_status nt_basket_open(const uint8_t *record, size_t count, uint64_t limit,
                              struct nt_codec_context *context, struct nt_basket_content *content_ret,
                              struct nt_error *error)
{
    struct nt_basket_content content = {0};
    struct nt_basket *basket = &content.basket;
    uint8_t *object = NULL, *offsets = NULL;
    NT_TRY(nt_basket_parse(record, count, basket, error));
    if (basket->bytes > count)
        return nt_fail(error, NT_TRUNCATED, NT_NO_OFFSET, "a basket: expected %" PRIu32 " bytes, found %zu",
                       basket->bytes, count);
    NT_TRY(take_scratch(basket, limit, context, &object, &offsets, error));
    NT_TRY(find_content(record, object, context, &content, error));
    if (content.offsets && offsets) {
        rewrite_offsets(basket, content.offsets, offsets);
        content.offsets = offsets;
    }
    if (content.offsets)
        NT_TRY(check_offsets(basket, content.offsets, error));
    cut(&content);
    *content_ret = content;
    return NT_OK;
}
