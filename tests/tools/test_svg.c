/* SPDX-License-Identifier: MIT
 *
 * Pictures have the size that was reported before they were drawn.
 */
#include <stdio.h>
#include <string.h>

#include "dataset_builder.h"
#include "support.h"
#include "tools/tools.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"

/* `boxes` boxes with a title each, fewer with a coarser grain. */
struct drawing {
    unsigned boxes, last_grain;
    size_t title_bytes;
};

static void draw(void *context, unsigned grain, size_t bytes, struct nt_buffer *out)
{
    struct drawing *drawing = context;
    struct nt_buffer title = {0};
    drawing->last_grain = grain;
    for (size_t i = 0; i < drawing->title_bytes; i++)
        nt_buffer_append_byte(&title, 'x');
    nt_svg_begin(out, 10, 10, "boxes");
    for (unsigned i = 0; i < drawing->boxes; i += grain)
        nt_svg_box(out, (struct nt_box){i, i, 1, 1}, (struct nt_colour){0, 0, 0}, &title);
    nt_svg_end(out);
    nt_buffer_deinit(&title);
}

static size_t length_at(struct drawing drawing, unsigned grain)
{
    struct nt_buffer out = {0};
    draw(&drawing, grain, SIZE_MAX, &out);
    size_t length = out.length;
    nt_buffer_deinit(&out);
    return length;
}

/* One element, followed only by white space. */
static void assert_is_picture(const struct nt_buffer *out, size_t bytes)
{
    const char *end = NULL;
    for (const char *at = out->bytes; (at = strstr(at, "</svg>")); at++)
        end = at;
    ck_assert_uint_eq(out->length, bytes);
    ck_assert_int_eq(strncmp(out->bytes, "<svg ", 5), 0);
    ck_assert_ptr_nonnull(end);
    end += strlen("</svg>");
    ck_assert_uint_eq(strspn(end, " \n"), strlen(end));
    ck_assert_int_eq(out->bytes[bytes - 1], '\n');
}

TEST(sizes_are_powers_of_two_within_bounds)
{
    for (uint64_t requested = 0; requested < 3 * (uint64_t)NT_SVG_MAX_BYTES;
         requested = requested * 5 / 4 + 1) {
        size_t size = nt_svg_size(requested);
        ck_assert_uint_eq(size & (size - 1), 0);
        ck_assert_uint_ge(size, NT_SVG_MIN_BYTES);
        ck_assert_uint_le(size, NT_SVG_MAX_BYTES);
        ck_assert(size >= requested || size == NT_SVG_MAX_BYTES);
        ck_assert(size < 2 * requested || size == NT_SVG_MIN_BYTES);
    }
    ck_assert_uint_eq(nt_svg_size(UINT64_MAX), NT_SVG_MAX_BYTES);
}

static const unsigned box_counts[] = {0, 1, 20, 25, 26, 40, 100, 1000, 30000};

TEST(a_picture_has_as_much_detail_as_there_is_room_for, .end = 9)
{
    struct drawing drawing = {.boxes = box_counts[_i], .title_bytes = 30};
    struct nt_error error;
    for (size_t bytes = NT_SVG_MIN_BYTES; bytes <= NT_SVG_MAX_BYTES; bytes *= 4) {
        struct nt_buffer out = {0};
        assert_ok(nt_svg_fit(draw, &drawing, 1, bytes, &out, &error));
        assert_is_picture(&out, bytes);
        unsigned grain = drawing.last_grain;
        ck_assert_uint_le(length_at(drawing, grain), bytes);
        ck_assert(grain == 1 || length_at(drawing, grain / 2) > bytes);
        nt_buffer_deinit(&out);
    }
}

