/* SPDX-License-Identifier: MIT
 *
 * Reads a stream under a selection: takes the elements of selected entries out of the stored stream,
 * and recounts end offsets and row numbers. Reads across short gaps within a page.
 */
#include "read/read.h"

enum {
    SPAN_BYTES = 16 * 1024, /* bytes read at once if elements are near one another, ... */
    NEAR_BYTES = 512,       /* ... with smaller gaps than this, ... */
    MAX_PIECES = 256,       /* ... in at most so many runs */
};

/* ---- Opening ---- */

static enum nt_status choose_alternatives(const struct nt_stream *stream, struct nt_stream_filter *filter,
                                          struct nt_error *error)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(stream->dataset, stream->field, &count);
    filter->alternatives = calloc((size_t)count + 1, sizeof(*filter->alternatives));
    NT_TRY(nt_check_memory(filter->alternatives, error));
    NT_TRY(nt_stream_open_unfiltered(stream->reader, stream->dataset, stream->field, NT_STREAM_TAGS,
                                     &filter->tags, error));
    for (uint32_t i = 0; i < count; i++)
        NT_TRY(nt_row_mask_find(stream->reader, stream->dataset, children[i], NT_COUNTED_ROWS, NT_NONE,
                                &filter->alternatives[i], error));
    return NT_OK;
}

/* Computes the masks of a stream if the selection omits entries. */
static enum nt_status find_filtered_rows(const struct nt_stream *stream, struct nt_stream_filter *filter,
                                         struct nt_error *error)
{
    const struct nt_field *field = &stream->dataset->fields[stream->field];
    uint64_t row_elements = nt_stream_row_elements(field, stream->row);
    NT_TRY(nt_row_mask_multiply(&filter->elements, row_elements, error));
    NT_TRY(nt_row_mask_check(&filter->elements, stream->elements - nt_stream_leading_zeros(stream), error));
    filter->passes = nt_field_is_fortran_order(field) ? filter->elements.per_row : 1;
    if (nt_field_is_fortran_order(field))
        filter->elements.per_row = 1;
    if (stream->row->has_leading_zero)
        NT_TRY(nt_row_mask_find(stream->reader, stream->dataset, stream->field, NT_COUNTED_ITEMS, NT_NONE,
                                &filter->items, error));
    return stream->kind == NT_STREAM_INDEX ? choose_alternatives(stream, filter, error) : NT_OK;
}

enum nt_status nt_stream_set_filter(struct nt_stream **stream, struct nt_error *error)
{
    struct nt_stream *unfiltered = *stream, *filtered = NULL;
    struct nt_row_mask elements;
    NT_TRY(nt_row_mask_find(unfiltered->reader, unfiltered->dataset, unfiltered->field, unfiltered->row->of,
                            NT_NONE, &elements, error));
    if (!elements.deletions)
        return NT_OK;
    struct nt_stream_filter *filter = calloc(1, sizeof(*filter));
    if (!filter || !(filtered = nt_stream_new(unfiltered->reader, unfiltered->dataset, unfiltered->field,
                                              unfiltered->kind))) {
        free(filter);
        return nt_fail_memory(error);
    }
    *filter = (struct nt_stream_filter){.unfiltered = unfiltered, .elements = elements};
    filtered->filter = filter;
    *stream = filtered;
    NT_TRY(find_filtered_rows(unfiltered, filter, error));
    filtered->elements =
        nt_row_mask_kept(&filter->elements) * filter->passes + nt_stream_leading_zeros(unfiltered);
    return NT_OK;
}

/* ---- Where selected elements are stored ---- */

/* A run of consecutive selected elements. */
struct cursor {
    const struct nt_stream_filter *filter;
    struct nt_kept_run run;   /* of rows */
    uint64_t pass_first;      /* the element where the current pass over all rows begins */
    uint64_t physical, count; /* the physical index of the current element, and how many follow from it on */
};

