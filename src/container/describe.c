/* SPDX-License-Identifier: MIT
 *
 * Describes a container: the members of file.json for a ROOT file, the lines of keys.jsonl, one for each
 * record, and the byte ranges of the file with what each belongs to: file header, keys, directories, free
 * segments and all objects that are not part of an RNTuple.
 */
#include "container/container.h"

#include <stdio.h>

#include "core/base/built_in.h"

/* An object that the container knows by its offset. */
struct landmark {
    uint64_t offset;   /* of the record or of the object in it */
    const char *owner; /* NULL: the caller emits it */
};

struct tfile_layout_emitter {
    const struct nt_file *file;
    nt_layout_emit *emit;
    void *context;
    struct landmark *landmarks; /* by offset */
    size_t landmark_count;
};

static enum nt_status find_landmarks(struct tfile_layout_emitter *emitter, struct nt_error *error)
{
    const struct nt_container *container = emitter->file->format_data;
    const struct nt_tfile *tfile = nt_tfile_of(emitter->file);
    size_t capacity =
        2 + 2 * (size_t)tfile->directory_count + container->anchor_count + container->object_count;
    struct landmark *next = emitter->landmarks = calloc(capacity, sizeof(*next));
    NT_TRY(nt_check_memory(next, error));
    *next++ = (struct landmark){tfile->info_offset, "streamer info"};
    *next++ = (struct landmark){tfile->header.free_offset, "free list"};
    for (uint32_t i = 0; i < tfile->directory_count; i++) {
        *next++ = (struct landmark){tfile->directories[i].offset, "directory"};
        *next++ = (struct landmark){tfile->directories[i].keys_offset, "key list"};
    }
    for (uint32_t i = 0; i < container->anchor_count; i++) {
        if (container->anchors[i].stored_bytes)
            *next++ = (struct landmark){container->anchors[i].offset, NULL};
    }
    for (uint32_t i = 0; i < container->object_count; i++)
        if (!container->objects[i].failure)
            *next++ = (struct landmark){container->objects[i].offset, NT_HAS_TTREE ? NULL : "object"};
    emitter->landmark_count = (size_t)(next - emitter->landmarks);
    qsort(emitter->landmarks, emitter->landmark_count, sizeof(*next), nt_compare_u64);
    return NT_OK;
}

static const struct landmark *find_landmark(const struct tfile_layout_emitter *emitter, uint64_t offset)
{
    const struct landmark requested = {.offset = offset};
    return bsearch(&requested, emitter->landmarks, emitter->landmark_count, sizeof(requested),
                   nt_compare_u64);
}

/* The owner of an object; NULL if the code that knows its content emits its bytes. */
static const char *object_owner(const struct tfile_layout_emitter *emitter, const struct nt_tfile_key *key)
{
    const struct landmark *landmark = find_landmark(emitter, key->offset);
    if (!landmark)
        landmark = find_landmark(emitter, key->offset + key->key_bytes);
    if (landmark)
        return landmark->owner;
    if (nt_text_is(key->class_name, "RBlob"))
        return NULL;
    bool is_old_directory = nt_tfile_is_directory(key) || nt_text_is(key->class_name, "TFile");
    return is_old_directory ? "directory" : "object";
}

/* The class name, copied with the file's lifetime; NULL if there is none. */
static const char *class_name(const struct nt_tfile *tfile, const struct nt_tfile_key *key)
{
    static const char *const unlisted[] = {"RBlob", "TFile", "TBasket", "TList"};
    for (size_t i = 0; i < sizeof(unlisted) / sizeof(*unlisted); i++) {
        if (nt_text_is(key->class_name, unlisted[i]))
            return unlisted[i];
    }
    for (uint32_t i = 0; i < tfile->class_count; i++) {
        if (nt_text_is(key->class_name, tfile->classes[i].name.bytes))
            return tfile->classes[i].name.bytes;
    }
    return NULL;
}

static enum nt_status emit_range(const struct tfile_layout_emitter *emitter, uint64_t offset, uint64_t bytes,
                                 const char *owner, const char *detail)
{
    uint64_t size = emitter->file->source->size;
    if (offset >= size || bytes == 0)
        return NT_OK;
    const struct nt_layout_range range = {.offset = offset,
                                          .bytes = nt_min(bytes, size - offset),
                                          .owner = owner,
                                          .dataset = NT_NONE,
                                          .column = NT_NONE,
                                          .cluster = UINT64_MAX,
                                          .page = UINT64_MAX,
                                          .detail = detail};
    return emitter->emit(emitter->context, &range);
}

