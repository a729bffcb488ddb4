/* SPDX-License-Identifier: MIT
 *
 * No failure is lost: what the functions of the tree answer with a status passes here, whether or not the
 * caller wants the message, and is remembered (failures.h) and logged once.
 */
#ifndef NT_VFS_REPORT_H
#define NT_VFS_REPORT_H

#include "vfs/scope.h"

/* Pass on what a request for a node came to: returns `status`, copies `failure` to `error` (may be NULL)
 * where it is not NT_OK. */
enum nt_status nt_report(struct nt_vfs *vfs, uint64_t node, enum nt_status status,
                         const struct nt_error *failure, struct nt_error *error);

/* nt_scope_open, whose failures are reported, as is what cannot be opened there. */
enum nt_status nt_report_open(struct nt_vfs *vfs, uint64_t node, struct nt_scope *scope,
                              struct nt_error *error);

/* What the reader and the model find on their own, perhaps ahead of any request. `vfs` is the struct nt_vfs.
 * A page is told under its column's directory, a page list under its data set's. */
void nt_report_page(void *vfs, const struct nt_dataset *dataset, uint32_t column, const struct nt_page *page,
                    const struct nt_error *error);
void nt_report_group(void *vfs, const struct nt_dataset *dataset, uint32_t group,
                     const struct nt_error *error);

/* Try every source, and note those of which nothing can be shown. */
void nt_report_sources(struct nt_vfs *vfs);

#endif
