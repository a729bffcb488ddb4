/* SPDX-License-Identifier: MIT
 *
 * S3: configuration from the environment and AWS files, object URLs, and signed requests (Signature
 * Version 4).
 */
#include "remote/helper/helper.h"

#define USUAL_REGION "us-east-1"

/* ---- Profiles ---- */

/* A key of a profile, and its member of `struct nt_s3`. */
static const struct setting {
    const char *name;
    size_t offset, bytes;
} settings[] = {
    {"aws_access_key_id", offsetof(struct nt_s3, key), sizeof(((struct nt_s3 *)0)->key)},
    {"aws_secret_access_key", offsetof(struct nt_s3, secret), sizeof(((struct nt_s3 *)0)->secret)},
    {"aws_session_token", offsetof(struct nt_s3, token), sizeof(((struct nt_s3 *)0)->token)},
    {"region", offsetof(struct nt_s3, region), sizeof(((struct nt_s3 *)0)->region)},
    {"endpoint_url", offsetof(struct nt_s3, endpoint), sizeof(((struct nt_s3 *)0)->endpoint)},
    {"credential_process", offsetof(struct nt_s3, elsewhere), sizeof(((struct nt_s3 *)0)->elsewhere)},
    {"sso_session", offsetof(struct nt_s3, elsewhere), sizeof(((struct nt_s3 *)0)->elsewhere)},
    {"sso_start_url", offsetof(struct nt_s3, elsewhere), sizeof(((struct nt_s3 *)0)->elsewhere)},
};

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length && strchr(" \t\r", text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* "[NAME]", or "[profile NAME]" in the configuration. A profile may be called "profile", too. */
static bool begins_profile(char *line, const char *profile)
{
    line[strcspn(line, "]")] = '\0';
    char *name = trim(line + 1);
    size_t word = strcspn(name, " \t");
    if (word == strlen("profile") && name[word] && strncmp(name, "profile", word) == 0)
        name = trim(name + word);
    return strcmp(name, profile) == 0;
}

static void take_setting(char *line, struct nt_s3 *s3)
{
    char *value = strchr(line, '=');
    if (!value)
        return;
    *value++ = '\0';
    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
        if (strcmp(trim(line), settings[i].name) == 0)
            snprintf((char *)s3 + settings[i].offset, settings[i].bytes, "%s", trim(value));
}

/* Ignores indented lines: they belong to settings that are not used. */
static bool read_profile(char *text, const char *profile, struct nt_s3 *s3)
{
    bool is_within = false, is_there = false;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (line[0] == '[')
            is_there |= is_within = begins_profile(line, profile);
        else if (is_within && line[0] && !strchr(" \t#;", line[0]))
            take_setting(line, s3);
    }
    return is_there;
}

static bool read_file(enum nt_credential credential, const char *profile, struct nt_s3 *s3)
{
    struct nt_buffer text = {0};
    bool is_there = nt_credential_read(credential, &text) && read_profile(text.bytes, profile, s3);
    nt_credential_forget(&text);
    return is_there;
}

/* ---- Configuration ---- */

/* The first of these variables that is set. */
static bool take_variable(char *value, size_t bytes, const char *const names[])
{
    for (; *names; names++)
        if (nt_environment(*names)) {
            snprintf(value, bytes, "%s", nt_environment(*names));
            return true;
        }
    return false;
}

