/* SPDX-License-Identifier: MIT
 *
 * Handlers of lookup, forget, getattr, statfs and extended attributes. Requests that would modify the
 * tree fail with EROFS. Maps library status codes to errno values.
 */

#include "fuse/operations.h"

/* ---- Errno values ---- */

static const int errno_of_status[] = {
    [NT_OK] = 0,           [NT_NOT_FOUND] = ENOENT, [NT_NOT_THIS_FORMAT] = EIO, [NT_UNSUPPORTED] = EIO,
    [NT_CORRUPT] = EIO,    [NT_CHECKSUM] = EIO,     [NT_TRUNCATED] = EIO,       [NT_CHANGED] = ESTALE,
    [NT_IO] = EIO,         [NT_NO_MEMORY] = ENOMEM, [NT_LIMIT] = EIO, /* not EFBIG: like damaged data */
    [NT_INVALID] = EINVAL, [NT_CANCELED] = EINTR,   [NT_UNREACHABLE] = EIO,     [NT_INCOMPATIBLE] = EIO,
};

int nt_status_errno(enum nt_status status)
{
    return (size_t)status < sizeof(errno_of_status) / sizeof(*errno_of_status) ? errno_of_status[status]
                                                                               : EIO;
}

int nt_failure_errno(enum nt_status status, const struct nt_error *error)
{
    bool may_be_refused = status == NT_IO || status == NT_UNREACHABLE;
    return may_be_refused && error->system_error == EACCES ? EACCES : nt_status_errno(status);
}

/* ---- Lookup and attributes ---- */

enum { LONGEST_NAME = 255, BLOCK = 4096 };

static void on_lookup(fuse_req_t request, fuse_ino_t parent, const char *name)
{
    struct nt_mount *mount = fuse_req_userdata(request);
    struct nt_vfs_attributes attributes;
    const struct nt_vfs_caller caller = nt_caller(request);
    struct nt_error error;
    if (strlen(name) > LONGEST_NAME) {
        fuse_reply_err(request, ENAMETOOLONG);
        return;
    }
    nt_error_clear(&error);
    enum nt_status status = nt_vfs_lookup_ref(mount->vfs, parent, name, &caller, &attributes, &error);
    if (status != NT_OK) {
        fuse_reply_err(request, nt_failure_errno(status, &error));
        return;
    }
    struct fuse_entry_param entry = nt_entry_param(&attributes);
    if (fuse_reply_entry(request, &entry) != 0)
        nt_vfs_forget(mount->vfs, attributes.node, 1); /* interrupted: no reply sent */
}

static void on_forget(fuse_req_t request, fuse_ino_t node, uint64_t lookups)
{
    struct nt_mount *mount = fuse_req_userdata(request);
    nt_vfs_forget(mount->vfs, node, lookups);
    fuse_reply_none(request);
}

static void on_forget_multi(fuse_req_t request, size_t count, struct fuse_forget_data *forgets)
{
    struct nt_mount *mount = fuse_req_userdata(request);
    for (size_t i = 0; i < count; i++)
        nt_vfs_forget(mount->vfs, forgets[i].ino, forgets[i].nlookup);
    fuse_reply_none(request);
}

static void on_getattr(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *info)
{
    struct nt_mount *mount = fuse_req_userdata(request);
    struct nt_vfs_attributes attributes;
    struct nt_error error;
    const struct nt_vfs_caller caller = nt_caller(request);
    nt_error_clear(&error);
    enum nt_status status = nt_vfs_stat_for(mount->vfs, node, &caller, &attributes, &error);
    if (status == NT_OK)
        fuse_reply_attr(request, &attributes.stat, nt_timeout(attributes.is_immutable));
    else
        fuse_reply_err(request, nt_failure_errno(status, &error));
}

static void on_readlink(fuse_req_t request, fuse_ino_t node)
{
    char target[NT_VFS_TARGET];
    if (nt_vfs_read_link(node, target, NULL) == NT_OK)
        fuse_reply_readlink(request, target);
    else
        fuse_reply_err(request, EINVAL);
}

/* Without inode counts, `df -i` shows "-". */
static void on_statfs(fuse_req_t request, fuse_ino_t node)
{
    struct nt_mount *mount = fuse_req_userdata(request);
    uint64_t bytes = nt_vfs_source_bytes(mount->vfs);
    struct statvfs statistics = {.f_bsize = BLOCK,
                                 .f_frsize = BLOCK,
                                 .f_blocks = bytes / BLOCK + (bytes % BLOCK != 0),
                                 .f_flag = ST_RDONLY,
                                 .f_namemax = LONGEST_NAME};
    fuse_reply_statfs(request, &statistics);
}

