/* SPDX-License-Identifier: MIT
 *
 * The layout of a file: every byte range in order with its owners, without holes or overlaps. Sorts the
 * ranges window by window in bounded memory. layout.jsonl has one line for each.
 */
#include "tools/tools.h"

#include <ntuple/source.h>

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/hash_table.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "render/render.h"

/* ---- Sort ranges into items ---- */

enum { WINDOW_CLAIMS = 1 << 16, MAX_WINDOWS = 64, SAMPLES = 64 * MAX_WINDOWS, PENDING = 2 };

struct claims {
    struct nt_layout_item *items;
    size_t count, capacity;
};

struct nt_layout {
    const struct nt_file *file;
    struct nt_layout_claims all;
    uint64_t *source_bytes;
    uint32_t source_count;
    struct nt_layout_item borders[MAX_WINDOWS]; /* the first claim of each window, except of window 0 */
    uint32_t window_count;
    /* Position: */
    uint32_t window; /* the next one */
    struct claims claims;
    size_t next; /* of the claims */
    uint32_t source;
    uint64_t at;      /* the first byte of the source not yet covered by an item */
    uint64_t covered; /* bytes of the source's items */
    struct nt_layout_item pending[PENDING], last;
    unsigned pending_count;
    bool has_last;
};

/* ---- Order of claims ---- */

static int compare_claims(const void *left, const void *right)
{
    const struct nt_layout_item *a = left, *b = right;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1; /* larger first: claims inside it are shared */
    if (a->dataset != b->dataset)
        return a->dataset < b->dataset ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return a->page < b->page ? -1 : a->page > b->page;
}

static enum nt_status add_claim(struct claims *claims, const struct nt_layout_item *item)
{
    struct nt_layout_item *items = nt_grow(claims->items, claims->count, &claims->capacity, sizeof(*items));
    if (!items)
        return NT_NO_MEMORY;
    claims->items = items;
    items[claims->count++] = *item;
    return NT_OK;
}

/* ---- Windows ---- */

/* A uniform random sample of the claims (reservoir sampling), and all claims while they are few. */
struct sampling {
    struct claims *claims, samples;
    uint64_t seen, state;
};

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static enum nt_status take_sample(void *context, const struct nt_layout_item *claim)
{
    struct sampling *sampling = context;
    uint64_t seen = sampling->seen++, position;
    enum nt_status status = NT_OK;
    if (seen < WINDOW_CLAIMS)
        status = add_claim(sampling->claims, claim);
    if (status != NT_OK)
        return status;
    if (seen < SAMPLES)
        return add_claim(&sampling->samples, claim);
    position = draw(&sampling->state) % (seen + 1);
    if (position < SAMPLES)
        sampling->samples.items[position] = *claim;
    return NT_OK;
}

/* If there is only one window, this also reads it. */
static enum nt_status find_windows(struct nt_layout *layout, struct nt_error *error)
{
    static const struct nt_layout_window everything = {0, UINT32_MAX, 0, UINT64_MAX};
    struct sampling sampling = {.claims = &layout->claims, .state = nt_hash_seed() | 1};
    enum nt_status status = nt_layout_claims_visit(&layout->all, &everything, take_sample, &sampling, error);
    struct claims *samples = &sampling.samples;
    uint64_t windows = (sampling.seen + WINDOW_CLAIMS - 1) / WINDOW_CLAIMS;
    layout->window_count = windows > MAX_WINDOWS ? MAX_WINDOWS : windows ? (uint32_t)windows : 1;
    if (status == NT_OK && windows > 1) {
        layout->claims.count = 0;
        qsort(samples->items, samples->count, sizeof(*samples->items), compare_claims);
        for (uint32_t i = 1; i < layout->window_count; i++)
            layout->borders[i] = samples->items[samples->count * i / layout->window_count];
    } else if (status == NT_OK && layout->claims.count) {
        qsort(layout->claims.items, layout->claims.count, sizeof(*layout->claims.items), compare_claims);
        layout->window = 1;
    }
    free(samples->items);
    return status;
}

/* Selects claims between two borders; NULL: unbounded. */
struct filter {
    struct claims *claims;
    const struct nt_layout_item *first, *end;
};

static enum nt_status take_requested(void *context, const struct nt_layout_item *claim)
{
    const struct filter *filter = context;
    bool is_requested = (!filter->first || compare_claims(claim, filter->first) >= 0) &&
                        (!filter->end || compare_claims(claim, filter->end) < 0);
    return is_requested ? add_claim(filter->claims, claim) : NT_OK;
}

