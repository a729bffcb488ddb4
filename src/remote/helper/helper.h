/* SPDX-License-Identifier: MIT
 *
 * Network helper: access rules, the client session, the request scheduler, credentials, and the HTTP,
 * S3 and XRootD backends.
 */
#pragma once

#include <ntuple/text.h>

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <strings.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "core/base/memory.h"
#include "core/base/scheme.h"
#include "remote/helper/result.h"
#include "remote/helper/xrd_client.h"
#include "remote/protocol.h"

struct nt_backend;
struct nt_end_probe;
struct nt_file_part;
struct nt_http_ranges;
struct nt_http_walk;
struct nt_index_parser;
struct nt_list_parser;
struct nt_reply_packet;
struct nt_remote_handle;
struct nt_transfer;
struct nt_transfers;
struct nt_xrd_ends;
struct nt_xrd_operation;

/* ---- Environment variables ---- */

/* NULL if the variable is unset or empty. */
static inline const char *nt_environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* ---- Metadata servers ---- */

bool nt_is_metadata_address(const struct sockaddr *address);
/* Whether this thread may connect to such a server. At first it may not: `connect` fails with
 * NT_ERRNO_NEVER_CONTACTED. */
void nt_allow_metadata(bool is_allowed);
/* Checks the host of the URL. It may be a name that a proxy resolves. */
bool nt_is_metadata_url(const char *url);

/* ---- Allow-list ---- */

struct nt_allow_list {
    bool is_fixed; /* only `addresses` are allowed; false: every address is */
    bool keeps_certificate;
    char **addresses; /* sorted */
    size_t count;
};

/* Receives the list from a socket. False if it does not arrive. */
bool nt_allow_list_receive(struct nt_allow_list *rules, int channel);

/* Is the address an allowed one, or below one? The query is ignored: it goes to the same server. */
bool nt_allow_list_has(const struct nt_allow_list *rules, const char *address);

/* ---- URLs ---- */

/* The http or https URL of an address, from malloc. NULL on failure, and why in `problem_ret`, unless out of
 * memory. `token` NULL: of a file. Else of the list of a directory; S3 lists what follows the token ("":
 * all).
 */
char *nt_address_url(const char *address, const char *token, enum nt_service *service_ret,
                     const char **problem_ret);

/* Does the address name objects of a store? Its URL has an object's number for NT_OBJECT_NUMBER. */
bool nt_address_names_objects(const char *address);

static inline bool nt_url_is_secure(const char *url)
{
    return strncasecmp(url, "https:", strlen("https:")) == 0;
}

/* Do two URLs have the same scheme, host and port? False if one of them is not a URL. */
bool nt_address_is_same_server(const char *one, const char *other);

/* The name that listings use for the directory: the key prefix for S3, else the path of the requested URL.
 * From malloc; NULL if out of memory. */
char *nt_address_folder(const char *address, const char *url);

/* ---- Credential files ---- */

enum nt_credential {
    NT_CREDENTIAL_NETRC, /* netrc(5) */
    NT_CREDENTIAL_TOKEN,
    NT_CREDENTIAL_PROXY,       /* certificate and key in one file */
    NT_CREDENTIAL_CERTIFICATE, /* its key is in another file */
    NT_CREDENTIAL_KEY,
    NT_CREDENTIAL_CA_BUNDLE, /* CA bundle, as named by curl's variable and by OpenSSL's */
    NT_CREDENTIAL_CA_BUNDLE_OPENSSL,
    NT_CREDENTIAL_CA_BUNDLE_PACKAGED, /* if the system has none */
    NT_CREDENTIAL_AWS_CONFIG,
    NT_CREDENTIAL_AWS_KEYS,
    NT_CREDENTIAL_AWS_IDENTITY,  /* a token of a web identity */
    NT_CREDENTIAL_AWS_CONTAINER, /* a token for the keys of a container */
    NT_CREDENTIAL_KERBEROS,      /* Kerberos */
    NT_CREDENTIAL_SSS,           /* XRootD sss */
    NT_CREDENTIALS
};