TEST(a_picture_that_fits_exactly_gets_no_white_space)
{
    struct drawing drawing = {.boxes = 1};
    struct nt_error error;
    drawing.title_bytes = NT_SVG_MIN_BYTES - length_at(drawing, 1);
    for (size_t more = 0; more < 2; more++, drawing.title_bytes -= 1) {
        struct nt_buffer out = {0};
        assert_ok(nt_svg_fit(draw, &drawing, 1, NT_SVG_MIN_BYTES, &out, &error));
        assert_is_picture(&out, NT_SVG_MIN_BYTES);
        ck_assert_uint_eq(drawing.last_grain, 1);
        nt_buffer_deinit(&out);
    }
}

TEST(what_cannot_be_drawn_in_any_detail_says_so)
{
    struct drawing drawing = {.boxes = 1, .title_bytes = NT_SVG_MIN_BYTES};
    struct nt_buffer out = {0};
    struct nt_error error;
    assert_ok(nt_svg_fit(draw, &drawing, 1, NT_SVG_MIN_BYTES, &out, &error));
    assert_is_picture(&out, NT_SVG_MIN_BYTES);
    ck_assert_ptr_nonnull(strstr(out.bytes, "more than can be drawn"));
    nt_buffer_deinit(&out);
}

TEST(names_are_cut_between_characters)
{
    for (size_t before = 230; before < 250; before++) {
        struct nt_buffer name = {0}, title = {0};
        for (size_t i = 0; i < before; i++)
            nt_buffer_append_byte(&name, 'a');
        nt_buffer_append_string(&name, "\u00e9\u20ac\U0001f600 and more");
        nt_svg_append_name(&title, name.bytes, name.length);
        ck_assert_uint_le(title.length, 250);
        const char *end = title.bytes + title.length - strlen("\u2026");
        ck_assert_str_eq(end, "\u2026");
        ck_assert_int_eq(strncmp(title.bytes, name.bytes, (size_t)(end - title.bytes)), 0);
        ck_assert((name.bytes[end - title.bytes] & 0xC0) != 0x80);
        nt_buffer_deinit(&name);
        nt_buffer_deinit(&title);
    }
}

/* Many fields whose names and types consist of characters that are written as entities. */
TEST(the_map_of_any_names_has_the_size_that_the_columns_say, .end = 4)
{
    static const unsigned field_counts[] = {0, 1, 12, 60};
    static char evil[3000];
    struct builder *builder = builder_new();
    struct nt_buffer out = {0};
    struct nt_error error;
    memset(evil, '"', sizeof(evil));
    for (unsigned i = 0; i < field_counts[_i]; i++) {
        uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
        add_column(builder, field, NT_ENCODING_INT32, 0);
    }
    uint32_t cluster = add_cluster(builder, 0, 10);
    for (unsigned i = 0; i < field_counts[_i]; i++)
        add_elements(builder, cluster, i, (const uint64_t[10]){0}, 10, 10);
    end_group(builder);
    finish(builder, NULL);
    for (unsigned i = 0; i < field_counts[_i]; i++)
        builder->dataset->fields[i].name = builder->dataset->fields[i].type =
            (struct nt_text){evil, sizeof(evil)};
    assert_ok(nt_sizes_svg(builder->dataset, &out, &error));
    assert_is_picture(&out, nt_sizes_svg_bytes(builder->dataset));
    nt_buffer_deinit(&out);
    builder_free(builder);
}

/* ---- what a picture shows ---- */

TEST(a_title_has_lines_but_a_name_in_it_has_one)
{
    struct nt_buffer title = {0}, out = {0};
    nt_svg_append_name(&title, "x\ny", 3);
    nt_buffer_append_string(&title, "\n5 bytes < 6");
    nt_svg_box(&out, (struct nt_box){1, 2, 3, 4}, (struct nt_colour){0, 0, 0}, &title);
    ck_assert_ptr_nonnull(strstr(nt_buffer_string(&out), "<title>x\\x0ay\n5 bytes &lt; 6</title>"));
    nt_buffer_deinit(&title);
    nt_buffer_deinit(&out);
}

