/* SPDX-License-Identifier: MIT
 *
 * Allocation of large buffers.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "support.h"

static const size_t sizes[] = {0, 1, 4096, 4097, 524288, 524289, 1048576, 2097152, 2097153, 50000000};

TEST(there_is_at_least_what_was_requested_and_all_of_it_can_be_written, .end = sizeof(sizes) / sizeof(*sizes))
{
    size_t capacity;
    char *memory = nt_hugepage_alloc(sizes[_i], &capacity);
    ck_assert_ptr_nonnull(memory);
    ck_assert_uint_ge(capacity, sizes[_i]);
    memset(memory, 1, capacity);
    free(memory);
}

TEST(a_buffer_that_grows_little_by_little_keeps_its_step)
{
    size_t first, second;
    free(nt_hugepage_alloc(900001, &first));
    free(nt_hugepage_alloc(900777, &second));
    ck_assert_uint_eq(first, second);
    free(nt_hugepage_alloc(70001, &first));
    free(nt_hugepage_alloc(70777, &second));
    ck_assert_uint_eq(first, second);
}

TEST(more_than_there_can_be_is_no_memory)
{
    size_t capacity = 1;
    ck_assert_ptr_null(nt_hugepage_alloc(SIZE_MAX, &capacity));
    ck_assert_uint_eq(capacity, 0);
}
