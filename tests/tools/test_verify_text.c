/* SPDX-License-Identifier: MIT
 *
 * Text that is not UTF-8, across pages and pieces.
 */
#include "tools/tools.h"

#include "verified.h"
#include "core/codec/codec.h"

/* Strings of `length` bytes each, in pages of `page_bytes`. */
static struct builder *strings(const char *text, uint32_t page_bytes)
{
    uint64_t characters[64], end = strlen(text);
    for (size_t i = 0; i < end; i++)
        characters[i] = (uint8_t)text[i];
    struct builder *builder = builder_new();
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_STRING, NT_ELEMENT_BYTE);
    uint32_t columns[] = {add_column(builder, field, NT_ENCODING_INDEX64, 0),
                          add_column(builder, field, NT_ENCODING_CHAR, 0)};
    uint32_t cluster = add_cluster(builder, 0, 1);
    add_elements(builder, cluster, columns[0], &end, 1, 1);
    add_elements(builder, cluster, columns[1], characters, (uint32_t)end, page_bytes);
    finish(builder, NULL);
    return builder;
}

static const struct {
    const char *text;
    bool is_utf8;
} texts[] = {
    {"plain", true},
    {"na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80!", true},
    {"\xe4nderung", false},      /* Latin-1 */
    {"cut \xe2\x82", false},     /* the end is missing */
    {"\x80 first", false},       /* only a continuation */
    {"over\xc0\xaflong", false}, /* overlong */
    {"\xed\xa0\x80 surrogate", false},
    {"\xf0\x9f\x98\x80\x80", false}, /* one continuation too many */
};
enum { TEXTS = sizeof(texts) / sizeof(*texts) };

TEST(text_that_is_not_utf8_is_one_warning, .end = TEXTS)
{
    static struct found found;
    for (uint32_t page_bytes = 1; page_bytes < 20; page_bytes++) {
        struct builder *builder = strings(texts[_i].text, page_bytes);
        verify(builder, &found);
        if (texts[_i].is_utf8)
            ck_assert_msg(found.count == 0, "%s", found.findings[0].error.message);
        else
            ck_assert_uint_eq(only(&found, NT_FINDING_WARNING, "not UTF-8")->column, 1);
        builder_free(builder);
    }
}

TEST(text_in_pieces_is_judged_as_in_one, .end = TEXTS)
{
    const uint8_t *text = (const uint8_t *)texts[_i].text;
    size_t length = strlen(texts[_i].text);
    for (size_t first = 0; first <= length; first++)
        for (size_t second = first; second <= length; second++) {
            struct nt_utf8_check check = {0};
            bool is_utf8 = nt_utf8_check_update(&check, text, first) &&
                           nt_utf8_check_update(&check, text + first, second - first) &&
                           nt_utf8_check_update(&check, text + second, length - second) &&
                           check.pending_count == 0;
            ck_assert_int_eq(is_utf8, texts[_i].is_utf8);
        }
}
