/* SPDX-License-Identifier: MIT
 *
 * The files of a data set's directory, and of one that cannot be opened. What the format gives itself
 * (header.json, pagelist.<n>.bin, ...) is listed beside them, see sections.c.
 */
#include "vfs/documents.h"

static const struct nt_pseudo dataset_rows[] = {
    {"ntuple.json", NT_VFS_PRODUCED, .produce = nt_dataset_json},
    {"clusters.jsonl", NT_VFS_STREAMED, .stream = nt_clusters_jsonl},
};

const struct nt_pseudo_table nt_dataset_files = {dataset_rows,
                                                 sizeof(dataset_rows) / sizeof(dataset_rows[0])};

static const struct nt_pseudo failed_rows[] = {
    {"error.json", NT_VFS_PRODUCED, .produce = nt_error_json},
};

const struct nt_pseudo_table nt_failed_files = {failed_rows, sizeof(failed_rows) / sizeof(failed_rows[0])};
