/* SPDX-License-Identifier: MIT
 *
 * Lists the versions, tags and branches of a dataset, and resolves a requested version to a manifest.
 */
#include "formats/lance/dataset/dataset.h"

#include "core/json/parse.h"

/* ---- Tags and branches ---- */

/* nt_folder_refresh for a composed name. */
static enum nt_status refresh(struct nt_folder *folder, const struct nt_buffer *name, struct nt_error *error)
{
    return name->failed ? nt_fail_memory(error) : nt_folder_refresh(folder, name->bytes, NULL, error);
}

static enum nt_status has_now(struct nt_folder *folder, const struct nt_buffer *name, bool *has_ret,
                              struct nt_error *error)
{
    NT_TRY(refresh(folder, name, error));
    return nt_folder_has(folder, name->bytes, has_ret, error);
}

#define ENDING ".json"

struct ref_walk {
    nt_lance_visit_ref *visit;
    void *context;
};

static void append_decoded(struct nt_buffer *out, const char *bytes, size_t length)
{
    for (size_t at = 0; at < length;) {
        uint8_t byte;
        size_t step = nt_percent_decode(bytes + at, length - at, &byte);
        nt_buffer_append_byte(out, (char)byte);
        at += step;
    }
}

static enum nt_status visit_ref_name(void *context, const struct nt_folder_entry *entry,
                                     struct nt_error *error)
{
    const struct ref_walk *ref_walk = context;
    const char *end = strrchr(entry->name, '.');
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer name = {0};
    if (!end || end == entry->name || strcmp(end, ENDING) != 0)
        return NT_OK;
    append_decoded(&name, entry->name, (size_t)(end - entry->name));
    return name.failed ? nt_fail_memory(error) : ref_walk->visit(ref_walk->context, name.bytes, error);
}

enum nt_status nt_lance_each_ref(struct nt_folder *folder, const char *refs, nt_lance_visit_ref *visit,
                                 void *context, struct nt_error *error)
{
    struct ref_walk ref_walk = {visit, context};
    bool has_any;
    NT_TRY(nt_folder_refresh(folder, refs, NULL, error));
    NT_TRY(nt_folder_has_folder(folder, refs, &has_any, error));
    return has_any ? nt_folder_list(folder, refs, visit_ref_name, &ref_walk, error) : NT_OK;
}

/* Appends the file of a tag or branch; its name is that file's, with slashes escaped. */
static void append_file_name(struct nt_buffer *out, const char *refs, const char *name)
{
    nt_buffer_append_format(out, "%s/", refs);
    for (; *name; name++)
        *name == '/' ? nt_buffer_append_string(out, "%2F") : nt_buffer_append_byte(out, *name);
    nt_buffer_append_string(out, ENDING);
}

/* ---- Tags ---- */

struct tag_reader {
    struct nt_arena *arena;
    struct nt_lance_tag *tag;
};

static enum nt_status take_tag(void *context, const json_t *value, struct nt_error *error)
{
    const struct tag_reader *reader = context;
    struct nt_lance_tag *tag = reader->tag;
    const json_t *version = json_object_get(value, "version"), *branch = json_object_get(value, "branch");
    if (!json_is_integer(version) || json_integer_value(version) < 0)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the tag has no version number");
    tag->version = (uint64_t)json_integer_value(version);
    tag->branch = "";
    if (!branch || json_is_null(branch))
        return NT_OK;
    const struct nt_text name = {json_string_value(branch), json_string_length(branch)};
    if (!name.bytes || !nt_folder_is_name_below(name))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the tag has an invalid branch name: '%.*s'",
                       (int)name.length, name.bytes ? name.bytes : "");
    tag->branch = nt_arena_copy(reader->arena, name.bytes, name.length);
    return nt_check_memory(tag->branch, error);
}

static enum nt_status parse_ref(struct nt_source *source, json_t **value_ret, struct nt_error *error)
{
    enum { MAX_BYTES = 1 << 20 };
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0};
    if (source->size > MAX_BYTES)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the tag or branch has more than 1 MiB");
    NT_TRY(nt_source_append(source, 0, source->size, &text, error));
    return nt_json_parse(text.bytes, text.length, 0, value_ret, error);
}

/* Receives the contents of a tag's or branch's file. */
typedef enum nt_status take_ref(void *context, const json_t *value, struct nt_error *error);

static enum nt_status read_ref(struct nt_folder *folder, const char *refs, const char *name, take_ref *take,
                               void *context, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer file = {0};
    NT_CLEANUP(nt_source_close_at) struct nt_source *source = NULL;
    json_t *value = NULL;
    append_file_name(&file, refs, name);
    NT_TRY(refresh(folder, &file, error));
    NT_TRY(nt_folder_open_file(folder, file.bytes, &source, error));
    enum nt_status status = parse_ref(source, &value, error);
    if (status == NT_OK)
        status = take(context, value, error);
    json_decref(value);
    return nt_with_context(status, error, "%s", source->path);
}

