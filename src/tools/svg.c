/* SPDX-License-Identifier: MIT
 *
 * What both pictures share. Writes SVG 1.1: boxes, colours and text, in a document whose size is chosen
 * before drawing. Groups top-level fields, which have one colour, by a common prefix of their names
 * (Jet_pt, Jet_eta) or by ranges of the numbers at their ends (x10, x11).
 */
#include "tools/tools.h"

#include <math.h>

/* Escapes a line of any bytes for XML: markup as entities, unprintable bytes as \x.. . */
static void escape_line(struct nt_buffer *out, const void *bytes, size_t length)
{
    struct nt_buffer printable = {0};
    nt_append_printable(&printable, bytes, length);
    for (size_t i = 0; i < printable.length; i++) {
        char byte = printable.bytes[i];
        const char *entity = byte == '<'   ? "&lt;"
                             : byte == '>' ? "&gt;"
                             : byte == '&' ? "&amp;"
                             : byte == '"' ? "&quot;"
                                           : NULL;
        if (entity)
            nt_buffer_append_string(out, entity);
        else
            nt_buffer_append_byte(out, byte);
    }
    nt_buffer_deinit_part(&printable, out);
}

/* Escapes a text of several lines and keeps the line ends. */
static void escape(struct nt_buffer *out, const char *text)
{
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        escape_line(out, text, (size_t)(end - text));
        nt_buffer_append_byte(out, '\n');
    }
    escape_line(out, text, strlen(text));
}

/* ---- Size known before drawing ---- */

size_t nt_svg_size(uint64_t prefetched_bytes)
{
    size_t size = NT_SVG_MIN_BYTES;
    while (size < prefetched_bytes && size < NT_SVG_MAX_BYTES)
        size *= 2;
    return size;
}

enum nt_status nt_svg_fit(nt_svg_draw *draw, void *context, unsigned finest, size_t bytes,
                          struct nt_buffer *out, struct nt_error *error)
{
    const unsigned coarsest = 1u << (NT_SVG_GRAINS - 1);
    draw(context, finest, bytes, out);
    for (unsigned grain = 2 * finest; out->length > bytes && !out->failed && grain <= coarsest; grain *= 2) {
        nt_buffer_clear(out);
        draw(context, grain, bytes, out);
    }
    if (out->length > bytes && !out->failed) {
        nt_buffer_clear(out); /* the names of a few boxes alone exceed the size */
        nt_svg_begin(out, 400, 60, "");
        nt_svg_text(out, 24, 36, "t", 0, "more than can be drawn");
        nt_svg_end(out);
    }
    NT_TRY(nt_check_memory(!out->failed, error));
    size_t rest = bytes - out->length;
    uint8_t *room = nt_buffer_extend(out, rest);
    NT_TRY(nt_check_memory(room, error));
    if (rest) {
        memset(room, ' ', rest - 1);
        room[rest - 1] = '\n';
    }
    return NT_OK;
}

/* ---- Drawing ---- */

void nt_svg_append_name(struct nt_buffer *title, const void *bytes, size_t length)
{
    enum { MOST = 240 };
    const uint8_t *at = bytes;
    size_t kept = length <= MOST ? length : MOST;
    while (kept < length && kept > 0 && (at[kept] & 0xC0) == 0x80)
        kept--;                              /* not within a character */
    nt_append_printable(title, bytes, kept); /* a line end in the name does not end the title's line */
    if (kept < length)
        nt_buffer_append_string(title, "\u2026");
}

