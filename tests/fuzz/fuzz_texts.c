/* SPDX-License-Identifier: MIT
 *
 * Texts of BLZ directories and Bloscpack files: JSON as Python writes it, dtypes, Python's literals. The
 * first byte selects the parser.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/text.h"
#include "formats/blz/blz.h"
#include "core/json/json.h"
#include "core/model/budget.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* The text is written, and reads back equal. */
static void read_json(const char *text, size_t length)
{
    struct nt_budget budget;
    struct nt_buffer out = {0};
    struct nt_json json;
    json_t *value, *again;
    nt_budget_init(&budget, 0, UINT64_MAX);
    if (nt_blz_json_parse(text, length, &budget, &value, NULL) != NT_OK)
        return;
    nt_json_line(&json, &out);
    nt_blz_json_write(&json, value);
    nt_json_finish(&json);
    nt_budget_init(&budget, UINT64_MAX, 0);
    if (!out.failed && nt_blz_json_parse(out.bytes, out.length, &budget, &again, NULL) == NT_OK)
        json_decref(again);
    json_decref(value);
    nt_buffer_deinit(&out);
}

static void read_dtype(const char *text, size_t length)
{
    struct nt_arena *arena = nt_arena_new();
    struct nt_blz_dtype dtype;
    if (arena)
        (void)nt_blz_dtype_parse(arena, text, length, &dtype, NULL);
    nt_arena_free(arena);
}

static bool is_utf8(const struct nt_buffer *text)
{
    uint32_t code_point;
    for (size_t at = 0, step; at < text->length; at += step)
        if (!(step = nt_utf8_decode((const uint8_t *)text->bytes + at, text->length - at, &code_point)))
            return false;
    return true;
}

/* A string's content, written as a literal, reads back equal; invalid UTF-8 has Python's form. */
static void read_literal(const char *text, size_t length)
{
    struct nt_literal literal = {.text = text, .end = length};
    struct nt_buffer content = {0}, written = {0}, again = {0};
    if (nt_literal_is_string(&literal)) {
        nt_literal_string(&literal, &content);
        nt_append_literal(&written, content.bytes, content.length);
        struct nt_literal second = {.text = written.bytes, .end = written.length};
        nt_literal_string(&second, &again);
        if (!literal.mistake && is_utf8(&content) &&
            (second.mistake || again.length != content.length ||
             (content.length && memcmp(again.bytes, content.bytes, content.length))))
            abort();
    } else {
        (void)nt_literal_integer(&literal);
    }
    nt_buffer_deinit(&content);
    nt_buffer_deinit(&written);
    nt_buffer_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static void (*const kinds[])(const char *text, size_t length) = {read_json, read_dtype, read_literal};
    if (count > 0)
        kinds[bytes[0] % 3]((const char *)bytes + 1, count - 1);
    return 0;
}
