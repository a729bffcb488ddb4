/* SPDX-License-Identifier: MIT
 *
 * Where the bytes of an RNTuple are in its file: compressed or not, merged or not.
 */
#include "rntuple_parts.h"

#include <stdlib.h>
#include <zlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "demand.h"

/* ---- putting bytes into the file ---- */

/* One ROOT compression block: algorithm and method, compressed and uncompressed size in three bytes each. */
static void compress_block(const void *bytes, size_t count, struct nt_buffer *out)
{
    uLongf size = compressBound(count);
    size_t start = out->length;
    nt_buffer_append(out, "ZL\x08", 3);
    nt_buffer_append(out, "\0\0\0\0\0\0", 6);
    uint8_t *room = nt_buffer_extend(out, size);
    demand(compress2(room, &size, bytes, count, 6) == Z_OK);
    rntuple_put_little(out, start + 3, size, 3);
    rntuple_put_little(out, start + 6, count, 3);
    out->length = start + 9 + size;
}

/* As many blocks as needed. */
static void compress_blocks(const void *bytes, size_t count, struct nt_buffer *out)
{
    enum { LARGEST_BLOCK = (1 << 24) - 1 };
    for (size_t at = 0; at < count; at += LARGEST_BLOCK)
        compress_block((const char *)bytes + at, count - at < LARGEST_BLOCK ? count - at : LARGEST_BLOCK,
                       out);
}

/* The start of a blob's bytes: after its key. */
uint64_t rntuple_put_blob(struct rntuple_state *state, const struct nt_buffer *bytes)
{
    uint64_t record = tfile_writer_blob(&state->file, bytes->bytes, bytes->length);
    const uint8_t *key = (const uint8_t *)state->file.out.bytes + record;
    return record + (uint64_t)(key[TFILE_KEY_LENGTH] << 8 | key[TFILE_KEY_LENGTH + 1]);
}

/* Compresses if that is requested and makes it smaller: equal sizes mean that it is uncompressed. */
static void store(struct rntuple_state *state, const void *bytes, size_t count, struct nt_buffer *stored)
{
    if (state->description->is_compressed)
        compress_blocks(bytes, count, stored);
    if (stored->length >= count || !state->description->is_compressed) {
        nt_buffer_clear(stored);
        nt_buffer_append(stored, bytes, count);
    }
}

struct rntuple_stored_range rntuple_put_envelope(struct rntuple_state *state, struct rntuple_writer *writer)
{
    rntuple_unknown(writer);
    if (state->description->spoil)
        state->description->spoil(writer->kind, &writer->bytes);
    uint64_t checksum = rntuple_end(writer);
    if (writer->kind == RNTUPLE_HEADER)
        state->header_checksum = checksum;
    struct nt_buffer stored = {0};
    store(state, writer->bytes.bytes, writer->bytes.length, &stored);
    struct rntuple_stored_range range = {rntuple_put_blob(state, &stored), stored.length,
                                         writer->bytes.length};
    nt_buffer_deinit(&stored);
    nt_buffer_deinit(&writer->bytes);
    return range;
}

void rntuple_begin_envelope(struct rntuple_state *state, struct rntuple_writer *writer,
                            enum rntuple_envelope kind)
{
    rntuple_begin(writer, state->generation, kind);
    writer->unknown_bytes = state->description->unknown_bytes;
}

static void page_checksum(const struct rntuple_state *state, const void *bytes, size_t count,
                          struct nt_buffer *stored)
{
    if (rntuple_has_crc32(state->generation))
        rntuple_append_little(stored, crc32(0, bytes, (uInt)count), 4);
    else
        rntuple_append_little(stored, XXH3_64bits(bytes, count), 8);
}

static void store_page(struct rntuple_state *state, const struct rntuple_page *page, struct nt_buffer *stored)
{
    if (page->stored)
        nt_buffer_append(stored, page->stored, page->stored_bytes);
    else
        store(state, page->packed, page->packed_bytes, stored);
}

static struct rntuple_stored_range find_merged(const struct rntuple_state *state,
                                               const struct rntuple_page *page)
{
    size_t i = 0;
    while (i < state->page_count && state->pages[i].page != page->merged)
        i++;
    demand(i < state->page_count); /* it must have been written before */
    return state->pages[i].place;
}

static void remember_page(struct rntuple_state *state, const struct rntuple_page *page,
                          struct rntuple_stored_range range)
{
    demand(NT_GROW(state->pages, state->page_count, state->page_capacity));
    state->pages[state->page_count++] = (struct rntuple_written_page){page, range};
}

struct rntuple_stored_range rntuple_put_page(struct rntuple_state *state, const struct rntuple_page *page)
{
    struct nt_buffer stored = {0};
    if (page->place == RNTUPLE_URI || page->place == RNTUPLE_UNKNOWN_PLACE)
        return (struct rntuple_stored_range){0};
    if (page->merged)
        return find_merged(state, page);
    store_page(state, page, &stored);
    uint64_t bytes = stored.length;
    if (page->checksum == RNTUPLE_CHECKSUM_OF_STORED)
        page_checksum(state, stored.bytes, stored.length, &stored);
    else if (page->checksum == RNTUPLE_CHECKSUM_OF_PACKED)
        page_checksum(state, page->packed, page->packed_bytes, &stored);
    struct rntuple_stored_range range = {rntuple_put_blob(state, &stored), bytes, page->packed_bytes};
    nt_buffer_deinit(&stored);
    remember_page(state, page, range);
    return range;
}
