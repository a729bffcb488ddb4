/* SPDX-License-Identifier: MIT
 *
 * Compares two datasets. Pairs their fields by name, level by level, and compares the schema properties
 * of each pair; then compares the values field by field, then the layout. Reports each difference
 * through a callback.
 */
#include "tools/tools.h"

/* ---- Field properties as text ---- */

typedef void put_property(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field);

static void put_type(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field)
{
    nt_buffer_append(out, dataset->fields[field].type.bytes, dataset->fields[field].type.length);
}

static void put_kind(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field)
{
    nt_buffer_append_string(out, nt_field_kind_name(dataset->fields[field].kind));
}

static void put_shape(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t index)
{
    const struct nt_field *field = &dataset->fields[index];
    if (!field->dimension_count && field->repetition)
        nt_buffer_append_format(out, "[%" PRIu64 "]", field->repetition);
    for (uint32_t i = 0; i < field->dimension_count; i++)
        nt_buffer_append_format(out, "%s%" PRIu64 "%s", i ? ", " : "[", field->dimensions[i],
                                i + 1 == field->dimension_count ? "]" : "");
    if (nt_field_is_fortran_order(field))
        nt_buffer_append_string(out, " in Fortran order");
}

static void put_dtype(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field)
{
    struct nt_dtype dtype;
    if (!nt_field_has_stream(&dataset->fields[field], NT_STREAM_DATA))
        return;
    nt_field_stream_dtype(dataset, field, NT_STREAM_DATA, &dtype);
    nt_buffer_append_string(out, dtype.numpy);
}

static void put_description(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field)
{
    const struct nt_text *text = &dataset->fields[field].description;
    nt_buffer_append(out, text->bytes, text->length);
}

static void put_source(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field)
{
    if (nt_field_source(&dataset->fields[field]) != NT_NONE)
        nt_append_field_path(out, dataset, nt_field_source(&dataset->fields[field]));
}

static void put_nullable(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field)
{
    nt_buffer_append_string(out, dataset->fields[field].is_nullable ? "true" : "false");
}

static const struct property {
    const char *name;
    put_property *put;
    bool is_of_schema;   /* set by the writer */
    bool is_of_elements; /* if it differs, elements have another meaning */
    bool is_of_rows;     /* likewise, for all sub-fields */
    bool is_of_numbers;  /* does not matter for integers, which are compared by their values */
} properties[] = {
    {"type", put_type, .is_of_schema = true},
    {"kind", put_kind, .is_of_elements = true, .is_of_rows = true, .is_of_numbers = true},
    {"shape", put_shape, .is_of_schema = true, .is_of_elements = true, .is_of_rows = true},
    {"dtype", put_dtype, .is_of_elements = true, .is_of_numbers = true},
    {"is_nullable", put_nullable, .is_of_schema = true, .is_of_elements = true},
    {"description", put_description, .is_of_schema = true},
    {"source", put_source, .is_of_schema = true},
};
enum { PROPERTIES = sizeof(properties) / sizeof(*properties) };

/* Sets the texts of the run. */
static enum nt_status put_both(struct nt_diff_run *run, put_property *put, const struct nt_field_pair *pair,
                               struct nt_error *error)
{
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        nt_buffer_clear(&run->texts[side]);
        put(&run->texts[side], run->sides[side].dataset, pair->fields[side]);
        NT_TRY(nt_check_memory(!run->texts[side].failed, error));
    }
    return NT_OK;
}

static struct nt_text text_of(const struct nt_buffer *buffer)
{
    return (struct nt_text){nt_buffer_string(buffer), buffer->length};
}

static bool are_equal(const struct nt_buffer texts[NT_DIFF_SIDES])
{
    return nt_texts_are_equal(text_of(&texts[0]), text_of(&texts[1]));
}

/* ---- Compare two datasets ---- */

struct diff {
    struct nt_diff_run run;
    struct nt_field_pair *pairs;
    size_t pair_count, pair_capacity;
    struct nt_stream_pair *streams; /* of each compared pair, in sequence */
    size_t stream_count, stream_capacity;
    bool *items_differ; /* [field of A]: a different number of items was reported */
    bool entries_differ;
};

static const uint32_t of_no_field[NT_DIFF_SIDES] = {NT_NONE, NT_NONE};

/* ---- Pairs ---- */

/* The siblings on one side and the places of their partners. */
struct diff_siblings {
    const uint32_t *fields;
    uint32_t count;
    struct nt_field_names names;
    uint32_t *partners; /* [position]; NT_NONE: none */
};

