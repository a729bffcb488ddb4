/* SPDX-License-Identifier: MIT
 *
 * Opens a ROOT file: walks all directories from the root and collects them, the anchor objects, the
 * trees and the classes of keys; then finds the newest cycle of each name. A damaged directory, key list
 * or key becomes an entry with an error, so that the rest of the file stays readable. Trees of a file
 * that was not closed are found by a walk over its records.
 */
#include "container/container.h"

#include "core/base/built_in.h"

struct tfile_opener {
    struct nt_file *file;
    struct nt_container *container; /* a failure, or signs of more anchors, set its `may_have_orphans` */
    /* What is found, in the structures that the container keeps; the arrays are from malloc until then. */
    struct nt_tfile *tfile;
    struct nt_tfile_directory *directories; /* match the file's directories by index */
    struct nt_anchor_object *anchors;
    struct nt_tfile_object *objects;
    uint32_t anchor_count, object_count;
    size_t directory_capacity, anchor_capacity, object_capacity;
    struct nt_tfile_class *classes; /* in the file's arena */
    /* Needed while reading. */
    struct nt_codec_context *codec; /* created for the first compressed anchor */
    uint64_t list_bytes;            /* of all key lists so far */
    uint8_t *key_buffer;
};

/* ---- Directories, anchors, trees and classes ---- */

/* Limit of key classes that are counted by name. */
enum { NT_TFILE_MAX_CLASSES = 256 };

static enum nt_status tfile_opener_init(struct tfile_opener *opener, const struct nt_tfile_header *header,
                                        struct nt_error *error)
{
    struct nt_arena *arena = opener->file->arena;
    opener->key_buffer = malloc(NT_TFILE_MAX_KEY_BYTES);
    opener->tfile = nt_arena_alloc(arena, 1, sizeof(*opener->tfile));
    opener->classes = nt_arena_alloc(arena, NT_TFILE_MAX_CLASSES, sizeof(*opener->classes));
    NT_TRY(nt_check_memory(opener->key_buffer && opener->tfile && opener->classes, error));
    *opener->tfile = (struct nt_tfile){.header = *header,
                                       .classes = opener->classes,
                                       .info_offset = header->info_offset,
                                       .info_bytes = header->info_bytes};
    opener->container->details = opener->tfile;
    return NT_OK;
}

static void tfile_opener_deinit(struct tfile_opener *opener)
{
    free(opener->directories);
    free(opener->anchors);
    free(opener->objects);
    nt_codec_context_free(opener->codec);
    free(opener->key_buffer);
}

/* Adds a directory, also to the file; the first one is the root. */
static enum nt_status tfile_add_directory(struct tfile_opener *opener,
                                          const struct nt_tfile_directory *directory, uint32_t parent,
                                          struct nt_text name, struct nt_error *error)
{
    NT_TRY(nt_check_memory(
        NT_GROW(opener->directories, opener->tfile->directory_count, opener->directory_capacity), error));
    bool is_root = opener->tfile->directory_count == 0; /* every nt_file already has its root */
    if (!is_root && nt_file_add_directory(opener->file, parent, name) == NT_NONE)
        return nt_fail_memory(error);
    opener->directories[opener->tfile->directory_count] = *directory;
    opener->directories[opener->tfile->directory_count++].parent = opener->directories[parent].offset;
    return NT_OK;
}

/* Appends an anchor and copies the names of its key; the caller fills in the rest. NULL if out of
 * memory. Valid until the next call. */
static struct nt_anchor_object *tfile_add_anchor(struct tfile_opener *opener, uint32_t directory,
                                                 const struct nt_tfile_key *key)
{
    struct nt_arena *arena = opener->file->arena;
    struct nt_text name, class_name;
    if (!NT_GROW(opener->anchors, opener->anchor_count, opener->anchor_capacity))
        return NULL;
    if (!nt_text_copy(arena, key->name, &name) || !nt_text_copy(arena, key->class_name, &class_name))
        return NULL;
    struct nt_anchor_object *anchor = &opener->anchors[opener->anchor_count++];
    *anchor = (struct nt_anchor_object){.directory = directory,
                                        .name = name,
                                        .cycle = key->cycle,
                                        .is_newest_cycle = true,
                                        .class_name = class_name.bytes};
    return anchor;
}