TEST(a_text_does_not_leave_its_width)
{
    struct nt_buffer out = {0};
    nt_svg_text(&out, 10, 50, "l", 60, "WWWWWWWWWWWW");
    const char *clip = strstr(nt_buffer_string(&out), "<svg x=\"10.0\" y=\"39.0\" width=\"60.0\"");
    ck_assert_ptr_nonnull(clip);
    ck_assert_ptr_nonnull(strstr(clip, "<text x=\"0.0\" y=\"11.0\""));
    ck_assert_ptr_nonnull(strstr(clip, "WWW\u2026</text></svg>"));
    nt_buffer_clear(&out);
    nt_svg_text(&out, 10, 50, "l", 60, "pt");
    ck_assert_str_eq(nt_buffer_string(&out), "<text x=\"10.0\" y=\"50.0\" class=\"l\">pt</text>\n");
    nt_buffer_deinit(&out);
}

static void name_field(struct builder *builder, uint32_t field, const char *name)
{
    builder->dataset->fields[field].name = (struct nt_text){name, strlen(name)};
}

/* Two fields, the second one's pages compressed; each page with its checksum of 8 bytes. */
static struct builder *two_fields(void)
{
    static const uint64_t values[4000];
    struct builder *builder = builder_new();
    for (unsigned i = 0; i < 2; i++)
        add_column(builder, add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32), NT_ENCODING_INT32,
                   0);
    uint32_t cluster = add_cluster(builder, 0, 4000);
    add_elements(builder, cluster, 0, values, 4000, 1000);
    builder->compress = true;
    add_elements(builder, cluster, 1, values, 4000, 4000);
    end_group(builder);
    finish(builder, NULL);
    name_field(builder, 0, "plain");
    name_field(builder, 1, "packed");
    return builder;
}

/* In a line of the map each rectangle begins where the one before it ends. */
TEST(the_strips_of_a_layout_meet_and_none_is_of_no_width)
{
    struct builder *builder = two_fields();
    struct nt_buffer out = {0};
    struct nt_error error;
    double x, y, width, end = 0, line = -1;
    unsigned strips = 0;
    assert_ok(nt_layout_svg(builder->file, &out, &error));
    for (const char *at = out.bytes; (at = strstr(at, "<rect x=")); at++) {
        ck_assert_int_eq(sscanf(at, "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\"", &x, &y, &width), 3);
        if (!strncmp(strchr(at, '>') - 1, "/>", 2))
            continue; /* of the legend */
        ck_assert_double_ge(width, 1);
        if (y == line)
            ck_assert_double_eq(x, end);
        end = x + width;
        line = y;
        strips++;
    }
    ck_assert_uint_gt(strips, 40);
    ck_assert_ptr_null(strstr(out.bytes, ">1 ranges"));
    nt_buffer_deinit(&out);
    builder_free(builder);
}

static enum nt_status draw_picture(struct builder *builder, bool is_layout, struct nt_buffer *out)
{
    struct nt_error error;
    nt_buffer_clear(out);
    return is_layout ? nt_layout_svg(builder->file, out, &error)
                     : nt_sizes_svg(builder->dataset, out, &error);
}

static size_t boxes_of(const struct nt_buffer *picture)
{
    size_t count = 0;
    for (const char *at = picture->bytes; (at = strstr(at, "<rect x=")); at++)
        count++;
    return count;
}

/* A layout is drawn in several grains at once; the boxes of the coarser ones are as many here. */
TEST(the_budget_of_the_file_pays_for_a_picture_while_it_is_drawn, .end = 2)
{
    enum { STEP = 1024, GRAINS_HELD = 3, MIN_BOX_BYTES = 100 };
    struct builder *builder = two_fields();
    struct nt_budget *budget = &builder->file->budget;
    struct nt_buffer out = {0};
    enum nt_status status = draw_picture(builder, _i, &out); /* loads page lists */
    uint64_t used = budget->used, more = 0;
    size_t least = out.length + (_i ? GRAINS_HELD * MIN_BOX_BYTES * boxes_of(&out) : 0);
    ck_assert_int_eq(status, NT_OK);
    for (; more == 0 || status != NT_OK; more += STEP) {
        budget->limit = used + more;
        status = draw_picture(builder, _i, &out);
        ck_assert_int_eq(status, more < least ? NT_LIMIT : status);
        ck_assert(status == NT_OK || status == NT_LIMIT);
        ck_assert_uint_eq(budget->used, used);
    }
    nt_buffer_deinit(&out);
    builder_free(builder);
}

