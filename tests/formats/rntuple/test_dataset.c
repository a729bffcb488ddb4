/* SPDX-License-Identifier: MIT
 *
 * Whole files of every generation, by the tests' writer, read into the model.
 */
#include "column_range.h"
#include "rntuple_opened.h"

static struct nt_error error;
static struct written written;

static const struct column_number INDEX32 = {1, 0x02, 0x0e}, CHAR = {3, 0x05, 0x02}, INT32 = {10, 0x17, 0x07},
                                  REAL32 = {6, 0x08, 0x0c};

/* energy: float, title: std::string, hits: std::vector<std::int32_t>; two clusters of 2 and 1 entries. */
static const struct rntuple_field usual_fields[] = {
    {.name = "energy", .type = "float", .parent = RNTUPLE_TOP, .description = "in GeV"},
    {.name = "title", .type = "std::string", .parent = RNTUPLE_TOP},
    {.name = "hits", .type = "std::vector<std::int32_t>", .parent = RNTUPLE_TOP, .role = 1},
    {.name = "_0", .type = "std::int32_t", .parent = 2},
};
enum { USUAL_COLUMNS = 5 };
#define PAGE(count, bytes)                                                                                   \
    {                                                                                                        \
        .elements = count, .packed = bytes, .packed_bytes = sizeof(bytes) - 1                                \
    }
#define ONE_PAGE(count, bytes) .pages = &(struct rntuple_page)PAGE(count, bytes), .page_count = 1
static const struct rntuple_range first_cluster[USUAL_COLUMNS] = {
    {ONE_PAGE(2, "\0\0\x80\x3f\0\0\0\x40")},
    {ONE_PAGE(2, "\1\0\0\0\3\0\0\0")},
    {ONE_PAGE(3, "abc")},
    {ONE_PAGE(2, "\0\0\0\0\2\0\0\0")},
    {.pages = (const struct rntuple_page[]){PAGE(1, "\1\0\0\0"), PAGE(1, "\2\0\0\0")}, .page_count = 2},
};
static const struct rntuple_range second_cluster[USUAL_COLUMNS] = {
    {ONE_PAGE(1, "\0\0\0\x41"), .first_element = 2},
    {ONE_PAGE(1, "\0\0\0\0"), .first_element = 2},
    {.first_element = 3},
    {ONE_PAGE(1, "\1\0\0\0"), .first_element = 2},
    {ONE_PAGE(1, "\3\0\0\0"), .first_element = 2},
};
static const struct rntuple_cluster usual_clusters[] = {
    {.first_entry = 0, .entries = 2, .ranges = first_cluster, .range_count = USUAL_COLUMNS},
    {.first_entry = 2, .entries = 1, .ranges = second_cluster, .range_count = USUAL_COLUMNS},
};

static struct rntuple_column columns[USUAL_COLUMNS];

static struct rntuple_description usual(enum rntuple_generation generation)
{
    const struct rntuple_column usual_columns[USUAL_COLUMNS] = {
        {.type = column_number(generation, REAL32), .bits = 32, .field = 0},
        {.type = column_number(generation, INDEX32), .bits = 32, .field = 1},
        {.type = column_number(generation, CHAR), .bits = 8, .field = 1},
        {.type = column_number(generation, INDEX32), .bits = 32, .field = 2},
        {.type = column_number(generation, INT32), .bits = 32, .field = 3},
    };
    memcpy(columns, usual_columns, sizeof(columns));
    return (struct rntuple_description){
        .name = "events",
        .description = "a run",
        .writer = "a test",
        .fields = usual_fields,
        .field_count = 4,
        .columns = columns,
        .column_count = USUAL_COLUMNS,
        .clusters = usual_clusters,
        .cluster_count = 2,
    };
}

static void check_fields(void)
{
    const struct nt_dataset *dataset = written.dataset;
    static const enum nt_field_kind kinds[] = {NT_FIELD_VALUE, NT_FIELD_STRING, NT_FIELD_COLLECTION,
                                               NT_FIELD_VALUE};
    static const char *const dtypes[] = {"<f4", "|u1", NULL, "<i4"};
    ck_assert_uint_eq(dataset->field_count, 4);
    ck_assert_uint_eq(dataset->top_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct nt_field *field = &dataset->fields[dataset->children[i]];
        ck_assert(is_text(field->name, usual_fields[i].name));
        ck_assert(is_text(field->type, usual_fields[i].type));
        ck_assert_int_eq(field->kind, kinds[i]);
        if (dtypes[i])
            ck_assert_str_eq(field->dtype.numpy, dtypes[i]);
    }
    uint32_t count;
    const uint32_t *children = nt_dataset_children(dataset, dataset->children[2], &count);
    ck_assert_uint_eq(count, 1);
    ck_assert(is_text(dataset->fields[children[0]].name, "_0"));
    ck_assert_str_eq(dataset->fields[children[0]].dtype.numpy, "<i4");
    ck_assert(is_text(dataset->fields[dataset->children[0]].description, "in GeV"));
}

