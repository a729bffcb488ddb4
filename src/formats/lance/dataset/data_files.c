/* SPDX-License-Identifier: MIT
 *
 * Opens the data files of fragments and closes those that were not used for long, prefetches the metadata
 * of the next ones, and loads the page list of a field in a fragment.
 */
#include "formats/lance/dataset/dataset.h"

#include "core/base/queue.h"

/* ---- Missing files ---- */

struct timespec nt_lance_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return now;
}

static bool is_before(const struct timespec *left, const struct timespec *right)
{
    return left->tv_sec < right->tv_sec || (left->tv_sec == right->tv_sec && left->tv_nsec < right->tv_nsec);
}

/* Gets the attributes of the directory with a name or, if that is missing, too, of its closest
 * ancestor. */
static enum nt_status look_around(struct nt_folder *folder, const char *name, struct stat *attributes,
                                  struct nt_error *error)
{
    enum nt_status status = NT_NOT_FOUND;
    size_t length = strlen(name);
    NT_AUTO_FREE char *way = strdup(name);
    NT_TRY(nt_check_memory(way, error));
    while (status == NT_NOT_FOUND && length) {
        const char *end = memrchr(way, '/', length);
        length = end ? (size_t)(end - way) : 0;
        way[length] = '\0';
        status = nt_folder_stat(folder, way, attributes, error);
    }
    return status;
}

enum nt_status nt_lance_fail_missing(const struct nt_lance_dataset *lance, struct nt_folder *folder,
                                     const char *name, const char *what, struct nt_error *error)
{
    struct stat attributes;
    enum nt_status status = look_around(folder, name, &attributes, error);
    if (status != NT_OK && status != NT_NOT_FOUND)
        return status;
    bool has_changed = status == NT_OK && !is_before(&attributes.st_mtim, &lance->opened);
    return nt_fail(error, has_changed ? NT_CHANGED : NT_CORRUPT, NT_NO_OFFSET, "the %s is missing%s", what,
                   has_changed ? ", and its directory has changed since the dataset was opened" : "");
}

/* ---- Prefetch data files ---- */

/* A new connection sends END_BYTES at once. */
enum { FIRST_AHEAD = 4, MAX_AHEAD = 64, END_BYTES = 13824, MAX_END_BYTES = 1024 * 1024 };

/* A little for each column, and a table of symbols for strings, in whole requests. */
void nt_lance_estimate_ends(struct nt_lance_dataset *lance)
{
    enum { OF_COLUMN = 224, OF_STRINGS = 2560, MAX_ESTIMATE = 64 * 1024 };
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < lance->schema.field_count && bytes < MAX_ESTIMATE; i++) {
        const struct nt_lance_field_layout *layout = &lance->schema.layouts[i];
        if (!layout->children)
            bytes += layout->type.shape == NT_LANCE_IS_TEXT ? OF_STRINGS : OF_COLUMN;
    }
    lance->ahead.end_bytes = (bytes / END_BYTES + 1) * END_BYTES;
}

/* Requests the metadata at the end of a file. Ignores failures, which reading reports later. */
static void ask(const struct nt_lance_dataset *lance, struct nt_source *source)
{
    uint64_t size, bytes;
    if (nt_source_size(source, &size, NULL) != NT_OK)
        return;
    uint64_t left = nt_min(size, lance->ahead.end_bytes);
    for (uint64_t end = size; left; left -= bytes, end -= bytes) {
        bytes = nt_min(left, END_BYTES);
        nt_source_prefetch(source, &(struct nt_extent){end - bytes, bytes}, 1, NT_PREFETCH_NOW);
    }
}

static void note_end(struct nt_lance_dataset *lance, const struct nt_lance *opened)
{
    if (opened->legacy)
        return;
    uint64_t first = opened->globals[0].offset < opened->tail.columns_start ? opened->globals[0].offset
                                                                            : opened->tail.columns_start;
    uint64_t bytes = opened->size - first;
    if (bytes > MAX_END_BYTES)
        return;
    if (bytes > lance->ahead.end_bytes)
        lance->ahead.end_bytes = bytes + bytes / 8; /* those of others may be a little longer */
}

