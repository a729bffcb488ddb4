/* SPDX-License-Identifier: MIT
 *
 * Reads the dictionaries of legacy files, which all batches share, as pages that other pages are
 * decoded with.
 */
#include "formats/lance/legacy/legacy.h"

#include <ntuple/source.h>

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/codec/codec.h"
#include "core/model/model.h"
#include "formats/lance/decode/decode.h"
#include "formats/lance/file/page_list.h"

enum { OFFSET_BITS = 64 };

static bool is_strings(const struct nt_lance_legacy_pages *listing)
{
    return listing->field->kind != NT_FIELD_VALUE;
}

/* ---- Items ---- */

/* `stored_ret`: bytes of the offsets or values. */
static enum nt_status check_items(const struct nt_lance_legacy_pages *listing, uint64_t *stored_ret)
{
    uint64_t offset = listing->paging->dictionary.offset, count = listing->paging->dictionary.length;
    uint64_t elements = count, width = is_strings(listing) ? OFFSET_BITS / 8 : listing->field->dtype.bytes;
    bool is_counted = !is_strings(listing) || nt_add(count, 1, &elements);
    if (!is_counted || count > UINT32_MAX || !nt_multiply(elements, width, stored_ret) ||
        !nt_fits(offset, *stored_ret, listing->lance->size))
        return nt_fail(listing->error, NT_CORRUPT, offset,
                       "a dictionary of %" PRIu64 " items is outside the file of %" PRIu64 " bytes", count,
                       listing->lance->size);
    return NT_OK;
}

static struct nt_page item_page(const struct nt_lance_legacy_pages *listing, uint64_t offset, uint64_t stored,
                                uint64_t elements)
{
    return (struct nt_page){.offset = offset,
                            .stored_bytes = stored,
                            .elements = (uint32_t)elements,
                            .source = listing->lance->number};
}

/* Reads where the items end into memory, to compute the string sizes of batches. */
static enum nt_status read_ends(struct nt_lance_legacy_pages *listing, uint64_t stored)
{
    uint64_t offset = listing->paging->dictionary.offset, count = listing->paging->dictionary.length;
    if (stored > listing->dataset->file->page_bytes)
        return nt_fail(listing->error, NT_LIMIT, offset,
                       "the offsets of a dictionary have %" PRIu64
                       " bytes, more than the limit pagesize of %" PRIu64,
                       stored, listing->dataset->file->page_bytes);
    uint8_t *bytes = malloc(stored);
    if (!bytes)
        return nt_fail_memory(listing->error);
    listing->items.ends = (uint64_t *)(void *)bytes;
    enum nt_status status = nt_source_read(listing->lance->source, offset, bytes, stored, listing->error);
    uint64_t first = status == NT_OK ? nt_load_le64(bytes) : 0, last = first;
    for (uint64_t i = 0; status == NT_OK && i < count; i++) {
        uint64_t next = nt_load_le64(bytes + (i + 1) * sizeof(next));
        if (next < last)
            status = nt_fail(listing->error, NT_CORRUPT, offset,
                             "item %" PRIu64 " of a dictionary ends before it begins", i);
        listing->items.ends[i] = next - first;
        last = next;
    }
    return status;
}

static enum nt_status open_strings(struct nt_lance_legacy_pages *listing, uint64_t stored)
{
    const struct nt_dtype index = nt_element_dtype(NT_ELEMENT_UINT64),
                          valid = nt_element_dtype(NT_ELEMENT_BOOL);
    struct nt_tree_state ends = {.spec = {.output = NT_TREE_ENDS}},
                         are_valid = {.spec = {.output = NT_TREE_VALID}};
    struct nt_lance_items *items = &listing->items;
    uint64_t offset = listing->paging->dictionary.offset, count = listing->paging->dictionary.length, begin,
             bytes;
    struct nt_decoder byte;
    enum nt_status status =
        nt_lance_read_strings(listing->lance, offset, count, &begin, &bytes, listing->error);
    if (status == NT_OK && bytes > UINT32_MAX)
        status = nt_fail(listing->error, NT_LIMIT, offset,
                         "a dictionary has %" PRIu64 " bytes, more than the limit of 2^32", bytes);
    if (status == NT_OK)
        status = read_ends(listing, stored);
    if (status == NT_OK)
        status = nt_lance_flat_tree(listing, true, OFFSET_BITS, stored, &ends.tree);
    if (status == NT_OK)
        status = nt_decoder_init(&byte, NT_ENCODING_BYTE, 0, 0, 0, listing->error);
    if (status != NT_OK)
        return status;
    struct nt_dataset *dataset = listing->dataset;
    items->dependencies.count = 2;
    items->dependencies.pages[0] = items->valid = item_page(listing, offset, stored, count);
    items->dependencies.pages[1] = item_page(listing, begin, bytes, bytes);
    are_valid.tree = ends.tree;
    status = nt_lance_add_decoder(dataset, &ends, &index, NULL, &items->dependencies.pages[0].decoder,
                                  listing->error);
    if (status == NT_OK)
        status = nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &byte,
                                 &items->dependencies.pages[1].decoder, listing->error);
    return status == NT_OK ? nt_lance_add_decoder(dataset, &are_valid, &valid, NULL, &items->valid.decoder,
                                                  listing->error)
                           : status;
}