static enum nt_status tfile_set_failure(struct tfile_opener *opener, struct nt_anchor_object *anchor,
                                        const struct nt_error *failure, struct nt_error *error)
{
    opener->container->may_have_orphans = true;
    return nt_failure_keep(failure, opener->file->arena, &anchor->failure, error);
}

/* Adds an anchor that is only a failure, under the names of a key. Returns an environmental failure. */
static enum nt_status tfile_add_failure(struct tfile_opener *opener, uint32_t directory,
                                        const struct nt_tfile_key *key, const struct nt_error *failure,
                                        struct nt_error *error)
{
    struct nt_anchor_object *anchor = tfile_add_anchor(opener, directory, key);
    NT_TRY(nt_check_memory(anchor, error));
    anchor->is_damage = true;
    return tfile_set_failure(opener, anchor, failure, error);
}

/* Appends a tree and copies the texts of its key. NULL if out of memory. Valid until the next call. */
static struct nt_tfile_object *tfile_add_object(struct tfile_opener *opener, uint32_t directory,
                                                const struct nt_tfile_key *key)
{
    struct nt_arena *arena = opener->file->arena;
    if (!NT_GROW(opener->objects, opener->object_count, opener->object_capacity))
        return NULL;
    struct nt_tfile_object object = {.directory = directory,
                                     .cycle = key->cycle,
                                     .is_newest_cycle = true,
                                     .is_listed = true,
                                     .offset = key->offset,
                                     .key_bytes = key->key_bytes,
                                     .bytes = key->bytes,
                                     .object_bytes = key->object_bytes};
    if (!nt_text_copy(arena, key->name, &object.name) || !nt_text_copy(arena, key->title, &object.title) ||
        !nt_text_copy(arena, key->class_name, &object.class_name))
        return NULL;
    opener->objects[opener->object_count] = object;
    return &opener->objects[opener->object_count++];
}

static enum nt_status tfile_count_class(struct tfile_opener *opener, struct nt_text name,
                                        struct nt_error *error)
{
    for (uint32_t i = 0; i < opener->tfile->class_count; i++) {
        if (nt_texts_are_equal(opener->classes[i].name, name)) {
            opener->classes[i].keys++;
            return NT_OK;
        }
    }
    if (opener->tfile->class_count == NT_TFILE_MAX_CLASSES) {
        opener->tfile->other_keys++;
        return NT_OK;
    }
    NT_TRY(nt_check_memory(nt_text_copy(opener->file->arena, name, &name), error));
    opener->classes[opener->tfile->class_count++] = (struct nt_tfile_class){.name = name, .keys = 1};
    return NT_OK;
}

/* ---- Newest cycles ---- */

/* An anchor or a tree, as an item of its name. */
struct cycle {
    uint32_t directory, cycle;
    struct nt_text name;
    uint64_t offset;
    struct nt_anchor_object *anchor; /* NULL: a tree */
    struct nt_tfile_object *object;
};

static int compare_names(const struct cycle *first, const struct cycle *second)
{
    if (first->directory != second->directory)
        return first->directory < second->directory ? -1 : 1;
    if (first->name.length != second->name.length)
        return first->name.length < second->name.length ? -1 : 1;
    return memcmp(first->name.bytes, second->name.bytes, first->name.length);
}

/* Anchors before trees, then by cycle: the highest first, and of equal ones the readable one. */
static int compare_cycles(const void *a, const void *b)
{
    const struct cycle *first = a, *second = b;
    int order = compare_names(first, second);
    if (order)
        return order;
    if (!first->anchor != !second->anchor)
        return first->anchor ? -1 : 1;
    if (first->cycle != second->cycle)
        return first->cycle > second->cycle ? -1 : 1;
    bool has_failed = first->object && first->object->failure;
    bool other_has = second->object && second->object->failure;
    if (has_failed != other_has)
        return has_failed ? 1 : -1;
    return (first->offset < second->offset) - (first->offset > second->offset);
}

