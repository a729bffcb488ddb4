/* SPDX-License-Identifier: MIT
 *
 * Encodings of the values of 2.1 and 2.2.
 */
#ifndef NT_FORMAT_LANCE_COMPRESSIVE_H
#define NT_FORMAT_LANCE_COMPRESSIVE_H

#include "formats/lance/file/tree_builder.h"

/* A CompressiveEncoding as a node with all that it consists of. NT_UNSUPPORTED where it is not known. */
enum nt_status nt_lance_add_compressive(struct nt_tree_builder *builder, struct nt_proto message,
                                        uint32_t *number_ret, struct nt_error *error);

#endif
