/* SPDX-License-Identifier: MIT
 *
 * In: a legacy file's page table and the id of a field. Out: where the field's pages lie, batch by batch.
 */
#include "formats/lance/legacy/opened.h"

const struct nt_lance_cell *nt_lance_cells(const struct nt_lance_page_table *table, int32_t id)
{
    uint32_t number = (uint32_t)id - (uint32_t)table->first;
    return id < table->first || number >= table->fields ? NULL
                                                        : table->cells + (uint64_t)number * table->batches;
}
