/* SPDX-License-Identifier: MIT
 *
 * Bloscpack headers, metadata sections, offsets and chunks, valid and invalid, byte by byte.
 */
#include <string.h>

#include "bloscpack_writer.h"
#include "formats/blz/blz.h"
#include "support.h"
#include "core/base/memory.h"
#include "core/io/source.h"
#include <ntuple/source.h>

static struct nt_error error;

/* ---- headers ---- */

#define HEADER_2(version, options, checksum, chunk, last, chunks, append)                                    \
    {                                                                                                        \
        'b', 'l', 'p', 'k', version, options, checksum, 8, LE4(chunk), LE4(last), LE8(chunks), LE8(append)   \
    }
#define LE4(x) (uint8_t)(x), (uint8_t)((x) >> 8), (uint8_t)((x) >> 16), (uint8_t)((x) >> 24)
#define LE8(x) LE4((uint64_t)(x)), LE4((uint64_t)(x) >> 32)

static const struct {
    const char *what;
    uint8_t bytes[32];
    size_t size;
    enum nt_status status;
} headers[] = {
    {"version 1", {'b', 'l', 'p', 'k', 1, 0, 0, 0, LE8(5)}, 16, NT_OK},
    {"version 1, chunks not counted", {'b', 'l', 'p', 'k', 1, 0, 0, 0, LE8(-1)}, 16, NT_OK},
    {"version 2", HEADER_2(2, 0, 8, 100, 50, 3, -7), 32, NT_OK},
    {"version 3", HEADER_2(3, 3, 1, 100, 50, 3, 10), 32, NT_OK},
    {"sizes not known", HEADER_2(3, 0, 1, -1, -1, -1, 0), 32, NT_OK},
    {"no magic", {'b', 'l', 'p', 'c', 3}, 32, NT_NOT_THIS_FORMAT},
    {"three bytes", {'b', 'l', 'p'}, 3, NT_NOT_THIS_FORMAT},
    {"version 0", HEADER_2(0, 0, 0, 1, 1, 1, 0), 32, NT_UNSUPPORTED},
    {"version 4", HEADER_2(4, 0, 0, 1, 1, 1, 0), 32, NT_UNSUPPORTED},
    {"version 1, cut off", {'b', 'l', 'p', 'k', 1}, 15, NT_TRUNCATED},
    {"version 3, cut off", HEADER_2(3, 0, 0, 1, 1, 1, 0), 31, NT_TRUNCATED},
    {"an unknown option", HEADER_2(3, 4, 0, 1, 1, 1, 0), 32, NT_CORRUPT},
    {"checksum 9", HEADER_2(3, 0, 9, 1, 1, 1, 0), 32, NT_CORRUPT},
    {"fewer than no chunks", HEADER_2(3, 0, 0, 1, 1, -2, 0), 32, NT_CORRUPT},
    {"less than no room", HEADER_2(3, 1, 0, 1, 1, 1, -1), 32, NT_CORRUPT},
    {"offsets of chunks that are not counted", HEADER_2(3, 1, 0, 1, 1, -1, 0), 32, NT_CORRUPT},
    {"a chunk of less than no bytes", HEADER_2(3, 0, 0, -2, 1, 1, 0), 32, NT_CORRUPT},
    {"a last chunk of less than no bytes", HEADER_2(3, 0, 0, 1, -2, 1, 0), 32, NT_CORRUPT},
    {"a last chunk above what Blosc can", HEADER_2(3, 0, 0, 1, 2147483632, 1, 0), 32, NT_CORRUPT},
    {"a chunk above what Blosc can", HEADER_2(3, 0, 0, 2147483632, 1, 2, 0), 32, NT_CORRUPT},
};

TEST(headers_are_read_or_refused, .end = sizeof(headers) / sizeof(*headers))
{
    struct nt_bloscpack_header header;
    error = (struct nt_error){0};
    enum nt_status status = nt_bloscpack_header_parse(headers[_i].bytes, headers[_i].size, &header, &error);
    ck_assert_msg(status == headers[_i].status, "%s: %s %s", headers[_i].what, nt_status_name(status),
                  error.message);
}

