/* SPDX-License-Identifier: MIT
 *
 * Arrow IPC files of one column of uint32, as Lance writes lists of deleted rows.
 */
#ifndef NT_FORMAT_LANCE_DATASET_ARROW_COLUMN_H
#define NT_FORMAT_LANCE_DATASET_ARROW_COLUMN_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* The values of the first column in all record batches, one batch after the other. Anything but NT_OK ends the walk. */
typedef enum nt_status nt_arrow_values(void *context, const uint8_t *values, size_t count,
                                       struct nt_error *error);

/* Walk over the bytes of a file. NT_CORRUPT where they are no Arrow IPC file, its first column has not as many bytes as it
 * has rows, or the batches have more rows than `most_rows` together; NT_UNSUPPORTED where it is compressed by anything but Zstandard, or
 * has more than one column. */
enum nt_status nt_arrow_column_read(const uint8_t *bytes, size_t size, uint64_t most_rows,
                                    nt_arrow_values *take, void *context, struct nt_error *error);

#endif
