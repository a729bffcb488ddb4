/* SPDX-License-Identifier: MIT
 *
 * Conversion of JSONB to JSON text.
 */
#ifndef NT_CORE_JSON_JSONB_H
#define NT_CORE_JSON_JSONB_H

#include <ntuple/error.h>

#include "core/base/memory.h"

/* ---- Arrays and objects ---- */

/* Appends a value as compact JSON, like Lance's own reader. Copies text that is not JSONB. NT_CORRUPT
 * if it is neither, NT_LIMIT for deep nesting; then appends nothing. */
enum nt_status nt_jsonb_append(struct nt_buffer *out, const uint8_t *bytes, size_t count,
                               struct nt_error *error);

#endif
