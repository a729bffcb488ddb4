/* SPDX-License-Identifier: MIT
 *
 * Parses names of C++ types: collections, pairs, strings and numbers; titles of leaves and members.
 */
#include "formats/ttree/component.h"

#include <math.h>

/* ---- Texts ---- */

static bool is_space(char character)
{
    return character == ' ' || character == '\t';
}

static struct nt_text trimmed(struct nt_text text)
{
    while (text.length && is_space(*text.bytes))
        text.bytes++, text.length--;
    while (text.length && is_space(text.bytes[text.length - 1]))
        text.length--;
    return text;
}

static bool drop_end(struct nt_text *text, const char *end)
{
    size_t length = strlen(end);
    if (text->length < length || memcmp(text->bytes + text->length - length, end, length) != 0)
        return false;
    text->length -= length;
    *text = trimmed(*text);
    return true;
}

/* Removes what does not change how a type is stored. */
static struct nt_text without_qualifiers(struct nt_text text)
{
    static const char *const prefixes[] = {"const ", "volatile ", "enum ", "class ", "struct ", "std::"};
    text = trimmed(text);
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
        if (nt_text_skip(&text, prefixes[i]))
            return without_qualifiers(text);
    return drop_end(&text, " const") ? without_qualifiers(text) : text;
}

/* The next character that counts in a comparison, or 0 at the end. */
static char next_character(struct nt_text *text)
{
    while (text->length) {
        if (nt_text_skip(text, "std::"))
            continue;
        text->length--;
        char character = *text->bytes++;
        if (!is_space(character))
            return character;
    }
    return 0;
}

bool nt_cpp_names_are_equal(struct nt_text a, struct nt_text b)
{
    for (;;) {
        char of_a = next_character(&a), of_b = next_character(&b);
        if (of_a != of_b)
            return false;
        if (!of_a)
            return true;
    }
}

struct nt_text nt_cpp_without_dimensions(struct nt_text name)
{
    const char *bracket = name.length ? memchr(name.bytes, '[', name.length) : NULL;
    if (bracket)
        name.length = (size_t)(bracket - name.bytes);
    return name;
}

/* ---- Types ---- */

static const struct number_names {
    int32_t type;
    const char *spellings[14]; /* up to NULL */
} number_names[] = {
    {NT_STREAMER_BOOL, {"bool", "Bool_t"}},
    {NT_STREAMER_CHAR, {"char", "signed char", "Char_t", "Text_t", "int8_t", "Int8_t"}},
    {NT_STREAMER_UCHAR, {"unsigned char", "UChar_t", "Byte_t", "byte", "uint8_t", "UInt8_t"}},
    {NT_STREAMER_SHORT,
     {"short", "signed short", "short int", "Short_t", "Version_t", "Font_t", "Style_t", "Marker_t",
      "Width_t", "Color_t", "SCoord_t", "int16_t", "Int16_t"}},
    {NT_STREAMER_USHORT, {"unsigned short", "unsigned short int", "UShort_t", "uint16_t", "UInt16_t"}},
    {NT_STREAMER_INT, {"int", "signed int", "signed", "Int_t", "Ssiz_t", "Seek_t", "int32_t", "Int32_t"}},
    {NT_STREAMER_UINT, {"unsigned int", "unsigned", "UInt_t", "uint32_t", "UInt32_t"}},
    {NT_STREAMER_LONG, {"long", "signed long", "long int", "Long_t"}},
    {NT_STREAMER_ULONG, {"unsigned long", "unsigned long int", "ULong_t", "size_t"}},
    {NT_STREAMER_LONG64,
     {"long long", "signed long long", "long long int", "Long64_t", "int64_t", "Int64_t"}},
    {NT_STREAMER_ULONG64,
     {"unsigned long long", "unsigned long long int", "ULong64_t", "uint64_t", "UInt64_t"}},
    {NT_STREAMER_FLOAT, {"float", "Float_t", "Real_t", "Angle_t", "Size_t"}},
    {NT_STREAMER_DOUBLE, {"double", "Double_t", "Axis_t", "Stat_t", "Coord_t"}},
    {NT_STREAMER_DOUBLE32, {"Double32_t"}},
    {NT_STREAMER_FLOAT16, {"Float16_t"}},
};

