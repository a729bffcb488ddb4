/* SPDX-License-Identifier: MIT
 *
 * Temporary S3 keys of a role: of a web identity (STS), of a container, and of a virtual machine. Only the
 * services that the environment names are asked.
 */
#include "remote/helper/helper.h"

#include <jansson.h>

#include "core/base/thread.h"

/* Other requests wait for this one, once an hour or so: these services are near. */
enum { CONNECT_MILLISECONDS = 2000, MILLISECONDS = 5000, MAX_ANSWER_BYTES = 64 * 1024 };
/* Keys are renewed before they expire; a failure is remembered for a while. */
enum { EARLY_SECONDS = 300, USUAL_SECONDS = 900, FAILURE_MILLISECONDS = 5000 };

/* The keys of this process, like the environment. */
static struct role_keys {
    char key[256], secret[256], token[8192];
    uint64_t until, expire; /* when to request others, and when these are not valid any more */
} kept;

/* ---- Requests ---- */

struct role_request {
    const char *url, *method; /* method NULL: GET */
    struct curl_slist *headers;
    bool is_local; /* no proxy */
    struct nt_buffer answer;
};

static size_t take(char *bytes, size_t size, size_t count, void *context)
{
    struct role_request *question = context;
    if (count * size > MAX_ANSWER_BYTES - question->answer.length)
        return 0;
    nt_buffer_append(&question->answer, bytes, count * size);
    return question->answer.failed ? 0 : count * size;
}

/* Sends the request and frees its headers. False unless the answer is 200. */
static bool ask(struct role_request *question)
{
    long code = 0;
    CURL *easy = curl_easy_init();
    if (easy) {
        curl_easy_setopt(easy, CURLOPT_URL, question->url);
        curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L); /* see is_allowed */
        curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MILLISECONDS);
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)MILLISECONDS);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, question->headers);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, question);
        nt_credentials_add(easy, &(struct nt_request_target){.is_secure = nt_url_is_secure(question->url),
                                                             .is_signed = true});
        if (question->is_local)
            curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
        if (question->method)
            curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, question->method);
        nt_allow_metadata(true);
        if (curl_easy_perform(easy) == CURLE_OK)
            curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
        nt_allow_metadata(false);
        curl_easy_cleanup(easy);
    }
    curl_slist_free_all(question->headers);
    question->headers = NULL;
    nt_buffer_append_string(&question->answer, "");
    return code == 200 && !question->answer.failed;
}

/* ---- Answers ---- */

/* False if it does not fit, or would add a line to a header. */
static bool copy(char *value, size_t room, const char *text, size_t length)
{
    if (!text || length >= room || !length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    memcpy(value, text, length);
    value[length] = '\0';
    return true;
}

/* "2026-11-27T09:00:00Z" */
static void keep_until(const char *expiration)
{
    struct tm parts = {0};
    const uint64_t now = nt_milliseconds();
    long seconds = USUAL_SECONDS;
    if (expiration && strptime(expiration, "%Y-%m-%dT%H:%M:%S", &parts))
        seconds = (long)(timegm(&parts) - time(NULL));
    kept.expire = now + (seconds > 0 ? (uint64_t)seconds * 1000 : 0);
    seconds -= EARLY_SECONDS;
    kept.until = now + (seconds > 0 ? (uint64_t)seconds * 1000 : FAILURE_MILLISECONDS);
}

static bool take_json(const struct role_request *question)
{
    json_auto_t *keys = json_loadb(nt_buffer_string(&question->answer), question->answer.length, 0, NULL);
    const json_t *key = json_object_get(keys, "AccessKeyId"),
                 *secret = json_object_get(keys, "SecretAccessKey"), *token = json_object_get(keys, "Token");
    bool is_whole =
        copy(kept.key, sizeof(kept.key), json_string_value(key), json_string_length(key)) &&
        copy(kept.secret, sizeof(kept.secret), json_string_value(secret), json_string_length(secret)) &&
        copy(kept.token, sizeof(kept.token), json_string_value(token), json_string_length(token));
    if (is_whole)
        keep_until(json_string_value(json_object_get(keys, "Expiration")));
    return is_whole;
}

/* The text of the first element with this name, which has no attributes. */
static const char *find_element(const char *xml, const char *name, size_t *length_ret)
{
    char tag[64];
    snprintf(tag, sizeof(tag), "<%s>", name);
    const char *text = strstr(xml, tag);
    const char *end = text ? strchr(text + strlen(tag), '<') : NULL;
    *length_ret = end ? (size_t)(end - text) - strlen(tag) : 0;
    return end ? text + strlen(tag) : NULL;
}

static bool take_xml(const struct role_request *question)
{
    const struct {
        const char *name;
        char *value;
        size_t room;
    } members[] = {{"AccessKeyId", kept.key, sizeof(kept.key)},
                   {"SecretAccessKey", kept.secret, sizeof(kept.secret)},
                   {"SessionToken", kept.token, sizeof(kept.token)}};
    const char *xml = nt_buffer_string(&question->answer);
    size_t length;
    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
        const char *text = find_element(xml, members[i].name, &length);
        if (!copy(members[i].value, members[i].room, text, length))
            return false;
    }
    keep_until(find_element(xml, "Expiration", &length));
    return true;
}

