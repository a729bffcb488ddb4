/* SPDX-License-Identifier: MIT
 *
 * The command ls: lists directories in file order, in batches of bounded memory; also long, recursive,
 * sorted, or as JSON Lines.
 */
#include "cli/cli.h"

#include <grp.h>
#include <math.h>
#include <pwd.h>

struct column_widths {
    int links, owner, group, size;
};

/* A line of ls -l before alignment. */
struct ls_line {
    bool is_known; /* false: the attributes are not available */
    char mode[NT_MODE_TEXT], links[24], owner[33], group[33], size[24], time[32];
};

struct lister {
    const struct nt_invocation *invocation;
    struct nt_vfs *vfs;
    struct nt_buffer path; /* of the directory */
    unsigned depth;
    bool has_several; /* directories to list */
    bool has_printed, has_colour;
    struct column_widths widths; /* only grow, so that all batches of a directory align */
    /* The last attributes and their texts: most trees have one owner and time, and names are slow to find. */
    bool has_last;
    struct stat last;
    char owner[33], group[33], time[32];
    struct ls_line lines[NT_LISTING_BATCH];
    enum nt_exit_status status;
};

/* ---- Long lines ---- */

/* Shows the name of an owner, if there is a short one. */
static void format_owner(const char *name, uintmax_t id, char *text, size_t size)
{
    if (name && strlen(name) < size)
        strcpy(text, name);
    else
        snprintf(text, size, "%ju", id);
}

/* Shows the time of day for the last six months, else the year, as in ls(1). */
static void format_time(time_t when, char *text, size_t size)
{
    const time_t half_year = 31556952 / 2;
    time_t now = time(NULL);
    bool is_recent = when > now - half_year && when <= now;
    struct tm local;
    if (!localtime_r(&when, &local) ||
        strftime(text, size, is_recent ? "%b %e %H:%M" : "%b %e  %Y", &local) == 0)
        snprintf(text, size, "%jd", (intmax_t)when);
}

static void remember(struct lister *lister, const struct stat *stat)
{
    if (!lister->has_last || lister->last.st_uid != stat->st_uid) {
        const struct passwd *user = getpwuid(stat->st_uid);
        format_owner(user ? user->pw_name : NULL, stat->st_uid, lister->owner, sizeof(lister->owner));
    }
    if (!lister->has_last || lister->last.st_gid != stat->st_gid) {
        const struct group *group = getgrgid(stat->st_gid);
        format_owner(group ? group->gr_name : NULL, stat->st_gid, lister->group, sizeof(lister->group));
    }
    if (!lister->has_last || lister->last.st_mtime != stat->st_mtime)
        format_time(stat->st_mtime, lister->time, sizeof(lister->time));
    lister->last = *stat;
    lister->has_last = true;
}

/* Uses units of 1024 bytes, rounded up, as in ls(1). */
static void format_human(uint64_t bytes, char *text, size_t size)
{
    static const char units[] = "KMGTPE";
    double value = (double)bytes;
    int unit = -1;
    while (value >= 1024 && units[unit + 1]) {
        value /= 1024;
        unit++;
    }
    if (unit >= 0 && ceil(value) >= 1024 && units[unit + 1]) {
        value /= 1024;
        unit++;
    }
    if (unit < 0)
        snprintf(text, size, "%" PRIu64, bytes);
    else if (ceil(10 * value) < 100)
        snprintf(text, size, "%.1f%c", ceil(10 * value) / 10, units[unit]);
    else
        snprintf(text, size, "%.0f%c", ceil(value), units[unit]);
}

static void format_number(uint64_t number, char text[24])
{
    text[nt_format_unsigned(number, text)] = '\0';
}

static void format_line(struct lister *lister, const struct stat *stat, struct ls_line *line)
{
    remember(lister, stat);
    line->is_known = true;
    nt_format_mode(stat->st_mode, line->mode);
    format_number((uint64_t)stat->st_nlink, line->links);
    strcpy(line->owner, lister->owner);
    strcpy(line->group, lister->group);
    if (lister->invocation->settings->human)
        format_human((uint64_t)stat->st_size, line->size, sizeof(line->size));
    else
        format_number((uint64_t)stat->st_size, line->size);
    strcpy(line->time, lister->time);
}

