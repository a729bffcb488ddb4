/* SPDX-License-Identifier: MIT
 *
 * For the tables: which texts are short enough to be made for a stat. nt_pseudo.is_short.
 */
#ifndef NT_VFS_SHORT_TEXTS_H
#define NT_VFS_SHORT_TEXTS_H

#include "vfs/pseudo.h"

typedef enum nt_status nt_is_short(const struct nt_scope *scope, bool *is_short_ret, struct nt_error *error);

nt_is_short nt_rows_are_short;     /* rows.jsonl, table.csv */
nt_is_short nt_head_is_short;      /* head.jsonl */
nt_is_short nt_entry_is_short;     /* rows.d/<n>.json */
nt_is_short nt_schema_is_short;    /* schema.txt */
nt_is_short nt_clusters_are_short; /* clusters.jsonl */
nt_is_short nt_files_are_short;    /* files.jsonl */
nt_is_short nt_pages_are_short;    /* pages.jsonl */
nt_is_short nt_layout_is_short;    /* layout.jsonl */
nt_is_short nt_document_is_short;  /* what formats give */

enum { NT_HEAD_ROWS = 100 };

#endif
