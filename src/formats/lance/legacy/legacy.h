/* SPDX-License-Identifier: MIT
 *
 * Reading Lance files of versions 0.1 and 0.2. What file/ calls is declared in file.h.
 */
#pragma once

#include "formats/lance/file/file.h"

/* ---- Page types ---- */

/* Returns the size of a page of `elements` elements, as counted in a cell; fixed-size lists count with
 * all their items. False on overflow. */
bool nt_lance_page_bytes(const struct nt_lance_page_format *paging, const struct nt_lance_value *value,
                         uint64_t elements, uint64_t *bytes_ret);

/* ---- Ranges of offsets ---- */

/* Reads 64-bit offsets and returns the range of the file that the strings occupy. */
enum nt_status nt_lance_read_strings(const struct nt_lance *lance, uint64_t offset, uint64_t count,
                                     uint64_t *begin_ret, uint64_t *bytes_ret, struct nt_error *error);

/* ---- Table of documents ---- */

extern const struct nt_document nt_lance_legacy_documents[];
extern const uint32_t nt_lance_legacy_document_count;
