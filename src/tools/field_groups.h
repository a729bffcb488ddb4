/* SPDX-License-Identifier: MIT
 *
 * Top-level fields whose names begin alike, as writers of flat tables name what belongs together: Jet_pt, Jet_eta; or
 * whose names are numbers that lie together: x10, x11.
 */
#ifndef NT_VIEW_FIELD_GROUPS_H
#define NT_VIEW_FIELD_GROUPS_H

#include "core/base/buffer.h"
#include "core/model/model.h"

/* What of the names of a group's members is the same; of a group of one the whole name. Lives as long as the data set.
 * Of a range of names that end in a number, also the lowest and the highest of them. */
struct nt_field_group {
    struct nt_text name, from, to;
    uint32_t first, count; /* its members */
};

struct nt_field_groups {
    struct nt_field_group *items; /* in the order of their first members */
    uint32_t count;
    uint32_t *members;  /* fields, group by group, in their order */
    uint32_t *of_field; /* [field]: the group of its top-level field */
};

/* Few fields are groups of one each. Free with nt_field_groups_deinit, also after a failure. */
enum nt_status nt_field_groups_init(struct nt_field_groups *groups, const struct nt_dataset *dataset,
                                    struct nt_error *error);
void nt_field_groups_deinit(struct nt_field_groups *groups);

/* "Jet_* (12 fields)", "x10 … 19 (10 fields)", or the name of a single field. */
void nt_append_field_group(struct nt_buffer *out, const struct nt_field_group *group);

#endif
