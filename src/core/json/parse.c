/* SPDX-License-Identifier: MIT
 *
 * In: a JSON text. Out: its value.
 */
#include "core/json/parse.h"

#include <errno.h>

enum nt_status nt_json_parse(const char *text, size_t length, size_t flags, json_t **value_ret,
                             struct nt_error *error)
{
    json_error_t mistake;
    errno = 0; /* jansson takes a text for which it has no memory for a bad one */
    *value_ret = json_loadb(text, length, flags, &mistake);
    if (*value_ret)
        return NT_OK;
    return errno == ENOMEM
               ? nt_fail_memory(error)
               : nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "JSON, line %d: %s", mistake.line, mistake.text);
}
