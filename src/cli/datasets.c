/* SPDX-License-Identifier: MIT
 *
 * In: a node of the tree. Out: the files and data sets that it stands for, one by one.
 */
#include "cli/datasets.h"

#include <stdlib.h>
#include <string.h>

#include "cli/listing.h"
#include "core/json/json.h"
#include "vfs/opening.h"

struct walk {
    nt_visit_file *visit;
    void *context;
    bool is_of_many;
    unsigned depth; /* of folders */
};

static enum nt_exit_status visit_node(struct walk *walk, struct nt_vfs *vfs, const char *path, uint64_t node);

/* All that is in a mirrored folder; files that do not open are named. */
static enum nt_exit_status visit_folder(struct walk *walk, struct nt_vfs *vfs, const char *path,
                                        uint64_t node)
{
    enum nt_exit_status first = NT_EXIT_OK;
    struct nt_error error = {0};
    struct nt_buffer below = {0};
    struct nt_dir_listing *listing = nt_dir_listing_new(vfs, node, walk->depth, &error);
    enum nt_status status = listing ? NT_OK : error.status;
    walk->depth++;
    walk->is_of_many = true;
    nt_buffer_text(&below, path);
    while (status == NT_OK && (status = nt_dir_listing_next(listing, &error)) == NT_OK && listing->count > 0)
        for (size_t i = 0; i < listing->count; i++) {
            const struct nt_tree_entry *entry = &listing->entries[i];
            if (entry->class != NT_VFS_DIRECTORY || strcmp(entry->name, ".ntuplefs") == 0)
                continue;
            size_t length = nt_path_enter(&below, entry->name);
            nt_note_failure(&first,
                            visit_node(walk, vfs, below.failed ? entry->name : below.bytes, entry->node));
            nt_path_leave(&below, length);
        }
    walk->depth--;
    if (status != NT_OK)
        nt_note_failure(&first, nt_complain(path, &error));
    nt_buffer_deinit(&below);
    free(listing);
    return first;
}

static enum nt_exit_status visit_node(struct walk *walk, struct nt_vfs *vfs, const char *path, uint64_t node)
{
    struct nt_scope scope;
    struct nt_error error = {0};
    enum nt_exit_status result;
    if (nt_scope_open(vfs, node, &scope, &error) != NT_OK)
        return nt_complain(path, &error);
    if (scope.file) {
        result = walk->visit(walk->context, &scope, walk->is_of_many);
    } else if (scope.place_kind == NT_PLACE_FOLDER) {
        result = visit_folder(walk, vfs, path, node);
    } else if (scope.place_kind == NT_PLACE_FAILED) {
        nt_places_failure(vfs->places, scope.place, &error);
        result = nt_complain(path, &error);
    } else {
        nt_fail(&error, NT_INVALID, NT_NO_OFFSET, "no data; name a file or what is in it");
        result = nt_complain(path, &error);
    }
    nt_scope_close(&scope);
    return result;
}

enum nt_exit_status nt_for_each_file(struct nt_vfs *vfs, const char *path, uint64_t node,
                                     nt_visit_file *visit, void *context)
{
    struct walk walk = {.visit = visit, .context = context};
    return visit_node(&walk, vfs, path, node);
}

static bool is_in_directory(const struct nt_file *file, const struct nt_dataset *dataset, uint32_t directory)
{
    uint32_t at = dataset->directory;
    while (at && at != directory)
        at = file->directories[at].parent;
    return at == directory;
}

enum nt_exit_status nt_for_each_dataset(const struct nt_scope *scope, nt_visit_dataset *visit, void *context)
{
    enum nt_exit_status first = NT_EXIT_OK;
    if (scope->dataset)
        return visit(context, scope, scope->dataset->index, scope->field);
    for (uint32_t i = 0; i < scope->file->dataset_count; i++)
        if (is_in_directory(scope->file, scope->file->datasets[i], scope->node.item))
            nt_note_failure(&first, visit(context, scope, i, NT_NONE));
    return first;
}

enum nt_exit_status nt_print_datasets_json(const struct nt_scope *scope, struct nt_json *json,
                                           nt_visit_dataset *visit, void *context)
{
    nt_json_key(json, "datasets");
    nt_json_array(json);
    enum nt_exit_status result = nt_for_each_dataset(scope, visit, context);
    nt_json_end_array(json);
    nt_json_finish(json);
    nt_note_failure(&result, nt_print_buffer(json->out, scope->file->path));
    return result;
}