/* All of them in order, from malloc; NULL if out of memory. */
static struct cycle *sort_cycles(const struct tfile_opener *opener, size_t *count_ret)
{
    size_t count = (size_t)opener->anchor_count + opener->object_count;
    struct cycle *cycles = calloc(count + 1, sizeof(*cycles)), *next = cycles;
    if (!cycles)
        return NULL;
    for (uint32_t i = 0; i < opener->anchor_count; i++) {
        struct nt_anchor_object *anchor = &opener->anchors[i];
        *next++ = (struct cycle){anchor->directory, anchor->cycle, anchor->name, 0, anchor, NULL};
    }
    for (uint32_t i = 0; i < opener->object_count; i++) {
        struct nt_tfile_object *object = &opener->objects[i];
        *next++ =
            (struct cycle){object->directory, object->cycle, object->name, object->offset, NULL, object};
    }
    qsort(cycles, count, sizeof(*cycles), compare_cycles);
    *count_ret = count;
    return cycles;
}

static enum nt_status mark_newest(struct tfile_opener *opener, struct nt_error *error)
{
    size_t count, first = 0;
    NT_AUTO_FREE struct cycle *cycles = sort_cycles(opener, &count);
    NT_TRY(nt_check_memory(cycles, error));
    for (size_t i = 1; i < count; i++) {
        if (compare_names(&cycles[first], &cycles[i])) {
            first = i;
            continue;
        }
        if (cycles[i].anchor)
            cycles[i].anchor->is_newest_cycle = false;
        else if (cycles[i - 1].object)
            cycles[i].object->is_newest_cycle = false;
        if (cycles[i].object)
            cycles[i].object->has_rival = cycles[first].anchor;
    }
    return NT_OK;
}

/* ---- Trees that were found without a list of keys ---- */

/* Marks all trees of one name but the one to keep: listed ones stay. */
static void choose(struct cycle *cycles, size_t count)
{
    bool has_one = false;
    for (size_t i = 0; i < count; i++)
        has_one |= cycles[i].object && cycles[i].object->is_listed && !cycles[i].object->failure;
    for (size_t i = 0; i < count; i++) {
        struct nt_tfile_object *object = cycles[i].object;
        if (!object || object->is_listed)
            continue;
        if (has_one)
            object->bytes = 0;
        has_one = true;
    }
}

/* Of the trees without a list of keys, keeps the newest of each name that no readable listed tree has. */
static enum nt_status tfile_keep_newest_lost(struct tfile_opener *opener, struct nt_error *error)
{
    size_t count;
    NT_AUTO_FREE struct cycle *cycles = sort_cycles(opener, &count);
    NT_TRY(nt_check_memory(cycles, error));
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && !compare_names(&cycles[first], &cycles[end]); end++)
            continue;
        choose(&cycles[first], end - first);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < opener->object_count; i++)
        if (opener->objects[i].is_listed || opener->objects[i].bytes)
            opener->objects[kept++] = opener->objects[i];
    opener->object_count = kept;
    return NT_OK;
}

/* ---- Result ---- */

/* Marks the newest cycles and moves the arrays to the file's arena. */
static enum nt_status tfile_keep(struct tfile_opener *opener, struct nt_error *error)
{
    struct nt_arena *arena = opener->file->arena;
    struct nt_container *container = opener->container;
    NT_TRY(mark_newest(opener, error));
    container->anchors =
        (void *)nt_arena_copy(arena, opener->anchors, opener->anchor_count * sizeof(*opener->anchors));
    container->objects =
        (void *)nt_arena_copy(arena, opener->objects, opener->object_count * sizeof(*opener->objects));
    opener->tfile->directories = (void *)nt_arena_copy(
        arena, opener->directories, opener->tfile->directory_count * sizeof(*opener->directories));
    NT_TRY(nt_check_memory(opener->tfile->directories && container->anchors && container->objects, error));
    container->anchor_count = opener->anchor_count;
    container->object_count = opener->object_count;
    return NT_OK;
}

