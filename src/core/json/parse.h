/* SPDX-License-Identifier: MIT
 *
 * JSON parsing: jansson documents, and the raw members of an object.
 */
#pragma once

#include <ntuple/error.h>
#include <ntuple/text.h>

#include <jansson.h>

#include "core/base/memory.h"

/* ---- Documents ---- */

/* Parses with jansson's flags; json_decref() frees the value. NT_CORRUPT with the line. */
enum nt_status nt_json_parse(const char *text, size_t length, size_t flags, json_t **value_ret,
                             struct nt_error *error);

/* ---- Raw members ---- */

/* Both point into the text: a key without quotes, with its escapes. */
struct nt_json_member {
    struct nt_text key, value;
};

/* The members of an object, sorted by key bytes, from malloc. NT_CORRUPT if it is not an object or
 * repeats a key. Does not validate nested objects and arrays, except for their end. */
enum nt_status nt_json_members_read(struct nt_text text, struct nt_json_member **members_ret,
                                    size_t *count_ret, struct nt_error *error);

/* A number without sign, point and exponent; a string without escapes. Otherwise false. */
bool nt_json_value_unsigned(struct nt_text value, uint64_t *number_ret);
bool nt_json_value_string(struct nt_text value, struct nt_text *string_ret);

/* Appends it without insignificant white space. */
void nt_json_append_compact(struct nt_text value, struct nt_buffer *out);
