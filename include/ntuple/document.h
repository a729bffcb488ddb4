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

/* The clusters of a dataset in the order of entries, one JSON object per line: `first_entry`, `entries` and
 * `stored_bytes`, which counts the pages of these fields (indices), of all below them and of the records and
 * collections around them; `fields` NULL: of all. A cluster is a range of entries that are stored together,
 * so that reading one needs few pages of another. Counts stored entries; of a dataset with a selection also
 * `selected_entries`. A damaged page list adds no bytes, and its clusters may be missing: the cluster before
 * them has their entries. Also NT_INVALID for a field that does not exist, and for a chain
 * with an index before nt_file_resolve. */
NT_CHECKED enum nt_status nt_write_clusters(struct nt_dataset *dataset, const uint32_t *fields,
                                            size_t field_count, nt_take_text *take, void *context,
                                            struct nt_error *error);

/* The files that have the entries of a dataset, in order, one JSON object per line: `file` (nt_file_path; in
 * a chain the path or the whole address, also what messages omit), `dataset` (its path in that file),
 * `first_entry`, `entries`, and `state`, an object that differs if the file was modified or replaced: size,
 * and time or the server's validator, of a file; the version of a dataset with a history. In a chain of a
 * specification, `sample` is the name of the file's sample. A file whose entries cannot be read has `status`
 * and `error` instead of `dataset` and `state`. NT_INVALID for a chain with an index before
 * nt_file_resolve. Reads nothing. */
NT_CHECKED enum nt_status nt_write_files(const struct nt_dataset *dataset, nt_take_text *take, void *context,
                                         struct nt_error *error);

/* Every byte of a file with its owner, one JSON object per line, as layout.jsonl. */
NT_CHECKED enum nt_status nt_write_layout(const struct nt_file *file, nt_take_text *take, void *context,
                                          struct nt_error *error);

NT_API_END

#endif
