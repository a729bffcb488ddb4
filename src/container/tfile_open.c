/* SPDX-License-Identifier: MIT
 *
 * Opens a ROOT file: walks all directories from the root and collects them and the anchor objects. A
 * damaged directory, key list or key becomes an entry with an error, so that the rest of the file stays
 * readable.
 */
#include "container/container.h"

#include <ntuple/source.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/model.h"

/* ---- Collected directories and anchors ---- */

/* Limit of key classes that are counted by name. */
enum { NT_TFILE_MAX_CLASSES = 256 };

struct nt_tfile_collection {
    struct nt_file *file;
    struct nt_tfile_directory *directories; /* match the file's directories by index */
    uint32_t directory_count;
    struct nt_anchor_object *anchors;
    uint32_t anchor_count;
    size_t directory_capacity, anchor_capacity;
    struct nt_tfile_class *classes; /* in the file's arena */
    uint32_t class_count;
    uint64_t other_keys;
    bool may_have_orphans; /* a failure, or signs of more anchors: see struct nt_container */
};

static enum nt_status nt_tfile_collection_init(struct nt_tfile_collection *found, struct nt_file *file,
                                               struct nt_error *error)
{
    *found = (struct nt_tfile_collection){.file = file};
    found->classes = nt_arena_alloc(file->arena, NT_TFILE_MAX_CLASSES, sizeof(*found->classes));
    return found->classes ? NT_OK : nt_fail_memory(error);
}

/* accepts a zero-initialised one */
static void nt_tfile_collection_deinit(struct nt_tfile_collection *found)
{
    free(found->directories);
    free(found->anchors);
}

/* Adds a directory, also to the file; the first one is the root. */
static enum nt_status nt_tfile_add_directory(struct nt_tfile_collection *found,
                                             const struct nt_tfile_directory *directory, uint32_t parent,
                                             struct nt_text name, struct nt_error *error)
{
    struct nt_tfile_directory *directories =
        nt_grow(found->directories, found->directory_count, &found->directory_capacity, sizeof(*directories));
    if (!directories)
        return nt_fail_memory(error);
    found->directories = directories;
    bool is_root = found->directory_count == 0; /* every nt_file already has its root */
    if (!is_root && nt_file_add_directory(found->file, parent, name) == NT_NONE)
        return nt_fail_memory(error);
    directories[found->directory_count] = *directory;
    directories[found->directory_count++].parent = directories[parent].offset;
    return NT_OK;
}

/* Appends an anchor and copies the names of its key; the caller fills in the rest. NULL if out of
 * memory. Valid until the next call. */
static struct nt_anchor_object *nt_tfile_add_anchor(struct nt_tfile_collection *found, uint32_t directory,
                                                    struct nt_text name, struct nt_text class_name)
{
    struct nt_arena *arena = found->file->arena;
    struct nt_anchor_object *anchors =
        nt_grow(found->anchors, found->anchor_count, &found->anchor_capacity, sizeof(*anchors));
    if (!anchors)
        return NULL;
    found->anchors = anchors;
    if (!nt_text_copy(arena, name, &name) || !nt_text_copy(arena, class_name, &class_name))
        return NULL;
    struct nt_anchor_object *anchor = &anchors[found->anchor_count++];
    *anchor = (struct nt_anchor_object){
        .directory = directory, .name = name, .is_newest_cycle = true, .class_name = class_name.bytes};
    return anchor;
}

static enum nt_status nt_tfile_set_failure(struct nt_tfile_collection *found, struct nt_anchor_object *anchor,
                                           const struct nt_error *failure, struct nt_error *error)
{
    found->may_have_orphans = true;
    return nt_failure_keep(failure, found->file->arena, &anchor->failure, error);
}

/* Adds an anchor that is only a failure, under the names of a key. */
static enum nt_status nt_tfile_add_failure(struct nt_tfile_collection *found, uint32_t directory,
                                           const struct nt_tfile_key *key, const struct nt_error *failure,
                                           struct nt_error *error)
{
    struct nt_anchor_object *anchor = nt_tfile_add_anchor(found, directory, key->name, key->class_name);
    if (!anchor)
        return nt_fail_memory(error);
    anchor->cycle = key->cycle;
    return nt_tfile_set_failure(found, anchor, failure, error);
}

