/* SPDX-License-Identifier: MIT
 *
 * Invalid envelopes with valid checksums, in every generation, so that the fuzzer reaches the code after
 * the check. The input is a list of edits: the first byte selects the generation; then each edit has five
 * bytes: envelope, position (2), kind, value.
 */
#include "sample.h"
#include "tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum { EDIT_BYTES = 5 };

/* The edits of the current input; the writer's callback has no context. */
static const uint8_t *edits;
static size_t edit_count;

static void overwrite(struct nt_buffer *bytes, size_t at, unsigned width, uint64_t value)
{
    for (unsigned i = 0; i < width && at + i < bytes->length; i++)
        bytes->bytes[at + i] = (char)(value >> 8 * i);
}

static void edit(struct nt_buffer *bytes, size_t at, uint8_t how, uint8_t value)
{
    static const uint64_t boundaries[] = {0,          1,         0x7fffffff,        0x80000000,
                                          UINT32_MAX, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
    switch (how % 8) {
    case 0:
        bytes->bytes[at] ^= (char)(1 << value % 8);
        break;
    case 1:
        bytes->length = at; /* cut off */
        break;
    case 2:
    case 3:
    case 4:
        overwrite(bytes, at, 2u << how % 8 % 3, boundaries[value % 8]);
        break;
    case 5: /* a list or record of another size */
        overwrite(bytes, at, 8, (uint64_t)(int64_t)(int8_t)value);
        break;
    default:
        bytes->bytes[at] = (char)value;
    }
}

static void apply(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    for (size_t i = 0; i < edit_count; i++) {
        const uint8_t *at = edits + i * EDIT_BYTES;
        size_t position = at[1] | (size_t)at[2] << 8;
        if (1u + at[0] % 3 == kind && bytes->length > 0)
            edit(bytes, position % bytes->length, at[3], at[4]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct nt_buffer file = {0};
    struct nt_source *source;
    if (count == 0)
        return 0;
    edits = bytes + 1;
    edit_count = (count - 1) / EDIT_BYTES < 8 ? (count - 1) / EDIT_BYTES : 8;
    sample_file(bytes[0] % RNTUPLE_GENERATIONS, false, apply, &file);
    if (nt_source_open_memory(file.bytes, file.length, "input", &source, NULL) == NT_OK)
        open_and_read_tables(&nt_format_rntuple, source);
    nt_buffer_deinit(&file);
    return 0;
}