static void widen(int *width, const char *text)
{
    int length = (int)strlen(text);
    if (length > *width)
        *width = length;
}

static void make_line(struct lister *lister, const struct nt_tree_entry *entry, struct ls_line *line)
{
    struct nt_error error = {0};
    struct nt_vfs_attributes attributes;
    line->is_known = false;
    if (nt_vfs_stat(lister->vfs, entry->node, true, &attributes, &error) != NT_OK) {
        size_t length = nt_path_enter(&lister->path, entry->name);
        nt_note_failure(&lister->status,
                        nt_print_error(lister->path.failed ? entry->name : lister->path.bytes, &error));
        nt_path_leave(&lister->path, length);
        return;
    }
    format_line(lister, &attributes.stat, line);
    widen(&lister->widths.links, line->links);
    widen(&lister->widths.owner, line->owner);
    widen(&lister->widths.group, line->group);
    widen(&lister->widths.size, line->size);
}

/* Returns the end. */
static char *put_padded(char *out, const char *text, int width, bool is_left)
{
    size_t length = strlen(text), spaces = (size_t)width > length ? (size_t)width - length : 0;
    memset(out, ' ', length + spaces + 1);
    memcpy(out + (is_left ? 0 : spaces), text, length);
    return out + length + spaces + 1;
}

/* Without printf, which takes a tenth of the time of a long listing. */
static void print_line(const struct lister *lister, const struct ls_line *line)
{
    static const struct ls_line unknown = {false, "??????????", "?", "?", "?", "?", "           ?"};
    const struct column_widths *widths = &lister->widths;
    const struct ls_line *shown = line->is_known ? line : &unknown;
    char text[2 * sizeof(*line)], *end = text;
    end = put_padded(end, shown->mode, 0, true);
    end = put_padded(end, shown->links, widths->links, false);
    end = put_padded(end, shown->owner, widths->owner, true);
    end = put_padded(end, shown->group, widths->group, true);
    end = put_padded(end, shown->size, widths->size, false);
    end = put_padded(end, shown->time, 0, true);
    fwrite(text, 1, (size_t)(end - text), stdout);
}

/* ---- JSON Lines ---- */

/* Prints the attributes of the entry at the current path, or the error. */
static void print_json_line(struct lister *lister, uint64_t node, enum nt_vfs_class class)
{
    const char *path = lister->path.length ? lister->path.bytes : "/";
    struct nt_vfs_attributes attributes;
    struct nt_error error = {0};
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer line = {0};
    struct nt_json json;
    nt_json_line(&json, &line);
    nt_json_member_text(&json, "path", nt_text_of(path));
    nt_json_member_text(&json, "name", nt_path_name(path));
    if (nt_vfs_stat(lister->vfs, node, true, &attributes, &error) == NT_OK) {
        nt_json_attribute_members(&json, &attributes);
    } else {
        nt_json_member_string(&json, "class", nt_class_name(class));
        nt_json_failure_members(&json, &error);
        nt_note_failure(&lister->status, nt_print_error(path, &error));
    }
    nt_json_finish(&json);
    nt_note_failure(&lister->status, nt_print_buffer(&line, path));
}

/* ---- Directories ---- */

static void print_entries(struct lister *lister, const struct nt_tree_entry *entries, size_t count)
{
    const struct nt_settings *settings = lister->invocation->settings;
    bool with_details = settings->details && !settings->json;
    char target[NT_VFS_TARGET];
    for (size_t i = 0; with_details && i < count; i++)
        if (nt_entry_is_shown(&entries[i], settings))
            make_line(lister, &entries[i], &lister->lines[i]);
    for (size_t i = 0; i < count; i++) {
        if (!nt_entry_is_shown(&entries[i], settings))
            continue;
        if (settings->json) {
            size_t length = nt_path_enter(&lister->path, entries[i].name);
            if (!lister->path.failed)
                print_json_line(lister, entries[i].node, entries[i].class);
            nt_path_leave(&lister->path, length);
            continue;
        }
        if (with_details)
            print_line(lister, &lister->lines[i]);
        nt_print_entry_name(&entries[i], lister->has_colour);
        if (with_details && nt_vfs_read_link(entries[i].node, target, NULL) == NT_OK)
            printf(" -> %s", target);
        putchar('\n');
    }
}

