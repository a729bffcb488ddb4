/* SPDX-License-Identifier: MIT
 *
 * Pages whose values are all the same.
 */
#ifndef NT_CODEC_TREE_CONSTANT_H
#define NT_CODEC_TREE_CONSTANT_H

#include "formats/lance/decode/work.h"

/* `values`: how many rows there are where no levels tell. */
enum nt_status nt_constant_open(struct nt_work *work, uint64_t values, bool wants_values,
                                struct nt_opened *opened, struct nt_error *error);

#endif
