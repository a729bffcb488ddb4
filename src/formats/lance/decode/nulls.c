/* SPDX-License-Identifier: MIT
 *
 * In: elements, and which rows and items are null. Out: zeros in place of those.
 */
#include "formats/lance/decode/nulls.h"

#include <string.h>

#define DEFINE_MASK(bits)                                                                                    \
    static void mask##bits(const uint8_t *restrict valid, uint64_t rows, uint8_t *restrict output)           \
    {                                                                                                        \
        for (uint64_t i = 0; i < rows; i++) {                                                                \
            uint##bits##_t value;                                                                            \
            memcpy(&value, output + i * sizeof(value), sizeof(value));                                       \
            value &= (uint##bits##_t)(0 - (uint##bits##_t)(valid[i] != 0));                                  \
            memcpy(output + i * sizeof(value), &value, sizeof(value));                                       \
        }                                                                                                    \
    }
DEFINE_MASK(8)
DEFINE_MASK(16)
DEFINE_MASK(32)
DEFINE_MASK(64)

/* Zeros for rows of `bytes` each that are null. */
static void mask_rows(const uint8_t *valid, uint64_t rows, uint64_t bytes, uint8_t *output)
{
    static void (*const masks[])(const uint8_t *, uint64_t,
                                 uint8_t *) = {[1] = mask8, [2] = mask16, [4] = mask32, [8] = mask64};
    if (bytes < sizeof(masks) / sizeof(*masks) && masks[bytes]) {
        masks[bytes](valid, rows, output);
        return;
    }
    for (uint64_t i = 0; i < rows; i++)
        if (!valid[i])
            memset(output + i * bytes, 0, bytes);
}

void nt_made_clear_nulls(const struct nt_made *made, uint32_t depth, uint32_t width, uint8_t *output)
{
    const struct nt_array *array = &made->opened.array;
    uint64_t elements = made->work->packed->elements, lists = made->rows;
    uint64_t items = made->rows ? elements / made->rows : 0;
    if (made->valid)
        mask_rows(made->valid, made->rows, items * width, output);
    for (uint32_t d = 0; d < depth && d < array->depth; d++) {
        const uint8_t *valid = array->lists[d].valid;
        lists *= array->lists[d].items; /* these are at most as many as there are elements */
        uint64_t each = lists ? elements / lists : 0;
        if (array->lists[d].are_null)
            memset(output, 0, elements * width);
        for (uint64_t i = 0; valid && i < lists; i++)
            if (!(valid[i / 8] >> (i % 8) & 1))
                memset(output + i * each * width, 0, each * width);
    }
}
