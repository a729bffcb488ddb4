/* SPDX-License-Identifier: MIT
 *
 * The upper limit of a file system in user space: shows files with the names and sizes of those in a
 * directory, and answers every read from one buffer. It reads and decodes nothing.
 *
 *   bare_mount -f [-o direct_io=on] FOLDER MOUNTPOINT
 */
#include <dirent.h>
#include <fuse_lowlevel.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MAX_FILES = 4096, REQUEST_BYTES = 1 << 20, HUGE_BYTES = 2 << 20, READS_AHEAD = 2 };

struct bare {
    struct dirent *names[MAX_FILES];
    struct stat stats[MAX_FILES];
    size_t count;
    bool is_direct;
    char *bytes; /* of every request */
};

static const struct stat *stat_of(const struct bare *bare, fuse_ino_t node)
{
    static const struct stat root = {.st_ino = FUSE_ROOT_ID, .st_mode = S_IFDIR | 0755, .st_nlink = 2};
    return node == FUSE_ROOT_ID ? &root : &bare->stats[node - FUSE_ROOT_ID - 1];
}

static void on_init(void *context, struct fuse_conn_info *connection)
{
    connection->max_background = READS_AHEAD;
    connection->congestion_threshold = READS_AHEAD;
}

static void on_lookup(fuse_req_t request, fuse_ino_t parent, const char *name)
{
    const struct bare *bare = fuse_req_userdata(request);
    struct fuse_entry_param entry = {.attr_timeout = 3600, .entry_timeout = 3600};
    for (size_t i = 0; i < bare->count && !entry.ino; i++)
        if (!strcmp(bare->names[i]->d_name, name))
            entry.ino = FUSE_ROOT_ID + 1 + i;
    if (entry.ino)
        entry.attr = *stat_of(bare, entry.ino);
    fuse_reply_entry(request, &entry);
}

static void on_getattr(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info)
{
    fuse_reply_attr(request, stat_of(fuse_req_userdata(request), node), 3600);
}

static void on_open(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info)
{
    const struct bare *bare = fuse_req_userdata(request);
    info->direct_io = bare->is_direct;
    info->keep_cache = true;
    fuse_reply_open(request, info);
}

static void on_read(fuse_req_t request, fuse_ino_t node, size_t size, off_t offset,
                    struct fuse_file_info *info)
{
    const struct bare *bare = fuse_req_userdata(request);
    size_t left = (size_t)(stat_of(bare, node)->st_size - offset);
    size_t asked = size < REQUEST_BYTES ? size : REQUEST_BYTES;
    fuse_reply_buf(request, bare->bytes, left < asked ? left : asked);
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The directory's files, and one more that shows that the directory is mounted. */
static bool find_files(struct bare *bare, const char *folder)
{
    static struct dirent ready = {.d_name = ".ntuplefs"};
    struct dirent **found;
    int count = scandir(folder, &found, is_shown, alphasort);
    for (int i = 0; i < count && bare->count < MAX_FILES - 1; i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, found[i]->d_name);
        if (stat(path, &bare->stats[bare->count]) != 0)
            return false;
        bare->stats[bare->count].st_ino = FUSE_ROOT_ID + 1 + bare->count;
        bare->names[bare->count++] = found[i];
    }
    bare->names[bare->count] = &ready;
    bare->stats[bare->count++] = (struct stat){.st_mode = S_IFREG | 0444, .st_nlink = 1};
    return count >= 0;
}

static char *make_bytes(void)
{
    char *bytes = aligned_alloc(HUGE_BYTES, HUGE_BYTES);
    if (bytes) {
        (void)madvise(bytes, HUGE_BYTES, MADV_HUGEPAGE);
        memset(bytes, 1, HUGE_BYTES);
    }
    return bytes;
}

static int serve(struct bare *bare, const char *mountpoint)
{
    static const struct fuse_lowlevel_ops operations = {
        .init = on_init, .lookup = on_lookup, .getattr = on_getattr, .open = on_open, .read = on_read};
    static char name[] = "bare_mount", read_only[] = "-oro";
    char *arguments[] = {name, read_only, NULL};
    struct fuse_args options = FUSE_ARGS_INIT(2, arguments);
    struct fuse_loop_config *config = fuse_loop_cfg_create();
    struct fuse_session *session = fuse_session_new(&options, &operations, sizeof(operations), bare);
    int problem = !config || !session || fuse_set_signal_handlers(session) != 0;
    if (!problem && !(problem = fuse_session_mount(session, mountpoint) != 0)) {
        problem = fuse_session_loop_mt(session, config) != 0;
        fuse_session_unmount(session);
    }
    if (session) {
        fuse_remove_signal_handlers(session);
        fuse_session_destroy(session);
    }
    fuse_loop_cfg_destroy(config);
    return problem ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argument_count, char **arguments)
{
    static struct bare bare;
    bare.is_direct = argument_count == 6 && !strcmp(arguments[3], "direct_io=on");
    bare.bytes = make_bytes();
    if (!bare.bytes || argument_count < 4 || !find_files(&bare, arguments[argument_count - 2])) {
        fprintf(stderr, "usage: bare_mount -f [-o direct_io=on] FOLDER MOUNTPOINT\n");
        return EXIT_FAILURE;
    }
    return serve(&bare, arguments[argument_count - 1]);
}
