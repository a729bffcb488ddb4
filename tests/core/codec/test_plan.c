/* SPDX-License-Identifier: MIT
 *
 * Decoding in several steps: what may be a plan, what it makes, and that no plan and no bytes lead out of the
 * memory that there is.
 */
#include "core/codec/plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/codec/codec.h"
#include "compressors.h"
#include "support.h"
#include "formats/lance/decode/decode.h"

static struct nt_error error;
static struct nt_codec_context *context;

static void setup(void)
{
    context = nt_codec_context_new();
    ck_assert_ptr_nonnull(context);
}

static void teardown(void)
{
    nt_codec_context_free(context);
}

static struct nt_decoder decoder_of(enum nt_encoding_kind encoding)
{
    struct nt_decoder decoder;
    assert_ok(nt_decoder_init(&decoder, encoding, 0, 0, 0, &error));
    return decoder;
}

/* Elements of the last step's kind, by these steps. */
static struct nt_decoder planned(struct nt_plan *plan, const struct nt_step *steps, uint32_t count,
                                 uint32_t inputs)
{
    *plan = (struct nt_plan){.steps = steps, .step_count = count, .input_count = inputs};
    return (struct nt_decoder){.encoding = NT_ENCODING_PLAN,
                               .element = steps[count - 1].decoder.element,
                               .element_bytes = steps[count - 1].decoder.element_bytes,
                               .plan = plan};
}

static enum nt_status run(const struct nt_decoder *decoder, const void *data, size_t bytes, size_t elements,
                          const struct nt_value *inputs, uint64_t limit, void *output)
{
    const struct nt_packed packed = {.decoder = decoder,
                                     .data = data,
                                     .bytes = bytes,
                                     .elements = elements,
                                     .inputs = inputs,
                                     .context = context,
                                     .limit = limit};
    return nt_plan_run(&packed, output, &error);
}

/* Blocks of ROOT's compression that hold a dictionary's numbers in 16 bits, split; the items are an input. */
static void three_steps(struct nt_step steps[3])
{
    steps[0] = (struct nt_step){.kind = NT_STEP_DECOMPRESS,
                                .compression = NT_COMPRESSION_ROOT_BLOCKS,
                                .operands = {0},
                                .decoder = decoder_of(NT_ENCODING_SPLIT_UINT16)};
    steps[1] = (struct nt_step){
        .kind = NT_STEP_DECODE, .operands = {2}, .decoder = decoder_of(NT_ENCODING_SPLIT_UINT16)};
    steps[2] = (struct nt_step){
        .kind = NT_STEP_DICTIONARY, .operands = {3, 1}, .decoder = decoder_of(NT_ENCODING_REAL64)};
}

enum { ELEMENTS = 1000, ITEMS = 300 };

static double items[ITEMS];
static uint8_t packed[ELEMENTS * 2], stored[ELEMENTS * 4];
static uint16_t numbers[ELEMENTS];

/* Returns how many bytes are stored. */
static size_t store_numbers(void)
{
    for (size_t i = 0; i < ITEMS; i++)
        items[i] = (double)i / 7;
    for (size_t i = 0; i < ELEMENTS; i++) {
        numbers[i] = (uint16_t)(i * 37 % ITEMS);
        packed[i] = (uint8_t)numbers[i];
        packed[ELEMENTS + i] = (uint8_t)(numbers[i] >> 8);
    }
    return write_block(compressor_named("zstd"), packed, sizeof(packed), stored, sizeof(stored));
}

static struct nt_value items_value(uint64_t count)
{
    return (struct nt_value){(const uint8_t *)items, count, NT_ELEMENT_REAL64, sizeof(double)};
}

TEST(steps_work_on_what_the_ones_before_them_made, .setup = setup, .teardown = teardown)
{
    struct nt_step steps[3];
    struct nt_plan plan;
    size_t bytes = store_numbers();
    three_steps(steps);
    struct nt_decoder decoder = planned(&plan, steps, 3, 1), item = decoder_of(NT_ENCODING_REAL64);
    const struct nt_decoder *inputs[] = {&item};
    const struct nt_value value = items_value(ITEMS);
    double output[ELEMENTS];
    assert_ok(nt_plan_check(&decoder, inputs, &error));
    assert_ok(run(&decoder, stored, bytes, ELEMENTS, &value, 1 << 20, output));
    for (size_t i = 0; i < ELEMENTS; i++)
        ck_assert_double_eq(output[i], (double)(i * 37 % ITEMS) / 7);
}

