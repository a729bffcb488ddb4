/* SPDX-License-Identifier: MIT
 *
 * Which data sets of two files are compared with each other.
 */
#ifndef NT_CLI_DIFF_PAIRS_H
#define NT_CLI_DIFF_PAIRS_H

#include "cli/datasets.h"

enum { NT_PAIR_SIDES = 2 };

/* A data set of each side; `paths` (in the file) and `datasets` are NULL where a side has none. */
struct nt_dataset_pair {
    struct nt_dataset *datasets[NT_PAIR_SIDES];
    const char *paths[NT_PAIR_SIDES];
};

/* The data sets that two scopes are or hold, matched by their paths below the scope; where each holds one (older cycles
 * and attribute sets not counted), these belong together whatever their names. Those of A in their order, then those that
 * only B has. The arena's. False without memory. */
bool nt_dataset_pairs(const struct nt_scope scopes[NT_PAIR_SIDES], struct nt_arena *arena,
                      struct nt_dataset_pair **pairs_ret, size_t *count_ret);

#endif
