/* SPDX-License-Identifier: MIT
 *
 * Directory listings over HTTP: WebDAV PROPFIND and S3 ListObjectsV2, parsed incrementally from
 * untrusted XML.
 */
#include "remote/helper/helper.h"

#include <ctype.h>
#include <curl/curl.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/text.h"
#include "remote/helper/result.h"
#include "remote/protocol.h"

/* ---- XML listings ---- */

enum {
    MAX_DEPTH = 32,
    MAX_TEXT_BYTES = 8 * 1024,
    MAX_TOKEN_BYTES = 64 * 1024, /* for a tag with its attributes, or a comment */
    PIECE_BYTES = 16 * 1024,
    MAX_BYTES = 64 << 20 /* enough for more than 100,000 files */
};

enum element {
    ELEMENT_OTHER, /* ignored, with its content */
    ELEMENT_NONE,  /* outside of the document */
    ELEMENT_ALL,
    ELEMENT_RESPONSE,
    ELEMENT_RESPONSE_STATUS,
    ELEMENT_PLACE,
    ELEMENT_GROUP,
    ELEMENT_GROUP_STATUS,
    ELEMENT_PROPERTIES,
    ELEMENT_TYPE,
    ELEMENT_COLLECTION,
    ELEMENT_RESULT,
    ELEMENT_IS_CUT,
    ELEMENT_TOKEN,
    ELEMENT_OBJECT,
    ELEMENT_KEY,
    ELEMENT_PREFIXES,
    ELEMENT_PREFIX,
    ELEMENT_DATE,
    ELEMENT_SIZE,
    ELEMENT_TIME,
    ELEMENT_TAG,
};

#define DAV "DAV:|"

/* An element that is understood below its parent. */
static const struct rule {
    enum nt_service service;
    enum element parent;
    const char *name; /* for S3 without a namespace, which some servers omit */
    enum element element;
    bool has_text;
} rules[] = {
    {NT_SERVICE_WEB, ELEMENT_NONE, DAV "multistatus", ELEMENT_ALL, false},
    {NT_SERVICE_WEB, ELEMENT_ALL, DAV "response", ELEMENT_RESPONSE, false},
    {NT_SERVICE_WEB, ELEMENT_RESPONSE, DAV "href", ELEMENT_PLACE, true},
    {NT_SERVICE_WEB, ELEMENT_RESPONSE, DAV "status", ELEMENT_RESPONSE_STATUS, true},
    {NT_SERVICE_WEB, ELEMENT_RESPONSE, DAV "propstat", ELEMENT_GROUP, false},
    {NT_SERVICE_WEB, ELEMENT_GROUP, DAV "status", ELEMENT_GROUP_STATUS, true},
    {NT_SERVICE_WEB, ELEMENT_GROUP, DAV "prop", ELEMENT_PROPERTIES, false},
    {NT_SERVICE_WEB, ELEMENT_PROPERTIES, DAV "resourcetype", ELEMENT_TYPE, false},
    {NT_SERVICE_WEB, ELEMENT_TYPE, DAV "collection", ELEMENT_COLLECTION, false},
    {NT_SERVICE_WEB, ELEMENT_PROPERTIES, DAV "getcontentlength", ELEMENT_SIZE, true},
    {NT_SERVICE_WEB, ELEMENT_PROPERTIES, DAV "getlastmodified", ELEMENT_TIME, true},
    {NT_SERVICE_WEB, ELEMENT_PROPERTIES, DAV "getetag", ELEMENT_TAG, true},
    {NT_SERVICE_S3, ELEMENT_NONE, "ListBucketResult", ELEMENT_RESULT, false},
    {NT_SERVICE_S3, ELEMENT_RESULT, "IsTruncated", ELEMENT_IS_CUT, true},
    {NT_SERVICE_S3, ELEMENT_RESULT, "NextContinuationToken", ELEMENT_TOKEN, true},
    {NT_SERVICE_S3, ELEMENT_RESULT, "Contents", ELEMENT_OBJECT, false},
    {NT_SERVICE_S3, ELEMENT_OBJECT, "Key", ELEMENT_KEY, true},
    {NT_SERVICE_S3, ELEMENT_OBJECT, "Size", ELEMENT_SIZE, true},
    {NT_SERVICE_S3, ELEMENT_OBJECT, "LastModified", ELEMENT_DATE, true},
    {NT_SERVICE_S3, ELEMENT_OBJECT, "ETag", ELEMENT_TAG, true},
    {NT_SERVICE_S3, ELEMENT_RESULT, "CommonPrefixes", ELEMENT_PREFIXES, false},
    {NT_SERVICE_S3, ELEMENT_PREFIXES, "Prefix", ELEMENT_PREFIX, true},
};

