/* SPDX-License-Identifier: MIT
 *
 * In: a column or page of the model, or an open legacy file. Out: the field and batch that it comes from, and who owns the
 * bytes that are no page's.
 */
#include "formats/lance/legacy/describe.h"

#include "core/codec/plan.h"
#include "formats/lance/decode/wording.h"
#include "formats/lance/legacy/statistics.h"
#include "formats/lance/file/places.h"

static const struct nt_lance_field *field_of(const struct nt_dataset *dataset, uint32_t column)
{
    const struct nt_lance *lance = nt_lance_of(dataset);
    return &lance->schema.fields[nt_lance_use_in(lance, dataset->columns[column].field).column];
}

void nt_lance_legacy_describe_column(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json)
{
    nt_json_member_signed(json, "file_column", field_of(dataset, column)->id);
}

/* The batch that a page lies in: offsets and values where its cell says, bytes of strings right before. */
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
    const struct nt_plan *plan = nt_decoders_get(&dataset->decoders, page->decoder)->plan;
    nt_json_member_signed(json, "file_column", id);
    put_batch(&lance->legacy->table, id, page, json);
    if (!plan)
        return NT_OK;
    const struct nt_step *step = &plan->steps[plan->step_count - 1];
    bool is_tree = step->tree;
    if (is_tree)
        nt_tree_text(step->tree, text, sizeof(text));
    nt_json_member_string(json, "encodings", is_tree ? text : "dictionary");
    nt_json_member_string(json, "taken", nt_tree_output_name(is_tree ? step->want.output : NT_TREE_VALID));
    return NT_OK;
}

enum nt_status nt_lance_legacy_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                             const struct nt_page *page, struct nt_json *json)
{
    return nt_lance_legacy_describe_page_of(dataset, nt_lance_of(dataset), field_of(dataset, column)->id,
                                            page, json);
}

/* ---- layout ---- */

static enum nt_status put_message(const struct nt_layout_output *output,
                                  const struct nt_lance_buffer *message, const char *owner)
{
    return nt_layout_put(output, message->offset - NT_LANCE_LENGTH_BYTES,
                         NT_LANCE_LENGTH_BYTES + message->bytes, owner);
}

static uint64_t table_bytes(const struct nt_lance_page_table *table)
{
    return (uint64_t)table->fields * table->batches * sizeof(struct nt_lance_cell);
}

enum nt_status nt_lance_legacy_lay_out(const struct nt_lance *lance, const struct nt_layout_output *output,
                                       struct nt_error *error)
{
    const struct nt_lance_legacy *legacy = lance->legacy;
    enum nt_status status = nt_layout_put(output, lance->tail.offset, NT_LANCE_LEGACY_TAIL_BYTES, "footer");
    if (status == NT_OK)
        status = put_message(output, &legacy->metadata_range, "metadata");
    if (status == NT_OK)
        status = put_message(output, &lance->globals[0], "schema");
    if (status == NT_OK)
        status = nt_layout_put(output, legacy->table.offset, table_bytes(&legacy->table), "page table");
    return status == NT_OK ? nt_lance_statistics_lay_out(lance, output, error) : status;
}