static enum nt_status read_window(struct nt_layout *layout, struct nt_error *error)
{
    uint32_t number = layout->window++;
    const struct filter filter = {
        .claims = &layout->claims,
        .first = number ? &layout->borders[number] : NULL,
        .end = number + 1 < layout->window_count ? &layout->borders[number + 1] : NULL,
    };
    const struct nt_layout_window window = {.first_source = filter.first ? filter.first->source : 0,
                                            .first_offset = filter.first ? filter.first->offset : 0,
                                            .last_source = filter.end ? filter.end->source : UINT32_MAX,
                                            .last_offset = filter.end ? filter.end->offset : UINT64_MAX};
    layout->claims.count = layout->next = 0;
    enum nt_status status =
        nt_layout_claims_visit(&layout->all, &window, take_requested, (void *)(uintptr_t)&filter, error);
    if (status == NT_OK && layout->claims.count)
        qsort(layout->claims.items, layout->claims.count, sizeof(*layout->claims.items), compare_claims);
    return status;
}

/* ---- From claims to items ---- */

static void add_item(struct nt_layout *layout, const struct nt_layout_item *item)
{
    layout->pending[layout->pending_count++] = *item;
}

static void add_gap(struct nt_layout *layout, uint64_t to)
{
    const struct nt_layout_item gap = {.offset = layout->at,
                                       .bytes = to - layout->at,
                                       .claimed_offset = layout->at,
                                       .claimed_bytes = to - layout->at,
                                       .source = layout->source,
                                       .dataset = NT_NONE,
                                       .column = NT_NONE,
                                       .cluster = NT_NONE,
                                       .page = NT_NONE,
                                       .owner = "gap"};
    if (layout->at < to)
        add_item(layout, &gap);
}

static bool is_of_objects(const struct nt_layout *layout)
{
    return nt_layout_source(layout->file, layout->source)->is_of_objects;
}

/* Only claims of objects are known: no gaps, and the size of an object is that of its claims. */
static void insert_claim(struct nt_layout *layout, const struct nt_layout_item *claim)
{
    struct nt_layout_item item = *claim;
    bool has_gaps = !is_of_objects(layout);
    uint64_t size = has_gaps ? layout->source_bytes[layout->source] : UINT64_MAX;
    if (!has_gaps && claim->offset > layout->at)
        layout->at = claim->offset;
    if (item.offset >= size)
        return; /* past the end: reading reports it */
    if (item.bytes > size - item.offset)
        item.bytes = size - item.offset;
    uint64_t end = item.offset + item.bytes;
    if (item.offset >= layout->at) {
        add_gap(layout, item.offset);
    } else if (end <= layout->at) {
        item.is_shared = true;
    } else {
        item.offset = layout->at;
        item.bytes = end - layout->at;
    }
    add_item(layout, &item);
    if (item.is_shared)
        return;
    layout->at = end;
    layout->covered += item.bytes;
}

/* Many pages share a dependency: it is one claim. */
static bool is_reported(const struct nt_layout *layout, const struct nt_layout_item *claim)
{
    const struct nt_layout_item *last = layout->has_last ? &layout->last : NULL;
    return last && claim->column == NT_NONE && last->column == NT_NONE && claim->dataset == last->dataset &&
           claim->dataset != NT_NONE && claim->source == last->source && claim->owner == last->owner &&
           claim->offset == last->claimed_offset && claim->bytes == last->claimed_bytes;
}

static void end_source(struct nt_layout *layout)
{
    if (is_of_objects(layout))
        layout->source_bytes[layout->source] = layout->covered;
    else
        add_gap(layout, layout->source_bytes[layout->source]);
    layout->source++;
    layout->at = layout->covered = 0;
}

/* Continues with the next claim, or with the rest of the source after the last one. */
static void resume_at(struct nt_layout *layout)
{
    bool has_claim = layout->next < layout->claims.count;
    const struct nt_layout_item *claim = has_claim ? &layout->claims.items[layout->next] : NULL;
    if (!claim || claim->source != layout->source) {
        end_source(layout);
        return;
    }
    layout->next++;
    if (!is_reported(layout, claim))
        insert_claim(layout, claim);
}

enum nt_status nt_layout_next(struct nt_layout *layout, struct nt_layout_item *item_ret, bool *has_ret,
                              struct nt_error *error)
{
    while (!layout->pending_count && layout->source < layout->source_count) {
        enum nt_status status = NT_OK;
        if (layout->next == layout->claims.count && layout->window < layout->window_count)
            status = read_window(layout, error);
        else
            resume_at(layout);
        if (status != NT_OK)
            return status;
    }
    *has_ret = layout->pending_count;
    if (!*has_ret)
        return NT_OK;
    *item_ret = layout->last = layout->pending[0];
    layout->has_last = true;
    layout->pending[0] = layout->pending[1];
    layout->pending_count--;
    return NT_OK;
}

