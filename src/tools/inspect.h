/* SPDX-License-Identifier: MIT
 *
 * What each column of a data set takes in the file.
 */
#ifndef NT_VIEW_INSPECT_H
#define NT_VIEW_INSPECT_H

#include <ntuple/read.h>

#include "core/base/buffer.h"
#include "core/model/model.h"
#include "render/column_sums.h"

struct nt_inspected {
    uint32_t column; /* index; NT_NONE: all together */
    struct nt_column_sums sums;
    uint64_t largest_page; /* stored bytes */
    uint64_t once_bytes; /* of all together: the stored bytes, those that several pages share counted once */
    /* A bit for each enum nt_algorithm: those that a look at some of the compressed pages found,
     * one for each run of clusters with the same settings; "none" where no page is compressed. 0:
     * no pages. */
    unsigned algorithms;
};

/* Inspect the file's columns (those of `of->stored`) of a field and all below it, or of the whole data set (NT_NONE). Loads all page lists;
 * those that cannot be read are left out, and `is_complete` of the sums says so. The last of the
 * `*count_ret` + 1 items is the total. From malloc. */
enum nt_status nt_inspect(struct nt_dataset *of, uint32_t field, struct nt_inspected **columns_ret,
                          uint32_t *count_ret, struct nt_error *error);

/* Append the names of algorithms, "zstd,lz4". */
void nt_append_algorithms(struct nt_buffer *out, unsigned algorithms);

#endif
