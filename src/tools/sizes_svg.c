/* SPDX-License-Identifier: MIT
 *
 * Draws sizes.svg, a squarified treemap of the stored bytes by group and field. Fields that are too
 * small to draw share a box with their neighbours.
 */
#include "tools/tools.h"

enum { WIDTH = 1200, HEIGHT = 760, MARGIN = 20, HEADING = 60, LABEL_HEIGHT = 15 };

struct size_box {
    uint64_t stored, packed;
    uint32_t field;                     /* of a group: its first */
    bool is_own;                        /* the field's own columns, not a sub-field */
    const struct nt_field_group *group; /* of several fields, or NULL */
    uint32_t shared, last;              /* of a shared box: its fields and the last one; else 0 */
};

struct treemap {
    const struct nt_dataset *dataset;
    struct size_box *sums; /* [field]: with all sub-fields */
    struct size_box *own;  /* [field]: its own columns */
    struct nt_field_groups groups;
    uint64_t total, once; /* once: counts shared pages once */
    bool is_complete;     /* false: a page list is unreadable */
    /* The current drawing: */
    unsigned grain;
    size_t bytes;
    struct nt_buffer *out;
};

/* ---- Sums ---- */

static void add_range(void *context, const struct nt_dataset *dataset, const struct nt_group *group,
                      uint32_t cluster, uint32_t column, const struct nt_range *range)
{
    struct nt_column_sums *sums = context;
    nt_column_sums_add(&sums[column], dataset, group, range);
}

/* Adds each column to its field, or the one that shows it, and to all ancestors. */
static void add_columns(struct treemap *treemap, const struct nt_dataset *dataset, const uint32_t *shown,
                        const struct nt_column_sums *sums)
{
    for (uint32_t c = 0; c < dataset->column_count; c++) {
        uint32_t field = shown[dataset->columns[c].field];
        treemap->own[field].stored += sums[c].stored_bytes;
        treemap->own[field].packed += sums[c].packed_bytes;
        treemap->total += sums[c].stored_bytes;
        for (uint32_t at = field; at != NT_NONE; at = dataset->fields[at].parent) {
            treemap->sums[at].stored += sums[c].stored_bytes;
            treemap->sums[at].packed += sums[c].packed_bytes;
        }
    }
}

static enum nt_status sum_up(struct treemap *treemap, struct nt_dataset *dataset, struct nt_error *error)
{
    NT_AUTO_FREE uint32_t *shown = NULL;
    NT_AUTO_FREE struct nt_column_sums *sums = calloc((size_t)dataset->column_count + 1, sizeof(*sums));
    NT_TRY(sums ? nt_shown_fields(dataset, &shown, error) : nt_fail_memory(error));
    for (uint32_t part = 0; part < nt_visited_parts(dataset); part++)
        NT_TRY(nt_part_visit_ranges(dataset, part, NULL, add_range, sums, &treemap->is_complete, error));
    add_columns(treemap, dataset, shown, sums);
    return nt_unique_bytes(dataset, NULL, &treemap->once, error);
}

/* ---- Squarified layout ---- */

static double worst_aspect(double shortest, double strip, double smallest, double largest)
{
    double side = strip / shortest;
    double a = largest / side / side, b = side * side / smallest;
    return a > b ? a : b;
}

/* How many parts (areas, descending) the next strip along the shorter side takes. */
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

/* ---- Drawing ---- */

static int compare_parts(const void *left, const void *right)
{
    const struct size_box *a = left, *b = right;
    if (a->stored != b->stored)
        return a->stored < b->stored ? 1 : -1;
    return a->field < b->field ? -1 : a->field > b->field;
}

static double ratio_of(const struct size_box *part)
{
    return part->stored ? (double)part->packed / (double)part->stored : 0;
}

static void append_part(struct nt_buffer *out, const struct treemap *treemap, const struct size_box *part)
{
    if (part->group) {
        nt_append_field_group(out, part->group);
        return;
    }
    nt_append_field_path(out, treemap->dataset, part->field);
    if (part->shared) {
        nt_buffer_append_string(out, " \u2026 ");
        nt_append_field_path(out, treemap->dataset, part->last);
        nt_buffer_append_format(out, " (%" PRIu32 " fields)", part->shared);
    }
}

static bool is_item(const struct nt_text *name)
{
    size_t at = 1;
    while (at < name->length && name->bytes[at] >= '0' && name->bytes[at] <= '9')
        at++;
    return name->length > 1 && name->bytes[0] == '_' && at == name->length;
}

/* The length of the end of a path that distinguishes the field from its neighbours: from the last name
 * that is not an item's, without the common prefix of a group. */