enum nt_status nt_lance_read_tag(struct nt_folder *folder, const char *name, struct nt_arena *arena,
                                 struct nt_lance_tag *tag_ret, struct nt_error *error)
{
    struct tag_reader reader = {arena, tag_ret};
    return read_ref(folder, NT_LANCE_TAGS, name, take_tag, &reader, error);
}

/* ---- refs.json ---- */

static enum nt_status put_content(void *context, const json_t *value, struct nt_error *error)
{
    struct nt_json *json = context;
    NT_AUTO_FREE char *text = json_dumps(value, JSON_COMPACT | JSON_ENSURE_ASCII);
    NT_TRY(nt_check_memory(text, error));
    nt_json_key(json, "content");
    nt_json_raw(json, text);
    return NT_OK;
}

struct refs_writer {
    struct nt_folder *folder;
    const char *refs;
    struct nt_json *json;
};

static enum nt_status put_ref(void *context, const char *name, struct nt_error *error)
{
    const struct refs_writer *writer = context;
    struct nt_json *json = writer->json;
    struct nt_error failure = {0};
    nt_json_object(json);
    nt_json_member_text(json, "name", nt_text_of(name));
    enum nt_status status = read_ref(writer->folder, writer->refs, name, put_content, json, &failure);
    if (status != NT_OK)
        nt_json_member_string(json, "unreadable", failure.message);
    nt_json_end_object(json);
    return nt_is_environmental(status) ? nt_fail_copy(error, &failure) : NT_OK;
}

enum nt_status nt_lance_put_refs(struct nt_folder *folder, const char *refs, const char *key,
                                 struct nt_json *json, struct nt_error *error)
{
    struct refs_writer writer = {folder, refs, json};
    nt_json_member_array(json, key);
    enum nt_status status = nt_lance_each_ref(folder, refs, put_ref, &writer, error);
    nt_json_end_array(json);
    return status;
}

/* ---- List versions ---- */

enum { INVERTED_DIGITS = 20 };
static const uint64_t detached = UINT64_C(1) << 63; /* bit of numbers outside the history */

/* Parses digits without leading zeros, unless `is_padded`. */
static bool take_number(const char *digits, size_t count, bool is_padded, uint64_t *number_ret)
{
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t digit = (uint64_t)(digits[i] - '0');
        if (digits[i] < '0' || digits[i] > '9' || number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *number_ret = number;
    return count && (is_padded || digits[0] != '0' || count == 1);
}

static bool read_name(const char *name, struct nt_lance_version *version)
{
    const char *end = strstr(name, ".manifest");
    size_t digits = end ? (size_t)(end - name) : 0;
    if (!end || strcmp(end, ".manifest"))
        return false;
    version->is_inverted = digits == INVERTED_DIGITS;
    if (!take_number(name, digits, version->is_inverted, &version->number))
        return false;
    if (version->is_inverted)
        version->number = UINT64_MAX - version->number;
    return true;
}

void nt_lance_append_manifest_name(struct nt_buffer *out, const struct nt_lance_version *version)
{
    nt_buffer_append_format(out, "%s" NT_LANCE_VERSIONS "/%s%0*" PRIu64 ".manifest", version->root,
                            version->is_detached ? "d" : "", version->is_inverted ? INVERTED_DIGITS : 1,
                            version->is_inverted ? UINT64_MAX - version->number : version->number);
}

struct version_walk {
    const char *root;
    nt_lance_visit_version *visit;
    void *context;
};

static enum nt_status visit_name(void *context, const struct nt_folder_entry *entry, struct nt_error *error)
{
    const struct version_walk *walk = context;
    struct nt_lance_version version = {.root = walk->root};
    return read_name(entry->name, &version) ? walk->visit(walk->context, &version, error) : NT_OK;
}

enum nt_status nt_lance_each_version(struct nt_folder *folder, const char *root,
                                     nt_lance_visit_version *visit, void *context, struct nt_error *error)
{
    struct version_walk walk = {root, visit, context};
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer name = {0};
    nt_buffer_append_format(&name, "%s" NT_LANCE_VERSIONS, root);
    NT_TRY(refresh(folder, &name, error));
    return nt_folder_list(folder, name.bytes, visit_name, &walk, error);
}

/* ---- Earliest and latest ---- */

struct version_range {
    struct nt_lance_version first, latest;
    uint64_t count;
};

static enum nt_status note_version(void *context, const struct nt_lance_version *version,
                                   struct nt_error *error)
{
    struct version_range *search = context;
    bool is_later = !search->count || version->number > search->latest.number ||
                    (version->number == search->latest.number && version->is_inverted);
    if (is_later)
        search->latest = *version;
    if (!search->count || version->number < search->first.number)
        search->first = *version;
    search->count++;
    return NT_OK;
}

static enum nt_status search_all(struct nt_folder *folder, const char *root, struct version_range *search,
                                 struct nt_error *error)
{
    *search = (struct version_range){.count = 0};
    NT_TRY(nt_lance_each_version(folder, root, note_version, search, error));
    if (!search->count)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s/%s" NT_LANCE_VERSIONS ": it has no manifest",
                       folder->path, root);
    return NT_OK;
}

