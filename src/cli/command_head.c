/* SPDX-License-Identifier: MIT
 *
 * The command head: prints the first rows of datasets and fields, and the row printing that cat shares.
 */
#include "cli/cli.h"

#include <unistd.h>

/* ---- Print rows ---- */

/* Prints rows, after the names of what they omit. */
static enum nt_exit_status print_lines(struct nt_text_generator *lines, struct nt_dataset *dataset)
{
    struct nt_error error = {0};
    if (nt_row_writer_visit_omitted(nt_lines_writer(lines), nt_print_omitted, dataset, &error) != NT_OK)
        nt_print_error(dataset->name.bytes, &error);
    return nt_print_long_text(lines, dataset->name.bytes);
}

/* A single row must exist; a range is clamped to the existing rows. */
static enum nt_status check_row(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                                const struct nt_row_range *range, struct nt_error *error)
{
    uint64_t rows = nt_dataset_entries(dataset);
    if (!range->is_row)
        return NT_OK;
    if (field != NT_NONE)
        NT_TRY(nt_field_rows(reader, dataset, field, &rows, error));
    if (range->first >= rows)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET,
                       "row %" PRIu64 " does not exist: there are %" PRIu64 " rows, counted from 0",
                       range->first, rows);
    return NT_OK;
}

static enum nt_exit_status print_dataset(void *context, const struct nt_resolved_node *resolved,
                                         uint32_t index, uint32_t field)
{
    const struct nt_row_range *range = context;
    struct nt_dataset *dataset = resolved->file->datasets[index];
    struct nt_error error = {0};
    struct nt_text_generator *lines = NULL;
    if (dataset->failure)
        return nt_print_error(dataset->name.bytes, dataset->failure);
    if (check_row(resolved->vfs->reader, dataset, field, range, &error) != NT_OK ||
        nt_rows_lines(resolved->vfs->reader, dataset, field, range->first, range->end, &lines, &error) !=
            NT_OK)
        return nt_print_error(dataset->name.bytes, &error);
    return print_lines(lines, dataset);
}

static enum nt_exit_status print_file(void *context, const struct nt_resolved_node *resolved,
                                      bool is_in_directory_of_files)
{
    uint32_t index, field;
    enum nt_exit_status status = nt_find_only_dataset(resolved, &index, &field);
    return status == NT_EXIT_OK ? print_dataset(context, resolved, index, field) : status;
}

enum nt_exit_status nt_print_rows(void *range, struct nt_vfs *vfs, const struct nt_target *target)
{
    return nt_for_each_file(vfs, target->path, target->node, print_file, range);
}

/* ---- Fields of a dataset that --columns or PATH selects ---- */

struct head_output {
    const struct nt_settings *settings;
    bool is_table, has_colour;
    unsigned width;
    uint64_t rows;
    const struct nt_target *target;
};

/* The first rows of some fields. */
struct sample {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    const uint32_t *fields;
    uint32_t field_count;
    size_t row_count;
    struct nt_row_writer **writers; /* [field]; NULL: cannot be read */
    struct nt_arena *arena;
    const char **cells; /* [field + 1][row + 1]: first the numbers of the rows, and in front the names */
};

/* The longest text of a cell; a terminal shows less. */
enum { CELL_BYTES = 400 };

static const char *printable(struct sample *sample, const char *text, size_t length)
{
    struct nt_buffer out = {0};
    if (length > CELL_BYTES)
        for (length = CELL_BYTES; length && ((unsigned char)text[length] & 0xC0) == 0x80;)
            length--;
    nt_append_printable(&out, text, length);
    return nt_buffer_to_arena(&out, sample->arena);
}

static const char *name_of(struct sample *sample, uint32_t field)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    nt_append_field_path(&path, sample->dataset, field);
    return printable(sample, nt_buffer_string(&path), path.length);
}

/* Opens all fields before the first one is read, so that a server is asked once for all of them. */
static enum nt_exit_status open_fields(struct sample *sample)
{
    enum nt_exit_status first = NT_EXIT_OK;
    for (uint32_t i = 0; i < sample->field_count; i++) {
        struct nt_error error = {0};
        if (nt_row_writer_open_fields(sample->reader, sample->dataset, &sample->fields[i], 1, true,
                                      &sample->writers[i], &error) != NT_OK ||
            nt_row_writer_visit_omitted(sample->writers[i], nt_print_omitted, sample->dataset, &error) !=
                NT_OK)
            nt_note_failure(&first, nt_print_error(name_of(sample, sample->fields[i]), &error));
    }
    if (sample->row_count)
        nt_row_writers_prefetch(sample->writers, sample->field_count, 0, sample->row_count);
    return first;
}

