/* SPDX-License-Identifier: MIT
 *
 * In: what differs. Out: a call for it, and its count; values as JSON.
 */
#include "tools/difference.h"

#include <string.h>

#include "core/json/values.h"

const char *nt_diff_part_name(enum nt_diff_part part)
{
    static const char *const names[NT_DIFF_PARTS] = {
        [NT_DIFF_SCHEMA] = "schema", [NT_DIFF_VALUES] = "values", [NT_DIFF_LAYOUT] = "layout"};
    return names[part];
}

/* ---- telling ---- */

struct nt_difference nt_difference(enum nt_diff_part part, const char *property,
                                   const uint32_t fields[NT_DIFF_SIDES])
{
    return (struct nt_difference){.part = part,
                                  .property = property,
                                  .fields = {fields[0], fields[1]},
                                  .column = NT_NONE,
                                  .row = NT_DIFF_NOWHERE,
                                  .entry = NT_DIFF_NOWHERE,
                                  .element = NT_DIFF_NOWHERE,
                                  .byte = NT_DIFF_NOWHERE,
                                  .first_byte = NT_DIFF_NOWHERE};
}

void nt_diff_tell(struct nt_diffing *diffing, const struct nt_difference *difference)
{
    diffing->summary->differences[difference->part]++;
    diffing->options->on_difference(diffing->options->context, difference);
}

bool nt_diff_tell_words(struct nt_diffing *diffing, struct nt_difference difference, struct nt_text a,
                        struct nt_text b)
{
    if (nt_texts_are_equal(a, b))
        return false;
    difference.values[0] = (struct nt_diff_value){.kind = NT_DIFF_WORDS, .text = a};
    difference.values[1] = (struct nt_diff_value){.kind = NT_DIFF_WORDS, .text = b};
    nt_diff_tell(diffing, &difference);
    return true;
}

bool nt_diff_tell_numbers(struct nt_diffing *diffing, struct nt_difference difference, uint64_t a, uint64_t b)
{
    if (a == b)
        return false;
    difference.values[0] = (struct nt_diff_value){.kind = NT_DIFF_NUMBER, .number = a};
    difference.values[1] = (struct nt_diff_value){.kind = NT_DIFF_NUMBER, .number = b};
    nt_diff_tell(diffing, &difference);
    return true;
}

void nt_diff_tell_failure(struct nt_diffing *diffing, unsigned side, uint32_t field,
                          const struct nt_error *error)
{
    diffing->summary->failures++;
    diffing->options->on_failure(diffing->options->context, side, field, error);
}

/* ---- showing ---- */

void nt_json_diff_value(struct nt_json *json, const struct nt_diff_value *value)
{
    switch (value->kind) {
    case NT_DIFF_NOTHING:
        nt_json_null(json);
        break;
    case NT_DIFF_NUMBER:
        nt_json_unsigned(json, value->number);
        break;
    case NT_DIFF_WORDS:
    case NT_DIFF_TEXT:
        nt_json_bytes(json, value->text.bytes, value->text.length);
        break;
    case NT_DIFF_BYTES:
        nt_json_base64(json, (const uint8_t *)value->text.bytes, value->text.length);
        break;
    case NT_DIFF_ELEMENT:
        nt_json_element(json, value->dtype, value->element);
        break;
    }
}

/* Of numbers only those that are not one are shown by a word. */
bool nt_diff_values_look_alike(const struct nt_difference *difference)
{
    struct nt_buffer texts[NT_DIFF_SIDES] = {{0}};
    bool are_elements = true;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        struct nt_json json;
        nt_json_init(&json, &texts[side], true);
        nt_json_diff_value(&json, &difference->values[side]);
        are_elements &= difference->values[side].kind == NT_DIFF_ELEMENT;
    }
    bool are_alike = are_elements && texts[0].length == texts[1].length &&
                     memcmp(nt_buffer_string(&texts[0]), nt_buffer_string(&texts[1]), texts[0].length) == 0;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
        nt_buffer_deinit(&texts[side]);
    return are_alike;
}

void nt_append_diff_bits(struct nt_buffer *out, const struct nt_diff_value *value)
{
    uint32_t count = value->dtype->bytes;
    for (uint32_t i = 0; i < count; i++)
        nt_buffer_format(out, "%02x", value->element[value->dtype->is_big_endian ? i : count - 1 - i]);
}
