/* SPDX-License-Identifier: MIT
 *
 * The container alone: its records, layout and objects, without the datasets in it.
 */
#include "container/container.h"
#include "tables.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include <ntuple/source.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void read_object(struct nt_file *file, const struct nt_tfile_object *object)
{
    const uint8_t *bytes;
    size_t length;
    if (nt_tfile_read_object(file, object, &bytes, &length, NULL) == NT_OK && length)
        (void)(bytes[0] + bytes[length - 1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct nt_source *source;
    struct nt_file *file;
    struct nt_container container;
    if (nt_source_open_memory(bytes, count, "input", &source, NULL) != NT_OK ||
        nt_file_new("input", source, &(struct nt_limits){0}, &file, NULL) != NT_OK)
        return 0;
    if (nt_container_open(file, &container, NULL) == NT_OK) {
        read_tables(file);
        for (uint32_t i = 0; i < container.object_count; i++)
            read_object(file, &container.objects[i]);
    }
    nt_file_close(file);
    return 0;
}
