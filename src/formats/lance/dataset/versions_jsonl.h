/* SPDX-License-Identifier: MIT
 *
 * versions.jsonl: the history that a version belongs to.
 */
#ifndef NT_FORMAT_LANCE_DATASET_VERSIONS_JSONL_H
#define NT_FORMAT_LANCE_DATASET_VERSIONS_JSONL_H

#include "formats/lance/dataset/opened.h"

/* As members of nt_document. */
enum nt_status nt_lance_open_versions(const struct nt_file *file, const struct nt_dataset *dataset,
                                      uint64_t number, struct nt_long_text **text_ret,
                                      struct nt_error *error);
enum nt_status nt_lance_are_versions_short(const struct nt_file *file, const struct nt_dataset *dataset,
                                           uint64_t number, bool *is_short_ret, struct nt_error *error);

#endif
