/* SPDX-License-Identifier: MIT
 *
 * metadata.json of a legacy file: its Metadata, and where each page is.
 */
#ifndef NT_FORMAT_LANCE_LEGACY_METADATA_JSON_H
#define NT_FORMAT_LANCE_LEGACY_METADATA_JSON_H

#include "formats/lance/legacy/opened.h"

/* As members of nt_document. */
enum nt_status nt_lance_legacy_metadata_open(const struct nt_file *file, const struct nt_dataset *dataset,
                                             uint64_t number, struct nt_long_text **text_ret,
                                             struct nt_error *error);
enum nt_status nt_lance_legacy_metadata_is_short(const struct nt_file *file, const struct nt_dataset *dataset,
                                                 uint64_t number, bool *is_short_ret, struct nt_error *error);
#endif