/* Callers pass the size of their buffer; 0 requests the size. */
static void reply_xattr(fuse_req_t request, enum nt_status status, const struct nt_buffer *value, size_t room)
{
    if (status == NT_OK && value->failed)
        status = NT_NO_MEMORY;
    if (status != NT_OK)
        fuse_reply_err(request, status == NT_NOT_FOUND ? ENODATA : nt_status_errno(status));
    else if (room == 0)
        fuse_reply_xattr(request, value->length);
    else if (room < value->length)
        fuse_reply_err(request, ERANGE);
    else
        fuse_reply_buf(request, value->bytes, value->length);
}

/* Programs that copy attributes, such as rsync, skip a file if a listed attribute has no value. */
static bool is_listed(struct nt_vfs *vfs, fuse_ino_t node, const char *name)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer names = {0};
    if (strncmp(name, NT_VFS_XATTR_PREFIX, strlen(NT_VFS_XATTR_PREFIX)) != 0 ||
        nt_vfs_listxattr(vfs, node, &names, NULL) != NT_OK)
        return false;
    for (size_t at = 0; at < names.length; at += strlen(names.bytes + at) + 1)
        if (strcmp(names.bytes + at, name) == 0)
            return true;
    return false;
}

static void on_getxattr(fuse_req_t request, fuse_ino_t node, const char *name, size_t room)
{
    struct nt_mount *mount = fuse_req_userdata(request);
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer value = {0};
    if (strncmp(name, "user.", strlen("user.")) !=
        0) { /* ls(1) then stops asking, which halves its requests per file */
        fuse_reply_err(request, EOPNOTSUPP);
        return;
    }
    enum nt_status status = nt_vfs_getxattr(mount->vfs, node, name, &value, NULL);
    if (status == NT_NOT_FOUND && is_listed(mount->vfs, node, name))
        status = NT_OK;
    reply_xattr(request, status, &value, room);
}

static void on_listxattr(fuse_req_t request, fuse_ino_t node, size_t room)
{
    struct nt_mount *mount = fuse_req_userdata(request);
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer names = {0};
    enum nt_status status = nt_vfs_listxattr(mount->vfs, node, &names, NULL);
    reply_xattr(request, status, &names, room);
}

void nt_add_node_operations(struct fuse_lowlevel_ops *operations)
{
    operations->lookup = on_lookup;
    operations->forget = on_forget;
    operations->forget_multi = on_forget_multi;
    operations->getattr = on_getattr;
    operations->readlink = on_readlink;
    operations->statfs = on_statfs;
    operations->getxattr = on_getxattr;
    operations->listxattr = on_listxattr;
}

/* ---- Modifying requests ---- */

#define REFUSE(name, ...)                                                                                    \
    static void on_##name(fuse_req_t request, fuse_ino_t node, __VA_ARGS__)                                  \
    {                                                                                                        \
        fuse_reply_err(request, EROFS);                                                                      \
    }

typedef struct fuse_file_info info_t;

REFUSE(setattr, struct stat *attributes, int which, info_t *info)
REFUSE(mknod, const char *name, mode_t mode, dev_t device)
REFUSE(mkdir, const char *name, mode_t mode)
REFUSE(unlink, const char *name)
REFUSE(rmdir, const char *name)
REFUSE(rename, const char *name, fuse_ino_t parent, const char *new_name, unsigned flags)
REFUSE(link, fuse_ino_t parent, const char *name)
REFUSE(write, const char *bytes, size_t size, off_t offset, info_t *info)
REFUSE(setxattr, const char *name, const char *value, size_t size, int flags)
REFUSE(removexattr, const char *name)
REFUSE(create, const char *name, mode_t mode, info_t *info)
REFUSE(fallocate, int mode, off_t offset, off_t length, info_t *info)
REFUSE(copy_file_range, off_t offset, info_t *info, fuse_ino_t to, off_t to_offset, info_t *to_info,
       size_t length, int flags)

static void on_symlink(fuse_req_t request, const char *target, fuse_ino_t parent, const char *name)
{
    fuse_reply_err(request, EROFS);
}

void nt_add_readonly_operations(struct fuse_lowlevel_ops *operations)
{
    operations->setattr = on_setattr;
    operations->mknod = on_mknod;
    operations->mkdir = on_mkdir;
    operations->unlink = on_unlink;
    operations->rmdir = on_rmdir;
    operations->symlink = on_symlink;
    operations->rename = on_rename;
    operations->link = on_link;
    operations->write = on_write;
    operations->setxattr = on_setxattr;
    operations->removexattr = on_removexattr;
    operations->create = on_create;
    operations->fallocate = on_fallocate;
    operations->copy_file_range = on_copy_file_range;
}
