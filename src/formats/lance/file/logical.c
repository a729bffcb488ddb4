/* SPDX-License-Identifier: MIT
 *
 * In: a logical type ("fixed_size_list:float:768"). Out: what its values are, to memory, NumPy and Arrow
 * (Lance's table format, "Schema").
 */
#include "formats/lance/file/logical.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arena.h"

/* ---- types without parameters ---- */

static const struct {
    const char *name;
    enum nt_lance_shape shape;
    enum nt_element element;
    bool has_short_offsets, is_map, is_json;
} plain[] = {
    {"bool", NT_LANCE_IS_VALUE, NT_ELEMENT_BOOL, false, false, false},
    {"int8", NT_LANCE_IS_VALUE, NT_ELEMENT_INT8, false, false, false},
    {"uint8", NT_LANCE_IS_VALUE, NT_ELEMENT_UINT8, false, false, false},
    {"int16", NT_LANCE_IS_VALUE, NT_ELEMENT_INT16, false, false, false},
    {"uint16", NT_LANCE_IS_VALUE, NT_ELEMENT_UINT16, false, false, false},
    {"int32", NT_LANCE_IS_VALUE, NT_ELEMENT_INT32, false, false, false},
    {"uint32", NT_LANCE_IS_VALUE, NT_ELEMENT_UINT32, false, false, false},
    {"int64", NT_LANCE_IS_VALUE, NT_ELEMENT_INT64, false, false, false},
    {"uint64", NT_LANCE_IS_VALUE, NT_ELEMENT_UINT64, false, false, false},
    {"halffloat", NT_LANCE_IS_VALUE, NT_ELEMENT_REAL16, false, false, false},
    {"float", NT_LANCE_IS_VALUE, NT_ELEMENT_REAL32, false, false, false},
    {"double", NT_LANCE_IS_VALUE, NT_ELEMENT_REAL64, false, false, false},
    {"string", NT_LANCE_IS_TEXT, NT_ELEMENT_BYTE, true, false, false},
    {"large_string", NT_LANCE_IS_TEXT, NT_ELEMENT_BYTE, false, false, false},
    {"binary", NT_LANCE_IS_BYTES, NT_ELEMENT_BYTE, true, false, false},
    {"large_binary", NT_LANCE_IS_BYTES, NT_ELEMENT_BYTE, false, false, false},
    {"list", NT_LANCE_IS_LIST, NT_ELEMENT_BYTE, true, false, false},
    {"list.struct", NT_LANCE_IS_LIST, NT_ELEMENT_BYTE, true, false, false},
    {"large_list", NT_LANCE_IS_LIST, NT_ELEMENT_BYTE, false, false, false},
    {"large_list.struct", NT_LANCE_IS_LIST, NT_ELEMENT_BYTE, false, false, false},
    {"map", NT_LANCE_IS_LIST, NT_ELEMENT_BYTE, true, true, false},
    {"struct", NT_LANCE_IS_STRUCT, NT_ELEMENT_BYTE, false, false, false},
    {"null", NT_LANCE_IS_NULL, NT_ELEMENT_BYTE, false, false, false},
    {"json", NT_LANCE_IS_BYTES, NT_ELEMENT_BYTE, false, false, true},
    {"blob", NT_LANCE_IS_BLOB, NT_ELEMENT_BYTE, false, false, false},
};

/* ---- types that NumPy or Arrow have by other names ---- */

/* NumPy's dates and time spans have 64 bits; of those of 32 the numbers are shown. A field of bfloat16 is of fixed-size binaries, and
 * its metadata tell; as items of fixed-size lists the type has a name of its own. */
static const struct {
    const char *name;
    uint32_t bytes;
    const char *numpy, *arrow, *extension;
} named[] = {
    {"date32:day", 4, "<i4", "tdD", NULL},
    {"date64:ms", 8, "<M8[ms]", "tdm", NULL},
    {"time32:s", 4, "<i4", "tts", NULL},
    {"time32:ms", 4, "<i4", "ttm", NULL},
    {"time64:us", 8, "<m8[us]", "ttu", NULL},
    {"time64:ns", 8, "<m8[ns]", "ttn", NULL},
    {"duration:s", 8, "<m8[s]", "tDs", NULL},
    {"duration:ms", 8, "<m8[ms]", "tDm", NULL},
    {"duration:us", 8, "<m8[us]", "tDu", NULL},
    {"duration:ns", 8, "<m8[ns]", "tDn", NULL},
    {"lance.bfloat16", 2, "|V2", "w:2", "lance.bfloat16"},
};

