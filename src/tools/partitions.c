/* SPDX-License-Identifier: MIT
 *
 * Public functions that say how the entries of a dataset can be divided among processes: by clusters, and
 * by the files of a chain.
 */
#include "tools/tools.h"

#include "chain/chain.h"
#include "remote/client/client.h"

/* ---- Columns of fields ---- */

/* [column]: does it belong to the fields? From malloc. */
static enum nt_status choose_columns(const struct nt_dataset *dataset, const uint32_t *fields, size_t count,
                                     bool **columns_ret, struct nt_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (fields[i] >= dataset->field_count)
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "there is no field %" PRIu32, fields[i]);
    *columns_ret = nt_columns_of_fields(dataset, fields, count, true);
    NT_TRY(nt_check_memory(*columns_ret, error));
    if (!fields)
        memset(*columns_ret, true, dataset->column_count);
    return NT_OK;
}

/* ---- Clusters ---- */

/* The bytes that are stored from an entry on, up to that of the next piece. */
struct partition_piece {
    uint64_t first_entry, bytes;
};

struct partition_pieces {
    struct partition_piece *items;
    size_t count;
};

static uint64_t cluster_bytes(const struct nt_dataset *dataset, const struct nt_group *group,
                              uint32_t cluster, const bool *columns)
{
    uint64_t bytes = 0;
    uint32_t count = dataset->column_count;
    const uint32_t *owned = dataset->field_groups ? nt_field_columns(dataset, group->field, &count) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t column = owned ? owned[i] : i;
        if (!columns[column])
            continue;
        const struct nt_range *range = nt_group_range(dataset, group, cluster, column);
        for (uint32_t p = 0; range->state == NT_RANGE_PRESENT && p < range->pages; p++)
            bytes += group->pages[(size_t)range->first_page + p].stored_bytes;
    }
    return bytes;
}

static enum nt_status add_group(struct nt_dataset *dataset, uint32_t number, const bool *columns,
                                struct partition_pieces *pieces, struct nt_error *error)
{
    NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = NULL;
    if (!nt_group_has_columns(dataset, number, columns))
        return NT_OK;
    NT_TRY(nt_group_pin_readable(dataset, number, &group, error));
    for (uint32_t i = 0; group && i < group->clusters; i++) {
        uint32_t cluster = group->first_cluster + i;
        pieces->items[pieces->count++] =
            (struct partition_piece){.first_entry = nt_dataset_cluster(dataset, cluster).first_entry,
                                     .bytes = cluster_bytes(dataset, group, cluster, columns)};
    }
    return NT_OK;
}

/* Sorts the pieces, and joins those of one entry. Those without entries are joined to the last. */
static void join(struct partition_pieces *pieces, uint64_t entries)
{
    size_t last = 0;
    qsort(pieces->items, pieces->count, sizeof(*pieces->items), nt_compare_u64);
    for (size_t i = 1; i < pieces->count; i++) {
        const struct partition_piece next = pieces->items[i];
        if (next.first_entry == pieces->items[last].first_entry || next.first_entry >= entries)
            pieces->items[last].bytes += next.bytes;
        else
            pieces->items[++last] = next;
    }
    pieces->count = last + 1;
}

/* Pieces without bytes are at the first entry and at the parts' boundaries, which are known without page
 * lists. `items` from malloc. */
static enum nt_status find_pieces(struct nt_dataset *dataset, const bool *columns,
                                  struct partition_pieces *pieces, struct nt_error *error)
{
    size_t most = (size_t)dataset->part_count + dataset->cluster_count + 1;
    *pieces = (struct partition_pieces){.items = calloc(most, sizeof(*pieces->items)), .count = 1};
    NT_TRY(nt_check_memory(pieces->items, error));
    for (uint32_t i = 0; dataset->field_groups && i < dataset->part_count; i++)
        pieces->items[pieces->count++].first_entry = dataset->part_boundaries[i];
    for (uint32_t i = 0; i < dataset->group_count; i++)
        NT_TRY(add_group(dataset, i, columns, pieces, error));
    join(pieces, dataset->entries);
    return NT_OK;
}

static void pieces_deinit(struct partition_pieces *pieces)
{
    free(pieces->items);
}

static void write_piece(const struct nt_dataset *dataset, const struct partition_piece *piece, uint64_t end,
                        struct nt_buffer *out)
{
    struct nt_json json;
    nt_json_line(&json, out);
    nt_json_member_unsigned(&json, "first_entry", piece->first_entry);
    nt_json_member_unsigned(&json, "entries", end - piece->first_entry);
    if (dataset->selection)
        nt_json_member_unsigned(&json, "selected_entries",
                                nt_dataset_selected_before(dataset, end) -
                                    nt_dataset_selected_before(dataset, piece->first_entry));
    nt_json_member_unsigned(&json, "stored_bytes", piece->bytes);
    nt_json_finish(&json);
}