static enum nt_status has_manifest(struct nt_folder *folder, const struct nt_lance_version *version,
                                   bool *has_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer name = {0};
    nt_lance_append_manifest_name(&name, version);
    return has_now(folder, &name, has_ret, error);
}

/* Tries both names without a walk, because histories may be long. */
static enum nt_status find_name(struct nt_folder *folder, struct nt_lance_version *version,
                                bool *is_found_ret, struct nt_error *error)
{
    version->is_detached = (version->number & detached) != 0;
    version->is_inverted = !version->is_detached;
    NT_TRY(has_manifest(folder, version, is_found_ret, error));
    if (*is_found_ret || version->is_detached)
        return NT_OK;
    version->is_inverted = false;
    return has_manifest(folder, version, is_found_ret, error);
}

/* ---- Resolve a version ---- */

struct version_resolver {
    struct nt_folder *folder;
    struct nt_arena *arena;
    struct nt_lance_resolved_version *resolved;
    struct nt_error *error;
};

static enum nt_status set_watched(const struct version_resolver *c, const char *watched)
{
    c->resolved->watched = watched;
    return nt_check_memory(watched, c->error);
}

static enum nt_status set_branch(const struct version_resolver *c, const char *branch, const char **root_ret)
{
    c->resolved->branch = branch;
    *root_ret = *branch ? nt_arena_format(c->arena, "tree/%s/", branch) : "";
    return nt_check_memory(*root_ret, c->error);
}

static enum nt_status resolve_latest(const struct version_resolver *c, const char *branch)
{
    const char *root;
    struct version_range all;
    NT_TRY(set_branch(c, branch, &root));
    NT_TRY(search_all(c->folder, root, &all, c->error));
    c->resolved->version = all.latest;
    return set_watched(c, nt_arena_format(c->arena, "%s" NT_LANCE_VERSIONS, root));
}

static enum nt_status resolve_number(const struct version_resolver *c, const char *branch, uint64_t number)
{
    struct nt_lance_version *version = &c->resolved->version;
    struct version_range all;
    bool is_found = false;
    struct nt_buffer name = {0};
    *version = (struct nt_lance_version){.number = number};
    NT_TRY(set_branch(c, branch, &version->root));
    NT_TRY(find_name(c->folder, version, &is_found, c->error));
    if (!is_found) {
        NT_TRY(search_all(c->folder, version->root, &all, c->error));
        return nt_fail(c->error, NT_NOT_FOUND, NT_NO_OFFSET,
                       "version %" PRIu64 " does not exist; there are %" PRIu64 " versions, from %" PRIu64
                       " to %" PRIu64,
                       number, all.count, all.first.number, all.latest.number);
    }
    nt_lance_append_manifest_name(&name, version);
    return set_watched(c, nt_buffer_to_arena(&name, c->arena));
}

/* ---- Names ---- */

/* Names for the error about a missing name. */
struct known_names {
    struct nt_buffer text;
    unsigned count;
};

static void free_names(struct known_names *names)
{
    nt_buffer_deinit(&names->text);
}

static enum nt_status add_name(void *context, const char *name, struct nt_error *error)
{
    enum { MAX_REPORTED = 16 };
    struct known_names *names = context;
    if (names->count < MAX_REPORTED)
        nt_buffer_append_format(&names->text, "%s%s", names->count ? ", " : "", name);
    else if (names->count == MAX_REPORTED)
        nt_buffer_append_string(&names->text, ", …");
    names->count++;
    return NT_OK;
}

static enum nt_status refuse_name(const struct version_resolver *c, const char *requested)
{
    NT_CLEANUP(free_names) struct known_names tags = {.count = 0}, branches = {.count = 0};
    NT_TRY(nt_lance_each_ref(c->folder, NT_LANCE_TAGS, add_name, &tags, c->error));
    NT_TRY(nt_lance_each_ref(c->folder, NT_LANCE_BRANCHES, add_name, &branches, c->error));
    return nt_fail(c->error, NT_NOT_FOUND, NT_NO_OFFSET,
                   "no version, tag or branch has the name '%s'; tags: %s; branches: %s", requested,
                   tags.count ? nt_buffer_string(&tags.text) : "none",
                   branches.count ? nt_buffer_string(&branches.text) : "none");
}

