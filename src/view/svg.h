/* SPDX-License-Identifier: MIT
 *
 * Drawing self-contained SVG: no scripts, no references, texts escaped.
 */
#ifndef NT_VIEW_SVG_H
#define NT_VIEW_SVG_H

#include <ntuple/model.h>

#include "base/buffer.h"

/* A colour by hue (degrees), saturation and lightness (percent). */
struct nt_colour {
    unsigned hue, saturation, lightness;
};

struct nt_box {
    double x, y, width, height;
};

void nt_svg_begin(struct nt_buffer *out, double width, double height, const char *title);
void nt_svg_end(struct nt_buffer *out);
/* Text of any bytes for XML: markup escaped, what cannot be shown as \x.. . */
void nt_svg_escape(struct nt_buffer *out, const void *bytes, size_t length);
/* A text line with its baseline at (x, y); `class` as in the style that nt_svg_begin writes: "h" heading, "t"
 * text, "s" small, "l" label on colour. Cut with an ellipsis so that it takes about `width` (0: no bound). */
void nt_svg_text(struct nt_buffer *out, double x, double y, const char *class, double width,
                 const char *text);
/* A rectangle with what a pointer resting on it is told (not escaped yet; NULL: nothing). */
void nt_svg_box(struct nt_buffer *out, struct nt_box box, struct nt_colour colour,
                const struct nt_buffer *title);

/* Colours that tell apart: the hue of a top-level field by its number; the ratio makes it light (stored as it
 * is) or deep (compressed well). */
struct nt_colour nt_field_colour(uint32_t number, double ratio);

/* "1.3 MB" */
void nt_append_bytes(struct nt_buffer *out, uint64_t bytes);
/* The top-level field above a field. */
uint32_t nt_top_field(const struct nt_dataset *dataset, uint32_t field);

#endif
