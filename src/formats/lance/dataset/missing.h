/* SPDX-License-Identifier: MIT
 *
 * Files that a version names and that are not there.
 */
#ifndef NT_FORMAT_LANCE_DATASET_MISSING_H
#define NT_FORMAT_LANCE_DATASET_MISSING_H

#include "formats/lance/dataset/opened.h"

/* Now, on the clock of files' times. */
struct timespec nt_lance_now(void);

/* Fail for a file beneath a folder that is missing: NT_CHANGED where something went out of its directory, or came into it, since the data set was
 * opened, so that it may have been there; else NT_CORRUPT. `what` is the file, in words. */
enum nt_status nt_lance_fail_missing(const struct nt_lance_dataset *lance, struct nt_folder *folder,
                                     const char *name, const char *what, struct nt_error *error);

#endif
