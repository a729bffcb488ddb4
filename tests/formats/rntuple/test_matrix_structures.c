/* SPDX-License-Identifier: MIT
 *
 * All structures of fields and clusters, generation by generation, read as streams: nested collections,
 * variants, arrays, optionals of both forms, deferred columns, several representations, merged pages,
 * sharded clusters, pages stored elsewhere. Expected values are written down, not computed.
 */
#include "matrix_file.h"

static struct nt_error error;
static struct matrix_file file;

#define TAGGED(tag, index) ((uint64_t)(tag) << SWITCH_TAG_SHIFT | (index))
enum { COLLECTION = 1, RECORD = 2, VARIANT = 3 };

static void start(enum rntuple_generation generation)
{
    matrix_init(&file, generation);
    file.style.checksum = generation == RNTUPLE_PREDRAFT ? RNTUPLE_NO_CHECKSUM : RNTUPLE_CHECKSUM_OF_STORED;
}

static void assert_stream_fails(enum nt_status expected, uint32_t field, enum nt_stream_kind kind)
{
    struct nt_buffer bytes = {0};
    assert_status(expected, matrix_read_stream(&file, field, kind, &bytes, &error));
    nt_buffer_deinit(&bytes);
}

/* Bytes [offset, offset + 4) of a field's data. */
static enum nt_status read_word(uint32_t field, uint64_t offset, uint32_t *word)
{
    struct nt_stream *stream;
    assert_ok(nt_stream_open(file.reader, file.written.dataset, field, NT_STREAM_DATA, &stream, &error));
    enum nt_status status = nt_stream_read(stream, offset, word, sizeof(*word), &error);
    nt_stream_close(stream);
    return status;
}

/* The model's index of the i-th field that was added: the predraft has a root, which is hidden. */
static uint32_t field_at(uint32_t added)
{
    for (uint32_t i = 0; i < file.written.dataset->field_count; i++)
        if (is_text(file.written.dataset->fields[i].name, file.fields[added].name))
            return i;
    ck_abort_msg("field %u is not in the model", added);
    return NT_NONE;
}

#define CHECK(field, kind, element, ...) MATRIX_CHECK(&file, field_at(field), kind, element, __VA_ARGS__)

/* ---- collections ---- */

/* [[[7, 8], []], []], [], [[[9]], [[10, 11]]]; the cluster of the last entry is listed first, and an
 * empty one between. */
TEST(collections_nest_three_deep, .first = 3, .end = 4 * RNTUPLE_GENERATIONS)
{
    static const char *const types[] = {"Index32", "Index64", "SplitIndex32", "SplitIndex64"};
    const char *index = _i < 4 ? "Index32" : types[_i % 4];
    start(_i < 4 ? RNTUPLE_PREDRAFT : _i / 4);
    uint32_t outer =
        matrix_field(&file, RNTUPLE_TOP, COLLECTION, "std::vector<std::vector<std::vector<std::int32_t>>>");
    uint32_t middle = matrix_field(&file, outer, COLLECTION, "std::vector<std::vector<std::int32_t>>");
    uint32_t inner = matrix_field(&file, middle, COLLECTION, "std::vector<std::int32_t>");
    uint32_t number = matrix_field(&file, inner, 0, "std::int32_t");
    matrix_column(&file, outer, index);
    matrix_column(&file, middle, index);
    matrix_column(&file, inner, index);
    matrix_column(&file, number, "Int32");
    matrix_cluster(&file, 2, 1);
    MATRIX_PAGE(&file, 0, 0, 2);
    MATRIX_PAGE(&file, 0, 1, 1);
    MATRIX_PAGE(&file, 0, 1, 2);
    MATRIX_PAGE(&file, 0, 2, 1, 3);
    MATRIX_PAGE(&file, 0, 3, 9);
    MATRIX_PAGE(&file, 0, 3, 10, 11);
    file.ranges[0][1].first_element = file.ranges[0][2].first_element = file.ranges[0][3].first_element = 2;
    matrix_cluster(&file, 2, 0);
    for (uint32_t i = 0; i < 4; i++)
        file.ranges[1][i].first_element = 2;
    matrix_cluster(&file, 0, 2);
    MATRIX_PAGE(&file, 2, 0, 2, 2);
    MATRIX_PAGE(&file, 2, 1, 2, 2);
    MATRIX_PAGE(&file, 2, 2, 2, 2);
    MATRIX_PAGE(&file, 2, 3, 7, 8);
    matrix_open(&file);
    matrix_check_columns(&file);
    CHECK(outer, NT_STREAM_OFFSETS, uint64_t, 0, 2, 2, 4);
    CHECK(middle, NT_STREAM_OFFSETS, uint64_t, 0, 2, 2, 3, 4);
    CHECK(inner, NT_STREAM_OFFSETS, uint64_t, 0, 2, 2, 3, 5);
    CHECK(number, NT_STREAM_DATA, int32_t, 7, 8, 9, 10, 11);
    matrix_deinit(&file);
}

