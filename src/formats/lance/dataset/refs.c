/* SPDX-License-Identifier: MIT
 *
 * In: the files in _refs/, JSON that is called like the tag or branch, '/' as %2F. Out: their names, and what tags name.
 */
#include "formats/lance/dataset/refs.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "formats/lance/dataset/now.h"
#include "core/json/parse.h"

#define ENDING ".json"

/* ---- names ---- */

struct walk {
    nt_lance_visit_ref *visit;
    void *context;
};

static void append_decoded(struct nt_buffer *out, const char *bytes, size_t length)
{
    for (size_t at = 0; at < length;) {
        uint8_t byte;
        size_t step = nt_percent_decode(bytes + at, length - at, &byte);
        nt_buffer_byte(out, (char)byte);
        at += step;
    }
}

static enum nt_status visit_name(void *context, const struct nt_folder_entry *entry, struct nt_error *error)
{
    const struct walk *walk = context;
    const char *end = strrchr(entry->name, '.');
    struct nt_buffer name = {0};
    if (!end || end == entry->name || strcmp(end, ENDING) != 0)
        return NT_OK;
    append_decoded(&name, entry->name, (size_t)(end - entry->name));
    enum nt_status status =
        name.failed ? nt_fail_memory(error) : walk->visit(walk->context, name.bytes, error);
    nt_buffer_deinit(&name);
    return status;
}

enum nt_status nt_lance_each_ref(struct nt_folder *folder, const char *refs, nt_lance_visit_ref *visit,
                                 void *context, struct nt_error *error)
{
    struct walk walk = {visit, context};
    bool has_any;
    enum nt_status status = nt_folder_refresh(folder, refs, NULL, error);
    if (status == NT_OK)
        status = nt_folder_has_folder(folder, refs, &has_any, error);
    return status == NT_OK && has_any ? nt_folder_list(folder, refs, visit_name, &walk, error) : status;
}

/* The file of a name, which is one beneath a folder. */
static void append_file_name(struct nt_buffer *out, const char *refs, const char *name)
{
    nt_buffer_format(out, "%s/", refs);
    for (; *name; name++)
        *name == '/' ? nt_buffer_text(out, "%2F") : nt_buffer_byte(out, *name);
    nt_buffer_text(out, ENDING);
}

/* ---- branches ---- */

const char *nt_lance_root_of(struct nt_arena *arena, const char *branch)
{
    return *branch ? nt_arena_format(arena, "tree/%s/", branch) : "";
}

enum nt_status nt_lance_has_branch(struct nt_folder *folder, const char *name, bool *has_ret,
                                   struct nt_error *error)
{
    struct nt_buffer file = {0};
    append_file_name(&file, NT_LANCE_BRANCHES, name);
    enum nt_status status = nt_lance_has_now(folder, &file, has_ret, error);
    nt_buffer_deinit(&file);
    return status;
}

/* ---- tags ---- */

static enum nt_status take_tag(const json_t *value, struct nt_arena *arena, struct nt_lance_tag *tag,
                               struct nt_error *error)
{
    const json_t *version = json_object_get(value, "version"), *branch = json_object_get(value, "branch");
    if (!json_is_integer(version) || json_integer_value(version) < 0)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a tag without the number of a version");
    tag->version = (uint64_t)json_integer_value(version);
    tag->branch = "";
    if (!branch || json_is_null(branch))
        return NT_OK;
    const struct nt_text name = {json_string_value(branch), json_string_length(branch)};
    if (!name.bytes || !nt_folder_is_name_below(name))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "a tag of a branch that is no name of one: '%.*s'",
                       (int)name.length, name.bytes ? name.bytes : "");
    tag->branch = nt_arena_copy(arena, name.bytes, name.length);
    return tag->branch ? NT_OK : nt_fail_memory(error);
}

static enum nt_status parse_ref(struct nt_source *source, json_t **value_ret, struct nt_error *error)
{
    enum { MOST_BYTES = 1 << 20 };
    struct nt_buffer text = {0};
    if (source->size > MOST_BYTES)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "a tag or branch of more than 1 MiB");
    enum nt_status status = nt_source_append(source, 0, source->size, &text, error);
    if (status == NT_OK)
        status = nt_json_parse(text.bytes, text.length, 0, value_ret, error);
    nt_buffer_deinit(&text);
    return status;
}

/* What the file of a tag or branch holds is given to `take`. */
typedef enum nt_status take_ref(void *context, const json_t *value, struct nt_error *error);

static enum nt_status read_ref(struct nt_folder *folder, const char *refs, const char *name, take_ref *take,
                               void *context, struct nt_error *error)
{
    struct nt_buffer file = {0};
    struct nt_source *source;
    json_t *value = NULL;
    append_file_name(&file, refs, name);
    enum nt_status status = nt_lance_refresh(folder, &file, error);
    if (status == NT_OK)
        status = nt_folder_open_file(folder, file.bytes, &source, error);
    if (status == NT_OK) {
        status = parse_ref(source, &value, error);
        if (status == NT_OK)
            status = take(context, value, error);
        if (status != NT_OK)
            nt_error_context(error, "%s", source->path);
        json_decref(value);
        nt_source_close(source);
    }
    nt_buffer_deinit(&file);
    return status;
}

struct tag_reading {
    struct nt_arena *arena;
    struct nt_lance_tag *tag;
};

static enum nt_status take_as_tag(void *context, const json_t *value, struct nt_error *error)
{
    const struct tag_reading *reading = context;
    return take_tag(value, reading->arena, reading->tag, error);
}

enum nt_status nt_lance_read_tag(struct nt_folder *folder, const char *name, struct nt_arena *arena,
                                 struct nt_lance_tag *tag_ret, struct nt_error *error)
{
    struct tag_reading reading = {arena, tag_ret};
    return read_ref(folder, NT_LANCE_TAGS, name, take_as_tag, &reading, error);
}

/* ---- refs.json ---- */

static enum nt_status put_content(void *context, const json_t *value, struct nt_error *error)
{
    struct nt_json *json = context;
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENSURE_ASCII);
    if (!text)
        return nt_fail_memory(error);
    nt_json_key(json, "content");
    nt_json_raw(json, text);
    free(text);
    return NT_OK;
}

struct refs_writing {
    struct nt_folder *folder;
    const char *refs;
    struct nt_json *json;
};

static enum nt_status put_ref(void *context, const char *name, struct nt_error *error)
{
    const struct refs_writing *writing = context;
    struct nt_json *json = writing->json;
    struct nt_error failure = {0};
    nt_json_object(json);
    nt_json_member_text(json, "name", nt_text_of(name));
    enum nt_status status = read_ref(writing->folder, writing->refs, name, put_content, json, &failure);
    if (status != NT_OK)
        nt_json_member_string(json, "unreadable", failure.message);
    nt_json_end_object(json);
    return nt_is_machine_failure(status) ? nt_fail_with(error, &failure) : NT_OK;
}

enum nt_status nt_lance_put_refs(struct nt_folder *folder, const char *refs, const char *key,
                                 struct nt_json *json, struct nt_error *error)
{
    struct refs_writing writing = {folder, refs, json};
    nt_json_key(json, key);
    nt_json_array(json);
    enum nt_status status = nt_lance_each_ref(folder, refs, put_ref, &writing, error);
    nt_json_end_array(json);
    return status;
}
