/* SPDX-License-Identifier: MIT
 *
 * JSON as Python's json module writes it: with bare NaN and Infinity, and integers of any length. Read into
 * jansson's values, and written again into our documents.
 */
#ifndef NT_FORMAT_BLZ_METADATA_H
#define NT_FORMAT_BLZ_METADATA_H

#include <jansson.h>

#include "core/base/buffer.h"
#include "core/base/error.h"
#include "core/io/folder.h"
#include "core/json/json.h"
#include "core/model/budget.h"

enum { NT_BLZ_JSON_DEPTH = 64, NT_BLZ_JSON_BYTES = 16 * 1024 * 1024 };

/* Copy a JSON text, with what strict readers refuse turned into strings: NaN, Infinity and -Infinity outside
 * of strings, and integers above 63 bits, which get the mark U+0001 in front. Counts the values, keys
 * included. NT_LIMIT where it is too deep. */
enum nt_status nt_blz_json_quote(const char *text, size_t length, struct nt_buffer *out, uint64_t *values_ret,
                                 struct nt_error *error);

/* Parse a JSON text; nothing but white space is an empty object. NT_CORRUPT; NT_LIMIT where the budget does
 * not have what it becomes. Free with json_decref. */
enum nt_status nt_blz_json_parse(const char *text, size_t length, struct nt_budget *budget,
                                 json_t **value_ret, struct nt_error *error);

/* The same of a small file of a folder, which is that of a number to the budget. NT_NOT_FOUND where it is not there. */
enum nt_status nt_blz_json_load(struct nt_folder *folder, const char *name, uint32_t number,
                                struct nt_budget *budget, json_t **value_ret, struct nt_error *error);

/* Write a parsed value; numbers that were quoted become what they were, where JSON has them. NULL: null. */
void nt_blz_json_write(struct nt_json *json, const json_t *value);

/* A member that is an integer from 0 to 2^63 - 1; false where there is none. */
bool nt_blz_json_unsigned(const json_t *object, const char *key, uint64_t *value_ret);

#endif