/* Fills a field's cells. A row that cannot be read is '?', and the first one is reported. */
static enum nt_status fill_field(struct sample *sample, struct nt_row_writer *writer, const char **cells,
                                 struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0};
    enum nt_status status = NT_OK;
    bool has_cell = writer && nt_row_writer_cells(writer);
    for (size_t row = 0; row < sample->row_count; row++) {
        struct nt_error failure = {0};
        enum nt_status done = has_cell ? nt_row_write_cell(writer, 0, row, &text, &failure) : NT_OK;
        bool is_read = has_cell && done == NT_OK;
        if (done != NT_OK && status == NT_OK)
            status = nt_fail_copy(error, &failure);
        cells[row] = is_read ? printable(sample, nt_buffer_string(&text), text.length) : "?";
    }
    return status;
}

static bool is_number(const char *cell)
{
    return strspn(cell, "-+.0123456789eE") == strlen(cell) || strcmp(cell, "NaN") == 0 ||
           strcmp(cell + (*cell == '-'), "Infinity") == 0;
}

static bool are_numbers(const char *const *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!cells[i] || !is_number(cells[i]))
            return false;
    return true;
}

/* Cuts the beginning of a path: fields of a record differ in their last names. */
static const char *end_of(struct sample *sample, const char *name, unsigned width)
{
    unsigned left = name ? (unsigned)nt_text_width(nt_text_of(name)) : 0;
    if (left <= width)
        return name;
    for (left++; *name && left > width; name++)
        left -= ((unsigned char)name[1] & 0xC0) != 0x80;
    return nt_arena_format(sample->arena, "…%s", name);
}

/* Cuts the names of fields to half of the width; returns the width of the longest. */
static unsigned fit_names(const struct head_output *header, struct sample *sample)
{
    unsigned longest = 0;
    for (uint32_t i = 0; i <= sample->field_count; i++) {
        const char **name = &sample->cells[i * (sample->row_count + 1)];
        *name = end_of(sample, *name, header->width / 2);
        unsigned width = *name ? (unsigned)nt_text_width(nt_text_of(*name)) : 0;
        longest = width > longest ? width : longest;
    }
    return longest;
}

/* Prints a line for each field, and as many rows side by side as fit. */
static void print_side_by_side(const struct head_output *header, struct sample *sample, const char **block)
{
    enum { MIN_CELL = 12 };
    size_t lines = sample->row_count + 1, fields = sample->field_count + 1;
    unsigned names = fit_names(header, sample);
    size_t most = header->width > names + MIN_CELL ? (header->width - names) / MIN_CELL : 1;
    size_t first = 0, count;
    do { /* once if there are no rows */
        count = sample->row_count - first < most ? sample->row_count - first : most;
        for (size_t i = 0; i < fields; i++) {
            block[i * (count + 1)] = sample->cells[i * lines];
            for (size_t k = 0; k < count; k++)
                block[i * (count + 1) + 1 + k] = sample->cells[i * lines + 1 + first + k];
        }
        if (first)
            putchar('\n');
        nt_grid_print(&(struct nt_grid){.cells = block,
                                        .rows = fields,
                                        .columns = count + 1,
                                        .keeps_first = true,
                                        .width = header->width,
                                        .has_colour = header->has_colour});
        first += count;
    } while (first < sample->row_count);
}

/* Prints a line for each row if that fits. */
static enum nt_exit_status print_sample(const struct head_output *header, struct sample *sample)
{
    size_t lines = sample->row_count + 1, columns = sample->field_count + 1;
    NT_AUTO_FREE bool *are_right = calloc(columns, sizeof(*are_right));
    NT_AUTO_FREE const char **block = calloc(columns * lines, sizeof(*block));
    if (!are_right || !block)
        return nt_print_no_memory(NULL);
    for (size_t c = 0; c < columns; c++)
        are_right[c] = are_numbers(sample->cells + c * lines + 1, lines - 1);
    const struct nt_grid table = {.cells = sample->cells,
                                  .rows = lines,
                                  .columns = columns,
                                  .is_transposed = true,
                                  .is_right = are_right,
                                  .width = header->width,
                                  .has_colour = header->has_colour};
    if (nt_grid_fits(&table))
        nt_grid_print(&table);
    else
        print_side_by_side(header, sample, block);
    return NT_EXIT_OK;
}

