/* SPDX-License-Identifier: MIT
 *
 * Compares two datasets: the schema, then the values field by field, then the layout. Reports each
 * difference through a callback.
 */
#include "tools/tools.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/json/json.h"
#include "core/model/field.h"
#include "core/model/model.h"
#include "read/read.h"

/* ---- Report differences ---- */

const char *nt_diff_part_name(enum nt_diff_part part)
{
    static const char *const names[NT_DIFF_PARTS] = {
        [NT_DIFF_SCHEMA] = "schema", [NT_DIFF_VALUES] = "values", [NT_DIFF_LAYOUT] = "layout"};
    return names[part];
}

/* ---- Reporting ---- */

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

void nt_diff_report(struct nt_diff_run *run, const struct nt_difference *difference)
{
    run->summary->differences[difference->part]++;
    run->options->on_difference(run->options->context, difference);
}

bool nt_diff_report_words(struct nt_diff_run *run, struct nt_difference difference, struct nt_text a,
                          struct nt_text b)
{
    if (nt_texts_are_equal(a, b))
        return false;
    difference.values[0] = (struct nt_diff_value){.kind = NT_DIFF_WORDS, .text = a};
    difference.values[1] = (struct nt_diff_value){.kind = NT_DIFF_WORDS, .text = b};
    nt_diff_report(run, &difference);
    return true;
}

bool nt_diff_report_numbers(struct nt_diff_run *run, struct nt_difference difference, uint64_t a, uint64_t b)
{
    if (a == b)
        return false;
    difference.values[0] = (struct nt_diff_value){.kind = NT_DIFF_NUMBER, .number = a};
    difference.values[1] = (struct nt_diff_value){.kind = NT_DIFF_NUMBER, .number = b};
    nt_diff_report(run, &difference);
    return true;
}

void nt_diff_report_failure(struct nt_diff_run *run, unsigned side, uint32_t field,
                            const struct nt_error *error)
{
    run->summary->failures++;
    run->options->on_failure(run->options->context, side, field, error);
}

/* ---- Output ---- */

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

/* Equal texts mean NaNs: JSON has a word for them and all other numbers exactly. */
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

/* ---- Compare two datasets ---- */

static const uint32_t of_no_field[NT_DIFF_SIDES] = {NT_NONE, NT_NONE};

struct diff {
    struct nt_diff_run run;
    struct nt_field_pair *pairs;
    size_t pair_count;
    struct nt_stream_pair *streams; /* of each compared pair, in sequence */
    size_t stream_count, stream_capacity;
    bool *items_differ; /* [field of A]: a different number of items was reported */
    bool entries_differ;
};

static bool are_two(const struct nt_field_pair *pair)
{
    return pair->fields[0] != NT_NONE && pair->fields[1] != NT_NONE;
}

/* ---- Schema ---- */

static enum nt_status diff_schema(struct diff *diff, struct nt_error *error)
{
    struct nt_diff_run *run = &diff->run;
    enum nt_status status = NT_OK;
    if (run->sides[0].field == NT_NONE)
        nt_diff_report_words(run, nt_difference(NT_DIFF_SCHEMA, "description", of_no_field),
                             run->sides[0].dataset->description, run->sides[1].dataset->description);
    for (size_t i = 0; i < diff->pair_count && status == NT_OK; i++)
        status = nt_diff_field(run, &diff->pairs[i], error);
    return status;
}

/* ---- Page lists ---- */

/* Loads all page lists and reports unreadable ones. */
static enum nt_status load_groups(struct diff *diff, bool *are_good_ret, struct nt_error *error)
{
    *are_good_ret = true;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        struct nt_dataset *dataset = diff->run.sides[side].dataset;
        nt_groups_announce(dataset, nt_groups_of_field(dataset, NT_NONE));
        for (uint32_t i = 0; i < dataset->group_count; i++) {
            struct nt_error failure = {0};
            enum nt_status status = nt_dataset_load_group(dataset, i, &failure);
            if (nt_is_transient(status))
                return nt_fail_with(error, &failure);
            if (status == NT_OK)
                continue;
            nt_error_context(&failure, "page list of cluster group %" PRIu32, i);
            nt_diff_report_failure(&diff->run, side, NT_NONE, &failure);
            *are_good_ret = false;
        }
    }
    return NT_OK;
}

