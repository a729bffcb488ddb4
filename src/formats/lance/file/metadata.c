/* SPDX-License-Identifier: MIT
 *
 * Reads the metadata of a Lance file: the footer, the offset tables, the global buffers, and the
 * metadata of every column with its pages and buffers.
 */
#include "formats/lance/file/file.h"

/* ---- Read metadata bytes ---- */

enum nt_status nt_lance_take(struct nt_lance_memory *memory, enum nt_cost cost, uint64_t count,
                             uint64_t offset, struct nt_error *error)
{
    NT_TRY(nt_budget_take(&memory->file->budget, cost, count, offset, error));
    memory->taken += count * nt_cost_info(cost)->bytes;
    return NT_OK;
}

enum nt_status nt_lance_read_bytes(const struct nt_lance *lance, const struct nt_lance_buffer *range,
                                   uint8_t **bytes_ret, struct nt_error *error)
{
    struct nt_lance_memory *memory = lance->memory;
    /* Even numbers are for the deletion files of fragments; manifests have 0. All share one budget. */
    const struct nt_metadata_range metadata_range = {
        .offset = range->offset,
        .bytes = range->bytes,
        .position = nt_metadata_position(1 + 2 * (uint64_t)lance->number, range->offset)};
    NT_TRY(nt_metadata_read(&memory->file->budget, lance->source, &metadata_range, bytes_ret, NULL, error));
    memory->taken += range->bytes;
    if (nt_arena_adopt(memory->arena, *bytes_ret))
        return NT_OK;
    free(*bytes_ret);
    return nt_fail_memory(error);
}

/* ---- Read the footer ---- */

/* The end of every version: a position, u16 major, u16 minor, magic. */
enum { END_BYTES = NT_LANCE_LEGACY_TAIL_BYTES, VERSION_BYTES = 8, MAGIC_BYTES = 4, TABLE_ENTRY_BYTES = 16 };

struct lance_file_version {
    uint16_t major, minor;
    const char *name;
    bool is_legacy;
};

static const struct lance_file_version versions[] = {
    {0, 1, "0.1", true},  {0, 2, "0.2", true},  {0, 3, "2.0", false}, /* used by all writers of 2.0 */
    {2, 0, "2.0", false}, {2, 1, "2.1", false}, {2, 2, "2.2", false},
    {2, 3, "2.3", false}, /* not final: columns with features beyond 2.2 are rejected individually */
};

static const struct lance_file_version *find_version(uint16_t major, uint16_t minor)
{
    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
        if (versions[i].major == major && versions[i].minor == minor)
            return &versions[i];
    return NULL;
}

/* Is there a manifest? Its message starts with the fields of a schema: messages with number 1. In a
 * legacy file's metadata, number 1 is an integer or absent. */
static bool is_manifest(struct nt_source *source, uint64_t size, uint64_t position)
{
    uint8_t start[5];
    if (!nt_range_fits(position, sizeof(start), size) ||
        nt_source_read(source, position, start, sizeof(start), NULL) != NT_OK)
        return false;
    struct nt_cursor cursor = nt_cursor(start, sizeof(start));
    uint32_t length = nt_get_le32(&cursor);
    return length > 0 && nt_get_u8(&cursor) == (1 << 3 | NT_PROTO_WIRE_BYTES);
}

static enum nt_status take_legacy(struct nt_source *source, uint64_t size, uint64_t position,
                                  struct nt_lance_tail *tail, struct nt_error *error)
{
    if (is_manifest(source, size, position))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "this is a manifest of a Lance dataset; open the dataset's directory or one of its "
                       "files in data/");
    tail->is_legacy = true;
    tail->offset = size - NT_LANCE_LEGACY_TAIL_BYTES;
    tail->metadata = position;
    return NT_OK;
}

