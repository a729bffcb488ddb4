/* SPDX-License-Identifier: MIT
 *
 * Draws layout.svg, a strip map of the file. Merges ranges narrower than a pixel, so that the picture
 * has a bounded number of rectangles.
 */
#include "tools/tools.h"

#include <math.h>

enum {
    MARGIN = 24,
    MAP_WIDTH = 900,
    LEGEND_WIDTH = 420,
    LINE_HEIGHT = 13,
    LINE_GAP = 5,
    MAX_LINES = 40,
    HEADING_HEIGHT = 64,
    LEGEND_ENTRIES = 24,
    LEGEND_STEP = 20,
};

/* An owner in the legend: groups of top-level fields, then everything that is not a page. */
struct owner {
    char *name; /* from malloc */
    uint64_t bytes, packed_bytes;
    struct nt_colour colour; /* of a field: by its mean ratio */
    bool is_field;
};

/* Adjacent ranges that are too narrow to be drawn alone. */
struct narrow {
    double x, end;
    uint64_t bytes;
    unsigned count;
    struct nt_layout_item largest;
};

/* The boxes of all ranges, with details below `grain` pixels merged. */
struct map {
    unsigned grain;
    struct nt_buffer boxes;
    struct narrow narrow;
};

struct picture {
    struct nt_file *file;
    struct nt_layout *layout;
    const uint64_t *source_bytes;
    uint32_t source_count;
    struct owner *owners;
    struct nt_field_groups *groups; /* [dataset] */
    uint32_t *first_owner;          /* of each dataset's groups */
    uint32_t owner_count;
    uint32_t *by_size;   /* owners, largest first */
    uint64_t total;      /* bytes of all sources in sequence */
    uint64_t line_bytes; /* bytes per line */
    unsigned lines;
    size_t bytes;                   /* of the whole picture */
    struct map maps[NT_SVG_GRAINS]; /* finest first */
    unsigned first_map, end_map;    /* those before first_map are not needed, from end_map on not drawn */
    uint64_t fixed_bytes, taken;    /* memory of all but the boxes; what the file's budget pays for */
    enum nt_status status;
    struct nt_error *error;
};

static const struct other {
    const char *owner;
    struct nt_colour colour;
} others[] = {
    {"header", {0, 0, 20}},          {"footer", {0, 0, 28}}, {"page list", {0, 0, 36}},
    {"anchor", {0, 70, 40}},         {"key", {0, 0, 68}},    {"checksum", {0, 0, 80}},
    {"streamer info", {40, 25, 55}}, {"free", {0, 0, 92}},   {"gap", {0, 0, 96}},
    {"other", {215, 14, 50}},
};
enum { OTHERS = sizeof(others) / sizeof(*others) };

/* ---- Memory ---- */

/* Pays for the fixed memory and for boxes, in steps. */
static enum nt_status charge(struct picture *picture, uint64_t box_bytes)
{
    enum { STEP = 1 << 16 };
    uint64_t bytes = picture->fixed_bytes + (box_bytes + STEP - 1) / STEP * STEP;
    if (bytes <= picture->taken)
        return NT_OK;
    NT_TRY(nt_budget_take(&picture->file->budget, NT_COST_ENVELOPE_BYTE, bytes - picture->taken, NT_NO_OFFSET,
                          picture->error));
    picture->taken = bytes;
    return NT_OK;
}

/* The picture itself; for each field, a group and an owner with a name. */
static enum nt_status charge_fixed(struct picture *picture)
{
    enum { FIELD_BYTES = 256 };
    picture->fixed_bytes = picture->bytes;
    for (uint32_t i = 0; i < picture->file->dataset_count; i++)
        picture->fixed_bytes += (uint64_t)picture->file->datasets[i]->field_count * FIELD_BYTES;
    return charge(picture, 0);
}

/* ---- Owners ---- */

