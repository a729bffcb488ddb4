/* SPDX-License-Identifier: MIT
 *
 * Metadata of a Lance file that stay in memory.
 */
#ifndef NT_FORMAT_LANCE_BYTES_H
#define NT_FORMAT_LANCE_BYTES_H

#include "format/lance/opened.h"

/* A source's bytes, the file's arena's and counted in its budget; NULL with the failure in *status_ret. The range lies in
 * the source. */
uint8_t *nt_lance_read_bytes(struct nt_file *file, struct nt_source *source,
                             const struct nt_lance_buffer *range, enum nt_status *status_ret,
                             struct nt_error *error);

#endif
