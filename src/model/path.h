/* SPDX-License-Identifier: MIT
 *
 * What a field is called in documents and messages.
 */
#ifndef NT_MODEL_PATH_H
#define NT_MODEL_PATH_H

#include <ntuple/model.h>

#include "base/buffer.h"

/* The names of a field and its ancestors, outermost first, with `separator` between, byte for byte. */
void nt_append_field_path(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field,
                          char separator);

#endif
