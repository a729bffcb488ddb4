/* SPDX-License-Identifier: MIT
 *
 * Parser of directory listings in XML: WebDAV PROPFIND and S3 ListObjectsV2. Parses untrusted text
 * incrementally.
 */
#include "remote/helper/helper.h"

#include <ctype.h>
#include <expat.h>
#include <time.h>

#include "core/base/text.h"

enum {
    MAX_DEPTH = 32,
    MAX_TEXT_BYTES = 8 * 1024,
    MAX_TOKEN_BYTES = 64 * 1024, /* for a tag with its attributes, or a comment */
    PIECE_BYTES = 16 * 1024,
    MAX_BYTES = 64 << 20 /* enough for more than 100,000 files */
};

/* Facts about an entry. */
struct facts {
    bool is_folder, has_size;
    uint64_t size;
    int64_t modified;
    struct nt_validators validators;
};

struct nt_list_parser {
    enum nt_service service;
    char *folder; /* for WebDAV with single slashes, and one at the end */
    nt_entry_take *take;
    void *context;
    XML_Parser parser;
    const char *problem;
    uint64_t bytes;
    const struct element *open[MAX_DEPTH]; /* NULL: ignored, with its content */
    unsigned depth;
    char text[MAX_TEXT_BYTES + 1]; /* of the open element, if it has text */
    size_t length;
    char href[MAX_TEXT_BYTES + 1]; /* href or key of the open entry */
    /* Of the open entry. WebDAV gives a group of properties before the status that applies to them. */
    struct facts group, entry;
    bool is_refused, is_group_refused; /* the server reports an error instead */
    bool is_there, has_result;
    bool is_cut;
    char token[NT_FOLDER_LIST_TOKEN_BYTES];
};

static void refuse(struct nt_list_parser *list, const char *problem)
{
    if (!list->problem)
        list->problem = problem;
    XML_StopParser(list->parser, XML_FALSE);
}

/* ---- Names ---- */

/* Merges repeated slashes. */
static void join_slashes(char *path)
{
    char *end = path;
    for (const char *at = path; *at; at++)
        if (*at != '/' || end == path || end[-1] != '/')
            *end++ = *at;
    *end = '\0';
}

/* The path of a URL, or of a relative reference, in href. */
static char *path_of(char *url)
{
    char *scheme = strstr(url, "://");
    url[strcspn(url, "?#")] = '\0';
    if (url[0] == '/' || !scheme)
        return url;
    return scheme + strcspn(scheme + strlen("://"), "/") + strlen("://");
}

static void add_entry(struct nt_list_parser *list, const char *name, const struct facts *facts)
{
    char validator[NT_FETCH_VALIDATOR_BYTES];
    if (!nt_listing_is_name(name) || (!facts->is_folder && !facts->has_size))
        return;
    nt_validators_write(&facts->validators, validator);
    list->take(list->context, &(struct nt_listed){.name = name,
                                                  .is_folder = facts->is_folder,
                                                  .size = facts->is_folder ? 0 : facts->size,
                                                  .modified = facts->modified,
                                                  .validator = validator});
}

/* WebDAV: splits the href into the name and its parent, which must be the directory. */
static void end_response(struct nt_list_parser *list)
{
    char *path = path_of(list->href);
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        path[--length] = '\0';
    char *slash = strrchr(path, '/');
    if (list->is_refused || !slash)
        return;
    char name[NT_FETCH_NAME_BYTES * 3 + 1];
    if (strlen(slash + 1) >= sizeof(name))
        return;
    strcpy(name, slash + 1);
    slash[1] = '\0';
    if (!nt_percent_decode_text(name) || !nt_percent_decode_text(path))
        return;
    join_slashes(path);
    if (strcmp(path, list->folder) == 0) {
        list->is_there = true;
        add_entry(list, name, &list->entry);
        return;
    }
    size_t above = strlen(path), rest = strlen(name);
    bool is_itself = strncmp(list->folder, path, above) == 0 &&
                     strncmp(list->folder + above, name, rest) == 0 &&
                     strcmp(list->folder + above + rest, "/") == 0;
    list->is_there |= is_itself && list->entry.is_folder;
}

/* S3: a key continues after the directory's prefix. */
static void end_key(struct nt_list_parser *list)
{
    size_t above = strlen(list->folder);
    if (strncmp(list->href, list->folder, above) != 0)
        return;
    list->is_there = true; /* even by the marker object of the directory */
    char *name = list->href + above;
    size_t length = strlen(name);
    if (list->group.is_folder && length && name[length - 1] == '/')
        name[length - 1] = '\0';
    add_entry(list, name, &list->group);
}

/* ---- Elements ---- */

static void begin_list(struct nt_list_parser *list)
{
    list->has_result = true;
}

static void begin_entry(struct nt_list_parser *list)
{
    list->href[0] = '\0';
    list->entry = list->group = (struct facts){.modified = NT_FETCH_NO_TIME};
    list->is_refused = false;
}

static void begin_prefixes(struct nt_list_parser *list)
{
    begin_entry(list);
    list->group.is_folder = true;
}

