/* SPDX-License-Identifier: MIT
 *
 * Reads the metadata of a legacy Lance file (0.1 and 0.2): batches, schema and page table, and
 * determines how the pages of each field are stored.
 */
#include "formats/lance/legacy/legacy.h"

/* ---- Page table ---- */

const struct nt_lance_cell *nt_lance_cells(const struct nt_lance_page_table *table, int32_t id)
{
    uint32_t number = (uint32_t)id - (uint32_t)table->first;
    return id < table->first || number >= table->fields ? NULL
                                                        : table->cells + (uint64_t)number * table->batches;
}

/* ---- Page types ---- */

/* Values of NT_LANCE_FIELD_ENCODING. */
enum nt_lance_legacy_encoding {
    NT_LANCE_LEGACY_ENCODING_RLE = 4,
};

enum { OFFSET_BITS = 64, SHORT_OFFSET_BITS = 32 };

static enum nt_status refuse(const char *reason, struct nt_error *failure)
{
    return nt_fail(failure, NT_UNSUPPORTED, NT_NO_OFFSET, "%s", reason);
}

static enum nt_status find_dictionary(const struct nt_lance_field *field, const struct nt_lance_type *type,
                                      struct nt_lance_page_format *paging, struct nt_error *failure)
{
    struct nt_proto message = nt_proto_message(field->message, NT_LANCE_FIELD_DICTIONARY);
    if (!message.bytes)
        return refuse("the dictionary has no position", failure);
    if (!type->index_bits || type->value.list_count || type->value.bits % 8 || type->value.is_empty)
        return refuse("cannot read a dictionary with items or indices of this type", failure);
    *paging = (struct nt_lance_page_format){.kind = NT_LANCE_PAGE_DICTIONARY, .bits = type->index_bits};
    paging->dictionary.offset = nt_proto_number(message, NT_LANCE_FIELD_DICTIONARY_OFFSET);
    paging->dictionary.length = nt_proto_number(message, NT_LANCE_FIELD_DICTIONARY_LENGTH);
    return NT_OK;
}

static enum nt_status find_lists(const struct nt_lance_field *field, struct nt_lance_page_format *paging,
                                 struct nt_error *failure)
{
    struct nt_text type = field->logical_type;
    if (nt_text_is(type, "map"))
        return refuse("cannot read maps in legacy files", failure);
    bool is_large = nt_text_skip(&type, "large_");
    *paging = (struct nt_lance_page_format){.kind = NT_LANCE_PAGE_LISTS,
                                            .bits = is_large ? OFFSET_BITS : SHORT_OFFSET_BITS};
    return NT_OK;
}

/* NT_UNSUPPORTED, with `failure`, if the field cannot be read. */
static enum nt_status find_paging(const struct nt_lance_field *field, const struct nt_lance_type *type,
                                  struct nt_lance_page_format *paging, struct nt_error *failure)
{
    *paging = (struct nt_lance_page_format){.kind = NT_LANCE_PAGE_NONE};
    if (nt_proto_number(field->message, NT_LANCE_FIELD_ENCODING) == NT_LANCE_LEGACY_ENCODING_RLE)
        return refuse("cannot read the encoding RLE, which no version of Lance has defined", failure);
    if (type->is_dictionary && type->shape != NT_LANCE_IS_UNKNOWN)
        return find_dictionary(field, type, paging, failure);
    switch (type->shape) {
    case NT_LANCE_IS_VALUE:
        *paging = (struct nt_lance_page_format){.kind = NT_LANCE_PAGE_PLAIN, .bits = type->value.bits};
        return NT_OK;
    case NT_LANCE_IS_TEXT:
    case NT_LANCE_IS_BYTES:
        *paging = (struct nt_lance_page_format){.kind = NT_LANCE_PAGE_STRINGS, .bits = OFFSET_BITS};
        return NT_OK;
    case NT_LANCE_IS_LIST:
        return find_lists(field, paging, failure);
    case NT_LANCE_IS_BLOB:
        return refuse("cannot read blobs in legacy files", failure);
    case NT_LANCE_IS_STRUCT:
    case NT_LANCE_IS_NULL:
    case NT_LANCE_IS_EMPTY:
    case NT_LANCE_IS_STRUCT_LIST:
    case NT_LANCE_IS_UNKNOWN:
        break;
    }
    return NT_OK;
}

