/* SPDX-License-Identifier: MIT
 *
 * Small numbers that are given, come back, and are given again: the lowest first.
 */
#ifndef NT_VFS_NUMBERS_H
#define NT_VFS_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nt_number_run {
    uint32_t first, count;
};

/* All zeros but the limit: none was given. Under a lock of its owner's. */
struct nt_numbers {
    uint32_t limit, used; /* numbers below the limit are given; those from `used` on never were */
    struct nt_number_run *free;
    size_t free_count, capacity;
};

/* Numbers that follow one another; false where there are not so many. */
bool nt_numbers_take(struct nt_numbers *numbers, uint32_t count, uint32_t *first_ret);
/* Numbers that were taken. Where there is no memory to remember them, they are not given again. */
void nt_numbers_give_back(struct nt_numbers *numbers, uint32_t first, uint32_t count);
void nt_numbers_deinit(struct nt_numbers *numbers);

#endif
