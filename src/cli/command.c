/* SPDX-License-Identifier: MIT
 *
 * Helpers of the commands of ntuple: error messages, opening a tree in the sandbox, visiting paths,
 * files and datasets, listing directories in batches, file attributes, and output.
 */
#include "cli/cli.h"

#include <unistd.h>

#include "core/io/address.h"

/* ---- List directories ---- */

struct nt_dir_listing *nt_dir_listing_new(struct nt_vfs *vfs, uint64_t directory, unsigned depth,
                                          struct nt_error *error)
{
    if (depth > NT_DEEPEST_DIRECTORY) {
        nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "directories are nested more than %d deep",
                NT_DEEPEST_DIRECTORY);
        return NULL;
    }
    struct nt_dir_listing *listing = malloc(sizeof(*listing));
    if (!listing) {
        nt_fail_memory(error);
        return NULL;
    }
    listing->vfs = vfs;
    listing->directory = directory;
    listing->cursor = 0;
    listing->is_at_end = listing->has_first = false;
    listing->count = 0;
    return listing;
}

static bool take(void *context, const char *name, uint64_t node, enum nt_vfs_class class,
                 uint64_t next_cursor)
{
    struct nt_dir_listing *listing = context;
    if (listing->count == NT_LISTING_BATCH) {
        listing->is_at_end = false;
        return false;
    }
    struct nt_tree_entry *entry = &listing->entries[listing->count++];
    nt_string_copy(entry->name, sizeof(entry->name), name);
    entry->node = node;
    entry->class = class;
    listing->cursor = next_cursor;
    return true;
}

enum nt_status nt_dir_listing_next(struct nt_dir_listing *listing, struct nt_error *error)
{
    listing->count = 0;
    listing->has_first = !listing->is_at_end && listing->cursor == 0;
    if (listing->is_at_end)
        return NT_OK;
    listing->is_at_end = true; /* `take` resets it if an entry is left */
    return nt_vfs_readdir(listing->vfs, listing->directory, listing->cursor, take, listing, error);
}

enum nt_status nt_dir_listing_rewind(struct nt_dir_listing *listing, struct nt_error *error)
{
    if (listing->has_first)
        return NT_OK;
    listing->cursor = 0;
    listing->is_at_end = false;
    return nt_dir_listing_next(listing, error);
}

/* ---- Errors, trees and output ---- */

static void append_escaped(struct nt_buffer *text, const char *bytes)
{
    nt_append_printable(text, bytes, strlen(bytes));
}

/* Omits the subject if a system message already names the file. */
enum nt_exit_status nt_print_error(const char *subject, const struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0};
    NT_AUTO_FREE char *shown = subject ? nt_address_redact(subject) : NULL;
    fflush(stdout); /* keep the order of both streams on a terminal */
    if (subject && !nt_message_about(error->message, shown ? shown : "")) {
        append_escaped(&text, shown && *shown ? shown : "/");
        nt_buffer_append_string(&text, ": ");
    }
    append_escaped(&text, error->message);
    fprintf(stderr, "ntuple: %s\n", text.failed ? error->message : text.bytes);
    return nt_exit_status(error->status);
}

enum nt_exit_status nt_print_failure(const char *subject, enum nt_status status, const char *format, ...)
{
    struct nt_error error = {.status = status, .offset = NT_NO_OFFSET};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error.message, sizeof(error.message), format, arguments);
    va_end(arguments);
    return nt_print_error(subject, &error);
}

enum nt_exit_status nt_print_no_memory(const char *subject)
{
    struct nt_error error;
    nt_fail_memory(&error);
    return nt_print_error(subject, &error);
}

void nt_print_omitted(void *dataset, uint32_t field, const char *reason)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    nt_append_field_path(&path, dataset, field);
    nt_print_failure(nt_buffer_string(&path), NT_UNSUPPORTED, "omitted: %s", reason);
}

bool nt_is_directory(const char *path)
{
    struct stat attributes;
    return stat(path, &attributes) == 0 && S_ISDIR(attributes.st_mode);
}

