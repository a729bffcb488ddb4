/* SPDX-License-Identifier: MIT
 *
 * A squarified treemap: a field's box is divided among its own columns and its sub-fields by their stored
 * bytes, in strips that are filled as long as that makes their boxes more square.
 */
#include "view/sizes_svg.h"

#include <inttypes.h>
#include <stdlib.h>

#include "model/path.h"
#include "view/column_sums.h"
#include "view/svg.h"

enum { WIDTH = 1200, HEIGHT = 760, MARGIN = 20, HEADING = 60, LABEL_HEIGHT = 15 };

struct part {
    uint64_t stored, packed;
    uint32_t field;
    bool is_own; /* the field's own columns, not a sub-field */
};

struct treemap {
    const struct nt_dataset *dataset;
    struct part *sums;     /* [field]: with all sub-fields */
    struct part *own;      /* [field]: its own columns */
    uint32_t *top_numbers; /* [field] of top-level fields: their order, for colours */
    uint64_t total;
    struct nt_buffer *out;
};

/* ---- sums ---- */

/* Fields are summed up into their parents by walking up from each column's field. */
static void sum_up(struct treemap *treemap, struct nt_dataset *dataset)
{
    for (uint32_t c = 0; c < dataset->column_count; c++) {
        struct nt_column_sums sums;
        uint32_t field = dataset->columns[c].field;
        nt_column_sums(dataset, c, &sums);
        treemap->own[field].stored += sums.stored_bytes;
        treemap->own[field].packed += sums.packed_bytes;
        treemap->total += sums.stored_bytes;
        for (uint32_t at = field; at != NT_NONE; at = dataset->fields[at].parent) {
            treemap->sums[at].stored += sums.stored_bytes;
            treemap->sums[at].packed += sums.packed_bytes;
        }
    }
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

static void draw_leaf(struct treemap *treemap, const struct part *part, struct nt_box box)
{
    const struct nt_dataset *dataset = treemap->dataset;
    struct nt_buffer title = {0}, label = {0};
    uint32_t number = treemap->top_numbers[nt_top_field(dataset, part->field)];
    nt_append_field_path(&title, dataset, part->field, '/');
    nt_buffer_text(&title, "\n");
    nt_append_bytes(&title, part->stored);
    nt_buffer_format(&title, " stored, %.1f %% of the data set, ratio %.2f\n",
                     100.0 * (double)part->stored / (double)treemap->total, ratio_of(part));
    nt_buffer_append(&title, dataset->fields[part->field].type.bytes,
                     dataset->fields[part->field].type.length);
    box.width -= box.width > 2 ? 1 : 0;
    box.height -= box.height > 2 ? 1 : 0;
    nt_svg_box(treemap->out, box, nt_field_colour(number, ratio_of(part)), &title);
    nt_append_field_path(&label, dataset, part->field, '/');
    nt_buffer_byte(&label, '\0');
    if (box.height >= LABEL_HEIGHT && box.width > 40 && !label.failed)
        nt_svg_text(treemap->out, box.x + 4, box.y + 12, "l", box.width - 8, label.bytes);
    if (box.height >= 2 * LABEL_HEIGHT && box.width > 60) {
        nt_buffer_clear(&label);
        nt_append_bytes(&label, part->stored);
        nt_svg_text(treemap->out, box.x + 4, box.y + 25, "l", box.width - 8, label.bytes);
    }
    treemap->out->failed |= title.failed | label.failed;
    nt_buffer_deinit(&title);
    nt_buffer_deinit(&label);
}

static enum nt_status draw_parts(struct treemap *treemap, uint32_t parent, struct nt_box box,
                                 struct nt_error *error);

static enum nt_status draw_part(struct treemap *treemap, const struct part *part, struct nt_box box,
                                struct nt_error *error)
{
    uint32_t count;
    nt_dataset_children(treemap->dataset, part->field, &count);
    if (part->is_own || count == 0 || box.width < 3 || box.height < 3) {
        draw_leaf(treemap, part, box);
        return NT_OK;
    }
    return draw_parts(treemap, part->field, box, error);
}

/* The parts of a field (NT_NONE: of the data set) that store anything. */
static size_t collect_parts(const struct treemap *treemap, uint32_t parent, struct part *parts)
{
    uint32_t count;
    const uint32_t *children = nt_dataset_children(treemap->dataset, parent, &count);
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++)
        if (treemap->sums[children[i]].stored) {
            parts[used] = treemap->sums[children[i]];
            parts[used++].field = children[i];
        }
    if (parent != NT_NONE && treemap->own[parent].stored) {
        parts[used] = treemap->own[parent];
        parts[used].field = parent;
        parts[used++].is_own = true;
    }
    return used;
}