/* Requests the k-th file of a fragment, which stores the same fields as the k-th file of the others. */
static void request_fragment(struct nt_dataset *dataset, const struct nt_lance_dataset *lance,
                             uint32_t fragment, uint32_t k)
{
    const struct nt_lance_fragment_part *part = &lance->fragments[fragment];
    uint32_t number = part->first_file + k;
    if (k < part->file_count && lance->files[number].name && !lance->files[number].opened)
        ask(lance, dataset->sources[number]);
}

/* Call this before a data file is read for the first time, with the dataset's lock. */
static void request_readahead(struct nt_dataset *dataset, uint32_t number)
{
    struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    struct nt_lance_readahead *ahead = &lance->ahead;
    uint32_t fragment = lance->files[number].fragment, k = number - lance->fragments[fragment].first_file;
    if (!nt_source_can_prefetch(dataset->sources[number]))
        return;
    bool follows = fragment == ahead->next && k == ahead->file;
    ahead->count = !follows ? 0 : !ahead->count ? FIRST_AHEAD : ahead->count;
    ahead->file = k;
    ahead->next = fragment + 1;
    if (!follows || ahead->asked < fragment + 1)
        ahead->asked = fragment + 1;
    if (ahead->asked - fragment >
        ahead->count / 2) /* in large batches, so that some requests are always in flight */
        return;
    for (uint32_t i = 0; i < ahead->count && ahead->asked < lance->fragment_count; i++)
        request_fragment(dataset, lance, ahead->asked++, k);
    if (ahead->count < MAX_AHEAD)
        ahead->count *= 2;
}

/* ---- Open data files ---- */

/* Each open data file has memory of its own. The memory is freed when the file was not used for long; the
 * file is read again on demand. */

/* Creates an open file before anything is read from it; NULL: out of memory. */
static struct nt_lance_open_file *new_file(struct nt_file *file, uint32_t number)
{
    NT_CLEANUP(nt_arena_free_at) struct nt_arena *arena = nt_arena_new();
    struct nt_lance_open_file *open = arena ? nt_arena_alloc(arena, 1, sizeof(*open)) : NULL;
    if (!open)
        return NULL;
    *open = (struct nt_lance_open_file){.memory = {.file = file, .arena = arena}, .number = number};
    arena = NULL;
    return open;
}

/* Frees an open file and releases its part of the budget. */
static void free_file(struct nt_lance_open_file *open)
{
    nt_budget_release(&open->memory.file->budget, NT_COST_ENVELOPE_BYTE, open->memory.taken);
    nt_arena_free(open->memory.arena);
}

static void close_file(struct nt_lance_dataset *lance, struct nt_lance_open_file *open)
{
    TAILQ_REMOVE(&lance->open.by_use, open, by_use);
    lance->files[open->number].opened = NULL;
    lance->open.bytes -= open->memory.taken;
    free_file(open);
}

/* Adds one that was read. If the file's budget requires it, closes the least recently used files.
 * Returns NT_LIMIT, and adds nothing, if the budget is too small for this file. */
static enum nt_status keep_file(struct nt_lance_dataset *lance, struct nt_lance_open_file *open,
                                struct nt_error *error)
{
    const struct nt_budget *budget = &open->memory.file->budget;
    NT_TRY(nt_lance_take(&open->memory, NT_COST_ENVELOPE_BYTE, nt_arena_bytes(open->memory.arena),
                         NT_NO_OFFSET, error));
    lance->files[open->number].opened = open;
    if (open->lance.legacy) /* most of its memory is in the nt_file's arena */
        return NT_OK;
    TAILQ_INSERT_HEAD(&lance->open.by_use, open, by_use);
    lance->open.bytes += open->memory.taken;
    for (struct nt_lance_open_file *oldest;
         (oldest = NT_TAILQ_LAST(&lance->open.by_use, nt_lance_open_file, by_use)) != open &&
         nt_budget_is_tight(budget, lance->open.bytes);)
        close_file(lance, oldest);
    return NT_OK;
}

