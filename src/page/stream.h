/* SPDX-License-Identifier: MIT
 *
 * Inside a stream: its segments, one per cluster, and how decoded elements become the stream's.
 */
#ifndef NT_PAGE_STREAM_H
#define NT_PAGE_STREAM_H

#include "page/ahead.h"
#include "page/clusters.h"
#include "page/elements.h"
#include "page/load.h"

/* A cluster's share of a stream. */
struct nt_segment {
    struct nt_span span;
    uint64_t first, elements; /* in the stream; for offsets: rows, the leading 0 not counted */
    uint64_t zeros;           /* leading elements that a deferred column does not store */
    const struct nt_page *pages;
    uint32_t page_count;
    uint32_t column;
    uint64_t base;  /* offsets: added to each value */
    uint64_t limit; /* offsets: the items of the cluster; its last value */
    uint64_t found; /* NT_FAULT_COUNT: elements that are stored */
};

/* An alternative's rows in a segment. */
struct nt_alternative {
    uint64_t base, rows;
};

/* How a kind of field makes a kind of stream. */
struct nt_stream_rule {
    enum nt_field_kind field;
    enum nt_stream_kind stream;
    uint32_t position;       /* of the column that it is made from */
    bool has_leading_zero;   /* offsets: one element more than rows */
    bool needs_previous;     /* an element depends on the one before it in the cluster */
    nt_transform *transform; /* NULL: made from the page list alone */
};

struct nt_stream {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t field;
    const struct nt_stream_rule *rule;
    struct nt_dtype dtype;
    uint32_t element_bytes;
    uint64_t elements;
    struct nt_segment *segments;
    uint32_t segment_count;
    struct nt_alternative *alternatives; /* index of variants: [segment][alternative] */
    uint32_t alternative_count;
    _Atomic(const struct nt_page *) told; /* the last page whose elements made no sense: told once */
    struct nt_sequence sequence;
};

/* The segment that holds an element (of segments' counting). There is one. */
const struct nt_segment *nt_stream_segment_of(const struct nt_stream *stream, uint64_t element);

/* Elements [first, first + count): nt_stream_read without its edges and counters. */
enum nt_status nt_stream_produce(struct nt_stream *stream, uint64_t first, uint64_t count, uint8_t *output,
                                 struct nt_error *error);

#endif
