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
#include <unistd.h>

#include "fetch/environment.h"

size_t nt_credentials_places(const char *places_ret[NT_CREDENTIAL_PLACES])
{
    static const char *const names[] = {"NETRC",           "BEARER_TOKEN_FILE",
                                        "XDG_RUNTIME_DIR", "X509_USER_PROXY",
                                        "X509_CERT_DIR",   "SSL_CERT_FILE",
                                        "SSL_CERT_DIR",    "CURL_CA_BUNDLE",
                                        "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"};
    size_t count = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (nt_environment(names[i]))
            places_ret[count++] = nt_environment(names[i]);
    return count;
}

/* ---- bearer tokens ---- */

enum { TOKEN_BYTES = 16 * 1024 };

/* The text of a file without what is around it; false where there is none, or no token in it. */
static bool read_token(const char *path, char token[TOKEN_BYTES])
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t count = descriptor >= 0 ? read(descriptor, token, TOKEN_BYTES - 1) : -1;
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
        return read_token(file, token);
    snprintf(path, sizeof(path), "%s/bt_u%u", directory ? directory : "", (unsigned)geteuid());
    if (directory && read_token(path, token))
        return true;
    snprintf(path, sizeof(path), "/tmp/bt_u%u", (unsigned)geteuid());
    return read_token(path, token);
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
}

static void add_proxy(CURL *easy)
{
    const char *proxy = nt_environment("X509_USER_PROXY");
    if (!proxy)
        return;
    curl_easy_setopt(easy, CURLOPT_SSLCERT, proxy);
    curl_easy_setopt(easy, CURLOPT_SSLKEY, proxy);
}

void nt_credentials_add(CURL *easy, bool is_secure, bool is_own)
{
    curl_easy_setopt(easy, CURLOPT_NETRC, CURL_NETRC_OPTIONAL);
    if (nt_environment("NETRC"))
        curl_easy_setopt(easy, CURLOPT_NETRC_FILE, nt_environment("NETRC"));
    if (!is_secure)
        return;
    add_authorities(easy);
    add_proxy(easy);
    if (is_own)
        add_token(easy);
}