static enum nt_status read_end(struct nt_source *source, uint64_t size, uint8_t bytes[static END_BYTES],
                               struct nt_error *error)
{
    if (size >= END_BYTES)
        NT_TRY(nt_source_read(source, size - END_BYTES, bytes, END_BYTES, error));
    bool is_lance = size >= END_BYTES && !memcmp(bytes + END_BYTES - MAGIC_BYTES, "LANC", MAGIC_BYTES);
    return is_lance ? NT_OK
                    : nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET,
                              "not a Lance file: it does not end with LANC");
}

enum nt_status nt_lance_recognize(struct nt_source *source, struct nt_error *error)
{
    uint8_t bytes[END_BYTES];
    return read_end(source, source->size, bytes, error);
}

/* Reads the end of any Lance file, and its version. */
static enum nt_status read_version(struct nt_source *source, uint64_t size, struct nt_lance_tail *tail,
                                   struct nt_error *error)
{
    uint8_t bytes[END_BYTES];
    NT_TRY(read_end(source, size, bytes, error));
    struct nt_cursor cursor = nt_cursor(bytes, END_BYTES);
    uint64_t position = nt_get_le64(&cursor);
    tail->major = nt_get_le16(&cursor);
    tail->minor = nt_get_le16(&cursor);
    const struct lance_file_version *version = find_version(tail->major, tail->minor);
    if (!version)
        return nt_fail(error, NT_UNSUPPORTED, size - VERSION_BYTES,
                       "cannot read a Lance file of version %u.%u", tail->major, tail->minor);
    tail->version = version->name;
    return version->is_legacy ? take_legacy(source, size, position, tail, error) : NT_OK;
}

/* Checks that a table is completely before the tail. */
static enum nt_status check_table(const struct nt_lance_tail *tail, const char *name, uint64_t offset,
                                  uint32_t entries, struct nt_error *error)
{
    uint64_t bytes = (uint64_t)entries * TABLE_ENTRY_BYTES;
    if (nt_range_fits(offset, bytes, tail->offset))
        return NT_OK;
    return nt_fail(error, NT_CORRUPT, tail->offset,
                   "the tail's %s of %" PRIu32 " entries, %" PRIu64 " bytes at %" PRIu64
                   ", does not end before the tail at %" PRIu64,
                   name, entries, bytes, offset, tail->offset);
}

static enum nt_status check_tail(const struct nt_lance_tail *tail, struct nt_error *error)
{
    NT_TRY(check_table(tail, "column table", tail->column_table, tail->columns, error));
    NT_TRY(check_table(tail, "table of global buffers", tail->global_table, tail->globals, error));
    if (tail->columns_start > tail->column_table)
        return nt_fail(error, NT_CORRUPT, tail->offset,
                       "the tail says that the column metadata begins at %" PRIu64
                       ", after the column table at %" PRIu64,
                       tail->columns_start, tail->column_table);
    if (tail->globals == 0)
        return nt_fail(error, NT_CORRUPT, tail->offset, "the file has no global buffer for the schema");
    return NT_OK;
}

/* Returns NT_NOT_THIS_FORMAT if a source of `size` bytes is no Lance file, NT_UNSUPPORTED, with its
 * description, if it is a kind that is not supported, and NT_CORRUPT if the tables are not before the
 * tail. */
static enum nt_status lance_read_tail(struct nt_source *source, uint64_t size, struct nt_lance_tail *tail,
                                      struct nt_error *error)
{
    uint8_t bytes[NT_LANCE_TAIL_BYTES];
    NT_TRY(read_version(source, size, tail, error));
    if (tail->is_legacy)
        return NT_OK;
    if (size < NT_LANCE_TAIL_BYTES)
        return nt_fail(error, NT_CORRUPT, 0,
                       "a file of %" PRIu64 " bytes is too short for the tail of a Lance file", size);
    tail->offset = size - NT_LANCE_TAIL_BYTES;
    NT_TRY(nt_source_read(source, tail->offset, bytes, sizeof(bytes), error));
    struct nt_cursor cursor = nt_cursor(bytes, sizeof(bytes));
    tail->columns_start = nt_get_le64(&cursor);
    tail->column_table = nt_get_le64(&cursor);
    tail->global_table = nt_get_le64(&cursor);
    tail->globals = nt_get_le32(&cursor);
    tail->columns = nt_get_le32(&cursor);
    return check_tail(tail, error);
}