TEST(what_the_steps_make_is_bounded_together, .setup = setup, .teardown = teardown)
{
    enum { NEEDED = 2 * sizeof(packed) }; /* decompressed and decoded numbers */
    struct nt_step steps[3];
    struct nt_plan plan;
    size_t bytes = store_numbers();
    three_steps(steps);
    struct nt_decoder decoder = planned(&plan, steps, 3, 1);
    const struct nt_value value = items_value(ITEMS);
    double output[ELEMENTS];
    assert_ok(run(&decoder, stored, bytes, ELEMENTS, &value, NEEDED, output));
    assert_status(NT_LIMIT, run(&decoder, stored, bytes, ELEMENTS, &value, NEEDED - 1, output));
    steps[1].elements = UINT64_MAX;
    assert_status(NT_LIMIT, run(&decoder, stored, bytes, ELEMENTS, &value, UINT64_MAX, output));
}

TEST(numbers_of_no_item_are_refused, .setup = setup, .teardown = teardown)
{
    struct nt_step steps[3];
    struct nt_plan plan;
    size_t bytes = store_numbers();
    three_steps(steps);
    struct nt_decoder decoder = planned(&plan, steps, 3, 1);
    double output[ELEMENTS];
    const struct nt_value value = items_value(ITEMS - 1);
    assert_status(NT_CORRUPT, run(&decoder, stored, bytes, ELEMENTS, &value, 1 << 20, output));
    ck_assert_ptr_nonnull(strstr(error.message, "item 299 of a dictionary that has 299"));
}

TEST(items_of_all_widths_are_told_by_numbers_of_all_widths, .setup = setup, .teardown = teardown)
{
    static const struct {
        enum nt_element element;
        uint32_t bytes;
    } numbered[] = {
        {NT_ELEMENT_UINT8, 1}, {NT_ELEMENT_UINT16, 2}, {NT_ELEMENT_UINT32, 4}, {NT_ELEMENT_UINT64, 8}};
    uint8_t list[20 * 20], found[50 * 20], told[50 * 8];
    for (size_t i = 0; i < sizeof(list); i++)
        list[i] = (uint8_t)(i * 7);
    for (uint32_t width = 1; width <= 20; width++)
        for (size_t k = 0; k < 4; k++) {
            memset(told, 0, sizeof(told));
            for (size_t i = 0; i < 50; i++)
                told[i * numbered[k].bytes] = (uint8_t)(i * 3 % 20);
            const struct nt_value from = {list, 20, NT_ELEMENT_OPAQUE, width},
                                  which = {told, 50, numbered[k].element, numbered[k].bytes};
            assert_ok(nt_dictionary_gather(&which, &from, found, &error));
            for (size_t i = 0; i < 50; i++)
                ck_assert_mem_eq(found + i * width, list + i * 3 % 20 * width, width);
            told[25 * numbered[k].bytes] = 20;
            assert_status(NT_CORRUPT, nt_dictionary_gather(&which, &from, found, &error));
            ck_assert_ptr_nonnull(strstr(error.message, "element 25 is item 20 of a dictionary that has 20"));
        }
}

TEST(plans_that_cannot_be_run_are_refused, .setup = setup, .teardown = teardown)
{
    struct nt_step good[3], steps[3];
    struct nt_plan plan;
    struct nt_decoder item = decoder_of(NT_ENCODING_REAL64), narrow = decoder_of(NT_ENCODING_REAL32), decoder;
    const struct nt_decoder *inputs[] = {&item}, *others[] = {&narrow};
    three_steps(good);
#define REFUSED(change, expected, given)                                                                     \
    memcpy(steps, good, sizeof(good));                                                                       \
    decoder = planned(&plan, steps, 3, 1);                                                                   \
    change;                                                                                                  \
    assert_status(expected, nt_plan_check(&decoder, given, &error))
    REFUSED((void)0, NT_OK, inputs);
    REFUSED((void)0, NT_CORRUPT, others);                           /* items of another kind */
    REFUSED(steps[0].operands[0] = 2, NT_CORRUPT, inputs);          /* what it makes itself */
    REFUSED(steps[1].operands[0] = 4, NT_CORRUPT, inputs);          /* what is made behind it */
    REFUSED(steps[1].operands[0] = UINT32_MAX, NT_CORRUPT, inputs); /* what is never made */
    REFUSED(steps[1].operands[0] = 1, NT_CORRUPT, inputs);          /* reals are no bytes */
    REFUSED(steps[2].operands[0] = 1, NT_CORRUPT, inputs);          /* reals number nothing */
    REFUSED(steps[2].elements = 5, NT_CORRUPT, inputs);             /* not as many as the page has */
    REFUSED(decoder.element_bytes = 4, NT_CORRUPT, inputs);         /* not the page's elements */
    REFUSED(plan.step_count = 1, NT_CORRUPT, inputs);               /* packed bytes at the end */
    REFUSED(plan.step_count = 0, NT_LIMIT, inputs);
    REFUSED(plan.step_count = NT_PLAN_STEPS + 1, NT_LIMIT, inputs);
    REFUSED(plan.input_count = NT_PLAN_INPUTS + 1, NT_LIMIT, inputs);
    REFUSED(steps[0].kind = NT_STEP_COUNT, NT_CORRUPT, inputs);
    REFUSED(steps[0].compression = NT_COMPRESSION_COUNT, NT_CORRUPT, inputs);
    REFUSED(steps[0].decoder.encoding = NT_ENCODING_COUNT, NT_CORRUPT, inputs);
    REFUSED(steps[0].decoder.element = NT_ELEMENT_COUNT, NT_CORRUPT, inputs);
    REFUSED(steps[1].decoder.element_bytes = 1, NT_CORRUPT, inputs); /* room for half of what is made */
    REFUSED(steps[1].decoder.encoding = NT_ENCODING_UNKNOWN, NT_UNSUPPORTED, inputs);
    REFUSED(steps[1].decoder = decoder, NT_UNSUPPORTED, inputs); /* a plan in a step */
#undef REFUSED
}