/* ---- Services ---- */

/* The token proves the identity: the request needs no signature. */
static bool ask_sts(const char *region)
{
    const char *endpoint = nt_environment("AWS_ENDPOINT_URL_STS"),
               *session = nt_environment("AWS_ROLE_SESSION_NAME");
    struct nt_buffer url = {0}, token = {0};
    bool is_there = nt_credential_read(NT_CREDENTIAL_AWS_IDENTITY, &token);
    if (endpoint)
        nt_buffer_append_format(&url, "%s/", endpoint);
    else
        nt_buffer_append_format(&url, "https://sts.%s.amazonaws.com%s/", region,
                                strncmp(region, "cn-", strlen("cn-")) == 0 ? ".cn" : "");
    nt_buffer_append_string(&url, "?Action=AssumeRoleWithWebIdentity&Version=2011-06-15&");
    nt_s3_append_parameter(&url, "RoleArn", nt_environment("AWS_ROLE_ARN"));
    nt_buffer_append_byte(&url, '&');
    nt_s3_append_parameter(&url, "RoleSessionName", session ? session : "ntuplefs");
    if (is_there) {
        token.bytes[strcspn(token.bytes, "\r\n")] = '\0';
        nt_buffer_append_byte(&url, '&');
        nt_s3_append_parameter(&url, "WebIdentityToken", token.bytes);
    }
    struct role_request question = {.url = nt_buffer_string(&url)};
    bool is_good = is_there && !url.failed && ask(&question) && take_xml(&question);
    nt_credential_forget(&question.answer);
    nt_credential_forget(&token);
    nt_credential_forget(&url);
    return is_good;
}

/* Like the tools of AWS, sends the token of a container unencrypted only within the machine. */
static bool is_allowed(const char *url)
{
    static const char *const hosts[] = {"127.0.0.1",     "localhost",      "[::1]",
                                        "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};
    if (strncasecmp(url, "https://", strlen("https://")) == 0)
        return true;
    if (strncasecmp(url, "http://", strlen("http://")) != 0)
        return false;
    for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
        const char *rest = url + strlen("http://");
        size_t length = strlen(hosts[i]);
        if (strncasecmp(rest, hosts[i], length) == 0 && strchr(":/?", rest[length]))
            return true;
    }
    return false;
}

