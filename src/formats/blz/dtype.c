/* SPDX-License-Identifier: MIT
 *
 * Parses NumPy data types from text: plain type names and codes, and Python literals of structured
 * types, which a strict, non-recursive tokenizer reads. Recursion depth is bounded. Also writes Python
 * string literals.
 */
#include "formats/blz/blz.h"

#include <stdio.h>

static void literal_fail(struct nt_literal *literal, const char *what)
{
    if (!literal->mistake)
        literal->mistake = what;
}

/* Returns the next character that is not white space, 0 at the end. Consumes nothing. */
static char literal_peek(struct nt_literal *literal)
{
    while (literal->at < literal->end && strchr(" \t\r\n", literal->text[literal->at]) &&
           literal->text[literal->at])
        literal->at++;
    return literal->at < literal->end && !literal->mistake ? literal->text[literal->at] : '\0';
}

/* Consumes the character if it comes next. */
static bool literal_accept(struct nt_literal *literal, char character)
{
    if (literal_peek(literal) != character)
        return false;
    literal->at++;
    return true;
}

/* Consumes the character; fails if it does not come next. */
static void literal_expect(struct nt_literal *literal, char character, const char *what)
{
    if (!literal_accept(literal, character))
        literal_fail(literal, what);
}

static bool is_quote(char character)
{
    return character == '\'' || character == '"';
}

bool nt_literal_is_string(struct nt_literal *literal)
{
    char first = literal_peek(literal);
    bool has_prefix = first == 'u' || first == 'b';
    return is_quote(first) ||
           (has_prefix && literal->at + 1 < literal->end && is_quote(literal->text[literal->at + 1]));
}

/* Reads `digits` hexadecimal digits. */
static uint32_t hexadecimal(struct nt_literal *literal, unsigned digits)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < digits; i++) {
        char c = literal->at < literal->end ? literal->text[literal->at] : '\0';
        uint32_t digit = c >= '0' && c <= '9'                 ? (uint32_t)(c - '0')
                         : (c | 32) >= 'a' && (c | 32) <= 'f' ? (uint32_t)((c | 32) - 'a') + 10
                                                              : 16;
        if (digit == 16) {
            literal_fail(literal, "a hexadecimal digit");
            return 0;
        }
        value = value << 4 | digit;
        literal->at++;
    }
    return value;
}

static void append_code_point(struct nt_literal *literal, struct nt_buffer *out, uint32_t value)
{
    if (value <= 0x10FFFF)
        nt_append_code_point(out, value);
    else
        literal_fail(literal, "a code point");
}

/* Reads the part of an escape after the backslash. */
static void append_escape(struct nt_literal *literal, struct nt_buffer *out)
{
    static const char letters[] = "abfnrtv\\'\"", meanings[] = "\a\b\f\n\r\t\v\\'\"";
    char letter = literal->at < literal->end ? literal->text[literal->at++] : '\0';
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (found)
        nt_buffer_append_byte(out, meanings[found - letters]);
    else if (letter == 'x')
        nt_buffer_append_byte(out, (char)hexadecimal(literal, 2));
    else if (letter == 'u')
        append_code_point(literal, out, hexadecimal(literal, 4));
    else if (letter == 'U')
        append_code_point(literal, out, hexadecimal(literal, 8));
    else
        literal_fail(literal, "an escape sequence");
}

void nt_literal_string(struct nt_literal *literal, struct nt_buffer *out)
{
    if (!nt_literal_is_string(literal)) {
        literal_fail(literal, "a string");
        return;
    }
    if (!is_quote(literal->text[literal->at]))
        literal->at++;
    char quote = literal->text[literal->at++];
    while (literal->at < literal->end && !literal->mistake) {
        char character = literal->text[literal->at++];
        if (character == quote)
            return;
        if (character == '\\')
            append_escape(literal, out);
        else
            nt_buffer_append_byte(out, character);
    }
    literal_fail(literal, "the end of a string");
}

uint64_t nt_literal_integer(struct nt_literal *literal)
{
    uint64_t value = 0;
    char digit = literal_peek(literal);
    if (digit < '0' || digit > '9') {
        literal_fail(literal, "an integer");
        return 0;
    }
    for (; literal->at < literal->end; literal->at++) {
        digit = literal->text[literal->at];
        if (digit < '0' || digit > '9')
            break;
        if (value > (INT64_MAX - 9) / 10) {
            literal_fail(literal, "a smaller integer");
            return 0;
        }
        value = value * 10 + (uint64_t)(digit - '0');
    }
    if (literal->at < literal->end && literal->text[literal->at] == 'L')
        literal->at++;
    return value;
}

