/* SPDX-License-Identifier: MIT
 *
 * Builds the page list of a column, one page per Blosc chunk, from chunk headers only. Missing or
 * damaged chunks become pages that fail on read, so that all rows keep their positions.
 */
#include "formats/blz/blz.h"

/* ---- Error sources ---- */

static const char *const reasons[NT_BLZ_FAILURE_COUNT] = {
    [NT_BLZ_FILE_MISSING] = "the chunk's file is missing",
    [NT_BLZ_HEADER_DAMAGED] = "the chunk's file has no valid Bloscpack header of a file with one chunk",
    [NT_BLZ_CHUNK_DAMAGED] = "the chunk's Blosc header is damaged, or the file ends before the chunk does",
    [NT_BLZ_CHUNK_LOST] = "the chunk's position is unknown because of damage before it",
    [NT_BLZ_SUPERCHUNK_DAMAGED] = "the superchunk's headers are damaged, so its chunks are unknown",
    [NT_BLZ_ROWS_NOT_PLACED] = ("the row's position is unknown: a superchunk before it is missing or "
                                "damaged, and the others do not prove how many rows it has"),
    [NT_BLZ_ROWS_MISSING] = "the files end before the last row that the sizes declare",
};

struct failure_source {
    struct nt_source source; /* its path is the reason */
    const struct nt_blz *blz;
};

static enum nt_status fail_to_read(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                   struct nt_error *error)
{
    NT_TRY(nt_blz_check_state(((struct failure_source *)source)->blz, error));
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s", source->path);
}

static enum nt_status no_size(struct nt_source *source, uint64_t *size_ret, struct nt_error *error)
{
    *size_ret = 0;
    return NT_OK;
}

bool nt_blz_failure_sources(struct nt_arena *arena, const struct nt_blz *blz,
                            struct nt_source *sources[NT_BLZ_FAILURE_COUNT])
{
    static const struct nt_source_ops ops = {.read_at = fail_to_read, .size = no_size};
    struct failure_source *all = nt_arena_alloc(arena, NT_BLZ_FAILURE_COUNT, sizeof(*all));
    for (int i = 0; all && i < NT_BLZ_FAILURE_COUNT; i++) {
        struct nt_source *source = sources[i] = &all[i].source;
        source->ops = &ops;
        source->size = NT_UNKNOWN_SIZE; /* so that reads reach fail_to_read */
        source->path = reasons[i];
        all[i].blz = blz;
    }
    return all;
}

/* ---- Superchunk sizes ---- */

/* The number of superchunks before a file of the column, including missing ones. */
static inline uint64_t blz_superchunk_index(const struct nt_blz_column *column, uint32_t file)
{
    uint64_t first = column->numbers && column->numbers[0] == 0 ? 0 : 1;
    return column->numbers ? column->numbers[file] - first : file;
}

/* Counts elements from the superchunk's header and those of its chunks. */
static enum nt_status count_superchunk(struct nt_source *source, uint32_t element_bytes,
                                       uint64_t *elements_ret, bool *is_known_ret, struct nt_error *error)
{
    struct nt_bloscpack bloscpack;
    struct nt_bloscpack_chunk chunk;
    struct nt_error damage = {0};
    uint64_t bytes = 0;
    bool is_known = true;
    enum nt_status status = nt_bloscpack_open(source, &bloscpack, NULL, &damage);
    struct nt_bloscpack_walk walk = nt_bloscpack_walk_begin(source, &bloscpack);
    while (status == NT_OK && nt_bloscpack_walk_next(&walk, &chunk, &status, &damage))
        is_known = is_known && (!chunk.damage || chunk.is_size_known) &&
                   nt_checked_add(bytes, chunk.plain_bytes, &bytes);
    if (nt_is_retryable(status, &damage))
        return nt_fail_copy(error, &damage);
    *is_known_ret = status == NT_OK && is_known && bytes % element_bytes == 0;
    *elements_ret = bytes / element_bytes;
    return NT_OK;
}

/* Is the last file the last superchunk, if `full` elements are in each one before it? */
static bool ends_with(const struct nt_blz_column *column, uint64_t full, uint64_t total, uint64_t *rest_ret)
{
    uint64_t before = blz_superchunk_index(column, column->file_count - 1), elements;
    if (full == 0 || !nt_checked_multiply(full, before, &elements) || elements >= total ||
        total - elements > full)
        return false;
    *rest_ret = total - elements;
    return true;
}

