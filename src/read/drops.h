/* SPDX-License-Identifier: MIT
 *
 * Rows that are stored and are no entries (struct nt_drops), and what of lists and strings goes with them.
 */
#ifndef NT_PAGE_DROPS_H
#define NT_PAGE_DROPS_H

#include "core/model/kind.h"
#include "read/reader.h"

/* What of a part's elements is dropped that are counted as `of`, with `per_row` for each row of the field: a list from malloc,
 * to be freed by nt_drops_free; NULL where nothing is dropped. Loads the page lists of the field and of the lists around
 * it, and those of their pages that tell where what is dropped begins and ends. */
enum nt_status nt_drops_find(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                             enum nt_rows_of of, uint64_t per_row, uint32_t part, struct nt_drops **drops_ret,
                             struct nt_error *error);
void nt_drops_free(struct nt_drops *drops); /* accepts NULL */

/* `factor` elements for each row: a list of its own. */
enum nt_status nt_drops_scale(const struct nt_drops *drops, uint64_t factor, struct nt_drops **made_ret,
                              struct nt_error *error);
/* Where the items of the first `row` rows end. */
typedef enum nt_status nt_tell_end(void *context, uint64_t row, uint64_t *end_ret, struct nt_error *error);
/* What of the items goes with rows, run by run: a list of its own. Ends are asked for in ascending order. */
enum nt_status nt_drops_map(const struct nt_drops *rows, nt_tell_end *tell, void *context,
                            struct nt_drops **items_ret, struct nt_error *error);

/* What surrounds a field, and the field, which is the first: each has its rows in the one behind it. */
struct nt_field_ancestry {
    uint32_t fields[NT_MAX_DEPTH + 1];
    uint32_t count;
};
void nt_field_ancestry_find(const struct nt_dataset *dataset, uint32_t field, struct nt_field_ancestry *way);

/* A run of rows that are kept. */
struct nt_kept {
    uint32_t number; /* how many runs are dropped in front of it */
    uint64_t stored; /* where the row is stored */
    uint64_t count;  /* rows from it on that follow one another and are kept */
};
/* Where the `row`th of those that are kept is stored. There is one. */
struct nt_kept nt_drops_kept(const struct nt_drops *drops, uint64_t row);
/* The next run of rows that are kept; false where there is none. */
bool nt_drops_next_kept(const struct nt_drops *drops, struct nt_kept *kept);
/* How many are dropped in the first `number` runs. */
uint64_t nt_drops_count(const struct nt_drops *drops, uint32_t number);

static inline uint64_t nt_drops_total_kept(const struct nt_drops *drops)
{
    return drops->items[drops->count].kept;
}
static inline uint64_t nt_drops_total_stored(const struct nt_drops *drops)
{
    return drops->items[drops->count].first;
}

#endif
