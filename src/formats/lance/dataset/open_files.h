/* SPDX-License-Identifier: MIT
 *
 * The data files whose metadata are in memory: those that were used last. All under the data set's lock.
 */
#ifndef NT_FORMAT_LANCE_DATASET_OPEN_FILES_H
#define NT_FORMAT_LANCE_DATASET_OPEN_FILES_H

#include "formats/lance/dataset/opened.h"

/* One that nothing is read of yet; NULL without memory. */
struct nt_lance_open_file *nt_lance_open_file_new(struct nt_file *file, uint32_t number);
/* The end of one that could not be read. What it has taken is given back. */
void nt_lance_open_file_free(struct nt_lance_open_file *open);
/* One was read: those that were not used for longest make room where the file's budget wants that. NT_LIMIT where it has none
 * for what the file takes in all; then nothing is added. */
enum nt_status nt_lance_open_files_add(struct nt_lance_dataset *lance, struct nt_lance_open_file *open,
                                       struct nt_error *error);
/* One is used. */
void nt_lance_open_files_use(struct nt_lance_dataset *lance, struct nt_lance_open_file *open);
void nt_lance_open_files_close(struct nt_lance_dataset *lance);

#endif
