/* SPDX-License-Identifier: MIT
 *
 * Which version of a data set is meant.
 */
#ifndef NT_FORMAT_LANCE_DATASET_CHOICE_H
#define NT_FORMAT_LANCE_DATASET_CHOICE_H

#include "formats/format.h"
#include "formats/lance/dataset/opened.h"

struct nt_lance_choice {
    struct nt_lance_version version;
    const char *branch;  /* "": none */
    const char *watched; /* as in nt_version */
};

/* Find the version that is meant by a text as in nt_open_options: the number of a version, else a tag, else a branch. NT_NOT_FOUND
 * tells which there are, NT_INVALID where it is a path. Memory is the arena's. */
enum nt_status nt_lance_choose_version(struct nt_folder *folder, const char *wanted, struct nt_arena *arena,
                                       struct nt_lance_choice *choice_ret, struct nt_error *error);

/* As a member of nt_format. */
enum nt_status nt_lance_find_version(struct nt_folder *folder, const char *wanted,
                                     struct nt_dataset_version *version_ret, struct nt_error *error);

#endif