static void list_directory(struct lister *lister, uint64_t node);

static enum nt_status list_below(struct lister *lister, struct nt_dir_listing *listing,
                                 struct nt_error *error)
{
    enum nt_status status = nt_dir_listing_rewind(listing, error);
    lister->depth++;
    while (status == NT_OK && listing->count > 0) {
        for (size_t i = 0; i < listing->count; i++) {
            const struct nt_tree_entry *entry = &listing->entries[i];
            if (entry->class != NT_VFS_DIRECTORY || !nt_entry_is_shown(entry, lister->invocation->settings))
                continue;
            size_t length = nt_path_enter(&lister->path, entry->name);
            list_directory(lister, entry->node);
            nt_path_leave(&lister->path, length);
        }
        status = nt_dir_listing_next(listing, error);
    }
    lister->depth--;
    return status;
}

/* ---- Sorted directories ---- */

/* An entry with its sort key; unknown values sort last. */
struct ranked {
    const char *name;
    uint64_t node;
    enum nt_vfs_class class;
    int64_t rank;
    size_t position;
};

struct ranked_names {
    struct nt_arena *arena; /* owns the names */
    struct ranked *list;
    size_t count, capacity;
};

static int compare_ranks(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    int order = (a->rank < b->rank) - (a->rank > b->rank);
    return order ? order : (a->position > b->position) - (a->position < b->position);
}

static bool rank_entry(const struct lister *lister, struct ranked_names *names,
                       const struct nt_tree_entry *entry)
{
    struct nt_vfs_attributes attributes;
    if (!NT_GROW(names->list, names->count, names->capacity))
        return false;
    struct ranked *ranked = &names->list[names->count];
    *ranked = (struct ranked){.name = nt_arena_copy(names->arena, entry->name, strlen(entry->name)),
                              .node = entry->node,
                              .class = entry->class,
                              .rank = INT64_MIN,
                              .position = names->count};
    if (nt_vfs_stat(lister->vfs, entry->node, true, &attributes, NULL) == NT_OK)
        ranked->rank =
            lister->invocation->settings->by_size ? attributes.stat.st_size : attributes.stat.st_mtim.tv_sec;
    names->count++;
    return ranked->name != NULL;
}

static void print_ranking(struct lister *lister, const struct ranked_names *names)
{
    struct nt_tree_entry entries[NT_LISTING_BATCH];
    for (size_t first = 0, count; first < names->count; first += count) {
        for (count = 0; count < NT_LISTING_BATCH && first + count < names->count; count++) {
            const struct ranked *ranked = &names->list[first + count];
            entries[count] = (struct nt_tree_entry){.node = ranked->node, .class = ranked->class};
            nt_string_copy(entries[count].name, sizeof(entries[count].name), ranked->name);
        }
        print_entries(lister, entries, count);
    }
}

/* Needs memory for all names of the directory. */
static enum nt_status list_ranked(struct lister *lister, struct nt_dir_listing *listing,
                                  struct nt_error *error)
{
    struct ranked_names names = {.arena = nt_arena_new()};
    enum nt_status status = names.arena ? NT_OK : nt_fail_memory(error);
    while (status == NT_OK && (status = nt_dir_listing_next(listing, error)) == NT_OK && listing->count > 0)
        for (size_t i = 0; i < listing->count && status == NT_OK; i++)
            if (nt_entry_is_shown(&listing->entries[i], lister->invocation->settings) &&
                !rank_entry(lister, &names, &listing->entries[i]))
                status = nt_fail_memory(error);
    if (names.count)
        qsort(names.list, names.count, sizeof(*names.list), compare_ranks);
    print_ranking(lister, &names);
    free(names.list);
    nt_arena_free(names.arena);
    return status;
}

static enum nt_status list_entries(struct lister *lister, struct nt_dir_listing *listing,
                                   struct nt_error *error)
{
    const struct nt_settings *settings = lister->invocation->settings;
    enum nt_status status = NT_OK;
    lister->widths = (struct column_widths){0};
    if (settings->by_size || settings->by_time)
        return list_ranked(lister, listing, error);
    while (status == NT_OK && !listing->is_at_end) {
        status = nt_dir_listing_next(listing, error);
        if (status == NT_OK)
            print_entries(lister, listing->entries, listing->count);
    }
    return status;
}