TEST(the_size_of_all_chunks_follows_from_the_header)
{
    struct nt_bloscpack_header header = {.chunks = 3, .chunk_bytes = 100, .last_chunk_bytes = 50};
    uint64_t bytes;
    ck_assert(nt_bloscpack_plain_bytes(&header, &bytes) && bytes == 250);
    header.chunk_bytes = 0; /* as version 0.2 writes for a single chunk */
    ck_assert(!nt_bloscpack_plain_bytes(&header, &bytes));
    header.chunks = 1;
    ck_assert(nt_bloscpack_plain_bytes(&header, &bytes) && bytes == 50);
    for (header.last_chunk_bytes = -1; header.last_chunk_bytes <= 0; header.last_chunk_bytes++)
        ck_assert(!nt_bloscpack_plain_bytes(&header, &bytes));
    header.chunks = 0;
    ck_assert(nt_bloscpack_plain_bytes(&header, &bytes) && bytes == 0);
    header = (struct nt_bloscpack_header){.chunks = -1, .chunk_bytes = 100, .last_chunk_bytes = 50};
    ck_assert(!nt_bloscpack_plain_bytes(&header, &bytes));
}

/* ---- files ---- */

enum { COUNT = 2500, CHUNK = 1000, CHUNKS = 3 };

struct written {
    struct nt_buffer file;
    size_t places[CHUNKS];
    struct nt_source *source;
};

