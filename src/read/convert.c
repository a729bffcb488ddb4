/* SPDX-License-Identifier: MIT
 *
 * Converts the decoded elements of a page to the elements of a stream: values in the field's type, end
 * offsets over the whole dataset, sizes, tags and row numbers of variants. Index and switch values
 * outside of the stored rows are errors.
 */
#include "read/read.h"

static void store_le32(uint8_t *output, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
    memcpy(output, &narrow, sizeof(narrow));
}

static void store_le64(uint8_t *output, uint64_t value)
{
    memcpy(output, &value, sizeof(value));
}

/* ---- Values ---- */

static bool is_integer(enum nt_element element)
{
    return element >= NT_ELEMENT_BYTE && element <= NT_ELEMENT_UINT64;
}

bool nt_values_are_equal(const struct nt_decoder *decoder, const struct nt_dtype *dtype)
{
    if (decoder->element_bytes != dtype->bytes)
        return false;
    return decoder->element == dtype->element || dtype->element == NT_ELEMENT_OPAQUE ||
           decoder->element == NT_ELEMENT_OPAQUE ||
           (is_integer(decoder->element) && is_integer(dtype->element));
}

static enum nt_status make_values(const struct nt_element_run *run, uint8_t *output, struct nt_error *error)
{
    const struct nt_dtype *dtype = run->dtype;
    const uint8_t *input = run->data + run->first * run->decoder->element_bytes;
    if (nt_values_are_equal(run->decoder, dtype)) {
        memcpy(output, input, run->count * dtype->bytes);
        return NT_OK;
    }
    return nt_element_convert(run->decoder->element, input, dtype->element, output, run->count, error);
}

static enum nt_status make_members(const struct nt_element_run *run, uint8_t *output, struct nt_error *error)
{
    size_t stride = run->decoder->element_bytes, bytes = run->dtype->bytes;
    size_t offset = nt_field_member_offset(run->field);
    if (offset > stride || bytes > stride - offset)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "the member is outside its element of %zu bytes",
                       stride);
    const uint8_t *input = run->data + run->first * stride + offset;
    for (size_t i = 0; i < run->count; i++)
        memcpy(output + i * bytes, input + i * stride, bytes);
    return NT_OK;
}

/* ---- Index columns ---- */

bool nt_load_index(enum nt_element element, const uint8_t *data, size_t i, uint64_t *value_ret)
{
    if (element == NT_ELEMENT_UINT64)
        *value_ret = nt_load_le64(data + 8 * i);
    else if (element == NT_ELEMENT_UINT32)
        *value_ret = nt_load_le32(data + 4 * i);
    else
        return false;
    return true;
}

/* The index value before the run's first element; 0 at the start of the cluster. */
static uint64_t previous_value(const struct nt_element_run *run)
{
    uint64_t value = run->has_previous ? run->previous : 0;
    if (run->first)
        nt_load_index(run->decoder->element, run->data, run->first - 1, &value);
    return value;
}

/* Both functions set `decreases` if a value is smaller than the previous one. */
#define NT_DEFINE_OFFSETS(name, load, bytes)                                                                 \
    static uint64_t name(const uint8_t *input, size_t count, uint64_t base, uint64_t previous,               \
                         uint8_t *output, bool *decreases)                                                   \
    {                                                                                                        \
        bool bad = false;                                                                                    \
        for (size_t i = 0; i < count; i++) {                                                                 \
            uint64_t value = load(input + i * (bytes));                                                      \
            bad |= value < previous;                                                                         \
            store_le64(output + i * 8, base + value);                                                        \
            nt_prefetch_for_write(output + i * 8);                                                           \
            previous = value;                                                                                \
        }                                                                                                    \
        *decreases = bad;                                                                                    \
        return previous;                                                                                     \
    }
NT_DEFINE_OFFSETS(make_offsets32, nt_load_le32, 4)
NT_DEFINE_OFFSETS(make_offsets64, nt_load_le64, 8)

static enum nt_status not_an_index(const struct nt_element_run *run, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, run->page->offset, "found a %s column, expected an index column",
                   nt_encoding_info(run->decoder->encoding)->name);
}

static enum nt_status check_last_offset(const struct nt_element_run *run, uint64_t last,
                                        struct nt_error *error)
{
    uint64_t limit = run->limit;
    if (run->is_cluster_end && last != limit)
        return nt_fail_number(error, NT_CORRUPT, run->page->offset,
                              "items of the cluster according to its last index", limit, last);
    if (last > limit)
        return nt_fail_above(error, NT_CORRUPT, run->page->offset,
                             "items of the cluster according to an index", limit, last);
    return NT_OK;
}

/* An optional has one value or none. `offsets`: the converted run. */
static enum nt_status check_optionals(const struct nt_element_run *run, const uint8_t *offsets,
                                      struct nt_error *error)
{
    uint64_t previous = run->base + previous_value(run);
    for (size_t i = 0; i < run->count; i++) {
        uint64_t value = nt_load_le64(offsets + i * 8);
        if (value - previous > 1)
            return nt_fail_above(error, NT_CORRUPT, run->page->offset, "values of an optional", 1,
                                 value - previous);
        previous = value;
    }
    return NT_OK;
}