static const struct template_names {
    enum nt_cpp_kind kind;
    const char *spellings[13]; /* up to NULL */
} template_names[] = {
    {NT_CPP_COLLECTION,
     {"vector", "list", "forward_list", "deque", "set", "multiset", "unordered_set", "unordered_multiset",
      "RVec", "ROOT::RVec", "VecOps::RVec", "ROOT::VecOps::RVec"}},
    {NT_CPP_MAP, {"map", "multimap", "unordered_map", "unordered_multimap"}},
    {NT_CPP_PAIR, {"pair"}},
    {NT_CPP_BITSET, {"bitset"}},
    {NT_CPP_POINTER, {"unique_ptr", "shared_ptr"}},
};

/* Typedefs of ROOT's classes. A branch may have one as the name of its class; descriptions never do. */
static const struct {
    const char *spellings[3]; /* up to NULL */
    const char *class_name;
} typedefs[] = {
    {{"TMatrix", "TMatrixF"}, "TMatrixT<float>"},  {{"TMatrixD"}, "TMatrixT<double>"},
    {{"TMatrixFSym"}, "TMatrixTSym<float>"},       {{"TMatrixDSym"}, "TMatrixTSym<double>"},
    {{"TMatrixFSparse"}, "TMatrixTSparse<float>"}, {{"TMatrixDSparse"}, "TMatrixTSparse<double>"},
    {{"TVector", "TVectorF"}, "TVectorT<float>"},  {{"TVectorD"}, "TVectorT<double>"},
};

struct nt_text nt_cpp_without_typedef(struct nt_text name)
{
    for (size_t i = 0; i < sizeof(typedefs) / sizeof(*typedefs); i++)
        if (nt_text_is_one_of(name, typedefs[i].spellings))
            return nt_text_of(typedefs[i].class_name);
    return name;
}

/* Splits what is between the outermost brackets at its outer commas. False if brackets do not match. */
static bool split_arguments(struct nt_text text, struct nt_text arguments[2])
{
    size_t depth = 0, begin = 0, count = 0;
    for (size_t i = 0; i <= text.length; i++) {
        char character = i < text.length ? text.bytes[i] : ',';
        if (character == '<' || character == '(')
            depth++;
        else if ((character == '>' || character == ')') && depth-- == 0)
            return false;
        if (character != ',' || (depth && i < text.length))
            continue;
        if (count < 2)
            arguments[count++] = trimmed((struct nt_text){text.bytes + begin, i - begin});
        begin = i + 1;
    }
    return depth == 0;
}

static enum nt_cpp_kind template_kind(struct nt_text name, const struct nt_text arguments[2])
{
    for (size_t i = 0; i < sizeof(template_names) / sizeof(*template_names); i++) {
        if (!nt_text_is_one_of(name, template_names[i].spellings))
            continue;
        enum nt_cpp_kind kind = template_names[i].kind;
        bool takes_two = kind == NT_CPP_MAP || kind == NT_CPP_PAIR;
        return arguments[0].length && (!takes_two || arguments[1].length) ? kind : NT_CPP_CLASS;
    }
    return NT_CPP_CLASS;
}

static void parse_template(struct nt_cpp_type *type)
{
    const char *bracket = memchr(type->name.bytes, '<', type->name.length);
    if (!bracket || type->name.bytes[type->name.length - 1] != '>')
        return;
    struct nt_text base = {type->name.bytes, (size_t)(bracket - type->name.bytes)};
    struct nt_text inner = {bracket + 1, type->name.length - base.length - 2};
    if (split_arguments(inner, type->arguments))
        type->kind = template_kind(trimmed(base), type->arguments);
}

