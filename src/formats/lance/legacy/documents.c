/* SPDX-License-Identifier: MIT
 *
 * The documents of a legacy file, among them its page statistics (null count, minimum, maximum) as JSON
 * lines; the JSON members of its columns and pages; and the owner of every byte range outside pages.
 */
#include "formats/lance/legacy/legacy.h"

enum { NULL_COUNT, MINIMUM, MAXIMUM, MEMBERS };
static const struct {
    const char *name; /* in the file */
    const char *key;
} members[MEMBERS] = {
    [NULL_COUNT] = {"null_count", "null_count"},
    [MINIMUM] = {"min_value", "minimum"},
    [MAXIMUM] = {"max_value", "maximum"},
};

/* A member's values, one per batch. */
struct statistics_column {
    const struct nt_lance_type *type; /* NULL: absent, or of a type without statistics */
    uint64_t offset, stored_bytes;
    uint64_t begin, bytes; /* strings: their range in the file */
    uint8_t *values;       /* from malloc: values, or offsets followed by the strings' bytes */
};

/* ---- Columns ---- */

static bool is_strings(const struct nt_lance_type *type)
{
    return type->shape == NT_LANCE_IS_TEXT || type->shape == NT_LANCE_IS_BYTES;
}

/* Locates a member and checks it against the file and the batches. */
static enum nt_status find_column(const struct nt_lance *lance, uint32_t field,
                                  struct statistics_column *column, struct nt_error *error)
{
    const struct nt_lance_statistics *statistics = &lance->legacy->statistics;
    const struct nt_lance_type *type = &statistics->schema.layouts[field].type;
    const struct nt_lance_page_format *paging = &statistics->pagings[field];
    const struct nt_lance_cell *cell =
        nt_lance_cells(&statistics->table, statistics->schema.fields[field].id);
    bool is_known = paging->kind == NT_LANCE_PAGE_STRINGS ||
                    (paging->kind == NT_LANCE_PAGE_PLAIN && !type->value.list_count);
    *column = (struct statistics_column){0};
    if (!cell || paging->failure || !is_known)
        return NT_OK;
    if (cell->length != lance->legacy->table.batches)
        return nt_fail_number(error, NT_CORRUPT, cell->offset, "rows of statistics",
                              lance->legacy->table.batches, cell->length);
    if (!nt_lance_page_bytes(paging, &type->value, cell->length, &column->stored_bytes) ||
        !nt_range_fits(cell->offset, column->stored_bytes, lance->size))
        return nt_fail(error, NT_CORRUPT, cell->offset,
                       "statistics of %" PRIu64 " rows are outside the file of %" PRIu64 " bytes",
                       cell->length, lance->size);
    column->type = type;
    column->offset = cell->offset;
    return is_strings(type) ? nt_lance_read_strings(lance, cell->offset, cell->length, &column->begin,
                                                    &column->bytes, error)
                            : NT_OK;
}

static enum nt_status load_column(const struct nt_dataset *dataset, uint32_t field,
                                  struct statistics_column *column, struct nt_error *error)
{
    const struct nt_lance *lance = nt_lance_of(dataset);
    NT_TRY(find_column(lance, field, column, error));
    uint64_t bytes = column->stored_bytes;
    if (!column->type)
        return NT_OK;
    if (!nt_checked_add(bytes, column->bytes, &bytes) || bytes > dataset->file->page_bytes)
        return nt_fail(error, NT_LIMIT, column->offset,
                       "the statistics have %" PRIu64 " bytes, more than the limit pagesize of %" PRIu64,
                       bytes, dataset->file->page_bytes);
    column->values = malloc(bytes + 1);
    NT_TRY(nt_check_memory(column->values, error));
    NT_TRY(nt_source_read(lance->source, column->offset, column->values, column->stored_bytes, error));
    if (column->bytes)
        NT_TRY(nt_source_read(lance->source, column->begin, column->values + column->stored_bytes,
                              column->bytes, error));
    return NT_OK;
}

/* ---- Values ---- */

/* A string without bytes is null, as in data pages. */
static enum nt_status put_string(struct nt_json *json, const struct statistics_column *column, uint64_t row,
                                 struct nt_error *error)
{
    uint64_t begin = nt_load_le64(column->values + row * sizeof(begin)),
             end = nt_load_le64(column->values + (row + 1) * sizeof(end));
    if (begin < column->begin || end < begin || end - column->begin > column->bytes)
        return nt_fail(error, NT_CORRUPT, column->begin,
                       "a string bound extends from %" PRIu64 " to %" PRIu64, begin, end);
    const uint8_t *bytes = column->values + column->stored_bytes + (begin - column->begin);
    if (begin == end)
        nt_json_null(json);
    else if (column->type->shape == NT_LANCE_IS_TEXT)
        nt_json_bytes(json, bytes, end - begin);
    else
        nt_json_base64(json, bytes, end - begin);
    return NT_OK;
}

