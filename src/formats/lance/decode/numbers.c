/* SPDX-License-Identifier: MIT
 *
 * In: decoded values. Out: numbers of items, those of null rows masked: what is stored there may be anything.
 */
#include "formats/lance/decode/numbers.h"

#include <inttypes.h>
#include <string.h>

/* Numbers of items, 0 where the row is null: what is stored there may be anything. */
static enum nt_status mask_numbers(struct nt_made *made, const uint8_t **data_ret, struct nt_error *error)
{
    const struct nt_array *array = &made->opened.array;
    uint32_t width = array->bits / 8;
    uint8_t *data;
    *data_ret = array->data;
    if (!made->valid)
        return NT_OK;
    enum nt_status status = nt_work_take(made->work, array->bytes, &data, error);
    if (status != NT_OK)
        return status;
    memcpy(data, array->data, array->bytes);
    for (uint64_t i = 0; i < array->elements; i++)
        if (!made->valid[i])
            memset(data + i * width, 0, width);
    *data_ret = data;
    return NT_OK;
}

enum nt_status nt_made_numbers(struct nt_made *made, struct nt_value *numbers, struct nt_error *error)
{
    const struct nt_array *array = &made->opened.array;
    enum nt_element element = array->bits == 8    ? NT_ELEMENT_UINT8
                              : array->bits == 16 ? NT_ELEMENT_UINT16
                              : array->bits == 32 ? NT_ELEMENT_UINT32
                                                  : NT_ELEMENT_UINT64;
    if (array->bits != 8 && array->bits != 16 && array->bits != 32 && array->bits != 64)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "numbers of a dictionary's items of %" PRIu32 " bits", array->bits);
    *numbers =
        (struct nt_value){.elements = array->elements, .element = element, .element_bytes = array->bits / 8};
    return mask_numbers(made, &numbers->data, error);
}

bool nt_made_is_null(const struct nt_made *made)
{
    return made->valid && !memchr(made->valid, 1, made->rows);
}