/* Finds the number of elements in a full superchunk of a column with `total` elements. 0: the files do
 * not prove it, so nothing after a missing one can be placed. The proof: all countable files but the
 * last have the same number, the last one has the rest, and no file after it is missing. */
static enum nt_status blz_superchunk_elements(const struct nt_dataset *dataset,
                                              const struct nt_blz_column *column, uint32_t element_bytes,
                                              uint64_t total, uint64_t *elements_ret, struct nt_error *error)
{
    uint64_t full = 0, last = 0, rest;
    bool is_known = false, is_uniform = true;
    *elements_ret = 0;
    for (uint32_t i = 0; i < column->file_count; i++) {
        struct nt_source *source = dataset->sources[column->first_source + i];
        NT_TRY(count_superchunk(source, element_bytes, &last, &is_known, error));
        if (!is_known || i == column->file_count - 1)
            continue;
        is_uniform = is_uniform && (full == 0 || full == last);
        full = last;
    }
    if (!is_uniform || column->file_count == 0 || !ends_with(column, full, total, &rest))
        return NT_OK;
    if (!is_known || last == rest)
        *elements_ret = full;
    return NT_OK;
}

/* ---- Page lists ---- */

/* The limit of pages for rows that no file has. */
enum { MAXIMUM_MISSING_PAGES = 65536 };

struct blz_page_builder {
    struct nt_dataset *dataset;
    const struct nt_blz *blz;
    const struct nt_blz_column *column;
    uint32_t decoder;
    uint32_t element_bytes;
    struct nt_group_builder group;
    uint64_t element, total; /* of the current column: the next one, and their number */
    uint64_t missing;        /* elements of the column that no file has */
    /* Of the current superchunk: */
    uint32_t source;
    enum nt_checksum_kind checksum;
    bool is_lost;     /* its remaining chunks cannot be placed */
    uint32_t refused; /* the source that caused this; NT_NONE */
    uint64_t full;    /* elements of a full one; 0: unknown */
    bool is_measured; /* `full` was determined */
    bool is_placed;   /* if not, the start of the next one is unknown */
};

static enum nt_status add_page(struct blz_page_builder *builder, struct nt_page page, uint64_t elements,
                               struct nt_error *error)
{
    if (elements == 0)
        return NT_OK;
    if (elements > UINT32_MAX)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "a chunk has more than 2^32 elements");
    page.elements = (uint32_t)elements;
    page.decoder = builder->decoder;
    builder->element += elements;
    return nt_group_builder_add(&builder->group, &page, error);
}

static uint64_t at_most_left(const struct blz_page_builder *builder, uint64_t elements)
{
    return nt_min(elements, builder->total - builder->element);
}

/* Adds a page that cannot be read: its source only fails, or is a file that cannot be opened. */
static enum nt_status add_unreadable(struct blz_page_builder *builder, uint32_t source, uint64_t elements,
                                     struct nt_error *error)
{
    struct nt_page page = {
        .source = source,
        .stored_bytes = NT_BLOSC_HEADER_BYTES, /* minimum size of a chunk */
        .compression = NT_COMPRESSION_BLOSC_WHOLE,
        .is_missing = true,
    };
    return add_page(builder, page, elements, error);
}

static enum nt_status add_failure(struct blz_page_builder *builder, enum nt_blz_failure failure,
                                  uint64_t elements, struct nt_error *error)
{
    return add_unreadable(builder, builder->blz->file_count + failure, elements, error);
}

/* Adds unreadable pages of up to `most` elements each, up to element `end`. */
static enum nt_status add_hole(struct blz_page_builder *builder, uint32_t source, uint64_t end, uint64_t most,
                               struct nt_error *error)
{
    builder->missing += end - builder->element;
    if (builder->missing / most > MAXIMUM_MISSING_PAGES)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "most of the rows that the sizes declare are missing");
    while (builder->element < end)
        NT_TRY(add_unreadable(builder, source, nt_min(end - builder->element, most), error));
    return NT_OK;
}

/* The elements of as many whole rows as fit into a page, or of a part of a longer row. */
static uint64_t max_elements(const struct blz_page_builder *builder)
{
    uint64_t items = builder->column->items, most = UINT32_MAX / items * items;
    return most ? most : UINT32_MAX;
}

/* What the system denies now it denies again when the page is read, and the reader learns why. */
static bool is_refused(enum nt_status status)
{
    return status == NT_IO || status == NT_CHANGED;
}

