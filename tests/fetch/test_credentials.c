/* SPDX-License-Identifier: MIT
 *
 * Which places the process that fetches may look into, as variables name them.
 */
#include "fetch/credentials.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

static const struct {
    const char *name, *value, *place; /* NULL: none */
} cases[] = {
    {"NETRC", "/a/netrc", "/a/netrc"},
    {"NETRC", "", NULL},
    {"X509_CERT_DIR", "/a/certificates", "/a/certificates"},
    /* What is renewed is another file of the same name. */
    {"X509_USER_PROXY", "/a/proxy", "/a"},
    {"X509_USER_PROXY", "/proxy", "/"},
    {"BEARER_TOKEN_FILE", "token", "."},
    {"BEARER_TOKEN_FILE", "a/b/token", "a/b"},
    /* MIT Kerberos, "Credential cache": of some kinds nothing is a path. */
    {"KRB5CCNAME", "FILE:/a/cache", "/a"},
    {"KRB5CCNAME", "DIR::/a/b/cache", "/a/b"},
    {"KRB5CCNAME", "/a/cache", "/a"},
    {"KRB5CCNAME", "KEYRING:user", NULL},
    {"HOME", "/a", NULL},
};

START_TEST(places_are_those_that_variables_name)
{
    char *places[NT_CREDENTIAL_PLACES];
    clearenv();
    setenv(cases[_i].name, cases[_i].value, 1);
    ck_assert_uint_eq(nt_credentials_places(places), cases[_i].place ? 1 : 0);
    if (cases[_i].place) {
        ck_assert_str_eq(places[0], cases[_i].place);
        free(places[0]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("credentials");
    TCase *tests = tcase_create("credentials");
    tcase_add_loop_test(tests, places_are_those_that_variables_name, 0, sizeof(cases) / sizeof(*cases));
    suite_add_tcase(suite, tests);
    return nt_test_main(suite);
}
