/* SPDX-License-Identifier: MIT
 *
 * Shared code of the programs that measure reading: opens a file, and times rounds.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ntuple/ntuple.h>

#include "core/model/model.h"

static inline double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline void check(enum nt_status status, const struct nt_error *error)
{
    if (status == NT_OK)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(EXIT_FAILURE);
}

/* Page faults of the destination are not measured. */
static inline void *touched_memory(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(EXIT_FAILURE);
    }
    return memset(memory, 1, bytes);
}

/* Does `wanted` name the field or the top-level field that contains it? "*" names all. `wanted` may be
 * several names separated by commas. */
static inline bool is_requested(const struct nt_dataset *dataset, uint32_t field, const char *requested)
{
    while (dataset->fields[field].parent != NT_NONE)
        field = dataset->fields[field].parent;
    struct nt_text name = dataset->fields[field].name;
    bool is_found = strcmp(requested, "*") == 0;
    while (!is_found && *requested) {
        size_t length = strcspn(requested, ",");
        is_found = name.length == length && memcmp(name.bytes, requested, length) == 0;
        requested += length + (requested[length] != '\0');
    }
    return is_found;
}
