/* SPDX-License-Identifier: MIT
 *
 * Locators: where a page or an envelope lies. Specification, "Locators and Envelope Links".
 */
#ifndef NT_FORMAT_RNTUPLE_LOCATOR_H
#define NT_FORMAT_RNTUPLE_LOCATOR_H

#include "core/base/buffer.h"
#include "core/base/bytes.h"
#include "formats/rntuple/generation.h"
#include "core/io/objects.h"
#include "core/json/json.h"

struct nt_locator {
    enum nt_locator_kind kind;
    uint8_t type;     /* as stored; 0 for the standard form */
    uint8_t reserved; /* as stored */
    uint64_t
        offset; /* in the file; the object's address for OBJECT64, its number and a place in it for MULTI */
    uint64_t bytes;         /* stored bytes; 0 where the locator does not tell them (URI, unknown) */
    struct nt_text payload; /* URI, MULTI, unknown: the bytes, within the envelope */
};

/* An envelope link: the uncompressed size, then a locator. */
struct nt_envelope_link {
    uint64_t length;
    struct nt_locator locator;
};

/* Read one; the cursor fails where it does not fit. Locators of an unknown type are no failure. */
struct nt_locator nt_locator_read(struct nt_cursor *cursor, const struct nt_generation *generation);
struct nt_envelope_link nt_envelope_link_read(struct nt_cursor *cursor,
                                              const struct nt_generation *generation);

/* True where the bytes are in the file. */
bool nt_locator_is_local(const struct nt_locator *locator);
/* NT_UNSUPPORTED: `what` is not there, but where the locator, named by its kind, leads to. */
enum nt_status nt_fail_elsewhere(struct nt_error *error, const char *what, const struct nt_locator *locator);

/* Where bytes of an object of a store lie in the source of all of them (io/objects.h). NT_UNSUPPORTED where its number, or what is wanted of it,
 * is too large; the message begins with `what`. */
enum nt_status nt_object_address(const char *what, uint64_t object, uint64_t offset, uint64_t bytes,
                                 uint64_t *address_ret, struct nt_error *error);
/* The same of a locator in a data set of objects, which becomes one of that source; URIs and what is not known stay as they are. NT_CORRUPT of
 * a place in a file. */
enum nt_status nt_locator_find_object(struct nt_locator *locator, const char *what, struct nt_error *error);

/* Members of an open JSON object. */
void nt_locator_describe(struct nt_json *json, const struct nt_locator *locator);
/* One line for people, e.g. "URI https://…". */
void nt_locator_text(struct nt_buffer *out, const struct nt_locator *locator);

/* "decoded_bytes", then the locator's members. */
void nt_envelope_link_describe(struct nt_json *json, const struct nt_envelope_link *link);

#endif