static void seek(struct cursor *cursor, uint64_t element)
{
    const struct nt_row_mask *mask = &cursor->filter->elements;
    uint64_t kept = nt_row_mask_kept(mask), within = element % kept;
    struct nt_kept_run elements = nt_row_mask_kept_from(mask, within);
    cursor->pass_first = element / kept * nt_row_mask_physical(mask);
    cursor->run = nt_deletion_vector_find_kept(mask->deletions, within / mask->per_row);
    cursor->physical = cursor->pass_first + elements.physical;
    cursor->count = elements.count;
}

static void advance(struct cursor *cursor, uint64_t count)
{
    const struct nt_row_mask *mask = &cursor->filter->elements;
    cursor->physical += count;
    cursor->count -= count;
    if (cursor->count)
        return;
    if (!nt_deletion_vector_next_kept(mask->deletions, &cursor->run)) {
        cursor->pass_first += nt_row_mask_physical(mask);
        cursor->run = nt_deletion_vector_find_kept(mask->deletions, 0);
    }
    cursor->physical = cursor->pass_first + cursor->run.physical * mask->per_row;
    cursor->count = cursor->run.count * mask->per_row;
}

void nt_stream_filtered_segment(const struct nt_stream *stream, uint64_t element,
                                struct nt_segment *segment_ret)
{
    struct cursor cursor = {.filter = stream->filter};
    if (stream->filter) {
        seek(&cursor, element);
        element = cursor.physical;
        stream = stream->filter->unfiltered;
    }
    nt_stream_segment_of(stream, element, segment_ret);
}

static void count_selected_items(const struct nt_stream_filter *filter, uint32_t run, uint8_t *output,
                                 size_t count)
{
    uint64_t filtered_rows = nt_deletion_vector_count(filter->items.deletions, run), value;
    for (size_t i = 0; i < count; i++, output += sizeof(value)) {
        memcpy(&value, output, sizeof(value));
        value -= filtered_rows;
        memcpy(output, &value, sizeof(value));
    }
}

static void count_selected_rows(const struct nt_stream_filter *filter, const uint32_t *tags, uint8_t *output,
                                size_t count)
{
    for (size_t i = 0; i < count; i++, output += sizeof(uint64_t)) {
        uint64_t row;
        memcpy(&row, output, sizeof(row));
        if (tags[i])
            row = nt_row_mask_before(&filter->alternatives[tags[i] - 1], row);
        memcpy(output, &row, sizeof(row));
    }
}

/* ---- Pieces near one another ---- */

struct filtered_piece {
    uint64_t physical, count;
    uint32_t run; /* how many omitted runs precede it */
};

struct gathered_pieces {
    struct filtered_piece pieces[MAX_PIECES];
    uint32_t count;
    uint64_t elements;
};

/* Collects the next pieces within a page, up to `most` elements, and advances the cursor past them. */
static void gather(const struct nt_stream *stream, struct cursor *cursor, uint64_t most,
                   struct gathered_pieces *gathered)
{
    uint32_t element_bytes = stream->element_bytes;
    uint64_t near = NEAR_BYTES / element_bytes, span = SPAN_BYTES / element_bytes, page_end = 0;
    struct filtered_piece *first = gathered->pieces;
    gathered->count = 0;
    gathered->elements = 0;
    while (gathered->elements < most && gathered->count < MAX_PIECES) {
        uint64_t left = most - gathered->elements;
        struct filtered_piece piece = {cursor->physical, nt_min(cursor->count, left), cursor->run.number};
        if (gathered->count) {
            const struct filtered_piece *last = &gathered->pieces[gathered->count - 1];
            uint64_t end = last->physical + last->count;
            if (!page_end)
                page_end = nt_stream_page_end(stream->filter->unfiltered, first->physical);
            if (piece.physical < end || piece.physical - end > near || piece.physical >= page_end ||
                piece.physical - first->physical >= span)
                return;
            uint64_t room = first->physical + span - piece.physical;
            uint64_t of_page = page_end - piece.physical;
            piece.count = nt_min(piece.count, nt_min(room, of_page));
        }
        gathered->pieces[gathered->count++] = piece;
        gathered->elements += piece.count;
        advance(cursor, piece.count);
        if (piece.count > span)
            return;
    }
}

