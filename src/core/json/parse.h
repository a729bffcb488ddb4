/* SPDX-License-Identifier: MIT
 *
 * JSON parsing: jansson documents, and the raw members of an object.
 */
#ifndef NT_CORE_JSON_PARSE_H
#define NT_CORE_JSON_PARSE_H

#include <ntuple/error.h>
#include <ntuple/text.h>

#include <jansson.h>
#include <stddef.h>

#include "core/base/memory.h"

/* ---- Documents ---- */

/* The value of a text, with flags of jansson's; json_decref() frees it. NT_CORRUPT with the line where it is none. */
enum nt_status nt_json_parse(const char *text, size_t length, size_t flags, json_t **value_ret,
                             struct nt_error *error);

/* ---- Raw members ---- */

/* Both within the text: a key without its quotes, escapes as they stand. */
struct nt_json_member {
    struct nt_text key, value;
};

/* Those of a text that is an object, by the bytes of their keys, from malloc. NT_CORRUPT where it is none, or a key comes twice. What stands
 * within a value that is an object or an array is not looked at, but for where it ends. */
enum nt_status nt_json_members_read(struct nt_text text, struct nt_json_member **members_ret,
                                    size_t *count_ret, struct nt_error *error);

/* A value that is a number without a sign, a point and an exponent; or a string without escapes. Else false. */
bool nt_json_value_unsigned(struct nt_text value, uint64_t *number_ret);
bool nt_json_value_string(struct nt_text value, struct nt_text *string_ret);

/* Without the blanks that mean nothing. */
void nt_json_append_compact(struct nt_text value, struct nt_buffer *out);

#endif
