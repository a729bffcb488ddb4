/* SPDX-License-Identifier: MIT
 *
 * Numbers that are sorted in windows, in orders that could make a window large.
 */
#include "support.h"
#include "tools/tools.h"

enum { OF_A_WINDOW = NT_WINDOW_BYTES / sizeof(uint64_t) };

struct numbers {
    uint64_t count, step; /* the i-th is i * step modulo count */
};

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static enum nt_status take_numbers(void *context, struct nt_windows *windows, struct nt_error *error)
{
    const struct numbers *numbers = context;
    for (uint64_t i = 0; i < numbers->count; i++)
        NT_TRY(nt_windows_take(windows, &(uint64_t){i * numbers->step % numbers->count}));
    return NT_OK;
}

/* From `*next` on. */
static void check_window(const struct nt_windows *windows, uint64_t *next)
{
    const uint64_t *numbers = (const void *)windows->items.bytes;
    for (size_t i = 0; i < windows->items.count; i++)
        if (numbers[i] != (*next)++)
            ck_abort_msg("%llu follows %llu", (unsigned long long)numbers[i], (unsigned long long)*next - 2);
}

static const struct numbers rows[] = {
    {0, 1},
    {1, 1},
    {OF_A_WINDOW, 1},
    {OF_A_WINDOW + 1, 1},
    {2 * OF_A_WINDOW + 1, 1},               /* three windows, ascending */
    {2 * OF_A_WINDOW + 1, 2 * OF_A_WINDOW}, /* descending */
    {2 * OF_A_WINDOW + 1, 1000003},         /* without a system */
};

TEST(windows_have_each_item_once_and_in_order, .end = COUNT_OF(rows), .timeout = 120)
{
    struct numbers numbers = rows[_i];
    struct nt_windows windows = {.item_bytes = sizeof(uint64_t),
                                 .compare = compare_numbers,
                                 .pass = take_numbers,
                                 .context = &numbers};
    struct nt_error error;
    assert_ok(nt_windows_begin(&windows, &error));
    for (unsigned round = 0; round < 2; round++, nt_windows_rewind(&windows)) {
        uint64_t next = 0;
        check_window(&windows, &next);
        while (windows.next < windows.count) {
            assert_ok(nt_windows_read(&windows, &error));
            if (round) {
                nt_windows_drop(&windows);
                ck_assert_uint_eq(windows.items.capacity, 0);
                assert_ok(nt_windows_restore(&windows, &error));
            }
            check_window(&windows, &next);
            ck_assert_uint_le(windows.items.capacity, 2 * OF_A_WINDOW);
        }
        ck_assert_uint_eq(next, numbers.count);
    }
    nt_windows_deinit(&windows);
}