static void begin_group(struct nt_list_parser *list)
{
    list->group = list->entry;
    list->is_group_refused = false;
}

static void end_group(struct nt_list_parser *list)
{
    if (!list->is_group_refused)
        list->entry = list->group;
}

/* Is the status good, as in "HTTP/1.1 200 OK"? */
static bool is_good(const char *status)
{
    const char *code = strchr(status, ' ');
    return code && code[strspn(code, " ")] == '2';
}

static void end_status(struct nt_list_parser *list)
{
    list->is_refused = !is_good(list->text);
}

static void end_group_status(struct nt_list_parser *list)
{
    list->is_group_refused = !is_good(list->text);
}

static void end_collection(struct nt_list_parser *list)
{
    list->group.is_folder = true;
}

static void end_place(struct nt_list_parser *list)
{
    memcpy(list->href, list->text, list->length + 1);
}

static void end_size(struct nt_list_parser *list)
{
    char *end;
    const char *text = list->text + strspn(list->text, " \t\r\n");
    unsigned long long size = strtoull(text, &end, 10);
    list->group.has_size = isdigit((unsigned char)*text) && !end[strspn(end, " \t\r\n")] && size <= INT64_MAX;
    list->group.size = size;
}

/* "2009-10-12T17:50:30.000Z" */
static void end_date(struct nt_list_parser *list)
{
    struct tm parts = {0};
    if (strptime(list->text, "%Y-%m-%dT%H:%M:%S", &parts))
        list->group.modified = (int64_t)timegm(&parts);
}

static void end_time(struct nt_list_parser *list)
{
    time_t modified = curl_getdate(list->text, NULL);
    nt_validators_take_time(&list->group.validators, list->text, list->length);
    if (modified >= 0)
        list->group.modified = (int64_t)modified;
}

/* Drops a weak tag: it cannot be requested. */
static void end_tag(struct nt_list_parser *list)
{
    struct nt_validators *validators = &list->group.validators;
    nt_validators_take_tag(validators, list->text, list->length);
    if (validators->is_weak)
        validators->tag[0] = '\0';
    validators->is_weak = false;
}

static void end_is_cut(struct nt_list_parser *list)
{
    list->is_cut = strcmp(list->text, "true") == 0;
}

static void end_token(struct nt_list_parser *list)
{
    if (list->length >= sizeof(list->token))
        refuse(list, "the server's continuation token is too long");
    else
        memcpy(list->token, list->text, list->length + 1);
}

/* An element that is understood below its parent; without a namespace, which S3 servers may omit. */
static const struct element {
    enum nt_service service;
    const char *parent, *name;
    void (*begin)(struct nt_list_parser *list);
    void (*end)(struct nt_list_parser *list);
    bool has_text;
} elements[] = {
    {NT_SERVICE_HTTP, "", "multistatus", begin_list, NULL, false},
    {NT_SERVICE_HTTP, "multistatus", "response", begin_entry, end_response, false},
    {NT_SERVICE_HTTP, "response", "href", NULL, end_place, true},
    {NT_SERVICE_HTTP, "response", "status", NULL, end_status, true},
    {NT_SERVICE_HTTP, "response", "propstat", begin_group, end_group, false},
    {NT_SERVICE_HTTP, "propstat", "status", NULL, end_group_status, true},
    {NT_SERVICE_HTTP, "propstat", "prop", NULL, NULL, false},
    {NT_SERVICE_HTTP, "prop", "resourcetype", NULL, NULL, false},
    {NT_SERVICE_HTTP, "resourcetype", "collection", NULL, end_collection, false},
    {NT_SERVICE_HTTP, "prop", "getcontentlength", NULL, end_size, true},
    {NT_SERVICE_HTTP, "prop", "getlastmodified", NULL, end_time, true},
    {NT_SERVICE_HTTP, "prop", "getetag", NULL, end_tag, true},
    {NT_SERVICE_S3, "", "ListBucketResult", begin_list, NULL, false},
    {NT_SERVICE_S3, "ListBucketResult", "IsTruncated", NULL, end_is_cut, true},
    {NT_SERVICE_S3, "ListBucketResult", "NextContinuationToken", NULL, end_token, true},
    {NT_SERVICE_S3, "ListBucketResult", "Contents", begin_entry, end_key, false},
    {NT_SERVICE_S3, "Contents", "Key", NULL, end_place, true},
    {NT_SERVICE_S3, "Contents", "Size", NULL, end_size, true},
    {NT_SERVICE_S3, "Contents", "LastModified", NULL, end_date, true},
    {NT_SERVICE_S3, "Contents", "ETag", NULL, end_tag, true},
    {NT_SERVICE_S3, "ListBucketResult", "CommonPrefixes", begin_prefixes, end_key, false},
    {NT_SERVICE_S3, "CommonPrefixes", "Prefix", NULL, end_place, true},
};
static const struct element document = {.name = ""};

/* ---- Expat callbacks ---- */

