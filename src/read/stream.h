/* SPDX-License-Identifier: MIT
 *
 * Inside a stream: its segments, one per cluster, and how decoded elements become the stream's.
 */
#ifndef NT_PAGE_STREAM_H
#define NT_PAGE_STREAM_H

#include "core/base/lock.h"
#include "read/clusters.h"
#include "read/elements.h"
#include "read/sequence.h"

/* A cluster's share of a stream. Of those whose page lists need not be loaded to open it, where the elements are stored
 * is found when they are read. */
struct nt_segment {
    struct nt_span span;
    uint64_t first, elements; /* in the stream; for offsets: rows, the leading 0 not counted */
    uint64_t origin;          /* the element that positions in columns are counted from */
    uint64_t base, limit;     /* as a run has them */
    atomic_bool is_located;   /* what follows, and the span's fault, are known: they do not change any more */
    uint64_t zeros;           /* leading elements that a deferred column does not store */
    bool are_true;            /* these are true, as no row is null, and not zeros */
    const struct nt_page *pages;
    uint32_t page_count;
    uint32_t column;
    uint64_t found;                 /* NT_FAULT_COUNT: elements that are stored */
    struct nt_drops *drops;         /* elements that are stored, and not the stream's; NULL: none */
    struct nt_drops *dropped_items; /* offsets: run by run, what of the items goes with them */
};

/* Rows that belong to no chosen entry, and how many elements stand for each. */
struct nt_left_out {
    const struct nt_drops *drops; /* of the reader's index of the data set; NULL: nothing is left out */
    uint64_t per_row;
};

/* Of the elements that are stored, those of chosen entries are the stream's. */
struct nt_choosing {
    struct nt_left_out elements;
    struct nt_left_out items;         /* offsets: what of the items goes with the rows, run by run */
    struct nt_stream *tags;           /* index of variants: as they are stored */
    struct nt_left_out *alternatives; /* index of variants: by tag - 1 */
    uint64_t turns; /* how often all rows come one after the other: in Fortran order several times */
};

struct nt_stream {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t field;
    enum nt_stream_kind kind;
    const struct nt_stream_row *row; /* of the field's kind */
    nt_transform *transform;         /* NULL: made from the page list alone */
    struct nt_dtype dtype;
    uint32_t element_bytes;
    uint64_t elements;
    struct nt_segment *segments;
    uint32_t segment_count;
    struct nt_alternative *alternatives; /* index of variants: [segment][alternative] */
    uint32_t alternative_count;
    struct nt_choosing *choosing;         /* NULL: all that the segments hold is the stream's */
    _Atomic(const struct nt_page *) told; /* the last page whose elements made no sense: told once */
    struct nt_sequence sequence;
    struct nt_lock lock; /* of locating segments */
};

/* A stream as it is stored, whatever entries are chosen: its rows are the segments'. */
enum nt_status nt_stream_open_stored(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                     enum nt_stream_kind kind, struct nt_stream **stream_ret,
                                     struct nt_error *error);
/* Whether there is such a field, by numbers from outside the library; and its stream, NT_NOT_FOUND and other reasons where
 * there is none. */
enum nt_status nt_stream_check_field(const struct nt_dataset *dataset, uint32_t field,
                                     enum nt_stream_kind kind, struct nt_error *error);
enum nt_status nt_stream_find_row(const struct nt_dataset *dataset, uint32_t field, enum nt_stream_kind kind,
                                  const struct nt_stream_row **row_ret, struct nt_error *error);
/* How many elements such a stream has of so many rows. */
enum nt_status nt_stream_count_elements(const struct nt_dataset *dataset, uint32_t field,
                                        const struct nt_stream_row *row, uint64_t rows,
                                        uint64_t *elements_ret, struct nt_error *error);

/* Rows of a field before each cluster, in entry order: `count_ret` clusters that hold it and as many borders
 * plus one (from malloc), the first 0. Loads all page lists. */
