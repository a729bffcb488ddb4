/* SPDX-License-Identifier: MIT
 *
 * Reads the deletion file of a fragment, an Arrow IPC file or a Roaring bitmap, into ranges of deleted
 * rows.
 */
#include "formats/lance/dataset/dataset.h"

#include "formats/roaring_reader.h"

enum nt_lance_deletion_type {
    NT_LANCE_DELETION_ARROW = 0,
    NT_LANCE_DELETION_BITMAP = 1,
};

static struct nt_proto message_of(const struct nt_lance_fragment_part *fragment)
{
    return nt_proto_message(fragment->message, NT_LANCE_FRAGMENT_DELETION_FILE);
}

static bool is_bitmap(const struct nt_lance_fragment_part *fragment)
{
    return nt_proto_number(message_of(fragment), NT_LANCE_DELETION_FILE_TYPE) == NT_LANCE_DELETION_BITMAP;
}

enum nt_status nt_lance_find_deletion_file(struct nt_file *file, const struct nt_lance_dataset *lance,
                                           const struct nt_lance_fragment_part *fragment,
                                           struct nt_folder **folder_ret, const char **name_ret,
                                           struct nt_error *error)
{
    struct nt_proto message = message_of(fragment);
    const struct nt_lance_base *base;
    uint64_t type = nt_proto_number(message, NT_LANCE_DELETION_FILE_TYPE);
    *name_ret = NULL;
    if (!message.bytes)
        return NT_OK;
    enum nt_status status = nt_lance_find_base(lance, message, NT_LANCE_DELETION_FILE_BASE_ID, &base, error);
    if (status == NT_OK && type > NT_LANCE_DELETION_BITMAP)
        status = nt_fail(error, NT_UNSUPPORTED, nt_lance_manifest_offset(&lance->manifest, message),
                         "%s: unknown kind %" PRIu64, lance->manifest.name, type);
    if (status == NT_OK && base && !base->is_root)
        status = nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                         "base path %" PRIu64 " does not belong to a dataset", base->id);
    NT_TRY(nt_with_context(status, error, "deletion file"));
    *folder_ret = base ? base->folder : lance->folder;
    *name_ret = nt_arena_format(file->arena, "%s_deletions/%" PRIu64 "-%" PRIu64 "-%" PRIu64 ".%s",
                                base ? base->below : lance->manifest.version.root, fragment->id,
                                nt_proto_number(message, NT_LANCE_DELETION_FILE_READ_VERSION),
                                nt_proto_number(message, NT_LANCE_DELETION_FILE_ID),
                                is_bitmap(fragment) ? "bin" : "arrow");
    return nt_check_memory(*name_ret, error);
}

/* ---- Runs of ascending rows ---- */

struct deletion_collector {
    struct nt_file *file;
    struct nt_source *source;
    uint64_t position;      /* of its bytes, for the budget */
    uint64_t physical_rows; /* of the fragment */
    /* at most this many deleted rows: the manifest's count; else, as writers without counts do not
     * compress, what the file has room for */
    uint64_t most;
    struct nt_deletion_run *runs; /* from malloc */
    uint32_t count;
    size_t capacity;
    uint64_t deleted; /* deleted rows so far */
    uint64_t next;    /* the row after the last run */
};

/* A growing array has as much spare capacity. */
static enum nt_status add_run(struct deletion_collector *collector, uint64_t first, struct nt_error *error)
{
    enum { RUN_BYTES = 2 * sizeof(struct nt_deletion_run) };
    NT_TRY(nt_budget_take(&collector->file->budget, NT_COST_ENVELOPE_BYTE, RUN_BYTES, NT_NO_OFFSET, error));
    NT_TRY(nt_check_memory(NT_GROW(collector->runs, collector->count, collector->capacity), error));
    collector->runs[collector->count++] = (struct nt_deletion_run){first, first - collector->deleted};
    return NT_OK;
}

static enum nt_status add_row(struct deletion_collector *collector, uint64_t row, struct nt_error *error)
{
    if (row >= collector->physical_rows)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "row %" PRIu64 " is deleted, but there are only %" PRIu64, row,
                       collector->physical_rows);
    bool goes_on = collector->count && row == collector->next;
    if (!goes_on)
        NT_TRY(add_run(collector, row, error));
    collector->deleted++;
    collector->next = row + 1;
    return NT_OK;
}

/* ---- Arrow: rows in any order ---- */

static enum nt_status add_sorted(struct deletion_collector *collector, struct nt_arrow_rows *found,
                                 struct nt_error *error)
{
    if (found->count)
        qsort(found->rows, found->count, sizeof(*found->rows), nt_compare_u32);
    for (size_t i = 0; i < found->count; i++) {
        bool is_twice = i && found->rows[i] == found->rows[i - 1];
        if (is_twice)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "row %" PRIu32 " is deleted twice",
                           found->rows[i]);
        NT_TRY(add_row(collector, found->rows[i], error));
    }
    return NT_OK;
}

static enum nt_status read_arrow(struct deletion_collector *collector, struct nt_error *error)
{
    struct nt_source *source = collector->source;
    struct nt_budget *budget = &collector->file->budget;
    struct nt_arrow_rows found = {NULL, 0};
    const struct nt_metadata_range all = {.bytes = source->size, .position = collector->position};
    uint8_t *bytes;
    uint64_t taken;
    NT_TRY(nt_metadata_read(budget, source, &all, &bytes, NULL, error));
    if (!nt_checked_multiply(collector->most, 2 * sizeof(uint32_t), &taken))
        taken = UINT64_MAX;
    enum nt_status status = nt_budget_take(budget, NT_COST_ENVELOPE_BYTE, taken, NT_NO_OFFSET, error);
    if (status == NT_OK)
        status = nt_arrow_column_read(bytes, (size_t)source->size, collector->most, &found, error);
    else
        taken = 0;
    free(bytes);
    if (status == NT_OK)
        status = add_sorted(collector, &found, error);
    free(found.rows);
    nt_budget_release(budget, NT_COST_ENVELOPE_BYTE, source->size + taken);
    return status;
}

