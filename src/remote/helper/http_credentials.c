/* SPDX-License-Identifier: MIT
 *
 * Credentials of an HTTP request: netrc, bearer tokens, client certificates and certificate authorities.
 */
#include "remote/helper/helper.h"

#include <unistd.h>

/* ---- Bearer tokens ---- */

enum { TOKEN_BYTES = 16 * 1024 };

/* The variable's token, or that of the file without blanks around it; false if there is none. */
static bool find_token(char token[TOKEN_BYTES])
{
    static const char blanks[] = " \t\r\n";
    struct nt_buffer text = {0};
    const char *own = nt_environment("BEARER_TOKEN");
    token[0] = '\0';
    if (own) {
        snprintf(token, TOKEN_BYTES, "%s", own);
    } else if (nt_credential_read(NT_CREDENTIAL_TOKEN, &text)) {
        snprintf(token, TOKEN_BYTES, "%s", text.bytes + strspn(text.bytes, blanks));
        token[strcspn(token, blanks)] = '\0';
    }
    nt_credential_forget(&text);
    return *token != '\0';
}

/* Any holder of the token can use it: sends it only to the named server, over https. */
static void add_token(CURL *easy)
{
    char token[TOKEN_BYTES];
    if (find_token(token)) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
        curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, token);
    }
    explicit_bzero(token, sizeof(token));
}

/* ---- Certificates ---- */

const char *nt_system_bundle(const char *built_in)
{
    static const char *const paths[] = {"/etc/ssl/certs/ca-certificates.crt", /* Debian, Alpine, Arch */
                                        "/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora, Enterprise Linux */
                                        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
                                        "/etc/ssl/ca-bundle.pem", /* openSUSE */
                                        "/etc/ssl/cert.pem"};
    if (!built_in || access(built_in, R_OK) == 0)
        return built_in;
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        if (access(paths[i], R_OK) == 0)
            return paths[i];
    return NULL;
}

/* The system's bundle includes the certificates of its directory. With a directory set, libcurl reads the
 * bundle again for each connection; that takes 30 ms, and many connections at once would time out. */
static void add_authorities(CURL *easy)
{
    const char *bundle = nt_credential_path(NT_CREDENTIAL_CA_BUNDLE),
               *folder = nt_environment("X509_CERT_DIR");
    char *built_in = NULL;
    if (!bundle)
        bundle = nt_credential_path(NT_CREDENTIAL_CA_BUNDLE_OPENSSL);
    if (!bundle && curl_easy_getinfo(easy, CURLINFO_CAINFO, &built_in) == CURLE_OK)
        bundle = nt_system_bundle(built_in);
    if (!folder)
        folder = nt_environment("SSL_CERT_DIR");
    if (!bundle && !folder)
        bundle = nt_credential_path(NT_CREDENTIAL_CA_BUNDLE_PACKAGED);
    if (bundle)
        curl_easy_setopt(easy, CURLOPT_CAINFO, bundle);
    if (folder || (bundle && access(bundle, R_OK) == 0))
        curl_easy_setopt(easy, CURLOPT_CAPATH, folder);
}

/* A proxy has certificate and key. A server that sees the certificate cannot reuse it: a signature by
 * the key proves ownership for one connection. */
static void add_certificate(CURL *easy)
{
    const char *proxy = nt_credential_path(NT_CREDENTIAL_PROXY);
    if (!proxy || !nt_credential_is_named(NT_CREDENTIAL_PROXY))
        return;
    curl_easy_setopt(easy, CURLOPT_SSLCERT, proxy);
    curl_easy_setopt(easy, CURLOPT_SSLKEY, proxy);
}

static bool keeps_certificate; /* global, like the environment */

void nt_credentials_keep_certificate(bool is_kept)
{
    keeps_certificate = is_kept;
}

static void add_password(CURL *easy)
{
    const char *path = nt_credential_path(NT_CREDENTIAL_NETRC);
    if (!path)
        return;
    curl_easy_setopt(easy, CURLOPT_NETRC, CURL_NETRC_OPTIONAL);
    curl_easy_setopt(easy, CURLOPT_NETRC_FILE, path);
}

void nt_credentials_add(CURL *easy, const struct nt_request_target *server)
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