/* Adds a chunk that should have `expected` bytes before compression. */
static enum nt_status add_chunk(struct blz_page_builder *builder, const struct nt_bloscpack_chunk *chunk,
                                uint64_t expected, struct nt_error *error)
{
    uint64_t whole = expected / builder->element_bytes, elements = at_most_left(builder, whole);
    if (elements == whole && expected % builder->element_bytes) { /* would shift everything after it */
        builder->is_lost = true;
        return add_failure(builder, NT_BLZ_CHUNK_DAMAGED, elements, error);
    }
    if (chunk->header.plain_bytes != expected && nt_blz_check_state(builder->blz, NULL) == NT_CHANGED)
        return add_failure(builder, NT_BLZ_CHUNK_DAMAGED, elements, error);
    bool is_cut = chunk->header.plain_bytes == expected && elements * builder->element_bytes < expected;
    struct nt_page page = {
        .source = builder->source,
        .offset = chunk->offset,
        .stored_bytes = chunk->header.stored_bytes,
        .checksum = (uint8_t)builder->checksum,
        .checksum_covers = NT_COVERS_STORED,
        .compression = is_cut ? NT_COMPRESSION_BLOSC : NT_COMPRESSION_BLOSC_WHOLE,
    };
    return add_page(builder, page, elements, error);
}

/* ---- Superchunks ---- */

static enum nt_status add_superchunk_part(struct blz_page_builder *builder,
                                          const struct nt_bloscpack_chunk *chunk, struct nt_error *error)
{
    if (builder->is_lost)
        return NT_OK;
    if (!chunk->damage) {
        nt_budget_add_metadata(&builder->dataset->file->budget, NT_BLOSC_HEADER_BYTES);
        return add_chunk(builder, chunk, chunk->plain_bytes, error);
    }
    builder->is_lost = !chunk->is_size_known;
    if (builder->is_lost)
        return NT_OK;
    return add_failure(builder, chunk->is_lost ? NT_BLZ_CHUNK_LOST : NT_BLZ_CHUNK_DAMAGED,
                       at_most_left(builder, chunk->plain_bytes / builder->element_bytes), error);
}

static enum nt_status add_superchunk(struct blz_page_builder *builder, uint32_t number,
                                     struct nt_error *error)
{
    struct nt_bloscpack bloscpack;
    struct nt_bloscpack_chunk chunk;
    builder->source = builder->column->first_source + number;
    struct nt_source *source = builder->dataset->sources[builder->source];
    struct nt_error damage = {0};
    enum nt_status status = nt_bloscpack_open(source, &bloscpack, NULL, &damage);
    if (nt_is_retryable(status, &damage))
        return nt_fail_copy(error, &damage);
    if (status != NT_OK) { /* its number of rows is unknown */
        builder->is_lost = true;
        builder->refused = is_refused(status) ? builder->source : NT_NONE;
        return NT_OK;
    }
    builder->checksum = bloscpack.header.checksum;
    struct nt_bloscpack_walk walk = nt_bloscpack_walk_begin(source, &bloscpack);
    while (nt_bloscpack_walk_next(&walk, &chunk, &status, error))
        NT_TRY(add_superchunk_part(builder, &chunk, error));
    return status;
}

/* Finds the end of the first `count` superchunks. If the files do not prove it, placing stops. */
static enum nt_status find_end(struct blz_page_builder *builder, uint64_t count, uint64_t *end_ret,
                               struct nt_error *error)
{
    if (!builder->is_measured)
        NT_TRY(blz_superchunk_elements(builder->dataset, builder->column, builder->element_bytes,
                                       builder->total, &builder->full, error));
    builder->is_measured = true;
    builder->is_placed = builder->full && nt_checked_multiply(builder->full, count, end_ret);
    if (builder->is_placed && *end_ret > builder->total)
        *end_ret = builder->total;
    return NT_OK;
}

/* Fills the lost rest of the preceding superchunk. */
static enum nt_status add_lost_rest(struct blz_page_builder *builder, uint64_t end, struct nt_error *error)
{
    uint32_t damage = builder->blz->file_count + NT_BLZ_SUPERCHUNK_DAMAGED,
             source = builder->refused == NT_NONE ? damage : builder->refused;
    builder->is_lost = false;
    builder->refused = NT_NONE;
    return add_hole(builder, source, end, max_elements(builder), error);
}

