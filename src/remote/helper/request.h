/* SPDX-License-Identifier: MIT
 *
 * One request for a part of a file, with the redirections that it takes, and what came of it.
 */
#ifndef NT_FETCH_REQUEST_H
#define NT_FETCH_REQUEST_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "remote/helper/address.h"
#include "remote/helper/reply.h"
#include "remote/helper/result.h"

/* A file as it was found at first. */
struct nt_file_version {
    struct nt_validators validators;
    uint64_t size;
};

enum nt_asked {
    NT_ASKED_PART,   /* of a file */
    NT_ASKED_FOLDER, /* what is in it: PROPFIND, or a list of S3's, whole */
};

struct nt_request {
    /* Asked for: */
    enum nt_asked asked;
    const char *address;
    const char *named; /* the user's address: its server may know who asks, and no other */
    bool is_own;       /* the address is that one */
    enum nt_service service;
    bool is_suffix; /* the last bytes */
    uint64_t first, bytes;
    const struct nt_file_version *expected; /* NULL: nothing is known of the file */
    uint64_t milliseconds;
    /* False: not now. */
    bool (*take)(void *context, const char *bytes, size_t count);
    void *context;
    /* Found: */
    struct nt_reply reply;
    struct nt_result result;
    bool is_judged;
    /* Under way: */
    uint64_t deadline;
    char *elsewhere; /* where it was sent to; NULL: nowhere yet */
    unsigned redirections;
    uint64_t redirection_bytes; /* bodies of such answers, which nobody reads */
    bool is_refused;            /* its server's address is one that is never asked */
    void *private;
    CURL *easy;
    struct curl_slist *headers;
};

/* False without memory. `private` is what curl tells with its end. */
bool nt_request_start(struct nt_request *request, CURLM *multi, void *private);
/* What `take` has got is not what was asked for: no more of it is wanted. */
void nt_request_refuse(struct nt_request *request, enum nt_fetch_failure failure, const char *message);
/* An answer has ended. True where it sends the request elsewhere: it is under way again, and will end once more. Each server is asked by
 * a request of its own, so that what it may know of the user is decided for it alone. */
bool nt_request_follow(struct nt_request *request, CURLM *multi, CURLcode code);
/* It has ended: judge it. */
void nt_request_end(struct nt_request *request, CURLcode code);
/* Where it was sent to in the end; valid until it is stopped. */
const char *nt_request_address(const struct nt_request *request);
void nt_request_stop(struct nt_request *request, CURLM *multi);

#endif
