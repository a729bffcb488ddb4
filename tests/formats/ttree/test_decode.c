/* SPDX-License-Identifier: MIT
 *
 * Steps of each kind over entries that are written byte by byte, as ROOT's streamers write them: in all
 * forms of baskets, damaged, and with requests for endless work.
 */
#include <stdio.h>
#include <string.h>

#include "baskets.h"
#include "core/base/bytes.h"
#include "core/codec/codec.h"
#include "formats/ttree/ttree.h"
#include "support.h"

static struct nt_error error;
static struct nt_codec_context *context;
static struct content content;
static struct made made;

static void clear(void)
{
    content.entries = 0;
    content.values.count = 0;
}

static void setup(void)
{
    context = nt_codec_context_new();
    ck_assert(context);
    clear();
}

static void teardown(void)
{
    nt_codec_context_free(context);
}

#define CASE(name, ...) TEST(name, .setup = setup, .teardown = teardown, ##__VA_ARGS__)

/* ---- Steps ---- */

#define NONE NT_NONE
enum { LIMIT = 1 << 20, MAX_OUTPUTS = 8, OUTPUT_BYTES = 1 << 17 };

/* Steps whose body ends at the index `end_`. */
#define NUMBERS(encoding_, output_, count_)                                                                  \
    {                                                                                                        \
        .kind = NT_STEP_VALUES, .encoding = NT_ENCODING_##encoding_, .output = (output_), .count = (count_)  \
    }
#define SKIP(bytes)                                                                                          \
    {                                                                                                        \
        .kind = NT_STEP_SKIP, .output = NONE, .count = (bytes)                                               \
    }
#define NAME(number_)                                                                                        \
    {                                                                                                        \
        .kind = NT_STEP_NAME, .output = NONE, .count = (number_)                                             \
    }
#define HEADER(end_)                                                                                         \
    {                                                                                                        \
        .kind = NT_STEP_HEADER, .output = NONE, .version = -1, .end = (end_)                                 \
    }
#define OBJECT_HEADER(end_) /* of a class of the file: the body is all of it */                              \
    {                                                                                                        \
        .kind = NT_STEP_HEADER, .bits = NT_HEADER_WHOLE, .output = NONE, .version = -1, .end = (end_)        \
    }
#define TOBJECT_HEADER(end_)                                                                                 \
    {                                                                                                        \
        .kind = NT_STEP_HEADER, .bits = NT_HEADER_WHOLE | NT_HEADER_TOBJECT, .output = NONE, .version = -1,  \
        .end = (end_)                                                                                        \
    }
#define HEADER_OF_TWO(other_, end_)                                                                          \
    {                                                                                                        \
        .kind = NT_STEP_HEADER, .output = NONE, .version = -1, .other = (other_), .end = (end_)              \
    }
#define CLASS(version_)                                                                                      \
    {                                                                                                        \
        .kind = NT_STEP_CLASS, .output = NONE, .version = (version_)                                         \
    }
#define LIST(output_, end_)                                                                                  \
    {                                                                                                        \
        .kind = NT_STEP_LIST, .output = (output_), .end = (end_)                                             \
    }
#define MEMBERS(output_, end_)                                                                               \
    {                                                                                                        \
        .kind = NT_STEP_MEMBERS, .output = (output_), .end = (end_)                                          \
    }
#define REST(output_, end_)                                                                                  \
    {                                                                                                        \
        .kind = NT_STEP_REST, .output = (output_), .end = (end_)                                             \
    }
#define BY_MEMBERS(output_, end_)                                                                            \
    {                                                                                                        \
        .kind = NT_STEP_REST, .bits = NT_REST_MEMBERS, .output = (output_), .end = (end_)                    \
    }
#define COUNTING(encoding_, output_, counter_)                                                               \
    {                                                                                                        \
        .kind = NT_STEP_VALUES, .encoding = NT_ENCODING_##encoding_, .output = (output_), .count = 1,        \
        .counter = (counter_)                                                                                \
    }
#define COUNTED(counter_, output_, end_)                                                                     \
    {                                                                                                        \
        .kind = NT_STEP_COUNTED, .bits = NT_COUNTED_FLAG, .output = (output_), .count = 1,                   \
        .counter = (counter_), .end = (end_)                                                                 \
    }
#define WHEN(counter_, bits_, end_)                                                                          \
    {                                                                                                        \
        .kind = NT_STEP_WHEN, .output = NONE, .count = (bits_), .counter = (counter_), .end = (end_)         \
    }
#define REPEAT(count_, end_)                                                                                 \
    {                                                                                                        \
        .kind = NT_STEP_REPEAT, .output = NONE, .count = (count_), .end = (end_)                             \
    }
#define POINTER(output_, end_)                                                                               \
    {                                                                                                        \
        .kind = NT_STEP_POINTER, .output = (output_), .end = (end_)                                          \
    }
#define OF_CLASS(number_, output_, end_)                                                                     \
    {                                                                                                        \
        .kind = NT_STEP_CASE, .count = (number_), .output = (output_), .end = (end_)                         \
    }
#define OF_ANY_CLASS(output_, end_)                                                                          \
    {                                                                                                        \
        .kind = NT_STEP_CASE, .count = NT_NONE, .output = (output_), .end = (end_)                           \
    }
#define OBJECTS(form_, output_, end_)                                                                        \
    {                                                                                                        \
        .kind = NT_STEP_OBJECTS, .count = (form_), .output = (output_), .end = (end_)                        \
    }
#define CLONES(counter_, output_, other_, end_)                                                              \
    {                                                                                                        \
        .kind = NT_STEP_CLONES, .counter = (counter_), .output = (output_), .other = (other_), .end = (end_) \
    }
#define STRING(output_)                                                                                      \
    {                                                                                                        \
        .kind = NT_STEP_STRING, .output = (output_)                                                          \
    }
#define COUNTER(encoding_, output_)                                                                          \
    {                                                                                                        \
        .kind = NT_STEP_COUNTER, .encoding = NT_ENCODING_##encoding_, .output = (output_)                    \
    }

#define ENDS                                                                                                 \
    {                                                                                                        \
        .is_offsets = true                                                                                   \
    }
#define OF(element_)                                                                                         \
    {                                                                                                        \
        .element = NT_ELEMENT_##element_                                                                     \
    }

/* Of arrays. */
#define INTERPRETATION(steps_, outputs_)                                                                     \
    {                                                                                                        \
        .steps = (steps_), .step_count = COUNT_OF(steps_), .outputs = (outputs_),                            \
        .output_count = COUNT_OF(outputs_), .count_by = NT_COUNT_BY_CONTENT                                  \
    }

/* The expected output. */
struct expected {
    const void *data;
    size_t elements;
};

#define EXPECT(array)                                                                                        \
    {                                                                                                        \
        (array), sizeof(array) / sizeof(*(array))                                                            \
    }
#define NOTHING                                                                                              \
    {                                                                                                        \
        "", 0                                                                                                \
    }

/* ---- Running them ---- */

/* Of the arrays in the basket, from other branches. */
static struct nt_basket_lengths lengths;

struct decoding {
    struct nt_decoder decoder;
    void *state;
    uint8_t *output; /* exactly as long as its elements, for the sanitizer */
};

static void begin(struct decoding *decoding, const struct nt_interpretation *interpretation, uint32_t output,
                  size_t elements)
{
    assert_ok(nt_basket_decoder(interpretation, output, &decoding->decoder, &decoding->state, &error));
    decoding->decoder.dependency_count = lengths.count;
    nt_basket_set_lengths(decoding->state, lengths.first);
    size_t bytes = elements * decoding->decoder.element_bytes;
    decoding->output = malloc(bytes ? bytes : 1);
    memset(decoding->output, 0xA5, bytes);
}

static void end(struct decoding *decoding)
{
    free(decoding->state);
    free(decoding->output);
}

static struct nt_packed packed_of(const struct decoding *decoding, const struct made *basket, size_t elements,
                                  uint64_t parameter)
{
    return (struct nt_packed){.decoder = &decoding->decoder,
                              .parameter = parameter,
                              .data = basket->bytes,
                              .bytes = basket->count,
                              .elements = elements,
                              .dependencies = lengths.values,
                              .context = context,
                              .limit = LIMIT};
}

static enum nt_status decode(const struct nt_interpretation *interpretation, uint32_t output, size_t elements)
{
    struct decoding decoding;
    begin(&decoding, interpretation, output, elements);
    const struct nt_packed packed = packed_of(&decoding, &made, elements, 0);
    error = (struct nt_error){0};
    enum nt_status status = decoding.decoder.ops->decode(&packed, decoding.output, &error);
    end(&decoding);
    return status;
}

static enum nt_status count_all(const struct nt_interpretation *interpretation,
                                struct nt_output_count *counts)
{
    error = (struct nt_error){0};
    return nt_basket_count(interpretation, made.bytes, made.count, content.entries, &lengths, LIMIT, context,
                           counts, &error);
}

static void assert_elements(const struct decoding *decoding, const struct expected *expected, size_t elements,
                            uint64_t added)
{
    size_t bytes = decoding->decoder.element_bytes;
    for (size_t i = 0; i < elements; i++) {
        uint64_t want = 0, found = 0;
        memcpy(&want, (const uint8_t *)expected->data + i * bytes, bytes);
        memcpy(&found, decoding->output + i * bytes, bytes);
        if (found != want + added)
            ck_abort_msg("element %zu of %zu: expected %llx, found %llx", i, elements,
                         (unsigned long long)(want + added), (unsigned long long)found);
    }
}

/* Decodes an output of each length, with and without a number that is added to end offsets. */
static void assert_output(const struct nt_interpretation *interpretation, uint32_t output,
                          const struct expected *expected)
{
    size_t all = expected->elements;
    for (size_t elements = 0; elements <= all; elements += elements < 40 || elements + 40 > all ? 1 : 37) {
        struct decoding decoding;
        uint64_t added = interpretation->outputs[output].is_offsets ? 1000 * (elements % 2) : 0;
        begin(&decoding, interpretation, output, elements);
        const struct nt_packed packed = packed_of(&decoding, &made, elements, added);
        assert_ok(decoding.decoder.ops->decode(&packed, decoding.output, &error));
        assert_elements(&decoding, expected, elements, added);
        end(&decoding);
    }
    assert_status(NT_CORRUPT, decode(interpretation, output, all + 1));
}

static void assert_together(const struct nt_interpretation *interpretation, const struct expected *expected)
{
    struct decoding decodings[MAX_OUTPUTS];
    struct nt_packed packed[MAX_OUTPUTS];
    uint8_t *outputs[MAX_OUTPUTS];
    uint32_t count = interpretation->output_count;
    for (uint32_t i = 0; i < count; i++) {
        begin(&decodings[i], interpretation, i, expected[i].elements);
        packed[i] = packed_of(&decodings[i], &made, expected[i].elements, 0);
        outputs[i] = decodings[i].output;
        ck_assert(i == 0 || nt_decoders_are_shared(&decodings[0].decoder, &decodings[i].decoder));
    }
    for (uint32_t first = 0; first < count; first += NT_MAX_SHARED_OUTPUTS) {
        uint32_t some = count - first < NT_MAX_SHARED_OUTPUTS ? count - first : NT_MAX_SHARED_OUTPUTS;
        assert_ok(decodings[0].decoder.ops->decode_shared(packed + first, outputs + first, some, &error));
    }
    for (uint32_t i = 0; i < count; i++)
        assert_elements(&decodings[i], &expected[i], expected[i].elements, 0);
    for (uint32_t i = 0; i < count; i++)
        end(&decodings[i]);
}

/* Any byte may change: nothing outside the memory is read or written, and decoding ends. */
static void damage(const struct nt_interpretation *interpretation, const struct expected *expected)
{
    size_t step = made.count < 1000 ? 1 : made.count / 500;
    for (size_t at = AT_VALUES; at < made.count; at += step) {
        uint8_t before = made.bytes[at];
        static const uint8_t bytes[] = {0, 1, 0x40, 0x7F, 0x80, 0xFF};
        for (unsigned i = 0; i < sizeof(bytes); i++) {
            struct nt_output_count counts[MAX_OUTPUTS];
            made.bytes[at] = bytes[i];
            for (uint32_t output = 0; output < interpretation->output_count; output++)
                decode(interpretation, output, expected[output].elements);
            if (count_all(interpretation, counts) == NT_OK)
                for (uint32_t output = 0; output < interpretation->output_count; output++)
                    if (counts[output].elements < OUTPUT_BYTES)
                        ck_assert_int_ne(decode(interpretation, output, (size_t)counts[output].elements),
                                         NT_TRUNCATED);
        }
        made.bytes[at] = before;
    }
}

static void assert_basket(const struct nt_interpretation *interpretation, const struct expected *expected,
                          const struct storage *storage)
{
    struct nt_output_count counts[MAX_OUTPUTS];
    make_basket(&made, &content, storage);
    assert_ok(count_all(interpretation, counts));
    for (uint32_t i = 0; i < interpretation->output_count; i++) {
        ck_assert_uint_eq(counts[i].elements, expected[i].elements);
        assert_output(interpretation, i, &expected[i]);
    }
    assert_together(interpretation, expected);
}

