/* SPDX-License-Identifier: MIT
 *
 * In: a part of a file at an address, or a folder. Out: its bytes, of which each has been found to be of the part and of the file that was asked for
 * before it is passed on (RFC 9110, sections 13 to 15); or why not. Servers' answers are judged by the code, and
 * their texts are not repeated.
 */
#include "remote/helper/request.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <ntuple/version.h>

#include "core/base/clock.h"
#include "remote/helper/credentials.h"
#include "remote/helper/headers.h"
#include "remote/helper/metadata_servers.h"
#include "remote/helper/s3.h"

enum { CONNECT_MILLISECONDS = 10000, STALL_SECONDS = 15, MOST_REDIRECTIONS = 8, BUFFER_BYTES = 128 * 1024 };
enum { MOST_REDIRECTION_BYTES = 64 * 1024 };

#define NOT_FOLLOWED "it leads to an address that is not followed: not http, or https no more"
#define NEVER_ASKED "its server has an address of instance metadata, which is not asked"

static bool is_secure(const char *address)
{
    return strncasecmp(address, "https:", strlen("https:")) == 0;
}

/* ---- judging ---- */

__attribute__((format(printf, 4, 5))) static void judge(struct nt_request *request, enum nt_outcome outcome,
                                                        enum nt_fetch_failure failure, const char *format,
                                                        ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(request->result.message, sizeof(request->result.message), format, arguments);
    va_end(arguments);
    request->is_judged = true;
    request->result.outcome = outcome;
    request->result.failure = failure;
}

static bool is_other_version(const struct nt_request *request)
{
    const struct nt_file_version *expected = request->expected;
    const struct nt_reply *reply = &request->reply;
    return expected && (!nt_validators_agree(&expected->validators, &reply->validators) ||
                        (reply->has_total && reply->total != expected->size));
}

/* Whether the bytes that come are some of those that are wanted, from the first on. */
static bool is_asked_for(const struct nt_request *request)
{
    const struct nt_reply *reply = &request->reply;
    if (request->is_suffix)
        return reply->last == reply->total - 1 && reply->last - reply->first < request->bytes;
    if (!request->expected && reply->last != reply->total - 1 &&
        reply->last - reply->first + 1 != request->bytes)
        return false; /* how long it is was not known: it must be all that there is */
    return reply->first == request->first && reply->last - reply->first < request->bytes;
}

static void judge_part(struct nt_request *request)
{
    const struct nt_reply *reply = &request->reply;
    if (is_other_version(request))
        judge(request, NT_OUTCOME_BAD, NT_FETCH_CHANGED, "the server has another version now");
    else if (reply->is_encoded)
        judge(request, NT_OUTCOME_BAD, NT_FETCH_UNSUPPORTED,
              "the server sends it compressed (Content-Encoding)");
    else if (!reply->has_range)
        judge(request, NT_OUTCOME_BAD, NT_FETCH_UNREACHABLE,
              "the server sends a part without telling which (Content-Range)");
    else if (!is_asked_for(request))
        judge(request, NT_OUTCOME_BAD, NT_FETCH_UNREACHABLE,
              "the server was asked for %" PRIu64 " bytes at %" PRIu64 " and sends bytes %" PRIu64
              " to %" PRIu64,
              request->bytes, request->first, reply->first, reply->last);
}

/* Of another server than the user's: that one may name a third, or has new leave for this one. */
static enum nt_outcome refused(const struct nt_request *request)
{
    return request->is_own ? NT_OUTCOME_BAD : NT_OUTCOME_ELSEWHERE;
}

static void judge_whole(struct nt_request *request)
{
    curl_off_t bytes = -1;
    curl_easy_getinfo(request->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &bytes);
    if (!request->expected && bytes == 0)
        judge(request, NT_OUTCOME_GOOD, NT_FETCH_UNREACHABLE, "%s", "");
    else if (is_other_version(request))
        judge(request, NT_OUTCOME_BAD, NT_FETCH_CHANGED, "the server has another version now");
    else
        judge(request, NT_OUTCOME_BAD, NT_FETCH_UNSUPPORTED,
              "the server sends whole files only, and parts are needed (Range)");
}

