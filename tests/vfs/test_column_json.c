/* SPDX-License-Identifier: MIT
 *
 * column.json of sharded clusters whose page list or footer names a column group that does not exist.
 */
#include <jansson.h>

#include "core/base/memory.h"
#include "rntuple_writer.h"
#include "support.h"
#include "temporary.h"
#include "vfs/tree.h"
#include "vfs/vfs.h"

enum { ENTRIES = 2, INT32 = 0x07, INT32_OF_DRAFTS = 0x17 };

static struct nt_error error;

/* A column; two clusters of a cluster group each, the second of `column_group`. The one of the last entries
 * may be the first. */
static const char *write_shards(enum rntuple_generation generation, uint32_t column_group, bool is_reversed)
{
    static const int32_t values[ENTRIES] = {7, 8};
    static const uint32_t index = 0;
    static const struct rntuple_column_group group = {&index, 1};
    static const struct rntuple_field field = {.name = "a", .type = "std::int32_t", .parent = RNTUPLE_TOP};
    static const struct rntuple_page page = {
        .elements = ENTRIES, .packed = values, .packed_bytes = sizeof(values)};
    const struct rntuple_range ranges[] = {
        {.pages = &page, .page_count = 1},
        {.pages = &page, .page_count = 1, .first_element = ENTRIES},
    };
    const struct rntuple_column column = {.type = generation < RNTUPLE_RC3 ? INT32_OF_DRAFTS : INT32,
                                          .bits = 32};
    const struct rntuple_cluster clusters[] = {
        {is_reversed ? ENTRIES : 0, ENTRIES, 1, 0, &ranges[is_reversed], 1},
        {is_reversed ? 0 : ENTRIES, ENTRIES, 1, column_group, &ranges[!is_reversed], 1},
    };
    const struct rntuple_description description = {
        .name = "Events",
        .fields = &field,
        .field_count = 1,
        .columns = &column,
        .column_count = 1,
        .clusters = clusters,
        .cluster_count = 2,
        .clusters_per_group = 1,
        .column_groups = &group,
        .column_group_count = 1,
    };
    struct nt_buffer bytes = {0};
    rntuple_write(generation, &description, &bytes);
    const char *path = temporary_file("shards.root", bytes.bytes, bytes.length);
    nt_buffer_deinit(&bytes);
    return path;
}

static json_t *read_column_json(const char *path)
{
    struct nt_vfs *vfs;
    struct nt_vfs_handle *handle;
    uint64_t node;
    const struct nt_vfs_options options = {.open.struct_bytes = sizeof(options.open)};
    char text[4096];
    size_t length;
    assert_ok(nt_vfs_new(&path, 1, &options, &vfs, &error));
    assert_ok(nt_vfs_resolve(vfs, "Events/a/column.0/column.json", &node, &error));
    assert_ok(nt_vfs_open(vfs, node, &handle, &error));
    assert_ok(nt_vfs_read(handle, 0, text, sizeof(text), &length, &error));
    nt_vfs_close(handle);
    nt_vfs_free(vfs);
    json_t *json = json_loadb(text, length, 0, NULL);
    ck_assert_ptr_nonnull(json);
    return json;
}

static const enum rntuple_generation sharding[] = {RNTUPLE_CRC32_LINKS, RNTUPLE_CRC32_EXTENSION, RNTUPLE_RC1,
                                                   RNTUPLE_RC2_LATE};

TEST(entries_of_a_column_group_that_does_not_exist_are_uncovered, .setup = temporary_setup,
     .teardown = temporary_teardown, .end = sizeof(sharding) / sizeof(sharding[0]))
{
    static const uint32_t bad[] = {1, 0x40000000, UINT32_MAX - 1};
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        json_t *json = read_column_json(write_shards(sharding[_i], bad[i], false));
        const json_t *uncovered = json_object_get(json, "uncovered_entries");
        ck_assert_int_eq(json_integer_value(json_object_get(json, "elements")), ENTRIES);
        ck_assert(json_is_false(json_object_get(json, "is_complete")));
        ck_assert_uint_eq(json_array_size(uncovered), 1);
        const json_t *gap = json_array_get(uncovered, 0);
        ck_assert_int_eq(json_integer_value(json_object_get(gap, "first_entry")), ENTRIES);
        ck_assert_int_eq(json_integer_value(json_object_get(gap, "entries")), ENTRIES);
        json_decref(json);
    }
}

TEST(what_all_shards_cover_is_complete, .setup = temporary_setup, .teardown = temporary_teardown,
     .end = sizeof(sharding) / sizeof(sharding[0]))
{
    for (int is_reversed = 0; is_reversed <= 1; is_reversed++) {
        json_t *json = read_column_json(write_shards(sharding[_i], 0, is_reversed));
        ck_assert_int_eq(json_integer_value(json_object_get(json, "elements")), 2 * ENTRIES);
        ck_assert(json_is_true(json_object_get(json, "is_complete")));
        ck_assert_uint_eq(json_array_size(json_object_get(json, "uncovered_entries")), 0);
        json_decref(json);
    }
}
