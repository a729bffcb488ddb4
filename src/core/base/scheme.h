/* SPDX-License-Identifier: MIT
 *
 * The table of URL schemes, and the addresses of objects in a store. Readers and the network helper use
 * the same ones.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The service of a server: decides the backend and the credentials. */
enum nt_service {
    NT_SERVICE_HTTP, /* HTTP and WebDAV */
    NT_SERVICE_S3,   /* requests are signed */
    NT_SERVICE_XROOTD,
    NT_SERVICE_NONE, /* not readable by this scheme */
};

struct nt_scheme {
    const char *name; /* before "://" */
    enum nt_service service;
    bool is_secure;     /* uses TLS */
    bool is_store;      /* addresses a dataset with objects beneath it; else directories can be listed */
    bool has_host;      /* names the server; else a bucket of the configured server */
    bool has_users;     /* user names are not secret: servers ignore them */
    bool is_encoded;    /* names are percent-encoded */
    const char *hidden; /* messages end an address at the first of these characters */
    const char *advice; /* what to do instead, if not readable */
};

/* The scheme of a path and the length of its name. Unknown schemes have NT_SERVICE_NONE; the length is
 * 0 if the path does not begin with "NAME://". */
const struct nt_scheme *nt_scheme_of(const char *path, size_t *length_ret);

/* All readable schemes, or only those of stores: "a://, b:// or c://". Returns `text`. */
enum { NT_SCHEME_LIST_BYTES = 256 };
const char *nt_scheme_list(char text[NT_SCHEME_LIST_BYTES], bool is_store);

/* All objects of a store appear as one source, each with 4 GiB of its offsets. */
#define NT_OBJECT_SPACE (UINT64_C(1) << 32)
/* Below the limit by more than a coalesced gap, so that joined reads stay in one object. */
#define NT_OBJECT_MAX_BYTES (NT_OBJECT_SPACE - (2 << 20))
/* Placeholder for the number of an object in names. */
#define NT_OBJECT_NUMBER "${objid}"
