/* SPDX-License-Identifier: MIT
 *
 * Metadata of an open Lance file beyond the model: its documents (footer.json, schema.json,
 * metadata.json, messages and global buffers as raw bytes), the files of a physical page (its buffers, its
 * dictionary, and the list of its mini-block chunks), the JSON members of files, columns and pages, and
 * the owner of every byte range outside pages.
 */
#include "formats/lance/file/file.h"

#include <stdio.h>

/* ---- JSON ---- */

/* Puts ranges of the file as a list. */
static void lance_buffers_json(struct nt_json *json, const char *key, const struct nt_lance_buffer *buffers,
                               uint64_t count)
{
    nt_json_member_array(json, key);
    for (uint64_t i = 0; i < count; i++) {
        nt_json_object(json);
        nt_json_member_unsigned(json, "file_offset", buffers[i].offset);
        nt_json_member_unsigned(json, "stored_bytes", buffers[i].bytes);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

/* Puts "type_url" and, if its type is known, "message". */
static void lance_message_json(struct nt_json *json, struct nt_text type_url, struct nt_proto message,
                               enum nt_lance_encoding_kind kind)
{
    const struct nt_proto_table *table = nt_lance_encoding_table(kind);
    nt_json_member_text(json, "type_url", type_url);
    if (table)
        nt_lance_put_message(json, message, table, NULL);
}

void nt_lance_put_message(struct nt_json *json, struct nt_proto message, const struct nt_proto_table *table,
                          const struct nt_lance_buffer *range)
{
    if (range) {
        nt_json_member_unsigned(json, "file_offset", range->offset);
        nt_json_member_unsigned(json, "stored_bytes", range->bytes);
    }
    nt_json_member_object(json, "message");
    nt_proto_json(json, message, table);
    nt_json_end_object(json);
}

/* Puts members of an object: the metadata of a page of a column. */
static void lance_page_json(struct nt_json *json, const struct nt_lance_page *page)
{
    nt_json_member_unsigned(json, "rows", page->length);
    nt_json_member_unsigned(json, "priority", page->priority);
    lance_message_json(json, page->type_url, page->encoding, page->encoding_kind);
}

enum nt_status nt_lance_describe_file(const struct nt_file *file, struct nt_json *json,
                                      struct nt_error *error)
{
    const struct nt_lance *lance = nt_lance_of(file->datasets[0]);
    nt_json_member_string(json, "kind", "Lance file");
    nt_json_member_string(json, "version", lance->tail.version);
    nt_json_member_unsigned(json, "columns", lance->tail.columns);
    if (lance->legacy)
        nt_json_member_unsigned(json, "batches", lance->legacy->table.batches);
    else
        nt_json_member_unsigned(json, "global_buffers", lance->tail.globals);
    return NT_OK;
}

/* ---- Layout ---- */

static enum nt_status lay_out_tables(const struct nt_lance *lance, const struct nt_layout_output *output)
{
    enum { TABLE_ENTRY_BYTES = 16 };
    const struct nt_lance_tail *tail = &lance->tail;
    NT_TRY(nt_layout_emit_range(output, tail->offset, NT_LANCE_TAIL_BYTES, "footer"));
    NT_TRY(nt_layout_emit_range(output, tail->column_table, (uint64_t)tail->columns * TABLE_ENTRY_BYTES,
                                "column table"));
    return nt_layout_emit_range(output, tail->global_table, (uint64_t)tail->globals * TABLE_ENTRY_BYTES,
                                "global buffer table");
}

enum nt_status nt_lance_layout_put_metadata(const struct nt_lance *lance,
                                            const struct nt_layout_output *output)
{
    NT_TRY(lay_out_tables(lance, output));
    for (uint32_t i = 0; i < lance->tail.globals; i++)
        NT_TRY(nt_layout_emit_range(output, lance->globals[i].offset, lance->globals[i].bytes,
                                    i ? "global buffer" : "schema"));
    for (uint32_t i = 0; i < lance->tail.columns; i++) {
        const struct nt_lance_column *column = &lance->columns[i];
        NT_TRY(
            nt_layout_emit_range(output, column->metadata.offset, column->metadata.bytes, "column metadata"));
        for (uint32_t k = 0; k < column->buffer_count; k++)
            NT_TRY(nt_layout_emit_range(output, column->buffers[k].offset, column->buffers[k].bytes,
                                        "column buffer"));
    }
    return NT_OK;
}

/* ---- Columns and pages ---- */

/* Puts the encodings of a page that a tree decodes. */
static const struct nt_lance_decoder_state *put_encodings(const struct nt_dataset *dataset,
                                                          const struct nt_page *page, struct nt_json *json)
{
    enum { TEXT = 512 };
    char text[TEXT];
    const struct nt_lance_decoder_state *state =
        nt_lance_decoder_state_of(nt_decoders_get(&dataset->decoders, page->decoder));
    if (!state)
        return NULL;
    nt_lance_describe_tree(state->tree, text, sizeof(text));
    nt_json_member_string(json, "layout", nt_lance_layout_name(state->tree->layout));
    nt_json_member_string(json, "encodings", text);
    return state;
}

/* In a dataset each page has them, because each file has its own. */
void nt_lance_describe_column(const struct nt_dataset *physical, uint32_t column, struct nt_json *json)
{
    if (!physical->logical->file->layout_part)
        nt_json_member_unsigned(json, "file_column", physical->columns[column].id);
}

enum nt_status nt_lance_describe_page(const struct nt_dataset *physical, uint32_t column,
                                      const struct nt_page *page, struct nt_json *json)
{
    NT_LOCK_GUARD(&physical->logical->lock);
    struct nt_lance_physical_column physical_column;
    const struct nt_lance_page *of = nt_lance_file_page(physical, column, page, &physical_column);
    if (of && physical_column.name) {
        nt_json_member_unsigned(json, "fragment", physical_column.fragment);
        nt_json_member_unsigned(json, "file_column", physical_column.column_map.column);
        nt_json_member_unsigned(
            json, "file_page",
            (uint64_t)(of - physical_column.lance->columns[physical_column.column_map.column].pages));
    }
    put_encodings(physical, page, json);
    if (of)
        lance_page_json(json, of);
    return NT_OK;
}

static bool contains_offset(const struct nt_lance_page *page, uint64_t offset)
{
    for (uint32_t i = 0; i < page->buffer_count; i++)
        if (offset >= page->buffers[i].offset && offset - page->buffers[i].offset < page->buffers[i].bytes)
            return true;
    return false;
}

/* Puts the page of the file that contains a page; null for blobs and pages without bytes. */
static void put_file_page(const struct nt_lance_column *column, const struct nt_page *page,
                          struct nt_json *json)
{
    for (uint32_t i = 0; page->stored_bytes && i < column->page_count; i++)
        if (contains_offset(&column->pages[i], page->offset)) {
            nt_json_member_unsigned(json, "file_page", i);
            return;
        }
    nt_json_member_null(json, "file_page");
}

enum nt_status nt_lance_describe_page_of(const struct nt_dataset *dataset, const struct nt_lance *lance,
                                         uint32_t file_column, const struct nt_page *page,
                                         struct nt_json *json)
{
    nt_json_member_unsigned(json, "file_column", file_column);
    put_file_page(&lance->columns[file_column], page, json);
    const struct nt_lance_decoder_state *state = put_encodings(dataset, page, json);
    if (state)
        nt_json_member_string(json, "taken", nt_lance_output_name(state->spec.output));
    return NT_OK;
}

/* ---- Padding between buffers ---- */

enum { ALIGNMENT = 64 };

struct buffer_list {
    struct nt_lance_buffer *items;
    size_t count;
};

static bool has_blobs(const struct nt_lance *lance)
{
    for (uint32_t i = 0; i < lance->tail.columns; i++) {
        const struct nt_lance_column *column = &lance->columns[i];
        if (column->is_blob)
            return true;
        for (uint32_t k = 0; k < column->page_count; k++)
            if (nt_lance_has_descriptors(&column->pages[k]))
                return true;
    }
    return false;
}

/* Only counts them while there is no memory for them. */
static void add(struct buffer_list *buffers, const struct nt_lance_buffer *added, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (!added[i].bytes)
            continue;
        if (buffers->items)
            buffers->items[buffers->count] = added[i];
        buffers->count++;
    }
}

static void add_all(struct buffer_list *buffers, const struct nt_lance *lance)
{
    const struct nt_lance_buffer table = {lance->tail.column_table, 1};
    add(buffers, lance->globals, lance->tail.globals);
    add(buffers, &table, 1);
    for (uint32_t i = 0; i < lance->tail.columns; i++) {
        const struct nt_lance_column *column = &lance->columns[i];
        add(buffers, &column->metadata, 1);
        add(buffers, column->buffers, column->buffer_count);
        for (uint32_t k = 0; k < column->page_count; k++)
            add(buffers, column->pages[k].buffers, column->pages[k].buffer_count);
    }
}

/* Emits the gaps that align buffers to 64 bytes. Emits nothing for files with blobs, whose places are
 * unknown here. */
static enum nt_status lance_layout_put_padding(const struct nt_lance *lance,
                                               const struct nt_layout_output *output)
{
    struct buffer_list buffers = {0};
    uint64_t end = 0;
    if (has_blobs(lance))
        return NT_OK;
    add_all(&buffers, lance);
    NT_AUTO_FREE struct nt_lance_buffer *items = malloc((buffers.count + 1) * sizeof(*items));
    if (!items)
        return NT_NO_MEMORY;
    buffers = (struct buffer_list){.items = items};
    add_all(&buffers, lance);
    qsort(buffers.items, buffers.count, sizeof(*buffers.items), nt_compare_u64);
    for (size_t i = 0; i < buffers.count; i++) {
        const struct nt_lance_buffer *buffer = &buffers.items[i];
        if (buffer->offset > end && buffer->offset - end < ALIGNMENT)
            NT_TRY(nt_layout_emit_range(output, end, buffer->offset - end, "padding"));
        if (buffer->offset + buffer->bytes > end) /* within the file: no overflow */
            end = buffer->offset + buffer->bytes;
    }
    return NT_OK;
}

/* ---- Owners of byte ranges ---- */

enum nt_status nt_lance_lay_out_file(const struct nt_lance *lance, const struct nt_layout_output *output,
                                     struct nt_error *error)
{
    if (lance->legacy)
        return nt_lance_legacy_lay_out(lance, output, error);
    NT_TRY(nt_lance_layout_put_metadata(lance, output));
    return lance_layout_put_padding(lance, output);
}

enum nt_status nt_lance_layout_put_column(const struct nt_lance_column *column,
                                          const struct nt_layout_output *output, const char *owner)
{
    for (uint32_t i = 0; i < column->page_count; i++)
        for (uint32_t k = 0; k < column->pages[i].buffer_count; k++)
            NT_TRY(nt_layout_emit_range(output, column->pages[i].buffers[k].offset,
                                        column->pages[i].buffers[k].bytes, owner));
    return NT_OK;
}

enum nt_status nt_lance_layout_put_bytes(const struct nt_lance *lance, const struct nt_layout_output *output)
{
    for (uint32_t i = 0; i < lance->schema.field_count; i++) {
        uint32_t column = nt_lance_byte_column(lance, &lance->schema, &lance->leaves[i]);
        if (column != NT_NONE)
            NT_TRY(nt_lance_layout_put_column(&lance->columns[column], output, "bytes of strings"));
    }
    return NT_OK;
}

/* ---- Texts that are written item by item ---- */

static enum nt_status next_piece(struct nt_text_generator *base, struct nt_buffer *out, bool *more_ret,
                                 struct nt_error *error)
{
    enum { PIECE_BYTES = 64 * 1024 };
    struct nt_lance_text *text = (struct nt_lance_text *)base;
    enum nt_status status = NT_OK;
    text->end = out->length + PIECE_BYTES;
    text->json.out = out;
    while (status == NT_OK && text->next < text->count && out->length < text->end && !out->failed)
        status = text->write(text, out, error);
    *more_ret = text->next < text->count;
    return status == NT_OK ? nt_check_memory(!out->failed, error) : status;
}

enum nt_status nt_lance_open_text(const struct nt_dataset *dataset, uint64_t count,
                                  nt_lance_write_item *write,
                                  double (*share)(const struct nt_text_generator *text),
                                  struct nt_text_generator **text_ret, struct nt_error *error)
{
    struct nt_lance_text *text = calloc(1, sizeof(*text));
    NT_TRY(nt_check_memory(text, error));
    text->base = (struct nt_text_generator){.next = next_piece, .free = nt_text_free, .share = share};
    text->dataset = dataset;
    text->write = write;
    text->count = count;
    *text_ret = &text->base;
    return NT_OK;
}

/* ---- Write metadata.json ---- */

static void start_column(struct nt_json *json, const struct nt_lance_column *column, uint64_t number)
{
    nt_json_object(json);
    nt_json_member_unsigned(json, "column", number);
    nt_json_member_unsigned(json, "file_offset", column->metadata.offset);
    nt_json_member_unsigned(json, "stored_bytes", column->metadata.bytes);
    nt_json_member_unsigned(json, "rows", column->rows);
    if (column->failure)
        nt_json_member_string(json, "unreadable", column->failure->message);
    lance_buffers_json(json, "buffers", column->buffers, column->buffer_count);
    lance_message_json(json, column->type_url, column->encoding,
                       column->encoding.bytes ? NT_LANCE_ENCODING_IS_COLUMN : NT_LANCE_ENCODING_IS_UNKNOWN);
    nt_json_member_array(json, "pages");
}

/* A column's parts are its start, with the first page, and each further page. */
static void write_column_part(struct nt_lance_text *text, const struct nt_lance_column *column)
{
    struct nt_json *json = &text->json;
    if (text->part == 0)
        start_column(json, column, text->next - 1);
    if (text->part < column->page_count) {
        const struct nt_lance_page *page = &column->pages[text->part];
        nt_json_object(json);
        nt_json_member_unsigned(json, "page", text->part);
        lance_buffers_json(json, "buffers", page->buffers, page->buffer_count);
        lance_page_json(json, page);
        nt_json_end_object(json);
    }
    if (++text->part < column->page_count)
        return;
    nt_json_end_array(json);
    nt_json_end_object(json);
    text->part = 0;
    text->next++;
}

/* The items are the start of the document, the columns, and the end. */
static enum nt_status write_metadata(struct nt_lance_text *text, struct nt_buffer *out,
                                     struct nt_error *error)
{
    const struct nt_lance *lance = nt_lance_of(text->dataset);
    struct nt_json *json = &text->json;
    if (text->next == 0) {
        nt_json_document(json, out, "lance");
        nt_json_member_string(json, "version", lance->tail.version);
        nt_json_member_unsigned(json, "entries", lance->rows);
        nt_json_member_array(json, "columns");
        text->next++;
    } else if (text->next <= lance->tail.columns) {
        write_column_part(text, &lance->columns[text->next - 1]);
    } else {
        nt_json_end_array(json);
        nt_json_finish(json);
        text->next++;
    }
    return NT_OK;
}

static double share_of_columns(const struct nt_text_generator *base)
{
    const struct nt_lance_text *text = (const struct nt_lance_text *)base;
    uint64_t columns = text->count - 2, done = text->next ? text->next - 1 : 0;
    return done < columns ? (double)done / (double)columns : 1;
}

/* nt_document.open. */
static enum nt_status lance_metadata_open(const struct nt_document_request *request,
                                          struct nt_text_generator **text_ret, struct nt_error *error)
{
    return nt_lance_open_text(request->dataset, UINT64_C(2) + nt_lance_of(request->dataset)->tail.columns,
                              write_metadata, share_of_columns, text_ret, error);
}

/* ---- Documents of a file ---- */

static void put_tables(struct nt_json *json, const struct nt_lance *lance)
{
    const struct nt_lance_tail *tail = &lance->tail;
    nt_json_member_unsigned(json, "columns", tail->columns);
    nt_json_member_unsigned(json, "column_metadata_offset", tail->columns_start);
    nt_json_member_unsigned(json, "column_table_offset", tail->column_table);
    nt_json_member_unsigned(json, "global_buffer_table_offset", tail->global_table);
    lance_buffers_json(json, "global_buffers", lance->globals, tail->globals);
}

enum nt_status nt_lance_write_footer(const struct nt_document_request *request, struct nt_buffer *out,
                                     struct nt_error *error)
{
    const struct nt_lance *lance = nt_lance_of(request->dataset);
    const struct nt_lance_tail *tail = &lance->tail;
    struct nt_json json;
    nt_json_document(&json, out, "lance_footer");
    nt_json_member_unsigned(&json, "file_offset", tail->offset);
    nt_json_member_unsigned(&json, "stored_bytes",
                            lance->legacy ? NT_LANCE_LEGACY_TAIL_BYTES : NT_LANCE_TAIL_BYTES);
    nt_json_member_string(&json, "version", tail->version);
    nt_json_member_unsigned(&json, "major_version", tail->major);
    nt_json_member_unsigned(&json, "minor_version", tail->minor);
    if (lance->legacy)
        nt_json_member_unsigned(&json, "metadata_offset", tail->metadata);
    else
        put_tables(&json, lance);
    nt_json_finish(&json);
    return NT_OK;
}

enum nt_status nt_lance_write_schema(const struct nt_document_request *request, struct nt_buffer *out,
                                     struct nt_error *error)
{
    const struct nt_lance *lance = nt_lance_of(request->dataset);
    struct nt_json json;
    nt_json_document(&json, out, "lance_schema");
    nt_lance_put_message(&json, lance->descriptor,
                         lance->legacy ? &nt_lance_manifest : &nt_lance_file_descriptor, &lance->globals[0]);
    nt_json_finish(&json);
    return NT_OK;
}

enum nt_status nt_lance_write_schema_bytes(const struct nt_document_request *request, struct nt_buffer *out,
                                           struct nt_error *error)
{
    const struct nt_proto message = nt_lance_of(request->dataset)->descriptor;
    nt_buffer_append(out, message.bytes, message.size);
    return NT_OK;
}

uint64_t nt_lance_schema_bytes(const struct nt_document_request *request)
{
    return nt_lance_of(request->dataset)->descriptor.size;
}

static enum nt_status write_column_bytes(const struct nt_document_request *request, struct nt_buffer *out,
                                         struct nt_error *error)
{
    const struct nt_lance_column *column = &nt_lance_of(request->dataset)->columns[request->number];
    nt_buffer_append(out, column->message.bytes, column->message.size);
    return NT_OK;
}

static enum nt_status write_global_bytes(const struct nt_document_request *request, struct nt_buffer *out,
                                         struct nt_error *error)
{
    const struct nt_lance_buffer *global = &nt_lance_of(request->dataset)->globals[request->number];
    return global->bytes == 0 ? NT_OK
                              : nt_file_append_range(request->dataset->file, request->file->source,
                                                     global->offset, global->bytes, out, error);
}

static uint64_t count_globals(const struct nt_file *file, const struct nt_dataset *dataset)
{
    return nt_lance_of(dataset)->tail.globals;
}

static uint64_t count_columns(const struct nt_file *file, const struct nt_dataset *dataset)
{
    return nt_lance_of(dataset)->tail.columns;
}

static uint64_t global_bytes(const struct nt_document_request *request)
{
    return nt_lance_of(request->dataset)->globals[request->number].bytes;
}

static uint64_t column_bytes(const struct nt_document_request *request)
{
    return nt_lance_of(request->dataset)->columns[request->number].metadata.bytes;
}

/* The text is about twenty times as long as the messages. */
static enum nt_status is_metadata_short(const struct nt_document_request *request, bool *is_short_ret,
                                        struct nt_error *error)
{
    enum { MAX_BYTES = 128 << 10 };
    const struct nt_lance_tail *tail = &nt_lance_of(request->dataset)->tail;
    *is_short_ret = tail->column_table - tail->columns_start <= MAX_BYTES;
    return NT_OK;
}

const struct nt_document nt_lance_documents[] = {
    {.prefix = "footer.json", .write = nt_lance_write_footer},
    {.prefix = "schema.json", .write = nt_lance_write_schema},
    {.prefix = "metadata.json", .open = lance_metadata_open, .is_short = is_metadata_short},
    {.prefix = "schema.bin", .write = nt_lance_write_schema_bytes, .bytes = nt_lance_schema_bytes},
    {.prefix = "global.",
     .suffix = ".bin",
     .count = count_globals,
     .write = write_global_bytes,
     .bytes = global_bytes},
    {.prefix = "column.",
     .suffix = ".bin",
     .count = count_columns,
     .write = write_column_bytes,
     .bytes = column_bytes},
};
const uint32_t nt_lance_document_count = sizeof(nt_lance_documents) / sizeof(*nt_lance_documents);

/* ---- Chunk list of a page ---- */

enum { NT_MINI_BLOCK_SIZES_BYTES = 6 + 4 * NT_LANCE_BUFFERS }; /* an upper bound */

/* The file's metadata may be dropped meanwhile. */
struct chunks {
    struct nt_text_generator text;
    struct nt_source *source;
    struct nt_lance_buffer buffer; /* of the chunks */
    const struct nt_encoding_tree *tree;
    uint8_t *words; /* from malloc */
    uint64_t count, next, values;
    struct nt_lance_mini_block chunk; /* the previous one */
};

static void put_line(const struct chunks *chunks, const struct nt_mini_block_sizes *sizes,
                     struct nt_buffer *out)
{
    const struct nt_encoding_tree *tree = chunks->tree;
    struct nt_json json;
    nt_json_line(&json, out);
    nt_json_member_unsigned(&json, "chunk", chunks->next);
    nt_json_member_unsigned(&json, "file_offset", chunks->buffer.offset + chunks->chunk.offset);
    nt_json_member_unsigned(&json, "stored_bytes", chunks->chunk.bytes);
    nt_json_member_unsigned(&json, "first_value", chunks->chunk.first_value);
    nt_json_member_unsigned(&json, "values", chunks->chunk.values);
    nt_json_member_unsigned(&json, "levels", sizes->levels);
    if (tree->repetition != NT_NO_NODE)
        nt_json_member_unsigned(&json, "repetition_bytes", sizes->repetition_bytes);
    if (tree->definition != NT_NO_NODE)
        nt_json_member_unsigned(&json, "definition_bytes", sizes->definition_bytes);
    nt_json_member_array(&json, "buffers");
    for (uint32_t i = 0; i < tree->buffers; i++) {
        nt_json_object(&json);
        nt_json_member_unsigned(&json, "stored_bytes", sizes->buffer_bytes[i]);
        nt_json_end_object(&json);
    }
    nt_json_end_array(&json);
    nt_json_finish(&json);
}

static enum nt_status next_chunk(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
                                 struct nt_error *error)
{
    struct chunks *chunks = (struct chunks *)text;
    uint8_t start[NT_MINI_BLOCK_SIZES_BYTES];
    struct nt_mini_block_sizes sizes;
    const struct nt_lance_buffer *buffer = &chunks->buffer;
    *more_ret = chunks->next < chunks->count;
    if (!*more_ret)
        return NT_OK;
    NT_TRY(nt_lance_next_mini_block(chunks->tree, chunks->words, chunks->count, chunks->next, chunks->values,
                                    buffer->bytes, &chunks->chunk, error));
    size_t bytes = chunks->chunk.bytes < sizeof(start) ? (size_t)chunks->chunk.bytes : sizeof(start);
    NT_TRY(nt_source_read(chunks->source, buffer->offset + chunks->chunk.offset, start, bytes, error));
    struct nt_cursor cursor = nt_cursor(start, bytes);
    nt_mini_block_get_sizes(chunks->tree, &cursor, &sizes);
    if (cursor.failed)
        return nt_fail(error, NT_CORRUPT, buffer->offset + chunks->chunk.offset,
                       "chunk %" PRIu64 " of %" PRIu64 " bytes is too short for its sizes", chunks->next,
                       chunks->chunk.bytes);
    put_line(chunks, &sizes, out);
    chunks->next++;
    return NT_OK;
}

static void free_chunks(struct nt_text_generator *text)
{
    struct chunks *chunks = (struct chunks *)text;
    free(chunks->words);
    free(chunks);
}

/* Finds the chunks of a page, and the list of their sizes. */
static enum nt_status find_chunks(const struct nt_dataset *physical, uint32_t column,
                                  const struct nt_page *page, struct chunks *chunks,
                                  struct nt_lance_buffer *words_ret, struct nt_error *error)
{
    NT_LOCK_GUARD(&physical->logical->lock);
    struct nt_lance_physical_column physical_column;
    const struct nt_lance_page *of = nt_lance_file_page(physical, column, page, &physical_column);
    const struct nt_lance_decoder_state *state =
        nt_lance_decoder_state_of(nt_decoders_get(&physical->decoders, page->decoder));
    struct nt_proto member;
    if (!of || !state || nt_lance_page_layout_kind(of, &member) != NT_LANCE_LAYOUT_MINI_BLOCK)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "the page has no chunks");
    *words_ret = of->buffers[0];
    chunks->source = physical_column.lance->source;
    chunks->buffer = of->buffers[1];
    chunks->tree = state->tree;
    chunks->count = of->buffers[0].bytes / (state->tree->has_large_chunk ? 4 : 2);
    chunks->values = nt_proto_number(member, NT_LANCE_MINI_BLOCK_NUM_ITEMS);
    return NT_OK;
}