static enum nt_exit_status fill_sample(struct sample *sample)
{
    enum nt_exit_status first = open_fields(sample);
    size_t lines = sample->row_count + 1;
    sample->cells[0] = "entry";
    for (size_t row = 0; row < sample->row_count; row++)
        sample->cells[1 + row] = nt_arena_format(sample->arena, "%zu", row);
    for (uint32_t i = 0; i < sample->field_count; i++) {
        const char **cells = sample->cells + (i + 1) * lines;
        struct nt_error failure = {0};
        cells[0] = name_of(sample, sample->fields[i]);
        if (fill_field(sample, sample->writers[i], cells + 1, &failure) != NT_OK)
            nt_note_failure(&first, nt_print_error(cells[0], &failure));
        nt_row_writer_close(sample->writers[i]);
    }
    return first;
}

static enum nt_exit_status print_as_table(const struct head_output *header, struct sample *sample)
{
    NT_CLEANUP(nt_arena_free_at) struct nt_arena *arena = nt_arena_new();
    size_t columns = (size_t)sample->field_count + 1;
    sample->row_count = (size_t)nt_min(header->rows, nt_dataset_entries(sample->dataset));
    if (arena) {
        sample->cells = nt_arena_alloc(arena, columns * (sample->row_count + 1), sizeof(char *));
        sample->writers = nt_arena_alloc(arena, columns, sizeof(*sample->writers));
    }
    if (!sample->cells || !sample->writers)
        return nt_print_no_memory(NULL);
    sample->arena = arena;
    enum nt_exit_status first = fill_sample(sample);
    nt_note_failure(&first, print_sample(header, sample));
    return first;
}

struct table_fields {
    struct nt_dataset *dataset;
    bool *are_taken; /* [field] */
    uint32_t *fields;
    uint32_t count;
};

/* Takes the readable members of a record, and names the others; else the field itself. Recursive: fields nest
 * no deeper than NT_MAX_DEPTH. A record whose rows can be null stays whole. */
static void take_members(struct table_fields *taken, uint32_t field)
{
    const struct nt_field *record = &taken->dataset->fields[field];
    bool is_divided = record->kind == NT_FIELD_RECORD && !record->is_nullable, has_members = false;
    uint32_t count;
    const uint32_t *members = nt_dataset_children(taken->dataset, field, &count);
    for (uint32_t i = 0; is_divided && i < count; i++)
        has_members |= !taken->dataset->fields[members[i]].unreadable;
    for (uint32_t i = 0; has_members && i < count; i++)
        if (taken->dataset->fields[members[i]].unreadable)
            nt_print_omitted(taken->dataset, members[i], taken->dataset->fields[members[i]].unreadable);
        else
            take_members(taken, members[i]);
    if (has_members || taken->are_taken[field])
        return;
    taken->are_taken[field] = true;
    taken->fields[taken->count++] = field;
}

/* The chosen fields, or all top-level fields; of a record, all its members. The caller frees them. */
static enum nt_status find_table_fields(struct nt_dataset *dataset, const struct nt_target *target,
                                        uint32_t **fields_ret, uint32_t *count_ret, struct nt_error *error)
{
    uint32_t count = target->count;
    NT_AUTO_FREE uint32_t *tops = NULL;
    if (!count)
        NT_TRY(nt_shown_top_fields(dataset, &tops, &count, error));
    const uint32_t *chosen = tops ? tops : target->fields;
    NT_AUTO_FREE bool *are_taken = calloc((size_t)dataset->field_count + 1, sizeof(*are_taken));
    *fields_ret = calloc((size_t)dataset->field_count + 1, sizeof(**fields_ret));
    NT_TRY(nt_check_memory(are_taken && *fields_ret, error));
    struct table_fields taken = {dataset, are_taken, *fields_ret, 0};
    for (uint32_t i = 0; i < count; i++)
        take_members(&taken, chosen[i]);
    *count_ret = taken.count;
    return NT_OK;
}

