/* SPDX-License-Identifier: MIT
 *
 * Small files of every format, for tests that read each of them thousands of times.
 */
#pragma once

/* Paths of SAMPLES files and of directories that are datasets, and last a directory with several of them;
 * those that are not in tests/data are written into a directory of their own. NULL-terminated; freed by
 * samples_remove. */
enum { SAMPLES = 24 };
const char *const *samples_make(const char *test_data);
void samples_remove(void);