static size_t end_of_path(const struct treemap *treemap, uint32_t field)
{
    const struct nt_field *fields = treemap->dataset->fields;
    const struct nt_field_group *group = &treemap->groups.items[treemap->groups.of_field[field]];
    size_t length = fields[field].name.length;
    while (is_item(&fields[field].name) && fields[field].parent != NT_NONE) {
        field = fields[field].parent;
        length += fields[field].name.length + 1;
    }
    bool has_prefix = fields[field].parent == NT_NONE && group->count > 1 && group->to.length == 0;
    return has_prefix && group->name.length < fields[field].name.length ? length - group->name.length
                                                                        : length;
}

static void append_title(struct nt_buffer *title, const struct treemap *treemap, const struct size_box *part,
                         const struct nt_buffer *label)
{
    const struct nt_text *type = &treemap->dataset->fields[part->field].type;
    nt_svg_append_name(title, label->bytes, label->length);
    nt_buffer_append_string(title, "\n");
    nt_append_bytes(title, part->stored);
    nt_buffer_append_format(title, " stored, %.1f %% of the dataset, ratio %.2f",
                            100.0 * (double)part->stored / (double)treemap->total, ratio_of(part));
    if (part->group || part->shared)
        return;
    nt_buffer_append_string(title, "\n");
    nt_svg_append_name(title, type->bytes, type->length);
}

static struct nt_box without_gap(struct nt_box box)
{
    box.width -= box.width > 2 ? 1 : 0;
    box.height -= box.height > 2 ? 1 : 0;
    return box;
}

static struct nt_colour colour_of(const struct treemap *treemap, const struct size_box *part)
{
    return nt_field_colour(treemap->groups.of_field[part->field], ratio_of(part));
}

/* The whole label or, if it does not fit, the end of its path. */
static const char *label_that_fits(const struct treemap *treemap, const struct size_box *part,
                                   const struct nt_buffer *label, double width)
{
    const char *text = nt_buffer_string(label);
    size_t end = part->group || part->shared ? SIZE_MAX : end_of_path(treemap, part->field);
    return nt_svg_fits("l", width, text) || end > strlen(text) ? text : text + strlen(text) - end;
}

static void draw_leaf(struct treemap *treemap, const struct size_box *part, struct nt_box box)
{
    struct nt_buffer title = {0}, label = {0};
    struct nt_colour colour = colour_of(treemap, part);
    const char *class = nt_label_class(colour);
    append_part(&label, treemap, part);
    append_title(&title, treemap, part, &label);
    box = without_gap(box);
    nt_svg_box(treemap->out, box, colour, &title);
    if (box.height >= LABEL_HEIGHT && box.width > 40)
        nt_svg_text(treemap->out, box.x + 4, box.y + 12, class, box.width - 8,
                    label_that_fits(treemap, part, &label, box.width - 8));
    if (box.height >= 2 * LABEL_HEIGHT && box.width > 60) {
        struct nt_buffer size = {0};
        nt_append_bytes(&size, part->stored);
        nt_svg_text(treemap->out, box.x + 4, box.y + 25, class, box.width - 8, nt_buffer_string(&size));
        nt_buffer_deinit_part(&size, treemap->out);
    }
    nt_buffer_deinit_part(&title, treemap->out);
    nt_buffer_deinit_part(&label, treemap->out);
}

/* Draws the name of a group, or of a top-level field without a group, above its contents if there is
 * room. Returns the rest of the box. */
static struct nt_box draw_group(struct treemap *treemap, const struct size_box *part, struct nt_box box)
{
    enum { MIN_HEIGHT = 3 * LABEL_HEIGHT, MIN_WIDTH = 60, FRAME = 2 };
    struct nt_buffer title = {0}, label = {0};
    struct nt_colour colour = colour_of(treemap, part);
    if (box.height < MIN_HEIGHT || box.width < MIN_WIDTH)
        return box;
    append_part(&label, treemap, part);
    append_title(&title, treemap, part, &label);
    nt_buffer_append_string(&label, ", ");
    nt_append_bytes(&label, part->stored);
    colour.lightness = 92;
    nt_svg_box(treemap->out, without_gap(box), colour, &title);
    nt_svg_text(treemap->out, box.x + 4, box.y + 12, "l", box.width - 8, nt_buffer_string(&label));
    nt_buffer_deinit_part(&title, treemap->out);
    nt_buffer_deinit_part(&label, treemap->out);
    return (struct nt_box){box.x + FRAME, box.y + LABEL_HEIGHT + FRAME, box.width - 2 * FRAME,
                           box.height - LABEL_HEIGHT - 2 * FRAME};
}

static void draw_parts(struct treemap *treemap, const struct size_box *whole, struct nt_box box);