/* Consumes one of the words None, True, False. */
static bool literal_word(struct nt_literal *literal, const char *word)
{
    size_t length = strlen(word);
    literal_peek(literal);
    if (literal->mistake || literal->end - literal->at < length ||
        memcmp(literal->text + literal->at, word, length))
        return false;
    literal->at += length;
    return true;
}

void nt_append_literal(struct nt_buffer *out, const char *bytes, size_t length)
{
    const uint8_t *at = (const uint8_t *)bytes;
    nt_buffer_append_byte(out, '\'');
    while (length) {
        uint32_t code_point = 0;
        size_t step = nt_utf8_decode(at, length, &code_point);
        if (step == 0) /* a lone byte, written like Python's surrogateescape */
            nt_buffer_append_format(out, "\\udc%02x", *at);
        else if (code_point >= 0x20 && code_point < 0x7F && code_point != '\'' && code_point != '\\')
            nt_buffer_append_byte(out, (char)code_point);
        else if (code_point < 0x80)
            nt_buffer_append_format(out, "\\x%02x", code_point);
        else
            nt_buffer_append_format(out, code_point < 0x10000 ? "\\u%04x" : "\\U%08x", code_point);
        step = step ? step : 1;
        at += step;
        length -= step;
    }
    nt_buffer_append_byte(out, '\'');
}

/* ---- Plain types ---- */

/* Limits: nesting of a dtype's text, bytes of one item. */
enum { NT_BLZ_DTYPE_DEPTH = 32, NT_BLZ_ITEM_BYTES = 1 << 28 };

/* Names that str(dtype) returns, and their codes. */
static const struct {
    const char *name, *code;
} plain_names[] = {
    {"bool", "|b1"},        {"int8", "|i1"},        {"int16", "<i2"},      {"int32", "<i4"},
    {"int64", "<i8"},       {"uint8", "|u1"},       {"uint16", "<u2"},     {"uint32", "<u4"},
    {"uint64", "<u8"},      {"float16", "<f2"},     {"float32", "<f4"},    {"float64", "<f8"},
    {"float96", "<f12"},    {"float128", "<f16"},   {"complex64", "<c8"},  {"complex128", "<c16"},
    {"complex192", "<c24"}, {"complex256", "<c32"}, {"datetime64", "<M8"}, {"timedelta64", "<m8"},
    {"object", "|O"},       {"?", "|b1"},           {"bool_", "|b1"},
};

/* What may follow the letter of a code. */
static const struct code {
    char letter;
    uint64_t sizes;            /* bit n: n bytes are valid; 0: the code has a length */
    uint32_t mean_chunk_bytes; /* per item of that length */
    uint8_t character_bytes;   /* of text */
    bool has_order;            /* sizes above 1 have a byte order */
    bool has_unit;             /* counts units of time */
} codes[] = {
    {.letter = 'b', .sizes = 1 << 1},
    {.letter = 'i', .sizes = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8, .has_order = true},
    {.letter = 'u', .sizes = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8, .has_order = true},
    {.letter = 'f', .sizes = 1 << 2 | 1 << 4 | 1 << 8 | 1 << 12 | 1 << 16, .has_order = true},
    {.letter = 'c', .sizes = 1 << 8 | 1 << 16 | 1 << 24 | UINT64_C(1) << 32, .has_order = true},
    {.letter = 'M', .sizes = 1 << 8, .has_order = true, .has_unit = true},
    {.letter = 'm', .sizes = 1 << 8, .has_order = true, .has_unit = true},
    {.letter = 'S', .mean_chunk_bytes = 1, .character_bytes = 1},
    {.letter = 'a', .mean_chunk_bytes = 1, .character_bytes = 1}, /* an old synonym of 'S' */
    {.letter = 'V', .mean_chunk_bytes = 1},
    {.letter = 'U', .mean_chunk_bytes = 4, .character_bytes = 4, .has_order = true},
};

