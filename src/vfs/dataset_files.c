/* SPDX-License-Identifier: MIT
 *
 * The files of a data set's directory, and of one that cannot be opened. What the format gives itself
 * (header.json, pagelist.<n>.bin, ...) is listed beside them, see sections.c.
 */
#include "vfs/documents.h"
#include "vfs/inner_files.h"
#include "vfs/short_texts.h"
#include "vfs/view_files.h"

static const struct nt_section *const entries_sections[] = {&nt_section_entries, NULL};
static const struct nt_section *const versions_sections[] = {&nt_section_versions, NULL};

#define VERSIONS_ROW                                                                                         \
    {                                                                                                        \
        "versions.d", NT_VFS_DIRECTORY, .exists = nt_has_versions, .sections = versions_sections             \
    }

static const struct nt_pseudo dataset_rows[] = {
    {"ntuple.json", NT_VFS_PRODUCED, .produce = nt_dataset_json},
    {"schema.txt", NT_VFS_UNSIZED, .open_text = nt_schema_txt, .is_short = nt_schema_is_short},
    {"clusters.jsonl", NT_VFS_UNSIZED, .open_text = nt_clusters_jsonl, .is_short = nt_clusters_are_short},
    {"files.jsonl", NT_VFS_UNSIZED, .exists = nt_is_of_chain, .open_text = nt_files_jsonl,
     .is_short = nt_files_are_short},
    {"rows.jsonl", NT_VFS_UNSIZED, .open_text = nt_rows_jsonl, .is_short = nt_rows_are_short},
    {"head.jsonl", NT_VFS_UNSIZED, .open_text = nt_head_jsonl, .is_short = nt_head_is_short},
    {"rows.d", NT_VFS_DIRECTORY, .sections = entries_sections},
    VERSIONS_ROW,
    {"sizes.svg", NT_VFS_PRODUCED, .size = nt_sizes_svg_size, .produce = nt_sizes_svg_file},
    {"table.csv", NT_VFS_UNSIZED, .open_text = nt_table_csv, .is_short = nt_rows_are_short},
    {"table.arrow", NT_VFS_SIZED, .exists = nt_has_table_arrow, .size = nt_table_arrow_size,
     .open = nt_table_arrow_open},
};

const struct nt_pseudo_table nt_dataset_files = {dataset_rows,
                                                 sizeof(dataset_rows) / sizeof(dataset_rows[0])};

static const struct nt_pseudo failed_rows[] = {
    {"error.json", NT_VFS_PRODUCED, .produce = nt_error_json},
    VERSIONS_ROW,
};

const struct nt_pseudo_table nt_failed_files = {failed_rows, sizeof(failed_rows) / sizeof(failed_rows[0])};
