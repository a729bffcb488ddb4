/* SPDX-License-Identifier: MIT
 *
 * Four entries. Null rows still have elements: zeros, and unchanged end offsets.
 */
#include "nullable_dataset.h"

#include <string.h>

#include "core/base/text.h"
#include "core/codec/codec.h"
#include <ntuple/dataset.h>

enum { ENTRIES = 4, PAGE = 2 };

#define ELEMENTS(...) (uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)

static uint32_t nullable(struct builder *builder, uint32_t parent, const char *name, enum nt_field_kind kind,
                         enum nt_element element, uint64_t repetition)
{
    uint32_t field = add_array(builder, parent, kind, element, repetition);
    builder->fields[field].name = nt_text_of(name);
    builder->fields[field].is_nullable = kind != NT_FIELD_NULL;
    edit_extra(builder, field)->is_declared_nullable = true;
    return field;
}

static void add(struct builder *builder, uint32_t field, enum nt_encoding_kind encoding,
                const uint64_t *values, uint32_t count)
{
    add_elements(builder, 0, add_column(builder, field, encoding, 0), values, count, PAGE);
}

static void add_valid(struct builder *builder, uint32_t field, const uint64_t *valid, uint32_t count)
{
    add(builder, field, NT_ENCODING_BIT, valid, count);
}

static uint32_t add_number(struct builder *builder, uint32_t parent, const char *name, const uint64_t *values,
                           const uint64_t *valid, uint32_t count)
{
    uint32_t field = nullable(builder, parent, name, NT_FIELD_VALUE, NT_ELEMENT_INT32, 0);
    add(builder, field, NT_ENCODING_INT32, values, count);
    add_valid(builder, field, valid, count);
    return field;
}

static void add_text(struct builder *builder, uint32_t parent, const char *name, enum nt_field_kind kind,
                     const uint64_t *ends, const uint64_t *valid, uint32_t count, const char *text)
{
    uint64_t bytes[16];
    uint32_t field = nullable(builder, parent, name, kind, NT_ELEMENT_BYTE, 0);
    add(builder, field, NT_ENCODING_INDEX64, ends, count);
    for (size_t i = 0; i < strlen(text); i++)
        bytes[i] = (uint8_t)text[i];
    add(builder, field, NT_ENCODING_CHAR, bytes, (uint32_t)strlen(text));
    add_valid(builder, field, valid, count);
}

static void add_plain(struct builder *builder)
{
    add_number(builder, NT_NONE, "number", (uint64_t[]){1, 0, 3, 0}, ELEMENTS(1, 0, 1, 0));
    uint32_t flag = nullable(builder, NT_NONE, "flag", NT_FIELD_VALUE, NT_ELEMENT_BOOL, 0);
    add(builder, flag, NT_ENCODING_BIT, ELEMENTS(1, 0, 0, 0));
    add_valid(builder, flag, ELEMENTS(1, 0, 1, 0));
    add_text(builder, NT_NONE, "text", NT_FIELD_STRING, (uint64_t[]){1, 1, 1, 4}, ELEMENTS(1, 0, 1, 1),
             "abcd");
    add_text(builder, NT_NONE, "bytes", NT_FIELD_STREAMED, (uint64_t[]){0, 1, 1, 1}, ELEMENTS(0, 1, 1, 0),
             "\xff");
    nullable(builder, NT_NONE, "nothing", NT_FIELD_NULL, NT_ELEMENT_BYTE, 0);
}

static void add_lists(struct builder *builder)
{
    uint32_t list = nullable(builder, NT_NONE, "list", NT_FIELD_COLLECTION, NT_ELEMENT_UINT64, 0);
    add(builder, list, NT_ENCODING_INDEX64, ELEMENTS(2, 2, 2, 3));
    add_valid(builder, list, ELEMENTS(1, 0, 1, 1));
    add_number(builder, list, "item", (uint64_t[]){1, 0, 4}, ELEMENTS(1, 0, 1));

    uint32_t structures = nullable(builder, NT_NONE, "structures", NT_FIELD_COLLECTION, NT_ELEMENT_UINT64, 0);
    add(builder, structures, NT_ENCODING_INDEX64, ELEMENTS(2, 2, 3, 3));
    add_valid(builder, structures, ELEMENTS(1, 0, 1, 1));
    uint32_t item = nullable(builder, structures, "item", NT_FIELD_RECORD, NT_ELEMENT_BYTE, 0);
    add_valid(builder, item, ELEMENTS(1, 0, 1));
    add_text(builder, item, "s", NT_FIELD_STRING, (uint64_t[]){1, 1, 1}, ELEMENTS(1, 0, 0), "p");

    uint32_t nulls = nullable(builder, NT_NONE, "nulls", NT_FIELD_COLLECTION, NT_ELEMENT_UINT64, 0);
    add(builder, nulls, NT_ENCODING_INDEX64, ELEMENTS(1, 1, 3, 3));
    add_valid(builder, nulls, ELEMENTS(1, 1, 1, 0));
    nullable(builder, nulls, "item", NT_FIELD_NULL, NT_ELEMENT_BYTE, 0);
}

