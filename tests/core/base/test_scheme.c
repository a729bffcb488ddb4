/* SPDX-License-Identifier: MIT */
#include "core/base/scheme.h"

#include <string.h>

#include "support.h"

static const struct {
    const char *path;
    enum nt_service service;
    size_t length;
    bool is_secure, is_store;
} paths[] = {
    {"http://h/a", NT_SERVICE_HTTP, 4, false, false},
    {"HTTPS://h/a", NT_SERVICE_HTTP, 5, true, false},
    {"dav://h/a", NT_SERVICE_HTTP, 3, false, false},
    {"davs://h/a", NT_SERVICE_HTTP, 4, true, false},
    {"s3://bucket/key", NT_SERVICE_S3, 2, true, false},
    {"root://h//a", NT_SERVICE_XROOTD, 4, false, false},
    {"roots://h//a", NT_SERVICE_XROOTD, 5, true, false},
    {"xroot://h//a", NT_SERVICE_XROOTD, 5, false, false},
    {"XrootS://h//a", NT_SERVICE_XROOTD, 6, true, false},
    {"ntpl+s3+http://h/b/a", NT_SERVICE_S3, 12, false, true},
    {"ntpl+s3+https://h/b/a", NT_SERVICE_S3, 13, true, true},
    {"gs://bucket/key", NT_SERVICE_NONE, 2, false, false},
    {"https+x://h/a", NT_SERVICE_NONE, 7, false, false},
    {"http:/h/a", NT_SERVICE_NONE, 0, false, false},
    {"1http://h/a", NT_SERVICE_NONE, 0, false, false},
    {"", NT_SERVICE_NONE, 0, false, false},
};

TEST(schemes_are_found_by_name, .end = sizeof(paths) / sizeof(*paths))
{
    size_t length;
    const struct nt_scheme *scheme = nt_scheme_of(paths[_i].path, &length);
    ck_assert_int_eq(scheme->service, paths[_i].service);
    ck_assert_uint_eq(length, paths[_i].length);
    ck_assert_int_eq(scheme->is_secure, paths[_i].is_secure);
    ck_assert_int_eq(scheme->is_store, paths[_i].is_store);
    ck_assert((scheme->advice != NULL) == (scheme->service == NT_SERVICE_NONE));
}

TEST(list_names_what_is_read)
{
    char text[NT_SCHEME_LIST_BYTES];
    ck_assert_str_eq(nt_scheme_list(text, true), "ntpl+s3+https:// or ntpl+s3+http://");
    ck_assert_str_eq(nt_scheme_list(text, false),
                     "http://, https://, dav://, davs://, s3://, root://, roots://, xroot://, xroots://, "
                     "ntpl+s3+https:// or ntpl+s3+http://");
}
