/* SPDX-License-Identifier: MIT
 *
 * In: decoded strings, or numbers of those of a dictionary. Out: where each ends, and their bytes.
 */
#include "formats/lance/decode/texts.h"

#include <string.h>

#include "core/codec/dictionary.h"
#include "formats/lance/decode/numbers.h"
#include "formats/lance/decode/strings.h"

/* Null strings have no bytes, whatever is stored of them. */
static enum nt_status drop_null_strings(struct nt_made *made, bool wants_bytes, struct nt_error *error)
{
    struct nt_array *array = &made->opened.array;
    uint64_t dropped = 0, begin = 0, at = 0, *ends;
    uint8_t *output;
    for (uint64_t i = 0; made->valid && i < array->elements; begin = array->ends[i++])
        dropped += made->valid[i] ? 0 : array->ends[i] - begin;
    if (!dropped)
        return NT_OK;
    enum nt_status status = nt_work_take(made->work, array->elements * sizeof(*ends), &ends, error);
    if (status == NT_OK)
        status = nt_work_take(made->work, wants_bytes ? array->bytes - dropped : 0, &output, error);
    begin = 0;
    for (uint64_t i = 0; status == NT_OK && i < array->elements; begin = array->ends[i++]) {
        uint64_t bytes = made->valid[i] ? array->ends[i] - begin : 0;
        if (wants_bytes && bytes)
            memcpy(output + at, array->data + begin, bytes);
        ends[i] = at += bytes;
    }
    if (status == NT_OK)
        *array = (struct nt_array){
            .elements = array->elements, .data = output, .bytes = at, .ends = ends, .fsst = array->fsst};
    return status;
}

static enum nt_status open_strings(struct nt_made *made, struct nt_error *error)
{
    return nt_made_open(made, nt_made_has_nulls(made->work->tree), true, error);
}

/* Decode a page that is opened. `rows` is how many strings there are. */
static enum nt_status decode_strings(struct nt_made *made, struct nt_error *error)
{
    enum nt_status status = nt_made_decode(made, NULL, error);
    if (status == NT_OK)
        status = nt_made_check_rows(made, made->opened.array.elements, error);
    if (status == NT_OK)
        status = nt_made_find_nulls(made, error);
    return status;
}

/* Of strings that are decoded, but for a dictionary's: they may be codes still. */
static enum nt_status take_strings(struct nt_made *made, bool wants_bytes, struct nt_error *error)
{
    const struct nt_array *array = &made->opened.array;
    if (!array->is_null && !array->ends && made->rows)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "values of fixed width where strings were expected");
    return array->ends ? drop_null_strings(made, wants_bytes || array->fsst, error) : NT_OK;
}

/* ---- ends ---- */

/* All rows end where nothing has begun. */
static void repeat_base(uint64_t base, uint64_t rows, uint8_t *output)
{
    for (uint64_t i = 0; i < rows; i++)
        memcpy(output + i * sizeof(base), &base, sizeof(base));
}

static enum nt_status look_up_ends(struct nt_made *made, uint64_t base, uint8_t *output,
                                   struct nt_error *error)
{
    struct nt_value numbers;
    enum nt_status status = nt_made_numbers(made, &numbers, error);
    return status == NT_OK ? nt_dictionary_ends(&numbers, &made->work->packed->inputs[0], made->valid, base,
                                                output, error)
                           : status;
}

/* Of a page that is opened, but for a dictionary's: where its strings end is in made->opened.array. */
static enum nt_status find_ends(struct nt_made *made, struct nt_error *error)
{
    struct nt_array *array = &made->opened.array;
    enum nt_status status = decode_strings(made, error);
    if (status == NT_OK && !made->work->tree->has_dictionary)
        status = take_strings(made, false, error);
    return status == NT_OK && array->fsst ? nt_strings_measure(made->work, array, error) : status;
}

enum nt_status nt_make_ends(struct nt_made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_array *array = &made->opened.array;
    uint64_t base = made->work->packed->parameter;
    bool has_dictionary = made->work->tree->has_dictionary;
    made->rows = made->work->packed->elements;
    enum nt_status status = open_strings(made, error);
    if (status == NT_OK)
        status = find_ends(made, error);
    if (status == NT_OK && has_dictionary && !nt_made_is_null(made))
        return look_up_ends(made, base, output, error);
    if (status == NT_OK && (has_dictionary || array->is_null))
        repeat_base(base, made->rows, output);
    else
        for (uint64_t i = 0; status == NT_OK && i < made->rows; i++) {
            uint64_t end = base + array->ends[i];
            memcpy(output + i * sizeof(end), &end, sizeof(end));
        }
    return status;
}

/* Of strings of a dictionary. */
static enum nt_status count_item_bytes(struct nt_made *made, uint64_t *bytes_ret, struct nt_error *error)
{
    uint64_t *ends;
    enum nt_status status = nt_work_take(made->work, made->rows * sizeof(*ends), &ends, error);
    if (status == NT_OK)
        status = look_up_ends(made, 0, (uint8_t *)ends, error);
    if (status == NT_OK)
        *bytes_ret = ends[made->rows - 1];
    return status;
}

enum nt_status nt_count_string_bytes(struct nt_made *made, uint64_t *bytes_ret, struct nt_error *error)
{
    const struct nt_array *array = &made->opened.array;
    enum nt_status status = find_ends(made, error);
    *bytes_ret = 0;
    if (status != NT_OK || array->is_null || !made->rows)
        return status;
    if (made->work->tree->has_dictionary)
        return nt_made_is_null(made) ? NT_OK : count_item_bytes(made, bytes_ret, error);
    *bytes_ret = array->ends[made->rows - 1];
    return NT_OK;
}

/* ---- bytes ---- */

static enum nt_status look_up_bytes(struct nt_made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_packed *packed = made->work->packed;
    struct nt_value numbers;
    enum nt_status status = nt_made_numbers(made, &numbers, error);
    return status == NT_OK ? nt_dictionary_bytes(&numbers, &packed->inputs[0], &packed->inputs[1],
                                                 made->valid, output, packed->elements, error)
                           : status;
}

enum nt_status nt_make_bytes(struct nt_made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_packed *packed = made->work->packed;
    const struct nt_array *array = &made->opened.array;
    bool has_dictionary = made->work->tree->has_dictionary;
    made->rows = packed->parameter;
    enum nt_status status = open_strings(made, error);
    if (status == NT_OK)
        status = decode_strings(made, error);
    if (status == NT_OK && has_dictionary && !nt_made_is_null(made))
        return look_up_bytes(made, output, error);
    if (status == NT_OK && !has_dictionary)
        status = take_strings(made, true, error);
    if (status == NT_OK && array->fsst && made->is_shared)
        return nt_strings_expand_into(made->work, &made->opened.array, output, packed->elements, error);
    if (status == NT_OK &&
        array->fsst) /* that no string ends within an escape was seen when they were counted */
        return nt_fsst_decode(array->fsst, array->data, array->bytes, output, packed->elements, error);
    uint64_t bytes = status != NT_OK || has_dictionary || array->is_null ? 0 : array->bytes;
    if (status == NT_OK && bytes != packed->elements)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of strings", packed->elements, bytes);
    if (status == NT_OK && bytes)
        memcpy(output, array->data, bytes);
    return status;
}
