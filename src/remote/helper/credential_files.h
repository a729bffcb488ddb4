/* SPDX-License-Identifier: MIT
 *
 * Files that tell who the user is. The process that talks to servers has none of their folders in its reach: another one, which has
 * no connection, gives it a copy of each, and a new one where the file is another one: it was written, renamed over, or a link leads
 * elsewhere now. Libraries read a copy by a path in /proc, which stays the same.
 */
#ifndef NT_FETCH_CREDENTIAL_FILES_H
#define NT_FETCH_CREDENTIAL_FILES_H

#include <stdbool.h>

#include "core/base/buffer.h"

enum nt_credential {
    NT_CREDENTIAL_PASSWORDS, /* netrc(5) */
    NT_CREDENTIAL_TOKEN,
    NT_CREDENTIAL_PROXY,       /* a certificate and its key */
    NT_CREDENTIAL_CERTIFICATE, /* and another file has the key */
    NT_CREDENTIAL_KEY,
    NT_CREDENTIAL_BUNDLE, /* of authorities: curl's name for it, and OpenSSL's */
    NT_CREDENTIAL_BUNDLE_OF_SSL,
    NT_CREDENTIAL_AWS_CONFIG,
    NT_CREDENTIAL_AWS_KEYS,
    NT_CREDENTIAL_TICKETS, /* Kerberos' */
    NT_CREDENTIAL_SECRETS, /* XRootD's sss */
    NT_CREDENTIALS
};

/* ---- who has them ---- */

/* Answer what comes by a socket to its end. */
void nt_credentials_serve(int socket);

/* ---- who needs them ---- */

/* Before there are threads, and before the sandbox: ask by this socket, and tell libraries by their variables. Without it files are opened
 * where they are needed. */
void nt_credentials_begin(int socket);

/* Where a file lies now, as it is now: to be opened, not to be kept. NULL: it is not there; of one that a variable names it is a path all the same.
 * One thread alone. */
const char *nt_credential_path(enum nt_credential credential);
/* Whether a variable names it, or it is looked for where it usually lies. */
bool nt_credential_is_named(enum nt_credential credential);
/* All of its text, with a NUL; false where it cannot be had. `text` is empty, and is given back to the other one. */
bool nt_credential_read(enum nt_credential credential, struct nt_buffer *text);
void nt_credential_forget(struct nt_buffer *text);
/* Look again at all that libraries read by themselves. */
void nt_credentials_refresh(void);

#endif
