/* SPDX-License-Identifier: MIT
 *
 * What decoding a page gives for other columns, and the cache keeps: two fields of numbers of 4 bits, which
 * are the halves of the same bytes.
 */
#include <string.h>

#include "dataset_builder.h"
#include "read/read.h"
#include "support.h"
#include "core/base/error.h"
#include "core/codec/codec.h"
#include "core/model/model.h"

enum { LOW, HIGH, FIELDS };
enum { ENTRIES = 40, CLUSTERS = 2, CLUSTER_ENTRIES = ENTRIES / CLUSTERS };
enum { PAGE_ELEMENTS = 10, PAGES = ENTRIES / PAGE_ELEMENTS, CLUSTER_PAGES = PAGES / CLUSTERS, BAD = 15 };

static struct nt_error error;
static struct builder *builder;
static unsigned decodings; /* of the bytes of a page, however much is made of them */
static unsigned failures;  /* that were reported */

static uint64_t number(unsigned entry, unsigned half)
{
    return half == LOW ? entry % 7 : entry * 3 % 11;
}

static enum nt_status decode_half(const struct nt_packed *packed, uint8_t *output)
{
    const unsigned half = *(const unsigned *)packed->decoder->state;
    for (size_t i = 0; i < packed->elements; i++) {
        output[i] = half == LOW ? packed->data[i] & 0xF : packed->data[i] >> 4;
        if (output[i] == BAD)
            return nt_fail(&error, NT_CORRUPT, NT_NO_OFFSET, "a bad number");
    }
    return NT_OK;
}

static enum nt_status decode_shared(const struct nt_packed *packed, uint8_t *const *outputs, uint32_t count,
                                    struct nt_error *failure)
{
    decodings++;
    for (uint32_t i = 0; i < count; i++)
        if (decode_half(&packed[i], outputs[i]) != NT_OK)
            return nt_fail_copy(failure, &error);
    return NT_OK;
}

static enum nt_status decode(const struct nt_packed *packed, uint8_t *output, struct nt_error *failure)
{
    return decode_shared(packed, &output, 1, failure);
}

static bool are_shared(const struct nt_decoder *a, const struct nt_decoder *b)
{
    return *(const unsigned *)a->state != *(const unsigned *)b->state;
}

static uint32_t add_decoder(const unsigned *half)
{
    static const struct nt_decoder_ops ops = {
        .decode = decode, .are_shared = are_shared, .decode_shared = decode_shared};
    struct nt_decoder decoder = {.ops = &ops,
                                 .state = half,
                                 .state_bytes = sizeof(*half),
                                 .encoding = NT_ENCODING_OTHER,
                                 .element = NT_ELEMENT_UINT8,
                                 .bits = 8,
                                 .element_bytes = 1};
    uint32_t added;
    struct nt_dataset *dataset = builder->dataset;
    assert_ok(nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &decoder, &added,
                              &error));
    return added;
}

static uint32_t sibling_columns(const struct nt_dataset *dataset, uint32_t column,
                                uint32_t columns[NT_MAX_SHARED_OUTPUTS - 1])
{
    ck_assert_ptr_eq(dataset, builder->dataset);
    columns[0] = 1 - column;
    return 1;
}

static void count_failure(void *context, const struct nt_dataset *dataset, uint32_t column,
                          const struct nt_page *page, const struct nt_error *failure)
{
    ck_assert_ptr_eq(context, builder);
    ck_assert_ptr_eq(dataset, builder->dataset);
    ck_assert_uint_eq(column, LOW);
    ck_assert_uint_eq(page->first_element, PAGE_ELEMENTS);
    assert_status(NT_CORRUPT, failure->status);
    failures++;
}

/* The pages of both columns become those of the first one. `bad` is an entry, or NT_NONE. */
static void build(bool caches_siblings, uint32_t bad)
{
    static struct nt_dataset_ops ops;
    static const unsigned halves[FIELDS] = {LOW, HIGH};
    uint64_t values[ENTRIES];
    for (unsigned i = 0; i < ENTRIES; i++)
        values[i] = (i == bad ? BAD : number(i, LOW)) | number(i, HIGH) << 4;
    decodings = failures = 0;
    builder = builder_new();
    builder->has_field_groups = true;
    for (uint32_t i = LOW; i < FIELDS; i++) {
        add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_UINT8);
        ck_assert_uint_eq(add_column(builder, i, NT_ENCODING_UINT8, 0), i);
    }
    for (uint32_t c = 0; c < CLUSTERS; c++) {
        add_cluster(builder, c * CLUSTER_ENTRIES, CLUSTER_ENTRIES);
        for (uint32_t i = LOW; i < FIELDS; i++)
            add_elements(builder, c, i, values + c * CLUSTER_ENTRIES, CLUSTER_ENTRIES, PAGE_ELEMENTS);
    }
    finish(builder, NULL);
    for (uint32_t i = LOW; i < FIELDS; i++) {
        uint32_t added = add_decoder(&halves[i]);
        for (uint32_t k = 0; k < PAGES; k++) {
            struct nt_page *low =
                &builder->pages[0][k / CLUSTER_PAGES * FIELDS * CLUSTER_PAGES + k % CLUSTER_PAGES];
            struct nt_page *page = low + i * CLUSTER_PAGES;
            page->decoder = added;
            page->offset = low->offset;
        }
    }
    ops = *builder->dataset->ops;
    ops.sibling_columns = sibling_columns;
    builder->dataset->ops = &ops;
    reopen(builder, &(struct nt_reader_options){
                        .caches_siblings = caches_siblings, .on_failure = count_failure, .context = builder});
}