/* ---- Walk the directories ---- */

/* ---- Objects of keys ---- */

/* The key before an object equals its copy in the directory's list (times may differ by a second).
 * Neither has a checksum: only this comparison detects a changed name or offset. */
static enum nt_status check_record(struct tfile_opener *opener, const struct nt_tfile_key *copy,
                                   struct nt_error *error)
{
    struct nt_tfile_key key;
    NT_TRY(nt_tfile_read_key(opener->file->source, copy->offset, opener->key_buffer, &key, error));
    if (key.bytes != copy->bytes || key.key_bytes != copy->key_bytes ||
        key.object_bytes != copy->object_bytes || key.cycle != copy->cycle ||
        key.directory_offset != copy->directory_offset ||
        !nt_texts_are_equal(key.class_name, copy->class_name) || !nt_texts_are_equal(key.name, copy->name))
        return nt_fail(error, NT_CORRUPT, copy->offset,
                       "the key in front of the object and its copy in the directory's list differ");
    if (!nt_range_fits(key.offset, key.bytes, opener->file->source->size))
        return nt_fail(error, NT_TRUNCATED, copy->offset,
                       "the object's %" PRIu32 " bytes go beyond the end of the file (%" PRIu64 " bytes)",
                       key.bytes, opener->file->source->size);
    return NT_OK;
}

static enum nt_status decompress_object(struct tfile_opener *opener, const uint8_t *stored,
                                        size_t stored_bytes, uint8_t *object, size_t object_bytes,
                                        struct nt_error *error)
{
    if (!opener->codec)
        opener->codec = nt_codec_context_new();
    NT_TRY(nt_check_memory(opener->codec, error));
    return nt_compression_info(NT_COMPRESSION_ROOT_BLOCKS)
        ->decompress(stored, stored_bytes, object, object_bytes, opener->codec, error);
}

enum { MAX_ANCHOR_BYTES = 4096 }; /* anchors of all versions have less than 100 */

static enum nt_status read_anchor(struct tfile_opener *opener, const struct nt_tfile_key *key,
                                  struct nt_anchor_object *anchor, struct nt_error *error)
{
    NT_TRY(check_record(opener, key, error));
    uint32_t stored_bytes = key->bytes - key->key_bytes;
    uint8_t stored[MAX_ANCHOR_BYTES];
    if (stored_bytes > MAX_ANCHOR_BYTES || key->object_bytes > MAX_ANCHOR_BYTES)
        return nt_fail(error, NT_CORRUPT, key->offset,
                       "an anchor of %" PRIu32 " bytes (%" PRIu32 " stored) is impossible", key->object_bytes,
                       stored_bytes);
    uint8_t *object = nt_arena_alloc(opener->file->arena, 1, key->object_bytes + 1);
    NT_TRY(nt_check_memory(object, error));
    anchor->offset = key->offset + key->key_bytes;
    anchor->stored_bytes = stored_bytes;
    NT_TRY(nt_source_read(opener->file->source, anchor->offset, stored, stored_bytes, error));
    if (nt_tfile_is_compressed(key))
        NT_TRY(
            nt_with_offset(decompress_object(opener, stored, stored_bytes, object, key->object_bytes, error),
                           error, anchor->offset));
    else
        memcpy(object, stored, key->object_bytes); /* the first bytes, as in ROOT */
    anchor->bytes = object;
    anchor->length = key->object_bytes;
    return NT_OK;
}

static enum nt_status take_anchor(struct tfile_opener *opener, uint32_t directory,
                                  const struct nt_tfile_key *key, struct nt_error *error)
{
    struct nt_anchor_object *anchor = tfile_add_anchor(opener, directory, key);
    struct nt_error failure = {0};
    NT_TRY(nt_check_memory(anchor, error));
    if (read_anchor(opener, key, anchor, &failure) == NT_OK)
        return NT_OK;
    nt_error_context(&failure, "%s: anchor", opener->file->source->path);
    return tfile_set_failure(opener, anchor, &failure, error);
}