/* All forms that store offsets. */
static void assert_decodes(const struct nt_interpretation *interpretation, const struct expected *expected)
{
    assert_basket(interpretation, expected, &(struct storage){.is_compressed = true});
    assert_basket(interpretation, expected, &(struct storage){.io_bits = 1, .has_sizes = true});
    assert_basket(interpretation, expected, &(struct storage){.is_embedded = true, .flag = 11});
    assert_basket(interpretation, expected, &(struct storage){.flag = 0});
    damage(interpretation, expected);
}

/* Neither counts nor decodes any output. */
static void assert_refused(const struct nt_interpretation *interpretation, enum nt_status expected,
                           const char *about)
{
    struct nt_output_count counts[MAX_OUTPUTS];
    make_basket(&made, &content, &(struct storage){.flag = 0});
    ck_assert_int_eq(count_all(interpretation, counts), expected);
    ck_assert_msg(strstr(error.message, about), "%s", error.message);
    for (uint32_t i = 0; i < interpretation->output_count; i++) {
        ck_assert_int_eq(decode(interpretation, i, MADE_ENTRIES), expected);
        ck_assert_msg(strstr(error.message, about), "%s", error.message);
    }
}

/* ---- Numbers ---- */

static const struct nt_interpretation *numbers_of(enum nt_encoding_kind encoding, uint32_t count)
{
    static struct nt_step step;
    static struct nt_output output;
    static struct nt_interpretation interpretation;
    step = (struct nt_step){
        .kind = NT_STEP_VALUES, .encoding = (uint8_t)encoding, .count = count, .minimum = 7, .maximum = 2};
    output = (struct nt_output){.element = nt_encoding_info(encoding)->element, .fixed_items = count};
    interpretation = (struct nt_interpretation){.steps = &step,
                                                .step_count = 1,
                                                .outputs = &output,
                                                .output_count = 1,
                                                .count_by = NT_COUNT_BY_ENTRIES};
    return &interpretation;
}

static void assert_fixed(const struct nt_interpretation *interpretation, const struct expected *expected,
                         uint32_t entry_bytes)
{
    assert_decodes(interpretation, expected);
    assert_basket(interpretation, expected,
                  &(struct storage){.has_no_offsets = true, .entry_bytes = entry_bytes});
    assert_basket(interpretation, expected,
                  &(struct storage){.has_no_offsets = true, .is_embedded = true, .flag = 12});
}

CASE(numbers_of_each_width)
{
    int8_t bytes[100];
    int16_t shorts[100];
    uint32_t integers[100];
    int64_t longs[100];
    float reals[100];
    double wide[100];
    const struct {
        enum nt_encoding_kind encoding;
        unsigned width;
        struct expected expected;
    } cases[] = {
        {NT_ENCODING_INT8, 1, EXPECT(bytes)},          {NT_ENCODING_BIG_INT16, 2, EXPECT(shorts)},
        {NT_ENCODING_BIG_UINT32, 4, EXPECT(integers)}, {NT_ENCODING_BIG_INT64, 8, EXPECT(longs)},
        {NT_ENCODING_BIG_REAL32, 4, EXPECT(reals)},    {NT_ENCODING_BIG_REAL64, 8, EXPECT(wide)},
    };
    for (unsigned i = 0; i < 100; i++) {
        bytes[i] = (int8_t)(i * 7);
        shorts[i] = (int16_t)(i * 2711);
        integers[i] = i * 123456789u;
        longs[i] = (int64_t)(i * UINT64_C(0x123456789ABCDEF1));
        reals[i] = (float)i / 7;
        wide[i] = (double)i / 7;
    }
    for (unsigned i = 0; i < 6; i++) {
        unsigned width = cases[i].width;
        for (uint32_t count = 1; count <= 5; count += 4) { /* an array */
            clear();
            for (unsigned number = 0; number < 100; number++) {
                uint64_t value = 0;
                memcpy(&value, (const uint8_t *)cases[i].expected.data + number * width, width);
                put_number(&content.values, value, width);
                if (number % count == count - 1)
                    end_entry(&content);
            }
            assert_fixed(numbers_of(cases[i].encoding, count), &cases[i].expected, count * width);
        }
    }
}

/* What ROOT 6.40 reads from these bytes: see the tests of the encodings. */
CASE(reals_of_fewer_bits)
{
    static const double few[] = {0x1.42p+30, 0x1.e2p-32, -0x1.06p-36, -0x1.9cp-116, 0x1.76p-118, 0x1.cep+66};
    const struct expected expected = EXPECT(few);
    put(&content.values, "\x9C\xF6\xA1\x5E\xF6\xF1\x5A\x1D\x83\x0B\xB7\xCE\x09\xD6\xBB\xC0\x04\xE7", 18);
    for (unsigned i = 1; i <= 6; i++)
        content.starts[++content.entries] = 3 * i;
    assert_fixed(numbers_of(NT_ENCODING_DOUBLE32_BITS, 1), &expected, 3); /* of 7 bits */

    static const float range[] = {7, 8.5f}; /* stored / 2 + 7 */
    const struct expected in_range = EXPECT(range);
    clear();
    put(&content.values, "\0\0\0\0\0\0\0\3", 8);
    content.starts[++content.entries] = 8;
    assert_fixed(numbers_of(NT_ENCODING_FLOAT16_RANGE, 2), &in_range, 8);
}

CASE(truth)
{
    static const uint8_t expected[] = {0, 1, 1, 0};
    const struct expected truth = EXPECT(expected);
    for (unsigned i = 0; i < 4; i++) {
        put_number(&content.values, (const uint8_t[]){0, 1, 2, 0}[i], 1);
        end_entry(&content);
    }
    assert_fixed(numbers_of(NT_ENCODING_BOOL8, 1), &truth, 1);
}

/* ROOT 6.40 wrote it: a/I:b/D:c[2]/S with 1, 0.5, {-1, 7}, and 2, 1.5, {0, 300}. */
CASE(rows_of_several_leaves)
{
    static struct nt_step plain[] = {NUMBERS(BIG_INT32, 0, 1), NUMBERS(BIG_REAL64, 1, 1),
                                     NUMBERS(BIG_INT16, 2, 2)};
    static struct nt_step padded[] = {SKIP(0), NUMBERS(BIG_INT32, 0, 1), NUMBERS(BIG_REAL64, 1, 1), SKIP(2),
                                      NUMBERS(BIG_INT16, 2, 1)};
    static struct nt_output outputs[] = {
        {NT_ELEMENT_INT32, false, 1}, {NT_ELEMENT_REAL64, false, 1}, {NT_ELEMENT_INT16, false, 2}};
    static struct nt_output one[] = {
        {NT_ELEMENT_INT32, false, 1}, {NT_ELEMENT_REAL64, false, 1}, {NT_ELEMENT_INT16, false, 1}};
    static const int32_t a[] = {1, 2};
    static const double b[] = {0.5, 1.5};
    static const int16_t c[] = {-1, 7, 0, 300}, second[] = {7, 300};
    const struct expected expected[] = {EXPECT(a), EXPECT(b), EXPECT(c)};
    const struct expected seconds[] = {EXPECT(a), EXPECT(b), EXPECT(second)};
    struct nt_interpretation rows = INTERPRETATION(plain, outputs);
    struct nt_interpretation gaps = INTERPRETATION(padded, one);
    rows.count_by = gaps.count_by = NT_COUNT_BY_ENTRIES;
    put(&content.values, "\0\0\0\1\x3F\xE0\0\0\0\0\0\0\xFF\xFF\0\7", 16);
    end_entry(&content);
    put(&content.values, "\0\0\0\2\x3F\xF8\0\0\0\0\0\0\0\0\1\x2C", 16);
    end_entry(&content);
    assert_fixed(&rows, expected, 16);
    assert_fixed(&gaps, seconds, 16);
}

CASE(rows_that_do_not_fill_the_values)
{
    const struct nt_interpretation *integers = numbers_of(NT_ENCODING_BIG_INT32, 1);
    put(&content.values, "\0\0\0\1\0\0\0", 7);
    content.entries = 2;
    make_basket(&made, &content, &(struct storage){.has_no_offsets = true, .entry_bytes = 4});
    ck_assert_int_eq(decode(integers, 0, 1), NT_CORRUPT);
    ck_assert(strstr(error.message, "bytes of the values of a basket: expected 8, found 7"));
    put(&content.values, "\0\0", 2);
    make_basket(&made, &content, &(struct storage){.has_no_offsets = true, .entry_bytes = 4});
    ck_assert_int_eq(decode(integers, 0, 2), NT_CORRUPT);
}

/* ---- Lists ---- */

enum { LISTS = 60 };

/* Lengths from 0 to 3, and some that are long. */
static uint32_t length_of(unsigned i)
{
    return i % 20 == 7 ? 90 : i % 20 == 13 ? 300 : i % 4;
}

static float reals[LISTS * 300];
static uint64_t real_ends[LISTS], real_count;

static void make_reals(void)
{
    real_count = 0;
    for (unsigned i = 0; i < LISTS; i++) {
        for (unsigned k = 0; k < length_of(i); k++, real_count++)
            reals[real_count] = (float)real_count / 3;
        real_ends[i] = real_count;
    }
}

static void put_reals(unsigned i)
{
    for (uint64_t k = i > 0 ? real_ends[i - 1] : 0; k < real_ends[i]; k++)
        put_real(&content.values, reals[k]);
}

static struct nt_interpretation by_bytes(struct nt_step *steps, uint32_t count, struct nt_output *outputs,
                                         uint32_t header_bytes)
{
    return (struct nt_interpretation){.steps = steps,
                                      .step_count = count,
                                      .outputs = outputs,
                                      .output_count = 2,
                                      .count_by = NT_COUNT_BY_BYTES,
                                      .item_bytes = 4,
                                      .header_bytes = header_bytes};
}

CASE(counted_leaves)
{
    static struct nt_step steps[] = {REST(0, 2), NUMBERS(BIG_REAL32, 1, 1)};
    static struct nt_step with_byte[] = {SKIP(1), REST(0, 3), NUMBERS(BIG_REAL32, 1, 1)};
    static struct nt_output outputs[] = {ENDS, OF(REAL32)};
    const struct nt_interpretation plain = by_bytes(steps, 2, outputs, 0);
    const struct nt_interpretation headed = by_bytes(with_byte, 3, outputs, 1);
    make_reals();
    const struct expected expected[] = {EXPECT(real_ends), {reals, real_count}};
    for (unsigned i = 0; i < LISTS; i++) {
        put_reals(i);
        end_entry(&content);
    }
    assert_decodes(&plain, expected);
    clear();
    for (unsigned i = 0; i < LISTS; i++) {
        put_number(&content.values, 1, 1);
        put_reals(i);
        end_entry(&content);
    }
    assert_decodes(&headed, expected);
}

CASE(vectors_of_numbers)
{
    static struct nt_step steps[] = {HEADER(3), LIST(0, 3), NUMBERS(BIG_REAL32, 1, 1)};
    static struct nt_output outputs[] = {ENDS, OF(REAL32)};
    const struct nt_interpretation vectors = by_bytes(steps, 3, outputs, 10);
    make_reals();
    const struct expected expected[] = {EXPECT(real_ends), {reals, real_count}};
    for (unsigned i = 0; i < LISTS; i++) {
        put_header(&content.values, 4 + 4 * (size_t)length_of(i), 9);
        put_number(&content.values, length_of(i), 4);
        put_reals(i);
        end_entry(&content);
    }
    assert_decodes(&vectors, expected);
    /* each has its length, so that offsets are not needed */
    assert_basket(&vectors, expected, &(struct storage){.has_no_offsets = true});
}

CASE(vectors_of_each_width)
{
    static const struct {
        enum nt_encoding_kind encoding;
        unsigned width;
    } cases[] = {{NT_ENCODING_UINT8, 1}, {NT_ENCODING_BIG_UINT16, 2}, {NT_ENCODING_BIG_UINT64, 8}};
    uint64_t numbers[400];
    for (unsigned i = 0; i < 3; i++) {
        unsigned width = cases[i].width;
        uint64_t ends[40], count = 0;
        struct nt_step steps[] = {HEADER(3), LIST(0, 3), NUMBERS(UINT8, 1, 1)};
        struct nt_output outputs[] = {ENDS, OF(UINT8)};
        steps[2].encoding = (uint8_t)cases[i].encoding;
        outputs[1].element = nt_encoding_info(cases[i].encoding)->element;
        const struct nt_interpretation vectors = INTERPRETATION(steps, outputs);
        clear();
        for (unsigned entry = 0; entry < 40; entry++) {
            unsigned length = entry * 7 % 20;
            put_header(&content.values, 4 + (size_t)length * width, 9);
            put_number(&content.values, length, 4);
            for (unsigned k = 0; k < length; k++, count++) {
                uint64_t number = (count + 1) * UINT64_C(0x123456789ABCDE1) >> 8 * (8 - width);
                memcpy((uint8_t *)numbers + count * width, &number, width);
                put_number(&content.values, number, width);
            }
            ends[entry] = count;
            end_entry(&content);
        }
        const struct expected expected[] = {EXPECT(ends), {numbers, count}};
        assert_decodes(&vectors, expected);
    }
}