/* Marks one as the most recently used. */
static void use_file(struct nt_lance_dataset *lance, struct nt_lance_open_file *open)
{
    if (open->lance.legacy)
        return;
    TAILQ_REMOVE(&lance->open.by_use, open, by_use);
    TAILQ_INSERT_HEAD(&lance->open.by_use, open, by_use);
}

uint64_t nt_lance_open_files_release(struct nt_lance_dataset *lance)
{
    uint64_t before = lance->open.bytes;
    struct nt_lance_open_file *oldest;
    while (lance->open.bytes && (oldest = NT_TAILQ_LAST(&lance->open.by_use, nt_lance_open_file, by_use)) !=
                                    TAILQ_FIRST(&lance->open.by_use))
        close_file(lance, oldest);
    return before - lance->open.bytes;
}

void nt_lance_open_files_close(struct nt_lance_dataset *lance)
{
    for (uint32_t i = 0; i < lance->file_count; i++)
        if (lance->files[i].opened)
            free_file(lance->files[i].opened);
}

/* ---- Data files ---- */

/* Reports why a file without a name cannot be read. */
static enum nt_status refuse_file(const struct nt_lance_dataset *lance,
                                  const struct nt_lance_data_file *data_file, struct nt_error *error)
{
    struct nt_text path = nt_proto_text(data_file->message, NT_LANCE_DATA_FILE_PATH);
    const struct nt_lance_base *base;
    enum nt_status status =
        nt_lance_find_base(lance, data_file->message, NT_LANCE_DATA_FILE_BASE_ID, &base, error);
    if (status == NT_OK)
        status = nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "its path is not inside data/");
    return nt_with_context(status, error, "data file '%.*s'", (int)path.length, path.bytes);
}

/* Checks that the file has as many rows as its fragment, and that nulls match the schema. */
static enum nt_status check_file(const struct nt_lance_dataset *lance,
                                 const struct nt_lance_data_file *data_file, const struct nt_lance *opened,
                                 struct nt_error *error)
{
    const struct nt_lance_fragment_part *fragment = &lance->fragments[data_file->fragment];
    uint64_t expected = fragment->physical_rows;
    bool is_legacy = opened->legacy, is_declared = data_file->generation == NT_LANCE_IS_LEGACY;
    if (is_legacy != is_declared)
        return nt_fail(error, NT_CORRUPT, opened->tail.offset,
                       "the file has version %s, but the manifest declares a %s file", opened->tail.version,
                       is_declared ? "legacy" : "later");
    if (!fragment->has_rows || opened->rows == expected)
        return NT_OK;
    return nt_fail_number(error, NT_CORRUPT, opened->globals[0].offset, "rows that the manifest declares",
                          expected, opened->rows);
}

static enum nt_status read_file(struct nt_dataset *dataset, struct nt_lance_open_file *open,
                                struct nt_error *error)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    const struct nt_lance_data_file *data_file = &lance->files[open->number];
    struct nt_source *source = dataset->sources[open->number];
    uint64_t size;
    enum nt_status status = nt_source_size(source, &size, error);
    if (status == NT_NOT_FOUND)
        return nt_lance_fail_missing(lance, data_file->folder, data_file->name, "data file", error);
    NT_TRY(status);
    NT_TRY(nt_lance_read(&open->memory, source, open->number, &open->lance, error));
    return check_file(lance, data_file, &open->lance, error);
}

static enum nt_status open_file(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    struct nt_lance_open_file *open = new_file(dataset->file, number);
    NT_TRY(nt_check_memory(open, error));
    request_readahead(dataset, number);
    enum nt_status status = read_file(dataset, open, error);
    if (status == NT_OK)
        status = keep_file(lance, open, error);
    if (status == NT_OK)
        note_end(lance, &open->lance);
    else
        free_file(open);
    return nt_with_context(status, error, "%s", lance->files[number].name);
}