/* ---- Credential server ---- */

/* Answers requests from the socket until the peer closes it. */
void nt_credentials_serve(int socket);

/* ---- Credential client ---- */

/* Call before threads start and before the sandbox. Requests files through the socket and sets the
 * variables that libraries read. Without a socket, files are opened directly. */
void nt_credentials_begin(int socket);

/* The current path of a credential file, with current contents: open it now, do not store the path.
 * NULL if it is missing; a file that a variable names always has a path. For one thread only. */
const char *nt_credential_path(enum nt_credential credential);
/* Does a variable name the file? Else it is at a default place. */
bool nt_credential_is_named(enum nt_credential credential);
/* Reads the whole text and adds a NUL; false if it is not available. `text` must be empty; pass it to
 * nt_credential_forget afterwards. */
bool nt_credential_read(enum nt_credential credential, struct nt_buffer *text);
void nt_credential_forget(struct nt_buffer *text);
/* Refreshes all files that libraries read by themselves. */
void nt_credentials_refresh(void);
/* Until it is called with false, each file is checked once: requests that start together need no more, and
 * each check waits for the other process. */
void nt_credentials_share_checks(bool are_shared);

/* ---- Request credentials ---- */

/* The system's bundle of certificate authorities: the one that libcurl was built with, or, where the
 * library comes from another system, the first that is found. NULL if there is none. */
const char *nt_system_bundle(const char *built_in);

/* The server that receives a request. */
struct nt_request_target {
    bool is_secure; /* uses https */
    bool is_named;  /* has the scheme, host and port of the user's address; not a redirect */
    bool is_signed; /* the request carries its own signature */
};

/* If kept, client certificates go only to servers that users name; else also to redirect targets. */
void nt_credentials_keep_certificate(bool is_kept);

/* Adds credentials to a request. Reads them again for each, or for those that start together, so that renewed
 * ones take effect. */
void nt_credentials_add(CURL *easy, const struct nt_request_target *server);

/* ---- Backends ---- */

enum { NT_SHORT_BYTES = 384 * 1024 };

/* Have bytes of a file arrived that were requested when it was opened? */
enum nt_received { NT_RECEIVED_NONE, NT_RECEIVED_PENDING, NT_RECEIVED };

struct nt_backend_ops {
    unsigned at_once; /* maximum number of concurrent tries */
    /* The limit for jobs of at most NT_SHORT_BYTES while at least this many jobs exist; 0: at_once. With
     * fewer jobs, up to as many as were active at once, because their connections exist. */
    unsigned at_once_if_many;
    uint64_t max_bytes;  /* limit for all concurrent tries; a single longer try may exceed it */
    size_t handle_bytes; /* of its own structure, which begins with a struct nt_remote_handle */
    /* Does the backend handle this address? NULL: it handles addresses that no other backend takes. */
    bool (*takes)(const char *address);
    /* Starts to open a file. The backend reports the end through nt_file_opened or nt_handle_fail.
     * False if it did not start: the address is bad (`problem_ret`), or memory ran out. `close` follows. */
    bool (*open)(struct nt_remote_handle *file, const char *address, const char **problem_ret);
    /* Opens a file from a listing, which gave its size. Asks no server; the file is open on return. */
    bool (*open_listed)(struct nt_remote_handle *file, const char *address, const char *validator,
                        const char **problem_ret);
    /* Starts to list a directory. Calls nt_listing_* or nt_handle_fail, but not before it returns. */
    bool (*list)(struct nt_remote_handle *listing, const char *address, const char **problem_ret);
    /* Copies bytes of an open file that were requested with its opening, once; may use `output` for any
     * result. NULL: there are none. */
    enum nt_received (*copy_received)(struct nt_remote_handle *file, uint64_t offset, size_t bytes,
                                      char *output);
    /* Frees the backend's own state, with its jobs: none of others remains. */
    void (*close)(struct nt_remote_handle *handle);
    /* Starts a try and counts its requests. Bytes go to job->take and the end to nt_transfer_end_try,
     * neither before this returns. False if it did not start: because of job->result, if that was set, else
     * because memory ran out. */
    bool (*start)(struct nt_transfer *job, uint64_t milliseconds);
    /* Cancels the try, if one is active. */
    void (*stop)(struct nt_transfer *job);
    /* Resumes a paused job: `take` accepts bytes again. */
    void (*resume)(struct nt_transfer *job);
    /* Sends and receives what it can without blocking. */
    void (*work)(struct nt_backend *backend);
};

