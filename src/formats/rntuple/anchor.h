/* SPDX-License-Identifier: MIT
 *
 * The anchor: a small streamed object that tells the format's version and where header and footer lie.
 */
#ifndef NT_FORMAT_RNTUPLE_ANCHOR_H
#define NT_FORMAT_RNTUPLE_ANCHOR_H

#include "container/container.h"
#include "core/model/model.h"

enum nt_anchor_layout {
    NT_ANCHOR_58_BYTES, /* 32-bit sizes, no version, no checksum */
    NT_ANCHOR_70_BYTES, /* version, 64-bit sizes, checksum within the object */
    NT_ANCHOR_78_BYTES, /* the same with a maximum key size; the checksum follows the object */
    NT_ANCHOR_LAYOUT_COUNT
};

/* Where header or footer lies: bytes from the start of the file. */
struct nt_anchor_link {
    uint64_t offset;
    uint64_t stored_bytes;
    uint64_t length; /* uncompressed */
};

struct nt_anchor {
    enum nt_anchor_layout layout;
    uint64_t offset, stored_bytes; /* of the anchor itself */
    uint32_t length;               /* 0: it was not read, and nothing below is known */
    const char *class_name;
    uint16_t class_version;
    uint16_t epoch, major, minor, patch; /* 0.0.0.0 where the layout has none */
    struct nt_anchor_link header, footer;
    uint64_t maximum_key_bytes; /* 0: payloads are never split */
    uint64_t checksum;          /* XXH3 of the fields; 0 where the layout has none */
};

/* Read and verify an anchor object. NT_CORRUPT, NT_CHECKSUM, NT_TRUNCATED. Where nothing but the checksum is
 * wrong, the anchor is there all the same, for those who show what is stored. */
enum nt_status nt_anchor_read(const struct nt_anchor_object *object, struct nt_anchor *anchor_ret,
                              struct nt_error *error);

#endif