/* ---- Encodings ---- */

static const struct {
    const char *type; /* of an Any, after the slash */
    const struct nt_proto_table *table;
} encodings[] = {
    [NT_LANCE_ENCODING_IS_ARRAY] = {"lance.encodings.ArrayEncoding", &nt_lance_array_encoding},
    [NT_LANCE_ENCODING_IS_LAYOUT] = {"lance.encodings21.PageLayout", &nt_lance_page_layout},
    [NT_LANCE_ENCODING_IS_COLUMN] = {"lance.encodings.ColumnEncoding", &nt_lance_column_encoding},
};
enum { ENCODING_COUNT = sizeof(encodings) / sizeof(*encodings) };

enum nt_lance_encoding_kind nt_lance_encoding_kind(struct nt_text type_url)
{
    nt_text_skip(&type_url, "/");
    for (unsigned kind = 0; kind < ENCODING_COUNT; kind++)
        if (encodings[kind].type && nt_text_is(type_url, encodings[kind].type))
            return (enum nt_lance_encoding_kind)kind;
    return NT_LANCE_ENCODING_IS_UNKNOWN;
}

const struct nt_proto_table *nt_lance_encoding_table(enum nt_lance_encoding_kind kind)
{
    return encodings[kind].table;
}

struct column_metadata_reader {
    const struct nt_lance *lance;
    struct nt_lance_column *column;
    struct nt_error *error;
};

/* Returns the file offset of a message within the column's message. */
static uint64_t position_of(const struct column_metadata_reader *reader, struct nt_proto message)
{
    return reader->column->metadata.offset + (uint64_t)(message.bytes - reader->column->message.bytes);
}

/* An encoding that is present: its type, and its message if the type is known. */
struct column_encoding {
    enum nt_lance_encoding_kind kind;
    struct nt_text type_url;
    struct nt_proto message;
};

static enum nt_status read_any(const struct column_metadata_reader *reader, struct nt_proto any,
                               struct column_encoding *encoding)
{
    NT_TRY(nt_proto_check(any, &nt_lance_any, position_of(reader, any), reader->error));
    encoding->type_url = nt_proto_text(any, NT_LANCE_ANY_TYPE_URL);
    encoding->kind = nt_lance_encoding_kind(encoding->type_url);
    encoding->message = nt_proto_message(any, NT_LANCE_ANY_VALUE);
    if (!encoding->message.bytes) /* writers may omit an empty message */
        encoding->message = (struct nt_proto){any.bytes, 0};
    const struct nt_proto_table *table = nt_lance_encoding_table(encoding->kind);
    if (!table)
        return NT_OK;
    return nt_proto_check(encoding->message, table, position_of(reader, encoding->message), reader->error);
}

/* Reads the member `encoding` of a column or page; its number is `field`. Clears *encoding if there is
 * none. */
static enum nt_status read_encoding(const struct column_metadata_reader *reader, struct nt_proto message,
                                    uint32_t field, struct column_encoding *encoding)
{
    struct nt_proto member, kind = nt_proto_message(message, field);
    *encoding = (struct column_encoding){.type_url = {"", 0}};
    switch (nt_proto_oneof(kind, &nt_lance_encoding, &member)) {
    case NT_LANCE_ENCODING_DIRECT:
        member = nt_proto_message(member, NT_LANCE_DIRECT_ENCODING);
        return member.bytes ? read_any(reader, member, encoding) : NT_OK;
    case NT_LANCE_ENCODING_INDIRECT:
        return nt_fail(reader->error, NT_UNSUPPORTED, position_of(reader, kind),
                       "cannot read an encoding stored elsewhere in the file");
    default:
        return NT_OK;
    }
}

