/* SPDX-License-Identifier: MIT
 *
 * What is requested from a slow source when streams of several branches are opened.
 */
#include <stdio.h>
#include <stdlib.h>

#include <ntuple/ntuple.h>

#include "core/io/source.h"
#include "core/model/model.h"
#include "support.h"

enum { MOST = 256 };

/* A source that notes what is requested. */
static struct {
    struct nt_source source;
    struct nt_source *file;
    struct nt_extent extents[MOST];
    size_t count;
    uint64_t spare_bytes;
} noting;

static struct nt_error error;
static struct nt_file *file;
static struct nt_reader *reader;

static enum nt_status read_noting(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                  struct nt_error *found)
{
    return nt_source_read(noting.file, offset, buffer, bytes, found);
}

static void note_prefetch(struct nt_source *source, const struct nt_extent *extents, size_t count,
                          enum nt_prefetch_need need)
{
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_lt(noting.count, MOST);
        noting.extents[noting.count++] = extents[i];
    }
}

static uint64_t find_spare(struct nt_source *source, bool are_likely)
{
    return noting.spare_bytes;
}

static void close_noting(struct nt_source *source)
{
    nt_source_close(noting.file);
}

static void set_up(void)
{
    static const struct nt_source_ops ops = {
        .read_at = read_noting, .prefetch = note_prefetch, .spare_bytes = find_spare, .close = close_noting};
    const struct nt_reader_options options = {.struct_bytes = sizeof(options)};
    char path[4096];
    snprintf(path, sizeof(path), "%s/trees/trees_baskets.root", getenv("NTUPLE_TEST_DATA"));
    assert_ok(nt_source_open_file(path, &noting.file, &error));
    noting.source = (struct nt_source){.ops = &ops, .size = noting.file->size, .path = noting.file->path};
    assert_ok(nt_file_open_source(&noting.source, NULL, &file, &error));
    assert_ok(nt_reader_new(&options, &reader, &error));
    noting.count = 0;
    noting.spare_bytes = 0;
}

static void tear_down(void)
{
    nt_reader_free(reader);
    nt_file_close(file);
}

static uint32_t field_of(const char *path)
{
    uint32_t field;
    assert_ok(nt_dataset_find(file->datasets[0], path, &field, &error));
    return field;
}

static void open_offsets(const char *path)
{
    struct nt_stream *stream;
    assert_ok(nt_stream_open(reader, file->datasets[0], field_of(path), NT_STREAM_OFFSETS, &stream, &error));
    nt_stream_close(stream);
}

/* The number of a field's pages whose first bytes were requested: list has two baskets, and text has one,
 * which is a page of its ends and one of its characters. */
static unsigned requested_pages_since(size_t first, const char *path)
{
    struct nt_dataset *dataset = file->datasets[0];
    struct nt_groups groups = nt_groups_of_field(dataset, field_of(path));
    size_t count = noting.count;
    unsigned found = 0;
    assert_ok(nt_groups_load(dataset, groups, &error));
    struct nt_group *group = nt_group_try_pin(dataset, groups.first);
    for (uint64_t p = 0; p < group->page_count; p++)
        for (size_t i = first; i < count; i++)
            if (noting.extents[i].offset == group->pages[p].offset) {
                found++;
                break;
            }
    nt_group_unpin(group);
    return found;
}

static unsigned requested_pages(const char *path)
{
    return requested_pages_since(0, path);
}

TEST(a_branch_requests_its_own_baskets, .setup = set_up, .teardown = tear_down)
{
    open_offsets("list");
    ck_assert_uint_eq(requested_pages("list"), 2);
    ck_assert_uint_eq(requested_pages("text"), 0);
}

TEST(the_first_of_several_branches_requests_those_of_all, .setup = set_up, .teardown = tear_down)
{
    const uint32_t fields[] = {field_of("list"), field_of("i"), field_of("text")};
    nt_fields_announce(file->datasets[0], fields, COUNT_OF(fields));
    ck_assert_uint_eq(noting.count, 0);
    open_offsets("list");
    ck_assert_uint_eq(requested_pages("text"), 2);
    ck_assert_uint_eq(requested_pages("i"), 0);
}

/* What a source has no room for is requested by a later branch. */
TEST(branches_are_requested_again_only_if_there_was_no_room, .setup = set_up, .teardown = tear_down, .end = 2)
{
    const uint32_t fields[] = {field_of("list"), field_of("text"), field_of("x")};
    noting.spare_bytes = _i ? UINT64_MAX : 0;
    nt_fields_announce(file->datasets[0], fields, COUNT_OF(fields));
    open_offsets("list");
    size_t first = noting.count;
    open_offsets("text");
    ck_assert_uint_eq(requested_pages_since(first, "x") > 0, !_i);
    ck_assert_uint_gt(requested_pages("x"), 0);
}

TEST(a_later_announcement_replaces_an_earlier_one, .setup = set_up, .teardown = tear_down)
{
    const uint32_t fields[] = {field_of("list"), field_of("text")}, none[] = {NT_NONE};
    nt_fields_announce(file->datasets[0], fields, COUNT_OF(fields));
    nt_fields_announce(file->datasets[0], none, COUNT_OF(none));
    open_offsets("list");
    ck_assert_uint_eq(requested_pages("text"), 0);
}
