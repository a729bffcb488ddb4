/* SPDX-License-Identifier: MIT
 *
 * Owners of bytes that no current format has: data that the decoding of pages needs.
 */
#include <string.h>

#include "planned_dataset.h"
#include "support.h"
#include "tools/tools.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/model.h"

static struct nt_layout_item item_at(struct nt_layout *layout, uint64_t offset)
{
    struct nt_layout_item found = {0}, item;
    unsigned count = 0;
    struct nt_error error;
    bool has_item;
    assert_ok(nt_layout_rewind(layout, &error));
    while (nt_layout_next(layout, &item, &has_item, NULL) == NT_OK && has_item)
        if (item.offset == offset) {
            found = item;
            count++;
        }
    ck_assert_msg(count == 1, "%u owners of byte %llu", count, (unsigned long long)offset);
    return found;
}

static void check_input(struct nt_layout *layout, uint64_t offset, uint64_t bytes)
{
    const struct nt_layout_item input = item_at(layout, offset), digest = item_at(layout, offset + bytes);
    ck_assert_str_eq(input.owner, "input");
    ck_assert_uint_eq(input.bytes, bytes);
    ck_assert_uint_eq(input.dataset, 0);
    ck_assert_uint_eq(input.column, NT_NONE);
    ck_assert_str_eq(digest.owner, "checksum");
    ck_assert_uint_eq(digest.bytes, 8);
}

/* Two decoders share the items. */
TEST(what_pages_are_decoded_with_has_an_owner_and_only_one)
{
    static struct planned planned;
    struct nt_error error;
    struct nt_layout *layout;
    struct nt_layout_item item;
    bool has_item;
    planned_dataset(&planned);
    struct nt_dataset *dataset = planned.builder->dataset;
    struct nt_decoder decoder = *nt_decoders_get(&dataset->decoders, planned.decoder);
    struct nt_page dependencies[2] = {decoder.dependencies[0], decoder.dependencies[1]};
    uint32_t number;
    dependencies[0].parameter = 1;
    decoder.dependencies = dependencies;
    assert_ok(nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &decoder, &number,
                              &error));
    ck_assert_uint_ne(number, planned.decoder);
    assert_ok(nt_layout_new(planned.builder->file, &layout, &error));
    check_input(layout, planned.numbers_offset, PLANNED_NUMBERS * sizeof(uint16_t));
    check_input(layout, planned.items_offset, PLANNED_ITEMS * sizeof(double));
    assert_ok(nt_layout_rewind(layout, &error));
    while (nt_layout_next(layout, &item, &has_item, &error) == NT_OK && has_item)
        ck_assert_str_ne(item.owner, "gap");
    nt_layout_free(layout);
    builder_free(planned.builder);
}

/* ---- many ranges ---- */

enum { RANGE = 10, STEP = 12 };

/* In any order: each number of the file's ranges once. */
static enum nt_status lay_out_many(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                   struct nt_error *error)
{
    const uint64_t prime = 1000003, count = file->source->size / STEP;
    struct nt_layout_output output = {.emit = emit, .context = context, .dataset = NT_NONE};
    enum nt_status status = NT_OK;
    for (uint64_t i = 0; i < count && status == NT_OK; i++)
        status = nt_layout_emit_range(&output, i * prime % count * STEP, RANGE, i % 2 ? "key" : "free");
    return status;
}

static const struct nt_source_ops no_bytes;

static struct nt_file *file_of_ranges(struct nt_source *source, uint64_t count)
{
    struct nt_error error;
    struct nt_file *file;
    *source = (struct nt_source){.ops = &no_bytes, .path = "ranges", .size = count * STEP};
    assert_ok(nt_file_new("/ranges", source, &(struct nt_limits){0}, &file, &error));
    file->layout = lay_out_many;
    return file;
}

/* A range, a gap, a range, ... from one end of the file to the other. */
TEST(windows_have_all_ranges_in_the_order_of_the_file)
{
    enum { COUNT = 200001 };
    struct nt_source source;
    struct nt_file *file = file_of_ranges(&source, COUNT);
    struct nt_layout *layout;
    struct nt_layout_item item;
    struct nt_error error;
    bool has_item;
    assert_ok(nt_layout_new(file, &layout, &error));
    for (unsigned round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < 2 * (uint64_t)COUNT; i++) {
            assert_ok(nt_layout_next(layout, &item, &has_item, &error));
            ck_assert(has_item);
            ck_assert_uint_eq(item.offset, i / 2 * STEP + (i % 2 ? RANGE : 0));
            ck_assert_uint_eq(item.bytes, i % 2 ? STEP - RANGE : RANGE);
            ck_assert_int_eq(strcmp(item.owner, "gap") == 0, i % 2);
        }
        assert_ok(nt_layout_next(layout, &item, &has_item, &error));
        ck_assert(!has_item);
        assert_ok(nt_layout_rewind(layout, &error));
    }
    nt_layout_free(layout);
    ck_assert_uint_eq(file->budget.used, 0);
    nt_file_discard(file);
}

TEST(more_ranges_than_the_limit_are_refused)
{
    struct nt_source source;
    struct nt_file *file = file_of_ranges(&source, 1000000);
    struct nt_layout *layout;
    struct nt_error error;
    assert_status(NT_LIMIT, nt_layout_new(file, &layout, &error));
    ck_assert_uint_eq(file->budget.used, 0);
    nt_file_discard(file);
}