static void check_clusters(void)
{
    struct nt_dataset *dataset = written.dataset;
    static const uint32_t pages[2][USUAL_COLUMNS] = {{1, 1, 1, 1, 2}, {1, 1, 0, 1, 1}};
    static const uint64_t elements[2][USUAL_COLUMNS] = {{2, 2, 3, 2, 2}, {1, 1, 0, 1, 1}};
    assert_ok(nt_dataset_load_all(dataset, &error));
    for (uint32_t cluster = 0; cluster < 2; cluster++) {
        ck_assert_uint_eq(dataset->clusters[cluster].first_entry, usual_clusters[cluster].first_entry);
        ck_assert_uint_eq(dataset->clusters[cluster].entries, usual_clusters[cluster].entries);
        for (uint32_t column = 0; column < USUAL_COLUMNS; column++) {
            const struct nt_range *range;
            assert_ok(column_range(dataset, cluster, column, &range, &error));
            ck_assert_uint_eq(range->state, NT_RANGE_PRESENT);
            ck_assert_uint_eq(range->pages, pages[cluster][column]);
            ck_assert_uint_eq(range->first_element, usual_clusters[cluster].ranges[column].first_element);
            const struct nt_group *group = nt_group_slot(dataset, dataset->clusters[cluster].group);
            ck_assert_uint_eq(nt_range_elements(group, range), elements[cluster][column]);
        }
    }
}

/* The stored bytes are where the page list says. */
static void check_page_bytes(void)
{
    const struct nt_range *range;
    assert_ok(column_range(written.dataset, 1, 4, &range, &error));
    const struct nt_group *group = nt_group_slot(written.dataset, written.dataset->clusters[1].group);
    const struct nt_page *page = &group->pages[range->first_page];
    char bytes[4];
    ck_assert_uint_eq(page->stored_bytes, 4);
    assert_ok(nt_source_read(written.dataset->sources[page->source], page->offset, bytes, 4, &error));
    ck_assert_mem_eq(bytes, "\3\0\0\0", 4);
}

TEST(every_generation_is_opened_into_the_same_model, .end = RNTUPLE_GENERATIONS)
{
    static const char *const versions[RNTUPLE_GENERATIONS] = {
        "0.0.0.0", "0.0.0.0", "0.0.0.0", "0.1.0.0", "0.2.0.0", "0.2.0.0", "0.3.0.0", "1.0.0.0", "1.0.1.0"};
    struct rntuple_description description = usual(_i);
    assert_ok(write_and_open(&written, _i, &description, &error));
    ck_assert_str_eq(written.dataset->version, versions[_i]);
    ck_assert(is_text(written.dataset->name, "events"));
    ck_assert(is_text(written.dataset->title, "events"));
    ck_assert(is_text(written.dataset->description, "a run"));
    ck_assert(is_text(written.dataset->writer, "a test"));
    ck_assert_uint_eq(written.dataset->entries, 3);
    check_fields();
    check_clusters();
    check_page_bytes();
    written_close(&written);
}

TEST(compressed_envelopes_are_read_in_every_generation, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_description description = usual(_i);
    description.is_compressed = true;
    assert_ok(write_and_open(&written, _i, &description, &error));
    check_fields();
    check_clusters();
    written_close(&written);
}

TEST(a_group_of_clusters_is_loaded_when_it_is_touched, .first = RNTUPLE_CRC32_LINKS,
     .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_description description = usual(_i);
    description.clusters_per_group = 1;
    assert_ok(write_and_open(&written, _i, &description, &error));
    ck_assert_uint_eq(written.dataset->group_count, 2);
    ck_assert(!nt_group_is_loaded(written.dataset, 0) && !nt_group_is_loaded(written.dataset, 1));
    const struct nt_range *range;
    assert_ok(column_range(written.dataset, 1, 0, &range, &error));
    ck_assert(!nt_group_is_loaded(written.dataset, 0));
    ck_assert_uint_eq(nt_group_slot(written.dataset, 1)->page_count, 4);
    ck_assert_uint_eq(nt_group_record(written.dataset, 1).first_cluster, 1);
    check_clusters();
    written_close(&written);
}

