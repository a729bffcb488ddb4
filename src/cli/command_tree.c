/* SPDX-License-Identifier: MIT
 *
 * The command tree: draws the tree in file order.
 */
#include "cli/cli.h"

struct tree_drawing {
    const struct nt_settings *settings;
    struct nt_vfs *vfs;
    struct nt_buffer indent;
    unsigned depth;
    bool has_colour;
    uint64_t directories, files;
    enum nt_exit_status status;
};

static void draw_directory(struct tree_drawing *drawing, const char *name, uint64_t node);

static void draw_entry(struct tree_drawing *drawing, const struct nt_tree_entry *entry, bool is_last)
{
    static const char *const branches[] = {"├── ", "└── "}, *const below[] = {"│   ", "    "};
    if (drawing->indent.length)
        fwrite(drawing->indent.bytes, 1, drawing->indent.length, stdout);
    fputs(branches[is_last], stdout);
    nt_print_entry_name(entry, drawing->has_colour);
    char target[NT_VFS_TARGET];
    if (nt_vfs_read_link(entry->node, target, NULL) == NT_OK)
        printf(" -> %s", target);
    fputs(entry->class == NT_VFS_DIRECTORY ? "/\n" : "\n", stdout);
    if (entry->class != NT_VFS_DIRECTORY) {
        drawing->files++;
        return;
    }
    drawing->directories++;
    size_t length = drawing->indent.length;
    nt_buffer_append_string(&drawing->indent, below[is_last]);
    draw_directory(drawing, entry->name, entry->node);
    nt_path_leave(&drawing->indent, length);
}

/* Draws an entry when the next one is known: the last has another branch. */
static enum nt_status draw_entries(struct tree_drawing *drawing, struct nt_dir_listing *listing,
                                   struct nt_error *error)
{
    struct nt_tree_entry waiting = {0};
    enum nt_status status;
    while ((status = nt_dir_listing_next(listing, error)) == NT_OK && listing->count > 0) {
        for (size_t i = 0; i < listing->count; i++) {
            if (!nt_entry_is_shown(&listing->entries[i], drawing->settings))
                continue;
            if (waiting.node)
                draw_entry(drawing, &waiting, false);
            waiting = listing->entries[i];
        }
    }
    if (waiting.node)
        draw_entry(drawing, &waiting, true);
    return status;
}

static void draw_directory(struct tree_drawing *drawing, const char *name, uint64_t node)
{
    if (drawing->settings->depth && drawing->depth >= drawing->settings->depth)
        return;
    struct nt_error error = {0};
    NT_AUTO_FREE struct nt_dir_listing *listing =
        nt_dir_listing_new(drawing->vfs, node, drawing->depth, &error);
    drawing->depth++;
    if (!listing || draw_entries(drawing, listing, &error) != NT_OK)
        nt_note_failure(&drawing->status, nt_print_error(name, &error));
    drawing->depth--;
}

static enum nt_exit_status draw(void *context, struct nt_vfs *vfs, const struct nt_target *target)
{
    const struct nt_invocation *invocation = context;
    struct tree_drawing drawing = {
        .settings = invocation->settings, .vfs = vfs, .has_colour = nt_terminal_has_colour()};
    struct nt_vfs_attributes attributes;
    struct nt_error error = {0};
    const char *name = *target->path ? target->path : invocation->operands[0];
    uint64_t node = invocation->settings->fields ? nt_node_only_dataset(vfs, target->node) : target->node;
    enum nt_status status = nt_vfs_stat(vfs, node, true, &attributes, &error);
    if (status != NT_OK)
        return nt_print_error(name, &error);
    nt_print_name(name);
    putchar('\n');
    if (attributes.class == NT_VFS_DIRECTORY)
        draw_directory(&drawing, name, node);
    printf("\n%" PRIu64 " directories, %" PRIu64 " files\n", drawing.directories, drawing.files);
    nt_buffer_deinit(&drawing.indent);
    return drawing.status;
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    return nt_for_each_target(invocation, false, draw, (void *)invocation);
}

static const struct nt_option options[] = {
    NT_OPTION('a', "all", FLAG, all, .help = "show names that begin with a dot, too"),
    NT_OPTION('L', "depth", NUMBER, depth, .argument = "N", .help = "show at most N levels of directories"),
    NT_OPTION(
        0, "fields", FLAG, fields,
        .help = "draw only fields, datasets and directories of these; of a file with one dataset its fields"),
    {0},
};

const struct nt_command nt_command_tree = {
    .name = "tree",
    .operands = "FILE [PATH...]",
    .help = "draw the tree",
    .fewest = 1,
    .options = options,
    .shows_broken = true,
    .run = run,
};
