/* SPDX-License-Identifier: MIT
 *
 * In: a value of JSON in the binary format of Databend's jsonb crate, which Lance uses. Out: its text.
 *
 * A value begins with a header of 32 bits, most significant byte first: 3 bits tell what it is, the others how many values it
 * has. For each of these follow 32 bits (a JEntry): 4 of its type, 28 of the length of its bytes; of objects first those of the keys,
 * then those of the values. Behind them lie the bytes of all, in the same order. A scalar has one JEntry.
 */
#include "core/json/jsonb.h"

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "core/json/jsonb_scalars.h"

enum { MOST_DEPTH = 500, ENTRY_BYTES = 4 };

enum { SCALAR = 1, OBJECT = 2, ARRAY = 4 }; /* the header's 3 bits */
enum { COUNT_MASK = 0x1fffffff, LENGTH_MASK = 0x0fffffff, HEADER_SHIFT = 29, TYPE_SHIFT = 28, TYPE_MASK = 7 };
enum { IS_NULL, IS_STRING, IS_NUMBER, IS_FALSE, IS_TRUE, IS_CONTAINER, IS_EXTENSION };

struct decoding {
    struct nt_buffer *out;
    struct nt_error *error;
};

/* Entries that are still to be taken, and the bytes that the next of them begins with. */
struct entries {
    const uint8_t *at;
    uint32_t left;
};

struct bytes {
    const uint8_t *at;
    size_t left;
};

static enum nt_status fail(const struct decoding *decoding, const char *what)
{
    return nt_fail(decoding->error, NT_CORRUPT, NT_NO_OFFSET, "JSONB: %s", what);
}

/* Take the bytes of the next entry; false where there are fewer than it tells of. */
static bool take(struct entries *entries, struct bytes *bytes, unsigned *type_ret, struct bytes *value_ret)
{
    uint32_t entry = nt_load_be32(entries->at);
    size_t length = entry & LENGTH_MASK;
    *type_ret = entry >> TYPE_SHIFT & TYPE_MASK;
    if (length > bytes->left)
        return false;
    *value_ret = (struct bytes){bytes->at, length};
    *bytes = (struct bytes){bytes->at + length, bytes->left - length};
    entries->at += ENTRY_BYTES;
    entries->left--;
    return true;
}

static enum nt_status append_container(const struct decoding *decoding, struct bytes value, unsigned depth);

static enum nt_status append_value(const struct decoding *decoding, unsigned type, struct bytes value,
                                   unsigned depth)
{
    static const char *const words[] = {[IS_NULL] = "null", [IS_FALSE] = "false", [IS_TRUE] = "true"};
    switch (type) {
    case IS_NULL:
    case IS_FALSE:
    case IS_TRUE:
        nt_buffer_text(decoding->out, words[type]);
        return NT_OK;
    case IS_STRING:
        nt_jsonb_append_string(decoding->out, value.at, value.left);
        return NT_OK;
    case IS_NUMBER:
        return nt_jsonb_append_number(decoding->out, value.at, value.left)
                   ? NT_OK
                   : fail(decoding, "a number of no known kind");
    case IS_EXTENSION:
        return nt_jsonb_append_extension(decoding->out, value.at, value.left)
                   ? NT_OK
                   : fail(decoding, "an extension of no known kind");
    case IS_CONTAINER:
        return append_container(decoding, value, depth + 1);
    default:
        return fail(decoding, "a value of no known type");
    }
}

static enum nt_status append_array(const struct decoding *decoding, struct entries entries,
                                   struct bytes bytes, unsigned depth)
{
    enum nt_status status = NT_OK;
    unsigned type;
    struct bytes value;
    nt_buffer_byte(decoding->out, '[');
    for (bool is_first = true; status == NT_OK && entries.left; is_first = false) {
        if (!is_first)
            nt_buffer_byte(decoding->out, ',');
        status = take(&entries, &bytes, &type, &value)
                     ? append_value(decoding, type, value, depth)
                     : fail(decoding, "a value ends behind the array that it is in");
    }
    nt_buffer_byte(decoding->out, ']');
    return status;
}