/* Frames and envelopes may grow: unknown parts are skipped. */
TEST(unknown_bytes_in_frames_and_envelopes_are_skipped, .first = RNTUPLE_CRC32_LINKS,
     .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_description description = usual(_i);
    description.unknown_bytes = 12;
    assert_ok(write_and_open(&written, _i, &description, &error));
    check_fields();
    check_clusters();
    written_close(&written);
}

TEST(the_schema_extension_continues_from_the_header, .first = RNTUPLE_CRC32_EXTENSION,
     .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_description description = usual(_i);
    description.extension_fields = 2;
    description.extension_columns = 2;
    struct rntuple_cluster clusters[2] = {usual_clusters[0], usual_clusters[1]};
    clusters[0].range_count = 3; /* the other columns were added later */
    description.clusters = clusters;
    assert_ok(write_and_open(&written, _i, &description, &error));
    check_fields();
    const struct nt_range *range;
    assert_ok(column_range(written.dataset, 0, 3, &range, &error));
    ck_assert_uint_eq(range->state, NT_RANGE_ABSENT);
    assert_ok(column_range(written.dataset, 1, 3, &range, &error));
    ck_assert_uint_eq(range->state, NT_RANGE_PRESENT);
    written_close(&written);
}

TEST(deferred_columns_keep_their_first_element, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_description description = usual(_i);
    columns[0].has_first_element = true;
    columns[0].first_element = 1234567890123;
    assert_ok(write_and_open(&written, _i, &description, &error));
    ck_assert(nt_column_is_deferred(&written.dataset->columns[0]));
    ck_assert(!nt_column_begins_suppressed(&written.dataset->columns[0]));
    ck_assert_uint_eq(nt_column_first_element(&written.dataset->columns[0]), 1234567890123);
    written_close(&written);
}

TEST(a_cluster_may_hold_a_group_of_columns_in_the_drafts, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_RC3)
{
    const struct rntuple_column_group groups[] = {{(const uint32_t[]){0, 1, 2}, 3},
                                                  {(const uint32_t[]){3, 4}, 2}};
    struct rntuple_range ranges[2] = {first_cluster[3], first_cluster[4]};
    struct rntuple_cluster clusters[] = {
        {0, 2, 1, 0, first_cluster, 3},
        {0, 2, 1, 1, ranges, 2},
        usual_clusters[1],
    };
    struct rntuple_description description = usual(_i);
    description.column_groups = groups;
    description.column_group_count = 2;
    description.clusters = clusters;
    description.cluster_count = 3;
    assert_ok(write_and_open(&written, _i, &description, &error));
    ck_assert(written.dataset->has_sharded_clusters);
    ck_assert_uint_eq(written.dataset->column_group_count, 2);
    ck_assert_uint_eq(written.dataset->entries, 3);
    static const uint32_t states[3][USUAL_COLUMNS] = {{0, 0, 0, 1, 1}, {1, 1, 1, 0, 0}, {0, 0, 0, 0, 0}};
    for (uint32_t cluster = 0; cluster < 3; cluster++) {
        for (uint32_t column = 0; column < USUAL_COLUMNS; column++) {
            const struct nt_range *range;
            assert_ok(column_range(written.dataset, cluster, column, &range, &error));
            ck_assert_uint_eq(range->state, states[cluster][column]);
        }
    }
    ck_assert_uint_eq(written.dataset->clusters[1].column_group, 1);
    ck_assert_uint_eq(written.dataset->clusters[2].column_group, NT_NONE);
    written_close(&written);
}

TEST(sharded_clusters_are_refused_where_the_format_reserves_them, .first = RNTUPLE_RC3,
     .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_cluster clusters[] = {usual_clusters[0], usual_clusters[1]};
    clusters[1].flags = 1;
    struct rntuple_description description = usual(_i);
    description.clusters = clusters;
    assert_ok(write_and_open(&written, _i, &description, &error));
    assert_status(NT_UNSUPPORTED, nt_dataset_load_group(written.dataset, 0, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "sharded"));
    written_close(&written);
}

TEST(other_cluster_flags_are_ignored, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_cluster clusters[] = {usual_clusters[0], usual_clusters[1]};
    clusters[0].flags = 0x8;
    struct rntuple_description description = usual(_i);
    description.clusters = clusters;
    assert_ok(write_and_open(&written, _i, &description, &error));
    check_clusters();
    written_close(&written);
}

