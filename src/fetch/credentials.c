/* SPDX-License-Identifier: MIT
 *
 * In: the environment and files that it names. Out: options of a request: netrc(5), bearer tokens ("WLCG Bearer Token Discovery", 1.0),
 * proxy certificates (X509_USER_PROXY), certificates of authorities.
 */
#include "fetch/credentials.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fetch/environment.h"

/* What is renewed is another file of the same name: its folder is needed. Of Kerberos a kind of places stands before the path, or none is a path. */
static const struct {
    const char *name;
    bool is_renewed, has_kind;
} places[NT_CREDENTIAL_PLACES] = {
    {"NETRC", false, false},
    {"BEARER_TOKEN_FILE", true, false},
    {"XDG_RUNTIME_DIR", false, false},
    {"X509_USER_PROXY", true, false},
    {"X509_USER_CERT", false, false},
    {"X509_USER_KEY", false, false},
    {"X509_CERT_DIR", false, false},
    {"X509_VOMS_DIR", false, false},
    {"SSL_CERT_FILE", false, false},
    {"SSL_CERT_DIR", false, false},
    {"CURL_CA_BUNDLE", false, false},
    {"AWS_CONFIG_FILE", true, false},
    {"AWS_SHARED_CREDENTIALS_FILE", true, false},
    {"KRB5CCNAME", true, true},
    {"KRB5_CONFIG", false, false},
    {"XrdSecSSSKT", false, false},
    {"XRD_PLUGINCONFDIR", false, false},
};

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

size_t nt_credentials_places(char *places_ret[NT_CREDENTIAL_PLACES])
{
    size_t count = 0;
    for (size_t i = 0; i < NT_CREDENTIAL_PLACES; i++) {
        const char *path = nt_environment(places[i].name);
        if (path && places[i].has_kind)
            path = strchr(path, '/');
        char *place = path ? (places[i].is_renewed ? folder_of(path) : strdup(path)) : NULL;
        if (place)
            places_ret[count++] = place;
    }
    return count;
}

/* ---- bearer tokens ---- */

enum { TOKEN_BYTES = 16 * 1024 };

/* The text of a file without what is around it; false where there is none, or no token in it. `is_named`: by the user. Else
 * the file must be his: others may write in the folder. */
static bool read_token(const char *path, bool is_named, char token[TOKEN_BYTES])
{
    struct stat attributes;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool may_read = descriptor >= 0 && fstat(descriptor, &attributes) == 0 &&
                    (is_named || attributes.st_uid == geteuid());
    ssize_t count = may_read ? read(descriptor, token, TOKEN_BYTES - 1) : -1;
    if (descriptor >= 0)
        close(descriptor);
    token[count > 0 ? count : 0] = '\0';
    size_t blank = strspn(token, " \t\r\n");
    memmove(token, token + blank, strlen(token + blank) + 1);
    token[strcspn(token, " \t\r\n")] = '\0';
    return *token != '\0';
}

static bool find_token(char token[TOKEN_BYTES])
{
    char path[4096];
    const char *own = nt_environment("BEARER_TOKEN"), *file = nt_environment("BEARER_TOKEN_FILE"),
               *directory = nt_environment("XDG_RUNTIME_DIR");
    if (own) {
        snprintf(token, TOKEN_BYTES, "%s", own);
        return true;
    }
    if (file)
        return read_token(file, true, token);
    snprintf(path, sizeof(path), "%s/bt_u%u", directory ? directory : "", (unsigned)geteuid());
    if (directory && read_token(path, false, token))
        return true;
    snprintf(path, sizeof(path), "/tmp/bt_u%u", (unsigned)geteuid());
    return read_token(path, false, token);
}

/* Anybody who has it may use it: it is for the server that was named, where nobody listens. */
static void add_token(CURL *easy)
{
    char token[TOKEN_BYTES];
    if (find_token(token)) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
        curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, token);
    }
    explicit_bzero(token, sizeof(token));
}

/* ---- certificates ---- */

/* The system's bundle has those of its folder, too. Where a folder might be looked into libcurl reads the bundle anew for each
 * connection, 30 ms of work, and of many at once only the last would have time for an answer. */
static void leave_out_folder(CURL *easy, const char *bundle)
{
    char *found = NULL;
    if (!bundle && curl_easy_getinfo(easy, CURLINFO_CAINFO, &found) == CURLE_OK)
        bundle = found;
    if (bundle && access(bundle, R_OK) == 0)
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
}

static void add_authorities(CURL *easy)
{
    const char *bundle = nt_environment("CURL_CA_BUNDLE"), *folder = nt_environment("X509_CERT_DIR");
    if (!bundle)
        bundle = nt_environment("SSL_CERT_FILE");
    if (!folder)
        folder = nt_environment("SSL_CERT_DIR");
    if (bundle)
        curl_easy_setopt(easy, CURLOPT_CAINFO, bundle);
    if (folder)
        curl_easy_setopt(easy, CURLOPT_CAPATH, folder);
    else
        leave_out_folder(easy, bundle);
}

static void add_proxy(CURL *easy)
{
    const char *proxy = nt_environment("X509_USER_PROXY");
    if (!proxy)
        return;
    curl_easy_setopt(easy, CURLOPT_SSLCERT, proxy);
    curl_easy_setopt(easy, CURLOPT_SSLKEY, proxy);
}

void nt_credentials_add(CURL *easy, bool is_secure, bool is_trusted)
{
    curl_easy_setopt(easy, CURLOPT_NETRC, CURL_NETRC_OPTIONAL);
    if (nt_environment("NETRC"))
        curl_easy_setopt(easy, CURLOPT_NETRC_FILE, nt_environment("NETRC"));
    if (!is_secure)
        return;
    add_authorities(easy);
    add_proxy(easy);
    if (is_trusted)
        add_token(easy);
}
