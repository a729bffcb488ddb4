/* SPDX-License-Identifier: MIT
 *
 * Network helper: access rules, the client session, the request scheduler, credentials, and the HTTP, S3
 * and XRootD backends.
 */
#ifndef NT_REMOTE_HELPER_HELPER_H
#define NT_REMOTE_HELPER_HELPER_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "core/base/memory.h"
#include "core/base/scheme.h"
#include "remote/helper/result.h"
#include "remote/helper/xrd_client.h"
#include "remote/protocol.h"

struct nt_edge_probe;
struct nt_backend;
struct nt_remote_handle;
struct nt_file_part;
struct nt_list_parser;
struct nt_listing;
struct nt_output_packet;
struct nt_transfer;
struct nt_transfers;
struct nt_preconnect;
struct nt_xrd_edges;
struct nt_xrd_file;
struct nt_xrd_list;
struct nt_xrd_operation;
struct nt_xrd_read;
struct nt_xrd_walk;
struct nt_xrootd_file;

/* ---- Environment variables ---- */

/* NULL where a variable is not there, or empty. */
static inline const char *nt_environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* ---- Metadata servers ---- */

bool nt_is_metadata_address(const struct sockaddr *address);
/* By its host, which may be a name that a proxy looks up. */
bool nt_is_metadata_url(const char *url);

/* ---- Allow-list ---- */

struct nt_allow_list {
    bool is_fixed; /* to `places`; else all addresses are */
    bool keeps_certificate;
    char **places; /* in order */
    size_t count;
};

/* Take them from a socket. False where they do not come. */
bool nt_allow_list_receive(struct nt_allow_list *rules, int channel);

/* Whether an address is one of the places, or lies beneath one. Its query does not matter: it is for the same server. */
bool nt_allow_list_has(const struct nt_allow_list *rules, const char *address);

/* ---- URLs ---- */

/* The URL behind an address, by http or https, from malloc; else NULL, and why there is none. */
char *nt_address_url(const char *address, enum nt_service *service_ret, const char **problem_ret);

/* Whether its file stands for the objects of a store: NT_OBJECT_NUMBER is where the number of one is put into its URL (web_objects.h). */
bool nt_address_is_of_objects(const char *address);

/* Scheme, host and port of two URLs are the same. False of what is no URL. */
bool nt_address_is_same_server(const char *one, const char *other);

/* The URL that is asked what is in a folder, likewise; of S3 for what follows `token`, from the beginning where that is "". */
char *nt_address_list_url(const char *address, const char *token, enum nt_service *service_ret,
                          const char **problem_ret);

/* What the list of a folder calls it: of S3 what keys in it begin with; else the path of a URL that was asked. From malloc; NULL without memory. */
char *nt_address_folder(const char *address, const char *url);

/* ---- Credential files ---- */

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
/* All of its text, with a NUL; false where it cannot be had. `text` is empty, and is given back to the other one. */
bool nt_credential_read(enum nt_credential credential, struct nt_buffer *text);
void nt_credential_forget(struct nt_buffer *text);
/* Look again at all that libraries read by themselves. */
void nt_credentials_refresh(void);

/* ---- Request credentials ---- */

/* Whom a request goes to. */
struct nt_request_target {
    bool is_secure; /* by https */
    bool
        is_named; /* scheme, host and port are those of the address that the user named, not where that server has sent it to */
    bool is_signed; /* it has credentials of its own */
};

/* Client certificates are for servers that users name alone; else for those as well that they send requests to. */
void nt_credentials_keep_certificate(bool is_kept);

/* Tell a request. They are read again each time, so that what is renewed is used. */
void nt_credentials_add(CURL *easy, const struct nt_request_target *server);

/* ---- Scheduler ---- */