/* Facts about an entry. WebDAV gives a group of properties before the status that applies to them. */
struct facts {
    bool is_folder, has_size;
    uint64_t size;
    int64_t modified;
    struct nt_validators validators;
};

struct nt_list_parser {
    enum nt_service service;
    char *folder; /* for WebDAV with single slashes, and one at the end */
    nt_folder_take *take;
    void *context;
    XML_Parser parser;
    const char *problem;
    uint64_t bytes;
    enum element open[MAX_DEPTH];
    unsigned depth;
    bool has_text; /* collect the text of the open element: */
    char text[MAX_TEXT_BYTES + 1];
    size_t length;
    char href[MAX_TEXT_BYTES + 1]; /* href or key of the open entry */
    struct facts entry, group;
    bool is_refused, is_group_refused; /* the server reports an error instead */
    bool is_there, has_result;
    bool is_cut;
    char token[NT_FOLDER_LIST_TOKEN_BYTES];
};

static const struct facts no_facts = {.modified = NT_FETCH_NO_TIME};

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
    if (!nt_listing_is_name(name) || (!facts->is_folder && !facts->has_size))
        return;
    list->take(list->context, &(struct nt_list_entry){.name = name,
                                                      .is_folder = facts->is_folder,
                                                      .size = facts->is_folder ? 0 : facts->size,
                                                      .modified = facts->modified,
                                                      .validators = facts->validators});
}

/* WebDAV: splits the href into the name and its parent, which must be the folder. */
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

/* S3: a key continues after the folder's prefix. */
static void end_key(struct nt_list_parser *list)
{
    size_t above = strlen(list->folder);
    if (strncmp(list->href, list->folder, above) != 0)
        return;
    list->is_there = true; /* even by the marker object of the folder */
    char *name = list->href + above;
    size_t length = strlen(name);
    if (list->entry.is_folder && length && name[length - 1] == '/')
        name[length - 1] = '\0';
    add_entry(list, name, &list->entry);
}

/* ---- Facts ---- */

/* Is the status good, as in "HTTP/1.1 200 OK"? */
static bool is_good(const char *status)
{
    const char *code = strchr(status, ' ');
    return code && code[strspn(code, " ")] == '2';
}

static void take_size(struct facts *facts, const char *text)
{
    char *end;
    size_t blank = strspn(text, " \t\r\n");
    unsigned long long size = strtoull(text + blank, &end, 10);
    facts->has_size =
        isdigit((unsigned char)text[blank]) && !end[strspn(end, " \t\r\n")] && size <= INT64_MAX;
    facts->size = size;
}

/* "2009-10-12T17:50:30.000Z" */
static void take_date(struct facts *facts, const char *text)
{
    struct tm parts = {0};
    if (strptime(text, "%Y-%m-%dT%H:%M:%S", &parts))
        facts->modified = (int64_t)timegm(&parts);
}

static void take_time(struct facts *facts, const char *text)
{
    time_t modified = curl_getdate(text, NULL);
    nt_validators_take_time(&facts->validators, text, strlen(text));
    if (modified >= 0)
        facts->modified = (int64_t)modified;
}

/* Drops a weak tag: it cannot be requested. */
static void take_tag(struct facts *facts, const char *text)
{
    nt_validators_take_tag(&facts->validators, text, strlen(text));
    if (facts->validators.is_weak)
        facts->validators.tag[0] = '\0';
    facts->validators.is_weak = false;
}

static void keep_token(struct nt_list_parser *list)
{
    if (list->length >= sizeof(list->token))
        refuse(list, "the server's continuation token is too long");
    else
        memcpy(list->token, list->text, list->length + 1);
}

