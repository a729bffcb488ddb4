/* SPDX-License-Identifier: MIT
 *
 * In: where a reader goes on that goes from front to back. Out: pages behind that in the workers' queue,
 * where pages take long enough to load, or it is asked for.
 */
#include "page/reader.h"
#include "page/sequence.h"

#include "page/page.h"
#include "page/pages.h"
#include "page/workers.h"

enum {
    PAGES = 4,                 /* at least, if that is less than MOST_BYTES ... */
    LEAST_BYTES = 1024 * 1024, /* ... and more of them where they are small */
    MOST_BYTES = 8 * 1024 * 1024,
    MOST_PAGES = 16,
    FAST_MEGABYTES_PER_SECOND = 500,
    EVIDENCE_NANOSECONDS = 20 * 1000 * 1000, /* before it, first touches of memory look like slow decoding */
};

/* A page that is decoded ahead is written to memory and copied from there, where a reader would have it
 * decoded into its own. Where decoding runs not much slower than that, this costs more than it hides. */
static bool are_pages_slow(const struct nt_reader *reader)
{
    struct nt_counters counters;
    nt_counters_read(reader, &counters);
    uint64_t nanoseconds = counters.read_nanoseconds + counters.checksum_nanoseconds +
                           counters.decompress_nanoseconds + counters.decode_nanoseconds;
    return nanoseconds > EVIDENCE_NANOSECONDS &&
           counters.decoded_bytes / FAST_MEGABYTES_PER_SECOND < nanoseconds / 1000;
}

static void load_ahead(const struct nt_job *job)
{
    nt_page_load_ahead(job->reader, job->dataset, job->column, job->page);
}

void nt_ahead_queue(struct nt_reader *reader, struct nt_dataset *dataset, struct nt_sequence *sequence,
                    uint64_t element, uint64_t end, nt_ahead_find *find, const void *walked)
{
    uint64_t queued = nt_sequence_queued(sequence), bytes = 0;
    if (!nt_workers_count(reader->workers) || !(reader->options.always_ahead || are_pages_slow(reader)))
        return;
    for (unsigned pages = 0; element < end && pages < MOST_PAGES && bytes < MOST_BYTES; pages++) {
        struct nt_ahead_page next;
        if (pages >= PAGES && bytes >= LEAST_BYTES)
            break;
        find(walked, element, &next);
        if (next.page && element >= queued)
            nt_workers_ahead(reader->workers,
                             &(struct nt_job){load_ahead, reader, dataset, next.column, next.page});
        if (next.page)
            bytes += (uint64_t)next.page->elements * nt_page_decoder(dataset, next.page)->element_bytes;
        element = next.end;
    }
    if (element > queued)
        nt_sequence_note_queued(sequence, element);
}