/* Omits a part without room of its own, or draws it as one box with all it contains. */
static void draw_part(struct treemap *treemap, const struct size_box *part, struct nt_box box)
{
    uint32_t count;
    unsigned grain = treemap->grain, least = 3 * grain;
    if (treemap->out->length > treemap->bytes || (grain > 1 && box.width * box.height < grain * grain))
        return;
    nt_dataset_children(treemap->dataset, part->field, &count);
    bool is_leaf = part->shared || (!part->group && (part->is_own || count == 0));
    bool is_top = treemap->dataset->fields[part->field].parent == NT_NONE &&
                  (part->group || treemap->groups.items[treemap->groups.of_field[part->field]].count == 1);
    if (is_leaf || box.width < least || box.height < least)
        draw_leaf(treemap, part, box);
    else
        draw_parts(treemap, part, is_top ? draw_group(treemap, part, box) : box);
}

static void add_group(const struct treemap *treemap, const struct nt_field_group *group,
                      struct size_box *parts, size_t *count)
{
    const uint32_t *members = treemap->groups.members + group->first;
    struct size_box part = {.field = members[0], .group = group->count > 1 ? group : NULL};
    for (uint32_t i = 0; i < group->count; i++) {
        part.stored += treemap->sums[members[i]].stored;
        part.packed += treemap->sums[members[i]].packed;
    }
    if (part.stored)
        parts[(*count)++] = part;
}

/* The parts with stored bytes of a group, a field or (NULL) the dataset: at most all fields + 1. */
static size_t collect_parts(const struct treemap *treemap, const struct size_box *whole,
                            struct size_box *parts)
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
    for (uint32_t i = 0; i < count; i++) {
        if (treemap->sums[fields[i]].stored == 0)
            continue;
        parts[used] = treemap->sums[fields[i]];
        parts[used++].field = fields[i];
    }
    if (!whole->group && treemap->own[whole->field].stored) {
        parts[used] = treemap->own[whole->field];
        parts[used].field = whole->field;
        parts[used++].is_own = true;
    }
    return used;
}

static size_t max_parts(const struct treemap *treemap, const struct size_box *whole)
{
    uint32_t children;
    if (whole && whole->group)
        return whole->group->count;
    nt_dataset_children(treemap->dataset, whole ? whole->field : NT_NONE, &children);
    return (size_t)children + 1;
}

static uint64_t stored_bytes(const struct size_box *parts, size_t count)
{
    uint64_t stored = 0;
    for (size_t i = 0; i < count; i++)
        stored += parts[i].stored;
    return stored;
}

static void add_to_shared(const struct treemap *treemap, struct size_box *shared, const struct size_box *part)
{
    const struct nt_field_group *group = part->group;
    shared->stored += part->stored;
    shared->packed += part->packed;
    shared->shared += part->shared ? part->shared : group ? group->count : 1;
    shared->last = part->shared ? part->last
                   : group      ? treemap->groups.members[group->first + group->count - 1]
                                : part->field;
}

/* Merges each part whose box would be smaller than the grain with those after it, and the last one with
 * those before. Returns the number of parts left. */
static size_t share_boxes(const struct treemap *treemap, struct size_box *parts, size_t count,
                          struct nt_box box)
{
    double least = (double)treemap->grain * treemap->grain / (box.width * box.height);
    uint64_t stored = stored_bytes(parts, count);
    size_t used = 0;
    size_t open = SIZE_MAX; /* the shared box with room left */
    size_t full = SIZE_MAX; /* the last full one */
    for (size_t i = 0; i < count; i++) {
        if ((double)parts[i].stored >= least * (double)stored) {
            parts[used++] = parts[i];
            continue;
        }
        if (open == SIZE_MAX) {
            open = used++;
            parts[open] = parts[i];
        } else {
            struct size_box first = parts[open];
            if (!first.shared) {
                parts[open] = (struct size_box){.field = first.field};
                add_to_shared(treemap, &parts[open], &first);
            }
            add_to_shared(treemap, &parts[open], &parts[i]);
        }
        if ((double)parts[open].stored >= least * (double)stored) {
            full = open;
            open = SIZE_MAX;
        }
    }
    if (open != SIZE_MAX && full != SIZE_MAX) {
        add_to_shared(treemap, &parts[full], &parts[open]);
        memmove(parts + open, parts + open + 1, (--used - open) * sizeof(*parts));
    }
    return used;
}

static void place_parts(const struct size_box *parts, size_t count, double *areas, struct nt_box box,
                        struct nt_box *boxes)
{
    uint64_t stored = stored_bytes(parts, count);
    for (size_t i = 0; i < count; i++)
        areas[i] = box.width * box.height * (double)parts[i].stored / (double)stored;
    for (size_t first = 0, length; first < count; first += length) {
        double shortest = box.width < box.height ? box.width : box.height;
        length = shortest > 0 ? strip_length(areas + first, count - first, shortest) : count - first;
        place_strip(areas + first, length, &box, boxes + first);
    }
}

