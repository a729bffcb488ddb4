/* SPDX-License-Identifier: MIT
 *
 * Sources that only give an error, for chunks that are not there.
 */
#ifndef NT_FORMAT_BLZ_FAILURE_H
#define NT_FORMAT_BLZ_FAILURE_H

#include "formats/blz/opened.h"
#include "core/io/source.h"

/* They stand at the end of the data set's sources, in this order. */
enum nt_blz_failure {
    NT_BLZ_FILE_MISSING,
    NT_BLZ_HEADER_DAMAGED,
    NT_BLZ_CHUNK_DAMAGED,
    NT_BLZ_CHUNK_LOST,
    NT_BLZ_SUPERCHUNK_DAMAGED,
    NT_BLZ_ROWS_NOT_PLACED,
    NT_BLZ_ROWS_MISSING,
    NT_BLZ_FAILURE_COUNT
};

/* A source whose every read is the given error, or NT_CHANGED where the folder has another state by now. `blz` outlives it. */
enum nt_status nt_blz_failure_source(enum nt_blz_failure failure, const struct nt_blz *blz,
                                     struct nt_source **source_ret, struct nt_error *error);

#endif
