/* SPDX-License-Identifier: MIT
 *
 * In: a directory meta/. Out: the JSON of its files but for sizes, storage and attributes, which are read where they are used.
 */
#include "formats/blz/meta_files.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/grow.h"
#include "core/base/text.h"
#include "formats/blz/metadata.h"

enum { MOST_FILES = 4096 };

struct names {
    struct nt_arena *arena;
    const char **list; /* from malloc, the texts in the arena */
    size_t count, capacity;
};

static bool is_known(const char *name)
{
    static const char *const known[] = {"sizes", "storage", "attributes"};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (!strcmp(name, known[i]))
            return true;
    return name[0] == '.';
}

static enum nt_status take_name(void *context, const struct nt_folder_entry *entry, struct nt_error *error)
{
    struct names *names = context;
    if (is_known(entry->name) || entry->kind == NT_ENTRY_FOLDER || entry->kind == NT_ENTRY_OTHER)
        return NT_OK;
    if (names->count == MOST_FILES)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "more than %d files of metadata", MOST_FILES);
    const char **list = nt_grow(names->list, names->count, &names->capacity, sizeof(*list));
    if (!list)
        return nt_fail_memory(error);
    names->list = list;
    list[names->count] = nt_arena_copy(names->arena, entry->name, strlen(entry->name));
    return list[names->count++] ? NT_OK : nt_fail_memory(error);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* It is the user's: what is wrong with it costs nothing but itself. */
static enum nt_status read_file(struct nt_blz_build *build, const char *path, struct nt_blz_meta_file *file,
                                struct nt_error *error)
{
    struct nt_error failure = {0};
    enum nt_status status = nt_blz_json_load(build->folder, path, build->metadata.count,
                                             &build->dataset->file->budget, &file->content, &failure);
    if (nt_is_refused_for_now(status, &failure))
        return nt_fail_with(error, &failure);
    if (status != NT_OK)
        file->unreadable = nt_arena_format(build->dataset->arena, "%s", failure.message);
    return status == NT_OK || file->unreadable ? nt_blz_add_file(build, &build->metadata, path, error)
                                               : nt_fail_memory(error);
}

static enum nt_status read_files(struct nt_blz_build *build, const char *meta, struct names *names,
                                 struct nt_blz_node *node, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (names->count)
        qsort(names->list, names->count, sizeof(*names->list), compare_names);
    node->others = nt_arena_alloc(names->arena, names->count + 1, sizeof(*node->others));
    if (!node->others)
        return nt_fail_memory(error);
    for (size_t i = 0; status == NT_OK && i < names->count; i++) {
        const char *path = nt_blz_name(build, meta, names->list[i]);
        struct nt_blz_meta_file *file = &node->others[node->other_count];
        file->name = nt_text_of(names->list[i]);
        status = path ? read_file(build, path, file, error) : nt_fail_memory(error);
        node->other_count++;
    }
    return status;
}

enum nt_status nt_blz_meta_files_read(struct nt_blz_build *build, const char *directory,
                                      struct nt_blz_node *node, struct nt_error *error)
{
    struct names names = {.arena = build->dataset->arena};
    const char *meta = nt_blz_name(build, directory, "meta");
    enum nt_status status =
        meta ? nt_folder_list(build->folder, meta, take_name, &names, error) : nt_fail_memory(error);
    if (status == NT_OK)
        status = read_files(build, meta, &names, node, error);
    free(names.list);
    return status == NT_NOT_FOUND ? NT_OK : status;
}
