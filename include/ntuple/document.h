/* SPDX-License-Identifier: MIT
 *
 * Descriptions of a file and its datasets as text: the documents of the mounted tree (docs/tree.md).
 */
#ifndef NTUPLE_DOCUMENT_H
#define NTUPLE_DOCUMENT_H

#include <ntuple/api.h>
#include <ntuple/dataset.h>
#include <ntuple/read.h>

NT_API_BEGIN

/* Receives the next `count` bytes of a document in UTF-8; they are valid during the call and not
 * terminated. Returning false ends the document with NT_CANCELED. */
typedef bool nt_take_text(void *context, const char *bytes, size_t count);

/* All functions load the page lists and call `take` with the text in pieces, from the calling thread,
 * while they write it. Any thread. NT_NO_MEMORY, NT_CANCELED, the failure of a dataset that did not
 * open, and the failures of reading. */

/* The fields with their types, one per line, as schema.txt. */
NT_CHECKED enum nt_status nt_write_schema_lines(struct nt_reader *reader, struct nt_dataset *dataset,
                                                nt_take_text *take, void *context, struct nt_error *error);

/* The same as one JSON object with `fields`, as `ntuple schema --json` prints for a dataset. */
NT_CHECKED enum nt_status nt_write_schema_json(struct nt_reader *reader, struct nt_dataset *dataset,
                                               nt_take_text *take, void *context, struct nt_error *error);

/* Every byte of a file with its owner, one JSON object per line, as layout.jsonl. */
NT_CHECKED enum nt_status nt_write_layout(const struct nt_file *file, nt_take_text *take, void *context,
                                          struct nt_error *error);

NT_API_END

#endif
