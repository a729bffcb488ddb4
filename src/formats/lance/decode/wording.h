/* SPDX-License-Identifier: MIT
 *
 * Trees and outputs in words, for people.
 */
#ifndef NT_CODEC_TREE_WORDING_H
#define NT_CODEC_TREE_WORDING_H

#include <stddef.h>

#include "formats/lance/decode/description.h"

const char *nt_tree_layout_name(enum nt_tree_layout layout); /* "mini-block" */
const char *nt_tree_output_name(enum nt_tree_output output); /* "offsets" */

/* The encodings of a tree's values, those around others first: "general(byte stream split(flat 32))", into `text` of
 * `capacity` bytes: cut and ended with NUL. */
void nt_tree_text(const struct nt_tree *tree, char *text, size_t capacity);

#endif