static enum nt_status put_value(struct nt_json *json, const struct statistics_column *column, uint64_t row,
                                struct nt_error *error)
{
    if (is_strings(column->type))
        return put_string(json, column, row, error);
    if (column->type->value.bits == 1)
        nt_json_bool(json, nt_bit_is_set(column->values, row));
    else
        nt_json_element(json, &column->type->dtype, column->values + row * (column->type->value.bits / 8));
    return NT_OK;
}

/* ---- Lines ---- */

/* Returns the field of the model whose id is the structure's name; NT_NONE if there is none. */
static uint32_t find_field(const struct nt_dataset *dataset, const struct nt_lance_field *structure)
{
    char *end;
    unsigned long id = strtoul(structure->name.bytes, &end, 10);
    if (structure->parent != NT_NONE || !structure->name.length || *end || id > INT32_MAX)
        return NT_NONE;
    for (uint32_t i = 0; i < dataset->field_count; i++)
        if (dataset->fields[i].id == id)
            return i;
    return NT_NONE;
}

static enum nt_status put_lines(const struct nt_dataset *dataset, uint32_t field,
                                const struct statistics_column columns[MEMBERS], struct nt_buffer *out,
                                struct nt_error *error)
{
    uint32_t batches = nt_lance_of(dataset)->legacy->table.batches;
    for (uint32_t batch = 0; batch < batches; batch++) {
        struct nt_json json;
        struct nt_buffer path = {0};
        nt_json_line(&json, out);
        nt_append_field_path(&path, dataset, field);
        nt_json_member_buffer(&json, "field", &path);
        nt_json_member_unsigned(&json, "field_id", dataset->fields[field].id);
        nt_json_member_unsigned(&json, "file_page", batch);
        enum nt_status status = NT_OK;
        for (unsigned i = 0; status == NT_OK && i < MEMBERS; i++) {
            if (!columns[i].type)
                continue;
            nt_json_key(&json, members[i].key);
            status = put_value(&json, &columns[i], batch, error);
        }
        nt_json_finish(&json);
        NT_TRY(status);
    }
    return NT_OK;
}

static enum nt_status write_statistics(struct nt_lance_text *text, struct nt_buffer *out,
                                       struct nt_error *error)
{
    const struct nt_lance_schema *schema = &nt_lance_of(text->dataset)->legacy->statistics.schema;
    struct statistics_column columns[MEMBERS] = {{0}};
    uint32_t structure = (uint32_t)text->next++,
             field = find_field(text->dataset, &schema->fields[structure]);
    enum nt_status status = NT_OK;
    for (uint32_t i = structure + 1; field != NT_NONE && status == NT_OK && i < schema->field_count; i++)
        for (unsigned member = 0; schema->fields[i].parent == structure && member < MEMBERS; member++)
            if (status == NT_OK && !columns[member].values &&
                nt_text_is(schema->fields[i].name, members[member].name))
                status = load_column(text->dataset, i, &columns[member], error);
    if (status == NT_OK && field != NT_NONE)
        status = put_lines(text->dataset, field, columns, out, error);
    nt_with_context(status, error, "statistics of field %.*s", (int)schema->fields[structure].name.length,
                    schema->fields[structure].name.bytes);
    for (unsigned member = 0; member < MEMBERS; member++)
        free(columns[member].values);
    return status;
}

/* Members of nt_document: a JSON line for each field with statistics and each batch. */
static enum nt_status lance_statistics_open(const struct nt_document_request *request,
                                            struct nt_text_generator **text_ret, struct nt_error *error)
{
    const struct nt_error *failure = nt_lance_of(request->dataset)->legacy->statistics.failure;
    if (failure)
        return nt_fail_copy(error, failure);
    return nt_lance_open_text(request->dataset,
                              nt_lance_of(request->dataset)->legacy->statistics.schema.field_count,
                              write_statistics, NULL, text_ret, error);
}

static enum nt_status lance_statistics_is_short(const struct nt_document_request *request, bool *is_short_ret,
                                                struct nt_error *error)
{
    enum { MAX_LINES = 512 };
    const struct nt_lance_legacy *legacy = nt_lance_of(request->dataset)->legacy;
    *is_short_ret = (uint64_t)legacy->statistics.schema.field_count * legacy->table.batches <= MAX_LINES;
    return NT_OK;
}

