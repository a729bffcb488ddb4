/* SPDX-License-Identifier: MIT
 *
 * In: a field, a data set, or its name. Out: the names on the way to it as one text, plain or
 * percent-encoded. Rule 1 of docs/tree.md.
 */
#include "core/model/path.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"

/* ---- encoding ---- */

static void put_percent(struct nt_buffer *out, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        nt_buffer_format(out, "%%%02X", (uint8_t)bytes[i]);
}

static bool dot_is_encoded(enum nt_name_rule rule, bool is_first_byte, bool is_first_dot)
{
    return rule == NT_NAME_FIELD || is_first_byte || (rule == NT_NAME_OURS && is_first_dot);
}

void nt_name_encode(struct nt_text text, enum nt_name_rule rule, struct nt_buffer *out)
{
    bool is_first_dot = true;
    for (size_t i = 0, step; i < text.length; i += step) {
        const char *at = text.bytes + i;
        uint32_t code_point = 0;
        bool is_encoded;
        step = nt_utf8_decode((const uint8_t *)at, text.length - i, &code_point);
        if (step == 0) {
            is_encoded = true;
            step = 1;
        } else if (code_point == '.') {
            is_encoded = dot_is_encoded(rule, i == 0, is_first_dot);
            is_first_dot = false;
        } else if (code_point == '%') {
            is_encoded = nt_is_percent_encoded(at, text.length - i);
        } else {
            is_encoded = code_point < 0x20 || code_point == '/' || (code_point >= 0x7F && code_point < 0xA0);
        }
        if (is_encoded)
            put_percent(out, at, step);
        else
            nt_buffer_append(out, at, step);
    }
}

/* ---- fields ---- */

static uint32_t ancestors_of(const struct nt_dataset *dataset, uint32_t field,
                             uint32_t ancestors[NT_MAX_DEPTH + 1])
{
    uint32_t depth = 0;
    for (uint32_t at = field; at != NT_NONE && depth <= NT_MAX_DEPTH; at = dataset->fields[at].parent)
        ancestors[depth++] = at;
    return depth;
}

void nt_append_field_path(struct nt_buffer *out, const struct nt_dataset *dataset, uint32_t field,
                          char separator)
{
    uint32_t path[NT_MAX_DEPTH + 1];
    for (uint32_t i = ancestors_of(dataset, field, path); i-- > 0;) {
        nt_buffer_append(out, dataset->fields[path[i]].name.bytes, dataset->fields[path[i]].name.length);
        if (i)
            nt_buffer_byte(out, separator);
    }
}

/* ---- for programs ---- */

static void put_name(struct nt_buffer *out, struct nt_text name, enum nt_name_rule rule)
{
    if (name.length)
        nt_name_encode(name, rule, out);
    else
        nt_buffer_byte(out, '%');
}

/* As snprintf does: as much as there is room for, always ended, and how long it would be. */
static size_t hand_out(struct nt_buffer *path, char *text, size_t capacity)
{
    size_t length = path->failed ? 0 : path->length, copied = length < capacity ? length : capacity - 1;
    if (capacity) {
        memcpy(text, path->bytes ? path->bytes : "", copied);
        text[copied] = '\0';
    }
    nt_buffer_deinit(path);
    return length;
}

size_t nt_field_path(const struct nt_dataset *dataset, uint32_t field, char *text, size_t capacity)
{
    struct nt_buffer out = {0};
    uint32_t path[NT_MAX_DEPTH + 1];
    if (field < nt_dataset_field_count(dataset))
        for (uint32_t i = ancestors_of(dataset, field, path); i-- > 0;) {
            put_name(&out, dataset->fields[path[i]].name, NT_NAME_FIELD);
            if (i)
                nt_buffer_byte(&out, '/');
        }
    return hand_out(&out, text, capacity);
}

static void put_directories(struct nt_buffer *out, const struct nt_file *file, uint32_t directory)
{
    uint32_t path[NT_MAX_DEPTH + 1], depth = 0;
    for (; directory && depth <= NT_MAX_DEPTH; directory = file->directories[directory].parent)
        path[depth++] = directory;
    while (depth-- > 0) {
        put_name(out, file->directories[path[depth]].name, NT_NAME_DATASET);
        nt_buffer_byte(out, '/');
    }
}

static void put_dataset(struct nt_buffer *out, const struct nt_dataset *dataset)
{
    put_directories(out, dataset->file, dataset->directory);
    put_name(out, dataset->name, NT_NAME_DATASET);
    if (!dataset->is_newest_cycle)
        nt_buffer_format(out, ";%" PRIu32, dataset->cycle);
}

void nt_append_dataset_path(struct nt_buffer *out, const struct nt_dataset *dataset)
{
    if (dataset->attribute_of == NT_NONE) {
        put_dataset(out, dataset);
    } else {
        put_dataset(out, dataset->file->datasets[dataset->attribute_of]);
        nt_buffer_text(out, "/" NT_ATTRIBUTE_PREFIX);
        nt_name_encode(dataset->name, NT_NAME_DATASET, out);
    }
}

size_t nt_dataset_path(const struct nt_dataset *dataset, char *text, size_t capacity)
{
    struct nt_buffer out = {0};
    nt_append_dataset_path(&out, dataset);
    return hand_out(&out, text, capacity);
}
