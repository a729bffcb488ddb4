/* SPDX-License-Identifier: MIT
 *
 * Decoded elements in memory (NumPy's layout, little-endian) and their types in NumPy and Arrow.
 */
#ifndef NTUPLE_ELEMENT_H
#define NTUPLE_ELEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <ntuple/api.h>
#include <ntuple/text.h>

NT_API_BEGIN

enum nt_element {
    NT_ELEMENT_BOOL, /* |b1, 0 or 1 */
    NT_ELEMENT_BYTE, /* |u1, characters and uninterpreted bytes */
    NT_ELEMENT_INT8,
    NT_ELEMENT_UINT8,
    NT_ELEMENT_INT16,
    NT_ELEMENT_UINT16,
    NT_ELEMENT_INT32,
    NT_ELEMENT_UINT32,
    NT_ELEMENT_INT64,
    NT_ELEMENT_UINT64,
    NT_ELEMENT_REAL16,
    NT_ELEMENT_REAL32,
    NT_ELEMENT_REAL64,
    NT_ELEMENT_SWITCH, /* packed struct (index <u8, tag <u4), 12 bytes */
    /* Bytes whose type only the dtype describes (structured, strings, big-endian, ...). */
    NT_ELEMENT_OPAQUE,
    NT_ELEMENT_COUNT
};

struct nt_element_row {
    const char *name;  /* "int32" */
    const char *dtype; /* NumPy's, e.g. "<i4"; for Switch "[('index', '<u8'), ...]"; NULL for OPAQUE */
    uint32_t bytes;    /* 0 for OPAQUE */
};

/* The description of an element type, static; never NULL for a member of the enum below
 * NT_ELEMENT_COUNT. Any thread. */
const struct nt_element_row *nt_element_info(enum nt_element element);

/* ---- types of elements ---- */

struct nt_dtype {
    enum nt_element element; /* in memory; OPAQUE: bytes, which the next members describe */
    uint32_t bytes;          /* size of one element */
    /* The number in the machine's byte order; for dates and time spans the count of units; OPAQUE: not
     * a number. */
    enum nt_element number;
    bool is_big_endian;
    /* Fixed-length text, padded with zeros: 1: any bytes, 4: UCS-4; 0: no text. */
    uint8_t character_bytes;
    const char *numpy; /* dtype.str: "<f8"; for a structure dtype.descr: "[('a', '<i4')]" */
    const char *arrow; /* format string of the Arrow C data interface: "g"; NULL: no Arrow type */
    const struct nt_dtype_member *members; /* of a structure, in byte order */
    uint32_t member_count;
};

/* A part of a structure: one item, or an array of them. */
struct nt_dtype_member {
    struct nt_text name; /* empty: padding */
    const struct nt_dtype *dtype;
    const uint64_t *dimensions;
    uint32_t dimension_count;
};

NT_API_END

#endif
