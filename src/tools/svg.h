/* SPDX-License-Identifier: MIT
 *
 * Drawing self-contained SVG: no scripts, no references, texts escaped.
 */
#ifndef NT_VIEW_SVG_H
#define NT_VIEW_SVG_H

#include "core/base/buffer.h"
#include "core/base/error.h"

/* A colour by hue (degrees), saturation and lightness (percent). */
struct nt_colour {
    unsigned hue, saturation, lightness;
};

struct nt_box {
    double x, y, width, height;
};

/* ---- pictures of a size that is known before they are drawn ---- */

enum { NT_SVG_LEAST_BYTES = 1 << 12, NT_SVG_MOST_BYTES = 1 << 20 };

/* The size of a picture that may want so many bytes: a power of two, within the bounds. */
size_t nt_svg_size(uint64_t wanted_bytes);

/* Draws the whole picture. `grain`: what is smaller than so many pixels need not be drawn by itself. May stop
 * where `out` has more than `bytes`. */
typedef void nt_svg_draw(void *context, unsigned grain, size_t bytes, struct nt_buffer *out);

/* Fill `out`, which is empty, with exactly `bytes` (of nt_svg_size): the picture with as much detail as they
 * have room for, and white space behind it. */
enum nt_status nt_svg_fit(nt_svg_draw *draw, void *context, size_t bytes, struct nt_buffer *out,
                          struct nt_error *error);

/* ---- drawing ---- */

void nt_svg_begin(struct nt_buffer *out, double width, double height, const char *title);
void nt_svg_end(struct nt_buffer *out);
/* A name of the file for a title: in one line whatever it holds, cut where it is very long. */
void nt_svg_append_name(struct nt_buffer *title, const void *bytes, size_t length);
/* A text line with its baseline at (x, y); `class` as in the style that nt_svg_begin writes: "h" heading, "t"
 * text, "s" small, "l" label on colour, "d" on a dark one. Cut with an ellipsis so that it takes about `width` (0: no bound), and
 * clipped there: nothing is drawn beyond it. */
void nt_svg_text(struct nt_buffer *out, double x, double y, const char *class, double width,
                 const char *text);
/* Whether a text takes no more than about `width`. */
bool nt_svg_fits(const char *class, double width, const char *text);
/* A rectangle with what a pointer resting on it is told (lines, not escaped yet; NULL: nothing). */
void nt_svg_box(struct nt_buffer *out, struct nt_box box, struct nt_colour colour,
                const struct nt_buffer *title);

/* Colours that tell apart: hue and tone of a group of fields by its number; the ratio makes it light (stored as it
 * is) or deep (compressed well). */
struct nt_colour nt_field_colour(uint32_t number, double ratio);

/* The class of a label that can be read on a colour. */
const char *nt_label_class(struct nt_colour colour);

/* "1.3 MB" */
void nt_append_bytes(struct nt_buffer *out, uint64_t bytes);

#endif