TEST(what_has_no_plan_is_not_run, .setup = setup, .teardown = teardown)
{
    const struct nt_decoder decoder = decoder_of(NT_ENCODING_UINT8);
    uint8_t output[1];
    assert_status(NT_UNSUPPORTED, run(&decoder, "x", 1, 1, NULL, 100, output));
}

static const struct nt_tree_node flat = {.kind = NT_TREE_FLAT, .bits = 32};
static const struct nt_tree tree = {.layout = NT_TREE_MINI_BLOCK,
                                    .nodes = &flat,
                                    .node_count = 1,
                                    .repetition = NT_NO_NODE,
                                    .definition = NT_NO_NODE,
                                    .buffers = 1,
                                    .layer_count = 1,
                                    .layers = {NT_LAYER_ITEM}};
static const struct nt_tree numbering = {.layout = NT_TREE_MINI_BLOCK,
                                         .nodes = &flat,
                                         .node_count = 1,
                                         .repetition = NT_NO_NODE,
                                         .definition = NT_NO_NODE,
                                         .has_dictionary = true,
                                         .buffers = 1,
                                         .layer_count = 1,
                                         .layers = {NT_LAYER_ITEM}};
static const struct nt_tree whole = {.is_whole = true, .layout = NT_TREE_MINI_BLOCK, .part_count = 1};

/* A step with a tree makes elements out of packed bytes; the inputs are end offsets and bytes, or values. */
static const struct {
    const struct nt_tree *tree;
    enum nt_tree_output output;
    enum nt_element element;
    uint32_t element_bytes;
    enum nt_encoding_kind inputs[2];
    const char *refused; /* NULL: it is run */
} trees[] = {
    {&tree, NT_TREE_VALUES, NT_ELEMENT_UINT32, 4, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, NULL},
    {&tree, NT_TREE_VALUES, NT_ELEMENT_OPAQUE, 3, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, NULL},
    {&tree, NT_TREE_VALID, NT_ELEMENT_BOOL, 1, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, NULL},
    {&numbering, NT_TREE_VALUES, NT_ELEMENT_UINT32, 4, {NT_ENCODING_UINT32, NT_ENCODING_UINT8}, NULL},
    {&numbering, NT_TREE_ENDS, NT_ELEMENT_UINT64, 8, {NT_ENCODING_UINT64, NT_ENCODING_UINT8}, NULL},
    {&numbering, NT_TREE_OFFSETS, NT_ELEMENT_UINT64, 8, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, NULL},
    {NULL, NT_TREE_VALUES, NT_ELEMENT_UINT32, 4, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, "does not make"},
    {&tree,
     (enum nt_tree_output)99,
     NT_ELEMENT_UINT32,
     4,
     {NT_ENCODING_UINT8, NT_ENCODING_UINT8},
     "does not make"},
    {&tree, NT_TREE_VALUES, NT_ELEMENT_UINT32, 8, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, "does not make"},
    {&tree, NT_TREE_VALID, NT_ELEMENT_UINT8, 1, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, "does not make"},
    {&tree, NT_TREE_LEVELS, NT_ELEMENT_OPAQUE, 2, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, "does not make"},
    {&whole, NT_TREE_VALUES, NT_ELEMENT_UINT32, 4, {NT_ENCODING_UINT8, NT_ENCODING_UINT8}, "does not make"},
    {&numbering,
     NT_TREE_VALUES,
     NT_ELEMENT_UINT32,
     4,
     {NT_ENCODING_UINT64, NT_ENCODING_UINT8},
     "items are not"},
    {&numbering,
     NT_TREE_ENDS,
     NT_ELEMENT_UINT64,
     8,
     {NT_ENCODING_UINT32, NT_ENCODING_UINT8},
     "items are not"},
    {&numbering,
     NT_TREE_ENDS,
     NT_ELEMENT_UINT64,
     8,
     {NT_ENCODING_UINT64, NT_ENCODING_UINT16},
     "items are not"},
};

