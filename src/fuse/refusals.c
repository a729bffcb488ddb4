/* SPDX-License-Identifier: MIT
 *
 * In: every request that would change something. Out: EROFS. The mount is read-only already in the kernel, so
 * these are only reached where an administrator has remounted it for writing.
 */
#include "fuse/operations.h"

#include <errno.h>

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

void nt_add_refusals(struct fuse_lowlevel_ops *operations)
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
