/* SPDX-License-Identifier: MIT
 *
 * Splitting batches so that 32-bit offsets can count their items, with a limit of a few items: compared
 * with the same rows as text, on datasets of every shape.
 */
#include <string.h>

#include "arrow_consumer.h"
#include "random_dataset.h"
#include "support.h"
#include "render/arrow/arrow.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"

enum { SEEDS = 40 };

static struct nt_error error;

static struct builder *short_dataset(unsigned seed)
{
    struct builder *builder = random_dataset(seed, 2 + seed % 7);
    for (uint32_t i = 0; i < builder->field_count; i++)
        edit_extra(builder, i)->has_short_offsets =
            builder->fields[i].kind == NT_FIELD_STRING || builder->fields[i].kind == NT_FIELD_COLLECTION;
    finish(builder, NULL);
    return builder;
}

static struct nt_arrow *open_limited(struct builder *builder, struct nt_arrow_limits limits, uint64_t first)
{
    struct nt_arrow *arrow;
    struct nt_arrow_options options = NT_ARROW_OPTIONS_INIT;
    options.has_range = first > 0;
    options.first_entry = first;
    options.entries = nt_dataset_entries(builder->dataset) - first;
    assert_ok(nt_arrow_new_within(builder->reader, builder->dataset, &options, &limits, &arrow, &error));
    return arrow;
}

static struct nt_arrow *open_within(struct builder *builder, uint64_t max_items, uint64_t first)
{
    return open_limited(builder, (struct nt_arrow_limits){.max_items = max_items}, first);
}

/* The lines of entries from `first` on, without the omitted ones. */
static void append_lines(const struct nt_arrow *arrow, const char *rows, uint64_t first,
                         struct nt_buffer *out)
{
    uint32_t next = 0;
    uint64_t left_first = UINT64_MAX, left_entries = 0;
    for (uint64_t entry = 0; *rows; entry++) {
        const char *end = strchr(rows, '\n') + 1;
        if (entry >= left_first + left_entries || left_first == UINT64_MAX) {
            left_first = UINT64_MAX;
            left_entries = 0;
            if (next < nt_arrow_omitted_clusters(arrow))
                left_entries = nt_arrow_omitted_cluster(arrow, next++, &left_first);
        }
        if (entry >= first && (entry < left_first || entry >= left_first + left_entries))
            nt_buffer_append(out, rows, (size_t)(end - rows));
        rows = end;
    }
}

/* The maximum last offset of all arrays with 32-bit offsets; their contents are not smaller. */
static void check_items(const struct ArrowSchema *schema, const struct ArrowArray *array, uint64_t max_items)
{
    bool is_list = !strcmp(schema->format, "+l");
    if (is_list || !strcmp(schema->format, "u")) {
        int32_t last = ((const int32_t *)array->buffers[1])[array->length];
        ck_assert_int_ge(last, 0);
        ck_assert_uint_le((uint64_t)last, max_items);
        ck_assert(!is_list || array->children[0]->length == last);
    }
    for (int64_t i = 0; i < schema->n_children; i++)
        check_items(schema->children[i], array->children[i], max_items);
}

static void check_batches(const struct nt_arrow *arrow, uint64_t max_items)
{
    struct ArrowSchema schema;
    assert_ok(nt_arrow_export_schema(arrow, &schema, &error));
    for (uint32_t i = 0; i < nt_arrow_batches(arrow); i++) {
        struct ArrowArray array;
        assert_ok(nt_arrow_export_batch(arrow, i, &array, &error));
        check_items(&schema, &array, max_items);
        array.release(&array);
    }
    schema.release(&schema);
}

static void check_rows(struct nt_arrow *arrow, const char *rows, uint64_t first)
{
    struct nt_buffer found = {0}, expected = {0};
    lines_from_arrow(arrow, &found);
    append_lines(arrow, rows, first, &expected);
    ck_assert_str_eq(nt_buffer_string(&found), nt_buffer_string(&expected));
    nt_buffer_deinit(&found);
    nt_buffer_deinit(&expected);
}

static void try_within(struct builder *builder, const char *rows, uint64_t max_items, uint64_t first)
{
    struct nt_arrow *arrow = open_within(builder, max_items, first);
    check_batches(arrow, max_items);
    check_rows(arrow, rows, first);
    nt_arrow_free(arrow);
}

TEST(no_batch_has_more_items_than_offsets_can_count, .end = SEEDS)
{
    struct nt_buffer rows = {0};
    struct builder *builder = short_dataset(8000 + (unsigned)_i);
    struct nt_arrow *arrow = open_arrow(builder);
    bool is_broken = has_broken_variant(builder, arrow);
    nt_arrow_free(arrow);
    lines_from_rows(builder, &rows);
    for (uint64_t most = 1; most < 200 && !is_broken; most = most * 2 + 1) {
        try_within(builder, rows.bytes, most, 0);
        try_within(builder, rows.bytes, most, nt_dataset_entries(builder->dataset) / 3);
    }
    nt_buffer_deinit(&rows);
    builder_free(builder);
}

