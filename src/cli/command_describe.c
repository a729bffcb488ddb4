/* SPDX-License-Identifier: MIT
 *
 * The command describe: prints a line for each field with values: how many, nulls, NaNs, infinities,
 * minimum, mean, maximum and a histogram.
 */
#include "cli/cli.h"

#include <unistd.h>

#include "tools/tools.h"

/* ---- Fields ---- */

/* The selected fields, or all top-level fields without those that projected fields show. */
static enum nt_status add_fields(const struct nt_target *target, const struct nt_dataset *dataset,
                                 struct nt_summaries *summaries, struct nt_error *error)
{
    uint32_t count = target->count;
    NT_AUTO_FREE uint32_t *tops = NULL;
    NT_TRY(count ? NT_OK : nt_shown_top_fields(dataset, &tops, &count, error));
    for (uint32_t i = 0; i < count; i++)
        NT_TRY(nt_summaries_add(summaries, dataset, tops ? tops[i] : target->fields[i], error));
    return NT_OK;
}

/* A field's path without the items of collections. */
static void append_name(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t path[NT_MAX_DEPTH + 1], depth = 0;
    for (uint32_t at = field; at != NT_NONE && depth <= NT_MAX_DEPTH; at = dataset->fields[at].parent)
        path[depth++] = at;
    while (depth-- > 0) {
        const struct nt_field *at = &dataset->fields[path[depth]];
        if (at->parent != NT_NONE && nt_field_has_nameless_item(&dataset->fields[at->parent]))
            continue;
        nt_buffer_append_string(out, out->length ? "/" : "");
        nt_append_printable(out, at->name.bytes, at->name.length);
    }
}

/* ---- Text ---- */

enum { FIELD, VALUES, NULLS, NANS, INFINITIES, UNREAD, LEAST, MEAN, MOST, HISTOGRAM, COLUMNS };

static const char *const titles[COLUMNS] = {"FIELD",  "VALUES", "NULL", "NaN", "INF",
                                            "UNREAD", "MIN",    "MEAN", "MAX", "HISTOGRAM"};

/* A bar of at least one eighth for each bin that is not empty. */
static void append_histogram(struct nt_buffer *out, const struct nt_summary *summary)
{
    static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    uint64_t most = 1;
    for (uint32_t i = 0; i < summary->bin_count; i++)
        most = summary->bins[i] > most ? summary->bins[i] : most;
    for (uint32_t i = 0; i < summary->bin_count; i++) {
        unsigned height = (unsigned)(8 * ((double)summary->bins[i] / (double)most) + 0.5);
        nt_buffer_append_string(out, bars[summary->bins[i] && height == 0 ? 1 : height]);
    }
}

static void put_number(struct nt_json *json, const struct nt_summary *summary, const uint8_t *bytes)
{
    struct nt_dtype dtype =
        nt_element_dtype(summary->is_of_lengths ? NT_ELEMENT_UINT64 : summary->dtype.number);
    nt_json_element(json, &dtype, bytes);
}

static const char *number_text(struct nt_arena *arena, const struct nt_summary *summary, const uint8_t *bytes)
{
    struct nt_buffer text = {0};
    struct nt_json json;
    nt_json_init(&json, &text, true);
    put_number(&json, summary, bytes);
    return nt_buffer_to_arena(&text, arena);
}

