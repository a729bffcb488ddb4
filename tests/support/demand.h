/* SPDX-License-Identifier: MIT
 *
 * What must be true wherever tests make files, in `check` and outside of it: check's own assertions end a
 * program that runs no test.
 */
#ifndef NT_TESTS_DEMAND_H
#define NT_TESTS_DEMAND_H

#include <stdio.h>
#include <stdlib.h>

#define demand(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

#endif