static enum nt_status add_groups(struct picture *picture, uint32_t dataset_index, struct nt_error *error)
{
    const struct nt_dataset *dataset = picture->file->datasets[dataset_index];
    const struct nt_field_groups *groups = &picture->groups[dataset_index];
    picture->first_owner[dataset_index] = picture->owner_count;
    for (uint32_t i = 0; i < groups->count; i++) {
        struct nt_buffer name = {0};
        if (picture->file->dataset_count > 1) {
            nt_append_dataset_path(&name, dataset);
            nt_buffer_append_string(&name, ": ");
        }
        nt_append_field_group(&name, &groups->items[i]);
        struct owner *owner = &picture->owners[picture->owner_count++];
        *owner = (struct owner){.name = nt_buffer_take(&name), .is_field = true};
        NT_TRY(nt_check_memory(owner->name, error));
    }
    return NT_OK;
}

static enum nt_status find_groups(struct picture *picture, size_t *count_ret, struct nt_error *error)
{
    const struct nt_file *file = picture->file;
    picture->groups = calloc((size_t)file->dataset_count + 1, sizeof(*picture->groups));
    NT_TRY(nt_check_memory(picture->groups, error));
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        NT_TRY(nt_field_groups_init(&picture->groups[i], file->datasets[i], error));
        *count_ret += picture->groups[i].count;
    }
    return NT_OK;
}

static enum nt_status make_owners(struct picture *picture, struct nt_error *error)
{
    const struct nt_file *file = picture->file;
    size_t count = 0;
    NT_TRY(find_groups(picture, &count, error));
    picture->owners = calloc(count + OTHERS, sizeof(*picture->owners));
    picture->first_owner = calloc((size_t)file->dataset_count + 1, sizeof(uint32_t));
    NT_TRY(nt_check_memory(picture->owners && picture->first_owner, error));
    for (uint32_t i = 0; i < file->dataset_count; i++)
        NT_TRY(add_groups(picture, i, error));
    for (uint32_t i = 0; i < OTHERS; i++) {
        char *name = strdup(others[i].owner);
        NT_TRY(nt_check_memory(name, error));
        picture->owners[picture->owner_count++] = (struct owner){name, 0, 0, others[i].colour, false};
    }
    return NT_OK;
}

static uint32_t find_owner(const struct picture *picture, const struct nt_layout_item *item)
{
    if (item->column != NT_NONE && !strcmp(item->owner, "page")) {
        const struct nt_dataset *dataset = picture->file->datasets[item->dataset];
        uint32_t field = dataset->physical->columns[item->column].field;
        return picture->first_owner[item->dataset] + picture->groups[item->dataset].of_field[field];
    }
    uint32_t first = picture->owner_count - OTHERS;
    for (uint32_t i = 0; i < OTHERS; i++)
        if (!strcmp(others[i].owner, item->owner))
            return first + i;
    return picture->owner_count - 1;
}

static int compare_owners(const void *left, const void *right, void *owners)
{
    const struct owner *a = (const struct owner *)owners + *(const uint32_t *)left;
    const struct owner *b = (const struct owner *)owners + *(const uint32_t *)right;
    return a->bytes < b->bytes ? 1 : a->bytes > b->bytes ? -1 : strcmp(a->name, b->name);
}

/* The next unshared item. False at the end or on failure, which sets `status`. */
static bool next_item(struct picture *picture, struct nt_layout_item *item)
{
    bool has_item = true;
    do
        picture->status = nt_layout_next(picture->layout, item, &has_item, picture->error);
    while (picture->status == NT_OK && has_item && item->is_shared);
    return picture->status == NT_OK && has_item;
}

static void sum_up(struct picture *picture, const struct nt_layout_item *item)
{
    struct owner *owner = &picture->owners[find_owner(picture, item)];
    owner->bytes += item->bytes;
    owner->packed_bytes += (uint64_t)(item->ratio * (double)item->bytes);
}

