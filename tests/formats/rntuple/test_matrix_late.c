/* SPDX-License-Identifier: MIT
 *
 * Columns below collections and variants that do not start with the first entry, feature flag 0 of version
 * 1.1 (RNTuple binary format, "Feature Flags", "Column Description"), read as streams. Expected values are
 * written down, not computed.
 */
#include "matrix_file.h"

static struct nt_error error;
static struct matrix_file file;

#define TAGGED(tag, index) ((uint64_t)(tag) << SWITCH_TAG_SHIFT | (index))
enum { COLLECTION = 1, RECORD = 2, VARIANT = 3, PROJECTED = 2 };

/* The flag is in the header or in the footer. Columns that a cluster was written without are absent
 * from its list, or suppressed in it. */
enum { FLAG_IN_HEADER = 1, LATE_IS_LISTED = 2, WAYS = 4 };

static void flag_in_footer(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_FOOTER)
        bytes->bytes[8] |= 1;
}

static void start(int way)
{
    static const uint64_t flags[] = {1};
    matrix_init(&file, RNTUPLE_V1_1);
    file.style.checksum = RNTUPLE_CHECKSUM_OF_STORED;
    file.description.feature_flags = way & FLAG_IN_HEADER ? flags : NULL;
    file.description.feature_flag_count = 1;
    file.description.spoil = way & FLAG_IN_HEADER ? NULL : flag_in_footer;
}

/* In the footer, like all columns added after it. */
static void begin_late(uint32_t column, int64_t first_element)
{
    file.columns[column].has_first_element = true;
    file.columns[column].first_element = first_element;
    file.description.extension_columns++;
}

static uint32_t late_representation(uint32_t field, const char *type, int64_t first_element)
{
    uint32_t column = matrix_column(&file, field, type);
    file.columns[column].representation = 1;
    begin_late(column, -first_element);
    return column;
}

static void suppress(uint32_t cluster, uint32_t first_column, uint32_t end_column)
{
    for (uint32_t i = first_column; i < end_column; i++) {
        file.ranges[cluster][i].is_suppressed = true;
        file.ranges[cluster][i].first_element = UINT64_C(1) << 63; /* as in writers' files */
    }
}

/* A cluster from before the columns from `late` on were added. */
static void early_cluster(int way, uint64_t entries, uint32_t late)
{
    uint32_t cluster = matrix_cluster(&file, 0, entries);
    if (way & LATE_IS_LISTED)
        suppress(cluster, late, file.description.column_count);
    else
        file.clusters[cluster].range_count = late;
}

static void begin_at(uint32_t cluster, uint32_t column, uint64_t element)
{
    file.ranges[cluster][column].first_element = element;
}

#define CHECK(field, kind, element, ...) MATRIX_CHECK(&file, field, kind, element, __VA_ARGS__)

/* ---- representations ---- */

enum { HALF_1 = 0x3c00, HALF_2 = 0x4000, HALF_3 = 0x4200, HALF_4 = 0x4400 };
enum { REAL_5 = 0x40a00000, REAL_6 = 0x40c00000, REAL_7 = 0x40e00000, REAL_8 = 0x41000000 };

/* [5, 6], [] | [1], [2, 3, 4] in the second representations | [7, 8] with the first offsets and the second
 * values. */
