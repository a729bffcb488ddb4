/* SPDX-License-Identifier: MIT
 *
 * The command diff: compares schema, values and layout of the datasets of two files, matched by path,
 * and prints the differences as lines or JSON.
 */
#include "cli/cli.h"

#include "tools/tools.h"

/* ---- Match datasets ---- */

/* A dataset on each side; `paths` (within the file) and `datasets` are NULL on a side without it. */
struct nt_dataset_pair {
    struct nt_dataset *datasets[NT_DIFF_SIDES];
    const char *paths[NT_DIFF_SIDES];
};

/* A dataset with the name used for matching. */
struct compared_dataset {
    struct nt_dataset *dataset;
    const char *path, *name;
    bool is_taken;
};

struct side {
    struct nt_arena *arena;
    struct compared_dataset *items;
    size_t count;
};

static char *path_of(struct nt_arena *arena, const struct nt_dataset *dataset)
{
    struct nt_buffer path = {0};
    nt_append_dataset_path(&path, dataset);
    return nt_buffer_to_arena(&path, arena);
}

/* The path below the scope; encodes slashes in names. */
static const char *below_scope(const struct nt_resolved_node *resolved, const char *path)
{
    uint32_t directory = resolved->dataset ? 0 : resolved->node.item;
    for (; directory && strchr(path, '/'); directory = resolved->file->directories[directory].parent)
        path = strchr(path, '/') + 1;
    return path;
}

static enum nt_exit_status add_dataset(void *context, const struct nt_resolved_node *resolved, uint32_t index,
                                       uint32_t field)
{
    struct side *side = context;
    struct compared_dataset *item = &side->items[side->count];
    item->dataset = resolved->file->datasets[index];
    item->path = path_of(side->arena, item->dataset);
    if (!item->path)
        return NT_EXIT_INTERNAL;
    item->name = below_scope(resolved, item->path);
    side->count++;
    return NT_EXIT_OK;
}

static bool list_datasets(const struct nt_resolved_node *resolved, struct side *side)
{
    side->items =
        nt_arena_alloc(side->arena, (size_t)resolved->file->dataset_count + 1, sizeof(*side->items));
    return side->items && nt_for_each_dataset(resolved, add_dataset, side) == NT_EXIT_OK;
}

/* The only dataset that counts: see nt_file_only. NULL: none or several. */
static const struct compared_dataset *only_one(const struct side *side)
{
    const struct compared_dataset *found = NULL;
    if (side->count == 1)
        return side->items;
    for (size_t i = 0; i < side->count; i++) {
        if (!nt_dataset_is_main(side->items[i].dataset))
            continue;
        if (found)
            return NULL;
        found = &side->items[i];
    }
    return found;
}

/* Strips a dataset's name from itself and from its attribute sets. */
static void leave_name_out(struct side *side, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < side->count; i++) {
        const char *other = side->items[i].name;
        if (strncmp(other, name, length) == 0 && (other[length] == '/' || other[length] == '\0'))
            side->items[i].name = other + length;
    }
}

/* Matches the datasets of two scopes by their paths below the scope. If each scope holds only one
 * (without older cycles and attribute sets), these match whatever their names. Pairs follow A's order,
 * then those that only B has. The arena owns them. False if out of memory. */
static bool dataset_pairs(const struct nt_resolved_node scopes[NT_DIFF_SIDES], struct nt_arena *arena,
                          struct nt_dataset_pair **pairs_ret, size_t *count_ret)
{
    struct side a = {.arena = arena}, b = {.arena = arena};
    if (!list_datasets(&scopes[0], &a) || !list_datasets(&scopes[1], &b))
        return false;
    struct nt_dataset_pair *pairs = nt_arena_alloc(arena, a.count + b.count + 1, sizeof(*pairs));
    const struct compared_dataset *only_a = only_one(&a), *only_b = only_one(&b);
    size_t count = 0;
    if (!pairs)
        return false;
    if (only_a && only_b) {
        leave_name_out(&a, only_a->name);
        leave_name_out(&b, only_b->name);
    }
    for (size_t i = 0; i < a.count; i++) {
        size_t k = 0;
        while (k < b.count && (b.items[k].is_taken || strcmp(b.items[k].name, a.items[i].name) != 0))
            k++;
        pairs[count] = (struct nt_dataset_pair){{a.items[i].dataset, NULL}, {a.items[i].path, NULL}};
        if (k < b.count) {
            b.items[k].is_taken = true;
            pairs[count].datasets[1] = b.items[k].dataset;
            pairs[count].paths[1] = b.items[k].path;
        }
        count++;
    }
    for (size_t i = 0; i < b.count; i++)
        if (!b.items[i].is_taken)
            pairs[count++] = (struct nt_dataset_pair){{NULL, b.items[i].dataset}, {NULL, b.items[i].path}};
    *pairs_ret = pairs;
    *count_ret = count;
    return true;
}