/* Finds the colours of the owners and their order in the legend. */
static enum nt_status order_owners(struct picture *picture, struct nt_error *error)
{
    picture->by_size = calloc((size_t)picture->owner_count + 1, sizeof(uint32_t));
    NT_TRY(nt_check_memory(picture->by_size, error));
    for (uint32_t i = 0; i < picture->owner_count; i++) {
        struct owner *owner = &picture->owners[i];
        picture->by_size[i] = i;
        if (owner->is_field && owner->bytes)
            owner->colour = nt_field_colour(i, (double)owner->packed_bytes / (double)owner->bytes);
    }
    qsort_r(picture->by_size, picture->owner_count, sizeof(uint32_t), compare_owners, picture->owners);
    return NT_OK;
}

/* ---- Drawing ---- */

static void describe(const struct picture *picture, const struct nt_layout_item *item,
                     struct nt_buffer *title)
{
    nt_buffer_append_string(title, item->owner);
    if (item->dataset != NT_NONE && item->column != NT_NONE) {
        const struct nt_dataset *dataset = picture->file->datasets[item->dataset];
        nt_buffer_append_format(title, " %" PRIu32 " of column %" PRIu32 " (%s), ", item->page,
                                dataset->physical->columns[item->column].id,
                                dataset->physical->columns[item->column].type_name);
        struct nt_buffer path = {0};
        uint32_t field = dataset->physical->columns[item->column].field;
        nt_append_field_path(&path, dataset, picture->groups[item->dataset].shown[field]);
        nt_svg_append_name(title, nt_buffer_string(&path), path.length);
        nt_buffer_deinit_part(&path, title);
        nt_buffer_append_format(title, ", cluster %" PRIu32, item->cluster);
    } else if (item->detail) {
        nt_buffer_append_byte(title, ' ');
        nt_svg_append_name(title, item->detail, strlen(item->detail));
    }
    nt_buffer_append_format(
        title, "\n%" PRIu64 " bytes at %" PRIu64, item->bytes,
        nt_source_local_offset(nt_layout_source(picture->file, item->source), item->offset));
    if (item->ratio > 0)
        nt_buffer_append_format(title, ", ratio %.2f", item->ratio);
}

/* Rounds to pixels so that neighbours touch. Draws nothing if the box covers no pixel. */
static void draw(struct nt_buffer *boxes, unsigned line, double x, double end, struct nt_colour colour,
                 const struct nt_buffer *title)
{
    struct nt_box box = {MARGIN + round(x), HEADING_HEIGHT + line * (LINE_HEIGHT + LINE_GAP),
                         round(end) - round(x), LINE_HEIGHT};
    if (box.width > 0)
        nt_svg_box(boxes, box, colour, title);
}

static struct nt_colour colour_of(const struct picture *picture, const struct nt_layout_item *item)
{
    uint32_t owner = find_owner(picture, item);
    if (picture->owners[owner].is_field)
        return nt_field_colour(owner, item->ratio);
    return picture->owners[owner].colour;
}

static void draw_narrow(const struct picture *picture, struct map *map, unsigned line)
{
    struct nt_buffer title = {0};
    struct narrow *narrow = &map->narrow;
    if (narrow->count == 0)
        return;
    if (narrow->count > 1) {
        nt_buffer_append_format(&title, "%u ranges, ", narrow->count);
        nt_append_bytes(&title, narrow->bytes);
        nt_buffer_append_string(&title, " together; the largest:\n");
    }
    describe(picture, &narrow->largest, &title);
    draw(&map->boxes, line, narrow->x, narrow->end, colour_of(picture, &narrow->largest), &title);
    nt_buffer_deinit_part(&title, &map->boxes);
    *narrow = (struct narrow){0};
}

static void add_narrow(const struct picture *picture, struct map *map, unsigned line, double x, double end,
                       const struct nt_layout_item *item)
{
    struct narrow *narrow = &map->narrow;
    if (narrow->count == 0) {
        narrow->x = x;
        narrow->largest = *item;
    }
    narrow->end = end;
    narrow->count++;
    narrow->bytes += item->bytes;
    if (item->bytes > narrow->largest.bytes)
        narrow->largest = *item;
    if (narrow->end - narrow->x >= map->grain)
        draw_narrow(picture, map, line);
}

static bool is_full(const struct picture *picture, const struct map *map)
{
    return map->boxes.length > picture->bytes;
}