TEST(offsets_and_values_of_a_vector_change_their_encodings, .end = WAYS)
{
    start(_i);
    uint32_t vector = matrix_field(&file, RNTUPLE_TOP, COLLECTION, "std::vector<float>");
    uint32_t number = matrix_field(&file, vector, 0, "float");
    matrix_column(&file, vector, "Index64");
    matrix_column(&file, number, "Real32");
    uint32_t ends = late_representation(vector, "SplitIndex32", 2);
    uint32_t halves = late_representation(number, "Real16", 2);
    early_cluster(_i, 2, ends);
    MATRIX_PAGE(&file, 0, 0, 2, 2);
    MATRIX_PAGE(&file, 0, 1, REAL_5, REAL_6);
    matrix_cluster(&file, 2, 2);
    suppress(1, 0, 2);
    MATRIX_PAGE(&file, 1, ends, 1, 4);
    MATRIX_PAGE(&file, 1, halves, HALF_1);
    MATRIX_PAGE(&file, 1, halves, HALF_2, HALF_3, HALF_4);
    matrix_cluster(&file, 4, 1);
    suppress(2, 1, 3);
    MATRIX_PAGE(&file, 2, 0, 1);
    MATRIX_PAGE(&file, 2, halves, HALF_2);
    begin_at(2, halves, 6);
    matrix_open(&file);
    CHECK(vector, NT_STREAM_OFFSETS, uint64_t, 0, 2, 2, 3, 6, 7);
    CHECK(number, NT_STREAM_DATA, float, 5, 6, 1, 2, 3, 4, 2);
    matrix_check_columns(&file);
    matrix_deinit(&file);
}

/* ["a", "bc"], ["d"] | ["", "ef"], ["g"] with the second pair of columns. */
TEST(strings_in_arrays_of_vectors_change_their_encodings, .end = WAYS)
{
    start(_i);
    uint32_t array = matrix_array(&file, RNTUPLE_TOP, 2, "std::array<std::vector<std::string>,2>");
    uint32_t vector = matrix_field(&file, array, COLLECTION, "std::vector<std::string>");
    uint32_t string = matrix_field(&file, vector, 0, "std::string");
    matrix_column(&file, vector, "SplitIndex64");
    matrix_column(&file, string, "Index32");
    matrix_column(&file, string, "Char");
    uint32_t ends = late_representation(string, "SplitIndex64", 3);
    uint32_t letters = late_representation(string, "Char", 4);
    early_cluster(_i, 1, ends);
    MATRIX_PAGE(&file, 0, 0, 2, 3);
    MATRIX_PAGE(&file, 0, 1, 1, 3, 4);
    MATRIX_PAGE(&file, 0, 2, 'a', 'b', 'c', 'd');
    matrix_cluster(&file, 1, 1);
    suppress(1, 1, 3);
    MATRIX_PAGE(&file, 1, 0, 2, 3);
    MATRIX_PAGE(&file, 1, ends, 0, 2, 3);
    MATRIX_PAGE(&file, 1, letters, 'e', 'f', 'g');
    begin_at(1, 0, 2);
    begin_at(1, ends, 3);
    begin_at(1, letters, 4);
    matrix_open(&file);
    CHECK(vector, NT_STREAM_OFFSETS, uint64_t, 0, 2, 3, 5, 6);
    CHECK(string, NT_STREAM_OFFSETS, uint64_t, 0, 1, 3, 4, 4, 6, 7);
    CHECK(string, NT_STREAM_DATA, char, 'a', 'b', 'c', 'd', 'e', 'f', 'g');
    matrix_deinit(&file);
}

/* [5.f, 6.], [] | [1.f, none, 2.f], [7.]: the alternatives of a variant in a vector, each with its own
 * encoding. */
