/* SPDX-License-Identifier: MIT
 *
 * Data sets of Lance files: a directory with _versions/.
 */
#ifndef NT_FORMAT_LANCE_DATASET_DATASET_H
#define NT_FORMAT_LANCE_DATASET_DATASET_H

#include "formats/format.h"

/* As members of nt_format. */
enum nt_status nt_lance_takes_folder(struct nt_folder *folder, bool *takes_ret, struct nt_error *error);
enum nt_status nt_lance_open_dataset(struct nt_source *source, const struct nt_open_options *options,
                                     struct nt_file **file_ret, struct nt_error *error);

#endif
