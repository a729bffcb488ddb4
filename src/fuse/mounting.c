/* SPDX-License-Identifier: MIT
 *
 * In: the settings of a mount. Out: the mount, and the descriptor of its device, by libfuse and where root does not mount by
 * fusermount3.
 */
#include "fuse/mounting.h"

#include <sys/stat.h>

#include "fuse/mountinfo.h"
#include "fuse/mountpoint.h"
#include "fuse/operations.h"

/* libfuse tells nobody which socket it keeps for auto_unmount: it is the one that was not there before. A bit for each
 * of the lowest descriptors, among which it is: there are few at that time. */
static uint64_t sockets(void)
{
    uint64_t found = 0;
    for (int descriptor = 0; descriptor < 64; descriptor++) {
        struct stat attributes;
        if (fstat(descriptor, &attributes) == 0 && S_ISSOCK(attributes.st_mode))
            found |= UINT64_C(1) << descriptor;
    }
    return found;
}

/* Where the mount is, while nothing else can lie on top of it. */
static void note_place(struct nt_mounting *mounting, const char *mountpoint)
{
    struct nt_mountinfo info;
    mounting->mountpoint = mountpoint;
    mounting->is_made = nt_mountinfo_get(mountpoint, &info);
    if (mounting->is_made) {
        mounting->major = info.major;
        mounting->minor = info.minor;
    }
}

static enum nt_status mount_session(struct nt_mounting *mounting, const struct nt_mount_settings *settings,
                                    struct fuse_session *session, int *descriptors_ret, int *count_ret,
                                    struct nt_error *error)
{
    const uint64_t before = sockets();
    if (fuse_session_mount(session, settings->mountpoint) != 0)
        return nt_fail(error, NT_IO, NT_NO_OFFSET, "cannot mount on %s", settings->mountpoint);
    note_place(mounting, settings->mountpoint);
    const uint64_t opened = sockets() & ~before;
    *count_ret = 0;
    if (opened)
        descriptors_ret[(*count_ret)++] = __builtin_ctzll(opened);
    descriptors_ret[(*count_ret)++] = fuse_session_fd(session);
    return NT_OK;
}

/* libfuse frees a session that has mounted only with an unmount of its own, of whatever is mounted there then. So it is kept,
 * where who looks for leaks finds it; its descriptor is given away. */
static struct fuse_session *volatile kept;

enum nt_status nt_mounting_make(struct nt_mounting *mounting, const struct nt_mount_settings *settings,
                                int descriptors_ret[NT_MESSAGE_DESCRIPTORS], int *count_ret,
                                struct nt_error *error)
{
    static const struct fuse_lowlevel_ops none;
    struct fuse_session *session;
    enum nt_status status = nt_session_new(settings, &none, NULL, &session, error);
    if (status != NT_OK)
        return status;
    status = mount_session(mounting, settings, session, descriptors_ret, count_ret, error);
    if (status != NT_OK) {
        fuse_session_destroy(session);
        return status;
    }
    kept = session;
    nt_readahead_raise(settings->mountpoint);
    return NT_OK;
}

bool nt_mounting_end(struct nt_mounting *mounting, bool is_lazy)
{
    struct nt_mountinfo info;
    if (!mounting->is_made || !nt_mountinfo_get(mounting->mountpoint, &info) ||
        info.major != mounting->major || info.minor != mounting->minor ||
        !nt_unmount(mounting->mountpoint, is_lazy))
        return false;
    mounting->is_made = false;
    return true;
}