/* `offsets`: the converted run. */
static enum nt_status check_offsets(const struct nt_element_run *run, const uint8_t *offsets, uint64_t last,
                                    bool decreases, struct nt_error *error)
{
    if (decreases)
        return nt_fail(error, NT_CORRUPT, run->page->offset, "the index decreases within its cluster");
    enum nt_status status = check_last_offset(run, last, error);
    bool is_optional = nt_field_kind_info(run->field->kind)->form == NT_FORM_OPTIONAL;
    return status == NT_OK && is_optional ? check_optionals(run, offsets, error) : status;
}

static enum nt_status make_offsets(const struct nt_element_run *run, uint8_t *output, struct nt_error *error)
{
    bool decreases;
    uint64_t last, previous = previous_value(run), base = run->base;
    if (run->decoder->element == NT_ELEMENT_UINT32)
        last = make_offsets32(run->data + run->first * 4, run->count, base, previous, output, &decreases);
    else if (run->decoder->element == NT_ELEMENT_UINT64)
        last = make_offsets64(run->data + run->first * 8, run->count, base, previous, output, &decreases);
    else
        return not_an_index(run, error);
    return check_offsets(run, output, last, decreases, error);
}

enum nt_status nt_check_summed_offsets(const struct nt_element_run *run, struct nt_error *error)
{
    if (!run->count)
        return NT_OK;
    uint64_t first = nt_load_le64(run->data) - run->base,
             last = nt_load_le64(run->data + (run->count - 1) * sizeof(last)) - run->base;
    return check_offsets(run, run->data, last, first < previous_value(run), error);
}

static enum nt_status make_sizes(const struct nt_element_run *run, uint8_t *output, struct nt_error *error)
{
    uint64_t value, previous = previous_value(run);
    uint64_t largest = run->dtype->bytes == 4 ? UINT32_MAX : UINT64_MAX;
    for (size_t i = 0; i < run->count; i++) {
        if (!nt_load_index(run->decoder->element, run->data, run->first + i, &value))
            return not_an_index(run, error);
        if (value < previous)
            return nt_fail(error, NT_CORRUPT, run->page->offset, "the index decreases within its cluster");
        if (value - previous > largest)
            return nt_fail(error, NT_CORRUPT, run->page->offset,
                           "a size of %" PRIu64 " does not fit into its type", value - previous);
        if (largest == UINT32_MAX)
            store_le32(output + i * 4, value - previous);
        else
            store_le64(output + i * 8, value - previous);
        previous = value;
    }
    return NT_OK;
}

/* ---- Switch columns ---- */

static enum nt_status check_switch(const struct nt_element_run *run, uint32_t tag, struct nt_error *error)
{
    uint32_t alternatives = run->field->child_count;
    if (tag <= alternatives)
        return NT_OK;
    return nt_fail(error, NT_CORRUPT, run->page->offset,
                   "alternative %" PRIu32 " does not exist: the variant has %" PRIu32, tag, alternatives);
}

static enum nt_status require_switch(const struct nt_element_run *run, struct nt_error *error)
{
    if (run->decoder->element == NT_ELEMENT_SWITCH)
        return NT_OK;
    return nt_fail(error, NT_CORRUPT, run->page->offset, "found a %s column, expected a switch column",
                   nt_encoding_info(run->decoder->encoding)->name);
}

static enum nt_status make_tags(const struct nt_element_run *run, uint8_t *output, struct nt_error *error)
{
    const uint8_t *input = run->data + run->first * NT_SWITCH_BYTES;
    NT_TRY(require_switch(run, error));
    for (size_t i = 0; i < run->count; i++, input += NT_SWITCH_BYTES) {
        uint32_t tag = nt_load_le32(input + NT_SWITCH_TAG);
        NT_TRY(check_switch(run, tag, error));
        store_le32(output + i * 4, tag);
    }
    return NT_OK;
}

static enum nt_status make_index(const struct nt_element_run *run, uint8_t *output, struct nt_error *error)
{
    const uint8_t *input = run->data + run->first * NT_SWITCH_BYTES;
    NT_TRY(require_switch(run, error));
    for (size_t i = 0; i < run->count; i++, input += NT_SWITCH_BYTES) {
        uint64_t index = nt_load_le64(input), row = 0;
        uint32_t tag = nt_load_le32(input + NT_SWITCH_TAG);
        NT_TRY(check_switch(run, tag, error));
        if (tag) {
            const struct nt_alternative *alternative = &run->alternatives[tag - 1];
            if (index >= alternative->rows)
                return nt_fail(error, NT_CORRUPT, run->page->offset,
                               "row %" PRIu64 " of alternative %" PRIu32
                               " does not exist: the cluster has %" PRIu64,
                               index, tag, alternative->rows);
            row = alternative->base + index;
        }
        store_le64(output + i * 8, row);
    }
    return NT_OK;
}

nt_transform *nt_transform_of(enum nt_conversion conversion)
{
    static nt_transform *const transforms[NT_CONVERT_COUNT] = {
        [NT_CONVERT_VALUES] = make_values,   [NT_CONVERT_MEMBERS] = make_members,
        [NT_CONVERT_OFFSETS] = make_offsets, [NT_CONVERT_SIZES] = make_sizes,
        [NT_CONVERT_TAGS] = make_tags,       [NT_CONVERT_INDEX] = make_index,
    };
    return transforms[conversion];
}
