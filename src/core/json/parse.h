/* SPDX-License-Identifier: MIT
 *
 * Reading JSON: jansson's values, with our errors.
 */
#ifndef NT_JSON_PARSE_H
#define NT_JSON_PARSE_H

#include <stddef.h>

#include <jansson.h>

#include "core/base/error.h"

/* The value of a text, with flags of jansson's; json_decref() frees it. NT_CORRUPT with the line where it is none. */
enum nt_status nt_json_parse(const char *text, size_t length, size_t flags, json_t **value_ret,
                             struct nt_error *error);

#endif
