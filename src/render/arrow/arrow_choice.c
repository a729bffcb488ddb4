/* SPDX-License-Identifier: MIT
 *
 * Which fields a table has, where not all were asked for: those that were, what is below them, and what is
 * around them.
 */
#include <stdlib.h>

#include "render/arrow/arrow_internal.h"

static void choose_around(struct nt_arrow *arrow, uint32_t field)
{
    for (; field != NT_NONE; field = arrow->dataset->fields[field].parent)
        arrow->is_chosen[field] = true;
}

static void choose_below(struct nt_arrow *arrow, uint32_t field)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(arrow->dataset, field, &count);
    for (uint32_t i = 0; i < count; i++) {
        arrow->is_chosen[children[i]] = true;
        choose_below(arrow, children[i]);
    }
}

/* A union has all of its alternatives, as its types are numbered by them: the outermost one around the field
 * is meant instead. */
static uint32_t unit_of(const struct nt_arrow *arrow, uint32_t field)
{
    uint32_t unit = field;
    for (uint32_t at = field; at != NT_NONE; at = arrow->dataset->fields[at].parent)
        if (arrow->dataset->fields[at].kind == NT_FIELD_VARIANT &&
            arrow->options.unions == NT_ARROW_UNIONS_UNION)
            unit = at;
    return unit;
}

enum nt_status nt_arrow_choose(struct nt_arrow *arrow, struct nt_error *error)
{
    const struct nt_arrow_options *options = &arrow->options;
    if (!options->fields)
        return NT_OK;
    arrow->is_chosen = calloc((size_t)arrow->dataset->field_count + 1, sizeof(bool));
    if (!arrow->is_chosen)
        return nt_fail_memory(error);
    for (size_t i = 0; i < options->field_count; i++) {
        if (options->fields[i] >= arrow->dataset->field_count)
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "there are %u fields, no field %u",
                           arrow->dataset->field_count, options->fields[i]);
        uint32_t unit = unit_of(arrow, options->fields[i]);
        choose_around(arrow, unit);
        choose_below(arrow, unit);
    }
    arrow->options.fields = NULL; /* the caller's, who need not keep them */
    return NT_OK;
}
