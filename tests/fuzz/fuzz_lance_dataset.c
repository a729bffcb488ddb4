/* SPDX-License-Identifier: MIT
 *
 * A Lance dataset: manifest, deletion files, transactions and the tables of data files, as
 * tests/fuzz/pack_folder.py packs them.
 */
#include "memory_folder.h"
#include "tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct nt_source *source;
    if (memory_folder_open(bytes, count, &source, NULL) == NT_OK)
        open_and_read_tables(&nt_format_lance, source);
    return 0;
}
