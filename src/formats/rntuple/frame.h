/* SPDX-License-Identifier: MIT
 *
 * What envelopes are made of: record frames, list frames, strings and feature flags. Specification, "Frames",
 * "Basic Types".
 */
#ifndef NT_FORMAT_RNTUPLE_FRAME_H
#define NT_FORMAT_RNTUPLE_FRAME_H

#include "formats/rntuple/envelope.h"

struct nt_frame {
    struct nt_cursor payload; /* bounded by the frame */
    uint32_t items;           /* of a list */
};

/* Read a record frame or a list frame and skip it: `cursor` stands behind it, whatever it holds. `what` names
 * it in messages. A list must have room for its items of at least `item_bytes` each. */
enum nt_status nt_record_frame(const struct nt_envelope *envelope, struct nt_cursor *cursor, const char *what,
                               struct nt_frame *frame_ret, struct nt_error *error);
enum nt_status nt_list_frame(const struct nt_envelope *envelope, struct nt_cursor *cursor, const char *what,
                             uint32_t item_bytes, struct nt_frame *frame_ret, struct nt_error *error);
/* True where a list frame that fits stands at the cursor. */
bool nt_list_frame_follows(const struct nt_envelope *envelope, const struct nt_cursor *cursor);
/* Smallest record and list frame, for `item_bytes`. */
uint32_t nt_record_frame_bytes(const struct nt_generation *generation);
uint32_t nt_list_frame_bytes(const struct nt_generation *generation);

/* A string: u32 length and bytes, which stay the envelope's. Empty where the cursor fails. */
struct nt_text nt_get_text(struct nt_cursor *cursor);

/* ---- feature flags ---- */

enum { NT_MAX_FEATURE_WORDS = 16 };

struct nt_feature_flags {
    int64_t words[NT_MAX_FEATURE_WORDS]; /* as stored */
    uint32_t count;
};

/* Read the words; NT_UNSUPPORTED for a flag that is set and that the generation does not know, by its number. */
enum nt_status nt_feature_flags_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                     struct nt_feature_flags *flags_ret, struct nt_error *error);

#endif
