/* SPDX-License-Identifier: MIT
 *
 * A Lance file.
 */
#include "read_lance.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct nt_source *source;
    struct nt_error error = {0};
    if (nt_source_open_memory(bytes, count, "input.lance", &source, &error) == NT_OK)
        read_lance(source);
    return 0;
}
