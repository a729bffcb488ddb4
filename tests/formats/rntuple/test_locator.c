/* SPDX-License-Identifier: MIT
 *
 * Locators of all types, and both interpretations of the first word of a special one.
 */
#include "rntuple_envelopes.h"

static struct nt_error error;

TEST(locators_of_all_types_are_read)
{
    static const struct {
        enum rntuple_place place;
        bool is_final;
        enum nt_locator_kind kind;
    } rows[] = {
        {RNTUPLE_IN_FILE, true, NT_LOCATOR_FILE},       {RNTUPLE_LARGE, true, NT_LOCATOR_LARGE},
        {RNTUPLE_OBJECT64, true, NT_LOCATOR_OBJECT64},  {RNTUPLE_UNKNOWN_PLACE, true, NT_LOCATOR_UNKNOWN},
        {RNTUPLE_IN_FILE, false, NT_LOCATOR_FILE},      {RNTUPLE_URI, false, NT_LOCATOR_URI},
        {RNTUPLE_OBJECT64, false, NT_LOCATOR_OBJECT64}, {RNTUPLE_UNKNOWN_PLACE, false, NT_LOCATOR_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        enum rntuple_generation generation = rows[i].is_final ? RNTUPLE_V1 : RNTUPLE_RC2_EARLY;
        struct rntuple_writer writer;
        rntuple_begin(&writer, generation, RNTUPLE_HEADER);
        size_t start = writer.bytes.length;
        rntuple_locator(&writer, rows[i].place, 0x123456789a, 0x7fffffff, "daos://pool");
        struct nt_cursor cursor = nt_cursor(writer.bytes.bytes + start, writer.bytes.length - start);
        struct nt_locator locator = nt_locator_read(&cursor, row_of(generation));
        ck_assert(!cursor.failed);
        ck_assert_uint_eq(nt_cursor_left(&cursor), 0);
        ck_assert_int_eq(locator.kind, rows[i].kind);
        ck_assert_uint_eq(locator.reserved, rows[i].place == RNTUPLE_IN_FILE ? 0 : 0x5a);
        if (locator.kind == NT_LOCATOR_URI || locator.kind == NT_LOCATOR_UNKNOWN) {
            ck_assert_uint_eq(locator.payload.length, 11);
            ck_assert_mem_eq(locator.payload.bytes, "daos://pool", 11);
        } else {
            ck_assert_uint_eq(locator.offset, 0x123456789a);
            ck_assert_uint_eq(locator.bytes, 0x7fffffff);
        }
        nt_buffer_deinit(&writer.bytes);
    }
}

/* The specification's figure has a sign bit before size, reserved byte and type; its text takes the
 * absolute value of the last byte; the reference implementation negates the word. All agree: a large
 * locator of 20 bytes. */
TEST(all_readings_of_a_special_locators_first_word_are_understood)
{
    static const uint32_t words[] = {0 - UINT32_C(0x01000014), 0x81000014, 0xff000014};
    for (unsigned i = 0; i < 3; i++) {
        uint8_t bytes[20] = {words[i] & 0xff,
                             words[i] >> 8 & 0xff,
                             words[i] >> 16 & 0xff,
                             words[i] >> 24,
                             7,
                             0,
                             0,
                             0,
                             0,
                             0,
                             0,
                             0,
                             9};
        struct nt_cursor cursor = nt_cursor(bytes, sizeof(bytes));
        struct nt_locator locator = nt_locator_read(&cursor, row_of(RNTUPLE_V1));
        ck_assert_int_eq(locator.kind, NT_LOCATOR_LARGE);
        ck_assert_uint_eq(locator.bytes, 7);
        ck_assert_uint_eq(locator.offset, 9);
    }
}

/* Type 2, object and size, in 12 and in 16 bytes; and 3, the same with the object's number above the
 * offset within it, whose bytes are also kept. With another size it is unknown. */
TEST(locators_of_objects_are_read_as_root_writes_them)
{
    static const uint8_t narrow[] = {0xf0, 0xff, 0xff, 0xfd, 7, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t wide[] = {0xec, 0xff, 0xff, 0xfd, 7, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t multi[] = {0xf0, 0xff, 0xff, 0xfc, 7, 0, 0, 0, 9, 0, 0, 0, 5, 0, 0, 0};
    static const uint8_t odd[] = {0xfb, 0xff, 0xff, 0xfc, 7};
    struct nt_cursor cursor = nt_cursor(narrow, sizeof(narrow));
    struct nt_locator locator = nt_locator_read(&cursor, row_of(RNTUPLE_V1));
    ck_assert_int_eq(locator.kind, NT_LOCATOR_OBJECT64);
    ck_assert_uint_eq(locator.bytes, 7);
    ck_assert_uint_eq(locator.offset, 9);
    cursor = nt_cursor(wide, sizeof(wide));
    locator = nt_locator_read(&cursor, row_of(RNTUPLE_V1));
    ck_assert_int_eq(locator.kind, NT_LOCATOR_OBJECT64);
    ck_assert_uint_eq(locator.bytes, (UINT64_C(1) << 32) + 7);
    ck_assert_uint_eq(locator.offset, 9);
    cursor = nt_cursor(multi, sizeof(multi));
    locator = nt_locator_read(&cursor, row_of(RNTUPLE_V1));
    ck_assert_int_eq(locator.kind, NT_LOCATOR_MULTI);
    ck_assert_uint_eq(locator.bytes, 7);
    ck_assert_uint_eq(locator.offset, UINT64_C(5) << 32 | 9);
    ck_assert_uint_eq(locator.payload.length, 12);
    ck_assert_mem_eq(locator.payload.bytes, multi + 4, 12);
    cursor = nt_cursor(odd, sizeof(odd));
    locator = nt_locator_read(&cursor, row_of(RNTUPLE_V1));
    ck_assert_int_eq(locator.kind, NT_LOCATOR_UNKNOWN);
    ck_assert_int_eq(locator.type, 3);
    ck_assert_uint_eq(locator.payload.length, 1);
}

static const struct {
    struct nt_locator locator;
    enum nt_status status;
    enum nt_locator_kind kind;
    uint64_t address;
} objects[] = {
    {{.kind = NT_LOCATOR_OBJECT64, .offset = 9, .bytes = 7}, NT_OK, NT_LOCATOR_FILE, UINT64_C(9) << 32},
    {{.kind = NT_LOCATOR_OBJECT64, .offset = INT32_MAX, .bytes = NT_OBJECT_MAX_BYTES},
     NT_OK,
     NT_LOCATOR_FILE,
     (uint64_t)INT32_MAX << 32},
    {{.kind = NT_LOCATOR_OBJECT64, .offset = UINT64_C(1) << 31}, NT_UNSUPPORTED, NT_LOCATOR_FILE, 0},
    {{.kind = NT_LOCATOR_OBJECT64, .bytes = NT_OBJECT_MAX_BYTES + 1}, NT_UNSUPPORTED, NT_LOCATOR_FILE, 0},
    {{.kind = NT_LOCATOR_FILE, .offset = 9}, NT_CORRUPT, NT_LOCATOR_FILE, 0},
    {{.kind = NT_LOCATOR_LARGE, .offset = 9}, NT_CORRUPT, NT_LOCATOR_LARGE, 0},
    {{.kind = NT_LOCATOR_MULTI}, NT_OK, NT_LOCATOR_MULTI, 0},
    {{.kind = NT_LOCATOR_URI}, NT_OK, NT_LOCATOR_URI, 0},
};

TEST(objects_have_their_places_in_one_source, .end = sizeof(objects) / sizeof(*objects))
{
    struct nt_locator locator = objects[_i].locator;
    assert_status(objects[_i].status, nt_locator_find_object(&locator, "page", &error));
    if (objects[_i].status != NT_OK)
        return;
    ck_assert_int_eq(locator.kind, objects[_i].kind);
    ck_assert_uint_eq(locator.offset, objects[_i].address);
    ck_assert_uint_eq(locator.bytes, objects[_i].locator.bytes);
}

TEST(truncated_locators_fail_the_cursor)
{
    static const enum rntuple_place places[] = {RNTUPLE_IN_FILE, RNTUPLE_LARGE, RNTUPLE_OBJECT64,
                                                RNTUPLE_MULTI, RNTUPLE_UNKNOWN_PLACE};
    for (unsigned i = 0; i < 5; i++) {
        struct rntuple_writer writer;
        rntuple_begin(&writer, RNTUPLE_V1, RNTUPLE_HEADER);
        rntuple_locator(&writer, places[i], 1, 2, "abc");
        for (size_t length = 0; length < writer.bytes.length - 8; length++) {
            struct nt_cursor cursor = nt_cursor(writer.bytes.bytes + 8, length);
            nt_locator_read(&cursor, row_of(RNTUPLE_V1));
            ck_assert(cursor.failed);
        }
        nt_buffer_deinit(&writer.bytes);
    }
}