/* As deep as the schema: NT_MAX_DEPTH at most. */
static enum nt_status draw_parts(struct treemap *treemap, uint32_t parent, struct nt_box box,
                                 struct nt_error *error)
{
    uint32_t child_count;
    nt_dataset_children(treemap->dataset, parent, &child_count);
    struct part *parts = calloc((size_t)child_count + 1, sizeof(*parts));
    double *areas = calloc((size_t)child_count + 1, sizeof(*areas));
    struct nt_box *boxes = calloc((size_t)child_count + 1, sizeof(*boxes));
    enum nt_status status = parts && areas && boxes ? NT_OK : nt_fail_memory(error);
    if (status != NT_OK)
        goto out;
    size_t count = collect_parts(treemap, parent, parts);
    uint64_t stored = 0;
    qsort(parts, count, sizeof(*parts), compare_parts);
    for (size_t i = 0; i < count; i++)
        stored += parts[i].stored;
    for (size_t i = 0; i < count; i++)
        areas[i] = box.width * box.height * (double)parts[i].stored / (double)stored;
    for (size_t first = 0, length; first < count; first += length) {
        double shortest = box.width < box.height ? box.width : box.height;
        length = shortest > 0 ? strip_length(areas + first, count - first, shortest) : count - first;
        place_strip(areas + first, length, &box, boxes + first);
    }
    for (size_t i = 0; i < count && status == NT_OK; i++)
        status = draw_part(treemap, &parts[i], boxes[i], error);
out:
    free(parts);
    free(areas);
    free(boxes);
    return status;
}

static void draw_heading(struct treemap *treemap)
{
    const struct nt_dataset *dataset = treemap->dataset;
    struct nt_buffer text = {0};
    nt_buffer_append(&text, dataset->name.bytes, dataset->name.length);
    nt_buffer_byte(&text, '\0');
    if (!text.failed)
        nt_svg_text(treemap->out, MARGIN, 28, "h", WIDTH, text.bytes);
    nt_buffer_clear(&text);
    nt_append_bytes(&text, treemap->total);
    nt_buffer_format(&text,
                     " stored in %" PRIu32
                     " columns; areas are stored bytes, deep colours compress well, light ones "
                     "are stored as they are",
                     dataset->column_count);
    nt_svg_text(treemap->out, MARGIN, 48, "t", 0, text.bytes);
    nt_buffer_deinit(&text);
}

enum nt_status nt_sizes_svg(struct nt_dataset *dataset, struct nt_buffer *out, struct nt_error *error)
{
    size_t fields = (size_t)dataset->field_count + 1;
    struct treemap treemap = {.dataset = dataset, .out = out};
    treemap.sums = calloc(fields, sizeof(*treemap.sums));
    treemap.own = calloc(fields, sizeof(*treemap.own));
    treemap.top_numbers = calloc(fields, sizeof(uint32_t));
    enum nt_status status =
        treemap.sums && treemap.own && treemap.top_numbers ? NT_OK : nt_fail_memory(error);
    if (status != NT_OK)
        goto out;
    for (uint32_t i = 0; i < dataset->top_count; i++)
        treemap.top_numbers[dataset->children[i]] = i;
    sum_up(&treemap, dataset);
    nt_svg_begin(out, WIDTH + 2 * MARGIN, HEIGHT + HEADING + MARGIN, "Stored bytes by field");
    draw_heading(&treemap);
    if (treemap.total)
        status = draw_parts(&treemap, NT_NONE, (struct nt_box){MARGIN, HEADING, WIDTH, HEIGHT}, error);
    nt_svg_end(out);
    if (status == NT_OK && out->failed)
        status = nt_fail_memory(error);
out:
    free(treemap.sums);
    free(treemap.own);
    free(treemap.top_numbers);
    return status;
}