/* Recurses as deep as the schema with its groups: at most NT_MAX_DEPTH + 1. */
static void draw_parts(struct treemap *treemap, const struct size_box *whole, struct nt_box box)
{
    size_t most = max_parts(treemap, whole);
    NT_AUTO_FREE struct size_box *parts = calloc(most, sizeof(*parts));
    NT_AUTO_FREE double *areas = calloc(most, sizeof(*areas));
    NT_AUTO_FREE struct nt_box *boxes = calloc(most, sizeof(*boxes));
    if (!parts || !areas || !boxes) {
        treemap->out->failed = true;
        return;
    }
    size_t count = collect_parts(treemap, whole, parts);
    if (treemap->grain > 1)
        count = share_boxes(treemap, parts, count, box);
    qsort(parts, count, sizeof(*parts), compare_parts);
    place_parts(parts, count, areas, box, boxes);
    for (size_t i = 0; i < count; i++)
        draw_part(treemap, &parts[i], boxes[i]);
}

static void draw_heading(struct treemap *treemap)
{
    const struct nt_dataset *dataset = treemap->dataset;
    struct nt_buffer name = {0}, text = {0};
    nt_buffer_append(&name, dataset->name.bytes, dataset->name.length);
    nt_svg_text(treemap->out, MARGIN, 28, "h", WIDTH, nt_buffer_string(&name));
    nt_buffer_deinit_part(&name, treemap->out);
    nt_append_bytes(&text, treemap->total);
    nt_buffer_append_format(&text, " stored in %" PRIu32 " columns", dataset->column_count);
    if (treemap->once < treemap->total) {
        nt_buffer_append_string(&text, ", ");
        nt_append_bytes(&text, treemap->once);
        nt_buffer_append_string(&text, " with shared pages once");
    }
    nt_buffer_append_string(
        &text, "; areas are stored bytes, deep colours compress well, light ones are stored as they are");
    if (!treemap->is_complete)
        nt_buffer_append_string(&text, "; page lists that cannot be read are omitted");
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

/* A box takes 200 to 400 bytes, with its title and for some a label. */
uint64_t nt_sizes_svg_bytes(const struct nt_dataset *dataset)
{
    enum { FRAME_BYTES = 1500, BOX_BYTES = 300 };
    uint32_t columns = nt_dataset_has_physical(dataset) ? dataset->field_count : dataset->column_count;
    return nt_svg_size(FRAME_BYTES + (uint64_t)BOX_BYTES * columns);
}

static void treemap_deinit(struct treemap *treemap)
{
    free(treemap->sums);
    free(treemap->own);
    nt_field_groups_deinit(&treemap->groups);
}

static enum nt_status make_treemap(struct nt_dataset *dataset, size_t bytes, struct nt_buffer *out,
                                   struct nt_error *error)
{
    size_t fields = (size_t)dataset->field_count + 1;
    NT_CLEANUP(treemap_deinit) struct treemap treemap = {.dataset = dataset, .is_complete = true};
    treemap.sums = calloc(fields, sizeof(*treemap.sums));
    treemap.own = calloc(fields, sizeof(*treemap.own));
    NT_TRY(nt_check_memory(treemap.sums && treemap.own, error));
    NT_TRY(nt_field_groups_init(&treemap.groups, dataset, error));
    NT_TRY(sum_up(&treemap, dataset, error));
    return nt_svg_fit(draw_treemap, &treemap, 1, bytes, out, error);
}

/* The budget of the file pays for sums, groups and boxes, and for the picture, while they exist. */
enum nt_status nt_sizes_svg(struct nt_dataset *of, struct nt_buffer *out, struct nt_error *error)
{
    enum {
        OF_SUMS = 2 * sizeof(struct size_box),
        OF_GROUPS = sizeof(struct nt_field_group) + 3 * sizeof(uint32_t),
        OF_BOXES = sizeof(struct size_box) + sizeof(struct nt_box) + sizeof(double),
        FIELD_BYTES = OF_SUMS + OF_GROUPS + OF_BOXES
    };
    struct nt_dataset *dataset;
    NT_TRY(nt_dataset_physical(of, &dataset, error));
    struct nt_budget *budget = &dataset->file->budget;
    uint64_t bytes = nt_sizes_svg_bytes(of);
    uint64_t taken = bytes + (uint64_t)dataset->field_count * FIELD_BYTES +
                     dataset->column_count * sizeof(struct nt_column_sums);
    NT_TRY(nt_budget_take(budget, NT_COST_ENVELOPE_BYTE, taken, NT_NO_OFFSET, error));
    enum nt_status status = make_treemap(dataset, bytes, out, error);
    nt_budget_release(budget, NT_COST_ENVELOPE_BYTE, taken);
    return status;
}
