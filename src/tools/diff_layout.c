/* SPDX-License-Identifier: MIT
 *
 * Compares how two datasets are stored: totals, and each column with the column of the same number in
 * the paired field.
 */
#include "tools/tools.h"

/* A side, and the column to compare. */
struct compared_column {
    const struct nt_dataset *dataset;
    const struct nt_column_stats *stats; /* of a column, or the total */
};

struct property {
    const char *name;
    bool is_detail;
    uint64_t (*number)(const struct compared_column *layout); /* exactly one of the two is set */
    void (*words)(struct nt_buffer *out, const struct compared_column *layout);
};

#define DEFINE_WORDS(name, words)                                                                            \
    static void put_##name(struct nt_buffer *out, const struct compared_column *layout)                      \
    {                                                                                                        \
        nt_buffer_append_string(out, words);                                                                 \
    }

#define DEFINE_NUMBER(name, value)                                                                           \
    static uint64_t name(const struct compared_column *layout)                                               \
    {                                                                                                        \
        return value;                                                                                        \
    }

static const struct nt_column *column_of(const struct compared_column *layout)
{
    return &layout->dataset->columns[layout->stats->column];
}

static const struct nt_decoder *decoder_of(const struct compared_column *layout)
{
    return nt_column_decoder(layout->dataset, layout->stats->column);
}

DEFINE_WORDS(format, layout->dataset->format)
DEFINE_WORDS(version, layout->dataset->version)
DEFINE_WORDS(generation, layout->dataset->generation)
DEFINE_WORDS(checksum_kind, nt_checksum_info(layout->stats->sums.checksum)->name)
DEFINE_WORDS(column_type, column_of(layout)->type_name)
DEFINE_WORDS(encoding, nt_decoder_steps(decoder_of(layout)))
DEFINE_NUMBER(clusters, nt_dataset_cluster_count(layout->dataset))
DEFINE_NUMBER(cluster_groups, layout->dataset->group_count)
DEFINE_NUMBER(columns, layout->dataset->column_count)
DEFINE_NUMBER(pages, layout->stats->sums.pages)
DEFINE_NUMBER(largest_page_bytes, layout->stats->largest_page)
DEFINE_NUMBER(stored_bytes, layout->stats->sums.stored_bytes)
DEFINE_NUMBER(stored_once_bytes, layout->stats->unique_bytes)
DEFINE_NUMBER(packed_bytes, layout->stats->sums.packed_bytes)
DEFINE_NUMBER(bits, nt_decoder_stored_bits(decoder_of(layout)))

static void put_writer(struct nt_buffer *out, const struct compared_column *layout)
{
    nt_buffer_append(out, layout->dataset->writer.bytes, layout->dataset->writer.length);
}

static void put_compression(struct nt_buffer *out, const struct compared_column *layout)
{
    nt_append_algorithms(out, layout->stats->algorithms);
}

static const struct property of_datasets[] = {
    {"format", .words = put_format},
    {"version", .words = put_version},
    {"generation", .words = put_generation},
    {"writer", .words = put_writer},
    {"clusters", .number = clusters},
    {"cluster_groups", .number = cluster_groups},
    {"columns", .number = columns},
    {"pages", .number = pages},
    {"largest_page_bytes", .number = largest_page_bytes},
    {"stored_bytes", .number = stored_bytes},
    {"stored_once_bytes", .number = stored_once_bytes},
    {"packed_bytes", .number = packed_bytes},
    {"compression", .words = put_compression},
    {"checksum_kind", .words = put_checksum_kind},
};

static const struct property of_columns[] = {
    {"type", .words = put_column_type},
    {"encoding", .words = put_encoding},
    {"bits", .number = bits},
    {"pages", .is_detail = true, .number = pages},
    {"stored_bytes", .is_detail = true, .number = stored_bytes},
    {"packed_bytes", .is_detail = true, .number = packed_bytes},
    {"compression", .is_detail = true, .words = put_compression},
};

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* Reports the properties of a table that differ. `template` has the place. */
static enum nt_status report_properties(struct nt_diff_run *run, struct nt_difference template,
                                        const struct property *table, size_t count,
                                        const struct compared_column layouts[NT_DIFF_SIDES],
                                        struct nt_error *error)
{
    for (size_t i = 0; i < count; i++) {
        template.property = table[i].name;
        template.is_detail = table[i].is_detail;
        if (table[i].number) {
            nt_diff_report_numbers(run, template, table[i].number(&layouts[0]), table[i].number(&layouts[1]));
            continue;
        }
        for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
            nt_buffer_clear(&run->texts[side]);
            table[i].words(&run->texts[side], &layouts[side]);
            NT_TRY(nt_check_memory(!run->texts[side].failed, error));
        }
        nt_diff_report_texts(run, template);
    }
    return NT_OK;
}

