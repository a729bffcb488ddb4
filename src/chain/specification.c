/* SPDX-License-Identifier: MIT
 *
 * Parses the JSON dataset specification of ROOT::RDF::Experimental::FromSpec into file names, each with
 * its sample, its dataset path and its metadata.
 */
#include "chain/chain.h"

#include <stdio.h>

#include "core/json/parse.h"

struct specification_reader {
    struct nt_arena *arena;
    nt_specification_take *take;
    void *context;
    struct nt_error *error;
};

#define BLANKS " \t\r\n"

bool nt_is_specification(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && text[at] && strchr(BLANKS, text[at]))
        at++;
    return at < length && text[at] == '{';
}

/* A key that an object may have. */
struct key {
    const char *name, *refusal; /* why it is not supported; NULL: it is */
};

static const struct key specification_keys[] = {
    {"samples", NULL},
    {"friends", NULL},
    {"range", "use the option entries=FIRST:END to select entries"},
    {NULL, NULL},
};
static const struct key sample_keys[] = {{"trees", NULL}, {"files", NULL}, {"metadata", NULL}, {NULL, NULL}};
static const struct key friend_keys[] = {{"trees", NULL}, {"files", NULL}, {NULL, NULL}};

/* What one of the two objects of a specification has. */
struct specification_object {
    const char *key, *what;
    const struct key *keys;
    bool is_friend;
};
static const struct specification_object samples = {"samples", "sample", sample_keys, false};
static const struct specification_object friends = {"friends", "friend", friend_keys, true};

static enum nt_status check_keys(const json_t *object, const struct key *keys, struct nt_error *error)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value)
    {
        const struct key *key = keys;
        while (key->name && strcmp(key->name, name) != 0)
            key++;
        if (!key->name)
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "\"%s\": unknown key", name);
        if (key->refusal)
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "\"%s\": %s", name, key->refusal);
    }
    return NT_OK;
}

static const char *kind_of(const json_t *value)
{
    static const char *const kinds[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "a list",  [JSON_STRING] = "a string",
        [JSON_INTEGER] = "an integer", [JSON_REAL] = "a number", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",        [JSON_NULL] = "null",
    };
    return value ? kinds[json_typeof(value)] : "nothing";
}

static enum nt_status expect_object(const json_t *value, const char *what, struct nt_error *error)
{
    if (json_is_object(value) && json_object_size(value) > 0)
        return NT_OK;
    return nt_fail_mismatch(error, NT_INVALID, NT_NO_OFFSET, what, "a non-empty object",
                            json_is_object(value) ? "an empty one" : kind_of(value));
}

/* Requires a list of one or more non-empty texts. */
static enum nt_status expect_texts(const json_t *value, const char *what, struct nt_error *error)
{
    static const char expected[] = "a list of strings";
    if (!json_is_array(value) || json_array_size(value) == 0)
        return nt_fail_mismatch(error, NT_INVALID, NT_NO_OFFSET, what, expected,
                                json_is_array(value) ? "an empty one" : kind_of(value));
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        if (!json_is_string(item) || json_string_length(item) == 0)
            return nt_fail_mismatch(error, NT_INVALID, NT_NO_OFFSET, what, expected,
                                    json_is_string(item) ? "an empty string in it" : kind_of(item));
    }
    return NT_OK;
}

/* RDataFrame allows texts, integers and numbers. */
static enum nt_status write_metadata(const json_t *metadata, struct nt_json *json, struct nt_error *error)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)metadata, key, value)
    {
        nt_json_key_bytes(json, key, strlen(key));
        if (json_is_string(value))
            nt_json_bytes(json, json_string_value(value), json_string_length(value));
        else if (json_is_integer(value))
            nt_json_signed(json, json_integer_value(value));
        else if (json_is_real(value))
            nt_json_double(json, json_real_value(value));
        else
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                           "\"metadata\": \"%s\": expected a string or a number, found %s", key,
                           kind_of(value));
    }
    return NT_OK;
}

/* NULL if there is no metadata. */
static enum nt_status copy_metadata(const struct specification_reader *reader, const json_t *metadata,
                                    const char **text_ret)
{
    struct nt_buffer text = {0};
    struct nt_json json;
    if (!metadata)
        return NT_OK;
    if (!json_is_object(metadata))
        return nt_fail_mismatch(reader->error, NT_INVALID, NT_NO_OFFSET, "\"metadata\"", "an object",
                                kind_of(metadata));
    nt_json_init(&json, &text, true);
    nt_json_object(&json);
    enum nt_status status = write_metadata(metadata, &json, reader->error);
    nt_json_end_object(&json);
    *text_ret = nt_buffer_to_arena(&text, reader->arena);
    return status == NT_OK && !*text_ret ? nt_fail_memory(reader->error) : status;
}