/* nt_page_file.open for a column of the physical dataset. */
static enum nt_status lance_chunks_open(struct nt_dataset *physical, uint32_t column,
                                        const struct nt_page *page, struct nt_text_generator **text_ret,
                                        struct nt_error *error)
{
    struct nt_lance_buffer words = {0, 0};
    struct chunks *chunks = calloc(1, sizeof(*chunks));
    NT_TRY(nt_check_memory(chunks, error));
    chunks->text =
        (struct nt_text_generator){.next = nt_text_next_lines, .next_line = next_chunk, .free = free_chunks};
    enum nt_status status = find_chunks(physical, column, page, chunks, &words, error);
    if (status == NT_OK && !(chunks->words = malloc(words.bytes ? words.bytes : 1)))
        status = nt_fail_memory(error);
    if (status == NT_OK && words.bytes)
        status = nt_source_read(chunks->source, words.offset, chunks->words, words.bytes, error);
    if (status == NT_OK)
        *text_ret = &chunks->text;
    else
        free_chunks(&chunks->text);
    return status;
}

/* ---- Files of a page ---- */

/* Names the contents of a page's buffer as in layout.jsonl. */
static const char *owner_of(const struct nt_lance_column *column, const struct nt_lance_page *page,
                            uint32_t buffer)
{
    enum { SIZES, CHUNKS };
    struct nt_proto member;
    uint32_t kind = nt_lance_page_layout_kind(page, &member);
    const char *values = column->is_blob || nt_lance_has_descriptors(page) ? "places of blobs" : "page";
    if (page->encoding_kind == NT_LANCE_ENCODING_IS_UNKNOWN)
        return "page buffer";
    if (kind == NT_LANCE_LAYOUT_FULL_ZIP)
        return buffer ? "repetition index" : values;
    if (kind != NT_LANCE_LAYOUT_MINI_BLOCK || buffer == CHUNKS)
        return values;
    if (buffer == SIZES)
        return "sizes of chunks";
    bool is_dictionary = buffer == CHUNKS + 1 && nt_proto_has(member, NT_LANCE_MINI_BLOCK_DICTIONARY);
    return is_dictionary ? "dictionary" : "repetition index";
}

