/* SPDX-License-Identifier: MIT
 *
 * Pages by hand of each encoding and layout: their content by the definitions of the encodings, the
 * message for each kind of damage, and pages that lack bytes or memory.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/lance/decode/decode.h"
#include "compressors.h"
#include "support.h"
#include "tree_pages.h"
#include "core/codec/codec.h"

enum { SOUND = sizeof(sound) / sizeof(*sound), REFUSED = sizeof(refused) / sizeof(*refused) };

/* ---- */

static struct nt_error error;
static struct nt_codec_context *context;

static void set_up(void)
{
    context = nt_codec_context_new();
    ck_assert_ptr_nonnull(context);
}

static void tear_down(void)
{
    nt_codec_context_free(context);
}

static uint32_t parts_of(const struct page_case *page)
{
    uint32_t count = PARTS;
    while (count > (page->layout == NT_LANCE_ARRAY || page->has_value_part) &&
           !page->parts[count - 1].bytes && !page->parts[count - 1].offset)
        count--;
    return count;
}

static struct nt_encoding_tree tree_of(const struct page_case *page)
{
    return (struct nt_encoding_tree){.layout = page->layout,
                                     .nodes = page->nodes,
                                     .node_count = NODES,
                                     .repetition = NT_NO_NODE,
                                     .definition = page->definition ? page->definition : NT_NO_NODE,
                                     .buffers = 1,
                                     .repetition_bits = page->repetition_bits,
                                     .definition_bits = page->definition_bits,
                                     .value_bits = page->value_bits,
                                     .offset_bits = page->offset_bits,
                                     .has_value_part = page->has_value_part,
                                     .parts = page->parts,
                                     .part_count = parts_of(page),
                                     .layer_count = 1,
                                     .layers = {page->layer ? page->layer : NT_LAYER_ITEM}};
}

/* Input and output memory of the exact size. `has_context`: with memory that is kept between pages. */
static enum nt_status decode(const struct page_case *page, size_t count, uint64_t elements, uint64_t limit,
                             bool has_context, uint8_t *output)
{
    const struct nt_encoding_tree tree = tree_of(page);
    uint8_t *bytes = exact_copy((const uint8_t *)page->bytes, count);
    const struct nt_lance_decoder_state state = {&tree, page->spec};
    const struct nt_decoder decoder = {.state = &state, .element_bytes = page->width ? page->width : 8};
    const struct nt_packed packed = {.decoder = &decoder,
                                     .data = bytes,
                                     .bytes = count,
                                     .elements = elements,
                                     .context = has_context ? context : NULL,
                                     .limit = limit};
    enum nt_status status = nt_lance_decode(&packed, output, &error);
    free(bytes);
    return status;
}

TEST(pages_hold_what_their_encodings_say, .setup = set_up, .teardown = tear_down, .end = SOUND)
{
    const struct page_case *page = &sound[_i];
    uint8_t output[MOST];
    for (unsigned has_context = 0; has_context < 2; has_context++) {
        memset(output, 0xA5, sizeof(output));
        assert_ok(decode(page, page->count, page->elements, 1 << 20, has_context, output));
        ck_assert_mem_eq(output, page->expected, page->elements * page->width);
        ck_assert_uint_eq(output[page->elements * page->width], 0xA5);
    }
}

TEST(encodings_are_reported_in_words, .setup = set_up, .teardown = tear_down, .end = SOUND)
{
    char text[200], narrow[8];
    const struct nt_encoding_tree tree = tree_of(&sound[_i]);
    nt_lance_describe_tree(&tree, text, sizeof(text));
    ck_assert_str_eq(text, sound[_i].message);
    nt_lance_describe_tree(&tree, narrow, sizeof(narrow));
    ck_assert_mem_eq(narrow, text, strlen(narrow));
    ck_assert_uint_eq(strlen(narrow), strlen(text) < 7 ? strlen(text) : 7);
}

TEST(pages_that_may_take_less_memory_than_they_need_are_refused, .setup = set_up, .teardown = tear_down,
     .end = SOUND)
{
    const struct page_case *page = &sound[_i];
    uint8_t output[MOST];
    enum nt_status status = NT_LIMIT;
    for (uint64_t limit = 0; status != NT_OK; limit++) {
        ck_assert_uint_lt(limit, 1000);
        status = decode(page, page->count, page->elements, limit, true, output);
        ck_assert_msg(status == NT_OK ||
                          (status == NT_LIMIT && strstr(error.message, "of the limit pagesize")),
                      "%s: %s", nt_status_name(status), error.message);
    }
    ck_assert_mem_eq(output, page->expected, page->elements * page->width);
}

TEST(pages_that_end_early_are_refused, .setup = set_up, .teardown = tear_down, .end = SOUND)
{
    const struct page_case *page = &sound[_i];
    uint8_t output[MOST];
    for (size_t count = 0; count < page->count; count++) {
        error.message[0] = '\0';
        enum nt_status status = decode(page, count, page->elements, 1 << 20, true, output);
        if (status == NT_OK) /* the rest is padding */
            ck_assert_mem_eq(output, page->expected, page->elements * page->width);
        else
            ck_assert_msg(status == NT_CORRUPT && error.message[0], "%s", nt_status_name(status));
    }
}

TEST(what_is_wrong_with_a_page_is_reported, .setup = set_up, .teardown = tear_down, .end = REFUSED)
{
    const struct page_case *page = &refused[_i];
    uint8_t output[MOST];
    uint64_t elements = page->elements ? page->elements : 4;
    assert_status(page->status ? page->status : NT_CORRUPT,
                  decode(page, page->count, elements, 1 << 20, true, output));
    ck_assert_msg(strstr(error.message, page->message), "'%s' instead of '%s'", error.message, page->message);
}