/* Before ROOT 3, a collection had no byte count; such entries occur among others. */
CASE(headers_without_a_byte_count)
{
    static struct nt_step steps[] = {HEADER(3), LIST(0, 3), NUMBERS(BIG_INT16, 1, 1)};
    static struct nt_output outputs[] = {ENDS, OF(INT16)};
    const struct nt_interpretation vectors = INTERPRETATION(steps, outputs);
    static const uint64_t ends[] = {2, 3, 3};
    static const int16_t numbers[] = {1, 2, 3};
    const struct expected expected[] = {EXPECT(ends), EXPECT(numbers)};
    put(&content.values, "\0\3\0\0\0\2\0\1\0\2", 10);
    end_entry(&content);
    put(&content.values, "\x40\0\0\x08\0\3\0\0\0\1\0\3", 12);
    end_entry(&content);
    put(&content.values, "\0\3\0\0\0\0", 6);
    end_entry(&content);
    assert_decodes(&vectors, expected);
}

/* Here and there: a list without a byte count, one of another version, a long one. Each is decoded among many
 * short ones. */
CASE(rare_forms_among_many_lists)
{
    static struct nt_step steps[] = {HEADER(3), LIST(0, 3), NUMBERS(BIG_UINT16, 1, 1)};
    static struct nt_output outputs[] = {ENDS, OF(UINT16)};
    const struct nt_interpretation vectors = INTERPRETATION(steps, outputs);
    static const unsigned boundaries[] = {0, 255, 257, 998, 999};
    enum { ENTRIES = 1000, MOST = 20000, LONG = 5000 };
    static uint16_t numbers[MOST];
    static uint64_t ends[ENTRIES];
    for (unsigned rare = 0; rare < 3 * COUNT_OF(boundaries); rare++) {
        uint64_t count = 0;
        clear();
        for (unsigned entry = 0; entry < ENTRIES; entry++) {
            bool is_rare = entry == boundaries[rare / 3];
            unsigned length = is_rare && rare % 3 == 0 ? LONG : entry * 7 % 20;
            if (is_rare && rare % 3 == 1)
                put_number(&content.values, 3, 2);
            else
                put_header(&content.values, 4 + 2 * (size_t)length, is_rare && rare % 3 == 2 ? 3 : 9);
            put_number(&content.values, length, 4);
            for (unsigned i = 0; i < length; i++, count++) {
                numbers[count] = (uint16_t)(count * 12345);
                put_number(&content.values, numbers[count], 2);
            }
            ends[entry] = count;
            end_entry(&content);
        }
        const struct expected expected[] = {{ends, ENTRIES}, {numbers, count}};
        assert_basket(&vectors, expected, &(struct storage){.flag = 0});
    }
}

CASE(lists_of_rows)
{
    static struct nt_step steps[] = {
        HEADER(6),           LIST(0, 6), NUMBERS(BIG_INT16, 1, 1), SKIP(1), NUMBERS(BIG_REAL32, 2, 2),
        NUMBERS(UINT8, 3, 1)};
    static struct nt_output outputs[] = {ENDS, OF(INT16), OF(REAL32), OF(UINT8)};
    const struct nt_interpretation lists = INTERPRETATION(steps, outputs);
    int16_t a[30];
    float b[60];
    uint8_t c[30];
    uint64_t ends[10], count = 0;
    for (unsigned entry = 0; entry < 10; entry++) {
        unsigned length = entry % 4 * 2;
        put_header(&content.values, 4 + (size_t)length * 12, 9);
        put_number(&content.values, length, 4);
        for (unsigned i = 0; i < length; i++, count++) {
            a[count] = (int16_t)(300 * count);
            b[2 * count] = (float)count;
            b[2 * count + 1] = (float)count / 4;
            c[count] = (uint8_t)(count + 200);
            put_number(&content.values, (uint64_t)a[count], 2);
            put_number(&content.values, 0xEE, 1);
            put_real(&content.values, b[2 * count]);
            put_real(&content.values, b[2 * count + 1]);
            put_number(&content.values, c[count], 1);
        }
        ends[entry] = count;
        end_entry(&content);
    }
    const struct expected expected[] = {EXPECT(ends), {a, count}, {b, 2 * count}, {c, count}};
    assert_decodes(&lists, expected);
}

CASE(lists_in_lists)
{
    static struct nt_step steps[] = {HEADER(4), LIST(0, 4), LIST(1, 4), NUMBERS(BIG_INT32, 2, 1)};
    static struct nt_output outputs[] = {ENDS, ENDS, OF(INT32)};
    const struct nt_interpretation lists = INTERPRETATION(steps, outputs);
    static const uint64_t outer[] = {3, 3, 4}, inner[] = {2, 2, 3, 4};
    static const int32_t numbers[] = {1, 2, 3, -4};
    const struct expected expected[] = {EXPECT(outer), EXPECT(inner), EXPECT(numbers)};
    put_header(&content.values, 28, 9);
    put(&content.values, "\0\0\0\3\0\0\0\2\0\0\0\1\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\3", 28);
    end_entry(&content);
    put_header(&content.values, 4, 9);
    put(&content.values, "\0\0\0\0", 4);
    end_entry(&content);
    put_header(&content.values, 12, 9);
    put(&content.values, "\0\0\0\1\0\0\0\1\xFF\xFF\xFF\xFC", 12);
    end_entry(&content);
    assert_decodes(&lists, expected);
    assert_basket(&lists, expected, &(struct storage){.has_no_offsets = true});
}

/* ---- Strings ---- */

static char letters[3000];
static uint64_t letter_ends[MADE_ENTRIES], letter_count, string_count;

static void put_letters(size_t length)
{
    for (size_t i = 0; i < length; i++)
        letters[letter_count + i] = (char)('a' + (letter_count + i) % 26);
    put_string(&content.values, letters + letter_count, length);
    letter_count += length;
    letter_ends[string_count++] = letter_count;
}

CASE(strings)
{
    static struct nt_step steps[] = {STRING(0)}, after_byte[] = {SKIP(1), STRING(0)};
    static struct nt_output outputs[] = {ENDS, OF(BYTE)};
    static const size_t sizes_of_texts[] = {0, 1, 5, 254, 255, 256, 0, 300, 16, 17, 3, 0};
    const struct nt_interpretation plain = INTERPRETATION(steps, outputs);
    const struct nt_interpretation skipped = INTERPRETATION(after_byte, outputs);
    for (unsigned is_after = 0; is_after < 2; is_after++) {
        clear();
        letter_count = string_count = 0;
        for (unsigned i = 0; i < sizeof(sizes_of_texts) / sizeof(*sizes_of_texts); i++) {
            if (is_after)
                put_number(&content.values, 9, 1);
            put_letters(sizes_of_texts[i]);
            end_entry(&content);
        }
        const struct expected expected[] = {{letter_ends, string_count}, {letters, letter_count}};
        assert_decodes(is_after ? &skipped : &plain, expected);
        assert_basket(is_after ? &skipped : &plain, expected, &(struct storage){.has_no_offsets = true});
    }
}

CASE(lists_of_strings)
{
    static struct nt_step steps[] = {HEADER(3), LIST(0, 3), STRING(1)};
    static struct nt_output outputs[] = {ENDS, ENDS, OF(BYTE)};
    const struct nt_interpretation lists = INTERPRETATION(steps, outputs);
    static const size_t sizes_of_texts[] = {3, 0, 255, 1, 254};
    uint64_t ends[5];
    letter_count = string_count = 0;
    for (unsigned entry = 0; entry < 5; entry++) {
        size_t at = content.values.count;
        put_header(&content.values, 0, 9);
        put_number(&content.values, entry, 4);
        for (unsigned i = 0; i < entry; i++)
            put_letters(sizes_of_texts[(entry + i) % 5]);
        set_number(&content.values, at, 0x40000000 | (content.values.count - at - 4), 4);
        ends[entry] = string_count;
        end_entry(&content);
    }
    const struct expected expected[] = {EXPECT(ends), {letter_ends, string_count}, {letters, letter_count}};
    assert_decodes(&lists, expected);
}

CASE(maps_from_strings_to_numbers)
{
    static struct nt_step steps[] = {HEADER(4), LIST(0, 4), STRING(1), NUMBERS(BIG_REAL64, 3, 1)};
    static struct nt_output outputs[] = {ENDS, ENDS, OF(BYTE), OF(REAL64)};
    const struct nt_interpretation maps = INTERPRETATION(steps, outputs);
    static const uint64_t ends[] = {2}, key_ends[] = {3, 5};
    static const double numbers[] = {1, -2};
    const struct expected expected[] = {EXPECT(ends), EXPECT(key_ends), {"onetw", 5}, EXPECT(numbers)};
    put_header(&content.values, 27, 9);
    put(&content.values, "\0\0\0\2\3one\x3F\xF0\0\0\0\0\0\0\2tw\xC0\0\0\0\0\0\0\0", 27);
    end_entry(&content);
    assert_decodes(&maps, expected);
}

/* ---- Objects ---- */

/* A class of an Int_t, an object of an undescribed class, and a Short_t; then members that only the
 * byte count covers. */
CASE(what_follows_the_body_is_skipped)
{
    static struct nt_step steps[] = {HEADER(4), NUMBERS(BIG_INT32, 0, 1), HEADER(3),
                                     NUMBERS(BIG_INT16, 1, 1)};
    static struct nt_output outputs[] = {OF(INT32), OF(INT16)};
    const struct nt_interpretation objects = INTERPRETATION(steps, outputs);
    static const int32_t a[] = {5, 6};
    static const int16_t b[] = {-1, 7};
    const struct expected expected[] = {EXPECT(a), EXPECT(b)};
    put_header(&content.values, 4 + 9 + 2 + 3, 2);
    put(&content.values, "\0\0\0\5\x40\0\0\5\0\1xyz\xFF\xFF???", 18);
    end_entry(&content);
    put_header(&content.values, 4 + 6 + 2, 2);
    put(&content.values, "\0\0\0\6\x40\0\0\2\0\1\0\7", 12);
    end_entry(&content);
    assert_decodes(&objects, expected);
    assert_basket(&objects, expected, &(struct storage){.has_no_offsets = true});
}

/* A class without a version has 0, and its checksum. */
CASE(checksums_of_classes_without_a_version)
{
    static struct nt_step steps[] = {HEADER(2), NUMBERS(BIG_INT32, 0, 1)};
    static struct nt_output outputs[] = {OF(INT32)};
    const struct nt_interpretation objects = INTERPRETATION(steps, outputs);
    static const int32_t numbers[] = {5, 6};
    const struct expected expected[] = {EXPECT(numbers)};
    put(&content.values, "\x40\0\0\x0A\0\0\xDE\xAD\xBE\xEF\0\0\0\5", 14);
    end_entry(&content);
    put(&content.values, "\x40\0\0\6\0\1\0\0\0\6", 10);
    end_entry(&content);
    assert_decodes(&objects, expected);
}

/* Its streamer may have written other members, so those that were read may be wrong. */
CASE(an_object_has_no_bytes_beyond_its_members)
{
    static struct nt_step steps[] = {OBJECT_HEADER(2), NUMBERS(BIG_INT32, 0, 1)};
    static struct nt_output outputs[] = {OF(INT32)};
    const struct nt_interpretation objects = INTERPRETATION(steps, outputs);
    static const int32_t numbers[] = {5};
    const struct expected expected[] = {EXPECT(numbers)};
    put(&content.values, "\x40\0\0\x07\0\1\0\0\0\5?", 11);
    end_entry(&content);
    assert_refused(&objects, NT_CORRUPT,
                   "byte 10 of the values: the members of an object: expected to end at byte 11");
    steps[0].bits = 0;
    assert_decodes(&objects, expected);
}

/* One object with other members is damaged; if all have other members, their class has a streamer of its own.
 */
CASE(a_class_has_a_streamer_of_its_own_if_no_object_has_the_described_members)
{
    static struct nt_step steps[] = {OBJECT_HEADER(2), NUMBERS(BIG_INT32, 0, 1)};
    static struct nt_output outputs[] = {OF(INT32)};
    const struct nt_interpretation objects = INTERPRETATION(steps, outputs);
    static const struct {
        const char *bytes;
        size_t count;
    } others[] = {{"\x40\0\0\x07\0\1\0\0\0\5?", 11}, {"\x40\0\0\3\0\1?", 7}, {"\0\1\0", 3}, {"?", 1}};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        for (unsigned entries = 2; entries < 20; entries++) {
            clear();
            for (unsigned entry = 0; entry < entries; entry++) {
                put(&content.values, others[i].bytes, others[i].count);
                end_entry(&content);
            }
            assert_refused(&objects, NT_UNSUPPORTED, "has a streamer of its own: entry 0 of a basket: ");
        }
        put(&content.values, "\x40\0\0\6\0\1\0\0\0\5", 10);
        end_entry(&content);
    }
    assert_refused(&objects, NT_UNSUPPORTED, "has a streamer of its own");
    clear();
    put(&content.values, others[0].bytes, others[0].count);
    end_entry(&content);
    put(&content.values, "\x40\0\0\6\0\1\0\0\0\5", 10);
    end_entry(&content);
    assert_refused(&objects, NT_CORRUPT, "entry 0 of a basket: ");
}

/* ClassDef(Dot, 0): the file describes the class with this version. */
CASE(a_class_of_version_0_has_no_checksum)
{
    static struct nt_step steps[] = {HEADER(2), NUMBERS(BIG_INT32, 0, 1)};
    static struct nt_output outputs[] = {OF(INT32)};
    const struct nt_interpretation objects = INTERPRETATION(steps, outputs);
    static const int32_t numbers[] = {5};
    const struct expected expected[] = {EXPECT(numbers)};
    steps[0].version = NT_STREAMER_VERSION_0;
    put(&content.values, "\x40\0\0\6\0\0\0\0\0\5", 10);
    end_entry(&content);
    assert_decodes(&objects, expected);
}

