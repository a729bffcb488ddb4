/* SPDX-License-Identifier: MIT
 *
 * In: the first elements that differ in the streams of a field. Out: the first row that differs, its entry and values.
 * Offsets are searched by halves, a few elements at a time.
 */
#include "tools/diff_place.h"

#include "core/base/text.h"
#include "core/model/kind.h"
#include "read/page.h"

enum { MOST_BYTES = 256, BYTES_BEFORE = 32 };

/* A row on both sides, whose values lie in the buffers. */
struct finding {
    struct nt_difference difference;
    struct nt_dtype dtype;
    struct nt_buffer bytes[NT_DIFF_SIDES];
};

/* Why a side cannot be read: told, and the row remains without values. */
struct place {
    struct nt_diffing *diffing;
    const uint32_t *fields;
    unsigned side; /* that was read last */
};

/* ---- reading a few elements ---- */

static enum nt_status open_stream(struct place *place, unsigned side, uint32_t field,
                                  enum nt_stream_kind kind, struct nt_stream **stream_ret,
                                  struct nt_error *error)
{
    const struct nt_diff_side *of = &place->diffing->sides[side];
    place->side = side;
    return nt_stream_open(of->reader, of->dataset, field, kind, stream_ret, error);
}

static enum nt_status read_bytes(struct place *place, unsigned side, enum nt_stream_kind kind,
                                 uint64_t offset, size_t bytes, struct nt_buffer *out, struct nt_error *error)
{
    struct nt_stream *stream = NULL;
    enum nt_status status = open_stream(place, side, place->fields[side], kind, &stream, error);
    uint8_t *output = nt_buffer_extend(out, bytes);
    if (status == NT_OK && !output)
        status = nt_fail_memory(error);
    if (status == NT_OK)
        status = nt_stream_read(stream, offset, output, bytes, error);
    nt_stream_close(stream);
    return status;
}

static enum nt_status read_element(struct place *place, enum nt_stream_kind kind, uint64_t element,
                                   struct finding *finding, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    for (unsigned side = 0; side < NT_DIFF_SIDES && status == NT_OK; side++) {
        const struct nt_diff_side *of = &place->diffing->sides[side];
        nt_field_stream_dtype(of->dataset, place->fields[side], kind, &finding->dtype);
        uint32_t bytes = finding->dtype.bytes;
        status = read_bytes(place, side, kind, element * bytes, bytes, &finding->bytes[side], error);
    }
    for (unsigned side = 0; side < NT_DIFF_SIDES && status == NT_OK; side++)
        finding->difference.values[side] =
            (struct nt_diff_value){.kind = NT_DIFF_ELEMENT,
                                   .dtype = &finding->dtype,
                                   .element = (uint8_t *)finding->bytes[side].bytes};
    return status;
}

/* Where a row begins and ends, in what its offsets count. */
static enum nt_status read_borders(struct place *place, unsigned side, uint64_t row, uint64_t borders[2],
                                   struct nt_error *error)
{
    struct nt_stream *stream = NULL;
    enum nt_status status = open_stream(place, side, place->fields[side], NT_STREAM_OFFSETS, &stream, error);
    if (status == NT_OK)
        status = nt_stream_read(stream, row * sizeof(*borders), borders, 2 * sizeof(*borders), error);
    nt_stream_close(stream);
    return status;
}

/* The row of a field of A that an item or byte belongs to: the last one that does not begin behind it. */
static enum nt_status find_row(struct place *place, uint32_t field, uint64_t item, uint64_t *row_ret,
                               struct nt_error *error)
{
    struct nt_stream *stream = NULL;
    enum nt_status status = open_stream(place, 0, field, NT_STREAM_OFFSETS, &stream, error);
    uint64_t first = 0, end = status == NT_OK ? nt_stream_elements(stream) : 0;
    while (status == NT_OK && end - first > 1) {
        uint64_t middle = first + (end - first) / 2, begins;
        status = nt_stream_read(stream, middle * sizeof(begins), &begins, sizeof(begins), error);
        if (begins <= item)
            first = middle;
        else
            end = middle;
    }
    nt_stream_close(stream);
    *row_ret = first;
    return status;
}

