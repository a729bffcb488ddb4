/* SPDX-License-Identifier: MIT
 *
 * A single HTTP request for a byte range or a listing: redirects, and validation of the response against
 * the expected version.
 */
#include "remote/helper/helper.h"

#include <ntuple/version.h>

#include <inttypes.h>
#include <stdarg.h>
#include <strings.h>

#include "core/base/thread.h"

/* ---- Requests ---- */

enum { CONNECT_MILLISECONDS = 10000, STALL_SECONDS = 15, MAX_REDIRECTIONS = 8, BUFFER_BYTES = 128 * 1024 };
enum { MAX_REDIRECTION_BYTES = 64 * 1024 };

#define NOT_FOLLOWED                                                                                         \
    "it redirects to an address that is not allowed: neither http nor https, or from https to http"

static bool is_secure(const char *address)
{
    return strncasecmp(address, "https:", strlen("https:")) == 0;
}

/* ---- Judging answers ---- */

__attribute__((format(printf, 4, 5))) static void judge(struct nt_request *request,
                                                        enum nt_request_outcome outcome,
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

/* Does the answer have a validator that is known, too? */
static bool has_validator(const struct nt_validators *one, const struct nt_validators *other)
{
    return (one->tag[0] && other->tag[0]) || (one->modified[0] && other->modified[0]);
}

static bool is_other_version(const struct nt_request *request)
{
    const struct nt_file_version *expected = request->expected;
    const struct nt_reply *reply = &request->reply;
    if (expected && request->is_unconditional && !has_validator(&expected->validators, &reply->validators))
        return true;
    return expected && (!nt_validators_agree(&expected->validators, &reply->validators) ||
                        (reply->has_total && reply->total != expected->size));
}

/* Do the received bytes belong to the requested range, from its start? */
static bool is_asked_for(const struct nt_request *request)
{
    const struct nt_reply *reply = &request->reply;
    if (request->job->is_suffix)
        return reply->last == reply->total - 1 && reply->last - reply->first < request->job->bytes;
    if (!request->expected && reply->last != reply->total - 1 &&
        reply->last - reply->first + 1 != request->job->bytes)
        return false; /* the size was unknown: the range must reach the end */
    return reply->first == request->first && reply->last - reply->first < request->job->bytes;
}

static void judge_part(struct nt_request *request)
{
    const struct nt_reply *reply = &request->reply;
    if (is_other_version(request))
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_CHANGED, "the server has another version now");
    else if (reply->is_encoded)
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNSUPPORTED,
              "the server sends the file compressed (Content-Encoding)");
    else if (reply->is_beyond)
        judge(request, NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE,
              "the server claims to send bytes after the end of the file");
    else if (!reply->has_range)
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE,
              "the server sends a range without saying which (Content-Range)");
    else if (!is_asked_for(request))
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE,
              "requested %" PRIu64 " bytes at %" PRIu64 ", but the server sends bytes %" PRIu64
              " to %" PRIu64,
              request->job->bytes, request->first, reply->first, reply->last);
}

/* A redirect target refuses: the user's server may name another one, or renew the permission. */
static enum nt_request_outcome refused(const struct nt_request *request)
{
    return request->is_own ? NT_OUTCOME_FAILED : NT_OUTCOME_OTHER_SERVER;
}

/* Web servers send the page of a folder only to an address with a slash at its end. */
static bool is_redirected_to_folder(const struct nt_request *request)
{
    const char *url = request->redirect_url;
    size_t length = url ? strcspn(url, "?#") : 0;
    size_t before = strcspn(request->target->address, "?#");
    return !request->expected && length && url[length - 1] == '/' &&
           request->target->address[before - 1] != '/';
}

static void judge_whole(struct nt_request *request)
{
    curl_off_t bytes = -1;
    curl_easy_getinfo(request->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &bytes);
    if (!request->expected && bytes == 0)
        judge(request, NT_OUTCOME_OK, NT_FETCH_UNREACHABLE, "%s", "");
    else if (is_other_version(request))
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_CHANGED, "the server has another version now");
    else if (is_redirected_to_folder(request)) /* then it is listed */
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_NOT_FOUND, "it is a directory");
    else
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNSUPPORTED,
              "the server sends only whole files, but ntuplefs needs ranges (Range)");
}

/* Range not satisfiable: an empty file has no range, not even at 0. */
static void judge_unsatisfied(struct nt_request *request)
{
    bool is_empty = request->reply.has_total ? request->reply.total == 0
                                             : !request->job->is_suffix && request->first == 0;
    if (is_other_version(request))
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_CHANGED, "the server has another version now");
    else if (!request->expected && is_empty)
        judge(request, NT_OUTCOME_OK, NT_FETCH_UNREACHABLE, "%s", "");
    else
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE,
              "the server answers 416: it has no such range");
}

