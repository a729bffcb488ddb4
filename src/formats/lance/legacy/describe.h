/* SPDX-License-Identifier: MIT
 *
 * What a legacy file's columns, pages and byte ranges are.
 */
#ifndef NT_FORMAT_LANCE_LEGACY_DESCRIBE_H
#define NT_FORMAT_LANCE_LEGACY_DESCRIBE_H

#include "formats/lance/legacy/opened.h"

/* Who owns its bytes that are no pages. */
enum nt_status nt_lance_legacy_lay_out(const struct nt_lance *lance, const struct nt_layout_output *output,
                                       struct nt_error *error);

/* As members of nt_dataset_ops. */
void nt_lance_legacy_describe_column(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json);
enum nt_status nt_lance_legacy_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                             const struct nt_page *page, struct nt_json *json);

/* The same of a page that is made from the field of a file with this id. */
enum nt_status nt_lance_legacy_describe_page_of(const struct nt_dataset *dataset,
                                                const struct nt_lance *lance, int32_t id,
                                                const struct nt_page *page, struct nt_json *json);

#endif
