/* SPDX-License-Identifier: MIT
 *
 * Files that nothing uses are closed when many are open, by a thread of their own: nobody who opens or looks
 * waits for it.
 */
#ifndef NT_VFS_CLOSING_H
#define NT_VFS_CLOSING_H

#include "vfs/places.h"

/* Close idle files where there are too many, soon. Under the lock, which may be given up where there is no
 * thread to be had, or so many files are open that the caller has to close one itself. */
void nt_places_close_idle(struct nt_places *places);
/* End the thread, then close all files. Nothing uses them. */
void nt_places_close_all(struct nt_places *places);

#endif