/* The type numbers in NumPy's memory layout. */
static const struct {
    char letter;
    uint32_t bytes;
    enum nt_element element;
} numbers[] = {
    {.letter = 'b', .bytes = 1, .element = NT_ELEMENT_BOOL},
    {.letter = 'i', .bytes = 1, .element = NT_ELEMENT_INT8},
    {.letter = 'u', .bytes = 1, .element = NT_ELEMENT_UINT8},
    {.letter = 'i', .bytes = 2, .element = NT_ELEMENT_INT16},
    {.letter = 'u', .bytes = 2, .element = NT_ELEMENT_UINT16},
    {.letter = 'i', .bytes = 4, .element = NT_ELEMENT_INT32},
    {.letter = 'u', .bytes = 4, .element = NT_ELEMENT_UINT32},
    {.letter = 'i', .bytes = 8, .element = NT_ELEMENT_INT64},
    {.letter = 'u', .bytes = 8, .element = NT_ELEMENT_UINT64},
    {.letter = 'f', .bytes = 2, .element = NT_ELEMENT_REAL16},
    {.letter = 'f', .bytes = 4, .element = NT_ELEMENT_REAL32},
    {.letter = 'f', .bytes = 8, .element = NT_ELEMENT_REAL64},
    {.letter = 'M', .bytes = 8, .element = NT_ELEMENT_INT64},
    {.letter = 'm', .bytes = 8, .element = NT_ELEMENT_INT64},
};

/* Dates and time spans that Arrow also has. NumPy's "not a time" remains the smallest number. */
static const struct {
    char letter;
    const char *unit, *arrow;
} times[] = {
    {'M', "[s]", "tss:"}, {'M', "[ms]", "tsm:"}, {'M', "[us]", "tsu:"}, {'M', "[ns]", "tsn:"},
    {'m', "[s]", "tDs"},  {'m', "[ms]", "tDm"},  {'m', "[us]", "tDu"},  {'m', "[ns]", "tDn"},
};

static enum nt_status not_a_type(const char *text, size_t length, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "\"%.*s\" is not a data type",
                   (int)(length > 60 ? 60 : length), text);
}

static const struct code *find_code(char letter)
{
    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
        if (codes[i].letter == letter)
            return &codes[i];
    return NULL;
}

/* Is it the unit of a date or a time span: "", "[ns]", "[25s]", "[as/3]"? */
static bool is_unit(const char *text, size_t length)
{
    if (length == 0)
        return true;
    if (length < 3 || length > 20 || text[0] != '[' || text[length - 1] != ']')
        return false;
    for (size_t i = 1; i < length - 1; i++)
        if (!(text[i] >= '0' && text[i] <= '9') && !((text[i] | 32) >= 'a' && (text[i] | 32) <= 'z') &&
            text[i] != '/')
            return false;
    return true;
}

static bool read_number(const char **text, const char *end, uint32_t *number_ret)
{
    const char *start = *text;
    uint64_t number = 0;
    for (; *text < end && **text >= '0' && **text <= '9'; (*text)++) {
        number = number * 10 + (uint64_t)(**text - '0');
        if (number > NT_BLZ_ITEM_BYTES)
            return false;
    }
    *number_ret = (uint32_t)number;
    return *text > start;
}

static enum nt_status set_object(struct nt_blz_dtype *dtype)
{
    *dtype =
        (struct nt_blz_dtype){.dtype = nt_element_dtype(NT_ELEMENT_OPAQUE), .is_object = true, .items = 1};
    dtype->dtype.bytes = 8;
    dtype->dtype.numpy = "|O";
    return NT_OK;
}

/* The parts of a code. */
struct plain {
    const struct code *code;
    char letter;
    uint32_t length, bytes;
    bool is_big_endian;
    const char *unit;
    size_t unit_length;
};

static enum nt_element number_of(const struct plain *plain)
{
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if (numbers[i].letter == plain->letter && numbers[i].bytes == plain->bytes)
            return numbers[i].element;
    return NT_ELEMENT_OPAQUE;
}

static const char *arrow_time(const struct plain *plain)
{
    for (size_t i = 0; i < sizeof(times) / sizeof(*times) && !plain->is_big_endian; i++)
        if (times[i].letter == plain->letter && strlen(times[i].unit) == plain->unit_length &&
            !memcmp(times[i].unit, plain->unit, plain->unit_length))
            return times[i].arrow;
    return NULL;
}

/* Maps a code to the model's dtype. Arrow has no byte order, and fixed-length text only as bytes. */
static enum nt_status describe(struct nt_arena *arena, const struct plain *plain, struct nt_dtype *dtype,
                               struct nt_error *error)
{
    const struct code *code = plain->code;
    bool is_element = !plain->is_big_endian && !code->has_unit;
    char order = code->has_order && plain->bytes > 1 ? plain->is_big_endian ? '>' : '<' : '|';
    *dtype = nt_element_dtype(is_element ? number_of(plain) : NT_ELEMENT_OPAQUE);
    dtype->bytes = plain->bytes;
    dtype->number = number_of(plain);
    dtype->is_big_endian = plain->is_big_endian;
    dtype->character_bytes = code->character_bytes;
    if (code->has_unit)
        dtype->arrow = arrow_time(plain);
    else if (code->mean_chunk_bytes == 1 && !(dtype->arrow = nt_arena_format(arena, "w:%u", plain->bytes)))
        return nt_fail_memory(error);
    dtype->numpy = nt_arena_format(arena, "%c%c%u%.*s", order, plain->letter, plain->length,
                                   (int)plain->unit_length, plain->unit);
    return nt_check_memory(dtype->numpy, error);
}