/* A vector of a class of a Char_t and a Short_t. Its items are stored one after the other, or
 * memberwise: then the version has bit 14. */
#define POINTS(version)                                                                                      \
    {                                                                                                        \
        HEADER_OF_TWO(5, 9), LIST(0, 5), HEADER(5), NUMBERS(INT8, 1, 1), NUMBERS(BIG_INT16, 2, 1),           \
            CLASS(version), MEMBERS(0, 9), NUMBERS(INT8, 1, 1), NUMBERS(BIG_INT16, 2, 1)                     \
    }

enum { OBJECT = 2, OBJECTS_BY_MEMBERS = 6 }; /* steps of POINTS */

static void put_points(const char *memberwise, size_t bytes)
{
    put_header(&content.values, 4 + 9 + 9, 9);
    put(&content.values, "\0\0\0\2\x40\0\0\5\0\1\1\0\x0A\x40\0\0\5\0\1\2\0\x14", 22);
    end_entry(&content);
    put_header(&content.values, bytes, 0x4009);
    put(&content.values, memberwise, bytes);
    end_entry(&content);
}

CASE(members_one_after_the_other)
{
    static struct nt_step steps[] = POINTS(4), any[] = POINTS(-1);
    static struct nt_output outputs[] = {ENDS, OF(INT8), OF(INT16)};
    const struct nt_interpretation points = INTERPRETATION(steps, outputs);
    const struct nt_interpretation of_any_version = INTERPRETATION(any, outputs);
    static const uint64_t ends[] = {2, 5};
    static const int8_t a[] = {1, 2, 3, 4, 5};
    static const int16_t b[] = {10, 20, 30, 40, 50};
    const struct expected expected[] = {EXPECT(ends), EXPECT(a), EXPECT(b)};
    put_points("\0\4\0\0\0\3\3\4\5\0\x1E\0\x28\0\x32", 15);
    assert_decodes(&points, expected);
    assert_decodes(&of_any_version, expected);
    clear();
    put_points("\0\0\xDE\xAD\xBE\xEF\0\0\0\3\3\4\5\0\x1E\0\x28\0\x32", 19);
    assert_decodes(&points, expected);
    clear();
    put_points("\0\3\0\0\0\3\3\4\5\0\x1E\0\x28\0\x32", 15);
    assert_basket(&of_any_version, expected, &(struct storage){.flag = 0});
    assert_refused(&points, NT_UNSUPPORTED, "class version: expected 4, found 3");
    static struct nt_step steps_of_0[] = POINTS(NT_STREAMER_VERSION_0);
    const struct nt_interpretation of_version_0 = INTERPRETATION(steps_of_0, outputs);
    clear();
    put_points("\0\0\0\0\0\3\3\4\5\0\x1E\0\x28\0\x32", 15);
    assert_decodes(&of_version_0, expected);
}

static void put_list(uint16_t version, const char *bytes, size_t count)
{
    put_header(&content.values, count, version);
    put(&content.values, bytes, count);
    end_entry(&content);
}

/* Of a class that the file does not describe, lists must be empty, in both forms. The byte counts of objects
 * still give the ends of lists. */
CASE(objects_of_an_undescribed_class_are_refused)
{
    static struct nt_step steps[] = POINTS(-1);
    static struct nt_output outputs[] = {ENDS, OF(INT8), OF(INT16)};
    const struct nt_interpretation points = INTERPRETATION(steps, outputs);
    static const uint64_t no_ends[] = {0, 0}, ends[] = {0, 1};
    const struct expected empty[] = {EXPECT(no_ends), NOTHING, NOTHING}, one = EXPECT(ends);
    steps[OBJECT].version = steps[OBJECTS_BY_MEMBERS].version = NT_STREAMER_NO_OBJECTS;
    put_list(9, "\0\0\0\0", 4);
    put_list(0x4009, "\0\4\0\0\0\0", 6);
    assert_decodes(&points, empty);
    clear();
    put_list(9, "\0\0\0\0", 4);
    put_list(0x4009, "\0\4\0\0\0\1\3\0\x1E", 9);
    assert_refused(&points, NT_UNSUPPORTED, "an object of a class that the file does not describe");
    clear();
    put_list(9, "\0\0\0\0", 4);
    put_list(9, "\0\0\0\1\x40\0\0\5\0\1\1\0\x0A", 13);
    make_basket(&made, &content, &(struct storage){.flag = 0});
    assert_output(&points, 0, &one);
    for (uint32_t i = 1; i < 3; i++) {
        ck_assert_int_eq(decode(&points, i, MADE_ENTRIES), NT_UNSUPPORTED);
        ck_assert_ptr_nonnull(strstr(error.message, "an object of a class that the file does not describe"));
    }
}

CASE(members_one_after_the_other_where_none_are_known)
{
    static struct nt_step steps[] = {HEADER(3), LIST(0, 3), NUMBERS(INT8, 1, 1)};
    static struct nt_output outputs[] = {ENDS, OF(INT8)};
    const struct nt_interpretation lists = INTERPRETATION(steps, outputs);
    put_header(&content.values, 5, 0x4009);
    put(&content.values, "\0\0\0\1\2", 5);
    end_entry(&content);
    assert_refused(&lists, NT_UNSUPPORTED, "stored member by member");
}

/* In a class of "int n; float *x; //[n]": a byte says whether there is an array. */
#define ARRAYS COUNTING(BIG_INT32, 0, 1), COUNTED(1, 1, 3), NUMBERS(BIG_INT16, 2, 1)

CASE(arrays_that_another_member_counts)
{
    static struct nt_step steps[] = {ARRAYS};
    static struct nt_output outputs[] = {OF(INT32), ENDS, OF(INT16)};
    const struct nt_interpretation arrays = INTERPRETATION(steps, outputs);
    static const int32_t counts[] = {2, 3, 0, 1};
    static const uint64_t ends[] = {2, 2, 2, 3};
    static const int16_t numbers[] = {1, 2, 9};
    const struct expected expected[] = {EXPECT(counts), EXPECT(ends), EXPECT(numbers)};
    put(&content.values, "\0\0\0\2\1\0\1\0\2", 9);
    end_entry(&content);
    put(&content.values, "\0\0\0\3\0", 5); /* a null pointer */
    end_entry(&content);
    put(&content.values, "\0\0\0\0\1", 5);
    end_entry(&content);
    put(&content.values, "\0\0\0\1\1\0\x09", 7);
    end_entry(&content);
    assert_decodes(&arrays, expected);
    assert_basket(&arrays, expected, &(struct storage){.has_no_offsets = true});
    clear();
    put(&content.values, "\xFF\xFF\xFF\xFE\1\0\1", 7);
    end_entry(&content);
    make_basket(&made, &content, &(struct storage){.flag = 0});
    assert_status(NT_CORRUPT, decode(&arrays, 2, 1));
    ck_assert(strstr(error.message, "expected 0 or more, found -2"));
}

/* The same in a vector that is stored memberwise: each item has its own count. */
CASE(arrays_that_another_member_counts_of_several_items)
{
    static struct nt_step steps[] = {MEMBERS(3, 4), COUNTING(UINT8, 0, 1), COUNTED(1, 1, 4),
                                     NUMBERS(BIG_INT16, 2, 1)};
    static struct nt_output outputs[] = {OF(UINT8), ENDS, OF(INT16), ENDS};
    const struct nt_interpretation arrays = INTERPRETATION(steps, outputs);
    static const uint8_t counts[] = {2, 0, 1, 1};
    static const uint64_t ends[] = {2, 2, 3, 4}, all[] = {3, 4, 4};
    static const int16_t numbers[] = {1, 2, 9, 8};
    const struct expected expected[] = {EXPECT(counts), EXPECT(ends), EXPECT(numbers), EXPECT(all)};
    put(&content.values, "\0\0\0\3\2\0\1\1\0\1\0\2\1\1\0\x09", 16);
    end_entry(&content);
    put(&content.values, "\0\0\0\1\1\1\0\x08", 8);
    end_entry(&content);
    put(&content.values, "\0\0\0\0", 4);
    end_entry(&content);
    assert_decodes(&arrays, expected);
}

/* As streamers that are written by hand store them: the same number of bytes never has both forms. */
CASE(items_of_a_list_may_have_no_headers)
{
    static struct nt_step steps[] = {
        HEADER(7),    LIST(0, 7),       OBJECT_HEADER(7),    NUMBERS(BIG_INT16, 1, 1),
        REPEAT(2, 7), OBJECT_HEADER(7), NUMBERS(UINT8, 2, 1)};
    static struct nt_output outputs[] = {ENDS, OF(INT16), OF(UINT8)};
    static struct nt_step wide[] = {HEADER(4), LIST(0, 4), HEADER(4), NUMBERS(UINT8, 1, 7)};
    static struct nt_output bytes[] = {ENDS, OF(UINT8)};
    const struct nt_interpretation lists = INTERPRETATION(steps, outputs),
                                   other_version = INTERPRETATION(wide, bytes);
    static const uint64_t ends[] = {2, 2, 3};
    static const int16_t numbers[] = {5, 6, 7};
    const struct expected expected[] = {EXPECT(ends), EXPECT(numbers), {"ABCDEF", 6}};
    put_header(&content.values, 4 + 2 * 4, 9);
    put(&content.values, "\0\0\0\2\0\5AB\0\6CD", 12);
    end_entry(&content);
    put_header(&content.values, 4, 9);
    put(&content.values, "\0\0\0\0", 4);
    end_entry(&content);
    put_header(&content.values, 4 + 6 + 2 + 2 * (6 + 1), 9);
    put(&content.values, "\0\0\0\1", 4);
    put_header(&content.values, 2 + 2 * (6 + 1), 1);
    put(&content.values, "\0\7", 2);
    put_header(&content.values, 1, 1);
    put(&content.values, "E", 1);
    put_header(&content.values, 1, 1);
    put(&content.values, "F", 1);
    end_entry(&content);
    assert_decodes(&lists, expected);
    damage(&lists, expected);
    clear(); /* another version of the class, whose items have as many bytes as these without headers */
    put_header(&content.values, 4 + 6 + 1, 9);
    put(&content.values, "\0\0\0\1", 4);
    put_header(&content.values, 1, 2);
    put(&content.values, "A", 1);
    end_entry(&content);
    wide[2].version = 1;
    make_basket(&made, &content, &(struct storage){.flag = 0});
    assert_status(NT_UNSUPPORTED, decode(&other_version, 1, 1));
}

/* An object that a list without headers has in each item, as a base class with a streamer of its own. */
static void put_item(const char *members, unsigned version, const char *base)
{
    put(&content.values, members, 3);
    put_header(&content.values, 2, version);
    put(&content.values, base, 2);
}

static void put_three_items(unsigned version)
{
    put_header(&content.values, 4 + 3 * 11, 9);
    put(&content.values, "\0\0\0\3", 4);
    put_item("\0\5A", 3, "BC");
    put_item("\0\6D", version, "EF");
    put_item("\0\7G", 3, "HI");
    end_entry(&content);
}

/* All items then have the headers that the first one has, with exact byte counts. */
CASE(items_of_a_list_may_have_some_headers)
{
    static struct nt_step steps[] = {HEADER(9),
                                     LIST(0, 9),
                                     OBJECT_HEADER(9),
                                     OBJECT_HEADER(7),
                                     OBJECT_HEADER(6),
                                     NUMBERS(BIG_INT16, 1, 1),
                                     NUMBERS(UINT8, 2, 1),
                                     OBJECT_HEADER(9),
                                     NUMBERS(UINT8, 3, 2)};
    static struct nt_output outputs[] = {ENDS, OF(INT16), OF(UINT8), OF(UINT8)};
    const struct nt_interpretation lists = INTERPRETATION(steps, outputs);
    static const uint64_t ends[] = {3, 3};
    static const int16_t numbers[] = {5, 6, 7};
    const struct expected expected[] = {EXPECT(ends), EXPECT(numbers), {"ADG", 3}, {"BCEFHI", 6}};
    steps[7].version = 3;
    put_three_items(3);
    put_header(&content.values, 4, 9);
    put(&content.values, "\0\0\0\0", 4);
    end_entry(&content);
    assert_decodes(&lists, expected);
    damage(&lists, expected);
    clear();
    put_three_items(4);
    make_basket(&made, &content, &(struct storage){.flag = 0});
    assert_status(NT_UNSUPPORTED, decode(&lists, 3, 6));
    assert_status(NT_UNSUPPORTED, decode(&lists, 1, 3));
    ck_assert(strstr(error.message, "class version: expected 3, found 4"));
    clear(); /* the second item has another header: without a byte count */
    put_three_items(3);
    memcpy(content.values.bytes + content.values.count - 11 - 8, "\0\3", 2);
    make_basket(&made, &content, &(struct storage){.flag = 0});
    assert_status(NT_CORRUPT, decode(&lists, 3, 6));
    ck_assert(strstr(error.message, "expected to end at byte"));
}