static enum nt_status sort_siblings(const struct nt_dataset *dataset, struct diff_siblings *siblings,
                                    struct nt_error *error)
{
    siblings->partners = calloc((size_t)siblings->count + 1, sizeof(*siblings->partners));
    NT_TRY(nt_check_memory(siblings->partners, error));
    for (uint32_t i = 0; i < siblings->count; i++)
        siblings->partners[i] = NT_NONE;
    return nt_field_names_init(&siblings->names, dataset->fields, siblings->fields, siblings->count, error);
}

static void find_partners(struct diff_siblings *a, struct diff_siblings *b)
{
    for (uint32_t i = 0, k = 0; i < a->count && k < b->count;) {
        const struct nt_field_name *one = &a->names.sorted[i], *other = &b->names.sorted[k];
        int order = nt_texts_compare(one->text, other->text);
        if (order == 0) {
            a->partners[one->position] = other->position;
            b->partners[other->position] = one->position;
        }
        i += order <= 0;
        k += order >= 0;
    }
}

/* Is the field an array of numbers that also has them one by one, as its only sub-field? */
static bool is_array_of_numbers(const struct nt_field *field)
{
    return field->kind == NT_FIELD_VALUE && field->child_count == 1 && !nt_field_has_members(field);
}

/* Has one field all numbers of its arrays in one stream, and the other one only the items? */
static bool have_only_items(const struct nt_diff_run *run, const struct nt_field_pair *pair)
{
    const struct nt_field *a = &run->sides[0].dataset->fields[pair->fields[0]];
    const struct nt_field *b = &run->sides[1].dataset->fields[pair->fields[1]];
    return (is_array_of_numbers(a) && b->kind == NT_FIELD_ARRAY) ||
           (is_array_of_numbers(b) && a->kind == NT_FIELD_ARRAY);
}

/* The kind does not matter for arrays of which only the items are compared. */
static bool matters(const struct nt_diff_run *run, const struct property *property,
                    const struct nt_field_pair *pair)
{
    return property->put != put_kind || !have_only_items(run, pair);
}

/* Is the field's only sub-field an item, whose name each format chooses ("_0", "item")? */
static bool has_item(const struct nt_dataset *dataset, uint32_t field)
{
    if (field == NT_NONE || dataset->fields[field].child_count != 1)
        return false;
    enum nt_form form = nt_field_kind_info(dataset->fields[field].kind)->form;
    return form == NT_FORM_LIST || form == NT_FORM_FIXED_LIST || form == NT_FORM_OPTIONAL ||
           is_array_of_numbers(&dataset->fields[field]);
}

static enum nt_status add_pair(struct diff *diff, uint32_t a, uint32_t b, struct nt_error *error)
{
    NT_TRY(nt_check_memory(NT_GROW(diff->pairs, diff->pair_count, diff->pair_capacity), error));
    diff->pairs[diff->pair_count++] = (struct nt_field_pair){{a, b}};
    return NT_OK;
}

static enum nt_status add_with_below(struct diff *diff, uint32_t a, uint32_t b, struct nt_error *error);

/* Adds A's fields in their order, then those that only B has. */
static enum nt_status add_siblings(struct diff *diff, const struct diff_siblings *a,
                                   const struct diff_siblings *b, struct nt_error *error)
{
    for (uint32_t i = 0; i < a->count; i++)
        NT_TRY(a->partners[i] == NT_NONE
                   ? add_pair(diff, a->fields[i], NT_NONE, error)
                   : add_with_below(diff, a->fields[i], b->fields[a->partners[i]], error));
    for (uint32_t i = 0; i < b->count; i++)
        if (b->partners[i] == NT_NONE)
            NT_TRY(add_pair(diff, NT_NONE, b->fields[i], error));
    return NT_OK;
}

/* NT_NONE: the top-level fields. */
static enum nt_status match_below(struct diff *diff, uint32_t a, uint32_t b, struct nt_error *error)
{
    const struct nt_diff_side *sides = diff->run.sides;
    struct diff_siblings siblings[NT_DIFF_SIDES] = {{0}};
    const uint32_t parents[NT_DIFF_SIDES] = {a, b};
    enum nt_status status = NT_OK;
    for (unsigned side = 0; status == NT_OK && side < NT_DIFF_SIDES; side++) {
        const struct nt_dataset *dataset = sides[side].dataset;
        siblings[side].fields = nt_dataset_children(dataset, parents[side], &siblings[side].count);
        status = sort_siblings(dataset, &siblings[side], error);
    }
    if (status == NT_OK) {
        if (has_item(sides[0].dataset, a) && has_item(sides[1].dataset, b))
            siblings[0].partners[0] = siblings[1].partners[0] = 0;
        else
            find_partners(&siblings[0], &siblings[1]);
        status = add_siblings(diff, &siblings[0], &siblings[1], error);
    }
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        nt_field_names_deinit(&siblings[side].names);
        free(siblings[side].partners);
    }
    return status;
}