/* Embedded in the backend's own structure. */
struct nt_backend {
    const struct nt_backend_ops *ops;
    struct nt_transfers *jobs;
    unsigned active, most_active; /* tries; most since there was none */
    uint64_t active_bytes;
};

/* ---- Scheduler ---- */

struct nt_transfer {
    struct nt_remote_handle *remote;
    void *attempt;            /* the backend's own, until `end` is called; from malloc, or NULL */
    void *share;              /* of what serves several jobs, also inactive ones; the backend frees it */
    struct nt_result result;  /* of the last try */
    uint64_t first, bytes;    /* the range that is still missing */
    bool is_suffix;           /* the last bytes of the file, at any offset */
    uint64_t deadline, start; /* milliseconds: final deadline, and time of the next try */
    uint64_t milliseconds;    /* total time limit */
    unsigned tries;           /* consecutive tries without any bytes */
    unsigned max_tries;       /* limit of `tries` */
    unsigned all_tries;
    bool has_looked_again; /* an answer that says that the file has changed was asked for once more */
    bool is_prefetch;      /* no reader waits yet */
    bool is_background;    /* no reader will wait; takes no slot from other jobs */
    bool is_queued, is_paused, is_active;
    uint64_t active_bytes; /* its share of the backend's active_bytes */
    /* Bytes at `offset` of the file or, for a suffix, of the suffix. False: paused; see `resume`. */
    bool (*take)(struct nt_transfer *job, uint64_t offset, const char *bytes, size_t count);
    /* The job succeeded or failed: see `result`. The callback may free it. */
    void (*end)(struct nt_transfer *job);
    TAILQ_ENTRY(nt_transfer) all;
};

enum {
    NT_TRIES_ONCE = 1,
    NT_TRIES_OF_UNKNOWN = 5, /* the file may not exist */
    NT_TRIES_OF_KNOWN = 7,   /* the file exists: its server may just be restarting */
};

enum { NT_MAX_BACKENDS = 2 };

struct nt_transfers {
    struct nt_backend *backends[NT_MAX_BACKENDS];
    unsigned backend_count;
    TAILQ_HEAD(, nt_transfer) all; /* in order of arrival */
    unsigned count;
    uint64_t held_until; /* milliseconds: until then none starts, because others follow at once */
    struct nt_fetch_totals totals;
};

void nt_transfers_init(struct nt_transfers *jobs);
/* Backends are asked for an address in the order of these calls. */
void nt_transfers_add_backend(struct nt_transfers *jobs, struct nt_backend *backend,
                              const struct nt_backend_ops *ops);
/* The backend for an address. */
struct nt_backend *nt_transfers_backend(const struct nt_transfers *jobs, const char *address);
void nt_transfer_add(struct nt_transfer *job);
/* Cancels the job without calling `end`. Does nothing if it has ended, or was not added. */
void nt_transfer_remove(struct nt_transfer *job);
/* For backends: ends a try; job->result holds its outcome. */
void nt_transfer_end_try(struct nt_transfer *job);
/* Starts and ends the jobs that are due. Returns the milliseconds until more is due. */
uint64_t nt_transfers_work(struct nt_transfers *jobs);
/* Resumes paused jobs. */
void nt_transfers_continue(struct nt_transfers *jobs);

