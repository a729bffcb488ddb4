/* SPDX-License-Identifier: MIT
 *
 * From a page's decoded elements to a stream's.
 */
#ifndef NT_PAGE_ELEMENTS_H
#define NT_PAGE_ELEMENTS_H

#include <ntuple/model.h>

struct nt_stream;
struct nt_segment;

/* A Switch in memory. */
enum { NT_SWITCH_BYTES = 12, NT_SWITCH_TAG = 8 };

/* Elements [first, first + count) of a page. */
struct nt_run {
    const struct nt_stream *stream;
    const struct nt_segment *segment;
    const struct nt_page *page;
    const struct nt_decoder *decoder;
    const uint8_t *data; /* of the whole page */
    size_t first, count;
    bool is_segment_end; /* the run ends with the segment's last element */
    bool has_previous;   /* `previous` is the index value before the page's first element */
    uint64_t previous;
};

/* `output` has count * element_bytes of the stream, and need not be aligned. */
typedef enum nt_status nt_transform(const struct nt_run *run, uint8_t *output, struct nt_error *error);

nt_transform nt_make_values;
nt_transform nt_make_members;
nt_transform nt_make_offsets;
nt_transform nt_make_sizes;
nt_transform nt_make_tags;
nt_transform nt_make_index;

/* True where values need no change at all: a page may be decoded straight into the stream. */
bool nt_values_are_equal(const struct nt_decoder *decoder, const struct nt_dtype *dtype);

#endif
