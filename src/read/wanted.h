/* SPDX-License-Identifier: MIT
 *
 * Telling sources what will be read, where that helps: page lists tell it long before.
 */
#ifndef NT_PAGE_WANTED_H
#define NT_PAGE_WANTED_H

#include "core/io/source.h"
#include "read/reader.h"
#include "read/sequence.h"

/* Whether the pages of a data set come from where hints make a difference. */
bool nt_wants_hints(const struct nt_dataset *dataset);

/* What will be read of several pages, columns or streams is told at once: so ranges that lie side by side become one. Zero at
 * first; what is told is forgotten. */
struct nt_hints {
    struct nt_source *source;
    struct nt_extent *extents;
    size_t count, capacity;
    uint64_t bytes; /* of all that was told since it was zero */
    bool is_now;    /* somebody waits for all of them */
};
void nt_hints_tell(struct nt_hints *hints);

/* These pages will be read; the second tells at once. */
void nt_hints_add(struct nt_hints *hints, const struct nt_reader *reader, const struct nt_dataset *dataset,
                  const struct nt_page *pages, uint32_t count);
void nt_pages_want(const struct nt_reader *reader, const struct nt_dataset *dataset,
                   const struct nt_page *pages, uint32_t count);

/* The elements from `element` to `end` will be read, in this order: the first pages of them, up to `bytes` of decoded elements. Costs
 * nothing where enough was asked for before. Told is it by whoever has the hints. */
void nt_elements_want(struct nt_hints *hints, const struct nt_reader *reader,
                      const struct nt_dataset *dataset, struct nt_sequence *sequence, uint64_t element,
                      uint64_t end, uint64_t bytes, nt_ahead_find *find, const void *walked);

/* Whether an element is behind where somebody was told to read, and no further than that was told; not where somebody leads. */
bool nt_wanted_follows(const struct nt_sequence *sequence, uint64_t element);

/* How many bytes behind a read of [offset, offset + bytes) are wanted soon: the more, the more reads have followed one
 * another; none where it follows none, or is one of several that somebody leads. */
uint64_t nt_wanted_behind(const struct nt_sequence *sequence, uint64_t offset, uint64_t bytes);

/* Of what somebody reads in one call; bytes of decoded elements. */
#define NT_WANTED_AT_ONCE (UINT64_C(32) << 20)

#endif
