/* SPDX-License-Identifier: MIT
 *
 * What a NumPy data type is here, and those that a name or code says: "int32", ">i4", "datetime64[s]".
 */
#ifndef NT_FORMAT_BLZ_DTYPE_PLAIN_H
#define NT_FORMAT_BLZ_DTYPE_PLAIN_H

#include "core/model/model.h"

struct nt_arena;

struct nt_blz_member;

struct nt_blz_dtype {
    struct nt_dtype dtype; /* of one item */
    bool is_object;        /* Python objects: their bytes are pickles, of any length */
    bool is_void;          /* bytes that mean nothing: in a structure without a name, room between others */
    uint32_t member_count; /* of a structured type */
    struct nt_blz_member *members;
    uint32_t dimension_count; /* of a sub-array; `dtype` is one item of it */
    const uint64_t *dimensions;
    uint64_t items; /* product of the dimensions, 1 without */
};

struct nt_blz_member {
    struct nt_text name;
    uint64_t offset; /* bytes from the start of the structure */
    struct nt_blz_dtype type;
};

/* The most that is read: nesting of a dtype's text, bytes of one item. */
enum { NT_BLZ_DTYPE_DEPTH = 32, NT_BLZ_ITEM_BYTES = 1 << 28 };

/* A plain type: "int32", "<f8", "|S10", "datetime64[ns]", without quotes. NT_CORRUPT where it is none. */
enum nt_status nt_blz_dtype_plain(struct nt_arena *arena, const char *text, size_t length,
                                  struct nt_blz_dtype *dtype, struct nt_error *error);

#endif
