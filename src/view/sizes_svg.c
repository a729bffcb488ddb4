/* SPDX-License-Identifier: MIT
 *
 * A squarified treemap: a field's box is divided among its own columns and its sub-fields by their stored
 * bytes, in strips that are filled as long as that makes their boxes more square.
 */
#include "view/pictures.h"

#include <inttypes.h>
#include <stdlib.h>

#include "model/path.h"
#include "view/column_sums.h"
#include "view/field_groups.h"
#include "view/stored_once.h"
#include "view/svg.h"

enum { WIDTH = 1200, HEIGHT = 760, MARGIN = 20, HEADING = 60, LABEL_HEIGHT = 15 };

struct part {
    uint64_t stored, packed;
    uint32_t field;                     /* of a group: its first */
    bool is_own;                        /* the field's own columns, not a sub-field */
    const struct nt_field_group *group; /* of several fields, or NULL */
};

struct treemap {
    const struct nt_dataset *dataset;
    struct part *sums; /* [field]: with all sub-fields */
    struct part *own;  /* [field]: its own columns */
    struct nt_field_groups groups;
    uint64_t total, once; /* once: pages that several columns share counted once */
    /* Of one drawing: */
    unsigned grain;
    size_t bytes;
    struct nt_buffer *out;
};

/* ---- sums ---- */

static enum nt_status count_once(struct treemap *treemap, uint64_t pages, struct nt_error *error)
{
    uint32_t count = treemap->dataset->column_count;
    uint32_t *columns = calloc((size_t)count + 1, sizeof(*columns));
    if (!columns)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < count; i++)
        columns[i] = i;
    enum nt_status status = nt_stored_once(treemap->dataset, columns, count, pages, &treemap->once, error);
    free(columns);
    return status;
}

/* Fields are summed up into their parents by walking up from each column's field. */
static enum nt_status sum_up(struct treemap *treemap, struct nt_dataset *dataset, struct nt_error *error)
{
    uint64_t pages = 0;
    for (uint32_t c = 0; c < dataset->column_count; c++) {
        struct nt_column_sums sums;
        uint32_t field = dataset->columns[c].field;
        enum nt_status status = nt_column_sums(dataset, c, &sums, error);
        if (status != NT_OK)
            return status;
        treemap->own[field].stored += sums.stored_bytes;
        treemap->own[field].packed += sums.packed_bytes;
        treemap->total += sums.stored_bytes;
        pages += sums.pages;
        for (uint32_t at = field; at != NT_NONE; at = dataset->fields[at].parent) {
            treemap->sums[at].stored += sums.stored_bytes;
            treemap->sums[at].packed += sums.packed_bytes;
        }
    }
    return count_once(treemap, pages, error);
}

/* ---- squarifying ---- */

static double worst_aspect(double shortest, double strip, double smallest, double largest)
{
    double side = strip / shortest;
    double a = largest / side / side, b = side * side / smallest;
    return a > b ? a : b;
}

/* How many of the parts (areas, descending) the next strip takes along the shorter side. */
static size_t strip_length(const double *areas, size_t count, double shortest)
{
    double strip = areas[0], worst = worst_aspect(shortest, strip, areas[0], areas[0]);
    size_t length = 1;
    for (; length < count && areas[length] > 0; length++) {
        double next = worst_aspect(shortest, strip + areas[length], areas[length], areas[0]);
        if (next > worst)
            break;
        worst = next;
        strip += areas[length];
    }
    return length;
}

static void place_strip(const double *areas, size_t length, struct nt_box *free_box, struct nt_box *boxes)
{
    double strip = 0, at = 0;
    for (size_t i = 0; i < length; i++)
        strip += areas[i];
    bool is_column = free_box->width >= free_box->height;
    double side = strip / (is_column ? free_box->height : free_box->width);
    for (size_t i = 0; i < length; i++) {
        double along = side > 0 ? areas[i] / side : 0;
        boxes[i] = is_column ? (struct nt_box){free_box->x, free_box->y + at, side, along}
                             : (struct nt_box){free_box->x + at, free_box->y, along, side};
        at += along;
    }
    if (is_column) {
        free_box->x += side;
        free_box->width -= side;
    } else {
        free_box->y += side;
        free_box->height -= side;
    }
}

/* ---- drawing ---- */

static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    if (a->stored != b->stored)
        return a->stored < b->stored ? 1 : -1;
    return a->field < b->field ? -1 : a->field > b->field;
}

static double ratio_of(const struct part *part)
{
    return part->stored ? (double)part->packed / (double)part->stored : 0;
}

static void append_part(struct nt_buffer *out, const struct treemap *treemap, const struct part *part)
{
    if (part->group)
        nt_append_field_group(out, part->group);
    else
        nt_append_field_path(out, treemap->dataset, part->field, '/');
}

