/* SPDX-License-Identifier: MIT
 *
 * Writes small files that request huge resources: elements, pages, clusters, fields, bytes of an envelope.
 */
#include "bombs.h"

#include <stdlib.h>
#include <string.h>

#include "demand.h"
#include "rntuple_writer.h"

static const struct rntuple_field integer = {.name = "a", .type = "std::int32_t", .parent = RNTUPLE_TOP};
static const struct rntuple_column int32_column = {.type = 0x07, .bits = 32};

static void write_schema(const struct rntuple_description *schema, struct nt_buffer *file)
{
    struct rntuple_description description = *schema;
    description.name = "bomb";
    description.writer = "a test";
    rntuple_write(RNTUPLE_V1, &description, file);
}

/* One integer field with these clusters, and so many more groups of them. */
static void write_clusters_of(const struct rntuple_cluster *clusters, uint32_t count,
                              uint32_t repeated_groups, struct nt_buffer *file)
{
    write_schema(&(struct rntuple_description){.fields = &integer,
                                               .field_count = 1,
                                               .columns = &int32_column,
                                               .column_count = 1,
                                               .clusters = clusters,
                                               .cluster_count = count,
                                               .repeated_groups = repeated_groups,
                                               .is_compressed = true},
                 file);
}

/* ---- pages ---- */

/* One cluster whose only column has these pages. */
static void write_pages(const struct rntuple_page *pages, uint32_t page_count, uint64_t entries,
                        struct nt_buffer *file)
{
    const struct rntuple_range range = {.pages = pages, .page_count = page_count};
    const struct rntuple_cluster cluster = {.entries = entries, .ranges = &range, .range_count = 1};
    write_clusters_of(&cluster, 1, 0, file);
}

static void a_page_of_2_to_31_elements_in_few_bytes(struct nt_buffer *file)
{
    const struct rntuple_page page = {
        .elements = INT32_MAX, .packed = "few", .packed_bytes = 3, .stored = "few", .stored_bytes = 3};
    write_pages(&page, 1, INT32_MAX, file);
}

enum { FRAME_ELEMENTS = 1 << 20, FRAME_BYTES = 4 * FRAME_ELEMENTS };

/* A ROOT block of zstd: magic, window of 4 MiB, blocks of 128 KiB that repeat one byte. Returns its
 * length. */
static size_t repeated_zeros(char *stored)
{
    size_t length = 9;
    memcpy(stored + length, "\x28\xb5\x2f\xfd\x00\x60", 6);
    length += 6;
    for (unsigned i = 0; i < 32; i++, length += 4)
        memcpy(stored + length, i == 31 ? "\x03\x00\x10\x00" : "\x02\x00\x10\x00", 4);
    memcpy(stored, "ZS\x01", 3);
    for (unsigned i = 0; i < 3; i++) {
        stored[3 + i] = (char)((length - 9) >> 8 * i);
        stored[6 + i] = (char)(FRAME_BYTES >> 8 * i);
    }
    return length;
}

/* So many pages that share the same bytes. */
static void write_merged(uint32_t count, struct nt_buffer *file)
{
    static const char zeros[FRAME_BYTES];
    struct rntuple_page *pages = calloc(count, sizeof(*pages));
    char stored[256] = {0};
    size_t length = repeated_zeros(stored);
    demand(pages);
    for (uint32_t i = 0; i < count; i++)
        pages[i] = (struct rntuple_page){.elements = FRAME_ELEMENTS,
                                         .packed = zeros,
                                         .packed_bytes = FRAME_BYTES,
                                         .stored = stored,
                                         .stored_bytes = (uint32_t)length,
                                         .merged = i ? &pages[0] : NULL};
    write_pages(pages, count, (uint64_t)count * FRAME_ELEMENTS, file);
    free(pages);
}

/* Together they are 120 GB. */
static void pages_that_overlap(struct nt_buffer *file)
{
    write_merged(30000, file);
}

static void a_million_pages(struct nt_buffer *file)
{
    write_merged(1000000, file);
}

static void a_zstd_window_of_2_gigabytes(struct nt_buffer *file)
{
    /* Window descriptor 0xa8: 2^31 bytes; one block that repeats a byte 4000 times. */
    static const char stored[] = "ZS\x01\x0a\x00\x00\xa0\x0f\x00"
                                 "\x28\xb5\x2f\xfd\x00\xa8\x03\x7d\x00\x00";
    static const char zeros[4000];
    const struct rntuple_page page = {.elements = 1000,
                                      .packed = zeros,
                                      .packed_bytes = sizeof(zeros),
                                      .stored = stored,
                                      .stored_bytes = sizeof(stored) - 1};
    write_pages(&page, 1, 1000, file);
}

/* ---- clusters ---- */

/* So many clusters without entries, and as many more groups of them. */
static void write_clusters(uint32_t clusters, uint32_t repeated_groups, struct nt_buffer *file)
{
    struct rntuple_cluster *list = calloc(clusters, sizeof(*list));
    demand(list);
    write_clusters_of(list, clusters, repeated_groups, file);
    free(list);
}

static void a_million_clusters(struct nt_buffer *file)
{
    write_clusters(1000000, 0, file);
}

static void groups_that_share_a_page_list(struct nt_buffer *file)
{
    write_clusters(100000, 100, file);
}

static void many_groups_of_one_cluster(struct nt_buffer *file)
{
    write_clusters(1, 12000, file);
}

/* ---- the schema ---- */

