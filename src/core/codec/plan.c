/* SPDX-License-Identifier: MIT
 *
 * Validates and runs decode pipelines. Each step uses only earlier results, and the size of intermediate
 * results is limited.
 */
#include "core/codec/codec.h"
#include "core/codec/plan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "formats/lance/decode/decode.h"

/* ---- the table ---- */

static enum nt_status check_bytes(const struct nt_step *step, const struct nt_value *operands,
                                  struct nt_error *error)
{
    if (operands[0].element_bytes != 1)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a step %s of elements of %" PRIu32 " bytes",
                       nt_step_info(step->kind)->name, operands[0].element_bytes);
    return NT_OK;
}

/* The encoding makes elements of the size that room is made for. */
static bool is_sound(const struct nt_decoder *decoder)
{
    struct nt_decoder usual;
    uint32_t bytes = nt_element_info(decoder->element)->bytes;
    if (nt_decoder_init(&usual, decoder->encoding, decoder->bits, decoder->minimum, decoder->maximum, NULL) !=
        NT_OK)
        return false;
    bool is_integer = decoder->element == NT_ELEMENT_UINT32 || decoder->element == NT_ELEMENT_UINT64;
    if (decoder->bits == 0) /* Roaring's containers: of either width */
        return is_integer && decoder->element_bytes == bytes;
    return decoder->element_bytes == usual.element_bytes && (bytes == 0 || bytes == decoder->element_bytes);
}

static enum nt_status check_decode(const struct nt_step *step, const struct nt_value *operands,
                                   struct nt_error *error)
{
    const struct nt_decoder *decoder = &step->decoder;
    if (decoder->plan || decoder->encoding == NT_ENCODING_PLAN ||
        !nt_encoding_info(decoder->encoding)->decode)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "a step decodes what is no encoding");
    if (!is_sound(decoder))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "a step %s does not make elements of %" PRIu32 " bytes",
                       nt_encoding_info(decoder->encoding)->name, decoder->element_bytes);
    return check_bytes(step, operands, error);
}

static enum nt_status check_dictionary(const struct nt_step *step, const struct nt_value *operands,
                                       struct nt_error *error)
{
    if (!nt_dictionary_takes(operands[0].element))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a dictionary's items are numbered by elements %s",
                       nt_element_info(operands[0].element)->name);
    if (operands[1].element != step->decoder.element ||
        operands[1].element_bytes != step->decoder.element_bytes)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a dictionary's items are not the elements");
    return NT_OK;
}

static bool packed_bytes(const struct nt_step *step, uint64_t elements, uint64_t *bytes_ret)
{
    return nt_packed_bytes(&step->decoder, elements, bytes_ret);
}

static bool decoded_bytes(const struct nt_step *step, uint64_t elements, uint64_t *bytes_ret)
{
    return nt_multiply(elements, step->decoder.element_bytes, bytes_ret);
}

static enum nt_status decompress(const struct nt_step *step, const struct nt_packed *packed,
                                 uint64_t elements, const struct nt_value *operands, uint8_t *output,
                                 size_t bytes, struct nt_error *error)
{
    (void)elements;
    return nt_compression_info(step->compression)
        ->decompress(operands[0].data, (size_t)operands[0].elements, output, bytes, packed->context, error);
}

static enum nt_status decode(const struct nt_step *step, const struct nt_packed *packed, uint64_t elements,
                             const struct nt_value *operands, uint8_t *output, size_t bytes,
                             struct nt_error *error)
{
    (void)bytes;
    const struct nt_packed what = {.decoder = &step->decoder,
                                   .parameter = packed->parameter,
                                   .data = operands[0].data,
                                   .bytes = (size_t)operands[0].elements,
                                   .elements = (size_t)elements};
    return nt_decode(&what, output, error);
}

static enum nt_status look_up(const struct nt_step *step, const struct nt_packed *packed, uint64_t elements,
                              const struct nt_value *operands, uint8_t *output, size_t bytes,
                              struct nt_error *error)
{
    (void)step, (void)packed, (void)bytes;
    if (operands[0].elements != elements)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "numbers of a dictionary's items", elements,
                              operands[0].elements);
    return nt_dictionary_gather(&operands[0], &operands[1], output, error);
}