/* ---- Reply queue ---- */

struct nt_reply_queue {
    int channel;
    uint64_t epoch;
    const struct nt_fetch_totals *totals;
    STAILQ_HEAD(, nt_reply_packet) waiting;
    size_t bytes; /* of waiting packets */
};

/* Each answer carries the epoch and the totals. */
void nt_reply_queue_init(struct nt_reply_queue *output, int channel, uint64_t epoch,
                         const struct nt_fetch_totals *totals);
/* True if so much output waits that reads from servers should pause. */
bool nt_reply_queue_is_full(const struct nt_reply_queue *output);
/* Splits data that is longer than one message into several DATA answers. */
void nt_reply_queue_add(struct nt_reply_queue *output, struct nt_fetch_answer answer, const void *bytes,
                        size_t count);
/* Sends as much as the socket accepts. */
void nt_reply_queue_flush(struct nt_reply_queue *output);

/* ---- Session ---- */

struct nt_helper_session {
    struct nt_allow_list rules;
    struct nt_transfers jobs;
    struct nt_reply_queue output;
    LIST_HEAD(, nt_remote_handle) all;
    unsigned count;
};

/* A file that is open or opened, or a listed directory. The backend's own structure begins with it. */
struct nt_remote_handle {
    struct nt_helper_session *files;
    struct nt_backend *backend;
    uint32_t number;       /* 0: a directory */
    uint64_t id;           /* of the request that opens or lists it */
    uint64_t milliseconds; /* time limit for opening, or for each part of the list */
    bool is_open, is_read_later;
    uint64_t size;
    unsigned entries;                /* of a directory, so far */
    LIST_HEAD(, nt_file_part) parts; /* active reads */
    LIST_ENTRY(nt_remote_handle) all;
};

/* What opening a file found. */
struct nt_open_result {
    uint64_t size;
    int64_t modified;                   /* seconds since 1970, or NT_FETCH_NO_TIME */
    const char *validator;              /* the same for one version in every process; "": none */
    char server[NT_FETCH_SERVER_BYTES]; /* scheme, host and port of the server; truncated if longer */
    const char *head, *tail;
    size_t head_bytes, tail_bytes; /* the ends: the whole file, or NT_FETCH_END_BYTES each */
    unsigned round_trips;          /* sequential, without connecting */
};

/* For backends: the file cannot be opened, or the directory not be listed. Closes and frees it. */
void nt_handle_fail(struct nt_remote_handle *handle, enum nt_fetch_failure failure, const char *message);
void nt_file_opened(struct nt_remote_handle *file, const struct nt_open_result *opened);
/* For backends: more bytes have arrived that copy_received can copy. */
void nt_file_received(struct nt_remote_handle *file);

struct nt_listed {
    const char *name; /* one path component */
    bool is_folder;
    uint64_t size;
    int64_t modified;      /* NT_FETCH_NO_TIME */
    const char *validator; /* as in OPENED; "": only opening the file reveals it */
};

#define NT_LISTING_TOO_LONG "the directory has more entries than the list"
/* For backends: an entry; omits what cannot be a name or a size. False if there are too many entries. */
bool nt_listing_add(struct nt_remote_handle *listing, const struct nt_listed *listed);
/* The list is complete. Closes and frees the directory. */
void nt_listing_done(struct nt_remote_handle *listing);

/* Is the name valid as one path component? */
bool nt_listing_is_name(const char *name);

/* Handles a request and the text that follows it. */
void nt_helper_session_handle(struct nt_helper_session *files, const struct nt_fetch_request *request,
                              const char *text, size_t bytes);

/* ---- Worker ---- */

/* `credentials`: the socket that provides credential files. */
_Noreturn void nt_helper_run(int channel, uint64_t epoch, int credentials, const struct nt_allow_list *rules);