/* Parses a code: byte order (may be omitted), letter, size or length, unit. */
static enum nt_status parse_code(struct nt_arena *arena, const char *text, size_t length,
                                 struct nt_blz_dtype *dtype, struct nt_error *error)
{
    const char *at = text, *end = text + length;
    char order = at < end && *at && strchr("<>=|", *at) ? *at++ : '=';
    if (at < end && *at == 'O' && (end - at == 1 || (end - at == 2 && (at[1] == '8' || at[1] == '4'))))
        return set_object(dtype);
    const struct code *code = at < end ? find_code(*at++) : NULL;
    uint32_t number;
    if (!code || !read_number(&at, end, &number))
        return not_a_type(text, length, error);
    if (code->mean_chunk_bytes == 0 && (number > 63 || !(code->sizes >> number & 1)))
        return not_a_type(text, length, error);
    if (code->has_unit ? !is_unit(at, (size_t)(end - at)) : at != end)
        return not_a_type(text, length, error);
    uint64_t bytes = code->mean_chunk_bytes ? (uint64_t)number * code->mean_chunk_bytes : number;
    if (bytes == 0 || bytes > NT_BLZ_ITEM_BYTES)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "\"%.*s\": an item cannot have %llu bytes", (int)length,
                       text, (unsigned long long)bytes);
    struct plain plain = {
        .code = code,
        .letter = code->letter == 'a' ? 'S' : code->letter,
        .length = number,
        .bytes = (uint32_t)bytes,
        .is_big_endian = order == '>' && code->has_order && bytes > 1,
        .unit = at,
        .unit_length = (size_t)(end - at),
    };
    *dtype = (struct nt_blz_dtype){.is_void = plain.letter == 'V', .items = 1};
    return describe(arena, &plain, &dtype->dtype, error);
}

/* Returns the code of a name. The unit of a date or a time span after it is not consumed. */
static const char *code_of_name(const char *text, size_t length, size_t *used_ret)
{
    for (size_t i = 0; i < sizeof(plain_names) / sizeof(*plain_names); i++) {
        size_t used = strlen(plain_names[i].name);
        bool may_have_unit = (plain_names[i].code[1] | 32) == 'm';
        if (length >= used && !memcmp(text, plain_names[i].name, used) &&
            (length == used || (may_have_unit && text[used] == '['))) {
            *used_ret = used;
            return plain_names[i].code;
        }
    }
    return NULL;
}

/* Parses a plain type: "int32", "<f8", "|S10", "datetime64[ns]", without quotes. NT_CORRUPT. */
static enum nt_status blz_dtype_plain(struct nt_arena *arena, const char *text, size_t length,
                                      struct nt_blz_dtype *dtype, struct nt_error *error)
{
    char expanded[64];
    size_t used;
    const char *code = code_of_name(text, length, &used);
    if (!code)
        return length < sizeof(expanded) ? parse_code(arena, text, length, dtype, error)
                                         : not_a_type(text, length, error);
    int written = snprintf(expanded, sizeof(expanded), "%s%.*s", code, (int)(length - used), text + used);
    if (written < 0 || (size_t)written >= sizeof(expanded))
        return not_a_type(text, length, error);
    return parse_code(arena, expanded, (size_t)written, dtype, error);
}

/* ---- Structured types ---- */

enum { MAXIMUM_MEMBERS = 65536, MAXIMUM_DIMENSIONS = 32 };

struct dtype_parser {
    struct nt_arena *arena;
    struct nt_literal literal;
    unsigned depth;
    enum nt_status status; /* of errors that are not mistakes in the literal */
    struct nt_error *error;
};

/* Members, until their number is known. */
struct member_list {
    struct nt_blz_member *members;
    uint32_t count;
    size_t capacity;
};

static bool parse_type(struct dtype_parser *parser, struct nt_blz_dtype *dtype);

static bool is_well(const struct dtype_parser *parser)
{
    return parser->status == NT_OK && !parser->literal.mistake;
}

static bool out_of_memory(struct dtype_parser *parser)
{
    parser->status = nt_fail_memory(parser->error);
    return false;
}

static bool too_large(struct dtype_parser *parser, const char *what)
{
    parser->status = nt_fail(parser->error, NT_LIMIT, NT_NO_OFFSET, "data type: %s", what);
    return false;
}

