/* SPDX-License-Identifier: MIT
 *
 * Simple encoders of all column types, and common code of the matrix tests.
 */
#include "matrix_file.h"

#include <stdlib.h>

#include "demand.h"

static struct nt_error error;

/* Numbers from files of 2021, drafts of 2022 and 2023, version 1.0.0.1 ("Column Description"). */
const struct column_type column_types[] = {
    {"Bit", 4, 0x06, 0x00, 1, 1, PACKED_BITS, "bool"},
    {"Byte", 3, 0x04, 0x01, 8, 1, PACKED_PLAIN, "std::byte"},
    {"Char", NO_NUMBER, 0x05, 0x02, 8, 1, PACKED_PLAIN, "char"},
    {"Int8", NO_NUMBER, 0x19, 0x03, 8, 1, PACKED_PLAIN, "std::int8_t"},
    {"UInt8", NO_NUMBER, 0x0d, 0x04, 8, 1, PACKED_PLAIN, "std::uint8_t"},
    {"Int16", 11, 0x18, 0x05, 16, 2, PACKED_PLAIN, "std::int16_t"},
    {"UInt16", NO_NUMBER, 0x0c, 0x06, 16, 2, PACKED_PLAIN, "std::uint16_t"},
    {"Int32", 10, 0x17, 0x07, 32, 4, PACKED_PLAIN, "std::int32_t"},
    {"UInt32", NO_NUMBER, 0x0b, 0x08, 32, 4, PACKED_PLAIN, "std::uint32_t"},
    {"Int64", 9, 0x16, 0x09, 64, 8, PACKED_PLAIN, "std::int64_t"},
    {"UInt64", NO_NUMBER, 0x0a, 0x0a, 64, 8, PACKED_PLAIN, "std::uint64_t"},
    {"Real16", 7, 0x09, 0x0b, 16, 2, PACKED_PLAIN, "half"},
    {"Real32", 6, 0x08, 0x0c, 32, 4, PACKED_PLAIN, "float"},
    {"Real64", 5, 0x07, 0x0d, 64, 8, PACKED_PLAIN, "double"},
    {"Index32", 1, 0x02, 0x0e, 32, 4, PACKED_PLAIN, "std::uint32_t"},
    {"Index64", NO_NUMBER, 0x01, 0x0f, 64, 8, PACKED_PLAIN, "std::uint64_t"},
    {"Switch", 2, 0x03, 0x10, 96, 12, PACKED_SWITCH, NULL},
    {"SplitInt16", NO_NUMBER, 0x1c, 0x11, 16, 2, PACKED_SPLIT_ZIGZAG, "std::int16_t"},
    {"SplitUInt16", NO_NUMBER, 0x15, 0x12, 16, 2, PACKED_SPLIT, "std::uint16_t"},
    {"SplitInt32", NO_NUMBER, 0x1b, 0x13, 32, 4, PACKED_SPLIT_ZIGZAG, "std::int32_t"},
    {"SplitUInt32", NO_NUMBER, 0x14, 0x14, 32, 4, PACKED_SPLIT, "std::uint32_t"},
    {"SplitInt64", NO_NUMBER, 0x1a, 0x15, 64, 8, PACKED_SPLIT_ZIGZAG, "std::int64_t"},
    {"SplitUInt64", NO_NUMBER, 0x13, 0x16, 64, 8, PACKED_SPLIT, "std::uint64_t"},
    {"SplitReal16", NO_NUMBER, 0x12, 0x17, 16, 2, PACKED_SPLIT, "half"},
    {"SplitReal32", NO_NUMBER, 0x11, 0x18, 32, 4, PACKED_SPLIT, "float"},
    {"SplitReal64", NO_NUMBER, 0x10, 0x19, 64, 8, PACKED_SPLIT, "double"},
    {"SplitIndex32", NO_NUMBER, 0x0f, 0x1a, 32, 4, PACKED_SPLIT_DELTA, "std::uint32_t"},
    {"SplitIndex64", NO_NUMBER, 0x0e, 0x1b, 64, 8, PACKED_SPLIT_DELTA, "std::uint64_t"},
    {"Real32Trunc", NO_NUMBER, 0x1d, 0x1c, TRUNCATED_BITS, 4, PACKED_TRUNCATED, "float"},
    {"Real32Quant", NO_NUMBER, 0x1e, 0x1d, QUANTIZED_BITS, 4, PACKED_QUANTIZED, "float"},
};
const uint32_t column_type_count = sizeof(column_types) / sizeof(column_types[0]);

