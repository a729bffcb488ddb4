/* SPDX-License-Identifier: MIT
 *
 * A small file in memory for tests of the tree. nt_file_open returns its handwritten model for every
 * path whose name begins with "good". See model.c for its contents. A directory with meta/storage is also
 * a file, and has versions if versions/ exists.
 */
#pragma once

#include <stdatomic.h>

#include "core/model/model.h"

enum {
    MODEL_ENTRIES = 9,
    MODEL_ARRAY = 3,
    MODEL_EVIL_FIELDS = 12, /* int32 fields with evil names, in the dataset "evil" */
};

/* The values of an entry. */
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

/* The length of the string of an entry. All characters are 'a' + entry. */
static inline uint64_t model_name_length(uint64_t entry)
{
    return 2 * (entry % 3);
}

/* Number of loads of page lists since the test began. */
extern atomic_uint model_loads;
/* Number of open files. */
extern atomic_uint model_open_files;
/* Set before opening: damages the page list of the second cluster group. */
extern bool model_has_bad_group;
/* Number of searches for the version of a directory. */
extern atomic_uint model_searches;
/* Called before a page list is read, and before a file is closed. May be NULL. */
extern void (*model_before_load)(const struct nt_dataset *dataset);
extern void (*model_before_close)(void);
/* Set before opening: corrupts the stored digest of the first page of `run`. */
extern bool model_has_bad_page;