/* Do rows below both fields have the same meaning? */
static enum nt_status are_built_alike(struct nt_diff_run *run, const struct nt_field_pair *pair,
                                      bool *are_alike_ret, struct nt_error *error)
{
    *are_alike_ret = true;
    for (size_t i = 0; i < PROPERTIES && *are_alike_ret; i++)
        if (properties[i].is_of_rows && matters(run, &properties[i], pair)) {
            NT_TRY(put_both(run, properties[i].put, pair, error));
            *are_alike_ret = are_equal(run->texts);
        }
    return NT_OK;
}

/* Recursion is limited: fields nest no deeper than NT_MAX_DEPTH. */
static enum nt_status add_with_below(struct diff *diff, uint32_t a, uint32_t b, struct nt_error *error)
{
    bool goes_on;
    NT_TRY(add_pair(diff, a, b, error));
    NT_TRY(are_built_alike(&diff->run, &(struct nt_field_pair){{a, b}}, &goes_on, error));
    return goes_on ? match_below(diff, a, b, error) : NT_OK;
}

/* The fields of A in schema order; fields only in B follow their siblings. Sub-fields of differently
 * built fields are not listed. */
static enum nt_status find_pairs(struct diff *diff, struct nt_error *error)
{
    const struct nt_diff_side *sides = diff->run.sides;
    bool are_fields = sides[0].field != NT_NONE && sides[1].field != NT_NONE;
    return are_fields ? add_with_below(diff, sides[0].field, sides[1].field, error)
                      : match_below(diff, NT_NONE, NT_NONE, error);
}

/* ---- Differences ---- */

static bool is_unpaired(const struct nt_field_pair *pair)
{
    return pair->fields[0] == NT_NONE || pair->fields[1] == NT_NONE;
}

/* Reports a field that only one side has, with its type. */
static void report_unpaired(struct nt_diff_run *run, const struct nt_field_pair *pair)
{
    unsigned side = pair->fields[0] == NT_NONE;
    const struct nt_field *field = &run->sides[side].dataset->fields[pair->fields[side]];
    struct nt_difference difference = nt_difference(NT_DIFF_SCHEMA, "field", pair->fields);
    difference.values[side].kind = NT_DIFF_WORDS;
    difference.values[side].text =
        field->type.length ? field->type : nt_text_of(nt_field_kind_name(field->kind));
    nt_diff_report(run, &difference);
}

/* Reports how the schemas of a pair's fields differ. */
static enum nt_status diff_field(struct nt_diff_run *run, const struct nt_field_pair *pair,
                                 struct nt_error *error)
{
    for (size_t i = 0; i < PROPERTIES; i++) {
        if (!properties[i].is_of_schema)
            continue;
        NT_TRY(put_both(run, properties[i].put, pair, error));
        nt_diff_report_texts(run, nt_difference(NT_DIFF_SCHEMA, properties[i].name, pair->fields));
    }
    return NT_OK;
}

/* A value or the number of items, in the machine's byte order. */
static bool is_integer(const struct nt_field *field)
{
    static const bool are_integers[NT_ELEMENT_COUNT] = {
        [NT_ELEMENT_INT8] = true,   [NT_ELEMENT_UINT8] = true, [NT_ELEMENT_INT16] = true,
        [NT_ELEMENT_UINT16] = true, [NT_ELEMENT_INT32] = true, [NT_ELEMENT_UINT32] = true,
        [NT_ELEMENT_INT64] = true,  [NT_ELEMENT_UINT64] = true};
    return (field->kind == NT_FIELD_VALUE || field->kind == NT_FIELD_CARDINALITY) &&
           are_integers[field->dtype.element] && field->dtype.number == field->dtype.element &&
           !field->dtype.is_big_endian;
}

bool nt_diff_are_integers(const struct nt_diff_side *sides, const struct nt_field_pair *pair)
{
    return is_integer(&sides[0].dataset->fields[pair->fields[0]]) &&
           is_integer(&sides[1].dataset->fields[pair->fields[1]]);
}

