/* SPDX-License-Identifier: MIT
 *
 * Writes inputs below a temporary directory, which the end of the program removes.
 */
#include "temporary_input.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/io/folder.h"
#include "memory_folder.h"

static char directory[] = "/tmp/fuzz_input-XXXXXX", path[sizeof(directory) + sizeof("/input")];

static int remove_one(const char *name, const struct stat *attributes, int type, struct FTW *at)
{
    return remove(name);
}

static void remove_all(void)
{
    nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The first file of a name counts. */
static void write_file(int folder, const char *name, const uint8_t *bytes, size_t count)
{
    int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file >= 0 && write(file, bytes, count) != (ssize_t)count)
        abort();
    if (file >= 0)
        close(file);
}

static void make_parents(int folder, const char *name)
{
    char parent[sizeof(((struct memory_file *)NULL)->name)];
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(parent, sizeof(parent), "%.*s", (int)(slash - name), name);
        (void)mkdirat(folder, parent, 0755); /* it may exist */
    }
}

static void write_folder(const struct fuzz_input *input)
{
    struct memory_file file;
    const uint8_t *bytes = input->bytes;
    size_t count = input->count;
    int folder = mkdir(path, 0755) == 0 ? open(path, O_DIRECTORY | O_CLOEXEC) : -1;
    if (folder < 0)
        abort();
    while (memory_file_next(&bytes, &count, &file))
        if (nt_folder_is_name_below(nt_text_of(file.name))) {
            make_parents(folder, file.name);
            write_file(folder, file.name, file.bytes, file.count);
        }
    close(folder);
}

const char *temporary_input(const struct fuzz_input *input)
{
    if (!path[0] && (!mkdtemp(directory) || atexit(remove_all) != 0))
        abort();
    snprintf(path, sizeof(path), "%s/input", directory);
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (input->is_folder)
        write_folder(input);
    else
        write_file(AT_FDCWD, path, input->bytes, input->count);
    return path;
}
