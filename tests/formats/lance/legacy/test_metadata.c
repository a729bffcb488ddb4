/* SPDX-License-Identifier: MIT
 *
 * The metadata of legacy files: the reader finds what was written, and refuses contradictions.
 */
#include "formats/lance/file/file.h"
#include "lance_legacy_file.h"
#include "core/model/model.h"

static const struct nt_lance *lance_of(void)
{
    return nt_lance_of(file->datasets[0]);
}

TEST(what_was_written_is_found, .teardown = tear_down)
{
    put_all();
    legacy_end(&writer);
    assert_ok(legacy_open());
    const struct nt_lance *lance = lance_of();
    const struct nt_lance_legacy *legacy = lance->legacy;
    ck_assert_uint_eq(lance->rows, ROWS_0 + ROWS_1);
    ck_assert_str_eq(lance->tail.version, "0.2");
    ck_assert_uint_eq(lance->tail.offset, writer.tail);
    ck_assert_uint_eq(lance->tail.metadata, writer.metadata_at);
    ck_assert_uint_eq(legacy->table.offset, writer.table);
    ck_assert_uint_eq(legacy->table.batches, 2);
    ck_assert_uint_eq(legacy->batches[1], ROWS_0);
    ck_assert_uint_eq(lance->schema.field_count, 6);
    ck_assert_uint_eq(nt_lance_find_id(&lance->schema, WORD), 5);
    ck_assert_uint_eq(nt_lance_find_id(&lance->schema, 6), NT_NONE);
    for (int32_t id = 0; id < 6; id++)
        for (unsigned batch = 0; batch < 2; batch++) {
            const struct nt_lance_cell *cell = &nt_lance_cells(&legacy->table, id)[batch];
            ck_assert_uint_eq(cell->offset, writer.cells[id][batch][0]);
            ck_assert_uint_eq(cell->length, writer.cells[id][batch][1]);
        }
    ck_assert_ptr_null(nt_lance_cells(&legacy->table, 6));
    ck_assert_ptr_null(nt_lance_cells(&legacy->table, -1));
}

/* A file of a fragment may have only some fields of the dataset: the table begins with the lowest id. */
TEST(the_page_table_begins_with_the_lowest_id, .teardown = tear_down)
{
    legacy_begin(&writer, (uint64_t[]){0, 2}, 1);
    uint64_t at = legacy_bytes(&writer, "\1\2\3\4", 4);
    legacy_page(&writer, 3, 0, at, 2);
    legacy_page(&writer, 5, 0, at + 2, 2);
    legacy_field(&writer, 5, -1, "late", "int8");
    legacy_field(&writer, 3, -1, "early", "int8");
    legacy_end(&writer);
    assert_ok(legacy_open());
    const struct nt_lance_page_table *table = &lance_of()->legacy->table;
    ck_assert_int_eq(table->first, 3);
    ck_assert_uint_eq(table->fields, 3);
    ck_assert_uint_eq(nt_lance_cells(table, 5)->offset, at + 2);
    ck_assert_uint_eq(nt_lance_cells(table, 4)->length, 0);
    assert_ok(load_field(5));
}

TEST(a_file_may_have_no_batches, .teardown = tear_down)
{
    legacy_begin(&writer, (uint64_t[]){0}, 0);
    legacy_bytes(&writer, "", 1); /* a manifest at position 0 means none */
    legacy_field(&writer, 0, -1, "x", "int8");
    legacy_end(&writer);
    assert_ok(legacy_open());
    ck_assert_uint_eq(file->datasets[0]->entries, 0);
    ck_assert_uint_eq(lance_of()->legacy->table.batches, 0);
}

/* ---- damage ---- */

static void drop_manifest(void)
{
    writer.has_no_manifest = true;
}

static void begin_late(void)
{
    writer.batches[0] = 1;
}

static void go_back(void)
{
    writer.batches[2] = 1;
}

static void go_below_zero(void)
{
    writer.batches[2] = UINT64_MAX;
}

static void have_a_field_far_away(void)
{
    legacy_put_field(&writer.manifest, INT32_MAX, -1, "far", "int8", 1, UINT64_MAX, 0);
}

static void have_an_id_twice(void)
{
    legacy_put_field(&writer.manifest, NUMBER, -1, "again", "int8", 1, UINT64_MAX, 0);
}

static void write_what_is_no_field(void)
{
    put_number(&writer.manifest, 1, 5);
}

static const struct {
    void (*change)(void);
    enum nt_status expected;
    const char *message;
} contradictions[] = {
    {drop_manifest, NT_UNSUPPORTED, "without its own manifest"},
    {begin_late, NT_CORRUPT, "batch 0 begins at row 1"},
    {go_back, NT_CORRUPT, "batch 2 begins at row 1, but the previous batch begins at row 2"},
    {go_below_zero, NT_CORRUPT, "batch 2 begins at row -1"},
    {have_a_field_far_away, NT_CORRUPT, "a page table of 2147483648 fields and 2 batches"},
    {have_an_id_twice, NT_CORRUPT, "has the id 0, like another field"},
    {write_what_is_no_field, NT_CORRUPT, "manifest"},
};

TEST(contradictions_are_refused_where_they_are, .teardown = tear_down,
     .end = sizeof(contradictions) / sizeof(*contradictions))
{
    put_all();
    contradictions[_i].change();
    legacy_end(&writer);
    ck_assert_uint_eq(legacy_open(), contradictions[_i].expected);
    ck_assert_msg(strstr(error.message, contradictions[_i].message), "%s", error.message);
}

TEST(positions_and_lengths_of_messages_are_in_front_of_the_tail, .teardown = tear_down)
{
    static const uint64_t values[] = {UINT64_MAX, UINT64_MAX - 3, 1 << 20};
    for (unsigned i = 0; i < sizeof(values) / sizeof(*values); i++) {
        put_all();
        legacy_end(&writer);
        for (unsigned byte = 0; byte < 8; byte++)
            writer.out.bytes[writer.tail + byte] = (char)(values[i] >> (8 * byte));
        assert_status(NT_CORRUPT, legacy_open());
        ck_assert_msg(strstr(error.message, "metadata begins at"), "%s", error.message);
        legacy_deinit(&writer);
    }
    put_all();
    legacy_end(&writer);
    writer.out.bytes[writer.manifest_at + 3] = 1;
    assert_status(NT_CORRUPT, legacy_open());
    ck_assert_msg(strstr(error.message, "does not end before the tail"), "%s", error.message);
}

/* Each byte changed and each end cut: refused with a message, or read. */
TEST(damage_of_any_byte_leads_nowhere, .teardown = tear_down)
{
    put_all();
    legacy_end(&writer);
    for (size_t i = 0; i < writer.out.length; i++)
        for (unsigned change = 0; change < 3; change++) {
            char before = writer.out.bytes[i];
            writer.out.bytes[i] = (char)(change == 0   ? before ^ 0xff
                                         : change == 1 ? before + 1
                                                       : before ^ 0x80);
            enum nt_status status = legacy_open();
            ck_assert(status == NT_OK || error.message[0]);
            for (uint32_t group = 0; status == NT_OK && group < file->datasets[0]->group_count; group++)
                ck_assert(nt_dataset_load_group(file->datasets[0], group, &error) == NT_OK ||
                          error.message[0]);
            writer.out.bytes[i] = before;
        }
    while (writer.out.length) {
        writer.out.length--;
        ck_assert_uint_ne(legacy_open(), NT_OK);
        ck_assert(error.message[0]);
    }
}