/* ---- Lines ---- */

static const char *const side_names[NT_DIFF_SIDES] = {"A", "B"};
static const char *const side_keys[NT_DIFF_SIDES] = {"a", "b"};

static void append_printable(struct nt_buffer *out, const struct nt_buffer *text)
{
    nt_append_printable(out, nt_buffer_string(text), text->length);
    out->failed |= text->failed;
}

/* Appends a pair's path, or both paths if they differ. */
static void append_pair(struct nt_buffer *out, const struct nt_dataset_pair *pair)
{
    const char *a = pair->paths[0], *b = pair->paths[1];
    if (a)
        nt_append_printable(out, a, strlen(a));
    if (a && b && strcmp(a, b) == 0)
        return;
    if (a && b)
        nt_buffer_append_string(out, " and ");
    if (b)
        nt_append_printable(out, b, strlen(b));
}

/* The path of the fields; both if the user chose them by different names. */
static void append_fields(struct nt_buffer *out, const struct nt_dataset_pair *pair,
                          const struct nt_difference *difference)
{
    struct nt_buffer paths[NT_DIFF_SIDES] = {{0}};
    const char *separator = "";
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        if (difference->fields[side] == NT_NONE)
            continue;
        nt_append_field_path(&paths[side], pair->datasets[side], difference->fields[side]);
        if (side && paths[0].length == paths[1].length &&
            strcmp(nt_buffer_string(&paths[0]), nt_buffer_string(&paths[1])) == 0)
            continue;
        nt_buffer_append_string(out, separator);
        append_printable(out, &paths[side]);
        separator = " and ";
    }
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
        nt_buffer_deinit_part(&paths[side], out);
}

/* "muons/_0/pt[12] (entry 7), byte 3", "jets, column 0". */
static void append_location(struct nt_buffer *out, const struct nt_dataset_pair *pair,
                            const struct nt_difference *difference)
{
    append_fields(out, pair, difference);
    if (difference->column != NT_NONE)
        nt_buffer_append_format(out, ", column %" PRIu32, difference->column);
    if (difference->row == NT_DIFF_NOWHERE)
        return;
    nt_buffer_append_format(out, "[%" PRIu64 "]", difference->row);
    if (difference->element != NT_DIFF_NOWHERE)
        nt_buffer_append_format(out, "[%" PRIu64 "]", difference->element);
    if (difference->entry != NT_DIFF_NOWHERE && difference->entry != difference->row)
        nt_buffer_append_format(out, " (entry %" PRIu64 ")", difference->entry);
    if (difference->byte != NT_DIFF_NOWHERE)
        nt_buffer_append_format(out, ", byte %" PRIu64, difference->byte);
    if (difference->first_byte != NT_DIFF_NOWHERE)
        nt_buffer_append_format(out, ", shown from byte %" PRIu64, difference->first_byte);
}

/* Schema texts are printed as they are, values as in JSON. */
static void append_value(struct nt_buffer *out, const struct nt_diff_value *value, bool has_bits)
{
    struct nt_buffer text = {0};
    if (value->kind == NT_DIFF_NOTHING || (value->kind == NT_DIFF_WORDS && !value->text.length)) {
        nt_buffer_append_string(out, "none");
    } else if (value->kind == NT_DIFF_WORDS) {
        nt_append_printable(out, value->text.bytes, value->text.length);
    } else {
        struct nt_json json;
        nt_json_init(&json, &text, true);
        nt_json_diff_value(&json, value);
        append_printable(out, &text);
    }
    if (has_bits) {
        nt_buffer_append_string(out, " (0x");
        nt_append_diff_bits(out, value);
        nt_buffer_append_byte(out, ')');
    }
    nt_buffer_deinit_part(&text, out);
}

