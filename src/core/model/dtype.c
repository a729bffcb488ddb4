/* SPDX-License-Identifier: MIT
 *
 * In: an element. Out: the type of a stream or column of such elements: what NumPy and Arrow call it (Arrow C
 * data interface, "Data type description").
 */
#include "core/model/model.h"

static const char *const arrow_formats[NT_ELEMENT_COUNT] = {
    [NT_ELEMENT_BOOL] = "b",   [NT_ELEMENT_BYTE] = "C",   [NT_ELEMENT_INT8] = "c",
    [NT_ELEMENT_UINT8] = "C",  [NT_ELEMENT_INT16] = "s",  [NT_ELEMENT_UINT16] = "S",
    [NT_ELEMENT_INT32] = "i",  [NT_ELEMENT_UINT32] = "I", [NT_ELEMENT_INT64] = "l",
    [NT_ELEMENT_UINT64] = "L", [NT_ELEMENT_REAL16] = "e", [NT_ELEMENT_REAL32] = "f",
    [NT_ELEMENT_REAL64] = "g",
};

/* A Switch is a structure. */
static const struct nt_dtype index_dtype = {
    .element = NT_ELEMENT_UINT64, .bytes = 8, .number = NT_ELEMENT_UINT64, .numpy = "<u8", .arrow = "L"};
static const struct nt_dtype tag_dtype = {
    .element = NT_ELEMENT_UINT32, .bytes = 4, .number = NT_ELEMENT_UINT32, .numpy = "<u4", .arrow = "I"};
static const struct nt_dtype_member switch_members[] = {
    {.name = {"index", 5}, .dtype = &index_dtype},
    {.name = {"tag", 3}, .dtype = &tag_dtype},
};

struct nt_dtype nt_element_dtype(enum nt_element element)
{
    const struct nt_element_row *info = nt_element_info(element);
    bool is_switch = element == NT_ELEMENT_SWITCH;
    return (struct nt_dtype){
        .element = element,
        .bytes = info->bytes,
        .number = is_switch ? NT_ELEMENT_OPAQUE : element,
        .numpy = info->dtype,
        .arrow = arrow_formats[element],
        .members = is_switch ? switch_members : NULL,
        .member_count = is_switch ? sizeof(switch_members) / sizeof(*switch_members) : 0,
    };
}
