/* SPDX-License-Identifier: MIT
 *
 * Opens BLZ and bcolz directories and Bloscpack files as datasets, and detects when a directory has
 * been appended to, truncated or otherwise changed. Describes them: metadata.json, the Blosc header of
 * each page, and the byte ranges outside chunks.
 */
#include "formats/blz/blz.h"

#include "formats/formats.h"

/* ---- metadata.json ---- */

static void write_member(struct nt_json *json, const char *key, const json_t *value)
{
    nt_json_key(json, key);
    nt_blz_json_write(json, value);
}

/* Copies the content of unknown files. */
static void write_others(struct nt_json *json, const struct nt_blz_node *node)
{
    if (!node->other_count)
        return;
    nt_json_member_array(json, "meta");
    for (size_t i = 0; i < node->other_count; i++) {
        const struct nt_blz_meta_file *file = &node->others[i];
        nt_json_object(json);
        nt_json_member_text(json, "name", file->name);
        if (file->unreadable)
            nt_json_member_string(json, "unreadable", file->unreadable);
        else
            write_member(json, "content", file->content);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

static void write_node(struct nt_json *json, const struct nt_blz_node *node)
{
    nt_json_member_string(json, "kind", node->names ? "table" : "array");
    nt_json_member_text(json, "name", node->name);
    if (node->problem)
        nt_json_member_string(json, "problem", node->problem);
    if (node->names)
        write_member(json, "rootdirs", node->names);
    if (node->sizes)
        write_member(json, "sizes", node->sizes);
    if (node->storage)
        write_member(json, "storage", node->storage);
    write_member(json, "attributes", node->attributes);
    write_others(json, node);
}

/* Nests a table's columns in it; nt_blz_read_directory bounds the depth. */
static void write_tree(struct nt_json *json, const struct nt_blz_node *node)
{
    write_node(json, node);
    if (!node->names)
        return;
    nt_json_member_array(json, "columns");
    for (const struct nt_blz_node *child = node->children; child; child = child->next) {
        nt_json_object(json);
        write_tree(json, child);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

static void write_size(struct nt_json *json, const char *key, int64_t size)
{
    if (size < 0)
        nt_json_member_null(json, key);
    else
        nt_json_member_signed(json, key, size);
}

static void write_header(struct nt_json *json, const struct nt_bloscpack *bloscpack)
{
    const struct nt_bloscpack_header *header = &bloscpack->header;
    nt_json_member_object(json, "header");
    nt_json_member_unsigned(json, "version", header->version);
    nt_json_member_bool(json, "has_offsets", header->has_offsets);
    nt_json_member_bool(json, "uses_offsets", bloscpack->uses_offsets);
    nt_json_member_bool(json, "has_metadata", header->has_metadata);
    nt_json_member_string(json, "checksum_kind", nt_checksum_info(header->checksum)->name);
    nt_json_member_unsigned(json, "type_bytes", header->type_bytes);
    write_size(json, "chunk_bytes", header->chunk_bytes);
    write_size(json, "last_chunk_bytes", header->last_chunk_bytes);
    write_size(json, "chunks", header->chunks);
    nt_json_member_signed(json, "append_chunks", header->append_chunks);
    nt_json_end_object(json);
}

static void write_section(struct nt_json *json, const struct nt_bloscpack_metadata *section)
{
    nt_json_member_object(json, "metadata_header");
    nt_json_member_string(json, "checksum_kind", nt_checksum_info(section->checksum)->name);
    nt_json_member_string(json, "codec", section->codec ? "zlib" : "none");
    nt_json_member_unsigned(json, "level", section->level);
    nt_json_member_unsigned(json, "metadata_bytes", section->bytes);
    nt_json_member_unsigned(json, "maximum_metadata_bytes", section->maximum_bytes);
    nt_json_member_unsigned(json, "stored_bytes", section->stored_bytes);
    nt_json_end_object(json);
}

static enum nt_status blz_write_metadata(const struct nt_document_request *request, struct nt_buffer *out,
                                         struct nt_error *error)
{
    const struct nt_blz *blz = request->dataset->format_data;
    struct nt_json json;
    nt_json_document(&json, out, blz->root ? "blz" : "bloscpack");
    if (blz->root) {
        write_tree(&json, blz->root);
    } else {
        write_header(&json, &blz->bloscpack);
        if (blz->bloscpack.header.has_metadata)
            write_section(&json, &blz->bloscpack.metadata);
        if (blz->metadata_problem)
            nt_json_member_string(&json, "problem", blz->metadata_problem);
        write_member(&json, "metadata", blz->metadata);
    }
    nt_json_finish(&json);
    return NT_OK;
}

/* ---- file.json, field.json, pages.jsonl ---- */

static enum nt_status blz_describe_file(const struct nt_file *file, struct nt_json *json,
                                        struct nt_error *error)
{
    const struct nt_blz *blz = file->datasets[0]->format_data;
    if (blz->root) {
        nt_json_member_string(json, "kind", blz->root->names ? "BLZ table" : "BLZ array");
        nt_json_member_unsigned(json, "files", blz->file_count);
    } else {
        nt_json_member_string(json, "kind", "Bloscpack file");
        nt_json_member_unsigned(json, "bloscpack_version", blz->bloscpack.header.version);
    }
    return NT_OK;
}

static void blz_describe_field(const struct nt_dataset *dataset, uint32_t field, struct nt_json *json)
{
    const struct nt_field *f = &dataset->fields[field];
    if (f->dimension_count || nt_field_is_fortran_order(f))
        nt_json_member_bool(json, "is_fortran_order", nt_field_is_fortran_order(f));
    if (f->kind == NT_FIELD_MEMBER)
        nt_json_member_unsigned(json, "member_offset", nt_field_member_offset(f));
}

static enum nt_status blz_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                        const struct nt_page *page, struct nt_json *json)
{
    struct nt_source *source = dataset->sources[page->source];
    struct nt_blosc_header header;
    struct nt_error error = {0};
    uint8_t bytes[NT_BLOSC_HEADER_BYTES];
    enum nt_status status = nt_source_read(source, page->offset, bytes, sizeof(bytes), &error);
    if (nt_is_retryable(status, &error))
        return status;
    const char *damage =
        status == NT_OK ? nt_blosc_header_read(bytes, page->stored_bytes, &header) : error.message;
    if (damage) {
        nt_json_member_string(json, "damage", damage);
        return NT_OK;
    }
    nt_json_member_string(json, "codec", nt_blosc_codec(&header));
    nt_json_member_string(json, "shuffle", nt_blosc_shuffle(&header));
    nt_json_member_bool(json, "is_memcpyed", nt_blosc_is_stored(&header));
    nt_json_member_unsigned(json, "type_bytes", header.type_bytes);
    nt_json_member_unsigned(json, "block_bytes", header.block_bytes);
    nt_json_member_unsigned(json, "chunk_bytes", header.plain_bytes);
    return NT_OK;
}

/* ---- Layout ---- */

static enum nt_status emit_metadata_file(const struct nt_layout_output *layout, struct nt_source *source,
                                         struct nt_error *error)
{
    uint64_t bytes;
    NT_TRY(nt_source_size(source, &bytes, error));
    return nt_layout_emit_range(layout, 0, bytes, "metadata");
}

/* Emits the ranges before the chunks of a file. */
static enum nt_status emit_chunk_file(const struct nt_layout_output *layout, struct nt_source *source,
                                      struct nt_error *error)
{
    struct nt_bloscpack bloscpack;
    NT_TRY(nt_bloscpack_open(source, &bloscpack, NULL, error));
    uint64_t header_bytes = bloscpack.header.header_bytes;
    NT_TRY(nt_layout_emit_range(layout, 0, header_bytes, "bloscpack header"));
    NT_TRY(nt_layout_emit_range(layout, header_bytes, bloscpack.metadata.section_bytes, "metadata"));
    return nt_layout_emit_range(layout, bloscpack.offsets_offset,
                                bloscpack.chunks_offset - bloscpack.offsets_offset, "offsets");
}

static enum nt_status blz_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                 struct nt_error *error)
{
    const struct nt_dataset *dataset = file->datasets[0];
    const struct nt_blz *blz = dataset->format_data;
    struct nt_layout_output layout = {.emit = emit, .context = context};
    for (layout.source = 0; layout.source < blz->file_count; layout.source++) {
        enum nt_status status = (layout.source < blz->chunk_file_count
                                     ? emit_chunk_file
                                     : emit_metadata_file)(&layout, dataset->sources[layout.source], error);
        if (nt_is_environmental(status)) /* a damaged or missing file has no ranges */
            return status;
    }
    return NT_OK;
}

/* ---- Detect changes ---- */

/* The attributes of a file that are compared. The device has another number after a restart. */
struct file_mark {
    uint64_t inode, bytes, seconds, nanoseconds;
};

/* A missing file is a state, too. */
static enum nt_status mark_file(struct nt_folder *folder, const char *name, struct file_mark *mark,
                                struct nt_error *error)
{
    struct stat attributes;
    struct nt_error failure = {0};
    enum nt_status status = nt_folder_stat(folder, name, &attributes, &failure);
    *mark = (struct file_mark){0};
    if (nt_is_retryable(status, &failure))
        return nt_fail_copy(error, &failure);
    if (status == NT_OK)
        *mark = (struct file_mark){attributes.st_ino, (uint64_t)attributes.st_size,
                                   (uint64_t)attributes.st_mtim.tv_sec, (uint64_t)attributes.st_mtim.tv_nsec};
    return NT_OK;
}

/* ---- The files ---- */

/* Loads the table's list of columns; NULL if it cannot be read, which opening the directory reports. */
static enum nt_status load_table(struct nt_folder *folder, const char *name, json_t **table_ret,
                                 struct nt_error *error)
{
    struct nt_budget budget;
    struct nt_error failure = {0};
    *table_ret = NULL;
    nt_budget_init(&budget, 0, nt_metadata_ceiling());
    enum nt_status status = nt_blz_json_load(folder, name, 0, &budget, table_ret, &failure);
    nt_budget_deinit(&budget);
    return nt_is_retryable(status, &failure) ? nt_fail_copy(error, &failure) : NT_OK;
}

/* Appends the directory of a table's first or last column to the table's; false if there is none. */
static bool append_column(const json_t *table, bool is_last, struct nt_buffer *directory)
{
    const json_t *names = json_object_get(table, "names");
    size_t count = json_array_size(names);
    const json_t *name = count ? json_array_get(names, is_last ? count - 1 : 0) : NULL;
    if (!json_is_string(name))
        return false;
    const json_t *listed = json_object_get(json_object_get(table, "dirs"), json_string_value(name));
    const json_t *found = json_is_string(listed) ? listed : name;
    struct nt_text text = {json_string_value(found), json_string_length(found)};
    if (!nt_folder_is_name_below(text))
        return false;
    nt_buffer_append(directory, text.bytes, text.length);
    nt_buffer_append_byte(directory, '/');
    return true;
}

/* Finds the sizes of the first or last column, through nested tables. */
static enum nt_status find_sizes(struct nt_folder *folder, bool is_last, char **name_ret,
                                 struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer directory = {0};
    bool is_table = true;
    for (unsigned depth = 0; is_table && depth <= NT_BLZ_DEPTH; depth++) {
        NT_CLEANUP(nt_buffer_deinit) struct nt_buffer name = {0};
        json_auto_t *table = NULL;
        nt_buffer_append_format(&name, "%s__rootdirs__", nt_buffer_string(&directory));
        NT_TRY(nt_check_memory(!name.failed, error));
        NT_TRY(load_table(folder, name.bytes, &table, error));
        is_table = table && append_column(table, is_last, &directory);
    }
    nt_buffer_append_string(&directory, "meta/sizes");
    *name_ret = nt_buffer_take(&directory);
    return nt_check_memory(*name_ret, error);
}

static enum nt_status find_watched(struct nt_folder *folder, char *watched[NT_VERSION_WATCHED],
                                   struct nt_error *error)
{
    bool is_table;
    NT_TRY(nt_folder_has(folder, "__rootdirs__", &is_table, error));
    NT_TRY(find_sizes(folder, false, &watched[0], error));
    if (!is_table)
        return NT_OK;
    watched[1] = strdup("__rootdirs__");
    return watched[1] ? find_sizes(folder, true, &watched[2], error) : nt_fail_memory(error);
}

/* ---- The state ---- */

/* The state's file is the last one that exists, else meta/storage, which accepts_folder has found. */
static enum nt_status mark_files(struct nt_folder *folder, struct nt_dataset_version *version,
                                 struct nt_error *error)
{
    struct file_mark marks[NT_VERSION_WATCHED] = {{0}};
    const char *file = "meta/storage";
    for (size_t i = 0; i < NT_VERSION_WATCHED && version->watched[i]; i++) {
        NT_TRY(mark_file(folder, version->watched[i], &marks[i], error));
        if (marks[i].inode)
            file = version->watched[i];
    }
    version->number = nt_xxh3(marks, sizeof(marks));
    version->file = strdup(file);
    return nt_check_memory(version->file, error);
}

/* Implements nt_format.find_state. Writers write the sizes last, those of a table's columns in order:
 * so the sizes of the first and the last column are watched, and the list of columns. */
static enum nt_status blz_find_state(struct nt_folder *folder, struct nt_dataset_version *version_ret,
                                     struct nt_error *error)
{
    struct nt_dataset_version found = {.is_state = true, .series = strdup("")};
    enum nt_status status = found.series ? find_watched(folder, found.watched, error) : nt_fail_memory(error);
    if (status == NT_OK)
        status = mark_files(folder, &found, error);
    if (status != NT_OK)
        nt_version_deinit(&found);
    *version_ret = found;
    return status;
}

/* The number of the directory's state. */
static enum nt_status blz_state_number(struct nt_folder *folder, uint64_t *number_ret, struct nt_error *error)
{
    struct nt_dataset_version found;
    enum nt_status status = blz_find_state(folder, &found, error);
    *number_ret = found.number;
    nt_version_deinit(&found);
    return status;
}

enum nt_status nt_blz_check_state(const struct nt_blz *blz, struct nt_error *error)
{
    uint64_t state;
    if (!blz->folder)
        return NT_OK;
    NT_TRY(blz_state_number(blz->folder, &state, error));
    if (state != blz->state)
        return nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s: was modified since it was opened",
                       blz->folder->path);
    return NT_OK;
}

/* ---- Open datasets ---- */

static void free_node(struct nt_blz_node *node)
{
    for (; node; node = node->next) {
        json_decref(node->names);
        json_decref(node->sizes);
        json_decref(node->storage);
        json_decref(node->attributes);
        for (size_t i = 0; i < node->other_count; i++)
            json_decref(node->others[i].content);
        free_node(node->children);
    }
}

static void close_dataset(struct nt_dataset *dataset)
{
    struct nt_blz *blz = dataset->format_data;
    for (uint32_t i = 0; i < blz->file_count; i++)
        if (dataset->sources[i] != dataset->file->source)
            nt_source_close(dataset->sources[i]);
    free_node(blz->root);
    json_decref(blz->metadata);
}

/* Reports columns and attributes that cannot be read, because no page does. */
static void report_problems(const struct nt_blz_node *node, nt_failure_emit *emit, void *context)
{
    for (; node; node = node->next) {
        struct nt_error failure;
        if (node->problem) {
            nt_fail(&failure, node->failure, NT_NO_OFFSET, "'%s': %s", node->name.bytes, node->problem);
            emit(context, &failure);
        }
        report_problems(node->children, emit, context);
    }
}

static enum nt_status check_file(const struct nt_file *file, nt_failure_emit *emit, void *context,
                                 struct nt_error *error)
{
    const struct nt_blz *blz = file->datasets[0]->format_data;
    struct nt_error failure;
    report_problems(blz->root, emit, context);
    if (blz->is_metadata_damaged) {
        nt_fail(&failure, NT_CORRUPT, blz->bloscpack.header.header_bytes,
                "metadata, without which values are bytes: %s", blz->metadata_problem);
        emit(context, &failure);
    }
    return NT_OK;
}

static const struct nt_dataset_ops dataset_ops = {
    .load_group = nt_blz_load_group,
    .describe_field = blz_describe_field,
    .describe_page = blz_describe_page,
    .close = close_dataset,
};

static const struct nt_document documents[] = {
    {.prefix = "metadata.json", .write = blz_write_metadata},
};

/* The writer that laid out the directory, as far as it is visible. */
static const char *generation_of(const struct nt_blz *blz)
{
    const struct nt_blz_node *node = blz->root;
    while (node && node->names && node->children)
        node = node->children;
    if (!node)
        return "bloscpack";
    if (json_object_get(node->storage, "bparams"))
        return "blz";
    return json_object_get(json_object_get(node->storage, "cparams"), "cname") ? "bcolz"
                                                                               : "blz, first description";
}

static enum nt_status describe_dataset(struct nt_dataset *dataset, const struct nt_blz *blz,
                                       struct nt_error *error)
{
    const struct nt_file *file = dataset->file;
    struct nt_text name = blz->root ? nt_path_name(file->path) : nt_path_stem(file->path);
    bool is_named = nt_text_copy(dataset->arena, name, &dataset->name);
    dataset->title = dataset->name;
    dataset->description = dataset->writer = (struct nt_text){"", 0};
    dataset->format = blz->root ? nt_format_blz.name : "bloscpack";
    dataset->generation = generation_of(blz);
    dataset->generation_reason = blz->root ? "the parameters in meta/storage" : "the magic";
    dataset->version = blz->root ? "1" : nt_arena_format(dataset->arena, "%u", blz->bloscpack.header.version);
    return nt_check_memory(is_named && dataset->version, error);
}

static enum nt_status fill_dataset(struct nt_dataset *dataset, struct nt_error *error)
{
    struct nt_file *file = dataset->file;
    struct nt_blz *blz = dataset->format_data;
    NT_CLEANUP(nt_blz_build_deinit)
    struct nt_blz_build build = {.dataset = dataset, .blz = blz, .folder = file->source->folder};
    nt_builder_init(&build.model, dataset);
    blz->folder = build.folder;
    if (build.folder)
        NT_TRY(blz_state_number(build.folder, &blz->state, error));
    NT_TRY(build.folder ? nt_blz_read_directory(&build, error)
                        : nt_blz_read_bloscpack(&build, file->source, error));
    NT_TRY(nt_blz_build_finish(&build, error));
    return describe_dataset(dataset, blz, error);
}

static enum nt_status fill_file(struct nt_file *file, const void *unused, struct nt_error *error)
{
    struct nt_dataset *dataset;
    NT_TRY(nt_file_add_dataset(file, &dataset, error));
    struct nt_blz *blz = nt_arena_alloc(dataset->arena, 1, sizeof(*blz));
    NT_TRY(nt_check_memory(blz, error));
    dataset->format_data = blz;
    dataset->ops = &dataset_ops;
    dataset->documents = documents;
    dataset->document_count = sizeof(documents) / sizeof(*documents);
    NT_TRY(fill_dataset(dataset, error));
    file->describe = blz_describe_file;
    file->layout = blz_layout;
    file->check = check_file;
    if (file->source->folder) {
        file->layout_sources = dataset->sources;
        file->layout_source_count = blz->file_count;
    }
    return NT_OK;
}

/* A link that leads out of the directory counts as a mark, too: opening reports what is wrong with it. */
static enum nt_status accepts_folder(struct nt_folder *folder, bool *takes_ret, struct nt_error *error)
{
    NT_TRY(nt_folder_has(folder, "meta/storage", takes_ret, error));
    if (*takes_ret)
        return NT_OK;
    return nt_folder_has(folder, "__rootdirs__", takes_ret, error);
}

static enum nt_status recognize_folder(const struct nt_source *source, struct nt_error *error)
{
    bool is_taken;
    NT_TRY(accepts_folder(source->folder, &is_taken, error));
    if (is_taken)
        return NT_OK;
    return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET,
                   "not a BLZ array or table: neither meta/storage nor __rootdirs__");
}

static enum nt_status recognize_file(struct nt_source *source, struct nt_error *error)
{
    char magic[4] = {0};
    if (source->size >= sizeof(magic))
        NT_TRY(nt_source_read(source, 0, magic, sizeof(magic), error));
    if (memcmp(magic, "blpk", sizeof(magic)))
        return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "not a Bloscpack file");
    return NT_OK;
}

static enum nt_status open_blz(struct nt_source *source, const struct nt_open_options *options,
                               struct nt_file **file_ret, struct nt_error *error)
{
    const struct nt_limits limits = nt_open_limits(options);
    NT_TRY(source->folder ? recognize_folder(source, error) : recognize_file(source, error));
    return nt_file_make(source, &limits, fill_file, NULL, file_ret, error);
}

const struct nt_format nt_format_blz = {
    .name = "blz",
    .description = "BLZ and bcolz arrays and tables (directories), Bloscpack files",
    .accepts_folder = accepts_folder,
    .find_state = blz_find_state,
    .recognize = recognize_file,
    .open = open_blz,
};
