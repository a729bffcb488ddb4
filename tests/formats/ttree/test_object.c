/* SPDX-License-Identifier: MIT
 *
 * Objects written by hand in the format of ROOT's buffers: what the walk shows of each kind of member, and
 * its messages about damage.
 */
#include <stdio.h>

#include "root_buffer.h"
#include "support.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "formats/ttree/ttree.h"

enum { KEY_BYTES = 50 };

static struct nt_error error;

/* ---- Classes ---- */

#define TEXT(string)                                                                                         \
    {                                                                                                        \
        string, sizeof(string) - 1                                                                           \
    }

static const struct nt_streamer_element named[] = {
    {.name = TEXT("TObject"), .type_name = TEXT("BASE"), .type = NT_STREAMER_TOBJECT},
    {.name = TEXT("fName"), .type_name = TEXT("TString"), .type = NT_STREAMER_TSTRING},
    {.name = TEXT("fTitle"), .type_name = TEXT("TString"), .type = NT_STREAMER_TSTRING},
};
static const struct nt_streamer_element holder[] = {
    {.name = TEXT("TNamed"), .type_name = TEXT("BASE"), .type = NT_STREAMER_TNAMED},
    {.name = TEXT("fN"), .type_name = TEXT("int"), .type = NT_STREAMER_COUNTER},
    {.name = TEXT("fX"),
     .type_name = TEXT("float*"),
     .type = NT_STREAMER_OFFSET_P + NT_STREAMER_FLOAT,
     .counter = TEXT("fN")},
    {.name = TEXT("fM"),
     .type_name = TEXT("short"),
     .type = NT_STREAMER_OFFSET_L + NT_STREAMER_SHORT,
     .length = 3},
    {.name = TEXT("fNext"), .type_name = TEXT("Holder*"), .type = NT_STREAMER_OBJECT_P},
};
static const struct nt_streamer_element members[] = {
    {.name = TEXT("fVector"),
     .type_name = TEXT("vector<int>"),
     .type = NT_STREAMER_STL,
     .stl_type = 1,
     .content_type = NT_STREAMER_INT},
    {.name = TEXT("fMap"), .type_name = TEXT("map<int,int>"), .type = NT_STREAMER_STL, .stl_type = 4},
    {.name = TEXT("fText"),
     .type_name = TEXT("string"),
     .type = NT_STREAMER_STL_STRING,
     .stl_type = 365,
     .content_type = 365},
    {.name = TEXT("fArray"), .type_name = TEXT("TArrayS"), .type = NT_STREAMER_ANY},
    {.name = TEXT("fPlain"), .type_name = TEXT("Plain"), .type = NT_STREAMER_ANY},
    {.name = TEXT("fTwo"),
     .type_name = TEXT("Plain"),
     .type = NT_STREAMER_OFFSET_L + NT_STREAMER_ANY,
     .length = 2},
    {.name = TEXT("fRange"),
     .type_name = TEXT("Double32_t"),
     .title = TEXT("[0,10,12] a range"),
     .type = NT_STREAMER_DOUBLE32},
};
static const struct nt_streamer_element plain[] = {
    {.name = TEXT("fBit"), .type_name = TEXT("bool"), .type = NT_STREAMER_BOOL},
};
static const struct nt_streamer_element branch[] = {
    {.name = TEXT("fMaxBaskets"), .type_name = TEXT("int"), .type = NT_STREAMER_COUNTER},
    {.name = TEXT("fBasketSeek"),
     .type_name = TEXT("Long64_t*"),
     .type = NT_STREAMER_OFFSET_P + NT_STREAMER_LONG64,
     .counter = TEXT("fMaxBaskets")},
};
static const struct nt_streamer_element endless[] = {
    {.name = TEXT("Endless"), .type_name = TEXT("BASE"), .type = NT_STREAMER_BASE},
};

#define CLASS(name_, version_, checksum_, elements_)                                                         \
    {                                                                                                        \
        .name = TEXT(name_), .version = (version_), .checksum = (checksum_), .elements = (elements_),        \
        .element_count = COUNT_OF(elements_)                                                                 \
    }