/* ---- Choice of streams ---- */

static enum nt_status check_readable(struct diff *diff, const struct nt_field_pair *pair,
                                     bool *are_readable_ret, struct nt_error *error)
{
    *are_readable_ret = true;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        const struct nt_dataset *dataset = diff->run.sides[side].dataset;
        const struct nt_field *field = &dataset->fields[pair->fields[side]];
        struct nt_buffer path = {0};
        struct nt_error failure;
        if (!field->unreadable)
            continue;
        nt_append_field_path(&path, dataset, pair->fields[side], '.');
        nt_fail(&failure, NT_UNSUPPORTED, NT_NO_OFFSET, "field %s cannot be read: %s",
                nt_buffer_string(&path), field->unreadable);
        bool has_memory = !path.failed;
        nt_buffer_deinit(&path);
        if (!has_memory)
            return nt_fail_memory(error);
        nt_diff_report_failure(&diff->run, side, pair->fields[side], &failure);
        *are_readable_ret = false;
    }
    return NT_OK;
}

static enum nt_status add_streams(struct diff *diff, const struct nt_field_pair *pair, struct nt_error *error)
{
    const struct nt_field *field = &diff->run.sides[0].dataset->fields[pair->fields[0]];
    for (unsigned kind = 0; kind < NT_STREAM_COUNT; kind++) {
        if (!nt_field_has_stream(field, (enum nt_stream_kind)kind))
            continue;
        struct nt_stream_pair *streams =
            nt_grow(diff->streams, diff->stream_count, &diff->stream_capacity, sizeof(*streams));
        if (!streams)
            return nt_fail_memory(error);
        diff->streams = streams;
        streams[diff->stream_count++] = (struct nt_stream_pair){.fields = {pair->fields[0], pair->fields[1]},
                                                                .kind = (enum nt_stream_kind)kind};
    }
    return NT_OK;
}

/* A structure's values are those of its members; the bytes between them are not values. */
static enum nt_status choose_streams(struct diff *diff, const struct nt_field_pair *pair,
                                     struct nt_error *error)
{
    bool are_readable = false, are_alike = false, is_shown = false;
    enum nt_status status = NT_OK;
    if (are_two(pair))
        status = check_readable(diff, pair, &are_readable, error);
    if (status == NT_OK && are_readable)
        status = nt_diff_check_elements(&diff->run, pair, &are_alike, error);
    if (status == NT_OK && are_alike)
        status = nt_diff_is_shown_elsewhere(diff->run.sides, pair, &is_shown, error);
    if (status != NT_OK || !are_alike || is_shown ||
        nt_field_has_members(&diff->run.sides[0].dataset->fields[pair->fields[0]]))
        return status;
    return add_streams(diff, pair, error);
}

/* ---- Counts ---- */

/* Compares the items of collections. If they differ, so do all counts below, which are not reported. If
 * the file prevents counting, the comparison of elements reports it. */
static enum nt_status diff_items(struct diff *diff, const struct nt_field_pair *pair, struct nt_error *error)
{
    uint64_t counts[NT_DIFF_SIDES];
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        const struct nt_diff_side *of = &diff->run.sides[side];
        const struct nt_field *field = &of->dataset->fields[pair->fields[side]];
        struct nt_error failure = {0};
        if (nt_field_kind_info(field->kind)->below != NT_BELOW_INDEX)
            return NT_OK;
        enum nt_status status = nt_row_counts_total(of->reader, of->dataset, pair->fields[side],
                                                    NT_ROWS_BELOW, &counts[side], &failure);
        if (nt_is_transient(status))
            return nt_fail_with(error, &failure);
        if (nt_is_environmental(status))
            nt_diff_report_failure(&diff->run, side, pair->fields[side], &failure);
        if (status != NT_OK)
            return NT_OK;
    }
    diff->items_differ[pair->fields[0]] = nt_diff_report_numbers(
        &diff->run, nt_difference(NT_DIFF_VALUES, "items", pair->fields), counts[0], counts[1]);
    return NT_OK;
}

