/* SPDX-License-Identifier: MIT
 *
 * What users tell by variables.
 */
#ifndef NT_FETCH_ENVIRONMENT_H
#define NT_FETCH_ENVIRONMENT_H

#include <stdlib.h>

/* NULL where a variable is not there, or empty. */
static inline const char *nt_environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

#endif
