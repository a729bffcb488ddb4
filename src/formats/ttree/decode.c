/* SPDX-License-Identifier: MIT
 *
 * Outputs of a branch as decoders: a page of their columns is a basket. Counts the elements of outputs.
 */
#include "formats/ttree/program.h"

/* ---- Outputs ---- */

static enum nt_status copy_raw(const struct nt_packed *packed, const struct nt_basket_content *content,
                               uint8_t *output, struct nt_error *error)
{
    const struct nt_basket *basket = &content->basket;
    const uint8_t *offsets =
        basket->is_embedded ? packed->data + basket->header_end : content->values + basket->value_bytes;
    size_t values = packed->elements < basket->value_bytes ? packed->elements : basket->value_bytes;
    if (packed->elements > basket->object_bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "uncompressed bytes of a basket",
                              packed->elements, basket->object_bytes);
    if (packed->elements == 0)
        return NT_OK;
    memcpy(output, content->values, values);
    memcpy(output + values, offsets, packed->elements - values);
    return NT_OK;
}

/* One output of a basket. */
struct basket_output {
    const struct nt_packed *packed;
    struct nt_output_count done;
    struct nt_program_run run;
    uint32_t first; /* entries before it are done */
};

static void begin(struct basket_output *result, const struct nt_packed *packed, uint8_t *output)
{
    const struct nt_program *program = packed->decoder->state;
    result->packed = packed;
    result->done = (struct nt_output_count){.items = packed->parameter};
    result->run = (struct nt_program_run){.operations = program->operations,
                                          .class_names = nt_program_names(program),
                                          .done = &result->done,
                                          .output = output,
                                          .capacity = packed->elements,
                                          .lengths = {.values = packed->dependencies,
                                                      .count = packed->decoder->dependency_count,
                                                      .first = program->first_length}};
    result->first = 0;
}

static enum nt_status finish(struct basket_output *result, const struct nt_basket_content *content,
                             struct nt_error *error)
{
    NT_TRY(nt_run_entries(&result->run, content, result->first, content->basket.entries, error));
    if (result->done.elements < result->packed->elements)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "elements of a basket",
                              result->packed->elements, result->done.elements);
    return NT_OK;
}

static enum nt_status make(const struct nt_packed *packed, const struct nt_basket_content *content,
                           uint8_t *output, struct nt_error *error)
{
    const struct nt_program *program = packed->decoder->state;
    struct basket_output result;
    if (program->output == NT_OUTPUT_RAW)
        return copy_raw(packed, content, output, error);
    begin(&result, packed, output);
    return finish(&result, content, error);
}

static bool are_of_one_list(const struct nt_packed *ends, const struct nt_packed *items)
{
    const struct nt_program *one = ends->decoder->state, *other = items->decoder->state;
    return one->output != NT_OUTPUT_RAW && other->output != NT_OUTPUT_RAW &&
           nt_are_of_one_list(one->operations, other->operations);
}

/* Makes both in one loop, as far as entries are regular. */
static enum nt_status make_list(const struct nt_packed *ends, const struct nt_packed *items,
                                const struct nt_basket_content *content, uint8_t *end_output,
                                uint8_t *item_output, struct nt_error *error)
{
    struct basket_output of_ends, of_items;
    begin(&of_ends, ends, end_output);
    begin(&of_items, items, item_output);
    if (content->basket.entries)
        of_ends.first = of_items.first = nt_put_regular_lists(&of_ends.run, &of_items.run, content, 0);
    NT_TRY(finish(&of_ends, content, error));
    return finish(&of_items, content, error);
}

static enum nt_status decode_shared(const struct nt_packed *packed, uint8_t *const *outputs, uint32_t count,
                                    struct nt_error *error)
{
    struct nt_basket_content content;
    enum nt_status status =
        nt_basket_open(packed->data, packed->bytes, packed->limit, packed->context, &content, error);
    for (uint32_t i = 0; status == NT_OK && i < count; i++) {
        const struct nt_packed *next = &packed[i + 1];
        bool has_next = i + 1 < count;
        if (has_next && are_of_one_list(&packed[i], next))
            status = make_list(&packed[i], next, &content, outputs[i], outputs[i + 1], error), i++;
        else if (has_next && are_of_one_list(next, &packed[i]))
            status = make_list(next, &packed[i], &content, outputs[i + 1], outputs[i], error), i++;
        else
            status = make(&packed[i], &content, outputs[i], error);
    }
    return status;
}

