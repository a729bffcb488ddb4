/* SPDX-License-Identifier: MIT
 *
 * Building datasets as formats do.
 */
#include "core/model/builder.h"

#include <string.h>

#include "builder.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/budget.h"
#include "core/model/model.h"
#include <ntuple/source.h>

static struct nt_error error;
static struct nt_file *file;
static struct nt_dataset *dataset;
static struct nt_builder builder;

static void open_file(uint64_t metadata_bytes)
{
    struct nt_source *source;
    assert_ok(nt_source_open_memory("", 0, "memory", &source, &error));
    const struct nt_limits limits = {.metadata_bytes = metadata_bytes};
    assert_ok(nt_file_new("/there/run.1.memory", source, &limits, &file, &error));
    assert_ok(nt_file_add_dataset(file, &dataset, &error));
    nt_builder_init(&builder, dataset);
}

static void setup(void)
{
    open_file(0);
}

static void teardown(void)
{
    nt_builder_deinit(&builder);
    nt_file_close(file);
}

static uint32_t add_field(uint32_t parent)
{
    uint32_t index;
    const struct nt_field field = {.id = builder.field_count, .parent = parent, .kind = NT_FIELD_VALUE};
    assert_ok(nt_builder_add_field(&builder, &field, &index, &error));
    return index;
}

static void add_column(uint32_t field, enum nt_encoding_kind encoding)
{
    const struct nt_column column = {.id = builder.column_count, .field = field};
    struct nt_decoder decoder;
    assert_ok(nt_decoder_init(&decoder, encoding, 0, 0, 0, &error));
    assert_ok(nt_builder_add_column(&builder, &column, &decoder, &error));
}

/* ---- fields and columns ---- */

TEST(what_was_added_is_linked, .setup = setup, .teardown = teardown)
{
    uint32_t top = add_field(NT_NONE), count;
    for (uint32_t i = 1; i < 100; i++)
        ck_assert_uint_eq(add_field(top), i);
    for (uint32_t i = 0; i < 100; i++)
        add_column(i, i % 2 ? NT_ENCODING_INT32 : NT_ENCODING_INT64);
    assert_ok(nt_builder_finish(&builder, &error));
    ck_assert_uint_eq(dataset->field_count, 100);
    ck_assert_uint_eq(dataset->column_count, 100);
    nt_dataset_children(dataset, top, &count);
    ck_assert_uint_eq(count, 99);
    for (uint32_t i = 0; i < 100; i++) {
        ck_assert_uint_eq(nt_field_column(dataset, i, 0, 0), i);
        ck_assert_uint_eq(nt_column_decoder(dataset, i)->bits, i % 2 ? 32 : 64);
    }
    ck_assert_uint_eq(dataset->decoders.count, 2);
}

TEST(a_dataset_that_is_a_file_is_called_like_it, .setup = setup, .teardown = teardown)
{
    assert_ok(nt_dataset_from_file(dataset, &error));
    ck_assert_str_eq(dataset->name.bytes, "run.1");
    ck_assert_uint_eq(dataset->name.length, strlen("run.1"));
    ck_assert_str_eq(dataset->title.bytes, "run.1");
    ck_assert_str_eq(dataset->description.bytes, "");
    ck_assert_uint_eq(dataset->source_count, 1);
    ck_assert_ptr_eq(dataset->sources[0], file->source);
}

TEST(columns_of_no_field_are_refused_at_the_end, .setup = setup, .teardown = teardown)
{
    add_column(0, NT_ENCODING_INT32);
    assert_status(NT_CORRUPT, nt_builder_finish(&builder, &error));
}

TEST(more_than_the_limit_is_refused_and_released, .setup = setup, .teardown = teardown)
{
    const struct nt_field field = {.parent = NT_NONE};
    teardown();
    open_file((uint64_t)nt_cost_info(NT_COST_DATASET)->bytes + 10 * nt_cost_info(NT_COST_FIELD)->bytes);
    uint64_t used = file->budget.used;
    for (unsigned i = 0; i < 10; i++)
        assert_ok(nt_builder_add_field(&builder, &field, NULL, &error));
    assert_status(NT_LIMIT, nt_builder_add_field(&builder, &field, NULL, &error));
    nt_builder_deinit(&builder);
    ck_assert_uint_eq(file->budget.used, used);
    nt_builder_init(&builder, dataset);
    for (unsigned i = 0; i < 10; i++)
        assert_ok(nt_builder_add_field(&builder, &field, NULL, &error));
}