static void put(struct nt_page_file *file, const char *suffix, enum nt_page_file_kind kind,
                uint32_t dependency)
{
    *file = (struct nt_page_file){.kind = kind, .dependency = dependency, .open = lance_chunks_open};
    snprintf(file->suffix, sizeof(file->suffix), "%s", suffix);
}

/* For strings, the first dependency is the ends of the dictionary's items. */
static uint32_t put_dictionary(const struct nt_column *column, struct nt_page_file *files)
{
    bool is_strings = nt_lance_content_of(column) == NT_LANCE_HAS_BYTES;
    put(&files[0], ".dictionary.bin", NT_PAGE_FILE_DEPENDENCY, is_strings);
    if (is_strings)
        put(&files[1], ".dictionary.ends.bin", NT_PAGE_FILE_DEPENDENCY, 0);
    return 1 + is_strings;
}

uint32_t nt_lance_page_files(const struct nt_dataset *physical, uint32_t column, const struct nt_page *page,
                             struct nt_page_file files[NT_PAGE_FILES])
{
    NT_LOCK_GUARD(&physical->logical->lock);
    enum { MAX_RANGES = 16 };
    const struct nt_column *info = &physical->columns[column];
    struct nt_lance_physical_column physical_column;
    const struct nt_lance_page *of = nt_lance_file_page(physical, column, page, &physical_column);
    struct nt_proto member;
    uint32_t count = 0;
    if (!of)
        return 0;
    for (; count < of->buffer_count && count < MAX_RANGES; count++) {
        files[count] = (struct nt_page_file){
            .kind = NT_PAGE_FILE_RANGE,
            .owner = owner_of(&physical_column.lance->columns[physical_column.column_map.column], of, count),
            .offset = of->buffers[count].offset,
            .bytes = of->buffers[count].bytes,
        };
        snprintf(files[count].suffix, sizeof(files[count].suffix), ".%u.raw", count);
    }
    if (nt_lance_page_layout_kind(of, &member) != NT_LANCE_LAYOUT_MINI_BLOCK ||
        nt_lance_content_of(info) == NT_LANCE_HAS_NOTHING)
        return count;
    put(&files[count++], ".chunks.jsonl", NT_PAGE_FILE_TEXT, 0);
    if (nt_proto_has(member, NT_LANCE_MINI_BLOCK_DICTIONARY))
        count += put_dictionary(info, &files[count]);
    return count;
}