/* Keys belong together: if one is set here, none comes from elsewhere. */
static void take_variables(struct nt_s3 *s3)
{
    static const char *const keys[] = {"AWS_ACCESS_KEY_ID", "S3_ACCESS_KEY", NULL};
    static const char *const secrets[] = {"AWS_SECRET_ACCESS_KEY", "S3_SECRET_KEY", NULL};
    static const char *const tokens[] = {"AWS_SESSION_TOKEN", NULL};
    static const char *const regions[] = {"AWS_REGION", "AWS_DEFAULT_REGION", "S3_REGION", NULL};
    static const char *const endpoints[] = {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", NULL};
    if (take_variable(s3->key, sizeof(s3->key), keys)) {
        s3->secret[0] = s3->token[0] = '\0';
        take_variable(s3->secret, sizeof(s3->secret), secrets);
        take_variable(s3->token, sizeof(s3->token), tokens);
    }
    take_variable(s3->region, sizeof(s3->region), regions);
    take_variable(s3->endpoint, sizeof(s3->endpoint), endpoints);
}

static bool is_made_of(const char *text, const char *marks)
{
    static const char usual[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-";
    for (; *text; text++)
        if (!strchr(usual, *text) && !strchr(marks, *text))
            return false;
    return true;
}

const char *nt_s3_find(struct nt_s3 *s3)
{
    const char *profile = nt_environment("AWS_PROFILE");
    *s3 = (struct nt_s3){.key = ""};
    bool is_there = read_file(NT_CREDENTIAL_AWS_CONFIG, profile ? profile : "default", s3);
    is_there |= read_file(NT_CREDENTIAL_AWS_KEYS, profile ? profile : "default", s3);
    take_variables(s3);
    if (!s3->region[0])
        snprintf(s3->region, sizeof(s3->region), "%s", USUAL_REGION);
    if (profile && !is_there)
        return "AWS_PROFILE names a profile that neither of AWS's files has";
    if (!is_made_of(s3->region, ""))
        return "AWS_REGION is not the name of a region";
    if (s3->endpoint[0] && strncasecmp(s3->endpoint, "http://", strlen("http://")) != 0 &&
        strncasecmp(s3->endpoint, "https://", strlen("https://")) != 0)
        return "AWS_ENDPOINT_URL must begin with http:// or https://";
    return NULL;
}

/* Finds the configuration with its keys, also those of a role. False if there are none: NULL, or why a
 * role has none. */
static bool find_keys(struct nt_s3 *s3, const char **problem_ret)
{
    bool is_configured = !nt_s3_find(s3);
    *problem_ret = is_configured && !s3->key[0] ? nt_s3_assume_role(s3) : NULL;
    return is_configured && s3->key[0];
}

/* The sandbox starts no programs. */
const char *nt_s3_hint(void)
{
    struct nt_s3 s3;
    const char *problem;
    bool has_none = !find_keys(&s3, &problem) && !problem && s3.elsewhere[0];
    explicit_bzero(&s3, sizeof(s3));
    return has_none ? "; the profile's credential_process or single sign-on is not used: see 'aws configure "
                      "export-credentials'"
                    : "";
}

/* ---- URLs ---- */

/* Servers sign the path they receive: encodes everything except plain characters and slashes. */
static void append_key(struct nt_buffer *url, const char *key)
{
    for (;;) {
        size_t length = strcspn(key, "/");
        char *part = length ? curl_easy_escape(NULL, key, (int)length) : NULL;
        url->failed |= length && !part;
        if (part)
            nt_buffer_append_string(url, part);
        curl_free(part);
        if (!key[length])
            return;
        nt_buffer_append_byte(url, '/');
        key += length + 1;
    }
}

static void append_endpoint(struct nt_buffer *url, const struct nt_s3 *s3, const char *bucket)
{
    const char *ending = strncmp(s3->region, "cn-", strlen("cn-")) == 0 ? ".cn" : "";
    size_t length = strlen(s3->endpoint);
    while (length && s3->endpoint[length - 1] == '/')
        length--;
    if (length)
        nt_buffer_append_format(url, "%.*s/%s/", (int)length, s3->endpoint, bucket);
    else if (strchr(bucket, '.')) /* a wildcard certificate covers only one label */
        nt_buffer_append_format(url, "https://s3.%s.amazonaws.com%s/%s/", s3->region, ending, bucket);
    else
        nt_buffer_append_format(url, "https://%s.s3.%s.amazonaws.com%s/", bucket, s3->region, ending);
}

/* The URL of a bucket, with a slash at its end. False on failure, with the reason. */
static bool begin_url(struct nt_buffer *url, const char *name, const char *expected, const char **problem_ret)
{
    enum { LONGEST_BUCKET = 255 };
    struct nt_s3 s3;
    char bucket[LONGEST_BUCKET + 1];
    size_t length = strcspn(name, "/");
    *problem_ret = nt_s3_find(&s3);
    snprintf(bucket, sizeof(bucket), "%.*s", (int)(length <= LONGEST_BUCKET ? length : 0), name);
    if (!bucket[0] || !is_made_of(bucket, "._"))
        *problem_ret = expected;
    if (!*problem_ret)
        append_endpoint(url, &s3, bucket);
    explicit_bzero(&s3, sizeof(s3));
    return !*problem_ret;
}

/* Appends "NAME=VALUE". A query encodes everything except letters, digits and a few marks. */
void nt_s3_append_parameter(struct nt_buffer *url, const char *name, const char *value)
{
    char *encoded = *value ? curl_easy_escape(NULL, value, 0) : NULL;
    url->failed |= *value && !encoded;
    nt_buffer_append_format(url, "%s=%s", name, encoded ? encoded : "");
    curl_free(encoded);
}

/* Parameters are sorted: libcurl before 8.3 signs them in the given order. */
static void append_query(struct nt_buffer *url, const char *prefix, const char *token)
{
    nt_buffer_append_byte(url, '?');
    if (*token) {
        nt_s3_append_parameter(url, "continuation-token", token);
        nt_buffer_append_byte(url, '&');
    }
    nt_s3_append_parameter(url, "delimiter", "/");
    nt_buffer_append_string(url, "&list-type=2");
    if (*prefix) {
        nt_buffer_append_byte(url, '&');
        nt_s3_append_parameter(url, "prefix", prefix);
    }
}

char *nt_s3_url(const char *name, const char **problem_ret)
{
    static const char expected[] = "it must be s3://BUCKET/KEY";
    struct nt_buffer url = {0};
    const char *key = strchr(name, '/');
    if (!key || !key[1]) {
        *problem_ret = expected;
        return NULL;
    }
    if (!begin_url(&url, name, expected, problem_ret))
        return NULL;
    append_key(&url, key + 1);
    return nt_buffer_take(&url);
}

char *nt_s3_list_url(const char *name, const char *prefix, const char *token, const char **problem_ret)
{
    struct nt_buffer url = {0};
    if (!begin_url(&url, name, "it must be s3://BUCKET or s3://BUCKET/FOLDER", problem_ret))
        return NULL;
    append_query(&url, prefix, token);
    return nt_buffer_take(&url);
}

/* ---- Signing ---- */

/* S3 requires the digest of the body; libcurl before 8.5 does not send it. */
static bool add_headers(const struct nt_s3 *s3, struct curl_slist **headers)
{
    return nt_headers_add(headers, "x-amz-content-sha256", "UNSIGNED-PAYLOAD") &&
           (!s3->token[0] || nt_headers_add(headers, "x-amz-security-token", s3->token));
}

const char *nt_s3_sign(CURL *easy, struct curl_slist **headers)
{
    struct nt_s3 s3;
    const char *problem;
    char provider[sizeof(s3.region) + 16];
    if (find_keys(&s3, &problem)) {
        snprintf(provider, sizeof(provider), "aws:amz:%s:s3", s3.region);
        curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, provider);
        curl_easy_setopt(easy, CURLOPT_USERNAME, s3.key);
        curl_easy_setopt(easy, CURLOPT_PASSWORD, s3.secret);
        problem = add_headers(&s3, headers) ? NULL : "out of memory";
    }
    explicit_bzero(&s3, sizeof(s3));
    return problem;
}
