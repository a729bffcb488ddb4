/* SPDX-License-Identifier: MIT
 *
 * In: the columns of an open Lance file. Out: metadata.json as a long text: of each column and page where its
 * buffers are and how it is encoded. A file may have many thousands of both: the document is written page by
 * page.
 */
#include "formats/lance/file/metadata_json.h"

#include <stdlib.h>

#include "formats/lance/file/details.h"

enum { PIECE_BYTES = 64 * 1024 };

struct metadata_text {
    struct nt_long_text base;
    const struct nt_lance *lance;
    struct nt_json json;
    bool is_started, is_in_column;
    uint32_t column, page; /* the next ones; while in a column, it is `column` */
};

static void write_start(struct metadata_text *text)
{
    const struct nt_lance *lance = text->lance;
    nt_json_document(&text->json, text->json.out, "lance");
    nt_json_member_string(&text->json, "version", lance->tail.version);
    nt_json_member_unsigned(&text->json, "entries", lance->rows);
    nt_json_key(&text->json, "columns");
    nt_json_array(&text->json);
    text->is_started = true;
}

static void start_column(struct metadata_text *text)
{
    const struct nt_lance_column *column = &text->lance->columns[text->column];
    struct nt_json *json = &text->json;
    nt_json_object(json);
    nt_json_member_unsigned(json, "column", text->column);
    nt_json_member_unsigned(json, "file_offset", column->metadata.offset);
    nt_json_member_unsigned(json, "stored_bytes", column->metadata.bytes);
    nt_json_member_unsigned(json, "rows", column->rows);
    if (column->failure)
        nt_json_member_string(json, "unreadable", column->failure->message);
    nt_lance_buffers_json(json, "buffers", column->buffers, column->buffer_count);
    nt_lance_message_json(json, column->type_url, column->encoding,
                          column->encoding.bytes ? NT_LANCE_ENCODING_IS_COLUMN
                                                 : NT_LANCE_ENCODING_IS_UNKNOWN);
    nt_json_key(json, "pages");
    nt_json_array(json);
    text->is_in_column = true;
    text->page = 0;
}

static void write_page(struct metadata_text *text)
{
    struct nt_json *json = &text->json;
    nt_json_object(json);
    nt_json_member_unsigned(json, "page", text->page);
    const struct nt_lance_page *page = &text->lance->columns[text->column].pages[text->page];
    nt_lance_buffers_json(json, "buffers", page->buffers, page->buffer_count);
    nt_lance_page_json(json, page);
    nt_json_end_object(json);
    text->page++;
}

static void finish_column(struct metadata_text *text)
{
    nt_json_end_array(&text->json);
    nt_json_end_object(&text->json);
    text->is_in_column = false;
    text->column++;
}

/* One item; false once the document is complete. */
static bool step(struct metadata_text *text)
{
    if (!text->is_started) {
        write_start(text);
    } else if (text->is_in_column) {
        if (text->page < text->lance->columns[text->column].page_count)
            write_page(text);
        else
            finish_column(text);
    } else if (text->column < text->lance->tail.columns) {
        start_column(text);
    } else {
        nt_json_end_array(&text->json);
        nt_json_finish(&text->json);
        return false;
    }
    return true;
}

static enum nt_status next(struct nt_long_text *base, struct nt_buffer *out, bool *more_ret,
                           struct nt_error *error)
{
    struct metadata_text *text = (struct metadata_text *)base;
    size_t end = out->length + PIECE_BYTES;
    text->json.out = out;
    do {
        *more_ret = step(text);
        if (out->failed)
            return nt_fail_memory(error);
    } while (*more_ret && out->length < end);
    return NT_OK;
}

static void free_text(struct nt_long_text *base)
{
    free(base);
}

static double share(const struct nt_long_text *base)
{
    const struct metadata_text *text = (const struct metadata_text *)base;
    return text->lance->tail.columns ? (double)text->column / text->lance->tail.columns : 1;
}

enum nt_status nt_lance_metadata_open(const struct nt_file *file, const struct nt_dataset *dataset,
                                      uint64_t number, struct nt_long_text **text_ret, struct nt_error *error)
{
    (void)file, (void)number;
    struct metadata_text *text = calloc(1, sizeof(*text));
    if (!text)
        return nt_fail_memory(error);
    text->base = (struct nt_long_text){.next = next, .free = free_text, .share = share};
    text->lance = nt_lance_of(dataset);
    *text_ret = &text->base;
    return NT_OK;
}
