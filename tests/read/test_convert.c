/* SPDX-License-Identifier: MIT
 *
 * Conversion of decoded elements to a stream's elements, without pages.
 */
#include <string.h>

#include "read/read.h"
#include "support.h"
#include "core/codec/codec.h"
#include "core/model/field.h"
#include "core/model/model.h"

enum { UNTOUCHED = 0xEE };

static const struct nt_page page = {.offset = 4242, .elements = 4};
static const struct nt_decoder index32 = {.element = NT_ELEMENT_UINT32, .element_bytes = 4};
static const struct nt_decoder index64 = {.element = NT_ELEMENT_UINT64, .element_bytes = 8};
static const struct nt_decoder reals = {.element = NT_ELEMENT_REAL32, .element_bytes = 4};
static const struct nt_decoder switches = {.element = NT_ELEMENT_SWITCH, .element_bytes = NT_SWITCH_BYTES};
static const struct nt_dtype u32 = {.element = NT_ELEMENT_UINT32, .bytes = 4};
static const struct nt_dtype u64 = {.element = NT_ELEMENT_UINT64, .bytes = 8};
static const struct nt_field variant = {.child_count = 2}, collection = {.kind = NT_FIELD_COLLECTION},
                             optional = {.kind = NT_FIELD_OPTIONAL};

static uint64_t output[5];
static struct nt_error error;

static void setup(void)
{
    memset(output, UNTOUCHED, sizeof(output));
}

/* ---- offsets and sizes ---- */

static struct nt_element_run index_run(const struct nt_decoder *decoder, const void *data)
{
    return (struct nt_element_run){.field = &collection,
                                   .dtype = &u64,
                                   .page = &page,
                                   .decoder = decoder,
                                   .data = data,
                                   .count = 4,
                                   .base = 1000,
                                   .limit = 9};
}

TEST(offsets_count_from_the_base_whatever_the_width_of_the_index, .setup = setup)
{
    static const uint32_t narrow[4] = {2, 2, 5, 9};
    static const uint64_t wide[4] = {2, 2, 5, 9}, expected[4] = {1002, 1002, 1005, 1009};
    struct nt_element_run run = index_run(&index32, narrow);
    run.is_cluster_end = true;
    assert_ok(nt_transform_of(NT_CONVERT_OFFSETS)(&run, (uint8_t *)output, &error));
    ck_assert_mem_eq(output, expected, sizeof(expected));
    run.data = (const uint8_t *)wide;
    run.decoder = &index64;
    setup();
    assert_ok(nt_transform_of(NT_CONVERT_OFFSETS)(&run, (uint8_t *)output, &error));
    ck_assert_mem_eq(output, expected, sizeof(expected));
    ck_assert_mem_eq(&output[4], "\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE", 8);
}

TEST(an_optional_with_two_values_is_refused_also_against_the_page_before, .setup = setup)
{
    static const uint32_t index[4] = {5, 6, 6, 8};
    struct nt_element_run run = index_run(&index32, index);
    run.field = &optional;
    run.has_previous = true;
    run.previous = 4;
    run.count = 3;
    assert_ok(nt_transform_of(NT_CONVERT_OFFSETS)(&run, (uint8_t *)output, &error));
    run.count = 4;
    assert_status(NT_CORRUPT, nt_transform_of(NT_CONVERT_OFFSETS)(&run, (uint8_t *)output, &error));
    ck_assert_str_eq(error.found, "2");
    run.count = 1;
    run.previous = 3;
    assert_status(NT_CORRUPT, nt_transform_of(NT_CONVERT_OFFSETS)(&run, (uint8_t *)output, &error));
    ck_assert_uint_eq(error.offset, page.offset);
}

