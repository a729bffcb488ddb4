/* SPDX-License-Identifier: MIT
 *
 * Tables of some fields: their columns, and that no page of other fields is read.
 */
#include <string.h>

#include "arrow_consumer.h"
#include "support.h"
#include "render/arrow/arrow.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "read/read.h"

/* A record of two numbers, a vector, and a variant of two numbers, each with five rows. */
struct sample {
    struct builder *builder;
    uint32_t record, member, other, variant, first_alternative;
    struct vector vector;
};

static uint32_t add_number(struct builder *builder, uint32_t parent)
{
    uint32_t field = add_field(builder, parent, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    add_column(builder, field, NT_ENCODING_INT32, 0);
    return field;
}

static struct sample make_sample(void)
{
    struct builder *builder = builder_new();
    struct sample sample = {.builder = builder};
    sample.record = add_field(builder, NT_NONE, NT_FIELD_RECORD, NT_ELEMENT_BYTE);
    sample.member = add_number(builder, sample.record);
    sample.other = add_number(builder, sample.record);
    sample.vector = add_vector(builder, NT_ENCODING_INDEX64, NT_ENCODING_INT32);
    sample.variant = add_field(builder, NT_NONE, NT_FIELD_VARIANT, NT_ELEMENT_SWITCH);
    uint32_t tags = add_column(builder, sample.variant, NT_ENCODING_SWITCH, 0);
    sample.first_alternative = add_number(builder, sample.variant);
    add_number(builder, sample.variant);
    uint32_t cluster = add_cluster(builder, 0, 5);
    const uint64_t numbers[] = {1, 2, 3, 4, 5}, ends[] = {1, 1, 2, 4, 5};
    const uint64_t switches[] = {SWITCH(1, 0), SWITCH(2, 0), SWITCH(1, 1), SWITCH(0, 0), SWITCH(2, 1)};
    add_elements(builder, cluster, 0, numbers, 5, 5);
    add_elements(builder, cluster, 1, numbers, 5, 5);
    add_elements(builder, cluster, sample.vector.index, ends, 5, 5);
    add_elements(builder, cluster, sample.vector.values, numbers, 5, 5);
    add_elements(builder, cluster, tags, switches, 5, 5);
    add_elements(builder, cluster, tags + 1, numbers, 2, 5);
    add_elements(builder, cluster, tags + 2, numbers, 2, 5);
    end_group(builder);
    finish(builder, NULL);
    return sample;
}

static enum nt_status open_fields(const struct sample *sample, const uint32_t *fields, size_t count,
                                  enum nt_arrow_unions unions, struct nt_arrow **arrow_ret,
                                  struct nt_error *error)
{
    struct nt_arrow_options options = NT_ARROW_OPTIONS_INIT;
    options.unions = unions;
    options.fields = fields;
    options.field_count = count;
    return nt_arrow_new(sample->builder->reader, sample->builder->dataset, &options, arrow_ret, error);
}

static void put_formats(const struct ArrowSchema *schema, struct nt_buffer *out)
{
    nt_buffer_append_string(out, schema->format);
    for (int64_t i = 0; i < schema->n_children; i++) {
        nt_buffer_append_string(out, i ? "," : "(");
        put_formats(schema->children[i], out);
    }
    if (schema->n_children)
        nt_buffer_append_string(out, ")");
}

/* The formats of the columns, and how many pages are decoded for them. */
static void try_fields(const uint32_t *fields, size_t count, enum nt_arrow_unions unions,
                       const struct sample *sample, const char *formats, uint64_t pages)
{
    struct nt_error error;
    struct nt_arrow *arrow;
    struct ArrowSchema schema;
    struct ArrowArray array;
    struct nt_buffer found = {0};
    struct nt_counters before, after;
    nt_counters_read(sample->builder->reader, &before);
    assert_ok(open_fields(sample, fields, count, unions, &arrow, &error));
    assert_ok(nt_arrow_export_schema(arrow, &schema, &error));
    put_formats(&schema, &found);
    ck_assert_str_eq(nt_buffer_string(&found), formats);
    assert_ok(nt_arrow_export_batch(arrow, 0, &array, &error));
    ck_assert_int_eq(array.length, 5);
    nt_counters_read(sample->builder->reader, &after);
    ck_assert_uint_eq(after.pages_decoded - before.pages_decoded, pages);
    array.release(&array);
    schema.release(&schema);
    nt_arrow_free(arrow);
    nt_buffer_deinit(&found);
}

TEST(a_member_brings_its_record_and_no_sibling)
{
    struct sample sample = make_sample();
    try_fields(&sample.other, 1, NT_ARROW_UNIONS_STRUCT, &sample, "+s(+s(i))", 1);
    builder_free(sample.builder);
}

TEST(a_record_brings_its_members)
{
    struct sample sample = make_sample();
    try_fields(&sample.record, 1, NT_ARROW_UNIONS_STRUCT, &sample, "+s(+s(i,i))", 2);
    builder_free(sample.builder);
}

TEST(an_item_brings_its_collection_and_columns_are_in_the_datasets_order)
{
    struct sample sample = make_sample();
    const uint32_t fields[] = {sample.vector.item, sample.member};
    try_fields(fields, 2, NT_ARROW_UNIONS_STRUCT, &sample, "+s(+s(i),+L(i))", 3);
    builder_free(sample.builder);
}

TEST(a_struct_has_the_alternatives_that_were_requested_a_union_has_all)
{
    struct sample sample = make_sample();
    try_fields(&sample.first_alternative, 1, NT_ARROW_UNIONS_STRUCT, &sample, "+s(+s(I,i))", 2);
    builder_free(sample.builder);
    sample = make_sample();
    try_fields(&sample.first_alternative, 1, NT_ARROW_UNIONS_UNION, &sample, "+s(+ud:0,1,2(n,i,i))", 3);
    builder_free(sample.builder);
}

TEST(no_fields_are_rows_without_columns)
{
    struct sample sample = make_sample();
    try_fields(&sample.member, 0, NT_ARROW_UNIONS_STRUCT, &sample, "+s", 0);
    builder_free(sample.builder);
}

TEST(a_field_that_there_is_not_is_refused)
{
    struct nt_error error;
    struct nt_arrow *arrow;
    struct sample sample = make_sample();
    const uint32_t field = sample.builder->dataset->field_count;
    assert_status(NT_INVALID, open_fields(&sample, &field, 1, NT_ARROW_UNIONS_STRUCT, &arrow, &error));
    builder_free(sample.builder);
}
