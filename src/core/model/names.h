/* SPDX-License-Identifier: MIT
 *
 * Fields by their names, where one after another is looked for among many.
 */
#ifndef NT_MODEL_NAMES_H
#define NT_MODEL_NAMES_H

#include "core/model/model.h"

struct nt_field_name {
    struct nt_text text;
    uint32_t field;
    uint32_t place; /* among those that were given */
    uint32_t alike; /* of the first of a name: how many have it, which stand behind it as they came */
    uint32_t taken; /* likewise: the caller's, 0 at first */
};

struct nt_field_names {
    struct nt_field_name *sorted; /* from malloc */
    uint32_t count;
};

/* `fields`: their numbers among the `all` of a data set, whose names stay until deinit. */
enum nt_status nt_field_names_init(struct nt_field_names *names, const struct nt_field *all,
                                   const uint32_t *fields, uint32_t count, struct nt_error *error);
/* Of names that are all 0 nothing. */
void nt_field_names_deinit(struct nt_field_names *names);

/* The first of this name; NULL: there is none. Takes the logarithm of their number. */
struct nt_field_name *nt_field_names_find(const struct nt_field_names *names, struct nt_text text);

#endif
