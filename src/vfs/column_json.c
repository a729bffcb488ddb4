/* SPDX-License-Identifier: MIT
 *
 * column.json: a stored column, its encoding and what its pages sum up to.
 */
#include <stdlib.h>

#include "read/page.h"
#include "vfs/documents.h"
#include "render/json_values.h"

static void put_encoding(struct nt_json *json, const struct nt_dataset *dataset,
                         const struct nt_column *column)
{
    const struct nt_decoder *decoder = nt_decoders_get(&dataset->decoders, column->decoder);
    nt_json_member_unsigned(json, "bits", decoder->bits);
    nt_json_member_string(json, "encoding", nt_encoding_steps(decoder->encoding));
    nt_json_member_string(json, "element", nt_element_info(decoder->element)->name);
    nt_json_member_string(json, "dtype", column->dtype.numpy);
    nt_json_member_unsigned(json, "element_bytes", decoder->element_bytes);
    nt_json_key(json, "value_range");
    if (column->has_range) {
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
    nt_json_member_unsigned(json, "first_element", column->first_element);
    nt_json_member_bool(json, "is_deferred", column->is_deferred);
    nt_json_member_bool(json, "is_suppressed", column->is_deferred_suppressed);
}

typedef bool choose(const struct nt_dataset *dataset, const struct nt_range *range, uint32_t cluster,
                    uint32_t column);

static bool is_suppressed(const struct nt_dataset *dataset, const struct nt_range *range, uint32_t cluster,
                          uint32_t column)
{
    (void)dataset, (void)cluster, (void)column;
    return range->state == NT_RANGE_SUPPRESSED;
}

/* The cluster is older than the column; of one in another shard put_uncovered tells. */
static bool is_absent(const struct nt_dataset *dataset, const struct nt_range *range, uint32_t cluster,
                      uint32_t column)
{
    return range->state == NT_RANGE_ABSENT && nt_cluster_holds(dataset, cluster, column);
}

/* The numbers of the clusters that are chosen, as far as their page lists can be read. */
static void put_clusters(struct nt_json *json, const char *key, const struct nt_dataset *dataset,
                         uint32_t column, choose *is_chosen)
{
    nt_json_key(json, key);
    nt_json_array(json);
    struct nt_groups groups = nt_groups_of_column(dataset, column);
    for (uint32_t g = groups.first; g < groups.end; g++) {
        const struct nt_group *group = &dataset->groups[g];
        for (uint32_t i = 0; i < group->clusters && nt_group_is_loaded(group); i++) {
            uint32_t cluster = group->first_cluster + i;
            if (is_chosen(dataset, nt_group_range(dataset, group, cluster, column), cluster, column))
                nt_json_unsigned(json, cluster);
        }
    }
    nt_json_end_array(json);
}

static void put_sums(struct nt_json *json, const struct nt_column_sums *sums)
{
    nt_json_member_unsigned(json, "elements", sums->elements);
    nt_json_member_unsigned(json, "pages", sums->pages);
    nt_json_member_unsigned(json, "stored_bytes", sums->stored_bytes);
    nt_json_member_unsigned(json, "packed_bytes", sums->packed_bytes);
    nt_json_member_unsigned(json, "decoded_bytes", sums->decoded_bytes);
    nt_json_ratio(json, sums->packed_bytes, sums->stored_bytes);
    nt_json_member_string(json, "checksum_kind", nt_checksum_info(sums->checksum)->name);
    nt_json_member_bool(json, "is_complete", sums->is_complete);
}

/* The algorithm of the first page: the settings that the writer noted are only a hint. */
static enum nt_status put_algorithm(struct nt_json *json, const struct nt_scope *scope,
                                    struct nt_error *error)
{
    const struct nt_page *page;
    uint32_t cluster;
    uint64_t first_element;
    const char *name = NULL;
    enum nt_status status = nt_column_page(scope->vfs->reader, scope->dataset, scope->column, 0, &page,
                                           &cluster, &first_element, error);
    if (status == NT_OK)
        status = nt_page_algorithm(scope->dataset, page, &name, error);
    nt_json_member_string(json, "compression", status == NT_OK ? name : NULL);
    return nt_is_machine_failure(status) ? status : NT_OK;
}

static int compare_clusters(const void *left, const void *right)
{
    const struct nt_cluster *a = left, *b = right;
    return a->first_entry < b->first_entry ? -1 : a->first_entry > b->first_entry;
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

/* Sharded clusters: the entries that no cluster holding the column covers. */
static void put_uncovered(struct nt_json *json, const struct nt_dataset *dataset, uint32_t column)
{
    uint32_t clusters, first = nt_groups_clusters(dataset, nt_groups_of_column(dataset, column), &clusters);
    struct nt_cluster *held = malloc(((size_t)clusters + 1) * sizeof(*held));
    uint32_t count = 0;
    uint64_t covered = 0;
    json->out->failed = json->out->failed || !held;
    for (uint32_t i = first; held && i - first < clusters; i++)
        if (nt_cluster_holds(dataset, i, column))
            held[count++] = nt_dataset_cluster(dataset, i);
    if (count)
        qsort(held, count, sizeof(*held), compare_clusters);
    nt_json_key(json, "uncovered_entries");
    nt_json_array(json);
    for (uint32_t i = 0; i < count; i++) {
        put_gap(json, covered, held[i].first_entry);
        uint64_t end = held[i].first_entry + held[i].entries;
        covered = end > covered ? end : covered;
    }
    put_gap(json, covered, dataset->entries);
    nt_json_end_array(json);
    free(held);
}

enum nt_status nt_column_json(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error)
{
    struct nt_json json;
    struct nt_column_sums sums;
    enum nt_status status = nt_column_sums(scope->dataset, scope->column, &sums, error);
    if (status != NT_OK)
        return status;
    nt_json_document(&json, out, "column");
    put_identity(&json, scope->dataset, &scope->dataset->columns[scope->column]);
    put_sums(&json, &sums);
    status = put_algorithm(&json, scope, error);
    nt_json_member_settings(&json, scope->dataset, scope->column);
    put_clusters(&json, "suppressed_clusters", scope->dataset, scope->column, is_suppressed);
    put_clusters(&json, "absent_clusters", scope->dataset, scope->column, is_absent);
    if (scope->dataset->has_sharded_clusters)
        put_uncovered(&json, scope->dataset, scope->column);
    nt_json_finish(&json);
    return status;
}