/* ---- Buffers ---- */

static enum nt_status check_buffer(const struct column_metadata_reader *reader, struct nt_proto message,
                                   uint32_t number, const struct nt_lance_buffer *buffer)
{
    uint64_t size = reader->lance->size;
    if (nt_range_fits(buffer->offset, buffer->bytes, size))
        return NT_OK;
    return nt_fail(reader->error, NT_CORRUPT, position_of(reader, message),
                   "buffer %" PRIu32 ", %" PRIu64 " bytes at %" PRIu64 ", is outside the file of %" PRIu64
                   " bytes",
                   number, buffer->bytes, buffer->offset, size);
}

/* Two fields with the same number of items: offsets and sizes. */
struct buffer_fields {
    uint32_t offsets, sizes;
};
static const struct buffer_fields column_fields = {NT_LANCE_COLUMN_METADATA_BUFFER_OFFSETS,
                                                   NT_LANCE_COLUMN_METADATA_BUFFER_SIZES},
                                  page_fields = {NT_LANCE_PAGE_BUFFER_OFFSETS, NT_LANCE_PAGE_BUFFER_SIZES};

static enum nt_status count_buffers(const struct column_metadata_reader *reader, struct nt_proto message,
                                    const struct buffer_fields *fields, uint32_t *count_ret)
{
    uint64_t position = position_of(reader, message);
    uint64_t offsets = nt_proto_count_numbers(message, fields->offsets);
    uint64_t sizes = nt_proto_count_numbers(message, fields->sizes);
    if (offsets != sizes)
        return nt_fail_number(reader->error, NT_CORRUPT, position, "sizes of buffers", offsets, sizes);
    if (offsets > UINT32_MAX)
        return nt_fail(reader->error, NT_LIMIT, position,
                       "a list has %" PRIu64 " buffers, more than the limit of 2^32", offsets);
    *count_ret = (uint32_t)offsets;
    return nt_lance_take(reader->lance->memory, NT_COST_ENVELOPE_BYTE,
                         offsets * sizeof(struct nt_lance_buffer), position, reader->error);
}

static enum nt_status read_buffers(const struct column_metadata_reader *reader, struct nt_proto message,
                                   const struct buffer_fields *fields,
                                   const struct nt_lance_buffer **buffers_ret, uint32_t *count_ret)
{
    NT_TRY(count_buffers(reader, message, fields, count_ret));
    if (*count_ret == 0)
        return NT_OK;
    struct nt_lance_buffer *buffers =
        nt_arena_alloc(reader->lance->memory->arena, *count_ret, sizeof(struct nt_lance_buffer));
    NT_TRY(nt_check_memory(buffers, reader->error));
    struct nt_proto_numbers offsets = nt_proto_numbers(message, fields->offsets);
    struct nt_proto_numbers sizes = nt_proto_numbers(message, fields->sizes);
    for (uint32_t i = 0; i < *count_ret; i++) {
        nt_proto_next_number(&offsets, &buffers[i].offset);
        nt_proto_next_number(&sizes, &buffers[i].bytes);
        NT_TRY(check_buffer(reader, message, i, &buffers[i]));
    }
    *buffers_ret = buffers;
    return NT_OK;
}

/* ---- Pages ---- */

static enum nt_status read_page_encoding(const struct column_metadata_reader *reader, struct nt_proto message,
                                         struct nt_lance_page *page)
{
    struct column_encoding encoding;
    NT_TRY(read_encoding(reader, message, NT_LANCE_PAGE_ENCODING, &encoding));
    if (!encoding.message.bytes)
        return nt_fail(reader->error, NT_CORRUPT, position_of(reader, message), "the page has no encoding");
    page->encoding_kind = encoding.kind;
    page->encoding = encoding.message;
    page->type_url = encoding.type_url;
    return NT_OK;
}

