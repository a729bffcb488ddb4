/* SPDX-License-Identifier: MIT
 *
 * One element as a JSON value: numbers exact, bytes of unknown meaning as base64.
 */
#ifndef NT_VIEW_SCALAR_H
#define NT_VIEW_SCALAR_H

#include "json/json.h"
#include "model/model.h"

/* Append the text of an element that is one (NumPy's S and U), without the zeros at its end; false for
 * others. */
bool nt_element_text(const struct nt_dtype *dtype, const uint8_t *bytes, struct nt_buffer *out);

void nt_json_element(struct nt_json *json, const struct nt_dtype *dtype, const uint8_t *bytes);
void nt_json_base64(struct nt_json *json, const uint8_t *bytes, size_t count);

#endif
