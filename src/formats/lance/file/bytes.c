/* SPDX-License-Identifier: MIT
 *
 * In: a range of a source. Out: its bytes, as long as its memory is kept.
 */
#include "formats/lance/file/bytes.h"

#include <stdlib.h>

enum nt_status nt_lance_take(struct nt_lance_memory *memory, enum nt_cost cost, uint64_t count,
                             uint64_t offset, struct nt_error *error)
{
    enum nt_status status = nt_budget_take(&memory->file->budget, cost, count, offset, error);
    if (status == NT_OK)
        memory->taken += count * nt_cost_info(cost)->bytes;
    return status;
}

uint8_t *nt_lance_read_bytes(const struct nt_lance *lance, const struct nt_lance_buffer *range,
                             enum nt_status *status_ret, struct nt_error *error)
{
    uint8_t *bytes = NULL;
    const struct nt_metadata_range stretch = {.offset = range->offset,
                                       .bytes = range->bytes,
                                       .place = nt_lance_place_in_data_file(lance->number, range->offset)};
    enum nt_status status =
        nt_metadata_read(&lance->memory->file->budget, lance->source, &stretch, &bytes, NULL, error);
    if (status == NT_OK)
        lance->memory->taken += range->bytes;
    if (status == NT_OK && !nt_arena_adopt(lance->memory->arena, bytes)) {
        status = nt_fail_memory(error);
        free(bytes);
        bytes = NULL;
    }
    *status_ret = status;
    return bytes;
}
