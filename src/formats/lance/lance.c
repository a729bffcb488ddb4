/* SPDX-License-Identifier: MIT
 *
 * Opens Lance files (2.0 to 2.2, and legacy 0.1 and 0.2) as datasets and registers the Lance format.
 * Directories are opened by dataset/.
 */
#include "formats/lance/dataset/dataset.h"
#include "formats/lance/legacy/legacy.h"

static bool plan_groups(struct nt_dataset *dataset, struct nt_groups groups, bool with_pages,
                        struct nt_prefetch *prefetch)
{
    const struct nt_lance *lance = nt_lance_of(dataset);
    for (uint32_t i = groups.first; i < groups.end; i++)
        if (!nt_group_is_loaded(dataset, i)) {
            uint32_t field = nt_group_field(dataset, i, NULL);
            nt_lance_plan_column(lance, &dataset->fields[field], nt_lance_map_own_column(lance, field).column,
                                 with_pages, prefetch);
        }
    return !lance->legacy;
}

/* From a local file, page lists are fast to load. */
static bool unverified_elements(struct nt_dataset *dataset, uint32_t cluster, uint32_t field,
                                uint32_t position, uint64_t *elements_ret)
{
    const struct nt_lance *lance = nt_lance_of(dataset);
    const struct nt_lance_column_map column_map = nt_lance_map_own_column(lance, field);
    (void)cluster;
    return nt_source_can_prefetch(lance->source) &&
           nt_lance_known_elements(dataset, lance, field, &column_map, position, elements_ret);
}

static const struct nt_dataset_ops dataset_ops = {
    .load_group = nt_lance_load_group,
    .unverified_elements = unverified_elements,
    .keep_state = nt_lance_keep_state,
    .reloads_groups = true,
    .plan_groups = plan_groups,
    .add_physical = nt_lance_add_physical,
};

static const struct nt_dataset_ops legacy_ops = {
    .load_group = nt_lance_load_group,
    .keep_state = nt_lance_keep_state,
    .describe_column = nt_lance_legacy_describe_column,
    .describe_page = nt_lance_legacy_describe_page,
};

static enum nt_status lay_out(const struct nt_file *file, nt_layout_emit *emit, void *context,
                              struct nt_error *error)
{
    const struct nt_layout_output output = {.emit = emit, .context = context, .dataset = 0};
    const struct nt_lance *lance = nt_lance_of(file->datasets[0]);
    NT_TRY(nt_lance_lay_out_file(lance, &output, error));
    return !lance->legacy ? nt_lance_layout_put_bytes(lance, &output) : NT_OK;
}

static enum nt_status fill_dataset(struct nt_dataset *dataset, struct nt_lance *lance, struct nt_error *error)
{
    NT_TRY(nt_dataset_from_file(dataset, error));
    dataset->format = nt_format_lance.name;
    dataset->version = dataset->generation = lance->tail.version;
    dataset->generation_reason = "the tail";
    dataset->documents = lance->legacy ? nt_lance_legacy_documents : nt_lance_documents;
    dataset->document_count = lance->legacy ? nt_lance_legacy_document_count : nt_lance_document_count;
    dataset->ops = lance->legacy ? &legacy_ops : &dataset_ops;
    dataset->format_data = lance;
    if (!lance->legacy)
        NT_TRY(nt_lance_lay_out_schema(dataset->arena, &lance->schema, error));
    NT_TRY(nt_lance_find_leaves(dataset->arena, lance, error));
    NT_TRY(nt_lance_build_fields(dataset, &lance->schema, lance->leaves, lance, error));
    for (uint32_t i = 0; i < dataset->column_count; i++)
        dataset->columns[i].physical = nt_lance_map_own_column(lance, dataset->columns[i].field).column;
    return nt_dataset_add_only_part(dataset, lance->rows, error);
}

static enum nt_status fill_file(struct nt_file *file, const void *unused, struct nt_error *error)
{
    struct nt_dataset *dataset;
    struct nt_lance *lance = nt_arena_alloc(file->arena, 1, sizeof(*lance));
    struct nt_lance_memory *memory = nt_arena_alloc(file->arena, 1, sizeof(*memory));
    NT_TRY(nt_check_memory(lance && memory, error));
    *memory = (struct nt_lance_memory){.file = file, .arena = file->arena};
    NT_TRY(nt_lance_read(memory, file->source, 0, lance, error));
    if (!lance->legacy)
        NT_TRY(nt_lance_read_schema(file, lance, error));
    NT_TRY(nt_file_add_dataset(file, &dataset, error));
    file->describe = nt_lance_describe_file;
    file->layout = lay_out;
    file->check = lance->legacy ? NULL : nt_lance_check;
    return fill_dataset(dataset, lance, error);
}

static enum nt_status open_lance(struct nt_source *source, const struct nt_open_options *options,
                                 struct nt_file **file_ret, struct nt_error *error)
{
    const struct nt_limits limits = nt_open_limits(options);
    if (source->folder)
        return nt_lance_open_dataset(source, options, file_ret, error);
    return nt_file_make(source, &limits, fill_file, NULL, file_ret, error);
}

const struct nt_format nt_format_lance = {
    .name = "lance",
    .description = "Lance files of versions 0.1, 0.2 and 2.0 to 2.2, and datasets of them (directories)",
    .accepts_folder = nt_lance_takes_folder,
    .recognize = nt_lance_recognize,
    .open = open_lance,
    .find_version = nt_lance_find_version,
};
