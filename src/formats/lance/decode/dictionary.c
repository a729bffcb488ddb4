/* SPDX-License-Identifier: MIT
 *
 * Dictionary decoding: replaces indices by dictionary items of fixed or variable size.
 */
#include "formats/lance/decode/decode.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Returns the position of the first index without an item; the number of indices if there is none. */
ALWAYS_INLINE size_t gather(const struct nt_value *numbers, uint32_t number_bytes,
                            const struct nt_value *items, uint32_t item_bytes, uint8_t *output)
{
    const uint8_t *from = items->data;
    uint64_t count = items->elements;
    size_t elements = (size_t)numbers->elements, i = 0;
    for (; i < elements; i++) {
        uint64_t number = nt_number_at(numbers->data, i, number_bytes);
        if (number >= count)
            break;
        memcpy(output + i * item_bytes, from + number * item_bytes, item_bytes);
    }
    return i;
}

ALWAYS_INLINE size_t gather_items(const struct nt_value *numbers, const struct nt_value *items,
                                  uint32_t item_bytes, uint8_t *output)
{
    switch (numbers->element_bytes) {
    case 1:
        return gather(numbers, 1, items, item_bytes, output);
    case 2:
        return gather(numbers, 2, items, item_bytes, output);
    case 4:
        return gather(numbers, 4, items, item_bytes, output);
    default:
        return gather(numbers, 8, items, item_bytes, output);
    }
}

static size_t gather_all(const struct nt_value *numbers, const struct nt_value *items, uint8_t *output)
{
    switch (items->element_bytes) {
    case 1:
        return gather_items(numbers, items, 1, output);
    case 2:
        return gather_items(numbers, items, 2, output);
    case 4:
        return gather_items(numbers, items, 4, output);
    case 8:
        return gather_items(numbers, items, 8, output);
    default:
        return gather_items(numbers, items, items->element_bytes, output);
    }
}

static enum nt_status fail_number(uint64_t row, uint64_t number, const struct nt_value *items,
                                  struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                   "element %" PRIu64 " refers to item %" PRIu64 ", but the dictionary has %" PRIu64, row,
                   number, items->elements);
}

enum nt_status nt_dictionary_gather(const struct nt_value *numbers, const struct nt_value *items,
                                    uint8_t *output, struct nt_error *error)
{
    size_t done = gather_all(numbers, items, output);
    if (done == numbers->elements)
        return NT_OK;
    return fail_number(done, nt_number_at(numbers->data, done, numbers->element_bytes), items, error);
}

/* ---- Strings ---- */

static uint64_t end_at(const struct nt_value *ends, uint64_t number)
{
    return nt_load_le64(ends->data + sizeof(uint64_t) * number);
}

/* An item's range in the bytes of all; impossibly large if it ends before it begins. */
struct dictionary_item {
    uint64_t begin, bytes;
};

ALWAYS_INLINE struct dictionary_item item_at(const struct nt_value *ends, uint64_t number)
{
    uint64_t begin = number ? end_at(ends, number - 1) : 0, end = end_at(ends, number);
    return (struct dictionary_item){begin, end >= begin ? end - begin : UINT64_MAX};
}

ALWAYS_INLINE enum nt_status add_ends(const struct nt_value *numbers, uint32_t number_bytes,
                                      const struct nt_value *item_ends, const uint8_t *valid, uint64_t end,
                                      uint8_t *output, struct nt_error *error)
{
    uint64_t items = item_ends->elements, most = UINT64_MAX / (numbers->elements + 1), largest = 0;
    const struct nt_value ends = *item_ends; /* a local copy stays in registers */
    const uint8_t *data = numbers->data;
    for (size_t i = 0, rows = numbers->elements; i < rows; i++) {
        uint64_t number = nt_number_at(data, i, number_bytes);
        if (number >= items)
            return fail_number(i, number, item_ends, error);
        uint64_t bytes = item_at(&ends, number).bytes;
        bytes = valid && !valid[i] ? 0 : bytes;
        largest = bytes > largest ? bytes : largest;
        end += bytes;
        memcpy(output + sizeof(end) * i, &end, sizeof(end));
    }
    if (largest > most)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "an item of a dictionary ends before it begins, or is too large");
    return NT_OK;
}

enum nt_status nt_dictionary_ends(const struct nt_value *numbers, const struct nt_value *item_ends,
                                  const uint8_t *valid, uint64_t base, uint8_t *output,
                                  struct nt_error *error)
{
    switch (numbers->element_bytes) {
    case 1:
        return add_ends(numbers, 1, item_ends, valid, base, output, error);
    case 2:
        return add_ends(numbers, 2, item_ends, valid, base, output, error);
    case 4:
        return add_ends(numbers, 4, item_ends, valid, base, output, error);
    default:
        return add_ends(numbers, 8, item_ends, valid, base, output, error);
    }
}

/* Copies short strings in pieces of constant size if both sides have room; the next string overwrites
 * the excess. `from_room` and `to_room`: bytes available. */
ALWAYS_INLINE void copy_string(uint8_t *to, uint64_t to_room, const uint8_t *from, uint64_t from_room,
                               uint64_t count)
{
    enum { PIECE = 32 };
    if (count > 2 * PIECE || to_room < 2 * PIECE || from_room < 2 * PIECE) {
        memcpy(to, from, count);
        return;
    }
    memcpy(to, from, PIECE);
    if (count > PIECE)
        memcpy(to + PIECE, from + PIECE, PIECE);
}

static enum nt_status fail_bytes(uint64_t output_bytes, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                   "items of a dictionary do not have the expected %" PRIu64
                   " bytes, or end after the dictionary",
                   output_bytes);
}

ALWAYS_INLINE enum nt_status copy_strings(const struct nt_value *numbers, uint32_t number_bytes,
                                          const struct nt_value *item_ends, const struct nt_value *bytes,
                                          const uint8_t *valid, uint8_t *output, uint64_t output_bytes,
                                          struct nt_error *error)
{
    const struct nt_value ends = *item_ends, from = *bytes;
    const uint8_t *data = numbers->data;
    uint64_t left = output_bytes;
    for (size_t i = 0, rows = numbers->elements; i < rows; i++) {
        uint64_t number = nt_number_at(data, i, number_bytes);
        if (number >= ends.elements)
            return fail_number(i, number, item_ends, error);
        struct dictionary_item item = item_at(&ends, number);
        uint64_t count = valid && !valid[i] ? 0 : item.bytes;
        if (count > left || item.begin > from.elements || count > from.elements - item.begin)
            return fail_bytes(output_bytes, error);
        copy_string(output, left, from.data + item.begin, from.elements - item.begin, count);
        output += count;
        left -= count;
    }
    return left ? fail_bytes(output_bytes, error) : NT_OK;
}

enum nt_status nt_dictionary_bytes(const struct nt_value *numbers, const struct nt_value *item_ends,
                                   const struct nt_value *bytes, const uint8_t *valid, uint8_t *output,
                                   uint64_t output_bytes, struct nt_error *error)
{
    switch (numbers->element_bytes) {
    case 1:
        return copy_strings(numbers, 1, item_ends, bytes, valid, output, output_bytes, error);
    case 2:
        return copy_strings(numbers, 2, item_ends, bytes, valid, output, output_bytes, error);
    case 4:
        return copy_strings(numbers, 4, item_ends, bytes, valid, output, output_bytes, error);
    default:
        return copy_strings(numbers, 8, item_ends, bytes, valid, output, output_bytes, error);
    }
}