/* Counts the layers of a page that are lists. Returns whether the innermost layer marks values as null. */
static bool read_layers(struct nt_lance_page *page)
{
    static const struct {
        uint32_t kind, layers;
    } fields[] = {{NT_LANCE_LAYOUT_MINI_BLOCK, NT_LANCE_MINI_BLOCK_LAYERS},
                  {NT_LANCE_LAYOUT_FULL_ZIP, NT_LANCE_FULL_ZIP_LAYERS},
                  {NT_LANCE_LAYOUT_CONSTANT, NT_LANCE_CONSTANT_LAYOUT_LAYERS}};
    struct nt_proto member;
    uint64_t layer, first = NT_LAYER_NONE;
    uint32_t kind = nt_lance_page_layout_kind(page, &member);
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (kind == fields[i].kind) {
            struct nt_proto_numbers layers = nt_proto_numbers(member, fields[i].layers);
            while (nt_proto_next_number(&layers, &layer)) {
                first = first == NT_LAYER_NONE ? layer : first;
                page->lists += layer != NT_LAYER_ITEM && layer != NT_LAYER_NULLABLE_ITEM;
            }
        }
    return first == NT_LAYER_NULLABLE_ITEM;
}

/* Also adds the page's rows to those of the column. */
static enum nt_status read_page(const struct column_metadata_reader *reader, struct nt_proto message,
                                struct nt_lance_page *page)
{
    struct nt_lance_column *column = reader->column;
    page->length = nt_proto_number(message, NT_LANCE_PAGE_LENGTH);
    page->priority = nt_proto_number(message, NT_LANCE_PAGE_PRIORITY);
    if (!nt_checked_add(column->rows, page->length, &column->rows) || column->rows > INT64_MAX)
        return nt_fail(reader->error, NT_CORRUPT, position_of(reader, message),
                       "%" PRIu64 " rows are more than a column can have", page->length);
    NT_TRY(read_buffers(reader, message, &page_fields, &page->buffers, &page->buffer_count));
    return read_page_encoding(reader, message, page);
}

static enum nt_status read_pages(const struct column_metadata_reader *reader)
{
    struct nt_lance_column *column = reader->column;
    struct nt_proto rest = column->message, message;
    uint64_t count = nt_proto_count(rest, NT_LANCE_COLUMN_METADATA_PAGES);
    NT_TRY(nt_lance_take(reader->lance->memory, NT_COST_ENVELOPE_BYTE, count * sizeof(struct nt_lance_page),
                         column->metadata.offset, reader->error));
    if (count >= NT_NONE)
        return nt_fail(reader->error, NT_LIMIT, column->metadata.offset,
                       "the column has %" PRIu64 " pages, more than the limit of 2^32", count);
    if (count == 0)
        return NT_OK;
    struct nt_lance_page *pages = nt_arena_alloc(reader->lance->memory->arena, count, sizeof(*pages));
    NT_TRY(nt_check_memory(pages, reader->error));
    column->pages = pages;
    for (; nt_proto_next_message(&rest, NT_LANCE_COLUMN_METADATA_PAGES, &message); column->page_count++) {
        enum nt_status status = read_page(reader, message, &pages[column->page_count]);
        NT_TRY(nt_with_context(status, reader->error, "page %" PRIu32, column->page_count));
    }
    for (uint32_t i = 0; i < column->page_count; i++)
        column->has_null_levels |= read_layers(&pages[i]);
    return NT_OK;
}

/* ---- Columns ---- */

/* Is the column a blob column? Zone maps wrap the encoding of a column, no deeper than messages may be
 * nested. */