/* Appends a line for a difference of a pair of datasets. */
static void append_difference(struct nt_buffer *out, const struct nt_dataset_pair *pair,
                              const struct nt_difference *difference)
{
    const struct nt_diff_value *values = difference->values;
    const char *property = difference->property;
    append_pair(out, pair);
    nt_buffer_append_format(out, ": %s: ", nt_diff_part_name(difference->part));
    size_t before = out->length;
    append_location(out, pair, difference);
    if (out->length > before)
        nt_buffer_append_string(out, ": ");
    if ((values[0].kind == NT_DIFF_NOTHING) != (values[1].kind == NT_DIFF_NOTHING)) {
        unsigned side = values[0].kind == NT_DIFF_NOTHING;
        nt_buffer_append_format(out, "%s only in %s, ", property, side_names[side]);
        append_value(out, &values[side], false);
        nt_buffer_append_byte(out, '\n');
        return;
    }
    bool has_bits = nt_diff_values_look_alike(difference), has_property = strcmp(property, "value") != 0;
    if (difference->is_obstacle)
        nt_buffer_append_string(out, "not compared: ");
    for (; has_property && *property; property++) /* a JSON name as words */
        nt_buffer_append_byte(out, *property == '_' ? ' ' : *property);
    nt_buffer_append_string(out, has_property ? ": " : "");
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        nt_buffer_append_format(out, "%s%s ", side ? ", " : "", side_names[side]);
        append_value(out, &values[side], has_bits);
    }
    nt_buffer_append_byte(out, '\n');
}

/* ---- JSON objects ---- */

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

