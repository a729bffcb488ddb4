/* SPDX-License-Identifier: MIT
 *
 * The envelopes as JSON. Each function writes one document or a part of one.
 */
#ifndef NT_FORMAT_RNTUPLE_DOCUMENTS_H
#define NT_FORMAT_RNTUPLE_DOCUMENTS_H

#include "format/rntuple/footer.h"
#include "format/rntuple/rntuple.h"
#include "format/rntuple/schema.h"

enum nt_status nt_header_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                              struct nt_error *error);
enum nt_status nt_footer_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                              struct nt_error *error);
enum nt_status nt_metadata_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                                struct nt_error *error);
enum nt_status nt_predraft_header_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                                       struct nt_error *error);
enum nt_status nt_predraft_footer_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                                       struct nt_error *error);
enum nt_status nt_page_list_json_open(const struct nt_dataset *dataset, uint32_t group,
                                      struct nt_text_stream **stream_ret, struct nt_error *error);

/* The four lists of a schema description as members of an open object. Fields and columns are numbered from
 * `first_field` and `first_column` on, in generations without explicit ids. */
void nt_schema_json(struct nt_json *json, const struct nt_dataset *dataset, const struct nt_schema *schema,
                    uint32_t first_field, uint32_t first_column);
void nt_cluster_summary_json(struct nt_json *json, const struct nt_cluster_summary *summary);
void nt_feature_flags_json(struct nt_json *json, const struct nt_feature_flags *flags);
/* "unknown_bytes", where there are any. */
void nt_unknown_bytes_json(struct nt_json *json, size_t bytes);

#endif
