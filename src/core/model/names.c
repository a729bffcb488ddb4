/* SPDX-License-Identifier: MIT
 *
 * In: fields. Out: the same, sorted by their names.
 */
#include "core/model/names.h"

#include <stdlib.h>

#include "core/base/text.h"

static int compare(const void *left, const void *right)
{
    const struct nt_field_name *a = left, *b = right;
    int order = nt_texts_compare(a->text, b->text);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

/* Of all of one name, behind each other, the first one. */
static void count_alike(struct nt_field_names *names)
{
    for (uint32_t i = 0, first = 0; i < names->count; i++) {
        if (nt_texts_compare(names->sorted[first].text, names->sorted[i].text))
            first = i;
        names->sorted[first].alike++;
    }
}

enum nt_status nt_field_names_init(struct nt_field_names *names, const struct nt_field *all,
                                   const uint32_t *fields, uint32_t count, struct nt_error *error)
{
    *names = (struct nt_field_names){.sorted = calloc((size_t)count + 1, sizeof(*names->sorted)), count};
    if (!names->sorted)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < count; i++)
        names->sorted[i] =
            (struct nt_field_name){.text = all[fields[i]].name, .field = fields[i], .place = i};
    qsort(names->sorted, count, sizeof(*names->sorted), compare);
    count_alike(names);
    return NT_OK;
}

void nt_field_names_deinit(struct nt_field_names *names)
{
    free(names->sorted);
    *names = (struct nt_field_names){NULL, 0};
}

struct nt_field_name *nt_field_names_find(const struct nt_field_names *names, struct nt_text text)
{
    uint32_t from = 0, to = names->count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (nt_texts_compare(names->sorted[middle].text, text) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from < names->count && nt_texts_are_equal(names->sorted[from].text, text) ? &names->sorted[from]
                                                                                     : NULL;
}