enum nt_status nt_lance_open_data_file(struct nt_dataset *dataset, uint32_t number,
                                       const struct nt_lance **opened_ret, struct nt_error *error)
{
    struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    struct nt_lance_data_file *data_file = &lance->files[number];
    if (!data_file->name)
        return refuse_file(lance, data_file, error);
    if (data_file->opened)
        use_file(lance, data_file->opened);
    else
        NT_TRY(open_file(dataset, number, error));
    *opened_ret = &data_file->opened->lance;
    return NT_OK;
}

enum nt_status nt_lance_require_data_file(struct nt_dataset *dataset, uint32_t number,
                                          const struct nt_lance **opened_ret, struct nt_error *error)
{
    enum nt_status status = nt_lance_open_data_file(dataset, number, opened_ret, error);
    if (status == NT_LIMIT && nt_groups_release(dataset))
        status = nt_lance_open_data_file(dataset, number, opened_ret, error);
    return status;
}

static enum nt_status count_physical_rows(struct nt_dataset *dataset, struct nt_lance_fragment_part *fragment,
                                          struct nt_error *error)
{
    const struct nt_lance *opened = NULL;
    NT_TRY(nt_lance_open_data_file(dataset, fragment->first_file, &opened, error));
    if (fragment->deleted_rows > opened->rows)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "%" PRIu64 " rows are deleted, but there are only %" PRIu64, fragment->deleted_rows,
                       opened->rows);
    fragment->physical_rows = opened->rows;
    fragment->has_rows = true;
    return NT_OK;
}

enum nt_status nt_lance_count_rows(struct nt_dataset *dataset, uint32_t part, struct nt_error *error)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    struct nt_lance_fragment_part *fragment = &lance->fragments[part];
    enum nt_status status = fragment->has_rows ? NT_OK : count_physical_rows(dataset, fragment, error);
    if (status == NT_OK && !fragment->has_deleted_rows)
        status = nt_lance_read_deletions(dataset->file, lance, fragment, error);
    return nt_with_context(status, error, "fragment %" PRIu64, fragment->id);
}

/* ---- Groups ---- */

static enum nt_status fill_null(struct nt_dataset *dataset, uint32_t group, struct nt_error *error)
{
    const struct nt_field *field = &dataset->fields[nt_group_field(dataset, group, NULL)];
    struct nt_group_builder builder;
    if (nt_lance_dataset_of(dataset)->schema.is_legacy && !field->is_nullable && field->kind != NT_FIELD_NULL)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "no legacy data file stores the field, and it is not nullable");
    enum nt_status status =
        nt_group_builder_init(&builder, dataset, group, "list of pages", NT_NO_OFFSET, error);
    if (status == NT_OK)
        nt_group_builder_set_null(&builder);
    return nt_group_builder_finish(&builder, status);
}

/* In a legacy file, the field's id identifies the column. */
static enum nt_status find_column(const struct nt_lance *opened, uint32_t *column, struct nt_error *error)
{
    int32_t id = (int32_t)*column;
    if (!opened->legacy)
        return NT_OK;
    *column = nt_lance_find_id(&opened->schema, id);
    return *column != NT_NONE ? NT_OK
                              : nt_fail(error, NT_CORRUPT, opened->globals[0].offset,
                                        "field %" PRId32 " is not in the file", id);
}

enum nt_status nt_lance_check_column(const struct nt_lance_schema *schema, const struct nt_lance *opened,
                                     const struct nt_lance_leaf *leaf, bool needs_values,
                                     struct nt_error *error)
{
    uint32_t column = leaf->column;
    if (column >= opened->tail.columns)
        return nt_fail(error, NT_CORRUPT, opened->tail.column_table,
                       "column %" PRIu32 " does not exist: the file has %" PRIu32, column,
                       opened->tail.columns);
    const struct nt_error *failure = opened->columns[column].failure;
    return failure && needs_values ? nt_fail_copy(error, failure)
                                   : nt_lance_check_rows(schema, leaf, opened, error);
}

