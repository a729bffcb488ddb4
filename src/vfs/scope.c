/* SPDX-License-Identifier: MIT
 *
 * In: an open scope. Out: the numbers of the directories of its fields and columns; its end.
 */
#include "vfs/scope.h"

#include "vfs/opening.h"

void nt_scope_close(struct nt_scope *scope)
{
    nt_places_release(scope->vfs->places, scope->opened);
    scope->opened = NULL;
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