static void judge_other(struct nt_request *request, long code)
{
    if (request->reply.region[0])
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE,
              "the server answers %ld: the bucket is in region %s", code, request->reply.region);
    else
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE, "the server answers %ld", code);
}

/* Judges the status of a listing; false if it means the same as for other requests. */
static bool judge_list(struct nt_request *request, long code)
{
    bool is_dav =
             request->target->service == NT_SERVICE_WEB && request->target->asked == NT_HTTP_REQUEST_FOLDER,
         is_list = code == (is_dav ? 207 : 200);
    if (request->target->asked == NT_HTTP_REQUEST_PART)
        return false;
    if (is_list && request->reply.is_encoded)
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNSUPPORTED,
              "the server sends its list compressed (Content-Encoding)");
    else if (code == 404 || code == 410)
        judge(request, refused(request), NT_FETCH_NOT_FOUND, "the server has no such directory (%ld)", code);
    else if (is_dav && !is_list &&
             (code / 100 == 2 || code == 400 || code == 405 || code == 412 || code == 416 || code == 501))
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNSUPPORTED,
              "the server does not list directories (it answers %ld to WebDAV's PROPFIND)", code);
    else if (request->target->asked == NT_HTTP_REQUEST_INDEX && !is_list && code != 408 && code != 429 &&
             (code / 100 != 5 || code == 501))
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNSUPPORTED, "the server sends no page (%ld)", code);
    else
        return is_list;
    return true;
}

/* What may help after a refusal. */
static const char *hint_of(const struct nt_request *request, long code)
{
    if (request->target->service == NT_SERVICE_S3)
        return nt_s3_hint();
    bool may_be_folder = code == 403 && request->target->asked == NT_HTTP_REQUEST_PART &&
                         !request->expected && request->target->service == NT_SERVICE_WEB;
    return may_be_folder ? "; the address of a directory ends with a slash" : "";
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
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_CHANGED, "the server has another version now");
        break;
    case 416:
        judge_unsatisfied(request);
        break;
    case 401:
    case 403:
        judge(request, refused(request), NT_FETCH_FORBIDDEN, "the server does not allow it (%ld)%s", code,
              hint_of(request, code));
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
        judge(request, request->is_own ? NT_OUTCOME_RETRY : NT_OUTCOME_OTHER_SERVER, NT_FETCH_UNREACHABLE,
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

/* Errors that a retry cannot fix; with our own message if curl's is unclear. */
static const struct lasting {
    CURLcode code;
    const char *message;
} lasting[] = {
    {CURLE_UNSUPPORTED_PROTOCOL, "the server's answer is not HTTP"},
    {CURLE_URL_MALFORMAT, NULL},
/* A header line that exceeds libcurl's limit. */
#if LIBCURL_VERSION_NUM >= 0x080600
    {CURLE_TOO_LARGE, "the server sends a header of more than 100 kB"},
    {CURLE_OUT_OF_MEMORY, NULL},
#else
    {CURLE_OUT_OF_MEMORY, "the server sends a header of more than 100 kB, or memory ran out"},
#endif
    {CURLE_PEER_FAILED_VERIFICATION,
     "no trusted authority signed the server's certificate (CURL_CA_BUNDLE, X509_CERT_DIR)"},
    {CURLE_SSL_CERTPROBLEM, "cannot use the user's certificate (X509_USER_PROXY)"},
    {CURLE_SSL_CACERT_BADFILE, "cannot read the trusted certificates (CURL_CA_BUNDLE, X509_CERT_DIR)"},
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

/* Libcurl has one code for all that is wrong with a certificate. Its text repeats names from the
 * certificate, which are not shown. */
static bool is_for_another_name(const struct nt_request *request, CURLcode code)
{
    return code == CURLE_PEER_FAILED_VERIFICATION &&
           strstr(request->curl_message, "target host name") != NULL;
}

/* The variable that names the proxy, if it may be the one that cannot be reached; else NULL. */
static const char *failed_proxy(const struct nt_request *request, CURLcode code)
{
    static const char *const of_https[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", NULL};
    static const char *const of_http[] = {"http_proxy", "all_proxy", "ALL_PROXY", NULL};
    const char *const *name = is_secure(nt_request_address(request)) ? of_https : of_http;
    if (code != CURLE_COULDNT_RESOLVE_PROXY && code != CURLE_COULDNT_CONNECT && code != CURLE_PROXY)
        return NULL;
    while (*name && !nt_environment(*name))
        name++;
    return *name;
}

static void judge_failure(struct nt_request *request, CURLcode code)
{
    const struct lasting *known = lasting_of(code);
    const char *address = nt_request_address(request), *host = strstr(address, "://"),
               *proxy = failed_proxy(request, code);
    host = host ? host + strlen("://") : address;
    if (request->is_refused) {
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_FORBIDDEN, NT_NEVER_CONTACTED);
        return;
    }
    if (is_for_another_name(request, code)) {
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE,
              "the server's certificate is not for the name %.*s", (int)strcspn(host, ":/?#"), host);
        return;
    }
    if (proxy) {
        judge(request, NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE, "%s (the proxy is the one of %s)",
              curl_easy_strerror(code), proxy);
        return;
    }
    judge(request, known ? NT_OUTCOME_FAILED : NT_OUTCOME_RETRY,
          code == CURLE_URL_MALFORMAT ? NT_FETCH_INVALID : NT_FETCH_UNREACHABLE, "%s",
          known && known->message ? known->message : curl_easy_strerror(code));
}

void nt_request_refuse(struct nt_request *request, enum nt_fetch_failure failure, const char *message)
{
    judge(request, NT_OUTCOME_FAILED, failure, "%s", message);
}

void nt_request_end(struct nt_request *request, CURLcode code)
{
    if (request->is_judged)
        return;
    if (code == CURLE_OK)
        judge_code(request, code_of(request));
    if (request->is_judged)
        return;
    uint64_t requested =
        request->target->asked == NT_HTTP_REQUEST_PART ? request->job->bytes : request->result.got;
    bool is_part = request->reply.has_range && request->target->asked == NT_HTTP_REQUEST_PART;
    if (is_part)
        requested = request->reply.last - request->reply.first + 1;
    bool has_all = request->result.got == requested &&
                   (request->job->is_suffix || requested == request->job->bytes || !request->expected);
    if (has_all && (code == CURLE_OK || is_part)) /* trailing data after a range does not matter */
        judge(request, NT_OUTCOME_OK, NT_FETCH_UNREACHABLE, "%s", "");
    else if (code == CURLE_OK || code == CURLE_PARTIAL_FILE)
        judge(request, NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE, "the server sent fewer bytes than requested");
    else if (code == CURLE_OPERATION_TIMEDOUT)
        judge(request, NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE, "the server does not answer, or is too slow");
    else
        judge_failure(request, code);
    if (request->result.outcome == NT_OUTCOME_RETRY && !request->is_own && request->result.got == 0)
        request->result.outcome = NT_OUTCOME_OTHER_SERVER;
}

/* ---- Curl callbacks ---- */

static size_t on_header(char *line, size_t size, size_t count, void *argument)
{
    struct nt_request *request = argument;
    if (nt_reply_take(&request->reply, line, size * count))
        return size * count;
    judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE, "the headers of the server's answer do not end");
    return 0;
}