/* Fills the superchunks that are missing before a file. */
static enum nt_status add_missing_superchunks(struct blz_page_builder *builder, uint32_t file,
                                              struct nt_error *error)
{
    uint64_t index = blz_superchunk_index(builder->column, file), end = 0,
             former = file ? blz_superchunk_index(builder->column, file - 1) + 1 : 0;
    if (index == former && !builder->is_lost)
        return NT_OK;
    if (builder->is_lost) {
        NT_TRY(find_end(builder, former, &end, error));
        if (builder->is_placed)
            NT_TRY(add_lost_rest(builder, end, error));
    }
    if (builder->is_placed)
        NT_TRY(find_end(builder, index, &end, error));
    if (builder->is_placed)
        NT_TRY(add_hole(builder, builder->blz->file_count + NT_BLZ_FILE_MISSING, end, max_elements(builder),
                        error));
    return NT_OK;
}

static enum nt_status add_superchunks(struct blz_page_builder *builder, struct nt_error *error)
{
    for (uint32_t i = 0; i < builder->column->file_count; i++) {
        NT_TRY(add_missing_superchunks(builder, i, error));
        if (!builder->is_placed)
            break;
        NT_TRY(add_superchunk(builder, i, error));
    }
    return NT_OK;
}

/* ---- Files of one chunk ---- */

/* Reads the chunk of a file that must contain exactly one. */
static enum nt_status read_only_chunk(struct blz_page_builder *builder, struct nt_bloscpack_chunk *chunk,
                                      enum nt_blz_failure *failure_ret, struct nt_error *error)
{
    struct nt_source *source = builder->dataset->sources[builder->source];
    struct nt_bloscpack bloscpack;
    *failure_ret = NT_BLZ_HEADER_DAMAGED;
    enum nt_status status = nt_bloscpack_open(source, &bloscpack, NULL, error);
    if (status == NT_OK && bloscpack.header.chunks != 1 && bloscpack.header.chunks != -1)
        status = NT_CORRUPT;
    struct nt_bloscpack_walk walk = nt_bloscpack_walk_begin(source, &bloscpack);
    while (status == NT_OK && nt_bloscpack_walk_next(&walk, chunk, &status, error))
        ;
    if (status == NT_NOT_FOUND)
        *failure_ret = NT_BLZ_FILE_MISSING;
    NT_TRY(status);
    if (walk.number != 1 || chunk->damage) {
        *failure_ret = NT_BLZ_CHUNK_DAMAGED;
        return NT_CORRUPT;
    }
    builder->checksum = bloscpack.header.checksum;
    return NT_OK;
}

/* If a file has no valid chunk, `elements` unreadable elements replace it. */
static enum nt_status take_only_chunk(struct blz_page_builder *builder, uint64_t elements,
                                      struct nt_bloscpack_chunk *chunk, bool *has_ret, struct nt_error *error)
{
    enum nt_blz_failure failure;
    struct nt_error damage = {0};
    enum nt_status status = read_only_chunk(builder, chunk, &failure, &damage);
    *has_ret = status == NT_OK;
    if (status == NT_OK)
        return NT_OK;
    if (nt_is_retryable(status, &damage))
        return nt_fail_copy(error, &damage);
    return is_refused(status) ? add_unreadable(builder, builder->source, elements, error)
                              : add_failure(builder, failure, elements, error);
}

/* The expected bytes of a chunk file. All but the last are full. The last one has at least the
 * remaining rows, and more if the array was truncated. */
static uint64_t expected_bytes(const struct blz_page_builder *builder, uint64_t needed, bool is_last,
                               const struct nt_bloscpack_chunk *chunk)
{
    uint64_t row_bytes = builder->column->items * builder->element_bytes, full,
             declared = chunk->header.plain_bytes;
    if (!is_last || !nt_checked_multiply(builder->column->chunk_rows, row_bytes, &full))
        return needed;
    return declared > needed && declared <= full && declared % row_bytes == 0 ? declared : needed;
}

static enum nt_status add_chunk_file(struct blz_page_builder *builder, uint64_t elements, bool is_last,
                                     struct nt_error *error)
{
    uint64_t needed;
    if (!nt_checked_multiply(elements, builder->element_bytes, &needed))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "a chunk has more than 2^64 bytes");
    struct nt_bloscpack_chunk chunk;
    bool has_chunk;
    enum nt_status status = take_only_chunk(builder, elements, &chunk, &has_chunk, error);
    if (!has_chunk)
        return status;
    builder->total = builder->element + elements; /* the rest of the chunk is cut off */
    return add_chunk(builder, &chunk, expected_bytes(builder, needed, is_last, &chunk), error);
}

