/* SPDX-License-Identifier: MIT
 *
 * The table of URL schemes. Readers and the network helper use the same one.
 */
#ifndef NT_CORE_BASE_SCHEME_H
#define NT_CORE_BASE_SCHEME_H

#include <stdbool.h>
#include <stddef.h>

/* The service that a server offers: it decides the backend and the credentials. */
enum nt_service {
    NT_SERVICE_WEB, /* HTTP and WebDAV */
    NT_SERVICE_S3,  /* requests are signed */
    NT_SERVICE_XROOTD,
    NT_SERVICE_NONE, /* files by this scheme are not read */
};

struct nt_scheme {
    const char *name; /* in front of "://" */
    enum nt_service service;
    bool is_secure;  /* by TLS */
    bool is_store;   /* the address of a dataset whose objects lie beneath it; else folders can be listed */
    bool has_host;   /* the address names the server; else it names a bucket of the configured one */
    bool has_users;  /* a user name is no secret: servers do not believe it */
    bool is_encoded; /* names are percent-encoded */
    const char *hidden; /* messages show an address up to the first of these characters */
    const char *advice; /* what to do instead, where files are not read */
};

/* The scheme of a path and the length of its name. A path without a scheme of the table has one of NT_SERVICE_NONE;
 * the length is 0 where it does not begin with "NAME://" at all. */
const struct nt_scheme *nt_scheme_of(const char *path, size_t *length_ret);

/* All schemes that are read, or those of stores alone: "a://, b:// or c://". Returns `text`. */
enum { NT_SCHEME_LIST_BYTES = 256 };
const char *nt_scheme_list(char text[NT_SCHEME_LIST_BYTES], bool is_store);

#endif