static enum nt_exit_status print_fields(const struct head_output *header, struct nt_reader *reader,
                                        struct nt_dataset *dataset)
{
    const struct nt_target *target = header->target;
    struct nt_error error = {0};
    NT_AUTO_FREE uint32_t *fields = NULL;
    struct sample sample = {.reader = reader, .dataset = dataset};
    if (dataset->failure)
        return nt_print_error(dataset->name.bytes, dataset->failure);
    if (!header->is_table) {
        struct nt_text_generator *lines = NULL;
        return nt_rows_lines_of(reader, dataset, target->fields, target->count, header->rows, &lines,
                                &error) == NT_OK
                   ? print_lines(lines, dataset)
                   : nt_print_error(dataset->name.bytes, &error);
    }
    if (find_table_fields(dataset, target, &fields, &sample.field_count, &error) != NT_OK)
        return nt_print_error(dataset->name.bytes, &error);
    sample.fields = fields;
    return print_as_table(header, &sample);
}

/* ---- The command head ---- */

enum { LINES = 10, TABLE_LINES = 5 };

static enum nt_exit_status head_file(void *context, const struct nt_resolved_node *resolved,
                                     bool is_in_directory_of_files)
{
    uint32_t index, field;
    enum nt_exit_status status = nt_find_only_dataset(resolved, &index, &field);
    return status == NT_EXIT_OK
               ? print_fields(context, resolved->vfs->reader, resolved->file->datasets[index])
               : status;
}

/* The selected fields, or all top-level fields. */
static enum nt_exit_status head_fields(void *context, struct nt_vfs *vfs, const struct nt_target *target)
{
    struct head_output *header = context;
    header->target = target;
    return nt_for_each_file(vfs, target->path, target->node, head_file, header);
}

/* The columns of the dataset that a path names. */
static enum nt_exit_status head_columns(void *context, struct nt_vfs *vfs, const struct nt_target *target)
{
    const struct head_output *header = context;
    NT_CLEANUP(nt_node_list_deinit) struct nt_node_list all = {.count = 0};
    struct nt_error error = {0};
    enum nt_status status = nt_node_list_columns(vfs, target->path, header->settings->columns, &all, &error);
    NT_AUTO_FREE uint32_t *fields = calloc(all.count + 1, sizeof(*fields));
    uint32_t count = fields ? nt_node_list_fields(all.items, all.count, fields) : 0;
    if (status == NT_OK && !fields)
        status = nt_fail_memory(&error);
    if (status == NT_OK && count < all.count)
        status = nt_fail(&error, NT_INVALID, NT_NO_OFFSET, "%s: not a field of the same dataset",
                         all.items[count].path);
    if (status != NT_OK)
        return nt_print_error(NULL, &error);
    return head_fields(
        context, vfs,
        &(struct nt_target){
            .path = all.items[0].path, .node = all.items[0].node, .fields = fields, .count = count});
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    enum { USUAL_WIDTH = 80 };
    const struct nt_settings *settings = invocation->settings;
    struct head_output header = {.settings = settings, .has_colour = nt_terminal_has_colour()};
    unsigned width = nt_terminal_width();
    header.width = width ? width : USUAL_WIDTH;
    header.is_table = settings->table || (!settings->json && isatty(STDOUT_FILENO));
    header.rows = settings->rows ? settings->rows : header.is_table ? TABLE_LINES : LINES;
    if (settings->columns)
        return nt_for_each_target(invocation, false, head_columns, &header);
    return header.is_table ? nt_for_each_target(invocation, true, head_fields, &header)
                           : nt_for_each_target(invocation, false, nt_print_rows,
                                                &(struct nt_row_range){.end = header.rows});
}

static const struct nt_option options[] = {
    NT_OPTION('n', "rows", NUMBER, rows, .argument = "N",
              .help = "print N rows (default: 10; for a table 5)"),
    NT_OPTION(0, "columns", TEXT, columns, .argument = "PATTERN,...",
              .help = "print only these fields of each entry: paths or patterns"),
    NT_OPTION(0, "table", FLAG, table,
              .help = "print a table that fits the terminal (default on a terminal)"),
    NT_OPTION(0, "json", FLAG, json, .help = "print JSON lines (default if the output is not a terminal)"),
    {0},
};

const struct nt_command nt_command_head = {
    .name = "head",
    .operands = "FILE [PATH...]",
    .help = "print the first rows of a dataset or of fields, as a table or as JSON lines",
    .fewest = 1,
    .options = options,
    .reads_columns = true,
    .run = run,
};
