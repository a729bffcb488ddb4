/* SPDX-License-Identifier: MIT
 *
 * The manifest of a version.
 */
#ifndef NT_FORMAT_LANCE_DATASET_MANIFEST_H
#define NT_FORMAT_LANCE_DATASET_MANIFEST_H

#include "formats/lance/dataset/opened.h"

/* Read a version's manifest. NT_CORRUPT where it is none, or that of another version; NT_UNSUPPORTED, with its name, where
 * it asks for what is not known. Memory is the file's arena's, counted in its budget. */
enum nt_status nt_lance_read_manifest(struct nt_file *file, const struct nt_lance_version *version,
                                      struct nt_lance_manifest_file *manifest, struct nt_error *error);

/* The member "timestamp" of a Timestamp: ISO 8601, to the nanosecond; null where it is none. */
void nt_lance_put_timestamp(struct nt_json *json, struct nt_proto timestamp);

/* Where a message lies in a manifest's file of so many bytes: behind its length, at a position that is told at another place. `what`: the
 * message, in words. */
enum nt_status nt_lance_find_section(struct nt_source *source, uint64_t size, uint64_t position,
                                     const char *what, uint64_t told_at, struct nt_lance_buffer *message,
                                     struct nt_error *error);

/* Text of a message's text member, as a string in the arena; NULL without memory. */
const char *nt_lance_text(struct nt_arena *arena, struct nt_proto message, uint32_t number);

#endif