/* Each field below the one before it, or all at the top. */
static void write_records(uint32_t count, bool is_deep, struct nt_buffer *file)
{
    struct rntuple_field *fields = calloc(count, sizeof(*fields));
    demand(fields);
    for (uint32_t i = 0; i < count; i++)
        fields[i] = (struct rntuple_field){
            .name = "a", .type = "", .role = 2, .parent = is_deep && i ? i - 1 : RNTUPLE_TOP};
    write_schema(&(struct rntuple_description){.fields = fields, .field_count = count, .is_compressed = true},
                 file);
    free(fields);
}

static void many_hundred_thousand_fields(struct nt_buffer *file)
{
    write_records(400000, false, file);
}

static void many_fields(struct nt_buffer *file)
{
    write_records(9000, false, file);
}

static void fields_nested_deep(struct nt_buffer *file)
{
    write_records(100000, true, file);
}

static void a_column_in_many_representations(struct nt_buffer *file)
{
    enum { REPRESENTATIONS = 30000 };
    struct rntuple_column *columns = calloc(REPRESENTATIONS, sizeof(*columns));
    demand(columns);
    for (uint32_t i = 0; i < REPRESENTATIONS; i++)
        columns[i] = (struct rntuple_column){.type = 0x07, .bits = 32, .representation = (uint16_t)i};
    write_schema(&(struct rntuple_description){.fields = &integer,
                                               .field_count = 1,
                                               .columns = columns,
                                               .column_count = REPRESENTATIONS,
                                               .is_compressed = true},
                 file);
    free(columns);
}

static void write_projected(uint32_t source, struct nt_buffer *file)
{
    const struct rntuple_field fields[] = {
        {.name = "a", .type = "float", .parent = RNTUPLE_TOP, .flags = 2, .source = source},
        {.name = "b", .type = "float", .parent = RNTUPLE_TOP, .flags = 2, .source = 0},
    };
    write_schema(&(struct rntuple_description){.fields = fields, .field_count = 2}, file);
}

static void a_field_projected_from_itself(struct nt_buffer *file)
{
    write_projected(0, file);
}

/* Alias columns, not these links, define what is read, and these fields have none. */
static void fields_projected_in_a_ring(struct nt_buffer *file)
{
    write_projected(1, file);
}

/* An entry with so many records without members, which take no bytes of the file. */
static void a_list_of_2_to_31_records_of_nothing(struct nt_buffer *file)
{
    static const uint8_t end[8] = {0xff, 0xff, 0xff, 0x7f};
    static const struct rntuple_column index64 = {.type = 0x0f, .bits = 64};
    const struct rntuple_field fields[] = {
        {.name = "a", .type = "std::vector<Nothing>", .role = 1, .parent = RNTUPLE_TOP},
        {.name = "_0", .type = "Nothing", .role = 2, .parent = 0},
    };
    const struct rntuple_page page = {.elements = 1,
                                      .packed = (const char *)end,
                                      .packed_bytes = sizeof(end),
                                      .stored = (const char *)end,
                                      .stored_bytes = sizeof(end)};
    const struct rntuple_range range = {.pages = &page, .page_count = 1};
    const struct rntuple_cluster cluster = {.entries = 1, .ranges = &range, .range_count = 1};
    write_schema(&(struct rntuple_description){.fields = fields,
                                               .field_count = 2,
                                               .columns = &index64,
                                               .column_count = 1,
                                               .clusters = &cluster,
                                               .cluster_count = 1},
                 file);
}

/* ---- envelopes ---- */

static void long_text(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_HEADER)
        memset(bytes->bytes + 16, 0xff, 4); /* the name's length */
}

static void a_text_of_4_gigabytes(struct nt_buffer *file)
{
    write_schema(&(struct rntuple_description){.fields = &integer, .field_count = 1, .spoil = long_text},
                 file);
}

static void a_header_of_100_megabytes(struct nt_buffer *file)
{
    enum { BYTES = 100 << 20 };
    char *text = malloc(BYTES + 1);
    demand(text);
    memset(text, 'a', BYTES);
    text[BYTES] = 0;
    struct rntuple_field field = integer;
    field.description = text;
    write_schema(&(struct rntuple_description){.fields = &field, .field_count = 1, .is_compressed = true},
                 file);
    free(text);
}

const struct bomb bombs[] = {
    BOMB(a_page_of_2_to_31_elements_in_few_bytes, BOMB_FAILED),
    BOMB(pages_that_overlap, BOMB_READ),
    BOMB(a_million_pages, BOMB_FAILED),
    BOMB(a_zstd_window_of_2_gigabytes, BOMB_READ),
    BOMB(a_million_clusters, BOMB_REFUSED),
    BOMB(groups_that_share_a_page_list, BOMB_REFUSED),
    BOMB(many_groups_of_one_cluster, BOMB_READ),
    BOMB(many_hundred_thousand_fields, BOMB_REFUSED),
    BOMB(many_fields, BOMB_WITHOUT_STREAMS), /* they are records */
    BOMB(fields_nested_deep, BOMB_REFUSED),
    BOMB(a_column_in_many_representations, BOMB_READ),
    BOMB(a_field_projected_from_itself, BOMB_REFUSED),
    BOMB(fields_projected_in_a_ring, BOMB_FAILED),
    BOMB(a_list_of_2_to_31_records_of_nothing, BOMB_READ),
    BOMB(a_text_of_4_gigabytes, BOMB_REFUSED),
    BOMB(a_header_of_100_megabytes, BOMB_REFUSED),
};
const size_t bomb_count = sizeof(bombs) / sizeof(*bombs);