/* No such part: a file without bytes has none, not even at its beginning. */
static void judge_unsatisfied(struct nt_request *request)
{
    bool is_empty =
        request->reply.has_total ? request->reply.total == 0 : !request->is_suffix && request->first == 0;
    if (is_other_version(request))
        judge(request, NT_OUTCOME_BAD, NT_FETCH_CHANGED, "the server has another version now");
    else if (!request->expected && is_empty)
        judge(request, NT_OUTCOME_GOOD, NT_FETCH_UNREACHABLE, "%s", "");
    else
        judge(request, NT_OUTCOME_BAD, NT_FETCH_UNREACHABLE, "the server answers 416: it has no such part");
}

static void judge_other(struct nt_request *request, long code)
{
    if (request->reply.region[0])
        judge(request, NT_OUTCOME_BAD, NT_FETCH_UNREACHABLE,
              "the server answers %ld: the bucket is in region %s", code, request->reply.region);
    else
        judge(request, NT_OUTCOME_BAD, NT_FETCH_UNREACHABLE, "the server answers %ld", code);
}

/* What an answer means to the question what is in a folder; false where it means the same as to others. */
static bool judge_list(struct nt_request *request, long code)
{
    bool is_web = request->service == NT_SERVICE_WEB, is_list = code == (is_web ? 207 : 200);
    if (request->asked != NT_ASKED_FOLDER)
        return false;
    if (is_list && request->reply.is_encoded)
        judge(request, NT_OUTCOME_BAD, NT_FETCH_UNSUPPORTED,
              "the server sends its list compressed (Content-Encoding)");
    else if (code == 404 || code == 410)
        judge(request, refused(request), NT_FETCH_NOT_FOUND, "the server has no such folder (%ld)", code);
    else if (is_web && !is_list &&
             (code / 100 == 2 || code == 400 || code == 405 || code == 412 || code == 416 || code == 501))
        judge(request, NT_OUTCOME_BAD, NT_FETCH_UNSUPPORTED,
              "the server does not tell what is in folders (it answers %ld to WebDAV's PROPFIND)", code);
    else
        return is_list;
    return true;
}

static void judge_code(struct nt_request *request, long code)
{
    curl_off_t seconds = 0;
    if (judge_list(request, code))
        return;
    switch (code) {
    case 206:
        judge_part(request);
        break;
    case 200:
        judge_whole(request);
        break;
    case 412:
        judge(request, NT_OUTCOME_BAD, NT_FETCH_CHANGED, "the server has another version now");
        break;
    case 416:
        judge_unsatisfied(request);
        break;
    case 401:
    case 403:
        judge(request, refused(request), NT_FETCH_FORBIDDEN, "the server does not allow it (%ld)", code);
        break;
    case 404:
    case 410:
        judge(request, refused(request), NT_FETCH_NOT_FOUND, "the server has no such file (%ld)", code);
        break;
    case 408:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
        curl_easy_getinfo(request->easy, CURLINFO_RETRY_AFTER, &seconds);
        request->result.wait_seconds = request->is_own && seconds > 0 ? (uint64_t)seconds : 0;
        judge(request, request->is_own ? NT_OUTCOME_AGAIN : NT_OUTCOME_ELSEWHERE, NT_FETCH_UNREACHABLE,
              "the server answers %ld", code);
        break;
    default:
        judge_other(request, code);
    }
}

static long code_of(const struct nt_request *request)
{
    long code = 0;
    curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &code);
    return code;
}

