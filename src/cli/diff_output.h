/* SPDX-License-Identifier: MIT
 *
 * What ntuple diff prints of a difference: a line, or an object of a JSON list.
 */
#ifndef NT_CLI_DIFF_OUTPUT_H
#define NT_CLI_DIFF_OUTPUT_H

#include "cli/diff_pairs.h"
#include "tools/difference.h"

/* Append a line for a difference of a pair of data sets. */
void nt_append_difference(struct nt_buffer *out, const struct nt_dataset_pair *pair,
                          const struct nt_difference *difference);
/* Append what a pair is called: its path, or both where they differ. */
void nt_append_pair(struct nt_buffer *out, const struct nt_dataset_pair *pair);

/* The same as an object of a list. */
void nt_json_difference(struct nt_json *json, const struct nt_dataset_pair *pair,
                        const struct nt_difference *difference);
/* A side that cannot be read, as an object of the same list. */
void nt_json_diff_failure(struct nt_json *json, const struct nt_dataset_pair *pair, unsigned side,
                          uint32_t field, const struct nt_error *error);

#endif
