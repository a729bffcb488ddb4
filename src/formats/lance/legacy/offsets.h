/* SPDX-License-Identifier: MIT
 *
 * What pages of offsets lead to, by their first and last one.
 */
#ifndef NT_FORMAT_LANCE_LEGACY_OFFSETS_H
#define NT_FORMAT_LANCE_LEGACY_OFFSETS_H

#include "formats/lance/file/opened.h"

/* The first of `count` + 1 offsets of 32 or 64 bits, and the last, which is no less. They lie in the file. */
enum nt_status nt_lance_read_bounds(const struct nt_lance *lance, uint64_t offset, uint64_t count,
                                    uint32_t bits, uint64_t *first_ret, uint64_t *last_ret,
                                    struct nt_error *error);
/* Where strings lie in the file, from offsets of 64 bits. */
enum nt_status nt_lance_read_strings(const struct nt_lance *lance, uint64_t offset, uint64_t count,
                                     uint64_t *begin_ret, uint64_t *bytes_ret, struct nt_error *error);

#endif
