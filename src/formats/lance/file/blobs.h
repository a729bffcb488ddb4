/* SPDX-License-Identifier: MIT
 *
 * Blobs: values that lie elsewhere in the file, each in one piece.
 */
#ifndef NT_FORMAT_LANCE_BLOBS_H
#define NT_FORMAT_LANCE_BLOBS_H

#include "formats/lance/file/reading.h"

/* Each blob is a page; what says where it lies is decoded now. */
enum nt_status nt_lance_fill_blobs(struct nt_filling *filling, struct nt_lance_opened *opened);

/* What tells whether the blobs of a page are there, or what is around them. */
struct nt_tree_want nt_lance_presence(const struct nt_lance_opened *opened, const struct nt_lance_use *use);

#endif
