/* SPDX-License-Identifier: MIT
 *
 * Writes files with dense metadata: a megabyte that does not compress, all of which a reader must keep.
 * Each has the maximum number of its items, or slightly more.
 */
#include <stdlib.h>
#include <string.h>

#include "bombs.h"
#include "demand.h"
#include "rntuple_writer.h"

enum { REAL32 = 0x0C, REAL64 = 0x0B, INT32 = 0x07 /* column types */ };

static void *make(size_t count, size_t size)
{
    void *items = calloc(count, size);
    demand(items);
    return items;
}

/* ---- noise ---- */

static uint32_t noise(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 16;
}

/* Letters of 6 bits each, and an end. */
static void write_noise(uint32_t *state, char *text, size_t letters)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (size_t i = 0; i < letters; i++)
        text[i] = alphabet[noise(state) % 64];
    text[letters] = '\0';
}

/* ---- RNTuples ---- */

static void write_schema(struct rntuple_description *description, struct nt_buffer *file)
{
    description->name = "dense";
    description->writer = "a test";
    description->is_compressed = true;
    rntuple_write(RNTUPLE_V1, description, file);
}

static const struct rntuple_page no_page = {
    .elements = 1, .packed = "few!", .packed_bytes = 4, .stored = "few!", .stored_bytes = 4};

/* So many fields, each with a column of one page, which all share. */
void write_dense_fields(uint32_t count, size_t letters, struct nt_buffer *file)
{
    enum { MAX_LETTERS = 255 };
    char(*names)[MAX_LETTERS + 1] = make(count, sizeof(*names));
    demand(letters <= MAX_LETTERS);
    struct rntuple_field *fields = make(count, sizeof(*fields));
    struct rntuple_column *columns = make(count, sizeof(*columns));
    struct rntuple_range *ranges = make(count, sizeof(*ranges));
    struct rntuple_page *pages = make(count, sizeof(*pages));
    uint32_t state = 1;
    for (uint32_t i = 0; i < count; i++) {
        write_noise(&state, names[i], letters);
        fields[i] = (struct rntuple_field){.name = names[i], .type = "float", .parent = RNTUPLE_TOP};
        columns[i] = (struct rntuple_column){.type = REAL32, .bits = 32, .field = i};
        pages[i] = no_page;
        pages[i].merged = i ? &pages[0] : NULL;
        ranges[i] = (struct rntuple_range){.pages = &pages[i], .page_count = 1};
    }
    const struct rntuple_cluster cluster = {.entries = 1, .ranges = ranges, .range_count = count};
    write_schema(&(struct rntuple_description){.fields = fields,
                                               .field_count = count,
                                               .columns = columns,
                                               .column_count = count,
                                               .clusters = &cluster,
                                               .cluster_count = 1},
                 file);
    free(names);
    free(fields);
    free(columns);
    free(ranges);
    free(pages);
}

static void dense_fields(struct nt_buffer *file)
{
    write_dense_fields(21000, 50, file);
}

static void dense_records(struct nt_buffer *file)
{
    enum { COUNT = 28000, LETTERS = 38 };
    char(*names)[LETTERS + 1] = make(COUNT, sizeof(*names));
    struct rntuple_field *fields = make(COUNT, sizeof(*fields));
    uint32_t state = 1;
    for (uint32_t i = 0; i < COUNT; i++) {
        write_noise(&state, names[i], LETTERS);
        fields[i] = (struct rntuple_field){.name = names[i], .type = "", .role = 2, .parent = RNTUPLE_TOP};
    }
    write_schema(&(struct rntuple_description){.fields = fields, .field_count = COUNT}, file);
    free(names);
    free(fields);
}

static const struct rntuple_field integer = {.name = "a", .type = "std::int32_t", .parent = RNTUPLE_TOP};
static const struct rntuple_column int32_column = {.type = INT32, .bits = 32};

static void write_clusters(const struct rntuple_cluster *clusters, uint32_t count, struct nt_buffer *file)
{
    write_schema(&(struct rntuple_description){.fields = &integer,
                                               .field_count = 1,
                                               .columns = &int32_column,
                                               .column_count = 1,
                                               .clusters = clusters,
                                               .cluster_count = count},
                 file);
}

