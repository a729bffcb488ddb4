/* SPDX-License-Identifier: MIT
 *
 * The URL that is requested for an address: WebDAV, and buckets by their configuration.
 */
#include "remote/helper/helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "settings.h"
#include "support.h"

/* Of "NAME=VALUE". */
static void configure(const char *const assignments[])
{
    forget();
    for (; *assignments; assignments++) {
        char text[256], *value;
        snprintf(text, sizeof(text), "%s", *assignments);
        value = strchr(text, '=');
        *value++ = '\0';
        setenv(text, value, 1);
    }
}

static const struct {
    const char *address, *configured[3], *url, *problem;
    enum nt_service service;
} cases[] = {
    {"http://h/a?b#c", {NULL}, "http://h/a?b#c", NULL, NT_SERVICE_HTTP},
    {"HTTPS://h:1/a", {NULL}, "https://h:1/a", NULL, NT_SERVICE_HTTP},
    {"dav://h/a", {NULL}, "http://h/a", NULL, NT_SERVICE_HTTP},
    {"davs://h/a", {NULL}, "https://h/a", NULL, NT_SERVICE_HTTP},
    {"ntpl+s3+http://h:1/b/a%20b", {"AWS_ENDPOINT_URL=http://x"}, "http://h:1/b/a%20b", NULL, NT_SERVICE_S3},
    {"NTPL+S3+HTTPS://h/b/a/${objid}", {NULL}, "https://h/b/a/${objid}", NULL, NT_SERVICE_S3},
    {"ntpl+s3://b/a", {NULL}, NULL, "the scheme of its address is unknown", NT_SERVICE_HTTP},
    {"root://h//a", {NULL}, NULL, "the scheme of its address is unknown", NT_SERVICE_HTTP},
    /* Amazon S3 User Guide, "Virtual hosting of general purpose buckets". */
    {"s3://b-1/k", {NULL}, "https://b-1.s3.us-east-1.amazonaws.com/k", NULL, NT_SERVICE_S3},
    {"s3://b/k", {"AWS_REGION=eu-west-1"}, "https://b.s3.eu-west-1.amazonaws.com/k", NULL, NT_SERVICE_S3},
    {"s3://b/k",
     {"AWS_DEFAULT_REGION=eu-west-1"},
     "https://b.s3.eu-west-1.amazonaws.com/k",
     NULL,
     NT_SERVICE_S3},
    {"s3://b/k",
     {"AWS_REGION=eu-west-2", "AWS_DEFAULT_REGION=eu-west-1"},
     "https://b.s3.eu-west-2.amazonaws.com/k",
     NULL,
     NT_SERVICE_S3},
    {"s3://b/k",
     {"AWS_REGION=cn-north-1"},
     "https://b.s3.cn-north-1.amazonaws.com.cn/k",
     NULL,
     NT_SERVICE_S3},
    {"s3://b.c/k", {NULL}, "https://s3.us-east-1.amazonaws.com/b.c/k", NULL, NT_SERVICE_S3},
    {"S3://b/k", {"AWS_ENDPOINT_URL=https://ceph:7480//"}, "https://ceph:7480/b/k", NULL, NT_SERVICE_S3},
    {"s3://b/k",
     {"AWS_ENDPOINT_URL=http://one", "AWS_ENDPOINT_URL_S3=http://two"},
     "http://two/b/k",
     NULL,
     NT_SERVICE_S3},
    /* RFC 3986, section 2.3: all but unreserved characters are encoded. */
    {"s3://b/a b/+=&,;()*'!@$#%:~?/../\xc3\xa9",
     {"AWS_ENDPOINT_URL=http://h"},
     "http://h/b/a%20b/%2B%3D%26%2C%3B%28%29%2A%27%21%40%24%23%25%3A~%3F/../%C3%A9",
     NULL,
     NT_SERVICE_S3},
    {"s3://b//k/", {"AWS_ENDPOINT_URL=http://h"}, "http://h/b//k/", NULL, NT_SERVICE_S3},
    {"s3://b", {NULL}, NULL, "it must be s3://BUCKET/KEY", NT_SERVICE_S3},
    {"s3://b/", {NULL}, NULL, "it must be s3://BUCKET/KEY", NT_SERVICE_S3},
    {"s3:///k", {NULL}, NULL, "it must be s3://BUCKET/KEY", NT_SERVICE_S3},
    {"s3://evil.com:80/k", {NULL}, NULL, "it must be s3://BUCKET/KEY", NT_SERVICE_S3},
    {"s3://evil.com#/k", {NULL}, NULL, "it must be s3://BUCKET/KEY", NT_SERVICE_S3},
    {"s3://b/k", {"AWS_REGION=evil.com/"}, NULL, "AWS_REGION is not the name of a region", NT_SERVICE_S3},
    {"s3://b/k",
     {"AWS_ENDPOINT_URL=ceph:7480"},
     NULL,
     "AWS_ENDPOINT_URL must begin with http:// or https://",
     NT_SERVICE_S3},
    {"s3://b/k",
     {"AWS_PROFILE=lab"},
     NULL,
     "AWS_PROFILE names a profile that neither of AWS's files has",
     NT_SERVICE_S3},
};

TEST(an_address_has_a_url_or_a_problem, .end = sizeof(cases) / sizeof(*cases))
{
    enum nt_service service = NT_SERVICE_HTTP;
    const char *problem = NULL;
    configure(cases[_i].configured);
    char *url = nt_address_url(cases[_i].address, NULL, &service, &problem);
    if (cases[_i].url)
        ck_assert_str_eq(url, cases[_i].url);
    else
        ck_assert(!url);
    ck_assert_int_eq(service, cases[_i].service);
    if (cases[_i].problem)
        ck_assert_str_eq(problem, cases[_i].problem);
    else
        ck_assert(!problem);
    free(url);
}

