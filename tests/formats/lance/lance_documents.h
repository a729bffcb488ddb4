/* SPDX-License-Identifier: MIT
 *
 * The documents of a Lance file's metadata, for its tests.
 */
#pragma once

#include <jansson.h>
#include <string.h>

#include "formats/lance/file/file.h"
#include "lance_opened.h"
#include "core/base/memory.h"
#include "core/model/model.h"

/* The dataset that has them. */
static inline const struct nt_dataset *lance_add_dataset(struct lance_opened *opened)
{
    struct nt_dataset *dataset;
    ck_assert(nt_file_add_dataset(opened->file, &dataset, NULL) == NT_OK);
    dataset->format_data = &opened->lance;
    return dataset;
}

static inline const struct nt_document *lance_document(const char *prefix, const char *suffix)
{
    for (uint32_t i = 0; i < nt_lance_document_count; i++) {
        const struct nt_document *document = &nt_lance_documents[i];
        if (!strcmp(document->prefix, prefix) && (!document->count || !strcmp(document->suffix, suffix)))
            return document;
    }
    ck_abort_msg("no document %s", prefix);
    return NULL;
}

/* The whole text; the caller frees it. */
static inline struct nt_buffer lance_write_document(const struct nt_dataset *dataset, const char *prefix,
                                                    uint64_t number)
{
    const struct nt_document *document = lance_document(prefix, ".bin");
    const struct nt_document_request request = {document, dataset->file, dataset, number};
    struct nt_buffer out = {0};
    struct nt_text_generator *text;
    struct nt_error error;
    if (document->write) {
        assert_ok(document->write(&request, &out, &error));
        return out;
    }
    assert_ok(document->open(&request, &text, &error));
    for (bool more = true; more;)
        assert_ok(text->next(text, &out, &more, &error));
    text->free(text);
    return out;
}

static inline json_t *lance_load_document(const struct nt_dataset *dataset, const char *name)
{
    struct nt_buffer out = lance_write_document(dataset, name, 0);
    json_error_t problem;
    json_t *value = json_loadb(out.bytes, out.length, 0, &problem);
    ck_assert_msg(value, "%s: %s at byte %d", name, problem.text, problem.position);
    ck_assert_int_eq(out.bytes[out.length - 1], '\n');
    nt_buffer_deinit(&out);
    return value;
}

static inline json_int_t json_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_number(value), "no number %s", key);
    return json_is_integer(value) ? json_integer_value(value) : (json_int_t)json_real_value(value);
}

static inline void check_json_text(const json_t *object, const char *key, const char *expected)
{
    const char *found = json_string_value(json_object_get(object, key));
    ck_assert_msg(found && !strcmp(found, expected), "%s: %s instead of %s", key, found ? found : "nothing",
                  expected);
}