static enum nt_status decode(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    return decode_shared(packed, &output, 1, error);
}

/* ---- Decoders ---- */

/* All outputs share the decompression. */
static bool are_shared(const struct nt_decoder *a, const struct nt_decoder *b)
{
    const struct nt_program *one = a->state, *other = b->state;
    return one->output != other->output;
}

/* Of numbers those that they take; of the basket itself, all that is after its key. */
static uint64_t packed_bytes(const struct nt_decoder *decoder, uint64_t elements)
{
    const struct nt_program *program = decoder->state;
    for (uint32_t i = 0; program->output != NT_OUTPUT_RAW && i < program->count; i++)
        if (program->operations[i].kind == NT_STEP_VALUES && program->operations[i].values != NT_NONE)
            return elements * program->operations[i].width;
    return elements * decoder->element_bytes;
}

static bool is_length(enum nt_element element)
{
    return element == NT_ELEMENT_INT32 || element == NT_ELEMENT_UINT32;
}

static enum nt_status check(const struct nt_decoder *decoder, const struct nt_decoder *const *dependencies,
                            struct nt_error *error)
{
    for (uint32_t i = 0; i < decoder->dependency_count; i++)
        if (!is_length(dependencies[i]->element))
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "lengths of arrays are not integers of 32 bits");
    return NT_OK;
}

static const struct nt_decoder_ops basket_ops = {.decode = decode,
                                                 .check = check,
                                                 .are_shared = are_shared,
                                                 .decode_shared = decode_shared,
                                                 .packed_bytes = packed_bytes,
                                                 .allocates_memory = true,
                                                 .sums_items = true};

/* Of the numbers of an output; the bytes of texts and whole baskets have none. End offsets are computed. */
static enum nt_encoding_kind number_encoding(const struct nt_interpretation *interpretation, uint32_t output)
{
    if (output != NT_OUTPUT_RAW && interpretation->outputs[output].is_offsets)
        return NT_ENCODING_OTHER;
    for (uint32_t i = 0; output != NT_OUTPUT_RAW && i < interpretation->step_count; i++) {
        const struct nt_step *step = &interpretation->steps[i];
        if (step->kind == NT_STEP_VALUES && step->output == output)
            return step->encoding;
    }
    return NT_ENCODING_BYTE;
}

enum nt_status nt_basket_decoder(const struct nt_interpretation *interpretation, uint32_t output,
                                 struct nt_decoder *decoder_ret, void **state_ret, struct nt_error *error)
{
    static const struct nt_interpretation raw = {0};
    struct nt_program *program = NULL;
    size_t bytes = 0;
    enum nt_element element = NT_ELEMENT_BYTE;
    if (output != NT_OUTPUT_RAW && output >= interpretation->output_count)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "a branch has no output %" PRIu32, output);
    if (output != NT_OUTPUT_RAW)
        element = interpretation->outputs[output].is_offsets ? NT_ELEMENT_UINT64
                                                             : interpretation->outputs[output].element;
    NT_TRY(
        nt_program_compile(output == NT_OUTPUT_RAW ? &raw : interpretation, output, &program, &bytes, error));
    *state_ret = program;
    *decoder_ret = (struct nt_decoder){.ops = &basket_ops,
                                       .state = program,
                                       .state_bytes = (uint32_t)bytes,
                                       .encoding = NT_ENCODING_OTHER,
                                       .number_encoding = number_encoding(interpretation, output),
                                       .element = element,
                                       .element_bytes = nt_element_info(element)->bytes};
    return NT_OK;
}

void nt_basket_set_lengths(void *state, uint64_t first)
{
    struct nt_program *program = state;
    program->first_length = first;
}

uint32_t nt_basket_lengths_output(const struct nt_interpretation *interpretation)
{
    const struct nt_step *step = interpretation->steps;
    uint32_t count = interpretation->step_count;
    bool is_list = count == 2 && step->kind == NT_STEP_REST;
    if ((count != 1 && !is_list) || interpretation->lengths)
        return NT_NONE;
    step += is_list;
    return step->kind == NT_STEP_VALUES && step->count == 1 && step->output != NT_NONE &&
                   is_length(interpretation->outputs[step->output].element)
               ? step->output
               : NT_NONE;
}

