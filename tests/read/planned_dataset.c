/* SPDX-License-Identifier: MIT */
#include "planned_dataset.h"

#include <string.h>

#include "support.h"
#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/model/model.h"

/* Bytes followed by their digest; the page that they form. */
static struct nt_page write_dependency(struct builder *builder, const void *bytes, size_t count,
                                       uint32_t elements)
{
    uint8_t digest[8];
    struct nt_page page = {.offset = builder->bytes.length,
                           .stored_bytes = count,
                           .elements = elements,
                           .checksum = NT_CHECKSUM_XXH3_64};
    nt_checksum_info(NT_CHECKSUM_XXH3_64)->compute(bytes, count, digest);
    nt_buffer_append(&builder->bytes, bytes, count);
    nt_buffer_append(&builder->bytes, digest, sizeof(digest));
    return page;
}

static uint32_t add_decoder(struct nt_dataset *dataset, const struct nt_decoder *decoder)
{
    struct nt_error error;
    uint32_t number;
    assert_ok(nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, decoder, &number,
                              &error));
    return number;
}

/* 16-bit indexes into each dependency; all but the last contain indexes again. */
static enum nt_status look_up(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    uint32_t last = packed->decoder->dependency_count - 1, width = packed->decoder->element_bytes;
    for (size_t i = 0; i < packed->elements; i++) {
        const uint8_t *element = packed->data + i * sizeof(uint16_t);
        for (uint32_t k = 0; k <= last; k++) {
            uint16_t number = nt_load_le16(element);
            if (number >= packed->dependencies[k].elements)
                return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "no item %u", number);
            element = packed->dependencies[k].data + (size_t)number * packed->dependencies[k].element_bytes;
        }
        memcpy(output + i * width, element, width);
    }
    return NT_OK;
}

struct nt_decoder planned_decoder(const struct nt_page *dependencies, uint32_t count)
{
    static const struct nt_decoder_ops ops = {.decode = look_up, .allocates_memory = true};
    return (struct nt_decoder){.ops = &ops,
                               .dependencies = dependencies,
                               .dependency_count = count,
                               .encoding = NT_ENCODING_OTHER,
                               .element = NT_ELEMENT_REAL64,
                               .bits = 16,
                               .element_bytes = sizeof(double)};
}

/* 16-bit indexes; the indexes that these refer to; the items that those refer to. */
static uint32_t add_planned(struct nt_dataset *dataset, struct nt_page dependencies[2])
{
    struct nt_error error;
    struct nt_decoder item, number;
    assert_ok(nt_decoder_init(&item, NT_ENCODING_REAL64, 0, 0, 0, &error));
    assert_ok(nt_decoder_init(&number, NT_ENCODING_UINT16, 0, 0, 0, &error));
    dependencies[0].decoder = add_decoder(dataset, &number);
    dependencies[1].decoder = add_decoder(dataset, &item);
    const struct nt_decoder decoder = planned_decoder(dependencies, 2);
    return add_decoder(dataset, &decoder);
}

void planned_dataset(struct planned *planned)
{
    static uint64_t stored[PLANNED_ENTRIES];
    uint16_t numbers[PLANNED_NUMBERS];
    double items[PLANNED_ITEMS];
    struct nt_error error;
    struct builder *builder = planned->builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_REAL64);
    uint32_t column = add_column(builder, field, NT_ENCODING_UINT16, 0);
    uint32_t cluster = add_cluster(builder, 0, PLANNED_ENTRIES);
    for (uint16_t i = 0; i < PLANNED_NUMBERS; i++)
        numbers[i] = (uint16_t)(i * 11 % PLANNED_ITEMS);
    for (size_t i = 0; i < PLANNED_ITEMS; i++)
        items[i] = (double)i * 1.5;
    for (size_t i = 0; i < PLANNED_ENTRIES; i++) {
        stored[i] = i * 7 % PLANNED_NUMBERS;
        planned->expected[i] = items[numbers[stored[i]]];
    }
    struct nt_page dependencies[] = {write_dependency(builder, numbers, sizeof(numbers), PLANNED_NUMBERS),
                                     write_dependency(builder, items, sizeof(items), PLANNED_ITEMS)};
    planned->numbers_offset = dependencies[0].offset;
    planned->items_offset = dependencies[1].offset;
    add_elements(builder, cluster, column, stored, PLANNED_ENTRIES, PLANNED_ENTRIES / PLANNED_PAGES);
    finish(builder, NULL);
    planned->decoder = add_planned(builder->dataset, dependencies);
    builder->columns[column].decoder = planned->decoder;
    builder->columns[column].dtype = nt_element_dtype(NT_ELEMENT_REAL64);
    for (uint32_t i = 0; i < PLANNED_PAGES; i++)
        builder->pages[0][i].decoder = planned->decoder;
    assert_ok(nt_dataset_load_all(builder->dataset, &error));
}