/* Does a reported difference explain that of the field's rows? */
static bool is_count_reported(const struct diff *diff, uint32_t field)
{
    uint32_t above = nt_field_row_parent(diff->run.sides[0].dataset, field);
    return above == NT_NONE ? diff->entries_differ : diff->items_differ[above];
}

/* Reports elements that only one side has, for the first such stream. */
static void diff_elements(struct diff *diff, const struct nt_stream_pair *streams, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!streams[i].failures[0] && !streams[i].failures[1] &&
            nt_diff_report_numbers(&diff->run, nt_difference(NT_DIFF_VALUES, "elements", streams[i].fields),
                                   streams[i].elements[0], streams[i].elements[1]))
            return;
}

/* ---- Values ---- */

static void report_failures(struct diff *diff, const struct nt_stream_pair *streams, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
            if (streams[i].failures[side])
                nt_diff_report_failure(&diff->run, side, streams[i].fields[side], streams[i].failures[side]);
}

/* Reports the results for the streams of a field. */
static enum nt_status report_field(struct diff *diff, const struct nt_stream_pair *streams, size_t count,
                                   struct nt_error *error)
{
    const struct nt_field_pair pair = {{streams->fields[0], streams->fields[1]}};
    enum nt_status status = diff_items(diff, &pair, error);
    if (status == NT_OK)
        status = nt_diff_report_value(&diff->run, streams, count, error);
    if (status == NT_OK && !is_count_reported(diff, streams->fields[0]))
        diff_elements(diff, streams, count);
    report_failures(diff, streams, count);
    return status;
}

static enum nt_status report_all_fields(struct diff *diff, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    for (size_t first = 0, end; first < diff->stream_count && status == NT_OK; first = end) {
        end = first + 1;
        while (end < diff->stream_count && diff->streams[end].fields[0] == diff->streams[first].fields[0])
            end++;
        status = report_field(diff, diff->streams + first, end - first, error);
    }
    return status;
}

static enum nt_status diff_values(struct diff *diff, struct nt_error *error)
{
    struct nt_diff_run *run = &diff->run;
    enum nt_status status = NT_OK;
    diff->items_differ = calloc((size_t)run->sides[0].dataset->field_count + 1, sizeof(*diff->items_differ));
    if (!diff->items_differ)
        return nt_fail_memory(error);
    diff->entries_differ = nt_diff_report_numbers(run, nt_difference(NT_DIFF_VALUES, "entries", of_no_field),
                                                  nt_dataset_entries(run->sides[0].dataset),
                                                  nt_dataset_entries(run->sides[1].dataset));
    for (size_t i = 0; i < diff->pair_count && status == NT_OK; i++)
        status = choose_streams(diff, &diff->pairs[i], error);
    if (status == NT_OK)
        status = nt_diff_streams(run, diff->streams, diff->stream_count, error);
    if (status == NT_OK)
        status = report_all_fields(diff, error);
    return status;
}

/* ---- All parts ---- */

enum nt_status nt_diff(const struct nt_diff_side sides[NT_DIFF_SIDES], const struct nt_diff_options *options,
                       struct nt_diff_summary *summary, struct nt_error *error)
{
    struct diff diff = {.run = {.sides = sides, .options = options, .summary = summary}};
    const bool *parts = options->parts;
    bool are_good = true;
    *summary = (struct nt_diff_summary){0};
    enum nt_status status = nt_field_pairs(sides, &diff.pairs, &diff.pair_count, error);
    summary->fields = diff.pair_count;
    if (status == NT_OK && parts[NT_DIFF_SCHEMA])
        status = diff_schema(&diff, error);
    if (status == NT_OK && (parts[NT_DIFF_VALUES] || parts[NT_DIFF_LAYOUT]))
        status = load_groups(&diff, &are_good, error);
    if (status == NT_OK && parts[NT_DIFF_VALUES] && are_good)
        status = diff_values(&diff, error);
    if (status == NT_OK && parts[NT_DIFF_LAYOUT])
        status = nt_diff_layout(&diff.run, diff.pairs, diff.pair_count, error);
    nt_stream_pairs_free(diff.streams, diff.stream_count);
    free(diff.items_differ);
    free(diff.pairs);
    return status;
}