static const struct element *element_of(const struct nt_list_parser *list, const char *name)
{
    const struct element *parent = list->open[list->depth];
    const char *local = strrchr(name, '|');
    bool is_webdav = strncmp(name, "DAV:|", strlen("DAV:|")) == 0;
    name = local ? local + 1 : name;
    for (size_t i = 0; parent && i < sizeof(elements) / sizeof(*elements); i++)
        if (elements[i].service == list->service && (list->service != NT_SERVICE_HTTP || is_webdav) &&
            strcmp(elements[i].parent, parent->name) == 0 && strcmp(elements[i].name, name) == 0)
            return &elements[i];
    return NULL;
}

static void XMLCALL on_start(void *context, const XML_Char *name, const XML_Char **attributes)
{
    struct nt_list_parser *list = context;
    const struct element *element = element_of(list, name);
    if (list->depth + 1 == MAX_DEPTH) {
        refuse(list, "elements of the server's list are nested too deeply");
        return;
    }
    list->open[++list->depth] = element;
    list->length = 0;
    list->text[0] = '\0';
    if (element && element->begin)
        element->begin(list);
}

static void XMLCALL on_end(void *context, const XML_Char *name)
{
    struct nt_list_parser *list = context;
    if (list->problem) /* parsing stops after this */
        return;
    const struct element *element = list->open[list->depth--];
    if (element && element->end)
        element->end(list);
}

static void XMLCALL on_text(void *context, const XML_Char *text, int count)
{
    struct nt_list_parser *list = context;
    const struct element *element = list->open[list->depth];
    if (!element || !element->has_text)
        return;
    if ((size_t)count > MAX_TEXT_BYTES - list->length) {
        refuse(list, "a text in the server's list is too long");
        return;
    }
    memcpy(list->text + list->length, text, (size_t)count);
    list->length += (size_t)count;
    list->text[list->length] = '\0';
}

static void XMLCALL on_document_type(void *context, const XML_Char *name, const XML_Char *system_id,
                                     const XML_Char *public_id, int has_internal)
{
    refuse(context, "the server's list declares a document type, which is not allowed");
}

/* ---- Parser ---- */

struct nt_list_parser *nt_list_parser_new(enum nt_service service, const char *folder, nt_entry_take *take,
                                          void *context)
{
    struct nt_list_parser *list = calloc(1, sizeof(*list));
    const bool is_webdav = service == NT_SERVICE_HTTP;
    if (!list)
        return NULL;
    list->service = service;
    list->take = take;
    list->context = context;
    list->open[0] = &document;
    if (asprintf(&list->folder, "%s%s", folder, is_webdav ? "/" : "") < 0)
        list->folder = NULL;
    list->parser = XML_ParserCreateNS(NULL, '|');
    if (!list->folder || !list->parser) {
        nt_list_parser_free(list);
        return NULL;
    }
    if (is_webdav)
        join_slashes(list->folder);
    XML_SetUserData(list->parser, list);
    XML_SetElementHandler(list->parser, on_start, on_end);
    XML_SetCharacterDataHandler(list->parser, on_text);
    XML_SetStartDoctypeDeclHandler(list->parser, on_document_type);
    return list;
}

void nt_list_parser_free(struct nt_list_parser *list)
{
    if (!list)
        return;
    if (list->parser)
        XML_ParserFree(list->parser);
    free(list->folder);
    free(list);
}

/* Feeds small pieces, since expat buffers an unfinished token. */
static bool feed_piece(struct nt_list_parser *list, const char *bytes, size_t count, bool is_last)
{
    list->bytes += count;
    if (XML_Parse(list->parser, bytes, (int)count, is_last) != XML_STATUS_OK) {
        if (!list->problem && XML_GetErrorCode(list->parser) == XML_ERROR_NO_MEMORY)
            list->problem = "out of memory";
        if (!list->problem)
            list->problem = list->bytes == 0 ? "the server sends an empty list"
                                             : "the server sends a list that is not XML";
        return false;
    }
    XML_Index at = XML_GetCurrentByteIndex(list->parser);
    if (!is_last && list->bytes - (uint64_t)(at > 0 ? at : 0) > MAX_TOKEN_BYTES)
        list->problem = "the server's list has a tag that does not end";
    else if (list->bytes > MAX_BYTES)
        list->problem = "the server's list is too long";
    else if (is_last && !list->has_result)
        list->problem = "the server does not send a list";
    return !list->problem;
}

bool nt_list_parser_feed(struct nt_list_parser *list, const char *bytes, size_t count, bool is_last)
{
    if (list->problem)
        return false;
    for (; count > PIECE_BYTES; bytes += PIECE_BYTES, count -= PIECE_BYTES)
        if (!feed_piece(list, bytes, PIECE_BYTES, false))
            return false;
    return feed_piece(list, bytes, count, is_last);
}

const char *nt_list_parser_problem(const struct nt_list_parser *list)
{
    return list->problem ? list->problem : "";
}

bool nt_list_parser_is_there(const struct nt_list_parser *list)
{
    return list->is_there || (list->service == NT_SERVICE_S3 && !*list->folder);
}

const char *nt_list_parser_token(const struct nt_list_parser *list)
{
    return list->is_cut ? list->token : NULL;
}
