/* SPDX-License-Identifier: MIT
 *
 * Elements: what a decoded element is in memory, in NumPy's layout, little-endian.
 */
#ifndef NTUPLE_ELEMENT_H
#define NTUPLE_ELEMENT_H

#include <stdint.h>

#include <ntuple/api.h>

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
    /* Bytes of a dtype that only its text describes (structured, strings, big-endian, ...). */
    NT_ELEMENT_OPAQUE,
    NT_ELEMENT_COUNT
};

struct nt_element_row {
    const char *name; /* "int32" */
    const char
        *dtype; /* NumPy's, e.g. "<i4"; for Switch "[('index', '<u8'), ('tag', '<u4')]"; NULL for OPAQUE */
    uint32_t bytes; /* 0 for OPAQUE */
};

/* The row of an element kind; never NULL for a member of the enum. */
const struct nt_element_row *nt_element_info(enum nt_element element);

NT_API_END

#endif
