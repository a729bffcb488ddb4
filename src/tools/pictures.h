/* SPDX-License-Identifier: MIT
 *
 * The pictures of a file. Their sizes are known before they are drawn; `out` is empty.
 */
#ifndef NT_VIEW_PICTURES_H
#define NT_VIEW_PICTURES_H

#include "core/base/buffer.h"
#include "core/model/model.h"

/* layout.svg: the file as a strip map. Its bytes run in lines from left to right; each stretch has the colour
 * of its owner's top-level field, or of that field's group (view/field_groups.h). The size follows from the size of
 * the file alone; drawing loads all page lists. */
uint64_t nt_layout_svg_bytes(const struct nt_file *file);
enum nt_status nt_layout_svg(const struct nt_file *file, struct nt_buffer *out, struct nt_error *error);

/* sizes.svg: a treemap of the stored bytes of a data set by group and field. The size follows from the number of
 * columns alone; drawing loads all page lists. */
uint64_t nt_sizes_svg_bytes(const struct nt_dataset *dataset);
enum nt_status nt_sizes_svg(struct nt_dataset *dataset, struct nt_buffer *out, struct nt_error *error);

#endif
