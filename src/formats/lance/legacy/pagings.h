/* SPDX-License-Identifier: MIT
 *
 * How the pages of a legacy file's fields are made, as their types tell.
 */
#ifndef NT_FORMAT_LANCE_LEGACY_PAGINGS_H
#define NT_FORMAT_LANCE_LEGACY_PAGINGS_H

#include "formats/lance/legacy/opened.h"
#include "formats/lance/file/places.h"

/* Of a schema that has places: how the pages of each of its fields are made, in the file's arena. */
enum nt_status nt_lance_find_pagings(struct nt_file *file, const struct nt_lance_schema *schema,
                                     const struct nt_lance_paging **pagings_ret, struct nt_error *error);

/* Bytes of a page of so many elements, as a cell has them, of fixed-size lists with all items; false where they
 * overflow. */
bool nt_lance_page_bytes(const struct nt_lance_paging *paging, const struct nt_lance_value *value,
                         uint64_t elements, uint64_t *bytes_ret);

#endif
