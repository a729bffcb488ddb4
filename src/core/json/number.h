/* SPDX-License-Identifier: MIT
 *
 * Numbers as text: integers, and floating-point numbers in the shortest form that reads back to the same
 * bits.
 */
#ifndef NT_JSON_NUMBER_H
#define NT_JSON_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* Room that every text below fits in. No NUL is put at the end; the functions return the length. */
#define NT_NUMBER_TEXT 32

size_t nt_format_unsigned(uint64_t value, char *text);
/* Finite numbers only. Integral values keep ".0" or an exponent, so that they stay recognisable as real
 * numbers. */
size_t nt_format_double(double value, char *text);
size_t nt_format_float(float value, char *text);
size_t nt_format_half(uint16_t bits, char *text); /* of 16 bits */
double nt_half_value(uint16_t bits);
/* The same laid out as Rust's serde_json does: 0.00001 without an exponent, 1e-6 with one of as few digits as it has. */
size_t nt_format_double_unpadded(double value, char *text);

#endif
