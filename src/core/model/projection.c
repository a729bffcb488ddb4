/* SPDX-License-Identifier: MIT
 *
 * The names under which users know stored fields. RNTupleImporter stores jagged branches in untyped
 * collections (`_collection0`), and projected fields show them: Jet_pt, Jet_mass, nJet.
 */
#include "core/model/model.h"

#include "core/model/field.h"

/* [field]: a projected field that shows it, first of all the number of its items; else NT_NONE. */
static uint32_t *find_projected(const struct nt_dataset *dataset)
{
    uint32_t *projected = calloc((size_t)dataset->field_count + 1, sizeof(*projected));
    for (uint32_t i = 0; projected && i < dataset->field_count; i++)
        projected[i] = NT_NONE;
    for (uint32_t i = 0; projected && i < dataset->field_count; i++) {
        uint32_t source = nt_field_source(&dataset->fields[i]);
        if (source != NT_NONE &&
            (projected[source] == NT_NONE || dataset->fields[i].kind == NT_FIELD_CARDINALITY))
            projected[source] = i;
    }
    return projected;
}

/* The field whose items are those of `field`, if it is projected, too. */
static uint32_t without_items(const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t parent = dataset->fields[field].parent;
    while (parent != NT_NONE && nt_field_source(&dataset->fields[parent]) != NT_NONE &&
           nt_field_has_nameless_item(&dataset->fields[parent])) {
        field = parent;
        parent = dataset->fields[field].parent;
    }
    return field;
}

static bool is_untyped(const struct nt_field *field)
{
    return field->type.length == 0 && (field->kind == NT_FIELD_COLLECTION || field->kind == NT_FIELD_RECORD);
}

enum nt_status nt_shown_fields(const struct nt_dataset *dataset, uint32_t **shown_ret, struct nt_error *error)
{
    NT_AUTO_FREE uint32_t *shown = calloc((size_t)dataset->field_count + 1, sizeof(*shown));
    NT_AUTO_FREE uint32_t *projected = find_projected(dataset);
    NT_AUTO_FREE bool *is_hidden = calloc((size_t)dataset->field_count + 1, sizeof(*is_hidden));
    NT_TRY(nt_check_memory(shown && projected && is_hidden, error));
    for (uint32_t i = 0; i < dataset->field_count; i++)
        is_hidden[i] = dataset->fields[i].parent == NT_NONE && is_untyped(&dataset->fields[i]) &&
                       projected[i] != NT_NONE;
    for (uint32_t i = 0; i < dataset->field_count; i++)
        if (dataset->fields[i].column_count && projected[i] == NT_NONE)
            is_hidden[nt_field_top(dataset, i)] = false;
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        uint32_t top = nt_field_top(dataset, i), by = projected[projected[i] == NT_NONE ? top : i];
        shown[i] = is_hidden[top] ? without_items(dataset, by) : i;
    }
    *shown_ret = shown;
    shown = NULL;
    return NT_OK;
}

enum nt_status nt_shown_top_fields(const struct nt_dataset *dataset, uint32_t **fields_ret,
                                   uint32_t *count_ret, struct nt_error *error)
{
    uint32_t all;
    const uint32_t *tops = nt_dataset_children(dataset, NT_NONE, &all);
    NT_AUTO_FREE uint32_t *shown = NULL;
    *fields_ret = NULL;
    *count_ret = 0;
    NT_TRY(nt_shown_fields(dataset, &shown, error));
    *fields_ret = calloc((size_t)all + 1, sizeof(**fields_ret));
    NT_TRY(nt_check_memory(*fields_ret, error));
    for (uint32_t i = 0; i < all; i++)
        if (shown[tops[i]] == tops[i])
            (*fields_ret)[(*count_ret)++] = tops[i];
    return NT_OK;
}
