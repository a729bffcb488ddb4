/* SPDX-License-Identifier: MIT
 *
 * A tree over the model in memory (model.h), and how tests ask it. Where something fails that a function does
 * not return, the test fails.
 */
#ifndef NT_TESTS_VFS_OPEN_TREE_H
#define NT_TESTS_VFS_OPEN_TREE_H

#include <jansson.h>

#include "core/base/memory.h"
#include "vfs/tree.h"
#include "vfs/vfs.h"

extern struct nt_vfs *vfs;   /* of the running test */
extern char reported[4096];  /* the lines that it reported */
extern char tree_folder[64]; /* holds the three files */
extern char path_good[80], path_bad[80], path_other[80];

/* Fixtures: the folder with its files and no tree; the tree of the good file. */
void tree_setup(void);
void tree_setup_single(void);
void tree_teardown(void);

/* Makes `vfs`. */
void open_paths(const char *const *paths, size_t count, bool list_sized);
/* One source in place of what was open, also where nothing of it opens. */
void open_broken(const char *path);
/* One source, and numbers of nodes may be given again. */
void open_told(const char *path);
/* Makes an empty file. */
void touch(const char *path);
/* Makes a file of another size than before, in one step or within the file that is there. */
void replace(const char *path, unsigned size, bool in_one_step);
/* Waits until a thread has closed all others. */
void assert_open_files(unsigned count);

uint64_t resolve(const char *path);
struct nt_vfs_attributes attributes_of(const char *path);
enum nt_status status_of(uint64_t node, struct nt_error *why);
/* The names in a directory, a space after each; valid until the next call. */
const char *list(const char *path);

/* All bytes of a file, in pieces of at most 4096 bytes, and a 0 behind them; the caller deinits them. */
struct nt_buffer read_in_pieces(uint64_t node, size_t piece);
struct nt_buffer read_path(const char *path);
/* The caller owns the reference. */
json_t *read_json(const char *path);
const char *get_text(const json_t *json, const char *key);
json_int_t get_number(const json_t *json, const char *key);

struct visit {
    char path[512]; /* "" to begin with */
    unsigned files, directories;
};

/* Visits all that is below a directory, and checks that each node is found again by its name, its number and
 * its path, with the class, the size and the bytes that it tells. */
void walk(struct visit *visit, uint64_t directory);

#endif
