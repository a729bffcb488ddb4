/* SPDX-License-Identifier: MIT
 *
 * Which files were already stored in the kernel's page cache.
 */
#include "fuse/operations.h"
#include "support.h"

static struct nt_prefilled *stored;

static void setup(void)
{
    stored = calloc(1, sizeof(*stored));
    ck_assert_ptr_nonnull(stored);
}

static void teardown(void)
{
    free(stored);
}

TEST(a_file_is_new_once, .setup = setup, .teardown = teardown)
{
    static const uint64_t nodes[] = {0, 2, UINT64_MAX, UINT64_C(1) << 63, 12345678901};
    for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
        ck_assert(nt_prefilled_add(stored, nodes[i], true));
        ck_assert(!nt_prefilled_add(stored, nodes[i], true));
        ck_assert(!nt_prefilled_add(stored, nodes[i], false));
    }
}

/* Numbers of neighbouring nodes differ in few bits. */
TEST(few_files_are_taken_for_others, .setup = setup, .teardown = teardown)
{
    enum { FILES = 10000 };
    static const uint64_t steps[] = {1, 1 << 8, UINT64_C(1) << 24, UINT64_C(1) << 40};
    for (size_t k = 0; k < sizeof(steps) / sizeof(*steps); k++) {
        unsigned found = 0;
        *stored = (struct nt_prefilled){.count = 0};
        for (uint64_t i = 1; i <= FILES; i++)
            found += nt_prefilled_add(stored, i * steps[k], false);
        ck_assert_uint_gt(found, FILES * 9 / 10);
    }
}

TEST(all_are_forgotten_when_they_are_many_and_no_file_is_open, .setup = setup, .teardown = teardown)
{
    uint64_t node = 0;
    while (stored->count < NT_PREFILLED_BITS / 4)
        nt_prefilled_add(stored, node++, true);
    uint64_t last = node - 1;
    ck_assert(!nt_prefilled_add(stored, last, false)); /* a file is open */
    ck_assert(nt_prefilled_add(stored, last, true));
    ck_assert_uint_eq(stored->count, 1);
    ck_assert(!nt_prefilled_add(stored, last, true));
}
