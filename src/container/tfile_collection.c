/* SPDX-License-Identifier: MIT
 *
 * Collects what a ROOT file has: directories, anchors, trees and the classes of keys; then finds the
 * newest cycle of each name.
 */
#include "container/tfile_collection.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/model/model.h"

/* ---- Directories, anchors, trees and classes ---- */

/* Limit of key classes that are counted by name. */
enum { NT_TFILE_MAX_CLASSES = 256 };

enum nt_status nt_tfile_collection_init(struct nt_tfile_collection *found, struct nt_file *file,
                                        struct nt_error *error)
{
    *found = (struct nt_tfile_collection){.file = file};
    found->classes = nt_arena_alloc(file->arena, NT_TFILE_MAX_CLASSES, sizeof(*found->classes));
    return found->classes ? NT_OK : nt_fail_memory(error);
}

void nt_tfile_collection_deinit(struct nt_tfile_collection *found)
{
    free(found->directories);
    free(found->anchors);
    free(found->objects);
}

enum nt_status nt_tfile_add_directory(struct nt_tfile_collection *found,
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

struct nt_anchor_object *nt_tfile_add_anchor(struct nt_tfile_collection *found, uint32_t directory,
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

enum nt_status nt_tfile_set_failure(struct nt_tfile_collection *found, struct nt_anchor_object *anchor,
                                    const struct nt_error *failure, struct nt_error *error)
{
    found->may_have_orphans = true;
    return nt_failure_keep(failure, found->file->arena, &anchor->failure, error);
}

enum nt_status nt_tfile_add_failure(struct nt_tfile_collection *found, uint32_t directory,
                                    const struct nt_tfile_key *key, const struct nt_error *failure,
                                    struct nt_error *error)
{
    struct nt_anchor_object *anchor = nt_tfile_add_anchor(found, directory, key->name, key->class_name);
    if (!anchor)
        return nt_fail_memory(error);
    anchor->cycle = key->cycle;
    anchor->is_damage = true;
    return nt_tfile_set_failure(found, anchor, failure, error);
}

struct nt_tfile_object *nt_tfile_add_object(struct nt_tfile_collection *found, uint32_t directory,
                                            const struct nt_tfile_key *key)
{
    struct nt_arena *arena = found->file->arena;
    struct nt_tfile_object *objects =
        nt_grow(found->objects, found->object_count, &found->object_capacity, sizeof(*objects));
    if (!objects)
        return NULL;
    found->objects = objects;
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
    objects[found->object_count] = object;
    return &objects[found->object_count++];
}

enum nt_status nt_tfile_count_class(struct nt_tfile_collection *found, struct nt_text name,
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
static struct cycle *sort_cycles(const struct nt_tfile_collection *found, size_t *count_ret)
{
    size_t count = (size_t)found->anchor_count + found->object_count;
    struct cycle *cycles = calloc(count + 1, sizeof(*cycles)), *next = cycles;
    if (!cycles)
        return NULL;
    for (uint32_t i = 0; i < found->anchor_count; i++) {
        struct nt_anchor_object *anchor = &found->anchors[i];
        *next++ = (struct cycle){anchor->directory, anchor->cycle, anchor->name, 0, anchor, NULL};
    }
    for (uint32_t i = 0; i < found->object_count; i++) {
        struct nt_tfile_object *object = &found->objects[i];
        *next++ =
            (struct cycle){object->directory, object->cycle, object->name, object->offset, NULL, object};
    }
    qsort(cycles, count, sizeof(*cycles), compare_cycles);
    *count_ret = count;
    return cycles;
}

static enum nt_status mark_newest(struct nt_tfile_collection *found, struct nt_error *error)
{
    size_t count, first = 0;
    struct cycle *cycles = sort_cycles(found, &count);
    if (!cycles)
        return nt_fail_memory(error);
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
    free(cycles);
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

enum nt_status nt_tfile_keep_newest_lost(struct nt_tfile_collection *found, struct nt_error *error)
{
    size_t count;
    struct cycle *cycles = sort_cycles(found, &count);
    if (!cycles)
        return nt_fail_memory(error);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && !compare_names(&cycles[first], &cycles[end]); end++)
            continue;
        choose(&cycles[first], end - first);
    }
    free(cycles);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < found->object_count; i++)
        if (found->objects[i].is_listed || found->objects[i].bytes)
            found->objects[kept++] = found->objects[i];
    found->object_count = kept;
    return NT_OK;
}

/* ---- Result ---- */

static void *keep_array(struct nt_arena *arena, const void *items, size_t count, size_t item_bytes)
{
    void *kept = nt_arena_alloc(arena, count + 1, item_bytes);
    if (kept && count)
        memcpy(kept, items, count * item_bytes);
    return kept;
}

enum nt_status nt_tfile_collection_keep(struct nt_tfile_collection *found,
                                        const struct nt_tfile_header *header, struct nt_container *container,
                                        struct nt_error *error)
{
    struct nt_arena *arena = found->file->arena;
    enum nt_status status = mark_newest(found, error);
    if (status)
        return status;
    struct nt_tfile *tfile = nt_arena_alloc(arena, 1, sizeof(*tfile));
    container->anchors = keep_array(arena, found->anchors, found->anchor_count, sizeof(*found->anchors));
    container->objects = keep_array(arena, found->objects, found->object_count, sizeof(*found->objects));
    const void *directories =
        keep_array(arena, found->directories, found->directory_count, sizeof(*found->directories));
    if (!tfile || !directories || !container->anchors || !container->objects)
        return nt_fail_memory(error);
    *tfile = (struct nt_tfile){.header = *header,
                               .directories = directories,
                               .directory_count = found->directory_count,
                               .classes = found->classes,
                               .class_count = found->class_count,
                               .other_keys = found->other_keys,
                               .info_offset = found->info_offset,
                               .info_bytes = found->info_bytes};
    container->anchor_count = found->anchor_count;
    container->object_count = found->object_count;
    container->may_have_orphans = found->may_have_orphans;
    container->details = tfile;
    return NT_OK;
}