static enum nt_status fill_from_file(struct nt_dataset *dataset, uint32_t group,
                                     const struct nt_lance *opened, struct nt_lance_leaf leaf,
                                     struct nt_error *error)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    NT_TRY(find_column(opened, &leaf.column, error));
    NT_TRY(nt_lance_check_column(&lance->schema, opened, &leaf, true, error));
    const struct nt_lance_column_map column_map =
        nt_lance_map_column(&lance->schema, &leaf, nt_lance_has_item_columns(&opened->tail),
                            &lance->schema.parts[nt_group_field(dataset, group, NULL)]);
    return nt_lance_fill_group(dataset, group, opened, &column_map, error);
}

/* Runs once for all fields of the fragment. */
static enum nt_status find_deleted(struct nt_dataset *dataset, uint32_t part, struct nt_error *error)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    struct nt_lance_fragment_part *fragment = &lance->fragments[part];
    if (!dataset->part_deletions)
        return NT_OK;
    NT_TRY(nt_lance_read_deletions(dataset->file, lance, fragment, error));
    if (fragment->deletions && !dataset->part_deletions[part]) /* else others read it */
        dataset->part_deletions[part] = fragment->deletions;
    return NT_OK;
}

/* Overlays replace values of data files; a future version of Lance may write them. */
static enum nt_status check_overlays(const struct nt_lance_dataset *lance,
                                     const struct nt_lance_fragment_part *fragment, struct nt_error *error)
{
    return nt_proto_has(fragment->message, NT_LANCE_FRAGMENT_OVERLAYS)
               ? nt_fail(error, NT_UNSUPPORTED, nt_lance_manifest_offset(&lance->manifest, fragment->message),
                         "%s: cannot read overlays", lance->manifest.name)
               : NT_OK;
}

static enum nt_status load_part(struct nt_dataset *dataset, uint32_t group, struct nt_error *error)
{
    struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    uint32_t part, field = nt_group_field(dataset, group, &part);
    struct nt_lance_fragment_part *fragment = &lance->fragments[part];
    const struct nt_lance *opened;
    NT_TRY(check_overlays(lance, fragment, error));
    NT_TRY(find_deleted(dataset, part, error));
    NT_TRY(nt_lance_find_columns(dataset->file, lance, fragment, error));
    const struct nt_lance_leaf *leaf = &fragment->leaves[lance->schema.parts[field].field];
    if (leaf->column == NT_NONE)
        return fill_null(dataset, group, error);
    uint32_t file = fragment->first_file + leaf->file;
    NT_TRY(nt_lance_open_data_file(dataset, file, &opened, error));
    return nt_with_context(fill_from_file(dataset, group, opened, *leaf, error), error, "%s",
                           lance->files[file].name);
}

enum nt_status nt_lance_load_part(struct nt_dataset *dataset, uint32_t group, struct nt_error *error)
{
    uint32_t part;
    nt_group_field(dataset, group, &part);
    return nt_with_context(load_part(dataset, group, error), error, "fragment %" PRIu64,
                           nt_lance_dataset_of(dataset)->fragments[part].id);
}

/* ---- Prefetch ---- */

/* The column that stores the field of a group, and its file; NULL: none does. */
static const struct nt_lance_leaf *locate(struct nt_dataset *dataset, uint32_t group, uint32_t *file_ret)
{
    struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    uint32_t part, field = nt_group_field(dataset, group, &part);
    struct nt_lance_fragment_part *fragment = &lance->fragments[part];
    if (nt_group_is_loaded(dataset, group) ||
        nt_lance_find_columns(dataset->file, lance, fragment, NULL) != NT_OK)
        return NULL;
    const struct nt_lance_leaf *leaf = &fragment->leaves[lance->schema.parts[field].field];
    *file_ret = fragment->first_file + leaf->file;
    return leaf->column != NT_NONE && lance->files[*file_ret].name ? leaf : NULL;
}