static enum nt_status check_tree(const struct nt_step *step, const struct nt_value *operands,
                                 struct nt_error *error)
{
    static const enum nt_element made[] = {
        [NT_TREE_VALID] = NT_ELEMENT_BOOL,    [NT_TREE_OFFSETS] = NT_ELEMENT_UINT64,
        [NT_TREE_ENDS] = NT_ELEMENT_UINT64,   [NT_TREE_BYTES] = NT_ELEMENT_BYTE,
        [NT_TREE_LEVELS] = NT_ELEMENT_OPAQUE, [NT_TREE_PRESENT] = NT_ELEMENT_BOOL};
    const struct nt_decoder *decoder = &step->decoder;
    bool is_values = step->want.output == NT_TREE_VALUES;
    uint32_t bytes = nt_element_info(decoder->element)->bytes;
    if (!step->tree || (unsigned)step->want.output > NT_TREE_PRESENT ||
        (step->tree->is_whole && step->tree->part_count < 1u + (step->tree->layout == NT_TREE_MINI_BLOCK)) ||
        (!is_values && decoder->element != made[step->want.output]) ||
        (step->want.output == NT_TREE_LEVELS && decoder->element_bytes != NT_TREE_LEVEL_BYTES) ||
        (bytes && bytes != decoder->element_bytes))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a tree does not make what is wanted of it");
    bool is_sound = !step->tree->has_dictionary ||
                    (step->want.output == NT_TREE_VALID && !step->want.depth) ||
                    step->want.output == NT_TREE_OFFSETS || step->want.output == NT_TREE_LEVELS;
    if (!is_sound && is_values)
        is_sound = operands[1].element_bytes == decoder->element_bytes;
    else if (!is_sound)
        is_sound = operands[1].element == NT_ELEMENT_UINT64 && operands[2].element_bytes == 1;
    if (!is_sound)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a dictionary's items are not the elements");
    return check_bytes(step, operands, error);
}

static enum nt_status decode_tree(const struct nt_step *step, const struct nt_packed *packed,
                                  uint64_t elements, const struct nt_value *operands, uint8_t *output,
                                  size_t bytes, struct nt_error *error)
{
    (void)bytes;
    struct nt_packed what = *packed;
    what.data = operands[0].data;
    what.bytes = (size_t)operands[0].elements;
    what.elements = (size_t)elements;
    what.inputs = &operands[1];
    return (step->tree->is_whole ? nt_whole_decode : nt_tree_decode)(
        step->tree, &step->want, &what, step->decoder.element_bytes, output, error);
}

static const struct nt_step_info steps[NT_STEP_COUNT] = {
    [NT_STEP_DECOMPRESS] = {.name = "decompress",
                            .operands = 1,
                            .makes_bytes = true,
                            .check = check_bytes,
                            .bound = packed_bytes,
                            .run = decompress},
    [NT_STEP_DECODE] =
        {.name = "decode", .operands = 1, .check = check_decode, .bound = decoded_bytes, .run = decode},
    [NT_STEP_DICTIONARY] = {.name = "dictionary",
                            .operands = 2,
                            .check = check_dictionary,
                            .bound = decoded_bytes,
                            .run = look_up},
    [NT_STEP_TREE] =
        {.name = "tree", .operands = 3, .check = check_tree, .bound = decoded_bytes, .run = decode_tree},
};

const struct nt_step_info *nt_step_info(enum nt_step_kind kind)
{
    return &steps[kind];
}

/* ---- values ---- */

static struct nt_value bytes_value(const uint8_t *data, uint64_t bytes)
{
    return (struct nt_value){data, bytes, NT_ELEMENT_BYTE, 1};
}

/* What a step makes. */
static struct nt_value result_of(const struct nt_step *step, const uint8_t *data, uint64_t elements,
                                 uint64_t bytes)
{
    return nt_step_info(step->kind)->makes_bytes ? bytes_value(data, bytes)
                                                 : nt_decoded_value(&step->decoder, data, elements);
}

static void take_operands(const struct nt_step *step, const struct nt_value *values,
                          struct nt_value operands[NT_STEP_OPERANDS])
{
    for (unsigned i = 0; i < nt_step_info(step->kind)->operands; i++)
        operands[i] = values[step->operands[i]];
}

enum { VALUES = 1 + NT_PLAN_INPUTS + NT_PLAN_STEPS };

/* ---- checking ---- */

static enum nt_status check_step(const struct nt_step *step, const struct nt_value *values, uint32_t count,
                                 struct nt_error *error)
{
    struct nt_value operands[NT_STEP_OPERANDS];
    if ((unsigned)step->kind >= NT_STEP_COUNT || (unsigned)step->compression >= NT_COMPRESSION_COUNT ||
        (unsigned)step->decoder.encoding >= NT_ENCODING_COUNT ||
        (unsigned)step->decoder.element >= NT_ELEMENT_COUNT)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a step of no known kind");
    for (unsigned i = 0; i < nt_step_info(step->kind)->operands; i++)
        if (step->operands[i] >= count)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a step %s uses what was not made before it",
                           nt_step_info(step->kind)->name);
    take_operands(step, values, operands);
    return nt_step_info(step->kind)->check(step, operands, error);
}

