/* SPDX-License-Identifier: MIT
 *
 * The header of a .npy file: NumPy's format 1.0 (numpy.lib.format), so that behind it the raw elements follow
 * at a multiple of 64 bytes.
 */
#ifndef NT_VFS_NPY_H
#define NT_VFS_NPY_H

#include <ntuple/dataset.h>

#include "core/base/buffer.h"

/* Failures are the buffer's. */
void nt_npy_header(struct nt_buffer *out, const struct nt_dtype *dtype, bool is_fortran_order,
                   const uint64_t *shape, size_t dimensions);

#endif
