/* SPDX-License-Identifier: MIT
 *
 * Messages of Lance files and datasets. The first byte selects the message. Valid messages are written as
 * JSON and walked.
 */
#include <stdlib.h>

#include "formats/lance/file/messages.h"
#include "core/base/memory.h"
#include "core/json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const struct nt_proto_table *const tables[] = {
    &nt_lance_file_descriptor,      &nt_lance_column_metadata, &nt_lance_column_encoding,
    &nt_lance_array_encoding,       &nt_lance_page_layout,     &nt_lance_metadata,
    &nt_lance_compressive_encoding, &nt_lance_manifest,        &nt_lance_row_ids,
    &nt_lance_row_versions,         &nt_lance_index_section,   &nt_lance_transaction,
};

/* All functions for a field give the same. */
static void ask(struct nt_proto message, const struct nt_proto_field *field)
{
    struct nt_proto_item item;
    uint64_t count = nt_proto_count(message, field->number), number;
    if (nt_proto_has(message, field->number) != (count > 0))
        abort();
    if (field->kind == NT_PROTO_TEXT || field->kind == NT_PROTO_BYTES || field->kind == NT_PROTO_MESSAGE) {
        (void)nt_proto_text(message, field->number);
        return;
    }
    uint64_t found = 0, expected = nt_proto_count_numbers(message, field->number);
    struct nt_proto_numbers numbers = nt_proto_numbers(message, field->number);
    while (field->is_repeated && nt_proto_next_number(&numbers, &number))
        found++;
    if (field->is_repeated && found != expected)
        abort();
    (void)nt_proto_find(message, field->number, &item);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count == 0)
        return 0;
    const struct nt_proto_table *table = tables[bytes[0] % (sizeof(tables) / sizeof(*tables))];
    const struct nt_proto message = {bytes + 1, count - 1};
    struct nt_proto member, rest = message;
    struct nt_proto_item item;
    struct nt_buffer out = {0};
    struct nt_json json;
    if (nt_proto_check(message, table, 0, NULL) != NT_OK)
        return 0;
    while (nt_proto_next(&rest, &item)) {
        /* to the end */
    }
    for (uint32_t i = 0; i < table->count; i++)
        ask(message, &table->fields[i]);
    (void)nt_proto_oneof(message, table, &member);
    nt_json_line(&json, &out);
    nt_proto_json(&json, message, table);
    nt_json_finish(&json);
    nt_buffer_deinit(&out);
    return 0;
}
