/* SPDX-License-Identifier: MIT
 *
 * Numbers of several types as numbers of one.
 */
#ifndef NT_CHAIN_NUMBERS_H
#define NT_CHAIN_NUMBERS_H

#include <ntuple/element.h>

/* The widest numbers that a field has in any file, in bytes; 0: none of that sort. */
struct nt_chain_numbers {
    uint32_t unsigned_bytes, signed_bytes, real_bytes;
};

/* Count numbers of a type in. False, and nothing is changed, where it is none: truth values, bytes, dates, what is stored in the
 * other byte order. */
bool nt_chain_numbers_add(struct nt_chain_numbers *numbers, const struct nt_dtype *dtype);

/* The smallest type that holds each of them exactly; NT_ELEMENT_OPAQUE where there is none. */
enum nt_element nt_chain_numbers_element(const struct nt_chain_numbers *numbers);

#endif
