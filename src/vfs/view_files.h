/* SPDX-License-Identifier: MIT
 *
 * For the tables: files that src/view makes.
 */
#ifndef NT_VFS_VIEW_FILES_H
#define NT_VFS_VIEW_FILES_H

#include "vfs/pseudo.h"

enum nt_status nt_schema_txt(const struct nt_scope *scope, struct nt_long_text **text_ret,
                             struct nt_error *error);
enum nt_status nt_rows_jsonl(const struct nt_scope *scope, struct nt_long_text **text_ret,
                             struct nt_error *error);
enum nt_status nt_head_jsonl(const struct nt_scope *scope, struct nt_long_text **text_ret,
                             struct nt_error *error);
enum nt_status nt_table_csv(const struct nt_scope *scope, struct nt_long_text **text_ret,
                            struct nt_error *error);
bool nt_has_table_arrow(const struct nt_scope *scope, unsigned parameter);
enum nt_status nt_table_arrow_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                                   struct nt_error *error);
enum nt_status nt_table_arrow_open(const struct nt_scope *scope, struct nt_content **content_ret,
                                   struct nt_error *error);
enum nt_status nt_layout_svg_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                                  struct nt_error *error);
enum nt_status nt_layout_svg_file(const struct nt_scope *scope, struct nt_buffer *out,
                                  struct nt_error *error);
enum nt_status nt_sizes_svg_size(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                                 struct nt_error *error);
enum nt_status nt_sizes_svg_file(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_layout_jsonl(const struct nt_scope *scope, struct nt_long_text **text_ret,
                               struct nt_error *error);

#endif
