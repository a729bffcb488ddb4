/* SPDX-License-Identifier: MIT
 *
 * FSST, compared with an encoder and a decoder that process one code after the other, and with strings
 * encoded by hand. Codes and output end at the end of their memory.
 */
#include <string.h>

#include "formats/lance/decode/decode.h"
#include "compressors.h"
#include "support.h"

enum { TABLE = 8 + 255 * 9, MAX_CODES = 3000, GUARD = 0xA5 };

static struct nt_error error;
static struct nt_fsst fsst;
static uint8_t table[TABLE + 8];

/* Symbols as a writer stores them; returns the table's bytes. */
static size_t write_table(const char *const *symbols, size_t count)
{
    memset(table, 0, sizeof(table));
    memcpy(table, (uint8_t[]){(uint8_t)count, 0, 0, 1, 'T', 'S', 'S', 'F'}, 8);
    for (size_t i = 0; i < count; i++) {
        memcpy(table + 8 + 8 * i, symbols[i], strlen(symbols[i]));
        table[8 + 8 * count + i] = (uint8_t)strlen(symbols[i]);
    }
    return 8 + 9 * count;
}

static const char *const english[] = {"the ", "and", " of", "e", "t", "columns ", "in", "g", "s"};

static void set_up(void)
{
    assert_ok(nt_fsst_init(&fsst, table, write_table(english, 9), &error));
}

/* `count` symbols of random bytes, of 1 to 8 bytes, or all of `length` bytes. */
static void set_up_random(uint32_t count, uint32_t length)
{
    memset(table, 0, sizeof(table));
    memcpy(table, (uint8_t[]){(uint8_t)count, 3, 9, 1, 'T', 'S', 'S', 'F'}, 8);
    for (uint32_t i = 0; i < 8 * count; i++)
        table[8 + i] = (uint8_t)rand();
    for (uint32_t i = 0; i < count; i++)
        table[8 + 8 * count + i] = (uint8_t)(length ? length : 1 + (uint32_t)rand() % 8);
    assert_ok(nt_fsst_init(&fsst, table, 8 + 9 * (size_t)count, &error));
}

/* One code at a time, from the table's own bytes. Returns the bytes, or SIZE_MAX if the codes are
 * wrong. */
static size_t decode_slowly(uint32_t count, const uint8_t *codes, size_t bytes, uint8_t *output)
{
    size_t done = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (codes[i] == 255) {
            if (++i == bytes)
                return SIZE_MAX;
            output[done++] = codes[i];
            continue;
        }
        if (codes[i] >= count)
            return SIZE_MAX;
        for (uint8_t k = 0; k < table[8 + 8 * count + codes[i]]; k++)
            output[done++] = table[8 + 8 * codes[i] + k];
    }
    return done;
}

static enum nt_status decode(const uint8_t *codes, size_t bytes, uint8_t *output, size_t output_bytes)
{
    uint8_t *exact = exact_copy(codes, bytes), *exact_output = malloc(output_bytes + 1);
    ck_assert(exact_output);
    exact_output[output_bytes] = GUARD;
    enum nt_status status = nt_fsst_decode(&fsst, exact, bytes, exact_output, output_bytes, &error);
    ck_assert_uint_eq(exact_output[output_bytes], GUARD);
    if (status == NT_OK && output_bytes)
        memcpy(output, exact_output, output_bytes);
    free(exact_output);
    free(exact);
    return status;
}

/* Bytes and ends at once, in memory of the exact size. */
static enum nt_status expand(const uint8_t *codes, const uint64_t *code_ends, size_t strings, uint8_t *output,
                             size_t output_bytes, uint64_t *ends)
{
    size_t bytes = strings ? (size_t)code_ends[strings - 1] : 0;
    uint8_t *exact = exact_copy(codes, bytes), *exact_output = exact_copy(output, output_bytes);
    uint64_t *exact_ends = (uint64_t *)(void *)exact_copy((uint8_t *)ends, strings * sizeof(*ends));
    enum nt_status status =
        nt_fsst_expand(&fsst, exact, code_ends, strings, exact_output, output_bytes, exact_ends, &error);
    if (status == NT_OK && strings)
        memcpy(ends, exact_ends, strings * sizeof(*ends));
    if (status == NT_OK && output_bytes)
        memcpy(output, exact_output, output_bytes);
    free(exact_ends);
    free(exact_output);
    free(exact);
    return status;
}

