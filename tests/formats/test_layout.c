/* SPDX-License-Identifier: MIT
 *
 * The layout as each format emits it: ranges within the file, and none after the receiver stops.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"
#include "support.h"
#include "core/io/source.h"
#include "core/model/model.h"

/* One of each structure that has ranges of its own. */
static const char *const names[] = {"types.root",
                                    "attributes.root",
                                    "dirs_and_cycles.root",
                                    "split_keys.root",
                                    "late_fields.root",
                                    "directories_by_uproot.root",
                                    "trees/mixed.root",
                                    "blocks.blp",
                                    "blocks_with_digests.blp",
                                    "lance_nested_0.2.lance",
                                    "lance_dictionaries_0.2.lance",
                                    "lance_nested_2.0.lance",
                                    "lance_nested_2.1.lance",
                                    "lance_datasets/deletions_2.0",
                                    "lance_datasets/deletions_2.2",
                                    "lance_datasets/mixed_0.1",
                                    "lance_datasets/stable_2.2"};
enum { NAMES = sizeof(names) / sizeof(*names), MOST = 2000 };

static struct nt_error error;
static struct nt_file *file;

static void open_named(const char *name)
{
    const char *data = getenv("NTUPLE_TEST_DATA");
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", data ? data : "tests/data", name);
    assert_ok(nt_file_open(path, &(struct nt_open_options){.struct_bytes = sizeof(struct nt_open_options)},
                           &file, &error));
    ck_assert(file->layout != NULL);
}

struct taking {
    unsigned requested, taken;
    enum nt_status answer; /* to one more */
};

static enum nt_status take(void *context, const struct nt_layout_range *range)
{
    struct taking *taking = context;
    struct nt_source *source = file->layout_sources ? file->layout_sources[range->source] : file->source;
    ck_assert_ptr_nonnull(range->owner);
    ck_assert_uint_gt(range->bytes, 0);
    ck_assert_msg(range->offset <= source->size && range->bytes <= source->size - range->offset,
                  "%s of %s lies outside", range->owner, source->path);
    return ++taking->taken > taking->requested ? taking->answer : NT_OK;
}

TEST(ranges_are_in_the_file_and_end_when_none_is_requested, .end = NAMES)
{
    struct taking all = {.requested = MOST};
    open_named(names[_i]);
    assert_ok(file->layout(file, take, &all, &error));
    ck_assert_uint_gt(all.taken, 1);
    ck_assert_uint_le(all.taken, MOST);
    for (unsigned requested = 0; requested < all.taken; requested++) {
        struct taking some = {.requested = requested, .answer = NT_CANCELED};
        assert_status(NT_CANCELED, file->layout(file, take, &some, &error));
        ck_assert_uint_eq(some.taken, requested + 1);
    }
    nt_file_close(file);
}

/* A bitmap of 64 bits: a bucket with an array of {5}, and an empty one. */
TEST(ranges_of_buckets_end_when_none_is_requested)
{
    static const uint8_t bytes[] = {2, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0x3a, 0x30, 0,    0, 1, 0, 0, 0, 0,
                                    0, 0, 0, 16, 0, 0, 0, 5, 0, 7, 0, 0, 0,    0x3a, 0x30, 0, 0, 0, 0, 0, 0};
    enum { RANGES = 7 }; /* the count; key, header, descriptors and offsets; key and header */
    struct nt_source *source;
    assert_ok(nt_source_open_memory(bytes, sizeof(bytes), "buckets", &source, &error));
    assert_ok(nt_format_roaring.open(source, &(struct nt_open_options){0}, &file, &error));
    struct taking all = {.requested = RANGES};
    assert_ok(file->layout(file, take, &all, &error));
    ck_assert_uint_eq(all.taken, RANGES);
    for (unsigned requested = 0; requested < RANGES; requested++) {
        struct taking some = {.requested = requested, .answer = NT_CANCELED};
        assert_status(NT_CANCELED, file->layout(file, take, &some, &error));
        ck_assert_uint_eq(some.taken, requested + 1);
    }
    nt_file_close(file);
}