bool nt_has_suffix(const char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

/* The directory to write in: the path, or the parent of a missing or replaced file. Cuts in place. */
static const char *directory_of(char *path)
{
    if (nt_is_directory(path))
        return path;
    char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    slash[slash == path] = '\0';
    return path;
}

int nt_source_count(const struct nt_invocation *invocation)
{
    int most = invocation->command->sources ? invocation->command->sources : 1;
    return most < invocation->operand_count ? most : invocation->operand_count;
}

/* Paths to read for each source: for a chain, the directories of its files. NULL if out of memory. */
static const char **readable_paths(const struct nt_invocation *invocation, int sources, size_t *count_ret)
{
    size_t count = 0;
    for (int i = 0; i < sources; i++)
        count += invocation->chains[i] ? invocation->chains[i]->folder_count : 1;
    const char **paths = calloc(count + 1, sizeof(*paths)), **next = paths;
    *count_ret = count;
    for (int i = 0; paths && i < sources; i++) {
        const struct nt_chain_list *chain = invocation->chains[i];
        for (uint32_t k = 0; chain && k < chain->folder_count; k++)
            *next++ = chain->folders[k];
        if (!chain)
            *next++ = invocation->operands[i];
    }
    return paths;
}

enum nt_exit_status nt_command_enter_sandbox(const struct nt_invocation *invocation)
{
    enum { NAMES = 3 };
    const struct nt_command *command = invocation->command;
    struct nt_sandbox_path others[NAMES + 1] = {
        {"/etc/passwd", false}, {"/etc/group", false}, {"/etc/nsswitch.conf", false}};
    struct nt_error error = {0};
    bool names_owners = command->names_owners && invocation->settings->details;
    size_t first = names_owners ? 0 : NAMES;
    NT_AUTO_FREE char *target = strdup(invocation->operands[invocation->operand_count - 1]);
    if (!target)
        return nt_print_no_memory(command->name);
    others[NAMES] = (struct nt_sandbox_path){directory_of(target), true};
    size_t count;
    NT_AUTO_FREE const char **paths = readable_paths(invocation, nt_source_count(invocation), &count);
    enum nt_status status = paths ? nt_enter_sandbox(invocation->settings, paths, count, others + first,
                                                     NAMES - first + command->writes,
                                                     NT_SANDBOX_OPENS | NT_SANDBOX_TERMINAL |
                                                         (command->renames ? NT_SANDBOX_RENAMES : 0),
                                                     invocation->sandbox, &error)
                                  : nt_fail_memory(&error);
    for (int i = 0; status == NT_OK && i < invocation->operand_count; i++)
        if (invocation->chains[i])
            status = nt_chain_list_expand_remote(invocation->chains[i],
                                                 invocation->settings->tree.open.fetcher, &error);
    return status == NT_OK ? NT_EXIT_OK : nt_print_error(command->name, &error);
}

void nt_print_note(void *subject, const struct nt_error *note)
{
    nt_print_error(subject, note);
}

enum nt_exit_status nt_open_tree(const struct nt_invocation *invocation, const char *source,
                                 struct nt_vfs **vfs_ret)
{
    struct nt_error error = {0};
    struct nt_vfs_options options = nt_settings_tree(invocation->settings);
    for (int i = 0; i < invocation->operand_count; i++)
        if (invocation->operands[i] == source)
            options.chain = invocation->chains[i];
    options.chain_options.on_skipped = nt_print_note;
    options.chain_options.context = (void *)(uintptr_t)source;
    options.sandbox = invocation->sandbox->parts;
    options.open.open_broken = invocation->command->shows_broken;
    const struct nt_settings *settings = invocation->settings;
    options.measures_once = invocation->command->measures_once && !settings->by_size && !settings->by_time;
    if (!invocation->selections->items &&
        nt_selections_open(invocation->settings, invocation->selections, &error) != NT_OK)
        return nt_print_error(NULL, &error);
    options.selections = invocation->selections->items;
    options.selection_count = invocation->selections->count;
    if (nt_vfs_new(&source, 1, &options, vfs_ret, &error) != NT_OK)
        return nt_print_error(source, &error);
    if (nt_vfs_broken(*vfs_ret, &error) != NT_OK)
        nt_print_error(source, &error);
    nt_vfs_visit_notes(*vfs_ret, nt_print_note, (void *)(uintptr_t)source);
    return NT_EXIT_OK;
}

/* ---- Visit paths ---- */

/* Visits the nodes one by one, but those of the fields of one dataset together if `joins_fields`. */
static enum nt_exit_status visit_nodes(struct nt_vfs *vfs, const struct nt_node_list *named,
                                       bool joins_fields, nt_visit *visit, void *context)
{
    enum nt_exit_status first = NT_EXIT_OK;
    NT_AUTO_FREE uint32_t *fields = calloc(named->count + 1, sizeof(*fields));
    if (!fields)
        return nt_print_no_memory(NULL);
    for (size_t i = 0, step; i < named->count; i += step) {
        struct nt_target target = {
            .path = named->items[i].path, .node = named->items[i].node, .fields = fields};
        if (joins_fields)
            target.count = nt_node_list_fields(&named->items[i], named->count - i, fields);
        step = target.count ? target.count : 1;
        nt_note_failure(&first, visit(context, vfs, &target));
    }
    return first;
}

/* A path that is not in the tree but on the disk: mostly the shell expanded a pattern of files. */
static void say_chain(const char *path, struct nt_error *error)
{
    struct stat attributes;
    if (stat(path, &attributes) == 0 && S_ISREG(attributes.st_mode))
        nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET,
                "%s: a file, not a path in the first file: to read several files as one, "
                "give --chain and a quoted pattern",
                path);
}

