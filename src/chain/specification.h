/* SPDX-License-Identifier: MIT
 *
 * Specifications of data sets, as RDataFrame has them.
 */
#ifndef NT_CHAIN_SPECIFICATION_H
#define NT_CHAIN_SPECIFICATION_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/arena.h"
#include "core/base/error.h"

enum { NT_SPECIFICATION_BYTES = 16 << 20 }; /* the most that one may have: JSON takes twenty times its text */

/* What a specification tells of some of its files. */
struct nt_chain_sample {
    const char *name;
    const char *dataset;  /* the path of the one that is meant in these files */
    const char *metadata; /* a JSON object, as it stands in a line; NULL: none */
};

/* Whether a text is a specification, not a list: its first character but white space is '{'. */
bool nt_is_specification(const char *text, size_t length);

/* Called for each name of a file, or pattern, in the order of the text. */
typedef enum nt_status nt_specification_take(void *context, const struct nt_chain_sample *sample,
                                             const char *name, struct nt_error *error);

/* Samples lie in the arena. NT_CORRUPT where the text is no JSON, NT_INVALID with the key and what it has to be. */
enum nt_status nt_specification_read(const char *text, size_t length, struct nt_arena *arena,
                                     nt_specification_take *take, void *context, struct nt_error *error);

#endif
