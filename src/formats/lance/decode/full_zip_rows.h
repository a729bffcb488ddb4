/* SPDX-License-Identifier: MIT
 *
 * Rows of full-zip pages that have levels, or values of several lengths.
 */
#ifndef NT_CODEC_TREE_FULL_ZIP_ROWS_H
#define NT_CODEC_TREE_FULL_ZIP_ROWS_H

#include "core/base/bytes.h"
#include "formats/lance/decode/work.h"

/* Whether rows have to be looked at one by one, and tell how many they are; else there is nothing but values. */
bool nt_full_zip_is_walked(const struct nt_tree *tree);

/* Gather levels and values of such rows. */
enum nt_status nt_full_zip_walk(struct nt_work *work, const struct nt_part *part, struct nt_opened *opened,
                                struct nt_error *error);

/* A number of 0, 1, 2, 4 or 8 bytes. */
static inline uint64_t nt_full_zip_number(struct nt_cursor *cursor, uint32_t bytes)
{
    switch (bytes) {
    case 0:
        return 0;
    case 1:
        return nt_get_u8(cursor);
    case 2:
        return nt_get_le16(cursor);
    case 4:
        return nt_get_le32(cursor);
    default:
        return nt_get_le64(cursor);
    }
}

#endif
