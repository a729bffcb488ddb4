/* SPDX-License-Identifier: MIT
 *
 * Bytes between the buffers of a file.
 */
#ifndef NT_FORMAT_LANCE_PADDING_H
#define NT_FORMAT_LANCE_PADDING_H

#include "formats/lance/file/opened.h"

/* Emit what writers leave free so that the next buffer begins at a multiple of 64 bytes. Nothing of files with blobs, whose
 * places are not known here. */
enum nt_status nt_lance_layout_put_padding(const struct nt_lance *lance,
                                           const struct nt_layout_output *output);

#endif
