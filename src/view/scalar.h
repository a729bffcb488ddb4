/* SPDX-License-Identifier: MIT
 *
 * One element as a JSON value: numbers exact, bytes of unknown meaning as base64.
 */
#ifndef NT_VIEW_SCALAR_H
#define NT_VIEW_SCALAR_H

#include <ntuple/model.h>

#include "json/json.h"

void nt_json_element(struct nt_json *json, const struct nt_dtype *dtype, const uint8_t *bytes);
void nt_json_base64(struct nt_json *json, const uint8_t *bytes, size_t count);

#endif
