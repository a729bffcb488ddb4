/* SPDX-License-Identifier: MIT
 *
 * The files of a column directory: the stored column as .bin and .npy, and column.json with its
 * encoding, compression and totals, whose JSON members other files share.
 */
#include "vfs/vfs.h"

/* ---- Shared JSON members ---- */

void nt_json_ratio(struct nt_json *json, uint64_t packed_bytes, uint64_t stored_bytes)
{
    nt_json_key(json, "ratio");
    if (stored_bytes)
        nt_json_double(json, (double)packed_bytes / (double)stored_bytes);
    else
        nt_json_null(json);
}

void nt_json_members_sums(struct nt_json *json, const struct nt_column_sums *sums)
{
    nt_json_member_unsigned(json, "pages", sums->pages);
    nt_json_member_unsigned(json, "stored_bytes", sums->stored_bytes);
    nt_json_member_unsigned(json, "packed_bytes", sums->packed_bytes);
    nt_json_member_unsigned(json, "decoded_bytes", sums->decoded_bytes);
    nt_json_ratio(json, sums->packed_bytes, sums->stored_bytes);
}

static void add_setting(struct nt_column_summary *summary, uint32_t setting)
{
    for (uint32_t i = 0; i < summary->setting_count; i++)
        if (summary->settings[i] == setting)
            return;
    if (setting < NT_SETTINGS)
        summary->settings[summary->setting_count++] = (uint16_t)setting;
}

static bool is_suppressed(const struct nt_dataset *dataset, const struct nt_range *range, uint32_t cluster,
                          uint32_t column)
{
    return range->state == NT_RANGE_SUPPRESSED;
}

/* The cluster is older than the column. put_uncovered reports clusters of other shards. */
static bool is_absent(const struct nt_dataset *dataset, const struct nt_range *range, uint32_t cluster,
                      uint32_t column)
{
    return range->state == NT_RANGE_ABSENT && nt_cluster_holds(dataset, cluster, column);
}

static void add_range(void *context, const struct nt_dataset *dataset, const struct nt_group *group,
                      uint32_t cluster, uint32_t column, const struct nt_range *range)
{
    struct nt_column_summary *summary = context;
    nt_column_sums_add(&summary->sums, dataset, group, range);
    if (range->state == NT_RANGE_PRESENT)
        add_setting(summary, range->compression_settings);
    summary->has_suppressed |= is_suppressed(dataset, range, cluster, column);
    summary->has_absent |= is_absent(dataset, range, cluster, column);
}

enum nt_status nt_column_summarize(struct nt_dataset *dataset, uint32_t column,
                                   struct nt_column_summary *summary, struct nt_error *error)
{
    *summary = (struct nt_column_summary){.setting_count = 0};
    return nt_column_visit_ranges(dataset, column, add_range, summary, &summary->sums.is_complete, error);
}

void nt_json_member_settings(struct nt_json *json, const struct nt_column_summary *summary)
{
    nt_json_member_array(json, "compression_settings");
    for (uint32_t i = 0; i < summary->setting_count; i++)
        nt_json_unsigned(json, summary->settings[i]);
    nt_json_end_array(json);
}

/* ---- column.json ---- */

static void put_encoding(struct nt_json *json, const struct nt_dataset *dataset,
                         const struct nt_column *column)
{
    const struct nt_decoder *decoder = nt_decoders_get(&dataset->decoders, column->decoder);
    nt_json_member_unsigned(json, "bits", nt_decoder_stored_bits(decoder));
    nt_json_member_string(json, "encoding", nt_decoder_steps(decoder));
    nt_json_member_string(json, "element", nt_element_info(decoder->element)->name);
    nt_json_member_string(json, "dtype", column->dtype.numpy);
    nt_json_member_unsigned(json, "element_bytes", decoder->element_bytes);
    nt_json_key(json, "value_range");
    if (nt_column_has_range(column)) {
        nt_json_array(json);
        nt_json_double(json, decoder->minimum);
        nt_json_double(json, decoder->maximum);
        nt_json_end_array(json);
    } else {
        nt_json_null(json);
    }
}

