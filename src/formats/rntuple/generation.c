/* SPDX-License-Identifier: MIT
 *
 * The table of format generations, from the first experiments of 2020 to version 1: one row for each
 * change on disk, with the ROOT versions that wrote it. The sources are the drafts, the final
 * specification, and files of every year.
 */
#include "formats/rntuple/rntuple.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct nt_framing predraft_framing = {
    .name = "predraft",
    .preamble_bytes = 16,
    .checksum = NT_CHECKSUM_CRC32,
    .frame_size_bytes = 4,
};

static const struct nt_framing crc32_framing = {
    .name = "crc32",
    .preamble_bytes = 4,
    .checksum = NT_CHECKSUM_CRC32,
    .frame_size_bytes = 4,
    .frame_item_mask = 0x0fffffff,
    .link_length_bytes = 4,
    .cluster_flag_bits = 4,
};

#define XXH3_FRAMING                                                                                         \
    .name = "xxh3", .preamble_bytes = 8, .has_type_and_length = true, .checksum = NT_CHECKSUM_XXH3_64,       \
    .frame_size_bytes = 8, .frame_item_mask = UINT32_MAX, .link_length_bytes = 8

static const struct nt_framing xxh3_draft_framing = {XXH3_FRAMING, .cluster_flag_bits = 4};
static const struct nt_framing xxh3_framing = {XXH3_FRAMING, .cluster_flag_bits = 8};

/* Unsigned integers had no numbers of their own. */
static const struct nt_column_type predraft_types[] = {
    {1, NT_ENCODING_INDEX32}, {2, NT_ENCODING_SWITCH}, {3, NT_ENCODING_BYTE},   {4, NT_ENCODING_BIT},
    {5, NT_ENCODING_REAL64},  {6, NT_ENCODING_REAL32}, {7, NT_ENCODING_REAL16}, {9, NT_ENCODING_INT64},
    {10, NT_ENCODING_INT32},  {11, NT_ENCODING_INT16},
};

static const struct nt_column_type draft_types[] = {
    {0x01, NT_ENCODING_INDEX64},      {0x02, NT_ENCODING_INDEX32},       {0x03, NT_ENCODING_SWITCH},
    {0x04, NT_ENCODING_BYTE},         {0x05, NT_ENCODING_CHAR},          {0x06, NT_ENCODING_BIT},
    {0x07, NT_ENCODING_REAL64},       {0x08, NT_ENCODING_REAL32},        {0x09, NT_ENCODING_REAL16},
    {0x0a, NT_ENCODING_UINT64},       {0x0b, NT_ENCODING_UINT32},        {0x0c, NT_ENCODING_UINT16},
    {0x0d, NT_ENCODING_UINT8},        {0x0e, NT_ENCODING_SPLIT_INDEX64}, {0x0f, NT_ENCODING_SPLIT_INDEX32},
    {0x10, NT_ENCODING_SPLIT_REAL64}, {0x11, NT_ENCODING_SPLIT_REAL32},  {0x12, NT_ENCODING_SPLIT_REAL16},
    {0x13, NT_ENCODING_SPLIT_UINT64}, {0x14, NT_ENCODING_SPLIT_UINT32},  {0x15, NT_ENCODING_SPLIT_UINT16},
    {0x16, NT_ENCODING_INT64},        {0x17, NT_ENCODING_INT32},         {0x18, NT_ENCODING_INT16},
    {0x19, NT_ENCODING_INT8},         {0x1a, NT_ENCODING_SPLIT_INT64},   {0x1b, NT_ENCODING_SPLIT_INT32},
    {0x1c, NT_ENCODING_SPLIT_INT16},  {0x1d, NT_ENCODING_REAL32_TRUNC},  {0x1e, NT_ENCODING_REAL32_QUANT},
};

