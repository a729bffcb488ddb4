/* SPDX-License-Identifier: MIT
 *
 * In: decoded strings, or numbers of those of a dictionary. Out: where each ends, and their bytes.
 */
#include "codec/tree/texts.h"

#include <string.h>

#include "codec/dictionary.h"
#include "codec/tree/numbers.h"
#include "codec/tree/strings.h"

/* Of a dictionary of strings, those that the rows number. */
static enum nt_status look_up_strings(struct nt_made *made, bool wants_bytes, struct nt_error *error)
{
    const struct nt_value *item_ends = &made->work->packed->inputs[0],
                          *bytes = &made->work->packed->inputs[1];
    struct nt_value numbers;
    uint64_t *ends, total = 0;
    uint8_t *output = NULL;
    if (nt_made_is_null(made)) {
        made->opened.array.is_null = true;
        return NT_OK;
    }
    enum nt_status status = nt_made_numbers(made, &numbers, error);
    if (status == NT_OK)
        status = nt_work_take(made->work, made->rows * sizeof(*ends), &ends, error);
    if (status == NT_OK)
        status = nt_dictionary_ends(&numbers, item_ends, made->valid, ends, error);
    if (status != NT_OK)
        return status;
    total = made->rows ? ends[made->rows - 1] : 0;
    if (wants_bytes)
        status = nt_work_take(made->work, total, &output, error);
    if (status == NT_OK && wants_bytes)
        status = nt_dictionary_bytes(&numbers, item_ends, bytes, ends, output, error);
    made->opened.array =
        (struct nt_array){.elements = made->rows, .data = output, .bytes = total, .ends = ends};
    return status;
}

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

/* Of a page that is opened. `rows` is how many strings there are. They may be codes still. */
static enum nt_status take_strings(struct nt_made *made, bool wants_bytes, struct nt_error *error)
{
    const struct nt_tree *tree = made->work->tree;
    enum nt_status status = nt_made_decode(made, NULL, error);
    if (status == NT_OK)
        status = nt_made_check_rows(made, made->opened.array.elements, error);
    if (status == NT_OK)
        status = nt_made_find_nulls(made, error);
    if (status == NT_OK && tree->has_dictionary)
        status = look_up_strings(made, wants_bytes, error);
    if (status == NT_OK && !made->opened.array.is_null && !made->opened.array.ends && made->rows)
        status =
            nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "values of fixed width where strings were expected");
    if (status == NT_OK && made->opened.array.ends)
        status = drop_null_strings(made, wants_bytes || made->opened.array.fsst, error);
    return status;
}

enum nt_status nt_make_string_ends(struct nt_made *made, struct nt_error *error)
{
    enum nt_status status = take_strings(made, false, error);
    return status == NT_OK && made->opened.array.fsst
               ? nt_strings_measure(made->work, &made->opened.array, error)
               : status;
}

enum nt_status nt_make_ends(struct nt_made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_packed *packed = made->work->packed;
    made->rows = packed->elements;
    enum nt_status status = open_strings(made, error);
    if (status == NT_OK)
        status = nt_make_string_ends(made, error);
    for (uint64_t i = 0; status == NT_OK && i < made->rows; i++) {
        uint64_t end = packed->parameter + (made->opened.array.is_null ? 0 : made->opened.array.ends[i]);
        memcpy(output + i * sizeof(end), &end, sizeof(end));
    }
    return status;
}

enum nt_status nt_make_bytes(struct nt_made *made, uint8_t *output, struct nt_error *error)
{
    const struct nt_packed *packed = made->work->packed;
    made->rows = packed->parameter;
    enum nt_status status = open_strings(made, error);
    if (status == NT_OK)
        status = take_strings(made, true, error);
    const struct nt_array *array = &made->opened.array;
    if (status == NT_OK &&
        array->fsst) /* that no string ends within an escape was seen when they were counted */
        return nt_fsst_decode(array->fsst, array->data, array->bytes, output, packed->elements, error);
    uint64_t bytes = status != NT_OK || array->is_null ? 0 : array->bytes;
    if (status == NT_OK && bytes != packed->elements)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of strings", packed->elements, bytes);
    if (status == NT_OK && bytes)
        memcpy(output, array->data, bytes);
    return status;
}
