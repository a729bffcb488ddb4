/* SPDX-License-Identifier: MIT
 *
 * In: a directory. Out: the table of its files, and whether a name is one of a file's topmost directory.
 */
#include "vfs/pseudo.h"

#include "core/base/text.h"

static const struct nt_pseudo_table no_files = {NULL, 0};

const struct nt_pseudo_table *nt_scope_files(const struct nt_scope *scope)
{
    switch (scope->node.level) {
    case NT_LEVEL_PLACE:
        if (scope->place_kind == NT_PLACE_FAILED)
            return &nt_failed_files;
        return scope->file && scope->node.item == 0 ? &nt_container_files : &no_files;
    case NT_LEVEL_MOUNT:
        return &nt_mount_files;
    case NT_LEVEL_DATASET:
        return scope->dataset->failure ? &nt_failed_files : &nt_dataset_files;
    case NT_LEVEL_FIELD:
        return &nt_field_files;
    case NT_LEVEL_COLUMN:
        return &nt_column_files;
    default:
        return &no_files;
    }
}

bool nt_is_container_file(const struct nt_file *file, struct nt_text name)
{
    for (unsigned row = 0; row < nt_container_files.count; row++)
        if (nt_text_is(name, nt_container_files.rows[row].name))
            return true;
    for (uint32_t i = 0; i < file->document_count; i++)
        if (nt_document_is(&file->documents[i], name))
            return true;
    return false;
}
