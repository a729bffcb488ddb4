/* SPDX-License-Identifier: MIT
 *
 * Decodes pages of Lance 2.0 and of the legacy versions, whose encodings refer to buffers by number and
 * store validity instead of levels.
 */
#include "formats/lance/decode/decode.h"

#include <stdio.h>

struct node_job_v2_0 {
    struct nt_decode_arena *arena;
    const struct nt_encoding_tree_node *node;
    const struct nt_buffer_slice *parts;
    uint32_t part_count;
    const struct nt_buffer_slice *instead; /* replaces the node's buffer once that is decompressed */
    uint64_t elements;
    struct nt_decoded_array *array;
};

typedef enum nt_status decode_node(const struct node_job_v2_0 *job, struct nt_error *error);

static enum nt_status decode(const struct node_job_v2_0 *job, uint32_t node, struct nt_error *error);

static enum nt_status decode_child(const struct node_job_v2_0 *job, unsigned child, uint64_t elements,
                                   struct nt_decoded_array *array, struct nt_error *error)
{
    struct node_job_v2_0 below = *job;
    below.elements = elements;
    below.array = array;
    *array = (struct nt_decoded_array){0};
    return decode(&below, job->node->children[child], error);
}

/* Also requires exactly `elements` elements: child lists could yield more or fewer. */
static enum nt_status decode_exactly(const struct node_job_v2_0 *job, unsigned child, uint64_t elements,
                                     struct nt_decoded_array *array, struct nt_error *error)
{
    NT_TRY(decode_child(job, child, elements, array, error));
    if (array->elements == elements)
        return NT_OK;
    char what[64];
    snprintf(what, sizeof(what), "elements of a child of the encoding %s",
             nt_encoding_tree_node_info(job->node->kind)->name);
    return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, what, elements, array->elements);
}

static enum nt_status find_part(const struct node_job_v2_0 *job, const struct nt_buffer_slice **part_ret,
                                struct nt_error *error)
{
    *part_ret = job->instead;
    if (job->instead)
        return NT_OK;
    if (job->node->buffer >= job->part_count)
        return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "buffers of the page",
                             job->node->buffer + UINT64_C(1), job->part_count);
    *part_ret = &job->parts[job->node->buffer];
    return NT_OK;
}

static enum nt_status decode_flat(const struct node_job_v2_0 *job, struct nt_error *error)
{
    const struct nt_buffer_slice *part;
    uint64_t bytes;
    NT_TRY(find_part(job, &part, error));
    NT_TRY(nt_bits_to_bytes(job->elements, job->node->bits, &bytes, error));
    NT_TRY(nt_buffer_slice_require(part, bytes, "flat values", error));
    *job->array = (struct nt_decoded_array){
        .elements = job->elements, .bits = job->node->bits, .data = part->data, .bytes = bytes};
    return NT_OK;
}

static enum nt_status decompress(const struct node_job_v2_0 *job, struct nt_error *error)
{
    const struct nt_buffer_slice *part;
    struct nt_buffer_slice instead;
    uint8_t *output;
    struct node_job_v2_0 below = *job;
    enum nt_length_prefixed_kind algorithm = job->node->algorithm;
    NT_TRY(find_part(job, &part, error));
    NT_TRY(nt_length_prefixed_bytes(algorithm, part->data, part->bytes, &instead.bytes, error));
    NT_TRY(nt_decode_alloc(job->arena, instead.bytes, &output, error));
    NT_TRY(nt_length_prefixed_decompress(algorithm, part->data, part->bytes, output, instead.bytes,
                                         job->arena->packed->context, error));
    instead.data = output;
    below.instead = &instead;
    return decode(&below, job->node->children[0], error);
}

static enum nt_status decode_nullable(const struct node_job_v2_0 *job, struct nt_error *error)
{
    struct nt_decoded_array valid;
    NT_TRY(decode_child(job, 0, job->elements, job->array, error));
    if (job->node->children[1] == NT_NO_NODE)
        return NT_OK;
    NT_TRY(decode_exactly(job, 1, job->elements, &valid, error));
    if (valid.bits != 1)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bits of validity", 1, valid.bits);
    job->array->valid = valid.data;
    return NT_OK;
}

