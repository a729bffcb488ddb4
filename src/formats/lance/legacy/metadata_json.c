/* SPDX-License-Identifier: MIT
 *
 * In: the metadata of an open legacy file. Out: metadata.json as a long text, field by field: there may be many batches.
 */
#include "formats/lance/legacy/metadata_json.h"

#include <stdlib.h>

#include "formats/lance/file/details.h"
#include "formats/lance/legacy/messages.h"

struct metadata_text {
    struct nt_long_text base;
    const struct nt_lance *lance;
    struct nt_json json;
    bool is_started;
    uint32_t next; /* field */
};

static void write_start(struct metadata_text *text)
{
    const struct nt_lance *lance = text->lance;
    nt_json_document(&text->json, text->json.out, "lance_legacy");
    nt_json_member_string(&text->json, "version", lance->tail.version);
    nt_json_member_unsigned(&text->json, "entries", lance->rows);
    nt_lance_put_message(&text->json, lance->legacy->metadata, &nt_lance_metadata,
                         &lance->legacy->metadata_range);
    nt_json_key(&text->json, "columns");
    nt_json_array(&text->json);
    text->is_started = true;
}

static void write_field(struct metadata_text *text)
{
    struct nt_json *json = &text->json;
    const struct nt_lance_page_table *table = &text->lance->legacy->table;
    const struct nt_error *failure = text->lance->columns[text->next].failure;
    int32_t id = text->lance->schema.fields[text->next++].id;
    const struct nt_lance_cell *cells = nt_lance_cells(table, id);
    nt_json_object(json);
    nt_json_member_signed(json, "column", id);
    if (failure)
        nt_json_member_string(json, "unreadable", failure->message);
    nt_json_key(json, "pages");
    nt_json_array(json);
    for (uint32_t i = 0; i < table->batches; i++) {
        nt_json_object(json);
        nt_json_member_unsigned(json, "file_offset", cells[i].offset);
        nt_json_member_unsigned(json, "elements", cells[i].length);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
    nt_json_end_object(json);
}

static enum nt_status next(struct nt_long_text *base, struct nt_buffer *out, bool *more_ret,
                           struct nt_error *error)
{
    enum { PIECE_BYTES = 64 * 1024 };
    struct metadata_text *text = (struct metadata_text *)base;
    uint32_t count = text->lance->schema.field_count;
    size_t end = out->length + PIECE_BYTES;
    text->json.out = out;
    if (!text->is_started)
        write_start(text);
    while (text->next < count && out->length < end && !out->failed)
        write_field(text);
    *more_ret = text->next < count;
    if (!*more_ret) {
        nt_json_end_array(&text->json);
        nt_json_finish(&text->json);
    }
    return out->failed ? nt_fail_memory(error) : NT_OK;
}

static void free_text(struct nt_long_text *base)
{
    free(base);
}

enum nt_status nt_lance_legacy_metadata_open(const struct nt_file *file, const struct nt_dataset *dataset,
                                             uint64_t number, struct nt_long_text **text_ret,
                                             struct nt_error *error)
{
    (void)file, (void)number;
    struct metadata_text *text = calloc(1, sizeof(*text));
    if (!text)
        return nt_fail_memory(error);
    text->base = (struct nt_long_text){.next = next, .free = free_text};
    text->lance = nt_lance_of(dataset);
    *text_ret = &text->base;
    return NT_OK;
}

enum nt_status nt_lance_legacy_metadata_is_short(const struct nt_file *file, const struct nt_dataset *dataset,
                                                 uint64_t number, bool *is_short_ret, struct nt_error *error)
{
    enum { MOST_CELLS = 4096, MOST_BYTES = 64 << 10 };
    (void)file, (void)number, (void)error;
    const struct nt_lance_legacy *legacy = nt_lance_of(dataset)->legacy;
    *is_short_ret = (uint64_t)legacy->table.fields * legacy->table.batches <= MOST_CELLS &&
                    legacy->metadata.size <= MOST_BYTES;
    return NT_OK;
}
