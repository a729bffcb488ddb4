/* SPDX-License-Identifier: MIT
 *
 * The Protocol Buffers reader, with messages whose bytes follow the description of the wire format
 * (protobuf.dev, "Encoding").
 */
#include <string.h>

#include "formats/lance/file/messages.h"
#include "proto_writer.h"
#include "support.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/json/json.h"

static struct nt_error error;

enum { COUNT = 1, SIGNED, FLAG, COLOUR, NAME, BLOB, INNER, LIST, NUMBERS, LEVEL };

static const struct nt_proto_table outer;
static const char *const colours[] = {"RED", "GREEN", NULL};

static const struct nt_proto_field rows[] = {
    {.number = COUNT, .name = "count", .kind = NT_PROTO_UINT},
    {.number = SIGNED, .name = "signed", .kind = NT_PROTO_INT},
    {.number = FLAG, .name = "flag", .kind = NT_PROTO_BOOL},
    {.number = COLOUR, .name = "colour", .kind = NT_PROTO_ENUM, .names = colours},
    {.number = NAME, .name = "name", .kind = NT_PROTO_TEXT},
    {.number = BLOB, .name = "blob", .kind = NT_PROTO_BYTES},
    {.number = INNER, .name = "inner", .kind = NT_PROTO_MESSAGE, .message = &outer},
    {.number = LIST, .name = "list", .kind = NT_PROTO_MESSAGE, .is_repeated = true, .message = &outer},
    {.number = NUMBERS, .name = "numbers", .kind = NT_PROTO_UINT, .is_repeated = true},
    {.number = LEVEL, .name = "level", .kind = NT_PROTO_INT, .is_optional = true},
};
static const struct nt_proto_table outer = {
    .name = "Outer", .fields = rows, .count = sizeof(rows) / sizeof(*rows)};

static const struct nt_proto_field choice_rows[] = {
    {.number = 1, .name = "one", .kind = NT_PROTO_MESSAGE, .message = &outer},
    {.number = 2, .name = "two", .kind = NT_PROTO_MESSAGE, .message = &outer},
};
static const struct nt_proto_table choice = {
    .name = "Choice", .fields = choice_rows, .count = 2, .is_oneof = true};

static struct nt_proto proto_of(const struct nt_buffer *bytes)
{
    return (struct nt_proto){(const uint8_t *)nt_buffer_string(bytes), bytes->length};
}

static enum nt_status check(const void *bytes, size_t size)
{
    return nt_proto_check((struct nt_proto){bytes, size}, &outer, 1000, &error);
}

#define MESSAGE(text) (text), sizeof(text) - 1

/* The examples of the documentation: 150 in field 1, "testing" in field 2. */
TEST(the_examples_of_the_description_are_read)
{
    static const uint8_t number[] = {0x08, 0x96, 0x01};
    static const uint8_t text[] = {0x2a, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67};
    const struct nt_proto message = {number, sizeof(number)}, texts = {text, sizeof(text)};
    assert_ok(check(number, sizeof(number)));
    ck_assert_uint_eq(nt_proto_number(message, COUNT), 150);
    assert_ok(check(text, sizeof(text)));
    ck_assert(nt_text_is(nt_proto_text(texts, NAME), "testing"));
}