/* HoldMuo of ROOT's test file skim.root, shortened: a TObject, a number, an object with a header. */
static void put_object(unsigned number, bool is_referenced)
{
    put(&content.values, "\0\1\0\0\0\7", 6);
    put(&content.values, is_referenced ? "\3\0\0\x10\0\2" : "\3\0\0\0", is_referenced ? 6 : 4);
    put(&content.values, (uint8_t[]){0, (uint8_t)number}, 2);
    put_header(&content.values, 1, 1);
    put(&content.values, (uint8_t[]){(uint8_t)('A' + number)}, 1);
}

/* Only the first bytes of an object tell whether it has a header. */
static void put_objects_of_entries(void)
{
    put_object(0, false);
    put_object(1, true);
    end_entry(&content);
    end_entry(&content);
    put_header(&content.values, 10 + 2 + 7, 1);
    put_object(2, false);
    end_entry(&content);
    put(&content.values, "\0\1", 2); /* a version without a byte count */
    put_object(3, false);
    end_entry(&content);
    put_object(4, true);
    end_entry(&content);
}

#define OBJECT(first, output)                                                                                \
    OBJECT_HEADER((first) + 9), TOBJECT_HEADER((first) + 6), SKIP(4), COUNTING(BIG_UINT32, output, 1),       \
        WHEN(1, 16, (first) + 6), SKIP(2), NUMBERS(BIG_INT16, (output) + 1, 1), OBJECT_HEADER((first) + 9),  \
        NUMBERS(UINT8, (output) + 2, 1)

/* As a member of the items of a split collection, whose class has a streamer of its own. */
CASE(objects_up_to_the_end_may_have_no_headers)
{
    static struct nt_step steps[] = {REST(0, 10), OBJECT(1, 1)};
    static struct nt_output outputs[] = {ENDS, OF(UINT32), OF(INT16), OF(UINT8)};
    const struct nt_interpretation items = INTERPRETATION(steps, outputs);
    static const uint64_t ends[] = {2, 2, 3, 4, 5};
    static const uint32_t bits[] = {0x03000000, 0x03000010, 0x03000000, 0x03000000, 0x03000010};
    static const int16_t numbers[] = {0, 1, 2, 3, 4};
    const struct expected expected[] = {EXPECT(ends), EXPECT(bits), EXPECT(numbers), {"ABCDE", 5}};
    put_objects_of_entries();
    assert_decodes(&items, expected);
    damage(&items, expected);
}

CASE(an_object_alone_may_have_no_header)
{
    static struct nt_step steps[] = {OBJECT(0, 0)};
    static struct nt_output outputs[] = {OF(UINT32), OF(INT16), OF(UINT8)};
    const struct nt_interpretation objects = INTERPRETATION(steps, outputs);
    static const uint32_t bits[] = {0x03000010, 0x03000000, 0x03000010};
    static const int16_t numbers[] = {1, 2, 3};
    const struct expected expected[] = {EXPECT(bits), EXPECT(numbers), {"BCD", 3}};
    put_object(1, true);
    end_entry(&content);
    put_object(2, false);
    end_entry(&content);
    put_header(&content.values, 12 + 2 + 7, 1);
    put_object(3, true);
    end_entry(&content);
    assert_decodes(&objects, expected);
    damage(&objects, expected);
}

CASE(arrays_that_nothing_counts)
{
    static struct nt_step steps[] = {LIST(0, 2), COUNTING(UINT8, NONE, 1), COUNTED(1, 1, 4),
                                     NUMBERS(BIG_INT16, 2, 1)};
    static struct nt_output outputs[] = {ENDS, ENDS, OF(INT16)};
    const struct nt_interpretation arrays = INTERPRETATION(steps, outputs);
    put(&content.values, "\0\0\0\0\1\0\1", 7);
    end_entry(&content);
    make_basket(&made, &content, &(struct storage){.flag = 0});
    assert_status(NT_CORRUPT, decode(&arrays, 2, 1));
    ck_assert(strstr(error.message, "the number of items is not stored"));
}

/* Arrays of the items of a split collection: a byte for each, and their lengths on pages of another branch.
 */
CASE(arrays_that_another_branch_counts)
{
    static struct nt_step steps[] = {REST(0, 3), COUNTED(0, 1, 3), NUMBERS(BIG_INT16, 2, 1)};
    static struct nt_output outputs[] = {ENDS, ENDS, OF(INT16)};
    struct nt_interpretation arrays = INTERPRETATION(steps, outputs);
    static const int32_t first[] = {99, 2}, rest[] = {-7, 1, -2};
    const struct nt_value values[] = {{(const uint8_t *)first, 2, NT_ELEMENT_INT32, 4},
                                      {NULL, 0, NT_ELEMENT_INT32, 4},
                                      {(const uint8_t *)rest, 3, NT_ELEMENT_INT32, 4}};
    static const uint64_t items[] = {2, 2, 3}, ends[] = {2, 2, 3};
    static const int16_t numbers[] = {1, 2, 9};
    const struct expected expected[] = {EXPECT(items), EXPECT(ends), EXPECT(numbers)};
    arrays.lengths = 1;
    lengths = (struct nt_basket_lengths){values, 3, 1};
    put(&content.values, "\1\0\1\0\2\0", 6); /* the length of a null pointer may be any number */
    end_entry(&content);
    end_entry(&content);
    put(&content.values, "\1\0\x09", 3);
    end_entry(&content);
    assert_decodes(&arrays, expected);
    put(&content.values, "\1\0\1", 3);
    end_entry(&content);
    make_basket(&made, &content, &(struct storage){.flag = 0});
    assert_status(NT_CORRUPT, decode(&arrays, 2, 4));
    ck_assert(strstr(error.message, "expected 0 or more, found -2"));
    lengths.count = 1;
    assert_status(NT_CORRUPT, decode(&arrays, 2, 3));
    ck_assert(strstr(error.message, "another branch has no more lengths of arrays"));
    lengths = (struct nt_basket_lengths){0};
}

/* "T *x[2]; //[n]": one byte, then both arrays. */
CASE(several_arrays_after_one_flag)
{
    static struct nt_step steps[] = {ARRAYS};
    static struct nt_output outputs[] = {OF(INT32), ENDS, OF(INT16)};
    const struct nt_interpretation arrays = INTERPRETATION(steps, outputs);
    static const int32_t counts[] = {2, 3, 1};
    static const uint64_t ends[] = {2, 4, 4, 4, 5, 6};
    static const int16_t numbers[] = {1, 2, 3, 4, 8, 9};
    const struct expected expected[] = {EXPECT(counts), EXPECT(ends), EXPECT(numbers)};
    steps[1].count = 2;
    put(&content.values, "\0\0\0\2\1\0\1\0\2\0\3\0\4", 13);
    end_entry(&content);
    put(&content.values, "\0\0\0\3\0", 5);
    end_entry(&content);
    put(&content.values, "\0\0\0\1\1\0\x08\0\x09", 9);
    end_entry(&content);
    assert_decodes(&arrays, expected);
    steps[1].count = INT32_MAX; /* empty arrays take no bytes, but time */
    make_basket(&made, &content, &(struct storage){.flag = 0});
    struct nt_output_count found[3];
    assert_status(NT_CORRUPT, count_all(&arrays, found));
    ck_assert(strstr(error.message, "more items than the bytes can hold"));
}

CASE(arrays_of_a_fixed_length)
{
    static struct nt_step steps[] = {REPEAT(2, 5), LIST(0, 3), NUMBERS(UINT8, 1, 1), REPEAT(3, 5), STRING(2)};
    static struct nt_output outputs[] = {ENDS, OF(UINT8), ENDS, OF(BYTE)};
    const struct nt_interpretation arrays = INTERPRETATION(steps, outputs);
    static const uint64_t ends[] = {1, 3}, string_ends[] = {1, 1, 3, 3, 3, 6};
    const struct expected expected[] = {EXPECT(ends), {"\1\2\3", 3}, EXPECT(string_ends), {"abcdef", 6}};
    put(&content.values, "\0\0\0\1\1\1a\0\2bc\0\0\0\2\2\3\0\0\3def", 23);
    end_entry(&content);
    assert_decodes(&arrays, expected);
}

/* ---- Names of classes ---- */

CASE(objects_follow_the_name_of_their_class)
{
    static struct nt_step steps[] = {NAME(0), NUMBERS(UINT8, 0, 1)};
    static struct nt_output outputs[] = {OF(UINT8)};
    static struct nt_text name = {"Dot", 3};
    struct nt_interpretation dots = INTERPRETATION(steps, outputs);
    dots.class_names = &name;
    dots.class_name_count = 1;
    const struct expected expected[] = {{"\5\6", 2}};
    static const char *const others[] = {"\3Dog\0\5", "\2Do\0\5\5", "\3Dot\1\5"};
    put(&content.values, "\3Dot\0\5", 6);
    end_entry(&content);
    put(&content.values, "\3Dot\0\6", 6);
    end_entry(&content);
    assert_decodes(&dots, expected);
    for (unsigned i = 0; i < COUNT_OF(others); i++) {
        clear();
        put(&content.values, others[i], 6);
        end_entry(&content);
        assert_refused(&dots, NT_UNSUPPORTED, "expected an object of class Dot, found class Do");
    }
    clear();
    put(&content.values, "\4Dot\0", 5);
    end_entry(&content);
    assert_refused(&dots, NT_CORRUPT, "the name of a class: expected 5 bytes, found 4");
}

/* ---- Pointers ---- */

/* Two pointers to objects of class Dot, which have a number. */
static struct nt_interpretation dots(void)
{
    static struct nt_step steps[] = {POINTER(NONE, 3), OF_CLASS(0, 0, 3), NUMBERS(BIG_INT16, 1, 1),
                                     POINTER(NONE, 6), OF_CLASS(0, 2, 6), NUMBERS(BIG_INT16, 3, 1)};
    static struct nt_output outputs[] = {ENDS, OF(INT16), ENDS, OF(INT16)};
    static struct nt_text name = {"Dot", 3};
    struct nt_interpretation dots = INTERPRETATION(steps, outputs);
    dots.class_names = &name;
    dots.class_name_count = 1;
    return dots;
}

static void put_dot(const char *class_name, int16_t number)
{
    put_number(&content.values, UINT64_C(0x40000000) | (4 + strlen(class_name) + 1 + sizeof(number)), 4);
    put_number(&content.values, 0xFFFFFFFF, 4);
    put(&content.values, class_name, strlen(class_name) + 1);
    put_number(&content.values, (uint16_t)number, sizeof(number));
}

CASE(pointers_lead_to_objects_of_their_class)
{
    const struct nt_interpretation pointers = dots();
    static const uint64_t first_ends[] = {1, 1}, second_ends[] = {1, 2};
    static const int16_t first[] = {5}, second[] = {6, 7};
    const struct expected expected[] = {EXPECT(first_ends), EXPECT(first), EXPECT(second_ends),
                                        EXPECT(second)};
    put_dot("Dot", 5);
    put(&content.values, "\x40\0\0\6\x80\0\0", 7); /* the class whose tag is at byte 4 of the values */
    put_number(&content.values, AT_VALUES + 4 + 2, 1);
    put_number(&content.values, 6, 2);
    end_entry(&content);
    put_number(&content.values, 0, 4);
    put_dot("Dot", 7);
    end_entry(&content);
    assert_basket(&pointers, expected, &(struct storage){.is_compressed = true});
    assert_basket(&pointers, expected, &(struct storage){.is_embedded = true, .flag = 11});
    assert_basket(&pointers, expected, &(struct storage){.flag = 0});
    damage(&pointers, expected);
}

/* It is counted as none, so that what follows can be read. */
CASE(pointers_to_other_objects_are_errors_of_their_own_outputs)
{
    static const struct {
        const char *bytes;
        size_t count;
        const char *found;
    } rows[] = {
        {"\x40\0\0\x0A\xFF\xFF\xFF\xFF"
         "Bar\0\0\5",
         14, "class Dot, found class Bar"},
        {"\0\0\0\1", 4, "class Dot, found a reference to no object before it"},
        {"\x40\0\0\6\x80\0\0\x09\0\5", 10, "class Dot, found a tag that leads to no class"},
        {"\x40\0\0\6\x80\xFF\0\0\0\5", 10, "class Dot, found a tag that leads to no class"},
    };
    const struct nt_interpretation pointers = dots();
    struct nt_output_count counts[4];
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        clear();
        put(&content.values, rows[i].bytes, rows[i].count);
        put_dot("Dot", 7);
        end_entry(&content);
        make_basket(&made, &content, &(struct storage){.flag = 0});
        assert_ok(count_all(&pointers, counts));
        ck_assert_uint_eq(counts[0].elements, 1);
        ck_assert_uint_eq(counts[1].elements, 0);
        ck_assert_uint_eq(counts[3].elements, 1);
        assert_status(NT_UNSUPPORTED, decode(&pointers, 0, 1));
        ck_assert_msg(strstr(error.message, rows[i].found), "%s", error.message);
        assert_ok(decode(&pointers, 2, 1));
        assert_ok(decode(&pointers, 3, 1));
    }
}

/* The place of an object whose byte count is at `at` of the values. */
static void put_reference(size_t at)
{
    put_number(&content.values, AT_VALUES + at + 2, 4);
}

