/* SPDX-License-Identifier: MIT
 *
 * Buffers that hold nothing, kept for reuse; their own first bytes link them.
 */
#ifndef NT_PAGE_SPARES_H
#define NT_PAGE_SPARES_H

#include <stddef.h>
#include <stdint.h>

struct nt_spares {
    struct nt_spare *first;
    uint64_t bytes; /* capacities of all */
};

/* A buffer from malloc, of at least 16 bytes, is taken. */
void nt_spares_add(struct nt_spares *spares, uint8_t *data, size_t capacity);
/* One of exactly this capacity, the caller's; NULL: there is none. */
uint8_t *nt_spares_take(struct nt_spares *spares, size_t capacity);
/* Move any one to other spares; how many bytes it has. There is one. */
size_t nt_spares_move(struct nt_spares *spares, struct nt_spares *to);
void nt_spares_free(struct nt_spares *spares);

#endif