/* Searches by name with nt_streamer_find. */
static struct nt_streamer_class classes[] = {
    CLASS("Endless", 1, 0, endless),      CLASS("Holder", 3, 0, holder),  CLASS("Members", 1, 0, members),
    CLASS("Plain", 1, 0xabcdef01, plain), CLASS("TBranch", 9, 0, branch), CLASS("TBranch", 10, 0, branch),
    CLASS("TNamed", 1, 0, named),
};
static const struct nt_streamer_class *by_name[] = {&classes[0], &classes[1], &classes[2], &classes[3],
                                                    &classes[4], &classes[5], &classes[6]};
static const struct nt_streamer_info info = {
    .classes = classes, .class_count = COUNT_OF(classes), .by_name = by_name};

/* ---- What is shown, as text ---- */

static struct nt_buffer reported;
static const char *skipped; /* the name of a member */

static void report_name(const struct nt_object_member *member)
{
    if (reported.length && !strchr("{[", reported.bytes[reported.length - 1]))
        nt_buffer_append_byte(&reported, ' ');
    if (member->name.length)
        nt_buffer_append_format(&reported, "%.*s=", (int)member->name.length, member->name.bytes);
}

static enum nt_status begin(void *context, const struct nt_object_member *member, bool *skip_ret,
                            struct nt_error *failure)
{
    *skip_ret = skipped && nt_text_is(member->name, skipped);
    if (*skip_ret)
        return NT_OK;
    report_name(member);
    nt_buffer_append_format(&reported, "%.*s;%d%c", (int)member->class_name.length, member->class_name.bytes,
                            member->version, member->is_list ? '[' : '{');
    return NT_OK;
}

static enum nt_status end(void *context, const struct nt_object_member *member, struct nt_error *failure)
{
    nt_buffer_append_byte(&reported, member->is_list ? ']' : '}');
    return NT_OK;
}

static enum nt_status numbers(void *context, const struct nt_object_member *member, struct nt_error *failure)
{
    if (nt_text_is(member->name, "fUniqueID") || nt_text_is(member->name, "fBits"))
        return NT_OK;
    report_name(member);
    nt_buffer_append_format(&reported, "%d:", member->type);
    for (size_t i = 0; i < member->byte_count; i++)
        nt_buffer_append_format(&reported, "%02x", member->bytes[i]);
    return NT_OK;
}

static enum nt_status string(void *context, const struct nt_object_member *member, struct nt_error *failure)
{
    report_name(member);
    nt_buffer_append_format(&reported, "'%.*s'", (int)member->byte_count, (const char *)member->bytes);
    return NT_OK;
}

static enum nt_status reference(void *context, const struct nt_object_member *member, size_t offset,
                                struct nt_error *failure)
{
    report_name(member);
    if (offset == SIZE_MAX)
        nt_buffer_append_string(&reported, "null");
    else
        nt_buffer_append_format(&reported, "@%zu", offset);
    return NT_OK;
}

static enum nt_status unknown(void *context, const struct nt_object_member *member, struct nt_error *failure)
{
    report_name(member);
    nt_buffer_append_format(&reported, "?%.*s:%zu", (int)member->class_name.length, member->class_name.bytes,
                            member->byte_count);
    return NT_OK;
}

static const struct nt_object_visitor visitor = {.begin = begin,
                                                 .end = end,
                                                 .numbers = numbers,
                                                 .string = string,
                                                 .reference = reference,
                                                 .unknown = unknown,
                                                 .record_offset = NT_NO_OFFSET,
                                                 .is_strict = true};

static enum nt_status walk(const char *class_name, const struct nt_buffer *bytes)
{
    nt_buffer_clear(&reported);
    return nt_object_walk(&info, nt_text_of(class_name), (const uint8_t *)bytes->bytes, bytes->length,
                          KEY_BYTES, &visitor, &error);
}

static void assert_walk(const char *class_name, struct nt_buffer *bytes, const char *expected)
{
    assert_ok(walk(class_name, bytes));
    ck_assert_str_eq(nt_buffer_string(&reported), expected);
    nt_buffer_deinit(&reported);
    nt_buffer_deinit(bytes);
}

static void assert_damage(enum nt_status expected, const char *class_name, struct nt_buffer *bytes,
                          const char *part)
{
    assert_status(expected, walk(class_name, bytes));
    ck_assert_msg(strstr(error.message, part) != NULL, "%s", error.message);
    nt_buffer_deinit(&reported);
    nt_buffer_deinit(bytes);
}