/* Draws the part of an item that is in a line. Its box is the same in all maps, if it is wide enough. */
static void draw_part(struct picture *picture, unsigned line, double x, double end,
                      const struct nt_layout_item *item)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer box = {0}, title = {0};
    bool is_drawn = false;
    for (unsigned i = picture->first_map; i < picture->end_map; i++) {
        struct map *map = &picture->maps[i];
        if (is_full(picture, map))
            continue;
        if (end - x < map->grain) {
            add_narrow(picture, map, line, x, end, item);
            continue;
        }
        draw_narrow(picture, map, line);
        if (!is_drawn) {
            describe(picture, item, &title);
            draw(&box, line, x, end, colour_of(picture, item), &title);
            is_drawn = true;
        }
        nt_buffer_append(&map->boxes, box.bytes, box.length);
        map->boxes.failed |= box.failed || title.failed;
    }
}

static void end_line(struct picture *picture, unsigned line)
{
    for (unsigned i = picture->first_map; i < picture->end_map; i++)
        if (!is_full(picture, &picture->maps[i]))
            draw_narrow(picture, &picture->maps[i], line);
}

/* An item may span several lines. */
static void draw_item(struct picture *picture, const struct nt_layout_item *item, uint64_t start)
{
    for (uint64_t done = 0; done < item->bytes;) {
        uint64_t at = start + done, within = at % picture->line_bytes;
        uint64_t left = picture->line_bytes - within;
        uint64_t take = left < item->bytes - done ? left : item->bytes - done;
        unsigned line = (unsigned)(at / picture->line_bytes);
        double scale = (double)MAP_WIDTH / (double)picture->line_bytes;
        draw_part(picture, line, (double)within * scale, (double)(within + take) * scale, item);
        if (take == left)
            end_line(picture, line);
        done += take;
    }
}

/* A map that is longer than the picture is dropped. The coarsest stays, to show that nothing fits. */
static enum nt_status draw_in_maps(struct picture *picture, const struct nt_layout_item *item, uint64_t start)
{
    uint64_t box_bytes = 0;
    unsigned end = picture->end_map < NT_SVG_GRAINS ? picture->end_map : NT_SVG_GRAINS - 1;
    draw_item(picture, item, start);
    while (picture->first_map < end && is_full(picture, &picture->maps[picture->first_map]))
        nt_buffer_deinit(&picture->maps[picture->first_map++].boxes);
    for (unsigned i = picture->first_map; i < picture->end_map; i++)
        box_bytes += picture->maps[i].boxes.length;
    return charge(picture, box_bytes);
}

/* Draws the maps before `end_map` that are not drawn yet, and sums up the owners. Stops early if none of the
 * maps fits. */
static enum nt_status draw_maps(struct picture *picture, unsigned end_map)
{
    uint64_t source_start = 0, drawn = 0;
    uint32_t source = 0;
    struct nt_layout_item item;
    for (unsigned i = 0; i < NT_SVG_GRAINS; i++)
        picture->maps[i].grain = 1u << i;
    for (uint32_t i = 0; i < picture->owner_count; i++)
        picture->owners[i].bytes = picture->owners[i].packed_bytes = 0;
    if (picture->end_map)
        NT_TRY(nt_layout_rewind(picture->layout, picture->error));
    picture->first_map = picture->end_map;
    picture->end_map = end_map;
    while (picture->first_map < end_map && next_item(picture, &item)) {
        for (; source < item.source; source++, drawn = 0)
            source_start += picture->source_bytes[source];
        bool is_object_store = nt_layout_source(picture->file, source)->is_object_store;
        sum_up(picture, &item);
        NT_TRY(draw_in_maps(picture, &item, source_start + (is_object_store ? drawn : item.offset)));
        drawn += item.bytes;
    }
    for (unsigned i = picture->first_map; i < end_map && picture->lines; i++)
        draw_narrow(picture, &picture->maps[i], picture->lines - 1);
    return picture->status;
}

/* The finest map of most files fits. Where it costs much to visit all ranges again, one visit draws all maps:
 * a large file is read once for each of many windows. */
