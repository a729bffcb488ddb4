/* SPDX-License-Identifier: MIT
 *
 * Fields that Arrow cannot express, each with the reason.
 */
#include "core/base/grow.h"
#include "render/arrow/arrow_internal.h"

enum nt_status nt_arrow_leave_out(struct nt_arrow *arrow, uint32_t field, const char *reason,
                                  struct nt_error *error)
{
    struct nt_arrow_left_out *left_out =
        nt_grow(arrow->left_out, arrow->left_out_count, &arrow->left_out_capacity, sizeof(*left_out));
    if (!left_out)
        return nt_fail_memory(error);
    arrow->left_out = left_out;
    left_out[arrow->left_out_count++] = (struct nt_arrow_left_out){field, reason};
    return NT_OK;
}

uint32_t nt_arrow_left_out(const struct nt_arrow *arrow)
{
    return arrow->left_out_count;
}

uint32_t nt_arrow_left_out_field(const struct nt_arrow *arrow, uint32_t number, const char **reason_ret)
{
    *reason_ret = arrow->left_out[number].reason;
    return arrow->left_out[number].field;
}
