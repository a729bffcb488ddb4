/* SPDX-License-Identifier: MIT
 *
 * Checked arithmetic for sizes, counts and offsets that come from a file: false when the result does not fit.
 */
#ifndef NT_BASE_OVERFLOW_H
#define NT_BASE_OVERFLOW_H

#include <stdbool.h>
#include <stdint.h>

static inline bool nt_add(uint64_t a, uint64_t b, uint64_t *sum_ret)
{
    return !__builtin_add_overflow(a, b, sum_ret);
}

static inline bool nt_multiply(uint64_t a, uint64_t b, uint64_t *product_ret)
{
    return !__builtin_mul_overflow(a, b, product_ret);
}

/* True where [offset, offset + bytes) lies within [0, size). */
static inline bool nt_fits(uint64_t offset, uint64_t bytes, uint64_t size)
{
    return offset <= size && bytes <= size - offset;
}

#endif
