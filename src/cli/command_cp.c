/* SPDX-License-Identifier: MIT
 *
 * The command cp: copies files and directories of the tree, continues after failures and removes
 * incomplete files. Refuses to overwrite its own source.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* ---- The command cp ---- */

struct copier {
    const struct nt_settings *settings;
    struct nt_vfs *vfs;
    struct nt_overwrite_guard guard;
    struct nt_buffer source, destination; /* paths, extended and shortened together */
    char *buffer;                         /* of nt_copy_content */
    unsigned depth;
    uint64_t top; /* the copied root node */
    struct nt_progress progress;
    enum nt_exit_status status;
};

static void note_output_failure(struct copier *copier, int system_error, const char *what)
{
    struct nt_error error = {0};
    nt_fail_system(&error, system_error, "%s", what);
    nt_progress_clear(&copier->progress);
    nt_print_error(copier->destination.bytes, &error);
    nt_note_failure(&copier->status, NT_EXIT_OUTPUT);
}

/* An existing destination may be the source. */
static bool is_source(struct copier *copier)
{
    struct nt_error error = {0};
    if (nt_overwrite_guard_check(&copier->guard, copier->destination.bytes, &error) == NT_OK)
        return false;
    nt_progress_clear(&copier->progress);
    nt_print_error(copier->destination.bytes, &error);
    nt_note_failure(&copier->status, NT_EXIT_OUTPUT);
    return true;
}

static void copy_file(struct copier *copier, uint64_t node)
{
    const char *path = copier->destination.bytes;
    if (copier->settings->overwrite && is_source(copier))
        return;
    if (copier->settings->overwrite && unlink(path) != 0 && errno != ENOENT) {
        note_output_failure(copier, errno, "cannot replace");
        return;
    }
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        note_output_failure(copier, errno, nt_cannot_create(errno));
        return;
    }
    enum nt_exit_status status = nt_copy_content(copier->vfs, node, copier->source.bytes, descriptor, path,
                                                 &copier->buffer, &copier->progress);
    nt_note_failure(&copier->status, status);
    if (close(descriptor) != 0) {
        note_output_failure(copier, errno, "cannot write");
        status = NT_EXIT_OUTPUT;
    }
    if (status != NT_EXIT_OK)
        unlink(path);
}

/* ---- Only data ---- */

/* Is the same array in the directory with another of the endings .bin and .npy? */
static bool has_other(struct nt_vfs *vfs, uint64_t directory, const char *name, const char *ending)
{
    char other[sizeof(((struct nt_tree_entry *)NULL)->name)];
    uint64_t node;
    snprintf(other, sizeof(other), "%.*s%s", (int)(strlen(name) - strlen(ending)), name, ending);
    return nt_vfs_lookup(vfs, directory, other, &node, NULL) == NT_OK;
}

/* Does --data copy this entry of a directory? */
static bool is_data(struct nt_vfs *vfs, uint64_t directory, const struct nt_tree_entry *entry)
{
    struct nt_node node;
    if (entry->class == NT_VFS_DIRECTORY)
        return nt_entry_is_field(entry);
    if (!nt_node_unpack(entry->node, &node) || node.type != NT_NODE_FIELD)
        return false;
    if (nt_has_suffix(entry->name, ".bin"))
        return !has_other(vfs, directory, entry->name, ".npy");
    if (nt_has_suffix(entry->name, ".npy")) /* of a fixed-size list, which has no .bin, it is the item's */
        return has_other(vfs, directory, entry->name, ".bin");
    return strcmp(entry->name, "field.json") == 0;
}

/* ---- Total size ---- */

/* Sums the sizes known from metadata, and counts other files. The copy reports failures. */
static void count_below(const struct copier *copier, uint64_t directory, unsigned depth,
                        struct nt_progress *progress)
{
    struct nt_vfs_attributes attributes;
    struct nt_vfs *vfs = copier->vfs;
    NT_AUTO_FREE struct nt_dir_listing *listing = nt_dir_listing_new(vfs, directory, depth, NULL);
    while (listing && nt_dir_listing_next(listing, NULL) == NT_OK && listing->count > 0) {
        for (size_t i = 0; i < listing->count; i++) {
            const struct nt_tree_entry *entry = &listing->entries[i];
            if (entry->class == NT_VFS_LINK || (copier->settings->data && !is_data(vfs, directory, entry)))
                continue;
            if (entry->class == NT_VFS_DIRECTORY)
                count_below(copier, entry->node, depth + 1, progress);
            else if (entry->class != NT_VFS_SIZED)
                progress->texts++;
            else if (nt_vfs_stat(vfs, entry->node, true, &attributes, NULL) == NT_OK)
                progress->total += (uint64_t)attributes.stat.st_size;
        }
    }
}

/* Called when the line first appears: a quick copy, or one without progress, skips this. */
static void count_all(void *context)
{
    struct copier *copier = context;
    count_below(copier, copier->top, 0, &copier->progress);
}

/* ---- Copying ---- */

static void copy_directory(struct copier *copier, uint64_t node);

/* Links lead to whole datasets, the other versions, and are left out. */
static void copy_entry(struct copier *copier, const struct nt_tree_entry *entry)
{
    if (entry->class == NT_VFS_LINK)
        return;
    size_t source = nt_path_enter(&copier->source, entry->name);
    size_t destination = nt_path_enter(&copier->destination, entry->name);
    if (copier->source.failed || copier->destination.failed) {
        nt_progress_clear(&copier->progress);
        nt_note_failure(&copier->status, nt_print_no_memory(entry->name));
    } else if (entry->class == NT_VFS_DIRECTORY) {
        copy_directory(copier, entry->node);
    } else {
        copier->progress.is_text = entry->class != NT_VFS_SIZED;
        copy_file(copier, entry->node);
    }
    nt_path_leave(&copier->source, source);
    nt_path_leave(&copier->destination, destination);
}

