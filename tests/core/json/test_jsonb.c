/* SPDX-License-Identifier: MIT
 *
 * JSONB as text. The bytes and texts are those that pylance 14.0.2 writes and reads. Values that it reads
 * but does not write are from the tests of its lance-jsonb.
 */
#include <stdlib.h>

#include "core/json/json.h"
#include "support.h"
#include "core/base/memory.h"

static struct nt_buffer out;
static struct nt_error error;

static void tear_down(void)
{
    nt_buffer_deinit(&out);
    out = (struct nt_buffer){0};
}

static uint8_t *from_hex(const char *hex, size_t *count_ret)
{
    *count_ret = strlen(hex) / 2;
    uint8_t *bytes = malloc(*count_ret + 1);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < *count_ret; i++) {
        const char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return bytes;
}

static enum nt_status append_hex(const char *hex)
{
    size_t count;
    uint8_t *bytes = from_hex(hex, &count);
    error = (struct nt_error){0};
    enum nt_status status = nt_jsonb_append(&out, bytes, count, &error);
    free(bytes);
    return status;
}

static const struct {
    const char *hex, *text;
} values[] = {
    {"2000000000000000", "null"},
    {"2000000040000000", "true"},
    {"2000000030000000", "false"},
    {"200000002000000100", "0"},
    {"200000002000000100", "0"},
    {"20000000200000025001", "1"},
    {"200000002000000240ff", "-1"},
    {"2000000020000002507f", "127"},
    {"20000000200000025080", "128"},
    {"2000000020000003500100", "256"},
    {"20000000200000024080", "-128"},
    {"200000002000000340ff7f", "-129"},
    {"2000000020000003508000", "32768"},
    {"20000000200000055080000000", "2147483648"},
    {"200000002000000940ffffffff7fffffff", "-2147483649"},
    {"2000000020000009507fffffffffffffff", "9223372036854775807"},
    {"2000000020000009408000000000000000", "-9223372036854775808"},
    {"200000002000000950ffffffffffffffff", "18446744073709551615"},
    {"20000000200000096043f0000000000000", "1.8446744073709552e+19"},
    {"200000002000000960c3e0000000000000", "-9.223372036854776e+18"},
    {"2000000020000009600000000000000000", "0.0"},
    {"2000000020000009608000000000000000", "-0.0"},
    {"2000000020000009603ff8000000000000", "1.5"},
    {"200000002000000960bff8000000000000", "-1.5"},
    {"2000000020000009603fb999999999999a", "0.1"},
    {"2000000020000009603ee4f8b588e368f1", "0.00001"},
    {"2000000020000009603eb0c6f7a0b5ed8d", "1e-6"},
    {"2000000020000009603e7ad7f29abcaf48", "1e-7"},
    {"2000000020000009603ee9e0fcaf9380fc", "0.00001234"},
    {"2000000020000009604202a05f20000000", "10000000000.0"},
    {"20000000200000095001b69b4ba630f350", "123456789012345680"},
    {"200000002000000960430c6bf526340000", "1000000000000000.0"},
    {"2000000020000009604341c37937e08000", "1e+16"},
    {"200000002000000950002386f26fc0fffe", "9999999999999998"},
    {"2000000020000009607e41eb2d66005835", "1.5e+300"},
    {"2000000020000009600000000000000001", "5e-324"},
    {"2000000020000009607fefffffffffffff", "1.7976931348623157e+308"},
    {"200000002000000960400921fb54442d18", "3.141592653589793"},
    {"200000002000000120", "null"},
    {"2000000020000009604004000000000000", "2.5"},
    {"2000000010000000", "\"\""},
    {"200000001000000161", "\"a\""},
    {"200000001000000dc3a90a09225c2f080c0d011f7f", "\"\xc3\xa9\\n\\t\\\"\\\\/\\b\\f\\r\\u0001\\u001f\x7f\""},
    {"2000000010000004f09f9880", "\"\xf0\x9f\x98\x80\""},
    {"80000000", "[]"},
    {"40000000", "{}"},
    {"80000003200000022000000220000002500150025003", "[1,2,3]"},
    {"800000070000000040000000300000001000000120000009500000045000000478603ff40000000000008000000040000000",
     "[null,true,false,\"x\",1.25,[],{}]"},
    {"4000000210000001100000012000000220000002616250025001", "{\"a\":2,\"b\":1}"},
    {"4000000110000001500000316b40000001100000065000001f6e657374656480000002200000025000001150014000000110000"
     "004100000016465657076",
     "{\"k\":{\"nested\":[1,{\"deep\":\"v\"}]}}"},
    {"4000000410000000100000011000000210000001100000055000001650000010000000006161617a656d7074794000000210000"
     "001100000013000000040000000787980000002200000022000000250015002",
     "{\"\":\"empty\",\"a\":{\"x\":false,\"y\":true},\"aa\":[1,2],\"z\":null}"},
    {"40000001100000035000001073700a80000002200000022000000250015002", "{\"sp\\n\":[1,2]}"},
    /* values that no parser of text produces */
    {"200000002000000a70ffffffffffffcfc702", "-123.45"},
    {"2000000020000012700000000000661efdf158f2a82c9f4b870a", "1.2345678901234568e+16"},
    {"200000002000002270ffffffffffffffffffffffffffffffffffffffffffffffca758afbde0b5ff00003",
     "-9.87654321e+17"},
    {"2000000020000001"
     "10",
     "null"},
    {"2000000020000001"
     "20",
     "null"},
    {"2000000020000001"
     "30",
     "null"},
    {"20000000600000040000ff10", "\"00FF10\""},
    {"20000000600000051000004a38", "\"2022-01-08\""},
    {"20000000600000092000060a2418202240", "\"2023-11-14 22:13:20.123456\""},
    {"200000006000000d3000060a241820224000007080", "\"2023-11-15 06:13:20.123456 +0800\""},
    {"2000000060000011400000000e0000000300000000dde878c1", "\"1 year 2 months 3 days 01:02:03.000001\""},
    {"80000003600000052000000a6000000310ffffffff70000000000000000700006162", "[\"1969-12-31\",7.0,\"6162\"]"},
    /* nothing, and text instead of JSONB */
    {"", "null"},
    {"7b2261223a317d", "{\"a\":1}"},
    {"2261626322", "\"abc\""},
};

