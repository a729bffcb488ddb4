/* SPDX-License-Identifier: MIT
 *
 * Handlers of opendir, readdir and readdirplus. Entries carry attributes only where these are known
 * without work, and only the first entries of a large directory do, to save kernel memory.
 */

#include "fuse/operations.h"

/* READDIRPLUS returns attributes that are known without work, and otherwise node id 0: the kernel then
 * asks for that entry on first access. So a plain `ls` reads no page list, but in pages/, and generates no
 * document. In large directories only the first entries have attributes, because the kernel keeps about a
 * thousand bytes for each.
 *
 * Position 0 is ".", 1 is ".."; the others are the tree's cursors plus two. */

enum { DOT = 0, DOT_DOT = 1, DOTS = 2, MAX_WITH_ATTRIBUTES = 1 << 17 };

struct reply {
    fuse_req_t request;
    struct nt_vfs *vfs;
    char *bytes;
    size_t length, capacity;
    bool with_attributes; /* READDIRPLUS */
    uint64_t *known;      /* nodes that this reply makes known to the kernel */
    size_t known_count, known_capacity;
};

static const mode_t mode_of_class[] = {
    [NT_VFS_DIRECTORY] = S_IFDIR, [NT_VFS_SIZED] = S_IFREG, [NT_VFS_GENERATED] = S_IFREG,
    [NT_VFS_STREAMED] = S_IFREG,  [NT_VFS_LINK] = S_IFLNK,
};

/* Returns false if the reply is full. */
static bool append(struct reply *reply, const char *name, const struct fuse_entry_param *entry, off_t next)
{
    char *end = reply->bytes + reply->length;
    size_t room = reply->capacity - reply->length;
    size_t size = reply->with_attributes
                      ? fuse_add_direntry_plus(reply->request, end, room, name, entry, next)
                      : fuse_add_direntry(reply->request, end, room, name, &entry->attr, next);
    if (size > room)
        return false;
    reply->length += size;
    return true;
}

static struct fuse_entry_param name_only(uint64_t node, mode_t mode)
{
    return (struct fuse_entry_param){.attr = {.st_ino = node, .st_mode = mode}};
}

static bool emit(void *context, const char *name, uint64_t node, enum nt_vfs_class class, uint64_t next)
{
    struct reply *reply = context;
    struct nt_vfs_attributes attributes;
    struct fuse_entry_param entry = name_only(node, mode_of_class[class]);
    bool is_known = reply->with_attributes && nt_vfs_cursor_index(next) <= MAX_WITH_ATTRIBUTES &&
                    NT_GROW(reply->known, reply->known_count, reply->known_capacity) &&
                    nt_vfs_stat(reply->vfs, node, false, &attributes, NULL) == NT_OK;
    if (is_known)
        entry = nt_entry_param(&attributes);
    if (!append(reply, name, &entry, (off_t)(next + DOTS)))
        return false;
    if (is_known) {
        reply->known[reply->known_count++] = node;
        nt_vfs_ref(reply->vfs, node);
    }
    return true;
}

/* The kernel resolves "." and ".." itself, but programs expect them in listings. */
static bool append_dots(struct reply *reply, uint64_t directory, uint64_t position)
{
    struct fuse_entry_param dot = name_only(directory, S_IFDIR);
    struct fuse_entry_param dot_dot = name_only(nt_vfs_parent(reply->vfs, directory), S_IFDIR);
    return (position > DOT || append(reply, ".", &dot, DOT_DOT)) &&
           (position > DOT_DOT || append(reply, "..", &dot_dot, DOTS));
}

static void list(fuse_req_t request, fuse_ino_t directory, size_t size, off_t offset, bool with_attributes)
{
    struct nt_mount *mount = fuse_req_userdata(request);
    uint64_t position = (uint64_t)offset;
    struct reply reply = {.request = request,
                          .vfs = mount->vfs,
                          .bytes = malloc(size),
                          .capacity = size,
                          .with_attributes = with_attributes};
    struct nt_error error = {0};
    enum nt_status status = reply.bytes ? NT_OK : NT_NO_MEMORY;
    if (status == NT_OK && append_dots(&reply, directory, position)) {
        uint64_t cursor = position > DOTS ? position - DOTS : 0;
        status = nt_vfs_readdir(mount->vfs, directory, cursor, emit, &reply, &error);
    }
    int problem = status == NT_OK ? fuse_reply_buf(request, reply.bytes, reply.length)
                                  : fuse_reply_err(request, nt_failure_errno(status, &error));
    for (size_t i = 0; (status != NT_OK || problem) && i < reply.known_count; i++)
        nt_vfs_forget(mount->vfs, reply.known[i], 1); /* the kernel did not receive them */
    free(reply.bytes);
    free(reply.known);
}

static void on_readdir(fuse_req_t request, fuse_ino_t directory, size_t size, off_t offset,
                       struct fuse_file_info *info)
{
    list(request, directory, size, offset, false);
}

static void on_readdirplus(fuse_req_t request, fuse_ino_t directory, size_t size, off_t offset,
                           struct fuse_file_info *info)
{
    list(request, directory, size, offset, true);
}

/* ENOSYS means (since Linux 5.1) that directories need no open: this halves the requests of `ls -R`,
 * and the kernel caches listings until the directory's mtime changes. Not with auto_unmount:
 * fusermount3 opens the mountpoint to check whether its program has died. */
static void on_opendir(fuse_req_t request, fuse_ino_t directory, struct fuse_file_info *info)
{
    struct nt_mount *mount = fuse_req_userdata(request);
    if (mount->settings.auto_unmount)
        fuse_reply_open(request, info);
    else
        fuse_reply_err(request, ENOSYS);
}

void nt_add_directory_operations(struct fuse_lowlevel_ops *operations)
{
    operations->opendir = on_opendir;
    operations->readdir = on_readdir;
    operations->readdirplus = on_readdirplus;
}
