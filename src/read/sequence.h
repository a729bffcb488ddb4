/* SPDX-License-Identifier: MIT
 *
 * Readers that go from front to back: recognising them, and decoding ahead of them. Whatever is guessed here
 * changes no result.
 */
#ifndef NT_PAGE_SEQUENCE_H
#define NT_PAGE_SEQUENCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "read/cache.h"

/* What the reads of one stream or column have looked like; shared by its readers, zero at first. */
struct nt_sequence {
    _Atomic uint64_t expected_offset;          /* where the last read ended */
    _Atomic uint32_t reads;                    /* that followed one another */
    _Atomic uint64_t queued;                   /* pages before this element have been queued */
    _Atomic uint64_t wanted_first, wanted_end; /* elements that sources were told of (wanted.h) */
    atomic_bool is_led;                        /* by somebody who tells of what follows in its turn */
};

/* Whether a read of bytes [offset, offset + bytes) begins where the last one ended, or near: within a few
 * times its own length, as read-ahead sends its requests a little out of order. */
bool nt_sequence_follows(const struct nt_sequence *sequence, uint64_t offset, uint64_t bytes);
/* Note a read of bytes [offset, offset + bytes). True where it follows others. */
bool nt_sequence_note(struct nt_sequence *sequence, uint64_t offset, size_t bytes);
/* What becomes of a page that a read has used up to its end, or not. */
enum nt_cache_use nt_sequence_use(struct nt_sequence *sequence, bool to_the_end);
/* For decoding ahead: pages before this element have been queued already; note that they now are. */
uint64_t nt_sequence_queued(const struct nt_sequence *sequence);
void nt_sequence_note_queued(struct nt_sequence *sequence, uint64_t element);

/* ---- decoding ahead ---- */

struct nt_reader;
struct nt_dataset;
struct nt_page;

/* A page and where it lies among the elements that are walked. */
struct nt_ahead_page {
    const struct nt_page *page; /* NULL: nothing to decode up to `end` */
    uint32_t column;
    uint64_t end; /* the element behind it */
};

/* The page that holds an element; there is one. */
typedef void nt_ahead_find(const void *walked, uint64_t element, struct nt_ahead_page *page_ret);

/* Queue the pages from `element` on, as far as it pays; `end` is the number of elements. It pays less where they are
 * copied from the cache. */
void nt_ahead_queue(struct nt_reader *reader, struct nt_dataset *dataset, struct nt_sequence *sequence,
                    uint64_t element, uint64_t end, nt_ahead_find *find, const void *walked, bool is_copied);
/* Whether it pays at all where they are not. */
bool nt_ahead_pays(const struct nt_reader *reader);

#endif
