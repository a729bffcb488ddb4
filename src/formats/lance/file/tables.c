/* SPDX-License-Identifier: MIT
 *
 * In: a source. Out: all that the metadata of a Lance file say (lance's format documentation, "File Format"):
 * the tables that the tail leads to, the schema in global buffer 0, and the metadata of all columns, which are
 * read at once where they lie together.
 */
#include "formats/lance/file/tables.h"

#include <inttypes.h>

#include "core/base/bytes.h"
#include "core/base/overflow.h"
#include "formats/lance/file/bytes.h"
#include "formats/lance/file/columns.h"
#include "formats/lance/file/metadata.h"
#include "formats/lance/file/schema.h"
#include "formats/lance/file/tail.h"

struct reading {
    struct nt_lance *lance;
    struct nt_error *error;
};

static uint8_t *read_bytes(const struct reading *reading, const struct nt_lance_buffer *range,
                           enum nt_status *status_ret)
{
    return nt_lance_read_bytes(reading->lance, range, status_ret, reading->error);
}

/* ---- tables ---- */

struct table {
    const char *entry; /* what an entry is of */
    uint64_t offset;
    uint32_t count;
    struct nt_lance_buffer within; /* what the entries point into */
};

static enum nt_status check_entry(const struct reading *reading, const struct table *table, uint32_t number,
                                  const struct nt_lance_buffer *entry)
{
    const struct nt_lance_buffer *within = &table->within;
    if (entry->offset >= within->offset &&
        nt_fits(entry->offset - within->offset, entry->bytes, within->bytes))
        return NT_OK;
    return nt_fail(
        reading->error, NT_CORRUPT, table->offset + (uint64_t)number * sizeof(*entry),
        "%s %" PRIu32 ", %" PRIu64 " bytes at %" PRIu64 ", does not lie between %" PRIu64 " and %" PRIu64,
        table->entry, number, entry->bytes, entry->offset, within->offset, within->offset + within->bytes);
}

/* The tail has been checked: the table's bytes are there. */
static enum nt_status read_table(const struct reading *reading, const struct table *table,
                                 struct nt_lance_buffer **entries_ret)
{
    const struct nt_lance_buffer range = {table->offset, (uint64_t)table->count * sizeof(**entries_ret)};
    struct nt_arena *arena = reading->lance->memory->arena;
    enum nt_status status;
    uint8_t *bytes = read_bytes(reading, &range, &status);
    if (!bytes)
        return status;
    struct nt_lance_buffer *entries = nt_arena_alloc(arena, (size_t)table->count + 1, sizeof(*entries));
    if (!entries)
        return nt_fail_memory(reading->error);
    struct nt_cursor cursor = nt_cursor(bytes, (size_t)range.bytes);
    for (uint32_t i = 0; status == NT_OK && i < table->count; i++) {
        entries[i].offset = nt_get_le64(&cursor);
        entries[i].bytes = nt_get_le64(&cursor);
        status = check_entry(reading, table, i, &entries[i]);
    }
    *entries_ret = entries;
    return status;
}

/* ---- schema ---- */

static enum nt_status read_globals(const struct reading *reading)
{
    struct nt_lance *lance = reading->lance;
    struct nt_lance_buffer *globals;
    const struct table table = {
        .entry = "global buffer",
        .offset = lance->tail.global_table,
        .count = lance->tail.globals,
        .within = {0, lance->tail.offset},
    };
    enum nt_status status = read_table(reading, &table, &globals);
    if (status != NT_OK)
        return status;
    lance->globals = globals;
    lance->descriptor.bytes = read_bytes(reading, &globals[0], &status);
    lance->descriptor.size = (size_t)globals[0].bytes;
    return status;
}

/* ---- columns ---- */

/* What the metadata of all columns span, and how many bytes they have. */
static enum nt_status span_of(const struct reading *reading, const struct nt_lance_buffer *entries,
                              struct nt_lance_buffer *span_ret, uint64_t *bytes_ret)
{
    uint64_t start = UINT64_MAX, end = 0, bytes = 0;
    for (uint32_t i = 0; i < reading->lance->tail.columns; i++) {
        start = entries[i].offset < start ? entries[i].offset : start;
        end = entries[i].offset + entries[i].bytes > end ? entries[i].offset + entries[i].bytes : end;
        if (!nt_add(bytes, entries[i].bytes, &bytes))
            return nt_fail(reading->error, NT_CORRUPT, reading->lance->tail.column_table,
                           "column metadata of more than 2^64 bytes");
    }
    *span_ret = (struct nt_lance_buffer){start < end ? start : 0, start < end ? end - start : 0};
    *bytes_ret = bytes;
    return NT_OK;
}

