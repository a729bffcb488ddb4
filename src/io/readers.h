/* SPDX-License-Identifier: MIT
 *
 * Who may read what: whether the modes of a file let everybody read it to whom another file's modes show it.
 */
#ifndef NT_IO_READERS_H
#define NT_IO_READERS_H

#include <sys/stat.h>

/* The read bits of `mode` (owner, group and others of the file that is shown) that are true of a part, too:
 * all whom they let read the one can read the other. Of a directory on the way, it is the right to enter it
 * that counts. */
mode_t nt_readers_of_part(const struct stat *shown, mode_t mode, const struct stat *part);

#endif