static bool is_blob(struct nt_proto encoding)
{
    struct nt_proto member;
    uint32_t kind = nt_proto_oneof(encoding, &nt_lance_column_encoding, &member);
    while (kind == NT_LANCE_COLUMN_ENCODING_ZONE_INDEX) {
        encoding = nt_proto_message(member, NT_LANCE_ZONE_INDEX_INNER);
        kind = nt_proto_oneof(encoding, &nt_lance_column_encoding, &member);
    }
    return kind == NT_LANCE_COLUMN_ENCODING_BLOB;
}

static enum nt_status read_column_encoding(const struct column_metadata_reader *reader)
{
    struct nt_lance_column *column = reader->column;
    struct column_encoding encoding;
    NT_TRY(read_encoding(reader, column->message, NT_LANCE_COLUMN_METADATA_ENCODING, &encoding));
    column->type_url = encoding.type_url;
    if (encoding.kind != NT_LANCE_ENCODING_IS_COLUMN)
        return NT_OK;
    column->encoding = encoding.message;
    column->is_blob = is_blob(encoding.message);
    return NT_OK;
}

/* Pages with an unknown encoding make their column undecodable, but not the file. */
static enum nt_status note_unknown(const struct column_metadata_reader *reader)
{
    struct nt_lance_column *column = reader->column;
    struct nt_error failure;
    uint32_t page = 0;
    while (page < column->page_count && (column->pages[page].encoding_kind == NT_LANCE_ENCODING_IS_ARRAY ||
                                         column->pages[page].encoding_kind == NT_LANCE_ENCODING_IS_LAYOUT))
        page++;
    if (page == column->page_count)
        return NT_OK;
    struct nt_text type = column->pages[page].type_url;
    nt_fail(&failure, NT_UNSUPPORTED, column->metadata.offset,
            "page %" PRIu32 ": cannot read an encoding of type '%.*s'", page,
            (int)(type.length < 100 ? type.length : 100), type.bytes);
    return nt_failure_keep(&failure, reader->lance->memory->arena, &column->failure, reader->error);
}

/* Checks that pages are in the order of their first rows. In 2.0 a first row may be relative to its
 * batch. */
static enum nt_status check_order(const struct nt_lance *lance, const struct nt_lance_column *column,
                                  struct nt_error *error)
{
    for (uint32_t i = 1; !nt_lance_has_item_columns(&lance->tail) && i < column->page_count; i++)
        if (column->pages[i].priority < column->pages[i - 1].priority)
            return nt_fail(error, NT_CORRUPT, column->metadata.offset,
                           "page %" PRIu32 " begins at row %" PRIu64
                           ", before the previous page at row %" PRIu64,
                           i, column->pages[i].priority, column->pages[i - 1].priority);
    return NT_OK;
}

/* Checks the message of a column, whose bytes are already read, and fills the column. */
static enum nt_status read_column(const struct nt_lance *lance, struct nt_lance_column *column,
                                  struct nt_error *error)
{
    const struct column_metadata_reader reader = {.lance = lance, .column = column, .error = error};
    NT_TRY(nt_proto_check(column->message, &nt_lance_column_metadata, column->metadata.offset, error));
    NT_TRY(read_column_encoding(&reader));
    NT_TRY(read_buffers(&reader, column->message, &column_fields, &column->buffers, &column->buffer_count));
    NT_TRY(read_pages(&reader));
    NT_TRY(note_unknown(&reader));
    return check_order(lance, column, error);
}

bool nt_lance_has_descriptors(const struct nt_lance_page *page)
{
    struct nt_proto member;
    return page->encoding_kind == NT_LANCE_ENCODING_IS_LAYOUT &&
           nt_proto_oneof(page->encoding, &nt_lance_page_layout, &member) == NT_LANCE_LAYOUT_BLOB;
}

bool nt_lance_has_lists(const struct nt_lance_page *page)
{
    struct nt_proto member;
    return page->encoding_kind == NT_LANCE_ENCODING_IS_ARRAY &&
           nt_proto_oneof(page->encoding, &nt_lance_array_encoding, &member) == NT_LANCE_ARRAY_LIST;
}