/* The colour of the rectangle before a text. */
static void find_colour(const char *svg, const char *text, char colour[32])
{
    const char *at = strstr(svg, text), *fill = NULL;
    ck_assert_ptr_nonnull(at);
    for (const char *next = svg; (next = strstr(next, "fill=\"hsl")) && next < at; next++)
        fill = next;
    ck_assert_ptr_nonnull(fill);
    ck_assert_int_eq(sscanf(fill, "fill=\"%31[^\"]", colour), 1);
}

TEST(a_swatch_of_the_legend_has_the_shade_of_its_strips)
{
    static const char *const names[][2] = {{", plain, cluster 0", ">plain</text>"},
                                           {", packed, cluster 0", ">packed</text>"}};
    struct builder *builder = two_fields();
    struct nt_buffer out = {0};
    struct nt_error error;
    char strip[32], swatch[32];
    assert_ok(nt_layout_svg(builder->file, &out, &error));
    for (unsigned i = 0; i < 2; i++) {
        find_colour(out.bytes, names[i][0], strip);
        find_colour(out.bytes, names[i][1], swatch);
        ck_assert_str_eq(strip, swatch);
    }
    nt_buffer_deinit(&out);
    builder_free(builder);
}

/* Fields of the same size, 60 at most, each named by its number. */
static struct builder *numbered_fields(unsigned count, const char *first, const char *other)
{
    static const uint64_t values[100];
    static char names[60][16];
    struct builder *builder = builder_new();
    for (unsigned i = 0; i < count; i++)
        add_column(builder, add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32), NT_ENCODING_INT32,
                   0);
    uint32_t cluster = add_cluster(builder, 0, 100);
    for (unsigned i = 0; i < count; i++)
        add_elements(builder, cluster, i, values, 100, 100);
    end_group(builder);
    finish(builder, NULL);
    for (unsigned i = 0; i < count; i++) {
        snprintf(names[i], sizeof(names[i]), "%s%u", i < 40 ? first : other, i);
        name_field(builder, i, names[i]);
    }
    return builder;
}

static struct builder *many_fields(void)
{
    return numbered_fields(60, "Jet_", "MET_");
}

static struct builder *small_pages(unsigned pages)
{
    enum { ELEMENTS = 2, MOST = 500 };
    static const uint64_t values[ELEMENTS * MOST];
    struct builder *builder = builder_new();
    add_column(builder, add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32), NT_ENCODING_INT32, 0);
    add_elements(builder, add_cluster(builder, 0, ELEMENTS * pages), 0, values, ELEMENTS * pages, ELEMENTS);
    end_group(builder);
    finish(builder, NULL);
    name_field(builder, 0, "small");
    return builder;
}

/* The boxes of all pages fit; then they would without what is around them; then only those of coarser
 * grains do. */
TEST(a_layout_of_more_and_more_pages_merges_some)
{
    bool has_all = false, has_merged = false;
    for (unsigned pages = 300; pages < 500; pages += 7) {
        struct builder *builder = small_pages(pages);
        struct nt_buffer out = {0};
        ck_assert_int_eq(draw_picture(builder, true, &out), NT_OK);
        assert_is_picture(&out, nt_layout_svg_bytes(builder->file));
        bool is_merged = strstr(out.bytes, " ranges, ");
        ck_assert_uint_gt(boxes_of(&out), is_merged ? pages / 8 : pages);
        has_all |= !is_merged;
        has_merged |= is_merged;
        nt_buffer_deinit(&out);
        builder_free(builder);
    }
    ck_assert(has_all && has_merged);
}

