/* SPDX-License-Identifier: MIT
 *
 * Reading everything that an open file has, as a mount does when all its files are read.
 */
#ifndef NT_TESTS_EVERYTHING_H
#define NT_TESTS_EVERYTHING_H

#include <ntuple/read.h>

#include "core/model/model.h"
#include "core/io/source.h"

/* Told of every stream of every field: its bytes where it could be read whole, else the status. `bytes` is
 * NULL where it failed or is larger than what is read of it. */
typedef void everything_stream(void *context, uint32_t dataset, uint32_t field, enum nt_stream_kind kind,
                               enum nt_status status, const uint8_t *bytes, uint64_t count);

/* Page lists, documents, layout, columns and streams. At most EVERYTHING_BYTES are read of each column and
 * stream. `told` may be NULL. */
enum { EVERYTHING_BYTES = 1 << 20 };
void read_everything(struct nt_file *file, everything_stream *told, void *context);

/* Open a source as an RNTuple file and read everything. NT_OK where at least one dataset opened, else why
 * the first did not. The source is closed. */
enum nt_status open_and_read(struct nt_source *source, everything_stream *told, void *context);

#endif
