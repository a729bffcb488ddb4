/* SPDX-License-Identifier: MIT
 *
 * Payloads in several keys: built part by part, read back as one.
 */
#include "formats/rntuple/rntuple.h"

#include "opened.h"
#include "core/io/source.h"
#include <ntuple/source.h>

enum { MAX_BYTES = 4096, GAP = 5 };

static struct nt_error error;
static uint8_t file[4 * MAX_BYTES];
static size_t file_bytes;
static uint8_t payload[MAX_BYTES];
static struct nt_source *memory, *source;

static void put_offset(size_t at, uint64_t offset)
{
    for (int i = 0; i < 8; i++)
        file[at + i] = (uint8_t)(offset >> 8 * i);
}

/* Puts a part into the file; returns its offset. */
static size_t put_part(const uint8_t *part, size_t bytes)
{
    size_t at = file_bytes;
    memcpy(file + at, part, bytes);
    file_bytes += bytes + GAP;
    return at;
}

/* Writes the payload as `keys` parts of at most `maximum` bytes with gaps between them, the last parts
 * first, except the first part, which is at the start or at the end of the file. Returns its offset. */
static size_t split(size_t bytes, size_t maximum, size_t keys, bool is_first_at_end)
{
    size_t list = 8 * (keys - 1), first = maximum - list, at[64];
    for (size_t i = 0; i < bytes; i++)
        payload[i] = (uint8_t)(i * 7 + i / 256);
    memset(file, 0xee, sizeof(file));
    file_bytes = is_first_at_end ? 0 : maximum + GAP;
    for (size_t i = keys - 1; i > 0; i--) {
        size_t done = first + (i - 1) * maximum;
        at[i] = put_part(payload + done, bytes - done < maximum ? bytes - done : maximum);
    }
    size_t start = is_first_at_end ? file_bytes : 0;
    memcpy(file + start, payload, first);
    for (size_t i = 1; i < keys; i++)
        put_offset(start + first + 8 * (i - 1), at[i]);
    file_bytes = is_first_at_end ? start + maximum : file_bytes;
    ck_assert_uint_le(file_bytes, sizeof(file));
    return start;
}

static void open_split(uint64_t maximum)
{
    assert_ok(nt_source_open_memory(file, file_bytes, "test", &memory, &error));
    assert_ok(nt_payload_source_new(memory, maximum, &source, &error));
}

static void close_split(void)
{
    nt_source_close(source);
    nt_source_close(memory);
}

/* Sizes around the limits. The number of keys follows from the definition: each key has room for
 * `maximum` bytes, and the first also stores 8 bytes for each of the others. */
static void read_split(size_t bytes, size_t maximum, size_t keys, bool is_first_at_end)
{
    uint8_t output[MAX_BYTES];
    struct nt_extent *extents;
    size_t count, sum = 0, start = split(bytes, maximum, keys, is_first_at_end);
    open_split(maximum);
    assert_ok(nt_source_read(source, start, output, bytes, &error));
    ck_assert_mem_eq(output, payload, bytes);
    assert_ok(nt_payload_extents(source, start, bytes, &extents, &count, &error));
    ck_assert_uint_eq(count, keys);
    for (size_t i = 0; i < count; i++) {
        ck_assert_mem_eq(file + extents[i].offset, payload + sum, extents[i].bytes);
        sum += extents[i].bytes;
    }
    ck_assert_uint_eq(sum, bytes);
    free(extents);
    close_split();
}

TEST(a_split_payload_is_read_as_one, .end = 5)
{
    static const size_t maxima[] = {32, 64, 100, 128, 1000};
    size_t maximum = maxima[_i];
    for (size_t bytes = maximum + 1; bytes <= MAX_BYTES && bytes <= 4 * maximum; bytes++) {
        size_t keys = 2;
        while (keys * maximum < bytes + 8 * (keys - 1))
            keys++;
        if (8 * (keys - 1) > maximum)
            break;
        read_split(bytes, maximum, keys, false);
        read_split(bytes, maximum, keys, true);
    }
}

TEST(what_fits_into_a_key_is_read_as_it_is)
{
    split(300, 128, 3, false);
    for (uint64_t maximum = 0; maximum <= 128; maximum += 128) {
        uint8_t output[128];
        open_split(maximum);
        for (size_t bytes = 0; bytes <= 128; bytes++) {
            assert_ok(nt_source_read(source, 3, output, bytes, &error));
            ck_assert_mem_eq(output, file + 3, bytes);
        }
        struct nt_extent *extents;
        size_t count;
        assert_ok(nt_payload_extents(source, 3, 128, &extents, &count, &error));
        ck_assert_uint_eq(count, 1);
        ck_assert_uint_eq(extents[0].offset, 3);
        ck_assert_uint_eq(extents[0].bytes, 128);
        free(extents);
        close_split();
    }
}

TEST(without_a_maximum_nothing_is_split)
{
    uint8_t output[300];
    split(300, 128, 3, false);
    open_split(0);
    assert_ok(nt_source_read(source, 0, output, 300, &error));
    ck_assert_mem_eq(output, file, 300);
    close_split();
}

TEST(a_part_after_the_end_is_corrupt)
{
    uint8_t output[300];
    split(300, 128, 3, false);
    const uint64_t wrong[] = {file_bytes, file_bytes - 127, UINT64_MAX, UINT64_MAX - 10};
    for (size_t i = 0; i < 4; i++) {
        put_offset(128 - 16, wrong[i]);
        open_split(128);
        assert_status(NT_CORRUPT, nt_source_read(source, 0, output, 300, &error));
        close_split();
    }
}

TEST(a_payload_longer_than_the_file_is_refused)
{
    struct nt_extent *extents;
    size_t count;
    split(300, 128, 3, false);
    open_split(128);
    assert_status(NT_TRUNCATED, nt_payload_extents(source, 0, UINT64_MAX, &extents, &count, &error));
    assert_status(NT_TRUNCATED, nt_payload_extents(source, UINT64_MAX, 2, &extents, &count, &error));
    assert_status(NT_TRUNCATED, nt_payload_extents(source, 0, file_bytes + 1, &extents, &count, &error));
    assert_status(NT_TRUNCATED, nt_payload_extents(source, file_bytes - 127, 300, &extents, &count, &error));
    assert_status(NT_TRUNCATED, nt_source_read(source, file_bytes - 3, payload, 4, &error));
    uint64_t size;
    assert_ok(nt_source_size(source, &size, &error));
    ck_assert_uint_eq(size, file_bytes);
    close_split();
}

TEST(a_maximum_too_small_for_its_own_list_is_refused)
{
    uint8_t output[300];
    split(300, 128, 3, false);
    for (uint64_t maximum = 1; maximum < 24; maximum++) {
        open_split(maximum);
        assert_status(NT_CORRUPT, nt_source_read(source, 0, output, 300, &error));
        close_split();
    }
}
