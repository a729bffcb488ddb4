/* SPDX-License-Identifier: MIT */
#include "model/path.h"

void nt_append_field_path(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field,
                          char separator)
{
    uint32_t path[NT_MAX_DEPTH + 1], depth = 0;
    for (uint32_t at = field; at != NT_NONE && depth <= NT_MAX_DEPTH; at = dataset->fields[at].parent)
        path[depth++] = at;
    for (uint32_t i = depth; i-- > 0;) {
        nt_buffer_append(out, dataset->fields[path[i]].name.bytes, dataset->fields[path[i]].name.length);
        if (i)
            nt_buffer_byte(out, separator);
    }
}