static enum nt_status draw_finest_maps(struct picture *picture)
{
    NT_TRY(draw_maps(picture, nt_layout_is_in_memory(picture->layout) ? 1 : NT_SVG_GRAINS));
    return picture->first_map < picture->end_map ? NT_OK : draw_maps(picture, NT_SVG_GRAINS);
}

static void draw_line_labels(const struct picture *picture, struct nt_buffer *out)
{
    for (unsigned line = 0; line < picture->lines; line += 4) {
        struct nt_buffer text = {0};
        nt_append_bytes(&text, line * picture->line_bytes);
        nt_svg_text(out, MARGIN + MAP_WIDTH + 6,
                    HEADING_HEIGHT + line * (LINE_HEIGHT + LINE_GAP) + LINE_HEIGHT - 3, "s", 0,
                    nt_buffer_string(&text));
        nt_buffer_deinit_part(&text, out);
    }
}

static void draw_legend(const struct picture *picture, struct nt_buffer *out)
{
    double x = MARGIN + MAP_WIDTH + 84, y = HEADING_HEIGHT + 10;
    uint64_t left_bytes = 0;
    uint32_t left = 0;
    for (uint32_t i = 0; i < picture->owner_count; i++) {
        const struct owner *owner = &picture->owners[picture->by_size[i]];
        if (owner->bytes == 0)
            break;
        if (i >= LEGEND_ENTRIES) {
            left++;
            left_bytes += owner->bytes;
            continue;
        }
        struct nt_buffer text = {0};
        nt_append_bytes(&text, owner->bytes);
        nt_buffer_append_format(&text, ", %.1f %%", 100.0 * (double)owner->bytes / (double)picture->total);
        if (owner->is_field && owner->bytes)
            nt_buffer_append_format(&text, ", ratio %.1f",
                                    (double)owner->packed_bytes / (double)owner->bytes);
        nt_svg_box(out, (struct nt_box){x, y - 10, 12, 12}, owner->colour, NULL);
        nt_svg_text(out, x + 18, y, "t", 250, owner->name);
        nt_svg_text(out, x + 272, y, "s", 0, nt_buffer_string(&text));
        nt_buffer_deinit_part(&text, out);
        y += LEGEND_STEP;
    }
    if (left) {
        struct nt_buffer text = {0};
        nt_buffer_append_format(&text, "and %" PRIu32 " more: ", left);
        nt_append_bytes(&text, left_bytes);
        nt_svg_text(out, x + 18, y, "t", 0, nt_buffer_string(&text));
        nt_buffer_deinit_part(&text, out);
    }
}

static void draw_heading(const struct picture *picture, struct nt_buffer *out)
{
    struct nt_text name = nt_path_name(picture->file->path);
    struct nt_buffer title = {0}, text = {0};
    nt_buffer_append(&title, name.bytes, name.length);
    nt_svg_text(out, MARGIN, 30, "h", MAP_WIDTH + LEGEND_WIDTH, nt_buffer_string(&title));
    nt_buffer_deinit_part(&title, out);
    nt_append_bytes(&text, picture->total);
    nt_buffer_append_string(&text, " in the order of the file, ");
    nt_append_bytes(&text, picture->line_bytes);
    nt_buffer_append_string(&text, " a line; deep colours compress well, light ones are stored as they are");
    nt_svg_text(out, MARGIN, 50, "t", 0, nt_buffer_string(&text));
    nt_buffer_deinit_part(&text, out);
}

static void draw_picture(void *context, unsigned grain, size_t bytes, struct nt_buffer *out)
{
    struct picture *picture = context;
    const struct map *map = picture->maps;
    struct nt_buffer title = {0};
    double height = HEADING_HEIGHT + MAX_LINES * (LINE_HEIGHT + LINE_GAP) + MARGIN;
    (void)bytes;
    if (grain > picture->maps[picture->end_map - 1].grain) /* the finest fits, but not with the rest */
        picture->status = draw_maps(picture, NT_SVG_GRAINS);
    while (map->grain < grain)
        map++;
    nt_svg_append_name(&title, picture->file->path, strlen(picture->file->path));
    nt_svg_begin(out, MARGIN + MAP_WIDTH + 84 + LEGEND_WIDTH + MARGIN, height, nt_buffer_string(&title));
    nt_buffer_deinit_part(&title, out);
    draw_heading(picture, out);
    nt_buffer_append(out, map->boxes.bytes, map->boxes.length);
    out->failed |= map->boxes.failed;
    draw_line_labels(picture, out);
    draw_legend(picture, out);
    nt_svg_end(out);
}

