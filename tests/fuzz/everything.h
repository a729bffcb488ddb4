/* SPDX-License-Identifier: MIT
 *
 * Reads all contents of an open file, as a reader of a whole mount does.
 */
#pragma once

#include <ntuple/read.h>

#include "core/model/model.h"
#include "core/io/source.h"
#include "formats/formats.h"

/* Receives the status of each stream. `bytes` is NULL for failures and streams above the limit. */
typedef void everything_stream(void *context, uint32_t dataset, uint32_t field, enum nt_stream_kind kind,
                               enum nt_status status, const uint8_t *bytes, uint64_t count);

/* Reads page lists, documents, layout, columns and streams; of each column and stream at most
 * EVERYTHING_BYTES. `told` may be NULL. */
enum { EVERYTHING_BYTES = 1 << 20 };
void read_everything(struct nt_file *file, everything_stream *report, void *context);

/* Opens a source as a file of a format, reads everything and closes the source. Returns NT_OK if a dataset
 * opens, else the failure of the first dataset. */
enum nt_status open_and_read(const struct nt_format *format, struct nt_source *source,
                             everything_stream *report, void *context);