struct inspection {
    struct nt_column_stats *columns; /* by index, then the total */
    uint32_t count;
};

static enum nt_status diff_column(struct nt_diff_run *run, const struct inspection *inspections,
                                  const struct nt_field_pair *pair, uint32_t number, uint32_t a, uint32_t b,
                                  struct nt_error *error)
{
    const uint32_t columns[NT_DIFF_SIDES] = {a, b};
    struct nt_difference difference = nt_difference(NT_DIFF_LAYOUT, "column", pair->fields);
    struct compared_column layouts[NT_DIFF_SIDES];
    bool are_two = true;
    difference.column = number;
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        const struct nt_dataset *dataset = run->sides[side].dataset->physical;
        layouts[side] = (struct compared_column){dataset, NULL};
        if (columns[side] != NT_NONE)
            layouts[side].stats = bsearch(&columns[side], inspections[side].columns, inspections[side].count,
                                          sizeof(*inspections[side].columns), nt_compare_u32);
        if (layouts[side].stats)
            difference.values[side] = (struct nt_diff_value){
                .kind = NT_DIFF_WORDS, .text = nt_text_of(dataset->columns[columns[side]].type_name)};
        are_two &= layouts[side].stats != NULL;
    }
    if (are_two)
        return report_properties(run, difference, of_columns, COUNT(of_columns), layouts, error);
    nt_diff_report(run, &difference);
    return NT_OK;
}

static enum nt_status diff_columns(struct nt_diff_run *run, const struct inspection *inspections,
                                   const struct nt_field_pair *pair, struct nt_error *error)
{
    const uint32_t *columns[NT_DIFF_SIDES];
    uint32_t counts[NT_DIFF_SIDES];
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++) {
        const struct nt_dataset *dataset = run->sides[side].dataset->physical;
        columns[side] = nt_field_columns(dataset, pair->fields[side], &counts[side]);
        if (!dataset->fields[pair->fields[side]].owns_columns)
            counts[side] = 0;
    }
    for (uint32_t i = 0; i < counts[0] || i < counts[1]; i++)
        NT_TRY(diff_column(run, inspections, pair, i, i < counts[0] ? columns[0][i] : NT_NONE,
                           i < counts[1] ? columns[1][i] : NT_NONE, error));
    return NT_OK;
}

enum nt_status nt_diff_layout(struct nt_diff_run *run, const struct nt_field_pair *pairs, size_t count,
                              struct nt_error *error)
{
    static const uint32_t of_no_field[NT_DIFF_SIDES] = {NT_NONE, NT_NONE};
    struct inspection inspections[NT_DIFF_SIDES] = {{0}};
    struct compared_column layouts[NT_DIFF_SIDES];
    enum nt_status status = NT_OK;
    for (unsigned side = 0; side < NT_DIFF_SIDES && status == NT_OK; side++) {
        const struct nt_diff_side *of = &run->sides[side];
        status = nt_inspect(of->dataset, of->field == NT_NONE ? NULL : &of->field, 1,
                            &inspections[side].columns, &inspections[side].count, error);
        if (status == NT_OK)
            layouts[side] = (struct compared_column){of->dataset->physical,
                                                     &inspections[side].columns[inspections[side].count]};
    }
    if (status == NT_OK)
        status = report_properties(run, nt_difference(NT_DIFF_LAYOUT, NULL, of_no_field), of_datasets,
                                   COUNT(of_datasets), layouts, error);
    for (size_t i = 0; i < count && status == NT_OK; i++)
        if (pairs[i].fields[0] != NT_NONE && pairs[i].fields[1] != NT_NONE)
            status = diff_columns(run, inspections, &pairs[i], error);
    for (unsigned side = 0; side < NT_DIFF_SIDES; side++)
        free(inspections[side].columns);
    return status;
}