TEST(alternatives_of_a_variant_in_a_vector_change_their_encodings, .end = WAYS)
{
    start(_i);
    uint32_t vector = matrix_field(&file, RNTUPLE_TOP, COLLECTION, "std::vector<std::variant<float,double>>");
    uint32_t variant = matrix_field(&file, vector, VARIANT, "std::variant<float,double>");
    uint32_t narrow = matrix_field(&file, variant, 0, "float");
    uint32_t wide = matrix_field(&file, variant, 0, "double");
    matrix_column(&file, vector, "Index32");
    matrix_column(&file, variant, "Switch");
    matrix_column(&file, narrow, "Real32");
    matrix_column(&file, wide, "Real32");
    uint32_t halves = late_representation(narrow, "Real16", 1);
    uint32_t planes = late_representation(wide, "SplitReal32", 1);
    early_cluster(_i, 2, halves);
    MATRIX_PAGE(&file, 0, 0, 2, 2);
    MATRIX_PAGE(&file, 0, 1, TAGGED(1, 0), TAGGED(2, 0));
    MATRIX_PAGE(&file, 0, 2, REAL_5);
    MATRIX_PAGE(&file, 0, 3, REAL_6);
    matrix_cluster(&file, 2, 2);
    suppress(1, 2, 4);
    MATRIX_PAGE(&file, 1, 0, 3, 4);
    MATRIX_PAGE(&file, 1, 1, TAGGED(1, 0), 0, TAGGED(1, 1), TAGGED(2, 0));
    MATRIX_PAGE(&file, 1, halves, HALF_1, HALF_2);
    MATRIX_PAGE(&file, 1, planes, REAL_7);
    begin_at(1, halves, 1);
    begin_at(1, planes, 1);
    matrix_open(&file);
    CHECK(variant, NT_STREAM_TAGS, uint32_t, 1, 2, 1, 0, 1, 2);
    CHECK(variant, NT_STREAM_INDEX, uint64_t, 0, 0, 1, 0, 2, 1);
    CHECK(narrow, NT_STREAM_DATA, float, 5, 1, 2);
    CHECK(wide, NT_STREAM_DATA, double, 6, 7);
    matrix_deinit(&file);
}

static uint32_t projection(uint32_t parent, uint16_t role, const char *type, uint32_t source)
{
    uint32_t field = matrix_field(&file, parent, role, type);
    file.fields[field].flags = PROJECTED;
    file.fields[field].source = source;
    return field;
}

/* The footer may join the new columns with their fields, or leave that to be deduced from the first
 * ones. */
TEST(projected_fields_show_late_representations, .end = 2 * WAYS)
{
    static const struct rntuple_alias aliases[] = {{0, 2}, {0, 3}, {1, 4}, {2, 2}, {2, 3}, {3, 4}};
    bool are_coalesced = _i >= WAYS;
    start(_i % WAYS);
    uint32_t vector = matrix_field(&file, RNTUPLE_TOP, COLLECTION, "std::vector<float>");
    uint32_t number = matrix_field(&file, vector, 0, "float");
    uint32_t sizes = projection(RNTUPLE_TOP, 0, "ROOT::RNTupleCardinality<std::uint32_t>", vector);
    uint32_t shown = projection(RNTUPLE_TOP, COLLECTION, "ROOT::VecOps::RVec<float>", vector);
    uint32_t shown_number = projection(shown, 0, "float", number);
    matrix_column(&file, vector, "Index64");
    matrix_column(&file, number, "Real32");
    uint32_t ends = late_representation(vector, "Index32", 2);
    uint32_t halves = late_representation(number, "Real16", 1);
    file.description.aliases = aliases;
    file.description.alias_count = are_coalesced ? 6 : 3;
    file.description.extension_aliases = are_coalesced ? 3 : 0;
    early_cluster(_i % WAYS, 2, ends);
    MATRIX_PAGE(&file, 0, 0, 1, 1);
    MATRIX_PAGE(&file, 0, 1, REAL_8);
    matrix_cluster(&file, 2, 1);
    suppress(1, 0, 2);
    MATRIX_PAGE(&file, 1, ends, 2);
    MATRIX_PAGE(&file, 1, halves, HALF_3, HALF_4);
    begin_at(1, halves, 1);
    matrix_open(&file);
    CHECK(sizes, NT_STREAM_DATA, uint32_t, 1, 0, 2);
    CHECK(shown, NT_STREAM_OFFSETS, uint64_t, 0, 1, 1, 3);
    CHECK(shown_number, NT_STREAM_DATA, float, 8, 3, 4);
    matrix_deinit(&file);
}