static enum nt_status make_null(const struct node_job_v2_0 *job, struct nt_error *error)
{
    *job->array = (struct nt_decoded_array){.elements = job->elements, .is_null = true};
    return NT_OK;
}

static enum nt_status take_bits(struct nt_decode_arena *arena, uint64_t elements, int byte,
                                uint8_t **bits_ret, struct nt_error *error)
{
    uint64_t bytes;
    NT_TRY(nt_bits_to_bytes(elements, 1, &bytes, error));
    NT_TRY(nt_decode_alloc(arena, bytes, bits_ret, error));
    memset(*bits_ret, byte, bytes);
    return NT_OK;
}

/* Lists of null items need not be null themselves. */
static enum nt_status keep_lists_of_nulls(const struct node_job_v2_0 *job, struct nt_error *error)
{
    uint8_t *valid;
    NT_TRY(take_bits(job->arena, job->elements, 0xFF, &valid, error));
    job->array->valid = valid;
    return NT_OK;
}

static enum nt_status decode_list(const struct node_job_v2_0 *job, struct nt_error *error)
{
    struct nt_decoded_array *array = job->array;
    uint64_t items;
    if (!nt_checked_multiply(job->elements, job->node->items, &items))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of items of fixed-size lists overflows");
    NT_TRY(decode_child(job, 0, items, array, error));
    const struct nt_list_validity list = {
        .valid = array->valid, .are_null = array->is_null && !array->valid, .items = job->node->items};
    NT_TRY(nt_decoded_array_add_list(array, &list, error));
    array->valid = NULL;
    return array->is_null && !job->node->is_null ? keep_lists_of_nulls(job, error) : NT_OK;
}

static enum nt_status decode_rows(const struct node_job_v2_0 *job, struct nt_error *error)
{
    return decode_child(job, 0, job->elements, job->array, error);
}

/* ---- End offsets ---- */

/* Widens the numbers of an array to 64 bits. `what` names them. */
static enum nt_status load_numbers(const struct node_job_v2_0 *job, const struct nt_decoded_array *array,
                                   const char *what, uint64_t **numbers_ret, struct nt_error *error)
{
    uint32_t bits = array->bits;
    uint64_t *numbers, bytes;
    if (!nt_checked_multiply(array->elements, sizeof(*numbers), &bytes))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of %s overflows", what);
    NT_TRY(nt_decode_alloc(job->arena, bytes, &numbers, error));
    if (array->elements && !nt_is_number(bits))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s: cannot read integers of %" PRIu32 " bits",
                       nt_encoding_tree_node_info(job->node->kind)->name, bits);
    for (uint64_t i = 0; i < array->elements; i++)
        numbers[i] = nt_number_at(array->data, i, bits / 8);
    *numbers_ret = numbers;
    return NT_OK;
}

static void set_valid(uint8_t *valid, uint64_t i)
{
    valid[i / 8] |= (uint8_t)(1U << (i % 8));
}

/* The adjustment is added to the end offset of a null row. */
static enum nt_status decode_ends(const struct node_job_v2_0 *job, struct nt_error *error)
{
    struct nt_decoded_array stored;
    uint64_t *ends, adjustment = job->node->adjustment, last = 0;
    uint8_t *valid;
    NT_TRY(decode_exactly(job, 0, job->elements, &stored, error));
    NT_TRY(load_numbers(job, &stored, "end offsets", &ends, error));
    NT_TRY(take_bits(job->arena, job->elements, 0, &valid, error));
    for (uint64_t i = 0; i < job->elements; i++) {
        if (adjustment && ends[i] >= adjustment)
            ends[i] -= adjustment;
        else
            set_valid(valid, i);
        if (ends[i] < last)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "end offset %" PRIu64 " of a page decreases", i);
        if (job->node->kind == NT_LANCE_LIST_ENDS && adjustment && !nt_bit_is_set(valid, i) &&
            ends[i] != last)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "list %" PRIu64 " of a page is null, but has items", i);
        last = ends[i];
    }
    if (job->node->kind == NT_LANCE_LIST_ENDS && last != job->node->items)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "items of a page's lists", job->node->items,
                              last);
    *job->array = (struct nt_decoded_array){.elements = job->elements, .ends = ends, .valid = valid};
    return NT_OK;
}