/* Can the fields be compared element by element? If not, reports that. */
static enum nt_status diff_check_elements(struct nt_diff_run *run, const struct nt_field_pair *pair,
                                          bool *are_alike_ret, struct nt_error *error)
{
    bool are_integers = nt_diff_are_integers(run->sides, pair);
    *are_alike_ret = true;
    for (size_t i = 0; i < PROPERTIES && *are_alike_ret; i++) {
        if (!properties[i].is_of_elements || (are_integers && properties[i].is_of_numbers) ||
            !matters(run, &properties[i], pair))
            continue;
        NT_TRY(put_both(run, properties[i].put, pair, error));
        struct nt_difference difference = nt_difference(NT_DIFF_VALUES, properties[i].name, pair->fields);
        difference.is_obstacle = true;
        *are_alike_ret = !nt_diff_report_texts(run, difference);
    }
    return NT_OK;
}

/* Are both fields projections of fields with the same path? Then those report the differences. */
static enum nt_status diff_is_shown_elsewhere(struct nt_diff_run *run, const struct nt_field_pair *pair,
                                              bool *is_shown_ret, struct nt_error *error)
{
    NT_TRY(put_both(run, put_source, pair, error));
    *is_shown_ret = run->texts[0].length && are_equal(run->texts);
    return NT_OK;
}

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
    if (difference->is_obstacle)
        run->summary->not_compared++;
    else
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

bool nt_diff_report_texts(struct nt_diff_run *run, struct nt_difference difference)
{
    return nt_diff_report_words(run, difference, text_of(&run->texts[0]), text_of(&run->texts[1]));
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
    bool are_alike = are_elements && are_equal(texts);
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
        nt_buffer_deinit(&texts[side]);
    return are_alike;
}

void nt_append_diff_bits(struct nt_buffer *out, const struct nt_diff_value *value)
{
    uint32_t count = value->dtype->bytes;
    for (uint32_t i = 0; i < count; i++)
        nt_buffer_append_format(out, "%02x", value->element[value->dtype->is_big_endian ? i : count - 1 - i]);
}

/* ---- Schema ---- */

/* Fields that only one side has are reported, whichever parts are compared: nothing else of them is. */
static enum nt_status diff_schema(struct diff *diff, struct nt_error *error)
{
    struct nt_diff_run *run = &diff->run;
    bool is_whole = run->options->parts[NT_DIFF_SCHEMA];
    if (is_whole && run->sides[0].field == NT_NONE)
        nt_diff_report_words(run, nt_difference(NT_DIFF_SCHEMA, "description", of_no_field),
                             run->sides[0].dataset->description, run->sides[1].dataset->description);
    for (size_t i = 0; i < diff->pair_count; i++)
        if (is_unpaired(&diff->pairs[i]))
            report_unpaired(run, &diff->pairs[i]);
        else if (is_whole)
            NT_TRY(diff_field(run, &diff->pairs[i], error));
    return NT_OK;
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
                return nt_fail_copy(error, &failure);
            if (status == NT_OK)
                continue;
            nt_name_group(dataset, i, &failure);
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
        NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
        struct nt_error failure;
        if (!field->unreadable)
            continue;
        nt_append_field_path(&path, dataset, pair->fields[side]);
        NT_TRY(nt_check_memory(!path.failed, error));
        nt_fail(&failure, NT_UNSUPPORTED, NT_NO_OFFSET, "field %s cannot be read: %s",
                nt_buffer_string(&path), field->unreadable);
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
        NT_TRY(nt_check_memory(NT_GROW(diff->streams, diff->stream_count, diff->stream_capacity), error));
        diff->streams[diff->stream_count++] = (struct nt_stream_pair){
            .fields = {pair->fields[0], pair->fields[1]}, .kind = (enum nt_stream_kind)kind};
    }
    return NT_OK;
}

/* A structure's values are those of its members; the bytes between them are not values. Of arrays that have
 * only their items in common, these are compared. */