/* ---- clusters ---- */

TEST(the_only_cluster_has_all_entries, .setup = setup, .teardown = teardown)
{
    assert_ok(nt_dataset_add_only_cluster(dataset, 17, &error));
    ck_assert(dataset->clusters_known);
    ck_assert_uint_eq(dataset->entries, 17);
    ck_assert_uint_eq(dataset->group_count, 1);
    ck_assert_uint_eq(dataset->cluster_count, 1);
    ck_assert_uint_eq(nt_group_record(dataset, 0).entries, 17);
    ck_assert_uint_eq(dataset->clusters[0].entries, 17);
    ck_assert_uint_eq(dataset->clusters[0].column_group, NT_NONE);
}

TEST(without_entries_there_is_no_cluster, .setup = setup, .teardown = teardown)
{
    assert_ok(nt_dataset_add_only_cluster(dataset, 0, &error));
    ck_assert(dataset->clusters_known);
    ck_assert_uint_eq(dataset->group_count, 0);
    ck_assert_uint_eq(dataset->cluster_count, 0);
}

TEST(clusters_beyond_what_numbers_can_say_are_refused, .setup = setup, .teardown = teardown)
{
    assert_status(NT_LIMIT, nt_dataset_add_groups(dataset, 1, UINT64_C(1) << 32, &error));
    assert_status(NT_LIMIT, nt_dataset_add_groups(dataset, UINT32_MAX, 1, &error));
    assert_status(NT_LIMIT,
                  nt_dataset_add_groups(dataset, 1, UINT32_MAX - 1, &error)); /* for so small a file */
    ck_assert_uint_eq(dataset->group_count, 0);
}

/* ---- ranges and pages ---- */

/* Fills the only group: two columns in three clusters. */
typedef enum nt_status fill_group(struct nt_group_builder *group);

static fill_group *fill;

static enum nt_status load_group(struct nt_dataset *owner, uint32_t number, struct nt_error *failure)
{
    struct nt_group_builder group;
    assert_ok(nt_group_builder_init(&group, owner, number, "list", 99, failure));
    return nt_group_builder_finish(&group, fill(&group));
}

/* Loads it; the price of the group itself and its ranges is in `used`. */
static enum nt_status build_group(fill_group *fills, uint64_t *used, struct nt_group **group_ret)
{
    static const struct nt_dataset_ops ops = {.load_group = load_group};
    for (uint32_t i = 0; i < 2; i++) {
        add_field(NT_NONE);
        add_column(i, NT_ENCODING_INT32);
    }
    assert_ok(nt_builder_finish(&builder, &error));
    assert_ok(nt_dataset_add_groups(dataset, 1, 3, &error));
    dataset->groups.records[0].clusters = 3;
    dataset->ops = &ops;
    fill = fills;
    *used = file->budget.used + nt_cost_info(NT_COST_LOADED_GROUP)->bytes +
            nt_cost_info(NT_COST_GROUP_SLOT_MAP)->bytes;
    return nt_group_pin(dataset, 0, group_ret, &error);
}

static enum nt_status fill_one_cluster(struct nt_group_builder *group)
{
    for (uint32_t k = 0; k < 2; k++) {
        assert_ok(nt_group_builder_start(group, 1, k, &error));
        for (uint32_t i = 0; i < 50; i++)
            assert_ok(nt_group_builder_add(group, &(struct nt_page){.offset = i, .elements = i}, &error));
    }
    return NT_OK;
}

