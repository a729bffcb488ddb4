/* SPDX-License-Identifier: MIT
 *
 * From the root directory to all directories and the anchors in them. A directory, list or key that is
 * damaged becomes an anchor object with a failure, so that the rest of the file stays readable and the damage
 * is seen.
 */
#include "format/rntuple/tfile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/overflow.h"
#include "base/text.h"

enum {
    MAX_ANCHOR_BYTES = 4096, /* anchors of all generations have less than 100 */
    MAX_CLASSES = 256,
    MAX_CLASSES_SHOWN = 8, /* in a message */
    FIRST_CAPACITY = 8,
};

struct opening {
    struct nt_file *file;
    struct nt_source *source;
    struct nt_codec_context *codec; /* made when the first compressed anchor is met */
    struct nt_tfile_directory *directories;
    uint32_t directory_count, directory_capacity;
    struct nt_anchor_object *anchors;
    uint32_t anchor_count, anchor_capacity;
    struct nt_tfile_class *classes; /* in the file's arena */
    uint32_t class_count;
    uint64_t other_keys;
    uint64_t list_bytes; /* of all lists of keys so far */
    uint8_t *key_buffer;
};

/* ---- collecting ---- */

static bool texts_equal(struct nt_text a, struct nt_text b)
{
    return a.length == b.length && !memcmp(a.bytes, b.bytes, a.length);
}

/* The items with room for one more, which may have moved; NULL without memory. */
static void *with_room(void *items, uint32_t count, uint32_t *capacity, size_t item_bytes)
{
    if (count < *capacity)
        return items;
    uint32_t larger = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    items = larger > *capacity ? reallocarray(items, larger, item_bytes) : NULL;
    if (items)
        *capacity = larger;
    return items;
}

static enum nt_status add_directory(struct opening *opening, const struct nt_tfile_directory *directory,
                                    uint32_t parent, struct nt_text name, struct nt_error *error)
{
    struct nt_tfile_directory *directories = with_room(opening->directories, opening->directory_count,
                                                       &opening->directory_capacity, sizeof(*directories));
    if (!directories)
        return nt_fail_memory(error);
    opening->directories = directories;
    bool is_root = opening->directory_count == 0; /* which every nt_file has from the start */
    if (!is_root && nt_file_add_directory(opening->file, parent, name) == NT_NONE)
        return nt_fail_memory(error);
    directories[opening->directory_count++] = *directory;
    return NT_OK;
}

/* Append an anchor with the names of a key; the caller fills in the rest. NULL without memory. */
static struct nt_anchor_object *add_anchor(struct opening *opening, uint32_t directory, struct nt_text name,
                                           struct nt_text class_name)
{
    struct nt_arena *arena = opening->file->arena;
    struct nt_anchor_object *anchors =
        with_room(opening->anchors, opening->anchor_count, &opening->anchor_capacity, sizeof(*anchors));
    if (!anchors)
        return NULL;
    opening->anchors = anchors;
    const char *name_copy = nt_arena_copy(arena, name.bytes, name.length);
    const char *class_copy = nt_arena_copy(arena, class_name.bytes, class_name.length);
    if (!name_copy || !class_copy)
        return NULL;
    struct nt_anchor_object *anchor = &anchors[opening->anchor_count++];
    *anchor = (struct nt_anchor_object){.directory = directory,
                                        .name = {name_copy, name.length},
                                        .is_newest_cycle = true,
                                        .class_name = class_copy};
    return anchor;
}

static enum nt_status set_failure(struct opening *opening, struct nt_anchor_object *anchor,
                                  const struct nt_error *failure, struct nt_error *error)
{
    struct nt_error *copy = nt_arena_alloc(opening->file->arena, 1, sizeof(*copy));
    if (!copy)
        return nt_fail_memory(error);
    *copy = *failure;
    anchor->failure = copy;
    return NT_OK;
}

static enum nt_status add_failure(struct opening *opening, uint32_t directory, const struct nt_tfile_key *key,
                                  const struct nt_error *failure, struct nt_error *error)
{
    struct nt_anchor_object *anchor = add_anchor(opening, directory, key->name, key->class_name);
    if (!anchor)
        return nt_fail_memory(error);
    anchor->cycle = key->cycle;
    return set_failure(opening, anchor, failure, error);
}

/* Failures that concern the whole file and not only what was being read. */
static bool is_fatal(enum nt_status status)
{
    return status == NT_NO_MEMORY || status == NT_IO || status == NT_CHANGED;
}