TEST(an_unknown_feature_flag_is_refused_by_its_number, .first = RNTUPLE_CRC32_LINKS,
     .end = RNTUPLE_GENERATIONS)
{
    const uint64_t words[] = {UINT64_C(1) << 63, UINT64_C(1) << 63, 1 << 9};
    struct rntuple_description description = usual(_i);
    description.feature_flags = words;
    description.feature_flag_count = 3;
    assert_status(NT_UNSUPPORTED, write_and_open(&written, _i, &description, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "feature flag 137"));
    written_close(&written);
}

TEST(feature_flags_without_a_flag_may_have_many_words, .first = RNTUPLE_CRC32_LINKS,
     .end = RNTUPLE_GENERATIONS)
{
    const uint64_t words[] = {UINT64_C(1) << 63, UINT64_C(1) << 63, 0};
    struct rntuple_description description = usual(_i);
    description.feature_flags = words;
    description.feature_flag_count = 3;
    assert_ok(write_and_open(&written, _i, &description, &error));
    check_fields();
    written_close(&written);
}

static void flag_in_footer(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_FOOTER)
        bytes->bytes[bytes->bytes[0] == 1 ? 4 : 8] |= 4; /* after a preamble of 4 or 8 bytes */
}

TEST(a_feature_flag_in_the_footer_alone_is_refused_too, .first = RNTUPLE_CRC32_LINKS,
     .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_description description = usual(_i);
    description.spoil = flag_in_footer;
    assert_status(NT_UNSUPPORTED, write_and_open(&written, _i, &description, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "feature flag 2"));
    written_close(&written);
}

static void other_header_in_footer(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_FOOTER)
        bytes->bytes[bytes->bytes[0] == 1 ? 12 : 16] ^= 1;
}

TEST(a_footer_of_another_header_is_refused, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_description description = usual(_i);
    description.spoil = other_header_in_footer;
    assert_status(NT_CORRUPT, write_and_open(&written, _i, &description, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "checksum of its header"));
    written_close(&written);
}

static void other_header_in_page_list(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind == RNTUPLE_PAGE_LIST)
        bytes->bytes[8] ^= 1;
}

TEST(a_page_list_of_another_header_fails_its_group_only, .first = RNTUPLE_RC1, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_description description = usual(_i);
    description.spoil = other_header_in_page_list;
    assert_ok(write_and_open(&written, _i, &description, &error));
    assert_status(NT_CORRUPT, nt_dataset_load_group(written.dataset, 0, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "checksum of its header"));
    written_close(&written);
}

TEST(a_flipped_bit_in_header_or_footer_is_found, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_description description = usual(_i);
    for (unsigned footer = 0; footer < 2; footer++) {
        assert_ok(write_and_open(&written, _i, &description, &error));
        const struct nt_anchor *anchor = &nt_rntuple_of(written.dataset)->anchor;
        uint64_t at = (footer ? anchor->footer : anchor->header).offset + 30;
        nt_file_close(written.file);
        written.bytes.bytes[at] ^= 4;
        assert_status(NT_CHECKSUM, open_bytes(&written, &error));
        ck_assert_ptr_nonnull(strstr(error.message, footer ? "footer" : "header"));
        written_close(&written);
    }
}

TEST(a_linked_attribute_set_is_a_dataset_of_its_own)
{
    struct rntuple_description description = usual(RNTUPLE_V1_1);
    description.attribute_set = "quality";
    assert_ok(write_and_open(&written, RNTUPLE_V1_1, &description, &error));
    ck_assert_uint_eq(written.file->dataset_count, 2);
    const struct nt_dataset *set = written.file->datasets[1];
    ck_assert_ptr_null(set->failure);
    ck_assert(is_text(set->name, "quality"));
    ck_assert_uint_eq(set->attribute_of, 0);
    ck_assert_uint_eq(set->entries, 0);
    ck_assert_uint_eq(set->field_count, 4);
    written_close(&written);
}

static const struct rntuple_page elsewhere[] = {
    {.elements = 1,
     .packed = "1234",
     .packed_bytes = 4,
     .place = RNTUPLE_URI,
     .uri = "https://example.org/page"},
    {.elements = 1, .packed = "1234", .packed_bytes = 4, .place = RNTUPLE_OBJECT64},
    {.elements = 1, .packed = "1234", .packed_bytes = 4, .place = RNTUPLE_UNKNOWN_PLACE, .uri = "a\x01"},
};

