/* SPDX-License-Identifier: MIT
 *
 * Arrow IPC files of one column, as pyarrow 26 writes them: values and damage.
 */
#include "formats/lance/dataset/dataset.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

/* Record batches of the rows 3, 5, 8 and 2, 70000. */
/* clang-format off */
static const uint8_t plain[] = {
    65, 82, 82, 79, 87, 49, 0, 0, 255, 255, 255, 255, 120, 0, 0, 0, 16, 0, 0, 0, 0, 0, 10, 0,
    12, 0, 6, 0, 5, 0, 8, 0, 10, 0, 0, 0, 0, 1, 4, 0, 12, 0, 0, 0, 8, 0, 8, 0,
    0, 0, 4, 0, 8, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 20, 0, 0, 0, 16, 0, 20, 0,
    8, 0, 0, 0, 7, 0, 12, 0, 0, 0, 16, 0, 16, 0, 0, 0, 0, 0, 0, 2, 16, 0, 0, 0,
    32, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 114, 111, 119, 95, 105, 100, 0, 0,
    0, 0, 6, 0, 8, 0, 4, 0, 6, 0, 0, 0, 32, 0, 0, 0, 255, 255, 255, 255, 136, 0, 0, 0,
    20, 0, 0, 0, 0, 0, 0, 0, 12, 0, 22, 0, 6, 0, 5, 0, 8, 0, 12, 0, 12, 0, 0, 0,
    0, 3, 4, 0, 24, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 24, 0, 12, 0,
    4, 0, 8, 0, 10, 0, 0, 0, 60, 0, 0, 0, 16, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
    3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0,
    8, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 136, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0,
    12, 0, 22, 0, 6, 0, 5, 0, 8, 0, 12, 0, 12, 0, 0, 0, 0, 3, 4, 0, 24, 0, 0, 0,
    8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 24, 0, 12, 0, 4, 0, 8, 0, 10, 0, 0, 0,
    60, 0, 0, 0, 16, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 112, 17, 1, 0, 255, 255, 255, 255, 0, 0, 0, 0,
    16, 0, 0, 0, 12, 0, 20, 0, 6, 0, 8, 0, 12, 0, 16, 0, 12, 0, 0, 0, 0, 0, 4, 0,
    76, 0, 0, 0, 60, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 136, 0, 0, 0, 0, 0, 0, 0,
    144, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 40, 1, 0, 0, 0, 0, 0, 0,
    144, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 8, 0,
    0, 0, 4, 0, 8, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 20, 0, 0, 0, 16, 0, 20, 0,
    8, 0, 0, 0, 7, 0, 12, 0, 0, 0, 16, 0, 16, 0, 0, 0, 0, 0, 0, 2, 16, 0, 0, 0,
    32, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 114, 111, 119, 95, 105, 100, 0, 0,
    0, 0, 6, 0, 8, 0, 4, 0, 6, 0, 0, 0, 32, 0, 0, 0, 184, 0, 0, 0, 65, 82, 82, 79,
    87, 49,
};
/* Rows 100 to 299, compressed with Zstandard. */
static const uint8_t packed[] = {
    65, 82, 82, 79, 87, 49, 0, 0, 255, 255, 255, 255, 120, 0, 0, 0, 16, 0, 0, 0, 0, 0, 10, 0,
    12, 0, 6, 0, 5, 0, 8, 0, 10, 0, 0, 0, 0, 1, 4, 0, 12, 0, 0, 0, 8, 0, 8, 0,
    0, 0, 4, 0, 8, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 20, 0, 0, 0, 16, 0, 20, 0,
    8, 0, 0, 0, 7, 0, 12, 0, 0, 0, 16, 0, 16, 0, 0, 0, 0, 0, 0, 2, 16, 0, 0, 0,
    32, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 114, 111, 119, 95, 105, 100, 0, 0,
    0, 0, 6, 0, 8, 0, 4, 0, 6, 0, 0, 0, 32, 0, 0, 0, 255, 255, 255, 255, 160, 0, 0, 0,
    20, 0, 0, 0, 0, 0, 0, 0, 12, 0, 24, 0, 6, 0, 5, 0, 8, 0, 12, 0, 12, 0, 0, 0,
    0, 3, 4, 0, 28, 0, 0, 0, 136, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 0, 30, 0,
    16, 0, 4, 0, 8, 0, 12, 0, 12, 0, 0, 0, 80, 0, 0, 0, 36, 0, 0, 0, 24, 0, 0, 0,
    200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 8, 0, 7, 0, 6, 0, 0, 0,
    0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 136, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
    200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 3, 0, 0, 0, 0, 0, 0,
    40, 181, 47, 253, 96, 32, 2, 181, 11, 0, 6, 178, 92, 48, 128, 116, 211, 26, 240, 48, 195, 12, 51, 204,
    48, 195, 12, 51, 204, 48, 195, 172, 197, 118, 57, 71, 177, 93, 206, 81, 108, 151, 115, 20, 219,
    229, 236, 51,
    60, 183, 220, 114, 203, 45, 183, 220, 114, 203, 45, 217, 50, 5, 76, 0, 76, 0, 76, 0, 15, 114, 32, 255,
    113, 31, 239, 113, 30, 223, 113, 29, 207, 113, 28, 191, 113, 27, 175, 113, 26, 159, 113, 25,
    143, 113, 24, 127,
    113, 23, 111, 113, 22, 95, 113, 21, 79, 113, 20, 63, 113, 19, 47, 113, 18, 31, 113, 17, 15, 113, 16, 255,
    112, 15, 239, 112, 14, 223, 112, 13, 207, 112, 12, 191, 112, 11, 175, 112, 10, 159, 112, 9, 143,
    112, 8, 1,
    159, 115, 57, 143, 115, 56, 127, 115, 55, 111, 115, 54, 95, 115, 53, 79, 115, 52, 63, 115, 51,
    47, 115, 50,
    31, 115, 49, 15, 115, 48, 255, 114, 47, 239, 114, 46, 223, 114, 45, 207, 114, 44, 191, 114, 43,
    175, 114, 42,
    159, 114, 41, 143, 114, 40, 127, 114, 39, 111, 114, 38, 95, 114, 37, 79, 114, 36, 63, 114, 35,
    47, 114, 34,
    31, 114, 33, 1, 47, 117, 82, 31, 117, 81, 15, 117, 80, 255, 116, 79, 239, 116, 78, 223, 116, 77, 207, 116,
    76, 191, 116, 75, 175, 116, 74, 159, 116, 73, 143, 116, 72, 127, 116, 71, 111, 116, 70, 95, 116,
    69, 79, 116,
    68, 63, 116, 67, 47, 116, 66, 31, 116, 65, 15, 116, 64, 255, 115, 63, 239, 115, 62, 223, 115,
    61, 207, 115,
    60, 191, 115, 59, 175, 115, 58, 1, 223, 131, 207, 193, 215, 224, 99, 240, 45, 248, 20, 124, 9, 62, 4, 223,
    129, 207, 192, 87, 224, 35, 240, 13, 248, 4, 124, 1, 62, 0, 223, 219, 231, 246, 181, 125, 108,
    223, 218, 167,
    246, 165, 125, 104, 223, 217, 103, 246, 149, 125, 100, 223, 216, 39, 246, 133, 125, 96, 223,
    215, 231, 245, 117, 125,
    92, 223, 214, 167, 245, 101, 125, 88, 223, 213, 103, 245, 221, 247, 171, 174, 234, 169, 142,
    234, 167, 110, 42, 0,
    255, 255, 255, 255, 0, 0, 0, 0, 16, 0, 0, 0, 12, 0, 20, 0, 6, 0, 8, 0, 12, 0, 16, 0,
    12, 0, 0, 0, 0, 0, 4, 0, 52, 0, 0, 0, 36, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0,
    136, 0, 0, 0, 0, 0, 0, 0, 168, 0, 0, 0, 0, 0, 0, 0, 136, 1, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 8, 0, 8, 0, 0, 0, 4, 0, 8, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0,
    20, 0, 0, 0, 16, 0, 20, 0, 8, 0, 0, 0, 7, 0, 12, 0, 0, 0, 16, 0, 16, 0, 0, 0,
    0, 0, 0, 2, 16, 0, 0, 0, 32, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0,
    114, 111, 119, 95, 105, 100, 0, 0, 0, 0, 6, 0, 8, 0, 4, 0, 6, 0, 0, 0, 32, 0, 0, 0,
    160, 0, 0, 0, 65, 82, 82, 79, 87, 49,
};
/* clang-format on */