/* Reads one piece straight into the output. */
static enum nt_status produce_piece(struct nt_stream *stream, const struct filtered_piece *piece,
                                    uint8_t *output, struct nt_error *error)
{
    NT_TRY(nt_stream_produce(stream->filter->unfiltered, piece->physical + nt_stream_leading_zeros(stream),
                             piece->count, NULL, output, error));
    if (stream->filter->items.deletions)
        count_selected_items(stream->filter, piece->run, output, (size_t)piece->count);
    return NT_OK;
}

/* Reads several pieces, including the gaps between them. */
static enum nt_status produce_pieces(struct nt_stream *stream, const struct gathered_pieces *gathered,
                                     uint8_t *output, struct nt_error *error)
{
    uint8_t span[SPAN_BYTES];
    uint32_t element_bytes = stream->element_bytes;
    const struct filtered_piece *pieces = gathered->pieces, *last = &pieces[gathered->count - 1];
    uint64_t first = pieces->physical, count = last->physical + last->count - first;
    NT_TRY(nt_stream_produce(stream->filter->unfiltered, first + nt_stream_leading_zeros(stream), count, NULL,
                             span, error));
    for (uint32_t i = 0; i < gathered->count; i++) {
        size_t bytes = (size_t)pieces[i].count * element_bytes;
        memcpy(output, span + (pieces[i].physical - first) * element_bytes, bytes);
        if (stream->filter->items.deletions)
            count_selected_items(stream->filter, pieces[i].run, output, (size_t)pieces[i].count);
        output += bytes;
    }
    return NT_OK;
}

/* Recounts row numbers, whose meaning depends on the tags. */
static enum nt_status finish_index(struct nt_stream *stream, const struct gathered_pieces *gathered,
                                   uint8_t *output, struct nt_error *error)
{
    enum { AT_ONCE = SPAN_BYTES / sizeof(uint64_t) };
    uint32_t tags[AT_ONCE];
    for (uint32_t i = 0; i < gathered->count; i++) {
        const struct filtered_piece *piece = &gathered->pieces[i];
        for (uint64_t done = 0, some; done < piece->count; done += some) {
            some = nt_min(piece->count - done, AT_ONCE);
            NT_TRY(nt_stream_produce(stream->filter->tags, piece->physical + done, some, NULL,
                                     (uint8_t *)tags, error));
            count_selected_rows(stream->filter, tags, output, (size_t)some);
            output += some * sizeof(uint64_t);
        }
    }
    return NT_OK;
}

enum nt_status nt_stream_produce_filtered(struct nt_stream *stream, uint64_t first, uint64_t count,
                                          uint8_t *output, struct nt_error *error)
{
    struct cursor cursor = {.filter = stream->filter};
    struct gathered_pieces gathered;
    enum nt_status status = NT_OK;
    uint64_t lead = nt_stream_leading_zeros(stream);
    if (count && first < lead) {
        memset(output, 0, stream->element_bytes);
        output += stream->element_bytes;
        count--;
        first++;
    }
    if (count)
        seek(&cursor, first - lead);
    while (status == NT_OK && count) {
        gather(stream, &cursor, count, &gathered);
        status = gathered.count > 1 ? produce_pieces(stream, &gathered, output, error)
                                    : produce_piece(stream, gathered.pieces, output, error);
        const struct filtered_piece *last = &gathered.pieces[gathered.count - 1];
        nt_access_note(&stream->filter->unfiltered->access, gathered.pieces->physical * stream->element_bytes,
                       (size_t)(last->physical + last->count - gathered.pieces->physical) *
                           stream->element_bytes);
        if (status == NT_OK && stream->filter->tags)
            status = finish_index(stream, &gathered, output, error);
        output += gathered.elements * stream->element_bytes;
        count -= gathered.elements;
    }
    return status;
}