struct nt_backend_ops {
    unsigned at_once;   /* tries; */
    uint64_t max_bytes; /* of all tries at once, but for one that is longer alone */
    /* Whether it is for such an address. NULL: for all that no other backend takes. */
    bool (*takes)(const char *address);
    /* Begin to open a file: it will tell (nt_file_opened, nt_file_not_opened). False where it has not begun: with what is
     * wrong with the address, or without memory. */
    bool (*open)(struct nt_backend *backend, struct nt_remote_handle *file, const char *address,
                 const char **problem_ret);
    /* The same of a file that a list has told of: its size stands in it already, no server is asked, and it is open when this returns. */
    bool (*open_listed)(struct nt_backend *backend, struct nt_remote_handle *file, const char *address,
                        const char *validator, const char **problem_ret);
    /* Free what is of the engine's own; no job of the file is left but the engine's own. */
    void (*close)(struct nt_remote_handle *file);
    /* Begin to list a folder: it will tell (listings.h), not before this has returned. False where it has not begun, likewise. */
    bool (*list)(struct nt_listing *listing, const char *address, const char **problem_ret);
    /* Free what is of the engine's own, its jobs as well. */
    void (*end_list)(struct nt_listing *listing);
    /* Begin to try, and count the requests that are made. What comes is given to job->take, and then the end told (nt_transfers_end_try), neither before this has returned.
     * False without memory. */
    bool (*start)(struct nt_transfer *job, uint64_t milliseconds);
    /* What is under way is not wanted any more; nothing may be. */
    void (*stop)(struct nt_transfer *job);
    /* Of a job that was paused: its bytes will be taken now. */
    void (*resume)(struct nt_transfer *job);
    /* Send and take whatever can be, without waiting. */
    void (*work)(struct nt_backend *backend);
};

/* Embedded in what an backend has. */
struct nt_backend {
    const struct nt_backend_ops *ops;
    struct nt_transfers *jobs;
    unsigned active;
    uint64_t active_bytes;
};

/* A file as its backend knows it; embedded likewise. */
struct nt_backend_file {
    struct nt_backend *backend;
};

struct nt_transfer {
    struct nt_backend_file *remote;
    void *attempt;            /* the engine's own, until `end` has been called; from malloc, or NULL */
    struct nt_result result;  /* of the last try */
    uint64_t first, bytes;    /* all that is wanted still; */
    bool is_suffix;           /* the last bytes, wherever they begin */
    uint64_t deadline, start; /* milliseconds: of the end, and when it is tried next */
    uint64_t milliseconds;    /* to its end, from the beginning */
    unsigned tries;           /* that brought nothing, one after the other, */
    unsigned max_tries;       /* and how many these may be */
    unsigned all_tries;
    bool is_prefetch; /* nobody waits for it yet */
    bool is_beside;   /* nobody will: it takes nobody's place */
    bool is_paused, is_active;
    uint64_t active_bytes; /* that it counts as in its backend */
    /* Bytes at `offset` of the file; of a suffix, of that. False: not now, see `resume`. */
    bool (*take)(struct nt_transfer *job, uint64_t offset, const char *bytes, size_t count);
    /* It has arrived, or failed: `result` tells. It may be freed. */
    void (*end)(struct nt_transfer *job);
    TAILQ_ENTRY(nt_transfer) all;
};

enum {
    NT_TRIES_ONCE = 1,
    NT_TRIES_OF_UNKNOWN = 5, /* a file that may not be there; */
    NT_TRIES_OF_KNOWN = 7,   /* one that is: its server may just be starting again */
};

enum { NT_MAX_BACKENDS = 2 };

struct nt_transfers {
    struct nt_backend *backends[NT_MAX_BACKENDS];
    unsigned backend_count;
    TAILQ_HEAD(, nt_transfer) all; /* in the order in which they came */
    unsigned count;
    struct nt_fetch_totals totals;
};

void nt_transfers_init(struct nt_transfers *jobs);
/* What asks first whether it is for an address comes first. */
void nt_transfers_add_backend(struct nt_transfers *jobs, struct nt_backend *backend,
                              const struct nt_backend_ops *ops);
