/* SPDX-License-Identifier: MIT
 *
 * Streams whose pages are the same bytes of the file: strings and their offsets, values and their validity. Their pages
 * are decoded together, so that what they have in common is done once.
 */
#ifndef NT_PAGE_TOGETHER_H
#define NT_PAGE_TOGETHER_H

#include "core/codec/plan.h"
#include "read/stream.h"

/* Whether it is so of the first pages of both. */
bool nt_streams_are_together(struct nt_stream *a, struct nt_stream *b);
/* The end of the page in `other` that is the same bytes as the one in which the element before `end` lies; 0: there is none. */
uint64_t nt_stream_end_beside(struct nt_stream *stream, uint64_t end, struct nt_stream *other);
/* Decode into each range's output what is whole in all of them (at most NT_PLAN_TOGETHER), from the first page on, in the segment
 * where the first range begins. What fails is left out, for who reads it alone to find out. */
void nt_streams_make_together(const struct nt_stream_range *ranges, uint32_t count,
                              struct nt_pages_made *made);

#endif
