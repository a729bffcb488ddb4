/* SPDX-License-Identifier: MIT
 *
 * Baskets byte by byte, as ROOT's TBasket and TKey stream them.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#include <zstd.h>

#include "formats/ttree/ttree.h"
#include "support.h"

enum { MADE_BYTES = 1 << 17, MADE_ENTRIES = 1 << 12 };

/* Big-endian bytes. */
struct made {
    uint8_t bytes[MADE_BYTES];
    size_t count;
};

static inline void put(struct made *made, const void *bytes, size_t count)
{
    ck_assert_uint_le(count, MADE_BYTES - made->count);
    if (count)
        memcpy(made->bytes + made->count, bytes, count);
    made->count += count;
}

static inline void put_number(struct made *made, uint64_t number, unsigned width)
{
    for (unsigned i = width; i-- > 0;) {
        uint8_t byte = (uint8_t)(number >> 8 * i);
        put(made, &byte, 1);
    }
}

static inline void put_real(struct made *made, float real)
{
    uint32_t bits;
    memcpy(&bits, &real, sizeof(bits));
    put_number(made, bits, 4);
}

static inline void put_string(struct made *made, const char *text, size_t length)
{
    put_number(made, length < 255 ? length : 255, 1);
    if (length >= 255)
        put_number(made, length, 4);
    put(made, text, length);
}

static inline void set_number(struct made *made, size_t offset, uint64_t number, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        made->bytes[offset + i] = (uint8_t)(number >> 8 * (width - 1 - i));
}

/* The byte count and version of an object that is followed by `bytes` bytes. */
static inline void put_header(struct made *made, size_t bytes, uint16_t version)
{
    put_number(made, UINT64_C(0x40000000) | (bytes + 2), 4);
    put_number(made, version, 2);
}

/* The content of a basket: values, and where entries begin in them. */
struct content {
    struct made values;
    uint32_t starts[MADE_ENTRIES], entries;
};

/* Ends an entry; the next one begins. */
static inline void end_entry(struct content *content)
{
    ck_assert_uint_lt(content->entries + 1, MADE_ENTRIES);
    content->starts[++content->entries] = (uint32_t)content->values.count;
}

/* How a basket is stored; all 0: as a record with offsets, uncompressed. */
struct storage {
    bool has_no_offsets, is_compressed, has_small_key, has_sizes, is_embedded;
    uint8_t flag, io_bits;
    uint32_t entry_bytes; /* 0: 1000, the length of the offsets */
    uint16_t version;     /* 0: 3 */
};

/* Offsets in a record with a large key and names of one byte. */
enum {
    AT_BYTES = 0,
    AT_OBJECT_BYTES = 6,
    AT_KEY_BYTES = 14,
    AT_VERSION = 46,
    AT_ENTRY_BYTES = 52,
    AT_ENTRIES = 56,
    AT_LAST = 60,
    AT_FLAG = 64,
    AT_VALUES = 65,
};

static inline void put_members(struct made *made, const struct content *content,
                               const struct storage *storage, size_t key_bytes)
{
    uint32_t entry_bytes = storage->entry_bytes ? storage->entry_bytes : 1000;
    put_number(made, storage->version ? storage->version : 3, 2);
    put_number(made, 32000, 4);
    put_number(made, storage->io_bits ? -entry_bytes : entry_bytes, 4);
    if (storage->io_bits)
        put_number(made, storage->io_bits, 1);
    put_number(made, content->entries, 4);
    put_number(made, key_bytes + content->values.count, 4);
    put_number(made, storage->flag, 1);
    ck_assert_uint_eq(made->count, key_bytes);
}

static inline void put_offsets(struct made *made, const struct content *content,
                               const struct storage *storage, size_t key_bytes, uint32_t extra)
{
    put_number(made, content->entries + extra, 4);
    for (uint32_t i = 0; i < content->entries; i++)
        put_number(made,
                   storage->has_sizes ? content->starts[i] - content->starts[i > 0 ? i - 1 : 0]
                                      : key_bytes + content->starts[i],
                   4);
    for (uint32_t i = 0; i < extra; i++)
        put_number(made, 0x80000001, 4); /* has no meaning */
}

/* Replaces everything after the key with one block of ROOT's format. */
static inline void compress(struct made *made, size_t key_bytes)
{
    static uint8_t packed[MADE_BYTES];
    size_t bytes = made->count - key_bytes;
    size_t made_bytes = ZSTD_compress(packed, sizeof(packed), made->bytes + key_bytes, bytes, 1);
    ck_assert(!ZSTD_isError(made_bytes));
    const uint8_t header[9] = {'Z',
                               'S',
                               1,
                               (uint8_t)made_bytes,
                               (uint8_t)(made_bytes >> 8),
                               (uint8_t)(made_bytes >> 16),
                               (uint8_t)bytes,
                               (uint8_t)(bytes >> 8),
                               (uint8_t)(bytes >> 16)};
    made->count = key_bytes;
    put(made, header, sizeof(header));
    put(made, packed, made_bytes);
}

static inline void make_basket(struct made *made, const struct content *content,
                               const struct storage *storage)
{
    size_t key_bytes = (storage->has_small_key ? 57 : 65) + (storage->io_bits != 0);
    made->count = 0;
    put_number(made, 0, 4);
    put_number(made, storage->has_small_key ? 2 : 1004, 2);
    put_number(made, 0, 4);
    put_number(made, 0x7EF5601E, 4);
    put_number(made, key_bytes, 2);
    put_number(made, 7, 2);
    for (unsigned i = 0; i < 2; i++)
        put_number(made, 100, storage->has_small_key ? 4 : 8);
    put_string(made, "TBasket", 7);
    put_string(made, "b", 1);
    put_string(made, "t", 1);
    put_members(made, content, storage, key_bytes);
    if (storage->is_embedded) {
        if (!storage->has_no_offsets && content->entries)
            put_offsets(made, content, storage, key_bytes, 0);
        if (storage->flag > 40 && storage->flag < 80)
            put_offsets(made, content, storage, key_bytes, 0);
        if (storage->version == 1)
            put_number(made, key_bytes + content->values.count, 4);
        for (size_t i = 0; i < key_bytes; i++)
            put_number(made, 0xEE, 1);
    }
    put(made, content->values.bytes, content->values.count);
    if (storage->is_embedded)
        return;
    if (!storage->has_no_offsets)
        put_offsets(made, content, storage, key_bytes, 1);
    set_number(made, AT_OBJECT_BYTES, made->count - key_bytes, 4);
    if (storage->is_compressed)
        compress(made, key_bytes);
    set_number(made, AT_BYTES, made->count, 4);
}