/* The one for an address. */
struct nt_backend *nt_transfers_backend(const struct nt_transfers *jobs, const char *address);
void nt_transfers_add(struct nt_transfers *jobs, struct nt_transfer *job);
/* It is not wanted any more; `end` is not called. */
void nt_transfers_remove(struct nt_transfers *jobs, struct nt_transfer *job);
/* For backends: job->result tells what came of a try. */
void nt_transfers_end_try(struct nt_transfers *jobs, struct nt_transfer *job);
/* Start what may be, and end what has arrived to its end; milliseconds until there is more to do. */
uint64_t nt_transfers_work(struct nt_transfers *jobs);
/* What was paused goes on. */
void nt_transfers_continue(struct nt_transfers *jobs);

/* ---- Reply queue ---- */

struct nt_output {
    int channel;
    uint64_t epoch;
    const struct nt_fetch_totals *totals;
    STAILQ_HEAD(, nt_output_packet) waiting;
    size_t bytes; /* that wait */
};

/* Epoch and totals go with each answer. */
void nt_output_init(struct nt_output *output, int channel, uint64_t epoch,
                    const struct nt_fetch_totals *totals);
/* Whether so much waits that no more should be taken from servers. */
bool nt_output_is_full(const struct nt_output *output);
/* What is longer than a message is cut into several of DATA. */
void nt_output_put(struct nt_output *output, struct nt_fetch_answer answer, const void *bytes, size_t count);
/* Send what the socket takes. */
void nt_output_flush(struct nt_output *output);

/* ---- Listings ---- */

struct nt_listings {
    struct nt_transfers *jobs;
    struct nt_output *output;
    LIST_HEAD(, nt_listing) all;
};

struct nt_listing {
    struct nt_listings *listings;
    struct nt_backend *backend;
    void *walk; /* the engine's own, from `list` on */
    uint64_t id;
    uint64_t milliseconds; /* of each part of it */
    unsigned entries;
    LIST_ENTRY(nt_listing) all;
};

struct nt_listed {
    const char *name; /* one part of a path */
    bool is_folder;
    uint64_t size;
    int64_t modified;      /* NT_FETCH_NO_TIME */
    const char *validator; /* as OPENED has it; "": it has to be opened to be known */
};

/* For backends: whether who asked is slow to take what was told; something in the folder; and the end. It is gone then. */
bool nt_listing_is_full(const struct nt_listing *listing);
#define NT_LISTING_TOO_LONG "there is more in the folder than is listed"
/* False where that is so. What cannot be a name is omitted. */
bool nt_listing_add(struct nt_listing *listing, const struct nt_listed *listed);
void nt_listing_done(struct nt_listing *listing);
void nt_listing_fail(struct nt_listing *listing, enum nt_fetch_failure failure, const char *message);

/* Whether it can be one part of a path. */
bool nt_listing_is_name(const char *name);

/* ---- Open files ---- */

struct nt_files {
    struct nt_allow_list rules;
    struct nt_transfers jobs;
    struct nt_output output;
    LIST_HEAD(, nt_remote_handle) all;
    unsigned count;
    struct nt_listings listings;
};

struct nt_remote_handle {
    struct nt_files *files;
    struct nt_backend_file *remote; /* its engine's, from `open` on */
    uint32_t number;
    uint64_t open_id;
    uint64_t milliseconds; /* to the end of which it is open, or not */
    bool is_open;
    uint64_t size;
    LIST_HEAD(, nt_file_part) parts; /* that somebody reads */
    LIST_ENTRY(nt_remote_handle) all;
};

/* A file as it was found when it was opened. */
struct nt_open_result {
    uint64_t size;
    int64_t modified; /* seconds since 1970, or NT_FETCH_NO_TIME */
    const char
        *validator; /* the same of the same version whatever process asks; "": the server does not tell */
    char server[NT_FETCH_SERVER_BYTES]; /* where it is: scheme, host and port. What is longer is cut off */
    const char *head, *tail;
    size_t head_bytes, tail_bytes; /* of the edges: all of the file, or NT_FETCH_EDGE_BYTES each */
    unsigned round_trips;          /* one after the other, connecting not counted */
};

