/* SPDX-License-Identifier: MIT
 *
 * A ROOT file with TTrees: its records, and all values of its branches.
 */
#include "everything.h"
#include "formats/formats.h"
#include <ntuple/source.h>

enum { METADATA_BYTES = 4 << 20, PAGE_BYTES = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    struct nt_source *source;
    struct nt_file *file;
    options.metadata_bytes = METADATA_BYTES;
    options.page_bytes = PAGE_BYTES;
    if (nt_source_open_memory(bytes, count, "input", &source, NULL) != NT_OK)
        return 0;
    if (nt_format_rntuple.open(source, &options, &file, NULL) != NT_OK) {
        nt_source_close(source);
        return 0;
    }
    read_everything(file, NULL, NULL);
    nt_file_close(file);
    return 0;
}