static void fill_cells(struct nt_arena *arena, const struct nt_dataset *dataset,
                       const struct nt_summary *summary, const char **cells)
{
    const uint64_t counts[] = {summary->values, summary->nulls, summary->nans, summary->infinities,
                               summary->unread};
    struct nt_buffer name = {0}, histogram = {0};
    append_name(&name, dataset, summary->field);
    nt_buffer_append_string(&name, summary->is_of_lengths ? " (bytes)" : "");
    cells[FIELD] = nt_buffer_to_arena(&name, arena);
    for (int i = 0; i < LEAST - VALUES; i++)
        cells[VALUES + i] = nt_arena_format(arena, "%" PRIu64, counts[i]);
    for (int i = LEAST; i < COLUMNS; i++)
        cells[i] = "-";
    if (!summary->bin_count)
        return;
    cells[LEAST] = number_text(arena, summary, summary->least);
    cells[MEAN] = nt_arena_format(arena, "%.8g", summary->mean);
    cells[MOST] = number_text(arena, summary, summary->most);
    append_histogram(&histogram, summary);
    cells[HISTOGRAM] = nt_buffer_to_arena(&histogram, arena);
}

/* Rounds numbers that have a fraction or an exponent, for terminals that have no room for all digits. */
static void round_cells(struct nt_arena *arena, const char **cells)
{
    for (int i = LEAST; i <= MOST; i++)
        if (cells[i] && strpbrk(cells[i], ".e") && strlen(cells[i]) > strlen("-0.123456"))
            cells[i] = nt_arena_format(arena, "%.6g", strtod(cells[i], NULL));
}

/* On a narrow terminal, counts that are 0 for all fields are omitted first. */
static void rank_columns(const char *const *cells, size_t rows, unsigned char *ranks)
{
    ranks[VALUES] = 2;
    ranks[HISTOGRAM] = 1;
    for (int i = NULLS; i <= UNREAD; i++) {
        bool is_zero = true;
        for (size_t row = 1; row < rows; row++) {
            const char *cell = cells[row * COLUMNS + (size_t)i];
            is_zero &= cell && strcmp(cell, "0") == 0;
        }
        ranks[i] = is_zero ? 3 : 0;
    }
}

static void print_grid(struct nt_arena *arena, const char **cells, size_t rows)
{
    static const bool are_right[COLUMNS] = {false, true, true, true, true, true, true, true, true, false};
    unsigned char ranks[COLUMNS] = {0};
    const struct nt_grid grid = {.cells = cells,
                                 .rows = rows,
                                 .columns = COLUMNS,
                                 .is_right = are_right,
                                 .ranks = ranks,
                                 .width = isatty(STDOUT_FILENO) ? nt_terminal_width() : 0,
                                 .has_colour = nt_terminal_has_colour()};
    rank_columns(cells, rows, ranks);
    if (!nt_grid_fits(&grid))
        for (size_t row = 1; row < rows; row++)
            round_cells(arena, cells + row * COLUMNS);
    nt_grid_print(&grid);
}

static enum nt_status print_summaries(struct nt_report *report, const struct nt_dataset *dataset,
                                      const struct nt_summaries *summaries, struct nt_error *error)
{
    NT_CLEANUP(nt_arena_free_at) struct nt_arena *arena = nt_arena_new();
    size_t rows = summaries->count + 1;
    const char **cells = arena ? nt_arena_alloc(arena, rows * COLUMNS, sizeof(*cells)) : NULL;
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    NT_TRY(nt_check_memory(cells, error));
    for (size_t k = 0; k < COLUMNS; k++)
        cells[k] = titles[k];
    for (size_t i = 0; i < summaries->count; i++)
        fill_cells(arena, dataset, &summaries->items[i], cells + (i + 1) * COLUMNS);
    nt_append_dataset_path(&path, dataset);
    fputs(report->has_printed ? "\n" : "", stdout);
    nt_print_name(nt_buffer_string(&path));
    printf(": %" PRIu64 " entries\n", nt_dataset_entries(dataset));
    print_grid(arena, cells, rows);
    report->has_printed = true;
    return NT_OK;
}

/* ---- JSON ---- */

