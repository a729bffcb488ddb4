/* SPDX-License-Identifier: MIT
 *
 * A tree over the in-memory model (model.h) with helpers for tests. If a helper has no status to
 * return, its failure fails the test.
 */
#pragma once

#include <jansson.h>

#include "core/base/memory.h"
#include "vfs/tree.h"
#include "vfs/vfs.h"

extern struct nt_vfs *vfs;   /* of the running test */
extern char reported[4096];  /* messages that it logged */
extern char tree_folder[64]; /* holds the three files */
extern char path_good[80], path_bad[80], path_other[80];

/* Fixtures: the directory with its files and no tree; a tree of the good file. */
void tree_setup(void);
void tree_setup_single(void);
void tree_teardown(void);

/* Creates `vfs` for several sources. */
void open_paths(const char *const *paths, size_t count, bool list_sized);
/* Replaces `vfs` with a tree of one source, even if the source cannot be opened. */
void open_broken(const char *path);
/* Opens one source and counts lookups: inode numbers may be reused. */
void open_reporting(const char *path);
/* Creates an empty file. */
void touch(const char *path);
/* Writes a file of a different size: atomically (rename), or in place. */
void replace(const char *path, unsigned size, bool in_one_step);
/* Waits until `count` files are open: other threads may still close some. */
void assert_open_files(unsigned count);

uint64_t resolve(const char *path);
struct nt_vfs_attributes attributes_of(const char *path);
enum nt_status status_of(uint64_t node, struct nt_error *why);
/* Returns the names in a directory, each followed by a space; valid until the next call. */
const char *list(const char *path);

/* Reads a file in pieces of at most 4096 bytes and appends a 0. The caller deinits the buffer. */
struct nt_buffer read_in_pieces(uint64_t node, size_t piece);
struct nt_buffer read_path(const char *path);
/* The caller owns the reference. */
json_t *read_json(const char *path);
const char *get_text(const json_t *json, const char *key);
json_int_t get_number(const json_t *json, const char *key);

struct visit {
    char path[512]; /* initially "" */
    unsigned files, directories;
};

/* Visits all descendants of a directory. Checks that the name, the number and the path of each node
 * resolve to it, and that its class, size and content are consistent. */
void walk(struct visit *visit, uint64_t directory);