static void assert_expands(const uint8_t *codes, size_t bytes, const uint8_t *expected, size_t size)
{
    static uint8_t found[MAX_CODES * 8 + 1];
    uint64_t code_end = bytes, end = 0;
    assert_ok(expand(codes, &code_end, 1, found, size, &end));
    ck_assert_uint_eq(end, size);
    ck_assert(!size || !memcmp(found, expected, size));
    assert_status(NT_CORRUPT, expand(codes, &code_end, 1, found, size + 1, &end));
    if (size)
        assert_status(NT_CORRUPT, expand(codes, &code_end, 1, found, size - 1, &end));
}

/* All decoders give the same result, or all refuse. */
static void assert_equal_decoders(uint32_t count, const uint8_t *codes, size_t bytes)
{
    static uint8_t expected[MAX_CODES * 8], found[MAX_CODES * 8];
    uint64_t decoded, code_end = bytes;
    size_t size = decode_slowly(count, codes, bytes, expected);
    uint8_t *exact = exact_copy(codes, bytes);
    enum nt_status status = nt_fsst_ends(&fsst, exact, &code_end, 1, &decoded, &error);
    free(exact);
    ck_assert_int_eq(status, size == SIZE_MAX ? NT_CORRUPT : NT_OK);
    if (size == SIZE_MAX) {
        assert_status(NT_CORRUPT, decode(codes, bytes, found, bytes));
        assert_status(NT_CORRUPT, decode(codes, bytes, found, 8 * bytes));
        assert_status(NT_CORRUPT, expand(codes, &code_end, 1, found, bytes, &decoded));
        assert_status(NT_CORRUPT, expand(codes, &code_end, 1, found, 8 * bytes, &decoded));
        return;
    }
    ck_assert_uint_eq(decoded, size);
    assert_ok(decode(codes, bytes, found, size));
    if (size)
        ck_assert_mem_eq(found, expected, size);
    assert_expands(codes, bytes, expected, size);
    assert_status(NT_CORRUPT, decode(codes, bytes, found, size + 1));
    assert_status(NT_CORRUPT, decode(codes, bytes, found, size + 100));
    if (size)
        assert_status(NT_CORRUPT, decode(codes, bytes, found, size - 1));
}

TEST(a_string_encoded_by_hand_is_read, .setup = set_up)
{
    static const char *expected = "the columns of the string";
    static const uint8_t codes[] = {0, 5, 255, 'o', 255, 'f', 255, ' ', 0, 8, 4, 255, 'r', 6, 7};
    uint8_t output[64];
    assert_ok(decode(codes, sizeof(codes), output, strlen(expected)));
    ck_assert_mem_eq(output, expected, strlen(expected));
    assert_equal_decoders(9, codes, sizeof(codes));
}

TEST(escaped_bytes_may_be_any, .setup = set_up)
{
    uint8_t codes[512], output[256];
    for (size_t i = 0; i < 256; i++) {
        codes[2 * i] = 255;
        codes[2 * i + 1] = (uint8_t)i;
    }
    assert_ok(decode(codes, sizeof(codes), output, sizeof(output)));
    for (size_t i = 0; i < 256; i++)
        ck_assert_uint_eq(output[i], i);
}

/* `percent` of the codes are escapes. */
static void fill_codes(uint8_t *codes, size_t bytes, uint32_t count, unsigned percent)
{
    for (size_t i = 0; i < bytes; i++)
        codes[i] = (unsigned)rand() % 100 < percent ? 255 : (uint8_t)((uint32_t)rand() % count);
}