/* Reads entries of a field in one call, and compares them. */
static enum nt_status read_field(uint32_t field, unsigned first, unsigned count)
{
    uint8_t found[ENTRIES];
    struct nt_stream *stream;
    struct nt_error failure;
    assert_ok(nt_stream_open(builder->reader, builder->dataset, field, NT_STREAM_DATA, &stream, &error));
    enum nt_status status = nt_stream_read(stream, first, found, count, &failure);
    for (unsigned i = 0; status == NT_OK && i < count; i++)
        ck_assert_uint_eq(found[i], number(first + i, field));
    nt_stream_close(stream);
    return status;
}

static uint64_t pages_sibling(void)
{
    struct nt_counters counters;
    nt_counters_read(builder->reader, &counters);
    return counters.pages_sibling;
}

TEST(columns_of_the_same_bytes_are_decoded_once, .end = FIELDS)
{
    uint32_t first = (uint32_t)_i, second = 1 - first;
    build(true, NT_NONE);
    assert_ok(read_field(first, 0, ENTRIES)); /* whole pages, straight into the output */
    ck_assert_uint_eq(decodings, PAGES);
    ck_assert_uint_eq(pages_sibling(), PAGES);
    assert_ok(read_field(second, 0, ENTRIES));
    ck_assert_uint_eq(decodings, PAGES);
    builder_free(builder);
}

TEST(a_part_of_a_page_too_is_decoded_once_for_both)
{
    build(true, NT_NONE);
    assert_ok(read_field(LOW, PAGE_ELEMENTS + 3, 2));
    assert_ok(read_field(HIGH, PAGE_ELEMENTS + 1, 5));
    assert_ok(read_field(LOW, PAGE_ELEMENTS, PAGE_ELEMENTS));
    ck_assert_uint_eq(decodings, 1);
    ck_assert_uint_eq(pages_sibling(), 1);
    builder_free(builder);
}

TEST(pages_of_any_cluster_are_found_in_any_order)
{
    enum { READS = 3 };
    static const unsigned order[READS] = {ENTRIES - 1, 0, ENTRIES - 1 - PAGE_ELEMENTS};
    build(true, NT_NONE);
    for (unsigned i = 0; i < READS; i++)
        assert_ok(read_field(LOW, order[i], 1));
    for (unsigned i = 0; i < READS; i++)
        assert_ok(read_field(HIGH, order[i], 1));
    ck_assert_uint_eq(decodings, READS);
    ck_assert_uint_eq(pages_sibling(), READS);
    builder_free(builder);
}

TEST(without_the_option_each_column_is_decoded)
{
    build(false, NT_NONE);
    assert_ok(read_field(LOW, 0, ENTRIES));
    assert_ok(read_field(HIGH, 0, ENTRIES));
    ck_assert_uint_eq(decodings, 2 * PAGES);
    ck_assert_uint_eq(pages_sibling(), 0);
    builder_free(builder);
}

TEST(columns_of_the_same_bytes_are_siblings_if_the_reader_caches_them)
{
    for (int caches_siblings = false; caches_siblings <= true; caches_siblings++) {
        build(caches_siblings, NT_NONE);
        ck_assert_int_eq(nt_columns_are_siblings(builder->reader, builder->dataset, LOW, HIGH),
                         caches_siblings);
        ck_assert(!nt_columns_are_siblings(builder->reader, builder->dataset, LOW, LOW));
        builder_free(builder);
    }
    build(true, NT_NONE);
    builder->bad_field[HIGH] = true;
    ck_assert(!nt_columns_are_siblings(builder->reader, builder->dataset, LOW, HIGH));
    builder_free(builder);
}

TEST(a_page_that_is_cached_is_not_decoded_again_with_a_sibling)
{
    build(true, NT_NONE);
    assert_ok(read_field(LOW, 1, 1));
    builder->reader->options.caches_siblings = false;
    assert_ok(read_field(HIGH, PAGE_ELEMENTS + 1, 1));
    builder->reader->options.caches_siblings = true;
    assert_ok(read_field(LOW, PAGE_ELEMENTS + 1, 1)); /* HIGH is there */
    ck_assert_uint_eq(decodings, 3);
    ck_assert_uint_eq(pages_sibling(), 1);
    builder_free(builder);
}

/* Only the bad one fails, and is reported once, whoever is read first. */
TEST(a_bad_column_does_not_spoil_the_other, .end = 2 * FIELDS)
{
    unsigned piece = _i / FIELDS ? ENTRIES : 2; /* read whole, or in pieces */
    build(true, PAGE_ELEMENTS + 4);
    for (int turn = 0; turn < FIELDS; turn++) {
        uint32_t field = (uint32_t)(_i + turn) % FIELDS;
        unsigned bad = 0;
        for (unsigned first = 0; first < ENTRIES; first += piece)
            bad += read_field(field, first, piece) == NT_CORRUPT;
        ck_assert_uint_eq(bad, field == HIGH ? 0 : piece == ENTRIES ? 1 : PAGE_ELEMENTS / piece);
    }
    ck_assert_uint_eq(failures, 1);
    builder_free(builder);
}

TEST(a_page_list_that_cannot_be_loaded_does_not_spoil_the_other_column)
{
    build(true, NT_NONE);
    builder->bad_field[HIGH] = true;
    assert_ok(read_field(LOW, 0, ENTRIES));
    ck_assert_uint_eq(decodings, PAGES);
    ck_assert_uint_eq(pages_sibling(), 0);
    builder_free(builder);
}
