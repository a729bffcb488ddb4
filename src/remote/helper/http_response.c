/* SPDX-License-Identifier: MIT
 *
 * What an HTTP answer means for a request: the bytes, another version, a refusal, or another try.
 */
#include "remote/helper/helper.h"

#include <inttypes.h>

long nt_http_request_status(const struct nt_http_request *request)
{
    long code = 0;
    curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &code);
    return code;
}

__attribute__((format(printf, 4, 5))) static void judge(struct nt_http_request *request,
                                                        enum nt_request_outcome outcome,
                                                        enum nt_fetch_failure failure, const char *format,
                                                        ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(request->result.message, sizeof(request->result.message), format, arguments);
    va_end(arguments);
    request->is_checked = true;
    request->result.outcome = outcome;
    request->result.failure = failure;
}

static void judge_changed(struct nt_http_request *request)
{
    judge(request, NT_OUTCOME_FAILED, NT_FETCH_CHANGED, NT_ANOTHER_VERSION);
}

/* Does the answer have a validator that is known, too? */
static bool has_validator(const struct nt_validators *one, const struct nt_validators *other)
{
    return (one->tag[0] && other->tag[0]) || (one->modified[0] && other->modified[0]);
}

static bool is_other_version(const struct nt_http_request *request)
{
    const struct nt_file_version *expected = request->expected;
    const struct nt_http_response *reply = &request->reply;
    if (expected && request->is_unconditional && !has_validator(&expected->validators, &reply->validators))
        return true;
    return expected && (!nt_validators_agree(&expected->validators, &reply->validators) ||
                        (reply->has_total && reply->total != expected->size));
}

/* Do the received bytes belong to the requested range, from its start? */
static bool is_asked_for(const struct nt_http_request *request)
{
    const struct nt_http_response *reply = &request->reply;
    if (request->job->is_suffix)
        return reply->last == reply->total - 1 && reply->last - reply->first < request->job->bytes;
    if (!request->expected && reply->last != reply->total - 1 &&
        reply->last - reply->first + 1 != request->job->bytes)
        return false; /* the size was unknown: the range must reach the end */
    return reply->first == request->first && reply->last - reply->first < request->job->bytes;
}

static void judge_part(struct nt_http_request *request)
{
    const struct nt_http_response *reply = &request->reply;
    if (is_other_version(request))
        judge_changed(request);
    else if (reply->is_encoded)
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNSUPPORTED,
              "the server sends the file compressed (Content-Encoding)");
    else if (reply->is_beyond)
        judge(request, NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE,
              "the server claims to send bytes after the end of the file");
    else if (request->ranges) /* the parts say which they are */
        ;
    else if (reply->lacks_total)
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE,
              "the server sends a range without the size of the file (Content-Range)");
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
static enum nt_request_outcome refused(const struct nt_http_request *request)
{
    return request->is_own ? NT_OUTCOME_FAILED : NT_OUTCOME_OTHER_SERVER;
}

/* Web servers send the page of a directory only to an address with a slash at its end. */
static bool is_redirected_to_folder(const struct nt_http_request *request)
{
    const char *url = request->redirect_url;
    size_t length = url ? strcspn(url, "?#") : 0;
    size_t before = strcspn(request->target->address, "?#");
    return !request->expected && length && url[length - 1] == '/' &&
           request->target->address[before - 1] != '/';
}

/* Servers that want a login, or have an outage, send a page of their own instead of a file. */
static bool is_web_page(const struct nt_http_request *request)
{
    static const char html[] = "text/html";
    const char *type = NULL;
    curl_easy_getinfo(request->easy, CURLINFO_CONTENT_TYPE, &type);
    return type && strncasecmp(type, html, strlen(html)) == 0;
}

