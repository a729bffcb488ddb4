/* SPDX-License-Identifier: MIT
 *
 * In: the types that a field has in several files. Out: the one that it has in the chain, whatever the files' order: what NumPy
 * promotes them to, where no number is lost by it.
 */
#include "chain/numbers.h"

#include <string.h>

#include "core/model/model.h"

enum { WIDEST = 8 };

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static bool are_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Elements that mean more than their number have other names. */
static bool is_plain(const struct nt_dtype *dtype)
{
    const struct nt_dtype plain = nt_element_dtype(dtype->element);
    return !dtype->is_big_endian && dtype->number == dtype->element && dtype->bytes == plain.bytes &&
           are_equal(dtype->numpy, plain.numpy) && are_equal(dtype->arrow, plain.arrow);
}

bool nt_chain_numbers_add(struct nt_chain_numbers *numbers, const struct nt_dtype *dtype)
{
    uint32_t *bytes;
    switch (dtype->element) {
    case NT_ELEMENT_UINT8:
    case NT_ELEMENT_UINT16:
    case NT_ELEMENT_UINT32:
    case NT_ELEMENT_UINT64:
        bytes = &numbers->unsigned_bytes;
        break;
    case NT_ELEMENT_INT8:
    case NT_ELEMENT_INT16:
    case NT_ELEMENT_INT32:
    case NT_ELEMENT_INT64:
        bytes = &numbers->signed_bytes;
        break;
    case NT_ELEMENT_REAL16:
    case NT_ELEMENT_REAL32:
    case NT_ELEMENT_REAL64:
        bytes = &numbers->real_bytes;
        break;
    default:
        return false;
    }
    if (!is_plain(dtype))
        return false;
    *bytes = larger(*bytes, dtype->bytes);
    return true;
}

/* A real has room for the integers of half its bytes: 11, 24 and 53 bits of 16, 32 and 64. */
static uint32_t needed_bytes(const struct nt_chain_numbers *numbers)
{
    uint32_t integers = larger(numbers->signed_bytes, numbers->unsigned_bytes);
    if (numbers->real_bytes)
        return larger(numbers->real_bytes, integers * 2);
    if (numbers->signed_bytes)
        return larger(numbers->signed_bytes, numbers->unsigned_bytes * 2);
    return numbers->unsigned_bytes;
}

enum nt_element nt_chain_numbers_element(const struct nt_chain_numbers *numbers)
{
    static const enum nt_element signed_elements[WIDEST + 1] = {
        [1] = NT_ELEMENT_INT8, [2] = NT_ELEMENT_INT16, [4] = NT_ELEMENT_INT32, [8] = NT_ELEMENT_INT64};
    static const enum nt_element unsigned_elements[WIDEST + 1] = {
        [1] = NT_ELEMENT_UINT8, [2] = NT_ELEMENT_UINT16, [4] = NT_ELEMENT_UINT32, [8] = NT_ELEMENT_UINT64};
    static const enum nt_element reals[WIDEST + 1] = {
        [2] = NT_ELEMENT_REAL16, [4] = NT_ELEMENT_REAL32, [8] = NT_ELEMENT_REAL64};
    uint32_t bytes = needed_bytes(numbers);
    if (!bytes || bytes > WIDEST)
        return NT_ELEMENT_OPAQUE;
    if (numbers->real_bytes)
        return reals[bytes];
    return numbers->signed_bytes ? signed_elements[bytes] : unsigned_elements[bytes];
}
