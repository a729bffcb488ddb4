/* SPDX-License-Identifier: MIT
 *
 * The arena.
 */
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "support.h"

static struct nt_arena *arena;

static void setup(void)
{
    arena = nt_arena_new();
    ck_assert_ptr_nonnull(arena);
}

static void teardown(void)
{
    nt_arena_free(arena);
}

static bool is_filled_with(const unsigned char *bytes, size_t size, unsigned char value)
{
    while (size && bytes[size - 1] == value)
        size--;
    return size == 0;
}

TEST(memory_is_zeroed_aligned_and_its_own, .setup = setup, .teardown = teardown)
{
    /* Sizes below, at and above that of a block, mixed. */
    static const size_t sizes[] = {1, 3, 16, 1000, 65536, 7, 200000, 5, 32768, 40000, 9, 0, 64};
    enum { COUNT = sizeof(sizes) / sizeof(*sizes) };
    unsigned char *pieces[COUNT * 20];
    for (int i = 0; i < COUNT * 20; i++) {
        size_t size = sizes[i % COUNT];
        pieces[i] = nt_arena_alloc(arena, size, 1);
        ck_assert_ptr_nonnull(pieces[i]);
        ck_assert_uint_eq((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        ck_assert(is_filled_with(pieces[i], size, 0));
        memset(pieces[i], i + 1, size);
    }
    for (int i = 0; i < COUNT * 20; i++)
        ck_assert(is_filled_with(pieces[i], sizes[i % COUNT], (unsigned char)(i + 1)));
}

TEST(a_size_that_overflows_is_refused, .setup = setup, .teardown = teardown)
{
    ck_assert_ptr_null(nt_arena_alloc(arena, SIZE_MAX, 2));
    ck_assert_ptr_null(nt_arena_alloc(arena, SIZE_MAX / 2 + 2, 1));
    ck_assert_ptr_null(nt_arena_alloc(arena, 1, SIZE_MAX));
    ck_assert_ptr_null(nt_arena_copy(arena, "", SIZE_MAX));
    ck_assert_ptr_nonnull(nt_arena_alloc(arena, 1, 1));
}

TEST(a_copy_is_terminated_and_keeps_all_bytes, .setup = setup, .teardown = teardown)
{
    ck_assert_mem_eq(nt_arena_copy(arena, "a\0b", 3), "a\0b", 4);
    ck_assert_str_eq(nt_arena_copy(arena, NULL, 0), "");
}

TEST(a_formatted_text_is_as_long_as_it_must_be, .setup = setup, .teardown = teardown)
{
    char *text = nt_arena_format(arena, "%s-%0100000d", "x", 1);
    ck_assert_uint_eq(strlen(text), 100002);
    ck_assert_str_eq(text + 99998, "0001");
}

/* Sanitizers check that it is freed once. */
TEST(memory_that_is_taken_over_stays_what_it_is, .setup = setup, .teardown = teardown)
{
    enum { COUNT = 10000 };
    unsigned char *pieces[COUNT];
    for (int i = 0; i < COUNT; i++) {
        pieces[i] = malloc(10);
        ck_assert_ptr_nonnull(pieces[i]);
        memset(pieces[i], i, 10);
        ck_assert(nt_arena_adopt(arena, pieces[i]));
        ck_assert_ptr_nonnull(nt_arena_alloc(arena, 100, 1));
    }
    for (int i = 0; i < COUNT; i++)
        ck_assert(is_filled_with(pieces[i], 10, (unsigned char)i));
}

TEST(freeing_nothing_is_allowed, .setup = setup, .teardown = teardown)
{
    nt_arena_free(NULL);
}