TEST(strings_are_joined_over_clusters, .end = RNTUPLE_GENERATIONS)
{
    start(_i);
    uint32_t string = matrix_field(&file, RNTUPLE_TOP, 0, "std::string");
    matrix_column(&file, string, "Index32");
    matrix_column(&file, string, _i == RNTUPLE_PREDRAFT ? "Byte" : "Char");
    matrix_cluster(&file, 0, 3);
    MATRIX_PAGE(&file, 0, 0, 2, 2);
    MATRIX_PAGE(&file, 0, 0, 3);
    MATRIX_PAGE(&file, 0, 1, 'a', 'b', 'c');
    matrix_cluster(&file, 3, 1);
    MATRIX_PAGE(&file, 1, 0, 4);
    MATRIX_PAGE(&file, 1, 1, 'd');
    MATRIX_PAGE(&file, 1, 1, 'e', 'f', 'g');
    file.ranges[1][1].first_element = 3;
    matrix_open(&file);
    CHECK(string, NT_STREAM_OFFSETS, uint64_t, 0, 2, 2, 3, 7);
    CHECK(string, NT_STREAM_DATA, char, 'a', 'b', 'c', 'd', 'e', 'f', 'g');
    matrix_deinit(&file);
}

/* {1, 2, 3}, {4, 5, 6} | {7, ...}: two rows of three within each of the vector's items. */
TEST(arrays_of_arrays_are_below_vectors, .end = RNTUPLE_GENERATIONS)
{
    start(_i);
    uint32_t vector = matrix_field(&file, RNTUPLE_TOP, COLLECTION, "std::vector<...>");
    uint32_t outer = matrix_array(&file, vector, 2, "std::array<std::array<std::uint8_t,3>,2>");
    uint32_t inner = matrix_array(&file, outer, 3, "std::array<std::uint8_t,3>");
    uint32_t number = matrix_field(&file, inner, 0, _i == RNTUPLE_PREDRAFT ? "std::byte" : "std::uint8_t");
    matrix_column(&file, vector, "Index32");
    matrix_column(&file, number, _i == RNTUPLE_PREDRAFT ? "Byte" : "UInt8");
    matrix_cluster(&file, 0, 1);
    MATRIX_PAGE(&file, 0, 0, 1);
    MATRIX_PAGE(&file, 0, 1, 1, 2, 3, 4);
    MATRIX_PAGE(&file, 0, 1, 5, 6);
    matrix_cluster(&file, 1, 1);
    MATRIX_PAGE(&file, 1, 0, 1);
    MATRIX_PAGE(&file, 1, 1, 7, 8, 9, 10, 11, 12);
    file.ranges[1][1].first_element = 6;
    matrix_open(&file);
    uint64_t dimensions[4];
    ck_assert_uint_eq(nt_field_dimensions(file.written.dataset, field_at(number), dimensions, 4), 2);
    ck_assert_uint_eq(dimensions[0], 2);
    ck_assert_uint_eq(dimensions[1], 3);
    CHECK(vector, NT_STREAM_OFFSETS, uint64_t, 0, 1, 2);
    CHECK(number, NT_STREAM_DATA, uint8_t, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    matrix_deinit(&file);
}

/* ---- variants and optionals ---- */

/* optional<variant<int32, float>>: 5, none, 1.5 | 6, a variant without a value. */
static void fill_optional_variant(void)
{
    uint32_t optional =
        matrix_field(&file, RNTUPLE_TOP, COLLECTION, "std::optional<std::variant<std::int32_t,float>>");
    uint32_t variant = matrix_field(&file, optional, VARIANT, "std::variant<std::int32_t,float>");
    uint32_t integer = matrix_field(&file, variant, 0, "std::int32_t");
    uint32_t real = matrix_field(&file, variant, 0, "float");
    matrix_column(&file, optional, "Index32");
    matrix_column(&file, variant, "Switch");
    matrix_column(&file, integer, "Int32");
    matrix_column(&file, real, "Real32");
    matrix_cluster(&file, 0, 3);
    MATRIX_PAGE(&file, 0, 0, 1, 1, 2);
    MATRIX_PAGE(&file, 0, 1, TAGGED(1, 0), TAGGED(2, 0));
    MATRIX_PAGE(&file, 0, 2, 5);
    MATRIX_PAGE(&file, 0, 3, 0x3fc00000);
    matrix_cluster(&file, 3, 2);
    MATRIX_PAGE(&file, 1, 0, 1, 2);
    MATRIX_PAGE(&file, 1, 1, TAGGED(1, 0), TAGGED(0, 0));
    MATRIX_PAGE(&file, 1, 2, 6);
    file.ranges[1][1].first_element = 2;
    file.ranges[1][2].first_element = file.ranges[1][3].first_element = 1;
    matrix_open(&file);
    matrix_check_columns(&file);
    CHECK(optional, NT_STREAM_OFFSETS, uint64_t, 0, 1, 1, 2, 3, 4);
    CHECK(variant, NT_STREAM_TAGS, uint32_t, 1, 2, 1, 0);
    CHECK(variant, NT_STREAM_INDEX, uint64_t, 0, 0, 1, 0);
    CHECK(integer, NT_STREAM_DATA, int32_t, 5, 6);
    CHECK(real, NT_STREAM_DATA, float, 1.5f);
}

TEST(variants_are_in_optionals, .end = RNTUPLE_GENERATIONS)
{
    start(_i);
    fill_optional_variant();
    matrix_deinit(&file);
}

/* The writer's name decides: see append_switch. */
TEST(a_switch_of_626_has_32_bits_each)
{
    start(RNTUPLE_CRC32_LINKS);
    file.description.writer = "ROOT v6.26/06";
    fill_optional_variant();
    matrix_deinit(&file);
}

TEST(a_dense_optional_has_an_item_for_each_row, .end = RNTUPLE_RC3)
{
    start(_i);
    uint32_t optional = matrix_field(&file, RNTUPLE_TOP, COLLECTION, "std::optional<std::int32_t>");
    uint32_t number = matrix_field(&file, optional, 0, "std::int32_t");
    matrix_column(&file, optional, "Bit");
    matrix_column(&file, number, "Int32");
    matrix_cluster(&file, 2, 1);
    MATRIX_PAGE(&file, 0, 0, 1);
    MATRIX_PAGE(&file, 0, 1, 9);
    matrix_cluster(&file, 0, 2);
    MATRIX_PAGE(&file, 1, 0, 0, 1);
    MATRIX_PAGE(&file, 1, 1, 0, 7);
    matrix_open(&file);
    CHECK(optional, NT_STREAM_VALID, uint8_t, 0, 1, 1);
    CHECK(number, NT_STREAM_DATA, int32_t, 0, 7, 9);
    matrix_deinit(&file);
}

/* ---- columns that are not stored everywhere ---- */

/* `late`, a vector, was added with the second cluster; `later` within it. */
TEST(late_fields_begin_with_zeros, .first = RNTUPLE_CRC32_EXTENSION, .end = RNTUPLE_GENERATIONS)
{
    start(_i);
    uint32_t first = matrix_field(&file, RNTUPLE_TOP, 0, "std::int32_t");
    uint32_t late = matrix_field(&file, RNTUPLE_TOP, COLLECTION, "std::vector<std::int32_t>");
    uint32_t item = matrix_field(&file, late, 0, "std::int32_t");
    uint32_t later = matrix_field(&file, RNTUPLE_TOP, 0, "std::int32_t");
    matrix_column(&file, first, "Int32");
    matrix_cluster(&file, 0, 2); /* has no other column */
    matrix_column(&file, late, "Index32");
    matrix_column(&file, item, "Int32");
    matrix_column(&file, later, "Int32");
    file.columns[1].has_first_element = file.columns[3].has_first_element = true;
    file.columns[1].first_element = 2;
    file.columns[3].first_element = 3;
    file.description.extension_fields = file.description.extension_columns = 3;
    matrix_cluster(&file, 2, 2);
    MATRIX_PAGE(&file, 0, 0, 1, 2);
    MATRIX_PAGE(&file, 1, 0, 3, 4);
    MATRIX_PAGE(&file, 1, 1, 1, 2);
    MATRIX_PAGE(&file, 1, 2, 8, 9);
    MATRIX_PAGE(&file, 1, 3, 5);
    file.ranges[1][2].first_element = 0;
    file.ranges[1][3].first_element = 3;
    matrix_open(&file);
    CHECK(first, NT_STREAM_DATA, int32_t, 1, 2, 3, 4);
    CHECK(late, NT_STREAM_OFFSETS, uint64_t, 0, 0, 0, 1, 2);
    CHECK(item, NT_STREAM_DATA, int32_t, 8, 9);
    CHECK(later, NT_STREAM_DATA, int32_t, 0, 0, 0, 5);
    matrix_check_columns(&file); /* without the zeros */
    matrix_deinit(&file);
}

static void suppress(uint32_t cluster, uint32_t column)
{
    file.ranges[cluster][column].is_suppressed = true;
    file.ranges[cluster][column].first_element |= UINT64_C(1) << 62; /* a 0 has no sign */
}

static void alternate(uint32_t column, uint32_t representation)
{
    file.columns[column].representation = (uint16_t)representation;
}

/* Each cluster has one of two: float as Real16 or SplitReal32, a string's offsets as Index32 or
 * SplitIndex64. */
TEST(representations_change_from_cluster_to_cluster, .first = RNTUPLE_RC3, .end = RNTUPLE_GENERATIONS)
{
    start(_i);
    uint32_t real = matrix_field(&file, RNTUPLE_TOP, 0, "float");
    uint32_t string = matrix_field(&file, RNTUPLE_TOP, 0, "std::string");
    matrix_column(&file, real, "Real16");
    matrix_column(&file, real, "SplitReal32");
    matrix_column(&file, string, "Index32");
    matrix_column(&file, string, "Char");
    matrix_column(&file, string, "SplitIndex64");
    matrix_column(&file, string, "Char");
    alternate(1, 1);
    alternate(4, 1);
    alternate(5, 1);
    matrix_cluster(&file, 0, 2);
    MATRIX_PAGE(&file, 0, 0, 0x3c00, 0xc000);
    MATRIX_PAGE(&file, 0, 4, 1, 2);
    MATRIX_PAGE(&file, 0, 5, 'x', 'y');
    suppress(0, 1);
    suppress(0, 2);
    suppress(0, 3);
    matrix_cluster(&file, 2, 2);
    MATRIX_PAGE(&file, 1, 1, 0x3fc00000, 0x7f7fffff);
    MATRIX_PAGE(&file, 1, 2, 0, 2);
    MATRIX_PAGE(&file, 1, 3, 'z', '!');
    suppress(1, 0);
    suppress(1, 4);
    suppress(1, 5);
    matrix_open(&file);
    CHECK(real, NT_STREAM_DATA, float, 1, -2, 1.5f, 0x1.fffffep127f);
    CHECK(string, NT_STREAM_OFFSETS, uint64_t, 0, 1, 2, 2, 4);
    CHECK(string, NT_STREAM_DATA, char, 'x', 'y', 'z', '!');
    matrix_check_columns(&file);
    matrix_deinit(&file);
}

/* ---- pages ---- */

/* The same eight bytes are two integers, two reals and, in the next cluster, integers again. */
TEST(merged_pages_are_read_as_each_columns_type, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_GENERATIONS)
{
    start(_i);
    uint32_t integer = matrix_field(&file, RNTUPLE_TOP, 0, "std::int32_t");
    uint32_t real = matrix_field(&file, RNTUPLE_TOP, 0, "float");
    uint32_t array = matrix_array(&file, RNTUPLE_TOP, 4, "std::array<std::byte,4>");
    uint32_t byte = matrix_field(&file, array, 0, "std::byte");
    matrix_column(&file, integer, "Int32");
    matrix_column(&file, real, "Real32");
    matrix_column(&file, byte, "Byte");
    matrix_cluster(&file, 0, 2);
    const struct rntuple_page *page = MATRIX_PAGE(&file, 0, 0, 0x3f800000, 0x40000000);
    MATRIX_PAGE(&file, 0, 1, 0x3f800000, 0x40000000)->merged = page;
    MATRIX_PAGE(&file, 0, 2, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40)->merged = page;
    matrix_cluster(&file, 2, 2);
    MATRIX_PAGE(&file, 1, 0, 0x3f800000, 0x40000000)->merged = page;
    MATRIX_PAGE(&file, 1, 1, 0, 0);
    MATRIX_PAGE(&file, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8);
    file.ranges[1][2].first_element = 8;
    matrix_open(&file);
    CHECK(integer, NT_STREAM_DATA, uint32_t, 0x3f800000, 0x40000000, 0x3f800000, 0x40000000);
    CHECK(real, NT_STREAM_DATA, float, 1, 2, 0, 0);
    CHECK(byte, NT_STREAM_DATA, uint8_t, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 1, 2, 3, 4, 5, 6, 7, 8);
    matrix_deinit(&file);
}

static void open_with_page_at(enum rntuple_generation generation, enum rntuple_place place, const char *uri)
{
    start(generation);
    uint32_t field = matrix_field(&file, RNTUPLE_TOP, 0, "std::int32_t");
    matrix_column(&file, field, "Int32");
    matrix_cluster(&file, 0, 2);
    struct rntuple_page *page = MATRIX_PAGE(&file, 0, 0, 1);
    MATRIX_PAGE(&file, 0, 0, 2);
    page->place = place;
    page->uri = uri;
    matrix_open(&file);
}

static const int elsewhere[] = {RNTUPLE_URI, RNTUPLE_OBJECT64, RNTUPLE_MULTI, RNTUPLE_UNKNOWN_PLACE};

/* The first page is elsewhere, the second is in this file. */
TEST(pages_elsewhere_are_refused_when_they_are_read, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_GENERATIONS)
{
    uint32_t word;
    for (unsigned i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
        if (elsewhere[i] == RNTUPLE_URI && _i >= RNTUPLE_RC3)
            continue;
        open_with_page_at(_i, elsewhere[i], "https://example.org/page");
        assert_status(NT_UNSUPPORTED, read_word(field_at(0), 0, &word));
        ck_assert_ptr_nonnull(strstr(error.message, "not stored in this file"));
        assert_ok(read_word(field_at(0), 4, &word));
        ck_assert_uint_eq(word, 2);
        matrix_deinit(&file);
    }
}

TEST(large_locators_are_read, .first = RNTUPLE_RC3, .end = RNTUPLE_GENERATIONS)
{
    open_with_page_at(_i, RNTUPLE_LARGE, NULL);
    CHECK(0, NT_STREAM_DATA, int32_t, 1, 2);
    matrix_deinit(&file);
}

/* ---- what is not known ---- */

TEST(unknown_bytes_and_column_types_leave_other_fields_alone, .end = RNTUPLE_GENERATIONS)
{
    start(_i);
    uint32_t known = matrix_field(&file, RNTUPLE_TOP, 0, "std::int32_t");
    uint32_t unknown = matrix_field(&file, RNTUPLE_TOP, 0, "std::int32_t");
    matrix_column(&file, known, "Int32");
    matrix_column(&file, unknown, "Int32");
    file.columns[1].type = 0x77;
    file.description.unknown_bytes = _i == RNTUPLE_PREDRAFT ? 0 : 5;
    matrix_cluster(&file, 0, 2);
    MATRIX_PAGE(&file, 0, 0, 3, 4);
    MATRIX_PAGE(&file, 0, 1, 5, 6);
    matrix_open(&file);
    CHECK(known, NT_STREAM_DATA, int32_t, 3, 4);
    assert_stream_fails(NT_UNSUPPORTED, field_at(unknown), NT_STREAM_DATA);
    ck_assert_ptr_nonnull(strstr(error.message, "unknown (0x77)"));
    matrix_deinit(&file);
}

/* The drafts' texts do not say where a range of values is stored. */
TEST(quantized_columns_need_a_range_of_values, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_GENERATIONS)
{
    start(_i);
    uint32_t field = matrix_field(&file, RNTUPLE_TOP, 0, "float");
    matrix_column(&file, field, "Real32Quant");
    file.columns[0].has_range = false;
    matrix_cluster(&file, 0, 1);
    MATRIX_PAGE(&file, 0, 0, 1);
    matrix_open(&file);
    assert_stream_fails(NT_UNSUPPORTED, field_at(field), NT_STREAM_DATA);
    ck_assert_ptr_nonnull(strstr(error.message, "has no range of values"));
    matrix_deinit(&file);
}

/* ---- sharded clusters ---- */

/* Two column groups with boundaries of their own; none has entries 2 and 3 of the second field. */
TEST(rows_that_no_shard_covers_are_errors_and_others_are_read, .first = RNTUPLE_CRC32_LINKS,
     .end = RNTUPLE_RC3)
{
    static const uint32_t columns[] = {0, 1};
    static const struct rntuple_column_group groups[] = {{&columns[0], 1}, {&columns[1], 1}};
    static const struct {
        uint32_t group;
        uint64_t first_entry, entries;
    } shards[] = {{1, 4, 2}, {0, 0, 3}, {1, 0, 2}, {0, 3, 3}};
    start(_i);
    uint32_t whole = matrix_field(&file, RNTUPLE_TOP, 0, "std::int32_t");
    uint32_t holed = matrix_field(&file, RNTUPLE_TOP, 0, "std::int32_t");
    matrix_column(&file, whole, "Int32");
    matrix_column(&file, holed, "Int32");
    file.description.column_groups = groups;
    file.description.column_group_count = 2;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t cluster = matrix_cluster(&file, shards[i].first_entry, shards[i].entries);
        uint64_t values[3];
        for (uint64_t k = 0; k < shards[i].entries; k++)
            values[k] = 100 * shards[i].group + shards[i].first_entry + k;
        matrix_page(&file, cluster, 0, values, (uint32_t)shards[i].entries);
        file.clusters[cluster].flags = 1;
        file.clusters[cluster].column_group = shards[i].group;
        file.clusters[cluster].range_count = 1; /* that of its only column */
    }
    matrix_open(&file);
    CHECK(whole, NT_STREAM_DATA, int32_t, 0, 1, 2, 3, 4, 5);
    uint64_t rows;
    assert_ok(nt_field_rows(file.reader, file.written.dataset, field_at(holed), &rows, &error));
    ck_assert_uint_eq(rows, 6);
    for (uint32_t row = 0; row < 6; row++) {
        uint32_t word;
        if (row == 2 || row == 3) {
            assert_status(NT_CORRUPT, read_word(field_at(holed), 4 * row, &word));
            ck_assert_ptr_nonnull(strstr(error.message, "entries 2 to 3"));
        } else {
            assert_ok(read_word(field_at(holed), 4 * row, &word));
            ck_assert_uint_eq(word, 100 + row);
        }
    }
    matrix_deinit(&file);
}
