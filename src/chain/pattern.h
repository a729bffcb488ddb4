/* SPDX-License-Identifier: MIT
 *
 * Patterns of paths.
 */
#ifndef NT_CHAIN_PATTERN_H
#define NT_CHAIN_PATTERN_H

#include <stdbool.h>

#include "core/base/error.h"

bool nt_is_pattern(const char *path);

typedef enum nt_status nt_pattern_take(void *context, const char *path, struct nt_error *error);

/* Call `take` for each file or folder that an absolute pattern matches, in the order of their bytes; of equal ones once. "**" between
 * two slashes stands for any folders, or none; links are not followed there, and folders that are data sets not entered.
 * NT_NOT_FOUND where nothing matches. */
enum nt_status nt_pattern_expand(const char *pattern, nt_pattern_take *take, void *context,
                                 struct nt_error *error);

#endif
