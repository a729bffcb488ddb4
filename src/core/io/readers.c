/* SPDX-License-Identifier: MIT
 *
 * In: the modes and owners of what is shown and of a part of it. Out: which read bits of the one hold for the
 * other. Who is in a group is not known: where owners or groups differ, somebody may be judged by any of the
 * part's three sets of bits.
 */
#include "core/io/beneath.h"

#include <stdbool.h>

mode_t nt_readers_of_part(const struct stat *shown, mode_t mode, const struct stat *part)
{
    mode_t bits = S_ISDIR(part->st_mode) ? (part->st_mode & 0111) << 2 : part->st_mode & 0444;
    bool is_owner = part->st_uid == shown->st_uid, is_group = part->st_gid == shown->st_gid;
    bool for_owner = bits & S_IRUSR, for_group = bits & S_IRGRP, for_others = bits & S_IROTH;
    bool may_owner = is_owner ? for_owner : for_group && for_others;
    bool may_group = (is_owner || for_owner) && for_group && (is_group || for_others);
    bool may_others = (is_owner || for_owner) && (is_group || for_group) && for_others;
    mode_t may = (may_owner ? S_IRUSR : 0) | (may_group ? S_IRGRP : 0) | (may_others ? S_IROTH : 0);
    return mode & may;
}