static void put_summary(struct nt_json *json, const struct nt_dataset *dataset,
                        const struct nt_summary *summary)
{
    nt_json_object(json);
    nt_json_member_field_path(json, "field", dataset, summary->field);
    nt_json_member_bool(json, "is_of_lengths", summary->is_of_lengths);
    nt_json_member_unsigned(json, "values", summary->values);
    nt_json_member_unsigned(json, "nulls", summary->nulls);
    nt_json_member_unsigned(json, "nans", summary->nans);
    nt_json_member_unsigned(json, "infinities", summary->infinities);
    nt_json_member_unsigned(json, "unread", summary->unread);
    if (summary->bin_count) {
        nt_json_key(json, "minimum");
        put_number(json, summary, summary->least);
        nt_json_member_double(json, "mean", summary->mean);
        nt_json_key(json, "maximum");
        put_number(json, summary, summary->most);
    }
    nt_json_member_array(json, "histogram");
    for (uint32_t i = 0; i < summary->bin_count; i++)
        nt_json_unsigned(json, summary->bins[i]);
    nt_json_end_array(json);
    nt_json_member_array(json, "failures");
    for (size_t i = 0; i < summary->failure_count; i++) {
        nt_json_object(json);
        nt_json_failure_members(json, &summary->failures[i]);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
    nt_json_end_object(json);
}

/* ---- The command describe ---- */

/* Does this version not read the field, or its page list if it has one of its own? */
static bool is_unreadable(struct nt_dataset *dataset, uint32_t field)
{
    struct nt_error ignored;
    return dataset->fields[field].unreadable ||
           (dataset->field_groups &&
            nt_groups_load(dataset, nt_groups_of_field(dataset, field), &ignored) == NT_UNSUPPORTED);
}

/* Names each damaged page and each unreadable field on standard error. The latter decide the status only if
 * nothing else is wrong. */
static enum nt_exit_status report_failures(struct nt_dataset *dataset, const struct nt_summaries *summaries)
{
    enum nt_exit_status first = NT_EXIT_OK, of_unreadable = NT_EXIT_OK;
    for (size_t i = 0; i < summaries->count; i++) {
        const struct nt_summary *summary = &summaries->items[i];
        struct nt_buffer name = {0};
        append_name(&name, dataset, summary->field);
        for (size_t k = 0; k < summary->failure_count; k++) {
            enum nt_exit_status status = nt_print_error(nt_buffer_string(&name), &summary->failures[k]);
            if (status == NT_EXIT_UNSUPPORTED && is_unreadable(dataset, summary->field))
                of_unreadable = NT_EXIT_UNREAD;
            else
                nt_note_failure(&first, status);
        }
        nt_buffer_deinit(&name);
    }
    return first == NT_EXIT_OK ? of_unreadable : first;
}

static enum nt_status describe(struct nt_report *report, struct nt_reader *reader, struct nt_dataset *dataset,
                               struct nt_error *error)
{
    NT_CLEANUP(nt_summaries_deinit) struct nt_summaries summaries = {.count = 0};
    NT_TRY(add_fields(report->target, dataset, &summaries, error));
    NT_TRY(nt_summarize(reader, dataset, summaries.items, summaries.count, error));
    if (report->json) {
        nt_json_member_unsigned(report->json, "entries", nt_dataset_entries(dataset));
        nt_json_member_array(report->json, "fields");
        for (size_t i = 0; i < summaries.count; i++)
            put_summary(report->json, dataset, &summaries.items[i]);
        nt_json_end_array(report->json);
    } else {
        NT_TRY(print_summaries(report, dataset, &summaries, error));
    }
    report->failure = report_failures(dataset, &summaries);
    return NT_OK;
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    return nt_report_run(&(struct nt_report){.document = "describe", .show = describe}, invocation);
}

static const struct nt_option options[] = {
    NT_OPTION(0, "json", FLAG, json, .help = "print a JSON document for each file, with exact numbers"),
    {0},
};

const struct nt_command nt_command_describe = {
    .name = "describe",
    .operands = "FILE [PATH...]",
    .help = "print counts, minimum, mean, maximum and a histogram of each field's values",
    .fewest = 1,
    .options = options,
    .run = run,
};
