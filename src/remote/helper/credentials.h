/* SPDX-License-Identifier: MIT
 *
 * What a server is told of its user, and whom it must be certified by: as users of curl and of grids have it. None of it leaves
 * this process but to the server.
 */
#ifndef NT_FETCH_CREDENTIALS_H
#define NT_FETCH_CREDENTIALS_H

#include <curl/curl.h>
#include <stdbool.h>

/* Whom a request goes to. */
struct nt_credentials_for {
    bool is_secure; /* by https */
    bool
        is_named; /* scheme, host and port are those of the address that the user named, not where that server has sent it to */
    bool is_signed; /* it has credentials of its own */
};

/* Client certificates are for servers that users name alone; else for those as well that they send requests to. */
void nt_credentials_keep_certificate(bool is_kept);

/* Tell a request. They are read anew each time, so that what is renewed is used. */
void nt_credentials_add(CURL *easy, const struct nt_credentials_for *server);

#endif
