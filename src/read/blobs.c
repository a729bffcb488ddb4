/* SPDX-License-Identifier: MIT
 *
 * Reads blobs, whose bytes are in files that the rows of a field refer to: single blobs, and all of
 * them as one stream with its end offsets.
 */
#include "read/read.h"

#include "read/page.h"

/* The members of a description, in the order of enum blob_member. */
static const char *const member_names[] = {"kind", "position", "size", "blob_id", "blob_uri"};
enum blob_member { KIND, POSITION, SIZE, ID, URI, MEMBERS };

enum {
    BLOCK_ROWS = 1024,
    MAX_BLOCKS = 1 << 24,
    MAX_URI_BYTES = 64 * 1024,
};

struct nt_blobs {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t field;
    uint64_t rows;
    struct nt_stream *members[MEMBERS]; /* data; for URI the offsets */
    struct nt_stream *uri_bytes;
    struct nt_stream *valid; /* of KIND, including enclosing fields; NULL: no row is null */
    pthread_mutex_t lock;    /* of computing `ends` */
    atomic_bool has_ends;
    uint64_t *ends; /* where each block begins, then the total */
};

bool nt_field_has_blobs(const struct nt_dataset *dataset, uint32_t field)
{
    return nt_field_is_description(&dataset->fields[field]) &&
           dataset->fields[field].kind == NT_FIELD_RECORD && dataset->ops && dataset->ops->find_blob;
}

/* ---- Open and close ---- */

static uint32_t find_member(const struct nt_dataset *dataset, uint32_t field, enum blob_member member)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(dataset, field, &count);
    for (uint32_t i = 0; i < count; i++)
        if (nt_text_is(dataset->fields[children[i]].name, member_names[member]))
            return children[i];
    return NT_NONE;
}

static enum nt_status open_member(struct nt_blobs *blobs, enum blob_member member, enum nt_stream_kind kind,
                                  struct nt_stream **stream_ret, struct nt_error *error)
{
    uint32_t field = find_member(blobs->dataset, blobs->field, member);
    if (field == NT_NONE)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "the descriptions of the blobs have no %s",
                       member_names[member]);
    if (kind == NT_STREAM_VALID && !blobs->dataset->fields[field].is_nullable)
        return NT_OK;
    return nt_stream_open(blobs->reader, blobs->dataset, field, kind, stream_ret, error);
}

static enum nt_status open_streams(struct nt_blobs *blobs, struct nt_error *error)
{
    NT_TRY(open_member(blobs, KIND, NT_STREAM_VALID, &blobs->valid, error));
    for (unsigned i = KIND; i < MEMBERS; i++)
        NT_TRY(open_member(blobs, (enum blob_member)i, i == URI ? NT_STREAM_OFFSETS : NT_STREAM_DATA,
                           &blobs->members[i], error));
    return open_member(blobs, URI, NT_STREAM_DATA, &blobs->uri_bytes, error);
}

enum nt_status nt_blobs_open(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             struct nt_blobs **blobs_ret, struct nt_error *error)
{
    struct nt_blobs *blobs = calloc(1, sizeof(*blobs));
    NT_TRY(nt_check_memory(blobs, error));
    *blobs = (struct nt_blobs){.reader = reader, .dataset = dataset, .field = field};
    pthread_mutex_init(&blobs->lock, NULL);
    enum nt_status status = open_streams(blobs, error);
    if (status != NT_OK) {
        nt_blobs_close(blobs);
        return status;
    }
    blobs->rows = nt_stream_elements(blobs->members[KIND]);
    *blobs_ret = blobs;
    return NT_OK;
}

void nt_blobs_close(struct nt_blobs *blobs)
{
    if (!blobs)
        return;
    for (unsigned i = KIND; i < MEMBERS; i++)
        nt_stream_close(blobs->members[i]);
    nt_stream_close(blobs->uri_bytes);
    nt_stream_close(blobs->valid);
    pthread_mutex_destroy(&blobs->lock);
    free(blobs->ends);
    free(blobs);
}

/* ---- One row ---- */

static enum nt_status name_row(const struct nt_blobs *blobs, uint64_t row, enum nt_status status,
                               struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    if (status == NT_OK || nt_is_transient(status))
        return status;
    nt_append_field_path(&path, blobs->dataset, blobs->field);
    const struct nt_text dataset = blobs->dataset->name;
    nt_error_context(error, "dataset %.*s, blob of row %" PRIu64 " of field %.80s", (int)dataset.length,
                     dataset.bytes, row, path.failed ? "?" : nt_buffer_string(&path));
    return status;
}

