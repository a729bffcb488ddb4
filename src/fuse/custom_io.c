/* SPDX-License-Identifier: MIT
 *
 * Reads requests and writes replies through fuse_session_custom_io (libfuse 3.13 and newer), and adds
 * INIT flags to replies that libfuse does not know. Built instead of legacy_io.c.
 */
#include <linux/fuse.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fuse/operations.h"

/* Adds two flags to the answer of INIT, the kernel's first request. FUSE_PARALLEL_DIROPS, which libfuse
 * before 3.17 forgets: without it, each lookup blocks all others in its directory. With direct I/O,
 * FUSE_DIRECT_IO_ALLOW_MMAP, which libfuse before 3.17 does not know: without it, a file with direct
 * I/O does not support MAP_SHARED, which numpy.memmap uses; Linux accepts it from 6.6. This file also
 * routes requests through the leader, and retries replies so that no caller hangs. The structures come
 * from <linux/fuse.h>. legacy_io.c replaces this file for a libfuse without custom I/O. */

enum {
    TRIES = 10,     /* for a reply */
    NO_THREAD = -1, /* from libfuse, if not even one thread starts */
};

/* Bit 36 of the flags, whose upper half is a separate word. Linux headers before 6.6 lack it. */
#define ALLOW_MAPPING_IN_FLAGS2 (1u << (36 - 32))

struct init_request {
    struct fuse_in_header header;
    struct fuse_init_in init;
};

/* Notes the flags to add to the answer. Kernels before 5.17 send no second word of flags. */
static void note_init(struct nt_mount *mount, const struct init_request *request)
{
    bool can_map = request->init.flags & FUSE_INIT_EXT && request->init.flags2 & ALLOW_MAPPING_IN_FLAGS2;
    mount->init_flags = request->init.flags & FUSE_PARALLEL_DIROPS;
    mount->init_flags2 = 0;
    if (can_map && mount->settings.direct_io == NT_DIRECT_IO_ON) {
        mount->init_flags |= FUSE_INIT_EXT;
        mount->init_flags2 = ALLOW_MAPPING_IN_FLAGS2;
    }
    atomic_store(&mount->init_to_extend, request->header.unique);
}

static ssize_t receive(int descriptor, void *buffer, size_t size, void *userdata)
{
    struct nt_mount *mount = userdata;
    const struct init_request *request = buffer;
    bool was_there = nt_before_receive(mount);
    ssize_t count = read(descriptor, buffer, size);
    int problem = count < 0 ? errno : 0;
    (void)atomic_load(&mount->replies);
    if (nt_is_unmounted(problem)) {
        problem = ENODEV; /* all that libfuse knows */
        nt_end_receive(mount);
    }
    nt_after_receive(mount, buffer, count, was_there);
    if (count >= (ssize_t)offsetof(struct init_request, init.flags2) && request->header.opcode == FUSE_INIT)
        note_init(mount, request);
    errno = problem;
    return count;
}

/* writev with retries after errors that are temporary, and unrelated to the content of the reply. */
static ssize_t write_reply(int descriptor, const struct iovec *parts, int count)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    for (int tries = 1;; tries++) {
        ssize_t written = writev(descriptor, parts, count);
        bool is_for_now = errno == EINTR || errno == EAGAIN || errno == ENOMEM;
        if (written >= 0 || !is_for_now || tries == TRIES)
            return written;
        if (errno == ENOMEM)
            nanosleep(&pause, NULL);
    }
}

/* The caller waits until it gets an answer: if the kernel rejects one, this sends EIO. The kernel is
 * done with an unknown request (ENOENT), and with all requests after an unmount. */
static ssize_t send_or_refuse(int descriptor, const struct iovec *parts, int count)
{
    ssize_t written = write_reply(descriptor, parts, count);
    int system_error = errno;
    if (written >= 0 || system_error == ENOENT || nt_is_unmounted(system_error))
        return written;
    struct fuse_out_header refusal = *(const struct fuse_out_header *)parts[0].iov_base;
    refusal.len = sizeof(refusal);
    refusal.error = -EIO;
    if (refusal.unique) /* a notification (0) has no waiting caller */
        (void)write_reply(descriptor, &(struct iovec){&refusal, sizeof(refusal)}, 1);
    errno = system_error;
    return written;
}

static void extend_answer(const struct nt_mount *mount, const struct iovec *part)
{
    struct fuse_init_out *answer = part->iov_base;
    if (part->iov_len < offsetof(struct fuse_init_out, flags2) + sizeof(answer->flags2))
        return;
    answer->flags |= mount->init_flags;
    answer->flags2 |= mount->init_flags2;
}

static ssize_t reply(int descriptor, struct iovec *parts, int count, void *userdata)
{
    struct nt_mount *mount = userdata;
    const struct fuse_out_header *header = parts[0].iov_base;
    uint64_t unique = atomic_load(&mount->init_to_extend);
    if (unique != 0 && header->unique == unique) {
        if (count > 1)
            extend_answer(mount, &parts[1]);
        atomic_store(&mount->init_to_extend, 0);
    }
    atomic_fetch_add(&mount->replies, 1);
    return send_or_refuse(descriptor, parts, count);
}

static const struct fuse_custom_io device_io = {.writev = reply, .read = receive};

int nt_device_use(struct nt_mount *mount, int device)
{
    return fuse_session_custom_io(mount->session, &device_io, device);
}

int nt_device_loop_threads(struct nt_mount *mount)
{
    struct fuse_loop_config *config = fuse_loop_cfg_create();
    if (!config)
        return -ENOMEM;
    fuse_loop_cfg_set_max_threads(config, mount->settings.threads);
    int result = fuse_session_loop_mt(mount->session, config);
    fuse_loop_cfg_destroy(config);
    return result == NO_THREAD ? fuse_session_loop(mount->session) : result;
}

const char *nt_mount_missing_features(void)
{
    return NULL;
}