/* ---- the entry ---- */

/* Rows of variants' alternatives and of fields that cannot be read stay without an entry, and so does what lies behind a
 * page that cannot be read. */
static enum nt_status find_entry(struct place *place, uint64_t row, uint64_t *entry_ret,
                                 struct nt_error *error)
{
    const struct nt_dataset *dataset = place->diffing->sides[0].dataset;
    uint32_t field = dataset->fields[place->fields[0]].parent;
    *entry_ret = NT_DIFF_NOWHERE;
    for (; field != NT_NONE; field = dataset->fields[field].parent) {
        if (nt_field_keeps_step(&dataset->fields[field])) {
            row /= nt_field_rows_below(&dataset->fields[field]);
            continue;
        }
        if (nt_field_kind_info(dataset->fields[field].kind)->below != NT_BELOW_INDEX)
            return NT_OK;
        enum nt_status status = find_row(place, field, row, &row, error);
        if (status != NT_OK)
            return nt_is_machine_failure(status) ? status : NT_OK;
    }
    *entry_ret = row;
    return NT_OK;
}

/* ---- values ---- */

/* A text, or the part of it around the first byte that differs; the parts of both sides begin at the same byte. */
static enum nt_status read_texts(struct place *place, uint64_t row, uint64_t differs_at,
                                 struct finding *finding, struct nt_error *error)
{
    const struct nt_field *field = &place->diffing->sides[0].dataset->fields[place->fields[0]];
    bool is_text = nt_field_kind_info(field->kind)->form == NT_FORM_TEXT;
    struct nt_difference *difference = &finding->difference;
    uint64_t borders[NT_DIFF_SIDES][2], least = UINT64_MAX, most = 0;
    enum nt_status status = NT_OK;
    for (unsigned side = 0; side < NT_DIFF_SIDES && status == NT_OK; side++)
        status = read_borders(place, side, row, borders[side], error);
    if (status != NT_OK)
        return status;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        uint64_t length = borders[side][1] - borders[side][0];
        least = length < least ? length : least;
        most = length > most ? length : most;
    }
    uint64_t within = differs_at - borders[0][0];
    difference->byte = differs_at != NT_DIFF_NOWHERE && within < least ? within : least;
    uint64_t first =
        most > MOST_BYTES && difference->byte > BYTES_BEFORE ? difference->byte - BYTES_BEFORE : 0;
    difference->first_byte = most > MOST_BYTES ? first : NT_DIFF_NOWHERE;
    for (unsigned side = 0; side < NT_DIFF_SIDES && status == NT_OK; side++) {
        uint64_t count = borders[side][1] - borders[side][0] - first;
        count = count < MOST_BYTES ? count : MOST_BYTES;
        status = read_bytes(place, side, NT_STREAM_DATA, borders[side][0] + first, (size_t)count,
                            &finding->bytes[side], error);
        difference->values[side] = (struct nt_diff_value){
            .kind = is_text ? NT_DIFF_TEXT : NT_DIFF_BYTES,
            .text = {nt_buffer_string(&finding->bytes[side]), finding->bytes[side].length}};
    }
    return status;
}

/* How many items each side's row has. */
static enum nt_status count_items(struct place *place, uint64_t row, struct finding *finding,
                                  struct nt_error *error)
{
    enum nt_status status = NT_OK;
    for (unsigned side = 0; side < NT_DIFF_SIDES && status == NT_OK; side++) {
        uint64_t borders[2];
        status = read_borders(place, side, row, borders, error);
        if (status == NT_OK)
            finding->difference.values[side] =
                (struct nt_diff_value){.kind = NT_DIFF_NUMBER, .number = borders[1] - borders[0]};
    }
    finding->difference.property = "items";
    return status;
}

/* ---- the first row ---- */