/* Determines the page format of each field of a schema with layouts, in the file's arena. */
static enum nt_status lance_find_pagings(struct nt_file *file, const struct nt_lance_schema *schema,
                                         const struct nt_lance_page_format **pagings_ret,
                                         struct nt_error *error)
{
    uint32_t count = schema->field_count;
    struct nt_lance_page_format *pagings = nt_arena_alloc(file->arena, (size_t)count + 1, sizeof(*pagings));
    NT_TRY(nt_check_memory(pagings, error));
    for (uint32_t i = 0; i < count; i++) {
        struct nt_error failure;
        if (find_paging(&schema->fields[i], &schema->layouts[i].type, &pagings[i], &failure) != NT_OK)
            NT_TRY(nt_failure_keep(&failure, file->arena, &pagings[i].failure, error));
    }
    *pagings_ret = pagings;
    return NT_OK;
}

bool nt_lance_page_bytes(const struct nt_lance_page_format *paging, const struct nt_lance_value *value,
                         uint64_t elements, uint64_t *bytes_ret)
{
    uint64_t bits;
    if (paging->kind == NT_LANCE_PAGE_STRINGS && !nt_checked_add(elements, 1, &elements))
        return false;
    for (uint32_t i = 0; paging->kind == NT_LANCE_PAGE_PLAIN && i < value->list_count; i++)
        if (!nt_checked_multiply(elements, value->lists[i], &elements))
            return false;
    if (!nt_checked_multiply(elements, paging->bits, &bits))
        return false;
    *bytes_ret = bits / 8 + (bits % 8 != 0);
    return true;
}

/* ---- Sliced structures ---- */

static bool is_structure(const struct nt_lance_schema *schema, uint32_t field)
{
    return field != NT_NONE && schema->layouts[field].type.shape == NT_LANCE_IS_STRUCT;
}

/* Is the field nested in structures only, so that its rows are the file's rows? */
static bool is_member(const struct nt_lance_schema *schema, uint32_t field)
{
    uint32_t at = schema->fields[field].parent;
    if (!is_structure(schema, at))
        return false;
    while (is_structure(schema, at))
        at = schema->fields[at].parent;
    return at == NT_NONE;
}

/* Finds the first batch with fewer rows than the member's page; false if there is none. */
static bool find_surplus(const struct nt_lance *lance, uint32_t field, uint32_t *batch_ret,
                         uint64_t *rows_ret)
{
    const struct nt_lance_legacy *legacy = lance->legacy;
    const struct nt_lance_cell *cells = nt_lance_cells(&legacy->table, lance->schema.fields[field].id);
    bool is_lists = legacy->pagings[field].kind == NT_LANCE_PAGE_LISTS;
    for (uint32_t i = 0; cells && i < legacy->table.batches; i++) {
        *batch_ret = i;
        *rows_ret = cells[i].length - (is_lists && cells[i].length);
        if (*rows_ret > legacy->batches[i + 1] - legacy->batches[i])
            return true;
    }
    return false;
}

static enum nt_status refuse_slice(struct nt_file *file, const struct nt_lance *lance, uint32_t field,
                                   struct nt_lance_column *column, struct nt_error *error)
{
    uint32_t batch;
    uint64_t rows;
    struct nt_error failure;
    if (lance->legacy->pagings[field].kind == NT_LANCE_PAGE_NONE || !is_member(&lance->schema, field) ||
        !find_surplus(lance, field, &batch, &rows))
        return NT_OK;
    nt_fail(&failure, NT_UNSUPPORTED, NT_NO_OFFSET,
            "batch %" PRIu32 " has %" PRIu64 " rows, but the members of this sliced structure have %" PRIu64
            ", and the file does not say which rows belong to the slice",
            batch, lance->legacy->batches[batch + 1] - lance->legacy->batches[batch], rows);
    return nt_failure_keep(&failure, file->arena, &column->failure, error);
}

/* Returns a failure if no member of a structure can be read; NULL if one can, or there is none. */
static const struct nt_error *find_common_failure(const struct nt_lance_schema *schema, uint32_t field,
                                                  const struct nt_lance_column *columns)
{
    const struct nt_error *failure = NULL;
    for (uint32_t i = field + 1; i < schema->field_count; i++) {
        uint32_t parent = schema->fields[i].parent;
        if (parent == NT_NONE || parent < field)
            break; /* fields are depth first: the rest is outside */
        if (parent == field && !columns[i].failure)
            return NULL;
        if (parent == field)
            failure = columns[i].failure;
    }
    return failure;
}