static enum nt_status count_class(struct opening *opening, struct nt_text name, struct nt_error *error)
{
    for (uint32_t i = 0; i < opening->class_count; i++) {
        if (texts_equal(opening->classes[i].name, name)) {
            opening->classes[i].keys++;
            return NT_OK;
        }
    }
    if (opening->class_count == MAX_CLASSES) {
        opening->other_keys++;
        return NT_OK;
    }
    const char *copy = nt_arena_copy(opening->file->arena, name.bytes, name.length);
    if (!copy)
        return nt_fail_memory(error);
    opening->classes[opening->class_count++] =
        (struct nt_tfile_class){.name = {copy, name.length}, .keys = 1};
    return NT_OK;
}

/* ---- what keys point to ---- */

/* The key in front of an object is the same as its copy in the directory's list (times may differ by a
 * second). Neither has a checksum: comparing them is the only way to notice a changed name or place. */
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
        key.directory_offset != copy->directory_offset || !texts_equal(key.class_name, copy->class_name) ||
        !texts_equal(key.name, copy->name))
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
    return nt_compression(NT_COMPRESSION_ROOT_BLOCKS)
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
        memcpy(object, stored, stored_bytes);
    if (status)
        return status;
    anchor->bytes = object;
    anchor->length = key->object_bytes;
    return NT_OK;
}

static enum nt_status take_anchor(struct opening *opening, uint32_t directory, const struct nt_tfile_key *key,
                                  struct nt_error *error)
{
    struct nt_anchor_object *anchor = add_anchor(opening, directory, key->name, key->class_name);
    if (!anchor)
        return nt_fail_memory(error);
    anchor->cycle = key->cycle;
    struct nt_error failure = {0};
    enum nt_status status = read_anchor(opening, key, anchor, &failure);
    if (!status)
        return NT_OK;
    nt_error_context(&failure, "%s: anchor", opening->source->path);
    if (is_fatal(status)) {
        if (error)
            *error = failure;
        return status;
    }
    return set_failure(opening, anchor, &failure, error);
}

/* How deep a directory lies; NT_CORRUPT where `offset` is that of one of the directories above. */
static enum nt_status check_nesting(const struct opening *opening, uint32_t parent, uint64_t offset,
                                    struct nt_error *error)
{
    uint32_t depth = 0;
    for (uint32_t at = parent;; at = opening->file->directories[at].parent) {
        if (opening->directories[at].offset == offset)
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
        return add_directory(opening, &directory, parent, key->name, error);
    nt_error_context(&failure, "%s: directory", opening->source->path);
    if (is_fatal(status)) {
        if (error)
            *error = failure;
        return status;
    }
    return add_failure(opening, parent, key, &failure, error);
}

/* ---- walking ---- */

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
        status = count_class(opening, key.class_name, error);
        if (!status && nt_tfile_is_anchor(&key))
            status = take_anchor(opening, directory, &key, error);
        else if (!status && nt_tfile_is_directory(&key))
            status = take_directory(opening, directory, &key, error);
        if (status)
            return status;
    }
    return NT_OK;
}

/* Lists of keys do not overlap, so that together they cannot be longer than the file: this bounds the work on
 * a file whose directories share a list. */
static enum nt_status count_list(struct opening *opening, const struct nt_tfile_directory *directory,
                                 struct nt_error *error)
{
    uint64_t size = opening->source->size;
    bool is_readable = directory->keys_offset && directory->keys_bytes <= size;
    if (!is_readable) /* there is none, or reading it will tell what is wrong with it */
        return NT_OK;
    opening->list_bytes += directory->keys_bytes;
    if (opening->list_bytes > size)
        return nt_fail(error, NT_CORRUPT, directory->offset, "the directories' lists of keys overlap");
    return NT_OK;
}

/* What is damaged in the list itself stands in its directory under a name of its own. */
static enum nt_status walk_directory(struct opening *opening, uint32_t directory, struct nt_error *error)
{
    static const struct nt_tfile_key damaged_list = {.name = {"damaged keys", 12}, .class_name = {"TKey", 4}};
    struct nt_error damage = {0};
    struct nt_tfile_key_list list = {0};
    struct nt_tfile_directory here = opening->directories[directory];
    enum nt_status status = count_list(opening, &here, &damage);
    if (!status)
        status = nt_tfile_key_list_init(&list, opening->source, &here, &damage);
    if (!status)
        status = read_keys(opening, directory, &list, &damage, error);
    else if (directory == 0 || is_fatal(status))
        *error = damage;
    else
        status = NT_OK;
    nt_tfile_key_list_deinit(&list);
    if (!status && damage.status)
        status = add_failure(opening, directory, &damaged_list, &damage, error);
    return status;
}

/* ---- the newest of several cycles ---- */

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