static enum nt_status read_uri(const struct nt_blobs *blobs, uint64_t row, struct nt_text *uri_ret,
                               struct nt_error *error)
{
    int64_t ends[2];
    NT_TRY(nt_stream_read_elements(blobs->members[URI], row, 2, ends, error));
    uint64_t bytes = (uint64_t)(ends[1] - ends[0]);
    if (bytes > MAX_URI_BYTES)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "a URI has %" PRIu64 " bytes, more than the limit of %d", bytes, MAX_URI_BYTES);
    char *text = malloc(bytes + 1);
    NT_TRY(nt_check_memory(text, error));
    *uri_ret = (struct nt_text){text, (size_t)bytes};
    return bytes ? nt_stream_read_elements(blobs->uri_bytes, (uint64_t)ends[0], bytes, text, error) : NT_OK;
}

/* Reads all members but the URI, for consecutive rows. */
static enum nt_status read_members(const struct nt_blobs *blobs, uint64_t first, uint64_t count,
                                   void *const outputs[URI], struct nt_error *error)
{
    for (unsigned i = KIND; i < URI; i++)
        NT_TRY(nt_stream_read_elements(blobs->members[i], first, count, outputs[i], error));
    return NT_OK;
}

/* Finds the blob of a description whose URI has not been read yet. */
static enum nt_status find_described(struct nt_blobs *blobs, uint64_t row,
                                     struct nt_blob_description *description, bool opens_file,
                                     struct nt_blob *blob, struct nt_error *error)
{
    struct nt_segment segment;
    nt_stream_filtered_segment(blobs->members[KIND], row, &segment);
    uint32_t part = nt_span_part(blobs->dataset, blobs->field, &segment.span);
    enum nt_status status = NT_OK;
    if (nt_blob_has_uri(description->kind))
        status = read_uri(blobs, row, &description->uri, error);
    if (status == NT_OK && opens_file)
        nt_reader_before_blocking(blobs->reader);
    if (status == NT_OK)
        status = blobs->dataset->ops->find_blob(blobs->dataset, blobs->field, part, description, opens_file,
                                                blob, error);
    free((char *)description->uri.bytes);
    return name_row(blobs, row, status, error);
}

enum nt_status nt_blobs_find(struct nt_blobs *blobs, uint64_t row, bool opens_file, struct nt_blob *blob,
                             struct nt_error *error)
{
    bool is_valid = true;
    struct nt_blob_description description = {0};
    void *const outputs[URI] = {&description.kind, &description.position, &description.size, &description.id};
    enum nt_status status = NT_OK;
    if (row >= blobs->rows)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "no such row");
    if (blobs->valid)
        status = nt_stream_read_elements(blobs->valid, row, 1, &is_valid, error);
    if (status == NT_OK && !is_valid)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "the row is null");
    if (status == NT_OK)
        status = read_members(blobs, row, 1, outputs, error);
    return status == NT_OK ? find_described(blobs, row, &description, opens_file, blob, error)
                           : name_row(blobs, row, status, error);
}

enum nt_status nt_blobs_read_row(struct nt_blobs *blobs, uint64_t row, const struct nt_blob *blob,
                                 uint64_t offset, void *buffer, size_t bytes, struct nt_error *error)
{
    if (!bytes)
        return NT_OK;
    nt_reader_before_blocking(blobs->reader);
    enum nt_status status = nt_source_read(blob->source, blob->offset + offset, buffer, bytes, error);
    if (status != NT_OK && !nt_is_transient(status))
        nt_error_context(error, "%s", blob->name);
    return name_row(blobs, row, status, error);
}

/* ---- All rows ---- */

/* A size of 0 may mean that of the file. */
static enum nt_status read_sizes(struct nt_blobs *blobs, uint64_t first, uint32_t count,
                                 uint64_t sizes[BLOCK_ROWS], struct nt_error *error)
{
    bool valid[BLOCK_ROWS];
    NT_CLEANUP(nt_blob_deinit) struct nt_blob blob = {0};
    NT_TRY(nt_stream_read_elements(blobs->members[SIZE], first, count, sizes, error));
    if (blobs->valid)
        NT_TRY(nt_stream_read_elements(blobs->valid, first, count, valid, error));
    for (uint32_t i = 0; i < count; i++) {
        if (blobs->valid && !valid[i]) {
            sizes[i] = 0;
        } else if (!sizes[i]) {
            NT_TRY(nt_blobs_find(blobs, first + i, false, &blob, error));
            sizes[i] = blob.bytes;
        }
    }
    return NT_OK;
}