/* The same as an object of a list. */
static void json_difference(struct nt_json *json, const struct nt_dataset_pair *pair,
                            const struct nt_difference *difference)
{
    unsigned named = difference->fields[0] == NT_NONE; /* A's names, if it has the field */
    nt_json_object(json);
    nt_json_member_string(json, "finding", nt_diff_part_name(difference->part));
    if (difference->fields[named] != NT_NONE)
        nt_json_member_field_path(json, "field", pair->datasets[named], difference->fields[named]);
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

/* An unreadable side, as an object of the same list. */
static void json_diff_failure(struct nt_json *json, const struct nt_dataset_pair *pair, unsigned side,
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

/* ---- The command diff ---- */

/* A file to compare, and the selected part of it. */
struct source {
    const char *path;
    struct nt_vfs *vfs;
    struct nt_resolved_node resolved;
    bool is_open;
};

struct differ {
    const struct nt_settings *settings;
    struct source sources[NT_DIFF_SIDES];
    struct nt_diff_options options;
    struct nt_progress progress;
    struct nt_buffer out; /* the document, or lines */
    uint8_t *parts;       /* of the pair, [field of A, then of B]: a bit for each part that differs */
    struct nt_json *json; /* NULL: lines */
    const struct nt_dataset_pair *pair;
    struct nt_diff_summary total;
    size_t compared;                   /* number of dataset pairs */
    uint64_t fields, differing_fields; /* of the last pair, for JSON */
    bool has_failed;                   /* some output is missing */
};

/* ---- Output ---- */

/* Prints and clears the buffer. */
static void print_out(struct differ *differ)
{
    nt_progress_clear(&differ->progress);
    differ->has_failed |= nt_print_buffer(&differ->out, "diff") != NT_EXIT_OK;
    nt_buffer_clear(&differ->out);
}

/* Layouts count as differences of a field only if the user asked for them. */
static void on_difference(void *context, const struct nt_difference *difference)
{
    struct differ *differ = context;
    const struct nt_settings *settings = differ->settings;
    const uint32_t *fields = difference->fields;
    uint8_t *part = !differ->parts         ? NULL
                    : fields[0] != NT_NONE ? &differ->parts[fields[0]]
                    : fields[1] != NT_NONE
                        ? &differ->parts[differ->pair->datasets[0]->field_count + fields[1]]
                        : NULL;
    if (part && !difference->is_obstacle && (difference->part != NT_DIFF_LAYOUT || settings->layout))
        *part |= (uint8_t)(1u << difference->part);
    if (differ->json)
        json_difference(differ->json, differ->pair, difference);
    else if (!settings->quiet && (!difference->is_detail || settings->layout))
        append_difference(&differ->out, differ->pair, difference);
}

/* The number of fields that differ in any part (NT_DIFF_PARTS), or in one. */
static uint64_t count_fields(const struct differ *differ, unsigned part)
{
    const struct nt_dataset *const *datasets = (const struct nt_dataset *const *)differ->pair->datasets;
    size_t fields = (size_t)datasets[0]->field_count + datasets[1]->field_count;
    uint64_t count = 0;
    for (size_t i = 0; i < fields; i++)
        count += part == NT_DIFF_PARTS ? differ->parts[i] != 0 : (differ->parts[i] >> part & 1u);
    return count;
}

/* Prints "Events: 2 of 187 fields differ: schema 1, values 2", then the differences. */
static void print_pair(struct differ *differ, uint64_t fields)
{
    struct nt_buffer lines = differ->out;
    uint64_t count = count_fields(differ, NT_DIFF_PARTS);
    const char *separator = ": ";
    differ->out = (struct nt_buffer){0};
    if (count && !differ->settings->quiet) {
        append_pair(&differ->out, differ->pair);
        nt_buffer_append_format(&differ->out, ": %" PRIu64 " of %" PRIu64 " %s", count, fields,
                                fields == 1  ? "field differs"
                                : count == 1 ? "fields differs"
                                             : "fields differ");
        for (unsigned part = 0; part < NT_DIFF_PARTS; part++)
            if (count_fields(differ, part)) {
                nt_buffer_append_format(&differ->out, "%s%s %" PRIu64, separator,
                                        nt_diff_part_name((enum nt_diff_part)part),
                                        count_fields(differ, part));
                separator = ", ";
            }
        nt_buffer_append_byte(&differ->out, '\n');
    }
    nt_buffer_append(&differ->out, nt_buffer_string(&lines), lines.length);
    nt_buffer_deinit_part(&lines, &differ->out);
    if (differ->out.length || differ->out.failed)
        print_out(differ);
}

static void on_failure(void *context, unsigned side, uint32_t field, const struct nt_error *error)
{
    struct differ *differ = context;
    struct nt_error reported = *error;
    nt_error_context(&reported, "%s", differ->pair->paths[side]);
    nt_progress_clear(&differ->progress);
    nt_print_error(differ->sources[side].path, &reported);
    if (differ->json)
        json_diff_failure(differ->json, differ->pair, side, field, error);
}

static void on_progress(void *context, uint64_t bytes, uint64_t total)
{
    struct differ *differ = context;
    differ->progress.total = total;
    nt_progress_reach(&differ->progress, bytes);
}

/* ---- Datasets ---- */

static void print_unpaired(struct differ *differ)
{
    const uint32_t of_no_field[NT_DIFF_SIDES] = {NT_NONE, NT_NONE};
    unsigned side = !differ->pair->datasets[0];
    struct nt_difference difference = nt_difference(NT_DIFF_SCHEMA, "dataset", of_no_field);
    difference.values[side] = (struct nt_diff_value){
        .kind = NT_DIFF_WORDS, .text = nt_text_of(differ->pair->datasets[side]->format)};
    differ->total.differences[NT_DIFF_SCHEMA]++;
    on_difference(differ, &difference);
}

/* Are both datasets open? Else reports their failures. */
static bool check_opened(struct differ *differ)
{
    bool are_open = true;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        const struct nt_error *failure = differ->pair->datasets[side]->failure;
        if (!failure)
            continue;
        differ->total.failures++;
        on_failure(differ, side, NT_NONE, failure);
        are_open = false;
    }
    return are_open;
}

static enum nt_status diff_pair(struct differ *differ, struct nt_error *error)
{
    struct nt_diff_side sides[NT_DIFF_SIDES];
    struct nt_diff_summary summary;
    if (!differ->pair->datasets[0] || !differ->pair->datasets[1]) {
        print_unpaired(differ);
        return NT_OK;
    }
    if (!check_opened(differ))
        return NT_OK;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        const struct source *source = &differ->sources[side];
        sides[side] = (struct nt_diff_side){.reader = source->vfs->reader,
                                            .dataset = differ->pair->datasets[side],
                                            .field = source->resolved.field};
    }
    differ->compared++;
    nt_progress_begin(&differ->progress, 0);
    differ->parts = calloc((size_t)sides[0].dataset->field_count + sides[1].dataset->field_count + 1, 1);
    NT_TRY(nt_check_memory(differ->parts, error));
    enum nt_status status = nt_diff(sides, &differ->options, &summary, error);
    nt_progress_clear(&differ->progress);
    if (differ->json) {
        differ->fields = summary.fields;
        differ->differing_fields = count_fields(differ, NT_DIFF_PARTS);
    } else {
        print_pair(differ, summary.fields);
    }
    free(differ->parts);
    differ->parts = NULL;
    for (int part = 0; part < NT_DIFF_PARTS; part++)
        differ->total.differences[part] += summary.differences[part];
    differ->total.not_compared += summary.not_compared;
    differ->total.failures += summary.failures;
    return status;
}

