/* SPDX-License-Identifier: MIT
 *
 * Opens one version of a Lance dataset directory as a dataset whose clusters are the fragments. Data
 * files are opened only when the manifest does not give their row counts.
 */
#include "formats/lance/dataset/dataset.h"

/* An estimate of the metadata that opening a data file parses: the end of a small one. */
enum { DATA_FILE_METADATA_BYTES = 4096 };

static void close_dataset(struct nt_dataset *dataset)
{
    const struct nt_file *file = dataset->file;
    for (uint32_t i = 0; i < file->layout_source_count; i++)
        if (file->layout_sources[i] != file->source)
            nt_source_close(file->layout_sources[i]);
    nt_lance_open_files_close(dataset->format_data);
    nt_lance_close_bases(dataset->format_data);
}

static uint64_t release(struct nt_dataset *dataset)
{
    return nt_lance_open_files_release(nt_lance_dataset_of(dataset));
}

static const struct nt_dataset_ops dataset_ops = {
    .load_group = nt_lance_load_part,
    .unverified_elements = nt_lance_unverified_elements,
    .keep_state = nt_lance_keep_state,
    .reloads_groups = true,
    .release = release,
    .plan_groups = nt_lance_plan_parts,
    .describe_dataset = nt_lance_describe_dataset,
    .each_version = nt_lance_visit_history,
    .find_blob = nt_lance_find_blob,
    .add_physical = nt_lance_add_dataset_physical,
    .close = close_dataset,
};

static const struct nt_dataset_ops legacy_ops = {
    .load_group = nt_lance_load_part,
    .keep_state = nt_lance_keep_state,
    .describe_dataset = nt_lance_describe_dataset,
    .each_version = nt_lance_visit_history,
    .describe_page = nt_lance_describe_part_page,
    .close = close_dataset,
};

enum nt_status nt_lance_add_source(struct nt_file *file, struct nt_folder *folder, const char *name,
                                   struct nt_error *error)
{
    struct nt_source *source = file->source;
    uint64_t bytes = name ? folder->ops->lazy_bytes + strlen(folder->path) + strlen(name) : 0;
    NT_TRY(nt_budget_take(&file->budget, NT_COST_ENVELOPE_BYTE, bytes, NT_NO_OFFSET, error));
    if (name)
        NT_TRY(nt_folder_open_file_lazily(folder, name, &source, error));
    file->layout_sources[file->layout_source_count++] = source;
    return NT_OK;
}

/* The layout also has the manifest and the deletion files. */
static enum nt_status add_layout_sources(struct nt_dataset *dataset, const struct nt_lance_dataset *lance,
                                         struct nt_error *error)
{
    struct nt_file *file = dataset->file;
    dataset->sources = file->layout_sources;
    dataset->source_count = file->layout_source_count;
    NT_TRY(nt_lance_add_source(file, lance->folder, lance->manifest.name, error));
    for (uint32_t i = 0; i < lance->fragment_count; i++) {
        struct nt_folder *folder;
        const char *name;
        if (lance->fragments[i].has_deleted_rows && !lance->fragments[i].deleted_rows)
            continue;
        enum nt_status status =
            nt_lance_find_deletion_file(file, lance, &lance->fragments[i], &folder, &name, error);
        if (nt_is_environmental(status))
            return status;
        if (status == NT_OK && name) /* else there is none, or reading the rows reports it */
            NT_TRY(nt_lance_add_source(file, folder, name, error));
    }
    return NT_OK;
}

/* Fragments without data files, of which writers leave few, take a few bytes each, but work for each of
 * their fields. */
static enum nt_status limit_empty_fragments(const struct nt_dataset *dataset,
                                            const struct nt_lance_dataset *lance, struct nt_error *error)
{
    enum { MAX_FIELDS = 1 << 18 };
    uint64_t fields = 0;
    for (uint32_t i = 0; i < lance->fragment_count; i++)
        fields += lance->fragments[i].file_count ? 0 : dataset->field_count;
    if (fields <= MAX_FIELDS)
        return NT_OK;
    return nt_fail_above(error, NT_LIMIT, lance->manifest.offset, "fields of fragments without data files",
                         MAX_FIELDS, fields);
}