static uint32_t rows_in_block(const struct nt_blobs *blobs, uint64_t block)
{
    return nt_min(blobs->rows - block * BLOCK_ROWS, BLOCK_ROWS);
}

static uint64_t count_blocks(const struct nt_blobs *blobs)
{
    return blobs->rows / BLOCK_ROWS + (blobs->rows % BLOCK_ROWS != 0);
}

/* The end of each row of a block within all bytes, after the start of the first row. */
static enum nt_status read_ends(struct nt_blobs *blobs, uint64_t block, uint64_t begin,
                                uint64_t ends[BLOCK_ROWS + 1], struct nt_error *error)
{
    uint32_t count = rows_in_block(blobs, block);
    ends[0] = begin;
    NT_TRY(read_sizes(blobs, block * BLOCK_ROWS, count, ends + 1, error));
    for (uint32_t i = 0; i < count; i++)
        if (!nt_checked_add(ends[i], ends[i + 1], &ends[i + 1]) || ends[i + 1] > INT64_MAX)
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the blobs have more than 2^63 bytes in all");
    return NT_OK;
}

static enum nt_status make_ends(struct nt_blobs *blobs, struct nt_error *error)
{
    uint64_t count = count_blocks(blobs), ends[BLOCK_ROWS + 1] = {0};
    NT_AUTO_FREE uint64_t *made = NULL;
    size_t capacity = 0;
    if (count > MAX_BLOCKS)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                       "the field has %" PRIu64 " rows, more than the limit of 2^34", blobs->rows);
    for (uint64_t i = 0; i <= count; i++) {
        NT_TRY(nt_check_memory(NT_GROW(made, i, capacity), error));
        made[i] = i ? ends[rows_in_block(blobs, i - 1)] : 0;
        if (i < count)
            NT_TRY(read_ends(blobs, i, made[i], ends, error));
    }
    blobs->ends = made;
    made = NULL;
    return NT_OK;
}

static enum nt_status need_ends(struct nt_blobs *blobs, struct nt_error *error)
{
    if (atomic_load_explicit(&blobs->has_ends, memory_order_acquire))
        return NT_OK;
    nt_reader_before_blocking(blobs->reader);
    NT_MUTEX_GUARD(&blobs->lock);
    if (!blobs->ends)
        NT_TRY(make_ends(blobs, error));
    atomic_store_explicit(&blobs->has_ends, true, memory_order_release);
    return NT_OK;
}

enum nt_status nt_blobs_bytes(struct nt_blobs *blobs, bool may_block, uint64_t *bytes_ret,
                              struct nt_error *error)
{
    if (!may_block && !atomic_load_explicit(&blobs->has_ends, memory_order_acquire))
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET,
                       "the size is unknown until the descriptions of all blobs are read");
    NT_TRY(need_ends(blobs, error));
    *bytes_ret = blobs->ends[count_blocks(blobs)];
    return NT_OK;
}

NT_DEFINE_LAST_AT_MOST(block_of, uint64_t, )

/* The same after the total has been reported: files may have changed since. */
static enum nt_status read_known_ends(struct nt_blobs *blobs, uint64_t block, uint64_t ends[BLOCK_ROWS + 1],
                                      struct nt_error *error)
{
    enum nt_status status = read_ends(blobs, block, blobs->ends[block], ends, error);
    uint64_t expected = blobs->ends[block + 1], found = ends[rows_in_block(blobs, block)];
    if (status == NT_OK && expected != found)
        status = nt_fail_number(error, NT_CHANGED, NT_NO_OFFSET, "end of the blobs according to their sizes",
                                expected, found);
    return status;
}

/* A block with the ends of its rows and their descriptions except URIs. */
struct nt_blob_rows {
    uint64_t block;
    uint64_t ends[BLOCK_ROWS + 1];
    uint64_t positions[BLOCK_ROWS], sizes[BLOCK_ROWS];
    uint32_t ids[BLOCK_ROWS];
    uint8_t kinds[BLOCK_ROWS];
};

static void forget_rows(struct nt_blobs_cursor *cursor)
{
    free(cursor->rows);
    cursor->rows = NULL;
}

void nt_blobs_cursor_deinit(struct nt_blobs_cursor *cursor)
{
    nt_blob_deinit(&cursor->blob);
    forget_rows(cursor);
}

