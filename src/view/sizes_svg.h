/* SPDX-License-Identifier: MIT
 *
 * sizes.svg: a treemap of the stored bytes of a data set by field.
 */
#ifndef NT_VIEW_SIZES_SVG_H
#define NT_VIEW_SIZES_SVG_H

#include "base/buffer.h"
#include "model/model.h"

/* The size of the picture; from the number of columns alone. */
uint64_t nt_sizes_svg_bytes(const struct nt_dataset *dataset);
/* Loads all page lists. `out` is empty. */
enum nt_status nt_sizes_svg(struct nt_dataset *dataset, struct nt_buffer *out, struct nt_error *error);

#endif
