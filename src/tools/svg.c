/* SPDX-License-Identifier: MIT
 *
 * Writes SVG 1.1: boxes, colours and text, in a document whose size is chosen before drawing.
 */
#include "tools/tools.h"

#include <math.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"

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
            nt_buffer_text(out, entity);
        else
            nt_buffer_byte(out, byte);
    }
    nt_buffer_deinit_part(&printable, out);
}

/* Escapes a text of several lines and keeps the line ends. */
static void escape(struct nt_buffer *out, const char *text)
{
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        escape_line(out, text, (size_t)(end - text));
        nt_buffer_byte(out, '\n');
    }
    escape_line(out, text, strlen(text));
}

/* ---- Size known before drawing ---- */

enum { COARSEST = 1 << 12 }; /* grain: more pixels than any picture is wide */

size_t nt_svg_size(uint64_t prefetched_bytes)
{
    size_t size = NT_SVG_MIN_BYTES;
    while (size < prefetched_bytes && size < NT_SVG_MAX_BYTES)
        size *= 2;
    return size;
}

/* Drawn if the names of a few boxes alone exceed the size of the picture. */
static void draw_nothing(struct nt_buffer *out)
{
    nt_svg_begin(out, 400, 60, "");
    nt_svg_text(out, 24, 36, "t", 0, "more than can be drawn");
    nt_svg_end(out);
}

enum nt_status nt_svg_fit(nt_svg_draw *draw, void *context, size_t bytes, struct nt_buffer *out,
                          struct nt_error *error)
{
    draw(context, 1, bytes, out);
    for (unsigned grain = 2; out->length > bytes && !out->failed && grain <= COARSEST; grain *= 2) {
        nt_buffer_clear(out);
        draw(context, grain, bytes, out);
    }
    if (out->length > bytes && !out->failed) {
        nt_buffer_clear(out);
        draw_nothing(out);
    }
    if (out->failed)
        return nt_fail_memory(error);
    size_t rest = bytes - out->length;
    uint8_t *room = nt_buffer_extend(out, rest);
    if (!room)
        return nt_fail_memory(error);
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
        nt_buffer_text(title, "\u2026");
}

void nt_svg_begin(struct nt_buffer *out, double width, double height, const char *title)
{
    nt_buffer_format(out,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                     "viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
                     width, height, width, height);
    escape(out, title);
    nt_buffer_text(out, "</title>\n<style>"
                        "text{font-family:system-ui,sans-serif;fill:#222}"
                        ".h{font-size:18px;font-weight:600}.t{font-size:12px}.s{font-size:10px;fill:#666}"
                        ".l{font-size:11px;fill:#111}.d{font-size:11px;fill:#fff}"
                        "rect{shape-rendering:crispEdges}"
                        "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

void nt_svg_end(struct nt_buffer *out)
{
    nt_buffer_text(out, "</svg>\n");
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
        nt_buffer_format(out, "<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\">", x, y - size,
                         width, 1.5 * size);
        x = 0;
        y = size;
    }
    nt_buffer_format(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    escape_line(out, text, length);
    nt_buffer_format(out, "%s</text>%s\n", is_cut ? "\u2026" : "", is_clipped ? "</svg>" : "");
}

void nt_svg_box(struct nt_buffer *out, struct nt_box box, struct nt_colour colour,
                const struct nt_buffer *title)
{
    nt_buffer_format(out,
                     "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"hsl(%u,%u%%,%u%%)\"",
                     box.x, box.y, box.width, box.height, colour.hue, colour.saturation, colour.lightness);
    if (!title) {
        nt_buffer_text(out, "/>\n");
        return;
    }
    nt_buffer_text(out, "><title>");
    escape(out, nt_buffer_string(title));
    nt_buffer_text(out, "</title></rect>\n");
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
    nt_buffer_format(out, unit == 0 || value >= 99.95 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}
