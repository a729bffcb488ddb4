/* SPDX-License-Identifier: MIT
 *
 * A Lance file, through all of its parsers.
 */
#include "tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct nt_source *source;
    if (nt_source_open_memory(bytes, count, "input.lance", &source, NULL) == NT_OK)
        open_and_read_tables(&nt_format_lance, source);
    return 0;
}
