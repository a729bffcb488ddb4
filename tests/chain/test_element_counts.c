/* SPDX-License-Identifier: MIT
 *
 * Elements of columns below lists that an index knows: they spare opening members, and are compared with
 * these when rows are read.
 */
#include <stdio.h>
#include <string.h>

#include "rntuple_chain.h"
#include "rntuple_writer.h"
#include "waiting_chain.h"
#include "core/base/memory.h"
#include "core/json/json.h"
#include "read/read.h"

enum { INDEX32 = 0x02, INT32 = 0x17, MEMBERS = 4 }; /* column types of the release candidates */

#define PAGE(count, bytes)                                                                                   \
    .pages =                                                                                                 \
        &(struct rntuple_page){.elements = (count), .packed = (bytes), .packed_bytes = sizeof(bytes) - 1},   \
    .page_count = 1
/* A cluster of entries with ends of lists, and items. */
#define MEMBER(entries, ends, items, ...)                                                                    \
    {                                                                                                        \
        .name = "data", .description = "", .writer = "a test",                                               \
        .fields =                                                                                            \
            (const struct rntuple_field[]){                                                                  \
                {.name = "list", .type = "std::vector<std::int32_t>", .parent = RNTUPLE_TOP, .role = 1},     \
                {.name = "_0", .type = "std::int32_t", .parent = 0}},                                        \
        .field_count = 2,                                                                                    \
        .columns = (const struct rntuple_column[]){{.type = INDEX32, .bits = 32, .field = 0},                \
                                                   {.type = INT32, .bits = 32, .field = 1}},                 \
        .column_count = 2,                                                                                   \
        .clusters =                                                                                          \
            (const struct rntuple_cluster[]){                                                                \
                {0, (entries), 0, 0, (const struct rntuple_range[]){{PAGE((entries), ends)}, {__VA_ARGS__}}, \
                 2}},                                                                                        \
        .cluster_count = 1,                                                                                  \
    }

static const struct rntuple_description members[MEMBERS] = {
    MEMBER(1, "\2\0\0\0", 2, PAGE(2, "\4\0\0\0\5\0\0\0")),
    MEMBER(2, "\1\0\0\0\1\0\0\0", 1, PAGE(1, "\6\0\0\0")),
    MEMBER(1, "\0\0\0\0", 0, .page_count = 0),
    MEMBER(1, "\1\0\0\0", 1, PAGE(1, "\7\0\0\0")),
};

static char index_text[4096];

static void keep_text(void *context, const struct nt_buffer *text)
{
    snprintf(index_text, sizeof(index_text), "%.*s", (int)text->length, text->bytes);
}

static void save_text_and_index(void *context, const struct nt_buffer *text)
{
    keep_text(context, text);
    save_index(context, text);
}

static void open_chain(void)
{
    const struct nt_chain_options options = {.index = known,
                                             .save_index = known ? keep_text : save_text_and_index};
    const struct nt_open_options open = NT_OPEN_OPTIONS_INIT;
    open_indexed(&options, &open);
}

static void setup(void)
{
    char names[MEMBERS][512];
    const char *paths[MEMBERS];
    temporary_setup();
    for (unsigned i = 0; i < MEMBERS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "member%u.root", i);
        snprintf(names[i], sizeof(names[i]), "%s", save(&members[i], name));
        paths[i] = names[i];
    }
    index_members(paths, MEMBERS, open_chain);
}

/* A bit for each member that was opened for its rows. */
static unsigned opened(void)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < MEMBERS; i++)
        bits |= (unsigned)(nt_chain_of(file)->members[i].source != NULL) << i;
    return bits;
}

static struct nt_stream *open_stream(const char *path, enum nt_stream_kind kind)
{
    struct nt_stream *stream;
    uint32_t field;
    assert_ok(nt_dataset_find(file->datasets[0], path, &field, &error));
    assert_ok(nt_stream_open(reader, file->datasets[0], field, kind, &stream, &error));
    return stream;
}