static enum nt_status take_tree(struct tfile_opener *opener, uint32_t directory,
                                const struct nt_tfile_key *key, struct nt_error *error)
{
    struct nt_error failure = {0};
    struct nt_tfile_object *object = tfile_add_object(opener, directory, key);
    NT_TRY(nt_check_memory(object, error));
    if (check_record(opener, key, &failure) == NT_OK)
        return NT_OK;
    nt_error_context(&failure, "%s: tree", opener->file->source->path);
    return nt_failure_keep(&failure, opener->file->arena, &object->failure, error);
}

/* The depth of a directory; NT_CORRUPT if `offset` is that of one of its ancestors. */
static enum nt_status check_nesting(const struct tfile_opener *opener, uint32_t parent, uint64_t offset,
                                    struct nt_error *error)
{
    uint32_t depth = 0;
    for (uint32_t at = parent;; at = opener->file->directories[at].parent) {
        if (opener->directories[at].offset == offset)
            return nt_fail(error, NT_CORRUPT, offset, "the directory contains itself");
        if (at == 0)
            break;
        if (++depth == NT_MAX_DEPTH)
            return nt_fail(error, NT_LIMIT, offset, "directories are nested more than %d deep", NT_MAX_DEPTH);
    }
    return NT_OK;
}

static enum nt_status read_directory(struct tfile_opener *opener, uint32_t parent,
                                     const struct nt_tfile_key *key, struct nt_tfile_directory *directory_ret,
                                     struct nt_error *error)
{
    NT_TRY(check_nesting(opener, parent, key->offset, error));
    NT_TRY(check_record(opener, key, error));
    return nt_tfile_read_directory(opener->file->source, key->offset, key->key_bytes, directory_ret, error);
}

static enum nt_status take_directory(struct tfile_opener *opener, uint32_t parent,
                                     const struct nt_tfile_key *key, struct nt_error *error)
{
    struct nt_error failure = {0};
    struct nt_tfile_directory directory;
    if (read_directory(opener, parent, key, &directory, &failure) == NT_OK)
        return tfile_add_directory(opener, &directory, parent, key->name, error);
    nt_error_context(&failure, "%s: directory", opener->file->source->path);
    return tfile_add_failure(opener, parent, key, &failure, error);
}

/* A class with a name close to a known one may be damaged: checks the key before the object. */
static enum nt_status check_class(struct tfile_opener *opener, uint32_t directory,
                                  const struct nt_tfile_key *key, struct nt_error *error)
{
    struct nt_error failure = {0};
    if (check_record(opener, key, &failure) == NT_OK)
        return NT_OK;
    nt_error_context(&failure, "%s: key", opener->file->source->path);
    return tfile_add_failure(opener, directory, key, &failure, error);
}

static enum nt_status take_object(struct tfile_opener *opener, uint32_t directory,
                                  const struct nt_tfile_key *key, struct nt_error *error)
{
    if (nt_tfile_is_anchor(key))
        return take_anchor(opener, directory, key, error);
    if (nt_tfile_is_tree(key))
        return take_tree(opener, directory, key, error);
    if (nt_tfile_is_directory(key))
        return take_directory(opener, directory, key, error);
    return nt_tfile_is_near_miss(key) ? check_class(opener, directory, key, error) : NT_OK;
}

/* ---- Walk ---- */