/* Loads a block and keeps it for the next read. */
static enum nt_status enter_block(struct nt_blobs *blobs, struct nt_blobs_cursor *cursor, uint64_t block,
                                  struct nt_error *error)
{
    if (cursor->rows && cursor->rows->block == block)
        return NT_OK;
    if (!cursor->rows)
        cursor->rows = malloc(sizeof(*cursor->rows));
    struct nt_blob_rows *rows = cursor->rows;
    NT_TRY(nt_check_memory(rows, error));
    rows->block = block;
    void *const outputs[URI] = {rows->kinds, rows->positions, rows->sizes, rows->ids};
    enum nt_status status = read_known_ends(blobs, block, rows->ends, error);
    if (status == NT_OK)
        status = read_members(blobs, block * BLOCK_ROWS, rows_in_block(blobs, block), outputs, error);
    if (status != NT_OK)
        forget_rows(cursor);
    return status;
}

/* Reads bytes of row `i` of the block, if its file still has the reported size. */
static enum nt_status read_of_row(struct nt_blobs *blobs, struct nt_blobs_cursor *cursor, uint32_t i,
                                  uint64_t offset, void *buffer, size_t bytes, struct nt_error *error)
{
    const struct nt_blob_rows *rows = cursor->rows;
    struct nt_blob_description description = {
        .kind = rows->kinds[i], .position = rows->positions[i], .size = rows->sizes[i], .id = rows->ids[i]};
    uint64_t row = rows->block * BLOCK_ROWS + i, expected = rows->ends[i + 1] - rows->ends[i];
    NT_TRY(find_described(blobs, row, &description, true, &cursor->blob, error));
    if (cursor->blob.bytes != expected)
        NT_TRY(name_row(blobs, row,
                        nt_fail_number(error, NT_CHANGED, NT_NO_OFFSET, "bytes of the file", expected,
                                       cursor->blob.bytes),
                        error));
    return nt_blobs_read_row(blobs, row, &cursor->blob, offset, buffer, bytes, error);
}

static enum nt_status read_of_block(struct nt_blobs *blobs, struct nt_blobs_cursor *cursor, uint64_t block,
                                    uint64_t *offset, uint8_t **buffer, size_t *bytes, struct nt_error *error)
{
    uint32_t count = rows_in_block(blobs, block);
    NT_TRY(enter_block(blobs, cursor, block, error));
    for (uint32_t i = 0; *bytes && i < count; i++) {
        const uint64_t *ends = cursor->rows->ends;
        if (ends[i + 1] <= *offset)
            continue;
        size_t part = nt_min(*bytes, ends[i + 1] - *offset);
        NT_TRY(read_of_row(blobs, cursor, i, *offset - ends[i], *buffer, part, error));
        *offset += part;
        *buffer += part;
        *bytes -= part;
    }
    return NT_OK;
}

static enum nt_status fail_past_end(struct nt_error *error)
{
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "past the end of the blobs");
}

enum nt_status nt_blobs_read(struct nt_blobs *blobs, struct nt_blobs_cursor *cursor, uint64_t offset,
                             void *buffer, size_t bytes, struct nt_error *error)
{
    uint8_t *output = buffer;
    uint64_t total, blocks = count_blocks(blobs);
    NT_TRY(nt_blobs_bytes(blobs, true, &total, error));
    if (!nt_range_fits(offset, bytes, total))
        return fail_past_end(error);
    for (uint64_t block = block_of(blobs->ends, (uint32_t)blocks, offset); bytes; block++)
        NT_TRY(read_of_block(blobs, cursor, block, &offset, &output, &bytes, error));
    return NT_OK;
}

enum nt_status nt_blobs_read_offsets(struct nt_blobs *blobs, uint64_t offset, void *buffer, size_t bytes,
                                     struct nt_error *error)
{
    uint8_t *output = buffer;
    uint64_t ends[BLOCK_ROWS + 1] = {0}, blocks = count_blocks(blobs);
    NT_TRY(need_ends(blobs, error));
    if (!nt_range_fits(offset, bytes, (blobs->rows + 1) * sizeof(*ends)))
        return fail_past_end(error);
    while (bytes) {
        uint64_t block = offset / (BLOCK_ROWS * sizeof(*ends));
        if (block && block == blocks) /* the last end of a full block */
            block--;
        if (blocks)
            NT_TRY(read_known_ends(blobs, block, ends, error));
        size_t from = (size_t)(offset - block * BLOCK_ROWS * sizeof(*ends));
        size_t left = (blocks ? rows_in_block(blobs, block) + 1 : 1) * sizeof(*ends) - from;
        size_t part = nt_min(bytes, left);
        memcpy(output, (const uint8_t *)ends + from, part);
        offset += part;
        output += part;
        bytes -= part;
    }
    return NT_OK;
}