static void end_element(struct nt_list_parser *list, enum element element)
{
    struct facts *facts = list->service == NT_SERVICE_WEB ? &list->group : &list->entry;
    switch (element) {
    case ELEMENT_RESPONSE:
        end_response(list);
        break;
    case ELEMENT_RESPONSE_STATUS:
        list->is_refused = !is_good(list->text);
        break;
    case ELEMENT_GROUP:
        if (!list->is_group_refused)
            list->entry = list->group;
        break;
    case ELEMENT_GROUP_STATUS:
        list->is_group_refused = !is_good(list->text);
        break;
    case ELEMENT_COLLECTION:
        facts->is_folder = true;
        break;
    case ELEMENT_PLACE:
    case ELEMENT_KEY:
    case ELEMENT_PREFIX:
        memcpy(list->href, list->text, list->length + 1);
        break;
    case ELEMENT_SIZE:
        take_size(facts, list->text);
        break;
    case ELEMENT_TIME:
        take_time(facts, list->text);
        break;
    case ELEMENT_DATE:
        take_date(facts, list->text);
        break;
    case ELEMENT_TAG:
        take_tag(facts, list->text);
        break;
    case ELEMENT_IS_CUT:
        list->is_cut = strcmp(list->text, "true") == 0;
        break;
    case ELEMENT_TOKEN:
        keep_token(list);
        break;
    case ELEMENT_OBJECT:
    case ELEMENT_PREFIXES:
        end_key(list);
        break;
    default:
        break;
    }
}

/* Resets the state for the new element. */
static void begin_element(struct nt_list_parser *list, enum element element)
{
    switch (element) {
    case ELEMENT_RESPONSE:
    case ELEMENT_OBJECT:
    case ELEMENT_PREFIXES:
        list->href[0] = '\0';
        list->entry = no_facts;
        list->entry.is_folder = element == ELEMENT_PREFIXES;
        list->is_refused = false;
        break;
    case ELEMENT_GROUP:
        list->group = list->entry;
        list->is_group_refused = false;
        break;
    case ELEMENT_ALL:
    case ELEMENT_RESULT:
        list->has_result = true;
        break;
    default:
        break;
    }
}

/* ---- Expat callbacks ---- */

static const struct rule *rule_of(const struct nt_list_parser *list, enum element parent, const char *name)
{
    const char *local = strrchr(name, '|');
    if (list->service == NT_SERVICE_S3 && local)
        name = local + 1;
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
        if (rules[i].service == list->service && rules[i].parent == parent &&
            strcmp(rules[i].name, name) == 0)
            return &rules[i];
    return NULL;
}

static void XMLCALL on_start(void *context, const XML_Char *name, const XML_Char **attributes)
{
    struct nt_list_parser *list = context;
    const struct rule *rule = rule_of(list, list->open[list->depth], name);
    if (list->depth + 1 == MAX_DEPTH) {
        refuse(list, "the server's list nests elements too deep");
        return;
    }
    list->open[++list->depth] = rule ? rule->element : ELEMENT_OTHER;
    list->has_text = rule && rule->has_text;
    list->length = 0;
    list->text[0] = '\0';
    begin_element(list, list->open[list->depth]);
}

static void XMLCALL on_end(void *context, const XML_Char *name)
{
    struct nt_list_parser *list = context;
    if (list->problem) /* parsing stops after this */
        return;
    end_element(list, list->open[list->depth--]);
    list->has_text = false;
}