/* ---- Members ---- */

static void put_holder(struct nt_buffer *out, uint32_t count, uint8_t flag)
{
    put_named(out, "n", "t");
    put_u32(out, count);
    put_u8(out, flag);
    for (uint32_t i = 0; i < count && flag; i++)
        put_u32(out, 0x3f800000);
    put_u16(out, 1);
    put_u16(out, 2);
    put_u16(out, 3);
}

TEST(members_of_base_classes_and_arrays_are_shown)
{
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, 3);
    put_holder(&bytes, 2, 1);
    put_u32(&bytes, 0);
    put_end(&bytes, start);
    assert_walk(
        "Holder", &bytes,
        "Holder;3{fName='n' fTitle='t' fN=6:00000002 fX=5:3f8000003f800000 fM=2:000100020003 fNext=null}");
}

TEST(an_array_without_items_has_only_a_flag)
{
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, 3);
    put_holder(&bytes, 2, 0);
    put_u32(&bytes, 0);
    put_end(&bytes, start);
    assert_walk("Holder", &bytes,
                "Holder;3{fName='n' fTitle='t' fN=6:00000002 fX=5: fM=2:000100020003 fNext=null}");
}

/* Its streamer wrote four bytes each in small files, after a flag of 1, though it described eight. */
TEST(places_of_baskets_have_the_width_of_their_flag_before_version_10, .end = 3)
{
    static const struct {
        uint16_t version;
        uint8_t flag;
        unsigned bytes;
        const char *shown;
    } rows[] = {
        {9, 1, 4, "TBranch;9{fMaxBaskets=6:00000001 fBasketSeek=3:00000007}"},
        {9, 2, 8, "TBranch;9{fMaxBaskets=6:00000001 fBasketSeek=16:0000000000000007}"},
        {10, 1, 8, "TBranch;10{fMaxBaskets=6:00000001 fBasketSeek=16:0000000000000007}"},
    };
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, rows[_i].version);
    put_u32(&bytes, 1);
    put_u8(&bytes, rows[_i].flag);
    put_number(&bytes, 7, rows[_i].bytes);
    put_end(&bytes, start);
    assert_walk("TBranch", &bytes, rows[_i].shown);
}

/* The counter of the inner object is not that of the outer one. */
TEST(pointers_lead_to_objects_and_back)
{
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, 3);
    put_holder(&bytes, 0, 0);
    size_t item = put_item(&bytes, "Holder"), inner = put_begin(&bytes, 3);
    put_holder(&bytes, 1, 1);
    size_t again = put_item_again(&bytes, item, KEY_BYTES), innermost = put_begin(&bytes, 3);
    put_holder(&bytes, 0, 0);
    put_u32(&bytes, (uint32_t)item + 2 + KEY_BYTES);
    put_end(&bytes, innermost);
    put_end(&bytes, again);
    put_end(&bytes, inner);
    put_end(&bytes, item);
    put_end(&bytes, start);
    char expected[512];
    snprintf(expected, sizeof(expected),
             "Holder;3{fName='n' fTitle='t' fN=6:00000000 fX=5: fM=2:000100020003 fNext=Holder;3{fName='n' "
             "fTitle='t' fN=6:00000001 fX=5:3f800000 fM=2:000100020003 fNext=Holder;3{fName='n' fTitle='t' "
             "fN=6:00000000 fX=5: fM=2:000100020003 fNext=@%zu}}}",
             item);
    assert_walk("Holder", &bytes, expected);
}

static void put_members(struct nt_buffer *bytes)
{
    size_t start = put_begin(bytes, 1), member = put_begin(bytes, 9);
    put_u32(bytes, 2);
    put_u32(bytes, 7);
    put_u32(bytes, 8);
    put_end(bytes, member);
    member = put_begin(bytes, 0x4009); /* members one after the other */
    put_u64(bytes, 0);
    put_end(bytes, member);
    member = put_begin(bytes, 9);
    put_text(bytes, "text");
    put_end(bytes, member);
    put_u32(bytes, 1); /* TArrayS has no header */
    put_u16(bytes, 0x1234);
    member = put_begin(bytes, 0); /* a class without versions has a checksum */
    put_u32(bytes, 0xabcdef01);
    put_u8(bytes, 1);
    put_end(bytes, member);
    for (int i = 0; i < 2; i++) {
        member = put_begin(bytes, 1);
        put_u8(bytes, (uint8_t)i);
        put_end(bytes, member);
    }
    put_u32(bytes, 99); /* how the range is stored is unknown here, and so is the rest */
    put_u8(bytes, 1);
    put_end(bytes, start);
}

