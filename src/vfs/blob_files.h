/* SPDX-License-Identifier: MIT
 *
 * For the table of a field that describes blobs: their bytes and offsets, as those of any binary field.
 */
#ifndef NT_VFS_BLOB_FILES_H
#define NT_VFS_BLOB_FILES_H

#include "vfs/pseudo.h"

/* Whether a field has files of such a stream: its own, or those of the blobs that it describes. */
bool nt_field_shows(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind);

/* Rows' parameters: an enum nt_stream_kind, data or offsets. */
bool nt_has_blobs(const struct nt_scope *scope, unsigned unused);
enum nt_status nt_blobs_bin_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                                 struct nt_error *error);
enum nt_status nt_blobs_npy_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                                 struct nt_error *error);
enum nt_status nt_blobs_bin_open(const struct nt_scope *scope, struct nt_content **content_ret,
                                 struct nt_error *error);
enum nt_status nt_blobs_npy_open(const struct nt_scope *scope, struct nt_content **content_ret,
                                 struct nt_error *error);

#endif