void nt_layout_rewind(struct nt_layout *layout)
{
    if (layout->window_count > 1) {
        layout->window = 0;
        layout->claims.count = 0;
    }
    layout->next = layout->pending_count = layout->source = 0;
    layout->at = layout->covered = 0;
    layout->has_last = false;
}

/* ---- Sources ---- */

struct nt_source *nt_layout_source(const struct nt_file *file, uint32_t source)
{
    return file->layout_sources ? file->layout_sources[source] : file->source;
}

const uint64_t *nt_layout_source_bytes(const struct nt_layout *layout, uint32_t *count_ret)
{
    *count_ret = layout->source_count;
    return layout->source_bytes;
}

/* Size 0 for a file that is missing or cannot be a source. */
static enum nt_status measure_sources(struct nt_layout *layout, struct nt_error *error)
{
    const struct nt_file *file = layout->file;
    layout->source_count = file->layout_sources ? file->layout_source_count : 1;
    layout->source_bytes = calloc((size_t)layout->source_count + 1, sizeof(*layout->source_bytes));
    if (!layout->source_bytes)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < layout->source_count; i++) {
        enum nt_status status = nt_file_layout_size(file, i, &layout->source_bytes[i], error);
        if (nt_is_environmental(status))
            return status;
        if (status != NT_OK)
            layout->source_bytes[i] = 0;
    }
    return NT_OK;
}

/* ---- Create and free ---- */

enum nt_status nt_layout_new(const struct nt_file *file, struct nt_layout **layout_ret,
                             struct nt_error *error)
{
    struct nt_layout *layout = calloc(1, sizeof(*layout));
    if (!layout)
        return nt_fail_memory(error);
    layout->file = file;
    enum nt_status status = measure_sources(layout, error);
    if (status == NT_OK)
        status = nt_layout_claims_init(&layout->all, file, error);
    if (status == NT_OK)
        status = find_windows(layout, error);
    if (status == NT_OK)
        *layout_ret = layout;
    else
        nt_layout_free(layout);
    return status;
}

void nt_layout_free(struct nt_layout *layout)
{
    if (!layout)
        return;
    nt_layout_claims_deinit(&layout->all);
    free(layout->claims.items);
    free(layout->source_bytes);
    free(layout);
}

/* ---- layout.jsonl ---- */

enum { LINES_PER_PIECE = 256, OWNERS_NAMED = 16 };

struct lines {
    struct nt_text_generator text;
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
    nt_json_member_field_path(json, "field", dataset, dataset->physical->columns[item->column].field);
    nt_json_member_unsigned(json, "column", dataset->physical->columns[item->column].id);
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
    nt_json_member_array(json, "shared_with");
    for (uint64_t i = 0; i < line->count && i < OWNERS_NAMED; i++) {
        const struct nt_layout_item *item = &line->others[i];
        nt_json_object(json);
        nt_json_member_string(json, "owner", item->owner);
        write_owner(json, file, item);
        if (item->claimed_offset != line->first.offset || item->claimed_bytes != line->first.bytes) {
            nt_json_member_unsigned(
                json, "claimed_offset",
                nt_source_local_offset(nt_layout_source(file, item->source), item->claimed_offset));
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
        nt_json_member_location(&json, source, item->offset);
    else
        nt_json_member_unsigned(&json, "file_offset", item->offset);
    nt_json_member_unsigned(&json, "stored_bytes", item->bytes);
    nt_json_member_string(&json, "owner", item->owner);
    if (item->detail)
        nt_json_member_text(&json, "detail", nt_text_of(item->detail));
    write_owner(&json, file, item);
    if (item->claimed_offset != item->offset || item->claimed_bytes != item->bytes) {
        nt_json_member_unsigned(&json, "claimed_offset",
                                nt_source_local_offset(source, item->claimed_offset));
        nt_json_member_unsigned(&json, "claimed_bytes", item->claimed_bytes);
    }
    write_others(&json, file, line);
    nt_json_finish(&json);
}

/* Reads up to the first item of the next line. */
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

static enum nt_status next_lines(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
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

static void free_lines(struct nt_text_generator *text)
{
    struct lines *lines = (struct lines *)text;
    nt_layout_free(lines->layout);
    free(lines);
}

enum nt_status nt_layout_lines(const struct nt_file *file, struct nt_text_generator **text_ret,
                               struct nt_error *error)
{
    struct lines *lines = calloc(1, sizeof(*lines));
    if (!lines)
        return nt_fail_memory(error);
    lines->text = (struct nt_text_generator){.next = next_lines, .free = free_lines};
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