/* Requests what a list of keys leads to at once, and the description of the trees' classes. */
static void prefetch_objects(const struct tfile_opener *opener, struct nt_tfile_key_list list)
{
    enum { MAX_EXTENTS = 64, MAX_BYTES = 8 << 20 };
    const struct nt_tfile_header *header = &opener->tfile->header;
    struct nt_extent extents[MAX_EXTENTS];
    struct nt_tfile_key key;
    uint64_t bytes = header->info_bytes;
    size_t count = 0;
    bool has_tree = false;
    for (enum nt_status status = NT_OK; status != NT_NOT_FOUND && count + 1 < MAX_EXTENTS;) {
        status = nt_tfile_key_list_next(&list, &key, NULL);
        if (status || bytes + key.bytes > MAX_BYTES ||
            !(nt_tfile_is_tree(&key) || nt_tfile_is_anchor(&key) || nt_tfile_is_directory(&key)))
            continue;
        has_tree |= nt_tfile_is_tree(&key);
        bytes += key.bytes;
        extents[count++] = (struct nt_extent){key.offset, key.bytes};
    }
    if (has_tree && header->info_bytes <= MAX_BYTES)
        extents[count++] = (struct nt_extent){header->info_offset, header->info_bytes};
    nt_source_prefetch(opener->file->source, extents, count, NT_PREFETCH_COLD);
}

static enum nt_status read_keys(struct tfile_opener *opener, uint32_t directory,
                                struct nt_tfile_key_list *list, struct nt_error *damage,
                                struct nt_error *error)
{
    struct nt_tfile_key key;
    struct nt_error failure = {0};
    enum nt_status status;
    if (nt_source_can_prefetch(opener->file->source))
        prefetch_objects(opener, *list);
    while ((status = nt_tfile_key_list_next(list, &key, &failure)) != NT_NOT_FOUND) {
        if (status) {
            if (!damage->status)
                *damage = failure;
            continue;
        }
        NT_TRY(tfile_count_class(opener, key.class_name, error));
        NT_TRY(take_object(opener, directory, &key, error));
    }
    opener->container->may_have_orphans |= nt_tfile_key_list_goes_on(list);
    return NT_OK;
}

/* Key lists do not overlap, so their total is at most the file size. This bounds the work if
 * directories share a list. */
static enum nt_status count_list(struct tfile_opener *opener, const struct nt_tfile_directory *directory,
                                 struct nt_error *error)
{
    uint64_t size = opener->file->source->size;
    bool is_readable = directory->keys_offset && directory->keys_bytes <= size;
    if (!is_readable) /* no list, or reading it will report the problem */
        return NT_OK;
    opener->list_bytes += directory->keys_bytes;
    if (opener->list_bytes > size)
        return nt_fail(error, NT_CORRUPT, directory->offset, "the key lists of the directories overlap");
    return NT_OK;
}

static void report_truncation(const struct nt_source *source, const struct nt_tfile_header *header,
                              struct nt_error *failure)
{
    if (source->size >= header->end)
        return;
    nt_error_strip(failure, source->path);
    nt_error_context(failure, "the file is truncated (%" PRIu64 " of %" PRIu64 " bytes)", source->size,
                     header->end);
    nt_error_context(failure, "%s", source->path);
}

/* A failure of the whole file; its records still exist. */
static enum nt_status fail_file(struct tfile_opener *opener, struct nt_error *failure, struct nt_error *error)
{
    report_truncation(opener->file->source, &opener->tfile->header, failure);
    return nt_failure_keep(failure, opener->file->arena, &opener->file->failure, error);
}

/* A damaged list is an entry of its directory, under a name of its own. */
static enum nt_status walk_directory(struct tfile_opener *opener, uint32_t directory, struct nt_error *error)
{
    static const struct nt_tfile_key damaged_list = {.name = {"damaged keys", 12}, .class_name = {"TKey", 4}};
    struct nt_error damage = {0};
    NT_CLEANUP(nt_tfile_key_list_deinit) struct nt_tfile_key_list list = {0};
    struct nt_tfile_directory here = opener->directories[directory];
    enum nt_status status = count_list(opener, &here, &damage);
    if (!status)
        status = nt_tfile_key_list_init(&list, opener->file->source, &here, &damage);
    if (!status)
        NT_TRY(read_keys(opener, directory, &list, &damage, error));
    else if (directory == 0)
        return fail_file(opener, &damage, error);
    return damage.status ? tfile_add_failure(opener, directory, &damaged_list, &damage, error) : NT_OK;
}

