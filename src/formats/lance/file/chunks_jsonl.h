/* SPDX-License-Identifier: MIT
 *
 * pages/<n>.chunks.jsonl: a line for each chunk of a mini-block page.
 */
#ifndef NT_FORMAT_LANCE_CHUNKS_JSONL_H
#define NT_FORMAT_LANCE_CHUNKS_JSONL_H

#include "core/model/model.h"

/* As nt_page_file.open, of a column of the stored side. */
enum nt_status nt_lance_chunks_open(struct nt_dataset *stored, uint32_t column, const struct nt_page *page,
                                    struct nt_long_text **text_ret, struct nt_error *error);

#endif
