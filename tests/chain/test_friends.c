/* SPDX-License-Identifier: MIT
 *
 * Friends whose files have other boundaries, lists and fields than those of the samples.
 */
#include "chain/chain.h"

#include <ntuple/read.h>
#include <string.h>

#include "rntuple_chain.h"
#include "rntuple_writer.h"
#include "temporary.h"
#include "core/base/memory.h"
#include "core/model/model.h"

enum { INDEX32 = 0x02, INT32 = 0x17 }; /* column types of the release candidates */

#define PAGE(count, bytes)                                                                                   \
    .pages =                                                                                                 \
        &(struct rntuple_page){.elements = (count), .packed = (bytes), .packed_bytes = sizeof(bytes) - 1},   \
    .page_count = 1
#define NUMBER_FIELDS                                                                                        \
    .name = "data", .description = "", .writer = "a test",                                                   \
    .fields =                                                                                                \
        (const struct rntuple_field[]){{.name = "number", .type = "std::int32_t", .parent = RNTUPLE_TOP}},   \
    .field_count = 1, .columns = (const struct rntuple_column[]){{.type = INT32, .bits = 32, .field = 0}},   \
    .column_count = 1
#define LIST_FIELDS(item)                                                                                    \
    .name = "data", .description = "", .writer = "a test",                                                   \
    .fields =                                                                                                \
        (const struct rntuple_field[]){                                                                      \
            {.name = "list", .type = "std::vector<R>", .parent = RNTUPLE_TOP, .role = 1},                    \
            {.name = "_0", .type = "R", .parent = 0, .role = 2},                                             \
            {.name = (item), .type = "std::int32_t", .parent = 1},                                           \
            {.name = "other", .type = "std::int32_t", .parent = RNTUPLE_TOP}},                               \
    .field_count = 4,                                                                                        \
    .columns = (const struct rntuple_column[]){{.type = INDEX32, .bits = 32, .field = 0},                    \
                                               {.type = INT32, .bits = 32, .field = 2},                      \
                                               {.type = INT32, .bits = 32, .field = 3}},                     \
    .column_count = 3

/* Two clusters of an entry. */
static const struct rntuple_description numbers = {
    NUMBER_FIELDS,
    .clusters =
        (const struct rntuple_cluster[]){
            {0, 1, 0, 0, (const struct rntuple_range[]){{PAGE(1, "\7\0\0\0")}}, 1},
            {1, 1, 0, 0, (const struct rntuple_range[]){{PAGE(1, "\10\0\0\0"), .first_element = 1}}, 1}},
    .cluster_count = 2,
};
static const struct rntuple_description last_number = {
    NUMBER_FIELDS,
    .clusters = (const struct rntuple_cluster[]){{0, 1, 0, 0,
                                                  (const struct rntuple_range[]){{PAGE(1, "\11\0\0\0")}}, 1}},
    .cluster_count = 1,
};
static const struct rntuple_description first_list = {
    LIST_FIELDS("y"),
    .clusters =
        (const struct rntuple_cluster[]){{0, 1, 0, 0,
                                          (const struct rntuple_range[]){{PAGE(1, "\2\0\0\0")},
                                                                         {PAGE(2, "\4\0\0\0\5\0\0\0")},
                                                                         {PAGE(1, "\1\0\0\0")}},
                                          3}},
    .cluster_count = 1,
};
static const struct rntuple_description lists = {
    LIST_FIELDS("z"),
    .clusters =
        (const struct rntuple_cluster[]){{0, 2, 0, 0,
                                          (const struct rntuple_range[]){{PAGE(2, "\1\0\0\0\1\0\0\0")},
                                                                         {PAGE(1, "\6\0\0\0")},
                                                                         {PAGE(2, "\2\0\0\0\3\0\0\0")}},
                                          3}},
    .cluster_count = 1,
};

static struct nt_error error;
static struct nt_reader *reader;
static struct nt_chain_list *list;
static struct nt_file *file;

