/* SPDX-License-Identifier: MIT
 *
 * Files for the matrix tests. A test declares the columns of a dataset and the values of their pages.
 * Encoders that follow the specification literally pack the pages, and the tests' writer writes the file.
 * The expected results are recorded meanwhile.
 */
#pragma once

#include "compressors.h"
#include "rntuple_opened.h"

#include <ntuple/read.h>

#include "core/base/memory.h"

enum packing {
    PACKED_PLAIN,
    PACKED_BITS,
    PACKED_SPLIT,
    PACKED_SPLIT_ZIGZAG,
    PACKED_SPLIT_DELTA,
    PACKED_TRUNCATED, /* highest bits of a binary32 */
    PACKED_QUANTIZED,
    PACKED_SWITCH,
};

enum { NO_NUMBER = UINT16_MAX, TRUNCATED_BITS = 21, QUANTIZED_BITS = 13, SWITCH_TAG_SHIFT = 44 };
static const double QUANTIZED_MINIMUM = -3.5, QUANTIZED_MAXIMUM = 12.25;

/* A column type: names and numbers of the specifications. */
struct column_type {
    const char *name;
    uint16_t predraft, draft, final; /* numbers; NO_NUMBER: the generations lack it */
    uint16_t bits;                   /* of an element; for a Switch: since release candidate 1 */
    uint16_t element_bytes;          /* after decoding */
    enum packing packing;
    const char *field_type; /* of a field whose elements are the column's; NULL: none */
};

extern const struct column_type column_types[];
extern const uint32_t column_type_count;
const struct column_type *column_type_named(const char *name);
uint16_t column_type_number(const struct column_type *type, enum rntuple_generation generation);

enum { MATRIX_FIELDS = 40, MATRIX_COLUMNS = 40, MATRIX_CLUSTERS = 6, MATRIX_PAGES = 8 };

/* The settings of the next pages. */
struct page_style {
    const struct compressor *compressor; /* NULL: none */
    enum rntuple_page_checksum checksum;
};

struct matrix_file {
    enum rntuple_generation generation;
    struct page_style style;
    struct rntuple_field fields[MATRIX_FIELDS];
    struct rntuple_column columns[MATRIX_COLUMNS];
    const struct column_type *types[MATRIX_COLUMNS];
    struct rntuple_cluster clusters[MATRIX_CLUSTERS];
    struct rntuple_range ranges[MATRIX_CLUSTERS][MATRIX_COLUMNS];
    struct rntuple_page pages[MATRIX_CLUSTERS][MATRIX_COLUMNS][MATRIX_PAGES];
    struct nt_buffer packed[MATRIX_CLUSTERS][MATRIX_COLUMNS][MATRIX_PAGES];
    struct nt_buffer stored[MATRIX_CLUSTERS][MATRIX_COLUMNS][MATRIX_PAGES];
    struct nt_buffer decoded[MATRIX_CLUSTERS][MATRIX_COLUMNS]; /* the expected elements of the column */
    struct rntuple_description description;                    /* its counters grow with each addition */
    struct written written;                                    /* after opening */
    struct nt_reader *reader;
};

void matrix_init(struct matrix_file *file, enum rntuple_generation generation);
void matrix_deinit(struct matrix_file *file);

/* Each returns the index of the addition. */
uint32_t matrix_field(struct matrix_file *file, uint32_t parent, uint16_t role, const char *type);
uint32_t matrix_array(struct matrix_file *file, uint32_t parent, uint64_t repetition, const char *type);
uint32_t matrix_column(struct matrix_file *file, uint32_t field, const char *type);
/* Has all columns that were added before. */
uint32_t matrix_cluster(struct matrix_file *file, uint64_t first_entry, uint64_t entries);

/* Appends a page to the column's range in a cluster. Values are integers, bit patterns of reals,
 * quantized numbers, and for a Switch index | tag << SWITCH_TAG_SHIFT. */
struct rntuple_page *matrix_page(struct matrix_file *file, uint32_t cluster, uint32_t column,
                                 const uint64_t *values, uint32_t count);
#define MATRIX_PAGE(file, cluster, column, ...)                                                              \
    matrix_page(file, cluster, column, (const uint64_t[]){__VA_ARGS__},                                      \
                sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* Writes, opens, and makes a reader; fails the test if the file is refused. */
void matrix_open(struct matrix_file *file);

/* Every stored column reads as the values of its pages. */
void matrix_check_columns(struct matrix_file *file);
void matrix_check_column(struct matrix_file *file, uint32_t column);

/* The whole stream of a field. */
enum nt_status matrix_read_stream(struct matrix_file *file, uint32_t field, enum nt_stream_kind kind,
                                  struct nt_buffer *out, struct nt_error *error);
/* ... reads as `bytes`, in pieces of any size. */
void matrix_check_stream(struct matrix_file *file, uint32_t field, enum nt_stream_kind kind,
                         const void *bytes, size_t count);
#define MATRIX_CHECK(file, field, kind, element, ...)                                                        \
    matrix_check_stream(file, field, kind, (const element[]){__VA_ARGS__},                                   \
                        sizeof((const element[]){__VA_ARGS__}))
