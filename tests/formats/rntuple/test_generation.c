/* SPDX-License-Identifier: MIT
 *
 * The table of generations, compared with the tables of the specifications.
 */
#include <string.h>

#include "formats/rntuple/rntuple.h"
#include "support.h"
#include "core/codec/codec.h"

static struct nt_error error;

static const struct nt_generation *row(const char *name)
{
    for (uint32_t i = 0; i < nt_generation_count; i++)
        if (strcmp(nt_generations[i].name, name) == 0)
            return &nt_generations[i];
    ck_abort_msg("no row %s", name);
    return NULL;
}

#define NO_WRITER ((struct nt_text){"", 0})

/* Version 1.0.0.1, "Column Description". */
static const char *const final_names[] = {
    [0x00] = "Bit",         [0x01] = "Byte",        [0x02] = "Char",         [0x03] = "Int8",
    [0x04] = "UInt8",       [0x05] = "Int16",       [0x06] = "UInt16",       [0x07] = "Int32",
    [0x08] = "UInt32",      [0x09] = "Int64",       [0x0a] = "UInt64",       [0x0b] = "Real16",
    [0x0c] = "Real32",      [0x0d] = "Real64",      [0x0e] = "Index32",      [0x0f] = "Index64",
    [0x10] = "Switch",      [0x11] = "SplitInt16",  [0x12] = "SplitUInt16",  [0x13] = "SplitInt32",
    [0x14] = "SplitUInt32", [0x15] = "SplitInt64",  [0x16] = "SplitUInt64",  [0x17] = "SplitReal16",
    [0x18] = "SplitReal32", [0x19] = "SplitReal64", [0x1a] = "SplitIndex32", [0x1b] = "SplitIndex64",
    [0x1c] = "Real32Trunc", [0x1d] = "Real32Quant",
};

/* The drafts of 2022 and 2023, "Column Description". */
static const char *const draft_names[] = {
    [0x01] = "Index64",     [0x02] = "Index32",      [0x03] = "Switch",       [0x04] = "Byte",
    [0x05] = "Char",        [0x06] = "Bit",          [0x07] = "Real64",       [0x08] = "Real32",
    [0x09] = "Real16",      [0x0a] = "UInt64",       [0x0b] = "UInt32",       [0x0c] = "UInt16",
    [0x0d] = "UInt8",       [0x0e] = "SplitIndex64", [0x0f] = "SplitIndex32", [0x10] = "SplitReal64",
    [0x11] = "SplitReal32", [0x12] = "SplitReal16",  [0x13] = "SplitUInt64",  [0x14] = "SplitUInt32",
    [0x15] = "SplitUInt16", [0x16] = "Int64",        [0x17] = "Int32",        [0x18] = "Int16",
    [0x19] = "Int8",        [0x1a] = "SplitInt64",   [0x1b] = "SplitInt32",   [0x1c] = "SplitInt16",
};

static const struct names {
    const char *generation;
    const char *const *names;
    uint16_t count;
    uint16_t first_unknown; /* numbers from here on have no name */
} names[] = {
    {"draft, CRC32, extension header links", draft_names, 0x1d, 0x1f},
    {"draft, CRC32, schema extension", draft_names, 0x1d, 0x1f},
    {"release candidate 1", draft_names, 0x1d, 0x1f},
    {"release candidate 2, early", draft_names, 0x1d, 0x1f},
    {"release candidate 2, late", draft_names, 0x1d, 0x1f},
    {"release candidate 3", final_names, 0x1e, 0x1e},
    {"version 1", final_names, 0x1e, 0x1e},
};

TEST(column_types_have_the_specifications_numbers, .end = sizeof(names) / sizeof(names[0]))
{
    const struct names *expected = &names[_i];
    const char *name;
    for (uint16_t number = 0; number < expected->count; number++) {
        enum nt_encoding_kind encoding =
            nt_generation_encoding(row(expected->generation), NO_WRITER, number, &name);
        if (expected->names[number]) {
            ck_assert_str_eq(name, expected->names[number]);
            ck_assert_int_ne(encoding, NT_ENCODING_UNKNOWN);
        } else {
            ck_assert_int_eq(encoding, NT_ENCODING_UNKNOWN);
            ck_assert_ptr_null(name);
        }
    }
    for (uint32_t number = expected->first_unknown; number <= UINT16_MAX; number++)
        ck_assert_int_eq(
            nt_generation_encoding(row(expected->generation), NO_WRITER, (uint16_t)number, &name),
            NT_ENCODING_UNKNOWN);
}

