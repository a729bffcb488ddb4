/* SPDX-License-Identifier: MIT
 *
 * The rows of the formats' table, each from its own folder.
 */
#ifndef NT_FORMAT_FORMATS_H
#define NT_FORMAT_FORMATS_H

#include "format/format.h"

extern const struct nt_format nt_format_blz;
extern const struct nt_format nt_format_rntuple;
extern const struct nt_format nt_format_roaring;

#endif
