/* SPDX-License-Identifier: MIT
 *
 * In: an address that is a pattern. Out: what it matches, name by name: each folder that may have some is listed.
 */
#include "chain/remote_pattern.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "format/format.h"
#include "io/remote.h"
#include "io/remote_folder.h"

/* A server can tell of folders in folders without an end. */
enum { MOST_DEPTH = 64, MOST_FOLDERS = 1 << 14 };

struct walk {
    struct nt_fetcher *fetcher;
    struct nt_arena *arena;
    struct nt_listed_folders *folders;
    struct nt_remote_match *matches;
    size_t count, capacity;
    unsigned depth, looks;
};

/* A folder on the way. */
struct place {
    const char *address;
    const char *path; /* as of a match; "": the first one */
    struct nt_folder *folder;
    bool is_kept; /* something in it matches */
};

/* ---- what is found ---- */

static enum nt_status keep(struct walk *walk, struct place *place, struct nt_error *error)
{
    struct nt_listed_folders *folders = walk->folders;
    if (place->is_kept)
        return NT_OK;
    struct nt_folder **items =
        nt_grow(folders->items, folders->count, &folders->capacity, sizeof(struct nt_folder *));
    if (!items)
        return nt_fail_memory(error);
    folders->items = items;
    items[folders->count++] = place->folder;
    place->is_kept = true;
    return NT_OK;
}

static char *address_below(const struct walk *walk, const struct place *place, const char *name,
                           bool is_folder)
{
    char *address = nt_address_below(place->address, name, is_folder);
    char *copy = address ? nt_arena_copy(walk->arena, address, strlen(address)) : NULL;
    free(address);
    return copy;
}

static char *path_below(const struct walk *walk, const struct place *place, const char *name)
{
    return nt_arena_format(walk->arena, "%s%s%s", place->path, *place->path ? "/" : "", name);
}

static enum nt_status add(struct walk *walk, struct place *place, const char *name, bool is_folder,
                          struct nt_error *error)
{
    enum nt_status status = keep(walk, place, error);
    if (status != NT_OK)
        return status;
    struct nt_remote_match *matches = nt_grow(walk->matches, walk->count, &walk->capacity, sizeof(*matches));
    if (!matches)
        return nt_fail_memory(error);
    walk->matches = matches;
    struct nt_remote_match *match = &matches[walk->count];
    *match = (struct nt_remote_match){.path = path_below(walk, place, name),
                                      .address = address_below(walk, place, name, is_folder),
                                      .folder = place->folder,
                                      .name = nt_arena_copy(walk->arena, name, strlen(name)),
                                      .is_folder = is_folder};
    walk->count++;
    return match->path && match->address && match->name ? NT_OK : nt_fail_memory(error);
}

/* ---- folders ---- */

typedef enum nt_status matcher(struct walk *walk, struct place *place, const char *pattern,
                               struct nt_error *error);

static matcher match, match_anywhere;

static enum nt_status look_into(struct walk *walk, struct place *place, matcher *look, const char *pattern,
                                struct nt_error *error)
{
    if (walk->depth == MOST_DEPTH || walk->looks == MOST_FOLDERS)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "more than %d folders are looked at, or %d in one another", MOST_FOLDERS, MOST_DEPTH);
    walk->looks++;
    enum nt_status status = nt_folder_open_address(place->address, walk->fetcher, &place->folder, error);
    if (status != NT_OK)
        return status;
    walk->depth++;
    status = look(walk, place, pattern, error);
    walk->depth--;
    if (!place->is_kept)
        nt_folder_close(place->folder);
    return status;
}

static enum nt_status look_below(struct walk *walk, const struct place *place, const char *name,
                                 matcher *look, const char *pattern, struct nt_error *error)
{
    struct place inner = {.address = address_below(walk, place, name, false),
                          .path = path_below(walk, place, name)};
    if (!inner.address || !inner.path)
        return nt_fail_memory(error);
    return look_into(walk, &inner, look, pattern, error);
}

/* ---- names ---- */

/* What is asked of the entries of a folder. */
struct asking {
    struct walk *walk;
    struct place *place;
    const char *segment, *rest; /* the rest of the pattern behind a slash; NULL: nothing */
};