enum nt_status nt_lance_open_items(struct nt_lance_legacy_pages *listing)
{
    uint64_t stored = 0;
    enum nt_status status = check_items(listing, &stored);
    if (status != NT_OK || is_strings(listing))
        return status == NT_OK ? open_strings(listing, stored) : status;
    struct nt_lance_items *items = &listing->items;
    uint32_t column = nt_field_column(listing->dataset, listing->number, 0, 0);
    items->dependencies.count = 1;
    items->dependencies.pages[0] =
        item_page(listing, listing->paging->dictionary.offset, stored, listing->paging->dictionary.length);
    items->dependencies.pages[0].decoder = listing->dataset->columns[column].decoder;
    return NT_OK;
}

/* ---- Indices ---- */

enum nt_status nt_lance_count_items(struct nt_lance_legacy_pages *listing, struct nt_lance_batch *batch)
{
    const struct nt_tree *tree;
    struct nt_tree_counts counts = {0};
    uint64_t limit = listing->dataset->file->page_bytes;
    if (batch->stored_bytes > limit)
        return nt_fail(listing->error, NT_LIMIT, batch->offset,
                       "a page has %" PRIu64 " bytes, more than the limit pagesize of %" PRIu64,
                       batch->stored_bytes, limit);
    uint8_t *bytes = malloc(batch->stored_bytes + 1);
    if (!bytes)
        return nt_fail_memory(listing->error);
    const struct nt_value dependencies[2] = {
        {(const uint8_t *)listing->items.ends, listing->paging->dictionary.length, NT_ELEMENT_UINT64,
         sizeof(uint64_t)},
        {NULL, listing->items.dependencies.pages[1].elements, NT_ELEMENT_BYTE, 1}};
    const struct nt_packed packed = {
        .data = bytes, .bytes = (size_t)batch->stored_bytes, .dependencies = dependencies, .limit = limit};
    enum nt_status status =
        nt_source_read(listing->lance->source, batch->offset, bytes, batch->stored_bytes, listing->error);
    if (status == NT_OK)
        status = nt_lance_flat_tree(listing, false, listing->paging->bits, batch->stored_bytes, &tree);
    if (status == NT_OK)
        status = nt_tree_count(tree, &packed, batch->rows, true, 0, &counts, listing->error);
    free(bytes);
    batch->bytes = counts.bytes;
    return status;
}

/* Indices select from the validity of the dictionary's items. The state is the index size in bytes. */
static enum nt_status choose_validity(const struct nt_packed *packed, uint8_t *output, struct nt_error *error)
{
    const uint32_t *number_bytes = packed->decoder->state;
    const struct nt_value numbers = {packed->data, packed->elements, NT_ELEMENT_OPAQUE, *number_bytes};
    if (packed->bytes / *number_bytes != packed->elements || packed->bytes % *number_bytes)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "%zu bytes do not hold the expected %zu dictionary indices", packed->bytes,
                       packed->elements);
    return nt_dictionary_gather(&numbers, &packed->dependencies[0], output, error);
}

static const struct nt_decoder_ops validity_ops = {.decode = choose_validity, .takes_memory = true};

static enum nt_status add_validity(struct nt_lance_legacy_pages *listing, uint32_t *number_ret)
{
    struct nt_dataset *dataset = listing->dataset;
    const uint32_t number_bytes = listing->paging->bits / 8;
    const struct nt_decoder decoder = {.ops = &validity_ops,
                                       .state = &number_bytes,
                                       .dependencies = &listing->items.valid,
                                       .state_bytes = sizeof(number_bytes),
                                       .dependency_count = 1,
                                       .encoding = NT_ENCODING_OTHER,
                                       .element = NT_ELEMENT_BOOL,
                                       .element_bytes = 1};
    return nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &decoder, number_ret,
                           listing->error);
}

enum nt_status nt_lance_add_items_decoder(struct nt_lance_legacy_pages *listing,
                                          const struct nt_lance_batch *batch, enum nt_tree_output output,
                                          const struct nt_dtype *dtype, uint32_t *number_ret)
{
    struct nt_tree_state state = {.spec = {.output = output}};
    if (output == NT_TREE_VALID)
        return add_validity(listing, number_ret);
    enum nt_status status =
        nt_lance_flat_tree(listing, false, listing->paging->bits, batch->stored_bytes, &state.tree);
    return status == NT_OK ? nt_lance_add_decoder(listing->dataset, &state, dtype,
                                                  &listing->items.dependencies, number_ret, listing->error)
                           : status;
}