static void append_title(struct nt_buffer *title, const struct treemap *treemap, const struct part *part,
                         const struct nt_buffer *label)
{
    const struct nt_text *type = &treemap->dataset->fields[part->field].type;
    nt_svg_append_name(title, label->bytes, label->length);
    nt_buffer_text(title, "\n");
    nt_append_bytes(title, part->stored);
    nt_buffer_format(title, " stored, %.1f %% of the data set, ratio %.2f",
                     100.0 * (double)part->stored / (double)treemap->total, ratio_of(part));
    if (part->group)
        return;
    nt_buffer_text(title, "\n");
    nt_svg_append_name(title, type->bytes, type->length);
}

static struct nt_box without_gap(struct nt_box box)
{
    box.width -= box.width > 2 ? 1 : 0;
    box.height -= box.height > 2 ? 1 : 0;
    return box;
}

static struct nt_colour colour_of(const struct treemap *treemap, const struct part *part)
{
    return nt_field_colour(treemap->groups.of_field[part->field], ratio_of(part));
}

static void draw_leaf(struct treemap *treemap, const struct part *part, struct nt_box box)
{
    struct nt_buffer title = {0}, label = {0};
    append_part(&label, treemap, part);
    append_title(&title, treemap, part, &label);
    box = without_gap(box);
    nt_svg_box(treemap->out, box, colour_of(treemap, part), &title);
    if (box.height >= LABEL_HEIGHT && box.width > 40)
        nt_svg_text(treemap->out, box.x + 4, box.y + 12, "l", box.width - 8, nt_buffer_string(&label));
    if (box.height >= 2 * LABEL_HEIGHT && box.width > 60) {
        struct nt_buffer size = {0};
        nt_append_bytes(&size, part->stored);
        nt_svg_text(treemap->out, box.x + 4, box.y + 25, "l", box.width - 8, nt_buffer_string(&size));
        nt_buffer_deinit_part(&size, treemap->out);
    }
    nt_buffer_deinit_part(&title, treemap->out);
    nt_buffer_deinit_part(&label, treemap->out);
}

/* A group has its name above its members where there is room for it. Returns the members' box. */
static struct nt_box draw_group(struct treemap *treemap, const struct part *part, struct nt_box box)
{
    enum { LEAST_HEIGHT = 3 * LABEL_HEIGHT, LEAST_WIDTH = 60, FRAME = 2 };
    struct nt_buffer title = {0}, label = {0};
    struct nt_colour colour = colour_of(treemap, part);
    if (box.height < LEAST_HEIGHT || box.width < LEAST_WIDTH)
        return box;
    append_part(&label, treemap, part);
    append_title(&title, treemap, part, &label);
    nt_buffer_text(&label, ", ");
    nt_append_bytes(&label, part->stored);
    colour.lightness = 92;
    nt_svg_box(treemap->out, without_gap(box), colour, &title);
    nt_svg_text(treemap->out, box.x + 4, box.y + 12, "l", box.width - 8, nt_buffer_string(&label));
    nt_buffer_deinit_part(&title, treemap->out);
    nt_buffer_deinit_part(&label, treemap->out);
    return (struct nt_box){box.x + FRAME, box.y + LABEL_HEIGHT + FRAME, box.width - 2 * FRAME,
                           box.height - LABEL_HEIGHT - 2 * FRAME};
}

static void draw_parts(struct treemap *treemap, const struct part *whole, struct nt_box box);

/* What has no room of its own is left out, or drawn as one with what is below it. */
static void draw_part(struct treemap *treemap, const struct part *part, struct nt_box box)
{
    uint32_t count;
    unsigned grain = treemap->grain, least = 3 * grain;
    if (treemap->out->length > treemap->bytes || (grain > 1 && box.width * box.height < grain * grain))
        return;
    nt_dataset_children(treemap->dataset, part->field, &count);
    bool is_leaf = !part->group && (part->is_own || count == 0);
    if (is_leaf || box.width < least || box.height < least)
        draw_leaf(treemap, part, box);
    else
        draw_parts(treemap, part, part->group ? draw_group(treemap, part, box) : box);
}

static void add_field(const struct treemap *treemap, uint32_t field, struct part *parts, size_t *count)
{
    if (treemap->sums[field].stored == 0)
        return;
    parts[*count] = treemap->sums[field];
    parts[(*count)++].field = field;
}

static void add_group(const struct treemap *treemap, const struct nt_field_group *group, struct part *parts,
                      size_t *count)
{
    const uint32_t *members = treemap->groups.members + group->first;
    struct part part = {.field = members[0], .group = group->count > 1 ? group : NULL};
    for (uint32_t i = 0; i < group->count; i++) {
        part.stored += treemap->sums[members[i]].stored;
        part.packed += treemap->sums[members[i]].packed;
    }
    if (part.stored)
        parts[(*count)++] = part;
}

/* The parts of a group, a field or (NULL) the data set that store anything: one more than the fields at most. */
static size_t collect_parts(const struct treemap *treemap, const struct part *whole, struct part *parts)
{
    size_t used = 0;
    if (!whole) {
        for (uint32_t i = 0; i < treemap->groups.count; i++)
            add_group(treemap, &treemap->groups.items[i], parts, &used);
        return used;
    }
    uint32_t count;
    const uint32_t *fields = nt_dataset_children(treemap->dataset, whole->field, &count);
    if (whole->group) {
        fields = treemap->groups.members + whole->group->first;
        count = whole->group->count;
    }
    for (uint32_t i = 0; i < count; i++)
        add_field(treemap, fields[i], parts, &used);
    if (!whole->group && treemap->own[whole->field].stored) {
        parts[used] = treemap->own[whole->field];
        parts[used].field = whole->field;
        parts[used++].is_own = true;
    }
    return used;
}

