/* SPDX-License-Identifier: MIT
 *
 * An assertion for code that creates files, inside and outside of `check`. The assertions of check
 * abort a program that runs no test.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define demand(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)
