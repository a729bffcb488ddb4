/* SPDX-License-Identifier: MIT
 *
 * Directory listings of plain web servers: JSON of nginx (autoindex_format json) and caddy, and links of
 * HTML pages. Parsed incrementally from untrusted text, in bounded memory.
 */
#include "remote/helper/helper.h"

#include <jansson.h>

#include "core/base/text.h"

enum { MAX_ITEM_BYTES = 8 * 1024, MAX_BYTES = 64 << 20 };

enum kind { KIND_UNKNOWN, KIND_JSON, KIND_HTML };

struct nt_index_parser {
    char *folder; /* the path of the page, decoded, with a slash at its end */
    nt_entry_take *take;
    void *context;
    enum kind kind;
    const char *problem;
    uint64_t bytes;
    bool is_there; /* it is a list: it has an entry, or a link to its parent, or is an empty JSON array */
    /* The item that is being read: a JSON object, or an HTML tag without its brackets. */
    bool is_inside, is_quoted, is_escaped;
    bool is_closed; /* the last byte behind the items is the bracket that ends the JSON array */
    char item[MAX_ITEM_BYTES + 1];
    size_t length;
};

static const char blank[] = " \t\r\n\f";

static void refuse(struct nt_index_parser *index, const char *problem)
{
    if (!index->problem)
        index->problem = problem;
}

static void add(struct nt_index_parser *index, struct nt_listed *entry, char *name)
{
    size_t length = strlen(name);
    if (length && name[length - 1] == '/') {
        name[length - 1] = '\0';
        entry->is_folder = true;
    }
    if (!nt_listing_is_name(name))
        return;
    entry->name = name;
    entry->size = entry->is_folder ? 0 : entry->size;
    index->is_there = true;
    index->take(index->context, entry);
}

/* ---- JSON ---- */

/* The time of nginx is the one in Last-Modified, which identifies the version. */
static void take_time(struct nt_listed *entry, const char *text, char validator[NT_FETCH_VALIDATOR_BYTES])
{
    struct nt_validators validators = {.tag = ""};
    time_t modified = text ? curl_getdate(text, NULL) : -1;
    if (modified < 0)
        return;
    entry->modified = (int64_t)modified;
    nt_validators_take_time(&validators, text, strlen(text));
    nt_validators_write(&validators, validator);
}

/* nginx puts the bytes of a name that is not UTF-8 as they are, which no parser of JSON takes. So each byte
 * becomes the character of its number, of two bytes. */
static json_t *parse_bytes(const char *item, size_t length)
{
    char characters[2 * MAX_ITEM_BYTES];
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = (uint8_t)item[i];
        if (byte >= 0x80)
            characters[count++] = (char)(0xC0 | byte >> 6);
        characters[count++] = (char)(byte >= 0x80 ? 0x80 | (byte & 0x3F) : byte);
    }
    return json_loadb(characters, count, JSON_REJECT_DUPLICATES, NULL);
}

/* In place: a byte for each character up to U+00FF. */
static void restore_bytes(char *name)
{
    char *end = name;
    for (const char *at = name; *at; end++) {
        bool is_byte = ((uint8_t)*at & 0xFC) == 0xC0;
        *end = is_byte ? (char)((uint8_t)*at << 6 | (at[1] & 0x3F)) : *at;
        at += is_byte ? 2 : 1;
    }
    *end = '\0';
}

static void end_object(struct nt_index_parser *index)
{
    char name[2 * NT_FETCH_NAME_BYTES + 2] /* see parse_bytes */, validator[NT_FETCH_VALIDATOR_BYTES] = "";
    struct nt_listed entry = {.modified = NT_FETCH_NO_TIME, .validator = validator};
    json_auto_t *object = json_loadb(index->item, index->length, JSON_REJECT_DUPLICATES, NULL);
    const bool is_text = object != NULL;
    if (!is_text)
        object = parse_bytes(index->item, index->length);
    const json_t *size = json_object_get(object, "size");
    const char *text = json_string_value(json_object_get(object, "name"));
    const char *type = json_string_value(json_object_get(object, "type"));
    entry.is_folder =
        json_is_true(json_object_get(object, "is_dir")) || (type && strcmp(type, "directory") == 0);
    bool has_size = json_is_integer(size) && json_integer_value(size) >= 0;
    if (!object)
        refuse(index, "the server sends a list that is not JSON");
    if (text && strlen(text) < sizeof(name) && (entry.is_folder || has_size)) {
        strcpy(name, text);
        if (!is_text)
            restore_bytes(name);
        entry.size = has_size ? (uint64_t)json_integer_value(size) : 0;
        take_time(&entry, json_string_value(json_object_get(object, "mtime")), validator);
        add(index, &entry, name);
    }
}

/* ---- HTML ---- */

/* The character of a reference such as "&amp;", and its length; 0: none. */
static size_t decode_reference(const char *text, char *byte_ret)
{
    static const struct {
        const char *reference;
        char byte;
    } references[] = {{"&amp;", '&'}, {"&#38;", '&'}, {"&#34;", '"'},   {"&quot;", '"'}, {"&#39;", '\''},
                      {"&lt;", '<'},  {"&gt;", '>'},  {"&#x27;", '\''}, {"&#43;", '+'}};
    for (size_t i = 0; i < sizeof(references) / sizeof(*references); i++)
        if (strncasecmp(text, references[i].reference, strlen(references[i].reference)) == 0) {
            *byte_ret = references[i].byte;
            return strlen(references[i].reference);
        }
    return 0;
}

