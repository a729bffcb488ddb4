/* SPDX-License-Identifier: MIT
 *
 * Generation x column type x compression x page checksum, read from the bytes of a file as columns and
 * streams. There are several pages and clusters, listed out of entry order, and one of them is empty.
 */
#include "column_range.h"
#include "matrix_file.h"

#include <malloc.h>

#include "formats/rntuple/rntuple.h"
#include "core/base/memory.h"
#include "core/model/model.h"
#include <ntuple/read.h>

static struct nt_error error;
static struct matrix_file file;

static const char *const compressor_names[] = {NULL, "zlib", "old-zlib", "lzma", "lz4", "zstd"};
enum { COMPRESSORS = sizeof(compressor_names) / sizeof(compressor_names[0]) };
enum { CLUSTERS = 4, ENTRIES = 600 };

/* In the file's order. */
static const struct cluster {
    uint32_t first_entry, entries;
} clusters[CLUSTERS] = {{220, 200}, {0, 220}, {420, 0}, {420, 180}};
static const uint32_t in_entry_order[CLUSTERS] = {1, 0, 2, 3};

/* The predraft has no page checksums; from candidate 3 on they cover the stored bytes. */
static bool has_checksum(enum rntuple_generation generation, enum rntuple_page_checksum checksum)
{
    return checksum == RNTUPLE_NO_CHECKSUM ||
           (generation != RNTUPLE_PREDRAFT &&
            (checksum == RNTUPLE_CHECKSUM_OF_STORED || generation < RNTUPLE_RC3));
}

/* No draft says where a column record stores the range of values: without it, a Real32Quant has none. */
static bool has_values(const struct column_type *type, enum rntuple_generation generation)
{
    return type->packing != PACKED_QUANTIZED || generation >= RNTUPLE_RC3;
}

/* Values that compress a little and sometimes use all bits of the type. */
static uint64_t value_of(const struct column_type *type, uint32_t entry)
{
    uint64_t mixed = (entry + 1) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t value = entry % 7 == 0 ? mixed ^ mixed >> 29 : entry / 5;
    if (type->packing == PACKED_SPLIT_DELTA)
        return 3 * (uint64_t)entry + entry % 2;
    if (type->packing == PACKED_SWITCH)
        return entry | (uint64_t)(entry % 5) << SWITCH_TAG_SHIFT;
    return type->bits < 64 ? value & ((UINT64_C(1) << type->bits) - 1) : value;
}

/* Pages of a different number of elements for each column. */
static void fill_cluster(uint32_t cluster, uint32_t column)
{
    uint64_t values[ENTRIES];
    uint32_t most = 61 + 5 * column, first = clusters[cluster].first_entry;
    uint32_t end = first + clusters[cluster].entries;
    for (uint32_t at = first, count; at < end; at += count) {
        count = end - at < most ? end - at : most;
        for (uint32_t i = 0; i < count; i++)
            values[i] = value_of(file.types[column], at + i);
        matrix_page(&file, cluster, column, values, count);
    }
}

static void fill_file(void)
{
    for (uint32_t i = 0; i < column_type_count; i++) {
        const struct column_type *type = &column_types[i];
        if (column_type_number(type, file.generation) == NO_NUMBER || !has_values(type, file.generation))
            continue;
        uint32_t field =
            matrix_field(&file, RNTUPLE_TOP, 0, type->field_type ? type->field_type : "a variant");
        matrix_column(&file, field, type->name);
    }
    for (uint32_t cluster = 0; cluster < CLUSTERS; cluster++) {
        matrix_cluster(&file, clusters[cluster].first_entry, clusters[cluster].entries);
        for (uint32_t column = 0; column < file.description.column_count; column++)
            fill_cluster(cluster, column);
    }
}

/* One column per field, so that they have the same numbers. */
static void check_streams(void)
{
    for (uint32_t i = 0; i < file.description.column_count; i++) {
        struct nt_buffer expected = {0};
        for (uint32_t k = 0; k < CLUSTERS; k++)
            nt_buffer_append(&expected, file.decoded[in_entry_order[k]][i].bytes,
                             file.decoded[in_entry_order[k]][i].length);
        uint32_t field = file.written.dataset->columns[i].field;
        matrix_check_stream(&file, field, NT_STREAM_DATA, expected.bytes, expected.length);
        nt_buffer_deinit(&expected);
    }
}

