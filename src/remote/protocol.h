/* SPDX-License-Identifier: MIT
 *
 * Wire protocol between a reader of remote files and the network helper: message kinds, structures and
 * limits. Neither side trusts the other.
 */
#ifndef NT_REMOTE_PROTOCOL_H
#define NT_REMOTE_PROTOCOL_H

#include <stdint.h>

enum nt_helper_message {
    /* From a network helper, before all else, with its sandbox behind it: who was asked before is gone. Its epoch is a random number,
     * which no other such process has, whomever it works for. */
    NT_FETCH_HELLO = 1,
    /* Asked for: */
    NT_FETCH_OPEN, /* an address behind it. Answered by OPENED, DATA of both ends of the file, DONE; or FAILED */
    NT_FETCH_READ, /* `bytes` at `offset` of a file. Answered by DATA in order, DONE; or FAILED */
    NT_FETCH_PROMOTE, /* of the same number: what nobody waited for (`is_prefetch`) somebody waits for now. Not answered */
    NT_FETCH_CANCEL, /* of the same number. Not answered */
    NT_FETCH_CLOSE,  /* a file: what is still asked of it is not answered */
    /* The address of a folder behind it. Answered by ENTRY for each file and folder in it, in any order, DONE; or FAILED: NOT_FOUND
     * where there is no such folder, UNSUPPORTED where its server lists none. After a broken answer entries may come once more: the
     * later ones count. `milliseconds` are those of each part of the list. */
    NT_FETCH_LIST,
    /* OPEN of a file that ENTRY has told of with a validator: `bytes` is its size; behind it its address, NUL, and the validator. No server is
     * asked: reads are of what was listed, or FAILED with CHANGED. Answered by DONE; or FAILED. Of the objects of a store, whose address has
     * NT_OBJECT_NUMBER in it, `bytes` is INT64_MAX, and one that is not there, or too short, is NOT_FOUND. */
    NT_FETCH_OPEN_LISTED,
    /* Answers: */
    NT_FETCH_OPENED, /* `size`, `modified`, `offset`: round trips that followed one another; behind it what tells this file from another at the address, 0, and the server */
    NT_FETCH_DATA,   /* the bytes at `offset` */
    /* Something in a folder: `is_folder`, `size`, `modified`; behind it its name (one part of a path, as it is called: neither "." nor "..",
     * not percent-encoded), NUL, and its validator (what tells this file from another, as OPENED has it). "" of what has to be opened to be known, as of folders. */
    NT_FETCH_ENTRY,
    NT_FETCH_DONE,
    NT_FETCH_FAILED, /* a message behind it */
    /* Told before all else, while no process fetches yet, and of no epoch. They are not answered, and taken at no other time. */
    NT_FETCH_ALLOW, /* an address behind it, without a query: what it names, and what lies beneath, may be asked for */
    NT_FETCH_BEGIN, /* the end of that; `bytes`: flags */
};

/* Of BEGIN. */
enum {
    NT_FETCH_ALLOWED_ALONE = 1, /* nothing may be asked for but what ALLOW has told */
    NT_FETCH_CERTIFICATE_TO_ORIGIN =
        2, /* the user's certificate is for the servers of addresses, and no others */
};

/* Why a request failed; a status of which file a failure is for the one who asked. */
enum nt_fetch_failure {
    NT_FETCH_UNREACHABLE, /* or the server does not answer as it should: another time it may */
    NT_FETCH_NOT_FOUND,
    NT_FETCH_FORBIDDEN,
    NT_FETCH_CHANGED,
    NT_FETCH_UNSUPPORTED, /* it does not send parts of files, or lists of folders */
    NT_FETCH_INVALID,     /* no address */
    NT_FETCH_FAILURES
};

enum {
    NT_FETCH_TEXT_BYTES = 8 * 1024,  /* of an address, at most */
    NT_FETCH_VALIDATOR_BYTES = 512,  /* of what tells files apart */
    NT_FETCH_SERVER_BYTES = 512,     /* of who has the file */
    NT_FETCH_NAME_BYTES = 1024,      /* of what is in a folder */
    NT_FETCH_DATA_BYTES = 60 * 1024, /* of one message */
    /* Of both ends of a file, which come with opening it: more than ten segments of 1460 bytes take a round trip more (RFC 6928), and both
     * may come by one new connection. */
    NT_FETCH_EDGE_BYTES = 7 * 1024,
    NT_FETCH_MAX_FILES = 1 << 16,
    NT_FETCH_MAX_REQUESTS = 1 << 14, /* at once */
    NT_FETCH_MAX_ENTRIES = 1 << 20,  /* of one folder */
};
#define NT_FETCH_MAX_BYTES (UINT64_C(8) << 20) /* of one read */

/* No time is told. */
#define NT_FETCH_NO_TIME INT64_MIN

struct nt_fetch_request {
    uint32_t kind;
    uint32_t file;         /* a number of the asker's, from its OPEN to its CLOSE; of folders 0 */
    uint64_t epoch;        /* as HELLO told it: others are not answered */
    uint64_t id;           /* of this request; never used twice */
    uint32_t milliseconds; /* to the end of which there is an answer */
    uint32_t is_prefetch;  /* nobody waits for it yet: others go first */
    uint64_t offset, bytes;
};

/* Of the sandbox of a network helper what holds, names with blanks between; and what does not, with the reasons. */
struct nt_helper_sandbox {
    char parts[128], missing[256];
};

/* What a process has asked servers for since it began. */
struct nt_fetch_totals {
    uint32_t requests, retries; /* the former has the latter in it */
};

/* With the epoch, the number and the file of the request: what is not all of one that is under way is taken by nobody. */
struct nt_fetch_answer {
    uint32_t kind;
    uint32_t file;
    uint64_t epoch;
    uint64_t id;
    uint32_t failure; /* enum nt_fetch_failure */
    uint32_t is_folder;
    struct nt_fetch_totals totals; /* so far */
    uint64_t offset;
    uint64_t size;
    int64_t modified; /* seconds since 1970 */
};

#endif