static size_t most_parts(const struct treemap *treemap, const struct part *whole)
{
    uint32_t children;
    if (whole && whole->group)
        return whole->group->count;
    nt_dataset_children(treemap->dataset, whole ? whole->field : NT_NONE, &children);
    return (size_t)children + 1;
}

static void place_parts(const struct part *parts, size_t count, double *areas, struct nt_box box,
                        struct nt_box *boxes)
{
    uint64_t stored = 0;
    for (size_t i = 0; i < count; i++)
        stored += parts[i].stored;
    for (size_t i = 0; i < count; i++)
        areas[i] = box.width * box.height * (double)parts[i].stored / (double)stored;
    for (size_t first = 0, length; first < count; first += length) {
        double shortest = box.width < box.height ? box.width : box.height;
        length = shortest > 0 ? strip_length(areas + first, count - first, shortest) : count - first;
        place_strip(areas + first, length, &box, boxes + first);
    }
}

/* As deep as the schema and its groups: NT_MAX_DEPTH + 1 at most. */
static void draw_parts(struct treemap *treemap, const struct part *whole, struct nt_box box)
{
    size_t most = most_parts(treemap, whole);
    struct part *parts = calloc(most, sizeof(*parts));
    double *areas = calloc(most, sizeof(*areas));
    struct nt_box *boxes = calloc(most, sizeof(*boxes));
    if (parts && areas && boxes) {
        size_t count = collect_parts(treemap, whole, parts);
        qsort(parts, count, sizeof(*parts), compare_parts);
        place_parts(parts, count, areas, box, boxes);
        for (size_t i = 0; i < count; i++)
            draw_part(treemap, &parts[i], boxes[i]);
    } else {
        treemap->out->failed = true;
    }
    free(parts);
    free(areas);
    free(boxes);
}

static void draw_heading(struct treemap *treemap)
{
    const struct nt_dataset *dataset = treemap->dataset;
    struct nt_buffer name = {0}, text = {0};
    nt_buffer_append(&name, dataset->name.bytes, dataset->name.length);
    nt_svg_text(treemap->out, MARGIN, 28, "h", WIDTH, nt_buffer_string(&name));
    nt_buffer_deinit_part(&name, treemap->out);
    nt_append_bytes(&text, treemap->total);
    nt_buffer_format(&text, " stored in %" PRIu32 " columns", dataset->column_count);
    if (treemap->once < treemap->total) {
        nt_buffer_text(&text, ", ");
        nt_append_bytes(&text, treemap->once);
        nt_buffer_text(&text, " with shared pages once");
    }
    nt_buffer_text(&text,
                   "; areas are stored bytes, deep colours compress well, light ones are stored as they are");
    nt_svg_text(treemap->out, MARGIN, 48, "t", 0, nt_buffer_string(&text));
    nt_buffer_deinit_part(&text, treemap->out);
}

static void draw_treemap(void *context, unsigned grain, size_t bytes, struct nt_buffer *out)
{
    struct treemap *treemap = context;
    treemap->grain = grain;
    treemap->bytes = bytes;
    treemap->out = out;
    nt_svg_begin(out, WIDTH + 2 * MARGIN, HEIGHT + HEADING + MARGIN, "Stored bytes by field");
    draw_heading(treemap);
    if (treemap->total)
        draw_parts(treemap, NULL, (struct nt_box){MARGIN, HEADING, WIDTH, HEIGHT});
    nt_svg_end(out);
}

/* A box with its title, and labels in some, takes 200 to 400 bytes. */
uint64_t nt_sizes_svg_bytes(const struct nt_dataset *dataset)
{
    enum { FRAME_BYTES = 1500, BOX_BYTES = 300 };
    return nt_svg_size(FRAME_BYTES + (uint64_t)BOX_BYTES * dataset->column_count);
}

enum nt_status nt_sizes_svg(struct nt_dataset *dataset, struct nt_buffer *out, struct nt_error *error)
{
    size_t fields = (size_t)dataset->field_count + 1;
    struct treemap treemap = {.dataset = dataset};
    treemap.sums = calloc(fields, sizeof(*treemap.sums));
    treemap.own = calloc(fields, sizeof(*treemap.own));
    enum nt_status status = treemap.sums && treemap.own
                                ? nt_field_groups_init(&treemap.groups, dataset, error)
                                : nt_fail_memory(error);
    if (status == NT_OK)
        status = sum_up(&treemap, dataset, error);
    if (status == NT_OK)
        status = nt_svg_fit(draw_treemap, &treemap, nt_sizes_svg_bytes(dataset), out, error);
    free(treemap.sums);
    free(treemap.own);
    nt_field_groups_deinit(&treemap.groups);
    return status;
}
