/* SPDX-License-Identifier: MIT
 *
 * The command inspect: prints a summary of each dataset and a sortable table of its columns, for people
 * or as JSON.
 */
#include "cli/cli.h"

#include <unistd.h>

#include "tools/tools.h"

/* ---- The column table ---- */

/* A column, or the total. The arena or the dataset owns the texts. */
struct nt_inspect_row {
    uint64_t column, bits, elements, pages, stored_bytes, packed_bytes, decoded_bytes;
    double ratio, share;
    unsigned algorithms;
    const char *field, *shown_as, *type, *encoding, *compression;
};

enum nt_inspect_kind {
    NT_INSPECT_TEXT,
    NT_INSPECT_NUMBER,
    NT_INSPECT_BYTES,
    NT_INSPECT_RATIO,
    NT_INSPECT_SHARE,
};

struct nt_inspect_property {
    const char *key, *title; /* name in JSON and for --sort; title in the table */
    enum nt_inspect_kind kind;
    size_t member; /* offset in the row */
    bool is_in_table, is_in_total;
    unsigned char rank; /* in the table of a narrow terminal */
};

enum { NT_INSPECT_PROPERTIES = 14 };

#define MEMBER(name) offsetof(struct nt_inspect_row, name)

#define PROPERTY(name, heading, type, ...)                                                                   \
    {                                                                                                        \
        .key = #name, .title = (heading), .kind = NT_INSPECT_##type, .member = MEMBER(name), __VA_ARGS__     \
    }

static const struct nt_inspect_property inspect_properties[NT_INSPECT_PROPERTIES] = {
    PROPERTY(column, "COLUMN", NUMBER, .is_in_table = true, .rank = 5),
    PROPERTY(field, "STORED AS", TEXT, .is_in_total = true),
    PROPERTY(shown_as, "FIELD", TEXT, .is_in_table = true, .is_in_total = true),
    PROPERTY(type, "TYPE", TEXT, .is_in_table = true),
    PROPERTY(encoding, "ENCODING", TEXT, .is_in_table = true, .rank = 8),
    PROPERTY(bits, "BITS", NUMBER, .is_in_table = true, .rank = 7),
    PROPERTY(elements, "ELEMENTS", NUMBER, .is_in_table = true, .is_in_total = true, .rank = 2),
    PROPERTY(pages, "PAGES", NUMBER, .is_in_table = true, .is_in_total = true, .rank = 4),
    PROPERTY(stored_bytes, "STORED", BYTES, .is_in_table = true, .is_in_total = true),
    PROPERTY(packed_bytes, "PACKED", BYTES, .is_in_table = true, .is_in_total = true, .rank = 6),
    PROPERTY(decoded_bytes, "DECODED", BYTES, .is_in_total = true),
    PROPERTY(ratio, "RATIO", RATIO, .is_in_table = true, .is_in_total = true),
    PROPERTY(share, "SHARE", SHARE, .is_in_table = true, .is_in_total = true),
    PROPERTY(compression, "COMPRESSION", TEXT, .is_in_table = true, .is_in_total = true, .rank = 3),
};

/* The value of a property: a number or bytes; a ratio or share; a text. */
static uint64_t inspect_number(const struct nt_inspect_row *row, const struct nt_inspect_property *property)
{
    return *(const uint64_t *)((const char *)row + property->member);
}

static double inspect_real(const struct nt_inspect_row *row, const struct nt_inspect_property *property)
{
    return *(const double *)((const char *)row + property->member);
}

static const char *inspect_text(const struct nt_inspect_row *row, const struct nt_inspect_property *property)
{
    return *(const char *const *)((const char *)row + property->member);
}

static const char *names_of_algorithms(struct nt_arena *arena, unsigned algorithms)
{
    struct nt_buffer names = {0};
    nt_append_algorithms(&names, algorithms);
    return nt_buffer_to_arena(&names, arena);
}

static const char *path_of(struct nt_arena *arena, const struct nt_dataset *dataset, uint32_t field)
{
    struct nt_buffer path = {0};
    nt_append_field_path(&path, dataset, field);
    return nt_buffer_to_arena(&path, arena);
}

