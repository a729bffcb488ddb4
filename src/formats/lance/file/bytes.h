/* SPDX-License-Identifier: MIT
 *
 * Metadata of a Lance file that stay in memory.
 */
#ifndef NT_FORMAT_LANCE_BYTES_H
#define NT_FORMAT_LANCE_BYTES_H

#include "formats/lance/file/opened.h"
#include "core/model/metadata.h"

/* Bytes of a Lance file, in its memory; NULL with the failure in *status_ret. The range lies
 * in the source. */
uint8_t *nt_lance_read_bytes(const struct nt_lance *lance, const struct nt_lance_buffer *range,
                             enum nt_status *status_ret, struct nt_error *error);

/* Places of metadata in data files, in deletion files of fragments (by their first data file), and in the manifest, which have one
 * budget. */
static inline uint64_t nt_lance_place_in_data_file(uint32_t number, uint64_t offset)
{
    return nt_place_in_file(1 + 2 * (uint64_t)number, offset);
}
static inline uint64_t nt_lance_place_in_deletion_file(uint32_t first_file, uint64_t offset)
{
    return nt_place_in_file(2 + 2 * (uint64_t)first_file, offset);
}

#endif
