/* SPDX-License-Identifier: MIT
 *
 * A whole file from memory: opened, and everything read that it has.
 */
#include "everything.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct nt_source *source;
    if (nt_source_open_memory(bytes, count, "input", &source, NULL) == NT_OK)
        open_and_read(source, NULL, NULL);
    return 0;
}
