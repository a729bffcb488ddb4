/* SPDX-License-Identifier: MIT
 *
 * Encodings of version 2.0.
 */
#ifndef NT_FORMAT_LANCE_ARRAY_H
#define NT_FORMAT_LANCE_ARRAY_H

#include "formats/lance/file/tree_builder.h"

/* An ArrayEncoding as a node with all that it consists of. NT_UNSUPPORTED where it is not known. */
enum nt_status nt_lance_add_array(struct nt_tree_builder *builder, struct nt_proto message,
                                  bool is_dictionary_one_based, uint32_t *number_ret, struct nt_error *error);

#endif