/* Items inherit the failure of their list; a structure fails if all of its members do. */
static void spread(const struct nt_lance_schema *schema, struct nt_lance_column *columns)
{
    for (uint32_t i = 0; i < schema->field_count; i++) {
        uint32_t parent = schema->fields[i].parent;
        if (!columns[i].failure && parent != NT_NONE && !is_structure(schema, parent))
            columns[i].failure = columns[parent].failure;
    }
    for (uint32_t i = schema->field_count; i-- > 0;)
        if (!columns[i].failure && is_structure(schema, i))
            columns[i].failure = find_common_failure(schema, i, columns);
}

/* Sets `failure` of fields inside sliced structures. `columns`: of the file, indexed by field. */
static enum nt_status lance_refuse_slices(struct nt_file *file, const struct nt_lance *lance,
                                          struct nt_lance_column *columns, struct nt_error *error)
{
    bool has_slices = false;
    for (uint32_t i = 0; i < lance->schema.field_count; i++) {
        if (columns[i].failure)
            continue;
        NT_TRY(refuse_slice(file, lance, i, &columns[i], error));
        has_slices |= columns[i].failure != NULL;
    }
    if (has_slices)
        spread(&lance->schema, columns);
    return NT_OK;
}

/* ---- Read the metadata ---- */

struct legacy_metadata_reader {
    struct nt_file *file;
    struct nt_lance *lance;
    struct nt_lance_legacy *legacy;
    struct nt_error *error;
};

/* Reads a length-prefixed message at a position. */
static enum nt_status find_message(const struct legacy_metadata_reader *reader, uint64_t position,
                                   const char *name, struct nt_lance_buffer *range)
{
    uint8_t length[NT_LANCE_LENGTH_BYTES];
    uint64_t end = reader->lance->tail.offset;
    if (!nt_range_fits(position, NT_LANCE_LENGTH_BYTES, end))
        return nt_fail(reader->error, NT_CORRUPT, position,
                       "%s begins at %" PRIu64 ", but only %" PRIu64 " bytes precede the tail", name,
                       position, end);
    NT_TRY(nt_source_read(reader->lance->source, position, length, NT_LANCE_LENGTH_BYTES, reader->error));
    *range = (struct nt_lance_buffer){position + NT_LANCE_LENGTH_BYTES, nt_load_le32(length)};
    if (nt_range_fits(range->offset, range->bytes, end))
        return NT_OK;
    return nt_fail(reader->error, NT_CORRUPT, position,
                   "%s of %" PRIu64 " bytes does not end before the tail at %" PRIu64, name, range->bytes,
                   end);
}

static enum nt_status read_message(const struct legacy_metadata_reader *reader, uint64_t position,
                                   const char *name, const struct nt_proto_table *table,
                                   struct nt_lance_buffer *range, struct nt_proto *message)
{
    uint8_t *bytes;
    NT_TRY(find_message(reader, position, name, range));
    enum nt_status status = nt_lance_read_bytes(reader->lance, range, &bytes, reader->error);
    if (status == NT_OK) {
        *message = (struct nt_proto){bytes, (size_t)range->bytes};
        status = nt_proto_check(*message, table, range->offset, reader->error);
    }
    return nt_with_context(status, reader->error, "%s", name);
}

/* ---- Batches ---- */

static enum nt_status read_batches(const struct legacy_metadata_reader *reader)
{
    struct nt_lance_legacy *legacy = reader->legacy;
    uint64_t position = legacy->metadata_range.offset, last = 0;
    uint64_t count = nt_proto_count_numbers(legacy->metadata, NT_LANCE_METADATA_BATCH_OFFSETS);
    if (count >= NT_NONE)
        return nt_fail(reader->error, NT_LIMIT, position,
                       "the file has %" PRIu64 " batches, more than the limit of 2^32", count);
    NT_TRY(nt_budget_take(&reader->file->budget, NT_COST_ENVELOPE_BYTE, count * sizeof(uint64_t), position,
                          reader->error));
    uint64_t *batches = nt_arena_alloc(reader->file->arena, count + 1, sizeof(*batches));
    NT_TRY(nt_check_memory(batches, reader->error));
    struct nt_proto_numbers numbers = nt_proto_numbers(legacy->metadata, NT_LANCE_METADATA_BATCH_OFFSETS);
    for (uint64_t i = 0; nt_proto_next_number(&numbers, &batches[i]); i++) {
        if (batches[i] > INT32_MAX || batches[i] < last || (i == 0 && batches[0] != 0))
            return nt_fail(reader->error, NT_CORRUPT, position,
                           "batch %" PRIu64 " begins at row %" PRId64
                           ", but the previous batch begins at row %" PRIu64,
                           i, (int64_t)batches[i], last);
        last = batches[i];
    }
    legacy->batches = batches;
    legacy->table.batches = count ? (uint32_t)count - 1 : 0;
    reader->lance->rows = last;
    return NT_OK;
}

