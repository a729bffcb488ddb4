/* SPDX-License-Identifier: MIT
 *
 * In: a page of places (u64 position, u64 size). Out: a page of the model for each blob, whose bytes lie there as they
 * are. Nothing of them is read (Lance's encoding, "Blob layout").
 *
 * Without bytes, position 0 is an empty value and anything else a null one: u16 repetition, u16 definition, of the layers
 * around blobs.
 */
#include "formats/lance/file/blobs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/bytes.h"
#include "core/base/overflow.h"
#include "formats/lance/decode/levels.h"
#include "formats/lance/decode/tree.h"

enum { PLACE_BYTES = 16 };

struct nt_tree_want nt_lance_presence(const struct nt_lance_opened *opened, const struct nt_lance_use *use)
{
    struct nt_layer_rule rule;
    nt_layer_rule(&opened->layout.blobs, use->layer, &rule);
    return (struct nt_tree_want){.output = NT_TREE_PRESENT, .valid = rule.valid};
}

/* Blobs lie in front of the metadata. */
static enum nt_status add_blob(struct nt_filling *filling, const uint8_t *place, uint64_t number)
{
    struct nt_filled filled = {
        .offset = nt_load_le64(place), .stored_bytes = nt_load_le64(place + 8), .is_blob = true};
    uint64_t end, metadata = filling->lance->tail.columns_start;
    filled.bytes = filled.stored_bytes;
    filled.decoders[0] = filling->decoders[0];
    if (!filled.bytes)
        filled.offset = 0;
    if (!nt_add(filled.offset, filled.bytes, &end) || end > metadata)
        return nt_fail(filling->error, NT_CORRUPT, NT_NO_OFFSET,
                       "blob %" PRIu64 ", %" PRIu64 " bytes at %" PRIu64
                       ", does not lie in front of the metadata, which begin at byte %" PRIu64,
                       number, filled.bytes, filled.offset, metadata);
    return nt_filling_add(filling, &filled);
}

static enum nt_status fill_unit(struct nt_filling *filling, struct nt_lance_opened *opened)
{
    static const struct nt_tree_want want = {.output = NT_TREE_VALUES};
    struct nt_lance_unit unit;
    struct nt_packed packed = {.context = filling->context, .limit = filling->dataset->file->page_bytes};
    uint64_t bytes;
    enum nt_status status = nt_lance_next_unit(opened, &unit, filling->error);
    if (status == NT_OK)
        status = nt_lance_read_unit(filling, opened, &unit, &packed.data);
    if (status == NT_OK && (!nt_multiply(unit.values, PLACE_BYTES, &bytes) || bytes > packed.limit))
        status = nt_fail(filling->error, NT_LIMIT, unit.offset,
                         "the places of %" PRIu64
                         " blobs in one page take more than the limit pagesize of %" PRIu64 " bytes",
                         unit.values, packed.limit);
    if (status == NT_OK)
        status = nt_filling_spend(filling, bytes);
    if (status != NT_OK)
        return status;
    packed.bytes = (size_t)unit.bytes;
    packed.elements = (size_t)unit.values;
    uint8_t *places = malloc(bytes ? bytes : 1);
    status = places ? nt_tree_decode(opened->layout.tree, &want, &packed, PLACE_BYTES, places, filling->error)
                    : nt_fail_memory(filling->error);
    for (uint64_t i = 0; status == NT_OK && i < unit.values; i++)
        status = add_blob(filling, places + i * PLACE_BYTES, opened->next_value - unit.values + i);
    free(places);
    const struct nt_filled filled = {.offset = unit.offset,
                                     .stored_bytes = unit.bytes,
                                     .rows = unit.values,
                                     .decoders = {0, filling->decoders[1]}};
    return status == NT_OK ? nt_filling_add(filling, &filled) : status;
}

enum nt_status nt_lance_fill_blobs(struct nt_filling *filling, struct nt_lance_opened *opened)
{
    struct nt_dataset *dataset = filling->dataset;
    const struct nt_tree_want presence = nt_lance_presence(opened, filling->use);
    const struct nt_dtype valid = nt_element_dtype(NT_ELEMENT_BOOL);
    struct nt_decoder decoder;
    enum nt_status status = nt_decoder_init(&decoder, NT_ENCODING_BYTE, 0, 0, 0, filling->error);
    if (status == NT_OK)
        status = nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &decoder,
                                 &filling->decoders[0], filling->error);
    if (status == NT_OK && filling->field->is_nullable)
        status = nt_filling_add_decoder(filling, opened->layout.tree, &presence, &valid, NULL, 0,
                                        &filling->decoders[1]);
    while (status == NT_OK && opened->next_unit < opened->unit_count)
        status = fill_unit(filling, opened);
    return status;
}
