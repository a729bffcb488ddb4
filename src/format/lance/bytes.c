/* SPDX-License-Identifier: MIT
 *
 * In: a range of a source. Out: its bytes, as long as the file is open.
 */
#include "format/lance/bytes.h"

#include <stdlib.h>

uint8_t *nt_lance_read_bytes(struct nt_file *file, struct nt_source *source,
                             const struct nt_lance_buffer *range, enum nt_status *status_ret,
                             struct nt_error *error)
{
    uint8_t *bytes = NULL;
    enum nt_status status =
        nt_budget_take(&file->budget, NT_COST_ENVELOPE_BYTE, range->bytes, range->offset, error);
    if (status == NT_OK) {
        bytes = malloc(range->bytes + 1);
        status = bytes ? NT_OK : nt_fail_memory(error);
    }
    if (status == NT_OK)
        status = nt_source_read(source, range->offset, bytes, range->bytes, error);
    if (status == NT_OK && !nt_arena_adopt(file->arena, bytes))
        status = nt_fail_memory(error);
    if (status != NT_OK) {
        free(bytes);
        bytes = NULL;
    }
    *status_ret = status;
    return bytes;
}