/* The redirect target of an answer; NULL: none. Signed requests are valid for one server only. */
static const char *redirection_of(const struct nt_request *request)
{
    long code = code_of(request);
    char *url = NULL;
    bool is_redirection = code == 301 || code == 302 || code == 303 || code == 307 || code == 308;
    if (is_redirection && request->target->service == NT_SERVICE_WEB)
        curl_easy_getinfo(request->easy, CURLINFO_REDIRECT_URL, &url);
    return url;
}

/* The body of a redirect is ignored. */
static bool is_redirection(const struct nt_request *request)
{
    return request->target->service == NT_SERVICE_WEB && code_of(request) / 100 == 3;
}

static size_t pass_over(struct nt_request *request, size_t count)
{
    request->redirection_bytes += count;
    if (request->redirection_bytes <= MAX_REDIRECTION_BYTES)
        return count;
    judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE, "the server's redirect does not end");
    return 0;
}

/* Judges the headers before the first bytes. */
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
    if (request->target->asked == NT_HTTP_REQUEST_PART &&
        count > request->reply.last - request->reply.first + 1 - request->result.got) {
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE,
              "the server sends more bytes than it announces");
        return 0;
    }
    if (!request->job->take(request->job, request->job->first + request->result.got, bytes, count))
        return CURL_WRITEFUNC_PAUSE;
    request->result.got += count;
    return request->is_judged ? 0 : count;
}

/* ---- Sending ---- */

/* Requests only the properties that the parser reads. */
static const char question[] = "<?xml version=\"1.0\" encoding=\"utf-8\"?>"
                               "<propfind xmlns=\"DAV:\"><prop><resourcetype/><getcontentlength/>"
                               "<getlastmodified/><getetag/></prop></propfind>";

static bool request_list(struct nt_request *request)
{
    CURL *easy = request->easy;
    if (request->target->service == NT_SERVICE_S3) /* the URL is the query */
        return true;
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, question);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "PROPFIND");
    curl_easy_setopt(easy, CURLOPT_POSTREDIR, (long)CURL_REDIR_POST_ALL);
    return nt_headers_add(&request->headers, "Depth", "1") &&
           nt_headers_add(&request->headers, "Content-Type", "application/xml; charset=utf-8");
}