TEST(members_of_other_kinds_are_shown_or_skipped)
{
    struct nt_buffer bytes = {0};
    put_members(&bytes);
    assert_walk("Members", &bytes,
                "Members;1{fVector=3:0000000700000008 fMap=?map<int,int>:8 fText='text' fArray=2:1234 "
                "fPlain=Plain;0{fBit=18:01} fTwo=Plain;0[Plain;1{fBit=18:00} Plain;1{fBit=18:01}] "
                "fRange=?Double32_t:5}");
}

TEST(a_skipped_member_is_not_shown)
{
    struct nt_buffer bytes = {0};
    put_members(&bytes);
    skipped = "fTwo";
    assert_walk("Members", &bytes,
                "Members;1{fVector=3:0000000700000008 fMap=?map<int,int>:8 fText='text' fArray=2:1234 "
                "fPlain=Plain;0{fBit=18:01} fRange=?Double32_t:5}");
    skipped = NULL;
}

TEST(a_long_string_has_its_length_in_four_bytes)
{
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, 1);
    put_tobject(&bytes, 1 << 4); /* is referenced: the number of a process follows */
    put_u16(&bytes, 1);
    put_u8(&bytes, 255);
    put_u32(&bytes, 3);
    nt_buffer_append_string(&bytes, "abc");
    put_text(&bytes, "");
    put_end(&bytes, start);
    assert_walk("TNamed", &bytes, "TNamed;1{fName='abc' fTitle=''}");
}

/* ---- Lists ---- */

static void put_named_item(struct nt_buffer *out, const char *name)
{
    size_t item = put_item(out, "TNamed");
    put_named(out, name, "");
    put_end(out, item);
}

TEST(a_list_has_options_and_an_array_has_not)
{
    struct nt_buffer bytes = {0};
    size_t start = put_array(&bytes, 3);
    put_named_item(&bytes, "a");
    put_u32(&bytes, 0);
    size_t item = put_item(&bytes, "TList"), list = put_list(&bytes, 2);
    put_named_item(&bytes, "b");
    put_text(&bytes, "option");
    put_named_item(&bytes, "c");
    put_text(&bytes, "");
    put_end(&bytes, list);
    put_end(&bytes, item);
    put_end(&bytes, start);
    assert_walk("TObjArray", &bytes,
                "TObjArray;3[TNamed;1{fName='a' fTitle=''} null TList;5[TNamed;1{fName='b' fTitle=''} "
                "TNamed;1{fName='c' fTitle=''}]]");
}

TEST(clones_are_of_one_class)
{
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, 4);
    put_tobject(&bytes, 0);
    put_text(&bytes, "TNameds");
    put_text(&bytes, "TNamed;1");
    put_u32(&bytes, 2);
    put_u32(&bytes, 0);
    put_u8(&bytes, 0);
    put_u8(&bytes, 1);
    put_named(&bytes, "a", "");
    put_end(&bytes, start);
    assert_walk("TClonesArray", &bytes, "TClonesArray;4[null TNamed;1{fName='a' fTitle=''}]");
}

TEST(clones_with_members_one_after_the_other_are_skipped)
{
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, 4);
    put_tobject(&bytes, 1 << 12);
    put_text(&bytes, "TNameds");
    put_text(&bytes, "TNamed;1");
    put_u32(&bytes, 2);
    put_u32(&bytes, 0);
    put_end(&bytes, start);
    assert_walk("TClonesArray", &bytes, "?TClonesArray:8");
}

TEST(references_are_shown_as_numbers)
{
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, 1);
    put_tobject(&bytes, 0);
    put_text(&bytes, "refs");
    put_u32(&bytes, 2);
    put_u32(&bytes, 0);
    put_u16(&bytes, 1);
    put_u32(&bytes, 11);
    put_u32(&bytes, 12);
    put_end(&bytes, start);
    assert_walk("TRefArray", &bytes, "13:0000000b0000000c");
}

