/* SPDX-License-Identifier: MIT
 *
 * A Protocol Buffers reader that checks messages against static tables and reads fields in place,
 * without generated code, and writes messages as JSON.
 */
#include <stdio.h>

#include "core/base/error.h"
#include "formats/lance/file/messages.h"

/* ---- Wire format ---- */

enum { VARINT_BYTES = 10, WIRE_BITS = 3, MAX_FIELD_NUMBER = (1 << 29) - 1 };

/* 7 bits per byte, lowest first; the tenth byte has one bit. */
static uint64_t get_varint(struct nt_cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < VARINT_BYTES; i++) {
        uint8_t byte = nt_get_u8(cursor);
        if (i == VARINT_BYTES - 1 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (!(byte & 0x80))
            return value;
    }
    cursor->failed = true;
    return 0;
}

static struct nt_cursor cursor_of(struct nt_proto message)
{
    return nt_cursor(message.bytes, message.bytes ? message.size : 0);
}

/* Reads the value after a tag. Returns false if the wire type is unknown or bytes are missing. */
static bool get_value(struct nt_cursor *cursor, struct nt_proto_item *item)
{
    switch (item->wire) {
    case NT_PROTO_WIRE_VARINT:
        item->value = get_varint(cursor);
        break;
    case NT_PROTO_WIRE_FIXED64:
        item->value = nt_get_le64(cursor);
        break;
    case NT_PROTO_WIRE_FIXED32:
        item->value = nt_get_le32(cursor);
        break;
    case NT_PROTO_WIRE_BYTES: {
        uint64_t size = get_varint(cursor);
        if (size > nt_cursor_left(cursor))
            return false;
        item->size = (size_t)size;
        item->bytes = nt_get_bytes(cursor, item->size);
        break;
    }
    default:
        return false;
    }
    return !cursor->failed;
}

static bool get_item(struct nt_cursor *cursor, struct nt_proto_item *item)
{
    uint64_t tag = get_varint(cursor), number = tag >> WIRE_BITS;
    *item = (struct nt_proto_item){.wire = (uint32_t)(tag & ((1 << WIRE_BITS) - 1))};
    if (cursor->failed || number == 0 || number > MAX_FIELD_NUMBER)
        return false;
    item->number = (uint32_t)number;
    return get_value(cursor, item);
}

/* ---- Checking ---- */

struct message_check {
    const uint8_t *start; /* of the outermost message */
    uint64_t offset;      /* of the outermost message in the file */
    struct nt_error *error;
};

static uint64_t position_of(const struct message_check *check, const uint8_t *bytes)
{
    return check->offset + (uint64_t)(bytes - check->start);
}

static const struct nt_proto_field *find_field(const struct nt_proto_table *table, uint32_t number)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (table->fields[i].number == number)
            return &table->fields[i];
    return NULL;
}

static bool is_number(const struct nt_proto_field *field)
{
    return field->kind < NT_PROTO_TEXT;
}

static enum nt_proto_wire wire_of(const struct nt_proto_field *field)
{
    return is_number(field) ? NT_PROTO_WIRE_VARINT : NT_PROTO_WIRE_BYTES;
}

static enum nt_status check_packed(const struct message_check *check, const struct nt_proto_table *table,
                                   const struct nt_proto_field *field, const struct nt_proto_item *item)
{
    struct nt_cursor cursor = nt_cursor(item->bytes, item->size);
    while (!cursor.failed && nt_cursor_left(&cursor))
        get_varint(&cursor);
    if (!cursor.failed)
        return NT_OK;
    return nt_fail(check->error, NT_CORRUPT, position_of(check, item->bytes),
                   "message %s: the last number of %s is cut off", table->name, field->name);
}

static enum nt_status check_field(const struct message_check *check, const struct nt_proto_table *table,
                                  const struct nt_proto_field *field, const struct nt_proto_item *item,
                                  uint64_t position)
{
    char what[128];
    bool is_packed = is_number(field) && field->is_repeated && item->wire == NT_PROTO_WIRE_BYTES;
    if (is_packed)
        return check_packed(check, table, field, item);
    if (item->wire == wire_of(field))
        return NT_OK;
    snprintf(what, sizeof(what), "message %s: wire type of %s", table->name, field->name);
    return nt_fail_number(check->error, NT_CORRUPT, position, what, wire_of(field), item->wire);
}

