/* SPDX-License-Identifier: MIT
 *
 * Bytes of blobs, in a dataset whose descriptions are plain columns, with a format that finds each blob in
 * memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset_builder.h"
#include "read/page.h"
#include "support.h"
#include "core/base/error.h"
#include "core/codec/codec.h"
#include "core/model/model.h"
#include <ntuple/source.h>

/* Rows of two clusters: some blocks of ends, and parts of them. */
enum { FIRST_ROWS = 1500, ROWS = 2600, TEXT_BYTES = 4096, MAX_BYTES = 40, WHOLE_BYTES = 7 };
enum { BLOB, KIND, POSITION, SIZE, ID, URI };

static uint8_t text[TEXT_BYTES];
static struct builder *builder;
static unsigned opened;
static bool is_short; /* the file is shorter than when its size was read */

/* ---- what each row is ---- */

static bool is_null(uint64_t row)
{
    return row % 7 == 3;
}

static bool is_whole(uint64_t row)
{
    return row % 11 == 5;
}

static uint64_t size_of(uint64_t row)
{
    return is_whole(row) || (row >= 1024 && row < 2048 && row % 2) ? 0 : row * 13 % MAX_BYTES;
}

static uint64_t bytes_of(uint64_t row)
{
    return is_null(row) ? 0 : is_whole(row) ? WHOLE_BYTES : size_of(row);
}

/* The kind says that there is a URI, which contains the row's number. */
static enum nt_status find_blob(struct nt_dataset *dataset, uint32_t field, uint32_t part,
                                const struct nt_blob_description *description, bool opens_file,
                                struct nt_blob *blob, struct nt_error *error)
{
    uint64_t row = description->position;
    char uri[24];
    snprintf(uri, sizeof(uri), "u%u", (unsigned)(row % 100));
    ck_assert_ptr_eq(dataset, builder->dataset);
    ck_assert_uint_eq(field, BLOB);
    ck_assert_uint_eq(part, row >= FIRST_ROWS);
    ck_assert_uint_eq(description->id, row * 3);
    ck_assert_uint_eq(description->size, size_of(row));
    ck_assert_uint_eq(description->kind, is_whole(row) ? NT_BLOB_EXTERNAL : NT_BLOB_INLINE);
    ck_assert_uint_eq(description->uri.length, is_whole(row) ? strlen(uri) : 0);
    ck_assert_int_eq(
        memcmp(description->uri.bytes ? description->uri.bytes : "", uri, description->uri.length), 0);
    blob->bytes = is_whole(row) ? WHOLE_BYTES - (uint64_t)is_short : description->size;
    blob->offset = row;
    if (!opens_file || blob->source)
        return NT_OK;
    opened++;
    blob->name = strdup("text");
    return blob->name ? nt_source_open_memory(text, sizeof(text), "text", &blob->source, error)
                      : nt_fail_memory(error);
}

/* ---- the dataset ---- */

static void name_field(uint32_t field, const char *name)
{
    builder->fields[field].name = (struct nt_text){name, strlen(name)};
}

static void fill(uint32_t cluster, uint32_t column, uint64_t (*value)(uint64_t row))
{
    uint64_t values[ROWS], first = cluster ? FIRST_ROWS : 0, end = cluster ? ROWS : FIRST_ROWS;
    for (uint64_t row = first; row < end; row++)
        values[row - first] = value(row);
    add_elements(builder, cluster, column, values, (uint32_t)(end - first), 300);
}

static uint64_t kind_at(uint64_t row)
{
    return is_whole(row) ? NT_BLOB_EXTERNAL : NT_BLOB_INLINE;
}

static uint64_t valid_at(uint64_t row)
{
    return !is_null(row);
}

static uint64_t position_at(uint64_t row)
{
    return row;
}

static uint64_t id_at(uint64_t row)
{
    return row * 3;
}

static void fill_uris(uint32_t cluster, uint32_t ends_column, uint32_t bytes_column)
{
    static uint64_t ends[ROWS], bytes[4 * ROWS];
    uint64_t first = cluster ? FIRST_ROWS : 0, end = cluster ? ROWS : FIRST_ROWS;
    uint32_t count = 0;
    for (uint64_t row = first; row < end; row++) {
        char uri[24] = "";
        if (is_whole(row))
            snprintf(uri, sizeof(uri), "u%u", (unsigned)(row % 100));
        for (size_t i = 0; uri[i]; i++)
            bytes[count++] = (uint8_t)uri[i];
        ends[row - first] = count;
    }
    add_elements(builder, cluster, ends_column, ends, (uint32_t)(end - first), 300);
    add_elements(builder, cluster, bytes_column, bytes, count, 500);
}

