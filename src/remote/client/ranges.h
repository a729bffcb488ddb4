/* SPDX-License-Identifier: MIT
 *
 * What is asked for of a file that must be waited for, where it is known beforehand what will be read of it.
 */
#ifndef NT_IO_RANGES_H
#define NT_IO_RANGES_H

#include "core/io/source.h"

/* Of extents, in any order, ranges by offset that have all of them: what is no further apart than `gap` bytes is one, the nearest first.
 * In place; how many they are. Those that are not within `size` bytes are left out: who reads them is told. */
size_t nt_ranges_join(struct nt_extent *extents, size_t count, uint64_t size, uint64_t gap);

/* How much of so many bytes is asked for at once: many connections share what is large. */
uint64_t nt_ranges_piece(uint64_t bytes);

#endif