static const unsigned percents[] = {0, 1, 10, 50, 90, 100};

TEST(codes_of_all_lengths_equal_one_code_after_the_other, .setup = set_up,
     .end = sizeof(percents) / sizeof(*percents))
{
    static uint8_t codes[MAX_CODES];
    static const uint32_t counts[] = {1, 3, 200, 255};
    for (size_t of = 0; of < 4; of++)
        for (uint32_t length = 0; length <= 8; length++) {
            set_up_random(counts[of], length);
            for (size_t bytes = 0; bytes <= MAX_CODES; bytes += bytes < 40 ? 1 : 977) {
                fill_codes(codes, bytes, counts[of], percents[_i]);
                assert_equal_decoders(counts[of], codes, bytes);
            }
        }
}

TEST(a_code_of_no_symbol_is_corrupt_wherever_it_is, .setup = set_up)
{
    uint8_t codes[100], output[800];
    uint64_t end, code_end = sizeof(codes);
    set_up_random(200, 0);
    for (size_t i = 0; i < sizeof(codes); i++)
        for (unsigned code = 200; code < 255; code += 27) {
            fill_codes(codes, sizeof(codes), 200, 0);
            size_t size = decode_slowly(200, codes, sizeof(codes), output);
            codes[i] = (uint8_t)code;
            assert_equal_decoders(200, codes, sizeof(codes));
            for (size_t less = 0; less <= 8; less++)
                assert_status(NT_CORRUPT, decode(codes, sizeof(codes), output, size - less));
            assert_status(NT_CORRUPT, nt_fsst_ends(&fsst, codes, &code_end, 1, &end, &error));
        }
}

TEST(every_flipped_byte_is_read_as_it_is_or_refused, .setup = set_up)
{
    uint8_t codes[60], was;
    set_up_random(200, 0);
    fill_codes(codes, sizeof(codes), 200, 20);
    for (size_t i = 0; i < sizeof(codes); i++)
        for (unsigned flip = 1; flip < 256; flip++) {
            was = codes[i];
            codes[i] ^= (uint8_t)flip;
            assert_equal_decoders(200, codes, sizeof(codes));
            codes[i] = was;
        }
}

TEST(strings_end_where_each_ends_alone, .setup = set_up, .end = sizeof(percents) / sizeof(*percents))
{
    enum { STRINGS = 500 };
    static uint8_t codes[STRINGS * 30], output[STRINGS * 240], all[STRINGS * 240];
    static uint64_t code_ends[STRINGS], ends[STRINGS], expanded[STRINGS];
    size_t bytes = 0, done = 0;
    set_up_random(255, 0);
    for (size_t i = 0; i < STRINGS; i++) {
        size_t start = bytes, length = (size_t)rand() % 28;
        fill_codes(codes + start, length, 255, percents[_i]);
        if (length && decode_slowly(255, codes + start, length, output) == SIZE_MAX)
            codes[start + length++] = 'x';
        code_ends[i] = bytes = start + length;
    }
    assert_ok(nt_fsst_ends(&fsst, codes, code_ends, STRINGS, ends, &error));
    for (size_t i = 0, start = 0; i < STRINGS; start = code_ends[i++]) {
        done += decode_slowly(255, codes + start, code_ends[i] - start, output + done);
        ck_assert_uint_eq(ends[i], done);
    }
    assert_ok(decode(codes, bytes, all, done));
    ck_assert_mem_eq(all, output, done);
    memset(all, 0, done);
    assert_ok(expand(codes, code_ends, STRINGS, all, done, expanded));
    ck_assert_mem_eq(all, output, done);
    ck_assert_mem_eq(expanded, ends, sizeof(ends));
}

