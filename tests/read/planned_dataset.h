/* SPDX-License-Identifier: MIT
 *
 * A dataset of one column whose decoder looks each element up twice, in two shared dependencies.
 */
#pragma once

#include "dataset_builder.h"

enum { PLANNED_ENTRIES = 1000, PLANNED_PAGES = 10, PLANNED_NUMBERS = 30, PLANNED_ITEMS = 50 };

struct planned {
    struct builder *builder;
    double expected[PLANNED_ENTRIES];
    uint64_t numbers_offset, items_offset; /* of the two dependencies; a digest follows each */
    uint32_t decoder;
};

/* Decodes 16-bit indexes to reals: looks them up in the first dependency, and the result in the second. */
struct nt_decoder planned_decoder(const struct nt_page *dependencies, uint32_t count);
void planned_dataset(struct planned *planned);
