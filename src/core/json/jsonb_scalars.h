/* SPDX-License-Identifier: MIT
 *
 * What is in values of JSONB: strings, numbers, and what JSON has no words for.
 */
#ifndef NT_JSON_JSONB_SCALARS_H
#define NT_JSON_JSONB_SCALARS_H

#include "core/base/buffer.h"

void nt_jsonb_append_string(struct nt_buffer *out, const uint8_t *bytes, size_t count);
/* False where the bytes are none: what was appended till then is of no use. */
bool nt_jsonb_append_number(struct nt_buffer *out, const uint8_t *bytes, size_t count);
/* The same of binaries, dates, times and intervals: in quotes. */
bool nt_jsonb_append_extension(struct nt_buffer *out, const uint8_t *bytes, size_t count);

#endif
