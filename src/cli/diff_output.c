/* SPDX-License-Identifier: MIT
 *
 * In: differences. Out: lines such as "Events: values: muons/_0/pt[12] (entry 7): A 1.5, B 2.5", and objects.
 */
#include "cli/diff_output.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "core/model/path.h"
#include "render/json_values.h"

static const char *const side_names[NT_DIFF_SIDES] = {"A", "B"};
static const char *const side_keys[NT_DIFF_SIDES] = {"a", "b"};

/* ---- lines ---- */

static void append_printable(struct nt_buffer *out, const struct nt_buffer *text)
{
    nt_append_printable(out, nt_buffer_string(text), text->length);
    out->failed |= text->failed;
}

void nt_append_pair(struct nt_buffer *out, const struct nt_dataset_pair *pair)
{
    const char *a = pair->paths[0], *b = pair->paths[1];
    if (a)
        nt_append_printable(out, a, strlen(a));
    if (a && b && strcmp(a, b) == 0)
        return;
    if (a && b)
        nt_buffer_text(out, " and ");
    if (b)
        nt_append_printable(out, b, strlen(b));
}

/* The path of the fields; both where they were chosen by different names. */
static void append_fields(struct nt_buffer *out, const struct nt_dataset_pair *pair,
                          const struct nt_difference *difference)
{
    struct nt_buffer paths[NT_DIFF_SIDES] = {{0}};
    const char *separator = "";
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        if (difference->fields[side] == NT_NONE)
            continue;
        nt_append_field_path(&paths[side], pair->datasets[side], difference->fields[side], '/');
        if (side && paths[0].length == paths[1].length &&
            strcmp(nt_buffer_string(&paths[0]), nt_buffer_string(&paths[1])) == 0)
            continue;
        nt_buffer_text(out, separator);
        append_printable(out, &paths[side]);
        separator = " and ";
    }
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
        nt_buffer_deinit_part(&paths[side], out);
}

/* "muons/_0/pt[12] (entry 7), byte 3", "jets, column 0". */
static void append_place(struct nt_buffer *out, const struct nt_dataset_pair *pair,
                         const struct nt_difference *difference)
{
    append_fields(out, pair, difference);
    if (difference->column != NT_NONE)
        nt_buffer_format(out, ", column %" PRIu32, difference->column);
    if (difference->row == NT_DIFF_NOWHERE)
        return;
    nt_buffer_format(out, "[%" PRIu64 "]", difference->row);
    if (difference->element != NT_DIFF_NOWHERE)
        nt_buffer_format(out, "[%" PRIu64 "]", difference->element);
    if (difference->entry != NT_DIFF_NOWHERE && difference->entry != difference->row)
        nt_buffer_format(out, " (entry %" PRIu64 ")", difference->entry);
    if (difference->byte != NT_DIFF_NOWHERE)
        nt_buffer_format(out, ", byte %" PRIu64, difference->byte);
    if (difference->first_byte != NT_DIFF_NOWHERE)
        nt_buffer_format(out, ", shown from byte %" PRIu64 " on", difference->first_byte);
}

/* Texts of the schema stand as they are, values as JSON has them. */
static void append_value(struct nt_buffer *out, const struct nt_diff_value *value, bool has_bits)
{
    struct nt_buffer text = {0};
    if (value->kind == NT_DIFF_NOTHING || (value->kind == NT_DIFF_WORDS && !value->text.length)) {
        nt_buffer_text(out, "none");
    } else if (value->kind == NT_DIFF_WORDS) {
        nt_append_printable(out, value->text.bytes, value->text.length);
    } else {
        struct nt_json json;
        nt_json_init(&json, &text, true);
        nt_json_diff_value(&json, value);
        append_printable(out, &text);
    }
    if (has_bits) {
        nt_buffer_text(out, " (0x");
        nt_append_diff_bits(out, value);
        nt_buffer_byte(out, ')');
    }
    nt_buffer_deinit_part(&text, out);
}

/* A name of JSON as words. */
static void append_property(struct nt_buffer *out, const char *property)
{
    for (; *property; property++)
        nt_buffer_byte(out, *property == '_' ? ' ' : *property);
}

