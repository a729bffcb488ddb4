/* SPDX-License-Identifier: MIT
 *
 * Flips every bit of a small file with checksums, one at a time, and truncates the file at every byte. Each
 * time it reads the whole file. Each value must be the written one, or an error. Files of formats without
 * checksums may give other values, and nothing else.
 *
 * usage: test_damage [-a]        -a: every bit of every file, not one of five
 */
#include <ntuple/source.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloscpack_writer.h"
#include "everything.h"
#include "sample.h"
#include "support.h"

NEEDS_PROCESSES("a damaged file may stop the program");

enum { STREAMS = 5, STREAM_BYTES = 128 };

struct content {
    uint32_t count;
    struct {
        enum nt_status status;
        uint64_t bytes;
        uint8_t content[STREAM_BYTES];
    } streams[STREAMS];
};

struct figures {
    unsigned damages, refused, errors, unchanged, wrong;
};

static void note(void *context, uint32_t dataset, uint32_t field, enum nt_stream_kind kind,
                 enum nt_status status, const uint8_t *bytes, uint64_t count)
{
    struct content *content = context;
    if (content->count < STREAMS) {
        content->streams[content->count].status = status;
        content->streams[content->count].bytes = count;
        if (bytes && count <= STREAM_BYTES)
            memcpy(content->streams[content->count].content, bytes, count);
    }
    content->count++;
}

/* Reads all streams of all datasets; false if the file or each of its datasets is refused. */
static bool read_content(const struct nt_format *format, const uint8_t *bytes, size_t count,
                         struct content *content)
{
    struct nt_source *source;
    *content = (struct content){0};
    ck_assert(nt_source_open_memory(bytes, count, "damaged", &source, NULL) == NT_OK);
    return open_and_read(format, source, note, content) == NT_OK;
}

static void compare(const struct content *truth, const struct content *found, struct figures *figures)
{
    bool has_error = false, is_wrong = found->count != truth->count;
    for (uint32_t i = 0; i < STREAMS && !is_wrong; i++) {
        if (found->streams[i].status != NT_OK)
            has_error = true;
        else
            is_wrong = found->streams[i].bytes != truth->streams[i].bytes ||
                       memcmp(found->streams[i].content, truth->streams[i].content, STREAM_BYTES) != 0;
    }
    figures->wrong += is_wrong;
    figures->errors += has_error && !is_wrong;
    figures->unchanged += !has_error && !is_wrong;
}

static void try_damaged(const struct nt_format *format, const uint8_t *bytes, size_t count,
                        const struct content *truth, struct figures *figures)
{
    struct content found;
    figures->damages++;
    if (read_content(format, bytes, count, &found))
        compare(truth, &found, figures);
    else
        figures->refused++;
}

static void print(const char *what, const struct figures *figures, size_t bytes)
{
    printf("%s of %zu bytes: %u tried, %u refused, %u errors, %u unchanged, %u wrong\n", what, bytes,
           figures->damages, figures->refused, figures->errors, figures->unchanged, figures->wrong);
    ck_assert_uint_gt(figures->refused, 0);
}

static void report(const char *what, const struct figures *figures, size_t bytes)
{
    print(what, figures, bytes);
    ck_assert_uint_eq(figures->wrong, 0);
}

/* Bits between flipped ones: in the latest generation, and in each. */
static size_t latest_step = 1, step = 5, cut_step = 1;