struct nt_cpp_type nt_cpp_type_parse(struct nt_text text)
{
    struct nt_cpp_type type = {.kind = NT_CPP_CLASS, .name = without_qualifiers(text)};
    struct nt_text pointee = type.name;
    if (drop_end(&pointee, "*") || drop_end(&pointee, "&")) {
        bool is_text = nt_text_is(pointee, "char") || nt_text_is(pointee, "Char_t");
        type.kind = is_text ? NT_CPP_CHAR_STAR : NT_CPP_POINTER;
        if (!is_text)
            type.arguments[0] = without_qualifiers(pointee);
        return type;
    }
    if (nt_text_is(type.name, "string") || nt_text_is(type.name, "basic_string<char>")) {
        type.kind = NT_CPP_STRING;
    } else if (nt_text_is(type.name, "TString")) {
        type.kind = NT_CPP_TSTRING;
    } else if (type.name.length) {
        for (size_t i = 0; i < sizeof(number_names) / sizeof(*number_names); i++)
            if (nt_text_is_one_of(type.name, number_names[i].spellings))
                return (struct nt_cpp_type){NT_CPP_NUMBER, type.name, number_names[i].type, {{0}}};
        parse_template(&type);
    }
    return type;
}

/* ---- Titles ---- */

/* The inside of the next pair of square brackets; moves the title after it. */
static bool next_bracket(struct nt_text *title, struct nt_text *inside_ret)
{
    const char *left = title->length ? memchr(title->bytes, '[', title->length) : NULL;
    if (!left)
        return false;
    size_t skipped = (size_t)(left + 1 - title->bytes);
    struct nt_text rest = {left + 1, title->length - skipped};
    const char *right = rest.length ? memchr(rest.bytes, ']', rest.length) : NULL;
    if (!right)
        return false;
    *inside_ret = trimmed((struct nt_text){rest.bytes, (size_t)(right - rest.bytes)});
    size_t used = (size_t)(right + 1 - rest.bytes);
    *title = (struct nt_text){right + 1, rest.length - used};
    return true;
}

/* A number of digits only, as a size of an array. */
static bool parse_size(struct nt_text text, uint32_t *size_ret)
{
    uint64_t size = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9')
            return false;
        size = size * 10 + (uint64_t)(text.bytes[i] - '0');
        if (size > INT32_MAX)
            return false;
    }
    *size_ret = (uint32_t)size;
    return text.length && size > 0;
}

struct nt_dimensions nt_title_dimensions(struct nt_text title, uint32_t length)
{
    struct nt_dimensions dimensions = {0};
    struct nt_text inside;
    uint64_t product = 1;
    bool fits = true;
    while (fits && next_bracket(&title, &inside)) {
        uint32_t size;
        if (!parse_size(inside, &size))
            continue;
        fits = dimensions.count < NT_STREAMER_DIMENSIONS && nt_checked_multiply(product, size, &product);
        if (fits)
            dimensions.sizes[dimensions.count++] = size;
    }
    if (fits && product == length)
        return dimensions;
    return length > 1 ? (struct nt_dimensions){1, {length}} : (struct nt_dimensions){0};
}

/* ---- Numbers ---- */

/* One end of a range: a number, or an expression with pi, as ROOT reads it. */
static double parse_bound(struct nt_text text)
{
    enum { LIMIT = 40 };
    static const struct {
        const char *text;
        double factor;
    } names[] = {{"2pi", 2}, {"2*pi", 2}, {"twopi", 2}, {"pi/2", .5}, {"pi/4", .25}, {"pi", 1}};
    char bound[LIMIT] = "";
    size_t length = 0;
    for (size_t i = 0; i < text.length && length < LIMIT - 1; i++) {
        char character = text.bytes[i];
        if (!is_space(character))
            bound[length++] =
                (char)(character >= 'A' && character <= 'Z' ? character - 'A' + 'a' : character);
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strstr(bound, names[i].text))
            return names[i].factor * M_PI * (strchr(bound, '-') ? -1 : 1);
    return strtod(bound, NULL);
}

struct range {
    double minimum, factor; /* factor 0: none; then the minimum is a number of bits, or 0 */
};

/* The bracket with a comma; the first one may be a dimension. */
static bool find_range(struct nt_text title, struct nt_text *inside_ret)
{
    for (int tries = 0; tries < 2 && next_bracket(&title, inside_ret); tries++)
        if (inside_ret->length && memchr(inside_ret->bytes, ',', inside_ret->length))
            return true;
    return false;
}

