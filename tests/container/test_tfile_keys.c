/* SPDX-License-Identifier: MIT
 *
 * Key lists as ROOT and uproot write them, and key lists that cannot belong to the directory.
 */
#include "opened.h"

#include "container/container.h"

static struct tfile_writer writer;
static struct opened opened;
static struct nt_error error;

/* "above/inner/events": three directories, the root included. */
static void write_file(void)
{
    tfile_writer_init(&writer, TFILE_SMALL);
    uint32_t above = tfile_writer_directory(&writer, 0, "above");
    uint32_t inner = tfile_writer_directory(&writer, above, "inner");
    tfile_writer_object(&writer, inner, "ROOT::RNTuple", "events", 1, "anchor", 6);
    tfile_writer_finish(&writer);
}

/* Lets the record of the list of "inner" name another directory, and checks whether "events" is still
 * found. */
static const struct nt_anchor_object *open_with_list_of(uint64_t directory)
{
    write_file();
    tfile_writer_put32(&writer, writer.directories[2].keys + TFILE_KEY_DIRECTORY, (uint32_t)directory);
    assert_ok(open_writer(&opened, &writer, &error));
    ck_assert_uint_eq(opened.container.anchor_count, 1);
    return &opened.container.anchors[0];
}

static void end(void)
{
    opened_close(&opened);
    tfile_writer_deinit(&writer);
}

TEST(a_list_names_its_directory_or_the_one_above, .end = 2)
{
    write_file();
    uint64_t places[] = {writer.directories[2].record, writer.directories[1].record};
    tfile_writer_deinit(&writer);
    const struct nt_anchor_object *anchor = open_with_list_of(places[_i]);
    ck_assert_ptr_null(anchor->failure);
    ck_assert_uint_eq(anchor->directory, 2);
    ck_assert_mem_eq(anchor->name.bytes, "events", 6);
    end();
}

TEST(a_list_that_names_another_directory_is_refused, .end = 3)
{
    write_file();
    uint64_t places[] = {writer.directories[0].record, 0, writer.directories[2].record + 1};
    tfile_writer_deinit(&writer);
    const struct nt_anchor_object *anchor = open_with_list_of(places[_i]);
    ck_assert_ptr_nonnull(anchor->failure);
    ck_assert_uint_eq(anchor->failure->status, NT_CORRUPT);
    end();
}

/* "events" and "damaged"; the offset of the first record. */
static uint64_t write_two(void)
{
    tfile_writer_init(&writer, TFILE_SMALL);
    uint64_t first = tfile_writer_object(&writer, 0, "ROOT::RNTuple", "events", 1, "anchor", 6);
    tfile_writer_object(&writer, 0, "ROOT::RNTuple", "damaged", 1, "anchor", 6);
    tfile_writer_finish(&writer);
    return first;
}

/* The copy of the second key in the root directory's list. */
static uint64_t second_copy(uint64_t first_record)
{
    uint64_t first = writer.directories[0].keys + 29 + 4;
    uint8_t low = (uint8_t)writer.out.bytes[first_record + TFILE_KEY_LENGTH + 1];
    return first + low;
}

TEST(a_damaged_key_in_a_list_hides_nothing_else, .end = 8)
{
    static const struct {
        uint32_t at, value;
        enum nt_status status;
    } words[] = {
        {TFILE_KEY_OFFSET, 0x7fffffff, NT_TRUNCATED},   {TFILE_KEY_OFFSET, 0, NT_CORRUPT},
        {TFILE_KEY_BYTES, 0xffffffff, NT_CORRUPT},      {TFILE_KEY_LENGTH, 0x00000001, NT_CORRUPT},
        {TFILE_KEY_LENGTH, 0xffff0001, NT_CORRUPT},     {TFILE_KEY_LENGTH, 0x00320001, NT_CORRUPT},
        {TFILE_KEY_CLASS + 14, 0xff7fffff, NT_CORRUPT}, {TFILE_KEY_CLASS + 14, 0x40000000, NT_CORRUPT}};
    uint64_t first = write_two();
    tfile_writer_put32(&writer, second_copy(first) + words[_i].at, words[_i].value);
    assert_ok(open_writer(&opened, &writer, &error));
    assert_damage_of_other(&opened, "events", words[_i].status);
    end();
}

TEST(a_list_with_an_impossible_count_is_refused, .end = 2)
{
    write_two();
    tfile_writer_put32(&writer, writer.directories[0].keys + 29, _i ? 0xffffffff : 1000);
    assert_status(NT_CORRUPT, open_writer(&opened, &writer, &error));
    end();
}

TEST(a_list_that_was_never_written_has_no_bytes)
{
    write_file();
    tfile_writer_put32(&writer, writer.directories[2].members + TFILE_DIRECTORY_KEYS, 0);
    assert_ok(open_writer(&opened, &writer, &error));
    ck_assert_uint_eq(opened.container.anchor_count, 1);
    ck_assert_uint_eq(opened.container.anchors[0].failure->status, NT_CORRUPT);
    end();
}

TEST(a_class_that_is_nearly_an_anchor_is_compared_with_the_record)
{
    uint64_t copy = second_copy(write_two());
    writer.out.bytes[copy + TFILE_KEY_CLASS + 13] ^= 1; /* the last letter but one of ROOT::RNTuple */
    assert_ok(open_writer(&opened, &writer, &error));
    assert_damage_of_other(&opened, "events", NT_CORRUPT);
    ck_assert_ptr_nonnull(find_anchor(&opened, "damaged", 1)->failure);
    end();
}

TEST(a_class_that_only_looks_like_an_anchor_is_none)
{
    tfile_writer_init(&writer, TFILE_SMALL);
    tfile_writer_object(&writer, 0, "ROOT::RNTuple", "events", 1, "anchor", 6);
    tfile_writer_object(&writer, 0, "ROOT::RNTuplf", "other", 1, "anchor", 6);
    tfile_writer_finish(&writer);
    assert_ok(open_writer(&opened, &writer, &error));
    ck_assert_uint_eq(opened.container.anchor_count, 1);
    ck_assert(!opened.container.may_have_orphans);
    end();
}

TEST(a_list_with_more_than_its_count_raises_doubts)
{
    write_two();
    tfile_writer_put32(&writer, writer.directories[0].keys + 29, 1);
    assert_ok(open_writer(&opened, &writer, &error));
    ck_assert_uint_eq(opened.container.anchor_count, 1);
    ck_assert(opened.container.may_have_orphans);
    end();
}