static const struct nt_column_type final_types[] = {
    {0x00, NT_ENCODING_BIT},           {0x01, NT_ENCODING_BYTE},         {0x02, NT_ENCODING_CHAR},
    {0x03, NT_ENCODING_INT8},          {0x04, NT_ENCODING_UINT8},        {0x05, NT_ENCODING_INT16},
    {0x06, NT_ENCODING_UINT16},        {0x07, NT_ENCODING_INT32},        {0x08, NT_ENCODING_UINT32},
    {0x09, NT_ENCODING_INT64},         {0x0a, NT_ENCODING_UINT64},       {0x0b, NT_ENCODING_REAL16},
    {0x0c, NT_ENCODING_REAL32},        {0x0d, NT_ENCODING_REAL64},       {0x0e, NT_ENCODING_INDEX32},
    {0x0f, NT_ENCODING_INDEX64},       {0x10, NT_ENCODING_SWITCH},       {0x11, NT_ENCODING_SPLIT_INT16},
    {0x12, NT_ENCODING_SPLIT_UINT16},  {0x13, NT_ENCODING_SPLIT_INT32},  {0x14, NT_ENCODING_SPLIT_UINT32},
    {0x15, NT_ENCODING_SPLIT_INT64},   {0x16, NT_ENCODING_SPLIT_UINT64}, {0x17, NT_ENCODING_SPLIT_REAL16},
    {0x18, NT_ENCODING_SPLIT_REAL32},  {0x19, NT_ENCODING_SPLIT_REAL64}, {0x1a, NT_ENCODING_SPLIT_INDEX32},
    {0x1b, NT_ENCODING_SPLIT_INDEX64}, {0x1c, NT_ENCODING_REAL32_TRUNC}, {0x1d, NT_ENCODING_REAL32_QUANT},
};

static const struct nt_locator_type draft_locators[] = {{1, NT_LOCATOR_URI}, {2, NT_LOCATOR_OBJECT64}};
static const struct nt_locator_type final_locators[] = {
    {1, NT_LOCATOR_LARGE}, {2, NT_LOCATOR_OBJECT64}, {3, NT_LOCATOR_MULTI}};

/* Version 1.1, also in 1.0.2.1: columns below collections and variants may start late. */
static const struct nt_feature final_features[] = {{0, "nested deferred columns"}};

#define COLUMN_TYPES(table) .column_types = table, .column_type_count = COUNT(table)
#define LOCATOR_TYPES(table) .locator_types = table, .locator_type_count = COUNT(table)

/* The two drafts with CRC32 envelopes differ only in the footer. */
#define CRC32_DRAFT                                                                                          \
    .anchor_layout = NT_ANCHOR_58_BYTES, .framing = &crc32_framing, .has_release_candidate_tag = true,       \
    .has_early_field_values = true, .field_flags = 1, .deferred_flag = 8, COLUMN_TYPES(draft_types),         \
    .switch_encoding = NT_ENCODING_SWITCH_44_20, .first_wide_switch_major = 6,                               \
    .first_wide_switch_minor = 27, .has_sharded_clusters = true, .page_element_bits = 30,                    \
    .page_checksum = NT_CHECKSUM_CRC32, .page_checksum_covers = NT_COVERS_STORED_OR_PACKED,                  \
    LOCATOR_TYPES(draft_locators)

/* The release candidates before the column types got their final numbers. */
#define XXH3_DRAFT                                                                                           \
    .epoch = 0, .framing = &xxh3_draft_framing, .has_early_field_values = true, .deferred_flag = 8,          \
    COLUMN_TYPES(draft_types), .switch_encoding = NT_ENCODING_SWITCH, .has_schema_extension = true,          \
    .footer_lists = {NT_FOOTER_COLUMN_GROUPS, NT_FOOTER_CLUSTER_GROUPS, NT_FOOTER_USER_METADATA},            \
    .has_summaries_in_page_list = true, .has_entry_range_in_cluster_group = true,                            \
    .has_sharded_clusters = true, .page_element_bits = 31, .page_checksum = NT_CHECKSUM_XXH3_64,             \
    .page_checksum_covers = NT_COVERS_STORED_OR_PACKED, LOCATOR_TYPES(draft_locators)

#define FINAL                                                                                                \
    .anchor_layout = NT_ANCHOR_78_BYTES, .framing = &xxh3_framing, .has_representations = true,              \
    .deferred_flag = 1, .range_flag = 2, .has_extra_type_content = true, COLUMN_TYPES(final_types),          \
    .switch_encoding = NT_ENCODING_SWITCH, .has_schema_extension = true, .has_summaries_in_page_list = true, \
    .has_entry_range_in_cluster_group = true, .page_element_bits = 31, .page_checksum = NT_CHECKSUM_XXH3_64, \
    .page_checksum_covers = NT_COVERS_STORED, LOCATOR_TYPES(final_locators)

