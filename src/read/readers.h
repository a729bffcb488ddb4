/* SPDX-License-Identifier: MIT
 *
 * Who reads which files.
 */
#ifndef NT_CHOICE_READERS_H
#define NT_CHOICE_READERS_H

#include <ntuple/source.h>

#include "read/numbers.h"

/* All of the elements of a file of any kind. Takes the source, also on failure. */
enum nt_status nt_choice_read(struct nt_choice *choice, struct nt_source *source, struct nt_error *error);

/* Whether a source is of the kind, from its first bytes; and all of its elements. */
enum { NT_CHOICE_HEAD_BYTES = 8 };
bool nt_choice_is_npy(const uint8_t *head, size_t bytes);
enum nt_status nt_choice_read_npy(struct nt_choice *choice, struct nt_source *source, uint64_t size,
                                  struct nt_error *error);
bool nt_choice_is_text(const uint8_t *head, size_t bytes);
enum nt_status nt_choice_read_text(struct nt_choice *choice, struct nt_source *source, uint64_t size,
                                   struct nt_error *error);
/* A file of a format that is mounted, else NT_NOT_THIS_FORMAT. Takes the source, also on failure. */
enum nt_status nt_choice_read_dataset(struct nt_choice *choice, struct nt_source *source,
                                      struct nt_error *error);

#endif