static void put_identity(struct nt_json *json, const struct nt_dataset *dataset,
                         const struct nt_column *column)
{
    nt_json_member_unsigned(json, "id", column->id);
    nt_json_member_unsigned(json, "field_id", dataset->fields[column->field].id);
    nt_json_member_field_path(json, "field", dataset, column->field);
    nt_json_member_string(json, "type", column->type_name);
    if (dataset->ops && dataset->ops->describe_column)
        dataset->ops->describe_column(dataset, (uint32_t)(column - dataset->columns), json);
    put_encoding(json, dataset, column);
    nt_json_member_unsigned(json, "representation_index", column->representation);
    nt_json_member_unsigned(json, "index_in_representation", column->position);
    nt_json_member_unsigned(json, "first_element", nt_column_first_element(column));
    nt_json_member_bool(json, "is_deferred", nt_column_is_deferred(column));
    nt_json_member_bool(json, "is_suppressed", nt_column_begins_suppressed(column));
}

typedef bool filter_cluster(const struct nt_dataset *dataset, const struct nt_range *range, uint32_t cluster,
                            uint32_t column);

struct selected {
    struct nt_json *json;
    filter_cluster *is_selected;
};

static void put_cluster(void *context, const struct nt_dataset *dataset, const struct nt_group *group,
                        uint32_t cluster, uint32_t column, const struct nt_range *range)
{
    const struct selected *selected = context;
    if (selected->is_selected(dataset, range, cluster, column))
        nt_json_unsigned(selected->json, cluster);
}

/* The numbers of the selected clusters, if their page lists are readable. */
static enum nt_status put_clusters(struct nt_json *json, const char *key, struct nt_dataset *dataset,
                                   uint32_t column, bool has_any, filter_cluster *is_selected,
                                   struct nt_error *error)
{
    struct selected selected = {json, is_selected};
    bool is_complete;
    nt_json_member_array(json, key);
    if (has_any)
        NT_TRY(nt_column_visit_ranges(dataset, column, put_cluster, &selected, &is_complete, error));
    nt_json_end_array(json);
    return NT_OK;
}

/* The algorithm of the first page, which may have to be read. The settings of the writer are only a
 * hint. NULL: there is no page, or a bad one. */
static enum nt_status find_algorithm(const struct nt_resolved_node *resolved, const char **name_ret,
                                     struct nt_error *error)
{
    NT_CLEANUP(nt_page_unpin_at) struct nt_page_position place = {0};
    *name_ret = NULL;
    enum nt_status status =
        nt_column_page_pin(resolved->vfs->reader, resolved->dataset, resolved->column, 0, &place, error);
    if (status == NT_OK)
        status = nt_page_algorithm(resolved->dataset, place.page, name_ret, error);
    if (status != NT_OK)
        *name_ret = NULL;
    return nt_is_environmental(status) ? status : NT_OK;
}

static void put_gap(struct nt_json *json, uint64_t first, uint64_t end)
{
    if (first >= end)
        return;
    nt_json_object(json);
    nt_json_member_unsigned(json, "first_entry", first);
    nt_json_member_unsigned(json, "entries", end - first);
    nt_json_end_object(json);
}

/* Iterates over the clusters that hold a column. */
struct holders {
    const struct nt_dataset *dataset;
    uint32_t column, next, end;
};

static bool next_holder(struct holders *holders, struct nt_cluster *cluster)
{
    while (holders->next < holders->end &&
           !nt_cluster_holds(holders->dataset, holders->next, holders->column))
        holders->next++;
    if (holders->next >= holders->end)
        return false;
    *cluster = nt_dataset_cluster(holders->dataset, holders->next++);
    return true;
}

static bool are_in_order(struct holders holders)
{
    struct nt_cluster cluster;
    uint64_t last = 0;
    for (; next_holder(&holders, &cluster); last = cluster.first_entry)
        if (cluster.first_entry < last)
            return false;
    return true;
}

/* `covered`: the entries before it are covered, or were put. */
static void put_gap_before(struct nt_json *json, const struct nt_cluster *cluster, uint64_t *covered)
{
    put_gap(json, *covered, cluster->first_entry);
    uint64_t end = cluster->first_entry + cluster->entries;
    *covered = end > *covered ? end : *covered;
}

