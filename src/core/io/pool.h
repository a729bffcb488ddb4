/* SPDX-License-Identifier: MIT
 *
 * Sources that share a bounded number of descriptors (a quarter of RLIMIT_NOFILE, at most 128): the one that
 * was not used for longest is closed, and opened again when it is wanted.
 */
#ifndef NT_IO_POOL_H
#define NT_IO_POOL_H

#include "core/io/descriptor.h"
#include "core/io/source.h"

/* What the sources of a pool are opened by, whenever they are; called by several threads at once. */
struct nt_pool_opener {
    enum nt_status (*open)(void *context, const char *name, int *descriptor_ret,
                           struct nt_identity *identity_ret, struct nt_error *error);
    void (*release)(void *context); /* with the pool's end */
    void *context;
};

/* NULL without memory; then nothing is released. */
struct nt_source_pool *nt_source_pool_new(const struct nt_pool_opener *opener);
/* Drop the caller's hold; the pool lives until its last source is closed. Accepts NULL. */
void nt_source_pool_free(struct nt_source_pool *pool);

/* How many of its sources are open. */
size_t nt_source_pool_open(struct nt_source_pool *pool);

/* A source that is opened when it is first used, by the part of its path from `name_at` on. The path is for
 * messages and copied. */
enum nt_status nt_source_pool_add(struct nt_source_pool *pool, const char *path, size_t name_at,
                                  struct nt_source **source_ret, struct nt_error *error);

#endif