/* Both friends have the same files: `files` is a list in JSON. */
static enum nt_status open_chain(const char *files, enum nt_chain_rule rule)
{
    static const char text[] =
        "{\"samples\": {\"s\": {\"trees\": [\"data\"], \"files\": [\"numbers.root\", \"last.root\"]}}, "
        "\"friends\": {\"f\": {\"trees\": [\"data\"], \"files\": %s}, "
        "\"number\": {\"trees\": [\"data\"], \"files\": %s}}}";
    const struct nt_chain_options options = {.rule = rule};
    const struct nt_open_options open = NT_OPEN_OPTIONS_INIT;
    struct nt_buffer specification = {0};
    nt_buffer_append_format(&specification, text, files, files);
    save(&numbers, "numbers.root");
    save(&last_number, "last.root");
    save(&first_list, "first.root");
    save(&lists, "lists.root");
    const char *const paths[] = {temporary_file("text.json", specification.bytes, specification.length)};
    nt_buffer_deinit(&specification);
    assert_ok(nt_chain_list_new(paths, 1, false, &list, &error));
    struct nt_file *opened;
    enum nt_status status = nt_chain_open(list, &options, &open, &opened, &error);
    file = status == NT_OK ? opened : NULL;
    return status;
}

static void setup(void)
{
    temporary_setup();
    file = NULL;
    assert_ok(nt_reader_new(NULL, &reader, &error));
}

static void teardown(void)
{
    nt_reader_free(reader);
    if (file)
        nt_file_close(file);
    nt_chain_list_free(list);
    temporary_teardown();
}

TEST(friends_have_fields_and_boundaries_of_their_own, .setup = setup, .teardown = teardown)
{
    assert_ok(open_chain("[\"first.root\", \"lists.root\"]", NT_CHAIN_UNION));
    CHECK("number", NT_STREAM_DATA, int32_t, 7, 8, 9);
    CHECK("f/other", NT_STREAM_DATA, int32_t, 1, 2, 3);
    CHECK("f/list", NT_STREAM_OFFSETS, int64_t, 0, 2, 3, 3);
    CHECK("f/list/_0/y", NT_STREAM_DATA, int32_t, 4, 5, 0);
    CHECK("f/list/_0/z", NT_STREAM_DATA, int32_t, 0, 0, 6);
    CHECK("number~2/other", NT_STREAM_DATA, int32_t, 1, 2, 3);
}

TEST(pages_of_friends_are_those_of_their_files, .setup = setup, .teardown = teardown)
{
    assert_ok(open_chain("[\"first.root\", \"lists.root\"]", NT_CHAIN_UNION));
    struct nt_dataset *dataset = file->datasets[0];
    uint64_t pages = 0;
    assert_ok(nt_dataset_load_all(dataset, &error));
    for (uint32_t i = 0; i < dataset->group_count; i++) {
        const struct nt_group *loaded = nt_group_slot(dataset, i);
        uint32_t count, column = nt_field_columns(dataset, loaded->field, &count)[0];
        for (uint64_t k = 0; k < loaded->page_count; k++, pages++) {
            const struct nt_page *page = &loaded->pages[k];
            const struct nt_chain_slice *slice = nt_chain_source_slice(dataset, page->source);
            struct nt_group *group;
            const struct nt_page *own = nt_chain_member_page(dataset, slice, column, page, &group);
            ck_assert_ptr_nonnull(own);
            ck_assert_uint_eq(own->offset, page->offset);
            nt_group_unpin(group);
        }
    }
    ck_assert_uint_eq(pages, 3 + 2 * (3 + 3));
}

TEST(a_friend_with_fewer_entries_is_refused, .setup = setup, .teardown = teardown)
{
    assert_status(NT_INCOMPATIBLE, open_chain("[\"lists.root\"]", NT_CHAIN_CHECK));
    ck_assert_msg(strstr(error.message, "friend \"f\": number of entries") &&
                      strstr(error.message, "expected 3, found 2"),
                  "%s", error.message);
}