static void build(void)
{
    static struct nt_dataset_ops ops;
    static const char *const names[] = {"blob", "kind", "position", "size", "blob_id", "blob_uri"};
    static const enum nt_element elements[] = {NT_ELEMENT_BYTE,   NT_ELEMENT_UINT8,  NT_ELEMENT_UINT64,
                                               NT_ELEMENT_UINT64, NT_ELEMENT_UINT32, NT_ELEMENT_BYTE};
    builder = builder_new();
    builder->has_field_groups = true;
    for (uint32_t i = BLOB; i <= URI; i++) {
        enum nt_field_kind kind = i == BLOB ? NT_FIELD_RECORD : i == URI ? NT_FIELD_STRING : NT_FIELD_VALUE;
        ck_assert_uint_eq(add_field(builder, i == BLOB ? NT_NONE : BLOB, kind, elements[i]), i);
        name_field(i, names[i]);
    }
    edit_extra(builder, BLOB)->is_description = true;
    uint32_t kind = add_column(builder, KIND, NT_ENCODING_UINT8, 0),
             valid = add_column(builder, KIND, NT_ENCODING_BIT, 0),
             position = add_column(builder, POSITION, NT_ENCODING_UINT64, 0),
             size = add_column(builder, SIZE, NT_ENCODING_UINT64, 0),
             id = add_column(builder, ID, NT_ENCODING_UINT32, 0),
             ends = add_column(builder, URI, NT_ENCODING_INDEX64, 0),
             bytes = add_column(builder, URI, NT_ENCODING_CHAR, 0);
    builder->fields[KIND].is_nullable = true;
    add_cluster(builder, 0, FIRST_ROWS);
    add_cluster(builder, FIRST_ROWS, ROWS - FIRST_ROWS);
    for (uint32_t cluster = 0; cluster < 2; cluster++) {
        fill(cluster, kind, kind_at);
        fill(cluster, valid, valid_at);
        fill(cluster, position, position_at);
        fill(cluster, size, size_of);
        fill(cluster, id, id_at);
        fill_uris(cluster, ends, bytes);
    }
    finish(builder, NULL);
    ops = *builder->dataset->ops;
    ops.find_blob = find_blob;
    builder->dataset->ops = &ops;
    for (unsigned i = 0; i < sizeof(text); i++)
        text[i] = (uint8_t)(i * 7 + i / 256);
    opened = 0;
    is_short = false;
}

static struct nt_blobs *open_blobs(void)
{
    struct nt_error error;
    struct nt_blobs *blobs;
    assert_ok(nt_blobs_open(builder->reader, builder->dataset, BLOB, &blobs, &error));
    return blobs;
}

/* ---- what is to be expected of chosen rows ---- */

static uint64_t append_expected(uint64_t first, uint64_t end, uint8_t *bytes, uint64_t count)
{
    for (uint64_t row = first; row < end; row++) {
        memcpy(bytes + count, text + row, bytes_of(row));
        count += bytes_of(row);
    }
    return count;
}

/* In pieces of several lengths, at any offset. */
static void check_data(struct nt_blobs *blobs, const uint8_t *expected, uint64_t count)
{
    struct nt_error error;
    struct nt_blobs_cursor cursor = {0};
    uint64_t total;
    uint8_t *found = malloc(count + 1);
    assert_ok(nt_blobs_bytes(blobs, true, &total, &error));
    ck_assert_uint_eq(total, count);
    assert_ok(nt_blobs_read(blobs, &cursor, 0, found, count, &error));
    ck_assert_mem_eq(found, expected, count);
    for (uint64_t at = 0, bytes = 1; at < count; at += bytes, bytes = bytes * 2 % 4093 + 1) {
        if (bytes > count - at)
            bytes = count - at;
        memset(found, 0xee, bytes + 1);
        assert_ok(nt_blobs_read(blobs, &cursor, at, found, bytes, &error));
        ck_assert_mem_eq(found, expected + at, bytes);
        ck_assert_uint_eq(found[bytes], 0xee);
    }
    assert_ok(nt_blobs_read(blobs, &cursor, count, found, 0, &error));
    assert_status(NT_INVALID, nt_blobs_read(blobs, &cursor, count, found, 1, &error));
    assert_status(NT_INVALID, nt_blobs_read(blobs, &cursor, UINT64_MAX, found, 2, &error));
    nt_blobs_cursor_deinit(&cursor);
    free(found);
}

