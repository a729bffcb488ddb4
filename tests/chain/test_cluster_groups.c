/* SPDX-License-Identifier: MIT
 *
 * Clusters that store only some columns, in a chain with more fields than their file has.
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

/* number; list of records of x. Numbers are in two clusters of one entry, lists in one of two. */
static const struct rntuple_description sharded = {
    .name = "data",
    .description = "",
    .writer = "a test",
    .fields =
        (const struct rntuple_field[]){
            {.name = "number", .type = "std::int32_t", .parent = RNTUPLE_TOP},
            {.name = "list", .type = "std::vector<R>", .parent = RNTUPLE_TOP, .role = 1},
            {.name = "_0", .type = "R", .parent = 1, .role = 2},
            {.name = "x", .type = "std::int32_t", .parent = 2}},
    .field_count = 4,
    .columns = (const struct rntuple_column[]){{.type = INT32, .bits = 32, .field = 0},
                                               {.type = INDEX32, .bits = 32, .field = 1},
                                               {.type = INT32, .bits = 32, .field = 3}},
    .column_count = 3,
    .clusters =
        (const struct rntuple_cluster[]){
            {0, 1, 1, 0, (const struct rntuple_range[]){{PAGE(1, "\7\0\0\0")}}, 1},
            {1, 1, 1, 0, (const struct rntuple_range[]){{PAGE(1, "\10\0\0\0"), .first_element = 1}}, 1},
            {0, 2, 1, 1,
             (const struct rntuple_range[]){{PAGE(2, "\1\0\0\0\3\0\0\0")},
                                            {PAGE(3, "\1\0\0\0\2\0\0\0\3\0\0\0")}},
             2},
        },
    .cluster_count = 3,
    .column_groups =
        (const struct rntuple_column_group[]){{(const uint32_t[]){0}, 1}, {(const uint32_t[]){1, 2}, 2}},
    .column_group_count = 2,
};

/* list of records of y; other. One cluster with one entry. */
static const struct rntuple_description plain = {
    .name = "data",
    .description = "",
    .writer = "a test",
    .fields =
        (const struct rntuple_field[]){
            {.name = "list", .type = "std::vector<R>", .parent = RNTUPLE_TOP, .role = 1},
            {.name = "_0", .type = "R", .parent = 0, .role = 2},
            {.name = "y", .type = "std::int32_t", .parent = 1},
            {.name = "other", .type = "std::int32_t", .parent = RNTUPLE_TOP}},
    .field_count = 4,
    .columns = (const struct rntuple_column[]){{.type = INDEX32, .bits = 32, .field = 0},
                                               {.type = INT32, .bits = 32, .field = 2},
                                               {.type = INT32, .bits = 32, .field = 3}},
    .column_count = 3,
    .clusters =
        (const struct rntuple_cluster[]){{0, 1, 0, 0,
                                          (const struct rntuple_range[]){{PAGE(1, "\2\0\0\0")},
                                                                         {PAGE(2, "\4\0\0\0\5\0\0\0")},
                                                                         {PAGE(1, "\6\0\0\0")}},
                                          3}},
    .cluster_count = 1,
};

static struct nt_error error;
static struct nt_reader *reader;
static struct nt_chain_list *list;
static struct nt_file *file;

static void open_chain(const struct rntuple_description *first, const struct rntuple_description *second)
{
    const struct nt_chain_options options = {.rule = NT_CHAIN_UNION};
    const struct nt_open_options open = NT_OPEN_OPTIONS_INIT;
    const char *const paths[] = {save(first, "first.root"), save(second, "second.root")};
    assert_ok(nt_chain_list_new(paths, 2, false, &list, &error));
    assert_ok(nt_chain_open(list, &options, &open, &file, &error));
    ck_assert_ptr_null(file->datasets[0]->failure);
    assert_ok(nt_reader_new(NULL, &reader, &error));
}

static void setup(void)
{
    temporary_setup();
}

static void teardown(void)
{
    nt_reader_free(reader);
    nt_file_close(file);
    nt_chain_list_free(list);
    temporary_teardown();
}

TEST(fields_that_a_sharded_file_does_not_have, .setup = setup, .teardown = teardown)
{
    open_chain(&sharded, &plain);
    CHECK("number", NT_STREAM_DATA, int32_t, 7, 8, 0);
    CHECK("other", NT_STREAM_DATA, int32_t, 0, 0, 6);
    CHECK("list", NT_STREAM_OFFSETS, int64_t, 0, 1, 3, 5);
    CHECK("list/_0/x", NT_STREAM_DATA, int32_t, 1, 2, 3, 0, 0);
    CHECK("list/_0/y", NT_STREAM_DATA, int32_t, 0, 0, 0, 4, 5);
}

TEST(a_sharded_file_after_another, .setup = setup, .teardown = teardown)
{
    open_chain(&plain, &sharded);
    CHECK("number", NT_STREAM_DATA, int32_t, 0, 7, 8);
    CHECK("other", NT_STREAM_DATA, int32_t, 6, 0, 0);
    CHECK("list", NT_STREAM_OFFSETS, int64_t, 0, 2, 3, 5);
    CHECK("list/_0/x", NT_STREAM_DATA, int32_t, 0, 0, 1, 2, 3);
    CHECK("list/_0/y", NT_STREAM_DATA, int32_t, 4, 5, 0, 0, 0);
}

/* A field that cannot be joined has its columns all the same. */
TEST(columns_of_refused_fields_are_in_their_groups, .setup = setup, .teardown = teardown)
{
    struct rntuple_description other = plain;
    struct rntuple_field fields[4];
    memcpy(fields, plain.fields, sizeof(fields));
    fields[3].name = "number";
    fields[3].type = "float";
    struct rntuple_column columns[3];
    memcpy(columns, plain.columns, sizeof(columns));
    columns[2].type = INDEX32;
    other.fields = fields;
    other.columns = columns;
    open_chain(&sharded, &other);
    uint32_t field;
    assert_ok(nt_dataset_find(file->datasets[0], "number", &field, &error));
    ck_assert_ptr_nonnull(file->datasets[0]->fields[field].unreadable);
    for (uint32_t i = 0; i < file->datasets[0]->column_group_count; i++)
        for (uint32_t k = 0; k < file->datasets[0]->column_groups[i].count; k++)
            ck_assert_uint_lt(file->datasets[0]->column_groups[i].columns[k],
                              file->datasets[0]->column_count);
    CHECK("list/_0/y", NT_STREAM_DATA, int32_t, 0, 0, 0, 4, 5);
}
