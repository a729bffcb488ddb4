/* SPDX-License-Identifier: MIT
 *
 * What is told of the columns and pages of the file.
 */
#ifndef NT_FORMAT_LANCE_DESCRIBE_H
#define NT_FORMAT_LANCE_DESCRIBE_H

#include "formats/lance/file/opened.h"

/* As members of nt_dataset_ops, of the stored side. */
void nt_lance_describe_column(const struct nt_dataset *stored, uint32_t column, struct nt_json *json);
enum nt_status nt_lance_describe_page(const struct nt_dataset *stored, uint32_t column,
                                      const struct nt_page *page, struct nt_json *json);

/* The same of a page that is made from a column of a file. */
enum nt_status nt_lance_describe_page_of(const struct nt_dataset *dataset, const struct nt_lance *lance,
                                         uint32_t file_column, const struct nt_page *page,
                                         struct nt_json *json);

#endif
