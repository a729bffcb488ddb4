/* SPDX-License-Identifier: MIT
 *
 * Random nested rows and their pages. This file is independent of the reader.
 */
#include "tree_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { MAX_ITEMS = 4 };

/* ---- rows ---- */

static bool is_list(uint8_t layer)
{
    return layer == NT_LAYER_LIST || layer == NT_LAYER_NULLABLE_LIST || layer == NT_LAYER_EMPTYABLE_LIST ||
           layer == NT_LAYER_NULL_AND_EMPTY_LIST;
}

static bool may_be_null(uint8_t layer)
{
    return layer == NT_LAYER_NULLABLE_ITEM || layer == NT_LAYER_NULLABLE_LIST ||
           layer == NT_LAYER_NULL_AND_EMPTY_LIST;
}

static bool may_be_empty(uint8_t layer)
{
    return layer == NT_LAYER_EMPTYABLE_LIST || layer == NT_LAYER_NULL_AND_EMPTY_LIST;
}

/* The definition levels of the layers inside one. */
static uint16_t levels_below(const struct model *model, uint32_t layer)
{
    uint16_t levels = 0;
    for (uint32_t i = 0; i < layer; i++)
        levels = (uint16_t)(levels + may_be_null(model->layers[i]) + may_be_empty(model->layers[i]));
    return levels;
}

static uint16_t lists_up_to(const struct model *model, uint32_t layer)
{
    uint16_t lists = 0;
    for (uint32_t i = 0; i <= layer && i < model->layer_count; i++)
        lists = (uint16_t)(lists + is_list(model->layers[i]));
    return lists;
}

static void add_level(struct model *model, uint16_t repetition, uint16_t definition, bool is_visible)
{
    ck_assert_uint_lt(model->levels, MODEL_MAX);
    model->repetition[model->levels] = repetition;
    model->definition[model->levels] = definition;
    model->is_visible[model->levels++] = is_visible;
}

static void add_row(struct model *model, uint32_t layer, uint16_t repetition, uint16_t null);

/* A list, whose items begin lists further inside; `null`: the level of the null around it, or 0. */
static void add_list(struct model *model, uint32_t layer, uint16_t repetition, uint16_t null)
{
    uint8_t kind = model->layers[layer];
    uint16_t below = levels_below(model, layer);
    struct model_layer *of = &model->of[layer];
    uint64_t row = of->rows++;
    if (!null && may_be_null(kind) && rand() % 4 == 0)
        null = (uint16_t)(below + 1);
    uint32_t items = null ? 0 : (uint32_t)rand() % MAX_ITEMS + !may_be_empty(kind);
    of->valid[row] = !null;
    for (uint32_t i = 0; i < items; i++)
        add_row(model, layer - 1, i ? (uint16_t)(lists_up_to(model, layer) - 1) : repetition, 0);
    if (!items)
        add_level(model, repetition, null ? null : (uint16_t)(below + may_be_null(kind) + 1), false);
    of->ends[row] = model->of[layer - 1].rows;
}

static void add_row(struct model *model, uint32_t layer, uint16_t repetition, uint16_t null)
{
    ck_assert_uint_lt(model->of[layer].rows, MODEL_MAX);
    if (is_list(model->layers[layer])) {
        add_list(model, layer, repetition, null);
        return;
    }
    uint64_t row = model->of[layer].rows++;
    if (!null && may_be_null(model->layers[layer]) && rand() % 4 == 0)
        null = (uint16_t)(levels_below(model, layer) + 1);
    model->of[layer].valid[row] = !null;
    if (layer) {
        add_row(model, layer - 1, repetition, null);
        return;
    }
    model->values[row] = (uint32_t)rand() % 1000;
    add_level(model, repetition, null, true);
}

void model_fill(struct model *model, const uint8_t *layers, uint32_t layer_count, uint32_t rows)
{
    memset(model, 0, sizeof(*model));
    memcpy(model->layers, layers, layer_count);
    model->layer_count = layer_count;
    for (uint32_t i = 0; i < rows; i++)
        add_row(model, layer_count - 1, lists_up_to(model, layer_count), 0);
}

bool model_has_lists(const struct model *model)
{
    return lists_up_to(model, model->layer_count);
}

bool model_has_definition(const struct model *model)
{
    return levels_below(model, model->layer_count);
}

/* A row of a layer begins with the level of its first item: if at least as many lists begin as there
 * are in the layer and inside it, unless a list around it is empty. */
uint64_t model_rows_before(const struct model *model, uint32_t layer, uint64_t level)
{
    uint64_t rows = 0;
    uint16_t around = levels_below(model, model->layer_count);
    for (uint32_t i = model->layer_count; i-- > layer + 1;)
        if (is_list(model->layers[i]))
            around = levels_below(model, i);
    for (uint64_t i = 0; i < level; i++)
        rows += model->repetition[i] >= lists_up_to(model, layer) && model->definition[i] <= around;
    return rows;
}

