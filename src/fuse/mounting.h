/* SPDX-License-Identifier: MIT
 *
 * Making a mount, whose requests another process answers, and ending it.
 */
#ifndef NT_FUSE_MOUNTING_H
#define NT_FUSE_MOUNTING_H

#include "core/base/error.h"
#include "fuse/channel.h"
#include "fuse/settings.h"

/* A mount that was made here. */
struct nt_mounting {
    const char *mountpoint;
    unsigned major, minor; /* what else lies at the mountpoint is left alone */
    bool is_made;
};

/* Mount by the settings, which must outlive the mount; `*mounting` is `{0}`. What the one who answers must have is the
 * caller's to give away and to close: the device, last; with auto_unmount, the socket by whose end its helper learns
 * that the mount is dead. The device has the higher number there, too: Linux releases what a killed program has open from
 * the highest descriptor down, and the helper must find the device released already. */
enum nt_status nt_mounting_make(struct nt_mounting *mounting, const struct nt_mount_settings *settings,
                                int descriptors_ret[NT_MESSAGE_DESCRIPTORS], int *count_ret,
                                struct nt_error *error);

/* Unmount it if it is still there, and not covered by another mount. Where it is in use: false, or with `is_lazy` as
 * nt_unmount. */
bool nt_mounting_end(struct nt_mounting *mounting, bool is_lazy);

#endif