static enum nt_status add_fragments(struct nt_dataset *dataset, const struct nt_lance_dataset *lance,
                                    struct nt_error *error)
{
    NT_AUTO_FREE uint64_t *entries = calloc((size_t)lance->fragment_count + 1, sizeof(*entries));
    NT_TRY(nt_check_memory(entries, error));
    bool has_deleted = false;
    enum nt_status status = limit_empty_fragments(dataset, lance, error);
    for (uint32_t i = 0; status == NT_OK && i < lance->fragment_count; i++) {
        status = nt_lance_count_rows(dataset, i, error);
        entries[i] = lance->fragments[i].physical_rows - lance->fragments[i].deleted_rows;
        has_deleted |= lance->fragments[i].deleted_rows > 0;
    }
    if (status == NT_OK)
        status = nt_dataset_add_field_groups(dataset, entries, lance->fragment_count, error);
    NT_TRY(nt_with_context(status, error, "%s", lance->manifest.name));
    dataset->part_metadata_bytes = DATA_FILE_METADATA_BYTES;
    if (!has_deleted)
        return NT_OK;
    dataset->part_deletions =
        nt_arena_alloc(dataset->arena, lance->fragment_count, sizeof(*dataset->part_deletions));
    return nt_check_memory(dataset->part_deletions, error);
}

struct nt_text nt_lance_stem(struct nt_text name)
{
    struct nt_text ending = nt_text_of(".lance");
    if (name.length > ending.length &&
        memcmp(name.bytes + name.length - ending.length, ending.bytes, ending.length) == 0)
        name.length -= ending.length;
    return name;
}

static enum nt_status describe(struct nt_dataset *dataset, const struct nt_lance_dataset *lance,
                               struct nt_error *error)
{
    struct nt_proto manifest = lance->manifest.message,
                    writer = nt_proto_message(manifest, NT_LANCE_MANIFEST_WRITER_VERSION),
                    format = nt_proto_message(manifest, NT_LANCE_MANIFEST_DATA_FORMAT);
    struct nt_text library = nt_proto_text(writer, NT_LANCE_WRITER_VERSION_LIBRARY),
                   version = nt_proto_text(writer, NT_LANCE_WRITER_VERSION_VERSION),
                   declared = nt_proto_text(format, NT_LANCE_DATA_FORMAT_VERSION);
    const char *written = nt_arena_format(dataset->arena, "%.*s%s%.*s", (int)library.length, library.bytes,
                                          version.length ? " " : "", (int)version.length, version.bytes);
    if (format.bytes)
        dataset->version = nt_arena_copy(dataset->arena, declared.bytes, declared.length);
    else /* early manifests lack the version of their data files; the files themselves have it */
        dataset->version = lance->generations & NT_LANCE_IS_2_0 ? "2.0" : "0.1";
    NT_TRY(nt_check_memory(written && dataset->version, error));
    dataset->writer = nt_text_of(written);
    dataset->description = (struct nt_text){"", 0};
    dataset->format = nt_format_lance.name;
    dataset->generation = dataset->version;
    dataset->generation_reason = "the manifest";
    return NT_OK;
}

/* Call this after the data files are known: the layout of a schema depends on whether they are legacy
 * files. */
static enum nt_status read_schema(struct nt_file *file, struct nt_lance_dataset *lance,
                                  struct nt_error *error)
{
    const struct nt_lance_message manifest = {lance->manifest.message, lance->manifest.offset};
    NT_TRY(nt_lance_read_fields(file, &manifest, manifest.message, &lance->schema, error));
    lance->schema.is_legacy = lance->generations == NT_LANCE_IS_LEGACY;
    lance->schema.has_item_columns = lance->generations & (NT_LANCE_IS_LEGACY | NT_LANCE_IS_2_0);
    lance->physical_view.has_levels = lance->generations & NT_LANCE_IS_LATER;
    NT_TRY(nt_lance_lay_out_schema(file->arena, &lance->schema, error));
    return nt_lance_sort_ids(file->arena, lance, error);
}

/* Blobs may be in files outside all base paths. */
static enum nt_status open_base_roots_of_blobs(struct nt_file *file, struct nt_lance_dataset *lance,
                                               const char *const *bases, struct nt_error *error)
{
    for (uint32_t i = 0; i < lance->schema.field_count; i++)
        if (lance->schema.fields[i].is_description)
            return nt_lance_open_base_roots(file, lance, bases, error);
    return NT_OK;
}