TEST(a_value_is_the_text_that_lance_gives, .teardown = tear_down, .end = sizeof(values) / sizeof(*values))
{
    nt_buffer_append_string(&out, "before ");
    assert_ok(append_hex(values[_i].hex));
    ck_assert_str_eq(nt_buffer_string(&out) + strlen("before "), values[_i].text);
}

/* Each value, cut short or with one bit flipped, is refused or read, without a read past its end. */
TEST(what_is_damaged_is_reported_or_text, .teardown = tear_down, .end = sizeof(values) / sizeof(*values))
{
    size_t count;
    uint8_t *bytes = from_hex(values[_i].hex, &count);
    for (size_t end = 0; end < count; end++) {
        uint8_t *exact = malloc(end + 1);
        memcpy(exact, bytes, end);
        (void)!nt_jsonb_append(&out, exact, end, &error);
        free(exact);
    }
    for (size_t bit = 0; bit < 8 * count; bit++) {
        uint8_t *exact = malloc(count);
        memcpy(exact, bytes, count);
        exact[bit / 8] ^= (uint8_t)(1 << bit % 8);
        nt_buffer_clear(&out);
        enum nt_status status = nt_jsonb_append(&out, exact, count, &error);
        ck_assert(status == NT_OK || (status == NT_CORRUPT && out.length == 0));
        free(exact);
    }
    free(bytes);
}

static const struct {
    const char *hex, *message;
} damages[] = {
    {"800000", "a value has no header"},
    {"e0000000", "a header has an unknown kind"},
    {"80000002"
     "00000000",
     "more values than bytes"},
    {"bfffffff"
     "00000000",
     "more values than bytes"},
    {"5fffffff"
     "0000000000000000",
     "more values than bytes"},
    {"80000001"
     "1fffffff"
     "61",
     "a value ends after the array"},
    {"40000001"
     "10000001"
     "10000002"
     "6161",
     "a value ends after the object"},
    {"40000001"
     "20000001"
     "10000001"
     "6161",
     "the keys of an object are not strings"},
    {"40000001"
     "10000005"
     "10000000"
     "6161",
     "the keys of an object are not strings, or end after the object"},
    {"20000000"
     "70000000",
     "a value has an unknown type"},
    {"20000000"
     "50000004"
     "80000000",
     "a header has an unknown kind"},
    {"20000000"
     "20000000",
     "a number has an unknown kind"},
    {"20000000"
     "20000001"
     "80",
     "a number has an unknown kind"},
    {"20000000"
     "20000004"
     "50000102",
     "a number has an unknown kind"},
    {"20000000"
     "20000005"
     "6000000000",
     "a number has an unknown kind"},
    {"20000000"
     "20000003"
     "700000",
     "a number has an unknown kind"},
    {"20000000"
     "60000000",
     "an extension has an unknown kind"},
    {"20000000"
     "60000005"
     "107fffffff",
     "an extension has an unknown kind"},
    {"20000000"
     "60000001"
     "90",
     "an extension has an unknown kind"},
};

TEST(what_is_no_value_is_refused, .teardown = tear_down, .end = sizeof(damages) / sizeof(*damages))
{
    nt_buffer_append_string(&out, "before");
    assert_status(NT_CORRUPT, append_hex(damages[_i].hex));
    ck_assert_msg(strstr(error.message, damages[_i].message) != NULL, "%s", error.message);
    ck_assert_str_eq(nt_buffer_string(&out), "before");
}

/* Nested arrays, each with a header and an entry with the length of its content. */
static enum nt_status append_nested(unsigned depth)
{
    size_t count = 8 * (size_t)depth + 4;
    uint8_t *bytes = calloc(1, count);
    ck_assert_ptr_nonnull(bytes);
    for (unsigned i = 0; i < depth; i++) {
        uint32_t left = (uint32_t)(count - 8 * (size_t)(i + 1)), entry = 0x50000000 | left;
        bytes[8 * i] = 0x80;
        bytes[8 * i + 3] = 1;
        for (unsigned k = 0; k < 4; k++)
            bytes[8 * i + 4 + k] = (uint8_t)(entry >> (24 - 8 * k));
    }
    bytes[count - 4] = 0x80;
    enum nt_status status = nt_jsonb_append(&out, bytes, count, &error);
    free(bytes);
    return status;
}

TEST(values_are_nested_as_deep_as_the_limit, .teardown = tear_down)
{
    assert_ok(append_nested(500));
    ck_assert_uint_eq(out.length, 2 * 501);
    nt_buffer_clear(&out);
    assert_status(NT_LIMIT, append_nested(501));
    ck_assert_ptr_nonnull(strstr(error.message, "JSONB is nested deeper than 500"));
    assert_status(NT_LIMIT, append_nested(1000000));
    ck_assert_uint_eq(out.length, 0);
}
