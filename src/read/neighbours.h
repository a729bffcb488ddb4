/* SPDX-License-Identifier: MIT
 *
 * Small pages of a column that lie one behind the other in their source: their stored bytes are read in one
 * call.
 */
#ifndef NT_PAGE_NEIGHBOURS_H
#define NT_PAGE_NEIGHBOURS_H

#include "read/page.h"

/* How many of the pages, from the first on, can be read together: 0 where the first is large. Where one of them is decoded
 * by a plan, all are by the same one: they need the same other pages. */
uint32_t nt_neighbours_count(const struct nt_dataset *dataset, const struct nt_page *pages, uint32_t count);
/* The bytes from the first of so many neighbours (1 at least) to the end of the last one's digest. */
size_t nt_neighbours_bytes(const struct nt_page *pages, uint32_t count);

/* What was read with a page that was loaded before; all zero at first. For one thread. */
struct nt_neighbours {
    uint8_t *bytes;
    const struct nt_page *first;
    uint32_t count;
};

/* nt_page_load of the first of `count` pages of a column in a cluster, to be called for one after the other.
 * Pages of other calls may be left out. */
enum nt_status nt_neighbours_load(struct nt_neighbours *neighbours, struct nt_reader *reader,
                                  struct nt_dataset *dataset, uint32_t column, const struct nt_page *pages,
                                  uint32_t count, void *output, struct nt_error *error);
void nt_neighbours_deinit(struct nt_neighbours *neighbours);

#endif