static enum nt_status diff_all(struct differ *differ, const struct nt_dataset_pair *pairs, size_t count,
                               struct nt_error *error)
{
    enum nt_status status = NT_OK;
    for (size_t i = 0; i < count && status == NT_OK; i++) {
        differ->pair = &pairs[i];
        differ->fields = differ->differing_fields = 0;
        if (differ->json) {
            nt_json_object(differ->json);
            nt_json_member_string(differ->json, "a", pairs[i].paths[0]);
            nt_json_member_string(differ->json, "b", pairs[i].paths[1]);
            nt_json_member_array(differ->json, "findings");
        }
        status = diff_pair(differ, error);
        if (differ->json) {
            nt_json_end_array(differ->json);
            nt_json_member_unsigned(differ->json, "fields", differ->fields);
            nt_json_member_unsigned(differ->json, "differing_fields", differ->differing_fields);
            nt_json_end_object(differ->json);
        } else if (differ->out.length) {
            print_out(differ); /* a dataset that only one side has */
        }
    }
    return status;
}

/* ---- Conclusion ---- */

/* A layout difference counts only if the user asked for the layout. */
static bool is_different(const struct differ *differ)
{
    const uint64_t *differences = differ->total.differences;
    return differences[NT_DIFF_SCHEMA] || differences[NT_DIFF_VALUES] ||
           (differences[NT_DIFF_LAYOUT] && differ->settings->layout);
}

static bool is_same(const struct differ *differ)
{
    return !differ->total.failures && !differ->total.not_compared && !is_different(differ);
}

/* "a.root and b.root: schema same, values differ, layout differs". Without any matching datasets, only
 * that. */
static void print_conclusion(struct differ *differ)
{
    static const char *const verbs[NT_DIFF_PARTS] = {"differs", "differ", "differs"};
    const char *separator = ": ";
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        nt_buffer_append_string(&differ->out, side ? " and " : "");
        nt_append_printable(&differ->out, differ->sources[side].path, strlen(differ->sources[side].path));
    }
    for (int part = 0; part < NT_DIFF_PARTS; part++) {
        if (!differ->total.differences[part] && !(differ->options.parts[part] && differ->compared))
            continue;
        bool is_compared = part != NT_DIFF_VALUES || !differ->total.not_compared;
        nt_buffer_append_format(&differ->out, "%s%s %s", separator,
                                nt_diff_part_name((enum nt_diff_part)part),
                                differ->total.differences[part] ? verbs[part]
                                : is_compared                   ? "same"
                                                                : "not all compared");
        separator = ", ";
    }
    if (differ->total.failures)
        nt_buffer_append_string(&differ->out, ", some cannot be read");
    nt_buffer_append_byte(&differ->out, '\n');
    print_out(differ);
}

static enum nt_status diff_as_json(struct differ *differ, const struct nt_dataset_pair *pairs, size_t count,
                                   struct nt_error *error)
{
    struct nt_json json;
    differ->json = &json;
    nt_json_document(&json, &differ->out, "diff");
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        nt_json_member_object(&json, side_keys[side]);
        nt_json_member_text(&json, "file", nt_text_of(differ->sources[side].resolved.file->path));
        nt_json_end_object(&json);
    }
    nt_json_member_array(&json, "datasets");
    enum nt_status status = diff_all(differ, pairs, count, error);
    nt_json_end_array(&json);
    nt_json_member_object(&json, "differences");
    for (int part = 0; part < NT_DIFF_PARTS; part++)
        if (differ->options.parts[part])
            nt_json_member_unsigned(&json, nt_diff_part_name((enum nt_diff_part)part),
                                    differ->total.differences[part]);
    nt_json_end_object(&json);
    nt_json_member_unsigned(&json, "not_compared", differ->total.not_compared);
    nt_json_member_unsigned(&json, "failures", differ->total.failures);
    nt_json_member_bool(&json, "is_same", is_same(differ));
    nt_json_finish(&json);
    return status;
}

/* With --quiet, omits the document. */
static enum nt_exit_status conclude(struct differ *differ, enum nt_status status,
                                    const struct nt_error *error)
{
    if (status != NT_OK)
        nt_print_error("diff", error);
    else if (!differ->json)
        print_conclusion(differ);
    else if (!differ->settings->quiet)
        print_out(differ);
    if (nt_finish_output() != NT_EXIT_OK || status != NT_OK || differ->has_failed || differ->total.failures)
        return NT_EXIT_TROUBLE;
    if (is_different(differ))
        return NT_EXIT_DIFFERENT;
    return differ->total.not_compared ? NT_EXIT_TROUBLE : NT_EXIT_OK;
}