/* ---- Classes that nothing describes ---- */

TEST(an_object_of_an_unknown_class_is_skipped_by_its_byte_count)
{
    struct nt_buffer bytes = {0};
    size_t start = put_array(&bytes, 3);
    for (int i = 0; i < 2; i++) {
        size_t item = put_item(&bytes, i == 0 ? "Other" : "TBasket"), object = put_begin(&bytes, 2);
        put_u32(&bytes, 0);
        put_end(&bytes, object);
        put_end(&bytes, item);
    }
    put_named_item(&bytes, "a");
    put_end(&bytes, start);
    assert_walk("TObjArray", &bytes, "TObjArray;3[?Other:4 ?TBasket:10 TNamed;1{fName='a' fTitle=''}]");
}

TEST(an_unknown_version_is_skipped)
{
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, 9);
    put_u32(&bytes, 0);
    put_end(&bytes, start);
    assert_walk("Holder", &bytes, "?Holder:4");
}

/* ---- Damage ---- */

TEST(an_unknown_class_without_byte_count_is_unsupported)
{
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, 4);
    put_tobject(&bytes, 0);
    put_text(&bytes, "");
    put_text(&bytes, "Other");
    put_u32(&bytes, 1);
    put_u32(&bytes, 0);
    put_u8(&bytes, 1);
    put_u16(&bytes, 3);
    put_u32(&bytes, 0);
    put_end(&bytes, start);
    assert_damage(NT_UNSUPPORTED, "TClonesArray", &bytes, "class Other");
}

TEST(a_byte_count_that_leaves_the_buffer_is_corrupt)
{
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, 3);
    put_holder(&bytes, 0, 0);
    put_u32(&bytes, 0);
    put_end(&bytes, start);
    set_u32(&bytes, start, 0x40000000u | (uint32_t)(bytes.length - 3));
    assert_damage(NT_CORRUPT, "Holder", &bytes, "byte count");
}

TEST(a_byte_count_that_leaves_the_outer_object_is_corrupt)
{
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, 3);
    put_holder(&bytes, 0, 0);
    size_t item = put_item(&bytes, "TNamed");
    put_named(&bytes, "a", "b");
    put_end(&bytes, item);
    put_end(&bytes, start);
    put_u64(&bytes, 0);
    set_u32(&bytes, item, 0x40000000u | (uint32_t)(bytes.length - item - 4));
    assert_damage(NT_CORRUPT, "Holder", &bytes, "byte count of an item");
}

TEST(members_that_leave_their_object_are_corrupt)
{
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, 3);
    put_holder(&bytes, 0, 0);
    put_end(&bytes, start);
    put_u32(&bytes, 0);
    assert_damage(NT_CORRUPT, "Holder", &bytes, "past the end");
}

/* A visitor that is not strict sees the members that are described. */
TEST(members_that_end_before_their_object_are_corrupt, .end = 3)
{
    struct nt_buffer bytes = {0};
    size_t start = _i ? put_array(&bytes, 1) : put_begin(&bytes, 3);
    if (_i == 0) {
        put_holder(&bytes, 0, 0);
        put_u64(&bytes, 0); /* no next holder, and four bytes more */
    } else {
        put_named_item(&bytes, "a");
        put_named_item(&bytes, "b");
    }
    put_end(&bytes, start);
    if (_i < 2) {
        assert_damage(NT_CORRUPT, _i ? "TObjArray" : "Holder", &bytes, "its members end here");
        return;
    }
    struct nt_object_visitor tolerant = visitor;
    tolerant.is_strict = false;
    assert_ok(nt_object_walk(&info, nt_text_of("TObjArray"), (const uint8_t *)bytes.bytes, bytes.length,
                             KEY_BYTES, &tolerant, &error));
    ck_assert_str_eq(nt_buffer_string(&reported), "TObjArray;3[TNamed;1{fName='a' fTitle=''}]");
    nt_buffer_deinit(&reported);
    nt_buffer_deinit(&bytes);
}