uint32_t nt_lance_page_layout_kind(const struct nt_lance_page *page, struct nt_proto *member_ret)
{
    *member_ret = (struct nt_proto){0};
    if (page->encoding_kind != NT_LANCE_ENCODING_IS_LAYOUT)
        return 0;
    uint32_t kind = nt_proto_oneof(page->encoding, &nt_lance_page_layout, member_ret);
    if (kind == NT_LANCE_LAYOUT_BLOB)
        kind = nt_proto_oneof(nt_proto_message(*member_ret, NT_LANCE_BLOB_LAYOUT_INNER_LAYOUT),
                              &nt_lance_page_layout, member_ret);
    return kind;
}

/* ---- Offset tables and global buffers ---- */

struct table {
    const char *entry; /* the name of an entry in errors */
    uint64_t offset;
    uint32_t count;
    struct nt_lance_buffer within; /* the range that must contain what the entries refer to */
};

static enum nt_status check_entry(const struct table *table, uint32_t number,
                                  const struct nt_lance_buffer *entry, struct nt_error *error)
{
    const struct nt_lance_buffer *within = &table->within;
    if (entry->offset >= within->offset &&
        nt_range_fits(entry->offset - within->offset, entry->bytes, within->bytes))
        return NT_OK;
    return nt_fail(
        error, NT_CORRUPT, table->offset + (uint64_t)number * TABLE_ENTRY_BYTES,
        "%s %" PRIu32 ", %" PRIu64 " bytes at %" PRIu64 ", is not between %" PRIu64 " and %" PRIu64,
        table->entry, number, entry->bytes, entry->offset, within->offset, within->offset + within->bytes);
}

/* Reads a table whose range was checked with the tail. */
static enum nt_status read_table(const struct nt_lance *lance, const struct table *table,
                                 const struct nt_lance_buffer **entries_ret, struct nt_error *error)
{
    struct nt_lance_buffer *entries;
    const struct nt_lance_buffer range = {table->offset, (uint64_t)table->count * TABLE_ENTRY_BYTES};
    uint8_t *bytes;
    NT_TRY(nt_lance_read_bytes(lance, &range, &bytes, error));
    entries = nt_arena_alloc(lance->memory->arena, (size_t)table->count + 1, sizeof(*entries));
    NT_TRY(nt_check_memory(entries, error));
    struct nt_cursor cursor = nt_cursor(bytes, (size_t)range.bytes);
    for (uint32_t i = 0; i < table->count; i++) {
        entries[i].offset = nt_get_le64(&cursor);
        entries[i].bytes = nt_get_le64(&cursor);
        NT_TRY(check_entry(table, i, &entries[i], error));
    }
    *entries_ret = entries;
    return NT_OK;
}

/* Reads the bytes of a message. */
static enum nt_status read_proto(const struct nt_lance *lance, const struct nt_lance_buffer *range,
                                 struct nt_proto *message_ret, struct nt_error *error)
{
    uint8_t *bytes;
    NT_TRY(nt_lance_read_bytes(lance, range, &bytes, error));
    *message_ret = (struct nt_proto){bytes, (size_t)range->bytes};
    return NT_OK;
}

static enum nt_status read_globals(struct nt_lance *lance, struct nt_error *error)
{
    const struct table table = {
        .entry = "global buffer",
        .offset = lance->tail.global_table,
        .count = lance->tail.globals,
        .within = {0, lance->tail.offset},
    };
    NT_TRY(read_table(lance, &table, &lance->globals, error));
    return read_proto(lance, &lance->globals[0], &lance->descriptor, error);
}

/* ---- Columns ---- */