static enum nt_exit_status diff_scopes(struct differ *differ)
{
    const struct nt_resolved_node scopes[NT_DIFF_SIDES] = {differ->sources[0].resolved,
                                                           differ->sources[1].resolved};
    NT_CLEANUP(nt_arena_free_at) struct nt_arena *arena = nt_arena_new();
    struct nt_dataset_pair *pairs = NULL;
    struct nt_error error = {0};
    enum nt_status status = NT_OK;
    size_t count = 0;
    if (!arena || !dataset_pairs(scopes, arena, &pairs, &count))
        status = nt_fail_memory(&error);
    if (status == NT_OK)
        status = (differ->settings->json ? diff_as_json : diff_all)(differ, pairs, count, &error);
    return conclude(differ, status, &error);
}

/* ---- Sources ---- */

/* Resolves a path of a file with datasets. Reports failures. */
static bool open_scope(struct source *source, const char *path)
{
    struct nt_error error = {0};
    uint64_t node = NT_VFS_ROOT;
    if (nt_find_one_node(source->vfs, path, &node, &error) != NT_OK ||
        nt_node_resolve(source->vfs, node, &source->resolved, &error) != NT_OK) {
        nt_print_error(*path ? path : source->path, &error);
        return false;
    }
    source->is_open = true;
    if (source->resolved.file)
        return true;
    nt_print_failure(*path ? path : source->path, NT_INVALID,
                     "no file with data here; name a file or a path in it");
    return false;
}

static bool open_sources(struct differ *differ, const struct nt_invocation *invocation)
{
    const char *path = "";
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        struct source *source = &differ->sources[side];
        int of_path = NT_DIFF_SIDES + (int)side;
        source->path = invocation->operands[side];
        path = of_path < invocation->operand_count ? invocation->operands[of_path] : path;
        if (nt_open_tree(invocation, source->path, &source->vfs) != NT_EXIT_OK || !open_scope(source, path))
            return false;
    }
    if ((differ->sources[0].resolved.field == NT_NONE) == (differ->sources[1].resolved.field == NT_NONE))
        return true;
    nt_print_failure("diff", NT_INVALID, "cannot compare a field with a whole dataset");
    return false;
}

static void close_sources(struct differ *differ)
{
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        struct source *source = &differ->sources[side];
        if (source->is_open)
            nt_node_release(&source->resolved);
        nt_vfs_free(source->vfs);
    }
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    const struct nt_settings *settings = invocation->settings;
    bool are_all = !settings->schema && !settings->values && !settings->layout;
    struct differ differ = {.settings = settings};
    if (nt_command_enter_sandbox(invocation) != NT_EXIT_OK)
        return NT_EXIT_TROUBLE;
    nt_progress_start(&differ.progress, !settings->quiet);
    differ.options = (struct nt_diff_options){
        .parts = {settings->schema || are_all, settings->values || are_all, settings->layout || are_all},
        .on_difference = on_difference,
        .on_failure = on_failure,
        .on_progress = differ.progress.is_requested ? on_progress : NULL,
        .context = &differ};
    enum nt_exit_status result = open_sources(&differ, invocation) ? diff_scopes(&differ) : NT_EXIT_TROUBLE;
    close_sources(&differ);
    nt_buffer_deinit(&differ.out);
    return result;
}

static const struct nt_option options[] = {
    NT_OPTION(0, "schema", FLAG, schema,
              .help = "compare fields, types and descriptions (default: compare schema, values and layout)"),
    NT_OPTION(0, "values", FLAG, values, .help = "compare the numbers of rows and every element"),
    NT_OPTION(0, "layout", FLAG, layout,
              .help = "compare how each column is stored, and let a difference change the exit status"),
    NT_OPTION(0, "json", FLAG, json, .help = "print a JSON document"),
    NT_OPTION('q', "quiet", FLAG, quiet, .help = "print only the summary line"),
    {0},
};

const struct nt_command nt_command_diff = {
    .name = "diff",
    .operands = "A B [PATH [PATH_IN_B]]",
    .help = "compare two files: schema, values and layout",
    .fewest = 2,
    .most = 4,
    .sources = 2,
    .options = options,
    .compares = true,
    .run = run,
};
