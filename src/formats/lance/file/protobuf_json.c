/* SPDX-License-Identifier: MIT
 *
 * In: a checked message and its table. Out: its fields as members of a JSON object. Numbers and texts that a
 * writer leaves out where they are the default are shown as that; messages that are absent are not.
 */
#include "formats/lance/file/protobuf.h"

#include "core/base/buffer.h"

static const char *name_of(const struct nt_proto_field *field, uint64_t value)
{
    for (uint64_t i = 0; field->names[i]; i++)
        if (i == value)
            return field->names[i];
    return NULL;
}

static void write_number(struct nt_json *json, const struct nt_proto_field *field, uint64_t value)
{
    const char *name = field->kind == NT_PROTO_ENUM ? name_of(field, value) : NULL;
    if (name)
        nt_json_string(json, name);
    else if (field->kind == NT_PROTO_BOOL)
        nt_json_bool(json, value);
    else if (field->kind == NT_PROTO_INT)
        nt_json_signed(json, (int64_t)value);
    else
        nt_json_unsigned(json, value);
}

static void write_hexadecimal(struct nt_json *json, const struct nt_proto_item *item)
{
    struct nt_buffer text = {0};
    for (size_t i = 0; i < item->size; i++)
        nt_buffer_format(&text, "%02x", item->bytes[i]);
    nt_json_buffer(json, &text);
}

static void write_message(struct nt_json *json, const struct nt_proto_field *field,
                          const struct nt_proto_item *item)
{
    nt_json_object(json);
    nt_proto_json(json, (struct nt_proto){item->bytes, item->size}, field->message);
    nt_json_end_object(json);
}

static void write_value(struct nt_json *json, const struct nt_proto_field *field,
                        const struct nt_proto_item *item)
{
    if (field->kind == NT_PROTO_MESSAGE)
        write_message(json, field, item);
    else if (field->kind == NT_PROTO_BYTES)
        write_hexadecimal(json, item);
    else if (field->kind == NT_PROTO_TEXT)
        nt_json_bytes(json, item->bytes, item->size);
    else
        write_number(json, field, item->value);
}

static void write_key(struct nt_json *json, const struct nt_proto_field *field)
{
    struct nt_buffer key = {0};
    nt_buffer_format(&key, "%s%s", field->name, field->kind == NT_PROTO_BYTES ? "_hex" : "");
    nt_json_key(json, nt_buffer_string(&key));
    nt_buffer_deinit_part(&key, json->out);
}

static void write_list(struct nt_json *json, struct nt_proto message, const struct nt_proto_field *field)
{
    struct nt_proto_item item;
    uint64_t value;
    bool has_numbers = field->kind < NT_PROTO_TEXT;
    struct nt_proto_numbers numbers = nt_proto_numbers(message, field->number);
    nt_json_array(json);
    while (has_numbers && nt_proto_next_number(&numbers, &value))
        write_number(json, field, value);
    while (!has_numbers && nt_proto_next(&message, &item))
        if (item.number == field->number)
            write_value(json, field, &item);
    nt_json_end_array(json);
}

static void write_member(struct nt_json *json, struct nt_proto message, const struct nt_proto_field *field)
{
    struct nt_proto_item item = {.bytes = (const uint8_t *)""};
    bool is_there = nt_proto_find(message, field->number, &item);
    bool has_default = !field->is_optional && field->kind < NT_PROTO_BYTES;
    if (field->is_told_apart)
        return;
    if (field->is_repeated) {
        write_key(json, field);
        write_list(json, message, field);
    } else if (field->kind == NT_PROTO_TEXT && (is_there || has_default)) {
        nt_json_member_text(json, field->name, (struct nt_text){(const char *)item.bytes, item.size});
    } else if (is_there || has_default) {
        write_key(json, field);
        write_value(json, field, &item);
    }
}

static bool is_known(const struct nt_proto_table *table, uint32_t number)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (table->fields[i].number == number)
            return true;
    return false;
}

static size_t count_unknown_bytes(struct nt_proto message, const struct nt_proto_table *table)
{
    struct nt_proto_item item;
    size_t bytes = 0, before = message.size;
    while (nt_proto_next(&message, &item)) {
        if (!is_known(table, item.number))
            bytes += before - message.size;
        before = message.size;
    }
    return bytes;
}

void nt_proto_json(struct nt_json *json, struct nt_proto message, const struct nt_proto_table *table)
{
    size_t unknown_bytes = table->is_part ? 0 : count_unknown_bytes(message, table);
    for (uint32_t i = 0; i < table->count; i++)
        write_member(json, message, &table->fields[i]);
    if (unknown_bytes)
        nt_json_member_unsigned(json, "unknown_bytes", unknown_bytes);
}