static const struct {
    const char *address, *url, *folder;
} folders[] = {
    {"dav://h/x", "http://h/a%20b/?x=/#/y", "/a b/"},
    {"http://h", "http://h", ""},
    {"s3://b/a b/c", "http://h/b/?prefix=x", "a b/c/"},
    {"s3://b/a/", "http://h/b/", "a/"},
    {"s3://b/", "http://h/b/", ""},
    {"s3://b", "http://h/b/", ""},
};

TEST(a_folder_is_where_its_server_says, .end = sizeof(folders) / sizeof(*folders))
{
    char *folder = nt_address_folder(folders[_i].address, folders[_i].url);
    ck_assert_str_eq(folder, folders[_i].folder);
    free(folder);
}

static const struct {
    const char *one, *other;
    bool is_same;
} servers[] = {
    {"http://h/a", "http://h/b", true},
    {"http://h/a", "HTTP://H", true},
    {"http://h", "http://h?x", true},
    {"http://h#x", "http://h#y", true},
    {"http://h/", "https://h/", false},
    {"http://h/", "http://h:80/", true},
    {"http://h:8/a", "http://h:80/a", false},
    {"http://h/", "http://h.evil.com/", false},
    {"http://h/", "http://h@evil.com/", false},
    {"https://h/", "https://H:443/a", true},
    {"https://h/", "https://h:80/", false},
    {"http://[::1]/", "http://[::1]:80", true},
    {"http://[::1]/", "http://[::2]/", false},
    {"http://h/", "http://h\\@evil.com/", false},
    {"", "", false},
};

TEST(servers_are_compared_by_scheme_name_and_port, .end = sizeof(servers) / sizeof(*servers))
{
    ck_assert_int_eq(nt_address_is_same_server(servers[_i].one, servers[_i].other), servers[_i].is_same);
}

/* ---- AWS's files ---- */

static void write_file(const char *variable, char path[], const char *text)
{
    int descriptor = mkstemp(path);
    ck_assert(descriptor >= 0);
    ck_assert_int_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
    setenv(variable, path, 1);
}

static const char configuration[] = "[default]\nregion = eu-north-1\n"
                                    "[profile lab]\r\n# a remark\r\nregion=eu-south-1\r\n"
                                    "s3 =\n  region = nested\n  addressing_style = path\n"
                                    "endpoint_url = http://lab\n"
                                    "[ profile  none ]\n";
static const char credentials[] =
    "[default]\naws_access_key_id = A\naws_secret_access_key = B=+/\n"
    "[lab]\naws_access_key_id=C\naws_secret_access_key=D\naws_session_token = E \n"
    "no setting\n[profile]\naws_access_key_id=I\n[profiles]\naws_access_key_id=J\n[";

static const struct {
    const char *configured[3], *problem, *key, *secret, *token, *region, *endpoint;
} profiles[] = {
    {{NULL}, NULL, "A", "B=+/", "", "eu-north-1", ""},
    {{"AWS_PROFILE=lab"}, NULL, "C", "D", "E", "eu-south-1", "http://lab"},
    {{"AWS_PROFILE=none"}, NULL, "", "", "", "us-east-1", ""},
    {{"AWS_PROFILE=lab", "AWS_REGION=x"}, NULL, "C", "D", "E", "x", "http://lab"},
    /* Those of the environment come first, and never mix with others. */
    {{"AWS_PROFILE=lab", "AWS_ACCESS_KEY_ID=F"}, NULL, "F", "", "", "eu-south-1", "http://lab"},
    {{"S3_ACCESS_KEY=G", "S3_SECRET_KEY=H"}, NULL, "G", "H", "", "eu-north-1", ""},
    {{"AWS_PROFILE=profile"}, NULL, "I", "", "", "us-east-1", ""},
    {{"AWS_PROFILE=profiles"}, NULL, "J", "", "", "us-east-1", ""},
    {{"AWS_PROFILE=profile lab"},
     "AWS_PROFILE names a profile that neither of AWS's files has",
     "",
     "",
     "",
     "us-east-1",
     ""},
};

TEST(a_profile_is_found_in_both_files, .end = sizeof(profiles) / sizeof(*profiles))
{
    struct nt_s3 s3;
    char configuration_path[] = "/tmp/test_address_XXXXXX", credentials_path[] = "/tmp/test_address_XXXXXX";
    configure(profiles[_i].configured);
    write_file("AWS_CONFIG_FILE", configuration_path, configuration);
    write_file("AWS_SHARED_CREDENTIALS_FILE", credentials_path, credentials);
    const char *problem = nt_s3_find(&s3);
    unlink(configuration_path);
    unlink(credentials_path);
    if (profiles[_i].problem)
        ck_assert_str_eq(problem, profiles[_i].problem);
    else
        ck_assert(!problem);
    ck_assert_str_eq(s3.key, profiles[_i].key);
    ck_assert_str_eq(s3.secret, profiles[_i].secret);
    ck_assert_str_eq(s3.token, profiles[_i].token);
    ck_assert_str_eq(s3.region, profiles[_i].region);
    ck_assert_str_eq(s3.endpoint, profiles[_i].endpoint);
}

TEST(files_that_are_not_there_configure_nothing)
{
    struct nt_s3 s3;
    forget();
    ck_assert(!nt_s3_find(&s3));
    ck_assert_str_eq(s3.key, "");
    ck_assert_str_eq(s3.region, "us-east-1");
}
