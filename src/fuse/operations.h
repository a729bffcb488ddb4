/* SPDX-License-Identifier: MIT
 *
 * The requests of the kernel, translated to calls of the virtual tree, and nothing else. One file for each
 * kind: each adds its rows to libfuse's table.
 */
#ifndef NT_FUSE_OPERATIONS_H
#define NT_FUSE_OPERATIONS_H

#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdatomic.h>

#include "fuse/crowd.h"
#include "fuse/idle.h"
#include "fuse/interrupts.h"
#include "fuse/lead.h"
#include "fuse/reply_buffers.h"
#include "fuse/settings.h"
#include "fuse/store.h"
#include "vfs/vfs.h"

struct open_file;

/* What the operations work with: the session's user data. */
struct nt_mount {
    struct nt_vfs *vfs;
    struct nt_mount_settings settings;
    struct fuse_session *session;
    struct nt_reply_buffers reply_buffers;
    struct open_file *open_files, *spare_files;
    struct nt_stored stored;
    pthread_mutex_t open_files_lock; /* of both */
    struct nt_idle idle;
    struct nt_interrupts interrupts;
    struct nt_crowd crowd;
    bool has_interrupts;
    bool has_signal_handlers;
    bool is_ready; /* the kernel has accepted the mount */

    /* For device.c: the number of an INIT request whose answer is to be extended (0: none), and by which flags; and what
     * orders a thread's work before a reply and another's after the next request. The kernel does that already, but
     * the compiler and the thread sanitizer cannot know. */
    uint32_t init_flags, init_flags2;
    atomic_uint_least64_t init_to_extend, replies;
};

void nt_add_node_operations(struct fuse_lowlevel_ops *operations); /* lookup, attributes, xattrs, statfs */
void nt_add_file_operations(struct fuse_lowlevel_ops *operations); /* open, read, release */
void nt_add_directory_operations(struct fuse_lowlevel_ops *operations); /* opendir, readdir, readdirplus */
void nt_add_refusals(struct fuse_lowlevel_ops *operations);             /* all that would change something */

/* What the file operations need of a mount; 0 or an errno value. After the loop, _deinit closes the files
 * that the kernel has not released, because the mount was ended while they were open. */
int nt_file_operations_init(struct nt_mount *mount);
void nt_file_operations_deinit(struct nt_mount *mount);
bool nt_has_open_files(void *mount);

static inline bool nt_request_is_gone(void *request)
{
    return fuse_req_interrupted(request);
}

/* Who sent a request, for work that may take long. */
static inline struct nt_vfs_caller nt_caller(fuse_req_t request)
{
    return (struct nt_vfs_caller){nt_request_is_gone, request};
}

/* How long the kernel may keep what it was told about a node or name, in seconds. */
static inline double nt_timeout(bool is_lasting)
{
    return is_lasting ? 1e9 : 0;
}

/* The kernel's form of a node's attributes. */
static inline struct fuse_entry_param nt_entry_param(const struct nt_vfs_attributes *attributes)
{
    return (struct fuse_entry_param){.ino = attributes->node,
                                     .generation = attributes->generation,
                                     .attr = attributes->stat,
                                     .attr_timeout = nt_timeout(attributes->is_immutable),
                                     .entry_timeout = nt_timeout(attributes->is_name_lasting)};
}

/* A session of libfuse as the settings have it, without a device. */
enum nt_status nt_session_new(const struct nt_mount_settings *settings,
                              const struct fuse_lowlevel_ops *operations, void *userdata,
                              struct fuse_session **session_ret, struct nt_error *error);

/* Let the session talk to the device of a mount; it is closed with the session. 0, or -1 where libfuse refuses (it has told
 * why). */
int nt_device_use(struct nt_mount *mount, int device);
/* Answer requests by several threads, in a session that was mounted so; as fuse_session_loop(). */
int nt_device_loop_threads(struct nt_mount *mount);
/* What libfuse is too old for, in words; NULL: nothing. */
const char *nt_device_lacks(void);

/* Around the reading of a request: wait until this thread is to receive, and note what has come. `count` is what
 * read() returned. The first returns whether a request was there already, or as soon as others of its processor had gone first;
 * the second wants to know. */
bool nt_turn_to_receive(struct nt_mount *mount, int device);
void nt_note_received(struct nt_mount *mount, int device, const void *bytes, ssize_t count, bool was_there);
/* Instead of a request: there will be none any more. */
void nt_note_gone(struct nt_mount *mount);

#endif
