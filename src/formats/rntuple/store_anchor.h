/* SPDX-License-Identifier: MIT
 *
 * The anchor of a data set in an object store: a JSON document.
 */
#ifndef NT_FORMAT_RNTUPLE_STORE_ANCHOR_H
#define NT_FORMAT_RNTUPLE_STORE_ANCHOR_H

#include "formats/rntuple/anchor.h"

struct nt_store_anchor {
    struct nt_anchor anchor; /* header and footer lie in objects: their places are those of io/objects.h */
    uint64_t version;        /* of the anchor */
    struct nt_text url_template;
    const char *name; /* of the objects, beneath the anchor's address, with NT_OBJECT_NUMBER in it */
};

/* Read and verify one. NT_CORRUPT, NT_CHECKSUM, NT_UNSUPPORTED. Where nothing but the checksum is wrong it is there all the same: then, and
 * only then, has it a name. */
enum nt_status nt_store_anchor_read(struct nt_text text, struct nt_arena *arena,
                                    struct nt_store_anchor *anchor_ret, struct nt_error *error);

#endif
