/* SPDX-License-Identifier: MIT
 *
 * Rows that are kept of all, and the entries of a data set that were chosen.
 */
#ifndef NT_MODEL_SELECTION_H
#define NT_MODEL_SELECTION_H

#include "core/model/model.h"

/* Rows that are kept, told in ascending order; begins as zeros. */
struct nt_keeping {
    struct nt_drop *items;
    size_t count, capacity;
    uint64_t end, kept; /* behind the last that is kept; how many are */
};
/* `count` rows from `first` on, which is not in front of `end`. NT_LIMIT where there are too many runs. */
enum nt_status nt_keeping_add(struct nt_keeping *keeping, uint64_t first, uint64_t count,
                              struct nt_error *error);
/* All are told, of `stored`: the list has keeping->count runs. The last may be of no rows, so that there is one. */
enum nt_status nt_keeping_end(struct nt_keeping *keeping, uint64_t stored, struct nt_error *error);
void nt_keeping_deinit(struct nt_keeping *keeping);

/* How many of the first `stored` rows are kept. */
uint64_t nt_drops_kept_before(const struct nt_drops *drops, uint64_t stored);
/* How many of the first `entries` entries are chosen: all of them where nobody chose. */
uint64_t nt_dataset_chosen_before(const struct nt_dataset *dataset, uint64_t entries);
/* Where the `entry`th of those that are chosen is stored. There is one. */
uint64_t nt_dataset_chosen_entry(const struct nt_dataset *dataset, uint64_t entry);

#endif
