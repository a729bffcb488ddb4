/* SPDX-License-Identifier: MIT
 *
 * Payloads: pages with their digests, and envelopes.
 */
#ifndef NT_FORMAT_RNTUPLE_PAYLOAD_H
#define NT_FORMAT_RNTUPLE_PAYLOAD_H

#include "core/io/source.h"

/* A source that reads payloads of `file_source`, which stays the
 * caller's. A payload of more than `maximum_key_bytes` lies in several keys: its first key ends with the
 * little-endian 64-bit offsets of the others. 0: payloads are never split. Reading with the payload's own
 * offset and full size gives its bytes joined; every other read is of the file as it is. */
enum nt_status nt_payload_source_new(struct nt_source *file_source, uint64_t maximum_key_bytes,
                                     struct nt_source **source_ret, struct nt_error *error);

/* Where the payload at `offset` of `bytes` bytes lies: one extent or several (from malloc). */
enum nt_status nt_payload_extents(struct nt_source *payload_source, uint64_t offset, uint64_t bytes,
                                  struct nt_extent **extents_ret, size_t *count_ret, struct nt_error *error);

#endif
