/* SPDX-License-Identifier: MIT
 *
 * Messages in the wire format of Protocol Buffers, taken apart where they lie: no generated code, no copies.
 * A table says which fields a message has. A message is checked once against its table, as deep as it goes;
 * the functions that look into it then cannot fail, and find nothing where it has nothing.
 */
#ifndef NT_FORMAT_LANCE_PROTOBUF_H
#define NT_FORMAT_LANCE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/json/json.h"

/* How deep messages may lie in one another. */
enum { NT_PROTO_MAX_DEPTH = 32 };

/* A message's bytes. `bytes` NULL: there is none; one that is there and empty has bytes. */
struct nt_proto {
    const uint8_t *bytes;
    size_t size;
};

enum nt_proto_wire {
    NT_PROTO_WIRE_VARINT = 0,
    NT_PROTO_WIRE_FIXED64 = 1,
    NT_PROTO_WIRE_BYTES = 2,
    NT_PROTO_WIRE_FIXED32 = 5,
};

/* One occurrence of a field. */
struct nt_proto_item {
    uint32_t number;
    uint32_t wire;        /* enum nt_proto_wire */
    uint64_t value;       /* of a varint or fixed one; negative numbers of any width as 64 bits */
    const uint8_t *bytes; /* of NT_PROTO_WIRE_BYTES: a text, a message, packed numbers */
    size_t size;
};

enum nt_proto_kind {
    NT_PROTO_UINT,
    NT_PROTO_INT, /* int32, int64; not the zigzag ones */
    NT_PROTO_BOOL,
    NT_PROTO_ENUM,
    NT_PROTO_TEXT,  /* also bytes that are meant as text */
    NT_PROTO_BYTES, /* shown in hexadecimal, as member `name`_hex */
    NT_PROTO_MESSAGE,
};

struct nt_proto_table;

struct nt_proto_field {
    uint32_t number;
    const char *name; /* in snake_case */
    enum nt_proto_kind kind;
    bool is_repeated;   /* numbers packed or one by one */
    bool is_optional;   /* of a number or text: where it is absent, it is not the default but nothing */
    bool is_told_apart; /* left out of JSON */
    const struct nt_proto_table *message; /* of a message */
    const char *const *names;             /* of an enumeration: ends with NULL */
};

struct nt_proto_table {
    const char *name; /* "ColumnMetadata.Page" */
    const struct nt_proto_field *fields;
    uint32_t count;
    bool is_choice; /* one of its fields at most is there: a oneof and nothing else */
    bool is_part;   /* of a message that has more fields, which are not told of */
};

/* Check a message and the messages in it: bounds, wire types as the table has them, no message where one is
 * there already, one member at most of a choice. Fields that the table does not have are skipped. `offset` is
 * where the message lies in the file. NT_CORRUPT; NT_LIMIT where messages lie too deep. */
enum nt_status nt_proto_check(struct nt_proto message, const struct nt_proto_table *table, uint64_t offset,
                              struct nt_error *error);

/* Walk over the items of a checked message; false at its end. */
bool nt_proto_next(struct nt_proto *rest, struct nt_proto_item *item);

/* A field's last occurrence; false where it is absent. */
bool nt_proto_find(struct nt_proto message, uint32_t number, struct nt_proto_item *item);
static inline bool nt_proto_has(struct nt_proto message, uint32_t number)
{
    struct nt_proto_item item;
    return nt_proto_find(message, number, &item);
}
/* 0, an empty text, no message where it is absent. A text is not NUL-terminated. */
uint64_t nt_proto_number(struct nt_proto message, uint32_t number);
struct nt_text nt_proto_text(struct nt_proto message, uint32_t number);
struct nt_proto nt_proto_message(struct nt_proto message, uint32_t number);
/* How often it occurs. */
uint64_t nt_proto_count(struct nt_proto message, uint32_t number);
/* Which member of a choice is there, as far as the table knows it, and its message; 0: none. */
uint32_t nt_proto_choice(struct nt_proto message, const struct nt_proto_table *table,
                         struct nt_proto *member_ret);

/* The next of packed numbers; false at their end. */
bool nt_proto_next_packed(struct nt_proto *rest, uint64_t *value_ret);

/* The numbers of a repeated field, packed or one by one. */
struct nt_proto_numbers {
    struct nt_proto rest, packed;
    uint32_t number;
};
struct nt_proto_numbers nt_proto_numbers(struct nt_proto message, uint32_t number);
bool nt_proto_next_number(struct nt_proto_numbers *numbers, uint64_t *value_ret);
uint64_t nt_proto_count_numbers(struct nt_proto message, uint32_t number);

/* Members of an object: what a checked message holds, in the order of its table; "unknown_bytes" where it has
 * fields that the table does not have. */
void nt_proto_json(struct nt_json *json, struct nt_proto message, const struct nt_proto_table *table);

#endif
