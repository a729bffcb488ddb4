/* SPDX-License-Identifier: MIT
 *
 * Messages of a version beside its manifest: the transaction that made it, and its indices.
 */
#ifndef NT_FORMAT_LANCE_DATASET_SECTIONS_H
#define NT_FORMAT_LANCE_DATASET_SECTIONS_H

#include "formats/lance/dataset/opened.h"

enum nt_lance_section_kind { NT_LANCE_SECTION_TRANSACTION, NT_LANCE_SECTION_INDICES };

/* Read it anew and append it: a document of JSON, where `message` is null where the version has none; and its bytes. NT_CORRUPT,
 * NT_LIMIT, NT_CHANGED. */
enum nt_status nt_lance_write_section(const struct nt_dataset *dataset, enum nt_lance_section_kind kind,
                                      struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_lance_write_section_bytes(const struct nt_dataset *dataset, enum nt_lance_section_kind kind,
                                            struct nt_buffer *out, struct nt_error *error);

#endif
