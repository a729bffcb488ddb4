/* SPDX-License-Identifier: MIT
 *
 * Plans: the first bytes tell how many steps and inputs there are and what each is, the rest is the page. What is
 * checked is run.
 */
#include <stdlib.h>

#include "core/codec/plan.h"
#include "core/codec/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum { MOST_STEPS = 8, MOST_ELEMENTS = 256, INPUT_ELEMENTS = 40, LIMIT = 1 << 16 };

struct input {
    const uint8_t *at, *end;
};

static unsigned next(struct input *input, unsigned choices)
{
    return input->at < input->end ? *input->at++ % choices : 0;
}

/* As formats make them; without bytes where that is refused. */
static struct nt_decoder next_decoder(struct input *input)
{
    struct nt_decoder decoder = {0};
    enum nt_encoding_kind kind = (enum nt_encoding_kind)next(input, NT_ENCODING_COUNT);
    uint32_t bits = next(input, 2) ? next(input, 70) : 0;
    if (nt_decoder_init(&decoder, kind, bits, -1, 1, NULL) != NT_OK)
        decoder = (struct nt_decoder){.encoding = kind};
    return decoder;
}

static struct nt_step next_step(struct input *input, uint32_t values)
{
    struct nt_step step = {.kind = (enum nt_step_kind)next(input, NT_STEP_COUNT)};
    step.compression = (enum nt_compression_kind)next(input, NT_COMPRESSION_COUNT);
    for (unsigned i = 0; i < NT_STEP_OPERANDS; i++)
        step.operands[i] = next(input, values + 1);
    step.elements = next(input, 3) == 1 ? next(input, 200) : 0;
    step.decoder = next_decoder(input);
    if (next(input, 16) == 1)
        step.decoder.element_bytes = next(input, 20);
    return step;
}

static void run(const struct nt_decoder *decoder, const struct nt_value *inputs, struct input *input)
{
    size_t elements = next(input, MOST_ELEMENTS);
    uint8_t *output = malloc(elements * decoder->element_bytes + 1);
    const struct nt_packed packed = {.decoder = decoder,
                                     .data = input->at,
                                     .bytes = (size_t)(input->end - input->at),
                                     .elements = elements,
                                     .inputs = inputs,
                                     .context = nt_codec_context_new(),
                                     .limit = LIMIT};
    if (output && packed.context)
        nt_plan_run(&packed, output, NULL);
    nt_codec_context_free(packed.context);
    free(output);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static uint8_t elements[INPUT_ELEMENTS * 64];
    struct input input = {bytes, bytes + count};
    struct nt_step steps[MOST_STEPS];
    struct nt_decoder decoders[NT_PLAN_INPUTS];
    const struct nt_decoder *told[NT_PLAN_INPUTS];
    struct nt_value inputs[NT_PLAN_INPUTS];
    struct nt_plan plan = {.steps = steps};
    for (size_t i = 0; i < sizeof(elements); i++)
        elements[i] = (uint8_t)(i % 7 ? 0 : i % INPUT_ELEMENTS);
    plan.input_count = next(&input, NT_PLAN_INPUTS + 1);
    for (uint32_t i = 0; i < plan.input_count; i++) {
        decoders[i] = next_decoder(&input);
        told[i] = &decoders[i];
        if (decoders[i].element_bytes == 0 || decoders[i].element_bytes > sizeof(elements) / INPUT_ELEMENTS)
            return 0;
        inputs[i] = nt_decoded_value(&decoders[i], elements, next(&input, INPUT_ELEMENTS + 1));
    }
    plan.step_count = 1 + next(&input, MOST_STEPS);
    for (uint32_t i = 0; i < plan.step_count; i++)
        steps[i] = next_step(&input, plan.input_count + i);
    const struct nt_decoder *last = &steps[plan.step_count - 1].decoder;
    const struct nt_decoder decoder = {.encoding = NT_ENCODING_PLAN,
                                       .element = last->element,
                                       .element_bytes = last->element_bytes,
                                       .plan = &plan};
    if (nt_plan_check(&decoder, told, NULL) == NT_OK)
        run(&decoder, inputs, &input);
    return 0;
}
