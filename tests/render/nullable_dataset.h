/* SPDX-License-Identifier: MIT
 *
 * A dataset in memory with a nullable field of every form, and its rows, written by hand.
 */
#pragma once

#include "dataset_builder.h"

/* Not finished, so that fields can get groups of their own. */
struct builder *nullable_dataset(void);
/* The fields have the top-level names of these lines. */
extern const char *const nullable_rows;
extern const char *const nullable_table;
