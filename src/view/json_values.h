/* SPDX-License-Identifier: MIT
 *
 * What the model holds as JSON values: elements (numbers exact, bytes of unknown meaning as base64) and the
 * paths of fields.
 */
#ifndef NT_VIEW_JSON_VALUES_H
#define NT_VIEW_JSON_VALUES_H

#include "json/json.h"
#include "model/model.h"

/* Append the text of an element that is one: NumPy's S and U, without the zeros at its end, and decimals, all digits;
 * false for others. */
bool nt_element_text(const struct nt_dtype *dtype, const uint8_t *bytes, struct nt_buffer *out);

void nt_json_element(struct nt_json *json, const struct nt_dtype *dtype, const uint8_t *bytes);
void nt_json_base64(struct nt_json *json, const uint8_t *bytes, size_t count);

/* A member that is the path of a field within its data set, the names joined by '/'. */
void nt_json_member_field_path(struct nt_json *json, const char *key, const struct nt_dataset *dataset,
                               uint32_t field);

/* The members that tell a failure: "file_offset", "status", "what", "expected", "found"; null is what is not
 * told. */
void nt_json_failure_members(struct nt_json *json, const struct nt_error *failure);

#endif