/* For clusters in any order. The budget pays for a sorted copy of them. */
static enum nt_status put_sorted_gaps(struct nt_json *json, struct holders holders, struct nt_budget *budget,
                                      uint64_t *covered, struct nt_error *error)
{
    uint32_t count = 0;
    size_t bytes = (size_t)(holders.end - holders.next) * sizeof(struct nt_cluster);
    NT_TRY(nt_budget_take(budget, NT_COST_ENVELOPE_BYTE, bytes, NT_NO_OFFSET, error));
    NT_AUTO_FREE struct nt_cluster *held = malloc(bytes);
    while (held && next_holder(&holders, &held[count]))
        count++;
    if (held)
        qsort(held, count, sizeof(*held), nt_compare_u64);
    for (uint32_t i = 0; i < count; i++)
        put_gap_before(json, &held[i], covered);
    nt_budget_release(budget, NT_COST_ENVELOPE_BYTE, bytes);
    return nt_check_memory(held, error);
}

/* Sharded clusters: the entries that no cluster with this column covers. */
static enum nt_status put_uncovered(struct nt_json *json, struct nt_dataset *dataset, uint32_t column,
                                    struct nt_error *error)
{
    uint32_t clusters, first = nt_groups_clusters(dataset, nt_groups_of_column(dataset, column), &clusters);
    struct holders holders = {dataset, column, first, first + clusters};
    struct nt_cluster cluster;
    uint64_t covered = 0;
    nt_json_member_array(json, "uncovered_entries");
    if (!are_in_order(holders))
        NT_TRY(put_sorted_gaps(json, holders, &dataset->file->budget, &covered, error));
    else
        while (next_holder(&holders, &cluster))
            put_gap_before(json, &cluster, &covered);
    put_gap(json, covered, dataset->entries);
    nt_json_end_array(json);
    return NT_OK;
}

/* Spaces before the last newline, so that the size does not depend on the name of the algorithm. */
static void pad(struct nt_buffer *out, const char *algorithm)
{
    static const char none[] = "null";
    size_t length = algorithm ? strlen(algorithm) + strlen("\"\"") : strlen(none);
    if (out->failed)
        return;
    out->length--; /* the newline */
    while (length++ < NT_ALGORITHM_NAME + strlen("\"\""))
        nt_buffer_append_byte(out, ' ');
    nt_buffer_append_byte(out, '\n');
}

static enum nt_status write_column(const struct nt_resolved_node *resolved, const char *algorithm,
                                   struct nt_buffer *out, struct nt_error *error)
{
    struct nt_dataset *dataset = resolved->dataset;
    uint32_t column = resolved->column;
    struct nt_json json;
    struct nt_column_summary summary;
    const struct nt_column_sums *sums = &summary.sums;
    NT_TRY(nt_column_summarize(dataset, column, &summary, error));
    nt_json_document(&json, out, "column");
    put_identity(&json, dataset, &dataset->columns[column]);
    nt_json_member_unsigned(&json, "elements", sums->elements);
    nt_json_members_sums(&json, sums);
    nt_json_member_string(&json, "checksum_kind", nt_checksum_info(sums->checksum)->name);
    nt_json_member_bool(&json, "is_complete", sums->is_complete);
    nt_json_member_string(&json, "compression", algorithm);
    nt_json_member_settings(&json, &summary);
    NT_TRY(put_clusters(&json, "suppressed_clusters", dataset, column, summary.has_suppressed, is_suppressed,
                        error));
    NT_TRY(put_clusters(&json, "absent_clusters", dataset, column, summary.has_absent, is_absent, error));
    if (dataset->has_sharded_clusters)
        NT_TRY(put_uncovered(&json, dataset, column, error));
    nt_json_finish(&json);
    pad(out, algorithm);
    return NT_OK;
}

static enum nt_status column_json(const struct nt_resolved_node *resolved, struct nt_buffer *out,
                                  struct nt_error *error)
{
    const char *algorithm;
    NT_TRY(find_algorithm(resolved, &algorithm, error));
    return write_column(resolved, algorithm, out, error);
}