/* Entries 0 to 7 have so many bytes, all in one cluster. */
static struct builder *texts(void)
{
    static const uint64_t ends[] = {2, 4, 4, 5, 15, 16, 18, 20};
    uint64_t bytes[20];
    for (unsigned i = 0; i < 20; i++)
        bytes[i] = 'a' + i;
    struct builder *builder = builder_new();
    uint32_t field = add_array(builder, NT_NONE, NT_FIELD_STRING, NT_ELEMENT_BYTE, 0);
    builder->fields[field].name = (struct nt_text){"text", 4};
    edit_extra(builder, field)->has_short_offsets = true;
    uint32_t cluster = add_cluster(builder, 0, 8);
    add_elements(builder, cluster, add_column(builder, field, NT_ENCODING_INDEX64, 0), ends, 8, 4);
    add_elements(builder, cluster, add_column(builder, field, NT_ENCODING_CHAR, 0), bytes, 20, 8);
    finish(builder, NULL);
    return builder;
}

TEST(clusters_are_halved_until_they_fit)
{
    struct nt_buffer lines = {0};
    struct builder *builder = texts();
    struct nt_arrow *arrow = open_within(builder, 9, 0);
    ck_assert_uint_eq(nt_arrow_batches(arrow), 3);
    ck_assert_uint_eq(nt_arrow_omitted_clusters(arrow), 1);
    lines_from_arrow(arrow, &lines);
    ck_assert_str_eq(nt_buffer_string(&lines),
                     "{\"text\":\"ab\"}\n{\"text\":\"cd\"}\n{\"text\":\"\"}\n{\"text\":\"e\"}\n"
                     "{\"text\":\"p\"}\n{\"text\":\"qr\"}\n{\"text\":\"st\"}\n");
    nt_arrow_free(arrow);
    arrow = open_within(builder, 20, 0);
    ck_assert_uint_eq(nt_arrow_batches(arrow), 1);
    nt_arrow_free(arrow);
    nt_buffer_deinit(&lines);
    builder_free(builder);
}

TEST(an_entry_that_has_too_many_alone_is_left_out_and_reported)
{
    char text[256];
    uint64_t first;
    struct builder *builder = texts();
    struct nt_arrow *arrow = open_within(builder, 9, 0);
    ck_assert_uint_eq(nt_arrow_omitted_cluster(arrow, 0, &first), 1);
    ck_assert_uint_eq(first, 4);
    ck_assert_int_eq(nt_arrow_check(arrow, &error), NT_LIMIT);
    ck_assert_str_eq(error.message, "entry 4 is too large for Arrow");
    omitted(arrow, text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, "\"first_entry\":4,\"entries\":1"));
    nt_arrow_free(arrow);
    builder_free(builder);
}

/* ---- Batches of a size ---- */

TEST(rows_stay_the_same_in_batches_of_any_size, .end = SEEDS)
{
    struct nt_buffer rows = {0};
    struct builder *builder = short_dataset(9000 + (unsigned)_i);
    struct nt_arrow *arrow = open_arrow(builder);
    bool is_broken = has_broken_variant(builder, arrow);
    uint32_t clusters = nt_arrow_batches(arrow), before = UINT32_MAX;
    nt_arrow_free(arrow);
    lines_from_rows(builder, &rows);
    for (uint64_t bytes = 64; bytes < 1 << 20 && !is_broken; bytes *= 16)
        for (uint64_t first = 0; first < 2; first++) {
            struct nt_arrow_limits limits = {.max_items = INT32_MAX, .batch_bytes = bytes};
            arrow = open_limited(builder, limits, first * nt_dataset_entries(builder->dataset) / 3);
            check_rows(arrow, rows.bytes, first * nt_dataset_entries(builder->dataset) / 3);
            if (!first) {
                ck_assert_uint_le(nt_arrow_batches(arrow), before);
                before = nt_arrow_batches(arrow);
            }
            nt_arrow_free(arrow);
        }
    ck_assert_uint_le(is_broken ? 1 : before, clusters ? 1 : 0);
    nt_buffer_deinit(&rows);
    builder_free(builder);
}

TEST(a_large_cluster_is_divided_by_entries)
{
    struct nt_buffer lines = {0};
    struct builder *builder = texts();
    struct nt_arrow *arrow = open_limited(builder, (struct nt_arrow_limits){.batch_bytes = 1}, 0);
    ck_assert_uint_eq(nt_arrow_batches(arrow), 8); /* one entry each, though it is larger */
    nt_arrow_free(arrow);
    arrow = open_limited(builder, (struct nt_arrow_limits){.batch_bytes = 100}, 0);
    ck_assert_uint_eq(nt_arrow_batches(arrow), 2); /* offsets and text take 64 bytes each */
    lines_from_arrow(arrow, &lines);
    ck_assert_str_eq(lines.bytes, "{\"text\":\"ab\"}\n{\"text\":\"cd\"}\n{\"text\":\"\"}\n{\"text\":\"e\"}\n"
                                  "{\"text\":\"fghijklmno\"}\n{\"text\":\"p\"}\n{\"text\":\"qr\"}\n"
                                  "{\"text\":\"st\"}\n");
    nt_buffer_deinit(&lines);
    nt_arrow_free(arrow);
    builder_free(builder);
}
