/* SPDX-License-Identifier: MIT
 *
 * layout.svg: the file as a strip map. Its bytes run in lines from left to right; each stretch has the colour
 * of its owner's top-level field.
 */
#ifndef NT_VIEW_LAYOUT_SVG_H
#define NT_VIEW_LAYOUT_SVG_H

#include "base/buffer.h"
#include "model/model.h"

/* The size of the picture; from the size of the file alone. */
uint64_t nt_layout_svg_bytes(const struct nt_file *file);
/* Loads all page lists. `out` is empty. */
enum nt_status nt_layout_svg(const struct nt_file *file, struct nt_buffer *out, struct nt_error *error);

#endif