/* ---- Pieces ---- */

/* A comma follows each item of a list, but may be missing after the last. */
static void end_item(struct dtype_parser *parser, char end, const char *expected)
{
    if (literal_peek(&parser->literal) != end)
        literal_expect(&parser->literal, ',', expected);
}

static bool parse_string(struct dtype_parser *parser, struct nt_text *text)
{
    struct nt_buffer buffer = {0};
    nt_literal_string(&parser->literal, &buffer);
    text->length = buffer.length;
    text->bytes = nt_buffer_to_arena(&buffer, parser->arena);
    return text->bytes ? is_well(parser) : out_of_memory(parser);
}

/* Parses (2, 3), (2,), (), 2 and puts it before the type's own dimensions. */
static bool parse_shape(struct dtype_parser *parser, struct nt_blz_dtype *dtype)
{
    uint64_t shape[MAXIMUM_DIMENSIONS];
    uint32_t count = 0;
    if (literal_accept(&parser->literal, '(')) {
        while (is_well(parser) && !literal_accept(&parser->literal, ')')) {
            if (count + dtype->dimension_count >= MAXIMUM_DIMENSIONS)
                return too_large(parser, "more than 32 dimensions");
            shape[count++] = nt_literal_integer(&parser->literal);
            end_item(parser, ')', "a comma or the end of a shape");
        }
    } else {
        shape[count++] = nt_literal_integer(&parser->literal);
    }
    uint64_t *dimensions =
        nt_arena_alloc(parser->arena, count + dtype->dimension_count + 1, sizeof(*dimensions));
    if (!dimensions)
        return out_of_memory(parser);
    for (uint32_t i = 0; i < count; i++) {
        if (!nt_checked_multiply(dtype->items, shape[i], &dtype->items))
            return too_large(parser, "the shape of a sub-array");
        dimensions[i] = shape[i];
    }
    if (dtype->dimension_count)
        memcpy(dimensions + count, dtype->dimensions, dtype->dimension_count * sizeof(*dimensions));
    dtype->dimensions = dimensions;
    dtype->dimension_count += count;
    return is_well(parser);
}

static bool member_bytes(struct dtype_parser *parser, const struct nt_blz_member *member, uint64_t *bytes_ret)
{
    if (nt_checked_multiply(member->type.items, member->type.dtype.bytes, bytes_ret) &&
        *bytes_ret <= NT_BLZ_ITEM_BYTES)
        return true;
    return too_large(parser, "a member of more than 256 MiB");
}

static struct nt_blz_member *add_member(struct dtype_parser *parser, struct member_list *list)
{
    if (list->count == MAXIMUM_MEMBERS) {
        too_large(parser, "more than 65536 members");
        return NULL;
    }
    if (!NT_GROW(list->members, list->count, list->capacity)) {
        out_of_memory(parser);
        return NULL;
    }
    struct nt_blz_member *member = &list->members[list->count++];
    *member = (struct nt_blz_member){0};
    return member;
}

/* ---- The model's type of a structure ---- */

static bool add_room(struct dtype_parser *parser, struct nt_dtype_member *part, uint64_t bytes)
{
    struct nt_dtype *room = nt_arena_alloc(parser->arena, 1, sizeof(*room));
    if (!room)
        return out_of_memory(parser);
    *room = nt_element_dtype(NT_ELEMENT_OPAQUE);
    room->bytes = (uint32_t)bytes;
    room->numpy = nt_arena_format(parser->arena, "|V%" PRIu64, bytes);
    *part = (struct nt_dtype_member){.name = {"", 0}, .dtype = room};
    return room->numpy || out_of_memory(parser);
}

/* Lists members and the padding between and after them. NumPy has no list for members that overlap or
 * go backwards: `is_list_ret` is false, and the whole is just bytes. */
static bool list_parts(struct dtype_parser *parser, const struct nt_blz_dtype *dtype,
                       struct nt_dtype_member *parts, uint32_t *count_ret, bool *is_list_ret)
{
    uint64_t at = 0;
    *count_ret = 0;
    for (uint32_t i = 0; i < dtype->member_count; i++) {
        const struct nt_blz_member *member = &dtype->members[i];
        *is_list_ret = member->offset >= at;
        if (!*is_list_ret)
            return true;
        if (member->offset > at && !add_room(parser, &parts[(*count_ret)++], member->offset - at))
            return false;
        parts[(*count_ret)++] = (struct nt_dtype_member){
            .name = member->name,
            .dtype = &member->type.dtype,
            .dimensions = member->type.dimensions,
            .dimension_count = member->type.dimension_count,
        };
        at = member->offset + member->type.items * member->type.dtype.bytes;
    }
    return at == dtype->dtype.bytes || add_room(parser, &parts[(*count_ret)++], dtype->dtype.bytes - at);
}