static const struct {
    const char *unit, *numpy, *arrow;
} timestamps[] = {{"s:", "<M8[s]", "tss:"},
                  {"ms:", "<M8[ms]", "tsm:"},
                  {"us:", "<M8[us]", "tsu:"},
                  {"ns:", "<M8[ns]", "tsn:"}};

static void set_opaque(struct nt_lance_type *type, uint32_t bytes, const char *numpy, const char *arrow)
{
    bool is_number = bytes == 4 || bytes == 8;
    type->shape = NT_LANCE_IS_VALUE;
    type->value.bits = bytes * 8;
    type->dtype = (struct nt_dtype){.element = NT_ELEMENT_OPAQUE,
                                    .bytes = bytes,
                                    .number = !is_number   ? NT_ELEMENT_OPAQUE
                                              : bytes == 4 ? NT_ELEMENT_INT32
                                                           : NT_ELEMENT_INT64,
                                    .numpy = numpy,
                                    .arrow = arrow};
}

static const char *copy_text(struct nt_arena *arena, const char *prefix, struct nt_text text)
{
    size_t length = strlen(prefix);
    char *copy = nt_arena_alloc(arena, length + text.length + 1, 1);
    if (copy) {
        memcpy(copy, prefix, length);
        memcpy(copy + length, text.bytes, text.length);
        copy[length + text.length] = '\0';
    }
    return copy;
}

/* ---- numbers in texts ---- */

/* Digits up to `end` or the text's end; false where there are none, or too many. */
static bool take_number(struct nt_text *text, char end, uint64_t *number_ret)
{
    uint64_t number = 0;
    size_t i = 0;
    for (; i < text->length && text->bytes[i] >= '0' && text->bytes[i] <= '9' && number <= UINT32_MAX; i++)
        number = number * 10 + (uint64_t)(text->bytes[i] - '0');
    if (i == 0 || number > UINT32_MAX || (i < text->length && text->bytes[i] != end))
        return false;
    size_t used = i < text->length ? i + 1 : i;
    *text = (struct nt_text){text->bytes + used, text->length - used};
    *number_ret = number;
    return true;
}

/* ---- types with parameters: each takes what stands behind its prefix ---- */

typedef enum nt_status take_parameters(struct nt_arena *arena, struct nt_text rest,
                                       struct nt_lance_type *type, struct nt_error *error);

static enum nt_status take_timestamp(struct nt_arena *arena, struct nt_text rest, struct nt_lance_type *type,
                                     struct nt_error *error)
{
    for (size_t i = 0; i < sizeof(timestamps) / sizeof(*timestamps); i++) {
        if (!nt_text_skip(&rest, timestamps[i].unit))
            continue;
        const char *arrow =
            copy_text(arena, timestamps[i].arrow, nt_text_is(rest, "-") ? (struct nt_text){"", 0} : rest);
        if (!arrow)
            return nt_fail_memory(error);
        set_opaque(type, 8, timestamps[i].numpy, arrow);
        return NT_OK;
    }
    return NT_OK;
}

/* Whether a text is a number of digits that a decimal can be shifted by. */
static bool is_scale(struct nt_text text)
{
    enum { MOST_SCALE = 76 };
    uint64_t scale;
    nt_text_skip(&text, "-");
    return take_number(&text, '\0', &scale) && scale <= MOST_SCALE;
}

/* "128:10:2" is "d:10,2" in Arrow. */
static enum nt_status take_decimal(struct nt_arena *arena, struct nt_text rest, struct nt_lance_type *type,
                                   struct nt_error *error)
{
    enum { TEXT = 64, MOST_128 = 38, MOST_256 = 76 };
    uint64_t bits, precision;
    if (!take_number(&rest, ':', &bits) || !take_number(&rest, ':', &precision) ||
        (bits != 128 && bits != 256) || precision < 1 || precision > (bits == 128 ? MOST_128 : MOST_256) ||
        !is_scale(rest))
        return NT_OK;
    char *arrow = nt_arena_alloc(arena, TEXT, 1);
    if (!arrow)
        return nt_fail_memory(error);
    snprintf(arrow, TEXT, "d:%" PRIu64 ",%.*s%s", precision, (int)rest.length, rest.bytes,
             bits == 256 ? ",256" : "");
    set_opaque(type, (uint32_t)bits / 8, bits == 128 ? "|V16" : "|V32", arrow);
    return NT_OK;
}

static enum nt_status take_binary(struct nt_arena *arena, struct nt_text rest, struct nt_lance_type *type,
                                  struct nt_error *error)
{
    uint64_t bytes;
    struct nt_text digits = rest;
    if (!take_number(&rest, '\0', &bytes) || bytes > UINT32_MAX / 8)
        return NT_OK;
    if (!bytes) {
        type->shape = NT_LANCE_IS_EMPTY;
        return NT_OK;
    }
    const char *numpy = copy_text(arena, "|V", digits), *arrow = copy_text(arena, "w:", digits);
    if (!numpy || !arrow)
        return nt_fail_memory(error);
    set_opaque(type, (uint32_t)bytes, numpy, arrow);
    type->dtype.number = NT_ELEMENT_OPAQUE;
    return NT_OK;
}