/* Converts offsets in place to ends relative to the first offset. Non-empty rows are valid. */
static enum nt_status end_rows(uint64_t *offsets, uint64_t rows, uint8_t *valid, struct nt_error *error)
{
    uint64_t first = offsets[0], last = first;
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t next = offsets[i + 1];
        if (next < last)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "offset %" PRIu64 " of a page decreases", i + 1);
        if (next > last)
            set_valid(valid, i);
        offsets[i] = next - first;
        last = next;
    }
    return NT_OK;
}

static enum nt_status decode_offsets(const struct node_job_v2_0 *job, struct nt_error *error)
{
    struct nt_decoded_array stored;
    uint64_t *offsets = NULL, count;
    uint8_t *valid;
    if (!nt_checked_add(job->elements, 1, &count))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the number of offsets overflows");
    NT_TRY(decode_exactly(job, 0, count, &stored, error));
    NT_TRY(load_numbers(job, &stored, "offsets", &offsets, error));
    NT_TRY(take_bits(job->arena, job->elements, 0, &valid, error));
    NT_TRY(end_rows(offsets, job->elements, valid, error));
    *job->array = (struct nt_decoded_array){.elements = job->elements, .ends = offsets, .valid = valid};
    return NT_OK;
}

static enum nt_status decode_strings(const struct node_job_v2_0 *job, struct nt_error *error)
{
    struct nt_decoded_array bytes;
    NT_TRY(decode_ends(job, error));
    uint64_t total = job->elements ? job->array->ends[job->elements - 1] : 0;
    NT_TRY(decode_exactly(job, 1, total, &bytes, error));
    if (bytes.bits != 8)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bits of a string's bytes", 8, bytes.bits);
    job->array->data = bytes.data;
    job->array->bytes = total;
    return NT_OK;
}

static enum nt_status expand_strings(const struct node_job_v2_0 *job, struct nt_error *error)
{
    NT_TRY(decode_child(job, 0, job->elements, job->array, error));
    const uint8_t *valid = job->array->valid;
    NT_TRY(nt_strings_expand(job->arena, job->node->fsst, job->array, error));
    job->array->valid = valid;
    return NT_OK;
}

/* ---- Dictionaries ---- */

static bool is_item_valid(const struct nt_decoded_array *items, uint64_t number)
{
    return !items->is_null && (!items->valid || nt_bit_is_set(items->valid, number));
}

static enum nt_status copy_strings(const struct node_job_v2_0 *job, const uint64_t *numbers,
                                   const uint8_t *valid, const struct nt_decoded_array *items,
                                   struct nt_error *error)
{
    uint64_t *ends, total = 0, count = job->elements;
    uint8_t *output;
    NT_TRY(nt_decode_alloc(job->arena, count * sizeof(*ends), &ends, error));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = numbers[i];
        if (nt_bit_is_set(valid, i))
            total += items->ends[number] - (number ? items->ends[number - 1] : 0); /* below 2^64 */
        ends[i] = total;
    }
    NT_TRY(nt_decode_alloc(job->arena, total, &output, error));
    for (uint64_t i = 0, at = 0; i < count; at = ends[i++])
        if (ends[i] != at)
            memcpy(output + at, items->data + items->ends[numbers[i]] - (ends[i] - at), ends[i] - at);
    *job->array = (struct nt_decoded_array){
        .elements = count, .data = output, .bytes = total, .ends = ends, .valid = valid};
    return NT_OK;
}

static enum nt_status copy_bits(const struct node_job_v2_0 *job, const uint64_t *numbers,
                                const uint8_t *valid, const struct nt_decoded_array *items,
                                struct nt_error *error)
{
    uint8_t *output;
    NT_TRY(take_bits(job->arena, job->elements, 0, &output, error));
    for (uint64_t i = 0; i < job->elements; i++)
        if (nt_bit_is_set(valid, i) && nt_bit_is_set(items->data, numbers[i]))
            set_valid(output, i);
    *job->array = (struct nt_decoded_array){.elements = job->elements,
                                            .bits = 1,
                                            .data = output,
                                            .bytes = (job->elements + 7) / 8,
                                            .valid = valid};
    return NT_OK;
}