/* Requests the metadata of all files that are not open. */
static void request_files(struct nt_dataset *dataset, struct nt_groups groups)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    for (uint32_t i = groups.first; i < groups.end; i++) {
        uint32_t file;
        if (locate(dataset, i, &file) && !lance->files[file].opened)
            ask(lance, dataset->sources[file]);
    }
}

bool nt_lance_unverified_elements(struct nt_dataset *dataset, uint32_t cluster, uint32_t field,
                                  uint32_t position, uint64_t *elements_ret)
{
    NT_LOCK_GUARD(&dataset->lock);
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    uint32_t file;
    const struct nt_lance_leaf *leaf = locate(dataset, cluster, &file);
    const struct nt_lance *opened;
    if (!leaf || !nt_source_can_prefetch(dataset->sources[file]))
        return false;
    if (!lance->files[file].opened) {
        struct nt_groups groups = nt_groups_of_field(dataset, field);
        request_files(dataset, (struct nt_groups){cluster, nt_min(groups.end, cluster + MAX_AHEAD)});
    }
    if (nt_lance_open_data_file(dataset, file, &opened, NULL) != NT_OK || opened->legacy ||
        nt_lance_check_column(&lance->schema, opened, leaf, true, NULL) != NT_OK)
        return false;
    const struct nt_lance_column_map column_map = nt_lance_map_column(
        &lance->schema, leaf, nt_lance_has_item_columns(&opened->tail), &lance->schema.parts[field]);
    return nt_lance_known_elements(dataset, opened, field, &column_map, position, elements_ret);
}

bool nt_lance_plan_parts(struct nt_dataset *dataset, struct nt_groups groups, bool with_pages,
                         struct nt_prefetch *prefetch)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    uint64_t end_bytes = 0;
    for (uint32_t i = groups.first; i < groups.end; i++) {
        uint32_t file;
        const struct nt_lance_leaf *leaf = locate(dataset, i, &file);
        const struct nt_lance *opened;
        if (!leaf)
            continue;
        if (i == groups.first ||
            end_bytes < lance->ahead.end_bytes) /* a file has shown that they are longer */
            request_files(dataset, (struct nt_groups){i, groups.end});
        end_bytes = lance->ahead.end_bytes;
        enum nt_status status = nt_lance_open_data_file(dataset, file, &opened, NULL);
        if (nt_is_environmental(status))
            return false;
        if (status == NT_OK)
            nt_lance_plan_column(opened, &dataset->fields[nt_group_field(dataset, i, NULL)], leaf->column,
                                 with_pages, prefetch);
    }
    return true;
}

/* ---- JSON ---- */

enum nt_status nt_lance_describe_part_page(const struct nt_dataset *dataset, uint32_t column,
                                           const struct nt_page *page, struct nt_json *json)
{
    struct nt_dataset *whole = dataset->logical;
    NT_LOCK_GUARD(&whole->lock);
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(whole);
    const struct nt_lance_data_file *data_file = &lance->files[page->source];
    const struct nt_lance_fragment_part *fragment = &lance->fragments[data_file->fragment];
    const struct nt_lance_model_field *part = &lance->schema.parts[whole->columns[column].field];
    nt_json_member_unsigned(json, "fragment", fragment->id);
    uint32_t file_column = fragment->leaves[part->field].column;
    const struct nt_lance *opened = NULL;
    NT_TRY(nt_lance_require_data_file(whole, page->source, &opened, NULL));
    return opened->legacy ? nt_lance_legacy_describe_page_of(whole, opened, (int32_t)file_column, page, json)
                          : nt_lance_describe_page_of(whole, opened, file_column, page, json);
}
