/* SPDX-License-Identifier: MIT
 *
 * In: an open scope. Out: what it stands for with its entries; the numbers of the directories of its fields and columns; whether
 * somebody waits; its end.
 */
#include "vfs/scope.h"

#include "vfs/opening.h"

void nt_scope_close(struct nt_scope *scope)
{
    nt_places_release(scope->vfs->places, scope->opened);
    scope->opened = NULL;
}

enum nt_status nt_scope_complete(struct nt_scope *scope, bool may_work, struct nt_error *error)
{
    struct nt_file *file = scope->file;
    if (!file || !file->complete || (scope->dataset && scope->dataset->failure))
        return NT_OK;
    if (!may_work && !nt_file_is_complete(file))
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "not all files are open");
    enum nt_status status = nt_file_complete(file, &file, error);
    struct nt_dataset *dataset = scope->dataset;
    if (status == NT_OK && dataset)
        dataset = file->datasets[dataset->index];
    if (status == NT_OK && dataset && dataset->failure)
        status = nt_fail_with(error, dataset->failure);
    if (status != NT_OK)
        return status;
    scope->file = file;
    scope->dataset = dataset;
    return NT_OK;
}

bool nt_scope_is_changing(const struct nt_scope *scope)
{
    return scope->node.level == NT_LEVEL_MOUNT || scope->place_kind == NT_PLACE_FAILED ||
           (scope->document && scope->document->changes);
}

enum nt_status nt_scope_check_caller(const struct nt_scope *scope, struct nt_error *error)
{
    const struct nt_vfs_caller *caller = scope->caller;
    if (caller && caller->is_gone(caller->context))
        return nt_fail(error, NT_CANCELED, NT_NO_OFFSET, "the caller gave up");
    return NT_OK;
}

uint64_t nt_scope_field_node(const struct nt_scope *scope, uint32_t field)
{
    return nt_node_number(NT_LEVEL_FIELD, scope->opened->first_slot + scope->dataset->index, field,
                          NT_NODE_SELF);
}

uint64_t nt_scope_column_node(const struct nt_scope *scope, uint32_t column)
{
    return nt_node_number(NT_LEVEL_COLUMN, scope->opened->first_slot + scope->dataset->index, column,
                          NT_NODE_SELF);
}

void nt_vfs_before_slow_work(void *context)
{
    const struct nt_vfs *vfs = context;
    if (vfs->options.before_slow_work)
        vfs->options.before_slow_work(vfs->options.context);
}