static double quotient(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

/* Shares refer to `file_bytes`. False if out of memory. */
static bool inspect_row_fill(struct nt_arena *arena, uint64_t file_bytes, const struct nt_dataset *dataset,
                             const uint32_t *shown, const struct nt_column_stats *stats,
                             struct nt_inspect_row *row)
{
    const struct nt_column_sums *sums = &stats->sums;
    *row = (struct nt_inspect_row){
        .elements = sums->elements,
        .pages = sums->pages,
        .stored_bytes = sums->stored_bytes,
        .packed_bytes = sums->packed_bytes,
        .decoded_bytes = sums->decoded_bytes,
        .ratio = quotient(sums->packed_bytes, sums->stored_bytes),
        .share = quotient(sums->stored_bytes, file_bytes),
        .field = "total",
        .shown_as = "total",
        .type = "",
        .encoding = "",
        .algorithms = stats->algorithms,
        .compression = names_of_algorithms(arena, stats->algorithms),
    };
    if (stats->column != NT_NONE) {
        const struct nt_column *column = &dataset->columns[stats->column];
        const struct nt_decoder *decoder = nt_decoders_get(&dataset->decoders, column->decoder);
        row->column = column->id;
        row->bits = nt_decoder_stored_bits(decoder);
        row->field = path_of(arena, dataset, column->field);
        row->shown_as = path_of(arena, dataset, shown[column->field]);
        row->type = column->type_name;
        row->encoding = nt_decoder_steps(decoder);
    }
    return row->field && row->shown_as && row->compression;
}

/* Texts from A to Z, numbers from the largest; equal rows, and columns, keep the file's order. */
static int compare_rows(const void *left, const void *right, void *context)
{
    const struct nt_inspect_row *a = left, *b = right;
    const struct nt_inspect_property *by = context;
    int order = 0;
    if (by->kind == NT_INSPECT_TEXT)
        order = strcmp(inspect_text(a, by), inspect_text(b, by));
    else if (by->kind == NT_INSPECT_RATIO || by->kind == NT_INSPECT_SHARE)
        order = (inspect_real(a, by) < inspect_real(b, by)) - (inspect_real(a, by) > inspect_real(b, by));
    else if (by->member != offsetof(struct nt_inspect_row, column))
        order =
            (inspect_number(a, by) < inspect_number(b, by)) - (inspect_number(a, by) > inspect_number(b, by));
    return order ? order : (a->column > b->column) - (a->column < b->column);
}

/* ---- The command inspect ---- */

struct inspector {
    struct nt_report report;
    const struct nt_inspect_property *sort; /* NULL: file order */
    bool is_for_people;                     /* terminal output: short sizes */
    uint64_t file_bytes;
    struct nt_arena *arena;
};

/* ---- Text ---- */

static const char *format_bytes(const struct inspector *inspector, uint64_t bytes)
{
    static const char units[] = "kMGTPE";
    double value = (double)bytes;
    int unit = -1;
    if (!inspector->is_for_people || bytes < 1000)
        return nt_arena_format(inspector->arena, "%" PRIu64, bytes);
    while (value >= 999.5) {
        value /= 1000;
        unit++;
    }
    return nt_arena_format(inspector->arena, value < 9.95 ? "%.1f %cB" : "%.0f %cB", value, units[unit]);
}

static const char *format_text(const struct inspector *inspector, const char *text)
{
    struct nt_buffer printable = {0};
    if (!inspector->is_for_people)
        return text;
    nt_append_printable(&printable, text, strlen(text));
    return nt_buffer_to_arena(&printable, inspector->arena);
}

static const char *format_cell(const struct inspector *inspector, const struct nt_inspect_row *row,
                               const struct nt_inspect_property *property, bool is_total)
{
    const char *cell = NULL;
    if (is_total && !property->is_in_total)
        return "";
    switch (property->kind) {
    case NT_INSPECT_TEXT:
        cell = format_text(inspector, inspect_text(row, property));
        break;
    case NT_INSPECT_NUMBER:
        if (property->member == MEMBER(bits) && !row->bits)
            return ""; /* elements differ in size */
        cell = nt_arena_format(inspector->arena, "%" PRIu64, inspect_number(row, property));
        break;
    case NT_INSPECT_BYTES:
        cell = format_bytes(inspector, inspect_number(row, property));
        break;
    case NT_INSPECT_RATIO:
        cell = nt_arena_format(inspector->arena, "%.2f", inspect_real(row, property));
        break;
    case NT_INSPECT_SHARE:
        cell = nt_arena_format(inspector->arena, "%.1f%%", 100 * inspect_real(row, property));
        break;
    }
    return cell ? cell : "?";
}

static bool is_empty(const char **cells, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (*cells[i])
            return false;
    return true;
}

/* The last of `rows` is the total. */
static enum nt_status print_table(const struct inspector *inspector, const struct nt_inspect_row *rows,
                                  uint32_t count, struct nt_error *error)
{
    bool are_right[NT_INSPECT_PROPERTIES];
    unsigned char ranks[NT_INSPECT_PROPERTIES];
    size_t used = 0;
    NT_AUTO_FREE const char **cells = calloc(((size_t)count + 2) * NT_INSPECT_PROPERTIES, sizeof(*cells));
    NT_TRY(nt_check_memory(cells, error));
    for (int k = 0; k < NT_INSPECT_PROPERTIES; k++) {
        const struct nt_inspect_property *property = &inspect_properties[k];
        bool is_column = property->member == MEMBER(column);
        bool has_groups =
            inspector->report.settings->group; /* joined columns have no encoding of their own */
        if (!property->is_in_table || (has_groups && !property->is_in_total && !is_column))
            continue;
        const char **column = cells + used * (count + 2);
        are_right[used] = property->kind != NT_INSPECT_TEXT;
        ranks[used++] = property->rank;
        column[0] = !has_groups                            ? property->title
                    : is_column                            ? "COLUMNS"
                    : property->member == MEMBER(shown_as) ? "GROUP"
                                                           : property->title;
        for (uint32_t i = 0; i <= count; i++)
            column[i + 1] = format_cell(inspector, &rows[i], property, i == count);
        used -= property->rank && is_empty(column + 1, count);
    }
    nt_grid_print(&(struct nt_grid){.cells = cells,
                                    .rows = (size_t)count + 2,
                                    .columns = used,
                                    .is_transposed = true,
                                    .is_right = are_right,
                                    .ranks = ranks,
                                    .width = inspector->is_for_people ? nt_terminal_width() : 0,
                                    .has_colour = nt_terminal_has_colour()});
    return NT_OK;
}

static void print_line(const struct inspector *inspector, const char *key, const char *text)
{
    printf("%-15s %s\n", key, format_text(inspector, text));
}

static void print_bytes(const struct inspector *inspector, const char *key, uint64_t bytes)
{
    const char *text = format_bytes(inspector, bytes);
    printf("%-15s %s\n", key, text ? text : "?");
}

static void print_summary(const struct inspector *inspector, const struct nt_dataset *dataset,
                          const struct nt_column_stats *total, const struct nt_inspect_row *row)
{
    print_line(inspector, "name", dataset->name.bytes);
    if (dataset->writer.length)
        print_line(inspector, "writer", dataset->writer.bytes);
    printf("%-15s %s %s, generation: %s\n", "format", dataset->format, dataset->version, dataset->generation);
    printf("%-15s %" PRIu64 "\n", "entries", dataset->entries);
    printf("%-15s %u\n", "fields", dataset->field_count);
    printf("%-15s %u\n", "columns", dataset->column_count);
    printf("%-15s %u\n", "clusters", nt_dataset_cluster_count(dataset));
    printf("%-15s %u\n", "cluster groups", dataset->group_count);
    printf("%-15s %" PRIu64 "\n", "pages", row->pages);
    print_bytes(inspector, "largest page", total->largest_page);
    print_bytes(inspector, "stored", row->stored_bytes);
    if (total->unique_bytes != row->stored_bytes)
        printf("%-15s %s, counting each shared page once\n", "stored once",
               format_bytes(inspector, total->unique_bytes));
    if (inspector->file_bytes)
        printf("%-15s %.1f%% of the file\n", "share",
               100 * (double)total->unique_bytes / (double)inspector->file_bytes);
    print_bytes(inspector, "packed", row->packed_bytes);
    print_bytes(inspector, "decoded", row->decoded_bytes);
    printf("%-15s %.2f\n", "ratio", row->ratio);
    printf("%-15s %s\n", "compression", row->compression);
    printf("%-15s %s\n", "checksums", nt_checksum_info(total->sums.checksum)->name);
    if (!total->sums.is_complete)
        printf("%-15s page lists that cannot be read are omitted\n", "incomplete");
    putchar('\n');
}

/* ---- JSON ---- */

static void put_row(struct nt_json *json, const struct nt_inspect_row *row, bool is_sum)
{
    for (int k = 0; k < NT_INSPECT_PROPERTIES; k++) {
        const struct nt_inspect_property *property = &inspect_properties[k];
        if (is_sum && (!property->is_in_total || property->member == MEMBER(field) ||
                       property->member == MEMBER(shown_as)))
            continue;
        if (property->kind == NT_INSPECT_TEXT)
            nt_json_member_text(json, property->key, nt_text_of(inspect_text(row, property)));
        else if (property->kind == NT_INSPECT_RATIO && !row->stored_bytes)
            nt_json_member_null(json, property->key);
        else if (property->kind == NT_INSPECT_RATIO || property->kind == NT_INSPECT_SHARE)
            nt_json_member_double(json, property->key, inspect_real(row, property));
        else
            nt_json_member_unsigned(json, property->key, inspect_number(row, property));
    }
}

static void put_dataset(const struct inspector *inspector, const struct nt_dataset *dataset,
                        const struct nt_column_stats *total, const struct nt_inspect_row *rows,
                        uint32_t count)
{
    struct nt_json *json = inspector->report.json;
    bool has_groups = inspector->report.settings->group;
    nt_json_member_text(json, "writer", dataset->writer);
    nt_json_member_string(json, "format", dataset->format);
    nt_json_member_string(json, "version", dataset->version);
    nt_json_member_string(json, "generation", dataset->generation);
    nt_json_member_unsigned(json, "entries", dataset->entries);
    nt_json_member_unsigned(json, "fields", dataset->field_count);
    nt_json_member_unsigned(json, "clusters", nt_dataset_cluster_count(dataset));
    nt_json_member_unsigned(json, "cluster_groups", dataset->group_count);
    put_row(json, &rows[count], true);
    nt_json_member_unsigned(json, "stored_once_bytes", total->unique_bytes);
    nt_json_member_unsigned(json, "largest_page_bytes", total->largest_page);
    nt_json_member_string(json, "checksum_kind", nt_checksum_info(total->sums.checksum)->name);
    nt_json_member_bool(json, "is_complete", total->sums.is_complete);
    nt_json_member_array(json, has_groups ? "groups" : "columns");
    for (uint32_t i = 0; i < count; i++) {
        nt_json_object(json);
        if (has_groups) {
            nt_json_member_text(json, "name", nt_text_of(rows[i].field));
            nt_json_member_unsigned(json, "columns", rows[i].column);
        }
        put_row(json, &rows[i], has_groups);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

/* ---- Groups of columns ---- */

enum { NOT_GROUPED, BY_FIELD, BY_TYPE, BY_PREFIX };
static const char *const group_names[] = {"", "field", "type", "prefix", NULL};

/* The top-level field, the part of its name up to a mark, or the column's type. */
static const char *group_of(const struct inspector *inspector, const struct nt_inspect_row *row)
{
    const char *name = row->shown_as, *end;
    if (inspector->report.settings->group == BY_TYPE)
        return row->type;
    size_t length = strcspn(name, "/"), prefix;
    if (inspector->report.settings->group == BY_FIELD)
        return nt_arena_copy(inspector->arena, name, length);
    prefix = 1 + strcspn(name + (*name != '\0'), "_.:-/");
    end = prefix < length ? "*" : "";
    return nt_arena_format(inspector->arena, "%.*s%s", (int)(prefix < length ? prefix + 1 : length), name,
                           end);
}

static int compare_groups(const void *left, const void *right)
{
    const struct nt_inspect_row *a = left, *b = right;
    int order = strcmp(a->field, b->field);
    return order ? order : (a->column > b->column) - (a->column < b->column);
}

static int compare_stored(const void *left, const void *right)
{
    const struct nt_inspect_row *a = left, *b = right;
    int order = (a->stored_bytes < b->stored_bytes) - (a->stored_bytes > b->stored_bytes);
    return order ? order : strcmp(a->field, b->field);
}

static void add_to_group(struct nt_inspect_row *group, const struct nt_inspect_row *row)
{
    group->column++;
    group->elements += row->elements;
    group->pages += row->pages;
    group->stored_bytes += row->stored_bytes;
    group->packed_bytes += row->packed_bytes;
    group->decoded_bytes += row->decoded_bytes;
    group->share += row->share;
    group->algorithms |= row->algorithms;
    group->ratio = quotient(group->packed_bytes, group->stored_bytes);
}

/* Replaces the columns by groups, the largest first, in front of the total. */
static enum nt_status join_groups(struct inspector *inspector, struct nt_inspect_row *rows, uint32_t *count,
                                  struct nt_error *error)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < *count; i++)
        if (!(rows[i].field = group_of(inspector, &rows[i])))
            return nt_fail_memory(error);
    qsort(rows, *count, sizeof(*rows), compare_groups);
    for (uint32_t i = 0; i < *count; i++) {
        struct nt_inspect_row row = rows[i], *last = groups ? &rows[groups - 1] : NULL;
        if (!last || strcmp(last->field, row.field) != 0) {
            last = &rows[groups++];
            *last = (struct nt_inspect_row){
                .field = row.field, .shown_as = row.field, .type = "", .encoding = ""};
        }
        add_to_group(last, &row);
    }
    for (uint32_t i = 0; i < groups; i++)
        if (!(rows[i].compression = names_of_algorithms(inspector->arena, rows[i].algorithms)))
            return nt_fail_memory(error);
    rows[groups] = rows[*count];
    rows[groups].column = *count;
    qsort(rows, groups, sizeof(*rows), compare_stored);
    *count = groups;
    return NT_OK;
}

/* ---- Datasets ---- */

static enum nt_status show(struct inspector *inspector, const struct nt_dataset *dataset,
                           const struct nt_column_stats *columns, uint32_t count, struct nt_error *error)
{
    const struct nt_column_stats *total = &columns[count];
    NT_AUTO_FREE struct nt_inspect_row *rows = calloc((size_t)count + 1, sizeof(*rows));
    NT_AUTO_FREE uint32_t *shown = NULL;
    NT_TRY(rows ? nt_shown_fields(dataset, &shown, error) : nt_fail_memory(error));
    for (uint32_t i = 0; i <= count; i++)
        if (!inspect_row_fill(inspector->arena, inspector->file_bytes, dataset, shown, &columns[i], &rows[i]))
            return nt_fail_memory(error);
    if (inspector->report.settings->group)
        NT_TRY(join_groups(inspector, rows, &count, error));
    if (inspector->sort)
        qsort_r(rows, count, sizeof(*rows), compare_rows, (void *)inspector->sort);
    if (inspector->report.json) {
        put_dataset(inspector, dataset, total, rows, count);
    } else {
        if (inspector->report.has_printed)
            putchar('\n');
        inspector->report.has_printed = true;
        print_summary(inspector, dataset, total, &rows[count]);
        NT_TRY(print_table(inspector, rows, count, error));
    }
    return NT_OK;
}

static enum nt_status inspect(struct nt_report *report, struct nt_reader *reader, struct nt_dataset *dataset,
                              struct nt_error *error)
{
    NT_AUTO_FREE struct nt_column_stats *columns = NULL;
    const struct nt_target *target = report->target;
    uint32_t count = 0;
    NT_TRY(
        nt_inspect(dataset, target->count ? target->fields : NULL, target->count, &columns, &count, error));
    return show((struct inspector *)report, dataset->physical, columns, count, error);
}

/* Sums the sizes of objects from the page lists, the only source of their number. */
static uint64_t objects_bytes(const struct nt_file *file)
{
    struct nt_layout *layout = NULL;
    struct nt_layout_item item;
    uint64_t total = 0;
    bool has_item = true;
    enum nt_status status = nt_layout_new(file, &layout, NULL);
    while (status == NT_OK && has_item)
        status = nt_layout_next(layout, &item, &has_item, NULL);
    if (status == NT_OK) {
        uint32_t count;
        const uint64_t *bytes = nt_layout_source_bytes(layout, &count);
        for (uint32_t i = 0; i < count; i++)
            total += bytes[i];
    }
    nt_layout_free(layout);
    return total;
}

/* 0: unknown. */
static uint64_t file_bytes(const struct nt_file *file)
{
    uint64_t total = 0, size;
    if (!file->layout_sources)
        return nt_source_size(file->source, &total, NULL) == NT_OK ? total : 0;
    for (uint32_t i = 0; i < file->layout_source_count; i++) {
        if (file->layout_sources[i]->is_object_store)
            return objects_bytes(file);
        if (nt_file_layout_size(file, i, &size, NULL) == NT_OK)
            total += size;
    }
    return total;
}

static void begin(struct nt_report *report, const struct nt_file *file, bool is_in_directory_of_files)
{
    struct inspector *inspector = (struct inspector *)report;
    inspector->file_bytes = file_bytes(file);
    if (report->json) {
        nt_json_member_unsigned(report->json, "file_bytes", inspector->file_bytes);
    } else if (is_in_directory_of_files) {
        if (report->has_printed)
            putchar('\n');
        print_line(inspector, "file", file->path);
        report->has_printed = false;
    }
}

/* Accepts "stored" for "stored_bytes". */
static const struct nt_inspect_property *property_named(const char *name)
{
    size_t length = strlen(name);
    for (int k = 0; k < NT_INSPECT_PROPERTIES; k++) {
        const char *key = inspect_properties[k].key;
        if (!strncmp(key, name, length) && (!key[length] || !strcmp(key + length, "_bytes")))
            return &inspect_properties[k];
    }
    return NULL;
}

static enum nt_exit_status run(const struct nt_invocation *invocation)
{
    struct inspector inspector = {.report = {.document = "inspect", .begin = begin, .show = inspect},
                                  .is_for_people = isatty(STDOUT_FILENO)};
    const char *sort = invocation->settings->sort;
    inspector.sort = sort ? property_named(sort) : NULL;
    inspector.arena = nt_arena_new();
    if (!inspector.arena)
        return NT_EXIT_INTERNAL;
    enum nt_exit_status result = nt_report_run(&inspector.report, invocation);
    nt_arena_free(inspector.arena);
    return result;
}

/* The shortest accepted form of each key. */
static void each_key(nt_option_value *take, void *context)
{
    for (int k = 0; k < NT_INSPECT_PROPERTIES; k++) {
        const char *key = inspect_properties[k].key, *unit = strstr(key, "_bytes");
        char name[32];
        snprintf(name, sizeof(name), "%.*s", (int)(unit ? unit - key : (ptrdiff_t)strlen(key)), key);
        take(context, name, "");
    }
}

static bool is_key(const char *name)
{
    return property_named(name);
}

static const struct nt_option options[] = {
    NT_OPTION(0, "json", FLAG, json, .help = "print a JSON document for each file, with exact numbers"),
    NT_OPTION(0, "group", CHOICE, group, .argument = "KEY", .choices = group_names,
              .help =
                  "join columns by field (at the top), type or prefix of names, and sort by stored bytes"),
    NT_OPTION(
        0, "sort", TEXT, sort, .argument = "KEY", .each_value = each_key, .is_value = is_key,
        .help =
            "sort columns or groups by field, type, stored, ratio, ...: text from A to Z, largest numbers "
            "first"),
    {0},
};

const struct nt_command nt_command_inspect = {
    .name = "inspect",
    .operands = "FILE [PATH...]",
    .help = "print the storage size of each column",
    .fewest = 1,
    .options = options,
    .run = run,
};