static enum nt_status check_name(const struct version_resolver *c, const char *name)
{
    return nt_folder_is_name_below(nt_text_of(name))
               ? NT_OK
               : nt_fail(c->error, NT_INVALID, NT_NO_OFFSET,
                         "'%s' is a path, not the name of a version, tag or branch", name);
}

static enum nt_status resolve_tag(const struct version_resolver *c, const char *name)
{
    struct nt_lance_tag tag;
    NT_TRY(nt_lance_read_tag(c->folder, name, c->arena, &tag, c->error));
    enum nt_status status = resolve_number(c, tag.branch, tag.version);
    if (status == NT_NOT_FOUND) /* although the tag exists */
        status = nt_fail(c->error, NT_CORRUPT, NT_NO_OFFSET,
                         "tag '%s' names version %" PRIu64 ", which does not exist", name, tag.version);
    return status == NT_OK ? set_watched(c, nt_arena_format(c->arena, NT_LANCE_TAGS "/%s.json", name))
                           : status;
}

static enum nt_status resolve_branch(const struct version_resolver *c, const char *name)
{
    bool is_there;
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer file = {0};
    const char *branch = nt_arena_copy(c->arena, name, strlen(name));
    NT_TRY(nt_check_memory(branch, c->error));
    append_file_name(&file, NT_LANCE_BRANCHES, name);
    NT_TRY(has_now(c->folder, &file, &is_there, c->error));
    if (!is_there)
        return refuse_name(c, name);
    return resolve_latest(c, branch);
}

static enum nt_status resolve_name(const struct version_resolver *c, const char *name)
{
    enum nt_status status = check_name(c, name);
    if (status == NT_OK)
        status = strchr(name, '/') ? NT_NOT_FOUND : resolve_tag(c, name); /* tags have no slashes */
    return status == NT_NOT_FOUND ? resolve_branch(c, name) : status;
}

/* "BRANCH:NUMBER" */
static enum nt_status take_of_branch(const struct version_resolver *c, const char *requested,
                                     const char *colon, uint64_t number)
{
    const char *branch = nt_arena_copy(c->arena, requested, (size_t)(colon - requested));
    NT_TRY(nt_check_memory(branch, c->error));
    NT_TRY(check_name(c, branch));
    return resolve_number(c, branch, number);
}

enum nt_status nt_lance_resolve_version(struct nt_folder *folder, const char *requested,
                                        struct nt_arena *arena,
                                        struct nt_lance_resolved_version *resolved_ret,
                                        struct nt_error *error)
{
    const struct version_resolver c = {folder, arena, resolved_ret, error};
    uint64_t number;
    if (!requested)
        return resolve_latest(&c, "");
    const char *colon = strrchr(requested, ':');
    if (colon && take_number(colon + 1, strlen(colon + 1), false, &number))
        return take_of_branch(&c, requested, colon, number);
    bool is_number = take_number(requested, strlen(requested), false, &number);
    enum nt_status status = is_number ? resolve_number(&c, "", number) : resolve_name(&c, requested);
    if (!is_number || status != NT_NOT_FOUND)
        return status;
    struct nt_error failure = {0}; /* a number may also be the name of a tag */
    enum nt_status of_tag =
        resolve_tag(&(struct version_resolver){folder, arena, resolved_ret, &failure}, requested);
    if (of_tag == NT_NOT_FOUND)
        return status;
    return of_tag == NT_OK ? NT_OK : nt_fail_copy(error, &failure);
}

/* ---- For listings of versions ---- */

enum nt_status nt_lance_find_version(struct nt_folder *folder, const char *requested,
                                     struct nt_dataset_version *version_ret, struct nt_error *error)
{
    struct nt_lance_resolved_version resolved;
    struct nt_buffer series = {0}, file = {0};
    NT_CLEANUP(nt_arena_free_at) struct nt_arena *arena = nt_arena_new();
    *version_ret = (struct nt_dataset_version){.number = 0};
    NT_TRY(nt_check_memory(arena, error));
    NT_TRY(nt_lance_resolve_version(folder, requested, arena, &resolved, error));
    nt_buffer_append_format(&series, "%s%s", resolved.branch, *resolved.branch ? ":" : "");
    nt_lance_append_manifest_name(&file, &resolved.version);
    *version_ret = (struct nt_dataset_version){.series = series.bytes,
                                               .number = resolved.version.number,
                                               .file = file.bytes,
                                               .watched = {strdup(resolved.watched)}};
    if (!series.failed && !file.failed && version_ret->watched[0])
        return NT_OK;
    nt_version_deinit(version_ret);
    return nt_fail_memory(error);
}
