/* SPDX-License-Identifier: MIT
 *
 * Bytes of pages that have to be looked at before they are decoded.
 */
#ifndef NT_FORMAT_LANCE_READING_H
#define NT_FORMAT_LANCE_READING_H

#include "formats/lance/decode/tree.h"
#include "formats/lance/file/filling.h"
#include "formats/lance/file/units.h"

/* A unit's bytes, valid until the next call: read with those behind them. NT_LIMIT where they are more than a page may have. */
enum nt_status nt_lance_read_unit(struct nt_filling *filling, const struct nt_lance_opened *opened,
                                  const struct nt_lance_unit *unit, const uint8_t **bytes_ret);

/* Count what is in a unit. `wants_bytes`: of its strings, too. */
enum nt_status nt_lance_count_unit(struct nt_filling *filling, const struct nt_lance_opened *opened,
                                   const struct nt_lance_unit *unit, bool wants_bytes,
                                   struct nt_tree_counts *counts);

/* Find where the strings of a page's dictionary end, and how many bytes they have; nothing to do for others. */
enum nt_status nt_lance_read_dictionary(struct nt_filling *filling, const struct nt_lance_opened *opened);

#endif