static enum nt_status copy_values(const struct node_job_v2_0 *job, const uint64_t *numbers,
                                  const uint8_t *valid, const struct nt_decoded_array *items,
                                  struct nt_error *error)
{
    uint64_t width = items->bits / 8, bytes;
    uint8_t *output;
    if (items->bits % 8 || !nt_checked_multiply(job->elements, width, &bytes))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "cannot read a dictionary of items of %" PRIu32 " bits", items->bits);
    NT_TRY(nt_decode_alloc(job->arena, bytes, &output, error));
    memset(output, 0, bytes);
    for (uint64_t i = 0; i < job->elements; i++)
        if (nt_bit_is_set(valid, i))
            memcpy(output + i * width, items->data + numbers[i] * width, width);
    *job->array = (struct nt_decoded_array){
        .elements = job->elements, .bits = items->bits, .data = output, .bytes = bytes, .valid = valid};
    return NT_OK;
}

static enum nt_status look_up(const struct node_job_v2_0 *job, struct nt_error *error)
{
    const struct nt_encoding_tree_node *node = job->node;
    struct nt_decoded_array stored, items;
    uint64_t *numbers;
    uint8_t *valid;
    NT_TRY(decode_exactly(job, 0, job->elements, &stored, error));
    NT_TRY(decode_exactly(job, 1, node->items, &items, error));
    if (stored.is_null || items.is_null)
        return make_null(job, error);
    NT_TRY(load_numbers(job, &stored, "dictionary indices", &numbers, error));
    NT_TRY(take_bits(job->arena, job->elements, 0, &valid, error));
    for (uint64_t i = 0; i < job->elements; i++) {
        bool is_null =
            (node->is_one_based && !numbers[i]) || (stored.valid && !nt_bit_is_set(stored.valid, i));
        numbers[i] -= node->is_one_based && !is_null;
        if (!is_null && numbers[i] >= node->items)
            return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                           "element %" PRIu64 " refers to item %" PRIu64 ", but the dictionary has %" PRIu64,
                           i, numbers[i], node->items);
        else if (!is_null && is_item_valid(&items, numbers[i]))
            set_valid(valid, i);
    }
    return items.ends        ? copy_strings(job, numbers, valid, &items, error)
           : items.bits == 1 ? copy_bits(job, numbers, valid, &items, error)
                             : copy_values(job, numbers, valid, &items, error);
}

/* ---- Table of nodes ---- */

static decode_node *const functions[NT_LANCE_NODE_COUNT] = {
    [NT_LANCE_FLAT] = decode_flat,
    [NT_LANCE_LENGTH_PREFIXED] = decompress,
    [NT_LANCE_NULLABLE] = decode_nullable,
    [NT_LANCE_ALL_NULL] = make_null,
    [NT_LANCE_FIXED_LIST] = decode_list,
    [NT_LANCE_LIST_ENDS] = decode_ends,
    [NT_LANCE_BINARY] = decode_strings,
    [NT_LANCE_FSST] = expand_strings,
    [NT_LANCE_DICTIONARY] = look_up,
    [NT_LANCE_PACKED] = decode_rows,
    [NT_LANCE_ABSOLUTE_OFFSETS] = decode_offsets,
};

static enum nt_status decode(const struct node_job_v2_0 *job, uint32_t node, struct nt_error *error)
{
    struct node_job_v2_0 below = *job;
    below.node = &job->arena->tree->nodes[node];
    decode_node *function = functions[below.node->kind];
    if (!function)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "cannot decode the encoding %s in a page of arrays",
                       nt_encoding_tree_node_info(below.node->kind)->name);
    return function(&below, error);
}

enum nt_status nt_v2_0_decode(struct nt_decode_arena *arena, uint32_t node,
                              const struct nt_buffer_slice *parts, uint32_t part_count, uint64_t elements,
                              struct nt_decoded_array *array, struct nt_error *error)
{
    const struct node_job_v2_0 job = {
        .arena = arena, .parts = parts, .part_count = part_count, .elements = elements, .array = array};
    *array = (struct nt_decoded_array){0};
    return decode(&job, node, error);
}