/* In place. */
static void decode_references(char *text)
{
    char *end = text;
    for (const char *at = text; *at; end++) {
        size_t step = decode_reference(at, end);
        at += step ? step : 1;
        if (!step)
            *end = at[-1];
    }
    *end = '\0';
}

/* A link to something directly below the page. Links with a query sort the list. */
static void take_link(struct nt_index_parser *index, char *link)
{
    struct nt_listed entry = {.modified = NT_FETCH_NO_TIME, .validator = ""};
    size_t folder = strlen(index->folder);
    decode_references(link);
    index->is_there |= strcmp(link, "../") == 0 || strcmp(link, "..") == 0;
    if (strpbrk(link, "?#") || link[strcspn(link, ":/")] == ':' || !nt_percent_decode_text(link))
        return;
    if (strncmp(link, "./", 2) == 0)
        link += 2;
    else if (strncmp(link, index->folder, folder) == 0)
        link += folder;
    add(index, &entry, link);
}

/* Finds the value of href in a tag `a`. */
static void end_tag(struct nt_index_parser *index)
{
    char *at = index->item;
    if (strncasecmp(at, "a", 1) != 0 || !at[1] || !strchr(blank, at[1]))
        return;
    while (*(at += strcspn(at, blank))) {
        at += strspn(at, blank);
        bool is_href = strncasecmp(at, "href", strlen("href")) == 0;
        at += strcspn(at, "= \t\r\n\f");
        at += strspn(at, blank);
        if (*at != '=')
            continue;
        at += 1 + strspn(at + 1, blank);
        const char quote[] = {*at, '\0'};
        bool is_quoted = *at == '"' || *at == '\'';
        char *value = at + is_quoted;
        at = value + strcspn(value, is_quoted ? quote : blank);
        if (is_href) {
            *at = '\0';
            take_link(index, value);
            return;
        }
    }
}

/* ---- Items ---- */

static void take_byte(struct nt_index_parser *index, char byte)
{
    const bool is_json = index->kind == KIND_JSON;
    if (!index->is_inside) {
        index->is_inside = byte == (is_json ? '{' : '<');
        if (!strchr(blank, byte))
            index->is_closed = byte == ']';
        index->is_quoted = index->is_escaped = false;
        index->length = 0;
        if (!is_json || !index->is_inside)
            return;
    }
    bool is_end = !index->is_quoted && byte == (is_json ? '}' : '>');
    if (index->length == MAX_ITEM_BYTES) {
        refuse(index, "an entry of the server's list is too long");
        return;
    }
    if (is_json || !is_end)
        index->item[index->length++] = byte;
    index->item[index->length] = '\0';
    if (is_json && byte == '"' && !index->is_escaped)
        index->is_quoted = !index->is_quoted;
    index->is_escaped = index->is_quoted && byte == '\\' && !index->is_escaped;
    if (!is_end)
        return;
    index->is_inside = false;
    is_json ? end_object(index) : end_tag(index);
}

/* ---- Parser ---- */

struct nt_index_parser *nt_index_parser_new(const char *folder, nt_entry_take *take, void *context)
{
    struct nt_index_parser *index = calloc(1, sizeof(*index));
    size_t length = strlen(folder);
    bool has_slash = length && folder[length - 1] == '/';
    if (!index || asprintf(&index->folder, "%s%s", folder, has_slash ? "" : "/") < 0) {
        free(index);
        return NULL;
    }
    index->take = take;
    index->context = context;
    return index;
}

void nt_index_parser_free(struct nt_index_parser *index)
{
    if (index)
        free(index->folder);
    free(index);
}

/* JSON begins with a bracket, HTML with a tag, after blanks or the mark of UTF-8. */
static void find_kind(struct nt_index_parser *index, char byte)
{
    if (byte == '[') {
        index->kind = KIND_JSON;
        index->is_there = true;
    } else if (byte == '<') {
        index->kind = KIND_HTML;
    } else if (!strchr(" \t\r\n\xef\xbb\xbf", byte)) {
        refuse(index, "the server does not send a list");
    }
}

bool nt_index_parser_feed(struct nt_index_parser *index, const char *bytes, size_t count)
{
    index->bytes += count;
    if (index->bytes > MAX_BYTES)
        refuse(index, "the server's list is too long");
    for (size_t i = 0; i < count && !index->problem; i++) {
        if (index->kind == KIND_UNKNOWN)
            find_kind(index, bytes[i]);
        if (index->kind != KIND_UNKNOWN)
            take_byte(index, bytes[i]);
    }
    return !index->problem;
}

const char *nt_index_parser_end(struct nt_index_parser *index)
{
    if (index->kind == KIND_JSON && !index->is_closed)
        refuse(index, "the server's list ends early");
    if (!index->is_there)
        refuse(index, "the server does not send a list");
    return index->problem;
}
