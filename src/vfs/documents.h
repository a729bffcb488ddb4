/* SPDX-License-Identifier: MIT
 *
 * The JSON that is told about each level of the tree. All of it is the same from run to run.
 */
#ifndef NT_VFS_DOCUMENTS_H
#define NT_VFS_DOCUMENTS_H

#include "json/json.h"
#include "vfs/pseudo.h"

/* For the tables: nt_pseudo.produce and .stream. */
enum nt_status nt_file_json(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_error_json(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_dataset_json(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_clusters_jsonl(const struct nt_scope *scope, struct nt_text_stream **stream_ret,
                                 struct nt_error *error);
enum nt_status nt_field_json(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_column_json(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_pages_jsonl(const struct nt_scope *scope, struct nt_text_stream **stream_ret,
                              struct nt_error *error);

/* What the pages of a column sum up to; those of page lists that cannot be read are not counted. */
struct nt_column_sums {
    uint64_t elements, pages;
    uint64_t stored_bytes, packed_bytes, decoded_bytes; /* stored: without checksums */
    uint64_t suppressed_clusters, absent_clusters;
    bool is_complete; /* false: a page list could not be read */
    uint8_t checksum; /* enum nt_checksum_kind of the first page that has one */
};

/* Sums of one column, or of all (NT_NONE). Loads all page lists. */
void nt_column_sums(struct nt_dataset *dataset, uint32_t column, struct nt_column_sums *sums);

/* "ratio": packed to stored bytes, null where nothing is stored. */
void nt_json_ratio(struct nt_json *json, uint64_t packed_bytes, uint64_t stored_bytes);

/* "compression_settings": those that the writer noted for a column (NT_NONE: for all), each once. They are
 * algorithm
 * * 100 + level; page lists that are not loaded are left out. */
void nt_json_member_settings(struct nt_json *json, const struct nt_dataset *dataset, uint32_t column);

/* Whether a group's page list is loaded, whether all are. */
bool nt_group_is_loaded(const struct nt_group *group);
bool nt_is_loaded(const struct nt_dataset *dataset);

/* A member that is the path of a field within its data set, parts joined by '/'. */
void nt_json_member_field_path(struct nt_json *json, const char *key, const struct nt_dataset *dataset,
                               uint32_t field);

#endif