/* What of one side the other does not have. */
static void append_only(struct nt_buffer *out, const struct nt_difference *difference)
{
    unsigned side = difference->values[0].kind == NT_DIFF_NOTHING;
    nt_buffer_format(out, "%s only in %s, ", difference->property, side_names[side]);
    append_value(out, &difference->values[side], false);
}

static void append_both(struct nt_buffer *out, const struct nt_difference *difference)
{
    bool has_bits = nt_diff_values_look_alike(difference);
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        nt_buffer_format(out, "%s%s ", side ? ", " : "", side_names[side]);
        append_value(out, &difference->values[side], has_bits);
    }
}

void nt_append_difference(struct nt_buffer *out, const struct nt_dataset_pair *pair,
                          const struct nt_difference *difference)
{
    bool is_one_sided =
        (difference->values[0].kind == NT_DIFF_NOTHING) != (difference->values[1].kind == NT_DIFF_NOTHING);
    size_t before;
    nt_append_pair(out, pair);
    nt_buffer_format(out, ": %s: ", nt_diff_part_name(difference->part));
    before = out->length;
    append_place(out, pair, difference);
    if (out->length > before)
        nt_buffer_text(out, ": ");
    if (is_one_sided) {
        append_only(out, difference);
    } else {
        if (difference->part == NT_DIFF_VALUES && difference->values[0].kind == NT_DIFF_WORDS)
            nt_buffer_text(out, "not compared: ");
        if (strcmp(difference->property, "value") != 0) {
            append_property(out, difference->property);
            nt_buffer_text(out, ": ");
        }
        append_both(out, difference);
    }
    nt_buffer_byte(out, '\n');
}

/* ---- objects ---- */

static void put_number(struct nt_json *json, const char *key, uint64_t number)
{
    if (number != NT_DIFF_NOWHERE)
        nt_json_member_unsigned(json, key, number);
}

static void put_bits(struct nt_json *json, const struct nt_difference *difference)
{
    static const char *const keys[NT_DIFF_SIDES] = {"a_bits", "b_bits"};
    if (!nt_diff_values_look_alike(difference))
        return;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        struct nt_buffer bits = {0};
        nt_append_diff_bits(&bits, &difference->values[side]);
        nt_json_member_buffer(json, keys[side], &bits);
    }
}

/* By A's names where it has the field. */
static void put_field(struct nt_json *json, const struct nt_dataset_pair *pair,
                      const uint32_t fields[NT_DIFF_SIDES])
{
    unsigned side = fields[0] == NT_NONE;
    if (fields[side] != NT_NONE)
        nt_json_member_field_path(json, "field", pair->datasets[side], fields[side]);
}

void nt_json_difference(struct nt_json *json, const struct nt_dataset_pair *pair,
                        const struct nt_difference *difference)
{
    nt_json_object(json);
    nt_json_member_string(json, "finding", nt_diff_part_name(difference->part));
    put_field(json, pair, difference->fields);
    if (difference->column != NT_NONE)
        nt_json_member_unsigned(json, "column", difference->column);
    nt_json_member_string(json, "property", difference->property);
    put_number(json, "row", difference->row);
    put_number(json, "element", difference->element);
    put_number(json, "entry", difference->entry);
    put_number(json, "byte", difference->byte);
    put_number(json, "first_byte", difference->first_byte);
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        nt_json_key(json, side_keys[side]);
        nt_json_diff_value(json, &difference->values[side]);
    }
    put_bits(json, difference);
    nt_json_end_object(json);
}

void nt_json_diff_failure(struct nt_json *json, const struct nt_dataset_pair *pair, unsigned side,
                          uint32_t field, const struct nt_error *error)
{
    nt_json_object(json);
    nt_json_member_string(json, "finding", "failure");
    nt_json_member_string(json, "side", side_keys[side]);
    if (field != NT_NONE)
        nt_json_member_field_path(json, "field", pair->datasets[side], field);
    nt_json_failure_members(json, error);
    nt_json_end_object(json);
}