/* Directories are appended on the way; a queue avoids recursion. */
static enum nt_status walk_directories(struct tfile_opener *opener, uint32_t first, struct nt_error *error)
{
    for (uint32_t i = first; i < opener->tfile->directory_count; i++)
        NT_TRY(walk_directory(opener, i, error));
    return NT_OK;
}

/* ---- Files that were not closed ---- */

static bool may_have_lost_trees(const struct tfile_opener *opener)
{
    const struct nt_tfile_header *header = &opener->tfile->header;
    bool is_requested = header->records_end != header->end;
    for (uint32_t i = 0; i < opener->tfile->directory_count; i++)
        is_requested |= !opener->directories[i].has_list;
    for (uint32_t i = 0; i < opener->object_count; i++)
        is_requested |= opener->objects[i].failure != NULL;
    return !header->is_closed && is_requested;
}

/* A directory by the offset of its record. */
struct known_directory {
    struct nt_hash_link link;
    uint32_t directory;
};

struct recovery {
    struct tfile_opener *opener;
    struct nt_hash_table directories_by_offset; /* of the first `placed` directories */
    uint32_t placed;
    struct nt_arena *arena; /* of the places */
};

static struct known_directory *find_directory(const struct recovery *recovery, uint64_t offset)
{
    struct nt_hash_link *link = nt_hash_table_find(&recovery->directories_by_offset, offset);
    return link ? NT_CONTAINER_OF(link, struct known_directory, link) : NULL;
}

static enum nt_status place_directories(struct recovery *recovery, struct nt_error *error)
{
    const struct tfile_opener *opener = recovery->opener;
    for (; recovery->placed < opener->tfile->directory_count; recovery->placed++) {
        uint64_t offset = opener->directories[recovery->placed].offset;
        if (find_directory(recovery, offset))
            continue;
        struct known_directory *known_directory =
            nt_arena_alloc(recovery->arena, 1, sizeof(*known_directory));
        NT_TRY(nt_check_memory(known_directory, error));
        known_directory->directory = recovery->placed;
        nt_hash_table_insert(&recovery->directories_by_offset, &known_directory->link, offset);
    }
    return NT_OK;
}

/* The root for what is in no known directory. */
static uint32_t directory_of(const struct recovery *recovery, const struct nt_tfile_key *key)
{
    const struct known_directory *known_directory = find_directory(recovery, key->directory_offset);
    return known_directory ? known_directory->directory : 0;
}

/* A directory that no list has. Lists of keys have its class, too, but not its content. */
static enum nt_status recover_directory(struct recovery *recovery, const struct nt_tfile_key *key,
                                        struct nt_error *error)
{
    struct tfile_opener *opener = recovery->opener;
    struct nt_tfile_directory directory;
    struct nt_error failure = {0};
    uint32_t parent = directory_of(recovery, key), first = opener->tfile->directory_count;
    enum nt_status status = check_nesting(opener, parent, key->offset, &failure);
    if (!status)
        status =
            nt_tfile_read_directory(opener->file->source, key->offset, key->key_bytes, &directory, &failure);
    if (status)
        return nt_is_environmental(status) ? nt_fail_copy(error, &failure) : NT_OK;
    NT_TRY(tfile_add_directory(opener, &directory, parent, key->name, error));
    NT_TRY(walk_directories(opener, first, error));
    return place_directories(recovery, error);
}

static enum nt_status recover_record(struct recovery *recovery, const struct nt_tfile_key *key,
                                     struct nt_error *error)
{
    struct tfile_opener *opener = recovery->opener;
    if (nt_tfile_is_directory(key) && !find_directory(recovery, key->offset))
        return recover_directory(recovery, key, error);
    if (!opener->tfile->info_offset && nt_text_is(key->class_name, "TList") &&
        nt_text_is(key->name, "StreamerInfo")) {
        opener->tfile->info_offset = key->offset;
        opener->tfile->info_bytes = key->bytes;
    }
    if (!nt_tfile_is_tree(key))
        return NT_OK;
    struct nt_tfile_object *object = tfile_add_object(opener, directory_of(recovery, key), key);
    NT_TRY(nt_check_memory(object, error));
    object->is_listed = false;
    return NT_OK;
}

