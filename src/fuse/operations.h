/* SPDX-License-Identifier: MIT
 *
 * The requests of the kernel, translated to calls of the virtual tree, and nothing else. One file for each
 * kind: each adds its rows to libfuse's table.
 */
#ifndef NT_FUSE_OPERATIONS_H
#define NT_FUSE_OPERATIONS_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdatomic.h>

#include "fuse/mount.h"

/* What the operations work with: the session's user data. */
struct nt_mount {
    struct nt_vfs *vfs;
    struct nt_mount_settings settings;
    struct fuse_session *session;
    pthread_key_t reply_buffers; /* a buffer for each thread, kept from read to read */
    bool has_signal_handlers;
    bool is_mounted;
    bool is_ready;                        /* the kernel has accepted the mount */
    atomic_uint_least64_t init_to_extend; /* see mapped_direct_io.c; 0: none */
};

void nt_add_node_operations(struct fuse_lowlevel_ops *operations); /* lookup, attributes, xattrs, statfs */
void nt_add_file_operations(struct fuse_lowlevel_ops *operations); /* open, read, release */
void nt_add_directory_operations(struct fuse_lowlevel_ops *operations); /* opendir, readdir, readdirplus */
void nt_add_refusals(struct fuse_lowlevel_ops *operations);             /* all that would change something */

/* Make the key of the reply buffers; 0 or an errno value. Deleting frees the calling thread's buffer; those
 * of other threads are freed when they end. */
int nt_reply_buffers_init(pthread_key_t *key);
void nt_reply_buffers_deinit(pthread_key_t key);

/* How long the kernel may keep what it was told about a node, in seconds. */
static inline double nt_timeout(const struct nt_vfs_attributes *attributes)
{
    return attributes->is_immutable ? 1e9 : 0;
}

/* The kernel's form of a node's attributes. */
static inline struct fuse_entry_param nt_entry(const struct nt_vfs_attributes *attributes)
{
    double timeout = nt_timeout(attributes);
    return (struct fuse_entry_param){.ino = attributes->node,
                                     .generation = 1,
                                     .attr = attributes->stat,
                                     .attr_timeout = timeout,
                                     .entry_timeout = timeout};
}

#endif
