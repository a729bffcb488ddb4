/* SPDX-License-Identifier: MIT
 *
 * Wire protocol between a reader of remote files and the network helper: message kinds, structures and
 * limits. Neither side trusts the other.
 */
#pragma once

#include <stdint.h>

enum nt_helper_message {
    /* First message of a network helper; its sandbox follows. Requests to earlier helpers are lost. The
     * epoch is a random number, unique to the process, whichever client it serves. */
    NT_FETCH_HELLO = 1,
    /* Requests: */
    NT_FETCH_OPEN,    /* an address follows. Answers: OPENED, DATA of both ends, DONE; or FAILED */
    NT_FETCH_READ,    /* `bytes` at `offset` of a file. Answers: DATA in order, DONE; or FAILED */
    NT_FETCH_PROMOTE, /* same id: a reader now waits for a prefetch (`is_prefetch`). No answer */
    NT_FETCH_CANCEL,  /* same id. No answer */
    NT_FETCH_CLOSE,   /* a file: drops the answers of its pending requests */
    /* The address of a directory follows. Answers: ENTRY for each file and directory in it, in any order,
     * DONE; or FAILED: NOT_FOUND if the directory does not exist, UNSUPPORTED if the server does not list
     * it. After a broken answer entries may repeat: the later ones count. `milliseconds` is per
     * part. */
    NT_FETCH_LIST,
    /* OPEN of a file whose ENTRY had a validator. `bytes` is its size; its address, NUL, and the
     * validator follow. Asks no server: reads return the listed version, or FAILED with CHANGED.
     * Answers: DONE; or FAILED. For the objects of a store, whose address contains NT_OBJECT_NUMBER,
     * `bytes` is INT64_MAX; a missing or short object is NOT_FOUND. */
    NT_FETCH_OPEN_LISTED,
    /* Answers: */
    NT_FETCH_OPENED, /* `size`, `modified`, `offset`: round trips; validator, NUL, server follow */
    NT_FETCH_DATA,   /* bytes at `offset` */
    /* An item of a directory: `is_folder`, `size`, `modified`; its name (one path component, not
     * percent-encoded, neither "." nor ".."), NUL, and its validator (as in OPENED) follow. The
     * validator is "" for directories, and if only opening the file reveals it. */
    NT_FETCH_ENTRY,
    NT_FETCH_DONE,
    NT_FETCH_FAILED, /* a message follows */
    /* Sent first, before a helper process runs, with no epoch. Not answered, and not accepted later. */
    NT_FETCH_ALLOW, /* an address without a query follows: it, and everything below it, is allowed */
    NT_FETCH_BEGIN, /* the end of the rules; `bytes`: flags */
};

/* Flags of BEGIN. */
enum {
    NT_FETCH_ALLOWED_ALONE = 1,         /* only addresses from ALLOW are allowed */
    NT_FETCH_CERTIFICATE_TO_ORIGIN = 2, /* client certificate only for named servers */
};

/* Why a request failed; the requester maps it to a status. */
enum nt_fetch_failure {
    NT_FETCH_UNREACHABLE, /* or a malformed answer: a later try may succeed */
    NT_FETCH_NOT_FOUND,
    NT_FETCH_FORBIDDEN,
    NT_FETCH_CHANGED,
    NT_FETCH_UNSUPPORTED, /* the server sends no ranges, or no listings */
    NT_FETCH_INVALID,     /* not an address */
    NT_FETCH_FAILURES
};

enum {
    NT_FETCH_TEXT_BYTES = 8 * 1024,  /* maximum length of an address */
    NT_FETCH_VALIDATOR_BYTES = 512,  /* of a validator */
    NT_FETCH_SERVER_BYTES = 512,     /* of a server's name */
    NT_FETCH_NAME_BYTES = 1024,      /* of a name in a directory */
    NT_FETCH_DATA_BYTES = 60 * 1024, /* of one message */
    /* Both ends of a file, which opening returns: more than ten segments of 1460 bytes take another
     * round trip (RFC 6928), and both ends may share one new connection. */
    NT_FETCH_END_BYTES = 7 * 1024,
    NT_FETCH_MAX_FILES = 1 << 16,
    NT_FETCH_MAX_REQUESTS = 1 << 14, /* concurrent */
    NT_FETCH_MAX_ENTRIES = 1 << 20,  /* of one directory */
};
#define NT_FETCH_MAX_BYTES (UINT64_C(8) << 20) /* of one read */

/* The time is unknown. */
#define NT_FETCH_NO_TIME INT64_MIN

struct nt_fetch_request {
    uint32_t kind;
    uint32_t file;         /* the client's number, from OPEN to CLOSE; 0 for directories */
    uint64_t epoch;        /* from HELLO; requests of other epochs get no answer */
    uint64_t id;           /* never reused */
    uint32_t milliseconds; /* time limit for the answer */
    uint16_t is_prefetch;  /* no reader waits yet: other requests go first; of OPEN: none follows at once */
    uint16_t more_follow;  /* of READ: other reads follow at once */
    uint64_t offset, bytes;
};

/* The active parts of a network helper's sandbox, separated by spaces; missing ones, with reasons. */
struct nt_helper_sandbox {
    char parts[128], missing[256];
};

/* Requests to servers since the process began. */
struct nt_fetch_totals {
    uint32_t requests, retries; /* requests include retries */
};

/* Epoch, id and file are those of the request. The client discards answers to no active request. */
struct nt_fetch_answer {
    uint32_t kind;
    uint32_t file;
    uint64_t epoch;
    uint64_t id;
    uint32_t failure; /* enum nt_fetch_failure */
    uint32_t is_folder;
    struct nt_fetch_totals totals; /* totals so far */
    uint64_t offset;
    uint64_t size;
    int64_t modified; /* seconds since 1970 */
};