static void make_file(enum rntuple_generation generation, const char *compressor,
                      enum rntuple_page_checksum checksum)
{
    matrix_init(&file, generation);
    file.style.checksum = checksum;
    file.style.compressor = compressor ? compressor_named(compressor) : NULL;
    fill_file();
    matrix_open(&file);
}

TEST(every_column_type_is_read_with_every_compression_and_checksum, .end = RNTUPLE_GENERATIONS * COMPRESSORS)
{
    enum rntuple_generation generation = _i / COMPRESSORS;
    for (int checksum = RNTUPLE_NO_CHECKSUM; checksum <= RNTUPLE_CHECKSUM_OF_PACKED; checksum++) {
        if (!has_checksum(generation, checksum))
            continue;
        make_file(generation, compressor_names[_i % COMPRESSORS], checksum);
        matrix_check_columns(&file);
        check_streams();
        matrix_deinit(&file);
    }
}

TEST(every_column_type_of_a_generation_is_in_the_matrix, .end = RNTUPLE_GENERATIONS)
{
    static const char *const rows[RNTUPLE_GENERATIONS] = {
        "pre-draft",
        "draft, CRC32, extension header links",
        "draft, CRC32, schema extension",
        "release candidate 1",
        "release candidate 2, early",
        "release candidate 2, late",
        "release candidate 3",
        "version 1",
        "version 1",
    };
    uint32_t count = 0;
    for (uint32_t i = 0; i < column_type_count; i++)
        count += column_type_number(&column_types[i], _i) != NO_NUMBER;
    for (uint32_t i = 0; i < nt_generation_count; i++)
        if (strcmp(nt_generations[i].name, rows[_i]) == 0)
            ck_assert_uint_eq(nt_generations[i].column_type_count, count);
}

/* Flips a bit of the first entry's page: an error, or a bit without meaning (after the end of an old
 * zlib block, where the checksum covers the uncompressed bytes). */
static void check_damaged_page(uint32_t column)
{
    const struct nt_range *range;
    uint8_t byte;
    assert_ok(column_range(file.written.dataset, 1, column, &range, &error));
    const struct nt_page *page = &nt_group_slot(file.written.dataset, 0)->pages[range->first_page];
    file.written.bytes.bytes[page->offset + page->stored_bytes / 2] ^= 0x10;
    uint64_t offset = file.decoded[0][column].length; /* the second cluster's first element */
    enum nt_status status =
        nt_column_read(file.reader, file.written.dataset, column, offset, &byte, 1, &error);
    if (status == NT_OK)
        matrix_check_column(&file, column);
    else
        ck_assert_msg(status == NT_CHECKSUM || status == NT_CORRUPT, "column %u, generation %d: %s", column,
                      file.generation, nt_status_name(status));
    ck_assert(status != NT_OK || (file.style.compressor == compressor_named("old-zlib") &&
                                  file.style.checksum == RNTUPLE_CHECKSUM_OF_PACKED));
}

TEST(a_damaged_page_is_an_error_and_others_are_read, .end = RNTUPLE_GENERATIONS * COMPRESSORS)
{
    enum rntuple_generation generation = _i / COMPRESSORS;
    for (int checksum = RNTUPLE_CHECKSUM_OF_STORED; checksum <= RNTUPLE_CHECKSUM_OF_PACKED; checksum++) {
        if (!has_checksum(generation, checksum))
            continue;
        make_file(generation, compressor_names[_i % COMPRESSORS], checksum);
        for (uint32_t column = 0; column < file.description.column_count; column += 2)
            check_damaged_page(column);
        for (uint32_t column = 1; column < file.description.column_count; column += 2)
            matrix_check_column(&file, column);
        matrix_deinit(&file);
    }
}

__attribute__((constructor)) static void keep_memory(void)
{
    mallopt(M_TRIM_THRESHOLD,
            64 << 20); /* keep what compressors allocate for each page: that takes half of the time */
    mallopt(M_MMAP_THRESHOLD, 64 << 20);
}