/* ---- HTTP request headers ---- */

/* Adds a header; its value may be secret. False if out of memory, or if the line is too long. */
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

enum { NT_HTTP_ETAG_BYTES = 256, NT_HTTP_TIME_BYTES = 64, NT_HTTP_MAX_HEADER_BYTES = 128 * 1024 };

/* Identify one version of a file; "": the server did not say. */
struct nt_validators {
    char tag[NT_HTTP_ETAG_BYTES];      /* ETag with its quotes, without the W/ of a weak one */
    bool is_weak;                      /* two versions may share the tag */
    char modified[NT_HTTP_TIME_BYTES]; /* in the server's own format */
};

struct nt_http_response {
    struct nt_validators validators;
    bool has_range, has_total;
    uint64_t first, last, total; /* from Content-Range; `last` is inclusive */
    bool is_beyond;              /* it claims bytes after the end of the file */
    bool lacks_total;            /* it says which bytes, but not how many the file has */
    bool is_encoded;             /* the bytes are compressed or otherwise encoded */
    char region[64];             /* S3 region of the bucket; "": unknown */
    size_t bytes;                /* of headers, including those of redirects */
    bool is_interim;             /* status 1xx: another answer follows */
    bool is_whole;               /* the headers are complete; trailers are ignored */
    char boundary[80];           /* of a multipart body, with "--" before it; "": another body */
};

/* Parses one line, with or without its line end. A status line resets the reply. The empty line ends
 * the headers: later lines are ignored, since the headers already decide how to treat the body. False
 * if the headers are too large. */
bool nt_http_response_parse_line(struct nt_http_response *reply, const char *line, size_t bytes);

/* Parse an ETag or a time from headers or listings; invalid ones are omitted. */
void nt_validators_take_tag(struct nt_validators *validators, const char *text, size_t bytes);
void nt_validators_take_time(struct nt_validators *validators, const char *text, size_t bytes);

/* Write both validators as one text, the same for one version in every process; and parse it. Nothing is
 * written of longer ones. */
void nt_validators_write(const struct nt_validators *validators, char validator[NT_FETCH_VALIDATOR_BYTES]);
void nt_validators_read(struct nt_validators *validators, const char *validator, size_t bytes);

/* May both be of the same version, as far as their fields are known? */
bool nt_validators_agree(const struct nt_validators *one, const struct nt_validators *other);

/* ---- S3 ---- */

/* The S3 configuration; "": not configured. */
struct nt_s3 {
    char endpoint[1024], region[64], key[256], secret[256], token[8192];
    char elsewhere[2]; /* not "": the profile has its keys from a program or from single sign-on */
};

/* Reads the environment, else the files of the AWS tools; no keys of a role. Returns NULL, or what is
 * wrong. */
const char *nt_s3_find(struct nt_s3 *s3);

/* What to say behind a refusal, starting with "; ", or "". */
const char *nt_s3_hint(void);

/* Sets temporary keys of the role that the environment configures, if it does: asks its service when the
 * last ones expire. Returns NULL, or why there are none. */
const char *nt_s3_assume_role(struct nt_s3 *s3);

/* The URL of BUCKET/KEY, from malloc; NULL on failure, and why unless out of memory. The key is not
 * percent-encoded. */
char *nt_s3_url(const char *name, const char **problem_ret);

/* The ListObjectsV2 URL for keys in BUCKET or BUCKET/FOLDER after `token` ("": from the start), up to
 * the next slash. `prefix` is common to them: "" or ending with a slash. Fails as nt_s3_url. */
char *nt_s3_list_url(const char *name, const char *prefix, const char *token, const char **problem_ret);
/* Appends "NAME=VALUE" to a query. */
void nt_s3_append_parameter(struct nt_buffer *url, const char *name, const char *value);

/* Signs a request (Signature Version 4) if a key is found; looks each time. NULL, or why the request must
 * not be sent now. */
