/* SPDX-License-Identifier: MIT
 *
 * In: the bytes of a ColumnMetadata (lance's protos/file2.proto). Out: the column with its pages: where their
 * buffers are, and which message tells how they are encoded. What an encoding says is not looked at, but for
 * being well-formed.
 */
#include "formats/lance/file/columns.h"

#include <inttypes.h>

#include "core/base/overflow.h"
#include "formats/lance/decode/description.h"

/* ---- encodings ---- */

static const struct {
    const char *type; /* of an Any, behind the slash */
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

struct reading {
    const struct nt_lance *lance;
    struct nt_lance_column *column;
    struct nt_error *error;
};

/* Where bytes of the column's message lie in the file. */
static uint64_t place_of(const struct reading *reading, struct nt_proto message)
{
    return reading->column->metadata.offset + (uint64_t)(message.bytes - reading->column->message.bytes);
}

/* An encoding that is there: its type, and its message where the type is known. */
struct encoding {
    enum nt_lance_encoding_kind kind;
    struct nt_text type_url;
    struct nt_proto message;
};

static enum nt_status read_any(const struct reading *reading, struct nt_proto any, struct encoding *encoding)
{
    enum nt_status status = nt_proto_check(any, &nt_lance_any, place_of(reading, any), reading->error);
    if (status != NT_OK)
        return status;
    encoding->type_url = nt_proto_text(any, NT_LANCE_ANY_TYPE_URL);
    encoding->kind = nt_lance_encoding_kind(encoding->type_url);
    encoding->message = nt_proto_message(any, NT_LANCE_ANY_VALUE);
    if (!encoding->message.bytes) /* an empty message need not be written */
        encoding->message = (struct nt_proto){any.bytes, 0};
    const struct nt_proto_table *table = nt_lance_encoding_table(encoding->kind);
    if (!table)
        return NT_OK;
    return nt_proto_check(encoding->message, table, place_of(reading, encoding->message), reading->error);
}

/* The member `encoding` of a column or page, whose number `field` is. Nothing is left where it has none. */
static enum nt_status read_encoding(const struct reading *reading, struct nt_proto message, uint32_t field,
                                    struct encoding *encoding)
{
    struct nt_proto member, choice = nt_proto_message(message, field);
    *encoding = (struct encoding){.type_url = {"", 0}};
    switch (nt_proto_choice(choice, &nt_lance_encoding, &member)) {
    case NT_LANCE_ENCODING_DIRECT:
        member = nt_proto_message(member, NT_LANCE_DIRECT_ENCODING);
        return member.bytes ? read_any(reading, member, encoding) : NT_OK;
    case NT_LANCE_ENCODING_INDIRECT:
        return nt_fail(reading->error, NT_UNSUPPORTED, place_of(reading, choice),
                       "an encoding that lies elsewhere in the file is not read");
    default:
        return NT_OK;
    }
}

/* ---- buffers ---- */

static enum nt_status check_buffer(const struct reading *reading, struct nt_proto message, uint32_t number,
                                   const struct nt_lance_buffer *buffer)
{
    uint64_t size = reading->lance->size;
    if (nt_fits(buffer->offset, buffer->bytes, size))
        return NT_OK;
    return nt_fail(reading->error, NT_CORRUPT, place_of(reading, message),
                   "buffer %" PRIu32 ", %" PRIu64 " bytes at %" PRIu64
                   ", does not lie in the file of %" PRIu64 " bytes",
                   number, buffer->bytes, buffer->offset, size);
}

/* Two fields of the same numbers of items: offsets and sizes. */
struct buffer_fields {
    uint32_t offsets, sizes;
};
static const struct buffer_fields column_fields = {NT_LANCE_COLUMN_METADATA_BUFFER_OFFSETS,
                                                   NT_LANCE_COLUMN_METADATA_BUFFER_SIZES},
                                  page_fields = {NT_LANCE_PAGE_BUFFER_OFFSETS, NT_LANCE_PAGE_BUFFER_SIZES};

static enum nt_status count_buffers(const struct reading *reading, struct nt_proto message,
                                    const struct buffer_fields *fields, uint32_t *count_ret)
{
    uint64_t place = place_of(reading, message);
    uint64_t offsets = nt_proto_count_numbers(message, fields->offsets);
    uint64_t sizes = nt_proto_count_numbers(message, fields->sizes);
    if (offsets != sizes)
        return nt_fail_number(reading->error, NT_CORRUPT, place, "sizes of buffers", offsets, sizes);
    if (offsets > UINT32_MAX)
        return nt_fail(reading->error, NT_LIMIT, place, "%" PRIu64 " buffers", offsets);
    *count_ret = (uint32_t)offsets;
    return nt_lance_take(reading->lance->memory, NT_COST_ENVELOPE_BYTE,
                         offsets * sizeof(struct nt_lance_buffer), place, reading->error);
}

static enum nt_status read_buffers(const struct reading *reading, struct nt_proto message,
                                   const struct buffer_fields *fields,
                                   const struct nt_lance_buffer **buffers_ret, uint32_t *count_ret)
{
    enum nt_status status = count_buffers(reading, message, fields, count_ret);
    if (status != NT_OK || *count_ret == 0)
        return status;
    struct nt_lance_buffer *buffers =
        nt_arena_alloc(reading->lance->memory->arena, *count_ret, sizeof(struct nt_lance_buffer));
    if (!buffers)
        return nt_fail_memory(reading->error);
    struct nt_proto_numbers offsets = nt_proto_numbers(message, fields->offsets);
    struct nt_proto_numbers sizes = nt_proto_numbers(message, fields->sizes);
    for (uint32_t i = 0; status == NT_OK && i < *count_ret; i++) {
        nt_proto_next_number(&offsets, &buffers[i].offset);
        nt_proto_next_number(&sizes, &buffers[i].bytes);
        status = check_buffer(reading, message, i, &buffers[i]);
    }
    *buffers_ret = buffers;
    return status;
}

/* ---- pages ---- */

static enum nt_status read_page_encoding(const struct reading *reading, struct nt_proto message,
                                         struct nt_lance_page *page)
{
    struct encoding encoding;
    enum nt_status status = read_encoding(reading, message, NT_LANCE_PAGE_ENCODING, &encoding);
    if (status == NT_OK && !encoding.message.bytes)
        status = nt_fail(reading->error, NT_CORRUPT, place_of(reading, message), "no encoding");
    page->encoding_kind = encoding.kind;
    page->encoding = encoding.message;
    page->type_url = encoding.type_url;
    return status;
}

/* Whether the innermost of the layers around a page's values tells which of these are null. */
static bool tells_nulls(const struct nt_lance_page *page)
{
    static const struct {
        uint32_t choice, layers;
    } fields[] = {{NT_LANCE_LAYOUT_MINI_BLOCK, NT_LANCE_MINI_BLOCK_LAYERS},
                  {NT_LANCE_LAYOUT_FULL_ZIP, NT_LANCE_FULL_ZIP_LAYERS},
                  {NT_LANCE_LAYOUT_CONSTANT, NT_LANCE_CONSTANT_LAYOUT_LAYERS}};
    struct nt_proto member;
    uint64_t layer = NT_LAYER_NONE;
    uint32_t choice = nt_lance_page_choice(page, &member);
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (choice == fields[i].choice) {
            struct nt_proto_numbers layers = nt_proto_numbers(member, fields[i].layers);
            nt_proto_next_number(&layers, &layer);
        }
    return layer == NT_LAYER_NULLABLE_ITEM;
}

/* The rows of pages add up. */
static enum nt_status add_page_rows(const struct reading *reading, struct nt_proto message, uint32_t number,
                                    struct nt_lance_page *pages)
{
    struct nt_lance_column *column = reading->column;
    struct nt_lance_page *page = &pages[number];
    page->length = nt_proto_number(message, NT_LANCE_PAGE_LENGTH);
    page->priority = nt_proto_number(message, NT_LANCE_PAGE_PRIORITY);
    if (!nt_add(column->rows, page->length, &column->rows) || column->rows > INT64_MAX)
        return nt_fail(reading->error, NT_CORRUPT, place_of(reading, message),
                       "%" PRIu64 " rows are more than a column can have", page->length);
    return NT_OK;
}

static enum nt_status read_page(const struct reading *reading, struct nt_proto message, uint32_t number,
                                struct nt_lance_page *pages)
{
    struct nt_lance_page *page = &pages[number];
    enum nt_status status = add_page_rows(reading, message, number, pages);
    if (status == NT_OK)
        status = read_buffers(reading, message, &page_fields, &page->buffers, &page->buffer_count);
    if (status == NT_OK)
        status = read_page_encoding(reading, message, page);
    if (status != NT_OK)
        nt_error_context(reading->error, "page %" PRIu32, number);
    return status;
}

static enum nt_status read_pages(const struct reading *reading)
{
    struct nt_lance_column *column = reading->column;
    struct nt_proto rest = column->message;
    struct nt_proto_item item;
    uint64_t count = nt_proto_count(rest, NT_LANCE_COLUMN_METADATA_PAGES);
    enum nt_status status =
        nt_lance_take(reading->lance->memory, NT_COST_ENVELOPE_BYTE, count * sizeof(struct nt_lance_page),
                      column->metadata.offset, reading->error);
    if (status == NT_OK && count >= NT_NONE)
        status = nt_fail(reading->error, NT_LIMIT, column->metadata.offset, "%" PRIu64 " pages", count);
    if (status != NT_OK || count == 0)
        return status;
    struct nt_lance_page *pages = nt_arena_alloc(reading->lance->memory->arena, count, sizeof(*pages));
    if (!pages)
        return nt_fail_memory(reading->error);
    column->pages = pages;
    while (status == NT_OK && nt_proto_next(&rest, &item))
        if (item.number == NT_LANCE_COLUMN_METADATA_PAGES)
            status =
                read_page(reading, (struct nt_proto){item.bytes, item.size}, column->page_count++, pages);
    for (uint32_t i = 0; status == NT_OK && !column->tells_nulls && i < column->page_count; i++)
        column->tells_nulls = tells_nulls(&pages[i]);
    return status;
}

/* ---- columns ---- */

/* Zone maps stand around what the column is; they lie in one another no deeper than messages may. */
static bool is_blob(struct nt_proto encoding)
{
    struct nt_proto member;
    uint32_t choice = nt_proto_choice(encoding, &nt_lance_column_encoding, &member);
    while (choice == NT_LANCE_COLUMN_ENCODING_ZONE_INDEX) {
        encoding = nt_proto_message(member, NT_LANCE_ZONE_INDEX_INNER);
        choice = nt_proto_choice(encoding, &nt_lance_column_encoding, &member);
    }
    return choice == NT_LANCE_COLUMN_ENCODING_BLOB;
}

static enum nt_status read_column_encoding(const struct reading *reading)
{
    struct nt_lance_column *column = reading->column;
    struct encoding encoding;
    enum nt_status status =
        read_encoding(reading, column->message, NT_LANCE_COLUMN_METADATA_ENCODING, &encoding);
    column->type_url = encoding.type_url;
    if (status != NT_OK || encoding.kind != NT_LANCE_ENCODING_IS_COLUMN)
        return status;
    column->encoding = encoding.message;
    column->is_blob = is_blob(encoding.message);
    return NT_OK;
}

/* Pages of an encoding that nobody knows keep their column from being decoded, not the file from being read. */
static enum nt_status note_unknown(const struct reading *reading)
{
    struct nt_lance_column *column = reading->column;
    struct nt_error failure;
    uint32_t page = 0;
    while (page < column->page_count && (column->pages[page].encoding_kind == NT_LANCE_ENCODING_IS_ARRAY ||
                                         column->pages[page].encoding_kind == NT_LANCE_ENCODING_IS_LAYOUT))
        page++;
    if (page == column->page_count)
        return NT_OK;
    struct nt_text type = column->pages[page].type_url;
    nt_fail(&failure, NT_UNSUPPORTED, column->metadata.offset,
            "page %" PRIu32 ": an encoding of the type '%.*s' is not read", page,
            (int)(type.length < 100 ? type.length : 100), type.bytes);
    return nt_failure_keep(&failure, reading->lance->memory->arena, &column->failure, reading->error);
}

enum nt_status nt_lance_read_column(const struct nt_lance *lance, uint32_t number,
                                    struct nt_lance_column *column, struct nt_error *error)
{
    const struct reading reading = {.lance = lance, .column = column, .error = error};
    enum nt_status status =
        nt_proto_check(column->message, &nt_lance_column_metadata, column->metadata.offset, error);
    if (status == NT_OK)
        status = read_column_encoding(&reading);
    if (status == NT_OK)
        status =
            read_buffers(&reading, column->message, &column_fields, &column->buffers, &column->buffer_count);
    if (status == NT_OK)
        status = read_pages(&reading);
    if (status == NT_OK)
        status = note_unknown(&reading);
    if (status != NT_OK)
        nt_error_context(error, "column %" PRIu32, number);
    return status;
}

bool nt_lance_has_places(const struct nt_lance_page *page)
{
    struct nt_proto member;
    return page->encoding_kind == NT_LANCE_ENCODING_IS_LAYOUT &&
           nt_proto_choice(page->encoding, &nt_lance_page_layout, &member) == NT_LANCE_LAYOUT_BLOB;
}

bool nt_lance_has_lists(const struct nt_lance_page *page)
{
    struct nt_proto member;
    return page->encoding_kind == NT_LANCE_ENCODING_IS_ARRAY &&
           nt_proto_choice(page->encoding, &nt_lance_array_encoding, &member) == NT_LANCE_ARRAY_LIST;
}

uint32_t nt_lance_page_choice(const struct nt_lance_page *page, struct nt_proto *member_ret)
{
    *member_ret = (struct nt_proto){0};
    if (page->encoding_kind != NT_LANCE_ENCODING_IS_LAYOUT)
        return 0;
    uint32_t choice = nt_proto_choice(page->encoding, &nt_lance_page_layout, member_ret);
    if (choice == NT_LANCE_LAYOUT_BLOB)
        choice = nt_proto_choice(nt_proto_message(*member_ret, NT_LANCE_BLOB_LAYOUT_INNER_LAYOUT),
                                 &nt_lance_page_layout, member_ret);
    return choice;
}
