/* SPDX-License-Identifier: MIT
 *
 * Nested encodings. The first byte selects the encoding, two bytes are the number of elements or bytes to
 * decode, two are parameters, and the rest is data. The output buffer has exactly the right size.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/lance/decode/decode.h"
#include "core/codec/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum { HEADER = 5, MAX_SIZED = 1 << 20, STRINGS = 4, ITEMS = 40 };

struct input {
    const uint8_t *data;
    size_t bytes, elements;
    uint32_t parameters[2];
};

static uint8_t *room(size_t bytes)
{
    return malloc(bytes ? bytes : 1);
}

static void unpack_inline(const struct input *input)
{
    uint32_t word_bits = 8u << input->parameters[0] % 4;
    uint8_t *output = room(input->elements * word_bits / 8);
    if (output)
        nt_unpack_inline(input->data, input->bytes, word_bits, input->elements, output, NULL);
    free(output);
}

static void unpack_blocks(const struct input *input)
{
    uint32_t word_bits = 8u << input->parameters[0] % 4;
    uint8_t *output = room(input->elements * word_bits / 8);
    if (output)
        nt_unpack_blocks(input->data, input->bytes, word_bits, input->parameters[1], input->elements, output,
                         NULL);
    free(output);
}

/* A byte with the number of runs, if there is data for them. */
static void expand_runs(const struct input *input)
{
    uint32_t value_bytes = input->parameters[0] % 20, length_bytes = 1u << input->parameters[1] % 4;
    size_t runs = input->bytes ? input->data[0] : 0;
    if (!runs || runs * (value_bytes + length_bytes) > input->bytes - 1)
        return;
    const uint8_t *values = input->data + 1, *lengths = values + runs * value_bytes;
    uint8_t *output = room(input->elements * value_bytes);
    if (output)
        nt_rle_expand(values, value_bytes, runs, lengths, length_bytes, input->elements, output, NULL);
    nt_rle_total(lengths, length_bytes, runs);
    free(output);
}

static void decode_strings(const struct nt_fsst *fsst, const uint8_t *codes, size_t bytes)
{
    uint64_t decoded, ends[STRINGS];
    const uint64_t code_ends[STRINGS] = {bytes / 4, bytes / 3, bytes / 3, bytes};
    uint64_t again[STRINGS];
    if (nt_fsst_ends(fsst, codes, &code_ends[STRINGS - 1], 1, &decoded, NULL) == NT_OK) {
        uint8_t *output = room(decoded);
        if (output && nt_fsst_decode(fsst, codes, bytes, output, decoded, NULL) != NT_OK)
            abort();
        free(output);
    }
    if (nt_fsst_ends(fsst, codes, code_ends, STRINGS, ends, NULL) != NT_OK)
        return;
    if (ends[STRINGS - 1] != decoded)
        abort();
    uint8_t *output = room(decoded);
    if (output && (nt_fsst_expand(fsst, codes, code_ends, STRINGS, output, decoded, again, NULL) != NT_OK ||
                   memcmp(again, ends, sizeof(ends))))
        abort();
    free(output);
}

static void decode_fsst(const struct input *input)
{
    struct nt_fsst fsst;
    if (nt_fsst_init(&fsst, input->data, input->bytes, NULL) != NT_OK)
        return;
    size_t table = 8 + fsst.count * (size_t)9;
    uint8_t *output = room(input->elements);
    if (output)
        nt_fsst_decode(&fsst, input->data + table, input->bytes - table, output, input->elements, NULL);
    free(output);
    decode_strings(&fsst, input->data + table, input->bytes - table);
}

static void decompress(const struct input *input, enum nt_length_prefixed_kind kind)
{
    uint64_t bytes = 0;
    if (nt_length_prefixed_bytes(kind, input->data, input->bytes, &bytes, NULL) != NT_OK || bytes > MAX_SIZED)
        bytes = input->elements;
    uint8_t *output = room(bytes);
    struct nt_codec_context *context = nt_codec_context_new();
    if (output && context)
        nt_length_prefixed_decompress(kind, input->data, input->bytes, output, bytes, context, NULL);
    nt_codec_context_free(context);
    free(output);
}

static void decompress_lz4(const struct input *input)
{
    decompress(input, NT_LENGTH_PREFIXED_LZ4);
}

static void decompress_zstd(const struct input *input)
{
    decompress(input, NT_LENGTH_PREFIXED_ZSTD);
}

/* Numbers of items of some width. */
static void look_up(const struct input *input)
{
    uint32_t number_bytes = 1u << input->parameters[0] % 4, item_bytes = input->parameters[1] % 20;
    const uint8_t items[ITEMS * 20] = {0};
    const struct nt_value numbers = {input->data, input->bytes / number_bytes, NT_ELEMENT_OPAQUE,
                                     number_bytes},
                          of = {items, ITEMS, NT_ELEMENT_OPAQUE, item_bytes};
    uint8_t *output = room(numbers.elements * item_bytes);
    if (output)
        nt_dictionary_gather(&numbers, &of, output, NULL);
    free(output);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static void (*const targets[])(const struct input *input) = {
        unpack_inline, unpack_blocks, expand_runs, decode_fsst, decompress_lz4, decompress_zstd, look_up};
    if (count < HEADER)
        return 0;
    struct input input = {.data = bytes + HEADER,
                          .bytes = count - HEADER,
                          .elements = bytes[1] | (size_t)bytes[2] << 8,
                          .parameters = {bytes[3], bytes[4]}};
    targets[bytes[0] % (sizeof(targets) / sizeof(*targets))](&input);
    return 0;
}
