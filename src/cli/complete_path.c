/* SPDX-License-Identifier: MIT
 *
 * In: a source and the beginning of a path. Out: the paths in its tree that begin so, one level of them. Looks at
 * metadata alone.
 */
#include "cli/complete_path.h"

#include <stdlib.h>
#include <string.h>

struct paths {
    FILE *out;
    const char *word;
    size_t directory_length; /* with the slash behind it */
    const char *begun;       /* of the name */
};

/* A name that would break the line cannot be typed either. */
static bool is_printable(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == '\x7f')
            return false;
    return true;
}

static bool take(void *context, const char *name, uint64_t node, enum nt_vfs_class class,
                 uint64_t next_cursor)
{
    const struct paths *paths = context;
    (void)node;
    (void)next_cursor;
    bool is_hidden = name[0] == '.' && paths->begun[0] != '.';
    if (!is_hidden && strncmp(name, paths->begun, strlen(paths->begun)) == 0 && is_printable(name))
        fprintf(paths->out, "%.*s%s%s\t\n", (int)paths->directory_length, paths->word, name,
                class == NT_VFS_DIRECTORY ? "/" : "");
    return true;
}

/* The shell hands over the words before it replaces anything in them. */
static const char *expand_home(const char *source, struct nt_arena *arena)
{
    const char *home = getenv("HOME");
    if (strncmp(source, "~/", 2) != 0 || !home)
        return source;
    size_t bytes = strlen(home) + strlen(source);
    char *path = nt_arena_alloc(arena, bytes, 1);
    if (path)
        snprintf(path, bytes, "%s%s", home, source + 1);
    return path ? path : source;
}

void nt_complete_path(FILE *out, const struct nt_vfs_options *options, const char *source, const char *word,
                      struct nt_arena *arena)
{
    const char *slash = strrchr(word, '/');
    struct paths paths = {
        .out = out, .word = word, .directory_length = slash ? (size_t)(slash + 1 - word) : 0, .begun = word};
    paths.begun += paths.directory_length;
    source = expand_home(source, arena);
    struct nt_vfs *vfs;
    uint64_t directory;
    if (nt_vfs_new(&source, 1, options, &vfs, NULL) != NT_OK)
        return;
    const char *path = nt_arena_copy(arena, word, paths.directory_length);
    if (path && nt_vfs_resolve(vfs, path, &directory, NULL) == NT_OK)
        (void)!nt_vfs_readdir(vfs, directory, 0, take, &paths, NULL);
    nt_vfs_free(vfs);
}
