/* SPDX-License-Identifier: MIT
 *
 * Who owns the bytes of a Lance file that are no pages.
 */
#ifndef NT_FORMAT_LANCE_LAYOUT_H
#define NT_FORMAT_LANCE_LAYOUT_H

#include "format/lance/opened.h"

enum nt_status nt_lance_lay_out_file(const struct nt_lance *lance, const struct nt_layout_output *output,
                                     struct nt_error *error);

#endif