CASE(pointers_may_refer_to_objects_before_them)
{
    static struct nt_step any[] = {POINTER(NONE, 2), OF_ANY_CLASS(0, 2), POINTER(NONE, 4),
                                   OF_ANY_CLASS(1, 4)};
    static struct nt_step sample[] = {POINTER(0, 1), POINTER(NONE, 3), OF_ANY_CLASS(2, 3)};
    static struct nt_output two[] = {ENDS, ENDS}, sampled[] = {ENDS, OF(BYTE), ENDS};
    const struct nt_interpretation pointers = dots(), of_any = INTERPRETATION(any, two),
                                   names = INTERPRETATION(sample, sampled);
    static const uint64_t ends[] = {1, 2, 2}, second_ends[] = {1, 2, 3}, name_ends[] = {3, 6, 6};
    static const int16_t first[] = {5, 6}, second[] = {5, 6, 7};
    const struct expected expected[] = {EXPECT(ends), EXPECT(first), EXPECT(second_ends), EXPECT(second)};
    const struct expected are_there[] = {EXPECT(ends), EXPECT(second_ends)};
    const struct expected are_named[] = {EXPECT(name_ends), {"DotDot", 6}, EXPECT(second_ends)};
    put_dot("Dot", 5);
    put_reference(0);
    end_entry(&content);
    size_t at = content.values.count;
    put_dot("Dot", 6);
    put_reference(at);
    end_entry(&content);
    put_number(&content.values, 0, 4);
    put_dot("Dot", 7);
    end_entry(&content);
    assert_basket(&pointers, expected, &(struct storage){.is_compressed = true});
    assert_basket(&of_any, are_there, &(struct storage){.flag = 0});
    assert_basket(&names, are_named, &(struct storage){.flag = 0});
    assert_basket(&pointers, expected, &(struct storage){.flag = 0});
    damage(&pointers, expected);
}

/* What is at the place must be an object; the pointer itself is none. */
CASE(references_to_no_object_are_errors)
{
    const struct nt_interpretation pointers = dots();
    static const uint32_t places[] = {1, 4, 15, 18, 100, 0x3FFFFF00};
    for (unsigned i = 0; i < COUNT_OF(places); i++) {
        clear();
        put_dot("Dot", 5);
        put_reference(places[i]);
        end_entry(&content);
        make_basket(&made, &content, &(struct storage){.flag = 0});
        assert_ok(decode(&pointers, 1, 1));
        assert_status(NT_UNSUPPORTED, decode(&pointers, 2, 1));
        ck_assert_msg(strstr(error.message, "a reference to no object before it"), "%s", error.message);
    }
    clear();
    put(&content.values,
        "\x40\0\0\x10\xFF\xFF\xFF\xFF"
        "Bar\0"
        "\x7F\0\0\0\x80\0\0\0", /* as an object that is larger than the entry */
        20);
    put_reference(12);
    end_entry(&content);
    make_basket(&made, &content, &(struct storage){.flag = 0});
    assert_status(NT_UNSUPPORTED, decode(&pointers, 2, 1));
    ck_assert_msg(strstr(error.message, "a reference to no object before it"), "%s", error.message);
}

/* From an object within them, too. */
CASE(objects_may_refer_to_themselves)
{
    static struct nt_step steps[] = {POINTER(NONE, 6), OF_CLASS(0, 0, 6),  HEADER(5),
                                     POINTER(NONE, 5), OF_ANY_CLASS(1, 5), NUMBERS(BIG_INT16, 2, 1)};
    static struct nt_output outputs[] = {ENDS, ENDS, OF(INT16)};
    static struct nt_text name = {"Dot", 3};
    struct nt_interpretation dot = INTERPRETATION(steps, outputs);
    static const uint64_t ends[] = {1};
    static const int16_t numbers[] = {5};
    const struct expected expected[] = {EXPECT(ends), EXPECT(ends), EXPECT(numbers)};
    dot.class_names = &name;
    dot.class_name_count = 1;
    put(&content.values,
        "\x40\0\0\x14\xFF\xFF\xFF\xFF"
        "Dot",
        12);
    put_header(&content.values, 4, 1);
    put_reference(0);
    put_number(&content.values, 5, 2);
    end_entry(&content);
    assert_decodes(&dot, expected);
}

/* Each reference stands for a large object: the work is bounded by the bytes of the basket. */
CASE(references_to_one_object_are_limited)
{
    enum { BYTES = 1000, MANY = 200, FEW = 5 };
    static struct nt_step steps[] = {LIST(0, 4), POINTER(NONE, 4), OF_CLASS(0, 1, 4),
                                     NUMBERS(UINT8, 2, BYTES)};
    static struct nt_output outputs[] = {ENDS, ENDS, OF(UINT8)};
    static const uint8_t zeros[BYTES];
    static struct nt_text name = {"Dot", 3};
    struct nt_interpretation lists = INTERPRETATION(steps, outputs);
    struct nt_output_count counts[COUNT_OF(outputs)];
    lists.class_names = &name;
    lists.class_name_count = 1;
    for (unsigned references = FEW; references <= MANY; references += MANY - FEW) {
        clear();
        put_number(&content.values, 1 + references, 4);
        put_number(&content.values, UINT64_C(0x40000000) | (4 + 4 + BYTES), 4);
        put_number(&content.values, 0xFFFFFFFF, 4);
        put(&content.values, "Dot", 4);
        put(&content.values, zeros, BYTES);
        for (unsigned i = 0; i < references; i++)
            put_reference(4);
        end_entry(&content);
        make_basket(&made, &content, &(struct storage){.flag = 0});
        if (references == FEW) {
            assert_ok(count_all(&lists, counts));
            ck_assert_uint_eq(counts[2].elements, (1 + FEW) * BYTES);
        } else {
            assert_status(NT_CORRUPT, count_all(&lists, counts));
            ck_assert_msg(strstr(error.message, "more items than the bytes can hold"), "%s", error.message);
        }
    }
}

/* A list of pointers to objects of the classes Dot, which have a number, and Bar, which have another one. */
static struct nt_interpretation objects(bool is_list, bool is_sample)
{
    static struct nt_step steps[] = {HEADER(7),           OBJECTS(0, 0, 7),         POINTER(NONE, 7),
                                     OF_CLASS(0, 1, 5),   NUMBERS(BIG_INT16, 2, 1), OF_CLASS(1, 3, 7),
                                     NUMBERS(UINT8, 4, 1)};
    static struct nt_step sample[] = {HEADER(3), OBJECTS(0, 0, 3), POINTER(1, 3)};
    static struct nt_output outputs[] = {ENDS, ENDS, OF(INT16), ENDS, OF(UINT8)};
    static struct nt_output sampled[] = {ENDS, ENDS, OF(BYTE)};
    static struct nt_text names[] = {{"Dot", 3}, {"Bar", 3}};
    const struct nt_interpretation names_only = INTERPRETATION(sample, sampled);
    struct nt_interpretation objects = INTERPRETATION(steps, outputs);
    objects.class_names = names;
    objects.class_name_count = COUNT_OF(names);
    steps[1].count = sample[1].count = is_list;
    return is_sample ? names_only : objects;
}

/* A Dot, nothing, and a Bar; if `is_list`, each with an option. */
static void put_objects(uint16_t version, bool is_list)
{
    put_header(&content.values, (is_list ? 4u : 8u) + 14 + 4 + 13 + (is_list ? 4 : 0), version);
    put_number(&content.values, 3, 4);
    if (!is_list)
        put_number(&content.values, 0, 4); /* the index of the first */
    put_dot("Dot", 5);
    put(&content.values, "\1o", is_list ? 2 : 0);
    put_number(&content.values, 0, 4);
    put(&content.values, "", is_list);
    put(&content.values,
        "\x40\0\0\x09\xFF\xFF\xFF\xFF"
        "Bar\0\6",
        13);
    put(&content.values, "", is_list);
    end_entry(&content);
}

CASE(lists_hold_objects_of_several_classes)
{
    static const uint64_t ends[] = {3, 6}, dots[] = {1, 1, 1, 2, 2, 2}, bars[] = {0, 0, 1, 1, 1, 2};
    static const int16_t numbers[] = {5, 5};
    const struct expected expected[] = {
        EXPECT(ends), EXPECT(dots), EXPECT(numbers), EXPECT(bars), {"\6\6", 2}};
    static const uint64_t name_ends[] = {3, 3, 6, 9, 9, 12};
    const struct expected names[] = {EXPECT(ends), EXPECT(name_ends), {"DotBarDotBar", 12}};
    for (unsigned is_list = 0; is_list < 2; is_list++) {
        const struct nt_interpretation list = objects(is_list, false), sample = objects(is_list, true);
        clear();
        put_objects(is_list ? 4 : 3, is_list);
        put_objects(is_list ? 5 : 3, is_list);
        assert_decodes(&sample, names);
        assert_decodes(&list, expected);
        damage(&list, expected);
    }
}

/* They count as empty, so that other branches' and members' elements can be read. */
CASE(lists_of_other_versions_are_errors_of_their_own_outputs)
{
    struct nt_output_count counts[5];
    for (unsigned is_list = 0; is_list < 2; is_list++) {
        const struct nt_interpretation list = objects(is_list, false);
        clear();
        put_objects(is_list ? 3 : 2, is_list);
        make_basket(&made, &content, &(struct storage){.flag = 0});
        assert_ok(count_all(&list, counts));
        ck_assert_uint_eq(counts[0].items, 0);
        assert_status(NT_UNSUPPORTED, decode(&list, 0, 1));
        ck_assert(strstr(error.message, is_list ? "version 3 of a TList" : "version 2 of a TObjArray"));
    }
}

CASE(maps_hold_pairs_of_objects)
{
    static struct nt_step steps[] = {HEADER(8),         OBJECTS(NT_LIST_OF_PAIRS, 0, 8), POINTER(NONE, 5),
                                     OF_CLASS(0, 1, 5), NUMBERS(BIG_INT16, 2, 1),        POINTER(NONE, 8),
                                     OF_CLASS(0, 3, 8), NUMBERS(BIG_INT16, 4, 1)};
    static struct nt_output outputs[] = {ENDS, ENDS, OF(INT16), ENDS, OF(INT16)};
    static struct nt_text name = {"Dot", 3};
    struct nt_interpretation maps = INTERPRETATION(steps, outputs);
    static const uint64_t ends[] = {2}, keys[] = {1, 2}, values[] = {1, 1};
    static const int16_t key[] = {5, 6}, value[] = {7};
    const struct expected expected[] = {EXPECT(ends), EXPECT(keys), EXPECT(key), EXPECT(values),
                                        EXPECT(value)};
    maps.class_names = &name;
    maps.class_name_count = 1;
    put_header(&content.values, 4 + 3 * 14 + 4, 3);
    put_number(&content.values, 2, 4);
    put_dot("Dot", 5);
    put_dot("Dot", 7);
    put_dot("Dot", 6);
    put_number(&content.values, 0, 4);
    end_entry(&content);
    assert_decodes(&maps, expected);
    damage(&maps, expected);
    steps[1].count = NT_LIST_OF_PAIRS + 1;
    struct nt_decoder decoder;
    void *state;
    assert_status(NT_INVALID, nt_basket_decoder(&maps, 0, &decoder, &state, &error));
    steps[1].count = NT_LIST_OF_PAIRS;
}

CASE(only_pointers_have_cases)
{
    static struct nt_step outside[] = {OF_CLASS(0, 0, 1)};
    static struct nt_step inside[] = {POINTER(NONE, 2), NUMBERS(UINT8, 1, 1)};
    static struct nt_step empty[] = {OBJECTS(0, 0, 1)};
    static struct nt_output outputs[] = {ENDS, OF(UINT8)};
    static struct nt_text name = {"Dot", 3};
    struct nt_interpretation steps[] = {INTERPRETATION(outside, outputs), INTERPRETATION(inside, outputs),
                                        INTERPRETATION(empty, outputs)};
    for (unsigned i = 0; i < COUNT_OF(steps); i++) {
        struct nt_decoder decoder;
        void *state;
        steps[i].class_names = &name;
        steps[i].class_name_count = 1;
        assert_status(NT_INVALID, nt_basket_decoder(&steps[i], 0, &decoder, &state, &error));
    }
}

CASE(the_object_of_a_pointer_has_a_byte_count)
{
    const struct nt_interpretation pointers = dots();
    put_dot("Dot", 5);
    put_number(&content.values, 0x80000000 + AT_VALUES + 2, 4);
    put_number(&content.values, 5, 2);
    end_entry(&content);
    assert_refused(&pointers, NT_CORRUPT, "has no byte count");
}

/* ---- TClonesArrays ---- */

/* After a TClonesArray's bits: objects of class Dot, which have two numbers. */
static struct nt_interpretation clones(void)
{
    static struct nt_step steps[] = {HEADER(8),
                                     COUNTING(BIG_UINT32, NONE, 1),
                                     CLONES(1, 0, 6, 8),
                                     HEADER(6),
                                     NUMBERS(BIG_INT16, 1, 1),
                                     NUMBERS(UINT8, 2, 1),
                                     NUMBERS(BIG_INT16, 1, 1),
                                     NUMBERS(UINT8, 2, 1),
                                     NUMBERS(UINT8, 3, 1)};
    static struct nt_output outputs[] = {ENDS, OF(INT16), OF(UINT8), OF(UINT8)};
    static struct nt_text name = {"Dot;1", 5};
    struct nt_interpretation clones = INTERPRETATION(steps, outputs);
    clones.class_names = &name;
    clones.class_name_count = 1;
    return clones;
}

