/* SPDX-License-Identifier: MIT
 *
 * JSON that files of several formats have.
 */
#ifndef NT_FORMAT_JSON_TEXT_H
#define NT_FORMAT_JSON_TEXT_H

#include <stddef.h>

#include <jansson.h>

#include "base/error.h"

/* The value of a text, with flags of jansson's; json_decref() frees it. NT_CORRUPT with the line where it is none. */
enum nt_status nt_json_text_parse(const char *text, size_t length, size_t flags, json_t **value_ret,
                                  struct nt_error *error);

#endif
