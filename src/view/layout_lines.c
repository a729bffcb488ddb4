/* SPDX-License-Identifier: MIT
 *
 * layout.jsonl: a line per item; owners that share an item's bytes are named in its line.
 */
#include <stdlib.h>

#include "json/json.h"
#include "view/layout.h"
#include "view/json_values.h"

enum { LINES_PER_PIECE = 256, OWNERS_NAMED = 16 };

struct lines {
    struct nt_long_text text;
    const struct nt_file *file;
    struct nt_layout layout;
    size_t next;
};

static void write_owner(struct nt_json *json, const struct nt_file *file, const struct nt_layout_item *item)
{
    if (item->dataset == NT_NONE)
        return;
    const struct nt_dataset *dataset = file->datasets[item->dataset];
    nt_json_member_dataset(json, dataset);
    if (item->column == NT_NONE)
        return;
    nt_json_member_field_path(json, "field", dataset, dataset->stored->columns[item->column].field);
    nt_json_member_unsigned(json, "column", dataset->stored->columns[item->column].id);
    if (item->cluster != NT_NONE)
        nt_json_member_unsigned(json, "cluster", item->cluster);
    if (item->page != NT_NONE)
        nt_json_member_unsigned(json, "page", item->page);
}

static void write_others(struct nt_json *json, const struct lines *lines, size_t first, size_t end)
{
    if (first == end)
        return;
    nt_json_member_unsigned(json, "owners", end - first + 1);
    nt_json_key(json, "shared_with");
    nt_json_array(json);
    for (size_t i = first; i < end && i < first + OWNERS_NAMED; i++) {
        const struct nt_layout_item *item = &lines->layout.items[i];
        nt_json_object(json);
        nt_json_member_string(json, "owner", item->owner);
        write_owner(json, lines->file, item);
        if (item->claimed_offset != lines->layout.items[first - 1].offset ||
            item->claimed_bytes != lines->layout.items[first - 1].bytes) {
            nt_json_member_unsigned(
                json, "claimed_offset",
                nt_source_place(nt_layout_source(lines->file, item->source), item->claimed_offset));
            nt_json_member_unsigned(json, "claimed_bytes", item->claimed_bytes);
        }
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

static void write_line(struct lines *lines, struct nt_buffer *out)
{
    const struct nt_layout_item *item = &lines->layout.items[lines->next];
    size_t end = lines->next + 1;
    while (end < lines->layout.count && lines->layout.items[end].is_shared)
        end++;
    struct nt_json json;
    nt_json_line(&json, out);
    const struct nt_source *source = nt_layout_source(lines->file, item->source);
    if (lines->file->layout_sources)
        nt_json_member_place(&json, source, item->offset);
    else
        nt_json_member_unsigned(&json, "file_offset", item->offset);
    nt_json_member_unsigned(&json, "stored_bytes", item->bytes);
    nt_json_member_string(&json, "owner", item->owner);
    if (item->detail)
        nt_json_member_text(&json, "detail", nt_text_of(item->detail));
    write_owner(&json, lines->file, item);
    if (item->claimed_offset != item->offset || item->claimed_bytes != item->bytes) {
        nt_json_member_unsigned(&json, "claimed_offset", nt_source_place(source, item->claimed_offset));
        nt_json_member_unsigned(&json, "claimed_bytes", item->claimed_bytes);
    }
    write_others(&json, lines, lines->next + 1, end);
    nt_json_finish(&json);
    lines->next = end;
}

static enum nt_status next_lines(struct nt_long_text *text, struct nt_buffer *out, bool *more_ret,
                                 struct nt_error *error)
{
    struct lines *lines = (struct lines *)text;
    for (unsigned i = 0; i < LINES_PER_PIECE && lines->next < lines->layout.count; i++)
        write_line(lines, out);
    *more_ret = lines->next < lines->layout.count;
    return out->failed ? nt_fail_memory(error) : NT_OK;
}

static void free_lines(struct nt_long_text *text)
{
    struct lines *lines = (struct lines *)text;
    nt_layout_deinit(&lines->layout);
    free(lines);
}

enum nt_status nt_layout_lines(const struct nt_file *file, struct nt_long_text **text_ret,
                               struct nt_error *error)
{
    struct lines *lines = calloc(1, sizeof(*lines));
    if (!lines)
        return nt_fail_memory(error);
    lines->text = (struct nt_long_text){.next = next_lines, .free = free_lines};
    lines->file = file;
    enum nt_status status = nt_layout_init(&lines->layout, file, error);
    if (status != NT_OK) {
        free_lines(&lines->text);
        return status;
    }
    *text_ret = &lines->text;
    return NT_OK;
}