static enum nt_status nt_tfile_count_class(struct nt_tfile_collection *found, struct nt_text name,
                                           struct nt_error *error)
{
    for (uint32_t i = 0; i < found->class_count; i++) {
        if (nt_texts_are_equal(found->classes[i].name, name)) {
            found->classes[i].keys++;
            return NT_OK;
        }
    }
    if (found->class_count == NT_TFILE_MAX_CLASSES) {
        found->other_keys++;
        return NT_OK;
    }
    if (!nt_text_copy(found->file->arena, name, &name))
        return nt_fail_memory(error);
    found->classes[found->class_count++] = (struct nt_tfile_class){.name = name, .keys = 1};
    return NT_OK;
}

/* ---- Newest cycles ---- */

static int compare_anchors(const void *a, const void *b)
{
    const struct nt_anchor_object *first = *(struct nt_anchor_object *const *)a;
    const struct nt_anchor_object *second = *(struct nt_anchor_object *const *)b;
    if (first->directory != second->directory)
        return first->directory < second->directory ? -1 : 1;
    if (first->name.length != second->name.length)
        return first->name.length < second->name.length ? -1 : 1;
    int order = memcmp(first->name.bytes, second->name.bytes, first->name.length);
    if (order)
        return order;
    return (first->cycle < second->cycle) - (first->cycle > second->cycle);
}

static enum nt_status mark_newest(struct nt_tfile_collection *found, struct nt_error *error)
{
    uint32_t count = found->anchor_count;
    struct nt_anchor_object **sorted = calloc((size_t)count + 1, sizeof(struct nt_anchor_object *));
    if (!sorted)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &found->anchors[i];
    qsort(sorted, count, sizeof(*sorted), compare_anchors);
    for (uint32_t i = 1; i < count; i++) {
        const struct nt_anchor_object *before = sorted[i - 1];
        if (before->directory == sorted[i]->directory && nt_texts_are_equal(before->name, sorted[i]->name))
            sorted[i]->is_newest_cycle = false;
    }
    free(sorted);
    return NT_OK;
}

/* Marks the newest cycles and passes everything to the container. */
static enum nt_status nt_tfile_collection_keep(struct nt_tfile_collection *found,
                                               const struct nt_tfile_header *header,
                                               struct nt_container *container, struct nt_error *error)
{
    struct nt_arena *arena = found->file->arena;
    enum nt_status status = mark_newest(found, error);
    if (status)
        return status;
    size_t directory_bytes = found->directory_count * sizeof(*found->directories);
    size_t anchor_bytes = found->anchor_count * sizeof(*found->anchors);
    struct nt_tfile *tfile = nt_arena_alloc(arena, 1, sizeof(*tfile));
    void *directories = nt_arena_alloc(arena, 1, directory_bytes);
    void *anchors = nt_arena_alloc(arena, 1, anchor_bytes);
    if (!tfile || !directories || !anchors)
        return nt_fail_memory(error);
    *tfile = (struct nt_tfile){.header = *header,
                               .directories = directories,
                               .directory_count = found->directory_count,
                               .classes = found->classes,
                               .class_count = found->class_count,
                               .other_keys = found->other_keys};
    if (found->directory_count)
        memcpy(directories, found->directories, directory_bytes);
    if (found->anchor_count)
        memcpy(anchors, found->anchors, anchor_bytes);
    container->anchors = anchors;
    container->anchor_count = found->anchor_count;
    container->may_have_orphans = found->may_have_orphans;
    container->details = tfile;
    return NT_OK;
}

/* ---- Walk the directories ---- */

enum {
    MAX_ANCHOR_BYTES = 4096, /* anchors of all versions have less than 100 */
    MAX_CLASSES_SHOWN = 8,   /* limit in a message */
};

struct opening {
    struct nt_file *file;
    struct nt_source *source;
    struct nt_tfile_header header;
    struct nt_codec_context *codec; /* created for the first compressed anchor */
    struct nt_tfile_collection found;
    uint64_t list_bytes; /* of all key lists so far */
    uint8_t *key_buffer;
};

/* ---- Objects of keys ---- */

/* The key before an object equals its copy in the directory's list (times may differ by a second).
 * Neither has a checksum: only this comparison detects a changed name or offset. */
