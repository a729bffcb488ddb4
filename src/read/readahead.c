/* SPDX-License-Identifier: MIT
 *
 * Detects sequential access, decodes pages ahead of the reader and sends prefetch hints to sources that
 * are slow to answer.
 */
#include "read/read.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include "read/page.h"

/* ---- Access pattern ---- */

enum {
    SEQUENTIAL_READS = 2,
    NEAR_BYTES = 1024 * 1024, /* the kernel's own read-ahead sends its requests a little out of order */
    NEAR_READS = 8,
};

static bool is_near(uint64_t a, uint64_t b, uint64_t distance)
{
    return a < b ? b - a <= distance : a - b <= distance;
}

static bool is_on(const struct nt_sequence *sequence)
{
    return atomic_load_explicit(&sequence->reads, memory_order_relaxed) >= SEQUENTIAL_READS;
}

bool nt_sequence_follows(const struct nt_sequence *sequence, uint64_t offset, uint64_t bytes)
{
    uint64_t expected = atomic_load_explicit(&sequence->expected_offset, memory_order_relaxed);
    return is_near(offset, expected, bytes > NEAR_BYTES / NEAR_READS ? NEAR_BYTES : bytes * NEAR_READS);
}

bool nt_sequence_note(struct nt_sequence *sequence, uint64_t offset, size_t bytes)
{
    uint64_t expected =
        atomic_exchange_explicit(&sequence->expected_offset, offset + bytes, memory_order_relaxed);
    if (is_near(offset, expected, NEAR_BYTES)) {
        atomic_fetch_add_explicit(&sequence->reads, 1, memory_order_relaxed);
    } else {
        atomic_store_explicit(&sequence->reads, 0, memory_order_relaxed);
        atomic_store_explicit(&sequence->queued, 0, memory_order_relaxed);
    }
    return is_on(sequence);
}

enum nt_cache_use nt_sequence_use(struct nt_sequence *sequence, bool to_the_end)
{
    if (!is_on(sequence))
        return NT_CACHE_STAY;
    return to_the_end ? NT_CACHE_PASSED : NT_CACHE_PASSING;
}

/* ---- Decode ahead ---- */

enum {
    PAGES = 4,                 /* at least, if that is less than MOST_BYTES ... */
    LEAST_BYTES = 1024 * 1024, /* ... and more of them where they are small */
    MOST_BYTES = 8 * 1024 * 1024,
    MOST_PAGES = 16,
    FEW_PAGES = 2,                           /* of those that are neither slow nor fast */
    EVIDENCE_NANOSECONDS = 10 * 1000 * 1000, /* before it, first touches of memory look like slow decoding */
};

/* Whether pages have been loaded in no more than so many megabytes per second. */
static bool are_slower_than(const struct nt_reader *reader, uint64_t megabytes_per_second)
{
    struct nt_counters counters;
    nt_counters_read(reader, &counters);
    uint64_t nanoseconds = counters.read_nanoseconds + counters.checksum_nanoseconds +
                           counters.decompress_nanoseconds + counters.decode_nanoseconds;
    return nanoseconds > EVIDENCE_NANOSECONDS &&
           counters.decoded_bytes / megabytes_per_second < nanoseconds / 1000;
}

/* A page that is decoded ahead is written to memory that is cold when the reader comes. Where decoding runs not much
 * slower than copying, this costs more than it hides. */
static bool are_slow(const struct nt_reader *reader)
{
    return reader->options.always_ahead || are_slower_than(reader, 500);
}

bool nt_ahead_pays(const struct nt_reader *reader)
{
    return are_slow(reader) || are_slower_than(reader, 1500);
}

/* How many pages ahead; a few only by threads that have nothing else to do. */
static unsigned count_pages(const struct nt_reader *reader, bool is_copied)
{
    if (are_slow(reader))
        return MOST_PAGES;
    if (is_copied || !nt_ahead_pays(reader))
        return 0;
    unsigned idle = nt_workers_idle(reader->workers);
    return idle < FEW_PAGES ? idle : FEW_PAGES;
}

static void load_ahead(const struct nt_job *job)
{
    nt_page_load_ahead(job->reader, job->dataset, job->column, job->page);
}

void nt_ahead_queue(const struct nt_walk *walk, uint64_t offset, bool is_copied)
{
    struct nt_reader *reader = walk->reader;
    struct nt_sequence *sequence = walk->sequence;
    uint64_t element = offset / walk->element_bytes, bytes = 0;
    uint64_t queued = atomic_load_explicit(&sequence->queued, memory_order_relaxed);
    unsigned most = nt_workers_count(reader->workers) ? count_pages(reader, is_copied) : 0;
    for (unsigned pages = 0; element < walk->elements - walk->lead && pages < most && bytes < MOST_BYTES;
         pages++) {
        struct nt_ahead_page next;
        if (pages >= PAGES && bytes >= LEAST_BYTES)
            break;
        walk->find(walk->walked, element, &next);
        if (next.page && element >= queued)
            nt_workers_ahead(reader->workers,
                             &(struct nt_job){load_ahead, reader, walk->dataset, next.column, next.page});
        if (next.page)
            bytes += (uint64_t)nt_page_made_elements(next.page) *
                     nt_page_decoder(walk->dataset, next.page)->element_bytes;
        element = next.end;
    }
    if (element > queued)
        atomic_store_explicit(&sequence->queued, element, memory_order_relaxed);
}

/* ---- Prefetch hints ---- */

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

void nt_elements_want(struct nt_hints *hints, const struct nt_walk *walk, uint64_t element, uint64_t end,
                      uint64_t bytes)
{
    struct nt_sequence *sequence = walk->sequence;
    uint64_t at, found = 0;
    end = end < walk->elements ? end : walk->elements;
    end = end < walk->lead ? 0 : end - walk->lead;
    at = element = element < walk->lead ? 0 : element - walk->lead;
    if (!nt_wants_hints(walk->dataset) || is_wanted_already(sequence, element, end))
        return;
    while (at < end && found < bytes) {
        struct nt_ahead_page next;
        walk->find(walk->walked, at, &next);
        if (next.page) {
            add(hints, walk->reader, walk->dataset, next.page);
            found += (uint64_t)next.page->elements * nt_page_decoder(walk->dataset, next.page)->element_bytes;
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

void nt_read_want(const struct nt_walk *walk, uint64_t offset, uint64_t bytes)
{
    uint64_t behind = nt_wanted_behind(walk->sequence, offset, bytes);
    uint64_t end = (offset + bytes + behind + walk->element_bytes - 1) / walk->element_bytes;
    struct nt_hints hints = {.is_now = behind == 0};
    nt_elements_want(&hints, walk, offset / walk->element_bytes, end, UINT64_MAX);
    nt_hints_tell(&hints);
}
