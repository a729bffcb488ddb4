/* SPDX-License-Identifier: MIT
 *
 * What a page of the file consists of: its buffers, its chunks, its dictionary.
 */
#ifndef NT_FORMAT_LANCE_PAGE_FILES_H
#define NT_FORMAT_LANCE_PAGE_FILES_H

#include "formats/lance/file/opened.h"

/* nt_dataset_ops.page_files of the stored side. */
uint32_t nt_lance_page_files(const struct nt_dataset *stored, uint32_t column, const struct nt_page *page,
                             struct nt_page_file files[NT_PAGE_FILES]);

#endif