static enum nt_status check_record(struct opening *opening, const struct nt_tfile_key *copy,
                                   struct nt_error *error)
{
    struct nt_tfile_key key;
    enum nt_status status =
        nt_tfile_read_key(opening->source, copy->offset, opening->key_buffer, &key, error);
    if (status)
        return status;
    if (key.bytes != copy->bytes || key.key_bytes != copy->key_bytes ||
        key.object_bytes != copy->object_bytes || key.cycle != copy->cycle ||
        key.directory_offset != copy->directory_offset ||
        !nt_texts_are_equal(key.class_name, copy->class_name) || !nt_texts_are_equal(key.name, copy->name))
        return nt_fail(error, NT_CORRUPT, copy->offset,
                       "the key in front of the object and its copy in the directory's list differ");
    if (!nt_fits(key.offset, key.bytes, opening->source->size))
        return nt_fail(error, NT_TRUNCATED, copy->offset,
                       "the object's %" PRIu32 " bytes go beyond the end of the file (%" PRIu64 " bytes)",
                       key.bytes, opening->source->size);
    return NT_OK;
}

static enum nt_status decompress_object(struct opening *opening, const uint8_t *stored, size_t stored_bytes,
                                        uint8_t *object, size_t object_bytes, struct nt_error *error)
{
    if (!opening->codec)
        opening->codec = nt_codec_context_new();
    if (!opening->codec)
        return nt_fail_memory(error);
    return nt_compression_info(NT_COMPRESSION_ROOT_BLOCKS)
        ->decompress(stored, stored_bytes, object, object_bytes, opening->codec, error);
}

static enum nt_status read_anchor(struct opening *opening, const struct nt_tfile_key *key,
                                  struct nt_anchor_object *anchor, struct nt_error *error)
{
    enum nt_status status = check_record(opening, key, error);
    if (status)
        return status;
    uint32_t stored_bytes = key->bytes - key->key_bytes;
    uint8_t stored[MAX_ANCHOR_BYTES];
    if (stored_bytes > MAX_ANCHOR_BYTES || key->object_bytes > MAX_ANCHOR_BYTES)
        return nt_fail(error, NT_CORRUPT, key->offset,
                       "an anchor of %" PRIu32 " bytes (%" PRIu32 " stored) is impossible", key->object_bytes,
                       stored_bytes);
    uint8_t *object = nt_arena_alloc(opening->file->arena, 1, key->object_bytes + 1);
    if (!object)
        return nt_fail_memory(error);
    anchor->offset = key->offset + key->key_bytes;
    anchor->stored_bytes = stored_bytes;
    status = nt_source_read(opening->source, anchor->offset, stored, stored_bytes, error);
    if (!status && nt_tfile_is_compressed(key))
        status = decompress_object(opening, stored, stored_bytes, object, key->object_bytes, error);
    else if (!status)
        memcpy(object, stored, key->object_bytes); /* the first bytes, as in ROOT */
    if (status)
        return status;
    anchor->bytes = object;
    anchor->length = key->object_bytes;
    return NT_OK;
}

static enum nt_status take_anchor(struct opening *opening, uint32_t directory, const struct nt_tfile_key *key,
                                  struct nt_error *error)
{
    struct nt_anchor_object *anchor =
        nt_tfile_add_anchor(&opening->found, directory, key->name, key->class_name);
    if (!anchor)
        return nt_fail_memory(error);
    anchor->cycle = key->cycle;
    struct nt_error failure = {0};
    enum nt_status status = read_anchor(opening, key, anchor, &failure);
    if (!status)
        return NT_OK;
    nt_error_context(&failure, "%s: anchor", opening->source->path);
    if (nt_is_environmental(status))
        return nt_fail_with(error, &failure);
    return nt_tfile_set_failure(&opening->found, anchor, &failure, error);
}

/* Records a failure under the names of a key, unless it concerns the whole file. */
static enum nt_status keep_failure(struct opening *opening, uint32_t directory,
                                   const struct nt_tfile_key *key, const struct nt_error *failure,
                                   struct nt_error *error)
{
    if (!nt_is_environmental(failure->status))
        return nt_tfile_add_failure(&opening->found, directory, key, failure, error);
    return nt_fail_with(error, failure);
}

