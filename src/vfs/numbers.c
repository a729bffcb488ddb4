/* SPDX-License-Identifier: MIT
 *
 * Comes in: numbers that nobody uses any more. Goes out: the same numbers. What is free is a list of runs, in ascending order, of
 * which no two touch each other.
 */
#include "vfs/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/search.h"

bool nt_numbers_take(struct nt_numbers *numbers, uint32_t count, uint32_t *first_ret)
{
    for (size_t i = 0; count && i < numbers->free_count; i++) {
        struct nt_number_run *run = &numbers->free[i];
        if (run->count < count)
            continue;
        *first_ret = run->first;
        run->first += count;
        run->count -= count;
        if (run->count == 0)
            memmove(run, run + 1, (--numbers->free_count - i) * sizeof(*run));
        return true;
    }
    if (count > numbers->limit - numbers->used)
        return false;
    *first_ret = numbers->used;
    numbers->used += count;
    return true;
}

NT_DEFINE_COUNT_UP_TO(runs_up_to, struct nt_number_run, .first)

void nt_numbers_give_back(struct nt_numbers *numbers, uint32_t first, uint32_t count)
{
    struct nt_number_run *runs = numbers->free;
    size_t at = runs_up_to(runs, numbers->free_count, first);
    bool touches_before = at > 0 && runs[at - 1].first + runs[at - 1].count == first;
    bool touches_behind = at < numbers->free_count && first + count == runs[at].first;
    if (count == 0)
        return;
    if (touches_before) {
        runs[at - 1].count += count;
        if (!touches_behind)
            return;
        runs[at - 1].count += runs[at].count;
        memmove(&runs[at], &runs[at + 1], (--numbers->free_count - at) * sizeof(*runs));
    } else if (touches_behind) {
        runs[at].first = first;
        runs[at].count += count;
    } else if ((runs = nt_grow(runs, numbers->free_count, &numbers->capacity, sizeof(*runs)))) {
        memmove(&runs[at + 1], &runs[at], (numbers->free_count++ - at) * sizeof(*runs));
        runs[at] = (struct nt_number_run){first, count};
        numbers->free = runs;
    }
}

void nt_numbers_deinit(struct nt_numbers *numbers)
{
    free(numbers->free);
}