/* All of them at once, unless much else lies between them. What columns share is counted for each that
 * takes it apart. */
static enum nt_status read_messages(const struct reading *reading, const struct nt_lance_buffer *entries,
                                    struct nt_lance_column *columns)
{
    enum { MUCH = 1 << 20 };
    struct nt_lance_buffer span = {0, 0};
    uint64_t bytes = 0;
    enum nt_status status = span_of(reading, entries, &span, &bytes);
    if (status != NT_OK)
        return status;
    bool is_together = span.bytes <= MUCH || span.bytes - MUCH <= bytes;
    if (is_together && bytes > span.bytes)
        status = nt_lance_take(reading->lance->memory, NT_COST_ENVELOPE_BYTE, bytes - span.bytes, span.offset,
                               reading->error);
    uint8_t *all = status == NT_OK && is_together ? read_bytes(reading, &span, &status) : NULL;
    for (uint32_t i = 0; status == NT_OK && i < reading->lance->tail.columns; i++) {
        columns[i].metadata = entries[i];
        columns[i].message.size = (size_t)entries[i].bytes;
        columns[i].message.bytes =
            all ? all + (entries[i].offset - span.offset) : read_bytes(reading, &entries[i], &status);
    }
    return status;
}

/* Pages stand in the order of their first rows. In 2.0 a page's may count from where a batch began. */
static enum nt_status check_order(const struct reading *reading, uint32_t number,
                                  const struct nt_lance_column *column)
{
    enum nt_status status = NT_OK;
    if (nt_lance_has_item_columns(&reading->lance->tail))
        return NT_OK;
    for (uint32_t i = 1; i < column->page_count; i++)
        if (column->pages[i].priority < column->pages[i - 1].priority) {
            status = nt_fail(reading->error, NT_CORRUPT, column->metadata.offset,
                             "page %" PRIu32 " begins at row %" PRIu64
                             ", before the one in front of it, at row %" PRIu64,
                             i, column->pages[i].priority, column->pages[i - 1].priority);
            nt_error_context(reading->error, "column %" PRIu32, number);
            return status;
        }
    return NT_OK;
}

static enum nt_status read_all_columns(const struct reading *reading, const struct nt_lance_buffer *entries)
{
    struct nt_lance *lance = reading->lance;
    uint32_t count = lance->tail.columns;
    enum nt_status status = nt_lance_take(reading->lance->memory, NT_COST_COLUMN, count,
                                          lance->tail.column_table, reading->error);
    if (status != NT_OK || count == 0)
        return status;
    struct nt_lance_column *columns = nt_arena_alloc(reading->lance->memory->arena, count, sizeof(*columns));
    if (!columns)
        return nt_fail_memory(reading->error);
    lance->columns = columns;
    status = read_messages(reading, entries, columns);
    for (uint32_t i = 0; status == NT_OK && i < count; i++) {
        status = nt_lance_read_column(lance, i, &columns[i], reading->error);
        if (status == NT_OK)
            status = check_order(reading, i, &columns[i]);
    }
    return status;
}

static enum nt_status read_columns(const struct reading *reading)
{
    const struct nt_lance_tail *tail = &reading->lance->tail;
    struct nt_lance_buffer *entries;
    const struct table table = {
        .entry = "metadata of column",
        .offset = tail->column_table,
        .count = tail->columns,
        .within = {tail->columns_start, tail->column_table - tail->columns_start},
    };
    enum nt_status status = read_table(reading, &table, &entries);
    return status == NT_OK ? read_all_columns(reading, entries) : status;
}

enum nt_status nt_lance_read(struct nt_lance_memory *memory, struct nt_source *source, uint32_t number,
                             struct nt_lance *lance, struct nt_error *error)
{
    const struct reading reading = {.lance = lance, .error = error};
    *lance = (struct nt_lance){.memory = memory, .source = source, .number = number};
    enum nt_status status = nt_source_size(source, &lance->size, error);
    if (status == NT_OK)
        status = nt_lance_read_tail(source, lance->size, &lance->tail, error);
    if (status == NT_OK && lance->tail.is_legacy)
        return nt_lance_legacy_read(memory->file, lance, error);
    if (status == NT_OK)
        status = read_globals(&reading);
    if (status == NT_OK)
        status = nt_lance_read_descriptor(lance, error);
    return status == NT_OK ? read_columns(&reading) : status;
}
