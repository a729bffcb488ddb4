/* SPDX-License-Identifier: MIT
 *
 * The content of files in the tree over a model in memory. model.c has the content of the model.
 */
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "open_tree.h"
#include "support.h"

static struct nt_error error;

TEST(numbers_are_served_as_the_field_has_them, .setup = tree_setup_single, .teardown = tree_teardown)
{
    struct nt_buffer data = read_path("Events/run/data.bin");
    ck_assert_uint_eq(data.length, 4 * MODEL_ENTRIES);
    for (uint64_t i = 0; i < MODEL_ENTRIES; i++)
        ck_assert_int_eq(((const int32_t *)data.bytes)[i], model_run(i));
    nt_buffer_deinit(&data);
}

TEST(offsets_count_over_the_whole_dataset, .setup = tree_setup_single, .teardown = tree_teardown)
{
    struct nt_buffer offsets = read_path("Events/jets/offsets.bin"),
                     pt = read_path("Events/jets/_0/pt/data.bin");
    uint64_t sum = 0;
    for (uint64_t i = 0; i < MODEL_ENTRIES; i++) {
        ck_assert_uint_eq(((const uint64_t *)offsets.bytes)[i], sum);
        for (uint64_t k = 0; k < model_jets(i); k++)
            ck_assert(((const float *)pt.bytes)[sum + k] == model_pt(i, k));
        sum += model_jets(i);
    }
    ck_assert_uint_eq(((const uint64_t *)offsets.bytes)[MODEL_ENTRIES], sum);
    ck_assert_uint_eq(pt.length, 4 * sum);
    nt_buffer_deinit(&offsets);
    nt_buffer_deinit(&pt);
}

TEST(joined_pages_are_the_column_as_stored, .setup = tree_setup_single, .teardown = tree_teardown, .end = 3)
{
    static const char *const columns[] = {"Events/run/column.0", "Events/jets/column.0",
                                          "Events/jets/_0/pt/column.0"};
    struct nt_buffer joined = {0};
    char path[128];
    snprintf(path, sizeof(path), "%s/data.bin", columns[_i]);
    struct nt_buffer data = read_path(path);
    for (int page = 0;; page++) {
        uint64_t node;
        snprintf(path, sizeof(path), "%s/pages/%d.bin", columns[_i], page);
        if (nt_vfs_resolve(vfs, path, &node, &error) != NT_OK)
            break;
        struct nt_buffer part = read_path(path);
        nt_buffer_append(&joined, part.bytes, part.length);
        nt_buffer_deinit(&part);
    }
    ck_assert_uint_gt(joined.length, 0);
    ck_assert_mem_eq(joined.bytes, data.bytes, data.length);
    ck_assert_uint_eq(joined.length, data.length);
    nt_buffer_deinit(&joined);
    nt_buffer_deinit(&data);
}

TEST(an_unsized_file_can_be_read_in_any_order, .setup = tree_setup_single, .teardown = tree_teardown)
{
    struct nt_buffer whole = read_path("keys.jsonl");
    struct nt_vfs_handle *handle;
    uint64_t state = 88172645463325252u;
    char bytes[512];
    size_t got;
    assert_ok(nt_vfs_open(vfs, resolve("keys.jsonl"), &handle, &error));
    for (int i = 0; i < 300; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        size_t offset = state % (whole.length + 100), size = (state >> 32) % sizeof(bytes);
        size_t left = offset < whole.length ? whole.length - offset : 0;
        assert_ok(nt_vfs_read(handle, offset, bytes, size, &got, &error));
        ck_assert_uint_eq(got, left < size ? left : size);
        ck_assert(memcmp(bytes, whole.bytes + offset, got) == 0);
    }
    nt_vfs_close(handle);
    nt_buffer_deinit(&whole);
}
