/* SPDX-License-Identifier: MIT
 *
 * In: a page of the stored side. Out: the page of a file that it is.
 */
#include "formats/lance/file/homes.h"

const struct nt_lance_page *nt_lance_file_page(const struct nt_dataset *stored, uint32_t column,
                                               const struct nt_page *page, struct nt_lance_home *home_ret)
{
    const struct nt_lance_side *side = nt_lance_side_of(stored);
    uint32_t field = stored->columns[column].field,
             part = side->find_part ? side->find_part(stored->whole, page->source) : 0;
    const struct nt_group *group = &stored->groups[nt_groups_of_column(stored, column).first + part];
    const struct nt_range *range = nt_group_range(stored, group, group->first_cluster, column);
    size_t number = (size_t)(page - &group->pages[range->first_page]);
    if (side->find_home(stored->whole, field, part, home_ret, NULL) != NT_OK || !home_ret->lance)
        return NULL;
    return &home_ret->lance->columns[home_ret->use.column].pages[number];
}
