/* SPDX-License-Identifier: MIT
 *
 * Conversion of JSONB to JSON text.
 */
#ifndef NT_CORE_JSON_JSONB_H
#define NT_CORE_JSON_JSONB_H

#include <ntuple/error.h>

#include "core/base/memory.h"

/* ---- Arrays and objects ---- */

/* Append the text of a value: compact, as Lance's own reader gives it. Bytes that are no JSONB but text are that text. NT_CORRUPT
 * where they are neither, NT_LIMIT where values are nested too deep; then nothing is appended. */
enum nt_status nt_jsonb_append(struct nt_buffer *out, const uint8_t *bytes, size_t count,
                               struct nt_error *error);

#endif
