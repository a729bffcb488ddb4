/* SPDX-License-Identifier: MIT
 *
 * The documents of a Lance file's data set: footer.json, schema.json, metadata.json, and the bytes of messages.
 */
#ifndef NT_FORMAT_LANCE_DOCUMENTS_H
#define NT_FORMAT_LANCE_DOCUMENTS_H

#include "formats/lance/file/opened.h"

extern const struct nt_document nt_lance_documents[];
extern const uint32_t nt_lance_document_count;

/* The footer's and the schema's, of legacy files, too. As members of nt_document. */
enum nt_status nt_lance_write_footer(const struct nt_file *file, const struct nt_dataset *dataset,
                                     uint64_t number, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_lance_write_schema(const struct nt_file *file, const struct nt_dataset *dataset,
                                     uint64_t number, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_lance_write_schema_bytes(const struct nt_file *file, const struct nt_dataset *dataset,
                                           uint64_t number, struct nt_buffer *out, struct nt_error *error);
uint64_t nt_lance_schema_bytes(const struct nt_dataset *dataset, uint64_t number);

#endif