/* The bytes of the values, which lie behind those of all keys; false where there are fewer than the keys tell of. */
static bool skip_keys(struct entries keys, struct bytes *bytes)
{
    unsigned type;
    struct bytes key;
    while (keys.left)
        if (!take(&keys, bytes, &type, &key) || type != IS_STRING)
            return false;
    return true;
}

static enum nt_status append_object(const struct decoding *decoding, struct entries keys, struct bytes bytes,
                                    unsigned depth)
{
    struct entries values = {keys.at + (size_t)keys.left * ENTRY_BYTES, keys.left};
    struct bytes value_bytes = bytes, key, value;
    enum nt_status status = NT_OK;
    unsigned type;
    if (!skip_keys(keys, &value_bytes))
        return fail(decoding, "the keys of an object are no strings, or end behind it");
    nt_buffer_byte(decoding->out, '{');
    for (bool is_first = true; status == NT_OK && keys.left; is_first = false) {
        if (!is_first)
            nt_buffer_byte(decoding->out, ',');
        if (!take(&keys, &bytes, &type, &key) || !take(&values, &value_bytes, &type, &value))
            return fail(decoding, "a value ends behind the object that it is in");
        nt_jsonb_append_string(decoding->out, key.at, key.left);
        nt_buffer_byte(decoding->out, ':');
        status = append_value(decoding, type, value, depth);
    }
    nt_buffer_byte(decoding->out, '}');
    return status;
}

static enum nt_status append_container(const struct decoding *decoding, struct bytes value, unsigned depth)
{
    unsigned type;
    struct bytes scalar;
    if (depth > MOST_DEPTH)
        return nt_fail(decoding->error, NT_LIMIT, NT_NO_OFFSET, "JSONB nested deeper than %d", MOST_DEPTH);
    if (value.left < ENTRY_BYTES)
        return fail(decoding, "a value without a header");
    uint32_t header = nt_load_be32(value.at), count = header & COUNT_MASK, kind = header >> HEADER_SHIFT;
    struct bytes rest = {value.at + ENTRY_BYTES, value.left - ENTRY_BYTES};
    if (kind == SCALAR)
        count = 1;
    uint64_t room = (uint64_t)count * ENTRY_BYTES * (kind == OBJECT ? 2 : 1);
    if (room > rest.left)
        return fail(decoding, "more values than there are bytes");
    struct entries entries = {rest.at, count};
    rest = (struct bytes){rest.at + room, rest.left - room};
    if (kind == ARRAY)
        return append_array(decoding, entries, rest, depth);
    if (kind == OBJECT)
        return append_object(decoding, entries, rest, depth);
    if (kind != SCALAR || !take(&entries, &rest, &type, &scalar) || type == IS_CONTAINER)
        return fail(decoding, "a header of no known kind");
    return append_value(decoding, type, scalar, depth);
}

/* Lance's reader takes what is no JSONB for text. Text of JSON has no control characters but spaces. */
static bool is_text(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] < ' ' && bytes[i] != '\t' && bytes[i] != '\n' && bytes[i] != '\r')
            return false;
    return nt_is_utf8(bytes, count);
}

enum nt_status nt_jsonb_append(struct nt_buffer *out, const uint8_t *bytes, size_t count,
                               struct nt_error *error)
{
    const struct decoding decoding = {out, error};
    size_t start = out->length;
    if (!count) {
        nt_buffer_text(out, "null");
        return NT_OK;
    }
    enum nt_status status = append_container(&decoding, (struct bytes){bytes, count}, 0);
    if (status == NT_OK)
        return NT_OK;
    out->length = start;
    if (out->bytes)
        out->bytes[start] = '\0';
    if (status != NT_CORRUPT || !is_text(bytes, count))
        return status;
    nt_buffer_append(out, bytes, count);
    return NT_OK;
}