static enum nt_status copy_entries(struct copier *copier, uint64_t node, struct nt_error *error)
{
    NT_AUTO_FREE struct nt_dir_listing *listing = nt_dir_listing_new(copier->vfs, node, copier->depth, error);
    enum nt_status status = listing ? NT_OK : error->status;
    copier->depth++;
    while (status == NT_OK && (status = nt_dir_listing_next(listing, error)) == NT_OK && listing->count > 0) {
        for (size_t i = 0; i < listing->count; i++)
            if (!copier->settings->data || is_data(copier->vfs, node, &listing->entries[i]))
                copy_entry(copier, &listing->entries[i]);
    }
    copier->depth--;
    return status;
}

static void copy_directory(struct copier *copier, uint64_t node)
{
    struct nt_error error = {0};
    const char *path = copier->destination.bytes;
    bool is_made = mkdir(path, 0777) == 0;
    if (!is_made && !(errno == EEXIST && nt_is_directory(path)))
        note_output_failure(copier, errno, "cannot create");
    else if (!is_made && is_source(copier))
        return;
    else if (copy_entries(copier, node, &error) != NT_OK) {
        nt_progress_clear(&copier->progress);
        nt_note_failure(&copier->status,
                        nt_print_error(copier->source.length ? copier->source.bytes : "/", &error));
    }
}

/* The name of the copy in an existing directory: the last part of PATH, else of FILE. */
static void enter_destination(struct copier *copier, const char *destination, const char *path,
                              const char *file)
{
    nt_buffer_append_string(&copier->destination, destination);
    if (!nt_is_directory(destination))
        return;
    struct nt_text name = nt_path_name(path);
    if (name.length == 0)
        name = nt_path_name(file);
    nt_buffer_append_byte(&copier->destination, '/');
    nt_buffer_append(&copier->destination, name.bytes, name.length);
}

static enum nt_status copy(struct copier *copier, uint64_t node, struct nt_error *error)
{
    struct nt_vfs_attributes attributes;
    NT_TRY(nt_vfs_stat(copier->vfs, node, true, &attributes, error));
    NT_TRY(nt_check_memory(!copier->source.failed && !copier->destination.failed, error));
    if (attributes.class == NT_VFS_DIRECTORY && !copier->settings->recursive)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "is a directory; use -r to copy it and everything in it");
    if (is_source(copier))
        return NT_OK;
    nt_progress_begin(&copier->progress, (uint64_t)attributes.stat.st_size);
    copier->progress.is_text = attributes.class == NT_VFS_STREAMED;
    if (attributes.class != NT_VFS_DIRECTORY) {
        copy_file(copier, node);
        return NT_OK;
    }
    copier->top = node;
    copier->progress.count = count_all;
    copier->progress.work = copier;
    copy_directory(copier, node);
    return NT_OK;
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    const char *file = invocation->operands[0];
    const char *path = invocation->operand_count > 2 ? invocation->operands[1] : "";
    struct copier copier = {.settings = invocation->settings};
    struct nt_error error = {0};
    uint64_t node;
    enum nt_exit_status status = nt_command_enter_sandbox(invocation);
    if (status == NT_EXIT_OK)
        status = nt_open_tree(invocation, file, &copier.vfs);
    if (status != NT_EXIT_OK)
        return status;
    nt_progress_start(&copier.progress, !invocation->settings->quiet);
    nt_buffer_append_string(&copier.source, path);
    enter_destination(&copier, invocation->operands[invocation->operand_count - 1], path, file);
    bool is_tried = nt_find_one_node(copier.vfs, path, &node, &error) == NT_OK &&
                    nt_overwrite_guard_init(&copier.guard, invocation, copier.vfs, node, &error) == NT_OK &&
                    copy(&copier, node, &error) == NT_OK;
    nt_progress_clear(&copier.progress);
    if (!is_tried)
        nt_note_failure(&copier.status, nt_print_error(*path ? path : file, &error));
    nt_overwrite_guard_deinit(&copier.guard);
    nt_buffer_deinit(&copier.source);
    nt_buffer_deinit(&copier.destination);
    free(copier.buffer);
    nt_vfs_free(copier.vfs);
    return copier.status;
}

static const struct nt_option options[] = {
    NT_OPTION('r', "recursive", FLAG, recursive, .help = "copy directories and everything in them"),
    NT_OPTION('f', "force", FLAG, overwrite, .help = "replace files that exist"),
    NT_OPTION(
        0, "data", FLAG, data,
        .help = "of directories, copy only the arrays of fields (.npy, else .bin) and field.json: no texts, "
                "tables, pictures or column.<k>"),
    NT_PROGRESS_QUIET_OPTION,
    {0},
};

const struct nt_command nt_command_cp = {
    .name = "cp",
    .operands = "FILE [PATH] DESTINATION",
    .help = "copy files of the tree to ordinary files; with -r also directories or the whole tree",
    .fewest = 2,
    .most = 3,
    .writes = true,
    .options = options,
    .shows_broken = true,
    .reads_columns = true,
    .run = run,
};
