/* SPDX-License-Identifier: MIT
 *
 * Page lists and layout. Failures are ignored but must have a message.
 */
#include "tables.h"

#include <stdlib.h>

static enum nt_status count_range(void *context, const struct nt_layout_range *range)
{
    *(uint64_t *)context += range->bytes;
    return NT_OK;
}

static void demand_reason(enum nt_status status, const struct nt_error *error)
{
    if (status != NT_OK && !error->message[0])
        abort();
}

static void read_lists(struct nt_dataset *dataset)
{
    struct nt_error error = {0};
    demand_reason(nt_dataset_load_readable(dataset, &error), &error);
}

void read_tables(struct nt_file *file)
{
    struct nt_error error = {0};
    uint64_t covered = 0;
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        struct nt_dataset *dataset = file->datasets[i], *stored;
        if (dataset->failure)
            continue;
        read_lists(dataset);
        if (nt_dataset_physical(dataset, &stored, NULL) == NT_OK && stored != dataset)
            read_lists(stored);
    }
    if (file->layout)
        demand_reason(file->layout(file, count_range, &covered, &error), &error);
}

void open_and_read_tables(const struct nt_format *format, struct nt_source *source)
{
    struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    struct nt_error error = {0};
    struct nt_file *file;
    options.metadata_bytes = TABLES_METADATA_BYTES;
    enum nt_status status = format->open(source, &options, &file, &error);
    demand_reason(status, &error);
    if (status != NT_OK) {
        nt_source_close(source);
        return;
    }
    read_tables(file);
    nt_file_close(file);
}
