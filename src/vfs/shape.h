/* SPDX-License-Identifier: MIT
 *
 * Sizes and shapes of the logical streams of a field.
 */
#ifndef NT_VFS_SHAPE_H
#define NT_VFS_SHAPE_H

#include <ntuple/read.h>

#include "core/json/json.h"
#include "core/model/model.h"

enum { NT_NUMPY_DIMENSIONS = 32 };

struct nt_shape {
    uint64_t dimensions[NT_MAX_DEPTH + 2];
    uint32_t count;
    uint64_t bytes; /* of all elements */
};

/* Whether the number of elements follows from the schema and the number of entries alone. */
bool nt_stream_is_known(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind);

/* The stream's shape: [elements], or for data [rows, N, ...], without the rows of an array of no dimensions. May read page lists. */
enum nt_status nt_stream_shape(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                               enum nt_stream_kind kind, struct nt_shape *shape, struct nt_error *error);

/* A dtype as NumPy's .str or .descr would be in JSON: a string, or a list for structured ones. */
void nt_json_dtype(struct nt_json *json, const struct nt_dtype *dtype);

#endif