static void XMLCALL on_text(void *context, const XML_Char *text, int count)
{
    struct nt_list_parser *list = context;
    if (!list->has_text)
        return;
    if ((size_t)count > MAX_TEXT_BYTES - list->length) {
        refuse(list, "the server's list has too long a text");
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

struct nt_list_parser *nt_list_parser_new(enum nt_service service, const char *folder, nt_folder_take *take,
                                          void *context)
{
    struct nt_list_parser *list = calloc(1, sizeof(*list));
    size_t length = strlen(folder);
    if (!list)
        return NULL;
    list->service = service;
    list->take = take;
    list->context = context;
    list->open[0] = ELEMENT_NONE;
    list->folder = malloc(length + 2);
    list->parser = XML_ParserCreateNS(NULL, '|');
    if (!list->folder || !list->parser) {
        nt_list_parser_free(list);
        return NULL;
    }
    memcpy(list->folder, folder, length + 1);
    if (service == NT_SERVICE_WEB) {
        strcpy(list->folder + length, "/");
        join_slashes(list->folder);
    }
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

/* ---- Requests ---- */

/* Limit of consecutive parts without entries; a store that skips deleted objects sends some. */
enum { MAX_EMPTY_PARTS = 100 };

struct walk {
    struct nt_transfer job;
    struct nt_origin origin;
    struct nt_listing *listing;
    char *address;                          /* as given */
    struct nt_list_parser *list;            /* of the current answer; NULL: nothing has arrived */
    struct nt_index_parser *index;          /* likewise, of an index page */
    char refusal[160];                      /* why the server has no other list than an index page */
    char token[NT_FOLDER_LIST_TOKEN_BYTES]; /* used to request this part */
    bool is_asking;                         /* the backend has the job */
    bool is_too_long;
    bool is_there;        /* reported by an earlier part */
    unsigned entries;     /* before this part */
    unsigned empty_parts; /* consecutive empty parts before this one */
};

/* ---- Answers ---- */

/* Without a validator the entry needs an open to be known. */
static void take_entry(void *context, const struct nt_list_entry *entry)
{
    struct walk *walk = context;
    char validator[NT_FETCH_VALIDATOR_BYTES] = "";
    const struct nt_validators *known = &entry->validators;
    if (!entry->is_folder && (known->tag[0] || known->modified[0]))
        validator[nt_validators_write(known, validator, sizeof(validator))] = '\0';
    walk->is_too_long |= !nt_listing_add(walk->listing, &(struct nt_listed){.name = entry->name,
                                                                            .is_folder = entry->is_folder,
                                                                            .size = entry->size,
                                                                            .modified = entry->modified,
                                                                            .validator = validator});
}

/* A new try parses the answer from the start. */
static bool begin(struct walk *walk)
{
    char *folder = nt_address_folder(walk->address, nt_request_address(walk->job.attempt));
    nt_list_parser_free(walk->list);
    nt_index_parser_free(walk->index);
    walk->list = NULL;
    walk->index = NULL;
    if (folder && walk->origin.asked == NT_HTTP_REQUEST_INDEX)
        walk->index = nt_index_parser_new(folder, take_entry, walk);
    else if (folder)
        walk->list = nt_list_parser_new(walk->origin.service, folder, take_entry, walk);
    free(folder);
    return walk->list || walk->index;
}

static bool feed(const struct walk *walk, const char *bytes, size_t count)
{
    return walk->index ? nt_index_parser_feed(walk->index, bytes, count)
                       : nt_list_parser_feed(walk->list, bytes, count, false);
}

static bool take(struct nt_transfer *job, uint64_t offset, const char *bytes, size_t count)
{
    struct walk *walk = (struct walk *)job;
    if (nt_listing_is_full(walk->listing)) {
        job->is_paused = true;
        return false;
    }
    if (offset == 0 && !begin(walk))
        nt_request_refuse(job->attempt, NT_FETCH_UNREACHABLE, "out of memory");
    else if (!feed(walk, bytes, count) && walk->index)
        nt_request_refuse(job->attempt, NT_FETCH_UNSUPPORTED, walk->refusal);
    else if (walk->list && *nt_list_parser_problem(walk->list))
        nt_request_refuse(job->attempt, NT_FETCH_UNREACHABLE, nt_list_parser_problem(walk->list));
    else if (walk->is_too_long)
        nt_request_refuse(job->attempt, NT_FETCH_UNSUPPORTED, NT_LISTING_TOO_LONG);
    return true;
}

/* ---- Successive parts ---- */

static void end(struct nt_transfer *job);

static bool ask(struct walk *walk, enum nt_http_request_kind kind, const char **problem_ret)
{
    struct nt_origin *origin = &walk->origin;
    free(origin->address);
    free(origin->redirect_url);
    *origin = (struct nt_origin){.remote = {walk->listing->backend}, .asked = kind};
    origin->address = nt_address_list_url(walk->address, walk->token, &origin->service, problem_ret);
    if (!origin->address)
        return false;
    walk->job = (struct nt_transfer){.remote = &origin->remote,
                                     .milliseconds = walk->listing->milliseconds,
                                     .max_tries = NT_TRIES_OF_UNKNOWN,
                                     .take = take,
                                     .end = end};
    walk->is_asking = true;
    nt_transfers_add(walk->listing->listings->jobs, &walk->job);
    return true;
}

static void resume_at(struct walk *walk, const char *token)
{
    const char *problem = "out of memory";
    if (!*token || strcmp(token, walk->token) == 0) {
        nt_listing_fail(walk->listing, NT_FETCH_UNREACHABLE,
                        "the server does not say how to continue its list");
        return;
    }
    walk->empty_parts = walk->listing->entries > walk->entries ? 0 : walk->empty_parts + 1;
    walk->entries = walk->listing->entries;
    if (walk->empty_parts >= MAX_EMPTY_PARTS) {
        nt_listing_fail(walk->listing, NT_FETCH_UNREACHABLE,
                        "the server continues its list again and again without naming anything");
        return;
    }
    strcpy(walk->token, token);
    nt_list_parser_free(walk->list);
    walk->list = NULL;
    if (!ask(walk, NT_HTTP_REQUEST_FOLDER, &problem))
        nt_listing_fail(walk->listing, NT_FETCH_UNREACHABLE, problem);
}

/* A server without WebDAV may still send a page that lists the folder. */
static bool ask_for_index(struct walk *walk, const struct nt_result *result)
{
    const char *problem;
    bool is_whole = walk->is_too_long || walk->listing->entries;
    snprintf(walk->refusal, sizeof(walk->refusal), "%s", result->message);
    return walk->origin.service == NT_SERVICE_WEB && !is_whole && ask(walk, NT_HTTP_REQUEST_INDEX, &problem);
}

/* Whatever the server sends instead of a list, it does not list folders. */
static void end_index(struct walk *walk, const struct nt_result *result)
{
    bool is_lasting = result->outcome == NT_OUTCOME_OK || result->failure != NT_FETCH_UNREACHABLE;
    bool is_list = result->outcome == NT_OUTCOME_OK && walk->index && !nt_index_parser_end(walk->index);
    if (walk->is_too_long)
        nt_listing_fail(walk->listing, NT_FETCH_UNSUPPORTED, NT_LISTING_TOO_LONG);
    else if (is_list)
        nt_listing_done(walk->listing);
    else
        nt_listing_fail(walk->listing, is_lasting ? NT_FETCH_UNSUPPORTED : result->failure,
                        is_lasting ? walk->refusal : result->message);
}

static void end(struct nt_transfer *job)
{
    struct walk *walk = (struct walk *)job;
    struct nt_listing *listing = walk->listing;
    walk->is_asking = false;
    if (walk->origin.asked == NT_HTTP_REQUEST_INDEX) {
        end_index(walk, &job->result);
        return;
    }
    if (job->result.outcome != NT_OUTCOME_OK) {
        if (job->result.failure != NT_FETCH_UNSUPPORTED || !ask_for_index(walk, &job->result))
            nt_listing_fail(listing, job->result.failure, job->result.message);
        return;
    }
    if (!walk->list || !nt_list_parser_feed(walk->list, "", 0, true)) {
        nt_listing_fail(listing, NT_FETCH_UNREACHABLE,
                        walk->list ? nt_list_parser_problem(walk->list) : "the server sends an empty list");
        return;
    }
    const char *token = nt_list_parser_token(walk->list);
    walk->is_there |= nt_list_parser_is_there(walk->list);
    if (token)
        resume_at(walk, token);
    else if (walk->is_there)
        nt_listing_done(listing);
    else
        nt_listing_fail(listing, NT_FETCH_NOT_FOUND, "the server has no such directory");
}

bool nt_web_list(struct nt_listing *listing, const char *address, const char **problem_ret)
{
    struct walk *walk = calloc(1, sizeof(*walk));
    listing->walk = walk;
    if (!walk || !(walk->address = strdup(address)))
        return false;
    walk->listing = listing;
    return ask(walk, NT_HTTP_REQUEST_FOLDER, problem_ret);
}

void nt_web_end_list(struct nt_listing *listing)
{
    struct walk *walk = listing->walk;
    if (walk->is_asking)
        nt_transfers_remove(listing->listings->jobs, &walk->job);
    nt_list_parser_free(walk->list);
    nt_index_parser_free(walk->index);
    free(walk->origin.address);
    free(walk->origin.redirect_url);
    free(walk->address);
    free(walk);
}
