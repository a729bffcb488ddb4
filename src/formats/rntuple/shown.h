/* SPDX-License-Identifier: MIT
 *
 * What is shown of a data set: documents, members of other documents, the layout. The functions of *_json.c
 * write one document or a part of one.
 */
#ifndef NT_FORMAT_RNTUPLE_SHOWN_H
#define NT_FORMAT_RNTUPLE_SHOWN_H

#include "formats/rntuple/dataset.h"
#include "formats/rntuple/footer.h"
#include "formats/rntuple/schema.h"

/* ---- documents.c: header.json, footer.bin, ... ---- */

/* The first of them show bytes as stored: so many need nothing but the place of the anchor, so many its links. */
enum { NT_RNTUPLE_ANCHOR_DOCUMENTS = 1, NT_RNTUPLE_LINKED_DOCUMENTS = 3 };
extern const struct nt_document nt_rntuple_documents[];
extern const uint32_t nt_rntuple_document_count;

/* ---- dataset_json.c: members of ntuple.json, and of pages that lie elsewhere ---- */

enum nt_status nt_rntuple_describe(const struct nt_dataset *dataset, struct nt_json *json);
enum nt_status nt_rntuple_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                        const struct nt_page *page, struct nt_json *json);
const char *nt_rntuple_page_elsewhere(const struct nt_dataset *dataset, const struct nt_page *page);

/* ---- details.c: what only this format knows of fields and columns ---- */

/* Keep it in the data set's arena, for field.json and column.json. */
enum nt_status nt_rntuple_keep_details(struct nt_dataset *dataset, struct nt_rntuple *rntuple,
                                       const struct nt_schema *schema, struct nt_error *error);
void nt_rntuple_describe_field(const struct nt_dataset *dataset, uint32_t field, struct nt_json *json);
void nt_rntuple_describe_column(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json);

/* ---- dataset_layout.c: anchors and envelopes of all data sets, behind the container's own ranges ---- */

enum nt_status nt_rntuple_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                 struct nt_error *error);

/* ---- schema_json.c ---- */

enum nt_status nt_header_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                              struct nt_error *error);
/* The four lists of a schema description as members of an open object. Fields and columns are numbered from
 * `first_field` and `first_column` on, in generations without explicit ids. */
void nt_schema_json(struct nt_json *json, const struct nt_dataset *dataset, const struct nt_schema *schema,
                    uint32_t first_field, uint32_t first_column);

/* ---- footer_json.c ---- */

enum nt_status nt_footer_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                              struct nt_error *error);
void nt_cluster_summary_json(struct nt_json *json, const struct nt_cluster_summary *summary);
/* "feature_flags", the words, and "features", the names of those that are set. */
void nt_feature_flags_json(struct nt_json *json, const struct nt_generation *generation,
                           const struct nt_feature_flags *flags);
/* "unknown_bytes", where there are any. */
void nt_unknown_bytes_json(struct nt_json *json, size_t bytes);

/* ---- page_list_json.c, predraft_json.c, metadata_json.c ---- */

enum nt_status nt_page_list_json_open(const struct nt_dataset *dataset, uint32_t group,
                                      struct nt_long_text **text_ret, struct nt_error *error);
enum nt_status nt_predraft_header_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                                       struct nt_error *error);
enum nt_status nt_predraft_footer_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                                       struct nt_error *error);
enum nt_status nt_metadata_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                                struct nt_error *error);

/* ---- annotated.c: the bytes of header, footer or a page list with what each is ---- */

enum nt_status nt_annotated_open(const struct nt_dataset *dataset, enum nt_envelope_kind kind,
                                 uint32_t number, struct nt_long_text **text_ret, struct nt_error *error);

#endif