/* Visits each operand by itself, but the fields of all operands together. */
static enum nt_exit_status visit_paths(struct nt_vfs *vfs, char **paths, int count, bool joins_fields,
                                       nt_visit *visit, void *context)
{
    enum nt_exit_status first = NT_EXIT_OK;
    NT_CLEANUP(nt_node_list_deinit) struct nt_node_list all = {.count = 0};
    for (int i = 0; i < count; i++) {
        struct nt_error error = {0};
        NT_CLEANUP(nt_node_list_deinit) struct nt_node_list named = {.count = 0};
        enum nt_status status = nt_node_list_find(vfs, paths[i], joins_fields ? &all : &named, &error);
        if (status == NT_NOT_FOUND)
            say_chain(paths[i], &error);
        if (status != NT_OK)
            nt_note_failure(&first, nt_print_error(paths[i], &error));
        nt_note_failure(&first, visit_nodes(vfs, &named, false, visit, context));
    }
    nt_note_failure(&first, visit_nodes(vfs, &all, true, visit, context));
    return first;
}

enum nt_exit_status nt_for_each_target(const struct nt_invocation *invocation, bool joins_fields,
                                       nt_visit *visit, void *context)
{
    struct nt_vfs *vfs = NULL;
    enum nt_exit_status first = nt_command_enter_sandbox(invocation);
    if (first == NT_EXIT_OK)
        first = nt_open_tree(invocation, invocation->operands[0], &vfs);
    if (first != NT_EXIT_OK)
        return first;
    char *root[] = {(char[]){""}};
    bool has_paths = invocation->operand_count > 1;
    first = visit_paths(vfs, has_paths ? invocation->operands + 1 : root,
                        has_paths ? invocation->operand_count - 1 : 1, joins_fields, visit, context);
    nt_vfs_free(vfs);
    nt_note_failure(&first, nt_finish_output());
    return first;
}

/* ---- Output ---- */

/* Printable ASCII, as in most names, needs no escape. */
static bool is_plain(const char *name)
{
    while (*name >= ' ' && *name <= '~')
        name++;
    return *name == '\0';
}

/* Calls isatty only for names that need escapes: it takes longer than printing the name. */
void nt_print_name(const char *name)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0};
    if (!is_plain(name) && isatty(STDOUT_FILENO))
        append_escaped(&text, name);
    fputs(text.length ? text.bytes : name, stdout);
}

void nt_print_entry_name(const struct nt_tree_entry *entry, bool has_colour)
{
    bool is_bold = has_colour && entry->class == NT_VFS_DIRECTORY;
    if (is_bold)
        fputs("\x1b[1m", stdout);
    nt_print_name(entry->name);
    if (is_bold)
        fputs("\x1b[0m", stdout);
}

static enum nt_exit_status complain_about_output(const char *destination, int system_error)
{
    struct nt_error error = {0};
    if (nt_fail_write(&error, system_error) == NT_OK)
        return NT_EXIT_OK;
    nt_print_error(destination, &error);
    return NT_EXIT_OUTPUT;
}