enum nt_status nt_basket_decode(const struct nt_interpretation *interpretation, uint32_t output,
                                const uint8_t *record, size_t count, uint64_t elements, uint64_t limit,
                                struct nt_codec_context *context, void **elements_ret, struct nt_error *error)
{
    struct nt_decoder decoder;
    NT_AUTO_FREE void *state = NULL;
    NT_TRY(nt_basket_decoder(interpretation, output, &decoder, &state, error));
    const struct nt_packed packed = {.decoder = &decoder,
                                     .data = record,
                                     .bytes = count,
                                     .elements = elements,
                                     .context = context,
                                     .limit = limit};
    *elements_ret = calloc((size_t)elements + 1, decoder.element_bytes);
    NT_TRY(nt_check_memory(*elements_ret, error));
    return decoder.ops->decode(&packed, *elements_ret, error);
}

/* ---- Counting ---- */

static enum nt_status count_by_bytes(const struct nt_interpretation *from, const struct nt_basket *basket,
                                     struct nt_output_count *counts, struct nt_error *error)
{
    uint64_t headers = (uint64_t)basket->entries * from->header_bytes;
    uint64_t bytes = basket->value_bytes - headers;
    if (headers > basket->value_bytes)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of the values of a basket", headers,
                             basket->value_bytes);
    if (!from->item_bytes || bytes % from->item_bytes)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "a basket has %" PRIu64
                       " bytes of items, which is not a multiple of the item size, %" PRIu32,
                       bytes, from->item_bytes);
    for (uint32_t i = 0; i < from->output_count; i++) {
        counts[i] = (struct nt_output_count){.elements = basket->entries, .items = bytes / from->item_bytes};
        if (!from->outputs[i].is_offsets &&
            !nt_checked_multiply(bytes / from->item_bytes,
                                 nt_steps_count(from->steps, 0, from->step_count, i), &counts[i].elements))
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of elements of a basket overflows");
    }
    return NT_OK;
}

static enum nt_status count_by_content(const struct nt_interpretation *from, const uint8_t *record,
                                       size_t count, uint32_t entry_count,
                                       const struct nt_basket_lengths *lengths, uint64_t limit,
                                       struct nt_codec_context *context, struct nt_output_count *counts,
                                       struct nt_error *error)
{
    struct nt_basket_content content;
    NT_AUTO_FREE struct nt_program *program = NULL;
    size_t bytes = 0;
    memset(counts, 0, from->output_count * sizeof(*counts));
    NT_TRY(nt_program_compile(from, NT_NONE, &program, &bytes, error));
    NT_TRY(nt_basket_open(record, count, limit, context, &content, error));
    struct nt_program_run run = {
        .operations = program->operations, .class_names = nt_program_names(program), .done = counts};
    if (lengths)
        run.lengths = *lengths;
    return nt_run_entries(&run, &content, 0, entry_count, error);
}

enum nt_status nt_basket_count(const struct nt_interpretation *interpretation, const uint8_t *record,
                               size_t count, uint32_t entries, const struct nt_basket_lengths *lengths,
                               uint64_t limit, struct nt_codec_context *context,
                               struct nt_output_count *counts, struct nt_error *error)
{
    struct nt_basket basket;
    NT_TRY(nt_basket_parse(record, count, &basket, error));
    if (entries > basket.entries)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "entries of a basket", entries, basket.entries);
    if (interpretation->count_by == NT_COUNT_BY_ENTRIES) {
        for (uint32_t i = 0; i < interpretation->output_count; i++)
            counts[i] = (struct nt_output_count){.elements = (uint64_t)entries *
                                                             interpretation->outputs[i].fixed_items};
        return NT_OK;
    }
    if (interpretation->count_by == NT_COUNT_BY_BYTES && entries == basket.entries)
        return count_by_bytes(interpretation, &basket, counts, error);
    return count_by_content(interpretation, record, count, entries, lengths, limit, context, counts, error);
}
