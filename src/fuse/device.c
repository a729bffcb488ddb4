/* SPDX-License-Identifier: MIT
 *
 * In: the kernel's first request (INIT), which says what it can do. Out: libfuse's answer, where direct I/O
 * is wanted with one more flag, FUSE_DIRECT_IO_ALLOW_MMAP, which libfuse before 3.17 does not know. Without
 * it a file with direct I/O cannot be mapped with MAP_SHARED, as numpy.memmap does. Linux grants it from 6.6
 * on. The structures are those of <linux/fuse.h>.
 */
#include "fuse/operations.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/uio.h>
#include <unistd.h>

/* Bit 36 of the flags, whose upper half has a word of its own. Not in the headers of Linux before 6.6. */
#define ALLOW_MAPPING_IN_FLAGS2 (1u << (36 - 32))

struct init_request {
    struct fuse_in_header header;
    struct fuse_init_in init;
};

static ssize_t receive(int descriptor, void *buffer, size_t size, void *userdata)
{
    struct nt_mount *mount = userdata;
    const struct init_request *request = buffer;
    ssize_t count = read(descriptor, buffer, size);
    (void)atomic_load(&mount->replies);
    if (count >= (ssize_t)sizeof(request->header))
        nt_idle_note(&mount->idle, request->header.opcode);
    if (count < (ssize_t)sizeof(*request) || request->header.opcode != FUSE_INIT)
        return count;
    if (mount->settings.direct_io == NT_DIRECT_IO_ON && request->init.flags & FUSE_INIT_EXT &&
        request->init.flags2 & ALLOW_MAPPING_IN_FLAGS2)
        atomic_store(&mount->init_to_extend, request->header.unique);
    return count;
}

static ssize_t reply(int descriptor, struct iovec *parts, int count, void *userdata)
{
    struct nt_mount *mount = userdata;
    const struct fuse_out_header *header = parts[0].iov_base;
    uint64_t unique = atomic_load(&mount->init_to_extend);
    if (unique != 0 && header->unique == unique && count > 1 &&
        parts[1].iov_len >= sizeof(struct fuse_init_out)) {
        struct fuse_init_out *answer = parts[1].iov_base;
        answer->flags |= FUSE_INIT_EXT;
        answer->flags2 |= ALLOW_MAPPING_IN_FLAGS2;
        atomic_store(&mount->init_to_extend, 0);
    }
    atomic_fetch_add(&mount->replies, 1);
    return writev(descriptor, parts, count);
}

static const struct fuse_custom_io device_io = {.writev = reply, .read = receive};

int nt_device_mount(struct nt_mount *mount)
{
    if (fuse_session_mount(mount->session, mount->settings.mountpoint) != 0)
        return -1;
    int device = fuse_session_fd(mount->session);
    int higher = fcntl(device, F_DUPFD_CLOEXEC, device + 1);
    if (higher >= 0) {
        close(device);
        device = higher;
    }
    return fuse_session_custom_io(mount->session, &device_io, device);
}