/* What another try would not change, in words of ours where curl's do not tell what to do. */
static const struct lasting {
    CURLcode code;
    const char *message;
} lasting[] = {
    {CURLE_UNSUPPORTED_PROTOCOL, NOT_FOLLOWED},
    {CURLE_URL_MALFORMAT, NULL},
    /* As libcurl before 8.6 calls a line of headers that is longer than it takes. */
    {CURLE_OUT_OF_MEMORY, "the server sends a header of more than 100 kB, or there is no memory left"},
    {CURLE_PEER_FAILED_VERIFICATION,
     "nobody who is trusted vouches for the server's certificate (CURL_CA_BUNDLE, X509_CERT_DIR)"},
    {CURLE_SSL_CERTPROBLEM, "the user's certificate cannot be used (X509_USER_PROXY)"},
    {CURLE_SSL_CACERT_BADFILE,
     "the certificates that are trusted cannot be read (CURL_CA_BUNDLE, X509_CERT_DIR)"},
    {CURLE_SSL_ISSUER_ERROR, NULL},
    {CURLE_LOGIN_DENIED, NULL},
};

static const struct lasting *lasting_of(CURLcode code)
{
    for (size_t i = 0; i < sizeof(lasting) / sizeof(*lasting); i++)
        if (lasting[i].code == code)
            return &lasting[i];
    return NULL;
}

static void judge_failure(struct nt_request *request, CURLcode code)
{
    const struct lasting *known = lasting_of(code);
    if (request->is_refused) {
        judge(request, NT_OUTCOME_BAD, NT_FETCH_FORBIDDEN, NEVER_ASKED);
        return;
    }
    judge(request, known ? NT_OUTCOME_BAD : NT_OUTCOME_AGAIN,
          code == CURLE_URL_MALFORMAT ? NT_FETCH_INVALID : NT_FETCH_UNREACHABLE, "%s",
          known && known->message ? known->message : curl_easy_strerror(code));
}

void nt_request_refuse(struct nt_request *request, enum nt_fetch_failure failure, const char *message)
{
    judge(request, NT_OUTCOME_BAD, failure, "%s", message);
}

void nt_request_end(struct nt_request *request, CURLcode code)
{
    if (request->is_judged)
        return;
    if (code == CURLE_OK)
        judge_code(request, code_of(request));
    if (request->is_judged)
        return;
    uint64_t wanted = request->asked == NT_ASKED_FOLDER ? request->result.got : request->bytes;
    bool is_part = request->reply.has_range && request->asked == NT_ASKED_PART;
    if (is_part)
        wanted = request->reply.last - request->reply.first + 1;
    bool has_all = request->result.got == wanted &&
                   (request->is_suffix || wanted == request->bytes || !request->expected);
    if (has_all && (code == CURLE_OK || is_part)) /* what stands behind a part does not matter */
        judge(request, NT_OUTCOME_GOOD, NT_FETCH_UNREACHABLE, "%s", "");
    else if (code == CURLE_OK || code == CURLE_PARTIAL_FILE)
        judge(request, NT_OUTCOME_AGAIN, NT_FETCH_UNREACHABLE, "the server sent less than it was asked for");
    else if (code == CURLE_OPERATION_TIMEDOUT)
        judge(request, NT_OUTCOME_AGAIN, NT_FETCH_UNREACHABLE, "the server is silent, or too slow");
    else
        judge_failure(request, code);
    if (request->result.outcome == NT_OUTCOME_AGAIN && !request->is_own && request->result.got == 0)
        request->result.outcome = NT_OUTCOME_ELSEWHERE;
}

/* ---- what curl calls ---- */

static size_t on_header(char *line, size_t size, size_t count, void *argument)
{
    struct nt_request *request = argument;
    if (nt_reply_take(&request->reply, line, size * count))
        return size * count;
    judge(request, NT_OUTCOME_BAD, NT_FETCH_UNREACHABLE, "the headers of the server's answer have no end");
    return 0;
}