/* Other readers merge two messages of one field, and ignore all but the last member of a oneof. No
 * writer intends this, so both are errors. `seen`: bits for the rows of the table that occurred. */
static enum nt_status check_once(const struct message_check *check, const struct nt_proto_table *table,
                                 const struct nt_proto_field *field, uint64_t *seen, uint64_t position)
{
    uint64_t row = UINT64_C(1) << (field - table->fields);
    bool is_second = *seen & row && field->kind == NT_PROTO_MESSAGE && !field->is_repeated;
    if (is_second)
        return nt_fail(check->error, NT_CORRUPT, position, "message %s: %s occurs twice", table->name,
                       field->name);
    if (table->is_oneof && *seen & ~row)
        return nt_fail(check->error, NT_CORRUPT, position,
                       "message %s: %s is not the only member of its oneof", table->name, field->name);
    *seen |= row;
    return NT_OK;
}

/* Checks a message and its children, up to NT_PROTO_MAX_DEPTH levels. */
static enum nt_status check_message(const struct message_check *check, struct nt_proto message,
                                    const struct nt_proto_table *table, unsigned depth)
{
    struct nt_cursor cursor = cursor_of(message);
    uint64_t seen = 0;
    struct nt_proto_item item;
    if (depth > NT_PROTO_MAX_DEPTH)
        return nt_fail(check->error, NT_LIMIT, position_of(check, message.bytes),
                       "message %s: messages nested deeper than the limit of %d", table->name,
                       NT_PROTO_MAX_DEPTH);
    while (nt_cursor_left(&cursor)) {
        uint64_t position = position_of(check, message.bytes + cursor.position);
        if (!get_item(&cursor, &item))
            return nt_fail(check->error, NT_CORRUPT, position,
                           "message %s of %zu bytes: no valid field at byte %zu", table->name, message.size,
                           (size_t)(position - position_of(check, message.bytes)));
        const struct nt_proto_field *field = find_field(table, item.number);
        if (!field)
            continue;
        NT_TRY(check_field(check, table, field, &item, position));
        NT_TRY(check_once(check, table, field, &seen, position));
        if (field->kind == NT_PROTO_MESSAGE)
            NT_TRY(check_message(check, (struct nt_proto){item.bytes, item.size}, field->message, depth + 1));
    }
    return NT_OK;
}

enum nt_status nt_proto_check(struct nt_proto message, const struct nt_proto_table *table, uint64_t offset,
                              struct nt_error *error)
{
    const struct message_check check = {.start = message.bytes, .offset = offset, .error = error};
    return check_message(&check, message, table, 1);
}

/* ---- Looking into a checked message ---- */

bool nt_proto_next(struct nt_proto *rest, struct nt_proto_item *item)
{
    struct nt_cursor cursor = cursor_of(*rest);
    if (!nt_cursor_left(&cursor) || !get_item(&cursor, item))
        return false;
    rest->bytes += cursor.position;
    rest->size -= cursor.position;
    return true;
}

bool nt_proto_next_message(struct nt_proto *rest, uint32_t number, struct nt_proto *message_ret)
{
    struct nt_proto_item item;
    while (nt_proto_next(rest, &item))
        if (item.number == number) {
            *message_ret = (struct nt_proto){item.bytes, item.size};
            return true;
        }
    return false;
}

bool nt_proto_find(struct nt_proto message, uint32_t number, struct nt_proto_item *item)
{
    struct nt_proto_item next;
    bool is_found = false;
    while (nt_proto_next(&message, &next)) {
        if (next.number != number)
            continue;
        *item = next;
        is_found = true;
    }
    return is_found;
}

