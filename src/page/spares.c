/* SPDX-License-Identifier: MIT
 *
 * A list; the last one in is the first to leave, as its memory is the warmest.
 */
#include "page/spares.h"

#include <stdlib.h>

struct nt_spare {
    struct nt_spare *next;
    size_t capacity;
};

void nt_spares_add(struct nt_spares *spares, uint8_t *data, size_t capacity)
{
    struct nt_spare *spare = (struct nt_spare *)data;
    *spare = (struct nt_spare){spares->first, capacity};
    spares->first = spare;
    spares->bytes += capacity;
}

static uint8_t *unlink_spare(struct nt_spares *spares, struct nt_spare **link)
{
    struct nt_spare *spare = *link;
    *link = spare->next;
    spares->bytes -= spare->capacity;
    return (uint8_t *)spare;
}

uint8_t *nt_spares_take(struct nt_spares *spares, size_t capacity)
{
    for (struct nt_spare **link = &spares->first; *link; link = &(*link)->next)
        if ((*link)->capacity == capacity)
            return unlink_spare(spares, link);
    return NULL;
}

size_t nt_spares_move(struct nt_spares *spares, struct nt_spares *to)
{
    size_t capacity = spares->first->capacity;
    nt_spares_add(to, unlink_spare(spares, &spares->first), capacity);
    return capacity;
}

void nt_spares_free(struct nt_spares *spares)
{
    while (spares->first)
        free(unlink_spare(spares, &spares->first));
}
