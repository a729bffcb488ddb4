/* SPDX-License-Identifier: MIT
 *
 * In: what will be read. Out: hints to the sources of its pages, but for those that are in the cache.
 */
#include "read/wanted.h"

#include <stdlib.h>

#include "core/base/grow.h"
#include "read/page.h"
#include "read/pages.h"

#define FIRST_BYTES (UINT64_C(1) << 20)

bool nt_wants_hints(const struct nt_dataset *dataset)
{
    return dataset->source_count && nt_source_takes_hints(dataset->sources[0]);
}

static void tell(struct nt_hints *hints)
{
    if (hints->count)
        nt_source_will_need(hints->source, hints->extents, hints->count, hints->is_now);
    hints->count = 0;
}

void nt_hints_tell(struct nt_hints *hints)
{
    tell(hints);
    free(hints->extents);
    *hints = (struct nt_hints){.count = 0};
}

/* Of another source than those before: they are told. Without memory nobody is told, and nothing is wrong. */
static void add(struct nt_hints *hints, const struct nt_reader *reader, const struct nt_dataset *dataset,
                const struct nt_page *page)
{
    struct nt_source *source = dataset->sources[page->source];
    struct nt_extent *extents;
    if (page->compression == NT_COMPRESSION_ELSEWHERE || page->is_missing ||
        !nt_page_is_absent(reader, dataset, page))
        return;
    if (source != hints->source)
        tell(hints);
    hints->source = source;
    extents = nt_grow(hints->extents, hints->count, &hints->capacity, sizeof(*extents));
    if (!extents)
        return;
    hints->extents = extents;
    hints->extents[hints->count] =
        (struct nt_extent){page->offset, page->stored_bytes + nt_checksum_info(page->checksum)->bytes};
    hints->bytes += hints->extents[hints->count++].bytes;
}

void nt_hints_add(struct nt_hints *hints, const struct nt_reader *reader, const struct nt_dataset *dataset,
                  const struct nt_page *pages, uint32_t count)
{
    for (uint32_t i = 0; i < count && nt_wants_hints(dataset); i++)
        add(hints, reader, dataset, &pages[i]);
}

void nt_pages_want(const struct nt_reader *reader, const struct nt_dataset *dataset,
                   const struct nt_page *pages, uint32_t count)
{
    struct nt_hints hints = {.count = 0};
    nt_hints_add(&hints, reader, dataset, pages, count);
    nt_hints_tell(&hints);
}

/* Half of what was asked for before may be used up before more is. */
static bool is_wanted_already(const struct nt_sequence *sequence, uint64_t element, uint64_t end)
{
    uint64_t first = atomic_load_explicit(&sequence->wanted_first, memory_order_relaxed);
    uint64_t until = atomic_load_explicit(&sequence->wanted_end, memory_order_relaxed);
    return element >= first && element < until && (end <= until || element - first < (until - first) / 2);
}

void nt_elements_want(struct nt_hints *hints, const struct nt_reader *reader,
                      const struct nt_dataset *dataset, struct nt_sequence *sequence, uint64_t element,
                      uint64_t end, uint64_t bytes, nt_ahead_find *find, const void *walked)
{
    uint64_t at = element, found = 0;
    if (!nt_wants_hints(dataset) || is_wanted_already(sequence, element, end))
        return;
    while (at < end && found < bytes) {
        struct nt_ahead_page next;
        find(walked, at, &next);
        if (next.page) {
            add(hints, reader, dataset, next.page);
            found += (uint64_t)next.page->elements * nt_page_decoder(dataset, next.page)->element_bytes;
        }
        at = next.end;
    }
    /* What follows right behind is more of the same. */
    if (element != atomic_load_explicit(&sequence->wanted_end, memory_order_relaxed))
        atomic_store_explicit(&sequence->wanted_first, element, memory_order_relaxed);
    atomic_store_explicit(&sequence->wanted_end, at, memory_order_relaxed);
}

static bool is_led(const struct nt_sequence *sequence)
{
    return atomic_load_explicit(&sequence->is_led, memory_order_relaxed);
}

bool nt_wanted_follows(const struct nt_sequence *sequence, uint64_t element)
{
    return !is_led(sequence) &&
           element > atomic_load_explicit(&sequence->wanted_first, memory_order_relaxed) &&
           element <= atomic_load_explicit(&sequence->wanted_end, memory_order_relaxed);
}

uint64_t nt_wanted_behind(const struct nt_sequence *sequence, uint64_t offset, uint64_t bytes)
{
    enum { MOST_DOUBLINGS = 5 };
    uint32_t reads = atomic_load_explicit(&sequence->reads, memory_order_relaxed);
    if (is_led(sequence) || !nt_sequence_follows(sequence, offset, bytes))
        return 0;
    return FIRST_BYTES << (reads < MOST_DOUBLINGS ? reads : MOST_DOUBLINGS);
}