/* Builds a sample for each of its datasets. */
static enum nt_status make_samples(const struct specification_reader *reader,
                                   const struct specification_object *kind, const char *name,
                                   const json_t *value, struct nt_chain_sample **samples_ret)
{
    const json_t *trees = json_object_get(value, "trees");
    size_t count = json_array_size(trees);
    const char *metadata = NULL;
    NT_TRY(copy_metadata(reader, json_object_get(value, "metadata"), &metadata));
    struct nt_chain_sample *made = nt_arena_alloc(reader->arena, count, sizeof(*made));
    const char *copy = nt_arena_copy(reader->arena, name, strlen(name));
    NT_TRY(nt_check_memory(made && copy, reader->error));
    for (size_t i = 0; i < count; i++) {
        const json_t *tree = json_array_get(trees, i);
        const char *dataset = nt_arena_copy(reader->arena, json_string_value(tree), json_string_length(tree));
        NT_TRY(nt_check_memory(dataset, reader->error));
        made[i] = (struct nt_chain_sample){
            .name = copy, .is_friend = kind->is_friend, .metadata = metadata, .dataset = dataset};
    }
    *samples_ret = made;
    return NT_OK;
}

/* A single tree applies to all files; otherwise each file has its own. */
static enum nt_status take_files(const struct specification_reader *reader,
                                 const struct specification_object *kind, const char *name,
                                 const json_t *value)
{
    const json_t *files = json_object_get(value, "files");
    size_t count = json_array_size(files), trees = json_array_size(json_object_get(value, "trees"));
    struct nt_chain_sample *made = NULL;
    if (trees != 1 && trees != count)
        return nt_fail_number(reader->error, NT_INVALID, NT_NO_OFFSET,
                              "\"trees\": number of names (1, or as many as in \"files\")", count, trees);
    NT_TRY(make_samples(reader, kind, name, value, &made));
    for (size_t i = 0; i < count; i++)
        NT_TRY(reader->take(reader->context, &made[trees == 1 ? 0 : i],
                            json_string_value(json_array_get(files, i)), reader->error));
    return NT_OK;
}

static enum nt_status read_item(const struct specification_reader *reader,
                                const struct specification_object *kind, const char *name,
                                const json_t *value)
{
    NT_TRY(expect_object(value, "it", reader->error));
    NT_TRY(check_keys(value, kind->keys, reader->error));
    NT_TRY(expect_texts(json_object_get(value, "trees"), "\"trees\"", reader->error));
    NT_TRY(expect_texts(json_object_get(value, "files"), "\"files\"", reader->error));
    return take_files(reader, kind, name, value);
}

static enum nt_status read_items(const struct specification_reader *reader,
                                 const struct specification_object *kind, const json_t *items)
{
    char key[16];
    const char *name;
    json_t *value;
    snprintf(key, sizeof(key), "\"%s\"", kind->key);
    NT_TRY(expect_object(items, key, reader->error));
    json_object_foreach((json_t *)items, name, value)
    {
        NT_TRY(nt_with_context(read_item(reader, kind, name, value), reader->error, "%s \"%s\"", kind->what,
                               name));
    }
    return NT_OK;
}

enum nt_status nt_specification_read(const char *text, size_t length, struct nt_arena *arena,
                                     nt_specification_take *take, void *context, struct nt_error *error)
{
    const struct specification_reader reader = {arena, take, context, error};
    json_auto_t *value = NULL;
    if (length > NT_SPECIFICATION_BYTES)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "a specification cannot have more than %d bytes",
                       NT_SPECIFICATION_BYTES);
    NT_TRY(nt_json_parse(text, length, JSON_REJECT_DUPLICATES, &value, error));
    NT_TRY(check_keys(value, specification_keys, error));
    NT_TRY(read_items(&reader, &samples, json_object_get(value, samples.key)));
    const json_t *of_friends = json_object_get(value, friends.key);
    return of_friends ? read_items(&reader, &friends, of_friends) : NT_OK;
}
