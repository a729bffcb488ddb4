/* SPDX-License-Identifier: MIT
 *
 * Decimals as text: digits, the point, the sign; and other types that are more than a number.
 */
#include "core/json/json.h"

#include <string.h>

#include "arrow_consumer.h"
#include "support.h"
#include "typed_dataset.h"
#include "core/base/memory.h"

/* Numbers in Python's form; all bytes above the first eight are `above`. */
static const struct {
    const char *arrow, *text;
    uint64_t low;
    uint8_t above, last; /* the highest byte */
} numbers[] = {
    {"d:10,2", "0.00", 0, 0, 0},
    {"d:10,2", "0.37", 37, 0, 0},
    {"d:10,2", "1.00", 100, 0, 0},
    {"d:10,2", "-1.05", (uint64_t)-105, 0xFF, 0xFF},
    {"d:10,10", "0.0000001234", 1234, 0, 0},
    {"d:10,4", "0.1234", 1234, 0, 0},
    {"d:10,-2", "123400", 1234, 0, 0},
    {"d:10,-2", "0", 0, 0, 0},
    {"d:38,0", "1000000000", 1000000000, 0, 0},
    {"d:38,0", "18446744073709551615", UINT64_MAX, 0, 0},
    {"d:38,0", "-18446744073709551616", 0, 0xFF, 0xFF},
    {"d:38,0", "170141183460469231731687303715884105727", UINT64_MAX, 0xFF, 0x7F},
    {"d:38,38", "-1.70141183460469231731687303715884105728", 0, 0, 0x80},
    {"d:76,0,256", "-1", UINT64_MAX, 0xFF, 0xFF},
    {"d:76,0,256", "57896044618658097711785492504343953926634992332820282019728792003956564819967",
     UINT64_MAX, 0xFF, 0x7F},
    {"d:76,1,256", "-5789604461865809771178549250434395392663499233282028201972879200395656481996.8", 0, 0,
     0x80},
};

TEST(a_decimal_has_all_of_its_digits, .end = sizeof(numbers) / sizeof(numbers[0]))
{
    uint8_t bytes[32];
    struct nt_buffer text = {0};
    struct nt_decimal decimal;
    uint32_t count = strstr(numbers[_i].arrow, "256") ? 32 : 16;
    const struct nt_dtype dtype = {.element = NT_ELEMENT_OPAQUE,
                                   .number = NT_ELEMENT_OPAQUE,
                                   .bytes = count,
                                   .arrow = numbers[_i].arrow};
    memset(bytes, numbers[_i].above, count);
    memcpy(bytes, &numbers[_i].low, sizeof(numbers[_i].low));
    bytes[count - 1] = numbers[_i].last;
    ck_assert(nt_decimal_of(&dtype, &decimal));
    nt_decimal_append(&text, &decimal, bytes);
    ck_assert_str_eq(nt_buffer_string(&text), numbers[_i].text);
    nt_buffer_deinit(&text);
}

static const struct {
    const char *arrow;
    uint32_t bytes;
} others[] = {{NULL, 16},       {"w:16", 16},      {"d:10,2", 8},      {"d:10,2", 32}, {"d:10,2,256", 16},
              {"d:10,2,64", 8}, {"d:10,1000", 16}, {"d:10,-1000", 16}, {"d:10", 16},   {"tDs", 8}};

TEST(what_is_no_decimal_of_its_bytes_is_none, .end = sizeof(others) / sizeof(others[0]))
{
    struct nt_decimal decimal;
    const struct nt_dtype dtype = {.element = NT_ELEMENT_OPAQUE,
                                   .number = NT_ELEMENT_OPAQUE,
                                   .bytes = others[_i].bytes,
                                   .arrow = others[_i].arrow};
    ck_assert(!nt_decimal_of(&dtype, &decimal));
}

TEST(times_are_counts_of_units_and_decimals_text)
{
    struct nt_buffer text = {0};
    struct builder *builder = typed_dataset();
    lines_from_rows(builder, &text);
    ck_assert_str_eq(nt_buffer_string(&text), typed_rows);
    nt_buffer_deinit(&text);
    builder_free(builder);
}
