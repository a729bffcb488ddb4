/* SPDX-License-Identifier: MIT
 *
 * Serializations of bitmaps that are none of ours.
 */
#ifndef NT_FORMAT_ROARING_RELATIVE_H
#define NT_FORMAT_ROARING_RELATIVE_H

#include "io/source.h"

/* The name of the serialization that looks like the start (and for one the end) of the source, or NULL:
 * formats of Roaring libraries that are not the portable one. */
const char *nt_roaring_relative(struct nt_source *source);

#endif