/* Where an answer sends the request to; NULL: nowhere. What is signed is for one server. */
static const char *redirection_of(const struct nt_request *request)
{
    long code = code_of(request);
    char *url = NULL;
    bool is_redirection = code == 301 || code == 302 || code == 303 || code == 307 || code == 308;
    if (is_redirection && request->service == NT_SERVICE_WEB)
        curl_easy_getinfo(request->easy, CURLINFO_REDIRECT_URL, &url);
    return url;
}

/* Whose body says nothing to us. */
static bool is_redirection(const struct nt_request *request)
{
    return request->service == NT_SERVICE_WEB && code_of(request) / 100 == 3;
}

static size_t pass_over(struct nt_request *request, size_t count)
{
    request->redirection_bytes += count;
    if (request->redirection_bytes <= MOST_REDIRECTION_BYTES)
        return count;
    judge(request, NT_OUTCOME_BAD, NT_FETCH_UNREACHABLE, "the server's answer, a redirection, has no end");
    return 0;
}

/* The first bytes are not looked at before the headers are. */
static size_t on_bytes(char *bytes, size_t size, size_t count, void *argument)
{
    struct nt_request *request = argument;
    count *= size;
    if (is_redirection(request))
        return pass_over(request, count);
    if (request->result.got == 0 && !request->is_judged)
        judge_code(request, code_of(request));
    if (request->is_judged)
        return 0;
    if (request->asked == NT_ASKED_PART &&
        count > request->reply.last - request->reply.first + 1 - request->result.got) {
        judge(request, NT_OUTCOME_BAD, NT_FETCH_UNREACHABLE, "the server sends more than it says");
        return 0;
    }
    if (!request->take(request->context, bytes, count))
        return CURL_WRITEFUNC_PAUSE;
    request->result.got += count;
    return request->is_judged ? 0 : count;
}

/* ---- asking ---- */

/* No more than what is read of the answer. */
static const char question[] = "<?xml version=\"1.0\" encoding=\"utf-8\"?>"
                               "<propfind xmlns=\"DAV:\"><prop><resourcetype/><getcontentlength/>"
                               "<getlastmodified/><getetag/></prop></propfind>";

static bool ask_for_list(struct nt_request *request)
{
    CURL *easy = request->easy;
    if (request->service == NT_SERVICE_S3) /* its address is the question */
        return true;
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, question);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "PROPFIND");
    curl_easy_setopt(easy, CURLOPT_POSTREDIR, (long)CURL_REDIR_POST_ALL);
    return nt_headers_add(&request->headers, "Depth", "1") &&
           nt_headers_add(&request->headers, "Content-Type", "application/xml; charset=utf-8");
}

/* Only another version is an answer then. A weak tag may not be asked for, and is compared in the answer alone. */
static bool add_headers(struct nt_request *request)
{
    const struct nt_validators *known = request->expected ? &request->expected->validators : NULL;
    if (!nt_headers_add(&request->headers, "Accept-Encoding", "identity") ||
        (request->service == NT_SERVICE_S3 && !nt_s3_sign(request->easy, &request->headers)))
        return false;
    if (request->asked == NT_ASKED_FOLDER)
        return ask_for_list(request);
    if (known && known->tag[0] && !known->is_weak)
        return nt_headers_add(&request->headers, "If-Match", known->tag);
    return !known || !known->modified[0] ||
           nt_headers_add(&request->headers, "If-Unmodified-Since", known->modified);
}

static void set_range(const struct nt_request *request)
{
    char range[64];
    if (request->is_suffix)
        snprintf(range, sizeof(range), "-%" PRIu64, request->bytes);
    else
        snprintf(range, sizeof(range), "%" PRIu64 "-%" PRIu64, request->first,
                 request->first + request->bytes - 1);
    curl_easy_setopt(request->easy, CURLOPT_RANGE, range);
}

