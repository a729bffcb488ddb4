/* SPDX-License-Identifier: MIT
 *
 * sizes.svg: a treemap of the stored bytes of a data set by field.
 */
#ifndef NT_VIEW_SIZES_SVG_H
#define NT_VIEW_SIZES_SVG_H

#include <ntuple/model.h>

#include "base/buffer.h"

enum nt_status nt_sizes_svg(struct nt_dataset *dataset, struct nt_buffer *out, struct nt_error *error);

#endif
