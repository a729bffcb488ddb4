/* SPDX-License-Identifier: MIT
 *
 * The Arrow form of a test's dataset, for comparison with its rows.
 */
#pragma once

#include <ntuple/arrow.h>

#include "core/base/memory.h"
#include "dataset_builder.h"
#include "core/json/json.h"
#include "render/arrow/arrow.h"

struct nt_arrow *open_arrow_with(struct builder *builder, enum nt_arrow_unions unions);
struct nt_arrow *open_arrow(struct builder *builder); /* with the usual options */

/* Rows show a variant with an alternative that cannot be read. Arrow's union does not; its struct omits
 * that member. */
bool has_broken_variant(const struct builder *builder, const struct nt_arrow *arrow);

/* Part of the file. */
void read_file(struct nt_arrow *arrow, uint64_t offset, size_t bytes, uint8_t *output);

/* A slot as JSON, in the form of rows.jsonl. */
void put_slot(struct nt_json *json, const struct ArrowSchema *schema, const struct ArrowArray *array,
              int64_t slot);
/* All entries, a line each: from the exported batches, and from rows.jsonl. */
void lines_from_arrow(const struct nt_arrow *arrow, struct nt_buffer *out);
void lines_from_rows(struct builder *builder, struct nt_buffer *out);

/* The value of a key, in a text of at most `room` bytes. */
void find_metadata(const struct ArrowSchema *schema, const char *key, char *value, size_t room);
/* "ntuple.left_out" of the schema, in a text of at most `room` bytes. */
void omitted(const struct nt_arrow *arrow, char *value, size_t room);