/* Zeros stand for rows before a field was added, not for rows without any representation. */
TEST(a_cluster_without_any_representation_is_damage, .end = WAYS)
{
    start(_i);
    uint32_t vector = matrix_field(&file, RNTUPLE_TOP, COLLECTION, "std::vector<float>");
    uint32_t number = matrix_field(&file, vector, 0, "float");
    uint32_t alone = matrix_field(&file, RNTUPLE_TOP, 0, "float");
    matrix_column(&file, vector, "Index32");
    matrix_column(&file, number, "Real32");
    matrix_column(&file, alone, "Real32");
    uint32_t halves = late_representation(number, "Real16", 2);
    uint32_t alone_halves = late_representation(alone, "Real16", 1);
    early_cluster(_i, 1, halves);
    suppress(0, 1, 3);
    MATRIX_PAGE(&file, 0, 0, 2);
    matrix_cluster(&file, 1, 1);
    suppress(1, 1, 3);
    MATRIX_PAGE(&file, 1, 0, 1);
    MATRIX_PAGE(&file, 1, halves, HALF_1);
    MATRIX_PAGE(&file, 1, alone_halves, HALF_2);
    begin_at(1, halves, 2);
    matrix_open(&file);
    struct nt_buffer bytes = {0};
    CHECK(vector, NT_STREAM_OFFSETS, uint64_t, 0, 2, 3);
    assert_status(NT_CORRUPT, matrix_read_stream(&file, number, NT_STREAM_DATA, &bytes, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "none of the field's columns is stored"));
    assert_status(NT_CORRUPT, matrix_read_stream(&file, alone, NT_STREAM_DATA, &bytes, &error));
    nt_buffer_deinit(&bytes);
    matrix_deinit(&file);
}

/* ---- fields ---- */

static uint32_t late_member(uint32_t record, uint16_t role, const char *type)
{
    file.description.extension_fields++;
    return matrix_field(&file, record, role, type);
}

static uint32_t late_column(uint32_t field, const char *type, int64_t first_element)
{
    uint32_t column = matrix_column(&file, field, type);
    if (first_element)
        begin_late(column, first_element);
    else
        file.description.extension_columns++;
    return column;
}

/* Three items, then two; the second cluster added members of every kind. */
TEST(late_members_of_items_begin_with_zeros, .end = 2)
{
    start(_i);
    uint32_t vector = matrix_field(&file, RNTUPLE_TOP, COLLECTION, "std::vector<Item>");
    uint32_t item = matrix_field(&file, vector, RECORD, "Item");
    uint32_t number = matrix_field(&file, item, 0, "std::int32_t");
    matrix_column(&file, vector, "Index32");
    matrix_column(&file, number, "Int32");
    uint32_t real = late_member(item, 0, "double");
    uint32_t string = late_member(item, 0, "std::string");
    uint32_t list = late_member(item, COLLECTION, "std::vector<std::int32_t>");
    uint32_t list_item = late_member(list, 0, "std::int32_t");
    uint32_t variant = late_member(item, VARIANT, "std::variant<std::int32_t>");
    uint32_t alternative = late_member(variant, 0, "std::int32_t");
    uint32_t bits = late_member(item, 0, "std::bitset<2>");
    file.fields[bits].flags = 1;
    file.fields[bits].array_size = 2;
    late_column(real, "Real32", 3);
    late_column(string, "Index32", 3);
    late_column(string, "Char", 0);
    late_column(list, "SplitIndex64", 3);
    late_column(list_item, "Int32", 0);
    late_column(variant, "Switch", 3);
    late_column(alternative, "Int32", 0);
    late_column(bits, "Bit", 6);
    matrix_cluster(&file, 0, 2);
    file.clusters[0].range_count = 2;
    MATRIX_PAGE(&file, 0, 0, 1, 3);
    MATRIX_PAGE(&file, 0, 1, 1, 2, 3);
    matrix_cluster(&file, 2, 1);
    static const uint64_t firsts[] = {2, 3, 3, 3, 0, 3, 0, 3, 0, 6};
    for (uint32_t i = 0; i < 10; i++)
        begin_at(1, i, firsts[i]);
    MATRIX_PAGE(&file, 1, 0, 2);
    MATRIX_PAGE(&file, 1, 1, 4, 5);
    MATRIX_PAGE(&file, 1, 2, REAL_5, REAL_6);
    MATRIX_PAGE(&file, 1, 3, 0, 2);
    MATRIX_PAGE(&file, 1, 4, 'x', 'y');
    MATRIX_PAGE(&file, 1, 5, 1, 1);
    MATRIX_PAGE(&file, 1, 6, 9);
    MATRIX_PAGE(&file, 1, 7, 0, TAGGED(1, 0));
    MATRIX_PAGE(&file, 1, 8, 8);
    MATRIX_PAGE(&file, 1, 9, 1, 0, 0, 1);
    matrix_open(&file);
    CHECK(number, NT_STREAM_DATA, int32_t, 1, 2, 3, 4, 5);
    CHECK(real, NT_STREAM_DATA, double, 0, 0, 0, 5, 6);
    CHECK(string, NT_STREAM_OFFSETS, uint64_t, 0, 0, 0, 0, 0, 2);
    CHECK(string, NT_STREAM_DATA, char, 'x', 'y');
    CHECK(list, NT_STREAM_OFFSETS, uint64_t, 0, 0, 0, 0, 1, 1);
    CHECK(list_item, NT_STREAM_DATA, int32_t, 9);
    CHECK(variant, NT_STREAM_TAGS, uint32_t, 0, 0, 0, 0, 1);
    CHECK(alternative, NT_STREAM_DATA, int32_t, 8);
    CHECK(bits, NT_STREAM_DATA, uint8_t, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1);
    matrix_deinit(&file);
}

