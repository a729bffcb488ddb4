/* SPDX-License-Identifier: MIT
 *
 * A single HTTP request for a byte range or a listing: redirects, and validation of the response against
 * the expected version.
 */
#include "remote/helper/helper.h"

#include <ntuple/version.h>

#include <inttypes.h>

#include "core/base/thread.h"

/* ---- Requests ---- */

enum { CONNECT_MILLISECONDS = 10000, STALL_SECONDS = 15, MAX_REDIRECTIONS = 8, BUFFER_BYTES = 128 * 1024 };
enum { MAX_REDIRECTION_BYTES = 64 * 1024 };

#define NOT_FOLLOWED                                                                                         \
    "it redirects to an address that is not allowed: neither http nor https, or from https to http"

/* ---- Curl callbacks ---- */

static size_t on_header(char *line, size_t size, size_t count, void *argument)
{
    struct nt_http_request *request = argument;
    if (nt_http_response_parse_line(&request->reply, line, size * count))
        return size * count;
    nt_http_request_refuse(request, NT_FETCH_UNREACHABLE, "the headers of the server's answer do not end");
    return 0;
}

/* The redirect target of an answer; NULL: none. Signed requests are valid for one server only. */
static const char *redirection_of(const struct nt_http_request *request)
{
    long code = nt_http_request_status(request);
    char *url = NULL;
    bool is_redirection = code == 301 || code == 302 || code == 303 || code == 307 || code == 308;
    if (is_redirection && request->target->service == NT_SERVICE_HTTP)
        curl_easy_getinfo(request->easy, CURLINFO_REDIRECT_URL, &url);
    return url;
}

/* The body of a redirect is ignored. */
static bool is_redirection(const struct nt_http_request *request)
{
    return request->target->service == NT_SERVICE_HTTP && nt_http_request_status(request) / 100 == 3;
}

static size_t pass_over(struct nt_http_request *request, size_t count)
{
    request->redirection_bytes += count;
    if (request->redirection_bytes <= MAX_REDIRECTION_BYTES)
        return count;
    nt_http_request_refuse(request, NT_FETCH_UNREACHABLE, "the server's redirect does not end");
    return 0;
}

/* Judges the headers before the first bytes. */
static size_t on_bytes(char *bytes, size_t size, size_t count, void *argument)
{
    struct nt_http_request *request = argument;
    count *= size;
    if (is_redirection(request))
        return pass_over(request, count);
    if (request->result.got == 0 && !request->is_checked)
        nt_http_request_check_response(request);
    if (request->is_checked)
        return 0;
    bool fits = request->ranges
                    ? nt_http_ranges_take(request->ranges, bytes, count)
                    : request->target->asked != NT_HTTP_REQUEST_PART ||
                          count <= request->reply.last - request->reply.first + 1 - request->result.got;
    if (!fits) {
        nt_http_request_refuse(request, NT_FETCH_UNREACHABLE,
                               "the server sends more bytes than it announces");
        return 0;
    }
    if (!request->ranges &&
        !request->job->take(request->job, request->job->first + request->result.got, bytes, count))
        return CURL_WRITEFUNC_PAUSE;
    request->result.got += count;
    return request->is_checked ? 0 : count;
}

/* ---- Sending ---- */

/* Requests only the properties that the parser reads. */
static const char question[] = "<?xml version=\"1.0\" encoding=\"utf-8\"?>"
                               "<propfind xmlns=\"DAV:\"><prop><resourcetype/><getcontentlength/>"
                               "<getlastmodified/><getetag/></prop></propfind>";

static bool request_list(struct nt_http_request *request)
{
    CURL *easy = request->easy;
    if (request->target->service == NT_SERVICE_S3) /* the URL is the query */
        return true;
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, question);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "PROPFIND");
    return nt_headers_add(&request->headers, "Depth", "1") &&
           nt_headers_add(&request->headers, "Content-Type", "application/xml; charset=utf-8");
}

/* Without the keys of a role a server would refuse the request; their service may answer later. */
static bool sign(struct nt_http_request *request)
{
    const char *problem =
        request->target->service == NT_SERVICE_S3 ? nt_s3_sign(request->easy, &request->headers) : NULL;
    if (!problem)
        return true;
    nt_http_request_refuse(request, NT_FETCH_UNREACHABLE, problem);
    request->result.outcome = NT_OUTCOME_RETRY;
    return false;
}

