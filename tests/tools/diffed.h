/* SPDX-License-Identifier: MIT
 *
 * Compares two datasets of a test, and formats the result as lines.
 */
#pragma once

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset_builder.h"
#include "core/model/model.h"
#include "support.h"
#include "tools/tools.h"
#include "core/base/memory.h"
#include "core/json/json.h"

struct reported {
    struct builder *builders[NT_DIFF_SIDES];
    struct nt_buffer lines[NT_DIFF_PARTS], failures;
    struct nt_diff_summary summary;
    uint64_t progress, total;
};

static inline void put_location(struct nt_buffer *out, const char *before, uint64_t number, const char *after)
{
    if (number != NT_DIFF_NOWHERE)
        nt_buffer_append_format(out, "%s%" PRIu64 "%s", before, number, after);
}

static inline void keep_difference(void *context, const struct nt_difference *difference)
{
    struct reported *reported = context;
    struct nt_buffer *out = &reported->lines[difference->part];
    unsigned side = difference->fields[0] == NT_NONE;
    if (difference->fields[side] != NT_NONE)
        nt_append_field_path(out, reported->builders[side]->dataset, difference->fields[side]);
    put_location(out, "[", difference->row, "]");
    put_location(out, "[", difference->element, "]");
    put_location(out, " of ", difference->entry, "");
    put_location(out, " at ", difference->byte, "");
    put_location(out, " from ", difference->first_byte, "");
    nt_buffer_append_format(out, " %s%s", difference->is_obstacle ? "not compared: " : "",
                            difference->property);
    for (unsigned i = 0; i < NT_DIFF_SIDES; i++) {
        struct nt_json json;
        nt_buffer_append_string(out, i ? " | " : ": ");
        nt_json_init(&json, out, true);
        nt_json_diff_value(&json, &difference->values[i]);
        if (nt_diff_values_look_alike(difference))
            nt_append_diff_bits(out, &difference->values[i]);
    }
    nt_buffer_append_byte(out, '\n');
}

static inline void keep_failure(void *context, unsigned side, uint32_t field, const struct nt_error *error)
{
    struct reported *reported = context;
    nt_buffer_append_format(&reported->failures, "%u %d %s\n", side, field == NT_NONE ? -1 : (int)field,
                            error->message);
}

static inline void keep_progress(void *context, uint64_t bytes, uint64_t total)
{
    struct reported *reported = context;
    ck_assert_uint_ge(bytes, reported->progress);
    reported->progress = bytes;
    reported->total = total;
}

static inline void diff_fields(struct reported *reported, struct builder *a, struct builder *b,
                               uint32_t field)
{
    struct nt_error error;
    const struct nt_diff_options options = {.parts = {true, true, true},
                                            .on_difference = keep_difference,
                                            .on_failure = keep_failure,
                                            .on_progress = keep_progress,
                                            .context = reported};
    *reported = (struct reported){.builders = {a, b}};
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        struct nt_dataset *dataset = reported->builders[side]->dataset;
        if (!dataset->format)
            dataset->format = dataset->version = dataset->generation = "built";
    }
    const struct nt_diff_side sides[] = {{a->reader, a->dataset, field}, {b->reader, b->dataset, field}};
    assert_ok(nt_diff(sides, &options, &reported->summary, &error));
    for (int part = 0; part < NT_DIFF_PARTS; part++) {
        uint64_t lines = 0;
        for (size_t i = 0; i < reported->lines[part].length; i++)
            lines += reported->lines[part].bytes[i] == '\n';
        uint64_t not_compared = part == NT_DIFF_VALUES ? reported->summary.not_compared : 0;
        ck_assert_uint_eq(lines, reported->summary.differences[part] + not_compared);
    }
}

static inline void diff(struct reported *reported, struct builder *a, struct builder *b)
{
    diff_fields(reported, a, b, NT_NONE);
}

static inline void forget(struct reported *reported)
{
    for (int part = 0; part < NT_DIFF_PARTS; part++)
        nt_buffer_deinit(&reported->lines[part]);
    nt_buffer_deinit(&reported->failures);
}

static inline void check_reported(struct reported *reported, const char *schema, const char *values,
                                  const char *failures)
{
    ck_assert_str_eq(nt_buffer_string(&reported->lines[NT_DIFF_SCHEMA]), schema);
    ck_assert_str_eq(nt_buffer_string(&reported->lines[NT_DIFF_VALUES]), values);
    ck_assert_msg(strstr(nt_buffer_string(&reported->failures), failures) &&
                      !*failures == !reported->failures.length,
                  "no '%s' in: %s", failures, nt_buffer_string(&reported->failures));
}

/* Compares, checks, and closes both. */
static inline void check_diff(struct builder *a, struct builder *b, const char *schema, const char *values)
{
    struct reported reported;
    diff(&reported, a, b);
    check_reported(&reported, schema, values, "");
    forget(&reported);
    builder_free(a);
    builder_free(b);
}

static inline struct nt_text text_of(const char *text)
{
    return (struct nt_text){text, strlen(text)};
}

static inline uint32_t add_named(struct builder *builder, uint32_t parent, const char *name,
                                 enum nt_field_kind kind, enum nt_element element)
{
    uint32_t field = add_field(builder, parent, kind, element);
    builder->fields[field].name = text_of(name);
    builder->fields[field].type = text_of(nt_field_kind_name(kind));
    return field;
}

/* Flips a bit of a page of the only group, loaded or not. */
static inline void damage(struct builder *builder, uint32_t page)
{
    builder->bytes.bytes[builder->pages[0][page].offset] ^= 1;
}
