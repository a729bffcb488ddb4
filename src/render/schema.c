/* SPDX-License-Identifier: MIT
 *
 * The schema of a dataset as indented text (schema.txt, `ntuple schema`) and as JSON.
 */
#include "render/render.h"

enum { LINES_PER_PIECE = 256, INDENT = 2, GAP = 2, WIDEST_NAME = 40, WIDEST_TYPE = 48, PATH_SHOWN = 1024 };

/* ---- Fields in display order ---- */

struct schema_level {
    const uint32_t *fields;
    uint32_t count, next;
};

struct schema_walk {
    const struct nt_dataset *dataset;
    struct schema_level levels[NT_MAX_DEPTH + 2];
    size_t depth;
    uint32_t *roots; /* the fields of the first level, from malloc; NULL: those of the dataset */
    uint32_t root_count;
    uint32_t *shown; /* see nt_shown_fields */
};

/* Returns the children to show: the sub-fields, or those of a nameless item. */
static const uint32_t *shown_below(const struct nt_dataset *dataset, uint32_t field, uint32_t *count_ret)
{
    while (nt_field_has_nameless_item(&dataset->fields[field]))
        field = *nt_dataset_children(dataset, field, count_ret);
    return nt_dataset_children(dataset, field, count_ret);
}

/* Is it a collection whose contents are shown by projected fields? */
static bool is_shown_elsewhere(const struct schema_walk *walk, uint32_t field)
{
    return walk->dataset->fields[field].parent == NT_NONE && walk->shown[field] != field;
}

static void start(struct schema_walk *walk)
{
    struct schema_level *top = &walk->levels[0];
    *top = (struct schema_level){.fields = walk->roots, .count = walk->root_count};
    if (!walk->roots)
        top->fields = nt_dataset_children(walk->dataset, NT_NONE, &top->count);
    walk->depth = 1;
}

/* Returns the next field, NT_NONE at the end. */
static uint32_t step(struct schema_walk *walk, size_t *depth_ret)
{
    while (walk->depth && walk->levels[walk->depth - 1].next == walk->levels[walk->depth - 1].count)
        walk->depth--;
    if (!walk->depth)
        return NT_NONE;
    struct schema_level *level = &walk->levels[walk->depth - 1], below = {.next = 0};
    uint32_t field = level->fields[level->next++];
    *depth_ret = walk->depth;
    below.fields = shown_below(walk->dataset, field, &below.count);
    bool is_left_out = !walk->roots && is_shown_elsewhere(walk, field); /* the user did not ask for it */
    if (below.count && !is_left_out)
        walk->levels[walk->depth++] = below;
    return field;
}

/* ---- Items ---- */

static bool has_items(const struct nt_field *field)
{
    return nt_field_kind_info(field->kind)->below == NT_BELOW_INDEX;
}

/* Sets *known_ret to false if the file is damaged. Returns only environmental errors. */
static enum nt_status count_items(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                  uint64_t *count_ret, bool *known_ret, struct nt_error *error)
{
    enum nt_status status = nt_row_counts_total(reader, dataset, field, NT_COUNTED_ITEMS, count_ret, error);
    *known_ret = status == NT_OK;
    return nt_is_environmental(status) ? status : NT_OK;
}

/* ---- Lines ---- */

struct schema_lines {
    struct nt_text_generator text;
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    struct schema_walk walk;
    int name_width, type_width;
    bool has_heading;
};

static int width_of(const struct nt_buffer *text)
{
    return nt_text_width((struct nt_text){text->bytes, text->length});
}

/* Appends a text, padded to a width, and the gap between columns. */
static void put_cell(struct nt_buffer *out, struct nt_text text, int width)
{
    struct nt_buffer printable = {0};
    nt_append_printable(&printable, text.bytes, text.length);
    nt_buffer_append(out, printable.bytes, printable.length);
    int padding = width - width_of(&printable);
    nt_buffer_append_format(out, "%*s", (padding > 0 ? padding : 0) + GAP, "");
    nt_buffer_deinit_part(&printable, out);
}

/* Appends "1536 items"; for nested lists "1536 / 40000 items". */
static enum nt_status put_items(struct schema_lines *lines, uint32_t field, struct nt_buffer *out,
                                struct nt_error *error)
{
    struct nt_dataset *dataset = lines->dataset;
    const char *separator = "";
    uint64_t items = 0;
    uint32_t count;
    bool is_known;
    for (;; field = *nt_dataset_children(dataset, field, &count)) {
        if (has_items(&dataset->fields[field])) {
            NT_TRY(count_items(lines->reader, dataset, field, &items, &is_known, error));
            if (is_known)
                nt_buffer_append_format(out, "%s%" PRIu64, separator, items);
            else
                nt_buffer_append_format(out, "%s?", separator);
            separator = " / ";
        }
        if (!nt_field_has_nameless_item(&dataset->fields[field]))
            break;
    }
    if (*separator)
        nt_buffer_append_string(out, items == 1 ? " item  " : " items  ");
    return NT_OK;
}