/* The sizes of objects are known after their last range. */
static enum nt_status measure_objects(struct picture *picture)
{
    struct nt_layout_item item;
    bool has_objects = false;
    for (uint32_t i = 0; i < picture->source_count; i++)
        has_objects |= nt_layout_source(picture->file, i)->is_object_store;
    while (has_objects && next_item(picture, &item))
        ;
    NT_TRY(picture->status);
    return has_objects ? nt_layout_rewind(picture->layout, picture->error) : NT_OK;
}

static enum nt_status measure_lines(struct picture *picture)
{
    picture->source_bytes = nt_layout_source_bytes(picture->layout, &picture->source_count);
    NT_TRY(measure_objects(picture));
    for (uint32_t i = 0; i < picture->source_count; i++)
        picture->total += picture->source_bytes[i];
    picture->line_bytes = picture->total / MAX_LINES + (picture->total % MAX_LINES != 0);
    if (picture->line_bytes == 0)
        picture->line_bytes = 1;
    picture->lines =
        (unsigned)(picture->total / picture->line_bytes + (picture->total % picture->line_bytes != 0));
    return NT_OK;
}

/* A page of a few bytes takes several hundred here. Files are not measured: each has 1 or 2 pages. */
uint64_t nt_layout_svg_bytes(const struct nt_file *file)
{
    enum { FRAME_BYTES = 20000, BYTES_PER_BYTE = 8, BYTES_PER_SOURCE = 500 };
    if (nt_layout_source(file, 0)->is_object_store) /* their number is unknown */
        return nt_svg_size(NT_SVG_MAX_BYTES);
    if (file->layout_sources && file->layout_source_count > 1)
        return nt_svg_size(FRAME_BYTES + (uint64_t)file->layout_source_count * BYTES_PER_SOURCE);
    uint64_t bytes = nt_layout_source(file, 0)->size;
    return nt_svg_size(bytes < NT_SVG_MAX_BYTES ? FRAME_BYTES + BYTES_PER_BYTE * bytes : NT_SVG_MAX_BYTES);
}

static void picture_deinit(struct picture *picture)
{
    for (unsigned i = 0; i < NT_SVG_GRAINS; i++)
        nt_buffer_deinit(&picture->maps[i].boxes);
    for (uint32_t i = 0; i < picture->owner_count; i++)
        free(picture->owners[i].name);
    for (uint32_t i = 0; picture->groups && i < picture->file->dataset_count; i++)
        nt_field_groups_deinit(&picture->groups[i]);
    free(picture->groups);
    free(picture->owners);
    free(picture->first_owner);
    free(picture->by_size);
    nt_layout_free(picture->layout);
    nt_budget_release(&picture->file->budget, NT_COST_ENVELOPE_BYTE, picture->taken);
}

enum nt_status nt_layout_svg(struct nt_file *file, struct nt_buffer *out, struct nt_error *error)
{
    NT_CLEANUP(picture_deinit)
    struct picture picture = {.file = file, .error = error, .bytes = nt_layout_svg_bytes(file)};
    NT_TRY(charge_fixed(&picture));
    NT_TRY(nt_layout_new(file, &picture.layout, error));
    NT_TRY(make_owners(&picture, error));
    NT_TRY(measure_lines(&picture));
    NT_TRY(draw_finest_maps(&picture));
    NT_TRY(order_owners(&picture, error));
    NT_TRY(
        nt_svg_fit(draw_picture, &picture, picture.maps[picture.first_map].grain, picture.bytes, out, error));
    return picture.status;
}
