/* SPDX-License-Identifier: MIT
 *
 * How the pages of a legacy file's fields are made, as their types tell.
 */
#ifndef NT_FORMAT_LANCE_LEGACY_PAGINGS_H
#define NT_FORMAT_LANCE_LEGACY_PAGINGS_H

#include "format/lance/legacy/opened.h"
#include "format/lance/places.h"

/* Of a file whose schema has places: fill legacy->pagings, and lance->columns with a column for each field, which tells
 * why a field cannot be read. */
enum nt_status nt_lance_find_pagings(struct nt_file *file, struct nt_lance *lance,
                                     struct nt_lance_legacy *legacy, struct nt_error *error);

#endif