/* Appends "stores Jet_pt, Jet_mass, nJet". */
static void put_projected(struct schema_lines *lines, uint32_t source, struct nt_buffer *out)
{
    enum { MAX_NAMES = 6 };
    const struct nt_dataset *dataset = lines->dataset;
    unsigned count = 0;
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        const struct nt_field *field = &dataset->fields[i];
        if (nt_field_source(field) != source || ++count > MAX_NAMES)
            continue;
        nt_buffer_append_string(out, count > 1 ? ", " : "stores ");
        nt_append_printable(out, field->name.bytes, field->name.length);
    }
    nt_buffer_append_string(out, count > MAX_NAMES ? ", \u2026  " : "  ");
}

/* Why the field, or its items, which have no line of their own, cannot be read; NULL: they can. */
static const char *reason_of(const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t count;
    while (nt_field_has_nameless_item(&dataset->fields[field]))
        field = *nt_dataset_children(dataset, field, &count);
    return dataset->fields[field].unreadable;
}

static void put_notes(struct schema_lines *lines, uint32_t index, struct nt_buffer *out)
{
    const char *reason = reason_of(lines->dataset, index);
    const struct nt_field *field = &lines->dataset->fields[index];
    if (is_shown_elsewhere(&lines->walk, index))
        put_projected(lines, index, out);
    if (nt_field_source(field) != NT_NONE && !is_shown_elsewhere(&lines->walk, nt_field_source(field))) {
        struct nt_buffer path = {0};
        nt_append_field_path(&path, lines->dataset, nt_field_source(field));
        nt_buffer_append_string(out, "shows ");
        nt_append_printable(out, path.bytes, path.length);
        nt_buffer_append_string(out, "  ");
        nt_buffer_deinit_part(&path, out);
    }
    if (field->is_nullable)
        nt_buffer_append_string(out, "nullable  ");
    if (reason)
        nt_buffer_append_format(out, "unreadable: %s  ", reason);
    nt_append_printable(out, field->description.bytes, field->description.length);
}

static enum nt_status put_field(struct schema_lines *lines, uint32_t index, size_t depth,
                                struct nt_buffer *out, struct nt_error *error)
{
    const struct nt_field *field = &lines->dataset->fields[index];
    int indent = (int)depth * INDENT;
    nt_buffer_append_format(out, "%*s", indent, "");
    put_cell(out, field->name, lines->name_width - indent);
    put_cell(out, field->type, lines->type_width);
    enum nt_status status = put_items(lines, index, out, error);
    for (uint32_t i = 0; i < field->dimension_count; i++)
        nt_buffer_append_format(out, "%s%" PRIu64, i ? ", " : "[", field->dimensions[i]);
    nt_buffer_append_string(out, field->dimension_count ? "]  " : "");
    put_notes(lines, index, out);
    while (out->length && out->bytes[out->length - 1] == ' ')
        out->length--;
    nt_buffer_append_byte(out, '\n');
    return status;
}

static void put_heading(const struct nt_dataset *dataset, struct nt_buffer *out)
{
    char path[PATH_SHOWN];
    size_t length = nt_dataset_path(dataset, path, sizeof(path));
    out->failed |= !length;
    nt_append_printable(out, path, length < sizeof(path) ? length : sizeof(path) - 1);
    nt_buffer_append_format(out, ": %" PRIu64 " entries, %s %s", nt_dataset_entries(dataset), dataset->format,
                            dataset->version);
    if (dataset->writer.length) {
        nt_buffer_append_string(out, ", ");
        nt_append_printable(out, dataset->writer.bytes, dataset->writer.length);
    }
    if (dataset->description.length) {
        nt_buffer_append_string(out, "  ");
        nt_append_printable(out, dataset->description.bytes, dataset->description.length);
    }
    nt_buffer_append_byte(out, '\n');
}

static enum nt_status next_lines(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
                                 struct nt_error *error)
{
    struct schema_lines *lines = (struct schema_lines *)text;
    uint32_t field = NT_NONE;
    size_t depth;
    if (!lines->has_heading)
        put_heading(lines->dataset, out);
    lines->has_heading = true;
    for (unsigned i = 0; i < LINES_PER_PIECE && (field = step(&lines->walk, &depth)) != NT_NONE; i++)
        NT_TRY(put_field(lines, field, depth, out, error));
    *more_ret = field != NT_NONE;
    return nt_check_memory(!out->failed, error);
}