/* ---- Schema ---- */

static enum nt_status read_schema(const struct legacy_metadata_reader *reader)
{
    struct nt_lance *lance = reader->lance;
    uint64_t position = nt_proto_number(reader->legacy->metadata, NT_LANCE_METADATA_MANIFEST_POSITION);
    struct nt_lance_buffer *range = nt_arena_alloc(reader->file->arena, 1, sizeof(*range));
    NT_TRY(nt_check_memory(range, reader->error));
    if (!position)
        return nt_fail(reader->error, NT_UNSUPPORTED, reader->legacy->metadata_range.offset,
                       "a legacy file without its own manifest does not describe its fields");
    NT_TRY(read_message(reader, position, "manifest", &nt_lance_manifest, range, &lance->descriptor));
    const struct nt_lance_message manifest = {lance->descriptor, range->offset};
    lance->globals = range;
    enum nt_status status =
        nt_lance_read_fields(reader->file, &manifest, lance->descriptor, &lance->schema, reader->error);
    lance->schema.is_legacy = lance->schema.has_item_columns = true;
    if (status == NT_OK)
        status = nt_lance_lay_out_schema(reader->file->arena, &lance->schema, reader->error);
    return nt_with_context(status, reader->error, "schema");
}

uint32_t nt_lance_find_id(const struct nt_lance_schema *schema, int32_t id)
{
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (schema->fields[i].id == id)
            return i;
    return NT_NONE;
}

/* ---- The page table ---- */

/* The table covers all ids from the lowest to the highest; their count must fit 32 bits. */
static enum nt_status span_ids(const struct nt_lance_schema *schema, struct nt_lance_page_table *table,
                               struct nt_error *error)
{
    int32_t first = INT32_MAX, last = INT32_MIN;
    for (uint32_t i = 0; i < schema->field_count; i++) {
        first = schema->fields[i].id < first ? schema->fields[i].id : first;
        last = schema->fields[i].id > last ? schema->fields[i].id : last;
    }
    if ((int64_t)last - first >= UINT32_MAX)
        return nt_fail(error, NT_CORRUPT, table->offset,
                       "the page table has too many fields, from %" PRId32 " to %" PRId32, first, last);
    table->first = first;
    table->fields = first > last ? 0 : (uint32_t)last - (uint32_t)first + 1;
    return NT_OK;
}

static enum nt_status read_cells(const struct legacy_metadata_reader *reader,
                                 struct nt_lance_page_table *table)
{
    uint64_t count, bytes, end = reader->lance->tail.offset;
    if (!nt_checked_multiply(table->fields, table->batches, &count) ||
        !nt_checked_multiply(count, sizeof(struct nt_lance_cell), &bytes) ||
        !nt_range_fits(table->offset, bytes, end))
        return nt_fail(reader->error, NT_CORRUPT, table->offset,
                       "a page table of %" PRIu32 " fields and %" PRIu32
                       " batches does not end before the tail at %" PRIu64,
                       table->fields, table->batches, end);
    const struct nt_lance_buffer range = {table->offset, bytes};
    uint8_t *stored;
    NT_TRY(nt_lance_read_bytes(reader->lance, &range, &stored, reader->error));
    struct nt_lance_cell *cells = (struct nt_lance_cell *)(void *)stored; /* converted in place */
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *cell = stored + i * sizeof(*cells);
        cells[i] = (struct nt_lance_cell){nt_load_le64(cell), nt_load_le64(cell + sizeof(uint64_t))};
    }
    table->cells = cells;
    return NT_OK;
}