enum nt_status nt_plan_check(const struct nt_decoder *decoder, const struct nt_decoder *const *inputs,
                             struct nt_error *error)
{
    const struct nt_plan *plan = decoder->plan;
    struct nt_value values[VALUES] = {bytes_value(NULL, 0)};
    uint32_t count = 1;
    if (plan->step_count == 0 || plan->step_count > NT_PLAN_STEPS || plan->input_count > NT_PLAN_INPUTS)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "a plan of %" PRIu32 " steps and %" PRIu32 " inputs",
                       plan->step_count, plan->input_count);
    for (uint32_t i = 0; i < plan->input_count; i++)
        values[count++] = nt_decoded_value(inputs[i], NULL, 0);
    for (uint32_t i = 0; i < plan->step_count; i++) {
        enum nt_status status = check_step(&plan->steps[i], values, count, error);
        if (status != NT_OK)
            return status;
        values[count++] = result_of(&plan->steps[i], NULL, 0, 0);
    }
    const struct nt_step *last = &plan->steps[plan->step_count - 1];
    const struct nt_value *made = &values[count - 1];
    if (nt_step_info(last->kind)->makes_bytes || last->elements || made->element != decoder->element ||
        made->element_bytes != decoder->element_bytes)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the last step does not make the page's elements");
    return NT_OK;
}

/* ---- running ---- */

struct running {
    const struct nt_packed *packed;
    struct nt_value values[VALUES];
    uint32_t count;
    uint8_t *memory[NT_PLAN_STEPS]; /* of the steps' */
    uint64_t left;                  /* bytes that may still be taken */
};

/* `output` NULL: memory is taken. */
static enum nt_status run_step(struct running *running, uint32_t number, uint8_t *output,
                               struct nt_error *error)
{
    const struct nt_step *step = &running->packed->decoder->plan->steps[number];
    const struct nt_step_info *info = nt_step_info(step->kind);
    uint64_t elements = step->elements ? step->elements : running->packed->elements, bytes;
    struct nt_value operands[NT_STEP_OPERANDS];
    if (!info->bound(step, elements, &bytes))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%" PRIu64 " elements are too many for a step %s",
                       elements, info->name);
    if (!output && bytes > running->left)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "a step %s of %" PRIu64 " elements takes %" PRIu64 " bytes, and %" PRIu64
                       " are left of the limit pagesize of %" PRIu64,
                       info->name, elements, bytes, running->left, running->packed->limit);
    if (!output) {
        running->left -= bytes;
        output = running->memory[number] = malloc(bytes ? bytes : 1);
    }
    if (!output)
        return nt_fail_memory(error);
    take_operands(step, running->values, operands);
    running->values[running->count++] = result_of(step, output, elements, bytes);
    return info->run(step, running->packed, elements, operands, output, (size_t)bytes, error);
}

enum nt_status nt_plan_run(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    const struct nt_plan *plan = packed->decoder->plan;
    struct running running; /* large, and little of it is used */
    enum nt_status status = NT_OK;
    if (!plan)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "a plan without steps");
    running.packed = packed;
    running.left = packed->limit;
    running.count = 0;
    for (uint32_t i = 0; i < plan->step_count; i++)
        running.memory[i] = NULL;
    running.values[running.count++] = bytes_value(packed->data, packed->bytes);
    for (uint32_t i = 0; i < plan->input_count; i++)
        running.values[running.count++] = packed->inputs[i];
    for (uint32_t i = 0; i < plan->step_count && status == NT_OK; i++)
        status = run_step(&running, i, i + 1 == plan->step_count ? output : NULL, error);
    for (uint32_t i = 0; i < plan->step_count; i++)
        free(running.memory[i]);
    return status;
}

/* ---- together ---- */

/* The tree that makes a page's elements of its packed bytes, in one step; NULL: it is done otherwise. */
static const struct nt_step *only_tree(const struct nt_decoder *decoder)
{
    const struct nt_plan *plan = decoder->plan;
    bool is_tree = plan && plan->step_count == 1 && plan->steps->kind == NT_STEP_TREE &&
                   plan->steps->operands[0] == 0 && plan->steps->tree;
    return is_tree && nt_tree_is_shareable(plan->steps->tree, &plan->steps->want) ? plan->steps : NULL;
}

bool nt_plans_are_shared(const struct nt_decoder *a, const struct nt_decoder *b)
{
    const struct nt_step *one = only_tree(a), *other = only_tree(b);
    return one && other && one->tree == other->tree &&
           (one->want.output != other->want.output || one->want.layer != other->want.layer);
}

enum nt_status nt_plan_run_together(const struct nt_packed *packed, uint8_t *const *outputs, uint32_t count,
                                    struct nt_error *error)
{
    struct nt_packed what[NT_PLAN_TOGETHER];
    struct nt_tree_share shares[NT_PLAN_TOGETHER];
    struct nt_value inputs[NT_PLAN_TOGETHER][NT_STEP_OPERANDS] = {{{0}}};
    for (uint32_t i = 0; i < count; i++) {
        const struct nt_step *step = only_tree(packed[i].decoder);
        for (unsigned k = 1; k < nt_step_info(step->kind)->operands; k++)
            if (step->operands[k])
                inputs[i][k - 1] = packed[i].inputs[step->operands[k] - 1];
        what[i] = packed[i];
        what[i].inputs = inputs[i];
        shares[i] = (struct nt_tree_share){&step->want, &what[i], step->decoder.element_bytes, outputs[i]};
    }
    return nt_tree_decode_together(only_tree(packed->decoder)->tree, shares, count, error);
}