static enum nt_status choose_streams(struct diff *diff, const struct nt_field_pair *pair,
                                     struct nt_error *error)
{
    bool are_readable = false, are_alike = false, is_shown = false, have_items = false;
    if (!is_unpaired(pair))
        NT_TRY(check_readable(diff, pair, &are_readable, error));
    if (are_readable && have_only_items(&diff->run, pair))
        NT_TRY(are_built_alike(&diff->run, pair, &have_items, error));
    if (are_readable && !have_items)
        NT_TRY(diff_check_elements(&diff->run, pair, &are_alike, error));
    if (are_alike)
        NT_TRY(diff_is_shown_elsewhere(&diff->run, pair, &is_shown, error));
    if (!are_alike || is_shown || nt_field_has_members(&diff->run.sides[0].dataset->fields[pair->fields[0]]))
        return NT_OK;
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
                                                    NT_COUNTED_ITEMS, &counts[side], &failure);
        if (nt_is_transient(status))
            return nt_fail_copy(error, &failure);
        if (nt_is_environmental(status))
            nt_diff_report_failure(&diff->run, side, pair->fields[side], &failure);
        if (status != NT_OK)
            return NT_OK;
    }
    diff->items_differ[pair->fields[0]] = nt_diff_report_numbers(
        &diff->run, nt_difference(NT_DIFF_VALUES, "items", pair->fields), counts[0], counts[1]);
    return NT_OK;
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

/* Reports the results for the streams of a field. */
static enum nt_status report_field(struct diff *diff, const struct nt_stream_pair *streams, size_t count,
                                   struct nt_error *error)
{
    const struct nt_field_pair pair = {{streams->fields[0], streams->fields[1]}};
    uint32_t above = nt_field_row_parent(diff->run.sides[0].dataset, streams->fields[0]);
    enum nt_status status = diff_items(diff, &pair, error);
    if (status == NT_OK)
        status = nt_diff_report_value(&diff->run, streams, count, error);
    bool is_count_reported = above == NT_NONE ? diff->entries_differ : diff->items_differ[above];
    if (status == NT_OK && !is_count_reported)
        diff_elements(diff, streams, count);
    for (size_t i = 0; i < count; i++)
        for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
            if (streams[i].failures[side])
                nt_diff_report_failure(&diff->run, side, streams[i].fields[side], streams[i].failures[side]);
    return status;
}

static enum nt_status report_all_fields(struct diff *diff, struct nt_error *error)
{
    for (size_t first = 0, end; first < diff->stream_count; first = end) {
        end = first + 1;
        while (end < diff->stream_count && diff->streams[end].fields[0] == diff->streams[first].fields[0])
            end++;
        NT_TRY(report_field(diff, diff->streams + first, end - first, error));
    }
    return NT_OK;
}

static enum nt_status diff_values(struct diff *diff, struct nt_error *error)
{
    struct nt_diff_run *run = &diff->run;
    diff->items_differ = calloc((size_t)run->sides[0].dataset->field_count + 1, sizeof(*diff->items_differ));
    NT_TRY(nt_check_memory(diff->items_differ, error));
    diff->entries_differ = nt_diff_report_numbers(run, nt_difference(NT_DIFF_VALUES, "entries", of_no_field),
                                                  nt_dataset_entries(run->sides[0].dataset),
                                                  nt_dataset_entries(run->sides[1].dataset));
    for (size_t i = 0; i < diff->pair_count; i++)
        NT_TRY(choose_streams(diff, &diff->pairs[i], error));
    NT_TRY(nt_diff_streams(run, diff->streams, diff->stream_count, error));
    return report_all_fields(diff, error);
}

static void diff_deinit(struct diff *diff)
{
    nt_stream_pairs_free(diff->streams, diff->stream_count);
    free(diff->items_differ);
    free(diff->pairs);
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
        nt_buffer_deinit(&diff->run.texts[side]);
}

enum nt_status nt_diff(const struct nt_diff_side sides[NT_DIFF_SIDES], const struct nt_diff_options *options,
                       struct nt_diff_summary *summary, struct nt_error *error)
{
    NT_CLEANUP(diff_deinit)
    struct diff diff = {.run = {.sides = sides, .options = options, .summary = summary}};
    const bool *parts = options->parts;
    bool are_good = true;
    *summary = (struct nt_diff_summary){0};
    NT_TRY(find_pairs(&diff, error));
    summary->fields = diff.pair_count;
    NT_TRY(diff_schema(&diff, error));
    if (parts[NT_DIFF_VALUES] || parts[NT_DIFF_LAYOUT])
        NT_TRY(load_groups(&diff, &are_good, error));
    if (parts[NT_DIFF_VALUES] && are_good)
        NT_TRY(diff_values(&diff, error));
    return parts[NT_DIFF_LAYOUT] ? nt_diff_layout(&diff.run, diff.pairs, diff.pair_count, error) : NT_OK;
}