const char *nt_s3_sign(CURL *easy, struct curl_slist **headers);

/* ---- HTTP requests ---- */

/* A file version, as first seen. */
struct nt_file_version {
    struct nt_validators validators;
    uint64_t size;
};

enum nt_http_request_kind {
    NT_HTTP_REQUEST_PART,   /* of a file */
    NT_HTTP_REQUEST_FOLDER, /* a listing: PROPFIND, or an S3 list; always whole */
    NT_HTTP_REQUEST_INDEX,  /* a listing: the page of a directory, by GET; always whole */
};

/* What is requested, and what the answers said about it. */
struct nt_http_target {
    enum nt_http_request_kind asked;
    enum nt_service service;
    char *address;      /* a URL */
    char *redirect_url; /* target of the last redirect; NULL: none */
    struct nt_file_version version;
    bool is_known;         /* `version` is valid */
    bool is_unconditional; /* the server rejects its own validators: send it none */
};

/* One try of a job. */
struct nt_http_request {
    const struct nt_http_target *target;    /* only its server may receive credentials */
    struct nt_transfer *job;                /* gives the range, and takes the bytes */
    uint64_t first;                         /* of the range: in an object the job has another offset */
    const struct nt_file_version *expected; /* NULL: nothing is known about the file */
    bool is_unconditional;                  /* the answer alone says whether it is the expected version */
    struct nt_http_ranges *ranges;          /* of several jobs, which this one requests; NULL: only its own */
    /* Result: */
    struct nt_http_response reply;
    struct nt_result result;
    bool is_checked;
    /* State: */
    bool is_own; /* asks the server of the target's address first */
    uint64_t deadline;
    char *redirect_url; /* redirect target; NULL: none */
    unsigned redirections;
    uint64_t redirection_bytes; /* of redirect bodies, which are discarded */
    bool is_refused;            /* the server's address is forbidden */
    char curl_message[CURL_ERROR_SIZE];
    CURL *easy;
    struct curl_slist *headers;
};

/* False if out of memory, or as the result says. curl returns the job with its completion message. */
bool nt_http_request_start(struct nt_http_request *request, CURLM *multi, uint64_t milliseconds);
/* The status of the answer; 0: none yet. */
long nt_http_request_status(const struct nt_http_request *request);
/* Judges the headers: as soon as they are complete, and at the end. */
void nt_http_request_check_response(struct nt_http_request *request);
/* Rejects the body because `take` got something unexpected; ends the transfer. */
void nt_http_request_refuse(struct nt_http_request *request, enum nt_fetch_failure failure,
                            const char *message);
/* Handles a completed answer. True after a redirect: the request is active again and completes once
 * more. Each server gets a request of its own, so that credentials are decided per server. */
bool nt_http_request_follow(struct nt_http_request *request, CURLM *multi, CURLcode code);
/* Judges the completed request. */
void nt_http_request_end(struct nt_http_request *request, CURLcode code);
/* The final URL after redirects; valid until nt_http_request_stop. */
const char *nt_http_request_url(const struct nt_http_request *request);
void nt_http_request_stop(struct nt_http_request *request, CURLM *multi);

/* ---- Several ranges in one HTTP request ---- */

/* Takes short jobs of the same file that wait, to request them with this one, which starts. They then have it
 * as their share. NULL if there are few, or if out of memory. */
struct nt_http_ranges *nt_http_ranges_new(struct nt_transfer *job);
/* For the header Range. NULL if out of memory. */
const char *nt_http_ranges_text(const struct nt_http_ranges *ranges);
/* A body byte for byte. False if there are too many. */
bool nt_http_ranges_take(struct nt_http_ranges *ranges, const char *bytes, size_t count);
/* After the answer: ends the other jobs whose bytes have arrived, frees the ranges, and returns the result of
 * the request's job. The others wait for requests of their own. */
