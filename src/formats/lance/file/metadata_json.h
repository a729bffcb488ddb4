/* SPDX-License-Identifier: MIT
 *
 * metadata.json: columns with their pages, made piece by piece.
 */
#ifndef NT_FORMAT_LANCE_METADATA_JSON_H
#define NT_FORMAT_LANCE_METADATA_JSON_H

#include "formats/lance/file/opened.h"

/* As nt_document.open. */
enum nt_status nt_lance_metadata_open(const struct nt_file *file, const struct nt_dataset *dataset,
                                      uint64_t number, struct nt_long_text **text_ret,
                                      struct nt_error *error);

#endif
