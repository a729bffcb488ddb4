/* SPDX-License-Identifier: MIT
 *
 * The type that holds the numbers of several types.
 */
#include "chain/chain.h"

#include "core/model/model.h"
#include "support.h"

/* From narrow to wide, integers first. The bits define what a type holds exactly. */
static const struct {
    enum nt_element element;
    unsigned bits; /* integers: without the sign; reals: those of the significand */
    bool is_signed, is_real;
} types[] = {
    {NT_ELEMENT_UINT8, 8, false, false},   {NT_ELEMENT_INT8, 7, true, false},
    {NT_ELEMENT_UINT16, 16, false, false}, {NT_ELEMENT_INT16, 15, true, false},
    {NT_ELEMENT_UINT32, 32, false, false}, {NT_ELEMENT_INT32, 31, true, false},
    {NT_ELEMENT_UINT64, 64, false, false}, {NT_ELEMENT_INT64, 63, true, false},
    {NT_ELEMENT_REAL16, 11, true, true},   {NT_ELEMENT_REAL32, 24, true, true},
    {NT_ELEMENT_REAL64, 53, true, true},
};
enum { TYPES = sizeof(types) / sizeof(*types) };

static bool holds(unsigned wide, unsigned narrow)
{
    if (types[narrow].is_real && !types[wide].is_real)
        return false;
    return types[wide].bits >= types[narrow].bits && types[wide].is_signed >= types[narrow].is_signed;
}

/* Numbers that are no integers make all of them reals. */
static enum nt_element expected_of(const unsigned *each, unsigned count)
{
    for (unsigned wide = 0; wide < TYPES; wide++) {
        bool fits = true, has_real = false;
        for (unsigned i = 0; i < count; i++) {
            fits &= holds(wide, each[i]);
            has_real |= types[each[i]].is_real;
        }
        if (fits && types[wide].is_real == has_real)
            return types[wide].element;
    }
    return NT_ELEMENT_OPAQUE;
}

static enum nt_element found_of(const unsigned *each, unsigned count)
{
    struct nt_promotion numbers = {0};
    for (unsigned i = 0; i < count; i++) {
        const struct nt_dtype dtype = nt_element_dtype(types[each[i]].element);
        ck_assert(nt_promotion_add(&numbers, &dtype));
    }
    return nt_promotion_element(&numbers);
}

TEST(three_types_in_any_order_have_the_narrowest_that_holds_them)
{
    for (unsigned a = 0; a < TYPES; a++)
        for (unsigned b = 0; b < TYPES; b++)
            for (unsigned c = 0; c < TYPES; c++) {
                const unsigned each[] = {a, b, c};
                for (unsigned count = 1; count <= 3; count++)
                    ck_assert_int_eq(found_of(each, count), expected_of(each, count));
            }
}

TEST(what_is_no_plain_number_is_not_counted)
{
    const struct nt_dtype others[] = {
        nt_element_dtype(NT_ELEMENT_BOOL),
        nt_element_dtype(NT_ELEMENT_BYTE),
        nt_element_dtype(NT_ELEMENT_SWITCH),
        nt_element_dtype(NT_ELEMENT_OPAQUE),
        {.element = NT_ELEMENT_INT64,
         .bytes = 8,
         .number = NT_ELEMENT_INT64,
         .numpy = "<M8[us]",
         .arrow = "tsu:"},
        {.element = NT_ELEMENT_INT32, .bytes = 4, .number = NT_ELEMENT_INT32, .numpy = "<i4", .arrow = "tdD"},
        {.element = NT_ELEMENT_INT32,
         .bytes = 4,
         .number = NT_ELEMENT_INT32,
         .numpy = ">i4",
         .arrow = "i",
         .is_big_endian = true},
        {.element = NT_ELEMENT_OPAQUE,
         .bytes = 4,
         .number = NT_ELEMENT_INT32,
         .numpy = ">i4",
         .is_big_endian = true},
    };
    for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++) {
        struct nt_promotion numbers = {.unsigned_bytes = 1};
        ck_assert(!nt_promotion_add(&numbers, &others[i]));
        ck_assert_int_eq(nt_promotion_element(&numbers), NT_ELEMENT_UINT8);
    }
    ck_assert_int_eq(nt_promotion_element(&(struct nt_promotion){0}), NT_ELEMENT_OPAQUE);
}
