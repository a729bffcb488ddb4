/* SPDX-License-Identifier: MIT
 *
 * The versions of a data set: the names of its manifests.
 */
#ifndef NT_FORMAT_LANCE_DATASET_VERSIONS_H
#define NT_FORMAT_LANCE_DATASET_VERSIONS_H

#include "format/lance/dataset/opened.h"

/* The folder that has them, in a data set's. */
#define NT_LANCE_VERSIONS "_versions"

/* The latest version in the folder. NT_NOT_FOUND where there is none. */
enum nt_status nt_lance_find_latest(struct nt_folder *folder, struct nt_lance_version *version_ret,
                                    struct nt_error *error);

/* The name of a version's manifest, beneath the data set's folder; NULL without memory. */
const char *nt_lance_manifest_name(struct nt_arena *arena, const struct nt_lance_version *version);

#endif
