/* SPDX-License-Identifier: MIT
 *
 * Writes a dataset that is several times as large as a small cache. usage: write_large FILE. It has 48
 * columns of 32-bit numbers, split into byte planes and compressed, in pages of many sizes from 64 KiB to 1
 * MiB. Entry i of column c has the value c * 1000003 + 7 * i; soak.py relies on it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "demand.h"
#include "rntuple_writer.h"
#include "save_bytes.h"

enum { SPLIT_UINT32 = 0x14 }; /* column type of version 1 */
enum { COLUMNS = 48, CLUSTERS = 4, ENTRIES = 160 * 1024, PAGES = 10, SMALLEST_PAGE = 16 * 1024 };

static char names[COLUMNS][4];
static struct rntuple_field fields[COLUMNS];
static struct rntuple_column columns[COLUMNS];
static struct rntuple_page pages[CLUSTERS][COLUMNS][PAGES];
static struct rntuple_range ranges[CLUSTERS][COLUMNS];
static struct rntuple_cluster clusters[CLUSTERS];

static void fill_page(struct rntuple_page *page, uint32_t column, uint32_t first, uint32_t elements)
{
    uint8_t *planes = malloc(4 * (size_t)elements);
    demand(planes);
    for (uint32_t i = 0; i < elements; i++)
        for (uint32_t plane = 0; plane < 4; plane++)
            planes[plane * elements + i] = (uint8_t)((column * 1000003 + 7 * (first + i)) >> 8 * plane);
    *page = (struct rntuple_page){.elements = elements,
                                  .packed = planes,
                                  .packed_bytes = 4 * elements,
                                  .checksum = RNTUPLE_CHECKSUM_OF_STORED};
}

/* Pages of 1, 2, 3 ... times the column's own size, up to 1 MiB. */
static void fill_range(uint32_t cluster, uint32_t column)
{
    enum { MOST = 256 * 1024 };
    struct rntuple_range *range = &ranges[cluster][column];
    range->pages = pages[cluster][column];
    for (uint32_t first = 0, elements; first < ENTRIES; first += elements) {
        elements = (SMALLEST_PAGE + 1024 * column) * (range->page_count + 1);
        elements = elements < MOST ? elements : MOST;
        elements = elements < ENTRIES - first ? elements : ENTRIES - first;
        demand(range->page_count < PAGES);
        fill_page(&pages[cluster][column][range->page_count++], column, cluster * ENTRIES + first, elements);
    }
}

int main(int count, char **arguments)
{
    demand(count == 2);
    for (uint32_t c = 0; c < COLUMNS; c++) {
        snprintf(names[c], sizeof(names[c]), "c%u", c);
        fields[c] = (struct rntuple_field){.name = names[c], .type = "std::uint32_t", .parent = RNTUPLE_TOP};
        columns[c] = (struct rntuple_column){.type = SPLIT_UINT32, .bits = 32, .field = c};
    }
    for (uint32_t k = 0; k < CLUSTERS; k++) {
        for (uint32_t c = 0; c < COLUMNS; c++)
            fill_range(k, c);
        clusters[k] = (struct rntuple_cluster){.first_entry = (uint64_t)k * ENTRIES,
                                               .entries = ENTRIES,
                                               .ranges = ranges[k],
                                               .range_count = COLUMNS};
    }
    const struct rntuple_description description = {.name = "Events",
                                                    .description = "",
                                                    .writer = "a test",
                                                    .fields = fields,
                                                    .field_count = COLUMNS,
                                                    .columns = columns,
                                                    .column_count = COLUMNS,
                                                    .clusters = clusters,
                                                    .cluster_count = CLUSTERS,
                                                    .is_compressed = true};
    struct nt_buffer bytes = {0};
    rntuple_write(RNTUPLE_V1, &description, &bytes);
    save_bytes(&bytes, arguments[1]);
    nt_buffer_deinit(&bytes);
    for (uint32_t i = 0; i < CLUSTERS * COLUMNS * PAGES; i++)
        free((void *)(uintptr_t)(&pages[0][0][0])[i].packed);
}