static enum nt_status fill_dataset(struct nt_dataset *dataset, struct nt_lance_dataset *lance,
                                   const char *const *bases, struct nt_error *error)
{
    NT_TRY(nt_lance_read_manifest(dataset->file, &lance->manifest.version, &lance->manifest, error));
    NT_TRY(nt_lance_read_bases(dataset->file, lance, bases, error));
    NT_TRY(nt_lance_read_fragments(dataset->file, lance, error));
    dataset->ops = lance->generations & NT_LANCE_IS_LEGACY ? &legacy_ops : &dataset_ops;
    NT_TRY(
        nt_with_context(read_schema(dataset->file, lance, error), error, "%s: schema", lance->manifest.name));
    nt_lance_estimate_ends(lance);
    NT_TRY(open_base_roots_of_blobs(dataset->file, lance, bases, error));
    NT_TRY(describe(dataset, lance, error));
    NT_TRY(add_layout_sources(dataset, lance, error));
    NT_TRY(nt_lance_prepare_physical(dataset, error));
    NT_TRY(nt_lance_find_unsupported(dataset, error));
    NT_TRY(nt_lance_find_slices(dataset, error));
    NT_TRY(nt_lance_build_fields(dataset, &lance->schema, lance->physical_view.leaves, NULL, error));
    nt_lance_find_physical_columns(dataset);
    return add_fragments(dataset, lance, error);
}

static enum nt_status add_dataset(struct nt_file *file, struct nt_lance_dataset *lance,
                                  struct nt_dataset **dataset_ret, struct nt_error *error)
{
    NT_TRY(nt_file_add_dataset(file, dataset_ret, error));
    struct nt_dataset *dataset = *dataset_ret;
    struct nt_text name = nt_lance_stem(nt_path_name(file->path));
    dataset->format_data = lance;
    dataset->ops = &dataset_ops;
    NT_TRY(nt_check_memory(nt_text_copy(dataset->arena, name, &dataset->name), error));
    dataset->title = dataset->name;
    return NT_OK;
}

static void add_documents(struct nt_dataset *dataset)
{
    dataset->documents = nt_lance_dataset_documents;
    dataset->document_count = nt_lance_dataset_document_count;
    dataset->file->describe = nt_lance_describe_dataset_file;
    dataset->file->layout = nt_lance_lay_out_dataset;
    dataset->file->layout_of = nt_lance_lay_out_files;
    dataset->file->layout_part = nt_lance_layout_part;
}

/* The error names the dataset's directory, as it may list what exists there. */
static enum nt_status resolve_version(const struct nt_file *file, const char *requested,
                                      struct nt_lance_resolved_version *resolved_ret, struct nt_error *error)
{
    const struct nt_source *source = file->source;
    enum nt_status status =
        nt_lance_resolve_version(source->folder, requested, file->arena, resolved_ret, error);
    if (status != NT_OK && error && !nt_message_about(error->message, source->path))
        nt_error_context(error, "%s", source->path);
    return status;
}

/* A version that cannot be read becomes a dataset that reports why, because other versions may be
 * readable. */
static enum nt_status fill_file(struct nt_file *file, const void *context, struct nt_error *error)
{
    const struct nt_open_options *options = context;
    struct nt_dataset *dataset;
    struct nt_lance_resolved_version resolved;
    struct nt_error failure = {0};
    struct nt_lance_dataset *lance = nt_arena_alloc(file->arena, 1, sizeof(*lance));
    NT_TRY(nt_check_memory(lance, error));
    lance->folder = file->source->folder;
    lance->opened = nt_lance_now();
    TAILQ_INIT(&lance->open.by_use);
    NT_TRY(resolve_version(file, options->version, &resolved, error));
    NT_TRY(add_dataset(file, lance, &dataset, error));
    lance->manifest.version = resolved.version;
    lance->branch = resolved.branch;
    if (fill_dataset(dataset, lance, options->bases, &failure) != NT_OK)
        return nt_dataset_set_failure(dataset, &failure, error);
    add_documents(dataset);
    return NT_OK;
}

enum nt_status nt_lance_takes_folder(struct nt_folder *folder, bool *takes_ret, struct nt_error *error)
{
    return nt_folder_has(folder, NT_LANCE_VERSIONS, takes_ret, error);
}

enum nt_status nt_lance_open_dataset(struct nt_source *source, const struct nt_open_options *options,
                                     struct nt_file **file_ret, struct nt_error *error)
{
    const struct nt_limits limits = nt_open_limits(options);
    bool is_taken;
    NT_TRY(nt_lance_takes_folder(source->folder, &is_taken, error));
    if (!is_taken)
        return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET,
                       "not a Lance dataset: it has no " NT_LANCE_VERSIONS);
    return nt_file_make(source, &limits, fill_file, options, file_ret, error);
}