enum { MOST = 1024, PLAIN_ROWS = 5, PACKED_ROWS = 200 };

struct found {
    uint32_t rows[MOST];
    size_t count;
};

static struct nt_error error;

static enum nt_status read_all(const uint8_t *bytes, size_t size, uint64_t most, struct found *found)
{
    struct nt_arrow_rows read = {0};
    error = (struct nt_error){0};
    enum nt_status status = nt_arrow_column_read(bytes, size, most, &read, &error);
    found->count = read.count;
    ck_assert_uint_le(read.count, MOST);
    if (read.count)
        memcpy(found->rows, read.rows, read.count * sizeof(*read.rows));
    free(read.rows);
    return status;
}

TEST(batches_follow_one_another)
{
    static const uint32_t expected[PLAIN_ROWS] = {3, 5, 8, 2, 70000};
    struct found found;
    assert_ok(read_all(plain, sizeof(plain), PLAIN_ROWS, &found));
    ck_assert_uint_eq(found.count, PLAIN_ROWS);
    ck_assert_mem_eq(found.rows, expected, sizeof(expected));
}

TEST(compressed_rows_are_read)
{
    struct found found;
    assert_ok(read_all(packed, sizeof(packed), PACKED_ROWS, &found));
    ck_assert_uint_eq(found.count, PACKED_ROWS);
    for (uint32_t i = 0; i < PACKED_ROWS; i++)
        ck_assert_uint_eq(found.rows[i], 100 + i);
}