/* Makes the server reject other versions. Only compares a weak tag: If-Match must not use one. */
static bool add_headers(struct nt_http_request *request)
{
    const struct nt_validators *known =
        request->expected && !request->is_unconditional ? &request->expected->validators : NULL;
    if (!nt_headers_add(&request->headers, "Accept-Encoding", "identity") || !sign(request))
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

static bool set_range(const struct nt_http_request *request)
{
    char own[64];
    const char *range = request->ranges ? nt_http_ranges_text(request->ranges) : own;
    if (request->job->is_suffix)
        snprintf(own, sizeof(own), "-%" PRIu64, request->job->bytes);
    else
        snprintf(own, sizeof(own), "%" PRIu64 "-%" PRIu64, request->first,
                 request->first + request->job->bytes - 1);
    return range && curl_easy_setopt(request->easy, CURLOPT_RANGE, range) == CURLE_OK;
}

static void set_time(const struct nt_http_request *request)
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
    struct nt_http_request *request = context;
    request->is_refused = nt_is_metadata_address(&address->addr);
    return request->is_refused ? CURL_SOCKET_BAD
                               : socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void set_way(struct nt_http_request *request, const char *address)
{
    CURL *easy = request->easy;
    bool is_signed = request->target->service == NT_SERVICE_S3;
    curl_easy_setopt(easy, CURLOPT_URL, address);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L); /* see nt_http_request_follow */
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, (long)is_signed);
    curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, request->curl_message);
    /* HTTP/1.1 with many connections: a shared HTTP/2 connection has one window, slow on long links. */
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, (long)request->job->is_background);
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
                                 .is_secure = nt_url_is_secure(address),
                                 .is_named = nt_address_is_same_server(request->target->address, address),
                                 .is_signed = is_signed});
}

/* Sends the request to one server. After a failure, nt_http_request_stop frees what there is of it. */
static bool ask(struct nt_http_request *request, CURLM *multi)
{
    const char *address = nt_http_request_url(request);
    request->easy = curl_easy_init();
    if (!request->easy || !add_headers(request))
        return false;
    set_way(request, address);
    if (request->target->asked == NT_HTTP_REQUEST_PART && !set_range(request))
        return false;
    set_time(request);
    return curl_multi_add_handle(multi, request->easy) == CURLM_OK;
}

bool nt_http_request_start(struct nt_http_request *request, CURLM *multi, uint64_t milliseconds)
{
    const struct nt_http_target *target = request->target;
    request->deadline = nt_milliseconds() + milliseconds;
    request->is_own = !target->redirect_url;
    request->redirect_url = target->redirect_url ? strdup(target->redirect_url) : NULL;
    return (request->is_own || request->redirect_url) && ask(request, multi);
}

/* ---- Redirects ---- */

static void leave(struct nt_http_request *request, CURLM *multi)
{
    if (request->easy)
        curl_multi_remove_handle(multi, request->easy);
    curl_easy_cleanup(request->easy);
    curl_slist_free_all(request->headers);
    request->easy = NULL;
    request->headers = NULL;
}

static bool may_follow(struct nt_http_request *request, const char *from, const char *to)
{
    bool is_followed =
        nt_url_is_secure(to) || (!nt_url_is_secure(from) && strncasecmp(to, "http:", strlen("http:")) == 0);
    if (request->redirections == MAX_REDIRECTIONS)
        nt_http_request_refuse(request, NT_FETCH_UNREACHABLE, "too many redirects");
    else if (!is_followed)
        nt_http_request_refuse(request, NT_FETCH_UNREACHABLE, NOT_FOLLOWED);
    else if (nt_is_metadata_url(to))
        nt_http_request_refuse(request, NT_FETCH_FORBIDDEN, NT_NEVER_CONTACTED);
    return !request->is_checked;
}

bool nt_http_request_follow(struct nt_http_request *request, CURLM *multi, CURLcode code)
{
    const char *url = request->is_checked || code != CURLE_OK ? NULL : redirection_of(request);
    if (!url || !may_follow(request, nt_http_request_url(request), url))
        return false;
    char *redirect_url = strdup(url);
    leave(request, multi);
    if (redirect_url) {
        free(request->redirect_url);
        request->redirect_url = redirect_url;
    }
    request->redirections++;
    request->reply = (struct nt_http_response){.bytes = request->reply.bytes};
    if (redirect_url && ask(request, multi))
        return true;
    request->is_checked = true;
    request->result = nt_result_no_memory;
    return false;
}

const char *nt_http_request_url(const struct nt_http_request *request)
{
    return request->redirect_url ? request->redirect_url : request->target->address;
}

void nt_http_request_stop(struct nt_http_request *request, CURLM *multi)
{
    leave(request, multi);
    free(request->redirect_url);
    request->redirect_url = NULL;
}