static enum nt_status read_items(struct nt_stream *stream, uint64_t first, uint64_t count, int32_t *items)
{
    return nt_stream_read(stream, first * sizeof(*items), items, count * sizeof(*items), &error);
}

TEST(elements_are_written, .setup = setup, .teardown = teardown)
{
    static const char *const elements[MEMBERS] = {"2", "1", "0", "1"};
    const char *at = index_text;
    for (unsigned i = 0; i < MEMBERS; i++) {
        char expected[64];
        snprintf(expected, sizeof(expected), "\"cluster_elements\":[\"%s\"]", elements[i]);
        at = strstr(at, "\"cluster_elements\"");
        ck_assert_ptr_nonnull(at);
        ck_assert_msg(strncmp(at, expected, strlen(expected)) == 0, "%s", at);
        at++;
    }
}

TEST(sizes_open_no_member, .setup = setup, .teardown = teardown)
{
    uint64_t elements;
    uint32_t field;
    open_chain();
    assert_ok(nt_dataset_find(file->datasets[0], "list._0", &field, &error));
    assert_ok(nt_field_stream_elements(reader, file->datasets[0], field, NT_STREAM_DATA, &elements, &error));
    ck_assert_uint_eq(elements, 4);
    nt_stream_close(open_stream("list._0", NT_STREAM_DATA));
    nt_stream_close(open_stream("list", NT_STREAM_OFFSETS));
    ck_assert_uint_eq(opened(), 0);
}

TEST(a_value_opens_one_member, .setup = setup, .teardown = teardown)
{
    int32_t item;
    int64_t offsets[3];
    open_chain();
    struct nt_stream *items = open_stream("list._0", NT_STREAM_DATA);
    assert_ok(read_items(items, 2, 1, &item));
    ck_assert_int_eq(item, 6);
    ck_assert_uint_eq(opened(), 1u << 1);
    nt_stream_close(items);
    struct nt_stream *ends = open_stream("list", NT_STREAM_OFFSETS);
    assert_ok(nt_stream_read(ends, 3 * sizeof(*offsets), offsets, sizeof(offsets), &error));
    ck_assert_int_eq(offsets[0], 3);
    ck_assert_int_eq(offsets[1], 3);
    ck_assert_int_eq(offsets[2], 4);
    nt_stream_close(ends);
    ck_assert_uint_eq(opened(), 1u << 1 | 1u << 2 | 1u << 3);
}

TEST(all_values_open_members_without_items_too, .setup = setup, .teardown = teardown)
{
    static const int32_t expected[] = {4, 5, 6, 7};
    int32_t items[4];
    open_chain();
    struct nt_stream *stream = open_stream("list._0", NT_STREAM_DATA);
    assert_ok(read_items(stream, 0, 4, items));
    ck_assert_mem_eq(items, expected, sizeof(expected));
    nt_stream_close(stream);
    ck_assert_uint_eq(opened() | 1, (1u << MEMBERS) - 1);
}

static void set_count(unsigned member, uint32_t elements)
{
    known->files[member].datasets[0].counts[0].runs[0].elements = elements;
}

TEST(a_wrong_number_is_found_out, .setup = setup, .teardown = teardown)
{
    int32_t items[4];
    set_count(1, 2);
    open_chain();
    struct nt_stream *stream = open_stream("list._0", NT_STREAM_DATA);
    ck_assert_uint_eq(nt_stream_elements(stream), 5);
    assert_ok(read_items(stream, 0, 2, items));
    assert_status(NT_CORRUPT, read_items(stream, 2, 1, items));
    ck_assert_ptr_nonnull(strstr(error.message, "member1.root"));
    ck_assert_ptr_nonnull(strstr(error.message, "elements of a column in a cluster according to the index"));
    ck_assert_str_eq(error.expected, "2");
    ck_assert_str_eq(error.found, "1");
    nt_stream_close(stream);
}

/* In the middle, at the end, and everywhere but in the first member, which is open. */
static const struct {
    unsigned from, to;
    uint64_t reads; /* the item whose read proves it */
} hidden[] = {{1, 1, 2}, {3, 3, 2}, {1, 3, 1}};