/* The total of all batches, too: a footer may name one of them many times. */
TEST(there_are_no_more_rows_than_are_expected)
{
    struct found found;
    ck_assert_int_eq(read_all(plain, sizeof(plain), PLAIN_ROWS - 1, &found), NT_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "deleted rows"));
    ck_assert_int_eq(read_all(packed, sizeof(packed), PACKED_ROWS - 1, &found), NT_CORRUPT);
}

/* Memory of its exact length, so that reads past the end are noticed. */
static void try_damaged(const uint8_t *bytes, size_t size, uint64_t most)
{
    struct found found;
    uint8_t *copy = malloc(size ? size : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, size);
    if (read_all(copy, size, most, &found) != NT_OK)
        ck_assert_msg(error.message[0], "a failure says why");
    free(copy);
}

static void try_all_damage(const uint8_t *bytes, size_t size, uint64_t rows)
{
    static const uint8_t changes[] = {0x01, 0x80, 0xff, 0x7f, 0x10};
    uint8_t *copy = malloc(size);
    struct found found;
    ck_assert_ptr_nonnull(copy);
    for (size_t count = 0; count < size; count++) {
        ck_assert_int_ne(read_all(bytes, count, rows, &found), NT_OK);
        try_damaged(bytes, count, rows);
    }
    for (size_t at = 0; at < size; at++)
        for (size_t change = 0; change < sizeof(changes); change++) {
            memcpy(copy, bytes, size);
            copy[at] ^= changes[change];
            try_damaged(copy, size, rows);
        }
    free(copy);
}

TEST(a_damaged_file_is_refused_or_has_other_rows)
{
    try_all_damage(plain, sizeof(plain), PLAIN_ROWS);
    try_all_damage(packed, sizeof(packed), PACKED_ROWS);
}
