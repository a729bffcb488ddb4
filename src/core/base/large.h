/* SPDX-License-Identifier: MIT
 *
 * Memory for buffers that are filled again and again. The first touch of the many small pages that a large
 * one lies on costs as much as decoding into them, so huge pages are asked for.
 */
#ifndef NT_BASE_LARGE_H
#define NT_BASE_LARGE_H

#include <stddef.h>

/* At least `bytes` bytes, not initialized; how many there are is told. Sizes come in steps, so that a buffer
 * that grows little by little is not made anew each time. Freed with free(). NULL without memory. */
size_t nt_large_capacity(size_t bytes); /* how many there would be; SIZE_MAX: more than can be */
void *nt_large_new(size_t bytes, size_t *capacity_ret);
/* Exactly so many bytes, on huge pages as far as they fill them, and aligned to one. */
void *nt_huge_new(size_t bytes);

#endif
