/* SPDX-License-Identifier: MIT
 *
 * In: the user meta-data envelopes of a data set, which only the drafts have. Out: metadata.json. Drafts of
 * the specification, "User Meta-data Envelope".
 */
#include <stdlib.h>

#include "core/base/text.h"
#include "formats/rntuple/shown.h"
#include "formats/rntuple/frame.h"

enum value_type { VALUE_INTEGER = 1, VALUE_BOOL = 2, VALUE_REAL = 3, VALUE_STRING = 4 };

struct pair {
    struct nt_text key;
    int32_t type; /* negative: a list of the type */
    struct nt_cursor value;
    uint32_t order, version;
};

/* All envelopes stay loaded while their pairs are put into order. */
struct metadata {
    struct nt_envelope *envelopes;
    uint32_t *ends; /* of each envelope's pairs */
    uint32_t envelope_count;
    struct pair *pairs; /* in the order of the file */
    uint32_t pair_count;
};

static void metadata_deinit(struct metadata *metadata)
{
    for (uint32_t i = 0; i < metadata->envelope_count; i++)
        nt_envelope_deinit(&metadata->envelopes[i]);
    free(metadata->envelopes);
    free(metadata->ends);
    free(metadata->pairs);
}

/* ---- reading ---- */

static enum nt_status read_pair(const struct nt_envelope *envelope, struct nt_cursor *list, struct pair *pair,
                                struct nt_error *error)
{
    struct nt_frame record;
    enum nt_status status = nt_record_frame(envelope, list, "key-value pair", &record, error);
    if (status != NT_OK)
        return status;
    pair->type = (int32_t)nt_get_le32(&record.payload);
    pair->key = nt_get_text(&record.payload);
    pair->value = record.payload;
    return nt_envelope_check(envelope, &record.payload, "key-value pair", error);
}

static enum nt_status read_pairs(struct metadata *metadata, const struct nt_envelope *envelope,
                                 struct nt_error *error)
{
    struct nt_cursor cursor = envelope->payload;
    struct nt_frame list;
    uint32_t least = nt_record_frame_bytes(envelope->generation) + 8;
    enum nt_status status = nt_list_frame(envelope, &cursor, "list of key-value pairs", least, &list, error);
    if (status != NT_OK)
        return status;
    size_t total = (size_t)metadata->pair_count + list.items;
    struct pair *pairs = total < UINT32_MAX ? reallocarray(metadata->pairs, total + 1, sizeof(*pairs)) : NULL;
    if (!pairs)
        return nt_fail_memory(error);
    metadata->pairs = pairs;
    for (uint32_t i = 0; i < list.items && status == NT_OK; i++) {
        struct pair *pair = &pairs[metadata->pair_count];
        pair->order = metadata->pair_count++;
        status = read_pair(envelope, &list.payload, pair, error);
    }
    return status;
}

static enum nt_status load(const struct nt_dataset *dataset, struct metadata *metadata,
                           struct nt_error *error)
{
    const struct nt_rntuple *rntuple = nt_rntuple_of(dataset);
    metadata->envelopes = calloc(rntuple->user_metadata_count + 1u, sizeof(*metadata->envelopes));
    metadata->ends = calloc(rntuple->user_metadata_count + 1u, sizeof(*metadata->ends));
    if (!metadata->envelopes || !metadata->ends)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < rntuple->user_metadata_count; i++) {
        struct nt_envelope *envelope = &metadata->envelopes[i];
        enum nt_status status =
            nt_envelope_load(rntuple->payload, &dataset->file->budget, rntuple->generation,
                             NT_ENVELOPE_USER_METADATA, &rntuple->user_metadata[i], envelope, error);
        if (status != NT_OK)
            return status;
        metadata->envelope_count++;
        status = read_pairs(metadata, envelope, error);
        if (status != NT_OK)
            return status;
        metadata->ends[i] = metadata->pair_count;
    }
    return NT_OK;
}

/* ---- versions: the same key again is its next version ---- */

static int compare_pairs(const void *left, const void *right)
{
    const struct pair *const *a = left, *const *b = right;
    int order = nt_texts_compare((*a)->key, (*b)->key);
    return order ? order : ((*a)->order > (*b)->order) - ((*a)->order < (*b)->order);
}

static enum nt_status number_versions(struct metadata *metadata, struct nt_error *error)
{
    struct pair **sorted = calloc(metadata->pair_count + 1u, sizeof(*sorted));
    if (!sorted)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < metadata->pair_count; i++)
        sorted[i] = &metadata->pairs[i];
    qsort(sorted, metadata->pair_count, sizeof(struct pair *), compare_pairs);
    for (uint32_t i = 0; i < metadata->pair_count; i++)
        sorted[i]->version =
            i > 0 && nt_texts_are_equal(sorted[i - 1]->key, sorted[i]->key) ? sorted[i - 1]->version + 1 : 0;
    free(sorted);
    return NT_OK;
}

/* ---- writing ---- */

struct value {
    const char *name;
    const char *key;
    uint32_t least_bytes;
    void (*write)(struct nt_json *json, struct nt_cursor *cursor);
};