/* The depth of a directory; NT_CORRUPT if `offset` is that of one of its ancestors. */
static enum nt_status check_nesting(const struct opening *opening, uint32_t parent, uint64_t offset,
                                    struct nt_error *error)
{
    uint32_t depth = 0;
    for (uint32_t at = parent;; at = opening->file->directories[at].parent) {
        if (opening->found.directories[at].offset == offset)
            return nt_fail(error, NT_CORRUPT, offset, "the directory contains itself");
        if (at == 0)
            break;
        if (++depth == NT_MAX_DEPTH)
            return nt_fail(error, NT_LIMIT, offset, "directories are nested more than %d deep", NT_MAX_DEPTH);
    }
    return NT_OK;
}

static enum nt_status take_directory(struct opening *opening, uint32_t parent, const struct nt_tfile_key *key,
                                     struct nt_error *error)
{
    struct nt_error failure = {0};
    struct nt_tfile_directory directory;
    enum nt_status status = check_nesting(opening, parent, key->offset, &failure);
    if (!status)
        status = check_record(opening, key, &failure);
    if (!status)
        status = nt_tfile_read_directory(opening->source, key->offset, key->key_bytes, &directory, &failure);
    if (!status)
        return nt_tfile_add_directory(&opening->found, &directory, parent, key->name, error);
    nt_error_context(&failure, "%s: directory", opening->source->path);
    return keep_failure(opening, parent, key, &failure, error);
}

/* A class with a name close to a known one may be damaged: checks the key before the object. */
static enum nt_status check_class(struct opening *opening, uint32_t directory, const struct nt_tfile_key *key,
                                  struct nt_error *error)
{
    struct nt_error failure = {0};
    enum nt_status status = check_record(opening, key, &failure);
    if (!status)
        return NT_OK;
    nt_error_context(&failure, "%s: key", opening->source->path);
    return keep_failure(opening, directory, key, &failure, error);
}

/* ---- Walk ---- */

static enum nt_status read_keys(struct opening *opening, uint32_t directory, struct nt_tfile_key_list *list,
                                struct nt_error *damage, struct nt_error *error)
{
    struct nt_tfile_key key;
    struct nt_error failure = {0};
    enum nt_status status;
    while ((status = nt_tfile_key_list_next(list, &key, &failure)) != NT_NOT_FOUND) {
        if (status) {
            if (!damage->status)
                *damage = failure;
            continue;
        }
        status = nt_tfile_count_class(&opening->found, key.class_name, error);
        if (!status && nt_tfile_is_anchor(&key))
            status = take_anchor(opening, directory, &key, error);
        else if (!status && nt_tfile_is_directory(&key))
            status = take_directory(opening, directory, &key, error);
        else if (!status && nt_tfile_is_near_miss(&key))
            status = check_class(opening, directory, &key, error);
        if (status)
            return status;
    }
    opening->found.may_have_orphans |= nt_tfile_key_list_goes_on(list);
    return NT_OK;
}

/* Key lists do not overlap, so their total is at most the file size. This bounds the work if
 * directories share a list. */
static enum nt_status count_list(struct opening *opening, const struct nt_tfile_directory *directory,
                                 struct nt_error *error)
{
    uint64_t size = opening->source->size;
    bool is_readable = directory->keys_offset && directory->keys_bytes <= size;
    if (!is_readable) /* no list, or reading it will report the problem */
        return NT_OK;
    opening->list_bytes += directory->keys_bytes;
    if (opening->list_bytes > size)
        return nt_fail(error, NT_CORRUPT, directory->offset, "the directories' lists of keys overlap");
    return NT_OK;
}

static void tell_of_cut(const struct opening *opening, struct nt_error *failure)
{
    const struct nt_source *source = opening->source;
    if (source->size >= opening->header.end)
        return;
    nt_error_strip(failure, source->path);
    nt_error_context(failure, "the file was cut (%" PRIu64 " of %" PRIu64 " bytes are there)", source->size,
                     opening->header.end);
    nt_error_context(failure, "%s", source->path);
}

/* A failure of the whole file; its records still exist. */
static enum nt_status fail_file(struct opening *opening, struct nt_error *failure, struct nt_error *error)
{
    tell_of_cut(opening, failure);
    return nt_failure_keep(failure, opening->file->arena, &opening->file->failure, error);
}