static void add_structures(struct builder *builder)
{
    uint32_t record = nullable(builder, NT_NONE, "record", NT_FIELD_RECORD, NT_ELEMENT_BYTE, 0);
    add_valid(builder, record, ELEMENTS(1, 0, 1, 1));
    add_number(builder, record, "x", (uint64_t[]){1, 0, 0, 4}, ELEMENTS(1, 0, 0, 1));
    add_number(builder, record, "y", (uint64_t[]){10, 0, 12, 13}, ELEMENTS(1, 0, 1, 1));

    uint32_t pair = nullable(builder, NT_NONE, "pair", NT_FIELD_TUPLE, NT_ELEMENT_BYTE, 0);
    add_valid(builder, pair, ELEMENTS(0, 1, 0, 1));
    add_number(builder, pair, "first", (uint64_t[]){0, 1, 0, 2}, ELEMENTS(0, 1, 0, 1));

    uint32_t array = nullable(builder, NT_NONE, "array", NT_FIELD_ARRAY, NT_ELEMENT_BYTE, 2);
    add_valid(builder, array, ELEMENTS(1, 0, 1, 1));
    add_number(builder, array, "item", (uint64_t[]){1, 2, 0, 0, 0, 6, 7, 8},
               ELEMENTS(1, 1, 0, 0, 0, 1, 1, 1));

    uint32_t vector = nullable(builder, NT_NONE, "vector", NT_FIELD_VALUE, NT_ELEMENT_INT32, 3);
    add(builder, vector, NT_ENCODING_INT32, ELEMENTS(1, 2, 3, 0, 0, 0, 7, 8, 9, 0, 0, 0));
    add_valid(builder, vector, ELEMENTS(1, 0, 1, 0));
}

struct builder *nullable_dataset(void)
{
    struct builder *builder = builder_new();
    add_cluster(builder, 0, ENTRIES);
    add_plain(builder);
    add_lists(builder);
    add_structures(builder);
    return builder;
}

const char *const nullable_rows =
    "{\"number\":1,\"flag\":true,\"text\":\"a\",\"bytes\":null,\"nothing\":null,\"list\":[1,null],"
    "\"structures\":[{\"s\":\"p\"},null],\"nulls\":[null],\"record\":{\"x\":1,\"y\":10},\"pair\":null,"
    "\"array\":[1,2],\"vector\":[1,2,3]}\n"
    "{\"number\":null,\"flag\":null,\"text\":null,\"bytes\":\"/w==\",\"nothing\":null,\"list\":null,"
    "\"structures\":null,\"nulls\":[],\"record\":null,\"pair\":[1],\"array\":null,\"vector\":null}\n"
    "{\"number\":3,\"flag\":false,\"text\":\"\",\"bytes\":\"\",\"nothing\":null,\"list\":[],"
    "\"structures\":[{\"s\":null}],\"nulls\":[null,null],\"record\":{\"x\":null,\"y\":12},\"pair\":null,"
    "\"array\":[null,6],\"vector\":[7,8,9]}\n"
    "{\"number\":null,\"flag\":null,\"text\":\"bcd\",\"bytes\":null,\"nothing\":null,\"list\":[4],"
    "\"structures\":[],\"nulls\":null,\"record\":{\"x\":4,\"y\":13},\"pair\":[2],\"array\":[7,8],"
    "\"vector\":null}\n";

const char *const nullable_table =
    "number,flag,text,bytes,nothing,list,structures,nulls,record,pair,array,vector\r\n"
    "1,true,a,,,\"[1,null]\",\"[{\"\"s\"\":\"\"p\"\"},null]\",[null],\"{\"\"x\"\":1,\"\"y\"\":10}\",,\"[1,2]"
    "\","
    "\"[1,2,3]\"\r\n"
    ",,,\"\"\"/w==\"\"\",,,,[],,[1],,\r\n"
    "3,false,,\"\"\"\"\"\",,[],\"[{\"\"s\"\":null}]\",\"[null,null]\",\"{\"\"x\"\":null,\"\"y\"\":12}\",,"
    "\"[null,6]\",\"[7,8,9]\"\r\n"
    ",,bcd,,,[4],[],,\"{\"\"x\"\":4,\"\"y\"\":13}\",[2],\"[7,8]\",\r\n";
