/* SPDX-License-Identifier: MIT
 *
 * What a file is that is none of ours: for the message of a refusal.
 */
#ifndef NT_FORMAT_IDENTIFY_H
#define NT_FORMAT_IDENTIFY_H

#include <stdbool.h>

#include "io/folder.h"

/* A few words, e.g. "a Parquet file" or "an empty file"; NULL where the bytes tell nothing. */
const char *nt_identify(struct nt_source *source);

/* The same of a folder. */
const char *nt_identify_folder(struct nt_folder *folder);

/* Whether the file begins with nothing but printable UTF-8. */
bool nt_is_text_file(struct nt_source *source);

#endif