/* One TClonesArray as an entry: its version, its bits, the class, the number of objects, then `bytes`. */
static void put_clones(uint16_t version, uint32_t bits, const char *class_name, uint32_t objects,
                       const char *bytes, size_t count)
{
    put_header(&content.values, 4 + 1 + strlen(class_name) + 4 + 4 + count, version);
    put_number(&content.values, bits, 4);
    put_string(&content.values, class_name, strlen(class_name));
    put_number(&content.values, objects, 4);
    put_number(&content.values, 0, 4);
    put(&content.values, bytes, count);
    put_number(&content.values, 9, 1); /* what follows */
    end_entry(&content);
}

static const char objectwise[] = "\1\x40\0\0\5\0\1\0\5A\1\x40\0\0\5\0\1\0\6B", memberwise[] = "\0\5\0\6AB";
enum { OBJECTWISE_BYTES = sizeof(objectwise) - 1, MEMBERWISE_BYTES = sizeof(memberwise) - 1 };

/* As the bit of their version says. */
CASE(clones_arrays_are_stored_by_objects_or_by_members)
{
    const struct nt_interpretation arrays = clones();
    static const uint64_t ends[] = {2, 2, 4, 6, 8};
    static const int16_t numbers[] = {5, 6, 5, 6, 5, 6, 5, 6};
    const struct expected expected[] = {
        EXPECT(ends), EXPECT(numbers), {"ABABABAB", 8}, {"\x09\x09\x09\x09\x09", 5}};
    put_clones(4, 1 << 14, "Dot;1", 2, objectwise, OBJECTWISE_BYTES);
    put_clones(4, 0, "Dot;1", 0, "", 0);
    put_clones(4, 1 << 12, "Dot;1", 2, memberwise, MEMBERWISE_BYTES);
    put_clones(3, 1 << 14, "Dot;1", 2, memberwise, MEMBERWISE_BYTES);
    put_clones(3, 1 << 12, "Dot;1", 2, objectwise, OBJECTWISE_BYTES);
    assert_decodes(&arrays, expected);
}

CASE(clones_of_another_class_are_errors_of_their_own_outputs)
{
    static const struct {
        const char *class_name, *bytes, *found;
        size_t count;
        unsigned objects;
    } rows[] = {
        {"Dot;2", objectwise, "objects of class Dot;1, found Dot;2", OBJECTWISE_BYTES, 2},
        {"Dot", objectwise, "objects of class Dot;1, found Dot", OBJECTWISE_BYTES, 2},
        {"Dot;1", "\0\0", "objects of class Dot;1, found an empty slot", 2, 2},
    };
    const struct nt_interpretation arrays = clones();
    struct nt_output_count counts[4];
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        clear();
        put_clones(4, 0, rows[i].class_name, rows[i].objects, rows[i].bytes, rows[i].count);
        make_basket(&made, &content, &(struct storage){.flag = 0});
        assert_ok(count_all(&arrays, counts));
        ck_assert_uint_eq(counts[1].elements, 0);
        assert_status(NT_UNSUPPORTED, decode(&arrays, 1, 1));
        ck_assert_msg(strstr(error.message, rows[i].found), "%s", error.message);
        assert_ok(decode(&arrays, 3, 1));
    }
}

CASE(clones_of_unknown_classes_are_counted)
{
    static struct nt_step steps[] = {HEADER(3), COUNTING(BIG_UINT32, NONE, 1), CLONES(1, 0, 0, 3),
                                     NUMBERS(UINT8, 1, 1)};
    static struct nt_output outputs[] = {ENDS, OF(UINT8)};
    const struct nt_interpretation arrays = INTERPRETATION(steps, outputs);
    static const uint64_t ends[] = {2, 2};
    const struct expected expected[] = {EXPECT(ends), {"\x09\x09", 2}};
    steps[2].count = NT_NONE;
    put_clones(4, 0, "Alien;7", 2, "\1?\1?", 4);
    put_clones(4, 0, "", 0, "", 0);
    assert_decodes(&arrays, expected);
}

/* ---- Counters ---- */

/* The numbers of items of lists that other branches store. */
CASE(counters)
{
    static const struct {
        enum nt_encoding_kind encoding;
        unsigned width;
    } cases[] = {{NT_ENCODING_INT8, 1},       {NT_ENCODING_UINT8, 1},     {NT_ENCODING_BIG_INT16, 2},
                 {NT_ENCODING_BIG_UINT16, 2}, {NT_ENCODING_BIG_INT32, 4}, {NT_ENCODING_BIG_UINT32, 4},
                 {NT_ENCODING_BIG_INT64, 8}};
    static const uint64_t ends[] = {3, 3, 103, 104};
    const struct expected expected[] = {EXPECT(ends)};
    struct nt_step steps[] = {COUNTER(INT8, 0)};
    struct nt_output outputs[] = {ENDS};
    const struct nt_interpretation counters = INTERPRETATION(steps, outputs);
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        steps[0].encoding = (uint8_t)cases[i].encoding;
        clear();
        for (unsigned entry = 0; entry < 4; entry++) {
            put_number(&content.values, (const uint8_t[]){3, 0, 100, 1}[entry], cases[i].width);
            end_entry(&content);
        }
        assert_decodes(&counters, expected);
        assert_basket(&counters, expected,
                      &(struct storage){.has_no_offsets = true, .entry_bytes = cases[i].width});
        if (i % 2)
            continue;
        clear();
        put_number(&content.values, UINT64_MAX, cases[i].width);
        end_entry(&content);
        assert_refused(&counters, NT_CORRUPT, "a number of items: expected 0 or more, found -1");
    }
}

/* A base class of items: each member of all items, then the next. A TObject has another size if its bits say
 * that it is referenced. */
CASE(items_that_are_stored_by_members)
{
    static struct nt_step steps[] = {BY_MEMBERS(0, 7),           REPEAT(1, 6),   SKIP(1),
                                     COUNTING(BIG_UINT32, 1, 1), WHEN(1, 16, 6), SKIP(2),
                                     NUMBERS(BIG_INT16, 2, 2)};
    static struct nt_output outputs[] = {ENDS, OF(UINT32), OF(INT16)};
    const struct nt_interpretation items = INTERPRETATION(steps, outputs);
    static const uint64_t ends[] = {2, 2, 3};
    static const uint32_t bits[] = {1, 2, 3};
    static const int16_t numbers[] = {4, 5, 6, 7, 8, 9};
    const struct expected expected[] = {EXPECT(ends), EXPECT(bits), EXPECT(numbers)};
    put(&content.values, "\xff\0\0\0\1\xff\0\0\0\2\0\4\0\5\0\6\0\7", 18);
    end_entry(&content);
    end_entry(&content);
    put(&content.values, "\xff\0\0\0\3\0\x08\0\x09", 9);
    end_entry(&content);
    assert_decodes(&items, expected);
    put(&content.values, "\xff\0\0\0\x10\0\0\0\1", 9);
    end_entry(&content);
    make_basket(&made, &content, &(struct storage){.flag = 0});
    assert_status(NT_CORRUPT, decode(&items, 2, 8));
    assert_status(NT_CORRUPT, decode(&items, 1, 4));
}

/* ---- Where entries begin ---- */

/* Without offsets and a leading count, an entry alone has all items of the basket. */
CASE(counted_leaves_without_offsets)
{
    static struct nt_step steps[] = {REST(0, 2), NUMBERS(BIG_INT16, 1, 1)};
    static struct nt_output outputs[] = {ENDS, OF(INT16)};
    struct nt_interpretation lists = by_bytes(steps, 2, outputs, 0);
    static const uint64_t ends[] = {3};
    static const int16_t numbers[] = {1, 2, 3};
    const struct expected expected[] = {EXPECT(ends), EXPECT(numbers)};
    lists.item_bytes = 2;
    put(&content.values, "\0\1\0\2\0\3", 6);
    end_entry(&content);
    assert_basket(&lists, expected, &(struct storage){.has_no_offsets = true});
    end_entry(&content);
    make_basket(&made, &content, &(struct storage){.has_no_offsets = true, .flag = 80, .io_bits = 1});
    assert_output(&lists, 1, &expected[1]); /* items are side by side */
    assert_status(NT_CORRUPT, decode(&lists, 0, 2));
    ck_assert(strstr(error.message, "the basket does not say where entries begin"));
    make_basket(&made, &content, &(struct storage){.has_no_offsets = true, .entry_bytes = 3});
    assert_status(NT_CORRUPT, decode(&lists, 0, 2)); /* entries of 3 bytes */
    ck_assert(strstr(error.message, "3 bytes are left, which is not a multiple of the item size, 2"));
}

/* After and before valid entries. */
CASE(counted_leaves_that_share_an_item)
{
    static struct nt_step steps[] = {REST(0, 2), NUMBERS(BIG_INT16, 1, 1)};
    static struct nt_output outputs[] = {ENDS, OF(INT16)};
    const struct nt_interpretation lists = by_bytes(steps, 2, outputs, 0);
    for (uint32_t bad = 0; bad < 40; bad += 13) {
        clear();
        for (uint32_t entry = 0; entry < 40; entry++) {
            put(&content.values, "\0\1\0\2\0\3", entry == bad || entry == bad + 1 ? 3 : 2 * (entry % 4));
            end_entry(&content);
        }
        char about[40];
        snprintf(about, sizeof(about), "entry %u of a basket: byte", bad);
        make_basket(&made, &content, &(struct storage){.flag = 0});
        ck_assert_int_eq(decode(&lists, 0, 40), NT_CORRUPT);
        ck_assert_msg(strstr(error.message, about), "%s", error.message);
        assert_ok(decode(&lists, 0, bad));
    }
}

CASE(lists_of_equal_length_without_offsets)
{
    static struct nt_step steps[] = {SKIP(1), REST(0, 3), STRING(1)};
    static struct nt_output outputs[] = {ENDS, ENDS, OF(BYTE)};
    const struct nt_interpretation lists = INTERPRETATION(steps, outputs);
    static const uint64_t ends[] = {2, 3}, string_ends[] = {1, 1, 3};
    const struct expected expected[] = {EXPECT(ends), EXPECT(string_ends), {"abc", 3}};
    put(&content.values, "\1\1a\0", 4);
    end_entry(&content);
    put(&content.values, "\1\2bc", 4);
    end_entry(&content);
    assert_decodes(&lists, expected);
    assert_basket(&lists, expected, &(struct storage){.has_no_offsets = true, .entry_bytes = 4});
}

CASE(bytes_that_no_step_reads)
{
    static struct nt_step steps[] = {HEADER(3), LIST(0, 3), NUMBERS(INT8, 1, 1), STRING(2)};
    static struct nt_output outputs[] = {ENDS, OF(INT8), ENDS, OF(BYTE)};
    const struct nt_interpretation lists = INTERPRETATION(steps, outputs);
    put_header(&content.values, 5, 9);
    put(&content.values, "\0\0\0\1\1\2abc", 9);
    end_entry(&content);
    assert_refused(&lists, NT_CORRUPT, "entry 0 of a basket: 1 bytes follow the content");
}

/* Missing bytes, in each step. */
CASE(entries_that_end_early)
{
    static struct nt_step steps[] = {HEADER(8),
                                     NUMBERS(BIG_INT32, 0, 2),
                                     LIST(1, 6),
                                     HEADER(6),
                                     CLASS(-1),
                                     STRING(2),
                                     COUNTING(BIG_INT16, NONE, 1),
                                     COUNTED(1, 4, 9),
                                     NUMBERS(BIG_INT64, 5, 1)};
    static struct nt_output outputs[] = {OF(INT32), ENDS, ENDS, OF(BYTE), ENDS, OF(INT64)};
    struct nt_interpretation objects = INTERPRETATION(steps, outputs);
    static const char entry[] = "\x40\0\0\x28\0\1" /* the whole */
                                "\0\0\0\1\0\0\0\2" /* numbers */
                                "\0\0\0\1"         /* one item */
                                "\x40\0\0\x0B\0\x09\0\7\6"
                                "abcdef"                    /* with its class and a string */
                                "\0\1\1\0\0\0\0\0\0\0\x09"; /* an array of one */
    const size_t all = sizeof(entry) - 1;
    steps[0].end = COUNT_OF(steps);
    for (size_t bytes = 6; bytes <= all; bytes++) {
        clear();
        put(&content.values, entry, bytes);
        if (bytes < all)
            set_number(&content.values, 0, 0x40000000 | (bytes - 4), 4);
        end_entry(&content);
        bool is_version = bytes == 20 || bytes == 21; /* 0x4000, of the byte count that is cut off */
        if (bytes < all)
            assert_refused(&objects, is_version ? NT_UNSUPPORTED : NT_CORRUPT, "entry 0 of a basket: byte ");
    }
    static const int32_t numbers[] = {1, 2};
    static const uint64_t one[] = {1}, six[] = {6};
    static const int64_t nine[] = {9};
    const struct expected expected[] = {EXPECT(numbers), EXPECT(one), EXPECT(six),
                                        {"abcdef", 6},   EXPECT(one), EXPECT(nine)};
    assert_decodes(&objects, expected);
}