enum nt_exit_status nt_finish_output(void)
{
    struct nt_error error = {0};
    if (nt_standard_output_finish(&error) == NT_OK)
        return NT_EXIT_OK;
    nt_print_error("standard output", &error);
    return NT_EXIT_OUTPUT;
}

enum nt_exit_status nt_print_buffer(const struct nt_buffer *document, const char *subject)
{
    if (document->failed)
        return nt_print_no_memory(subject);
    fwrite(document->bytes, 1, document->length, stdout);
    return NT_EXIT_OK;
}

enum nt_exit_status nt_print_long_text(struct nt_text_generator *text, const char *subject)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer piece = {0};
    struct nt_error error = {0};
    enum nt_status status = NT_OK;
    bool more = true;
    while (more && status == NT_OK && !ferror(stdout)) {
        nt_buffer_clear(&piece);
        status = text->next(text, &piece, &more, &error);
        if (piece.length)
            fwrite(piece.bytes, 1, piece.length, stdout);
    }
    text->free(text);
    return status == NT_OK ? NT_EXIT_OK : nt_print_error(subject, &error);
}

static enum nt_exit_status copy_bytes(struct nt_vfs_handle *handle, char *buffer, const char *path,
                                      int descriptor, const char *destination, struct nt_progress *progress)
{
    size_t count;
    for (uint64_t offset = 0;; offset += count) {
        struct nt_error error = {0};
        if (nt_vfs_read(handle, offset, buffer, nt_progress_piece(progress), &count, &error) != NT_OK) {
            nt_progress_clear(progress);
            return nt_print_error(path, &error);
        }
        if (count == 0)
            return NT_EXIT_OK;
        int problem = nt_write_all(descriptor, buffer, count);
        if (problem) {
            nt_progress_clear(progress);
            return complain_about_output(destination, problem);
        }
        uint64_t expected = nt_vfs_probable_bytes(handle), made = offset + count;
        nt_progress_advance(progress, count, expected > made ? expected - made : 0);
    }
}

enum nt_exit_status nt_copy_content(struct nt_vfs *vfs, uint64_t node, const char *path, int descriptor,
                                    const char *destination, char **buffer, struct nt_progress *progress)
{
    struct nt_error error = {0};
    NT_CLEANUP(nt_vfs_close_at) struct nt_vfs_handle *handle = NULL;
    if (!*buffer)
        *buffer = malloc(NT_PROGRESS_PIECE);
    enum nt_status status = *buffer ? nt_vfs_open(vfs, node, &handle, &error) : nt_fail_memory(&error);
    if (status != NT_OK)
        nt_progress_clear(progress);
    enum nt_exit_status result = status == NT_OK
                                     ? copy_bytes(handle, *buffer, path, descriptor, destination, progress)
                                     : nt_print_error(path, &error);
    nt_progress_end_file(progress);
    return result;
}

size_t nt_path_enter(struct nt_buffer *path, const char *name)
{
    size_t length = path->length;
    if (length > 0 && path->bytes[length - 1] != '/')
        nt_buffer_append_byte(path, '/');
    nt_buffer_append_string(path, name);
    return length;
}

void nt_path_leave(struct nt_buffer *path, size_t length)
{
    path->length = length;
    if (path->bytes)
        path->bytes[length] = '\0';
}

void nt_format_mode(mode_t mode, char text[NT_MODE_TEXT])
{
    static const char letters[] = "rwxrwxrwx";
    text[0] = S_ISDIR(mode) ? 'd' : S_ISLNK(mode) ? 'l' : '-';
    for (int bit = 0; bit < 9; bit++)
        text[1 + bit] = mode & (0400u >> bit) ? letters[bit] : '-';
    text[10] = '\0';
}

/* ---- File attributes ---- */

const char *nt_class_name(enum nt_vfs_class class)
{
    static const char *const names[] = {
        [NT_VFS_DIRECTORY] = "directory", [NT_VFS_SIZED] = "sized", [NT_VFS_GENERATED] = "generated",
        [NT_VFS_STREAMED] = "streamed",   [NT_VFS_LINK] = "link",
    };
    return names[class];
}

