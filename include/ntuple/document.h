/* SPDX-License-Identifier: MIT
 *
 * What a file and its datasets are, as text: the same documents as in the mounted tree (docs/tree.md).
 */
#ifndef NTUPLE_DOCUMENT_H
#define NTUPLE_DOCUMENT_H

#include <ntuple/api.h>
#include <ntuple/dataset.h>
#include <ntuple/read.h>

NT_API_BEGIN

/* Takes the next bytes of a document, UTF-8; false ends it with NT_CANCELED. */
typedef bool nt_take_text(void *context, const char *bytes, size_t count);

/* All functions load the page lists; pieces are handed over as they are made, by the calling thread. Any thread.
 * NT_NO_MEMORY, NT_CANCELED, and the failure of a dataset that could not be opened. */

/* The fields with their types, a line each, as schema.txt. */
NT_CHECKED enum nt_status nt_write_schema_lines(struct nt_reader *reader, struct nt_dataset *dataset,
                                                nt_take_text *take, void *context, struct nt_error *error);

/* The same as one JSON object with `fields`, as `ntuple schema --json` tells of a dataset. */
NT_CHECKED enum nt_status nt_write_schema_json(struct nt_reader *reader, struct nt_dataset *dataset,
                                               nt_take_text *take, void *context, struct nt_error *error);

/* Every byte of a file with its owner, a JSON object a line, as layout.jsonl. */
NT_CHECKED enum nt_status nt_write_layout(const struct nt_file *file, nt_take_text *take, void *context,
                                          struct nt_error *error);

NT_API_END

#endif