/* For backends: the end of opening. Where it failed, the file is closed and gone. */
void nt_file_opened(struct nt_remote_handle *file, const struct nt_open_result *opened);
void nt_file_not_opened(struct nt_remote_handle *file, enum nt_fetch_failure failure, const char *message);

/* What was asked for, with the text behind it. */
void nt_files_take(struct nt_files *files, const struct nt_fetch_request *request, const char *text,
                   size_t bytes);

/* ---- Worker ---- */

/* `credentials`: a socket by which files of them are had (credential_files.h). */
_Noreturn void nt_helper_run(int channel, uint64_t epoch, int credentials, const struct nt_allow_list *rules);

/* ---- HTTP request headers ---- */

/* One more; a value may be secret. False without memory, or of what is longer than any that is sent. */
static inline bool nt_headers_add(struct curl_slist **headers, const char *name, const char *value)
{
    char line[8192 + 256];
    bool is_whole = (size_t)snprintf(line, sizeof(line), "%s: %s", name, value) < sizeof(line);
    struct curl_slist *longer = is_whole ? curl_slist_append(*headers, line) : NULL;
    explicit_bzero(line, sizeof(line));
    if (longer)
        *headers = longer;
    return longer != NULL;
}

/* ---- HTTP response headers ---- */

enum { NT_REPLY_TAG_BYTES = 256, NT_REPLY_TIME_BYTES = 64, NT_REPLY_MAX_BYTES = 128 * 1024 };

/* What tells one version of a file from another; "": the server does not say. */
struct nt_validators {
    char tag[NT_REPLY_TAG_BYTES];       /* with its quotes, without the sign of a weak one */
    bool is_weak;                       /* two versions may have the same */
    char modified[NT_REPLY_TIME_BYTES]; /* as the server wrote it */
};

struct nt_reply {
    struct nt_validators validators;
    bool has_range, has_total;
    uint64_t first, last, total; /* of Content-Range; the last byte belongs to it */
    bool is_encoded;             /* the bytes are not the file's */
    char region[64];             /* of S3, where a bucket is; "": not told */
    size_t bytes;                /* of headers, redirections among them */
    bool is_interim;             /* its code is one of 1xx: another one follows */
    bool is_whole;               /* what follows stands behind the body, and is not taken */
};

/* A line as it comes, with or without its end. Where it begins another answer, what the one before said is forgotten; behind the empty line that
 * ends the headers nothing is taken any more: by what they say the body is judged while it comes. False where it is more than anybody needs. */
bool nt_reply_take(struct nt_reply *reply, const char *line, size_t bytes);

/* Take a tag, or a time, as headers and lists of folders have them; what is none is not there. */
void nt_validators_take_tag(struct nt_validators *validators, const char *text, size_t bytes);
void nt_validators_take_time(struct nt_validators *validators, const char *text, size_t bytes);

/* Both as one text, which is the same of the same version whatever process asks; and back. */
size_t nt_validators_write(const struct nt_validators *validators, char *validator, size_t room);
void nt_validators_read(struct nt_validators *validators, const char *validator, size_t bytes);

/* Whether both may be of the same version, as far as both tell. */
bool nt_validators_agree(const struct nt_validators *one, const struct nt_validators *other);

/* ---- S3 ---- */

/* What is configured; "": nothing. */
struct nt_s3 {
    char endpoint[1024], region[64], key[256], secret[256], token[8192];
};

/* As the environment has it, else the files of AWS's tools. NULL, or what is wrong with it. */
const char *nt_s3_find(struct nt_s3 *s3);

/* Where BUCKET/KEY is, from malloc; else NULL, and what is wrong. A key is as it is called, not percent-encoded. */
char *nt_s3_url(const char *name, const char **problem_ret);

/* What is asked for the keys in BUCKET or BUCKET/FOLDER that follow a token ("": for the first ones), up to the next slash (ListObjectsV2); what they
 * all begin with, "" or with a slash at its end. From malloc; NULL likewise, of the second without memory. */
char *nt_s3_list_url(const char *name, const char *token, const char **problem_ret);
char *nt_s3_prefix(const char *name);

