/* SPDX-License-Identifier: MIT
 *
 * The files of a dataset directory: ntuple.json, clusters.jsonl, files.jsonl of a chain, schema, rows as
 * JSON Lines and CSV, single rows in rows.d, and the Arrow table; and the files of a dataset that fails to
 * open.
 */
#include "vfs/vfs.h"

#include "core/base/built_in.h"
#include "tools/tools.h"

/* ---- ntuple.json ---- */

static void put_identity(struct nt_json *json, const struct nt_dataset *dataset)
{
    nt_json_member_text(json, "name", dataset->name);
    nt_json_member_text(json, "title", dataset->title);
    nt_json_member_text(json, "description", dataset->description);
    nt_json_member_text(json, "writer", dataset->writer);
    nt_json_member_string(json, "format", dataset->format);
    nt_json_member_string(json, "version", dataset->version);
    nt_json_member_string(json, "generation", dataset->generation);
    nt_json_member_string(json, "generation_reason", dataset->generation_reason);
    if (dataset->cycle) {
        nt_json_member_unsigned(json, "cycle", dataset->cycle);
        nt_json_member_bool(json, "is_newest_cycle", dataset->is_newest_cycle);
    }
    if (dataset->attribute_of != NT_NONE)
        nt_json_member_text(json, "attribute_of", dataset->file->datasets[dataset->attribute_of]->name);
}

static void put_counts(struct nt_json *json, const struct nt_dataset *dataset,
                       const struct nt_dataset *physical)
{
    nt_json_member_unsigned(json, "entries", nt_dataset_entries(dataset));
    if (dataset->selection)
        nt_json_member_unsigned(json, "stored_entries", dataset->entries);
    nt_json_member_unsigned(json, "fields", dataset->field_count);
    nt_json_member_unsigned(json, "top_level_fields", dataset->top_count);
    nt_json_member_unsigned(json, "columns", physical->column_count);
    nt_json_member_unsigned(json, "clusters", nt_dataset_cluster_count(physical));
    nt_json_member_unsigned(json, "cluster_groups", physical->group_count);
    nt_json_member_bool(json, "has_sharded_clusters", physical->has_sharded_clusters);
}

