/* SPDX-License-Identifier: MIT
 *
 * Digests of Bloscpack files (MD5, SHA-1, SHA-2), from OpenSSL's libcrypto.
 */
#include "core/codec/codec.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

static bool compute_evp(const EVP_MD *method, const void *data, size_t bytes, uint8_t *digest)
{
    if (!OSSL_LIB_CTX_get0_global_default()) /* if creation failed, the library would use it anyway */
        return false;
    unsigned length = (unsigned)EVP_MD_get_size(method);
    return EVP_Digest(data, bytes, digest, &length, method, NULL) == 1;
}

#define DEFINE_EVP(name, method)                                                                             \
    bool name(const void *data, size_t bytes, uint8_t *digest)                                               \
    {                                                                                                        \
        return compute_evp(method, data, bytes, digest);                                                     \
    }

DEFINE_EVP(nt_digest_md5, EVP_md5())
DEFINE_EVP(nt_digest_sha1, EVP_sha1())
DEFINE_EVP(nt_digest_sha224, EVP_sha224())
DEFINE_EVP(nt_digest_sha256, EVP_sha256())
DEFINE_EVP(nt_digest_sha384, EVP_sha384())
DEFINE_EVP(nt_digest_sha512, EVP_sha512())
