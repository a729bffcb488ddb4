/* SPDX-License-Identifier: MIT
 *
 * Random nested rows, the content of each of their layers, and their levels, by the definition in Lance's
 * documents ("Repetition and definition levels"); and pages of them.
 */
#pragma once

#include "formats/lance/decode/decode.h"

enum { MODEL_MAX = 4096, MODEL_LAYERS = 8 };

struct model_layer {
    uint64_t rows;
    uint8_t valid[MODEL_MAX];
    uint64_t ends[MODEL_MAX]; /* lists: the end of each, in rows of the next inner layer */
};

struct model {
    uint8_t layers[MODEL_LAYERS]; /* enum nt_layer, innermost first */
    uint32_t layer_count;
    struct model_layer of[MODEL_LAYERS];
    uint64_t levels;
    uint16_t repetition[MODEL_MAX], definition[MODEL_MAX];
    uint8_t is_visible[MODEL_MAX]; /* for each level: is there a value? */
    uint32_t values[MODEL_MAX];    /* for each row of the innermost layer; for null ones what is stored */
};

/* `rows` random rows. */
void model_fill(struct model *model, const uint8_t *layers, uint32_t layer_count, uint32_t rows);
bool model_has_lists(const struct model *model);
bool model_has_definition(const struct model *model);
/* Rows of a layer that begin before a level; for the innermost one, the values before it. */
uint64_t model_rows_before(const struct model *model, uint32_t layer, uint64_t level);

struct page {
    uint8_t bytes[MODEL_MAX * 16];
    size_t count;
};

/* Levels [begin, end) and their values in 32 bits: a mini-block chunk, whose levels are flat or runs. */
void write_chunk(const struct model *model, uint64_t begin, uint64_t end, bool has_runs, bool is_large,
                 struct page *page);
/* The same with the values as strings of decimal digits, and null ones as empty strings. */
void write_chunk_of_strings(const struct model *model, uint64_t begin, uint64_t end, struct page *page);
/* Rows of full zip. */
void write_full_zip(const struct model *model, uint64_t begin, uint64_t end, uint32_t repetition_bits,
                    uint32_t definition_bits, bool is_variable, struct page *page);

void put_number(struct page *page, uint64_t value, uint32_t bytes);
void put_bytes(struct page *page, const void *bytes, size_t count);
