/* SPDX-License-Identifier: MIT
 *
 * Writes a valid dataset with many fields, clusters or pages. usage: write_many FILE FIELDS CLUSTERS PAGES,
 * the last of a field in a cluster. Fields are floats of four zeros a page, with checksums. Envelopes are
 * compressed.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "demand.h"
#include "rntuple_writer.h"
#include "save_bytes.h"

enum { REAL32 = 0x0C /* column type of version 1 */, ELEMENTS = 4, NAME_BYTES = 24, GROUP = 2000 };

struct counts {
    uint32_t fields, clusters, pages;
};

static void *make(size_t count, size_t size)
{
    void *items = calloc(count, size);
    demand(items);
    return items;
}

static void write_file(const struct counts *counts, struct rntuple_description *description, const char *path)
{
    static const float zeros[ELEMENTS];
    const struct rntuple_page page = {.elements = ELEMENTS,
                                      .packed = zeros,
                                      .packed_bytes = sizeof(zeros),
                                      .checksum = RNTUPLE_CHECKSUM_OF_STORED};
    struct rntuple_page *pages = make(counts->pages, sizeof(*pages));
    struct rntuple_cluster *clusters = make(counts->clusters, sizeof(*clusters));
    struct rntuple_range *ranges = make((size_t)counts->clusters * counts->fields, sizeof(*ranges));
    struct nt_buffer bytes = {0};
    uint64_t entries = (uint64_t)counts->pages * ELEMENTS;
    for (uint32_t i = 0; i < counts->pages; i++)
        pages[i] = page;
    for (uint32_t i = 0; i < counts->clusters; i++) {
        clusters[i] = (struct rntuple_cluster){.first_entry = i * entries,
                                               .entries = entries,
                                               .ranges = &ranges[(size_t)i * counts->fields],
                                               .range_count = counts->fields};
        for (uint32_t k = 0; k < counts->fields; k++)
            ranges[(size_t)i * counts->fields + k] = (struct rntuple_range){
                .pages = pages, .page_count = counts->pages, .first_element = i * entries};
    }
    description->clusters = clusters;
    rntuple_write(RNTUPLE_V1, description, &bytes);
    save_bytes(&bytes, path);
    nt_buffer_deinit(&bytes);
    free(pages);
    free(clusters);
    free(ranges);
}

static uint32_t number(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

int main(int count, char **arguments)
{
    demand(count == 5);
    mallopt(M_TRIM_THRESHOLD, 1 << 30); /* giving memory back for each page took most of the time */
    const struct counts counts = {number(arguments[2]), number(arguments[3]), number(arguments[4])};
    char(*names)[NAME_BYTES] = make(counts.fields, NAME_BYTES);
    struct rntuple_field *fields = make(counts.fields, sizeof(*fields));
    struct rntuple_column *columns = make(counts.fields, sizeof(*columns));
    for (uint32_t i = 0; i < counts.fields; i++) {
        snprintf(names[i], NAME_BYTES, "Jet_variable%05u", i);
        fields[i] = (struct rntuple_field){.name = names[i], .type = "float", .parent = RNTUPLE_TOP};
        columns[i] = (struct rntuple_column){.type = REAL32, .bits = 32, .field = i};
    }
    struct rntuple_description description = {.name = "Events",
                                              .description = "",
                                              .writer = "a test",
                                              .fields = fields,
                                              .field_count = counts.fields,
                                              .columns = columns,
                                              .column_count = counts.fields,
                                              .cluster_count = counts.clusters,
                                              .clusters_per_group = counts.clusters > GROUP ? GROUP : 0,
                                              .is_compressed = true};
    write_file(&counts, &description, arguments[1]);
    free(names);
    free(fields);
    free(columns);
    return 0;
}
