/* SPDX-License-Identifier: MIT
 *
 * The header envelope: feature flags, name, description, writer and the schema. Specification, "Header
 * Envelope".
 */
#ifndef NT_FORMAT_RNTUPLE_HEADER_H
#define NT_FORMAT_RNTUPLE_HEADER_H

#include "formats/rntuple/schema.h"

/* Texts are the envelope's. */
struct nt_header {
    struct nt_feature_flags flags;
    uint32_t release_candidate_tag; /* where the generation has one */
    struct nt_text name, description, writer;
    size_t unknown_bytes;
};

/* Read a verified header; its schema description is appended to `schema`. */
enum nt_status nt_header_read(const struct nt_envelope *envelope, struct nt_header *header_ret,
                              struct nt_schema *schema, struct nt_error *error);

#endif
