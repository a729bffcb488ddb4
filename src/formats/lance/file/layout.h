/* SPDX-License-Identifier: MIT
 *
 * Who owns the bytes of a Lance file that are no pages.
 */
#ifndef NT_FORMAT_LANCE_LAYOUT_H
#define NT_FORMAT_LANCE_LAYOUT_H

#include "formats/lance/file/opened.h"

enum nt_status nt_lance_lay_out_file(const struct nt_lance *lance, const struct nt_layout_output *output,
                                     struct nt_error *error);

/* All buffers of a column's pages, which have an owner of their own. */
enum nt_status nt_lance_layout_put_column(const struct nt_lance_column *column,
                                          const struct nt_layout_output *output, const char *owner);
/* The columns of a file that is mounted alone that have nothing but bytes of strings. */
enum nt_status nt_lance_layout_put_bytes(const struct nt_lance *lance, const struct nt_layout_output *output);

#endif