uint64_t nt_proto_number(struct nt_proto message, uint32_t number)
{
    struct nt_proto_item item;
    return nt_proto_find(message, number, &item) ? item.value : 0;
}

struct nt_text nt_proto_text(struct nt_proto message, uint32_t number)
{
    struct nt_proto_item item;
    if (!nt_proto_find(message, number, &item) || !item.bytes)
        return (struct nt_text){"", 0};
    return (struct nt_text){(const char *)item.bytes, item.size};
}

struct nt_proto nt_proto_message(struct nt_proto message, uint32_t number)
{
    struct nt_proto_item item;
    if (!nt_proto_find(message, number, &item))
        return (struct nt_proto){NULL, 0};
    return (struct nt_proto){item.bytes, item.size};
}

uint64_t nt_proto_count(struct nt_proto message, uint32_t number)
{
    struct nt_proto_item item;
    uint64_t count = 0;
    while (nt_proto_next(&message, &item))
        count += item.number == number;
    return count;
}

uint32_t nt_proto_oneof(struct nt_proto message, const struct nt_proto_table *table,
                        struct nt_proto *member_ret)
{
    struct nt_proto_item item;
    while (nt_proto_next(&message, &item)) {
        if (!find_field(table, item.number))
            continue;
        *member_ret = (struct nt_proto){item.bytes, item.size};
        return item.number;
    }
    *member_ret = (struct nt_proto){NULL, 0};
    return 0;
}

/* Reads the next of packed numbers; returns false at their end. */
static bool proto_next_packed(struct nt_proto *rest, uint64_t *value_ret)
{
    struct nt_cursor cursor = cursor_of(*rest);
    if (!nt_cursor_left(&cursor))
        return false;
    *value_ret = get_varint(&cursor);
    if (cursor.failed)
        return false;
    rest->bytes += cursor.position;
    rest->size -= cursor.position;
    return true;
}

struct nt_proto_numbers nt_proto_numbers(struct nt_proto message, uint32_t number)
{
    return (struct nt_proto_numbers){.rest = message, .number = number};
}

bool nt_proto_next_number(struct nt_proto_numbers *numbers, uint64_t *value_ret)
{
    struct nt_proto_item item;
    for (;;) {
        if (proto_next_packed(&numbers->packed, value_ret))
            return true;
        do {
            if (!nt_proto_next(&numbers->rest, &item))
                return false;
        } while (item.number != numbers->number);
        *value_ret = item.value;
        if (item.wire != NT_PROTO_WIRE_BYTES)
            return true;
        numbers->packed = (struct nt_proto){item.bytes, item.size};
    }
}

uint64_t nt_proto_count_numbers(struct nt_proto message, uint32_t number)
{
    struct nt_proto_numbers numbers = nt_proto_numbers(message, number);
    uint64_t count = 0, value;
    while (nt_proto_next_number(&numbers, &value))
        count++;
    return count;
}

/* ---- Messages as JSON ---- */

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

static void write_value(struct nt_json *json, const struct nt_proto_field *field,
                        const struct nt_proto_item *item)
{
    if (field->kind == NT_PROTO_MESSAGE) {
        nt_json_object(json);
        nt_proto_json(json, (struct nt_proto){item->bytes, item->size}, field->message);
        nt_json_end_object(json);
    } else if (field->kind == NT_PROTO_BYTES)
        nt_json_hex(json, item->bytes, item->size);
    else if (field->kind == NT_PROTO_TEXT)
        nt_json_bytes(json, item->bytes, item->size);
    else
        write_number(json, field, item->value);
}

static void write_key(struct nt_json *json, const struct nt_proto_field *field)
{
    struct nt_buffer key = {0};
    nt_buffer_append_format(&key, "%s%s", field->name, field->kind == NT_PROTO_BYTES ? "_hex" : "");
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
    if (field->is_distinguished)
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

static size_t count_unknown_bytes(struct nt_proto message, const struct nt_proto_table *table)
{
    struct nt_proto_item item;
    size_t bytes = 0, before = message.size;
    while (nt_proto_next(&message, &item)) {
        if (!find_field(table, item.number))
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