/* Unreadable page lists. The sums omit these groups, and the document says so. */
static void put_bad_groups(struct nt_json *json, struct nt_dataset *dataset)
{
    nt_json_member_array(json, "unreadable_cluster_groups");
    for (uint32_t i = 0; i < dataset->group_count; i++) {
        struct nt_error error = {0};
        if (nt_dataset_load_group(dataset, i, &error) == NT_OK)
            continue;
        nt_json_object(json);
        nt_json_member_unsigned(json, "cluster_group", i);
        nt_json_member_text(json, "error", nt_text_of(error.message));
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

static enum nt_status put_sums(struct nt_json *json, struct nt_dataset *dataset, struct nt_error *error)
{
    static const char *const keys[] = {"pages",         "stored_bytes", "packed_bytes",
                                       "decoded_bytes", "ratio",        "checksum_kind"};
    enum { MAX_METADATA_BYTES = 1 << 20 };
    struct nt_column_summary summary;
    if (dataset->part_count > 1 && nt_dataset_metadata_bytes(dataset) > MAX_METADATA_BYTES) {
        for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
            nt_json_member_null(json, keys[i]); /* would need all of the files that have the page lists */
        return NT_OK;
    }
    NT_TRY(nt_column_summarize(dataset, NT_NONE, &summary, error));
    nt_json_members_sums(json, &summary.sums);
    nt_json_member_string(json, "checksum_kind", nt_checksum_info(summary.sums.checksum)->name);
    nt_json_member_settings(json, &summary);
    if (!summary.sums.is_complete)
        put_bad_groups(json, dataset);
    return NT_OK;
}

static enum nt_status dataset_json(const struct nt_resolved_node *resolved, struct nt_buffer *out,
                                   struct nt_error *error)
{
    struct nt_dataset *dataset = resolved->dataset, *physical;
    struct nt_json json;
    NT_TRY(nt_dataset_physical(dataset, &physical, error));
    nt_json_document(&json, out, "ntuple");
    put_identity(&json, dataset);
    put_counts(&json, dataset, physical);
    NT_TRY(put_sums(&json, physical, error));
    if (dataset->ops && dataset->ops->describe_dataset)
        NT_TRY(dataset->ops->describe_dataset(dataset, &json));
    nt_json_finish(&json);
    return NT_OK;
}

/* ---- clusters.jsonl ---- */

struct clusters {
    struct nt_text_generator text;
    struct nt_dataset *dataset;
    uint32_t group;
    uint32_t cluster; /* within the group */
};

static void put_cluster(const struct nt_dataset *dataset, const struct nt_group *group, uint32_t cluster,
                        struct nt_buffer *out)
{
    const struct nt_cluster c = nt_dataset_cluster(dataset, cluster);
    const char *file = nt_group_record(dataset, group->number).file;
    struct nt_column_sums sums;
    struct nt_json json;
    nt_cluster_sums(dataset, group, cluster, &sums);
    nt_json_line(&json, out);
    nt_json_member_unsigned(&json, "cluster", cluster);
    nt_json_member_unsigned(&json, "cluster_group", group->number);
    nt_json_member_unsigned(&json, "first_entry", c.first_entry);
    nt_json_member_unsigned(&json, "entries", c.entries);
    if (file)
        nt_json_member_text(&json, "file", nt_text_of(file));
    if (c.column_group != NT_NONE)
        nt_json_member_unsigned(&json, "column_group_id", c.column_group);
    if (dataset->field_groups)
        nt_json_member_unsigned(&json, "field_id", dataset->fields[group->field].id);
    nt_json_members_sums(&json, &sums);
    nt_json_finish(&json);
}

/* The clusters of an unreadable page list: the known members, and the error. */
static void put_bad_group(const struct nt_dataset *dataset, uint32_t group, const struct nt_error *failure,
                          struct nt_buffer *out)
{
    const struct nt_group_record record = nt_group_record(dataset, group);
    struct nt_json json;
    nt_json_line(&json, out);
    nt_json_member_unsigned(&json, "cluster_group", group);
    nt_json_member_unsigned(&json, "first_cluster", record.first_cluster);
    nt_json_member_unsigned(&json, "clusters", record.clusters);
    nt_json_member_text(&json, "unreadable", nt_text_of(failure->message));
    nt_json_finish(&json);
}

static enum nt_status next_cluster(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
                                   struct nt_error *error)
{
    struct clusters *clusters = (struct clusters *)text;
    struct nt_dataset *dataset = clusters->dataset;
    NT_CLEANUP(nt_group_unpin_at) struct nt_group *group = NULL;
    struct nt_error failure = {0};
    *more_ret = clusters->group < dataset->group_count;
    if (!*more_ret)
        return NT_OK;
    bool is_good = nt_group_pin(dataset, clusters->group, &group, &failure) == NT_OK;
    if (!is_good && !nt_group_failure(dataset, clusters->group))
        return nt_fail_copy(error, &failure);
    if (is_good && clusters->cluster < group->clusters)
        put_cluster(dataset, group, group->first_cluster + clusters->cluster, out);
    else if (!is_good)
        put_bad_group(dataset, clusters->group, &failure, out);
    if (!is_good || ++clusters->cluster >= group->clusters) {
        clusters->group++;
        clusters->cluster = 0;
    }
    return NT_OK;
}

static enum nt_status clusters_jsonl(const struct nt_resolved_node *resolved,
                                     struct nt_text_generator **text_ret, struct nt_error *error)
{
    struct nt_dataset *physical;
    NT_TRY(nt_dataset_physical(resolved->dataset, &physical, error));
    struct clusters *clusters = calloc(1, sizeof(*clusters));
    NT_TRY(nt_check_memory(clusters, error));
    *clusters = (struct clusters){
        .text = {.next = nt_text_next_lines, .next_line = next_cluster, .free = nt_text_free},
        .dataset = physical};
    *text_ret = &clusters->text;
    return NT_OK;
}

/* ---- files.jsonl ---- */

struct dataset_listing {
    struct nt_text_generator text;
    const struct nt_dataset *dataset;
    const struct nt_member_inodes *inodes;
    uint32_t next;
};

static enum nt_status next_file(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
                                struct nt_error *error)
{
    struct dataset_listing *files = (struct dataset_listing *)text;
    struct nt_json json;
    nt_json_line(&json, out);
    nt_json_member_unsigned(&json, "number", files->next);
    nt_json_member_format(&json, "path", NT_CHAIN_FILES "/%s",
                          nt_member_inodes_name(files->inodes, files->next));
    nt_chain_write_file(files->dataset, files->next++, &json);
    nt_json_finish(&json);
    *more_ret = files->next < nt_chain_file_count(files->dataset->file);
    return NT_OK;
}

static enum nt_status files_jsonl(const struct nt_resolved_node *resolved,
                                  struct nt_text_generator **text_ret, struct nt_error *error)
{
    struct dataset_listing *files = calloc(1, sizeof(*files));
    NT_TRY(nt_check_memory(files, error));
    *files = (struct dataset_listing){
        .text = {.next = nt_text_next_lines, .next_line = next_file, .free = nt_text_free},
        .dataset = resolved->dataset,
        .inodes = nt_inodes_get(resolved->vfs->inodes, resolved->inode)->chain};
    *text_ret = &files->text;
    return NT_OK;
}

/* ---- Schema, rows and tables, which src/render renders; sizes.svg ---- */

static enum nt_status schema_txt(const struct nt_resolved_node *resolved, struct nt_text_generator **text_ret,
                                 struct nt_error *error)
{
    return nt_schema_lines(resolved->vfs->reader, resolved->dataset, NULL, 0, text_ret, error);
}

enum nt_status nt_rows_jsonl(const struct nt_resolved_node *resolved, struct nt_text_generator **text_ret,
                             struct nt_error *error)
{
    return nt_rows_lines(resolved->vfs->reader, resolved->dataset, resolved->field, 0,
                         nt_row_limit(resolved->pseudo), text_ret, error);
}

static enum nt_status table_csv(const struct nt_resolved_node *resolved, struct nt_text_generator **text_ret,
                                struct nt_error *error)
{
    return nt_csv_lines(resolved->vfs->reader, resolved->dataset, text_ret, error);
}

struct arrow_content {
    struct nt_content content;
    struct nt_open_file *opened; /* owns the table */
    const struct nt_dataset *dataset;
    struct nt_arrow *arrow;
};

static enum nt_status read_arrow(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                                 size_t *bytes_ret, struct nt_error *error)
{
    return nt_arrow_file_read(((struct arrow_content *)content)->arrow, offset, buffer, bytes, error);
}

static void close_arrow(struct nt_content *content)
{
    struct arrow_content *arrow = (struct arrow_content *)content;
    nt_open_file_release_arrow(arrow->opened, arrow->dataset);
    free(content);
}

static const struct nt_content_ops arrow_ops = {.read = read_arrow, .close = close_arrow};

static enum nt_status table_arrow(const struct nt_resolved_node *resolved, bool may_block, uint64_t *size_ret,
                                  struct nt_content **content_ret, struct nt_error *error)
{
    struct nt_arrow *arrow;
    if (!content_ret)
        return nt_node_arrow_bytes(resolved, may_block, size_ret, error);
    NT_TRY(nt_node_arrow(resolved, &arrow, error));
    struct arrow_content *content =
        nt_content_new(sizeof(*content), &arrow_ops, NULL, nt_arrow_file_bytes(arrow), error);
    if (!content) {
        nt_open_file_release_arrow(resolved->opened, resolved->dataset);
        return NT_NO_MEMORY;
    }
    content->opened = resolved->opened;
    content->dataset = resolved->dataset;
    content->arrow = arrow;
    *content_ret = &content->content;
    return NT_OK;
}

static bool has_table_arrow(const struct nt_resolved_node *resolved, unsigned parameter)
{
    return NT_HAS_ARROW;
}

static enum nt_status sizes_svg_size(const struct nt_resolved_node *resolved, bool may_block,
                                     uint64_t *size_ret, struct nt_error *error)
{
    *size_ret = nt_sizes_svg_bytes(resolved->dataset);
    return NT_OK;
}

static enum nt_status sizes_svg_file(const struct nt_resolved_node *resolved, struct nt_buffer *out,
                                     struct nt_error *error)
{
    return nt_sizes_svg(resolved->dataset, out, error);
}

/* ---- The table of dataset files ---- */

static const struct nt_pseudo_file dataset_rows[] = {
    {"ntuple.json", NT_VFS_GENERATED, .generate = dataset_json},
    {"schema.txt", NT_VFS_STREAMED, .open_text = schema_txt, .is_short = nt_schema_is_short},
    {"clusters.jsonl", NT_VFS_STREAMED, .open_text = clusters_jsonl, .is_short = nt_clusters_are_short},
    {"files.jsonl", NT_VFS_STREAMED, .exists = nt_is_in_chain, .open_text = files_jsonl,
     .is_short = nt_files_are_short},
    {"rows.jsonl", NT_VFS_STREAMED, .open_text = nt_rows_jsonl, .is_short = nt_rows_are_short},
    {"head.jsonl", NT_VFS_STREAMED, .parameter = NT_HEAD_ROWS, .open_text = nt_rows_jsonl,
     .is_short = nt_rows_are_short, .equals_previous = nt_head_has_all_rows},
    {"rows.d", NT_VFS_DIRECTORY, .dir_sources = {&nt_dir_source_entries}},
    {"versions.d", NT_VFS_DIRECTORY, .exists = nt_has_versions, .dir_sources = {&nt_dir_source_versions}},
    {"sizes.svg", NT_VFS_GENERATED, .takes_budget = true, .size = sizes_svg_size, .generate = sizes_svg_file},
    {"table.csv", NT_VFS_STREAMED, .open_text = table_csv, .is_short = nt_rows_are_short},
    {"table.arrow", NT_VFS_SIZED, .exists = has_table_arrow, .content = table_arrow},
};

const struct nt_pseudo_table nt_dataset_files = {dataset_rows,
                                                 sizeof(dataset_rows) / sizeof(dataset_rows[0])};

static const struct nt_pseudo_file failed_rows[] = {
    {"error.json", NT_VFS_GENERATED, .generate = nt_error_json},
    {"versions.d", NT_VFS_DIRECTORY, .exists = nt_has_versions, .dir_sources = {&nt_dir_source_versions}},
};

const struct nt_pseudo_table nt_failed_files = {failed_rows, sizeof(failed_rows) / sizeof(failed_rows[0])};

/* ---- Single rows ---- */

/* One line, generated at once. */
static enum nt_status entry_text(const struct nt_resolved_node *resolved, struct nt_text_generator **text_ret,
                                 struct nt_error *error)
{
    return nt_rows_lines(resolved->vfs->reader, resolved->dataset, NT_NONE, resolved->node.number,
                         resolved->node.number + 1, text_ret, error);
}

const struct nt_pseudo_file nt_entry_file = {".json", NT_VFS_STREAMED, .open_text = entry_text,
                                             .is_short = nt_entry_is_short};

static enum nt_status entries_find(const struct nt_resolved_node *directory, const char *name,
                                   uint64_t *node_ret, struct nt_error *error)
{
    struct nt_node node = {.type = NT_NODE_ENTRY, .owner = directory->node.owner};
    struct nt_resolved_node complete = *directory;
    if (!nt_parse_between(name, "", nt_entry_file.name, &node.number))
        return nt_fail_no_such_file(error);
    NT_TRY(nt_node_resolve_stub(&complete, true, error));
    if (node.number >= nt_dataset_entries(complete.dataset) || !nt_node_pack(&node, node_ret))
        return nt_fail_no_such_file(error);
    return NT_OK;
}

const struct nt_dir_source nt_dir_source_entries = {.find = entries_find};