/* An array within an item; its column begins within the cluster, in the middle of an array. */
TEST(late_columns_may_begin_anywhere, .end = 2)
{
    start(_i);
    uint32_t vector = matrix_field(&file, RNTUPLE_TOP, COLLECTION, "std::vector<std::array<std::int32_t,2>>");
    uint32_t array = matrix_array(&file, vector, 2, "std::array<std::int32_t,2>");
    uint32_t number = matrix_field(&file, array, 0, "std::int32_t");
    matrix_column(&file, vector, "Index32");
    late_column(number, "Int32", 3);
    matrix_cluster(&file, 0, 1);
    MATRIX_PAGE(&file, 0, 0, 3);
    MATRIX_PAGE(&file, 0, 1, 7, 8, 9);
    begin_at(0, 1, 3);
    matrix_open(&file);
    CHECK(vector, NT_STREAM_OFFSETS, uint64_t, 0, 3);
    CHECK(number, NT_STREAM_DATA, int32_t, 0, 0, 0, 7, 8, 9);
    matrix_deinit(&file);
}

/* ---- the flag ---- */

static enum nt_status open_with_flags(enum rntuple_generation generation, const uint64_t *words,
                                      uint32_t count)
{
    matrix_init(&file, generation);
    matrix_column(&file, matrix_field(&file, RNTUPLE_TOP, 0, "float"), "Real32");
    file.description.feature_flags = words;
    file.description.feature_flag_count = count;
    enum nt_status status = write_and_open(&file.written, generation, &file.description, &error);
    matrix_deinit(&file);
    return status;
}

TEST(only_version_1_has_the_flag, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_GENERATIONS)
{
    static const uint64_t flag[] = {1};
    bool is_known = _i == RNTUPLE_V1 || _i == RNTUPLE_V1_1;
    assert_status(is_known ? NT_OK : NT_UNSUPPORTED, open_with_flags(_i, flag, 1));
    if (!is_known)
        ck_assert_ptr_nonnull(strstr(error.message, "feature flag 0 is set"));
}

TEST(an_unknown_flag_next_to_the_known_one_is_named)
{
    static const uint64_t second[] = {3}, far[] = {1 | UINT64_C(1) << 63, 1};
    assert_status(NT_UNSUPPORTED, open_with_flags(RNTUPLE_V1_1, second, 1));
    ck_assert_ptr_nonnull(strstr(error.message, "feature flag 1 is set"));
    assert_status(NT_UNSUPPORTED, open_with_flags(RNTUPLE_V1_1, far, 2));
    ck_assert_ptr_nonnull(strstr(error.message, "feature flag 64 is set"));
}