void nt_json_attribute_members(struct nt_json *json, const struct nt_vfs_attributes *attributes)
{
    const struct stat *stat = &attributes->stat;
    char mode[NT_MODE_TEXT];
    nt_format_mode(stat->st_mode, mode);
    nt_json_member_string(json, "class", nt_class_name(attributes->class));
    if (attributes->class == NT_VFS_STREAMED)
        nt_json_member_null(json, "size_bytes");
    else
        nt_json_member_unsigned(json, "size_bytes", (uint64_t)stat->st_size);
    nt_json_member_unsigned(json, "inode", stat->st_ino);
    nt_json_member_string(json, "mode", mode);
    nt_json_member_unsigned(json, "uid", stat->st_uid);
    nt_json_member_unsigned(json, "gid", stat->st_gid);
    nt_json_member_time(json, "modified", stat->st_mtime);
}

/* ---- Visit files and datasets ---- */

struct path_walk {
    nt_visit_file *visit;
    void *context;
    bool is_in_directory_of_files;
    unsigned depth; /* of nested directories */
};

static enum nt_exit_status visit_node(struct path_walk *walk, struct nt_vfs *vfs, const char *path,
                                      uint64_t node);

/* Visits everything in a passthrough directory; names the files that do not open. */
static enum nt_exit_status visit_folder(struct path_walk *walk, struct nt_vfs *vfs, const char *path,
                                        uint64_t node)
{
    enum nt_exit_status first = NT_EXIT_OK;
    struct nt_error error = {0};
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer below = {0};
    NT_AUTO_FREE struct nt_dir_listing *listing = nt_dir_listing_new(vfs, node, walk->depth, &error);
    enum nt_status status = listing ? NT_OK : error.status;
    walk->depth++;
    walk->is_in_directory_of_files = true;
    nt_buffer_append_string(&below, path);
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
        nt_note_failure(&first, nt_print_error(path, &error));
    return first;
}

static enum nt_exit_status visit_node(struct path_walk *walk, struct nt_vfs *vfs, const char *path,
                                      uint64_t node)
{
    struct nt_resolved_node resolved;
    struct nt_error error = {0};
    enum nt_exit_status result;
    if (nt_node_resolve(vfs, node, &resolved, &error) != NT_OK)
        return nt_print_error(path, &error);
    if (resolved.file) {
        result = walk->visit(walk->context, &resolved, walk->is_in_directory_of_files);
    } else if (resolved.inode_kind == NT_INODE_PASSTHROUGH) {
        result = visit_folder(walk, vfs, path, node);
    } else if (resolved.inode_kind == NT_INODE_FAILED) {
        nt_inodes_failure(vfs->inodes, resolved.inode, &error);
        result = nt_print_error(path, &error);
    } else {
        result = nt_print_failure(path, NT_INVALID, "no data here; name a file or a path in it");
    }
    nt_node_release(&resolved);
    return result;
}

enum nt_exit_status nt_for_each_file(struct nt_vfs *vfs, const char *path, uint64_t node,
                                     nt_visit_file *visit, void *context)
{
    struct path_walk walk = {.visit = visit, .context = context};
    return visit_node(&walk, vfs, path, node);
}

static bool is_in_directory(const struct nt_file *file, const struct nt_dataset *dataset, uint32_t directory)
{
    uint32_t at = dataset->directory;
    while (at && at != directory)
        at = file->directories[at].parent;
    return at == directory;
}

enum nt_exit_status nt_for_each_dataset(const struct nt_resolved_node *resolved, nt_visit_dataset *visit,
                                        void *context)
{
    enum nt_exit_status first = NT_EXIT_OK;
    if (resolved->dataset)
        return visit(context, resolved, resolved->dataset->index, resolved->field);
    for (uint32_t i = 0; i < resolved->file->dataset_count; i++)
        if (is_in_directory(resolved->file, resolved->file->datasets[i], resolved->node.item))
            nt_note_failure(&first, visit(context, resolved, i, NT_NONE));
    return first;
}

enum { SHOWN_DATASETS = 10, NAME_BYTES = 200 };

/* Of the main datasets; of all if there is no main one. */
struct seen_datasets {
    unsigned count;
    bool is_main;
    uint32_t meant, field;  /* the last one */
    struct nt_buffer names; /* of the first ones, separated by commas */
};