struct nt_result nt_http_ranges_end(struct nt_http_ranges *ranges, const struct nt_http_request *request);
/* Cancels a job's part of the request that is its share, if there is one. */
void nt_http_ranges_leave(struct nt_transfer *job);
/* The jobs wait again. Accepts NULL. */
void nt_http_ranges_free(struct nt_http_ranges *ranges);

/* The headers and bytes of the next part of a multipart body; `left` becomes what follows it. False if there
 * is none. */
bool nt_http_part_next(struct nt_text *left, const char *boundary, struct nt_http_response *headers_ret,
                       struct nt_text *bytes_ret);

/* ---- Parsers of listings ---- */

enum { NT_FOLDER_LIST_TOKEN_BYTES = 4096 };

typedef void nt_entry_take(void *context, const struct nt_listed *entry);

/* For one XML answer. `folder` is the requested path, not percent-encoded: the key prefix for S3 ("" or
 * ending with a slash), else the path of the URL. Omits entries outside it. NULL if out of memory. */
struct nt_list_parser *nt_list_parser_new(enum nt_service service, const char *folder, nt_entry_take *take,
                                          void *context);
void nt_list_parser_free(struct nt_list_parser *list); /* accepts NULL */

/* Feeds a piece; the last one may be empty. False if this is not a valid list: see the problem. */
bool nt_list_parser_feed(struct nt_list_parser *list, const char *bytes, size_t count, bool is_last);
const char *nt_list_parser_problem(const struct nt_list_parser *list);

/* After the whole answer: does the directory exist? */
bool nt_list_parser_is_there(const struct nt_list_parser *list);
/* The token that requests the rest; NULL: the list is complete. "": the server gave none. */
const char *nt_list_parser_token(const struct nt_list_parser *list);

/* For one page that lists a directory. `folder` is its path, not percent-encoded.
 * Entries of HTML have no size: only opening them reveals it. NULL if out of memory. */
struct nt_index_parser *nt_index_parser_new(const char *folder, nt_entry_take *take, void *context);
void nt_index_parser_free(struct nt_index_parser *index); /* accepts NULL */
/* False if this is not a list. */
bool nt_index_parser_feed(struct nt_index_parser *index, const char *bytes, size_t count);
/* After the whole page: why it is no list, or NULL. */
const char *nt_index_parser_end(struct nt_index_parser *index);

/* ---- HTTP backend ---- */

/* Maximum of requests, and so of connections. */
enum { NT_HTTP_MAX_REQUESTS = 16 };

struct nt_http_backend {
    struct nt_backend backend;
    CURLM *multi;
    /* A directory whose server refused PROPFIND, why, and listed it by a page: it is asked for pages first.
     * "": none. */
    char index_address[NT_FETCH_TEXT_BYTES], index_refusal[160];
};

/* False if libcurl is not usable. */
bool nt_http_backend_init(struct nt_http_backend *web, struct nt_transfers *jobs);

enum { NT_BEFORE_TAIL = 2 };

/* An open file, or a directory. The attempts of its jobs begin with a struct nt_http_request. */
struct nt_http_file {
    struct nt_remote_handle handle;
    struct nt_http_target target;
    bool is_first;        /* of its server to be opened */
    bool is_object_store; /* the address names them by NT_OBJECT_NUMBER: each is a target of its own */
    bool refuses_ranges;  /* its server did not answer a request for several with all their bytes */
    LIST_HEAD(, nt_end_probe) probes;
    struct nt_end_probe *head, *tail;                 /* only during opening */
    struct nt_end_probe *before_tail[NT_BEFORE_TAIL]; /* NULL: none */
    uint64_t copied_first, copied_end;                /* bytes of theirs that were copied */
    struct nt_http_walk *walk;                        /* of a directory */
};

/* See nt_backend_ops. */
bool nt_http_open(struct nt_remote_handle *file, const char *address, const char **problem_ret);
bool nt_http_open_listed(struct nt_remote_handle *file, const char *address, const char *validator,
                         const char **problem_ret);