TEST(pages_elsewhere_are_kept_and_distinguished, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_RC3)
{
    struct rntuple_range ranges[USUAL_COLUMNS];
    memcpy(ranges, first_cluster, sizeof(ranges));
    ranges[0].pages = elsewhere;
    ranges[0].page_count = 3;
    struct rntuple_cluster cluster = {.entries = 3, .ranges = ranges, .range_count = USUAL_COLUMNS};
    struct rntuple_description description = usual(_i);
    description.clusters = &cluster;
    description.cluster_count = 1;
    assert_ok(write_and_open(&written, _i, &description, &error));
    assert_ok(nt_dataset_load_all(written.dataset, &error));
    /* As in JSON. */
    static const char *const texts[] = {"URI (type 1) https://example.org/page", "Object64 0x",
                                        "unknown (type 111) a\\\\x01"};
    for (unsigned i = 0; i < 3; i++) {
        const struct nt_page *page = &nt_group_slot(written.dataset, 0)->pages[i];
        struct nt_buffer out = {0};
        struct nt_json json;
        ck_assert_uint_eq(page->compression, NT_COMPRESSION_ELSEWHERE);
        nt_json_line(&json, &out);
        assert_ok(written.dataset->ops->describe_page(written.dataset, 0, page, &json));
        nt_json_finish(&json);
        ck_assert_msg(strstr(out.bytes, texts[i]) != NULL, "%s in %s", texts[i], out.bytes);
        nt_buffer_deinit(&out);
    }
    written_close(&written);
}

TEST(a_large_locator_is_a_place_in_the_file, .first = RNTUPLE_RC3, .end = RNTUPLE_GENERATIONS)
{
    struct rntuple_page page = {
        .elements = 2, .packed = "\0\0\x80\x3f\0\0\0\x40", .packed_bytes = 8, .place = RNTUPLE_LARGE};
    struct rntuple_range ranges[USUAL_COLUMNS];
    memcpy(ranges, first_cluster, sizeof(ranges));
    ranges[0].pages = &page;
    struct rntuple_cluster cluster = {.entries = 2, .ranges = ranges, .range_count = USUAL_COLUMNS};
    struct rntuple_description description = usual(_i);
    description.clusters = &cluster;
    description.cluster_count = 1;
    assert_ok(write_and_open(&written, _i, &description, &error));
    assert_ok(nt_dataset_load_all(written.dataset, &error));
    const struct nt_page *read = &nt_group_slot(written.dataset, 0)->pages[0];
    ck_assert_uint_eq(read->compression, NT_COMPRESSION_ROOT_BLOCKS);
    ck_assert_uint_eq(read->stored_bytes, 8);
    ck_assert_mem_eq(written.bytes.bytes + read->offset, page.packed, 8);
    written_close(&written);
}

TEST(page_checksums_are_those_of_the_generation, .first = RNTUPLE_CRC32_LINKS, .end = RNTUPLE_GENERATIONS)
{
    bool has_crc32 = _i < RNTUPLE_RC1, is_final = _i >= RNTUPLE_RC3;
    struct rntuple_page page = {.elements = 2,
                                .packed = "\0\0\x80\x3f\0\0\0\x40",
                                .packed_bytes = 8,
                                .checksum = RNTUPLE_CHECKSUM_OF_STORED};
    struct rntuple_range ranges[USUAL_COLUMNS];
    memcpy(ranges, first_cluster, sizeof(ranges));
    ranges[0].pages = &page;
    struct rntuple_cluster cluster = {.entries = 2, .ranges = ranges, .range_count = USUAL_COLUMNS};
    struct rntuple_description description = usual(_i);
    description.clusters = &cluster;
    description.cluster_count = 1;
    assert_ok(write_and_open(&written, _i, &description, &error));
    assert_ok(nt_dataset_load_all(written.dataset, &error));
    const struct nt_page *read = nt_group_slot(written.dataset, 0)->pages;
    ck_assert_uint_eq(read[0].elements, 2);
    ck_assert_uint_eq(read[0].checksum, has_crc32 ? NT_CHECKSUM_CRC32 : NT_CHECKSUM_XXH3_64);
    ck_assert_uint_eq(read[0].checksum_covers, is_final ? NT_COVERS_STORED : NT_COVERS_STORED_OR_PACKED);
    ck_assert_uint_eq(read[1].checksum, NT_CHECKSUM_NONE);
    assert_ok(nt_checksum_verify(read[0].checksum, page.packed, 8,
                                 (const uint8_t *)written.bytes.bytes + read[0].offset + 8, 0, &error));
    written_close(&written);
}