/* What stands in front of the last colon, which is left out with what is behind it; *behind_ret is that. */
static void cut_behind_colon(struct nt_text *text, struct nt_text *behind_ret)
{
    size_t colon = text->length;
    while (colon && text->bytes[colon - 1] != ':')
        colon--;
    *behind_ret = (struct nt_text){text->bytes + colon, text->length - colon};
    text->length = colon ? colon - 1 : 0;
}

static uint32_t integer_bits(struct nt_text name)
{
    nt_text_skip(&name, "u");
    return nt_text_is(name, "int8")    ? 8
           : nt_text_is(name, "int16") ? 16
           : nt_text_is(name, "int32") ? 32
           : nt_text_is(name, "int64") ? 64
                                       : 0;
}

/* "string:int32:false": the values' type stands in front of the last two. Within fixed-size lists Lance's writer has them,
 * and its reader does not. */
static enum nt_status take_dictionary(struct nt_arena *arena, struct nt_text rest, struct nt_lance_type *type,
                                      struct nt_error *error)
{
    struct nt_text ordered, index;
    if (type->value.list_count)
        return NT_OK;
    cut_behind_colon(&rest, &ordered);
    cut_behind_colon(&rest, &index);
    enum nt_status status = nt_lance_parse_type(arena, rest, type, error);
    type->is_dictionary = true;
    type->index_bits = integer_bits(index);
    return status;
}

static const struct {
    const char *prefix;
    take_parameters *take;
} families[] = {
    {"timestamp:", take_timestamp},
    {"decimal:", take_decimal},
    {"fixed_size_binary:", take_binary},
    {"dict:", take_dictionary},
};

/* ---- all ---- */

static enum nt_status parse_inner(struct nt_arena *arena, struct nt_text text, struct nt_lance_type *type,
                                  struct nt_error *error)
{
    type->shape = NT_LANCE_IS_UNKNOWN;
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
        if (nt_text_is(text, plain[i].name)) {
            type->shape = plain[i].shape;
            type->has_short_offsets = plain[i].has_short_offsets;
            type->is_map = plain[i].is_map;
            type->is_json = plain[i].is_json;
            type->dtype = nt_element_dtype(plain[i].element);
            if (type->shape == NT_LANCE_IS_VALUE)
                type->value.bits = plain[i].element == NT_ELEMENT_BOOL ? 1 : type->dtype.bytes * 8;
            return NT_OK;
        }
    for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
        if (nt_text_is(text, named[i].name)) {
            set_opaque(type, named[i].bytes, named[i].numpy, named[i].arrow);
            type->extension = named[i].extension;
            return NT_OK;
        }
    for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
        if (nt_text_skip(&text, families[i].prefix))
            return families[i].take(arena, text, type, error);
    return NT_OK;
}

/* The number behind the last colon is the list's; the rest, between, its items' type. */
static bool cut_list(struct nt_text *text, uint64_t *items_ret)
{
    struct nt_text number;
    cut_behind_colon(text, &number);
    return text->length && take_number(&number, '\0', items_ret);
}

enum nt_status nt_lance_parse_type(struct nt_arena *arena, struct nt_text text, struct nt_lance_type *type,
                                   struct nt_error *error)
{
    *type = (struct nt_lance_type){.shape = NT_LANCE_IS_UNKNOWN};
    struct nt_lance_value *value = &type->value;
    while (nt_text_skip(&text, "fixed_size_list:")) {
        if (value->list_count == NT_TREE_DEPTH)
            return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                           "fixed-size lists are nested deeper than the limit of %d", NT_TREE_DEPTH);
        if (!cut_list(&text, &value->lists[value->list_count++]))
            return NT_OK;
    }
    enum nt_status status = parse_inner(arena, text, type, error);
    value->is_empty = !value->bits && (type->shape == NT_LANCE_IS_EMPTY || type->shape == NT_LANCE_IS_NULL);
    if (!value->list_count || value->bits || value->is_empty)
        return status;
    bool is_struct_list = type->shape == NT_LANCE_IS_STRUCT && value->list_count == 1 && value->lists[0];
    type->shape = is_struct_list ? NT_LANCE_IS_STRUCT_LIST : NT_LANCE_IS_UNKNOWN;
    type->items = value->lists[0];
    value->list_count = 0; /* its items have columns of their own */
    return status;
}