static void list_directory(struct lister *lister, uint64_t node)
{
    struct nt_error error = {0};
    const struct nt_settings *settings = lister->invocation->settings;
    if (!settings->json && (settings->recursive || lister->has_several)) {
        fputs(lister->has_printed ? "\n" : "", stdout);
        nt_print_name(lister->path.length ? lister->path.bytes : "/");
        puts(":");
    }
    lister->has_printed = true;
    NT_AUTO_FREE struct nt_dir_listing *listing =
        nt_dir_listing_new(lister->vfs, node, lister->depth, &error);
    enum nt_status status = listing ? list_entries(lister, listing, &error) : error.status;
    if (status == NT_OK && settings->recursive)
        status = list_below(lister, listing, &error);
    if (status != NT_OK)
        nt_note_failure(&lister->status,
                        nt_print_error(lister->path.length ? lister->path.bytes : "/", &error));
}

static void list_file(struct lister *lister, const char *path, const struct stat *stat)
{
    if (lister->invocation->settings->details) {
        struct ls_line *line = &lister->lines[0];
        lister->widths = (struct column_widths){0};
        format_line(lister, stat, line);
        print_line(lister, line);
    }
    nt_print_name(path);
    putchar('\n');
    lister->has_printed = true;
}

static enum nt_exit_status list(void *context, struct nt_vfs *vfs, const struct nt_target *target)
{
    struct lister *lister = context;
    struct nt_vfs_attributes attributes;
    struct nt_error error = {0};
    const struct nt_settings *settings = lister->invocation->settings;
    const char *path = target->path;
    uint64_t node = settings->fields ? nt_node_only_dataset(vfs, target->node) : target->node;
    lister->vfs = vfs;
    lister->status = NT_EXIT_OK;
    nt_buffer_clear(&lister->path);
    nt_buffer_append_string(&lister->path, path);
    if (nt_vfs_stat(vfs, node, true, &attributes, &error) != NT_OK)
        return nt_print_error(path, &error);
    if (attributes.class == NT_VFS_DIRECTORY)
        list_directory(lister, node);
    else if (settings->json)
        print_json_line(lister, node, attributes.class);
    else
        list_file(lister, path, &attributes.stat);
    return lister->status;
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    struct lister lister = {.invocation = invocation,
                            .has_several = invocation->operand_count > 2,
                            .has_colour = nt_terminal_has_colour()};
    for (int i = 1; i < invocation->operand_count; i++)
        lister.has_several |= nt_has_wildcard(invocation->operands[i]);
    struct stat attributes;
    tzset();
    if (invocation->settings->details && stat(invocation->operands[0], &attributes) == 0)
        remember(&lister, &attributes); /* the sandbox finds other names only in files */
    enum nt_exit_status status = nt_for_each_target(invocation, false, list, &lister);
    nt_buffer_deinit(&lister.path);
    return status;
}

static const struct nt_option options[] = {
    NT_OPTION('a', "all", FLAG, all, .help = "list names that begin with a dot, too"),
    NT_OPTION('l', "long", FLAG, details, .help = "print mode, owner, size and time"),
    NT_OPTION('h', "human", FLAG, human, .help = "with -l: print sizes as 1.5K or 234M"),
    NT_OPTION('S', "by_size", FLAG, by_size, .help = "sort by size, largest first"),
    NT_OPTION('t', "by_time", FLAG, by_time, .help = "sort by time, newest first"),
    NT_OPTION('1', "single", FLAG, single_column, .help = "print one name per line (always on)"),
    NT_OPTION('R', "recursive", FLAG, recursive, .help = "list subdirectories, too"),
    NT_OPTION(
        0, "fields", FLAG, fields,
        .help = "list only fields, datasets and directories of these; of a file with one dataset its fields"),
    NT_OPTION(0, "json", FLAG, json,
              .help = "print a line of JSON for each entry, with its path and attributes"),
    {0},
};

const struct nt_command nt_command_ls = {
    .name = "ls",
    .operands = "FILE [PATH...]",
    .help = "list directories of the tree",
    .fewest = 1,
    .options = options,
    .names_owners = true,
    .shows_broken = true,
    .measures_once = true,
    .run = run,
};
