/* SPDX-License-Identifier: MIT
 *
 * Texts of JSON that are made of a field's JSONB, as one string of a table holds them: where each ends, and the bytes of all.
 */
#ifndef NT_VIEW_ARROW_TEXTS_H
#define NT_VIEW_ARROW_TEXTS_H

#include "render/arrow/arrow_internal.h"

/* Make those of a field, of streams by their numbers; `valid` NT_NONE: all rows are. All texts are made once to count their bytes.
 * What cannot be decoded has none, and fails where it is read. NT_LIMIT: they are too many to be counted. */
enum nt_status nt_arrow_texts_add(struct nt_arrow *arrow, uint32_t field, uint32_t offsets, uint32_t data,
                                  uint32_t valid, struct nt_arrow_texts **texts_ret, struct nt_error *error);
/* The list of all. */
void nt_arrow_texts_free(struct nt_arrow_texts *texts);

/* Borders of rows become those of bytes, in and out. */
void nt_arrow_texts_borders(const struct nt_arrow_texts *texts, uint64_t *borders, uint32_t count);
/* How many bytes of texts lie before each of the rows [first, first + count), which fails where the text of one of them, but the last,
 * cannot be made. */
enum nt_status nt_arrow_texts_before(const struct nt_arrow *arrow, struct nt_arrow_texts *texts,
                                     uint64_t first, uint64_t count, uint64_t *bytes_ret,
                                     struct nt_error *error);
/* Bytes of the texts. */
enum nt_status nt_arrow_texts_read(const struct nt_arrow *arrow, struct nt_arrow_texts *texts,
                                   uint64_t offset, uint8_t *output, size_t bytes, struct nt_error *error);

/* Why they are too many. */
extern const char nt_arrow_texts_limit[];

/* The texts of a field of the table; NULL: it has none. */
struct nt_arrow_texts *nt_arrow_texts_of(const struct nt_arrow *arrow, uint32_t field);

#endif
