/* SPDX-License-Identifier: MIT
 *
 * In: numbers and items. Out: the items that the numbers tell. A loop for each width of either, so that an
 * item is one load and one store.
 */
#include "codec/dictionary.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

bool nt_dictionary_takes(enum nt_element numbers)
{
    return numbers == NT_ELEMENT_BYTE || numbers == NT_ELEMENT_UINT8 || numbers == NT_ELEMENT_UINT16 ||
           numbers == NT_ELEMENT_UINT32 || numbers == NT_ELEMENT_UINT64;
}

ALWAYS_INLINE uint64_t number_at(const uint8_t *data, size_t place, uint32_t bytes)
{
    switch (bytes) {
    case 1:
        return data[place];
    case 2:
        return nt_load_le16(data + 2 * place);
    case 4:
        return nt_load_le32(data + 4 * place);
    default:
        return nt_load_le64(data + 8 * place);
    }
}

/* Returns the place of the first number that is none; that of the end where there is none. */
ALWAYS_INLINE size_t gather(const struct nt_value *numbers, uint32_t number_bytes,
                            const struct nt_value *items, uint32_t item_bytes, uint8_t *output)
{
    const uint8_t *from = items->data;
    uint64_t count = items->elements;
    size_t elements = (size_t)numbers->elements, i = 0;
    for (; i < elements; i++) {
        uint64_t number = number_at(numbers->data, i, number_bytes);
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

enum nt_status nt_dictionary_gather(const struct nt_value *numbers, const struct nt_value *items,
                                    uint8_t *output, struct nt_error *error)
{
    size_t done = gather_all(numbers, items, output);
    if (done == numbers->elements)
        return NT_OK;
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                   "element %zu is item %" PRIu64 " of a dictionary that has %" PRIu64, done,
                   number_at(numbers->data, done, numbers->element_bytes), items->elements);
}

/* ---- strings ---- */

static uint64_t end_at(const struct nt_value *ends, uint64_t number)
{
    return nt_load_le64(ends->data + sizeof(uint64_t) * number);
}

enum nt_status nt_dictionary_ends(const struct nt_value *numbers, const struct nt_value *item_ends,
                                  const uint8_t *valid, uint64_t *ends, struct nt_error *error)
{
    uint64_t total = 0;
    for (uint64_t i = 0; i < numbers->elements; i++) {
        if (!valid || valid[i]) {
            uint64_t number = number_at(numbers->data, i, numbers->element_bytes);
            if (number >= item_ends->elements)
                return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                               "element %" PRIu64 " is item %" PRIu64 " of a dictionary that has %" PRIu64, i,
                               number, item_ends->elements);
            uint64_t begin = number ? end_at(item_ends, number - 1) : 0, end = end_at(item_ends, number);
            if (end < begin || end - begin > UINT64_MAX - total)
                return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                               "item %" PRIu64 " of a dictionary ends before it begins", number);
            total += end - begin;
        }
        ends[i] = total;
    }
    return NT_OK;
}

/* Short strings in pieces of constant size, where these have room on both sides: what is too much is overwritten by the
 * next string. `from_room` and `to_room` bytes are there. */
ALWAYS_INLINE void copy_string(uint8_t *to, uint64_t to_room, const uint8_t *from, uint64_t from_room,
                               uint64_t count)
{
    enum { PIECE = 16, SHORT = 4 * PIECE };
    if (count > SHORT || to_room < SHORT || from_room < SHORT) {
        memcpy(to, from, count);
        return;
    }
    for (uint64_t done = 0; done < count; done += PIECE)
        memcpy(to + done, from + done, PIECE);
}

enum nt_status nt_dictionary_bytes(const struct nt_value *numbers, const struct nt_value *item_ends,
                                   const struct nt_value *bytes, const uint64_t *ends, uint8_t *output,
                                   struct nt_error *error)
{
    uint64_t at = 0, total = numbers->elements ? ends[numbers->elements - 1] : 0;
    for (uint64_t i = 0; i < numbers->elements; at = ends[i++]) {
        uint64_t count = ends[i] - at;
        if (!count)
            continue;
        uint64_t end = end_at(item_ends, number_at(numbers->data, i, numbers->element_bytes));
        if (end > bytes->elements)
            return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "end of a dictionary's item, at most",
                                  bytes->elements, end);
        copy_string(output + at, total - at, bytes->data + (end - count), bytes->elements - (end - count),
                    count);
    }
    return NT_OK;
}
