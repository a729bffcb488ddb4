/* SPDX-License-Identifier: MIT
 *
 * In: a range of a source. Out: its bytes, as long as the file is open.
 */
#include "format/lance/bytes.h"

#include <stdlib.h>

uint8_t *nt_lance_read_bytes(struct nt_file *file, const struct nt_lance *lance,
                             const struct nt_lance_buffer *range, enum nt_status *status_ret,
                             struct nt_error *error)
{
    uint8_t *bytes = NULL;
    const struct nt_metadata_range stretch = {.offset = range->offset,
                                              .bytes = range->bytes,
                                              .place =
                                                  nt_lance_place_in_data_file(lance->number, range->offset)};
    enum nt_status status = nt_metadata_read(&file->budget, lance->source, &stretch, &bytes, NULL, error);
    if (status == NT_OK && !nt_arena_adopt(file->arena, bytes)) {
        status = nt_fail_memory(error);
        free(bytes);
        bytes = NULL;
    }
    *status_ret = status;
    return bytes;
}
