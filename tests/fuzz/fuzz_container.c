/* SPDX-License-Identifier: MIT
 *
 * The container alone: its records and layout, without the datasets in it.
 */
#include "container/container.h"
#include "tables.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include <ntuple/source.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct nt_source *source;
    struct nt_file *file;
    struct nt_container container;
    if (nt_source_open_memory(bytes, count, "input", &source, NULL) != NT_OK ||
        nt_file_new("input", source, &(struct nt_limits){0}, &file, NULL) != NT_OK)
        return 0;
    if (nt_container_open(file, &container, NULL) == NT_OK)
        read_tables(file);
    nt_file_close(file);
    return 0;
}