/* Makes the server reject other versions. Only compares a weak tag: If-Match must not use one. */
static bool add_headers(struct nt_request *request)
{
    const struct nt_validators *known =
        request->expected && !request->is_unconditional ? &request->expected->validators : NULL;
    if (!nt_headers_add(&request->headers, "Accept-Encoding", "identity") ||
        (request->target->service == NT_SERVICE_S3 && !nt_s3_sign(request->easy, &request->headers)))
        return false;
    if (request->target->asked == NT_HTTP_REQUEST_FOLDER)
        return request_list(request);
    if (request->target->asked == NT_HTTP_REQUEST_INDEX)
        return nt_headers_add(&request->headers, "Accept", "application/json, text/html;q=0.5");
    if (known && known->tag[0] && !known->is_weak)
        return nt_headers_add(&request->headers, "If-Match", known->tag);
    return !known || !known->modified[0] ||
           nt_headers_add(&request->headers, "If-Unmodified-Since", known->modified);
}

static void set_range(const struct nt_request *request)
{
    char range[64];
    if (request->job->is_suffix)
        snprintf(range, sizeof(range), "-%" PRIu64, request->job->bytes);
    else
        snprintf(range, sizeof(range), "%" PRIu64 "-%" PRIu64, request->first,
                 request->first + request->job->bytes - 1);
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

/* Checks the resolved address of a server: a name may resolve to anything. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct nt_request *request = context;
    request->is_refused = nt_is_metadata_address(&address->addr);
    return request->is_refused ? CURL_SOCKET_BAD
                               : socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void set_way(struct nt_request *request, const char *address)
{
    CURL *easy = request->easy;
    bool is_signed = request->target->service == NT_SERVICE_S3;
    curl_easy_setopt(easy, CURLOPT_URL, address);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L); /* see nt_request_follow */
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, (long)is_signed);
    curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, request->curl_message);
    /* HTTP/1.1 with many connections: a shared HTTP/2 connection has one window, slow on long links. */
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, (long)request->job->is_beside);
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
    curl_easy_setopt(easy, CURLOPT_PRIVATE, request->job);
    nt_credentials_add(easy, &(struct nt_request_target){
                                 .is_secure = is_secure(address),
                                 .is_named = nt_address_is_same_server(request->target->address, address),
                                 .is_signed = is_signed});
}

/* Sends the request to one server. */
static bool ask(struct nt_request *request, CURLM *multi)
{
    const char *address = nt_request_address(request);
    request->easy = curl_easy_init();
    if (!request->easy || !add_headers(request)) {
        nt_request_stop(request, NULL);
        return false;
    }
    set_way(request, address);
    if (request->target->asked == NT_HTTP_REQUEST_PART)
        set_range(request);
    set_time(request);
    return curl_multi_add_handle(multi, request->easy) == CURLM_OK;
}

bool nt_request_start(struct nt_request *request, CURLM *multi, uint64_t milliseconds)
{
    const struct nt_http_target *target = request->target;
    request->deadline = nt_milliseconds() + milliseconds;
    request->is_own = !target->redirect_url;
    request->redirect_url = target->redirect_url ? strdup(target->redirect_url) : NULL;
    return (request->is_own || request->redirect_url) && ask(request, multi);
}

/* ---- Redirects ---- */

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
    if (request->redirections == MAX_REDIRECTIONS)
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE, "too many redirects");
    else if (!is_followed)
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE, NOT_FOLLOWED);
    else if (nt_is_metadata_url(to))
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_FORBIDDEN, NT_NEVER_CONTACTED);
    return !request->is_judged;
}

bool nt_request_follow(struct nt_request *request, CURLM *multi, CURLcode code)
{
    const char *url = request->is_judged || code != CURLE_OK ? NULL : redirection_of(request);
    if (!url || !may_follow(request, nt_request_address(request), url))
        return false;
    char *redirect_url = strdup(url);
    leave(request, multi);
    if (redirect_url) {
        free(request->redirect_url);
        request->redirect_url = redirect_url;
    }
    request->redirections++;
    request->reply = (struct nt_reply){.bytes = request->reply.bytes};
    if (redirect_url && ask(request, multi))
        return true;
    request->is_judged = true;
    request->result = nt_result_no_memory;
    return false;
}

const char *nt_request_address(const struct nt_request *request)
{
    return request->redirect_url ? request->redirect_url : request->target->address;
}

void nt_request_stop(struct nt_request *request, CURLM *multi)
{
    leave(request, multi);
    free(request->redirect_url);
    request->redirect_url = NULL;
}
