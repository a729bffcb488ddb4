/* SPDX-License-Identifier: MIT
 *
 * A dataset of one column whose pages are numbers of numbers of items: decoders with two inputs that they share.
 */
#ifndef NT_TESTS_PLANNED_DATASET_H
#define NT_TESTS_PLANNED_DATASET_H

#include "dataset_builder.h"

enum { PLANNED_ENTRIES = 1000, PLANNED_PAGES = 10, PLANNED_NUMBERS = 30, PLANNED_ITEMS = 50 };

struct planned {
    struct builder *builder;
    double expected[PLANNED_ENTRIES];
    uint64_t numbers_offset, items_offset; /* of the two inputs, each with its digest behind it */
    uint32_t decoder;
};

/* Makes reals of numbers of 16 bits, which are looked up in the first input, and what is found there in the next one. */
struct nt_decoder planned_decoder(const struct nt_page *inputs, uint32_t count);
void planned_dataset(struct planned *planned);

#endif
