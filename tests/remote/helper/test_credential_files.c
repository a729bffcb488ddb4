/* SPDX-License-Identifier: MIT
 *
 * Copies of credential files from the other process: their paths, and that they are up to date.
 */
#include "remote/helper/helper.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "temporary.h"
#include "core/base/memory.h"

NEEDS_PROCESSES("settings of credentials stay in force");

static pid_t watchdog;

/* Earlier settings stay in force until then. */
static void begin(void)
{
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    watchdog = fork();
    if (watchdog == 0) {
        close(ends[0]);
        nt_credentials_serve(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    nt_credentials_begin(ends[0]);
}

static void put(const char *name, const char *text)
{
    int descriptor = open(temporary_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert_int_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
}

static void name(const char *variable, const char *kind, const char *file)
{
    char value[4096];
    snprintf(value, sizeof(value), "%s%s", kind, temporary_path(file));
    setenv(variable, value, 1);
}

static void check(enum nt_credential credential, const char *expected)
{
    struct nt_buffer text = {0};
    bool is_read = nt_credential_read(credential, &text);
    ck_assert_int_eq(is_read, expected != NULL);
    if (expected)
        ck_assert_str_eq(text.bytes, expected);
    nt_credential_forget(&text);
}

/* As a library that opens a path sees it. */
static void check_path(const char *path, const char *expected)
{
    char text[64] = "";
    struct stat attributes;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_ge(read(descriptor, text, sizeof(text) - 1), 0);
    ck_assert_str_eq(text, expected);
    ck_assert_int_eq(fstat(descriptor, &attributes), 0);
    if (*expected)
        ck_assert_uint_eq(attributes.st_mode & 0777, 0400);
    close(descriptor);
}

static void set_up(void)
{
    clearenv();
    temporary_setup();
    put("file", "content");
    ck_assert_int_eq(mkdir(temporary_path("folder"), 0700), 0);
    ck_assert_int_eq(mkdir(temporary_path("folder/.aws"), 0700), 0);
    put("folder/tkt", "first");
    put("folder/tktother", "other");
    put("folder/.netrc", "passwords");
    put("folder/.aws/config", "profiles");
}

static void tear_down(void)
{
    temporary_teardown();
}

static const struct {
    enum nt_credential credential;
    const char *variable, *kind, *file, *expected;
} cases[] = {
    {NT_CREDENTIAL_NETRC, "NETRC", "", "file", "content"},
    {NT_CREDENTIAL_NETRC, "HOME", "", "folder", "passwords"},
    {NT_CREDENTIAL_NETRC, "NETRC", "", "missing", NULL},
    {NT_CREDENTIAL_NETRC, "NETRC", "", "folder", NULL},
    {NT_CREDENTIAL_TOKEN, "BEARER_TOKEN_FILE", "", "file", "content"},
    {NT_CREDENTIAL_PROXY, "X509_USER_PROXY", "", "file", "content"},
    {NT_CREDENTIAL_PROXY, "XrdSecGSIUSERPROXY", "", "file", "content"},
    {NT_CREDENTIAL_CA_BUNDLE, "CURL_CA_BUNDLE", "", "file", "content"},
    {NT_CREDENTIAL_AWS_CONFIG, "AWS_CONFIG_FILE", "", "file", "content"},
    {NT_CREDENTIAL_AWS_CONFIG, "HOME", "", "folder", "profiles"},
    {NT_CREDENTIAL_AWS_KEYS, "HOME", "", "folder", NULL},
    /* MIT Kerberos, "Credential cache" */
    {NT_CREDENTIAL_KERBEROS, "KRB5CCNAME", "FILE:", "file", "content"},
    {NT_CREDENTIAL_KERBEROS, "KRB5CCNAME", "", "file", "content"},
    {NT_CREDENTIAL_KERBEROS, "KRB5CCNAME", "DIR:", "folder", "first"},
    {NT_CREDENTIAL_KERBEROS, "KRB5CCNAME", "DIR::", "folder/tktother", "other"},
    {NT_CREDENTIAL_KERBEROS, "KRB5CCNAME", "KEYRING:", "file", NULL},
};

TEST(files_are_where_variables_say, .setup = set_up, .teardown = tear_down,
     .end = sizeof(cases) / sizeof(*cases))
{
    name(cases[_i].variable, cases[_i].kind, cases[_i].file);
    begin();
    check(cases[_i].credential, cases[_i].expected);
}

TEST(a_folder_of_tickets_says_which_is_used, .setup = set_up, .teardown = tear_down)
{
    name("KRB5CCNAME", "DIR:", "folder");
    begin();
    put("folder/primary", "tktother\n");
    check(NT_CREDENTIAL_KERBEROS, "other");
    put("folder/primary", "../file\n");
    check(NT_CREDENTIAL_KERBEROS, NULL);
}

/* In a directory where others can write. */
TEST(a_token_that_is_not_named_has_to_be_the_users, .setup = set_up, .teardown = tear_down)
{
    char file[64];
    snprintf(file, sizeof(file), "folder/bt_u%u", (unsigned)geteuid());
    put(file, "token");
    name("XDG_RUNTIME_DIR", "", "folder");
    begin();
    check(NT_CREDENTIAL_TOKEN, "token");
    if (geteuid() == 0 && chown(temporary_path(file), 1, -1) == 0)
        check(NT_CREDENTIAL_TOKEN, NULL);
}

TEST(a_file_that_is_another_one_is_given_anew, .setup = set_up, .teardown = tear_down)
{
    name("NETRC", "", "file");
    name("X509_USER_PROXY", "", "link/proxy"); /* as in Kubernetes: a link to a directory, which changes */
    ck_assert_int_eq(mkdir(temporary_path("one"), 0700), 0);
    ck_assert_int_eq(mkdir(temporary_path("two"), 0700), 0);
    put("one/proxy", "certificate");
    put("two/proxy", "renewed");
    ck_assert_int_eq(symlink("one", temporary_path("link")), 0);
    begin();
    const char *path = nt_credential_path(NT_CREDENTIAL_NETRC);
    check_path(path, "content");
    put("file", "CONTENT"); /* as long, and a moment later */
    ck_assert_str_eq(nt_credential_path(NT_CREDENTIAL_NETRC), path);
    check_path(path, "CONTENT");
    put("new", "new content");
    ck_assert_int_eq(rename(temporary_path("new"), temporary_path("file")), 0);
    check(NT_CREDENTIAL_NETRC, "new content");
    check_path(path, "new content");
    check_path(nt_credential_path(NT_CREDENTIAL_PROXY), "certificate");
    ck_assert_int_eq(symlink("two", temporary_path("other link")), 0);
    ck_assert_int_eq(rename(temporary_path("other link"), temporary_path("link")), 0);
    check_path(nt_credential_path(NT_CREDENTIAL_PROXY), "renewed");
    ck_assert_int_eq(unlink(temporary_path("file")), 0);
    check(NT_CREDENTIAL_NETRC, NULL);
    check_path(path, "");
    put("file", "again");
    check_path(nt_credential_path(NT_CREDENTIAL_NETRC), "again");
}

TEST(requests_that_start_together_look_once, .setup = set_up, .teardown = tear_down)
{
    name("NETRC", "", "file");
    begin();
    nt_credentials_share_checks(true);
    check(NT_CREDENTIAL_NETRC, "content");
    put("file", "renewed");
    check(NT_CREDENTIAL_NETRC, "content");
    nt_credentials_share_checks(false);
    check(NT_CREDENTIAL_NETRC, "renewed");
    put("file", "again");
    check(NT_CREDENTIAL_NETRC, "again");
}

/* They are not named if they do not exist, unless a variable names them. */
TEST(libraries_are_reported_where_copies_are, .setup = set_up, .teardown = tear_down)
{
    name("X509_USER_PROXY", "", "file");
    name("X509_USER_KEY", "", "missing");
    name("KRB5CCNAME", "FILE:", "file");
    name("NETRC", "", "file");
    begin();
    check_path(getenv("X509_USER_PROXY"), "content");
    check_path(getenv("KRB5CCNAME") + strlen("FILE:"), "content");
    ck_assert_int_eq(strncmp(getenv("X509_USER_KEY"), "/proc/self/fd/", strlen("/proc/self/fd/")), 0);
    ck_assert_ptr_null(getenv("X509_USER_CERT"));
    ck_assert_str_eq(getenv("NETRC"), temporary_path("file"));
    put("new", "renewed");
    ck_assert_int_eq(rename(temporary_path("new"), temporary_path("file")), 0);
    nt_credentials_refresh();
    check_path(getenv("X509_USER_PROXY"), "renewed");
    check_path(getenv("KRB5CCNAME") + strlen("FILE:"), "renewed");
}

TEST(what_is_too_large_is_not_given, .setup = set_up, .teardown = tear_down)
{
    name("NETRC", "", "file");
    begin();
    ck_assert_int_eq(truncate(temporary_path("file"), (8 << 20) + 1), 0);
    check(NT_CREDENTIAL_NETRC, NULL);
    ck_assert_int_eq(truncate(temporary_path("file"), 3), 0);
    check(NT_CREDENTIAL_NETRC, "con");
}

TEST(without_the_other_process_all_stays_as_it_was, .setup = set_up, .teardown = tear_down)
{
    name("NETRC", "", "file");
    begin();
    ck_assert_int_eq(kill(watchdog, SIGKILL), 0);
    waitpid(watchdog, NULL, 0);
    put("file", "other");
    check(NT_CREDENTIAL_NETRC, "content");
}

/* A portable program meets systems that have their authorities elsewhere. */
TEST(the_bundle_of_another_system_is_found, .setup = set_up, .teardown = tear_down)
{
    put("bundle", "a certificate");
    ck_assert_str_eq(nt_system_bundle(temporary_path("bundle")), temporary_path("bundle"));
    ck_assert_ptr_null(nt_system_bundle(NULL));
    const char *other = nt_system_bundle("/nonexistent/bundle");
    ck_assert(!other || access(other, R_OK) == 0);
    if (access("/etc/ssl/certs/ca-certificates.crt", R_OK) == 0)
        ck_assert_str_eq(other, "/etc/ssl/certs/ca-certificates.crt");
}