/* A pickle may have any length. An unreadable one becomes one byte, so that readers notice it. */
static enum nt_status add_object_file(struct blz_page_builder *builder, struct nt_error *error)
{
    struct nt_bloscpack_chunk chunk;
    bool has_chunk;
    enum nt_status status = take_only_chunk(builder, 1, &chunk, &has_chunk, error);
    if (!has_chunk)
        return status;
    if (chunk.header.plain_bytes == 0)
        return add_failure(builder, NT_BLZ_CHUNK_DAMAGED, 1, error);
    return add_chunk(builder, &chunk, chunk.header.plain_bytes, error);
}

static enum nt_status add_chunk_files(struct blz_page_builder *builder, struct nt_error *error)
{
    const struct nt_blz_column *column = builder->column;
    const bool are_objects = column->chunking == NT_BLZ_OBJECT_FILES;
    uint64_t needed = column->rows ? (column->rows - 1) / column->chunk_rows + 1 : 0;
    uint32_t file = 0;
    for (uint64_t i = 0; i < needed; i++) {
        uint64_t rows = nt_min(column->chunk_rows, column->rows - i * column->chunk_rows);
        uint64_t elements = are_objects ? 1 : rows * column->items;
        if (file == column->file_count || column->numbers[file] != i) {
            NT_TRY(add_failure(builder, NT_BLZ_FILE_MISSING, elements, error));
            continue;
        }
        builder->source = column->first_source + file++;
        NT_TRY(are_objects ? add_object_file(builder, error)
                           : add_chunk_file(builder, elements, i == needed - 1, error));
    }
    return NT_OK;
}

/* ---- Columns ---- */

/* Adds rows that are not in the files: the column is shorter than its table, or its files end early. */
static enum nt_status add_missing_rows(struct blz_page_builder *builder, struct nt_error *error)
{
    bool is_object = builder->column->chunking == NT_BLZ_OBJECT_FILES;
    enum nt_blz_failure failure = builder->is_placed ? NT_BLZ_ROWS_MISSING : NT_BLZ_ROWS_NOT_PLACED;
    uint32_t source = builder->refused == NT_NONE ? builder->blz->file_count + failure : builder->refused;
    return add_hole(builder, source, builder->total, is_object ? 1 : max_elements(builder), error);
}

static enum nt_status add_column(struct blz_page_builder *builder, uint32_t index, struct nt_error *error)
{
    const struct nt_dataset *dataset = builder->dataset;
    uint64_t all;
    builder->column = &builder->blz->columns[index];
    builder->decoder = dataset->columns[index].decoder;
    builder->element_bytes = nt_column_decoder(dataset, index)->element_bytes;
    builder->element = builder->missing = 0;
    builder->refused = NT_NONE;
    builder->is_lost = builder->is_measured = false;
    builder->is_placed = true;
    if (builder->column->items == 0) /* rows have no bytes, whatever chunks exist */
        return NT_OK;
    if (!nt_checked_multiply(dataset->entries, builder->column->items, &all))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the column has more than 2^64 elements");
    bool is_object = builder->column->chunking == NT_BLZ_OBJECT_FILES;
    builder->total = is_object ? UINT64_MAX : builder->column->rows * builder->column->items;
    NT_TRY(builder->column->chunking == NT_BLZ_SUPERCHUNKS ? add_superchunks(builder, error)
                                                           : add_chunk_files(builder, error));
    builder->total = is_object ? builder->element + (dataset->entries - builder->column->rows) : all;
    return add_missing_rows(builder, error);
}

enum nt_status nt_blz_load_group(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    struct blz_page_builder builder = {.dataset = dataset, .blz = dataset->format_data};
    enum nt_status status =
        nt_group_builder_init(&builder.group, dataset, number, "list of chunks", NT_NO_OFFSET, error);
    for (uint32_t i = 0; status == NT_OK && i < dataset->column_count; i++) {
        status = nt_group_builder_start(&builder.group, 0, i, error);
        if (status == NT_OK)
            status = add_column(&builder, i, error);
    }
    return nt_group_builder_finish(&builder.group, status);
}