static void judge_whole(struct nt_http_request *request)
{
    curl_off_t bytes = -1;
    curl_easy_getinfo(request->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &bytes);
    if (!request->expected && bytes == 0)
        judge(request, NT_OUTCOME_OK, NT_FETCH_UNREACHABLE, "%s", "");
    else if (is_other_version(request))
        judge_changed(request);
    else if (is_redirected_to_folder(request)) /* then it is listed */
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_NOT_FOUND, "it is a directory");
    else if (is_web_page(request))
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNSUPPORTED,
              "the server sends a web page (text/html) instead of the file, perhaps to log in");
    else
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNSUPPORTED,
              "the server sends only whole files, but ntuplefs needs ranges (Range)");
}

/* Range not satisfiable: an empty file has no range, not even at 0. */
static void judge_unsatisfied(struct nt_http_request *request)
{
    bool is_empty = request->reply.has_total ? request->reply.total == 0
                                             : !request->job->is_suffix && request->first == 0;
    if (is_other_version(request))
        judge_changed(request);
    else if (!request->expected && is_empty)
        judge(request, NT_OUTCOME_OK, NT_FETCH_UNREACHABLE, "%s", "");
    else
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE,
              "the server answers 416: it has no such range");
}

static void judge_other(struct nt_http_request *request, long code)
{
    if (request->reply.region[0])
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE,
              "the server answers %ld: the bucket is in region %s", code, request->reply.region);
    else
        judge(request, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE, "the server answers %ld", code);
}

/* Judges the status of a listing; false if it means the same as for other requests. */
static bool judge_list(struct nt_http_request *request, long code)
{
    bool is_dav =
             request->target->service == NT_SERVICE_HTTP && request->target->asked == NT_HTTP_REQUEST_FOLDER,
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
static const char *hint_of(const struct nt_http_request *request, long code)
{
    if (request->target->service == NT_SERVICE_S3)
        return nt_s3_hint();
    bool may_be_folder = code == 403 && request->target->asked == NT_HTTP_REQUEST_PART &&
                         !request->expected && request->target->service == NT_SERVICE_HTTP;
    return may_be_folder ? "; the address of a directory ends with a slash" : "";
}

void nt_http_request_check_response(struct nt_http_request *request)
{
    const long code = nt_http_request_status(request);
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
        judge_changed(request);
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
static bool is_for_another_name(const struct nt_http_request *request, CURLcode code)
{
    return code == CURLE_PEER_FAILED_VERIFICATION &&
           strstr(request->curl_message, "target host name") != NULL;
}

/* The variable that names the proxy, if it may be the one that cannot be reached; else NULL. */
static const char *failed_proxy(const struct nt_http_request *request, CURLcode code)
{
    static const char *const of_https[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", NULL};
    static const char *const of_http[] = {"http_proxy", "all_proxy", "ALL_PROXY", NULL};
    const char *const *name = nt_url_is_secure(nt_http_request_url(request)) ? of_https : of_http;
    if (code != CURLE_COULDNT_RESOLVE_PROXY && code != CURLE_COULDNT_CONNECT && code != CURLE_PROXY)
        return NULL;
    while (*name && !nt_environment(*name))
        name++;
    return *name;
}

static void judge_failure(struct nt_http_request *request, CURLcode code)
{
    const struct lasting *known = lasting_of(code);
    const char *address = nt_http_request_url(request), *host = strstr(address, "://"),
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

void nt_http_request_refuse(struct nt_http_request *request, enum nt_fetch_failure failure,
                            const char *message)
{
    judge(request, NT_OUTCOME_FAILED, failure, "%s", message);
}

void nt_http_request_end(struct nt_http_request *request, CURLcode code)
{
    if (request->is_checked)
        return;
    if (code == CURLE_OK)
        nt_http_request_check_response(request);
    if (request->is_checked)
        return;
    uint64_t requested =
        request->target->asked == NT_HTTP_REQUEST_PART ? request->job->bytes : request->result.got;
    bool is_part =
        request->reply.has_range && request->target->asked == NT_HTTP_REQUEST_PART && !request->ranges;
    if (request->ranges)
        requested = request->result.got;
    else if (is_part)
        requested = request->reply.last - request->reply.first + 1;
    bool has_all =
        request->result.got == requested && (request->ranges || request->job->is_suffix ||
                                             requested == request->job->bytes || !request->expected);
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