static enum nt_status read_page_table(const struct legacy_metadata_reader *reader)
{
    struct nt_lance_page_table *table = &reader->legacy->table;
    table->offset = nt_proto_number(reader->legacy->metadata, NT_LANCE_METADATA_PAGE_TABLE_POSITION);
    NT_TRY(span_ids(&reader->lance->schema, table, reader->error));
    return read_cells(reader, table);
}

/* ---- Statistics ---- */

static uint32_t count_statistics(struct nt_proto message)
{
    struct nt_proto_numbers ids = nt_proto_numbers(message, NT_LANCE_STATISTICS_FIELDS);
    uint64_t last = 0, id;
    bool has_any = false;
    while (nt_proto_next_number(&ids, &id)) {
        last = id > last ? id : last;
        has_any = true;
    }
    return !has_any ? 0 : last < INT32_MAX ? (uint32_t)last + 1 : INT32_MAX;
}

static enum nt_status read_statistics(const struct legacy_metadata_reader *reader, struct nt_proto message,
                                      struct nt_lance_statistics *statistics)
{
    const struct nt_lance_message metadata = {reader->legacy->metadata,
                                              reader->legacy->metadata_range.offset};
    NT_TRY(nt_lance_read_fields(reader->file, &metadata, message, &statistics->schema, reader->error));
    statistics->schema.is_legacy = true;
    NT_TRY(nt_lance_lay_out_schema(reader->file->arena, &statistics->schema, reader->error));
    NT_TRY(lance_find_pagings(reader->file, &statistics->schema, &statistics->pagings, reader->error));
    statistics->table = (struct nt_lance_page_table){
        .offset = nt_proto_number(message, NT_LANCE_STATISTICS_PAGE_TABLE_POSITION),
        .fields = count_statistics(message),
        .batches = 1};
    return read_cells(reader, &statistics->table);
}

/* Statistics are optional: without them the values are still readable. */
static enum nt_status try_statistics(const struct legacy_metadata_reader *reader)
{
    struct nt_error failure;
    const struct legacy_metadata_reader trying = {reader->file, reader->lance, reader->legacy, &failure};
    struct nt_lance_statistics *statistics = &reader->legacy->statistics;
    struct nt_proto message = nt_proto_message(reader->legacy->metadata, NT_LANCE_METADATA_STATISTICS);
    enum nt_status status = message.bytes ? read_statistics(&trying, message, statistics) : NT_OK;
    if (status == NT_OK || nt_is_environmental(status))
        return status == NT_OK ? NT_OK : nt_fail_copy(reader->error, &failure);
    nt_error_context(&failure, "statistics");
    *statistics = (struct nt_lance_statistics){0};
    return nt_failure_keep(&failure, reader->file->arena, &statistics->failure, reader->error);
}

/* ---- All of the metadata ---- */

/* Each field is a column, with pages or without. */
static enum nt_status make_columns(const struct legacy_metadata_reader *reader)
{
    struct nt_lance *lance = reader->lance;
    uint32_t count = lance->schema.field_count;
    NT_TRY(nt_budget_take(&reader->file->budget, NT_COST_COLUMN, count, lance->globals[0].offset,
                          reader->error));
    struct nt_lance_column *columns =
        nt_arena_alloc(reader->file->arena, (size_t)count + 1, sizeof(*columns));
    NT_TRY(nt_check_memory(columns, reader->error));
    for (uint32_t i = 0; i < count; i++)
        columns[i].failure = reader->legacy->pagings[i].failure;
    lance->columns = columns;
    lance->tail.columns = count;
    return lance_refuse_slices(reader->file, lance, columns, reader->error);
}

enum nt_status nt_lance_legacy_read(struct nt_file *file, struct nt_lance *lance, struct nt_error *error)
{
    struct nt_lance_legacy *legacy = nt_arena_alloc(file->arena, 1, sizeof(*legacy));
    const struct legacy_metadata_reader reader = {
        .file = file, .lance = lance, .legacy = legacy, .error = error};
    NT_TRY(nt_check_memory(legacy, error));
    lance->legacy = legacy;
    NT_TRY(read_message(&reader, lance->tail.metadata, "metadata", &nt_lance_metadata,
                        &legacy->metadata_range, &legacy->metadata));
    NT_TRY(read_batches(&reader));
    NT_TRY(read_schema(&reader));
    NT_TRY(read_page_table(&reader));
    NT_TRY(lance_find_pagings(file, &lance->schema, &legacy->pagings, error));
    NT_TRY(make_columns(&reader));
    return try_statistics(&reader);
}
