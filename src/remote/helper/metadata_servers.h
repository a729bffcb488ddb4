/* SPDX-License-Identifier: MIT
 *
 * Servers that tell a machine in a cloud about itself, its credentials among that, to whoever asks from there: no file of a user is on one, and
 * a redirection to one is an attack.
 */
#ifndef NT_FETCH_METADATA_SERVERS_H
#define NT_FETCH_METADATA_SERVERS_H

#include <stdbool.h>
#include <sys/socket.h>

bool nt_is_metadata_address(const struct sockaddr *address);
/* By its host, which may be a name that a proxy looks up. */
bool nt_is_metadata_url(const char *url);

#endif