static void append_part(struct nt_buffer *out, const struct nt_dtype_member *part)
{
    const char *quote = part->dtype->member_count ? "" : "'";
    nt_buffer_append_string(out, out->length > 1 ? ", (" : "(");
    nt_append_literal(out, part->name.bytes, part->name.length);
    nt_buffer_append_format(out, ", %s%s%s", quote, part->dtype->numpy, quote);
    if (part->dimension_count) {
        nt_buffer_append_string(out, ", (");
        for (uint32_t i = 0; i < part->dimension_count; i++)
            nt_buffer_append_format(out, i ? ", %" PRIu64 : "%" PRIu64, part->dimensions[i]);
        nt_buffer_append_string(out, part->dimension_count == 1 ? ",)" : ")");
    }
    nt_buffer_append_byte(out, ')');
}

static bool describe_structure(struct dtype_parser *parser, struct nt_blz_dtype *dtype)
{
    bool is_list = true;
    struct nt_buffer text = {0};
    struct nt_dtype_member *parts =
        nt_arena_alloc(parser->arena, 2 * (size_t)dtype->member_count + 1, sizeof(*parts));
    if (!parts || !list_parts(parser, dtype, parts, &dtype->dtype.member_count, &is_list))
        return out_of_memory(parser);
    if (is_list) {
        dtype->dtype.members = parts;
        nt_buffer_append_byte(&text, '[');
        for (uint32_t i = 0; i < dtype->dtype.member_count; i++)
            append_part(&text, &parts[i]);
        nt_buffer_append_byte(&text, ']');
    } else {
        dtype->dtype.member_count = 0;
        nt_buffer_append_format(&text, "|V%u", dtype->dtype.bytes);
    }
    dtype->dtype.numpy = nt_buffer_to_arena(&text, parser->arena);
    return dtype->dtype.numpy || out_of_memory(parser);
}

/* Builds the dtype from a list of members, whose memory it takes over, and the size of the whole. */
static bool finish_structure(struct dtype_parser *parser, struct member_list *list, uint64_t bytes,
                             struct nt_blz_dtype *dtype)
{
    NT_AUTO_FREE struct nt_blz_member *members = list->members;
    *dtype = (struct nt_blz_dtype){.member_count = list->count, .items = 1};
    *list = (struct member_list){0};
    if (!is_well(parser))
        return false;
    if (bytes == 0 || bytes > NT_BLZ_ITEM_BYTES)
        return too_large(parser, "a structure of no bytes, or of more than 256 MiB");
    dtype->dtype = nt_element_dtype(NT_ELEMENT_OPAQUE);
    dtype->dtype.bytes = (uint32_t)bytes;
    dtype->members = (void *)nt_arena_copy(parser->arena, members, dtype->member_count * sizeof(*members));
    return dtype->members ? describe_structure(parser, dtype) : out_of_memory(parser);
}

/* ---- [('a', '<i4'), ('b', [('x', '<f4')]), ('c', '<f8', (2, 3))] ---- */

/* 'name', or ('title', 'name'). */
static bool parse_name(struct dtype_parser *parser, struct nt_text *name)
{
    if (!literal_accept(&parser->literal, '('))
        return parse_string(parser, name);
    if (!literal_word(&parser->literal, "None") && !parse_string(parser, name))
        return false;
    literal_expect(&parser->literal, ',', "a comma after a title");
    if (!is_well(parser) || !parse_string(parser, name))
        return false;
    literal_expect(&parser->literal, ')', "the end of a title and name");
    return is_well(parser);
}

static bool parse_list_member(struct dtype_parser *parser, struct nt_blz_member *member)
{
    literal_expect(&parser->literal, '(', "a member in parentheses");
    if (!is_well(parser) || !parse_name(parser, &member->name))
        return false;
    literal_expect(&parser->literal, ',', "a comma after a member's name");
    if (!is_well(parser) || !parse_type(parser, &member->type))
        return false;
    if (literal_accept(&parser->literal, ',') && literal_peek(&parser->literal) != ')') {
        if (!parse_shape(parser, &member->type))
            return false;
        literal_accept(&parser->literal, ',');
    }
    literal_expect(&parser->literal, ')', "the end of a member");
    return is_well(parser);
}