/* ---- Roaring ---- */

struct bitmap_reader {
    struct deletion_collector *collector;
    uint8_t *stored; /* a container's bytes */
    uint32_t *rows;  /* its values */
};

enum { MAX_VALUES = 65536 };

static enum nt_status take_container(void *context, const struct nt_roaring_bitmap *bitmap,
                                     const struct nt_roaring_container *container, struct nt_error *error)
{
    struct bitmap_reader *reader = context;
    const struct nt_decoder decoder = {.encoding = nt_roaring_kind_info(container->kind)->encoding,
                                       .element = NT_ELEMENT_UINT32,
                                       .element_bytes = sizeof(uint32_t)};
    const struct nt_packed packed = {.decoder = &decoder,
                                     .parameter = (uint64_t)container->key << 16,
                                     .data = reader->stored,
                                     .bytes = container->bytes,
                                     .elements = container->cardinality};
    NT_TRY(nt_source_read(reader->collector->source, container->offset, reader->stored, container->bytes,
                          error));
    nt_budget_add_stored(&reader->collector->file->budget, reader->collector->position + container->offset,
                         reader->stored, container->bytes, false);
    NT_TRY(nt_encoding_info(decoder.encoding)->decode(&packed, (uint8_t *)reader->rows, error));
    for (uint32_t i = 0; i < container->cardinality; i++)
        NT_TRY(add_row(reader->collector, reader->rows[i], error));
    return NT_OK;
}

static enum nt_status read_bitmap(struct deletion_collector *collector, struct nt_error *error)
{
    NT_AUTO_FREE uint8_t *stored = malloc(NT_ROARING_WINDOW_BYTES);
    NT_AUTO_FREE uint32_t *rows = malloc(MAX_VALUES * sizeof(*rows));
    struct bitmap_reader reader = {.collector = collector, .stored = stored, .rows = rows};
    struct nt_roaring_walk walk = {.source = collector->source,
                                   .width = NT_ROARING_32,
                                   .context = &reader,
                                   .on_container = take_container};
    NT_TRY(nt_check_memory(stored && rows, error));
    return nt_roaring_walk(&walk, error);
}

/* ---- Load deletion vectors ---- */

static enum nt_status make_deletion_vector(struct deletion_collector *collector,
                                           const struct nt_deletion_vector **deletions_ret,
                                           struct nt_error *error)
{
    struct nt_arena *arena = collector->file->arena;
    struct nt_deletion_vector *deletions = nt_arena_alloc(arena, 1, sizeof(*deletions));
    struct nt_deletion_run *items = nt_arena_alloc(arena, (size_t)collector->count + 1, sizeof(*items));
    NT_TRY(nt_check_memory(deletions && items, error));
    memcpy(items, collector->runs, collector->count * sizeof(*items));
    items[collector->count] =
        (struct nt_deletion_run){collector->physical_rows, collector->physical_rows - collector->deleted};
    *deletions = (struct nt_deletion_vector){items, collector->count};
    *deletions_ret = deletions;
    return NT_OK;
}

static enum nt_status collect(struct deletion_collector *collector, struct nt_lance_fragment_part *fragment,
                              struct nt_error *error)
{
    NT_TRY(is_bitmap(fragment) ? read_bitmap(collector, error) : read_arrow(collector, error));
    if (fragment->has_deleted_rows && collector->deleted != fragment->deleted_rows)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "deleted rows that the manifest declares",
                              fragment->deleted_rows, collector->deleted);
    if (collector->count)
        NT_TRY(make_deletion_vector(collector, &fragment->deletions, error));
    fragment->deleted_rows = collector->deleted;
    return NT_OK;
}

static enum nt_status read_file(struct nt_file *file, struct nt_lance_fragment_part *fragment,
                                struct nt_folder *folder, const char *name, struct nt_error *error)
{
    struct deletion_collector collector = {
        .file = file,
        .physical_rows = fragment->physical_rows,
        .position = nt_metadata_position(2 + 2 * (uint64_t)fragment->first_file, 0)};
    NT_TRY(nt_folder_open_file(folder, name, &collector.source, error));
    collector.most =
        fragment->has_deleted_rows ? fragment->deleted_rows : collector.source->size / sizeof(uint32_t);
    enum nt_status status = collect(&collector, fragment, error);
    free(collector.runs);
    nt_source_close(collector.source);
    return status;
}

enum nt_status nt_lance_read_deletions(struct nt_file *file, const struct nt_lance_dataset *lance,
                                       struct nt_lance_fragment_part *fragment, struct nt_error *error)
{
    struct nt_folder *folder;
    const char *name;
    if (fragment->has_deletions)
        return NT_OK;
    NT_TRY(nt_lance_find_deletion_file(file, lance, fragment, &folder, &name, error));
    if (name) {
        enum nt_status status = read_file(file, fragment, folder, name, error);
        if (status == NT_NOT_FOUND)
            status = nt_lance_fail_missing(lance, folder, name, "deletion file", error);
        NT_TRY(nt_with_context(status, error, "%s", name));
    }
    fragment->has_deletions = fragment->has_deleted_rows = true;
    return NT_OK;
}