/* Sign a request, with Signature Version 4, where there is a key: it is found again each time. False without memory. */
bool nt_s3_sign(CURL *easy, struct curl_slist **headers);

/* ---- HTTP requests ---- */

/* A file as it was found at first. */
struct nt_file_version {
    struct nt_validators validators;
    uint64_t size;
};

enum nt_http_request_kind {
    NT_HTTP_REQUEST_PART,   /* of a file */
    NT_HTTP_REQUEST_FOLDER, /* what is in it: PROPFIND, or a list of S3's, whole */
};

struct nt_request {
    /* Asked for: */
    enum nt_http_request_kind asked;
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
    char *redirect_url; /* where it was sent to; NULL: nowhere yet */
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

/* ---- XML listings ---- */

enum { NT_FOLDER_LIST_TOKEN_BYTES = 4096 };

struct nt_list_entry {
    const char *name; /* one part of a path */
    bool is_folder;
    uint64_t size;
    int64_t modified;                /* NT_FETCH_NO_TIME */
    struct nt_validators validators; /* by which this version can be asked for; without a weak tag */
};

typedef void nt_folder_take(void *context, const struct nt_list_entry *entry);

/* For one answer. `folder` is the path that was asked for, not percent-encoded: of S3 what keys begin with, "" or with a slash at its end; else
 * that of the URL. What lies elsewhere is not told of. NULL without memory. */
struct nt_list_parser *nt_list_parser_new(enum nt_service service, const char *folder, nt_folder_take *take,
                                          void *context);
void nt_list_parser_free(struct nt_list_parser *list); /* accepts NULL */

/* A piece of it; `is_last` with or without bytes. False where it is no such list: see below. */
bool nt_list_parser_feed(struct nt_list_parser *list, const char *bytes, size_t count, bool is_last);
const char *nt_list_parser_problem(const struct nt_list_parser *list);

/* Of an answer that was taken whole: whether it tells that there is such a folder. */
bool nt_list_parser_is_there(const struct nt_list_parser *list);
/* What the rest is asked for with; NULL: that was all. "": the server did not say. */
const char *nt_list_parser_token(const struct nt_list_parser *list);

/* ---- HTTP backend ---- */

struct nt_web {
    struct nt_backend backend;
    CURLM *multi;
};

/* False where libcurl cannot be used. */
bool nt_web_init(struct nt_web *web, struct nt_transfers *jobs);
/* Until servers or `others` have something to say, or the time is over. */
void nt_web_wait(struct nt_web *web, struct curl_waitfd *others, unsigned count, uint64_t milliseconds);

/* ---- HTTP files ---- */

/* What requests to one address share. The attempt of its jobs is a struct nt_request. */
struct nt_origin {
    struct nt_backend_file remote;
    char *address; /* a URL */
    enum nt_service service;
    enum nt_http_request_kind asked;
    char *redirect_url; /* where the server sent the last request to; NULL: nowhere else */
    struct nt_file_version version;
    bool is_known;                     /* the version is */
    bool is_of_objects;                /* each has a version of its own (web_objects.h) */
    struct nt_edge_probe *head, *tail; /* while it is opened */
    LIST_HEAD(, nt_preconnect) preconnects;
};

/* ---- HTTP listings ---- */

/* As nt_backend_ops has them. */
bool nt_web_list(struct nt_listing *listing, const char *address, const char **problem_ret);
void nt_web_end_list(struct nt_listing *listing);

/* ---- XRootD sessions ---- */

struct nt_xrd_queue {
    const struct nt_xrd_client *client;
    int event; /* readable where there are answers */
    pthread_mutex_t lock;
    STAILQ_HEAD(, nt_xrd_operation) answered;
};

/* One opening of a file; it ends when nobody owns it and all is answered. */
struct nt_xrd_session {
    struct nt_xrd_queue *queue;
    struct nt_xrd_file *file;
    void *owner; /* NULL: nobody */
    unsigned operations;
};

/* Something that was asked, embedded in what it is for. */
struct nt_xrd_operation {
    struct nt_xrd_queue *queue;
    struct nt_xrd_session *session; /* NULL: of no file */
    struct nt_xrd_answer answer;
    void (*end)(struct nt_xrd_operation *operation); /* it is answered: frees it */
    STAILQ_ENTRY(nt_xrd_operation) answered;
};

bool nt_xrd_queue_init(struct nt_xrd_queue *queue);
/* End what is answered. */
void nt_xrd_queue_work(struct nt_xrd_queue *queue);
/* Of a folder; NULL without memory, else it belongs to the operation. */
struct nt_xrd_list *nt_xrd_queue_list(struct nt_xrd_queue *queue, struct nt_xrd_operation *operation,
                                      const char *url, uint64_t milliseconds);

/* ---- XRootD files ---- */

/* A job's try: it waits for its file to be open, and then for what was asked. */
struct nt_xrd_attempt {
    struct nt_transfer *job;
    uint64_t deadline;
    struct nt_xrd_attempt *next, **link; /* of those that wait for the file; link NULL: it does not */
    struct nt_xrd_read *read;            /* that it is a part of; NULL: none */
    bool is_opening;                     /* both ends of the file are wanted, wherever they are */
};

struct nt_xrootd_file {
    struct nt_backend_file remote;
    char *url;
    struct nt_xrd_session *session; /* NULL: it is not open, nor opened */
    bool is_open;                   /* the session is */
    bool is_known;                  /* the attributes are */
    struct nt_xrd_attributes attributes;
    uint64_t checked; /* when they were found to be the same; milliseconds */
    struct nt_xrd_attempt *waiting;
    bool is_wanting;                    /* something is to be asked: it is in */
    LIST_ENTRY(nt_xrootd_file) wanting; /* of the backend */
    struct nt_xrd_edges *edges;         /* while it is opened for the first time */
    struct nt_xrd_walk *walk;           /* of a folder that is listed; NULL: a file */
};

/* One more that waits; and one that does not any more. */
void nt_xrootd_file_await(struct nt_xrootd_file *file, struct nt_xrd_attempt *attempt);
void nt_xrd_attempt_leave(struct nt_xrd_attempt *attempt);
/* It wants nothing. */
void nt_xrootd_file_dequeue(struct nt_xrootd_file *file);

/* Begin to open it, for those who wait. False without memory. */
bool nt_xrootd_file_open(struct nt_xrootd_file *file, struct nt_xrd_queue *queue);
/* Before anything else is asked it has to be opened again. */
void nt_xrootd_file_invalidate(struct nt_xrootd_file *file);
/* Of those who wait. */
void nt_xrootd_file_fail(struct nt_xrootd_file *file, const struct nt_result *result);

/* What tells it from other files at the address. The number of the file on its server is not in it: where it is opened by another
 * process it may be from another server, which has the same file by another number. */
void nt_xrootd_validator(char validator[NT_FETCH_VALIDATOR_BYTES], int64_t modified);

/* ---- XRootD reads ---- */

/* Read what all want that wait for the file. */
void nt_xrootd_read_all(struct nt_xrootd_file *file);
/* Bytes that have arrived, and were not taken then. */
void nt_xrootd_read_deliver(struct nt_xrd_attempt *attempt);
/* It has no use for its bytes any more. */
void nt_xrootd_read_leave(struct nt_xrd_attempt *attempt);

/* ---- XRootD backend ---- */

struct nt_xrootd {
    struct nt_backend backend;
    struct nt_xrd_queue queue;
    LIST_HEAD(, nt_xrootd_file) wanting; /* files of which something is to be asked */
    const char
        *module; /* the path of one that has the client, which is loaded when the first file is opened */
};

/* Where the module is that has it: beside this program. */
enum { NT_MODULE_PATH_BYTES = 4096 };
void nt_xrootd_find_module(char path[NT_MODULE_PATH_BYTES]);

/* False without memory. `xrootd->queue.client` may be set instead of a module. */
bool nt_xrootd_init(struct nt_xrootd *xrootd, struct nt_transfers *jobs, const char *module);

#endif