TEST(many_fields_are_shown_by_what_their_names_begin_with)
{
    struct builder *builder = many_fields();
    struct nt_buffer layout = {0}, sizes = {0};
    struct nt_error error;
    assert_ok(nt_layout_svg(builder->file, &layout, &error));
    ck_assert_ptr_nonnull(strstr(layout.bytes, ">Jet_* (40 fields)</text>"));
    ck_assert_ptr_nonnull(strstr(layout.bytes, ">MET_* (20 fields)</text>"));
    ck_assert_ptr_null(strstr(layout.bytes, " more: "));
    assert_ok(nt_sizes_svg(builder->dataset, &sizes, &error));
    ck_assert_ptr_nonnull(strstr(sizes.bytes, ">Jet_* (40 fields), 16.0 kB</text>"));
    ck_assert_ptr_nonnull(strstr(sizes.bytes, "<title>MET_* (20 fields)\n8.0 kB stored, 33.3 %"));
    ck_assert_ptr_nonnull(strstr(sizes.bytes, "<title>MET_59\n400 bytes stored"));
    assert_is_picture(&sizes, nt_sizes_svg_bytes(builder->dataset));
    nt_buffer_deinit(&layout);
    nt_buffer_deinit(&sizes);
    builder_free(builder);
}

/* The title of a box of one field is so long that not all fit. */
TEST(what_is_too_small_for_a_box_shares_one_with_its_neighbours)
{
    enum { FIELDS = 24, AREA = 1200 * 760 };
    static char type[3000];
    struct builder *builder = numbered_fields(FIELDS, "x", "x");
    struct nt_buffer out = {0};
    struct nt_error error;
    unsigned fields = 0, boxes = 0;
    double area = 0;
    memset(type, '"', sizeof(type));
    for (unsigned i = 0; i < FIELDS; i++)
        builder->dataset->fields[i].type = (struct nt_text){type, sizeof(type)};
    assert_ok(nt_sizes_svg(builder->dataset, &out, &error));
    assert_is_picture(&out, nt_sizes_svg_bytes(builder->dataset));
    for (const char *at = out.bytes; (at = strstr(at, "<rect x=")); at++) {
        double width, height;
        unsigned first, last, count;
        ck_assert_int_eq(
            sscanf(at, "<rect x=\"%*f\" y=\"%*f\" width=\"%lf\" height=\"%lf\"", &width, &height), 2);
        int found = sscanf(strstr(at, "<title>"), "<title>x%u \u2026 x%u (%u fields)", &first, &last, &count);
        ck_assert(found == 1 || (found == 3 && last - first + 1 == count));
        fields += found == 1 ? 1 : count;
        boxes++;
        area += width * height;
    }
    ck_assert_uint_eq(fields, FIELDS);
    ck_assert(boxes > 1 && boxes < FIELDS);
    ck_assert_double_gt(area, 0.98 * AREA); /* there is a pixel between boxes */
    nt_buffer_deinit(&out);
    builder_free(builder);
}

/* An integer in each of two groups, whose second page list may be bad. */
static struct builder *two_groups(bool is_bad)
{
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT32, 0);
    for (uint64_t i = 0; i < 2; i++) {
        add_elements(builder, add_cluster(builder, i, 1), column, (uint64_t[]){i}, 1, 1);
        end_group(builder);
    }
    builder->bad_group[1] = is_bad;
    finish(builder, NULL);
    return builder;
}

TEST(a_picture_of_sizes_says_whether_page_lists_are_omitted, .end = 2)
{
    struct builder *builder = two_groups(_i);
    struct nt_buffer out = {0};
    struct nt_error error;
    assert_ok(nt_sizes_svg(builder->dataset, &out, &error));
    assert_is_picture(&out, nt_sizes_svg_bytes(builder->dataset));
    ck_assert_int_eq(strstr(out.bytes, "; page lists that cannot be read are omitted</text>") != NULL, _i);
    nt_buffer_deinit(&out);
    builder_free(builder);
}