enum nt_status nt_write_clusters(struct nt_dataset *dataset, const uint32_t *fields, size_t field_count,
                                 nt_take_text *take, void *context, struct nt_error *error)
{
    struct nt_dataset *physical;
    NT_CLEANUP(pieces_deinit) struct partition_pieces pieces = {0};
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer line = {0};
    NT_AUTO_FREE bool *columns = NULL;
    NT_TRY(nt_dataset_check(dataset, error));
    NT_TRY(nt_dataset_physical(dataset, &physical, error));
    NT_TRY(choose_columns(physical, fields, field_count, &columns, error));
    NT_TRY(find_pieces(physical, columns, &pieces, error));
    for (size_t i = 0; dataset->entries && i < pieces.count; i++) {
        write_piece(dataset, &pieces.items[i],
                    i + 1 < pieces.count ? pieces.items[i + 1].first_entry : dataset->entries, &line);
        NT_TRY(nt_take_all(&line, take, context, error));
    }
    return NT_OK;
}

/* ---- Files ---- */

/* `validator`: on a server, else NULL. */
static void put_version(struct nt_json *json, const char *modified, const char *validator)
{
    if (validator)
        nt_json_member_string(json, "validator", validator);
    else
        nt_json_member_string(json, "modified", modified);
}

static void put_source_state(struct nt_json *json, struct nt_source *source)
{
    struct stat found = {0};
    struct nt_remote_names names;
    char modified[NT_TIME_TEXT];
    bool has_attributes = nt_source_stat(source, &found, NULL) == NT_OK;
    bool has_validator = nt_source_remote(source, &names) && names.validator[0];
    if (has_attributes && S_ISREG(found.st_mode))
        nt_json_member_unsigned(json, "file_bytes", (uint64_t)found.st_size);
    nt_format_exact_time(&found.st_mtim, modified);
    if (has_validator || has_attributes)
        put_version(json, modified, has_validator ? names.validator : NULL);
}

/* A dataset with a history is identified by its version: other timestamps of its directory do not change
 * that.
 */
static enum nt_status put_state(struct nt_json *json, const struct nt_dataset *own)
{
    const struct nt_dataset_ops *ops = own->ops;
    enum nt_status status = NT_OK;
    nt_json_member_object(json, "state");
    if (ops && ops->each_version && ops->describe_dataset)
        status = ops->describe_dataset(own, json);
    else
        put_source_state(json, own->file->source);
    nt_json_end_object(json);
    return status;
}

static enum nt_status write_slice(struct nt_json *json, const struct nt_chain_slice *slice)
{
    const struct nt_chain_file *listed = slice->member->listed;
    nt_json_member_text(json, "file", nt_text_of(listed->address ? listed->address : listed->path));
    nt_json_member_unsigned(json, "first_entry", slice->first_entry);
    nt_json_member_unsigned(json, "entries", slice->entries);
    if (listed->sample)
        nt_json_member_string(json, listed->sample->is_friend ? "friend" : "sample", listed->sample->name);
    if (slice->failure) {
        nt_json_member_string(json, "status", nt_status_name(slice->failure->status));
        nt_json_member_text(json, "error", nt_text_of(slice->failure->message));
        return NT_OK;
    }
    nt_chain_put_slice_dataset(json, slice);
    if (!slice->lazy)
        return put_state(json, slice->dataset);
    const struct nt_indexed_file *known = slice->member->known; /* it opens when its rows are read */
    nt_json_member_object(json, "state");
    nt_json_member_unsigned(json, "file_bytes", known->bytes);
    put_version(json, known->modified, known->validator);
    nt_json_end_object(json);
    return NT_OK;
}

static enum nt_status write_only(struct nt_json *json, const struct nt_dataset *dataset)
{
    nt_json_member_text(json, "file", nt_text_of(dataset->file->path));
    nt_json_member_unsigned(json, "first_entry", 0);
    nt_json_member_unsigned(json, "entries", dataset->entries);
    nt_json_member_dataset(json, dataset);
    return put_state(json, dataset);
}

enum nt_status nt_write_files(const struct nt_dataset *dataset, nt_take_text *take, void *context,
                              struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer line = {0};
    NT_TRY(nt_dataset_check(dataset, error));
    bool is_chain = nt_is_chain(dataset->file);
    for (uint32_t i = 0;; i++) {
        struct nt_json json;
        const struct nt_chain_slice *slice = is_chain ? nt_chain_slice(dataset, i) : NULL;
        if (is_chain ? !slice : i == 1)
            return NT_OK;
        nt_json_line(&json, &line);
        NT_TRY(slice ? write_slice(&json, slice) : write_only(&json, dataset));
        nt_json_finish(&json);
        NT_TRY(nt_take_all(&line, take, context, error));
    }
}