/* ---- bytes ---- */

void put_bytes(struct page *page, const void *bytes, size_t count)
{
    ck_assert_uint_le(page->count + count, sizeof(page->bytes));
    if (count)
        memcpy(page->bytes + page->count, bytes, count);
    page->count += count;
}

void put_number(struct page *page, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        put_bytes(page, &(uint8_t){(uint8_t)(value >> (8 * i))}, 1);
}

static void pad(struct page *page)
{
    while (page->count % 8)
        put_number(page, 0, 1);
}

/* Uncompressed levels, or u64 bytes of values, the values, and lengths of one byte. */
static void put_levels(struct page *page, const uint16_t *levels, uint64_t count, bool has_runs)
{
    static struct page values, lengths;
    values.count = lengths.count = 0;
    for (uint64_t i = 0, run = 1; i < count; i++, run++) {
        if (!has_runs) {
            put_number(page, levels[i], 2);
        } else if (i + 1 == count || levels[i + 1] != levels[i] || run == 255) {
            put_number(&values, levels[i], 2);
            put_number(&lengths, run, 1);
            run = 0;
        }
    }
    if (!has_runs)
        return;
    put_number(page, values.count, 8);
    put_bytes(page, values.bytes, values.count);
    put_bytes(page, lengths.bytes, lengths.count);
}

static void put_chunk(const struct model *model, uint64_t begin, uint64_t end, bool has_runs, bool is_large,
                      const struct page *values, struct page *page)
{
    static struct page levels[2];
    const uint16_t *stored[] = {model->repetition, model->definition};
    const bool is_there[] = {model_has_lists(model), model_has_definition(model)};
    page->count = 0;
    put_number(page, end - begin, 2);
    for (int i = 0; i < 2; i++) {
        levels[i].count = 0;
        put_levels(&levels[i], stored[i] + begin, end - begin, has_runs);
        if (is_there[i])
            put_number(page, levels[i].count, 2);
    }
    put_number(page, values->count, is_large ? 4 : 2);
    pad(page);
    for (int i = 0; i < 2; i++) {
        put_bytes(page, levels[i].bytes, is_there[i] ? levels[i].count : 0);
        pad(page);
    }
    put_bytes(page, values->bytes, values->count);
    pad(page);
}

void write_chunk(const struct model *model, uint64_t begin, uint64_t end, bool has_runs, bool is_large,
                 struct page *page)
{
    static struct page values;
    values.count = 0;
    for (uint64_t i = model_rows_before(model, 0, begin); i < model_rows_before(model, 0, end); i++)
        put_number(&values, model->values[i], 4);
    put_chunk(model, begin, end, has_runs, is_large, &values, page);
}

static int digits_of(const struct model *model, uint64_t row, char digits[16])
{
    return model->of[0].valid[row] ? snprintf(digits, 16, "%u", model->values[row]) : 0;
}

void write_chunk_of_strings(const struct model *model, uint64_t begin, uint64_t end, struct page *page)
{
    static struct page values;
    uint64_t first = model_rows_before(model, 0, begin), last = model_rows_before(model, 0, end);
    uint64_t offset = 4 * (last - first + 1);
    char digits[16];
    values.count = 0;
    put_number(&values, offset, 4);
    for (uint64_t i = first; i < last; i++)
        put_number(&values, offset += (uint64_t)digits_of(model, i, digits), 4);
    for (uint64_t i = first; i < last; i++)
        put_bytes(&values, digits, (size_t)digits_of(model, i, digits));
    put_chunk(model, begin, end, false, false, &values, page);
}

void write_full_zip(const struct model *model, uint64_t begin, uint64_t end, uint32_t repetition_bits,
                    uint32_t definition_bits, bool is_variable, struct page *page)
{
    uint32_t bits = repetition_bits + definition_bits;
    uint64_t row = model_rows_before(model, 0, begin);
    char digits[16];
    page->count = 0;
    for (uint64_t i = begin; i < end; i++) {
        put_number(page, (uint64_t)model->repetition[i] << definition_bits | model->definition[i],
                   bits == 0   ? 0
                   : bits <= 8 ? 1
                               : 2 + 2 * (bits > 16));
        if (!model->is_visible[i])
            continue;
        if (!is_variable) {
            put_number(page, model->values[row], 4);
        } else if (!model->definition[i]) {
            int count = digits_of(model, row, digits);
            put_number(page, (uint64_t)count, 4);
            put_bytes(page, digits, (size_t)count);
        }
        row++;
    }
}