const struct nt_generation nt_generations[] = {
    {
        /* ROOT 6.21 to 6.25 */
        .name = "pre-draft",
        .reason = "58-byte anchor; the header is a frame of version 0",
        .anchor_layout = NT_ANCHOR_58_BYTES,
        .is_predraft = true,
        .framing = &predraft_framing,
        COLUMN_TYPES(predraft_types),
        .switch_encoding = NT_ENCODING_SWITCH_32_32,
    },
    {
        /* ROOT 6.26 to early 6.29 */
        .name = "draft, CRC32, extension header links",
        .reason = "58-byte anchor; a list follows the header's checksum in the footer",
        .footer_start = NT_FOOTER_STARTS_LIST,
        CRC32_DRAFT,
        .footer_lists = {NT_FOOTER_EXTENSION_HEADERS, NT_FOOTER_COLUMN_GROUPS, NT_FOOTER_CLUSTER_SUMMARIES,
                         NT_FOOTER_CLUSTER_GROUPS, NT_FOOTER_USER_METADATA},
    },
    {
        /* late ROOT 6.29, 6.31 */
        .name = "draft, CRC32, schema extension",
        .reason = "58-byte anchor; a record follows the header's checksum in the footer",
        .footer_start = NT_FOOTER_STARTS_RECORD,
        CRC32_DRAFT,
        .has_schema_extension = true,
        .footer_lists = {NT_FOOTER_COLUMN_GROUPS, NT_FOOTER_CLUSTER_SUMMARIES, NT_FOOTER_CLUSTER_GROUPS,
                         NT_FOOTER_USER_METADATA},
    },
    {
        .name = "release candidate 1",
        .reason = "anchor with version 0.0 or 0.1 and an XXH3 checksum",
        .anchor_layout = NT_ANCHOR_70_BYTES,
        .last_major = 1,
        .field_flags = 1,
        XXH3_DRAFT,
    },
    {
        /* ROOT 6.31, early 6.33 */
        .name = "release candidate 2, early",
        .reason = "70-byte anchor of version 0.2",
        .anchor_layout = NT_ANCHOR_70_BYTES,
        .first_major = 2,
        .last_major = 2,
        .field_flags = 1,
        XXH3_DRAFT,
    },
    {
        /* ROOT 6.33.01 */
        .name = "release candidate 2, late",
        .reason = "78-byte anchor of version 0.2",
        .anchor_layout = NT_ANCHOR_78_BYTES,
        .last_major = 2,
        .field_flags = 7,
        /* No known file has it. Harmless: the representation is the zero upper half of the older
         * u32. */
        .has_representations = true,
        XXH3_DRAFT,
    },
    {
        /* ROOT 6.33.01, 6.35.001 */
        .name = "release candidate 3",
        .reason = "78-byte anchor of version 0.3 or a later candidate",
        .epoch = 0,
        .first_major = 3,
        .last_major = UINT16_MAX,
        .field_flags = 7,
        FINAL,
        .footer_lists = {NT_FOOTER_CLUSTER_GROUPS},
    },
    {
        /* ROOT 6.34.04 and later */
        .name = "version 1",
        .reason = "78-byte anchor of epoch 1",
        .epoch = 1,
        .last_major = UINT16_MAX,
        .field_flags = 15,
        FINAL,
        .has_field_versions = true,
        .attribute_set_major = 1,
        .features = final_features,
        .feature_count = COUNT(final_features),
        .footer_lists = {NT_FOOTER_CLUSTER_GROUPS, NT_FOOTER_ATTRIBUTE_SETS},
    },
};
const uint32_t nt_generation_count = COUNT(nt_generations);

/* The predraft starts with a frame of version 0 and its own size; all others have version 1 there, or a
 * type and a length. */
static bool is_predraft_header(const uint8_t *header, size_t header_bytes)
{
    struct nt_cursor cursor = nt_cursor(header, header_bytes);
    uint16_t version = nt_get_le16(&cursor), minimum = nt_get_le16(&cursor);
    uint32_t size = nt_get_le32(&cursor);
    return !cursor.failed && version == 0 && minimum == 0 && size == header_bytes - sizeof(uint32_t);
}