/* ---- Layout ---- */

/* Ranges that cannot be located are not reported. */
static enum nt_status lance_statistics_lay_out(const struct nt_lance *lance,
                                               const struct nt_layout_output *output, struct nt_error *error)
{
    const struct nt_lance_statistics *statistics = &lance->legacy->statistics;
    const struct nt_lance_page_table *table = &statistics->table;
    if (statistics->failure && nt_omit_bad(statistics->failure->status) != NT_OK)
        return nt_fail_copy(error, statistics->failure);
    NT_TRY(nt_layout_emit_range(output, table->offset, (uint64_t)table->fields * sizeof(struct nt_lance_cell),
                                "page table"));
    for (uint32_t i = 0; i < statistics->schema.field_count; i++) {
        struct nt_error failure;
        struct statistics_column column;
        enum nt_status status = find_column(lance, i, &column, &failure);
        if (nt_omit_bad(status) != NT_OK)
            return nt_fail_copy(error, &failure);
        if (status != NT_OK || !column.type)
            continue;
        NT_TRY(nt_layout_emit_range(output, column.offset, column.stored_bytes, "statistics"));
        NT_TRY(nt_layout_emit_range(output, column.begin, column.bytes, "statistics"));
    }
    return NT_OK;
}

/* ---- Write metadata.json ---- */

static void write_field(struct nt_json *json, const struct nt_lance *lance, uint64_t field)
{
    const struct nt_lance_page_table *table = &lance->legacy->table;
    const struct nt_error *failure = lance->columns[field].failure;
    int32_t id = lance->schema.fields[field].id;
    const struct nt_lance_cell *cells = nt_lance_cells(table, id);
    nt_json_object(json);
    nt_json_member_signed(json, "column", id);
    if (failure)
        nt_json_member_string(json, "unreadable", failure->message);
    nt_json_member_array(json, "pages");
    for (uint32_t i = 0; i < table->batches; i++) {
        nt_json_object(json);
        nt_json_member_unsigned(json, "file_offset", cells[i].offset);
        nt_json_member_unsigned(json, "elements", cells[i].length);
        nt_json_end_object(json);
    }
    nt_json_end_array(json);
    nt_json_end_object(json);
}

/* The items are the start of the document, the fields, and the end. */
static enum nt_status write_metadata(struct nt_lance_text *text, struct nt_buffer *out,
                                     struct nt_error *error)
{
    const struct nt_lance *lance = nt_lance_of(text->dataset);
    struct nt_json *json = &text->json;
    uint64_t item = text->next++;
    if (item == 0) {
        nt_json_document(json, out, "lance_legacy");
        nt_json_member_string(json, "version", lance->tail.version);
        nt_json_member_unsigned(json, "entries", lance->rows);
        nt_lance_put_message(json, lance->legacy->metadata, &nt_lance_metadata,
                             &lance->legacy->metadata_range);
        nt_json_member_array(json, "columns");
    } else if (item <= lance->schema.field_count) {
        write_field(json, lance, item - 1);
    } else {
        nt_json_end_array(json);
        nt_json_finish(json);
    }
    return NT_OK;
}

/* Members of nt_document. */
static enum nt_status lance_legacy_metadata_open(const struct nt_document_request *request,
                                                 struct nt_text_generator **text_ret, struct nt_error *error)
{
    return nt_lance_open_text(request->dataset,
                              UINT64_C(2) + nt_lance_of(request->dataset)->schema.field_count, write_metadata,
                              NULL, text_ret, error);
}

static enum nt_status lance_legacy_metadata_is_short(const struct nt_document_request *request,
                                                     bool *is_short_ret, struct nt_error *error)
{
    enum { MAX_CELLS = 4096, MAX_BYTES = 64 << 10 };
    const struct nt_lance_legacy *legacy = nt_lance_of(request->dataset)->legacy;
    *is_short_ret = (uint64_t)legacy->table.fields * legacy->table.batches <= MAX_CELLS &&
                    legacy->metadata.size <= MAX_BYTES;
    return NT_OK;
}

/* ---- Table of documents ---- */

static enum nt_status write_metadata_bytes(const struct nt_document_request *request, struct nt_buffer *out,
                                           struct nt_error *error)
{
    const struct nt_proto message = nt_lance_of(request->dataset)->legacy->metadata;
    nt_buffer_append(out, message.bytes, message.size);
    return NT_OK;
}

