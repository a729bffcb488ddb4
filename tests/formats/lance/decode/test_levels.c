/* SPDX-License-Identifier: MIT
 *
 * Validity of fixed-size lists of structures. The file has a level for each of their items, and all levels
 * of a list agree ("Repetition and definition levels": levels are multiplied by the lists' dimension).
 */
#include <string.h>

#include "formats/lance/decode/decode.h"
#include "support.h"
#include "core/codec/codec.h"

/* Nullable values of one byte, in nullable structures, in nullable lists. */
static const struct nt_encoding_tree_node flat = {.kind = NT_LANCE_FLAT, .bits = 8};
static const struct nt_encoding_tree tree = {
    .layout = NT_LANCE_FULL_ZIP,
    .nodes = &flat,
    .node_count = 1,
    .repetition = NT_NO_NODE,
    .definition = NT_NO_NODE,
    .definition_bits = 2,
    .value_bits = 8,
    .layer_count = 3,
    .layers = {NT_LAYER_NULLABLE_ITEM, NT_LAYER_NULLABLE_ITEM, NT_LAYER_NULLABLE_ITEM}};
enum { VALUE_IS_NULL = 1, STRUCTURE_IS_NULL, LIST_IS_NULL, MOST = 8 };

static struct nt_error error;

/* So many rows, each with a definition level. */
static enum nt_status decode(const uint8_t *definitions, size_t rows, uint64_t repeats, uint64_t skipped,
                             size_t lists, uint8_t *valid)
{
    uint8_t bytes[2 * MOST];
    for (size_t i = 0; i < rows; i++) {
        bytes[2 * i] = definitions[i];
        bytes[2 * i + 1] = 77;
    }
    const struct nt_lance_decoder_state state = {&tree,
                                                 {.output = NT_LANCE_VALID, .layer = 2, .repeats = repeats}};
    const struct nt_decoder decoder = {.state = &state, .element_bytes = 1};
    const struct nt_packed packed = {.decoder = &decoder,
                                     .data = bytes,
                                     .bytes = 2 * rows,
                                     .elements = lists,
                                     .parameter = skipped,
                                     .limit = 1 << 20};
    error = (struct nt_error){0};
    return nt_lance_decode(&packed, valid, &error);
}

static const struct {
    uint8_t definitions[MOST];
    size_t rows;
    uint64_t repeats, skipped;
    size_t lists;
    uint8_t valid[MOST];
} good[] = {
    {{0, VALUE_IS_NULL, LIST_IS_NULL, LIST_IS_NULL, STRUCTURE_IS_NULL, 0}, 6, 2, 0, 3, {1, 0, 1}},
    {{LIST_IS_NULL, LIST_IS_NULL, LIST_IS_NULL, 0, 0, 1}, 6, 3, 0, 2, {0, 1}},
    {{0, LIST_IS_NULL, LIST_IS_NULL, 2, 2, 3}, 6, 2, 1, 3, {0, 1, 0}}, /* one began before, one continues */
    {{0, 0, LIST_IS_NULL}, 3, 3, 2, 1, {0}},
    {{0, 0}, 2, 3, 2, 0, {0}}, /* none begins */
    {{0, 0}, 2, 5, 3, 0, {0}},
    {{LIST_IS_NULL, 0}, 2, 1, 0, 2, {0, 1}},
};

TEST(all_items_of_a_list_say_whether_it_is_null, .end = sizeof(good) / sizeof(*good))
{
    uint8_t valid[MOST];
    assert_ok(decode(good[_i].definitions, good[_i].rows, good[_i].repeats, good[_i].skipped, good[_i].lists,
                     valid));
    ck_assert_mem_eq(valid, good[_i].valid, good[_i].lists);
}

TEST(items_of_a_list_that_say_different_things_are_corrupt)
{
    uint8_t valid[MOST];
    ck_assert_uint_eq(decode((const uint8_t[]){0, LIST_IS_NULL}, 2, 2, 0, 1, valid), NT_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "items of a fixed-size list disagree"));
    assert_ok(decode((const uint8_t[]){0, LIST_IS_NULL}, 2, 2, 1, 1, valid));
}

TEST(other_numbers_of_lists_than_the_levels_say_are_corrupt)
{
    uint8_t valid[MOST];
    for (size_t lists = 1; lists < 4; lists++)
        ck_assert_uint_eq(decode((const uint8_t[]){0, 0, 0, 0}, 4, 2, 0, lists, valid),
                          lists == 2 ? NT_OK : NT_CORRUPT);
}