enum nt_status nt_field_row_borders(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                    uint64_t **borders_ret, uint32_t *count_ret, struct nt_error *error);
/* Bytes of a field's strings or objects before each cluster, as nt_field_row_borders tells rows. */
enum nt_status nt_field_byte_borders(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                     uint64_t **borders_ret, uint32_t *count_ret, struct nt_error *error);
/* The segment that holds an element (of segments' counting). There is one. */
const struct nt_segment *nt_stream_segment_of(const struct nt_stream *stream, uint64_t element);

/* Find where a segment's elements are stored, if nobody has: loads its page list, which may be bad: then that is the
 * segment's fault. Fails where the machine does. */
enum nt_status nt_stream_locate(struct nt_stream *stream, const struct nt_segment *segment,
                                struct nt_error *error);
/* How many elements a located segment has in all, those that are stored and not the stream's among them. */
static inline uint64_t nt_segment_end(const struct nt_segment *segment)
{
    return segment->drops ? segment->drops->items[segment->drops->count].first : segment->elements;
}
/* Elements of a stream are counted with an offset's leading 0, those of its segments without. */
static inline uint64_t nt_stream_lead(const struct nt_stream *stream)
{
    return stream->row->has_leading_zero;
}
static inline bool nt_segment_is_located(const struct nt_segment *segment)
{
    return atomic_load_explicit(&segment->is_located, memory_order_acquire);
}

/* The page that holds an element, if its segment is located; an nt_ahead_find for streams. None where entries are chosen. */
void nt_stream_find_page(const void *stream, uint64_t element, struct nt_ahead_page *page_ret);
struct nt_hints;
/* Elements [first, end) will be read: their sources are to be told of the first of them, see wanted.h. */
void nt_stream_want(struct nt_stream *stream, struct nt_hints *hints, uint64_t first, uint64_t end,
                    uint64_t bytes);
/* The same for somebody who reads several streams by turns and tells of all of them: nobody else asks ahead for this one from now on. */
void nt_stream_lead_on(struct nt_stream *stream, struct nt_hints *hints, uint64_t first, uint64_t end);
/* Where the page ends that holds a stored element, as far as can be told: behind the element at least. */
uint64_t nt_stream_page_end(struct nt_stream *stream, uint64_t element);
/* How many elements from one on are equal, as the page tells that it lies in: 1 where no page does. Of streams whose
 * elements are the column's. */
uint64_t nt_stream_equal_elements(const struct nt_stream *stream, uint64_t element);

/* A run of no elements yet: all that stream, segment and page tell of it. For each page of each read. */
static inline struct nt_run nt_stream_run(const struct nt_stream *stream, const struct nt_segment *segment,
                                          const struct nt_page *page)
{
    const struct nt_alternative *alternatives = stream->alternatives;
    if (alternatives)
        alternatives += (size_t)(segment - stream->segments) * stream->alternative_count;
    return (struct nt_run){
        .field = &stream->dataset->fields[stream->field],
        .dtype = &stream->dtype,
        .page = page,
        .decoder = nt_decoders_get(&stream->dataset->decoders, page->decoder),
        .base = segment->base,
        .limit = segment->limit,
        .alternatives = alternatives,
    };
}

/* Elements [first, first + count) of a stream as it is stored. */
enum nt_status nt_stream_produce_stored(struct nt_stream *stream, uint64_t first, uint64_t count,
                                        uint8_t *output, struct nt_error *error);
/* Elements [first, first + count): nt_stream_read without its edges and counters. */
enum nt_status nt_stream_produce(struct nt_stream *stream, uint64_t first, uint64_t count, uint8_t *output,
                                 struct nt_error *error);
/* The same where the decoded elements of some pages are in the output already, each where it belongs. */
struct nt_pages_made {
    const struct nt_page *first;
    uint32_t count;
};
enum nt_status nt_stream_finish(struct nt_stream *stream, uint64_t first, uint64_t count,
                                struct nt_pages_made made, uint8_t *output, struct nt_error *error);
enum nt_status nt_stream_finish_stored(struct nt_stream *stream, uint64_t first, uint64_t count,
                                       struct nt_pages_made made, uint8_t *output, struct nt_error *error);

#endif