static void write_integer(struct nt_json *json, struct nt_cursor *cursor)
{
    nt_json_signed(json, (int64_t)nt_get_le64(cursor));
}

static void write_bool(struct nt_json *json, struct nt_cursor *cursor)
{
    nt_json_bool(json, nt_get_u8(cursor) != 0);
}

static void write_real(struct nt_json *json, struct nt_cursor *cursor)
{
    nt_json_double(json, nt_get_le_real64(cursor));
}

static void write_string(struct nt_json *json, struct nt_cursor *cursor)
{
    struct nt_text text = nt_get_text(cursor);
    nt_json_bytes(json, text.bytes, text.length);
}

static void write_hex_string(struct nt_json *json, struct nt_cursor *cursor)
{
    struct nt_text text = nt_get_text(cursor);
    struct nt_buffer hex = {0};
    for (size_t i = 0; i < text.length; i++)
        nt_buffer_format(&hex, "%02x", (uint8_t)text.bytes[i]);
    nt_json_buffer(json, &hex);
}

static const struct value values[] = {
    [VALUE_INTEGER] = {"integer", "value", 8, write_integer},
    [VALUE_BOOL] = {"bool", "value", 1, write_bool},
    [VALUE_REAL] = {"real", "value", 8, write_real},
    [VALUE_STRING] = {"string", "value", 4, write_string},
};
static const struct value hex_strings = {"string", "value_hex", 4, write_hex_string};

/* Strings of which one is not UTF-8 are given in hexadecimal, all of them. */
static bool are_utf8(struct nt_cursor cursor, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct nt_text text = nt_get_text(&cursor);
        if (!nt_is_utf8(text.bytes, text.length))
            return false;
    }
    return true;
}

static const struct value *find_value(int32_t type)
{
    uint32_t number = type < 0 ? 0 - (uint32_t)type : (uint32_t)type;
    return number < sizeof(values) / sizeof(values[0]) && values[number].name ? &values[number] : NULL;
}

static enum nt_status write_value(struct nt_json *json, const struct nt_envelope *envelope,
                                  const struct value *value, struct pair *pair, struct nt_error *error)
{
    struct nt_frame list = {.payload = pair->value, .items = 1};
    bool is_list = pair->type < 0;
    enum nt_status status = NT_OK;
    if (is_list)
        status = nt_list_frame(envelope, &pair->value, "list of values", value->least_bytes, &list, error);
    if (status != NT_OK)
        return status;
    if (value == &values[VALUE_STRING] && !are_utf8(list.payload, list.items))
        value = &hex_strings;
    nt_json_key(json, value->key);
    if (is_list)
        nt_json_array(json);
    for (uint32_t i = 0; i < list.items; i++)
        value->write(json, &list.payload);
    if (is_list)
        nt_json_end_array(json);
    return nt_envelope_check(envelope, &list.payload, "value", error);
}

static enum nt_status write_pair(struct nt_json *json, const struct nt_envelope *envelope, struct pair *pair,
                                 struct nt_error *error)
{
    const struct value *value = find_value(pair->type);
    enum nt_status status = NT_OK;
    nt_json_object(json);
    nt_json_member_text(json, "key", pair->key);
    nt_json_member_unsigned(json, "version", pair->version);
    nt_json_member_signed(json, "type_number", pair->type);
    nt_json_member_string(json, "type", value ? value->name : NULL);
    if (value)
        status = write_value(json, envelope, value, pair, error);
    else
        nt_unknown_bytes_json(json, nt_cursor_left(&pair->value));
    nt_json_end_object(json);
    return status;
}

static enum nt_status write_document(struct metadata *metadata, struct nt_buffer *out, struct nt_error *error)
{
    struct nt_json json;
    enum nt_status status = NT_OK;
    nt_json_document(&json, out, "metadata");
    nt_json_key(&json, "envelopes");
    nt_json_array(&json);
    for (uint32_t i = 0, k = 0; i < metadata->envelope_count && status == NT_OK; i++) {
        const struct nt_envelope *envelope = &metadata->envelopes[i];
        nt_json_object(&json);
        nt_json_member_unsigned(&json, "file_offset", envelope->offset);
        nt_json_member_unsigned(&json, "decoded_bytes", envelope->length);
        nt_json_member_hex64(&json, "checksum", envelope->checksum);
        nt_json_key(&json, "pairs");
        nt_json_array(&json);
        for (; k < metadata->ends[i] && status == NT_OK; k++)
            status = write_pair(&json, envelope, &metadata->pairs[k], error);
        nt_json_end_array(&json);
        nt_json_end_object(&json);
    }
    nt_json_end_array(&json);
    nt_json_finish(&json);
    return status;
}

enum nt_status nt_metadata_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                                struct nt_error *error)
{
    struct metadata metadata = {0};
    enum nt_status status = load(dataset, &metadata, error);
    if (status == NT_OK)
        status = number_versions(&metadata, error);
    if (status == NT_OK)
        status = write_document(&metadata, out, error);
    metadata_deinit(&metadata);
    return status;
}