TEST(an_index_that_decreases_is_refused_also_against_the_page_before, .setup = setup)
{
    static const uint32_t decreasing[4] = {2, 5, 4, 9}, rising[4] = {2, 3, 4, 9};
    struct nt_element_run run = index_run(&index32, decreasing);
    assert_status(NT_CORRUPT, nt_transform_of(NT_CONVERT_OFFSETS)(&run, (uint8_t *)output, &error));
    ck_assert_uint_eq(error.offset, page.offset);
    run.data = (const uint8_t *)rising;
    assert_ok(nt_transform_of(NT_CONVERT_OFFSETS)(&run, (uint8_t *)output, &error));
    run.has_previous = true;
    run.previous = 3;
    assert_status(NT_CORRUPT, nt_transform_of(NT_CONVERT_OFFSETS)(&run, (uint8_t *)output, &error));
    run.first = 1; /* the previous value is in the page itself */
    run.count = 3;
    assert_ok(nt_transform_of(NT_CONVERT_OFFSETS)(&run, (uint8_t *)output, &error));
}

TEST(an_index_leads_to_no_item_that_is_not_there_and_to_the_last_at_the_end, .setup = setup)
{
    static const uint32_t values[4] = {2, 2, 5, 8};
    struct nt_element_run run = index_run(&index32, values);
    assert_ok(nt_transform_of(NT_CONVERT_OFFSETS)(&run, (uint8_t *)output, &error));
    run.is_cluster_end = true;
    assert_status(NT_CORRUPT, nt_transform_of(NT_CONVERT_OFFSETS)(&run, (uint8_t *)output, &error));
    run.is_cluster_end = false;
    run.limit = 7;
    assert_status(NT_CORRUPT, nt_transform_of(NT_CONVERT_OFFSETS)(&run, (uint8_t *)output, &error));
}

TEST(sizes_are_differences_and_fit_their_type, .setup = setup)
{
    static const uint64_t values[4] = {7, 7, 10, UINT64_C(1) << 40};
    static const uint32_t narrow[3] = {2, 0, 3};
    static const uint64_t wide[2] = {3, (UINT64_C(1) << 40) - 10};
    struct nt_element_run run = index_run(&index64, values);
    run.has_previous = true;
    run.previous = 5;
    run.dtype = &u32;
    run.count = 3;
    assert_ok(nt_transform_of(NT_CONVERT_SIZES)(&run, (uint8_t *)output, &error));
    ck_assert_mem_eq(output, narrow, sizeof(narrow));
    run.first = 2;
    run.count = 2;
    assert_status(NT_CORRUPT, nt_transform_of(NT_CONVERT_SIZES)(&run, (uint8_t *)output, &error));
    run.dtype = &u64;
    assert_ok(nt_transform_of(NT_CONVERT_SIZES)(&run, (uint8_t *)output, &error));
    ck_assert_mem_eq(output, wide, sizeof(wide));
}

TEST(only_unsigned_integers_are_an_index, .setup = setup)
{
    static const float values[4] = {1, 2, 3, 4};
    uint64_t value;
    struct nt_element_run run = index_run(&reals, values);
    assert_status(NT_CORRUPT, nt_transform_of(NT_CONVERT_OFFSETS)(&run, (uint8_t *)output, &error));
    assert_status(NT_CORRUPT, nt_transform_of(NT_CONVERT_SIZES)(&run, (uint8_t *)output, &error));
    ck_assert(!nt_load_index(NT_ELEMENT_REAL32, run.data, 0, &value));
    ck_assert(!nt_load_index(NT_ELEMENT_INT32, run.data, 0, &value));
}

/* ---- variants ---- */

/* Rows and tags as in memory: 12 bytes each. */
static void set_switches(uint8_t *data, const uint64_t *rows, const uint32_t *tags, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        memcpy(data + i * NT_SWITCH_BYTES, &rows[i], 8);
        memcpy(data + i * NT_SWITCH_BYTES + NT_SWITCH_TAG, &tags[i], 4);
    }
}

