/* SPDX-License-Identifier: MIT
 *
 * Decimal numbers of fixed precision, as Arrow has them: integers of 128 or 256 bits, times a power of ten.
 */
#ifndef NT_JSON_DECIMAL_H
#define NT_JSON_DECIMAL_H

#include <ntuple/element.h>

#include "core/base/buffer.h"

struct nt_decimal {
    uint32_t precision, bits;
    int32_t scale; /* digits behind the point; below 0: zeros in front of it that are not stored */
};

/* Whether elements are decimals, as their Arrow format tells ("d:10,2", "d:50,3,256"), and which. */
bool nt_decimal_of(const struct nt_dtype *dtype, struct nt_decimal *decimal_ret);
/* Append the exact number: "-1.05". */
void nt_decimal_append(struct nt_buffer *out, const struct nt_decimal *decimal, const uint8_t *bytes);

#endif
