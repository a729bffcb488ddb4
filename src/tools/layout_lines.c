/* SPDX-License-Identifier: MIT
 *
 * layout.jsonl: a line per item; owners that share an item's bytes are named in its line.
 */
#include <stdlib.h>

#include "core/json/json.h"
#include "tools/layout.h"
#include "render/json_values.h"

enum { LINES_PER_PIECE = 256, OWNERS_NAMED = 16 };

struct lines {
    struct nt_long_text text;
    const struct nt_file *file;
    struct nt_layout *layout;
    struct nt_layout_item first; /* of the next line */
    bool has_first;
};

/* The items of a line: owners of the same bytes. */
struct line {
    struct nt_layout_item first, others[OWNERS_NAMED];
    uint64_t count; /* of the others */
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

static void write_others(struct nt_json *json, const struct nt_file *file, const struct line *line)
{
    if (!line->count)
        return;
    nt_json_member_unsigned(json, "owners", line->count + 1);
    nt_json_key(json, "shared_with");
    nt_json_array(json);
    for (uint64_t i = 0; i < line->count && i < OWNERS_NAMED; i++) {
        const struct nt_layout_item *item = &line->others[i];
        nt_json_object(json);
        nt_json_member_string(json, "owner", item->owner);
        write_owner(json, file, item);
        if (item->claimed_offset != line->first.offset || item->claimed_bytes != line->first.bytes) {
            nt_json_member_unsigned(
                json, "claimed_offset",
                nt_source_place(nt_layout_source(file, item->source), item->claimed_offset));
            nt_json_member_unsigned(json, "claimed_bytes", item->claimed_bytes);
        }
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
}

static void write_line(const struct nt_file *file, const struct line *line, struct nt_buffer *out)
{
    const struct nt_layout_item *item = &line->first;
    struct nt_json json;
    nt_json_line(&json, out);
    const struct nt_source *source = nt_layout_source(file, item->source);
    if (file->layout_sources)
        nt_json_member_place(&json, source, item->offset);
    else
        nt_json_member_unsigned(&json, "file_offset", item->offset);
    nt_json_member_unsigned(&json, "stored_bytes", item->bytes);
    nt_json_member_string(&json, "owner", item->owner);
    if (item->detail)
        nt_json_member_text(&json, "detail", nt_text_of(item->detail));
    write_owner(&json, file, item);
    if (item->claimed_offset != item->offset || item->claimed_bytes != item->bytes) {
        nt_json_member_unsigned(&json, "claimed_offset", nt_source_place(source, item->claimed_offset));
        nt_json_member_unsigned(&json, "claimed_bytes", item->claimed_bytes);
    }
    write_others(&json, file, line);
    nt_json_finish(&json);
}

/* Up to the first item of the next one. */
static enum nt_status read_line(struct lines *lines, struct line *line, struct nt_error *error)
{
    line->first = lines->first;
    line->count = 0;
    for (;;) {
        enum nt_status status = nt_layout_next(lines->layout, &lines->first, &lines->has_first, error);
        if (status != NT_OK || !lines->has_first || !lines->first.is_shared)
            return status;
        if (line->count < OWNERS_NAMED)
            line->others[line->count] = lines->first;
        line->count++;
    }
}

static enum nt_status next_lines(struct nt_long_text *text, struct nt_buffer *out, bool *more_ret,
                                 struct nt_error *error)
{
    struct lines *lines = (struct lines *)text;
    struct line line;
    for (unsigned i = 0; i < LINES_PER_PIECE && lines->has_first; i++) {
        enum nt_status status = read_line(lines, &line, error);
        if (status != NT_OK)
            return status;
        write_line(lines->file, &line, out);
    }
    *more_ret = lines->has_first;
    return out->failed ? nt_fail_memory(error) : NT_OK;
}

static void free_lines(struct nt_long_text *text)
{
    struct lines *lines = (struct lines *)text;
    nt_layout_free(lines->layout);
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
    enum nt_status status = nt_layout_new(file, &lines->layout, error);
    if (status == NT_OK)
        status = nt_layout_next(lines->layout, &lines->first, &lines->has_first, error);
    if (status != NT_OK) {
        free_lines(&lines->text);
        return status;
    }
    *text_ret = &lines->text;
    return NT_OK;
}
