/* SPDX-License-Identifier: MIT
 *
 * In: where a reader goes on that goes from front to back. Out: pages behind that in the workers' queue,
 * where pages take long enough to load, or it is asked for.
 */
#include "read/reader.h"
#include "read/sequence.h"

#include "read/page.h"
#include "read/pages.h"
#include "read/workers.h"

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

void nt_ahead_queue(struct nt_reader *reader, struct nt_dataset *dataset, struct nt_sequence *sequence,
                    uint64_t element, uint64_t end, nt_ahead_find *find, const void *walked, bool is_copied)
{
    uint64_t queued = nt_sequence_queued(sequence), bytes = 0;
    unsigned most = nt_workers_count(reader->workers) ? count_pages(reader, is_copied) : 0;
    for (unsigned pages = 0; element < end && pages < most && bytes < MOST_BYTES; pages++) {
        struct nt_ahead_page next;
        if (pages >= PAGES && bytes >= LEAST_BYTES)
            break;
        find(walked, element, &next);
        if (next.page && element >= queued)
            nt_workers_ahead(reader->workers,
                             &(struct nt_job){load_ahead, reader, dataset, next.column, next.page});
        if (next.page)
            bytes += (uint64_t)nt_page_made_elements(next.page) *
                     nt_page_decoder(dataset, next.page)->element_bytes;
        element = next.end;
    }
    if (element > queued)
        nt_sequence_note_queued(sequence, element);
}
