/* SPDX-License-Identifier: MIT
 *
 * Parsing names of C++ types, and titles of leaves and members.
 */
#include "formats/ttree/component.h"

#include <math.h>

#include "core/base/text.h"
#include "support.h"

static struct nt_cpp_type parse(const char *text)
{
    return nt_cpp_type_parse(nt_text_of(text));
}

static void assert_text(struct nt_text text, const char *expected)
{
    ck_assert_msg(nt_text_is(text, expected), "'%.*s' instead of '%s'", (int)text.length, text.bytes,
                  expected);
}

TEST(numbers_have_many_names)
{
    static const struct {
        const char *name;
        int32_t type;
    } rows[] = {
        {"bool", NT_STREAMER_BOOL},
        {"Char_t", NT_STREAMER_CHAR},
        {"unsigned char", NT_STREAMER_UCHAR},
        {"short", NT_STREAMER_SHORT},
        {"UShort_t", NT_STREAMER_USHORT},
        {" int ", NT_STREAMER_INT},
        {"const unsigned int", NT_STREAMER_UINT},
        {"long", NT_STREAMER_LONG},
        {"unsigned long", NT_STREAMER_ULONG},
        {"Long64_t", NT_STREAMER_LONG64},
        {"std::uint64_t", NT_STREAMER_ULONG64},
        {"long long", NT_STREAMER_LONG64},
        {"float", NT_STREAMER_FLOAT},
        {"Double_t", NT_STREAMER_DOUBLE},
        {"Double32_t", NT_STREAMER_DOUBLE32},
        {"Float16_t", NT_STREAMER_FLOAT16},
    };
    for (int i = 0; i < COUNT_OF(rows); i++) {
        struct nt_cpp_type type = parse(rows[i].name);
        ck_assert_msg(type.kind == NT_CPP_NUMBER, "%s", rows[i].name);
        ck_assert_int_eq(type.number, rows[i].type);
    }
}

TEST(other_types_have_kinds_and_arguments)
{
    static const struct {
        const char *name;
        enum nt_cpp_kind kind;
        const char *first, *second;
    } rows[] = {
        {"string", NT_CPP_STRING, "", ""},
        {"std::string", NT_CPP_STRING, "", ""},
        {"TString", NT_CPP_TSTRING, "", ""},
        {"char*", NT_CPP_CHAR_STAR, "", ""},
        {"const Char_t *", NT_CPP_CHAR_STAR, "", ""},
        {"TObject*", NT_CPP_POINTER, "TObject", ""},
        {"const vector<int> *", NT_CPP_POINTER, "vector<int>", ""},
        {"vector<Foo*>", NT_CPP_COLLECTION, "Foo*", ""},
        {"unique_ptr<Foo>", NT_CPP_POINTER, "Foo", ""},
        {"vector<int>", NT_CPP_COLLECTION, "int", ""},
        {"std::vector<std::vector<float> >", NT_CPP_COLLECTION, "std::vector<float>", ""},
        {"vector<double,allocator<double> >", NT_CPP_COLLECTION, "double", "allocator<double>"},
        {"set<int>", NT_CPP_COLLECTION, "int", ""},
        {"deque<Foo<1,2>>", NT_CPP_COLLECTION, "Foo<1,2>", ""},
        {"ROOT::VecOps::RVec<float>", NT_CPP_COLLECTION, "float", ""},
        {"map<string, vector<double> >", NT_CPP_MAP, "string", "vector<double>"},
        {"unordered_multimap<int,pair<int,float>>", NT_CPP_MAP, "int", "pair<int,float>"},
        {"pair<int,float>", NT_CPP_PAIR, "int", "float"},
        {"bitset<16>", NT_CPP_BITSET, "16", ""},
        {"TMatrixTSym<double>", NT_CPP_CLASS, "double", ""},
        {"ns::Event", NT_CPP_CLASS, "", ""},
    };
    for (int i = 0; i < COUNT_OF(rows); i++) {
        struct nt_cpp_type type = parse(rows[i].name);
        ck_assert_msg(type.kind == rows[i].kind, "%s", rows[i].name);
        assert_text(type.arguments[0], rows[i].first);
        assert_text(type.arguments[1], rows[i].second);
    }
}

TEST(broken_names_are_classes)
{
    static const char *const names[] = {"",         "vector",   "vector<",      "vector<int", "vector<int>>x",
                                        "vector<>", "map<int>", "vector<int>>", ">",          "<>"};
    for (int i = 0; i < COUNT_OF(names); i++)
        ck_assert_msg(parse(names[i]).kind == NT_CPP_CLASS, "%s", names[i]);
}

TEST(names_are_compared_without_spaces_and_namespace_std)
{
    ck_assert(
        nt_cpp_names_are_equal(nt_text_of("vector<vector<int> >"), nt_text_of("std::vector<vector<int>>")));
    ck_assert(nt_cpp_names_are_equal(nt_text_of("pair<int,std::string>"), nt_text_of("pair<int, string>")));
    ck_assert(!nt_cpp_names_are_equal(nt_text_of("vector<int>"), nt_text_of("vector<int> x")));
    ck_assert(!nt_cpp_names_are_equal(nt_text_of("Foo"), nt_text_of("Fo")));
    assert_text(nt_cpp_without_dimensions(nt_text_of("arr[10]")), "arr");
    assert_text(nt_cpp_without_dimensions(nt_text_of("arr")), "arr");
}