bool nt_http_list(struct nt_remote_handle *listing, const char *address, const char **problem_ret);
enum nt_received nt_http_copy_received(struct nt_remote_handle *file, uint64_t offset, size_t bytes,
                                       char *output);
void nt_http_close(struct nt_remote_handle *handle);
void nt_http_end_list(struct nt_http_file *origin);

/* ---- XRootD sessions ---- */

struct nt_xrd_queue {
    const struct nt_xrd_client *client;
    int event; /* an eventfd: readable when answers wait */
    pthread_mutex_t lock;
    STAILQ_HEAD(, nt_xrd_operation) answered;
};

/* One opened file; freed when it has no owner and no pending operations. */
struct nt_xrd_session {
    struct nt_xrd_queue *queue;
    struct nt_xrd_file *file;
    void *owner; /* NULL: none */
    unsigned operations;
};

/* One request, embedded in the caller's structure. */
struct nt_xrd_operation {
    struct nt_xrd_queue *queue;
    struct nt_xrd_session *session; /* NULL: not for a file */
    struct nt_xrd_answer answer;
    void (*end)(struct nt_xrd_operation *operation); /* the answer is in: frees the operation */
    STAILQ_ENTRY(nt_xrd_operation) answered;
};

/* False if out of memory. */
bool nt_xrd_queue_init(struct nt_xrd_queue *queue);
/* Calls `end` of all answered operations. */
void nt_xrd_queue_work(struct nt_xrd_queue *queue);
/* Lists a directory. NULL if out of memory; else the operation owns the result. */
struct nt_xrd_list *nt_xrd_queue_list(struct nt_xrd_queue *queue, struct nt_xrd_operation *operation,
                                      const char *url, uint64_t milliseconds);
/* NULL if out of memory. */
struct nt_xrd_session *nt_xrd_session_new(struct nt_xrd_queue *queue, void *owner);
/* Its owner no longer uses it. */
void nt_xrd_session_leave(struct nt_xrd_session *session);
void nt_xrd_session_open(struct nt_xrd_session *session, struct nt_xrd_operation *operation, const char *url,
                         uint64_t milliseconds);
void nt_xrd_session_read(struct nt_xrd_session *session, struct nt_xrd_operation *operation,
                         const struct nt_xrd_range *ranges, unsigned count, bool has_attributes,
                         uint64_t milliseconds);

/* ---- XRootD files ---- */

/* A file, or a directory that is listed. */
struct nt_xrootd_file {
    struct nt_remote_handle handle;
    char *url;
    struct nt_xrd_session *session; /* NULL: neither open nor opening */
    bool is_open;                   /* the session is open */
    bool is_known;                  /* `attributes` are valid */
    struct nt_xrd_attributes attributes;
    uint64_t checked;                 /* time of the last validation, in milliseconds */
    bool is_ready;                    /* has requests to send: it is in the list */
    LIST_ENTRY(nt_xrootd_file) ready; /* of the backend */
    struct nt_xrd_ends *ends;         /* only during the first opening */
    struct nt_transfer *listing;      /* of a directory, tried until there is an answer; NULL: a file */
};

/* ---- XRootD backend ---- */

struct nt_xrootd {
    struct nt_backend backend;
    struct nt_xrd_queue queue;
    LIST_HEAD(, nt_xrootd_file) ready; /* files with requests to send */
    const char *module;                /* path of the client module, loaded at the first open */
};

/* The path of the client module, next to this program. */
enum { NT_MODULE_PATH_BYTES = 4096 };
void nt_xrootd_find_module(char path[NT_MODULE_PATH_BYTES]);

/* False if out of memory. A test may set `xrootd->queue.client` instead of a module. */
bool nt_xrootd_init(struct nt_xrootd *xrootd, struct nt_transfers *jobs, const char *module);