/* The row that an element of a stream tells of. An end offset belongs to the row that ends there. */
static enum nt_status row_of(struct place *place, const struct nt_stream_pair *stream, uint64_t *row_ret,
                             struct nt_error *error)
{
    const struct nt_field *field = &place->diffing->sides[0].dataset->fields[stream->fields[0]];
    uint64_t elements = nt_field_row_elements(field);
    *row_ret = stream->first;
    if (stream->kind == NT_STREAM_OFFSETS)
        *row_ret = stream->first ? stream->first - 1 : 0;
    else if (stream->kind == NT_STREAM_DATA && nt_field_has_stream(field, NT_STREAM_OFFSETS))
        return find_row(place, stream->fields[0], stream->first, row_ret, error);
    else if (stream->kind == NT_STREAM_DATA && elements)
        *row_ret = stream->first / elements;
    return NT_OK;
}

static enum nt_status find_value(struct place *place, const struct nt_stream_pair *stream,
                                 uint64_t differs_at, struct finding *finding, struct nt_error *error)
{
    const struct nt_field *field = &place->diffing->sides[0].dataset->fields[stream->fields[0]];
    uint64_t row = finding->difference.row, elements = nt_field_row_elements(field);
    bool has_offsets = nt_field_has_stream(field, NT_STREAM_OFFSETS);
    if (stream->kind == NT_STREAM_VALID) {
        finding->difference.property = nt_stream_name(stream->kind);
        return read_element(place, stream->kind, stream->first, finding, error);
    }
    if (has_offsets && nt_field_has_stream(field, NT_STREAM_DATA))
        return read_texts(place, row, differs_at, finding, error);
    if (has_offsets)
        return count_items(place, row, finding, error);
    if (elements > 1)
        finding->difference.element = stream->first % elements;
    if (stream->kind != NT_STREAM_DATA)
        finding->difference.property = nt_stream_name(stream->kind);
    return read_element(place, stream->kind, stream->first, finding, error);
}

/* The stream with the first row that differs, of several the first; NULL: none differs. */
static enum nt_status find_first(struct place *place, const struct nt_stream_pair *streams, size_t count,
                                 const struct nt_stream_pair **first_ret, struct finding *finding,
                                 struct nt_error *error)
{
    enum nt_status status = NT_OK;
    *first_ret = NULL;
    for (size_t i = 0; i < count && status == NT_OK; i++) {
        uint64_t row;
        if (streams[i].first == NT_DIFF_NOWHERE)
            continue;
        status = row_of(place, &streams[i], &row, error);
        bool is_null = streams[i].kind == NT_STREAM_VALID && row == finding->difference.row;
        if (status != NT_OK || (row >= finding->difference.row && !is_null))
            continue; /* of a row that is null on one side only, that is told */
        finding->difference.row = row;
        *first_ret = &streams[i];
    }
    return status;
}

enum nt_status nt_diff_tell_value(struct nt_diffing *diffing, const struct nt_stream_pair *streams,
                                  size_t count, struct nt_error *error)
{
    struct place place = {.diffing = diffing, .fields = streams->fields};
    struct finding finding = {.difference = nt_difference(NT_DIFF_VALUES, "value", streams->fields)};
    const struct nt_stream_pair *first;
    uint64_t differs_at = NT_DIFF_NOWHERE; /* of a text: the byte of all texts */
    struct nt_error failure = {0};
    for (size_t i = 0; i < count; i++)
        if (streams[i].kind == NT_STREAM_DATA)
            differs_at = streams[i].first;
    enum nt_status status = find_first(&place, streams, count, &first, &finding, &failure);
    if (status == NT_OK && first)
        status = find_value(&place, first, differs_at, &finding, &failure);
    if (status == NT_OK && first)
        status = find_entry(&place, finding.difference.row, &finding.difference.entry, &failure);
    if (status == NT_OK && first)
        nt_diff_tell(diffing, &finding.difference);
    else if (status != NT_OK && !nt_is_passing_failure(status))
        nt_diff_tell_failure(diffing, place.side, streams->fields[place.side], &failure);
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
        nt_buffer_deinit(&finding.bytes[side]);
    return nt_is_passing_failure(status) ? nt_fail_with(error, &failure) : NT_OK;
}
