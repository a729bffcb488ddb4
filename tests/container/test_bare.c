/* SPDX-License-Identifier: MIT
 *
 * Bare files, written byte by byte: what is found in them, and which are refused.
 */
#include "opened.h"

#include "core/json/json.h"
#include "container/container.h"
#include "core/base/memory.h"
#include "core/model/model.h"

/* A file with the name "bare", an anchor of 78 bytes at byte 94 and 4 bytes after it. */
enum { COMPRESSION_AT = 15, FORMAT_VERSION_AT = 11, NAME_AT = 89, ANCHOR_AT = 94, FILE_BYTES = 176 };

static uint8_t bytes[FILE_BYTES];
static struct opened opened;
static struct nt_error error;

static void usual_file(void)
{
    memset(bytes, 0, sizeof(bytes));
    memcpy(bytes, "rntuple\0\0\xfa\0\0\0\0\1\0\0\1\xf9", 19); /* ROOT 6.40.00, version 1, zstd of level 5 */
    memcpy(bytes + NAME_AT, "\4bare", 5);
    memcpy(bytes + ANCHOR_AT, "\x40\0\0\x42\0\2", 6); /* 66 bytes follow, then a checksum of 8 */
    memcpy(bytes + ANCHOR_AT + 70, "checksum", 8);
}

TEST(the_name_and_the_anchor_are_found)
{
    usual_file();
    assert_ok(open_bytes(&opened, bytes, sizeof(bytes), &error));
    ck_assert_str_eq(opened.container.kind->name, "bare");
    ck_assert_uint_eq(opened.container.anchor_count, 1);
    const struct nt_anchor_object *anchor = find_anchor(&opened, "bare", 0);
    ck_assert_uint_eq(anchor->offset, ANCHOR_AT);
    ck_assert_uint_eq(anchor->length, 78);
    ck_assert_uint_eq(anchor->stored_bytes, 78);
    ck_assert_mem_eq(anchor->bytes, bytes + ANCHOR_AT, 78);
    ck_assert(anchor->is_newest_cycle);
    opened_close(&opened);
}

TEST(the_file_is_described)
{
    usual_file();
    assert_ok(open_bytes(&opened, bytes, sizeof(bytes), &error));
    struct nt_buffer out = {0};
    struct nt_json json;
    nt_json_line(&json, &out);
    assert_ok(opened.file->describe(opened.file, &json, &error));
    nt_json_finish(&json);
    ck_assert_str_eq(out.bytes, "{\"kind\":\"bare\",\"version\":1,\"root_version\":\"6.40.00\","
                                "\"compression\":{\"setting\":505,\"algorithm\":\"zstd\",\"level\":5}}\n");
    nt_buffer_deinit(&out);
    opened_close(&opened);
}

static enum nt_status only_the_header(void *context, const struct nt_layout_range *range)
{
    ck_assert_uint_eq(range->offset, 0);
    ck_assert_uint_eq(range->bytes, ANCHOR_AT);
    ck_assert_str_eq(range->owner, "file header");
    ++*(int *)context;
    return NT_OK;
}

TEST(the_layout_has_the_header)
{
    int ranges = 0;
    usual_file();
    assert_ok(open_bytes(&opened, bytes, sizeof(bytes), &error));
    assert_ok(opened.file->layout(opened.file, only_the_header, &ranges, &error));
    ck_assert_int_eq(ranges, 1);
    opened_close(&opened);
}

/* The valid part is found all the same. */
static void assert_anchor_fails(enum nt_status status, uint64_t stored_bytes)
{
    const struct nt_anchor_object *anchor = find_anchor(&opened, "bare", 0);
    ck_assert_ptr_nonnull(anchor->failure);
    ck_assert_int_eq(anchor->failure->status, status);
    ck_assert_uint_eq(anchor->offset, ANCHOR_AT);
    ck_assert_uint_eq(anchor->stored_bytes, stored_bytes);
    opened_close(&opened);
}

TEST(a_file_that_ends_before_its_anchor_does_is_refused_or_has_a_part_of_it)
{
    usual_file();
    for (size_t size = 7; size < ANCHOR_AT; size++)
        assert_status(NT_TRUNCATED, open_bytes(&opened, bytes, size, &error));
    for (size_t size = ANCHOR_AT; size < ANCHOR_AT + 78; size++) {
        assert_ok(open_bytes(&opened, bytes, size, &error));
        assert_anchor_fails(NT_TRUNCATED, size - ANCHOR_AT);
    }
    assert_ok(open_bytes(&opened, bytes, ANCHOR_AT + 78, &error));
    opened_close(&opened);
}

TEST(an_unknown_version_is_refused)
{
    usual_file();
    bytes[FORMAT_VERSION_AT + 3] = 2;
    assert_status(NT_UNSUPPORTED, open_bytes(&opened, bytes, sizeof(bytes), &error));
}

TEST(an_anchor_of_an_impossible_size_fails)
{
    usual_file();
    bytes[ANCHOR_AT + 1] = 1;
    assert_ok(open_bytes(&opened, bytes, sizeof(bytes), &error));
    assert_anchor_fails(NT_CORRUPT, sizeof(bytes) - ANCHOR_AT);
}