TEST(switches_become_tags_and_rows_of_the_alternatives, .setup = setup)
{
    static const struct nt_alternative alternatives[2] = {{100, 2}, {200, 1}};
    static const uint64_t rows[4] = {0, 0, 77, 1}, expected[4] = {100, 200, 0, 101};
    static const uint32_t tags[4] = {1, 2, 0, 1};
    uint8_t data[4 * NT_SWITCH_BYTES];
    struct nt_element_run run = {
        .field = &variant, .page = &page, .decoder = &switches, .data = data, .count = 4};
    run.alternatives = alternatives;
    set_switches(data, rows, tags, 4);
    assert_ok(nt_transform_of(NT_CONVERT_TAGS)(&run, (uint8_t *)output, &error));
    ck_assert_mem_eq(output, tags, sizeof(tags));
    assert_ok(nt_transform_of(NT_CONVERT_INDEX)(&run, (uint8_t *)output, &error));
    ck_assert_mem_eq(output, expected, sizeof(expected));
}

TEST(switches_choose_alternatives_and_rows_that_are_there, .setup = setup)
{
    static const struct nt_alternative alternatives[2] = {{100, 2}, {200, 1}};
    uint8_t data[NT_SWITCH_BYTES];
    struct nt_element_run run = {
        .field = &variant, .page = &page, .decoder = &switches, .data = data, .count = 1};
    run.alternatives = alternatives;
    set_switches(data, (uint64_t[]){1}, (uint32_t[]){2}, 1);
    assert_ok(nt_transform_of(NT_CONVERT_TAGS)(&run, (uint8_t *)output, &error));
    assert_status(NT_CORRUPT, nt_transform_of(NT_CONVERT_INDEX)(&run, (uint8_t *)output, &error));
    set_switches(data, (uint64_t[]){0}, (uint32_t[]){3}, 1);
    assert_status(NT_CORRUPT, nt_transform_of(NT_CONVERT_TAGS)(&run, (uint8_t *)output, &error));
    assert_status(NT_CORRUPT, nt_transform_of(NT_CONVERT_INDEX)(&run, (uint8_t *)output, &error));
    run.decoder = &index64;
    assert_status(NT_CORRUPT, nt_transform_of(NT_CONVERT_TAGS)(&run, (uint8_t *)output, &error));
}

/* ---- values ---- */

TEST(values_are_converted_to_the_type_of_the_field, .setup = setup)
{
    static const float values[3] = {0.5F, -2, 1e10F};
    static const double expected[2] = {-2, (double)1e10F};
    static const struct nt_dtype real64 = {.element = NT_ELEMENT_REAL64, .bytes = 8};
    struct nt_element_run run = {.dtype = &real64,
                                 .page = &page,
                                 .decoder = &reals,
                                 .data = (const uint8_t *)values,
                                 .first = 1,
                                 .count = 2};
    ck_assert(!nt_values_are_equal(&reals, &real64));
    assert_ok(nt_transform_of(NT_CONVERT_VALUES)(&run, (uint8_t *)output, &error));
    ck_assert_mem_eq(output, expected, sizeof(expected));
}

TEST(members_are_cut_out_of_their_elements_and_never_of_the_next, .setup = setup)
{
    static const struct nt_decoder records = {.element = NT_ELEMENT_OPAQUE, .element_bytes = 6};
    struct nt_field_extra extra = {.member_offset = 2};
    struct nt_field member = {.extra = &extra};
    struct nt_element_run run = {.field = &member,
                                 .dtype = &u32,
                                 .page = &page,
                                 .decoder = &records,
                                 .data = (const uint8_t *)"aaBBBBccDDDDeeFFFF",
                                 .first = 1,
                                 .count = 2};
    assert_ok(nt_transform_of(NT_CONVERT_MEMBERS)(&run, (uint8_t *)output, &error));
    ck_assert_mem_eq(output, "DDDDFFFF", 8);
    extra.member_offset = 3;
    assert_status(NT_CORRUPT, nt_transform_of(NT_CONVERT_MEMBERS)(&run, (uint8_t *)output, &error));
}