/* A damaged list is an entry of its directory, under a name of its own. */
static enum nt_status walk_directory(struct opening *opening, uint32_t directory, struct nt_error *error)
{
    static const struct nt_tfile_key damaged_list = {.name = {"damaged keys", 12}, .class_name = {"TKey", 4}};
    struct nt_error damage = {0};
    struct nt_tfile_key_list list = {0};
    struct nt_tfile_directory here = opening->found.directories[directory];
    enum nt_status status = count_list(opening, &here, &damage);
    if (!status)
        status = nt_tfile_key_list_init(&list, opening->source, &here, &damage);
    if (!status)
        status = read_keys(opening, directory, &list, &damage, error);
    else if (directory == 0)
        status = fail_file(opening, &damage, error);
    else
        status = nt_is_environmental(status) ? nt_fail_with(error, &damage) : NT_OK;
    nt_tfile_key_list_deinit(&list);
    if (!status && damage.status && !opening->file->failure)
        status = nt_tfile_add_failure(&opening->found, directory, &damaged_list, &damage, error);
    return status;
}

/* ---- Files without an anchor ---- */

static enum nt_status without_anchor(const struct nt_tfile_collection *found, struct nt_error *error)
{
    struct nt_buffer text = {0};
    uint64_t others = found->other_keys;
    for (uint32_t i = 0; i < found->class_count; i++) {
        const struct nt_tfile_class *class = &found->classes[i];
        if (i >= MAX_CLASSES_SHOWN) {
            others += class->keys;
            continue;
        }
        nt_buffer_format(&text, "%s%" PRIu64 " ", i ? ", " : "it holds ", class->keys);
        nt_append_printable(&text, class->name.bytes, class->name.length);
    }
    if (others)
        nt_buffer_format(&text, ", %" PRIu64 " others", others);
    enum nt_status status =
        text.failed ? nt_fail_memory(error)
                    : nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "a ROOT file without an RNTuple: %s",
                              text.length ? text.bytes : "its directories are empty");
    nt_buffer_deinit(&text);
    return status;
}

/* ---- Opening ---- */

static enum nt_status walk_all(struct opening *opening, struct nt_error *error)
{
    const struct nt_tfile_header *header = &opening->header;
    struct nt_tfile_directory root;
    struct nt_error reason = {0};
    enum nt_status status =
        nt_tfile_read_directory(opening->source, header->begin, header->name_bytes, &root, error);
    if (!status)
        status = nt_tfile_add_directory(&opening->found, &root, 0, (struct nt_text){"", 0}, error);
    /* The loop appends directories; a queue avoids recursion. */
    for (uint32_t i = 0; !status && i < opening->found.directory_count; i++)
        status = walk_directory(opening, i, error);
    if (status || opening->file->failure || opening->found.anchor_count || opening->found.may_have_orphans)
        return status;
    without_anchor(&opening->found, &reason);
    return fail_file(opening, &reason, error);
}

static enum nt_status tfile_open(struct nt_file *file, struct nt_container *container, struct nt_error *error)
{
    struct nt_error unused;
    error = error ? error : &unused;
    struct opening opening = {.file = file, .source = file->source};
    enum nt_status status = nt_tfile_read_header(file->source, &opening.header, error);
    if (status)
        return status;
    opening.key_buffer = malloc(NT_TFILE_MAX_KEY_BYTES);
    status =
        opening.key_buffer ? nt_tfile_collection_init(&opening.found, file, error) : nt_fail_memory(error);
    if (!status)
        status = walk_all(&opening, error);
    if (!status)
        status = nt_tfile_collection_keep(&opening.found, &opening.header, container, error);
    if (status)
        tell_of_cut(&opening, error);
    nt_codec_context_free(opening.codec);
    nt_tfile_collection_deinit(&opening.found);
    free(opening.key_buffer);
    return status;
}

const struct nt_container_kind nt_container_tfile = {.name = "TFile",
                                                     .magic = "root",
                                                     .open = tfile_open,
                                                     .describe = nt_tfile_describe,
                                                     .layout = nt_tfile_layout,
                                                     .visit_anchors = nt_tfile_visit_anchors,
                                                     .documents = nt_tfile_documents,
                                                     .document_count = NT_TFILE_DOCUMENT_COUNT};