static void set_time(const struct nt_request *request)
{
    uint64_t now = nt_milliseconds(), most = request->deadline > now ? request->deadline - now : 1;
    curl_easy_setopt(request->easy, CURLOPT_TIMEOUT_MS, (long)most);
    curl_easy_setopt(request->easy, CURLOPT_CONNECTTIMEOUT_MS,
                     (long)(most < CONNECT_MILLISECONDS ? most : CONNECT_MILLISECONDS));
    curl_easy_setopt(request->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(request->easy, CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
}

/* The address of a server is known when a name was looked up: names lead anywhere. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct nt_request *request = context;
    (void)purpose;
    request->is_refused = nt_is_metadata_address(&address->addr);
    return request->is_refused ? CURL_SOCKET_BAD
                               : socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void set_way(struct nt_request *request, const char *address)
{
    CURL *easy = request->easy;
    bool is_signed = request->service == NT_SERVICE_S3;
    curl_easy_setopt(easy, CURLOPT_URL, address);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L); /* see nt_request_follow */
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, (long)is_signed);
    curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* Many connections: one that is shared would have one window for all, and be slower over long lines. */
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)BUFFER_BYTES);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "ntuplefs/" NT_VERSION_TEXT);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, request->headers);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, request);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, request);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, request);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, request->private);
    nt_credentials_add(
        easy, &(struct nt_credentials_for){.is_secure = is_secure(address),
                                           .is_named = nt_address_is_same_server(request->named, address),
                                           .is_signed = is_signed});
}

/* Ask one server. */
static bool ask(struct nt_request *request, CURLM *multi)
{
    const char *address = nt_request_address(request);
    request->easy = curl_easy_init();
    if (!request->easy || !add_headers(request)) {
        nt_request_stop(request, NULL);
        return false;
    }
    set_way(request, address);
    if (request->asked == NT_ASKED_PART)
        set_range(request);
    set_time(request);
    return curl_multi_add_handle(multi, request->easy) == CURLM_OK;
}

bool nt_request_start(struct nt_request *request, CURLM *multi, void *private)
{
    request->deadline = nt_milliseconds() + request->milliseconds;
    request->private = private;
    return ask(request, multi);
}

/* ---- being sent elsewhere ---- */

static void leave(struct nt_request *request, CURLM *multi)
{
    if (request->easy && multi)
        curl_multi_remove_handle(multi, request->easy);
    curl_easy_cleanup(request->easy);
    curl_slist_free_all(request->headers);
    request->easy = NULL;
    request->headers = NULL;
}

static bool may_follow(struct nt_request *request, const char *from, const char *to)
{
    bool is_followed = is_secure(to) || (!is_secure(from) && strncasecmp(to, "http:", strlen("http:")) == 0);
    if (request->redirections == MOST_REDIRECTIONS)
        judge(request, NT_OUTCOME_BAD, NT_FETCH_UNREACHABLE, "too many redirects");
    else if (!is_followed)
        judge(request, NT_OUTCOME_BAD, NT_FETCH_UNREACHABLE, NOT_FOLLOWED);
    else if (nt_is_metadata_url(to))
        judge(request, NT_OUTCOME_BAD, NT_FETCH_FORBIDDEN, NEVER_ASKED);
    return !request->is_judged;
}

bool nt_request_follow(struct nt_request *request, CURLM *multi, CURLcode code)
{
    const char *url = request->is_judged || code != CURLE_OK ? NULL : redirection_of(request);
    if (!url || !may_follow(request, nt_request_address(request), url))
        return false;
    char *elsewhere = strdup(url);
    leave(request, multi);
    if (elsewhere) {
        free(request->elsewhere);
        request->elsewhere = elsewhere;
    }
    request->redirections++;
    request->reply = (struct nt_reply){.bytes = request->reply.bytes};
    if (elsewhere && ask(request, multi))
        return true;
    request->is_judged = true;
    request->result = nt_result_no_memory;
    return false;
}

const char *nt_request_address(const struct nt_request *request)
{
    return request->elsewhere ? request->elsewhere : request->address;
}

void nt_request_stop(struct nt_request *request, CURLM *multi)
{
    leave(request, multi);
    free(request->elsewhere);
    request->elsewhere = NULL;
}