/* Bytes without a name are padding; other unnamed members are called f0, f1, ... as in NumPy. */
static bool name_member(struct dtype_parser *parser, struct member_list *list)
{
    struct nt_blz_member *member = &list->members[list->count - 1];
    if (member->name.length)
        return true;
    if (member->type.is_void) {
        list->count--;
        return true;
    }
    member->name.bytes = nt_arena_format(parser->arena, "f%" PRIu32, list->count - 1);
    if (!member->name.bytes)
        return out_of_memory(parser);
    member->name.length = strlen(member->name.bytes);
    return true;
}

static bool parse_list(struct dtype_parser *parser, struct nt_blz_dtype *dtype)
{
    struct member_list list = {0};
    uint64_t offset = 0, bytes;
    while (is_well(parser) && !literal_accept(&parser->literal, ']')) {
        struct nt_blz_member *member = add_member(parser, &list);
        if (!member || !parse_list_member(parser, member) || !member_bytes(parser, member, &bytes))
            break;
        member->offset = offset;
        offset += bytes;
        if (!name_member(parser, &list))
            break;
        end_item(parser, ']', "a comma or the end of the members");
    }
    return finish_structure(parser, &list, offset, dtype);
}

/* ---- {'names': [...], 'formats': [...], 'offsets': [...], 'itemsize': 16} ---- */

struct dictionary {
    struct member_list names, formats; /* only the names, only the types */
    uint64_t *offsets;
    uint32_t offset_count;
    uint64_t bytes;
    bool has_bytes, is_aligned;
};

static void dictionary_deinit(struct dictionary *dictionary)
{
    free(dictionary->names.members);
    free(dictionary->formats.members);
}

static bool parse_offsets(struct dtype_parser *parser, struct dictionary *dictionary)
{
    dictionary->offsets = nt_arena_alloc(parser->arena, MAXIMUM_MEMBERS, sizeof(uint64_t));
    if (!dictionary->offsets)
        return out_of_memory(parser);
    dictionary->offset_count = 0;
    while (is_well(parser) && !literal_accept(&parser->literal, ']')) {
        if (dictionary->offset_count == MAXIMUM_MEMBERS)
            return too_large(parser, "more than 65536 offsets");
        dictionary->offsets[dictionary->offset_count++] = nt_literal_integer(&parser->literal);
        end_item(parser, ']', "a comma or the end of the offsets");
    }
    return is_well(parser);
}

static bool parse_names(struct dtype_parser *parser, struct member_list *names)
{
    while (is_well(parser) && !literal_accept(&parser->literal, ']')) {
        struct nt_blz_member *member = add_member(parser, names);
        if (!member || (!literal_word(&parser->literal, "None") && !parse_string(parser, &member->name)))
            return false;
        end_item(parser, ']', "a comma or the end of the names");
    }
    return is_well(parser);
}

static bool parse_formats(struct dtype_parser *parser, struct member_list *formats)
{
    while (is_well(parser) && !literal_accept(&parser->literal, ']')) {
        struct nt_blz_member *member = add_member(parser, formats);
        if (!member || !parse_type(parser, &member->type))
            return false;
        end_item(parser, ']', "a comma or the end of the formats");
    }
    return is_well(parser);
}

static bool parse_titles(struct dtype_parser *parser)
{
    struct member_list titles = {0};
    bool parsed = parse_names(parser, &titles);
    free(titles.members);
    return parsed;
}

static bool parse_entry(struct dtype_parser *parser, struct dictionary *dictionary)
{
    struct nt_literal *literal = &parser->literal;
    struct nt_text key;
    if (!parse_string(parser, &key))
        return false;
    literal_expect(literal, ':', "a colon after a key");
    if (!strcmp(key.bytes, "itemsize")) {
        dictionary->bytes = nt_literal_integer(literal);
        dictionary->has_bytes = true;
        return is_well(parser);
    }
    if (!strcmp(key.bytes, "aligned")) {
        dictionary->is_aligned = literal_word(literal, "True");
        if (!dictionary->is_aligned && !literal_word(literal, "False"))
            literal_fail(literal, "True or False");
        return is_well(parser);
    }
    literal_expect(literal, '[', "a list");
    if (!strcmp(key.bytes, "names") && !dictionary->names.count)
        return parse_names(parser, &dictionary->names);
    if (!strcmp(key.bytes, "formats") && !dictionary->formats.count)
        return parse_formats(parser, &dictionary->formats);
    if (!strcmp(key.bytes, "offsets") && !dictionary->offsets)
        return parse_offsets(parser, dictionary);
    if (!strcmp(key.bytes, "titles"))
        return parse_titles(parser);
    literal_fail(literal, "one of the keys names, formats, offsets, titles, itemsize, aligned");
    return false;
}

