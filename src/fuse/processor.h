/* SPDX-License-Identifier: MIT
 *
 * Which processor a thread runs on.
 */
#ifndef NT_FUSE_PROCESSOR_H
#define NT_FUSE_PROCESSOR_H

/* Move the calling thread to the next one of the processors that it may run on, which are the same afterwards: the kernel may
 * move it again at once. Nothing where there is one, or the kernel does not let it. */
void nt_processor_next(void);

#endif
