/* SPDX-License-Identifier: MIT
 *
 * The bytes of a small file go to the kernel before the answer to open: who opens it will read it, and the
 * request for that is as dear as all else together.
 */
#ifndef NT_FUSE_STORE_H
#define NT_FUSE_STORE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    NT_STORE_BYTES = 16 * 1024, /* of a file that is small: less than what is slow to load */
    NT_STORED_BITS = 1 << 18,
};

/* Which files' bytes the kernel was given, as far as is remembered: a bit for each node, which others may have,
 * too. Whose bit is set is opened as any file is. Under a lock of its owner's. */
struct nt_stored {
    uint64_t bits[NT_STORED_BITS / 64];
    uint32_t count; /* of the bits that are set */
};

/* Set a node's bit; false where it was set. `is_idle`: no file is open, all may be forgotten. */
bool nt_stored_add(struct nt_stored *stored, uint64_t node, bool is_idle);

#endif