/* Joins formats with names and offsets; without offsets, members follow each other. */
static bool join_dictionary(struct dtype_parser *parser, struct dictionary *dictionary,
                            struct nt_blz_dtype *dtype)
{
    uint64_t end = 0;
    bool has_offsets = dictionary->offsets != NULL;
    if (dictionary->names.count != dictionary->formats.count || dictionary->names.count == 0 ||
        (has_offsets && dictionary->offset_count != dictionary->names.count) ||
        (!has_offsets && dictionary->is_aligned))
        literal_fail(&parser->literal, "as many names as formats and offsets");
    for (uint32_t i = 0; is_well(parser) && i < dictionary->formats.count; i++) {
        struct nt_blz_member *member = &dictionary->formats.members[i];
        uint64_t bytes;
        member->name = dictionary->names.members[i].name;
        member->offset = has_offsets ? dictionary->offsets[i] : end;
        if (!member_bytes(parser, member, &bytes))
            break;
        if (member->offset > NT_BLZ_ITEM_BYTES)
            too_large(parser, "a structure of more than 256 MiB");
        if (member->offset + bytes > end)
            end = member->offset + bytes;
    }
    if (dictionary->has_bytes && dictionary->bytes < end)
        literal_fail(&parser->literal, "an itemsize that holds all members");
    return finish_structure(parser, &dictionary->formats, dictionary->has_bytes ? dictionary->bytes : end,
                            dtype);
}

static bool parse_dictionary(struct dtype_parser *parser, struct nt_blz_dtype *dtype)
{
    NT_CLEANUP(dictionary_deinit) struct dictionary dictionary = {0};
    while (is_well(parser) && !literal_accept(&parser->literal, '}')) {
        if (!parse_entry(parser, &dictionary))
            return false;
        end_item(parser, '}', "a comma or the end of the dictionary");
    }
    return is_well(parser) && join_dictionary(parser, &dictionary, dtype);
}

/* ---- Any type ---- */

static bool parse_plain(struct dtype_parser *parser, struct nt_blz_dtype *dtype)
{
    struct nt_text text;
    if (!parse_string(parser, &text))
        return false;
    parser->status = blz_dtype_plain(parser->arena, text.bytes, text.length, dtype, parser->error);
    return is_well(parser);
}

/* ('<f4', (2, 3)), after the bracket. */
static bool parse_sub_array(struct dtype_parser *parser, struct nt_blz_dtype *dtype)
{
    if (!parse_type(parser, dtype))
        return false;
    literal_expect(&parser->literal, ',', "a comma before a shape");
    if (!is_well(parser) || !parse_shape(parser, dtype))
        return false;
    literal_expect(&parser->literal, ')', "the end of a sub-array");
    return is_well(parser);
}

static bool parse_type(struct dtype_parser *parser, struct nt_blz_dtype *dtype)
{
    if (parser->depth == NT_BLZ_DTYPE_DEPTH)
        return too_large(parser, "nested deeper than 32");
    bool parsed = false;
    parser->depth++;
    if (nt_literal_is_string(&parser->literal))
        parsed = parse_plain(parser, dtype);
    else if (literal_accept(&parser->literal, '['))
        parsed = parse_list(parser, dtype);
    else if (literal_accept(&parser->literal, '{'))
        parsed = parse_dictionary(parser, dtype);
    else if (literal_accept(&parser->literal, '('))
        parsed = parse_sub_array(parser, dtype);
    else
        literal_fail(&parser->literal, "a data type");
    parser->depth--;
    return parsed;
}

enum nt_status nt_blz_dtype_parse(struct nt_arena *arena, const char *text, size_t length,
                                  struct nt_blz_dtype *dtype, struct nt_error *error)
{
    struct dtype_parser parser = {.arena = arena, .error = error};
    parser.literal = (struct nt_literal){.text = text, .end = length};
    *dtype = (struct nt_blz_dtype){0};
    char first = literal_peek(&parser.literal);
    if (!nt_literal_is_string(&parser.literal) && (!first || !strchr("[{(", first)))
        return blz_dtype_plain(arena, text, length, dtype, error);
    if (parse_type(&parser, dtype) && literal_peek(&parser.literal))
        literal_fail(&parser.literal, "the end of the data type");
    if (parser.status == NT_OK && parser.literal.mistake)
        return nt_fail(error, NT_CORRUPT, parser.literal.at, "data type \"%.*s\": expected %s",
                       (int)(length > 80 ? 80 : length), text, parser.literal.mistake);
    return parser.status;
}
