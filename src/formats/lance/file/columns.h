/* SPDX-License-Identifier: MIT
 *
 * The column metadata of a Lance file: pages, their buffers and encodings.
 */
#ifndef NT_FORMAT_LANCE_COLUMNS_H
#define NT_FORMAT_LANCE_COLUMNS_H

#include "formats/lance/file/opened.h"

/* Check the message of a column of `lance`, whose bytes are there, and fill the rest of the column. `number` is its
 * number, for messages. */
enum nt_status nt_lance_read_column(const struct nt_lance *lance, uint32_t number,
                                    struct nt_lance_column *column, struct nt_error *error);

/* What message is in an Any of this type. */
enum nt_lance_encoding_kind nt_lance_encoding_kind(struct nt_text type_url);
/* Its table; NULL where it is unknown. */
const struct nt_proto_table *nt_lance_encoding_table(enum nt_lance_encoding_kind kind);

/* Which layout a page of 2.1 or later has (of blobs, their places), with its message; 0 for others. */
uint32_t nt_lance_page_choice(const struct nt_lance_page *page, struct nt_proto *member_ret);
/* Whether a page of 2.0 is of lists: of strings, whose bytes then lie in the column behind theirs. */
bool nt_lance_has_lists(const struct nt_lance_page *page);
/* Whether a page of 2.1 or later has places of values that lie elsewhere in the file: blobs. */
bool nt_lance_has_places(const struct nt_lance_page *page);

#endif