static void write_file(struct written *written, const struct bloscpack_options *options)
{
    uint8_t bytes[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        bytes[i] = (uint8_t)(i / 7);
    *written = (struct written){0};
    bloscpack_write(&written->file, options, bytes, COUNT, written->places);
}

static struct nt_source *source_of(struct written *written, size_t size)
{
    assert_ok(nt_source_open_memory(written->file.bytes, size, "test.blp", &written->source, &error));
    return written->source;
}

static void forget(struct written *written)
{
    nt_source_close(written->source);
    nt_buffer_deinit(&written->file);
}

struct found {
    struct nt_bloscpack_chunk chunks[8];
    unsigned count;
};

static enum nt_status walk(struct nt_source *source, const struct nt_bloscpack *bloscpack,
                           struct found *found)
{
    struct nt_bloscpack_walk walk = nt_bloscpack_walk_begin(source, bloscpack);
    struct nt_bloscpack_chunk chunk;
    enum nt_status status;
    while (nt_bloscpack_walk_next(&walk, &chunk, &status, &error)) {
        ck_assert_uint_lt(found->count, 8);
        found->chunks[found->count++] = chunk;
    }
    return status;
}

static void check_chunks(struct written *written, const struct found *found)
{
    ck_assert_uint_eq(found->count, CHUNKS);
    for (unsigned i = 0; i < CHUNKS; i++) {
        ck_assert_ptr_null(found->chunks[i].damage);
        ck_assert_uint_eq(found->chunks[i].offset, written->places[i]);
        ck_assert_uint_eq(found->chunks[i].plain_bytes, i < CHUNKS - 1 ? CHUNK : COUNT - 2 * CHUNK);
    }
}

static const struct bloscpack_options variants[] = {
    {.version = 1},
    {.version = 1, .hides_count = true},
    {.version = 2, .checksum = 2},
    {.version = 2, .checksum = 1, .has_offsets = true},
    {.version = 3, .checksum = 8, .has_offsets = true, .append_chunks = 30},
    {.version = 3, .checksum = 3, .has_offsets = true, .hides_offsets = true, .append_chunks = 2},
    {.version = 3, .checksum = 4, .hides_count = true},
    {.version = 3, .checksum = 5, .hides_sizes = true},
    {.version = 3, .checksum = 6, .has_offsets = true, .metadata = "{\"a\": 1}"},
    {.version = 3, .checksum = 7, .metadata = "{\"a\": 1}", .compresses_metadata = true},
};

TEST(chunks_are_found_in_all_variants, .end = sizeof(variants) / sizeof(*variants))
{
    struct bloscpack_options options = variants[_i];
    options.type_bytes = 1;
    options.chunk_bytes = CHUNK;
    struct written written;
    struct nt_bloscpack bloscpack;
    struct nt_buffer metadata = {0};
    struct found found = {.count = 0};
    write_file(&written, &options);
    struct nt_source *source = source_of(&written, written.file.length);
    assert_ok(nt_bloscpack_open(source, &bloscpack, &metadata, &error));
    assert_ok(walk(source, &bloscpack, &found));
    check_chunks(&written, &found);
    ck_assert(bloscpack.uses_offsets == (options.has_offsets && !options.hides_offsets));
    ck_assert_str_eq(metadata.bytes ? metadata.bytes : "", options.metadata ? options.metadata : "");
    nt_buffer_deinit(&metadata);
    forget(&written);
}

/* Reads a cut file: nothing past its end is read, and complete chunks are found. */
TEST(a_file_may_end_anywhere, .end = sizeof(variants) / sizeof(*variants))
{
    struct bloscpack_options options = variants[_i];
    options.type_bytes = 1;
    options.chunk_bytes = CHUNK;
    struct written written;
    write_file(&written, &options);
    size_t whole = written.file.length;
    for (size_t size = 0; size < whole; size += size < 1200 ? 1 : 37) {
        struct nt_bloscpack bloscpack;
        struct found found = {.count = 0};
        struct nt_source *source = source_of(&written, size);
        if (nt_bloscpack_open(source, &bloscpack, NULL, &error) == NT_OK) {
            assert_ok(walk(source, &bloscpack, &found));
            for (unsigned i = 0; i < found.count; i++)
                ck_assert(found.chunks[i].damage ||
                          found.chunks[i].offset + found.chunks[i].header.stored_bytes <= size);
            ck_assert(options.hides_count || found.count == CHUNKS);
        }
        nt_source_close(source);
        written.source = NULL;
    }
    forget(&written);
}

TEST(a_damaged_chunk_hides_what_follows_only_without_offsets)
{
    for (unsigned has_offsets = 0; has_offsets < 2; has_offsets++) {
        struct bloscpack_options options = {
            .version = 3, .has_offsets = has_offsets, .type_bytes = 1, .chunk_bytes = CHUNK};
        struct written written;
        struct nt_bloscpack bloscpack;
        struct found found = {.count = 0};
        write_file(&written, &options);
        memset(written.file.bytes + written.places[1] + 12, 0, 4); /* stored bytes */
        struct nt_source *source = source_of(&written, written.file.length);
        assert_ok(nt_bloscpack_open(source, &bloscpack, NULL, &error));
        assert_ok(walk(source, &bloscpack, &found));
        ck_assert_uint_eq(found.count, CHUNKS);
        ck_assert_ptr_null(found.chunks[0].damage);
        ck_assert_ptr_nonnull(found.chunks[1].damage);
        ck_assert(!found.chunks[1].is_lost && found.chunks[1].is_size_known);
        ck_assert(found.chunks[2].is_lost == !has_offsets && found.chunks[2].is_size_known);
        ck_assert_uint_eq(found.chunks[2].plain_bytes, COUNT - 2 * CHUNK);
        forget(&written);
    }
}

/* Changes one byte of a file with metadata, and opens it. */
static enum nt_status open_changed(size_t place, uint8_t value)
{
    struct bloscpack_options options = {.version = 3,
                                        .checksum = 2,
                                        .has_offsets = true,
                                        .type_bytes = 1,
                                        .chunk_bytes = CHUNK,
                                        .metadata = "{\"dtype\": \"text\"}",
                                        .compresses_metadata = true};
    struct written written;
    struct nt_bloscpack bloscpack;
    struct nt_buffer metadata = {0};
    write_file(&written, &options);
    written.file.bytes[place] = (char)value;
    enum nt_status status =
        nt_bloscpack_open(source_of(&written, written.file.length), &bloscpack, &metadata, &error);
    nt_buffer_deinit(&metadata);
    forget(&written);
    return status;
}

TEST(damaged_metadata_sections_are_refused)
{
    ck_assert_int_eq(open_changed(31, 0), NT_OK);                   /* nothing changed */
    ck_assert_int_eq(open_changed(32, 'X'), NT_UNSUPPORTED);        /* format */
    ck_assert_int_eq(open_changed(40, 1), NT_CORRUPT);              /* options */
    ck_assert_int_eq(open_changed(41, 9), NT_CORRUPT);              /* checksum */
    ck_assert_int_eq(open_changed(42, 2), NT_CORRUPT);              /* codec */
    ck_assert_int_eq(open_changed(44, 1), NT_CORRUPT);              /* size */
    ck_assert_int_eq(open_changed(44 + 3, 0x7F), NT_LIMIT);         /* size, of gigabytes */
    ck_assert_int_eq(open_changed(51, 0x7F), NT_TRUNCATED);         /* room */
    ck_assert_int_eq(open_changed(52 + 3, 1), NT_CORRUPT);          /* stored size */
    ck_assert_int_eq(open_changed(32 + 32 + 5, 0x55), NT_CHECKSUM); /* the text */
}

/* With offsets of chunks: neither their number nor their bytes are counted twice. */
TEST(offsets_of_more_chunks_than_can_be_counted_are_refused)
{
    static const uint64_t counts[][2] = {{INT64_MAX, INT64_MAX}, {1, INT64_MAX}, {1, 1 << 20}};
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        struct bloscpack_options options = {
            .version = 3, .has_offsets = true, .type_bytes = 1, .chunk_bytes = CHUNK};
        struct written written;
        struct nt_bloscpack bloscpack;
        write_file(&written, &options);
        memcpy(written.file.bytes + 16, counts[i], sizeof(counts[i]));
        assert_status(NT_CORRUPT,
                      nt_bloscpack_open(source_of(&written, written.file.length), &bloscpack, NULL, &error));
        ck_assert_ptr_nonnull(strstr(error.message, "end past the end of the file"));
        forget(&written);
    }
}

