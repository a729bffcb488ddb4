/* SPDX-License-Identifier: MIT
 *
 * The table of a dataset's decoders.
 */
#include "core/model/model.h"

#include "support.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/model/budget.h"

static struct nt_error error;
static struct nt_arena *arena;
static struct nt_decoders decoders;
static struct nt_budget budget;

static void setup(void)
{
    arena = nt_arena_new();
    ck_assert_ptr_nonnull(arena);
    ck_assert(nt_decoders_init(&decoders));
}

static void teardown(void)
{
    nt_decoders_deinit(&decoders);
    nt_arena_free(arena);
}

static uint32_t add(enum nt_encoding_kind encoding, uint32_t bits, double minimum, double maximum)
{
    struct nt_decoder decoder;
    uint32_t number;
    assert_ok(nt_decoder_init(&decoder, encoding, bits, minimum, maximum, &error));
    assert_ok(nt_decoders_add(&decoders, arena, &budget, &decoder, &number, &error));
    return number;
}

TEST(equal_decoders_have_one_number, .setup = setup, .teardown = teardown)
{
    uint32_t plain = add(NT_ENCODING_INT32, 0, 0, 0);
    uint32_t narrow = add(NT_ENCODING_REAL32_QUANT, 10, -1, 1);
    ck_assert_uint_eq(add(NT_ENCODING_INT32, 0, 0, 0), plain);
    ck_assert_uint_eq(add(NT_ENCODING_REAL32_QUANT, 10, -1, 1), narrow);
    ck_assert_uint_ne(add(NT_ENCODING_REAL32_QUANT, 11, -1, 1), narrow);
    ck_assert_uint_ne(add(NT_ENCODING_REAL32_QUANT, 10, -2, 1), narrow);
    ck_assert_uint_ne(add(NT_ENCODING_REAL32_QUANT, 10, -1, 2), narrow);
    ck_assert_uint_ne(add(NT_ENCODING_UINT32, 0, 0, 0), plain);
    ck_assert_uint_eq(decoders.count, 6);
}

TEST(rows_stay_where_they_are_and_are_found_by_their_numbers, .setup = setup, .teardown = teardown)
{
    enum { MANY = 5000 };
    static const struct nt_decoder *rows[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        ck_assert_uint_eq(add(NT_ENCODING_REAL32_QUANT, 8, 0, i + 1.0), i);
        rows[i] = nt_decoders_get(&decoders, i);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        ck_assert_ptr_eq(nt_decoders_get(&decoders, i), rows[i]);
        ck_assert_double_eq(rows[i]->maximum, i + 1.0);
        ck_assert_uint_eq(add(NT_ENCODING_REAL32_QUANT, 8, 0, i + 1.0), i);
    }
}

/* Operations of a format, with state of its own. */
static uint32_t add_state(const struct nt_decoder_ops *ops, uint64_t state)
{
    uint32_t number;
    const struct nt_decoder decoder = {.ops = ops,
                                       .state = &state,
                                       .state_bytes = sizeof(state),
                                       .encoding = NT_ENCODING_OTHER,
                                       .element = NT_ELEMENT_UINT8,
                                       .element_bytes = 1};
    assert_ok(nt_decoders_add(&decoders, arena, &budget, &decoder, &number, &error));
    return number;
}

TEST(decoders_with_equal_states_have_one_number, .setup = setup, .teardown = teardown)
{
    static const struct nt_decoder_ops one, other;
    budget.limit = 1 << 20;
    uint32_t first = add_state(&one, 7), second = add_state(&one, 8);
    ck_assert_uint_eq(add_state(&one, 7), first);
    ck_assert_uint_ne(second, first);
    ck_assert_uint_ne(add_state(&other, 7), first);
    ck_assert_uint_eq(decoders.count, 3);
    ck_assert_uint_eq(*(const uint64_t *)nt_decoders_get(&decoders, first)->state, 7);
    ck_assert_uint_eq(*(const uint64_t *)nt_decoders_get(&decoders, second)->state, 8);
}