/* A slash at a pattern's end matches folders alone. */
static enum nt_status match_entry(void *context, const struct nt_folder_entry *entry, struct nt_error *error)
{
    const struct asking *asking = context;
    bool is_folder = entry->kind == NT_ENTRY_FOLDER;
    if (fnmatch(asking->segment, entry->name, FNM_PERIOD) != 0 || (asking->rest && !is_folder))
        return NT_OK;
    if (!asking->rest || !*asking->rest)
        return add(asking->walk, asking->place, entry->name, is_folder, error);
    return look_below(asking->walk, asking->place, entry->name, match, asking->rest, error);
}

static enum nt_status enter_entry(void *context, const struct nt_folder_entry *entry, struct nt_error *error)
{
    const struct asking *asking = context;
    if (entry->kind != NT_ENTRY_FOLDER || entry->name[0] == '.')
        return NT_OK;
    return look_below(asking->walk, asking->place, entry->name, match_anywhere, asking->rest, error);
}

/* The pattern in this folder, and likewise below it; folders that are data sets have none of the files that are meant. */
static enum nt_status match_anywhere(struct walk *walk, struct place *place, const char *pattern,
                                     struct nt_error *error)
{
    struct asking asking = {.walk = walk, .place = place, .rest = pattern};
    bool is_dataset;
    enum nt_status status = nt_is_dataset_folder(place->folder, &is_dataset, error);
    if (status != NT_OK || is_dataset)
        return status;
    status = match(walk, place, pattern, error);
    return status == NT_OK ? nt_folder_list(place->folder, "", enter_entry, &asking, error) : status;
}

/* The first name of a pattern in this folder, the others in those that it matches. */
static enum nt_status match(struct walk *walk, struct place *place, const char *pattern,
                            struct nt_error *error)
{
    size_t length = strcspn(pattern, "/");
    const char *rest = pattern[length] ? pattern + length + strspn(pattern + length, "/") : NULL;
    if (length == strlen("**") && strncmp(pattern, "**", length) == 0 && rest && *rest)
        return match_anywhere(walk, place, rest, error);
    char *segment = strndup(pattern, length);
    if (!segment)
        return nt_fail_memory(error);
    struct asking asking = {walk, place, segment, rest};
    enum nt_status status = nt_folder_list(place->folder, "", match_entry, &asking, error);
    free(segment);
    return status;
}

/* ---- all ---- */

static int compare(const void *left, const void *right)
{
    const struct nt_remote_match *a = left, *b = right;
    return strcmp(a->path, b->path);
}

static enum nt_status take_matches(struct walk *walk, const char *shown, nt_remote_take *take, void *context,
                                   struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (walk->count == 0)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "%s: matches no file", shown);
    qsort(walk->matches, walk->count, sizeof(*walk->matches), compare);
    for (size_t i = 0; status == NT_OK && i < walk->count; i++)
        if (i == 0 || compare(&walk->matches[i - 1], &walk->matches[i]) != 0)
            status = take(context, &walk->matches[i], error);
    return status;
}

enum nt_status nt_remote_pattern_expand(const char *pattern, struct nt_fetcher *fetcher,
                                        struct nt_arena *arena, struct nt_listed_folders *folders,
                                        nt_remote_take *take, void *context, struct nt_error *error)
{
    char *folder, *names, *shown = nt_address_shown(pattern);
    if (!shown || !nt_address_split_pattern(pattern, &folder, &names)) {
        free(shown);
        return nt_fail_memory(error);
    }
    struct walk walk = {.fetcher = fetcher, .arena = arena, .folders = folders};
    struct place first = {.address = folder, .path = ""};
    enum nt_status status = look_into(&walk, &first, match, names, error);
    if (status != NT_OK && !nt_message_about(error ? error->message : "", shown))
        nt_error_context(error, "%s", shown);
    if (status == NT_OK)
        status = take_matches(&walk, shown, take, context, error);
    free(walk.matches);
    free(folder);
    free(names);
    free(shown);
    return status;
}

void nt_listed_folders_close(struct nt_listed_folders *folders)
{
    for (size_t i = 0; i < folders->count; i++)
        nt_folder_close(folders->items[i]);
    free(folders->items);
}
