/* SPDX-License-Identifier: MIT
 *
 * In: a column of a side. Out: what it holds of the pages of a column of the file.
 */
#include "formats/lance/file/content.h"

static const struct nt_lance_content_info contents[NT_LANCE_CONTENT_COUNT] = {
    [NT_LANCE_HAS_VALUES] = {"values", NT_TREE_VALUES},
    [NT_LANCE_HAS_BYTES] = {"bytes", NT_TREE_BYTES},
    [NT_LANCE_HAS_ROWS] = {"rows", NT_TREE_VALUES},
    [NT_LANCE_HAS_PLACES] = {"places", NT_TREE_VALUES},
    [NT_LANCE_HAS_LIST_ENDS] = {"list ends", NT_TREE_OFFSETS},
    [NT_LANCE_HAS_NOTHING] = {"unknown", NT_TREE_VALUES},
    [NT_LANCE_HAS_ENDS] = {"ends", NT_TREE_ENDS},
    [NT_LANCE_HAS_LEVELS] = {"levels", NT_TREE_LEVELS},
};

const struct nt_lance_content_info *nt_lance_content_info(enum nt_lance_content content)
{
    return &contents[content];
}

enum nt_lance_content nt_lance_content_of(const struct nt_column *column)
{
    unsigned content = 0;
    while (content < NT_LANCE_HAS_NOTHING && contents[content].name != column->type_name)
        content++;
    for (unsigned i = NT_LANCE_HAS_ENDS; i < NT_LANCE_CONTENT_COUNT; i++)
        content = contents[i].name == column->type_name ? i : content;
    return (enum nt_lance_content)content;
}
