/* SPDX-License-Identifier: MIT
 *
 * Envelopes: header, footer, page lists and user meta-data, as blocks of bytes with a checksum.
 * Specification, "Envelopes".
 */
#ifndef NT_FORMAT_RNTUPLE_ENVELOPE_H
#define NT_FORMAT_RNTUPLE_ENVELOPE_H

#include "core/base/bytes.h"
#include "formats/rntuple/generation.h"
#include "formats/rntuple/locator.h"
#include "core/model/budget.h"

enum nt_envelope_kind {
    NT_ENVELOPE_ANCHOR = 0, /* of an attribute set: stored like an envelope, but without one's framing */
    NT_ENVELOPE_HEADER = 1, /* the numbers are the specification's type ids */
    NT_ENVELOPE_FOOTER = 2,
    NT_ENVELOPE_PAGE_LIST = 3,
    NT_ENVELOPE_USER_METADATA = 4,
};
const char *nt_envelope_name(enum nt_envelope_kind kind); /* "page list" */

struct nt_envelope {
    struct nt_budget *budget; /* of the file, which counts the bytes while they are here */
    bool is_borrowed;         /* the bytes are another's */
    const struct nt_generation *generation;
    enum nt_envelope_kind kind;
    uint64_t offset; /* in the file, or in an object: */
    bool is_in_object;
    uint64_t object;
    uint8_t *bytes; /* uncompressed, with preamble and checksum */
    size_t length;
    uint64_t counted; /* as metadata that were read, unless they are damaged */
    uint64_t checksum;
    struct nt_cursor payload; /* what stands between preamble and checksum */
};

void nt_envelope_deinit(struct nt_envelope *envelope);
/* A verified envelope once more, from its payload's start; valid as long as `envelope`, to be ended
 * as well. */
struct nt_envelope nt_envelope_borrow(const struct nt_envelope *envelope);

/* Read and decompress `stored_bytes` at `offset` into `length` bytes; nothing is verified yet. NT_LIMIT where
 * the budget does not have them, though what was read of them counts. */
enum nt_status nt_envelope_read(struct nt_source *source, struct nt_budget *budget,
                                enum nt_envelope_kind kind, const struct nt_anchor_link *place,
                                struct nt_envelope *envelope_ret, struct nt_error *error);
/* Verify length, type and checksum as the generation has them; sets generation, checksum and payload. */
enum nt_status nt_envelope_verify(struct nt_envelope *envelope, const struct nt_generation *generation,
                                  struct nt_error *error);
/* Both, from a link. NT_UNSUPPORTED where the envelope is not in the file. */
enum nt_status nt_envelope_load(struct nt_source *source, struct nt_budget *budget,
                                const struct nt_generation *generation, enum nt_envelope_kind kind,
                                const struct nt_envelope_link *link, struct nt_envelope *envelope_ret,
                                struct nt_error *error);

/* Fail with "<envelope>, byte <position>: <message>"; returns `status`. */
enum nt_status nt_envelope_fail(const struct nt_envelope *envelope, const struct nt_cursor *at,
                                enum nt_status status, struct nt_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* NT_OK, or NT_CORRUPT where the cursor ran over its end. */
enum nt_status nt_envelope_check(const struct nt_envelope *envelope, const struct nt_cursor *cursor,
                                 const char *what, struct nt_error *error);

#endif