static void assert_dimensions(const char *title, uint32_t length, uint32_t count, uint32_t first,
                              uint32_t second)
{
    struct nt_dimensions dimensions = nt_title_dimensions(nt_text_of(title), length);
    ck_assert_msg(dimensions.count == count, "%s", title);
    ck_assert_uint_eq(dimensions.sizes[0], first);
    ck_assert_uint_eq(dimensions.sizes[1], second);
}

TEST(titles_of_leaves_have_dimensions)
{
    assert_dimensions("x", 1, 0, 0, 0);
    assert_dimensions("x[3]", 3, 1, 3, 0);
    assert_dimensions("[2][3]", 6, 2, 2, 3);
    assert_dimensions("x[n][4]", 4, 1, 4, 0);
    assert_dimensions("x[n]", 1, 0, 0, 0);
    assert_dimensions("d[-2.71,10,30]", 3, 1, 3, 0);
    assert_dimensions("x[2][3][0,10,12]", 6, 2, 2, 3);
    assert_dimensions("x[n_]", 4, 1, 4, 0);               /* only the leaf decides */
    assert_dimensions("x[2][3]", 5, 1, 5, 0);             /* the leaf's length counts */
    assert_dimensions("x[1][1][1][1][1][1]", 1, 0, 0, 0); /* more than possible */
    assert_dimensions("x[99999999999999999999]", 7, 1, 7, 0);
}

static void assert_number(int32_t type, const char *title, enum nt_encoding_kind encoding, double minimum,
                          double maximum)
{
    struct nt_number number;
    ck_assert(nt_number_of(type, nt_text_of(title), &number));
    ck_assert_msg(number.encoding == encoding, "%s", title);
    ck_assert_double_eq(number.minimum, minimum);
    ck_assert_double_eq(number.maximum, maximum);
}

/* The rules of TStreamerElement's documentation: [xmin, xmax, bits], 32 bits without a number. */
TEST(small_reals_have_ranges)
{
    assert_number(NT_STREAMER_DOUBLE32, "", NT_ENCODING_DOUBLE32, 0, 0);
    assert_number(NT_STREAMER_DOUBLE32, "a comment [cm]", NT_ENCODING_DOUBLE32, 0, 0);
    assert_number(NT_STREAMER_DOUBLE32, "[0,0,14]", NT_ENCODING_DOUBLE32_BITS, 14, 0);
    assert_number(NT_STREAMER_DOUBLE32, "[0,0,16]", NT_ENCODING_DOUBLE32, 0, 0);
    assert_number(NT_STREAMER_DOUBLE32, "d[-2.71,10,30]", NT_ENCODING_DOUBLE32_RANGE, -2.71,
                  1073741824 / 12.71);
    assert_number(NT_STREAMER_DOUBLE32, "[n][0, 10]", NT_ENCODING_DOUBLE32_RANGE, 0, 4294967295.0 / 10);
    assert_number(NT_STREAMER_DOUBLE32, "[-pi,pi,8]", NT_ENCODING_DOUBLE32_RANGE, -M_PI, 256 / (2 * M_PI));
    assert_number(NT_STREAMER_DOUBLE32, "[0,2*Pi,8]", NT_ENCODING_DOUBLE32_RANGE, 0, 256 / (2 * M_PI));
    assert_number(NT_STREAMER_DOUBLE32, "[0,1,99]", NT_ENCODING_DOUBLE32_RANGE, 0, 4294967295.0);
    assert_number(NT_STREAMER_FLOAT16, "", NT_ENCODING_FLOAT16_BITS, 0, 0);
    assert_number(NT_STREAMER_FLOAT16, "[0,0,5]", NT_ENCODING_FLOAT16_BITS, 5, 0);
    assert_number(NT_STREAMER_FLOAT16, "[1,2,3]", NT_ENCODING_FLOAT16_RANGE, 1, 8);
}

TEST(basic_types_have_encodings)
{
    struct nt_number number;
    assert_number(NT_STREAMER_CHAR, "", NT_ENCODING_INT8, 0, 0);
    assert_number(NT_STREAMER_BOOL, "", NT_ENCODING_BOOL8, 0, 0);
    assert_number(NT_STREAMER_LONG, "", NT_ENCODING_BIG_INT64, 0, 0);
    assert_number(NT_STREAMER_COUNTER, "", NT_ENCODING_BIG_UINT32, 0, 0);
    ck_assert(!nt_number_of(NT_STREAMER_CHAR_STAR, nt_text_of(""), &number));
    ck_assert(!nt_number_of(NT_STREAMER_OBJECT, nt_text_of(""), &number));
    ck_assert(!nt_number_of(-1, nt_text_of(""), &number));
    ck_assert(!nt_number_of(INT32_MAX, nt_text_of(""), &number));
}