TEST(pages_belong_to_the_range_that_was_begun, .setup = setup, .teardown = teardown)
{
    struct nt_group *built;
    uint64_t used;
    assert_ok(build_group(fill_one_cluster, &used, &built));
    ck_assert_uint_eq(built->page_count, 100);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < 2; k++) {
            const struct nt_range *range = nt_group_range(dataset, built, i, k);
            ck_assert_uint_eq(range->state, i == 1 ? NT_RANGE_PRESENT : NT_RANGE_ABSENT);
            ck_assert_uint_eq(range->pages, i == 1 ? 50 : 0);
            ck_assert_uint_eq(nt_range_elements(built, range), i == 1 ? 49 * 50 / 2 : 0);
        }
    for (uint32_t i = 0; i < 50; i++) {
        ck_assert_uint_eq(built->pages[50 + i].offset, i);
        ck_assert_uint_eq(built->pages[50 + i].first_element, i * (i - 1) / 2);
    }
}

static enum nt_status fill_twice(struct nt_group_builder *group)
{
    assert_ok(nt_group_builder_start(group, 2, 1, &error));
    struct nt_error failure = {0};
    enum nt_status status = nt_group_builder_start(group, 2, 1, &failure);
    ck_assert_ptr_nonnull(strstr(failure.message, "list: a cluster lists a column twice"));
    ck_assert_uint_eq(failure.offset, 99);
    return status;
}

TEST(a_range_is_begun_once, .setup = setup, .teardown = teardown)
{
    struct nt_group *built;
    uint64_t used;
    assert_status(NT_CORRUPT, build_group(fill_twice, &used, &built));
    ck_assert_ptr_null(built);
}

static enum nt_status fill_pages(struct nt_group_builder *group)
{
    assert_ok(nt_group_builder_start(group, 0, 0, &error));
    for (uint32_t i = 0; i < 50; i++)
        assert_ok(nt_group_builder_add(group, &(struct nt_page){.elements = 1}, &error));
    return NT_OK;
}

static enum nt_status fill_badly(struct nt_group_builder *group)
{
    return fill_pages(group) == NT_OK ? NT_CORRUPT : NT_OK;
}

TEST(what_fails_leaves_nothing, .setup = setup, .teardown = teardown)
{
    struct nt_group *built;
    uint64_t used;
    assert_status(NT_CORRUPT, build_group(fill_badly, &used, &built));
    ck_assert_ptr_null(built);
    ck_assert_ptr_null(nt_group_slot(dataset, 0)->pages);
    ck_assert_ptr_null(nt_group_slot(dataset, 0)->ranges);
    ck_assert_uint_eq(nt_group_slot(dataset, 0)->page_count, 0);
    ck_assert_uint_eq(file->budget.used, used);
}

static const uint64_t ranges = 6; /* two columns in three clusters */

TEST(only_the_pages_that_there_are_are_counted, .setup = setup, .teardown = teardown)
{
    struct nt_group *built;
    uint64_t used;
    assert_ok(build_group(fill_pages, &used, &built));
    ck_assert_uint_eq(file->budget.used, used + ranges * nt_cost_info(NT_COST_RANGE)->bytes +
                                             50 * (uint64_t)nt_cost_info(NT_COST_PAGE)->bytes);
}

enum { RESERVED = 33 }; /* one more than growing by doubling has room for */

static enum nt_status fill_reserved(struct nt_group_builder *group)
{
    uint64_t used = file->budget.used, price = nt_cost_info(NT_COST_PAGE)->bytes;
    assert_ok(nt_group_builder_reserve(group, RESERVED, &error));
    ck_assert_uint_eq(file->budget.used, used + RESERVED * price);
    assert_ok(nt_group_builder_start(group, 0, 0, &error));
    for (uint32_t i = 0; i < RESERVED; i++)
        assert_ok(nt_group_builder_add(group, &(struct nt_page){.elements = 1}, &error));
    ck_assert_uint_eq(file->budget.used, used + RESERVED * price);
    assert_status(NT_LIMIT, nt_group_builder_reserve(group, UINT64_MAX / 64, &error));
    return NT_OK;
}

TEST(pages_that_were_reserved_need_no_more_room, .setup = setup, .teardown = teardown)
{
    struct nt_group *built;
    uint64_t used;
    assert_ok(build_group(fill_reserved, &used, &built));
    ck_assert_uint_eq(file->budget.used, used + ranges * nt_cost_info(NT_COST_RANGE)->bytes +
                                             RESERVED * (uint64_t)nt_cost_info(NT_COST_PAGE)->bytes);
}