static enum nt_status mark_newest(struct opening *opening, struct nt_error *error)
{
    uint32_t count = opening->anchor_count;
    struct nt_anchor_object **sorted = calloc((size_t)count + 1, sizeof(struct nt_anchor_object *));
    if (!sorted)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &opening->anchors[i];
    qsort(sorted, count, sizeof(*sorted), compare_anchors);
    for (uint32_t i = 1; i < count; i++) {
        const struct nt_anchor_object *before = sorted[i - 1];
        if (before->directory == sorted[i]->directory && texts_equal(before->name, sorted[i]->name))
            sorted[i]->is_newest_cycle = false;
    }
    free(sorted);
    return NT_OK;
}

/* ---- what else a file without an anchor holds ---- */

static enum nt_status without_anchor(const struct opening *opening, struct nt_error *error)
{
    struct nt_buffer text = {0};
    uint64_t others = opening->other_keys;
    for (uint32_t i = 0; i < opening->class_count; i++) {
        const struct nt_tfile_class *class = &opening->classes[i];
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
        nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "%s: a ROOT file without an RNTuple: %s",
                opening->source->path, text.bytes ? text.bytes : "its directories are empty");
    nt_buffer_deinit(&text);
    return status;
}

/* ---- opening ---- */

static enum nt_status walk_all(struct opening *opening, const struct nt_tfile_header *header,
                               struct nt_error *error)
{
    struct nt_tfile_directory root;
    enum nt_status status =
        nt_tfile_read_directory(opening->source, header->begin, header->name_bytes, &root, error);
    if (!status)
        status = add_directory(opening, &root, 0, (struct nt_text){"", 0}, error);
    /* Directories are appended while this goes on; a queue needs no recursion. */
    for (uint32_t i = 0; !status && i < opening->directory_count; i++)
        status = walk_directory(opening, i, error);
    if (!status && !opening->anchor_count)
        status = without_anchor(opening, error);
    return status ? status : mark_newest(opening, error);
}

/* Hand the result over to the file's arena. */
static enum nt_status keep(struct opening *opening, const struct nt_tfile_header *header,
                           struct nt_container *container, struct nt_error *error)
{
    struct nt_arena *arena = opening->file->arena;
    size_t directory_bytes = opening->directory_count * sizeof(*opening->directories);
    size_t anchor_bytes = opening->anchor_count * sizeof(*opening->anchors);
    struct nt_tfile *tfile = nt_arena_alloc(arena, 1, sizeof(*tfile));
    void *directories = nt_arena_alloc(arena, 1, directory_bytes);
    void *anchors = nt_arena_alloc(arena, 1, anchor_bytes);
    if (!tfile || !directories || !anchors)
        return nt_fail_memory(error);
    *tfile = (struct nt_tfile){.header = *header,
                               .directories = directories,
                               .directory_count = opening->directory_count,
                               .classes = opening->classes,
                               .class_count = opening->class_count,
                               .other_keys = opening->other_keys};
    memcpy(directories, opening->directories, directory_bytes);
    memcpy(anchors, opening->anchors, anchor_bytes);
    container->anchors = anchors;
    container->anchor_count = opening->anchor_count;
    container->details = tfile;
    return NT_OK;
}

static enum nt_status tfile_open(struct nt_file *file, struct nt_container *container, struct nt_error *error)
{
    struct nt_error unused;
    error = error ? error : &unused;
    struct nt_tfile_header header;
    enum nt_status status = nt_tfile_read_header(file->source, &header, error);
    if (status)
        return status;
    struct opening opening = {.file = file,
                              .source = file->source,
                              .classes = nt_arena_alloc(file->arena, MAX_CLASSES, sizeof(*opening.classes)),
                              .key_buffer = malloc(NT_TFILE_MAX_KEY_BYTES)};
    status =
        opening.classes && opening.key_buffer ? walk_all(&opening, &header, error) : nt_fail_memory(error);
    if (!status)
        status = keep(&opening, &header, container, error);
    if (status && file->source->size < header.end)
        nt_error_context(error, "the file was cut (%" PRIu64 " of %" PRIu64 " bytes are there)",
                         file->source->size, header.end);
    nt_codec_context_free(opening.codec);
    free(opening.directories);
    free(opening.anchors);
    free(opening.key_buffer);
    return status;
}

const struct nt_container_kind nt_container_tfile = {.name = "TFile",
                                                     .magic = "root",
                                                     .open = tfile_open,
                                                     .describe = nt_tfile_describe,
                                                     .layout = nt_tfile_layout,
                                                     .documents = nt_tfile_documents,
                                                     .document_count = NT_TFILE_DOCUMENT_COUNT};
