/* SPDX-License-Identifier: MIT
 *
 * A file that selects entries, of any kind. Runs of entries ascend, and no entry is in two runs.
 */
#include <stdlib.h>

#include "read/read.h"
#include "core/io/source.h"
#include <ntuple/source.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check(const struct nt_selection *choice)
{
    uint64_t entries = 0, end = 0;
    for (size_t i = 0; i < choice->count; i++) {
        const struct nt_entry_range *range = &choice->ranges[i];
        if (range->count == 0 || (i && range->first <= end) ||
            range->first + (range->count - 1) < range->first)
            abort();
        end = range->first + (range->count - 1);
        entries += range->count;
    }
    if (choice->is_mask ? entries > choice->elements : entries != choice->elements)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char path[] = "input";
    struct nt_selection choice = {.path = path};
    struct nt_source *source;
    struct nt_error error = {0};
    if (nt_source_open_memory(bytes, count, path, &source, NULL) != NT_OK)
        return 0;
    enum nt_status status = nt_selection_read(&choice, source, &error);
    if (status == NT_OK)
        check(&choice);
    else if (error.status != status || !error.message[0])
        abort();
    free(choice.ranges);
    return 0;
}
