/* SPDX-License-Identifier: MIT
 *
 * Statistics of a legacy file's pages.
 */
#ifndef NT_FORMAT_LANCE_LEGACY_STATISTICS_H
#define NT_FORMAT_LANCE_LEGACY_STATISTICS_H

#include "formats/lance/legacy/opened.h"

/* As members of nt_document: lines, one for each field that has statistics and batch. */
enum nt_status nt_lance_statistics_open(const struct nt_file *file, const struct nt_dataset *dataset,
                                        uint64_t number, struct nt_long_text **text_ret,
                                        struct nt_error *error);
enum nt_status nt_lance_statistics_is_short(const struct nt_file *file, const struct nt_dataset *dataset,
                                            uint64_t number, bool *is_short_ret, struct nt_error *error);

/* The ranges that they take: table, values, strings. */
enum nt_status nt_lance_statistics_lay_out(const struct nt_lance *lance,
                                           const struct nt_layout_output *output, struct nt_error *error);

#endif
