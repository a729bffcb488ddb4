/* SPDX-License-Identifier: MIT
 *
 * An index of files: what was learned of them when they were open, so that they need not be opened for it again.
 */
#ifndef NT_CHAIN_INDEX_H
#define NT_CHAIN_INDEX_H

#include <stdint.h>
#include <sys/stat.h>

#include "core/base/buffer.h"
#include "core/base/error.h"

struct nt_known_dataset {
    const char *path; /* in the chain */
    uint64_t entries, clusters;
};

/* A file, as it was. */
struct nt_known_file {
    const char *path;  /* or address */
    const char *meant; /* the data set that a specification means; "": none does */
    uint64_t bytes, inode;
    const char *modified; /* as nt_known_time writes it */
    const char *
        validator; /* of an address, instead of an inode: what its server tells this version by. NULL: a file that is here */
    struct nt_known_dataset *datasets;
    uint32_t dataset_count;
};

struct nt_chain_index {
    struct nt_known_file *files; /* by `path` and `meant` */
    uint32_t count;
    struct nt_arena *arena;
};

/* Read an index; one that is not there, or has no bytes, knows nothing. NT_INVALID with the line where a file is no index: what
 * somebody named by mistake is not to be replaced. */
enum nt_status nt_chain_index_read(const char *path, struct nt_chain_index **index_ret,
                                   struct nt_error *error);
void nt_chain_index_free(struct nt_chain_index *index); /* accepts NULL */

/* NULL: it does not know it. */
const struct nt_known_file *nt_chain_index_find(const struct nt_chain_index *index, const char *path,
                                                const char *meant);
const struct nt_known_dataset *nt_known_dataset_find(const struct nt_known_file *file, const char *path);

enum { NT_KNOWN_TIME = 48 };
/* The time at which a file was modified, to the nanosecond. */
void nt_known_time(const struct stat *attributes, char text[NT_KNOWN_TIME]);

/* NT_CHANGED, with what was expected and found, where a file is another one than it was. `validator`: of the version that is found at an
 * address; NULL: of that only a list has told, or it is no address. */
enum nt_status nt_known_file_check(const struct nt_known_file *file, const struct stat *found,
                                   const char *validator, struct nt_error *error);

/* Append the line of an index. None where it could not be read: of names that are no UTF-8. */
void nt_known_file_append(struct nt_buffer *out, const struct nt_known_file *file);

#endif