/* Each has another number of elements, the only difference. */
static void dense_pages(struct nt_buffer *file)
{
    enum { COUNT = 130000, MAX_ELEMENTS = 65536 };
    struct rntuple_page *pages = make(COUNT, sizeof(*pages));
    uint64_t entries = 0;
    uint32_t state = 1;
    for (uint32_t i = 0; i < COUNT; i++) {
        pages[i] = no_page;
        pages[i].merged = i ? &pages[0] : NULL;
        pages[i].elements = 1 + noise(&state) % MAX_ELEMENTS;
        entries += pages[i].elements;
    }
    const struct rntuple_range range = {.pages = pages, .page_count = COUNT};
    const struct rntuple_cluster cluster = {.entries = entries, .ranges = &range, .range_count = 1};
    write_clusters(&cluster, 1, file);
    free(pages);
}

static void dense_clusters(struct nt_buffer *file)
{
    enum { COUNT = 70000, MAX_ENTRIES = 65536 };
    struct rntuple_cluster *clusters = make(COUNT, sizeof(*clusters));
    struct rntuple_range *ranges = make(COUNT, sizeof(*ranges));
    struct rntuple_page *pages = make(COUNT, sizeof(*pages));
    uint64_t first = 0;
    uint32_t state = 1;
    for (uint32_t i = 0; i < COUNT; i++) {
        pages[i] = no_page;
        pages[i].merged = i ? &pages[0] : NULL;
        pages[i].elements = 1 + noise(&state) % MAX_ENTRIES;
        ranges[i] =
            (struct rntuple_range){.pages = &pages[i], .page_count = 1, .first_element = (int64_t)first};
        clusters[i] = (struct rntuple_cluster){
            .first_entry = first, .entries = pages[i].elements, .ranges = &ranges[i], .range_count = 1};
        first += pages[i].elements;
    }
    write_clusters(clusters, COUNT, file);
    free(clusters);
    free(ranges);
    free(pages);
}

/* A field's values in so many encodings, each with its own range of values. */
static void dense_columns(struct nt_buffer *file)
{
    enum { COUNT = 65000 };
    const struct rntuple_field field = {.name = "a", .type = "double", .parent = RNTUPLE_TOP};
    struct rntuple_column *columns = make(COUNT, sizeof(*columns));
    uint32_t state = 1;
    for (uint32_t i = 0; i < COUNT; i++)
        columns[i] = (struct rntuple_column){.type = REAL64,
                                             .bits = 64,
                                             .representation = (uint16_t)i,
                                             .has_range = true,
                                             .minimum = -(double)noise(&state) / 3,
                                             .maximum = noise(&state) / 7.0};
    write_schema(
        &(struct rntuple_description){
            .fields = &field, .field_count = 1, .columns = columns, .column_count = COUNT},
        file);
    free(columns);
}

/* Each must be read by itself, although all of them are the same one. */
static void attribute_sets_with_a_long_header(struct nt_buffer *file)
{
    enum { BYTES = 1 << 20, SETS = 240 };
    char *text = make(BYTES + 1, 1);
    memset(text, 'a', BYTES);
    struct rntuple_field field = integer;
    field.description = text;
    struct rntuple_description description = {.name = "dense",
                                              .writer = "a test",
                                              .fields = &field,
                                              .field_count = 1,
                                              .columns = &int32_column,
                                              .column_count = 1,
                                              .is_compressed = true,
                                              .attribute_set = "s",
                                              .repeated_attribute_sets = SETS - 1};
    rntuple_write(RNTUPLE_V1_1, &description, file);
    free(text);
}

const struct bomb dense_bombs[] = {
    BOMB(attribute_sets_with_a_long_header, BOMB_READ),
    BOMB(dense_fields, BOMB_READ),
    BOMB(dense_records, BOMB_WITHOUT_STREAMS),
    BOMB(dense_pages, BOMB_FAILED),
    BOMB(dense_clusters, BOMB_FAILED),
    BOMB(dense_columns, BOMB_FAILED),
};
const size_t dense_bomb_count = sizeof(dense_bombs) / sizeof(*dense_bombs);