static enum nt_exit_status note_dataset(void *context, const struct nt_resolved_node *resolved,
                                        uint32_t index, uint32_t field)
{
    struct seen_datasets *datasets = context;
    const struct nt_dataset *dataset = resolved->file->datasets[index];
    char name[NAME_BYTES];
    bool is_main = nt_dataset_is_main(dataset);
    if (datasets->is_main && !is_main)
        return NT_EXIT_OK;
    if (is_main && !datasets->is_main) {
        nt_buffer_clear(&datasets->names);
        datasets->count = 0;
    }
    datasets->is_main = is_main;
    datasets->meant = index;
    datasets->field = field;
    if (datasets->count++ >= SHOWN_DATASETS)
        return NT_EXIT_OK;
    size_t length = nt_dataset_path(dataset, name, sizeof(name));
    nt_buffer_append_format(&datasets->names, "%s%s%s", datasets->count > 1 ? ", " : "", name,
                            length < sizeof(name) ? "" : "\u2026");
    return NT_EXIT_OK;
}

enum nt_exit_status nt_find_only_dataset(const struct nt_resolved_node *resolved, uint32_t *index_ret,
                                         uint32_t *field_ret)
{
    struct nt_error error = {0};
    struct seen_datasets datasets = {0};
    nt_for_each_dataset(resolved, note_dataset, &datasets);
    *index_ret = datasets.meant;
    *field_ret = datasets.field;
    if (datasets.count == 0)
        nt_fail(&error, NT_INVALID, NT_NO_OFFSET, "no dataset here");
    else if (datasets.count > 1)
        nt_fail(&error, NT_INVALID, NT_NO_OFFSET, "%u datasets here; name one: %s%s", datasets.count,
                nt_buffer_string(&datasets.names), datasets.count > SHOWN_DATASETS ? ", \u2026" : "");
    nt_buffer_deinit(&datasets.names);
    return error.status == NT_OK ? NT_EXIT_OK : nt_print_error(resolved->file->path, &error);
}

/* ---- Report on datasets ---- */

static enum nt_exit_status report_dataset(void *context, const struct nt_resolved_node *resolved,
                                          uint32_t index, uint32_t field)
{
    struct nt_report *report = context;
    struct nt_dataset *dataset = resolved->file->datasets[index];
    struct nt_json *json = report->json;
    struct nt_error error = {0};
    report->failure = NT_EXIT_OK;
    if (json) {
        nt_json_object(json);
        nt_json_member_text(json, "name", dataset->name);
        nt_json_member_dataset_path(json, resolved->opened, index);
    }
    enum nt_status status = dataset->failure ? nt_fail_copy(&error, dataset->failure)
                                             : report->show(report, resolved->vfs->reader, dataset, &error);
    if (json && status != NT_OK)
        nt_json_member_text(json, "error", nt_text_of(error.message));
    if (json)
        nt_json_end_object(json);
    return status == NT_OK ? report->failure : nt_print_error(dataset->name.bytes, &error);
}

static enum nt_exit_status report_file(void *context, const struct nt_resolved_node *resolved,
                                       bool is_in_directory_of_files)
{
    struct nt_report *report = context;
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer out = {0};
    struct nt_json json;
    report->json = report->settings->json ? &json : NULL;
    if (report->json) {
        nt_json_document(&json, &out, report->document);
        nt_json_member_text(&json, "file", nt_text_of(resolved->file->path));
    }
    if (report->begin)
        report->begin(report, resolved->file, is_in_directory_of_files);
    if (report->json)
        nt_json_member_array(&json, "datasets");
    enum nt_exit_status result = nt_for_each_dataset(resolved, report_dataset, report);
    report->has_printed |= report->separates_files;
    if (!report->json)
        return result;
    nt_json_end_array(&json);
    nt_json_finish(&json);
    nt_note_failure(&result, nt_print_buffer(&out, resolved->file->path));
    return result;
}

static enum nt_exit_status report_target(void *context, struct nt_vfs *vfs, const struct nt_target *target)
{
    struct nt_report *report = context;
    report->target = target;
    return nt_for_each_file(vfs, target->path, target->node, report_file, report);
}

enum nt_exit_status nt_report_run(struct nt_report *report, const struct nt_invocation *invocation)
{
    report->settings = invocation->settings;
    return nt_for_each_target(invocation, true, report_target, report);
}