TEST(the_layout_of_a_switch_depends_on_generation_and_writer)
{
    static const struct {
        const char *generation, *writer;
        enum nt_encoding_kind encoding;
    } rows[] = {
        {"pre-draft", "", NT_ENCODING_SWITCH_32_32},
        {"draft, CRC32, extension header links", "ROOT v6.26/06", NT_ENCODING_SWITCH_32_32},
        {"draft, CRC32, extension header links", "ROOT v6.25/02", NT_ENCODING_SWITCH_32_32},
        {"draft, CRC32, extension header links", "ROOT v5.34/38", NT_ENCODING_SWITCH_32_32},
        {"draft, CRC32, extension header links", "ROOT v6.27/01", NT_ENCODING_SWITCH_44_20},
        {"draft, CRC32, extension header links", "ROOT v6.29/01", NT_ENCODING_SWITCH_44_20},
        {"draft, CRC32, extension header links", "another writer", NT_ENCODING_SWITCH_44_20},
        {"draft, CRC32, schema extension", "ROOT v6.31/01", NT_ENCODING_SWITCH_44_20},
        {"release candidate 1", "ROOT v6.31/01", NT_ENCODING_SWITCH},
        {"release candidate 2, early", "ROOT v6.26/06", NT_ENCODING_SWITCH},
        {"version 1", "", NT_ENCODING_SWITCH},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct nt_generation *generation = row(rows[i].generation);
        uint16_t number = generation->is_predraft ? 2 : generation->epoch == 1 ? 0x10 : 3;
        const char *name;
        enum nt_encoding_kind found = nt_generation_encoding(
            generation, (struct nt_text){rows[i].writer, strlen(rows[i].writer)}, number, &name);
        ck_assert_msg(found == rows[i].encoding, "%s, %s", rows[i].generation, rows[i].writer);
        ck_assert_str_eq(name, "Switch");
    }
}

/* An anchor and the first bytes of header and footer determine it. */
TEST(a_file_is_matched_to_its_generation)
{
    static const uint8_t predraft_header[] = {0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t draft_header[] = {1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t list_footer[] = {1, 0, 1, 0, 0, 0, 0,    0,    0,    0,
                                          0, 0, 9, 9, 9, 9, 0xf8, 0xff, 0xff, 0xff};
    static const uint8_t record_footer[] = {1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9, 4, 0, 0, 0};
    static const struct {
        struct nt_anchor anchor;
        const uint8_t *header, *footer;
        const char *name;
    } rows[] = {
        {{.layout = NT_ANCHOR_58_BYTES}, predraft_header, list_footer, "pre-draft"},
        {{.layout = NT_ANCHOR_58_BYTES}, draft_header, list_footer, "draft, CRC32, extension header links"},
        {{.layout = NT_ANCHOR_58_BYTES}, draft_header, record_footer, "draft, CRC32, schema extension"},
        {{.layout = NT_ANCHOR_70_BYTES, .major = 1}, draft_header, list_footer, "release candidate 1"},
        {{.layout = NT_ANCHOR_70_BYTES, .major = 2}, draft_header, list_footer, "release candidate 2, early"},
        {{.layout = NT_ANCHOR_78_BYTES, .major = 2}, draft_header, list_footer, "release candidate 2, late"},
        {{.layout = NT_ANCHOR_78_BYTES, .major = 3}, draft_header, list_footer, "release candidate 3"},
        {{.layout = NT_ANCHOR_78_BYTES, .epoch = 1}, draft_header, list_footer, "version 1"},
        {{.layout = NT_ANCHOR_78_BYTES, .epoch = 1, .minor = 2}, draft_header, list_footer, "version 1"},
        {{.layout = NT_ANCHOR_78_BYTES, .epoch = 1, .major = 7, .minor = 9},
         draft_header,
         list_footer,
         "version 1"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct nt_generation *found;
        assert_ok(
            nt_generation_find(&rows[i].anchor, rows[i].header, 12, rows[i].footer, 20, &found, &error));
        ck_assert_str_eq(found->name, rows[i].name);
    }
}

TEST(what_fits_no_generation_is_refused_with_its_version)
{
    static const struct nt_anchor anchors[] = {
        {.layout = NT_ANCHOR_78_BYTES, .epoch = 2, .patch = 4},
        {.layout = NT_ANCHOR_70_BYTES, .epoch = 1},
        {.layout = NT_ANCHOR_70_BYTES, .major = 3},
    };
    for (size_t i = 0; i < sizeof(anchors) / sizeof(anchors[0]); i++) {
        const struct nt_generation *found;
        assert_status(NT_UNSUPPORTED, nt_generation_find(&anchors[i], (const uint8_t *)"", 0,
                                                         (const uint8_t *)"", 0, &found, &error));
    }
    const struct nt_generation *found;
    assert_status(NT_UNSUPPORTED, nt_generation_find(&anchors[0], (const uint8_t *)"", 0, (const uint8_t *)"",
                                                     0, &found, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "2.0.0.4"));
}

TEST(every_row_is_complete, .end = (int)nt_generation_count)
{
    const struct nt_generation *generation = &nt_generations[_i];
    bool has_groups = generation->is_predraft;
    ck_assert_ptr_nonnull(generation->name);
    ck_assert_ptr_nonnull(generation->reason);
    ck_assert_uint_gt(generation->column_type_count, 0);
    for (unsigned i = 0; i < NT_MAX_FOOTER_LISTS; i++)
        has_groups = has_groups || generation->footer_lists[i] == NT_FOOTER_CLUSTER_GROUPS;
    ck_assert(has_groups);
}
