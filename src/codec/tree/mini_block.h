/* SPDX-License-Identifier: MIT
 *
 * Chunks of mini-block pages.
 */
#ifndef NT_CODEC_TREE_MINI_BLOCK_H
#define NT_CODEC_TREE_MINI_BLOCK_H

#include "codec/tree/work.h"

enum nt_status nt_mini_block_open(struct nt_work *work, bool wants_levels, struct nt_opened *opened,
                                  struct nt_error *error);

#endif
