/* SPDX-License-Identifier: MIT
 *
 * Elements as JSON values: numbers exact, bytes of unknown meaning as base64.
 */
#ifndef NT_JSON_VALUES_H
#define NT_JSON_VALUES_H

#include <ntuple/element.h>

#include "core/json/json.h"

/* Append the text of an element that is one: NumPy's S and U, without the zeros at its end, and decimals, all digits;
 * false for others. */
bool nt_element_text(const struct nt_dtype *dtype, const uint8_t *bytes, struct nt_buffer *out);

void nt_json_element(struct nt_json *json, const struct nt_dtype *dtype, const uint8_t *bytes);
void nt_json_base64(struct nt_json *json, const uint8_t *bytes, size_t count);

#endif
