/* SPDX-License-Identifier: MIT
 *
 * In: the environment and files that it names. Out: options of a request: netrc(5), bearer tokens ("WLCG Bearer Token Discovery", 1.0),
 * proxy certificates (X509_USER_PROXY), certificates of authorities.
 */
#include "remote/helper/credentials.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buffer.h"
#include "remote/helper/credential_files.h"
#include "remote/helper/environment.h"

/* ---- bearer tokens ---- */

enum { TOKEN_BYTES = 16 * 1024 };

/* Without what is around it; false where there is none. */
static bool find_token(char token[TOKEN_BYTES])
{
    struct nt_buffer text = {0};
    const char *own = nt_environment("BEARER_TOKEN"), *found = own;
    if (!own && nt_credential_read(NT_CREDENTIAL_TOKEN, &text))
        found = text.bytes;
    token[0] = '\0';
    if (found) {
        const char *begin = found + (own ? 0 : strspn(found, " \t\r\n"));
        snprintf(token, TOKEN_BYTES, "%s", begin);
    }
    if (!own)
        token[strcspn(token, " \t\r\n")] = '\0';
    nt_credential_forget(&text);
    return *token != '\0';
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
    const char *bundle = nt_credential_path(NT_CREDENTIAL_BUNDLE), *folder = nt_environment("X509_CERT_DIR");
    if (!bundle)
        bundle = nt_credential_path(NT_CREDENTIAL_BUNDLE_OF_SSL);
    if (!folder)
        folder = nt_environment("SSL_CERT_DIR");
    if (bundle)
        curl_easy_setopt(easy, CURLOPT_CAINFO, bundle);
    if (folder)
        curl_easy_setopt(easy, CURLOPT_CAPATH, folder);
    else
        leave_out_folder(easy, bundle);
}

/* A proxy has both. Whoever has seen it can do nothing with it: it is shown with a signature of the key, for this connection alone. */
static void add_certificate(CURL *easy)
{
    const char *proxy = nt_credential_path(NT_CREDENTIAL_PROXY);
    if (!proxy || !nt_credential_is_named(NT_CREDENTIAL_PROXY))
        return;
    curl_easy_setopt(easy, CURLOPT_SSLCERT, proxy);
    curl_easy_setopt(easy, CURLOPT_SSLKEY, proxy);
}

static bool keeps_certificate; /* of the process, as its environment is */

void nt_credentials_keep_certificate(bool is_kept)
{
    keeps_certificate = is_kept;
}

static void add_password(CURL *easy)
{
    const char *path = nt_credential_path(NT_CREDENTIAL_PASSWORDS);
    if (!path)
        return;
    curl_easy_setopt(easy, CURLOPT_NETRC, CURL_NETRC_OPTIONAL);
    curl_easy_setopt(easy, CURLOPT_NETRC_FILE, path);
}

void nt_credentials_add(CURL *easy, const struct nt_credentials_for *server)
{
    if (server->is_secure)
        add_authorities(easy);
    if (server->is_secure && (server->is_named || !keeps_certificate))
        add_certificate(easy);
    if (server->is_named)
        add_password(easy);
    if (server->is_named && server->is_secure && !server->is_signed)
        add_token(easy);
}
