/* SPDX-License-Identifier: MIT
 *
 * What is told of a Lance file's metadata beside the model: in JSON, and in the layout of the file.
 */
#ifndef NT_FORMAT_LANCE_DETAILS_H
#define NT_FORMAT_LANCE_DETAILS_H

#include "formats/lance/file/opened.h"

/* As nt_file.describe: of the first data set. */
enum nt_status nt_lance_describe_file(const struct nt_file *file, struct nt_json *json,
                                      struct nt_error *error);

/* Members of an object: where a message lies (NULL: that is told elsewhere), and what it says. */
void nt_lance_put_message(struct nt_json *json, struct nt_proto message, const struct nt_proto_table *table,
                          const struct nt_lance_buffer *range);

/* Members of an object: what the file tells of a page of a column; */
void nt_lance_page_json(struct nt_json *json, const struct nt_lance_page *page);
/* ranges of the file, as a list; */
void nt_lance_buffers_json(struct nt_json *json, const char *key, const struct nt_lance_buffer *buffers,
                           uint64_t count);
/* "type_url" and, where its type is known, "message". */
void nt_lance_message_json(struct nt_json *json, struct nt_text type_url, struct nt_proto message,
                           enum nt_lance_encoding_kind kind);

/* Tail, tables, schema, global buffers, metadata of columns and their own buffers. */
enum nt_status nt_lance_layout_put_own(const struct nt_lance *lance, const struct nt_layout_output *output);

#endif