TEST(hidden_items_are_found_out, .setup = setup, .teardown = teardown,
     .end = sizeof(hidden) / sizeof(*hidden))
{
    int32_t item;
    for (unsigned i = hidden[_i].from; i <= hidden[_i].to; i++)
        set_count(i, 0);
    open_chain();
    struct nt_stream *stream = open_stream("list._0", NT_STREAM_DATA);
    assert_status(NT_CORRUPT, read_items(stream, hidden[_i].reads, 1, &item));
    ck_assert_msg(strstr(error.message, "member"), "%s", error.message);
    nt_stream_close(stream);
}

/* The page of an item, found without reading anything. */
static bool is_page_known(const struct nt_stream *items, uint64_t number)
{
    struct nt_readahead_page found;
    nt_stream_find_page(items, number, &found);
    nt_group_unpin(found.group);
    return found.page != NULL;
}

/* Reads that use pages in memory must not pass members that nobody has looked at. */
TEST(a_page_list_in_memory_proves_only_its_own_elements, .setup = setup, .teardown = teardown, .end = 2)
{
    int64_t end;
    int32_t item;
    if (_i)
        set_count(1, 0);
    open_chain();
    struct nt_stream *items = open_stream("list._0", NT_STREAM_DATA),
                     *ends = open_stream("list", NT_STREAM_OFFSETS);
    uint64_t last = nt_stream_elements(items) - 1;
    (void)!nt_stream_read(ends, 5 * sizeof(end), &end, sizeof(end), &error); /* loads the last page list */
    ck_assert(!is_page_known(items, last));
    enum nt_status status = read_items(items, last, 1, &item);
    ck_assert_int_eq(status, _i ? NT_CORRUPT : NT_OK);
    ck_assert_int_eq(is_page_known(items, last), status == NT_OK);
    nt_stream_close(items);
    nt_stream_close(ends);
}

TEST(unknown_elements_are_looked_up, .setup = setup, .teardown = teardown, .end = 2)
{
    if (_i)
        set_count(1, NT_COUNT_UNKNOWN);
    else
        known->files[1].datasets[0].counts = NULL;
    open_chain();
    struct nt_stream *stream = open_stream("list._0", NT_STREAM_DATA);
    ck_assert_uint_eq(nt_stream_elements(stream), 4);
    ck_assert_uint_eq(opened(), 1u << 1);
    nt_stream_close(stream);
}

/* As for an index of an earlier version. */
TEST(what_was_looked_up_is_written, .setup = setup, .teardown = teardown)
{
    char written[sizeof(index_text)];
    strcpy(written, index_text);
    known->files[1].datasets[0].counts = NULL;
    index_text[0] = '\0';
    open_chain();
    nt_stream_close(open_stream("list._0", NT_STREAM_DATA));
    nt_file_close(file);
    ck_assert_str_eq(index_text, written);
    index_text[0] = '\0';
    known->files[1].datasets[0].counts = known->files[3].datasets[0].counts;
    open_chain(); /* nothing is new */
    nt_stream_close(open_stream("list._0", NT_STREAM_DATA));
    nt_file_close(file);
    ck_assert_str_eq(index_text, "");
    open_chain();
}

TEST(a_page_of_a_closed_member_is_described, .setup = setup, .teardown = teardown)
{
    open_chain();
    struct nt_dataset *dataset = file->datasets[0];
    for (uint32_t i = 0; i < dataset->group_count; i++) {
        struct nt_buffer text = {0};
        struct nt_group *group;
        struct nt_json json;
        assert_ok(nt_group_pin(dataset, i, &group, &error));
        nt_json_line(&json, &text);
        assert_ok(dataset->ops->describe_page(dataset, 0, group->pages, &json));
        nt_group_unpin(group);
        nt_buffer_deinit(&text);
        ck_assert(i == 0 || !nt_chain_of(file)->members[i].file);
    }
}