static enum nt_footer_start footer_start_of(const uint8_t *footer, size_t footer_bytes)
{
    struct nt_cursor cursor = nt_cursor(footer, footer_bytes);
    nt_cursor_skip(&cursor, crc32_framing.preamble_bytes);
    while ((int64_t)nt_get_le64(&cursor) < 0 && !cursor.failed) {
        /* more words of feature flags follow */
    }
    nt_cursor_skip(&cursor, sizeof(uint32_t)); /* the header's checksum */
    return (int32_t)nt_get_le32(&cursor) < 0 ? NT_FOOTER_STARTS_LIST : NT_FOOTER_STARTS_RECORD;
}

enum nt_status nt_generation_find(const struct nt_anchor *anchor, const uint8_t *header, size_t header_bytes,
                                  const uint8_t *footer, size_t footer_bytes,
                                  const struct nt_generation **generation_ret, struct nt_error *error)
{
    bool may_be_predraft = anchor->layout == NT_ANCHOR_58_BYTES;
    bool is_predraft = may_be_predraft && is_predraft_header(header, header_bytes);
    enum nt_footer_start start =
        may_be_predraft && !is_predraft ? footer_start_of(footer, footer_bytes) : NT_FOOTER_STARTS_ANY;
    for (uint32_t i = 0; i < nt_generation_count; i++) {
        const struct nt_generation *row = &nt_generations[i];
        if (row->anchor_layout == anchor->layout && row->epoch == anchor->epoch &&
            row->first_major <= anchor->major && anchor->major <= row->last_major &&
            row->is_predraft == is_predraft && row->footer_start == start) {
            *generation_ret = row;
            return NT_OK;
        }
    }
    return nt_fail(error, NT_UNSUPPORTED, anchor->offset,
                   "anchor: unknown version %u.%u.%u.%u with an anchor of class version %u", anchor->epoch,
                   anchor->major, anchor->minor, anchor->patch, anchor->class_version);
}

static bool is_before_wide_switch(const struct nt_generation *generation, struct nt_text writer)
{
    unsigned major, minor;
    if (generation->first_wide_switch_major == 0 || sscanf(writer.bytes, "ROOT v%u.%u", &major, &minor) != 2)
        return false;
    return major < generation->first_wide_switch_major ||
           (major == generation->first_wide_switch_major && minor < generation->first_wide_switch_minor);
}

enum nt_encoding_kind nt_generation_encoding(const struct nt_generation *generation, struct nt_text writer,
                                             uint16_t number, const char **name_ret)
{
    *name_ret = NULL;
    for (uint32_t i = 0; i < generation->column_type_count; i++) {
        if (generation->column_types[i].number != number)
            continue;
        enum nt_encoding_kind encoding = generation->column_types[i].encoding;
        *name_ret = nt_encoding_info(encoding)->name;
        if (encoding != NT_ENCODING_SWITCH)
            return encoding;
        return is_before_wide_switch(generation, writer) ? NT_ENCODING_SWITCH_32_32
                                                         : generation->switch_encoding;
    }
    return NT_ENCODING_UNKNOWN;
}

const char *nt_generation_feature(const struct nt_generation *generation, uint32_t number)
{
    for (uint32_t i = 0; i < generation->feature_count; i++)
        if (generation->features[i].number == number)
            return generation->features[i].name;
    return NULL;
}

const char *nt_footer_list_name(enum nt_footer_list list)
{
    static const char *const names[NT_FOOTER_LIST_COUNT] = {
        [NT_FOOTER_EXTENSION_HEADERS] = "extension_headers", [NT_FOOTER_COLUMN_GROUPS] = "column_groups",
        [NT_FOOTER_CLUSTER_SUMMARIES] = "cluster_summaries", [NT_FOOTER_CLUSTER_GROUPS] = "cluster_groups",
        [NT_FOOTER_USER_METADATA] = "user_metadata",         [NT_FOOTER_ATTRIBUTE_SETS] = "attribute_sets",
    };
    return names[list];
}
