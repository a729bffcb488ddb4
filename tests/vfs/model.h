/* SPDX-License-Identifier: MIT
 *
 * A small file that exists in memory only, for tests of the tree: its model is built here, by hand, and
 * nt_file_open gives it for every path whose name begins with "good". See model.c for what is in it. A folder with meta/storage
 * is one, too, and has versions where there is versions/.
 */
#ifndef NT_TESTS_VFS_MODEL_H
#define NT_TESTS_VFS_MODEL_H

#include <stdatomic.h>

#include "core/model/model.h"

enum {
    MODEL_ENTRIES = 9,
    MODEL_ARRAY = 3,
    MODEL_EVIL_FIELDS = 12, /* int32 fields with evil names, in the dataset "evil" */
};

/* The values, entry by entry. */
static inline int32_t model_run(uint64_t entry)
{
    return 100 + (int32_t)entry;
}

static inline uint64_t model_jets(uint64_t entry)
{
    return entry % 4;
}

static inline float model_pt(uint64_t entry, uint64_t jet)
{
    return (float)entry + 0.25f * (float)jet;
}

static inline float model_array(uint64_t entry, uint64_t item)
{
    return (float)(3 * entry + item);
}

/* The string of an entry has so many characters, all 'a' + entry. */
static inline uint64_t model_name_length(uint64_t entry)
{
    return 2 * (entry % 3);
}

/* How often page lists were read since the test began. */
extern atomic_uint model_loads;
/* How many files are open. */
extern atomic_uint model_open_files;
/* Set before opening: the page list of the second cluster group is bad. */
extern bool model_has_bad_group;
/* How often it was asked which version of a folder is meant. */
extern atomic_uint model_searches;
/* Called before a page list is read, before a file is closed. NULL: nothing. */
extern void (*model_before_load)(const struct nt_dataset *dataset);
extern void (*model_before_close)(void);
/* Set before opening: the stored digest of the first page of `run` is wrong. */
extern bool model_has_bad_page;

#endif