TEST(numbers_have_their_sign_and_their_64_bits)
{
    static const uint8_t minus_two[] = {0x10, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    static const uint8_t largest[] = {0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    assert_ok(check(minus_two, sizeof(minus_two)));
    ck_assert_int_eq((int64_t)nt_proto_number((struct nt_proto){minus_two, sizeof(minus_two)}, SIGNED), -2);
    assert_ok(check(largest, sizeof(largest)));
    ck_assert(nt_proto_number((struct nt_proto){largest, sizeof(largest)}, COUNT) == UINT64_MAX);
}

TEST(what_is_absent_is_nothing_and_what_is_empty_is_there)
{
    const struct nt_proto none = {(const uint8_t *)"", 0}, empty = {(const uint8_t *)"\x3a\x00", 2};
    assert_ok(check(none.bytes, 0));
    ck_assert_uint_eq(nt_proto_number(none, COUNT), 0);
    ck_assert_uint_eq(nt_proto_text(none, NAME).length, 0);
    ck_assert_ptr_null(nt_proto_message(none, INNER).bytes);
    ck_assert(!nt_proto_has(none, INNER));
    assert_ok(check(empty.bytes, empty.size));
    ck_assert_ptr_nonnull(nt_proto_message(empty, INNER).bytes);
    ck_assert_uint_eq(nt_proto_message(empty, INNER).size, 0);
    ck_assert_uint_eq(nt_proto_number(nt_proto_message(none, INNER), COUNT), 0);
}

TEST(numbers_are_the_same_packed_and_one_by_one)
{
    static const uint64_t expected[] = {3, 270, 86942, 7, UINT64_MAX};
    static const uint8_t packed[] = {3, 0x8e, 0x02, 0x9e, 0xa7, 0x05};
    struct nt_buffer bytes = {0};
    uint64_t value, count = 0;
    put_bytes(&bytes, NUMBERS, packed, sizeof(packed));
    put_number(&bytes, COUNT, 1);
    put_number(&bytes, NUMBERS, 7);
    put_bytes(&bytes, NUMBERS, "", 0);
    put_number(&bytes, NUMBERS, UINT64_MAX);
    struct nt_proto message = proto_of(&bytes);
    assert_ok(check(message.bytes, message.size));
    struct nt_proto_numbers numbers = nt_proto_numbers(message, NUMBERS);
    for (; nt_proto_next_number(&numbers, &value); count++)
        ck_assert(value == expected[count]);
    ck_assert_uint_eq(count, 5);
    ck_assert_uint_eq(nt_proto_count_numbers(message, NUMBERS), 5);
    nt_buffer_deinit(&bytes);
}

TEST(the_last_number_counts_and_items_come_in_their_order)
{
    struct nt_buffer bytes = {0};
    static const uint32_t order[] = {COUNT, 99, COUNT};
    struct nt_proto_item item;
    unsigned count = 0;
    put_number(&bytes, COUNT, 1);
    put_text(&bytes, 99, "nobody knows this field");
    put_number(&bytes, COUNT, 2);
    struct nt_proto rest = proto_of(&bytes);
    assert_ok(check(rest.bytes, rest.size));
    ck_assert_uint_eq(nt_proto_number(rest, COUNT), 2);
    ck_assert_uint_eq(nt_proto_count(rest, COUNT), 2);
    while (nt_proto_next(&rest, &item))
        ck_assert_uint_eq(item.number, order[count++]);
    ck_assert_uint_eq(count, 3);
    nt_buffer_deinit(&bytes);
}

static const struct {
    const char *bytes;
    size_t size;
    const char *what;
} damaged[] = {
    {MESSAGE("\x08"), "a tag without a value"},
    {MESSAGE("\x08\x80"), "a number that does not end"},
    {MESSAGE("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), "a number of 65 bits"},
    {MESSAGE("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"), "a number of eleven bytes"},
    {MESSAGE("\x00\x00"), "field number 0"},
    {MESSAGE("\x80\x80\x80\x80\x20\x00"), "a field number of 30 bits"},
    {MESSAGE("\x0b\x0c"), "a group"},
    {MESSAGE("\x9b\x06\x9c\x06"), "a group that is in no table"},
    {MESSAGE("\x0e\x00"), "wire type 6"},
    {MESSAGE("\x2a\x05text"), "a text that is longer than the message"},
    {MESSAGE("\x2a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x"), "a text of 2^64 - 1 bytes"},
    {MESSAGE("\x0d\x01\x02\x03\x04"), "a number of four bytes for a varint"},
    {MESSAGE("\x0a\x01\x00"), "bytes for a number"},
    {MESSAGE("\x28\x01"), "a number for a text"},
    {MESSAGE("\x4a\x02\x01\x80"), "packed numbers that end within one"},
    {MESSAGE("\x3a\x02\x08\x80"), "damage in a message in it"},
    {MESSAGE("\x42\x02\x08\x80"), "damage in one of several messages in it"},
    {MESSAGE("\x3a\x00\x3a\x00"), "a second message where there is one"},
    {MESSAGE("\x9d\x06\x01\x02\x03"), "four bytes that are three, of an unknown field"},
    {MESSAGE("\x99\x06\x01\x02\x03\x04\x05\x06\x07"), "eight bytes that are seven, of an unknown field"},
};

TEST(damage_is_found, .end = sizeof(damaged) / sizeof(*damaged))
{
    error = (struct nt_error){0};
    ck_assert_msg(check(damaged[_i].bytes, damaged[_i].size) == NT_CORRUPT, "%s", damaged[_i].what);
    ck_assert_uint_ge(error.offset, 1000);
    ck_assert_uint_le(error.offset, 1000 + damaged[_i].size);
}

TEST(messages_are_in_one_another_to_a_bound)
{
    struct nt_buffer message = {0};
    for (int depth = 1; depth <= NT_PROTO_MAX_DEPTH + 1; depth++) {
        struct nt_proto proto = proto_of(&message);
        assert_status(depth > NT_PROTO_MAX_DEPTH ? NT_LIMIT : NT_OK, check(proto.bytes, proto.size));
        struct nt_buffer around = {0};
        put_message(&around, INNER, &message);
        message = around;
    }
    nt_buffer_deinit(&message);
}

TEST(a_choice_has_one_member)
{
    static const struct nt_proto one = {(const uint8_t *)"\x12\x02\x08\x05", 4},
                                 both = {(const uint8_t *)"\x0a\x00\x12\x00", 4},
                                 other = {(const uint8_t *)"\x1a\x00", 2};
    struct nt_proto member;
    assert_ok(nt_proto_check(one, &choice, 0, &error));
    ck_assert_uint_eq(nt_proto_oneof(one, &choice, &member), 2);
    ck_assert_uint_eq(nt_proto_number(member, COUNT), 5);
    assert_status(NT_CORRUPT, nt_proto_check(both, &choice, 0, &error));
    assert_ok(nt_proto_check(other, &choice, 0, &error));
    ck_assert_uint_eq(nt_proto_oneof(other, &choice, &member), 0);
    ck_assert_ptr_null(member.bytes);
}

/* For any bytes, also unchecked ones: parsing ends, and nothing past the end is read. */
TEST(any_bytes_come_to_an_end)
{
    uint32_t state = 12345;
    for (unsigned round = 0; round < 20000; round++) {
        size_t size = round % 24, left = 0;
        uint8_t *bytes = malloc(size + 1);
        for (size_t i = 0; i < size; i++) {
            state = state * 1664525 + 1013904223;
            bytes[i] = state >> 24 & (state >> 20 & 1 ? 0x7f : 0x1f);
        }
        struct nt_proto message = {bytes, size};
        struct nt_proto_item item;
        check(bytes, size);
        nt_proto_count_numbers(message, NUMBERS);
        for (left = size; nt_proto_next(&message, &item); left = message.size)
            ck_assert_uint_lt(message.size, left);
        free(bytes);
    }
}

/* ---- JSON ---- */

static void check_json_of(const struct nt_buffer *bytes, const struct nt_proto_table *table,
                          const char *expected)
{
    struct nt_buffer out = {0};
    struct nt_json json;
    struct nt_proto message = proto_of(bytes);
    assert_ok(check(message.bytes, message.size));
    nt_json_init(&json, &out, true);
    nt_json_object(&json);
    nt_proto_json(&json, message, table);
    nt_json_end_object(&json);
    ck_assert_str_eq(nt_buffer_string(&out), expected);
    nt_buffer_deinit(&out);
}

static void check_json(const struct nt_buffer *bytes, const char *expected)
{
    check_json_of(bytes, &outer, expected);
}

TEST(json_has_all_that_a_message_holds)
{
    struct nt_buffer bytes = {0}, inner = {0};
    put_number(&inner, COUNT, 5);
    put_number(&bytes, COUNT, UINT64_MAX);
    put_number(&bytes, SIGNED, UINT64_MAX);
    put_number(&bytes, FLAG, 1);
    put_number(&bytes, COLOUR, 1);
    put_text(&bytes, NAME, "caf\xc3\xa9");
    put_bytes(&bytes, BLOB, "\x00\xff", 2);
    put_packed(&bytes, NUMBERS, (const uint64_t[]){1, 300}, 2);
    put_number(&bytes, LEVEL, 0);
    put_text(&bytes, 99, "1234567");
    check_json(&bytes,
               "{\"count\":18446744073709551615,\"signed\":-1,\"flag\":true,\"colour\":\"GREEN\","
               "\"name\":\"caf\xc3\xa9\",\"blob_hex\":\"00ff\",\"list\":[],\"numbers\":[1,300],\"level\":0,"
               "\"unknown_bytes\":10}");
    const struct nt_proto_table part = {.name = "Outer", .fields = rows, .count = 1, .is_part = true};
    check_json_of(&bytes, &part, "{\"count\":18446744073709551615}");
    nt_buffer_deinit(&bytes);
    nt_buffer_deinit(&inner);
}

TEST(json_shows_defaults_and_leaves_out_what_is_absent)
{
    struct nt_buffer bytes = {0};
    check_json(&bytes,
               "{\"count\":0,\"signed\":0,\"flag\":false,\"colour\":\"RED\",\"name\":\"\",\"list\":[],"
               "\"numbers\":[]}");
    put_number(&bytes, COLOUR, 17);
    put_text(&bytes, NAME, "\xff");
    check_json(&bytes,
               "{\"count\":0,\"signed\":0,\"flag\":false,\"colour\":17,\"name_hex\":\"ff\",\"list\":[],"
               "\"numbers\":[]}");
    nt_buffer_deinit(&bytes);
}

TEST(json_goes_into_messages)
{
    struct nt_buffer bytes = {0}, inner = {0}, innermost = {0};
    put_number(&innermost, FLAG, 1);
    put_message(&inner, LIST, &innermost);
    put_message(&bytes, INNER, &inner);
    check_json(
        &bytes,
        "{\"count\":0,\"signed\":0,\"flag\":false,\"colour\":\"RED\",\"name\":\"\",\"inner\":{\"count\":0,"
        "\"signed\":0,\"flag\":false,\"colour\":\"RED\",\"name\":\"\",\"list\":[{\"count\":0,\"signed\":0,"
        "\"flag\":true,\"colour\":\"RED\",\"name\":\"\",\"list\":[],\"numbers\":[]}],\"numbers\":[]},"
        "\"list\":[],"
        "\"numbers\":[]}");
    nt_buffer_deinit(&bytes);
}