static enum nt_status emit_record(const struct tfile_layout_emitter *emitter,
                                  const struct nt_tfile_record *record)
{
    if (record->kind == NT_TFILE_GAP)
        return NT_OK; /* ranges without an owner become gaps anyway */
    if (record->kind == NT_TFILE_FREE)
        return emit_range(emitter, record->offset, record->bytes, "free", NULL);
    const struct nt_tfile_key *key = &record->key;
    const char *class = class_name(nt_tfile_of(emitter->file), key);
    enum nt_status status = emit_range(emitter, record->offset, key->key_bytes, "key", class);
    const char *owner = object_owner(emitter, key);
    if (status || !owner)
        return status;
    return emit_range(emitter, record->offset + key->key_bytes, record->bytes - key->key_bytes, owner, class);
}

static enum nt_status emit_all(struct tfile_layout_emitter *emitter, struct nt_error *error)
{
    const struct nt_tfile_header *header = &nt_tfile_of(emitter->file)->header;
    NT_CLEANUP(nt_tfile_walk_deinit) struct nt_tfile_walk walk = {0};
    struct nt_tfile_record record;
    NT_TRY(find_landmarks(emitter, error));
    NT_TRY(nt_tfile_walk_init(&walk, emitter->file->source, header, error));
    NT_TRY(emit_range(emitter, 0, header->begin, "file header", NULL));
    enum nt_status status;
    while (!(status = nt_tfile_walk_next(&walk, &record, error)))
        NT_TRY(emit_record(emitter, &record));
    return status == NT_NOT_FOUND ? NT_OK : status;
}

enum nt_status nt_tfile_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                               struct nt_error *error)
{
    struct tfile_layout_emitter emitter = {.file = file, .emit = emit, .context = context};
    enum nt_status status = emit_all(&emitter, error);
    free(emitter.landmarks);
    return status;
}

/* ---- Opening ---- */

enum nt_status nt_container_open_kind(struct nt_file *file, struct nt_container *container,
                                      const struct nt_container_kind *kind, struct nt_error *error)
{
    *container = (struct nt_container){.kind = kind, .first_tree = NT_NONE};
    NT_TRY(kind->open(file, container, error));
    file->format_data = container;
    file->describe = kind->describe;
    file->layout = kind->layout;
    file->documents = kind->documents;
    file->document_count = kind->document_count;
    return NT_OK;
}

/* ---- ROOT version and compression setting ---- */

void nt_container_describe_root_version(struct nt_json *json, int32_t stored)
{
    char text[32];
    uint32_t version = nt_tfile_root_version(stored);
    snprintf(text, sizeof(text), "%u.%02u.%02u", version / 10000, version / 100 % 100, version % 100);
    nt_json_member_string(json, "root_version", text);
}

void nt_container_describe_compression(struct nt_json *json, uint32_t setting)
{
    /* ROOT's algorithm numbers; 0 leaves the choice to the writer. */
    static const enum nt_algorithm algorithms[] = {NT_ALGORITHM_UNKNOWN, NT_ALGORITHM_ZLIB,
                                                   NT_ALGORITHM_LZMA,    NT_ALGORITHM_OLD_ZLIB,
                                                   NT_ALGORITHM_LZ4,     NT_ALGORITHM_ZSTD};
    uint32_t algorithm = setting / 100;
    bool is_known = algorithm < sizeof(algorithms) / sizeof(*algorithms);
    nt_json_member_object(json, "compression");
    nt_json_member_unsigned(json, "setting", setting);
    nt_json_member_string(json, "algorithm",
                          setting % 100 == 0 ? nt_algorithm_name(NT_ALGORITHM_NONE)
                          : algorithm == 0   ? "default"
                          : is_known         ? nt_algorithm_name(algorithms[algorithm])
                                             : NULL);
    nt_json_member_unsigned(json, "level", setting % 100);
    nt_json_end_object(json);
}

/* ---- file.json ---- */

static void describe_date(struct nt_json *json, const char *name, uint32_t date)
{
    char text[24];
    nt_json_member_string(json, name, nt_tfile_format_date(date, text) ? text : NULL);
}