const struct column_type *column_type_named(const char *name)
{
    uint32_t i = 0;
    while (i < column_type_count && strcmp(column_types[i].name, name) != 0)
        i++;
    demand(i < column_type_count);
    return &column_types[i];
}

uint16_t column_type_number(const struct column_type *type, enum rntuple_generation generation)
{
    return column_number(generation, (struct column_number){type->predraft, type->draft, type->final});
}

/* ---- encoders ---- */

static void append_integer(struct nt_buffer *out, uint64_t value, unsigned bytes)
{
    uint8_t *room = nt_buffer_extend(out, bytes);
    for (unsigned i = 0; i < bytes; i++)
        room[i] = (uint8_t)(value >> 8 * i);
}

/* The lowest `bits` bits of each value, one after the other. */
static void append_bits(struct nt_buffer *out, const uint64_t *values, uint32_t count, unsigned bits)
{
    uint64_t bit_count = (uint64_t)count * bits, bytes = (bit_count + 7) / 8;
    uint8_t *packed = nt_buffer_extend(out, bytes);
    memset(packed, 0, bytes);
    for (uint64_t i = 0; i < bit_count; i++)
        packed[i / 8] |= (uint8_t)((values[i / bits] >> i % bits & 1) << i % 8);
}

static int64_t sign_extend(uint64_t value, unsigned bytes)
{
    return (int64_t)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

/* 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
static uint64_t zigzag(uint64_t value, unsigned bytes)
{
    int64_t number = sign_extend(value, bytes);
    return number < 0 ? ~(uint64_t)number * 2 + 1 : (uint64_t)number * 2;
}

static uint64_t before_split(enum packing packing, const uint64_t *values, uint32_t i, unsigned bytes)
{
    if (packing == PACKED_SPLIT_ZIGZAG)
        return zigzag(values[i], bytes);
    if (packing == PACKED_SPLIT_DELTA)
        return values[i] - (i > 0 ? values[i - 1] : 0);
    return values[i];
}

/* All lowest bytes, then all second bytes, ... */
static void append_planes(struct nt_buffer *out, enum packing packing, const uint64_t *values, uint32_t count,
                          unsigned bytes)
{
    uint8_t *planes = nt_buffer_extend(out, (size_t)count * bytes);
    for (unsigned plane = 0; plane < bytes; plane++)
        for (uint32_t i = 0; i < count; i++)
            *planes++ = (uint8_t)(before_split(packing, values, i, bytes) >> 8 * plane);
}

/* ROOT 6.26 uses 32 bits each, the later CRC32 drafts 44 and 20. */
static void append_switch(struct nt_buffer *out, const struct matrix_file *file, uint64_t value)
{
    uint64_t index = value & ((UINT64_C(1) << SWITCH_TAG_SHIFT) - 1), tag = value >> SWITCH_TAG_SHIFT;
    const char *writer = file->description.writer;
    bool is_old = file->generation == RNTUPLE_PREDRAFT || strncmp(writer, "ROOT v6.26", 10) == 0;
    if (file->generation >= RNTUPLE_RC1) {
        append_integer(out, index, 8);
        append_integer(out, tag, 4);
    } else {
        append_integer(out, is_old ? index | tag << 32 : value, 8);
    }
}

static void pack(const struct matrix_file *file, const struct column_type *type, const uint64_t *values,
                 uint32_t count, struct nt_buffer *out)
{
    switch (type->packing) {
    case PACKED_BITS:
    case PACKED_TRUNCATED:
    case PACKED_QUANTIZED:
        append_bits(out, values, count, type->bits);
        break;
    case PACKED_SPLIT:
    case PACKED_SPLIT_ZIGZAG:
    case PACKED_SPLIT_DELTA:
        append_planes(out, type->packing, values, count, type->element_bytes);
        break;
    default:
        for (uint32_t i = 0; i < count; i++)
            if (type->packing == PACKED_SWITCH)
                append_switch(out, file, values[i]);
            else
                append_integer(out, values[i], type->element_bytes);
    }
}

/* ---- what must be read ---- */

static uint32_t quantum(uint64_t number)
{
    double span = QUANTIZED_MAXIMUM - QUANTIZED_MINIMUM;
    float real = (float)(QUANTIZED_MINIMUM + (double)number * (span / ((1 << QUANTIZED_BITS) - 1)));
    uint32_t bits;
    memcpy(&bits, &real, sizeof(bits));
    return bits;
}

static void expect(const struct column_type *type, uint64_t value, struct nt_buffer *out)
{
    switch (type->packing) {
    case PACKED_BITS:
        append_integer(out, value & 1, 1);
        break;
    case PACKED_TRUNCATED:
        append_integer(out, value << (32 - TRUNCATED_BITS), 4);
        break;
    case PACKED_QUANTIZED:
        append_integer(out, quantum(value & ((1 << QUANTIZED_BITS) - 1)), 4);
        break;
    case PACKED_SWITCH:
        append_integer(out, value & ((UINT64_C(1) << SWITCH_TAG_SHIFT) - 1), 8);
        append_integer(out, value >> SWITCH_TAG_SHIFT, 4);
        break;
    default:
        append_integer(out, value, type->element_bytes);
    }
}

/* ---- building ---- */

void matrix_init(struct matrix_file *file, enum rntuple_generation generation)
{
    *file = (struct matrix_file){.generation = generation};
    file->description = (struct rntuple_description){
        .name = "matrix",
        .writer = "a test",
        .fields = file->fields,
        .columns = file->columns,
        .clusters = file->clusters,
    };
}

void matrix_deinit(struct matrix_file *file)
{
    for (uint32_t i = 0; i < MATRIX_CLUSTERS; i++) {
        for (uint32_t k = 0; k < MATRIX_COLUMNS; k++) {
            nt_buffer_deinit(&file->decoded[i][k]);
            for (uint32_t n = 0; n < MATRIX_PAGES; n++) {
                nt_buffer_deinit(&file->packed[i][k][n]);
                nt_buffer_deinit(&file->stored[i][k][n]);
            }
        }
    }
    nt_reader_free(file->reader);
    written_close(&file->written);
}

uint32_t matrix_field(struct matrix_file *file, uint32_t parent, uint16_t role, const char *type)
{
    static const char *const names[MATRIX_FIELDS] = {
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t",
        "u", "v", "w", "x", "y", "z", "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N"};
    uint32_t field = file->description.field_count++;
    demand(field < MATRIX_FIELDS);
    file->fields[field] =
        (struct rntuple_field){.name = names[field], .type = type, .parent = parent, .role = role};
    return field;
}

uint32_t matrix_array(struct matrix_file *file, uint32_t parent, uint64_t repetition, const char *type)
{
    uint32_t field = matrix_field(file, parent, 0, type);
    file->fields[field].flags = 1;
    file->fields[field].array_size = repetition;
    return field;
}

uint32_t matrix_column(struct matrix_file *file, uint32_t field, const char *name)
{
    const struct column_type *type = column_type_named(name);
    uint32_t column = file->description.column_count++;
    bool is_early_switch = type->packing == PACKED_SWITCH && file->generation < RNTUPLE_RC1;
    bool has_range = type->packing == PACKED_QUANTIZED && file->generation >= RNTUPLE_RC3;
    demand(column < MATRIX_COLUMNS);
    file->types[column] = type;
    file->columns[column] = (struct rntuple_column){
        .type = column_type_number(type, file->generation),
        .bits = is_early_switch ? 64 : type->bits,
        .field = field,
        .has_range = has_range,
        .minimum = QUANTIZED_MINIMUM,
        .maximum = QUANTIZED_MAXIMUM,
    };
    return column;
}

uint32_t matrix_cluster(struct matrix_file *file, uint64_t first_entry, uint64_t entries)
{
    uint32_t cluster = file->description.cluster_count++;
    demand(cluster < MATRIX_CLUSTERS);
    file->clusters[cluster] = (struct rntuple_cluster){
        .first_entry = first_entry,
        .entries = entries,
        .ranges = file->ranges[cluster],
        .range_count = file->description.column_count,
    };
    for (uint32_t i = 0; i < MATRIX_COLUMNS; i++)
        file->ranges[cluster][i] =
            (struct rntuple_range){.pages = file->pages[cluster][i], .first_element = first_entry};
    return cluster;
}

/* Two blocks, so that chains are read with every compressor; uncompressed if that is not smaller. */
static void compress(const struct compressor *compressor, const struct nt_buffer *packed,
                     struct nt_buffer *stored)
{
    size_t half = packed->length / 2, room = 2 * block_room(packed->length);
    const uint8_t *bytes = (const uint8_t *)packed->bytes;
    if (!compressor || half == 0)
        return;
    uint8_t *output = nt_buffer_extend(stored, room);
    size_t first = write_block(compressor, bytes, half, output, room);
    stored->length =
        first + write_block(compressor, bytes + half, packed->length - half, output + first, room - first);
    if (stored->length >= packed->length)
        nt_buffer_clear(stored);
}

struct rntuple_page *matrix_page(struct matrix_file *file, uint32_t cluster, uint32_t column,
                                 const uint64_t *values, uint32_t count)
{
    const struct column_type *type = file->types[column];
    uint32_t number = file->ranges[cluster][column].page_count++;
    demand(number < MATRIX_PAGES);
    struct nt_buffer *packed = &file->packed[cluster][column][number];
    struct nt_buffer *stored = &file->stored[cluster][column][number];
    pack(file, type, values, count, packed);
    compress(file->style.compressor, packed, stored);
    for (uint32_t i = 0; i < count; i++)
        expect(type, values[i], &file->decoded[cluster][column]);
    struct rntuple_page *page = &file->pages[cluster][column][number];
    *page = (struct rntuple_page){
        .elements = count,
        .packed = packed->bytes,
        .packed_bytes = (uint32_t)packed->length,
        .checksum = file->style.checksum,
        .stored = stored->length ? stored->bytes : NULL,
        .stored_bytes = (uint32_t)stored->length,
    };
    return page;
}

void matrix_open(struct matrix_file *file)
{
    const struct nt_reader_options options = {.struct_bytes = sizeof(options), .cache_bytes = 1 << 20};
    assert_ok(write_and_open(&file->written, file->generation, &file->description, &error));
    assert_ok(nt_reader_new(&options, &file->reader, &error));
}

/* ---- reading ---- */

void matrix_check_column(struct matrix_file *file, uint32_t column)
{
    struct nt_dataset *dataset = file->written.dataset;
    struct nt_buffer expected = {0};
    uint64_t elements, pages;
    uint32_t page_count = 0;
    for (uint32_t i = 0; i < file->description.cluster_count; i++) {
        nt_buffer_append(&expected, file->decoded[i][column].bytes, file->decoded[i][column].length);
        page_count += file->ranges[i][column].page_count;
    }
    assert_ok(nt_column_size(file->reader, dataset, column, &elements, &pages, &error));
    ck_assert_uint_eq(elements * file->types[column]->element_bytes, expected.length);
    ck_assert_uint_eq(pages, page_count);
    uint8_t *bytes = malloc(expected.length + 1);
    assert_ok(nt_column_read(file->reader, dataset, column, 0, bytes, expected.length, &error));
    ck_assert_msg(expected.length == 0 || memcmp(bytes, expected.bytes, expected.length) == 0,
                  "column %u, %s, of generation %d", column, file->types[column]->name, file->generation);
    free(bytes);
    nt_buffer_deinit(&expected);
}

void matrix_check_columns(struct matrix_file *file)
{
    for (uint32_t column = 0; column < file->description.column_count; column++)
        matrix_check_column(file, column);
}

enum nt_status matrix_read_stream(struct matrix_file *file, uint32_t field, enum nt_stream_kind kind,
                                  struct nt_buffer *out, struct nt_error *failure)
{
    struct nt_stream *stream;
    enum nt_status status =
        nt_stream_open(file->reader, file->written.dataset, field, kind, &stream, failure);
    if (status != NT_OK)
        return status;
    size_t bytes = nt_stream_elements(stream) * nt_stream_element_bytes(stream);
    uint8_t *room = nt_buffer_extend(out, bytes);
    for (size_t done = 0, piece = 1; done < bytes && status == NT_OK; done += piece, piece += 5) {
        piece = bytes - done < piece ? bytes - done : piece;
        status = nt_stream_read(stream, done, room + done, piece, failure);
    }
    nt_stream_close(stream);
    return status;
}

void matrix_check_stream(struct matrix_file *file, uint32_t field, enum nt_stream_kind kind,
                         const void *bytes, size_t count)
{
    struct nt_buffer found = {0};
    assert_ok(matrix_read_stream(file, field, kind, &found, &error));
    ck_assert_msg(found.length == count && memcmp(found.bytes, bytes, count) == 0,
                  "%s of field %u of generation %d: %zu bytes instead of %zu, or others",
                  nt_stream_name(kind), field, file->generation, found.length, count);
    nt_buffer_deinit(&found);
}