/* Widens a column for a text, up to a maximum. */
static void widen(int *width, struct nt_text text, int indent, int limit, struct nt_buffer *printable)
{
    nt_buffer_clear(printable);
    nt_append_printable(printable, text.bytes, text.length);
    int found = width_of(printable) + indent;
    if (found > *width && found <= limit)
        *width = found;
}

static enum nt_status measure(struct schema_lines *lines, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer printable = {0};
    uint32_t field;
    size_t depth;
    start(&lines->walk);
    while ((field = step(&lines->walk, &depth)) != NT_NONE) {
        const struct nt_field *of = &lines->dataset->fields[field];
        widen(&lines->name_width, of->name, (int)depth * INDENT, WIDEST_NAME, &printable);
        NT_TRY(nt_check_memory(!printable.failed, error));
        widen(&lines->type_width, of->type, 0, WIDEST_TYPE, &printable);
        NT_TRY(nt_check_memory(!printable.failed, error));
    }
    start(&lines->walk);
    return NT_OK;
}

static void free_lines(struct nt_text_generator *text)
{
    struct schema_lines *lines = (struct schema_lines *)text;
    free(lines->walk.roots);
    free(lines->walk.shown);
    free(lines);
}

enum nt_status nt_schema_lines(struct nt_reader *reader, struct nt_dataset *dataset, const uint32_t *fields,
                               uint32_t count, struct nt_text_generator **text_ret, struct nt_error *error)
{
    struct schema_lines *lines = calloc(1, sizeof(*lines));
    NT_TRY(nt_check_memory(lines, error));
    lines->text = (struct nt_text_generator){.next = next_lines, .free = free_lines};
    lines->reader = reader;
    lines->dataset = dataset;
    lines->walk.dataset = dataset;
    lines->walk.root_count = count;
    if (fields)
        lines->walk.roots = calloc((size_t)count + 1, sizeof(*fields));
    for (uint32_t i = 0; lines->walk.roots && i < count; i++)
        lines->walk.roots[i] = fields[i];
    enum nt_status status = !fields || lines->walk.roots ? nt_shown_fields(dataset, &lines->walk.shown, error)
                                                         : nt_fail_memory(error);
    if (status == NT_OK)
        status = measure(lines, error);
    if (status == NT_OK)
        *text_ret = &lines->text;
    else
        free_lines(&lines->text);
    return status;
}

/* ---- JSON ---- */

static enum nt_status put_json_items(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                     struct nt_json *json, struct nt_error *error)
{
    uint64_t count;
    bool is_known;
    enum nt_status status = count_items(reader, dataset, field, &count, &is_known, error);
    if (is_known)
        nt_json_member_unsigned(json, "items", count);
    else
        nt_json_member_null(json, "items");
    return status;
}

/* Recursive: fields nest no deeper than NT_MAX_DEPTH. */
static enum nt_status put_json_field(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t index,
                                     struct nt_json *json, struct nt_error *error)
{
    const struct nt_field *field = &dataset->fields[index];
    enum nt_status status = NT_OK;
    uint32_t count;
    nt_json_object(json);
    nt_json_member_text(json, "name", field->name);
    nt_json_member_text(json, "type", field->type);
    nt_json_member_string(json, "kind", nt_field_kind_name(field->kind));
    if (field->is_nullable)
        nt_json_member_bool(json, "is_nullable", true);
    if (field->description.length)
        nt_json_member_text(json, "description", field->description);
    if (has_items(field))
        status = put_json_items(reader, dataset, index, json, error);
    if (field->dimension_count) {
        nt_json_member_array(json, "dimensions");
        for (uint32_t i = 0; i < field->dimension_count; i++)
            nt_json_unsigned(json, field->dimensions[i]);
        nt_json_end_array(json);
    }
    if (nt_field_source(field) != NT_NONE)
        nt_json_member_field_path(json, "source", dataset, nt_field_source(field));
    if (field->unreadable)
        nt_json_member_string(json, "unreadable", field->unreadable);
    const uint32_t *below = nt_dataset_children(dataset, index, &count);
    if (count && status == NT_OK)
        status = nt_json_member_fields(reader, dataset, below, count, json, error);
    nt_json_end_object(json);
    return status;
}

enum nt_status nt_json_member_fields(struct nt_reader *reader, struct nt_dataset *dataset,
                                     const uint32_t *fields, uint32_t count, struct nt_json *json,
                                     struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (!fields)
        fields = nt_dataset_children(dataset, NT_NONE, &count);
    nt_json_member_array(json, "fields");
    for (uint32_t i = 0; i < count && status == NT_OK; i++)
        status = put_json_field(reader, dataset, fields[i], json, error);
    nt_json_end_array(json);
    return status;
}