/* Reads no page. Unknown if the lists of all clusters do not fit in memory: making the document takes no
 * longer than this, and its size is kept. */
static enum nt_status column_json_size(const struct nt_resolved_node *resolved, bool may_block,
                                       uint64_t *size_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer out = {0};
    NT_TRY(nt_node_need_lists(resolved, resolved->dataset, resolved->column, may_block, error));
    NT_TRY(nt_node_need_lists(resolved, resolved->dataset, resolved->column, false, error));
    NT_TRY(write_column(resolved, NULL, &out, error));
    *size_ret = out.length;
    return nt_check_memory(!out.failed, error);
}

/* ---- Data, ends, levels: .bin and .npy ---- */

enum { DATA, ENDS, LEVELS }; /* parameters of rows */

/* The ends of values and the levels are also columns of the field, in the structure's dataset. */
static bool find_shown(const struct nt_resolved_node *resolved, unsigned which, struct nt_range_file *shown)
{
    uint32_t count = 0;
    *shown = (struct nt_range_file){
        .reader = resolved->vfs->reader, .dataset = resolved->dataset, .column = resolved->column};
    if (which == DATA) /* a column of unknown type has no decoded elements */
        return nt_column_decoder(shown->dataset, shown->column)->encoding != NT_ENCODING_UNKNOWN;
    shown->dataset = resolved->dataset->logical->levels; /* the columns are there, not in `dataset` */
    const uint32_t *columns =
        shown->dataset ? nt_field_columns(shown->dataset, resolved->field, &count) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        shown->column = columns[i];
        if (!strcmp(shown->dataset->columns[columns[i]].type_name, which == ENDS ? "ends" : "levels"))
            return true;
    }
    return false;
}

static bool has_data(const struct nt_resolved_node *resolved, unsigned parameter)
{
    struct nt_range_file shown;
    return find_shown(resolved, parameter, &shown);
}

static enum nt_status data_content(const struct nt_resolved_node *resolved, bool may_block,
                                   uint64_t *size_ret, struct nt_content **content_ret,
                                   struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer header = {0};
    struct nt_range_file shown;
    uint64_t elements, pages, bytes, size = 0;
    find_shown(resolved, resolved->pseudo->parameter, &shown);
    NT_TRY(nt_node_need_lists(resolved, shown.dataset, shown.column, may_block, error));
    NT_TRY(nt_column_size(shown.reader, shown.dataset, shown.column, &elements, &pages, error));
    if (resolved->pseudo->is_npy)
        nt_npy_header(&header, &shown.dataset->columns[shown.column].dtype, false, &elements, 1);
    NT_TRY(nt_check_memory(!header.failed, error));
    if (!nt_checked_multiply(elements, nt_column_decoder(shown.dataset, shown.column)->element_bytes,
                             &bytes) ||
        !nt_checked_add(bytes, header.length, &size))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the size of the column overflows");
    if (content_ret)
        return nt_range_file_content(&shown, &header, bytes, &nt_range_file_decoded, content_ret, error);
    *size_ret = size;
    return NT_OK;
}

/* ---- The tables ---- */

/* clang-format off */
#define STREAM(stem, which, is_in_pages) \
    {stem ".bin", NT_VFS_SIZED, which, .exists = has_data, .content = data_content, \
     .needs_pages = is_in_pages}, \
    {stem ".npy", NT_VFS_SIZED, which, .is_npy = true, .exists = has_data, .content = data_content, \
     .needs_pages = is_in_pages}
/* clang-format on */

static const struct nt_pseudo_file rows[] = {
    {"column.json", NT_VFS_GENERATED, .size = column_json_size, .generate = column_json},
    STREAM("data", DATA, false),
    STREAM("ends", ENDS, true),
    STREAM("levels", LEVELS, true),
    {"pages.jsonl", NT_VFS_STREAMED, .open_text = nt_pages_jsonl, .is_short = nt_pages_are_short},
    {"pages", NT_VFS_DIRECTORY, .dir_sources = {&nt_dir_source_pages}},
};

const struct nt_pseudo_table nt_column_files = {rows, sizeof(rows) / sizeof(rows[0])};
