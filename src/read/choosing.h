/* SPDX-License-Identifier: MIT
 *
 * Streams of chosen entries: elements of a stored stream that lie apart become one behind the other.
 */
#ifndef NT_PAGE_CHOOSING_H
#define NT_PAGE_CHOOSING_H

#include "read/left_out.h"

/* From now on a stream as it is stored is one of the chosen entries, where some are left out. */
enum nt_status nt_stream_choose(struct nt_stream *stream, struct nt_error *error);
/* Elements [first, first + count) of such a stream. */
enum nt_status nt_stream_produce_chosen(struct nt_stream *stream, uint64_t first, uint64_t count,
                                        uint8_t *output, struct nt_error *error);

/* The segment that holds an element of a stream, whatever entries are chosen. There is one. */
const struct nt_segment *nt_stream_chosen_segment(const struct nt_stream *stream, uint64_t element);

#endif
