/* SPDX-License-Identifier: MIT
 *
 * Full-zip pages.
 */
#ifndef NT_CODEC_TREE_FULL_ZIP_H
#define NT_CODEC_TREE_FULL_ZIP_H

#include "formats/lance/decode/work.h"

/* `values`: how many rows there are where no levels tell. */
enum nt_status nt_full_zip_open(struct nt_work *work, uint32_t member, uint64_t values,
                                struct nt_opened *opened, struct nt_error *error);

#endif
