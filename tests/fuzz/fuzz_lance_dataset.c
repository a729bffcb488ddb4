/* SPDX-License-Identifier: MIT
 *
 * A data set of Lance files: manifest, deletion files, transactions and data files, as tests/fuzz/pack_folder.py puts them behind one another.
 */
#include "memory_folder.h"
#include "read_lance.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct nt_source *source;
    struct nt_error error = {0};
    if (memory_folder_open(bytes, count, &source, &error) == NT_OK)
        read_lance(source);
    return 0;
}