/* Returns the range of the metadata of all columns, and the sum of their sizes. */
static enum nt_status span_of(const struct nt_lance *lance, const struct nt_lance_buffer *entries,
                              struct nt_lance_buffer *span_ret, uint64_t *bytes_ret, struct nt_error *error)
{
    uint64_t start = UINT64_MAX, end = 0, bytes = 0;
    for (uint32_t i = 0; i < lance->tail.columns; i++) {
        start = entries[i].offset < start ? entries[i].offset : start;
        end = entries[i].offset + entries[i].bytes > end ? entries[i].offset + entries[i].bytes : end;
        if (!nt_checked_add(bytes, entries[i].bytes, &bytes))
            return nt_fail(error, NT_CORRUPT, lance->tail.column_table,
                           "column metadata of more than 2^64 bytes");
    }
    *span_ret = (struct nt_lance_buffer){start < end ? start : 0, start < end ? end - start : 0};
    *bytes_ret = bytes;
    return NT_OK;
}

/* Reads all of them at once, unless the gaps between them are large. Columns that share bytes each
 * count these bytes against the budget when they are parsed. */
static enum nt_status read_messages(const struct nt_lance *lance, const struct nt_lance_buffer *entries,
                                    struct nt_lance_column *columns, struct nt_error *error)
{
    enum { MUCH = 1 << 20 };
    struct nt_lance_buffer span = {0, 0};
    uint8_t *all = NULL;
    uint64_t bytes = 0;
    NT_TRY(span_of(lance, entries, &span, &bytes, error));
    if (span.bytes <= MUCH || span.bytes - MUCH <= bytes) {
        if (bytes > span.bytes)
            NT_TRY(
                nt_lance_take(lance->memory, NT_COST_ENVELOPE_BYTE, bytes - span.bytes, span.offset, error));
        NT_TRY(nt_lance_read_bytes(lance, &span, &all, error));
    }
    for (uint32_t i = 0; i < lance->tail.columns; i++) {
        columns[i].metadata = entries[i];
        if (all)
            columns[i].message =
                (struct nt_proto){all + (entries[i].offset - span.offset), (size_t)entries[i].bytes};
        else
            NT_TRY(read_proto(lance, &entries[i], &columns[i].message, error));
    }
    return NT_OK;
}

static enum nt_status read_columns(struct nt_lance *lance, struct nt_error *error)
{
    const struct nt_lance_tail *tail = &lance->tail;
    const struct nt_lance_buffer *entries;
    const struct table table = {
        .entry = "metadata of column",
        .offset = tail->column_table,
        .count = tail->columns,
        .within = {tail->columns_start, tail->column_table - tail->columns_start},
    };
    NT_TRY(read_table(lance, &table, &entries, error));
    NT_TRY(nt_lance_take(lance->memory, NT_COST_COLUMN, tail->columns, tail->column_table, error));
    if (tail->columns == 0)
        return NT_OK;
    struct nt_lance_column *columns = nt_arena_alloc(lance->memory->arena, tail->columns, sizeof(*columns));
    NT_TRY(nt_check_memory(columns, error));
    lance->columns = columns;
    NT_TRY(read_messages(lance, entries, columns, error));
    for (uint32_t i = 0; i < tail->columns; i++) {
        enum nt_status status = read_column(lance, &columns[i], error);
        NT_TRY(nt_with_context(status, error, "column %" PRIu32, i));
    }
    return NT_OK;
}

enum nt_status nt_lance_read(struct nt_lance_memory *memory, struct nt_source *source, uint32_t number,
                             struct nt_lance *lance, struct nt_error *error)
{
    *lance = (struct nt_lance){.memory = memory, .source = source, .number = number};
    NT_TRY(nt_source_size(source, &lance->size, error));
    NT_TRY(lance_read_tail(source, lance->size, &lance->tail, error));
    if (lance->tail.is_legacy)
        return nt_lance_legacy_read(memory->file, lance, error);
    NT_TRY(read_globals(lance, error));
    NT_TRY(nt_lance_read_descriptor(lance, error));
    return read_columns(lance, error);
}
