/* SPDX-License-Identifier: MIT
 *
 * Words, frames, envelopes and locators of RNTuples, byte by byte.
 */
#include "rntuple_parts.h"

#include <string.h>
#include <zlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "demand.h"

/* ---- words ---- */

void rntuple_append_little(struct nt_buffer *out, uint64_t value, unsigned bytes)
{
    uint8_t word[sizeof(value)];
    for (unsigned i = 0; i < bytes; i++)
        word[i] = (uint8_t)(value >> 8 * i);
    nt_buffer_append(out, word, bytes);
}

void rntuple_append_big(struct nt_buffer *out, uint64_t value, unsigned bytes)
{
    uint8_t word[sizeof(value)];
    for (unsigned i = 0; i < bytes; i++)
        word[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
    nt_buffer_append(out, word, bytes);
}

void rntuple_put_little(struct nt_buffer *out, size_t at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        out->bytes[at + i] = (char)(value >> 8 * i);
}

void rntuple_u16(struct rntuple_writer *writer, uint16_t value)
{
    rntuple_append_little(&writer->bytes, value, 2);
}

void rntuple_u32(struct rntuple_writer *writer, uint32_t value)
{
    rntuple_append_little(&writer->bytes, value, 4);
}

void rntuple_u64(struct rntuple_writer *writer, uint64_t value)
{
    rntuple_append_little(&writer->bytes, value, 8);
}

void rntuple_real(struct rntuple_writer *writer, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    rntuple_u64(writer, bits);
}

void rntuple_text(struct rntuple_writer *writer, const char *text)
{
    rntuple_u32(writer, text ? (uint32_t)strlen(text) : 0);
    if (text)
        nt_buffer_append(&writer->bytes, text, strlen(text));
}

void rntuple_unknown(struct rntuple_writer *writer)
{
    for (uint32_t i = 0; i < writer->unknown_bytes; i++)
        nt_buffer_append_byte(&writer->bytes, '?');
}

/* ---- frames ---- */

static unsigned frame_size_bytes(const struct rntuple_writer *writer)
{
    return rntuple_has_crc32(writer->generation) ? 4 : 8;
}

/* The sign marks a list; the size is filled in at the end. */
static void begin_frame(struct rntuple_writer *writer, int64_t marker)
{
    demand(writer->depth < sizeof(writer->frames) / sizeof(*writer->frames));
    writer->frames[writer->depth++] = writer->bytes.length;
    rntuple_append_little(&writer->bytes, (uint64_t)marker, frame_size_bytes(writer));
}

void rntuple_record(struct rntuple_writer *writer)
{
    begin_frame(writer, 1);
}

void rntuple_list(struct rntuple_writer *writer, uint32_t items)
{
    begin_frame(writer, -1);
    rntuple_u32(writer, items);
}

void rntuple_end_frame(struct rntuple_writer *writer)
{
    size_t start = writer->frames[--writer->depth];
    bool is_list = writer->bytes.bytes[start] == (char)0xff;
    if (!is_list)
        rntuple_unknown(writer);
    int64_t size = (int64_t)(writer->bytes.length - start);
    rntuple_put_little(&writer->bytes, start, (uint64_t)(is_list ? -size : size), frame_size_bytes(writer));
}

/* ---- envelopes ---- */

void rntuple_begin(struct rntuple_writer *writer, enum rntuple_generation generation,
                   enum rntuple_envelope kind)
{
    *writer = (struct rntuple_writer){.generation = generation, .kind = kind};
    if (generation == RNTUPLE_PREDRAFT) { /* u16 version, u16 minimum, u32 size, u64 reserved */
        rntuple_u64(writer, 0);
        rntuple_u64(writer, 0);
    } else if (rntuple_has_crc32(generation)) { /* envelope version, minimum version */
        rntuple_u16(writer, 1);
        rntuple_u16(writer, 1);
    } else { /* type id, length */
        rntuple_u64(writer, (uint64_t)kind);
    }
}

uint64_t rntuple_end(struct rntuple_writer *writer)
{
    struct nt_buffer *bytes = &writer->bytes;
    uint64_t checksum;
    if (rntuple_has_crc32(writer->generation)) {
        if (writer->generation == RNTUPLE_PREDRAFT && writer->kind == RNTUPLE_HEADER)
            rntuple_put_little(bytes, 4, bytes->length, 4); /* the frame does not count the checksum */
        checksum = crc32(0, (const Bytef *)bytes->bytes, (uInt)bytes->length);
        rntuple_append_little(bytes, checksum, 4);
    } else {
        rntuple_put_little(bytes, 2, bytes->length + 8, 6);
        checksum = XXH3_64bits(bytes->bytes, bytes->length);
        rntuple_append_little(bytes, checksum, 8);
    }
    return checksum;
}

/* ---- locators ---- */

/* A non-standard locator's first word is negated as a whole: size, a reserved byte, type. */
static void locator_head(struct rntuple_writer *writer, uint32_t type, uint32_t payload_bytes)
{
    rntuple_u32(writer, 0 - (type << 24 | 0x5au << 16 | (payload_bytes + 4)));
}

void rntuple_locator(struct rntuple_writer *writer, enum rntuple_place place, uint64_t offset, uint64_t bytes,
                     const char *uri)
{
    switch (place) {
    case RNTUPLE_IN_FILE:
        rntuple_u32(writer, (uint32_t)bytes);
        rntuple_u64(writer, offset);
        break;
    case RNTUPLE_LARGE:
        locator_head(writer, 1, 16);
        rntuple_u64(writer, bytes);
        rntuple_u64(writer, offset);
        break;
    case RNTUPLE_OBJECT64:
        locator_head(writer, 2, 12);
        rntuple_u32(writer, (uint32_t)bytes);
        rntuple_u64(writer, offset);
        break;
    case RNTUPLE_MULTI:
        locator_head(writer, 3, 12);
        rntuple_u32(writer, (uint32_t)bytes);
        rntuple_u64(writer, UINT64_C(5) << 32 | (offset & UINT32_MAX)); /* of object 5 */
        break;
    case RNTUPLE_URI:
    case RNTUPLE_UNKNOWN_PLACE:
        locator_head(writer, place == RNTUPLE_URI ? 1 : 0x6f, (uint32_t)strlen(uri));
        nt_buffer_append(&writer->bytes, uri, strlen(uri));
        break;
    }
}