static void check_offsets(struct nt_blobs *blobs, const uint64_t *expected, uint64_t rows)
{
    struct nt_error error;
    const uint8_t *bytes = (const uint8_t *)expected;
    uint64_t count = (rows + 1) * sizeof(*expected);
    uint8_t *found = malloc(count);
    assert_ok(nt_blobs_read_offsets(blobs, 0, found, count, &error));
    ck_assert_mem_eq(found, bytes, count);
    for (uint64_t at = 0, part = 1; at < count; at += part, part = part * 3 % 20011 + 1) {
        if (part > count - at)
            part = count - at;
        assert_ok(nt_blobs_read_offsets(blobs, at, found, part, &error));
        ck_assert_mem_eq(found, bytes + at, part);
    }
    assert_status(NT_INVALID, nt_blobs_read_offsets(blobs, count, found, 1, &error));
    free(found);
}

/* ---- the tests ---- */

TEST(all_bytes_are_those_of_the_rows_one_after_the_other)
{
    static uint8_t bytes[ROWS * MAX_BYTES];
    static uint64_t ends[ROWS + 1];
    build();
    struct nt_blobs *blobs = open_blobs();
    for (uint64_t row = 0; row < ROWS; row++)
        ends[row + 1] = append_expected(row, row + 1, bytes, ends[row]);
    check_offsets(blobs, ends, ROWS);
    ck_assert_uint_eq(opened, 0);
    check_data(blobs, bytes, ends[ROWS]);
    ck_assert_uint_eq(opened, 1); /* of all reads by one */
    nt_blobs_close(blobs);
    builder_free(builder);
}

TEST(a_row_is_found_alone_and_a_null_one_is_not)
{
    struct nt_error error;
    uint64_t total;
    build();
    struct nt_blobs *blobs = open_blobs();
    for (uint64_t row = 0; row < ROWS; row += 97) {
        uint8_t found[MAX_BYTES];
        struct nt_blob blob = {0};
        if (is_null(row)) {
            assert_status(NT_NOT_FOUND, nt_blobs_find(blobs, row, true, &blob, &error));
            continue;
        }
        assert_ok(nt_blobs_find(blobs, row, true, &blob, &error));
        ck_assert_uint_eq(blob.bytes, bytes_of(row));
        assert_ok(nt_blobs_read_row(blobs, row, &blob, 0, found, blob.bytes, &error));
        ck_assert_mem_eq(found, text + row, blob.bytes);
        nt_blob_deinit(&blob);
    }
    struct nt_blob blob = {0};
    assert_status(NT_NOT_FOUND, nt_blobs_find(blobs, ROWS, true, &blob, &error));
    assert_status(NT_NOT_FOUND, nt_blobs_bytes(blobs, false, &total, &error)); /* not requested yet */
    nt_blobs_close(blobs);
    builder_free(builder);
}

TEST(chosen_rows_are_one_after_the_other_and_know_their_parts)
{
    static const struct nt_entry_range ranges[] = {{3, 20}, {1020, 10}, {1490, 30}, {2599, 1}};
    static uint8_t bytes[ROWS * MAX_BYTES];
    static uint64_t ends[ROWS + 1];
    struct nt_error error;
    uint64_t rows = 0;
    build();
    assert_ok(nt_dataset_select(builder->dataset, ranges, 4, &error));
    struct nt_blobs *blobs = open_blobs();
    for (unsigned i = 0; i < 4; i++)
        for (uint64_t row = ranges[i].first; row < ranges[i].first + ranges[i].count; row++, rows++)
            ends[rows + 1] = append_expected(row, row + 1, bytes, ends[rows]);
    check_offsets(blobs, ends, rows);
    check_data(blobs, bytes, ends[rows]);
    nt_blobs_close(blobs);
    builder_free(builder);
}

TEST(a_file_whose_size_is_another_one_fails_its_rows)
{
    struct nt_error error;
    uint64_t total, at = 0;
    struct nt_blobs_cursor cursor = {0}, other = {0};
    uint8_t byte;
    build();
    struct nt_blobs *blobs = open_blobs();
    assert_ok(nt_blobs_bytes(blobs, true, &total, &error));
    for (uint64_t row = 0; row < 5; row++)
        at += bytes_of(row);
    assert_ok(nt_blobs_read(blobs, &cursor, at - 1, &byte, 1, &error));
    is_short = true;
    assert_ok(nt_blobs_read(blobs, &cursor, at - 1, &byte, 1, &error));
    assert_status(NT_CHANGED, nt_blobs_read(blobs, &cursor, at, &byte, 1, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "row 5 of field blob"));
    ck_assert_ptr_nonnull(strstr(error.message, "expected 7, found 6"));
    assert_status(NT_CHANGED, nt_blobs_read(blobs, &other, at, &byte, 1, &error));
    assert_status(NT_CHANGED, nt_blobs_read_offsets(blobs, 0, &byte, 1, &error));
    nt_blobs_cursor_deinit(&cursor);
    nt_blobs_cursor_deinit(&other);
    nt_blobs_close(blobs);
    builder_free(builder);
}
