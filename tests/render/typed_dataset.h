/* SPDX-License-Identifier: MIT
 *
 * A dataset in memory with a field of every type that is more than its bytes: times and decimals.
 */
#pragma once

#include "dataset_builder.h"

/* Finished. */
struct builder *typed_dataset(void);
/* Its rows, written by hand. */
extern const char *const typed_rows;
