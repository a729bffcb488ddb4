/* SPDX-License-Identifier: MIT
 *
 * Which files an array's data directory has.
 */
#ifndef NT_FORMAT_BLZ_LISTING_H
#define NT_FORMAT_BLZ_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/io/folder.h"

struct nt_arena;

enum nt_blz_naming {
    NT_BLZ_NAMED_CHUNKS,      /* __<n>.blp, as blz and bcolz write */
    NT_BLZ_NAMED_SUPERCHUNKS, /* __<n>__.bin, as the format's first description has it */
    NT_BLZ_NAMING_COUNT
};

struct nt_blz_listing {
    uint64_t *numbers; /* ascending, in the arena */
    uint32_t count;
};

/* The numbers of the files in a directory of the folder that are named in this way. None where the directory
 * is missing. */
enum nt_status nt_blz_list(struct nt_arena *arena, struct nt_folder *folder, const char *name,
                           enum nt_blz_naming naming, struct nt_blz_listing *listing, struct nt_error *error);

/* The name of a file in the folder, in the arena; NULL without memory. */
char *nt_blz_file_name(struct nt_arena *arena, const char *directory, enum nt_blz_naming naming,
                       uint64_t number);

#endif