CASE(baskets_without_entries)
{
    static struct nt_step steps[] = {HEADER(3), LIST(0, 3), NUMBERS(BIG_REAL32, 1, 1)};
    static struct nt_step counted[] = {REST(0, 2), NUMBERS(BIG_REAL32, 1, 1)};
    static struct nt_output outputs[] = {ENDS, OF(REAL32)};
    const struct nt_interpretation vectors = by_bytes(steps, 3, outputs, 10);
    const struct nt_interpretation leaves = by_bytes(counted, 2, outputs, 0);
    const struct expected nothing[] = {NOTHING, NOTHING};
    assert_decodes(&vectors, nothing);
    assert_decodes(&leaves, nothing);
    assert_fixed(numbers_of(NT_ENCODING_BIG_INT64, 3), nothing, 24);
}

/* ---- Work without end ---- */

/* A list of 2^31 - 1 items of 0 bytes. */
CASE(items_without_bytes_end)
{
    static struct nt_step steps[] = {LIST(0, 3), REPEAT(0, 3), STRING(1)};
    static struct nt_step fixed[] = {LIST(0, 2), NUMBERS(BIG_INT32, 1, 0)};
    static struct nt_output outputs[] = {ENDS, ENDS, OF(BYTE)};
    static struct nt_output numbers[] = {ENDS, OF(INT32)};
    const struct nt_interpretation strings = INTERPRETATION(steps, outputs);
    const struct nt_interpretation nothing = INTERPRETATION(fixed, numbers);
    static const uint64_t ends[] = {INT32_MAX};
    const struct expected expected[] = {EXPECT(ends), NOTHING};
    put(&content.values, "\x7F\xFF\xFF\xFF", 4);
    end_entry(&content);
    assert_refused(&strings, NT_CORRUPT, "more items than the bytes can hold");
    assert_basket(&nothing, expected, &(struct storage){.flag = 0});
}

CASE(repetitions_without_bytes_end)
{
    static struct nt_step steps[] = {REPEAT(NONE, 5), REPEAT(NONE, 5), REPEAT(NONE, 5), REPEAT(0, 5),
                                     STRING(0)};
    static struct nt_output outputs[] = {ENDS, OF(BYTE)};
    const struct nt_interpretation strings = INTERPRETATION(steps, outputs);
    put(&content.values, "x", 1);
    end_entry(&content);
    assert_refused(&strings, NT_CORRUPT, "more items than the bytes can hold");
}

CASE(items_up_to_the_end_take_bytes)
{
    static struct nt_step steps[] = {REST(0, 3), REPEAT(0, 3), STRING(1)};
    static struct nt_output outputs[] = {ENDS, ENDS, OF(BYTE)};
    const struct nt_interpretation strings = INTERPRETATION(steps, outputs);
    put(&content.values, "x", 1);
    end_entry(&content);
    assert_refused(&strings, NT_CORRUPT, "items without bytes");
}

CASE(more_items_than_bytes)
{
    static struct nt_step steps[] = {LIST(0, 2), NUMBERS(BIG_INT64, 1, 3)};
    static struct nt_output outputs[] = {ENDS, OF(INT64)};
    const struct nt_interpretation lists = INTERPRETATION(steps, outputs);
    put(&content.values, "\x7F\xFF\xFF\xFF", 4);
    end_entry(&content);
    assert_refused(&lists, NT_CORRUPT, "items of a list: expected 51539607528 bytes, found 0");
    content.values.bytes[0] = 0x80;
    assert_refused(&lists, NT_CORRUPT, "a number of items: expected 0 or more, found -2130706433");
}

/* ---- Bytes as they are ---- */

CASE(uncompressed_bytes)
{
    static const struct storage storages[] = {
        {.flag = 0}, {.is_compressed = true}, {.io_bits = 1, .has_sizes = true, .is_compressed = true}};
    put(&content.values, "abc", 3);
    end_entry(&content);
    end_entry(&content);
    for (unsigned i = 0; i < 3; i++) {
        uint8_t raw[3 + 4 + 12];
        struct nt_basket basket;
        struct decoding decoding;
        struct storage plain = storages[i];
        plain.is_compressed = false;
        make_basket(&made, &content, &plain);
        memcpy(raw, made.bytes + made.count - sizeof(raw), sizeof(raw));
        make_basket(&made, &content, &storages[i]);
        assert_ok(nt_basket_parse(made.bytes, made.count, &basket, &error));
        ck_assert_uint_eq(basket.object_bytes, sizeof(raw));
        for (size_t bytes = 0; bytes <= sizeof(raw); bytes++) {
            begin(&decoding, NULL, NT_OUTPUT_RAW, bytes);
            ck_assert_int_eq(decoding.decoder.element, NT_ELEMENT_BYTE);
            const struct nt_packed packed = packed_of(&decoding, &made, bytes, 0);
            assert_ok(decoding.decoder.ops->decode(&packed, decoding.output, &error));
            ck_assert_mem_eq(decoding.output, raw, bytes);
            end(&decoding);
        }
        assert_status(NT_CORRUPT, decode(NULL, NT_OUTPUT_RAW, sizeof(raw) + 1));
    }
}

CASE(uncompressed_bytes_in_the_object)
{
    struct decoding decoding;
    put(&content.values, "abc", 3);
    end_entry(&content);
    make_basket(&made, &content, &(struct storage){.is_embedded = true, .flag = 11});
    begin(&decoding, NULL, NT_OUTPUT_RAW, 11);
    const struct nt_packed packed = packed_of(&decoding, &made, 11, 0);
    assert_ok(decoding.decoder.ops->decode(&packed, decoding.output, &error));
    ck_assert_mem_eq(decoding.output, "abc\0\0\0\1\0\0\0\x41", 11);
    end(&decoding);
}

/* ---- Counting ---- */

CASE(counts_from_the_header)
{
    static struct nt_step steps[] = {HEADER(4), LIST(0, 4), REPEAT(2, 4), NUMBERS(BIG_REAL32, 1, 3)};
    static struct nt_output outputs[] = {ENDS, OF(REAL32)};
    struct nt_interpretation lists = by_bytes(steps, 4, outputs, 10);
    struct nt_output_count counts[2];
    lists.item_bytes = 24;
    for (unsigned i = 0; i < 3; i++) {
        put_header(&content.values, 4 + 24 * (size_t)i, 9);
        put_number(&content.values, i, 4);
        for (unsigned k = 0; k < 6 * i; k++)
            put_real(&content.values, 1);
        end_entry(&content);
    }
    make_basket(&made, &content, &(struct storage){.is_compressed = true});
    assert_ok(nt_basket_count(&lists, made.bytes, AT_VALUES, 3, NULL, 0, context, counts, &error));
    ck_assert_uint_eq(counts[0].elements, 3);
    ck_assert_uint_eq(counts[1].elements, 18);
    assert_ok(nt_basket_count(&lists, made.bytes, made.count, 2, NULL, LIMIT, context, counts, &error));
    ck_assert_uint_eq(counts[0].elements, 2);
    ck_assert_uint_eq(counts[1].elements, 6);
    assert_status(NT_TRUNCATED,
                  nt_basket_count(&lists, made.bytes, AT_VALUES, 2, NULL, LIMIT, context, counts, &error));
    assert_status(NT_LIMIT,
                  nt_basket_count(&lists, made.bytes, made.count, 2, NULL, 10, context, counts, &error));
    assert_status(NT_CORRUPT,
                  nt_basket_count(&lists, made.bytes, made.count, 4, NULL, LIMIT, context, counts, &error));
    assert_ok(nt_basket_count(&lists, made.bytes, made.count, 0, NULL, LIMIT, context, counts, &error));
    ck_assert(counts[0].elements == 0 && counts[1].elements == 0);
    lists.header_bytes = 40; /* more than there are */
    assert_status(NT_CORRUPT, count_all(&lists, counts));
    lists.header_bytes = 9;
    assert_status(NT_CORRUPT, count_all(&lists, counts));
    assert_ok(nt_basket_count(numbers_of(NT_ENCODING_BIG_INT16, 5), made.bytes, AT_VALUES, 2, NULL, 0,
                              context, counts, &error));
    ck_assert_uint_eq(counts[0].elements, 10);
}

/* Entries after those of the tree may be anything. */
CASE(entries_that_are_not_wanted)
{
    static struct nt_step steps[] = {HEADER(3), LIST(0, 3), STRING(1)};
    static struct nt_output outputs[] = {ENDS, ENDS, OF(BYTE)};
    const struct nt_interpretation lists = INTERPRETATION(steps, outputs);
    static const uint64_t ends[] = {1}, string_ends[] = {3};
    const struct expected expected[] = {EXPECT(ends), EXPECT(string_ends), {"abc", 3}};
    struct nt_output_count counts[3];
    put_header(&content.values, 8, 9);
    put(&content.values, "\0\0\0\1\3abc", 8);
    end_entry(&content);
    put(&content.values, "not a list", 10);
    end_entry(&content);
    make_basket(&made, &content, &(struct storage){.flag = 0});
    assert_ok(nt_basket_count(&lists, made.bytes, made.count, 1, NULL, LIMIT, context, counts, &error));
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(counts[i].elements, expected[i].elements);
        assert_output(&lists, i, &expected[i]);
    }
    assert_status(NT_CORRUPT, count_all(&lists, counts));
}

/* ---- Decoders ---- */

CASE(equal_decoders_have_equal_states)
{
    struct nt_step steps[] = {HEADER(4), LIST(0, 4), NUMBERS(BIG_INT32, 1, 1), NUMBERS(BIG_REAL32, 2, 1)};
    struct nt_step again[COUNT_OF(steps)];
    struct nt_output outputs[] = {ENDS, OF(INT32), OF(REAL32)};
    const struct nt_interpretation one = INTERPRETATION(steps, outputs);
    const struct nt_interpretation two = INTERPRETATION(again, outputs);
    memcpy(again, steps, sizeof(again));
    for (uint32_t i = 0; i < 3; i++) {
        struct decoding a, b, other;
        begin(&a, &one, i, 0);
        begin(&b, &two, i, 0);
        begin(&other, &one, (i + 1) % 3, 0);
        ck_assert_uint_eq(a.decoder.state_bytes, b.decoder.state_bytes);
        ck_assert_mem_eq(a.state, b.state, a.decoder.state_bytes);
        ck_assert(a.decoder.state_bytes != other.decoder.state_bytes ||
                  memcmp(a.state, other.state, a.decoder.state_bytes) != 0);
        ck_assert(nt_decoders_are_shared(&a.decoder, &other.decoder));
        ck_assert_uint_eq(a.decoder.bits, 0);
        ck_assert_int_eq(a.decoder.element, i == 0   ? NT_ELEMENT_UINT64
                                            : i == 1 ? NT_ELEMENT_INT32
                                                     : NT_ELEMENT_REAL32);
        end(&a);
        end(&b);
        end(&other);
    }
}

CASE(steps_that_contradict_themselves_are_refused)
{
    static const struct nt_step right[] = {HEADER_OF_TWO(3, 5), LIST(0, 3), NUMBERS(BIG_INT32, 1, 1),
                                           MEMBERS(0, 5), NUMBERS(BIG_INT32, 1, 1)};
    struct nt_step steps[5];
    struct nt_output outputs[] = {ENDS, OF(INT32)};
    const struct nt_interpretation lists = INTERPRETATION(steps, outputs);
    const struct {
        uint32_t at;
        struct nt_step step;
    } wrong[] = {
        {0, HEADER_OF_TWO(3, 6)},
        {0, HEADER_OF_TWO(3, 0)},
        {0, HEADER_OF_TWO(6, 5)},
        {1, LIST(0, 4)},
        {1, LIST(1, 3)},
        {1, LIST(2, 3)},
        {2, NUMBERS(BIG_INT32, 0, 1)},
        {2, NUMBERS(BIG_INT16, 1, 1)},
        {2, NUMBERS(OPAQUE, 1, 1)},
        {2, NUMBERS(BIT, 1, 1)},
        {2, STRING(0)},
        {2, {.kind = 99, .output = NONE}},
        {2, {.kind = NT_STEP_VALUES, .encoding = NT_ENCODING_COUNT, .output = NONE, .count = 1}},
        {2,
         {.kind = NT_STEP_VALUES, .encoding = NT_ENCODING_BIG_INT32, .output = 1, .count = 2, .counter = 1}},
        {3, COUNTED(0, 0, 5)},
    };
    struct nt_decoder decoder;
    void *state = NULL;
    memcpy(steps, right, sizeof(steps));
    assert_ok(nt_basket_decoder(&lists, 0, &decoder, &state, &error));
    free(state);
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct nt_output_count counts[2];
        memcpy(steps, right, sizeof(steps));
        steps[wrong[i].at] = wrong[i].step;
        assert_status(NT_INVALID, nt_basket_decoder(&lists, 0, &decoder, &state, &error));
        make_basket(&made, &content, &(struct storage){.flag = 0});
        assert_status(NT_INVALID, count_all(&lists, counts));
    }
}

CASE(depth_is_bounded)
{
    struct nt_step steps[40];
    struct nt_output outputs[] = {ENDS};
    struct nt_interpretation lists = INTERPRETATION(steps, outputs);
    struct nt_decoder decoder;
    void *state = NULL;
    for (uint32_t depth = 1; depth <= 40; depth++) {
        for (uint32_t i = 0; i < depth; i++)
            steps[i] = (struct nt_step)LIST(i == 0 ? 0 : NONE, depth);
        lists.step_count = depth;
        assert_status(depth < 32 ? NT_OK : NT_LIMIT, nt_basket_decoder(&lists, 0, &decoder, &state, &error));
        if (depth < 32)
            free(state);
    }
}