static enum nt_status recover_records(struct recovery *recovery, struct nt_error *error)
{
    const struct tfile_opener *opener = recovery->opener;
    NT_CLEANUP(nt_tfile_walk_deinit) struct nt_tfile_walk walk = {0};
    struct nt_tfile_record record;
    enum nt_status status = nt_tfile_walk_init(&walk, opener->file->source, &opener->tfile->header, error);
    while (!status && !(status = nt_tfile_walk_next(&walk, &record, error)))
        if (record.kind == NT_TFILE_KEY)
            status = recover_record(recovery, &record.key, error);
    return status == NT_NOT_FOUND ? NT_OK : status;
}

static void recovery_deinit(struct recovery *recovery)
{
    nt_hash_table_deinit(&recovery->directories_by_offset);
    nt_arena_free(recovery->arena);
}

static enum nt_status recover_trees(struct tfile_opener *opener, struct nt_error *error)
{
    NT_CLEANUP(recovery_deinit) struct recovery recovery = {.opener = opener, .arena = nt_arena_new()};
    bool has_table = nt_hash_table_init(&recovery.directories_by_offset);
    NT_TRY(nt_check_memory(recovery.arena && has_table, error));
    NT_TRY(place_directories(&recovery, error));
    NT_TRY(recover_records(&recovery, error));
    return tfile_keep_newest_lost(opener, error);
}

/* ---- Opening ---- */

static enum nt_status walk_all(struct tfile_opener *opener, struct nt_error *error)
{
    const struct nt_tfile_header *header = &opener->tfile->header;
    struct nt_tfile_directory root;
    NT_TRY(nt_tfile_read_directory(opener->file->source, header->begin, header->name_bytes, &root, error));
    NT_TRY(tfile_add_directory(opener, &root, 0, (struct nt_text){"", 0}, error));
    NT_TRY(walk_directories(opener, 0, error));
    if (!opener->file->failure && may_have_lost_trees(opener))
        NT_TRY(recover_trees(opener, error));
    return NT_OK;
}

/* A file is worth opening if it has an anchor, a tree, or signs of either. */
static enum nt_status check_content(struct tfile_opener *opener, struct nt_error *error)
{
    const struct nt_container *container = opener->container;
    struct nt_error reason = {0};
    bool has_tree = NT_HAS_TTREE && container->object_count;
    if (opener->file->failure || container->anchor_count || container->may_have_orphans || has_tree)
        return NT_OK;
    if (container->object_count)
        nt_fail(&reason, NT_NOT_THIS_FORMAT, NT_NO_OFFSET,
                "a ROOT file with TTrees: format ttree is not built in (-Dttree=enabled)");
    else
        nt_tfile_refuse(container->details, NULL, &reason);
    return fail_file(opener, &reason, error);
}

static enum nt_status open_all(struct tfile_opener *opener, const struct nt_tfile_header *header,
                               struct nt_error *error)
{
    NT_TRY(tfile_opener_init(opener, header, error));
    NT_TRY(walk_all(opener, error));
    NT_TRY(tfile_keep(opener, error));
    return check_content(opener, error);
}

static enum nt_status tfile_open(struct nt_file *file, struct nt_container *container, struct nt_error *error)
{
    struct nt_error unused;
    struct nt_tfile_header header;
    error = error ? error : &unused;
    NT_TRY(nt_tfile_read_header(file->source, &header, error));
    NT_CLEANUP(tfile_opener_deinit) struct tfile_opener opener = {.file = file, .container = container};
    enum nt_status status = open_all(&opener, &header, error);
    if (status)
        report_truncation(file->source, &header, error);
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