TEST(an_escape_does_not_reach_into_the_next_string, .setup = set_up)
{
    static const uint8_t codes[] = {0, 255, 65, 255, 66, 1};
    uint64_t ends[2];
    uint8_t output[4 + 1 + 1 + 3] = "";
    for (uint64_t end = 0; end <= sizeof(codes); end++) {
        enum nt_status expected = end == 2 || end == 4 ? NT_CORRUPT : NT_OK;
        const uint64_t code_ends[] = {end, sizeof(codes)};
        assert_status(expected, nt_fsst_ends(&fsst, codes, code_ends, 2, ends, &error));
        assert_status(expected, expand(codes, code_ends, 2, output, sizeof(output), ends));
    }
}

TEST(empty_strings_need_no_codes, .setup = set_up)
{
    uint64_t ends[3] = {9, 9, 9};
    assert_ok(nt_fsst_ends(&fsst, NULL, (uint64_t[]){0, 0, 0}, 3, ends, &error));
    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(ends[i], 0);
    ends[1] = 9;
    assert_ok(nt_fsst_expand(&fsst, NULL, (uint64_t[]){0, 0, 0}, 3, NULL, 0, ends, &error));
    ck_assert_uint_eq(ends[1], 0);
}

TEST(plain_bytes_stay_as_they_are, .setup = set_up)
{
    static const uint8_t codes[] = {255, 0, 254, 255};
    uint64_t ends[2];
    uint8_t output[4];
    size_t size = write_table(english, 9);
    table[3] = 0;
    assert_ok(nt_fsst_init(&fsst, table, size, &error));
    ck_assert(fsst.is_plain);
    assert_ok(nt_fsst_ends(&fsst, codes, (uint64_t[]){1, 4}, 2, ends, &error));
    ck_assert_uint_eq(ends[0], 1);
    ck_assert_uint_eq(ends[1], 4);
    assert_ok(decode(codes, 4, output, 4));
    ck_assert_mem_eq(output, codes, 4);
    assert_status(NT_CORRUPT, decode(codes, 4, output, 3));
    assert_status(NT_CORRUPT, decode(codes, 3, output, 4));
    ends[0] = 9;
    assert_ok(expand(codes, (uint64_t[]){1, 4}, 2, output, 4, ends));
    ck_assert_uint_eq(ends[0], 1);
    assert_status(NT_CORRUPT, expand(codes, (uint64_t[]){1, 4}, 2, output, 3, ends));
}

TEST(a_table_that_is_cut_or_wrong_is_refused, .setup = set_up, .end = 4)
{
    size_t size = write_table(english, 9);
    for (size_t cut = 0; cut <= size; cut++) {
        uint8_t *exact = exact_copy(table, cut);
        assert_status(cut == size ? NT_OK : NT_CORRUPT, nt_fsst_init(&fsst, exact, cut, &error));
        free(exact);
    }
    assert_ok(nt_fsst_init(&fsst, table, size + 7, &error));
    for (unsigned length = 0; length < 256; length++) {
        table[8 + 8 * 9 + 4] = (uint8_t)length;
        assert_status(length >= 1 && length <= 8 ? NT_OK : NT_CORRUPT,
                      nt_fsst_init(&fsst, table, size, &error));
    }
    write_table(english, 9);
    table[4 + (size_t)_i] ^= 0x20;
    assert_status(NT_CORRUPT, nt_fsst_init(&fsst, table, size, &error));
}

TEST(a_table_without_symbols_has_only_escapes, .setup = set_up)
{
    uint8_t output[1];
    assert_ok(nt_fsst_init(&fsst, table, write_table(english, 0), &error));
    assert_ok(decode((uint8_t[]){255, 7}, 2, output, 1));
    ck_assert_uint_eq(output[0], 7);
    assert_status(NT_CORRUPT, decode((uint8_t[]){0}, 1, output, 1));
    assert_status(NT_CORRUPT, decode((uint8_t[]){0}, 1, output, 0));
    assert_ok(nt_fsst_decode(&fsst, NULL, 0, NULL, 0, &error));
}