static bool ask_container(const char *url)
{
    const char *variable = nt_environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    struct nt_buffer token = {0};
    struct role_request question = {.url = url, .is_local = true};
    bool is_good = is_allowed(url);
    if (nt_environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")) {
        is_good = is_good && nt_credential_read(NT_CREDENTIAL_AWS_CONTAINER, &token);
        if (is_good)
            token.bytes[strcspn(token.bytes, "\r\n")] = '\0';
        variable = is_good ? token.bytes : NULL;
    }
    if (is_good && variable)
        is_good = nt_headers_add(&question.headers, "Authorization", variable);
    is_good = is_good && ask(&question) && take_json(&question);
    nt_credential_forget(&question.answer);
    nt_credential_forget(&token);
    return is_good;
}

/* Version 2 of the service: a token, the name of the role, then its keys. */
static bool ask_machine(const char *endpoint)
{
    char url[1024], token[256], role[128];
    struct role_request question = {.url = url, .method = "PUT", .is_local = true};
    snprintf(url, sizeof(url), "%s/latest/api/token", endpoint);
    bool is_good = nt_headers_add(&question.headers, "X-aws-ec2-metadata-token-ttl-seconds", "300") &&
                   ask(&question) &&
                   copy(token, sizeof(token), question.answer.bytes, question.answer.length);
    nt_credential_forget(&question.answer);
    for (int step = 0; is_good && step < 2; step++) {
        question = (struct role_request){.url = url, .is_local = true};
        snprintf(url, sizeof(url), "%s/latest/meta-data/iam/security-credentials/%s", endpoint,
                 step ? role : "");
        is_good = nt_headers_add(&question.headers, "X-aws-ec2-metadata-token", token) && ask(&question);
        if (is_good && step == 0)
            is_good = copy(role, sizeof(role), question.answer.bytes, strcspn(question.answer.bytes, "\r\n"));
        else if (is_good)
            is_good = take_json(&question);
        nt_credential_forget(&question.answer);
    }
    return is_good;
}

/* ---- Keys ---- */

static const char *renew(const char *region)
{
    char url[1024];
    const char *full = nt_environment("AWS_CONTAINER_CREDENTIALS_FULL_URI"),
               *relative = nt_environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
               *machine = nt_environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    if (nt_environment("AWS_WEB_IDENTITY_TOKEN_FILE") && nt_environment("AWS_ROLE_ARN"))
        return ask_sts(region) ? NULL : "cannot get keys for the web identity (AWS_WEB_IDENTITY_TOKEN_FILE)";
    snprintf(url, sizeof(url), "%s%s", relative ? "http://169.254.170.2" : "",
             relative ? relative
             : full   ? full
                      : "");
    if (url[0])
        return ask_container(url) ? NULL : "cannot get keys of the container (AWS_CONTAINER_CREDENTIALS_...)";
    if (machine)
        return ask_machine(machine)
                   ? NULL
                   : "cannot get keys of the virtual machine (AWS_EC2_METADATA_SERVICE_ENDPOINT)";
    return NULL;
}

/* If others cannot be had, keys that are still valid stay: the service may answer before they expire. */
static const char *replace(const char *region)
{
    struct role_keys before = kept;
    explicit_bzero(&kept, sizeof(kept));
    const char *problem = renew(region);
    if (problem && nt_milliseconds() < before.expire) {
        kept = before;
        problem = NULL;
    } else if (problem) {
        kept.key[0] = '\0';
    }
    explicit_bzero(&before, sizeof(before));
    if (nt_milliseconds() >= kept.until) /* the service may have been silent for long */
        kept.until = nt_milliseconds() + FAILURE_MILLISECONDS;
    return problem;
}

const char *nt_s3_assume_role(struct nt_s3 *s3)
{
    static const char *problem;
    if (nt_milliseconds() >= kept.until)
        problem = replace(s3->region);
    memcpy(s3->key, kept.key, sizeof(s3->key));
    memcpy(s3->secret, kept.secret, sizeof(s3->secret));
    memcpy(s3->token, kept.token, sizeof(s3->token));
    return problem;
}
