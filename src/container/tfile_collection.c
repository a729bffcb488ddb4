/* SPDX-License-Identifier: MIT
 *
 * In: what lists of keys lead to, as it is met. Out: the directories and anchors of a container, in the
 * file's arena.
 */
#include "container/tfile_collection.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/grow.h"
#include "core/base/text.h"

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
    bool is_root = found->directory_count == 0; /* which every nt_file has from the start */
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
    found->has_doubts = true;
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
    return nt_tfile_set_failure(found, anchor, failure, error);
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

enum nt_status nt_tfile_collection_keep(struct nt_tfile_collection *found,
                                        const struct nt_tfile_header *header, struct nt_container *container,
                                        struct nt_error *error)
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
    container->has_doubts = found->has_doubts;
    container->details = tfile;
    return NT_OK;
}