static uint64_t metadata_bytes(const struct nt_document_request *request)
{
    return nt_lance_of(request->dataset)->legacy->metadata.size;
}

const struct nt_document nt_lance_legacy_documents[] = {
    {.prefix = "footer.json", .write = nt_lance_write_footer},
    {.prefix = "schema.json", .write = nt_lance_write_schema},
    {.prefix = "metadata.json",
     .open = lance_legacy_metadata_open,
     .is_short = lance_legacy_metadata_is_short},
    {.prefix = "statistics.jsonl",
     .open = lance_statistics_open,
     .is_short = lance_statistics_is_short,
     .reads_source = true},
    {.prefix = "schema.bin", .write = nt_lance_write_schema_bytes, .bytes = nt_lance_schema_bytes},
    {.prefix = "metadata.bin", .write = write_metadata_bytes, .bytes = metadata_bytes},
};
const uint32_t nt_lance_legacy_document_count =
    sizeof(nt_lance_legacy_documents) / sizeof(*nt_lance_legacy_documents);

/* ---- Columns, pages and layout ---- */

static const struct nt_lance_field *field_of(const struct nt_dataset *dataset, uint32_t column)
{
    const struct nt_lance *lance = nt_lance_of(dataset);
    return &lance->schema.fields[nt_lance_map_own_column(lance, dataset->columns[column].field).column];
}

void nt_lance_legacy_describe_column(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json)
{
    nt_json_member_signed(json, "file_column", field_of(dataset, column)->id);
}

/* Finds a page's batch: its cell locates offsets or values; string bytes are directly before them. */
static void put_batch(const struct nt_lance_page_table *table, int32_t id, const struct nt_page *page,
                      struct nt_json *json)
{
    const struct nt_lance_cell *cells = nt_lance_cells(table, id);
    for (uint32_t i = 0; i < table->batches; i++)
        if (cells[i].offset == page->offset || cells[i].offset == page->offset + page->stored_bytes) {
            nt_json_member_unsigned(json, "file_page", i);
            return;
        }
    nt_json_member_null(json, "file_page");
}

enum nt_status nt_lance_legacy_describe_page_of(const struct nt_dataset *dataset,
                                                const struct nt_lance *lance, int32_t id,
                                                const struct nt_page *page, struct nt_json *json)
{
    enum { TEXT = 512 };
    char text[TEXT];
    const struct nt_decoder *decoder = nt_decoders_get(&dataset->decoders, page->decoder);
    const struct nt_lance_decoder_state *state = nt_lance_decoder_state_of(decoder);
    nt_json_member_signed(json, "file_column", id);
    put_batch(&lance->legacy->table, id, page, json);
    if (decoder->encoding != NT_ENCODING_OTHER)
        return NT_OK;
    if (state)
        nt_lance_describe_tree(state->tree, text, sizeof(text));
    nt_json_member_string(json, "encodings", state ? text : "dictionary");
    nt_json_member_string(json, "taken", nt_lance_output_name(state ? state->spec.output : NT_LANCE_VALID));
    return NT_OK;
}

enum nt_status nt_lance_legacy_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                             const struct nt_page *page, struct nt_json *json)
{
    return nt_lance_legacy_describe_page_of(dataset, nt_lance_of(dataset), field_of(dataset, column)->id,
                                            page, json);
}

/* ---- Layout ---- */

static enum nt_status put_message(const struct nt_layout_output *output,
                                  const struct nt_lance_buffer *message, const char *owner)
{
    return nt_layout_emit_range(output, message->offset - NT_LANCE_LENGTH_BYTES,
                                NT_LANCE_LENGTH_BYTES + message->bytes, owner);
}

enum nt_status nt_lance_legacy_lay_out(const struct nt_lance *lance, const struct nt_layout_output *output,
                                       struct nt_error *error)
{
    const struct nt_lance_legacy *legacy = lance->legacy;
    NT_TRY(nt_layout_emit_range(output, lance->tail.offset, NT_LANCE_LEGACY_TAIL_BYTES, "footer"));
    NT_TRY(put_message(output, &legacy->metadata_range, "metadata"));
    NT_TRY(put_message(output, &lance->globals[0], "schema"));
    NT_TRY(nt_layout_emit_range(
        output, legacy->table.offset,
        (uint64_t)legacy->table.fields * legacy->table.batches * sizeof(struct nt_lance_cell), "page table"));
    return lance_statistics_lay_out(lance, output, error);
}
