/* SPDX-License-Identifier: MIT
 *
 * The last bytes of a Lance file.
 */
#ifndef NT_FORMAT_LANCE_TAIL_H
#define NT_FORMAT_LANCE_TAIL_H

#include "formats/lance/file/opened.h"

/* NT_NOT_THIS_FORMAT where a source of `size` bytes is no Lance file; NT_UNSUPPORTED with what it is where it is one that is
 * not read; NT_CORRUPT where the tables do not lie in front of the tail. */
enum nt_status nt_lance_read_tail(struct nt_source *source, uint64_t size, struct nt_lance_tail *tail,
                                  struct nt_error *error);

#endif
