/* SPDX-License-Identifier: MIT
 *
 * Envelopes: header, footer, page lists and user meta-data, as blocks of bytes with a checksum.
 * Specification, "Envelopes".
 */
#ifndef NT_FORMAT_RNTUPLE_ENVELOPE_H
#define NT_FORMAT_RNTUPLE_ENVELOPE_H

#include "base/bytes.h"
#include "format/rntuple/generation.h"
#include "format/rntuple/locator.h"

enum nt_envelope_kind {
    NT_ENVELOPE_ANCHOR = 0, /* of an attribute set: stored like an envelope, but without one's framing */
    NT_ENVELOPE_HEADER = 1, /* the numbers are the specification's type ids */
    NT_ENVELOPE_FOOTER = 2,
    NT_ENVELOPE_PAGE_LIST = 3,
    NT_ENVELOPE_USER_METADATA = 4,
};
const char *nt_envelope_name(enum nt_envelope_kind kind); /* "page list" */

/* Larger ones are refused before memory is taken. */
#define NT_MAX_ENVELOPE_BYTES (UINT64_C(1) << 29)

struct nt_envelope {
    const struct nt_generation *generation;
    enum nt_envelope_kind kind;
    uint64_t offset; /* in the file */
    uint8_t *bytes;  /* uncompressed, with preamble and checksum */
    size_t length;
    uint64_t checksum;
    struct nt_cursor payload; /* what stands between preamble and checksum */
};

void nt_envelope_deinit(struct nt_envelope *envelope);

/* Read and decompress `stored_bytes` at `offset` into `length` bytes; nothing is verified yet. */
enum nt_status nt_envelope_read(struct nt_source *source, enum nt_envelope_kind kind,
                                const struct nt_anchor_link *place, struct nt_envelope *envelope_ret,
                                struct nt_error *error);
/* Verify length, type and checksum as the generation has them; sets generation, checksum and payload. */
enum nt_status nt_envelope_verify(struct nt_envelope *envelope, const struct nt_generation *generation,
                                  struct nt_error *error);
/* Both, from a link. NT_UNSUPPORTED where the envelope is not in the file. */
enum nt_status nt_envelope_load(struct nt_source *source, const struct nt_generation *generation,
                                enum nt_envelope_kind kind, const struct nt_envelope_link *link,
                                struct nt_envelope *envelope_ret, struct nt_error *error);

/* Fail with "<envelope>, byte <position>: <message>"; returns `status`. */
enum nt_status nt_envelope_fail(const struct nt_envelope *envelope, const struct nt_cursor *at,
                                enum nt_status status, struct nt_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* NT_OK, or NT_CORRUPT where the cursor ran over its end. */
enum nt_status nt_envelope_check(const struct nt_envelope *envelope, const struct nt_cursor *cursor,
                                 const char *what, struct nt_error *error);

#endif
