/* SPDX-License-Identifier: MIT
 *
 * The JSON that is told about each level of the tree. All of it is the same from run to run.
 */
#ifndef NT_VFS_DOCUMENTS_H
#define NT_VFS_DOCUMENTS_H

#include "core/json/json.h"
#include "vfs/pseudo.h"
#include "render/column_sums.h"

/* For the tables: nt_pseudo.produce and .open_text. */
enum nt_status nt_file_json(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_error_json(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_dataset_json(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_clusters_jsonl(const struct nt_scope *scope, struct nt_long_text **text_ret,
                                 struct nt_error *error);
enum nt_status nt_files_jsonl(const struct nt_scope *scope, struct nt_long_text **text_ret,
                              struct nt_error *error);
enum nt_status nt_field_json(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_column_json(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_pages_jsonl(const struct nt_scope *scope, struct nt_long_text **text_ret,
                              struct nt_error *error);

/* "ratio": packed to stored bytes, null where nothing is stored. */
void nt_json_ratio(struct nt_json *json, uint64_t packed_bytes, uint64_t stored_bytes);

/* "compression_settings": those that the writer noted for a column (NT_NONE: for all), each once. A setting
 * is 100 times the algorithm, plus the level; page lists that are not loaded are left out. */
void nt_json_member_settings(struct nt_json *json, const struct nt_dataset *dataset, uint32_t column);

/* "path": where a data set lies below the directory of its file, null where no path is that long. */
void nt_json_member_dataset_path(struct nt_json *json, const struct nt_open_file *opened, uint32_t dataset);

#endif
