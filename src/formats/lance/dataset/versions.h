/* SPDX-License-Identifier: MIT
 *
 * The versions of a data set: the names of its manifests.
 */
#ifndef NT_FORMAT_LANCE_DATASET_VERSIONS_H
#define NT_FORMAT_LANCE_DATASET_VERSIONS_H

#include "core/base/buffer.h"
#include "formats/lance/dataset/opened.h"

/* The folder that has them, in a data set's or branch's. */
#define NT_LANCE_VERSIONS "_versions"

/* Digits alone, without zeros in front, as a whole text. */
bool nt_lance_parse_version(const char *text, uint64_t *number_ret);

/* Called for each manifest, in no order. Anything but NT_OK ends the walk. */
typedef enum nt_status nt_lance_visit_version(void *context, const struct nt_lance_version *version,
                                              struct nt_error *error);

/* Walk over the manifests of a history. `root` (see nt_lance_version) outlives what is found. */
enum nt_status nt_lance_each_version(struct nt_folder *folder, const char *root,
                                     nt_lance_visit_version *visit, void *context, struct nt_error *error);

/* The latest version of a history; that of a number, without a walk. NT_NOT_FOUND tells which there are. */
enum nt_status nt_lance_find_latest(struct nt_folder *folder, const char *root,
                                    struct nt_lance_version *version_ret, struct nt_error *error);
enum nt_status nt_lance_find_number(struct nt_folder *folder, const char *root, uint64_t number,
                                    struct nt_lance_version *version_ret, struct nt_error *error);

/* Append the name of a version's manifest, beneath the data set's folder. */
void nt_lance_append_manifest_name(struct nt_buffer *out, const struct nt_lance_version *version);

#endif