static void describe_uuid(struct nt_json *json, const uint8_t *uuid)
{
    struct nt_buffer text = {0};
    for (int i = 0; i < NT_TFILE_UUID_BYTES; i++)
        nt_buffer_append_format(&text, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    nt_json_member_buffer(json, "uuid", &text);
}

static void describe_range(struct nt_json *json, const char *name, uint64_t offset, uint64_t bytes)
{
    nt_json_member_object(json, name);
    nt_json_member_unsigned(json, "file_offset", offset);
    nt_json_member_unsigned(json, "stored_bytes", bytes);
    nt_json_end_object(json);
}

static void describe_header(const struct nt_file *file, struct nt_json *json)
{
    const struct nt_container *container = file->format_data;
    const struct nt_tfile *tfile = nt_tfile_of(file);
    const struct nt_tfile_header *header = &tfile->header;
    uint64_t size = file->source->size;
    nt_json_member_string(json, "kind", container->kind->name);
    nt_json_member_signed(json, "version", header->version);
    nt_container_describe_root_version(json, header->version);
    nt_json_member_bool(json, "is_big_file", header->is_big);
    nt_json_member_unsigned(json, "begin_offset", header->begin);
    nt_json_member_unsigned(json, "end_offset", header->end);
    nt_json_member_unsigned(json, "missing_bytes", size < header->end ? header->end - size : 0);
    nt_json_member_unsigned(json, "trailing_bytes", size > header->end ? size - header->end : 0);
    nt_container_describe_compression(json, header->compression);
    describe_uuid(json, header->uuid);
    describe_date(json, "created", tfile->directories[0].created);
    describe_date(json, "modified", tfile->directories[0].modified);
    describe_range(json, "streamer_info", header->info_offset, header->info_bytes);
    describe_range(json, "free_list", header->free_offset, header->free_bytes);
}

static enum nt_status describe_free_segments(const struct nt_file *file, struct nt_json *json,
                                             struct nt_error *error)
{
    NT_AUTO_FREE struct nt_extent *segments = NULL;
    size_t count;
    enum nt_status status =
        nt_tfile_read_free(file->source, &nt_tfile_of(file)->header, &segments, &count, error);
    nt_json_member_array(json, "free_segments");
    for (size_t i = 0; i < count; i++) {
        nt_json_object(json);
        nt_json_member_unsigned(json, "file_offset", segments[i].offset);
        nt_json_member_unsigned(json, "stored_bytes", segments[i].bytes);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
    return status;
}

static void describe_classes(const struct nt_tfile *tfile, struct nt_json *json)
{
    uint64_t keys = tfile->other_keys;
    nt_json_member_array(json, "classes");
    for (uint32_t i = 0; i < tfile->class_count; i++) {
        const struct nt_tfile_class *class = &tfile->classes[i];
        keys += class->keys;
        nt_json_object(json);
        nt_json_member_text(json, "class", class->name);
        nt_json_member_unsigned(json, "keys", class->keys);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
    nt_json_member_unsigned(json, "keys", keys);
}

/* A directory may list very many keys: gives only what finds the key here. The rest is in keys.jsonl,
 * at the same offset. */
static void describe_listed_key(struct nt_json *json, const struct nt_tfile_key *key)
{
    nt_json_object(json);
    nt_json_member_text(json, "class", key->class_name);
    nt_json_member_text(json, "name", key->name);
    nt_json_member_unsigned(json, "cycle", key->cycle);
    nt_json_member_unsigned(json, "file_offset", key->offset);
    nt_json_end_object(json);
}

/* "keys": all listed keys; "error" if some or all are unreadable. */
static enum nt_status describe_keys(const struct nt_file *file, const struct nt_tfile_directory *directory,
                                    struct nt_json *json, struct nt_error *error)
{
    struct nt_tfile_key_list list;
    struct nt_tfile_key key;
    struct nt_error damage = {0};
    enum nt_status status;
    nt_tfile_key_list_init(&list, file->source, directory, &damage);
    nt_json_member_array(json, "keys");
    while ((status = nt_tfile_key_list_next(&list, &key, &damage)) != NT_NOT_FOUND) {
        if (!status)
            describe_listed_key(json, &key);
    }
    nt_json_end_array(json);
    if (damage.status)
        nt_json_member_string(json, "error", damage.message);
    nt_tfile_key_list_deinit(&list);
    return nt_is_environmental(damage.status) ? nt_fail_copy(error, &damage) : NT_OK;
}

static enum nt_status describe_directory(const struct nt_file *file, uint32_t index, struct nt_json *json,
                                         struct nt_error *error)
{
    const struct nt_directory *names = &file->directories[index];
    const struct nt_tfile_directory *directory = &nt_tfile_of(file)->directories[index];
    nt_json_object(json);
    nt_json_member_unsigned(json, "directory", index);
    if (index > 0)
        nt_json_member_unsigned(json, "parent", names->parent);
    else
        nt_json_member_null(json, "parent");
    nt_json_member_text(json, "name", names->name);
    nt_json_member_unsigned(json, "file_offset", directory->offset);
    describe_date(json, "created", directory->created);
    describe_date(json, "modified", directory->modified);
    describe_range(json, "key_list", directory->keys_offset, directory->keys_bytes);
    enum nt_status status = describe_keys(file, directory, json, error);
    nt_json_end_object(json);
    return status;
}

enum nt_status nt_tfile_describe(const struct nt_file *file, struct nt_json *json, struct nt_error *error)
{
    const struct nt_tfile *tfile = nt_tfile_of(file);
    describe_header(file, json);
    enum nt_status status = describe_free_segments(file, json, error);
    describe_classes(tfile, json);
    nt_json_member_array(json, "directories");
    for (uint32_t i = 0; i < tfile->directory_count && !status; i++)
        status = describe_directory(file, i, json, error);
    nt_json_end_array(json);
    return status;
}

/* ---- keys.jsonl ---- */

struct keys_text {
    struct nt_text_generator text;
    struct nt_tfile_walk walk;
};

static void describe_key(struct nt_json *json, const struct nt_tfile_key *key)
{
    nt_json_member_text(json, "class", key->class_name);
    nt_json_member_text(json, "name", key->name);
    nt_json_member_text(json, "title", key->title);
    nt_json_member_unsigned(json, "cycle", key->cycle);
    nt_json_member_unsigned(json, "key_bytes", key->key_bytes);
    nt_json_member_unsigned(json, "object_bytes", key->object_bytes);
    nt_json_member_bool(json, "is_compressed", nt_tfile_is_compressed(key));
    describe_date(json, "datetime", key->date);
    nt_json_member_unsigned(json, "directory_offset", key->directory_offset);
}

static void append_record(struct nt_buffer *out, const struct nt_tfile_record *record)
{
    static const char *const kinds[] = {
        [NT_TFILE_KEY] = "key", [NT_TFILE_FREE] = "free", [NT_TFILE_GAP] = "gap"};
    struct nt_json json;
    nt_json_line(&json, out);
    nt_json_member_unsigned(&json, "file_offset", record->offset);
    nt_json_member_unsigned(&json, "stored_bytes", record->bytes);
    nt_json_member_string(&json, "record", kinds[record->kind]);
    if (record->kind == NT_TFILE_KEY)
        describe_key(&json, &record->key);
    nt_json_finish(&json);
}

static enum nt_status next_record(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
                                  struct nt_error *error)
{
    struct keys_text *keys = (struct keys_text *)text;
    struct nt_tfile_record record;
    enum nt_status status = nt_tfile_walk_next(&keys->walk, &record, error);
    if (status == NT_OK)
        append_record(out, &record);
    *more_ret = status != NT_NOT_FOUND;
    return *more_ret ? status : NT_OK;
}

static void keys_free(struct nt_text_generator *text)
{
    nt_tfile_walk_deinit(&((struct keys_text *)text)->walk);
    free(text);
}

static enum nt_status open_keys(const struct nt_document_request *request,
                                struct nt_text_generator **text_ret, struct nt_error *error)
{
    struct keys_text *keys = calloc(1, sizeof(*keys));
    NT_TRY(nt_check_memory(keys, error));
    keys->text =
        (struct nt_text_generator){.next = nt_text_next_lines, .next_line = next_record, .free = keys_free};
    enum nt_status status =
        nt_tfile_walk_init(&keys->walk, request->file->source, &nt_tfile_of(request->file)->header, error);
    if (status) {
        keys_free(&keys->text);
        return status;
    }
    *text_ret = &keys->text;
    return NT_OK;
}

/* Only a walk counts the records; it stops at a limit. */
static enum nt_status are_keys_short(const struct nt_document_request *request, bool *is_short_ret,
                                     struct nt_error *error)
{
    enum { MAX_RECORDS = 4096 };
    struct nt_tfile_walk walk;
    struct nt_tfile_record record;
    struct nt_error failure = {0};
    enum nt_status status =
        nt_tfile_walk_init(&walk, request->file->source, &nt_tfile_of(request->file)->header, &failure);
    for (unsigned i = 0; i < MAX_RECORDS && status == NT_OK; i++)
        status = nt_tfile_walk_next(&walk, &record, &failure);
    nt_tfile_walk_deinit(&walk);
    *is_short_ret = status != NT_OK; /* the walk ended; or failed, and so will the text */
    return nt_is_environmental(status) ? nt_fail_copy(error, &failure) : NT_OK;
}

const struct nt_document nt_tfile_documents[NT_TFILE_DOCUMENT_COUNT] = {
    {.prefix = "keys.jsonl", .open = open_keys, .is_short = are_keys_short, .reads_source = true},
};
