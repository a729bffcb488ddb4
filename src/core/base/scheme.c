/* SPDX-License-Identifier: MIT
 *
 * The table of URL schemes. tests/checks/schemes.py compares it with the documents.
 */
#include "core/base/scheme.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define WEB .service = NT_SERVICE_HTTP, .hidden = "?#", .has_host = true, .is_encoded = true
#define STORE .service = NT_SERVICE_S3, .hidden = "?#", .has_host = true, .is_encoded = true, .is_store = true
#define XROOTD .service = NT_SERVICE_XROOTD, .hidden = "?", .has_host = true, .has_users = true
#define TLS .is_secure = true

/* An alias is another row. s3:// hides nothing, as names of objects may have any character. */
static const struct nt_scheme schemes[] = {
    {"http", WEB},
    {"https", WEB, TLS},
    {"dav", WEB},
    {"davs", WEB, TLS},
    {"s3", .service = NT_SERVICE_S3, .hidden = "", TLS},
    {"root", XROOTD},
    {"roots", XROOTD, TLS},
    {"xroot", XROOTD},
    {"xroots", XROOTD, TLS},
    {"ntpl+s3+https", STORE, TLS},
    {"ntpl+s3+http", STORE},
    {"gs", .service = NT_SERVICE_NONE, .hidden = "",
     .advice = "copy it, or name it s3://BUCKET/KEY with AWS_ENDPOINT_URL=https://storage.googleapis.com"},
    {"file", .service = NT_SERVICE_NONE, .hidden = "", .advice = "give the path alone"},
};
static const struct nt_scheme unknown = {"", .service = NT_SERVICE_NONE, .hidden = "",
                                         .advice = "copy it, or mount its server"};

enum { COUNT = sizeof(schemes) / sizeof(*schemes) };

const struct nt_scheme *nt_scheme_of(const char *path, size_t *length_ret)
{
    size_t length = 0;
    while (isalnum((unsigned char)path[length]) || (length && path[length] && strchr("+-.", path[length])))
        length++;
    bool is_address = isalpha((unsigned char)path[0]) && strncmp(path + length, "://", strlen("://")) == 0;
    *length_ret = is_address ? length : 0;
    for (size_t i = 0; is_address && i < COUNT; i++)
        if (strlen(schemes[i].name) == length && strncasecmp(path, schemes[i].name, length) == 0)
            return &schemes[i];
    return &unknown;
}

const char *nt_scheme_list(char text[NT_SCHEME_LIST_BYTES], bool is_store)
{
    const char *between = "";
    size_t length = 0, left = 0;
    for (size_t i = 0; i < COUNT; i++)
        left += schemes[i].service != NT_SERVICE_NONE && schemes[i].is_store >= is_store;
    for (size_t i = 0; left > 0; i++) {
        if (schemes[i].service == NT_SERVICE_NONE || schemes[i].is_store < is_store)
            continue;
        length += (size_t)snprintf(text + length, NT_SCHEME_LIST_BYTES - length, "%s%s://", between,
                                   schemes[i].name);
        between = --left > 1 ? ", " : " or ";
    }
    return text;
}