TEST(more_chunks_than_the_file_can_hold_are_refused)
{
    for (unsigned has_offsets = 0; has_offsets < 2; has_offsets++) {
        struct bloscpack_options options = {
            .version = 3, .has_offsets = has_offsets, .type_bytes = 1, .chunk_bytes = CHUNK};
        struct written written;
        struct nt_bloscpack bloscpack;
        write_file(&written, &options);
        written.file.bytes[16 + 7] = 0x40; /* 2^62 more */
        assert_status(NT_CORRUPT,
                      nt_bloscpack_open(source_of(&written, written.file.length), &bloscpack, NULL, &error));
        forget(&written);
    }
}

TEST(fewer_chunks_than_the_file_holds_are_refused)
{
    for (unsigned chunks = 0; chunks < CHUNKS; chunks++) {
        struct bloscpack_options options = {.version = 3, .type_bytes = 1, .chunk_bytes = CHUNK};
        struct written written;
        struct nt_bloscpack bloscpack;
        struct found found = {.count = 0};
        write_file(&written, &options);
        written.file.bytes[16] = (char)chunks;
        struct nt_source *source = source_of(&written, written.file.length);
        enum nt_status status = nt_bloscpack_open(source, &bloscpack, NULL, &error);
        if (status == NT_OK)
            status = walk(source, &bloscpack, &found);
        ck_assert_int_eq(status, NT_CORRUPT);
        ck_assert_ptr_nonnull(strstr(error.message, "bytes follow the last chunk"));
        forget(&written);
    }
}

TEST(offsets_that_cannot_be_are_not_used)
{
    static const uint64_t wrong[] = {0, 1, UINT64_MAX, INT64_MAX, 1 << 20};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct bloscpack_options options = {
            .version = 3, .has_offsets = true, .type_bytes = 1, .chunk_bytes = CHUNK};
        struct written written;
        struct nt_bloscpack bloscpack;
        struct found found = {.count = 0};
        write_file(&written, &options);
        memcpy(written.file.bytes + 32 + 8, &wrong[i], 8);
        struct nt_source *source = source_of(&written, written.file.length);
        assert_ok(nt_bloscpack_open(source, &bloscpack, NULL, &error));
        ck_assert(!bloscpack.uses_offsets);
        assert_ok(walk(source, &bloscpack, &found));
        check_chunks(&written, &found);
        forget(&written);
    }
}

/* ---- Blosc headers ---- */

TEST(blosc_headers_are_checked_against_the_room)
{
    static const uint8_t good[16] = {2, 1, 0x21, 4, LE4(1000), LE4(500), LE4(100)};
    struct nt_blosc_header header;
    ck_assert_ptr_null(nt_blosc_header_read(good, 100, &header));
    ck_assert_uint_eq(header.plain_bytes, 1000);
    ck_assert_uint_eq(header.type_bytes, 4);
    ck_assert_str_eq(nt_blosc_codec(&header), "lz4");
    ck_assert_str_eq(nt_blosc_shuffle(&header), "byte");
    ck_assert(!nt_blosc_is_stored(&header));
    ck_assert_ptr_nonnull(nt_blosc_header_read(good, 99, &header));
    static const struct {
        unsigned place;
        uint8_t value;
    } changes[] = {{0, 0}, {0, 3}, {3, 0}, {7, 0x80}, {10, 0xFF}, {11, 0x80}, {12, 15}};
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        uint8_t bytes[16];
        memcpy(bytes, good, sizeof(bytes));
        bytes[changes[i].place] = changes[i].value;
        if (changes[i].place == 10)
            memset(bytes + 8, 0, 4);
        ck_assert_msg(nt_blosc_header_read(bytes, 100, &header) != NULL, "change %zu", i);
    }
}
