/* SPDX-License-Identifier: MIT
 *
 * The layout of a file: every byte range in order with its owner, without holes and without overlaps.
 */
#ifndef NT_VIEW_LAYOUT_H
#define NT_VIEW_LAYOUT_H

#include "core/model/model.h"
#include "tools/layout_item.h"

/* Items are made window by window: whatever the file has, so many claims are in memory at once, or a part of all of them. */
struct nt_layout;

/* Ask who claims bytes (loads all page lists; those that are bad leave gaps). NT_LIMIT where the format has more ranges than the
 * file may ask for. */
enum nt_status nt_layout_new(const struct nt_file *file, struct nt_layout **layout_ret,
                             struct nt_error *error);
void nt_layout_free(struct nt_layout *layout); /* accepts NULL */

/* The next item in the order of the file; *has_ret false behind the last. */
enum nt_status nt_layout_next(struct nt_layout *layout, struct nt_layout_item *item_ret, bool *has_ret,
                              struct nt_error *error);
/* Go back to the first. */
void nt_layout_rewind(struct nt_layout *layout);

/* Sizes of the sources; 0 of a file that cannot be opened, of which nothing is known. Those of objects are known once the last
 * item was. */
const uint64_t *nt_layout_source_bytes(const struct nt_layout *layout, uint32_t *count_ret);

/* The source of an item, for its name. */
struct nt_source *nt_layout_source(const struct nt_file *file, uint32_t source);

/* layout.jsonl: a line per item. */
enum nt_status nt_layout_lines(const struct nt_file *file, struct nt_long_text **text_ret,
                               struct nt_error *error);

#endif