TEST(a_count_larger_than_the_bytes_is_corrupt, .end = 3)
{
    static const uint32_t counts[] = {4, 0x7fffffff, 0xffffffff};
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, 3);
    put_holder(&bytes, 0, 1);
    put_u32(&bytes, 0);
    put_end(&bytes, start);
    size_t count = 0;
    for (size_t i = 0; i + 5 < bytes.length; i++)
        if (nt_load_be32((uint8_t *)bytes.bytes + i) == 0 && bytes.bytes[i + 4] == 1)
            count = i; /* the last one: before the flag */
    set_u32(&bytes, count, counts[_i]);
    assert_damage(NT_CORRUPT, "Holder", &bytes, "the numbers extend past the end");
}

TEST(a_list_of_more_items_than_bytes_is_corrupt)
{
    struct nt_buffer bytes = {0};
    size_t start = put_array(&bytes, 0x20000000);
    put_u32(&bytes, 0);
    put_end(&bytes, start);
    assert_damage(NT_CORRUPT, "TObjArray", &bytes, "the items extend past");
}

TEST(references_to_nowhere_are_corrupt, .end = 4)
{
    static const struct {
        uint32_t word;
        const char *part;
    } rows[] = {
        {5, "before the object"},
        {100000, "past the end"},
        {KEY_BYTES + 1, "before the object"},
        {0x3fffffff, "past the end"},
    };
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, 3);
    put_holder(&bytes, 0, 0);
    put_u32(&bytes, rows[_i].word);
    put_end(&bytes, start);
    assert_damage(NT_CORRUPT, "Holder", &bytes, rows[_i].part);
}

/* Before the object, where no class is named, and after the item itself. */
TEST(references_to_no_class_are_corrupt, .end = 3)
{
    static const uint32_t places[] = {3, KEY_BYTES + 2, KEY_BYTES + 1000};
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, 3);
    put_holder(&bytes, 0, 0);
    size_t item = put_byte_count(&bytes);
    put_u32(&bytes, 0x80000000u | places[_i]);
    put_end(&bytes, item);
    put_end(&bytes, start);
    assert_damage(NT_CORRUPT, "Holder", &bytes, "does not lead to a class");
}

TEST(a_class_name_without_end_is_corrupt)
{
    struct nt_buffer bytes = {0};
    size_t start = put_begin(&bytes, 3);
    put_holder(&bytes, 0, 0);
    size_t item = put_item(&bytes, "TNamed");
    bytes.length--;
    put_end(&bytes, item);
    put_end(&bytes, start);
    assert_damage(NT_CORRUPT, "Holder", &bytes, "has no end");
}

TEST(objects_within_each_other_have_a_limit)
{
    enum { LEVELS = 1000 };
    struct nt_buffer bytes = {0};
    static size_t starts[2 * LEVELS];
    for (int i = 0; i < LEVELS; i++) {
        starts[2 * i] = put_array(&bytes, 1);
        starts[2 * i + 1] = put_item(&bytes, "TObjArray");
    }
    for (int i = 2 * LEVELS - 1; i >= 0; i--)
        put_end(&bytes, starts[i]);
    assert_damage(NT_CORRUPT, "TObjArray", &bytes, "nested more than");
}

TEST(a_class_that_is_its_own_base_ends)
{
    struct nt_buffer bytes = {0};
    for (int i = 0; i < 1000; i++)
        put_u16(&bytes, 1);
    assert_damage(NT_CORRUPT, "Endless", &bytes, "nested more than");
}

TEST(any_cut_and_any_changed_byte_is_survived)
{
    struct nt_buffer bytes = {0};
    put_members(&bytes);
    for (size_t i = 0; i < bytes.length; i++) {
        struct nt_buffer cut = {.bytes = bytes.bytes, .length = i};
        if (i >= 4)
            ck_assert_int_ne(walk("Members", &cut), NT_OK);
        for (int bit = 0; bit < 8; bit++) {
            bytes.bytes[i] ^= (char)(1 << bit);
            enum nt_status status = walk("Members", &bytes);
            ck_assert(status == NT_OK || status == NT_CORRUPT || status == NT_UNSUPPORTED);
            bytes.bytes[i] ^= (char)(1 << bit);
        }
    }
    nt_buffer_deinit(&reported);
    nt_buffer_deinit(&bytes);
}