TEST(trees_make_what_is_wanted_of_them_or_are_refused, .setup = setup, .teardown = teardown,
     .end = sizeof(trees) / sizeof(*trees))
{
    const struct nt_step step = {
        .kind = NT_STEP_TREE,
        .operands = {0, 1, 2},
        .tree = trees[_i].tree,
        .want = {.output = trees[_i].output},
        .decoder = {.element = trees[_i].element, .element_bytes = trees[_i].element_bytes}};
    const struct nt_decoder first = decoder_of(trees[_i].inputs[0]), second = decoder_of(trees[_i].inputs[1]);
    const struct nt_decoder *inputs[] = {&first, &second};
    struct nt_plan plan;
    const struct nt_decoder decoder = planned(&plan, &step, 1, 2);
    enum nt_status status = nt_plan_check(&decoder, inputs, &error);
    ck_assert_int_eq(status, trees[_i].refused ? NT_CORRUPT : NT_OK);
    if (trees[_i].refused)
        ck_assert_msg(strstr(error.message, trees[_i].refused) != NULL, "%s", error.message);
}

/* Steps at random, mostly wrong ones: what is checked runs, and touches only its memory. */
TEST(whatever_is_checked_runs_within_its_memory, .setup = setup, .teardown = teardown)
{
    unsigned runs = 0;
    srand(5);
    for (unsigned round = 0; round < 200000; round++) {
        struct nt_step steps[4] = {0};
        uint32_t count = 1 + (uint32_t)rand() % 4;
        for (uint32_t i = 0; i < count; i++) {
            steps[i].kind = (enum nt_step_kind)(rand() % NT_STEP_COUNT);
            steps[i].compression = rand() % 2 ? NT_COMPRESSION_NONE : NT_COMPRESSION_ROOT_BLOCKS;
            for (unsigned k = 0; k < NT_STEP_OPERANDS; k++)
                steps[i].operands[k] = (uint32_t)rand() % (2 + i);
            steps[i].elements = rand() % 3 ? 0 : (uint64_t)rand() % 40;
            if (nt_decoder_init(&steps[i].decoder, (enum nt_encoding_kind)(rand() % NT_ENCODING_PLAN), 0, 0,
                                1, NULL) != NT_OK)
                steps[i].decoder = decoder_of(NT_ENCODING_UINT8);
        }
        struct nt_plan plan;
        struct nt_decoder decoder = planned(&plan, steps, count, 1), item = decoder_of(NT_ENCODING_UINT8);
        const struct nt_decoder *inputs[] = {&item};
        if (nt_plan_check(&decoder, inputs, &error) != NT_OK)
            continue;
        size_t bytes = (size_t)rand() % 60, elements = (size_t)rand() % 30;
        uint8_t *data = malloc(bytes + 1), *output = malloc(elements * decoder.element_bytes + 1);
        uint8_t few[20];
        for (size_t i = 0; i < bytes; i++)
            data[i] = (uint8_t)(rand() % 24);
        for (size_t i = 0; i < sizeof(few); i++)
            few[i] = (uint8_t)i;
        output[elements * decoder.element_bytes] = 0xA5;
        const struct nt_value value = {few, sizeof(few), NT_ELEMENT_UINT8, 1};
        runs += run(&decoder, data, bytes, elements, &value, 4096, output) == NT_OK;
        ck_assert_uint_eq(output[elements * decoder.element_bytes], 0xA5);
        free(data);
        free(output);
    }
    ck_assert_uint_gt(runs, 20);
}

TEST(every_step_has_a_complete_row, .setup = setup, .teardown = teardown)
{
    for (int kind = 0; kind < NT_STEP_COUNT; kind++) {
        const struct nt_step_info *row = nt_step_info((enum nt_step_kind)kind);
        ck_assert(row->name && row->check && row->bound && row->run);
        ck_assert(row->operands >= 1 && row->operands <= NT_STEP_OPERANDS);
    }
}