void nt_svg_begin(struct nt_buffer *out, double width, double height, const char *title)
{
    nt_buffer_append_format(out,
                            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                            "viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
                            width, height, width, height);
    escape(out, title);
    nt_buffer_append_string(out,
                            "</title>\n<style>"
                            "text{font-family:system-ui,sans-serif;fill:#222}"
                            ".h{font-size:18px;font-weight:600}.t{font-size:12px}.s{font-size:10px;fill:#666}"
                            ".l{font-size:11px;fill:#111}.d{font-size:11px;fill:#fff}"
                            "rect{shape-rendering:crispEdges}"
                            "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

void nt_svg_end(struct nt_buffer *out)
{
    nt_buffer_append_string(out, "</svg>\n");
}

static double font_size(const char *class)
{
    return class[0] == 'h' ? 18 : class[0] == 't' ? 12 : class[0] == 's' ? 10 : 11;
}

/* Relative to the font size, for fonts that are not narrow. */
static double letter_width(uint32_t letter)
{
    if (letter >= 0x1100)
        return 1;
    if (letter < 0x80 && strchr("fijlrt.,:;'|!()[]/- ", (int)letter))
        return 0.4;
    if (letter < 0x80 && strchr("mwMW@%", (int)letter))
        return 0.95;
    return letter >= 'A' && letter <= 'Z' ? 0.72 : 0.63;
}

/* The bytes of a text that fit into a width relative to the font size. */
static size_t length_that_fits(const char *text, double width)
{
    size_t length = 0, left = strlen(text);
    while (left > 0) {
        uint32_t letter;
        size_t step = nt_utf8_decode((const uint8_t *)text + length, left, &letter);
        if (step == 0) {
            step = 1;
            letter = '?';
        }
        width -= letter_width(letter);
        if (width < 0)
            break;
        length += step;
        left -= step;
    }
    return length;
}

/* Headings are bold and therefore wider. */
static double letter_size(const char *class)
{
    return class[0] == 'h' ? 1.12 * font_size(class) : font_size(class);
}

bool nt_svg_fits(const char *class, double width, const char *text)
{
    return text[length_that_fits(text, width / letter_size(class))] == '\0';
}

/* The font is unknown, so an inner <svg> clips a text that turns out too wide. Hardly any letter is
 * wider than the font's height, so short texts need no clipping. */
void nt_svg_text(struct nt_buffer *out, double x, double y, const char *class, double width, const char *text)
{
    enum { FEWEST_BYTES = 2, ELLIPSIS = 1 };
    double size = font_size(class);
    bool is_cut = width > 0 && !nt_svg_fits(class, width, text);
    size_t length = is_cut ? length_that_fits(text, width / letter_size(class) - ELLIPSIS) : strlen(text);
    bool is_clipped = width > 0 && 1.1 * size * (double)(length + is_cut) > width;
    if (is_cut && length < FEWEST_BYTES)
        return;
    if (is_clipped) {
        nt_buffer_append_format(out, "<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\">", x,
                                y - size, width, 1.5 * size);
        x = 0;
        y = size;
    }
    nt_buffer_append_format(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    escape_line(out, text, length);
    nt_buffer_append_format(out, "%s</text>%s\n", is_cut ? "\u2026" : "", is_clipped ? "</svg>" : "");
}

void nt_svg_box(struct nt_buffer *out, struct nt_box box, struct nt_colour colour,
                const struct nt_buffer *title)
{
    nt_buffer_append_format(
        out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"hsl(%u,%u%%,%u%%)\"", box.x,
        box.y, box.width, box.height, colour.hue, colour.saturation, colour.lightness);
    if (!title) {
        nt_buffer_append_string(out, "/>\n");
        return;
    }
    nt_buffer_append_string(out, "><title>");
    escape(out, nt_buffer_string(title));
    nt_buffer_append_string(out, "</title></rect>\n");
}

/* One of red (0), green (8) and blue (4), 0 to 1 (CSS Color 4, 7.1). */
static double channel(struct nt_colour colour, unsigned number)
{
    double lightness = colour.lightness / 100.0, saturation = colour.saturation / 100.0;
    double k = fmod(number + colour.hue / 30.0, 12);
    double ramp = fmax(-1, fmin(fmin(k - 3, 9 - k), 1));
    return lightness - saturation * fmin(lightness, 1 - lightness) * ramp;
}

const char *nt_label_class(struct nt_colour colour)
{
    const double dark = 0.42; /* perceived brightness: the eye is most sensitive to green */
    double brightness = 0.299 * channel(colour, 0) + 0.587 * channel(colour, 8) + 0.114 * channel(colour, 4);
    return brightness < dark ? "d" : "l";
}

struct nt_colour nt_field_colour(uint32_t number, double ratio)
{
    /* Golden-angle steps keep the hues of any eight consecutive groups far apart. The next eight have
     * hues between them and are duller, lighter or brighter. */
    static const struct {
        unsigned saturation, lightness;
    } tones[] = {{58, 76}, {34, 64}, {85, 84}, {86, 66}};
    enum { HUES = 8, TONES = sizeof(tones) / sizeof(*tones) };
    unsigned hue = (unsigned)(((uint64_t)number * 137508 + 205000) / 1000 % 360);
    unsigned tone = number / HUES % TONES;
    double depth = ratio <= 1 ? 0 : ratio >= 6 ? 1 : (ratio - 1) / 5;
    return (struct nt_colour){hue, tones[tone].saturation + (unsigned)(14 * depth),
                              tones[tone].lightness - (unsigned)(18 * depth)};
}

void nt_append_bytes(struct nt_buffer *out, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes;
    unsigned unit = 0;
    for (; value >= 999.5 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
        value /= 1000;
    nt_buffer_append_format(out, unit == 0 || value >= 99.95 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

enum { MANY_FIELDS = 24, MAX_LETTERS = 3, MAX_DIGITS = 18 };

/* How to split names into a grouping prefix and the rest. */
struct cut {
    const struct nt_dataset *dataset;
    size_t common;  /* length of the prefix of all names */
    size_t letters; /* letters after it; 0: up to a mark */
    uint64_t range; /* if not 0: how many consecutive numbers form a group */
};

static size_t common_bytes(const struct nt_dataset *dataset)
{
    const struct nt_text *first = &dataset->fields[dataset->children[0]].name;
    size_t common = first->length;
    for (uint32_t i = 1; i < dataset->top_count; i++) {
        const struct nt_text *name = &dataset->fields[dataset->children[i]].name;
        size_t same = 0;
        while (same < common && same < name->length && name->bytes[same] == first->bytes[same])
            same++;
        common = same;
    }
    return common;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* The length of a name's grouping prefix; all of the name without a mark. */
static size_t prefix_bytes(const struct cut *cut, const struct nt_text *name)
{
    size_t at = cut->common;
    if (cut->letters)
        return name->length < at + cut->letters ? name->length : at + cut->letters;
    while (at < name->length && (at == 0 || !memchr("_.:/-", name->bytes[at], 5)))
        at++;
    return at < name->length ? at + 1 : name->length;
}

/* Requires that only digits follow the common prefix, and not too many. */
static uint64_t number_of(const struct cut *cut, uint32_t field)
{
    const struct nt_text *name = &cut->dataset->fields[field].name;
    uint64_t number = 0;
    for (size_t i = cut->common; i < name->length; i++)
        number = 10 * number + (uint64_t)(name->bytes[i] - '0');
    return number;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_prefixes(const struct cut *cut, uint32_t left, uint32_t right)
{
    if (cut->range)
        return compare_numbers(number_of(cut, left) / cut->range, number_of(cut, right) / cut->range);
    const struct nt_text *a = &cut->dataset->fields[left].name, *b = &cut->dataset->fields[right].name;
    size_t a_bytes = prefix_bytes(cut, a), b_bytes = prefix_bytes(cut, b);
    int order = memcmp(a->bytes, b->bytes, a_bytes < b_bytes ? a_bytes : b_bytes);
    return order ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

static int compare_members(const void *left, const void *right, void *context)
{
    const struct cut *cut = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = compare_prefixes(cut, a, b);
    if (order == 0 && cut->range)
        order = compare_numbers(number_of(cut, a), number_of(cut, b));
    return order ? order : (a > b) - (a < b);
}

static int compare_groups(const void *left, const void *right, void *members)
{
    const uint32_t *fields = members;
    uint32_t a = fields[((const struct nt_field_group *)left)->first];
    uint32_t b = fields[((const struct nt_field_group *)right)->first];
    return (a > b) - (a < b);
}

/* Makes the groups for one way to split; without one, each field is a group. */
static void make_groups(struct nt_field_groups *groups, const struct nt_dataset *dataset, struct cut *cut)
{
    groups->count = 0;
    for (uint32_t i = 0; i < dataset->top_count; i++)
        groups->members[i] = dataset->children[i];
    if (cut)
        qsort_r(groups->members, dataset->top_count, sizeof(uint32_t), compare_members, cut);
    for (uint32_t i = 0; i < dataset->top_count; i++) {
        const struct nt_text *name = &dataset->fields[groups->members[i]].name;
        if (cut && i && compare_prefixes(cut, groups->members[i - 1], groups->members[i]) == 0) {
            struct nt_field_group *group = &groups->items[groups->count - 1];
            group->count++;
            group->name.length = cut->range ? cut->common : prefix_bytes(cut, name);
            group->to = cut->range ? *name : group->to;
        } else {
            groups->items[groups->count++] =
                (struct nt_field_group){.name = *name, .from = *name, .first = i, .count = 1};
        }
    }
    qsort_r(groups->items, groups->count, sizeof(*groups->items), compare_groups, groups->members);
}

/* Matches "x1" to "x2000": only a number follows the common prefix. */
static bool is_numbered(struct cut *cut, uint64_t *min_ret, uint64_t *max_ret)
{
    const struct nt_dataset *dataset = cut->dataset;
    const char *first = dataset->fields[dataset->children[0]].name.bytes;
    size_t common = cut->common;
    while (common > 0 && is_digit(first[common - 1]))
        common--;
    *min_ret = UINT64_MAX;
    *max_ret = 0;
    for (uint32_t i = 0; i < dataset->top_count; i++) {
        const struct nt_text *name = &dataset->fields[dataset->children[i]].name;
        if (name->length == common || name->length - common > MAX_DIGITS)
            return false;
        for (size_t k = common; k < name->length; k++)
            if (!is_digit(name->bytes[k]))
                return false;
        struct cut numbers = {.dataset = dataset, .common = common};
        uint64_t number = number_of(&numbers, dataset->children[i]);
        *min_ret = number < *min_ret ? number : *min_ret;
        *max_ret = number > *max_ret ? number : *max_ret;
    }
    cut->common = common;
    return true;
}

static void find_groups(struct nt_field_groups *groups, const struct nt_dataset *dataset)
{
    struct cut cut = {.dataset = dataset};
    if (dataset->top_count <= MANY_FIELDS) {
        make_groups(groups, dataset, NULL);
        return;
    }
    cut.common = common_bytes(dataset);
    make_groups(groups, dataset, &cut);
    if (groups->count < dataset->top_count)
        return;
    uint64_t least, most;
    if (is_numbered(&cut, &least, &most)) {
        for (cut.range = 10; most / cut.range - least / cut.range >= MANY_FIELDS;)
            cut.range *= 10;
        make_groups(groups, dataset, &cut);
        return;
    }
    /* Names without marks, "abc" to "xyz": the more letters the better, as long as there are few groups. */
    for (cut.letters = MAX_LETTERS; cut.letters > 0; cut.letters--) {
        make_groups(groups, dataset, &cut);
        if (groups->count <= MANY_FIELDS)
            return;
    }
}

enum nt_status nt_field_groups_init(struct nt_field_groups *groups, const struct nt_dataset *dataset,
                                    struct nt_error *error)
{
    uint32_t top_count = dataset->failure ? 0 : dataset->top_count;
    *groups = (struct nt_field_groups){
        .items = calloc((size_t)top_count + 1, sizeof(*groups->items)),
        .members = calloc((size_t)top_count + 1, sizeof(uint32_t)),
        .of_field = calloc((size_t)dataset->field_count + 1, sizeof(uint32_t)),
    };
    NT_TRY(nt_check_memory(groups->items && groups->members && groups->of_field, error));
    if (top_count == 0)
        return NT_OK;
    find_groups(groups, dataset);
    for (uint32_t i = 0; i < groups->count; i++)
        for (uint32_t k = 0; k < groups->items[i].count; k++)
            groups->of_field[groups->members[groups->items[i].first + k]] = i;
    NT_TRY(nt_shown_fields(dataset, &groups->shown, error));
    for (uint32_t i = 0; i < dataset->field_count; i++)
        if (dataset->fields[i].parent != NT_NONE)
            groups->of_field[i] = groups->of_field[nt_field_top(dataset, i)];
    for (uint32_t i = 0; i < dataset->field_count; i++)
        if (groups->shown[i] != i)
            groups->of_field[i] = groups->of_field[groups->shown[i]];
    return NT_OK;
}

void nt_field_groups_deinit(struct nt_field_groups *groups)
{
    free(groups->items);
    free(groups->members);
    free(groups->of_field);
    free(groups->shown);
}

void nt_append_field_group(struct nt_buffer *out, const struct nt_field_group *group)
{
    bool is_range = group->to.length > 0;
    const struct nt_text *name = is_range ? &group->from : &group->name;
    nt_svg_append_name(out, name->bytes, name->length);
    if (is_range) {
        nt_buffer_append_string(out, " \u2026 ");
        nt_svg_append_name(out, group->to.bytes + group->name.length, group->to.length - group->name.length);
    }
    if (group->count > 1)
        nt_buffer_append_format(out, "%s (%" PRIu32 " fields)", is_range ? "" : "*", group->count);
}