TEST(many_numbered_fields_are_shown_in_ranges)
{
    struct builder *builder = numbered_fields(60, "x", "x");
    struct nt_buffer out = {0};
    struct nt_error error;
    assert_ok(nt_sizes_svg(builder->dataset, &out, &error));
    ck_assert_ptr_nonnull(strstr(out.bytes, ">x10 \u2026 19 (10 fields), 4.0 kB</text>"));
    ck_assert_ptr_nonnull(strstr(out.bytes, ">x59</text>"));
    nt_buffer_deinit(&out);
    builder_free(builder);
}

TEST(a_label_without_room_is_the_end_of_the_path)
{
    static const uint64_t values[100];
    static char long_name[230];
    struct builder *builder = builder_new();
    uint32_t top = add_field(builder, NT_NONE, NT_FIELD_RECORD, NT_ELEMENT_INT32);
    uint32_t item = add_field(builder, top, NT_FIELD_RECORD, NT_ELEMENT_INT32);
    uint32_t pt = add_field(builder, item, NT_FIELD_RECORD, NT_ELEMENT_INT32);
    uint32_t leaf = add_field(builder, pt, NT_FIELD_VALUE, NT_ELEMENT_INT32);
    struct nt_buffer out = {0};
    struct nt_error error;
    add_column(builder, leaf, NT_ENCODING_INT32, 0);
    add_elements(builder, add_cluster(builder, 0, 100), 0, values, 100, 100);
    end_group(builder);
    finish(builder, NULL);
    memset(long_name, 'm', sizeof(long_name) - 1);
    name_field(builder, top, long_name);
    name_field(builder, item, "_0");
    name_field(builder, pt, "pt");
    name_field(builder, leaf, "_0");
    assert_ok(nt_sizes_svg(builder->dataset, &out, &error));
    ck_assert_ptr_nonnull(strstr(out.bytes, ">pt/_0</text>"));
    ck_assert_ptr_nonnull(strstr(out.bytes, "mmm/_0/pt/_0\n400 bytes stored"));
    nt_buffer_deinit(&out);
    builder_free(builder);
}

TEST(labels_are_white_on_dark_colours)
{
    static const struct {
        struct nt_colour colour;
        const char *class;
    } rows[] = {{{0, 0, 40}, "d"},    {{0, 0, 44}, "l"},    {{240, 90, 48}, "d"},
                {{120, 90, 48}, "l"}, {{60, 100, 40}, "l"}, {{0, 100, 45}, "d"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        ck_assert_str_eq(nt_label_class(rows[i].colour), rows[i].class);
}

TEST(a_total_says_what_columns_share)
{
    for (unsigned shared = 0; shared < 2; shared++) {
        struct builder *builder = many_fields();
        struct nt_buffer out = {0};
        struct nt_error error;
        for (unsigned i = 1; i < 11 && shared; i++)
            builder->pages[0][i].offset = builder->pages[0][0].offset;
        assert_ok(nt_sizes_svg(builder->dataset, &out, &error));
        ck_assert_ptr_nonnull(
            strstr(out.bytes, shared ? ">24.0 kB stored in 60 columns, 20.0 kB with shared pages once; areas"
                                     : ">24.0 kB stored in 60 columns; areas"));
        nt_buffer_deinit(&out);
        builder_free(builder);
    }
}

TEST(the_colours_of_many_fields_differ)
{
    for (uint32_t i = 0; i < 200; i++)
        for (uint32_t k = i + 1; k < i + 24; k++) {
            struct nt_colour a = nt_field_colour(i, 2), b = nt_field_colour(k, 2);
            unsigned hue = a.hue > b.hue ? a.hue - b.hue : b.hue - a.hue;
            ck_assert_msg((hue >= 30 && hue <= 330) || a.lightness != b.lightness, "%u and %u", i, k);
        }
}