static void try_flips(const struct nt_format *format, struct nt_buffer *file, const struct content *truth,
                      size_t bits_apart, struct figures *figures)
{
    uint8_t *bytes = (uint8_t *)file->bytes;
    for (size_t bit = 0; bit < 8 * file->length; bit += bits_apart) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        try_damaged(format, bytes, file->length, truth, figures);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

/* Frees the file. */
static void flip_bits(const struct nt_format *format, struct nt_buffer *file, uint32_t streams,
                      size_t bits_apart)
{
    struct content truth;
    struct figures figures = {0};
    ck_assert(read_content(format, (uint8_t *)file->bytes, file->length, &truth));
    ck_assert_uint_eq(truth.count, streams);
    for (uint32_t i = 0; i < streams; i++)
        ck_assert_int_eq(truth.streams[i].status, NT_OK);
    try_flips(format, file, &truth, bits_apart, &figures);
    report("flipped bits", &figures, file->length);
    nt_buffer_deinit(file);
}

static void flip_bits_of(enum rntuple_generation generation, bool is_compressed, size_t bits_apart)
{
    struct nt_buffer file = {0};
    sample_file(generation, is_compressed, NULL, &file);
    flip_bits(&nt_format_rntuple, &file, STREAMS, bits_apart);
}

TEST(a_flipped_bit_is_an_error_or_changes_nothing, .end = 2)
{
    flip_bits_of(RNTUPLE_V1_1, _i, latest_step);
}

TEST(a_flipped_bit_is_found_in_every_generation_with_page_checksums, .first = RNTUPLE_CRC32_LINKS,
     .end = RNTUPLE_GENERATIONS)
{
    flip_bits_of(_i, true, step);
}

/* The header has no checksum: bytes without a shape show that another number of chunks is found. */
TEST(a_flipped_bit_is_found_by_every_digest_of_bloscpack, .first = 1, .end = 1 + 4 * 8)
{
    enum { VALUES = 24, CHUNKS = 3 };
    struct nt_buffer file = {0};
    int values[VALUES];
    const struct bloscpack_options options = {
        .version = 3,
        .checksum = (unsigned)(_i - 1) % 8 + 1,
        .has_offsets = _i <= 16,
        .metadata = _i % 16 < 8 ? "{\"container\": \"numpy\", \"dtype\": \"'<i4'\", \"shape\": [24]}" : NULL,
        .type_bytes = sizeof(*values),
        .chunk_bytes = sizeof(values) / CHUNKS};
    for (int i = 0; i < VALUES; i++)
        values[i] = i * i;
    bloscpack_write(&file, &options, values, sizeof(values), NULL);
    flip_bits(&nt_format_blz, &file, 1, step);
}

/* Frees the file. */
static void flip_bits_without_checksums(const struct nt_format *format, struct nt_buffer *file)
{
    struct content truth;
    struct figures figures = {0};
    ck_assert(read_content(format, (uint8_t *)file->bytes, file->length, &truth));
    try_flips(format, file, &truth, step, &figures);
    print("flipped bits, no checksums", &figures, file->length);
    nt_buffer_deinit(file);
}

/* Two containers: an array of three values, and a bitmap of the first 4,160. */
TEST(a_flipped_bit_of_a_bitmap_does_not_stop_the_program)
{
    enum { BITMAP_BYTES = 8192 };
    static const uint8_t head[] = {0x3a, 0x30, 0, 0, 2, 0,  0, 0, 0, 0, 2, 0, 5, 0, 0x3f,
                                   0x10, 24,   0, 0, 0, 30, 0, 0, 0, 1, 0, 7, 0, 0, 1};
    struct nt_buffer file = {0};
    nt_buffer_append(&file, head, sizeof(head));
    for (unsigned i = 0; i < BITMAP_BYTES; i++)
        nt_buffer_append(&file, i < 4160 / 8 ? "\xff" : "", 1);
    ck_assert(!file.failed);
    flip_bits_without_checksums(&nt_format_roaring, &file);
}

TEST(a_flipped_bit_of_a_lance_file_does_not_stop_the_program, .end = 3)
{
    static const char *const names[] = {"dictionaries_0.2", "constants_2.1", "constants_2.2"};
    char path[PATH_MAX];
    uint8_t bytes[8192];
    struct nt_buffer file = {0};
    snprintf(path, sizeof(path), "%s/lance_%s.lance", getenv("NTUPLE_TEST_DATA"), names[_i]);
    FILE *stream = fopen(path, "rb");
    ck_assert_ptr_nonnull(stream);
    nt_buffer_append(&file, bytes, fread(bytes, 1, sizeof(bytes), stream));
    fclose(stream);
    flip_bits_without_checksums(&nt_format_lance, &file);
}

TEST(a_file_that_is_cut_off_is_an_error_or_read_whole, .end = RNTUPLE_GENERATIONS)
{
    struct nt_buffer file = {0};
    struct content truth;
    struct figures figures = {0};
    sample_file(_i, false, NULL, &file);
    const struct nt_format *format = &nt_format_rntuple;
    ck_assert(read_content(format, (uint8_t *)file.bytes, file.length, &truth));
    for (size_t length = 0; length < file.length; length += cut_step)
        try_damaged(format, (uint8_t *)file.bytes, length, &truth, &figures);
    report("cuts", &figures, file.length);
    nt_buffer_deinit(&file);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "-a") == 0) {
        step = 1;
        setenv("CK_DEFAULT_TIMEOUT", "3600", 1);
    }
    if (argc == 2 && strcmp(argv[1], "-s") == 0) /* a sample, for builds that are slow */
        latest_step = step = 31, cut_step = 7;
    return nt_test_run("test_damage", 0, NULL);
}
