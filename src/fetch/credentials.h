/* SPDX-License-Identifier: MIT
 *
 * What a server is told of its user, and whom it must be certified by: as users of curl and of grids have it. None of it leaves
 * this process but to the server.
 */
#ifndef NT_FETCH_CREDENTIALS_H
#define NT_FETCH_CREDENTIALS_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

/* Where credentials lie: paths of files and folders, which may not be there. From malloc. */
enum { NT_CREDENTIAL_PLACES = 17 };
size_t nt_credentials_places(char *places_ret[NT_CREDENTIAL_PLACES]);

/* Tell a request. `is_trusted`: it goes to the server that the user named, not where that one has sent it to. They are read
 * anew each time, so that what is renewed is used. */
void nt_credentials_add(CURL *easy, bool is_secure, bool is_trusted);

#endif
