/* SPDX-License-Identifier: MIT
 *
 * A file with RNTuples, through all of its parsers.
 */
#include "tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct nt_source *source;
    if (nt_source_open_memory(bytes, count, "input", &source, NULL) == NT_OK)
        open_and_read_tables(&nt_format_rntuple, source);
    return 0;
}