/* By ROOT's rules for "[xmin, xmax, bits]". */
static struct range parse_range(struct nt_text title)
{
    enum { ALL_BITS = 32, MINIMUM_BITS = 2, FEW_BITS = 15 };
    struct nt_text parts[3] = {{0}};
    if (!find_range(title, &parts[0]))
        return (struct range){0, 0};
    for (size_t i = 0; i < 2; i++) {
        const char *comma = parts[i].length ? memchr(parts[i].bytes, ',', parts[i].length) : NULL;
        if (!comma)
            break;
        size_t length = (size_t)(comma - parts[i].bytes);
        parts[i + 1] = (struct nt_text){comma + 1, parts[i].length - length - 1};
        parts[i].length = length;
    }
    double bits = parts[2].length ? trunc(parse_bound(parts[2])) : ALL_BITS;
    if (!(bits >= MINIMUM_BITS && bits <= ALL_BITS))
        bits = ALL_BITS;
    double minimum = parse_bound(parts[0]), maximum = parse_bound(parts[1]);
    if (minimum < maximum) {
        double steps = bits < ALL_BITS ? ldexp(1, (int)bits) : (double)UINT32_MAX;
        return (struct range){minimum, steps / (maximum - minimum)};
    }
    return (struct range){bits < FEW_BITS ? bits : minimum, 0};
}

static struct nt_number small_real(bool is_double, struct nt_text title)
{
    struct range range = parse_range(title);
    if (range.factor != 0)
        return (struct nt_number){is_double ? NT_ENCODING_DOUBLE32_RANGE : NT_ENCODING_FLOAT16_RANGE,
                                  range.minimum, range.factor};
    if (is_double && range.minimum == 0)
        return (struct nt_number){.encoding = NT_ENCODING_DOUBLE32};
    return (struct nt_number){is_double ? NT_ENCODING_DOUBLE32_BITS : NT_ENCODING_FLOAT16_BITS, range.minimum,
                              0};
}

bool nt_number_of(int32_t type, struct nt_text title, struct nt_number *number_ret)
{
    /* A counter is unsigned: a length is never negative. */
    static const uint8_t encodings[] = {
        [NT_STREAMER_CHAR] = NT_ENCODING_INT8,          [NT_STREAMER_LEGACY_CHAR] = NT_ENCODING_INT8,
        [NT_STREAMER_UCHAR] = NT_ENCODING_UINT8,        [NT_STREAMER_SHORT] = NT_ENCODING_BIG_INT16,
        [NT_STREAMER_USHORT] = NT_ENCODING_BIG_UINT16,  [NT_STREAMER_INT] = NT_ENCODING_BIG_INT32,
        [NT_STREAMER_UINT] = NT_ENCODING_BIG_UINT32,    [NT_STREAMER_COUNTER] = NT_ENCODING_BIG_UINT32,
        [NT_STREAMER_BITS] = NT_ENCODING_BIG_UINT32,    [NT_STREAMER_LONG] = NT_ENCODING_BIG_INT64,
        [NT_STREAMER_LONG64] = NT_ENCODING_BIG_INT64,   [NT_STREAMER_ULONG] = NT_ENCODING_BIG_UINT64,
        [NT_STREAMER_ULONG64] = NT_ENCODING_BIG_UINT64, [NT_STREAMER_FLOAT] = NT_ENCODING_BIG_REAL32,
        [NT_STREAMER_DOUBLE] = NT_ENCODING_BIG_REAL64,  [NT_STREAMER_BOOL] = NT_ENCODING_BOOL8,
        [NT_STREAMER_FLOAT16] = NT_ENCODING_BIT, /* not of this table */
    };
    *number_ret = (struct nt_number){0};
    if (type == NT_STREAMER_FLOAT16 || type == NT_STREAMER_DOUBLE32) {
        *number_ret = small_real(type == NT_STREAMER_DOUBLE32, title);
        return true;
    }
    if (type < 0 || type >= (int32_t)sizeof(encodings) || encodings[type] == NT_ENCODING_BIT)
        return false;
    number_ret->encoding = encodings[type];
    return true;
}
