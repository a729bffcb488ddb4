/* SPDX-License-Identifier: MIT
 *
 * Converts JSONB, the binary JSON that Lance stores, to JSON text.
 */
#include "core/json/json.h"

#include <math.h>

#include "core/base/error.h"
#include "core/base/text.h"

/* ---- Strings ---- */

/* The character after the backslash; 0: no escape, 'u': escape by number. */
static char escape_of(uint8_t byte)
{
    static const char short_ones[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    if (byte == '"' || byte == '\\')
        return (char)byte;
    if (byte >= ' ')
        return 0;
    return byte < sizeof(short_ones) && short_ones[byte] ? short_ones[byte] : 'u';
}

static void jsonb_append_string(struct nt_buffer *out, const uint8_t *bytes, size_t count)
{
    size_t plain = 0; /* start of the text not yet written */
    nt_buffer_append_byte(out, '"');
    for (size_t i = 0; i < count; i++) {
        char escape = escape_of(bytes[i]);
        if (!escape)
            continue;
        nt_buffer_append(out, bytes + plain, i - plain);
        plain = i + 1;
        nt_buffer_append_byte(out, '\\');
        nt_buffer_append_byte(out, escape);
        if (escape == 'u')
            nt_buffer_append_format(out, "%04x", bytes[i]);
    }
    nt_buffer_append(out, bytes + plain, count - plain);
    nt_buffer_append_byte(out, '"');
}

/* ---- Numbers ---- */

enum {
    ZERO = 0x00,
    NOT_A_NUMBER = 0x10,
    INFINITE = 0x20,
    MINUS_INFINITE = 0x30,
    SIGNED = 0x40,
    UNSIGNED = 0x50,
    REAL = 0x60,
    DECIMAL = 0x70
};

static bool append_integer(struct nt_buffer *out, const uint8_t *bytes, size_t count, bool is_signed)
{
    if (count != 1 && count != 2 && count != 4 && count != 8)
        return false;
    uint64_t value = nt_load_integer(bytes, (uint32_t)count, true);
    if (is_signed)
        nt_buffer_append_format(out, "%" PRId64, nt_extend_sign(value, (uint32_t)count));
    else
        nt_buffer_append_format(out, "%" PRIu64, value);
    return true;
}

static void append_real(struct nt_buffer *out, double value)
{
    char text[NT_NUMBER_TEXT];
    if (isfinite(value))
        nt_buffer_append(out, text, nt_format_double_unpadded(value, text));
    else
        nt_buffer_append_string(out, "null");
}

static bool append_double(struct nt_buffer *out, const uint8_t *bytes, size_t count)
{
    double value;
    if (count != sizeof(value))
        return false;
    uint64_t bits = nt_load_be64(bytes);
    memcpy(&value, &bits, sizeof(value));
    append_real(out, value);
    return true;
}

/* Two's complement of up to 256 bits, rounded once: bit 0 of the upper 64 bits is sticky. */
static double load_integer(const uint8_t *bytes, size_t count)
{
    uint8_t magnitude[32];
    bool is_negative = bytes[0] & 0x80;
    unsigned carry = is_negative;
    for (size_t i = count; i-- > 0;) {
        carry += is_negative ? (uint8_t)~bytes[i] : bytes[i];
        magnitude[i] = (uint8_t)carry;
        carry >>= 8;
    }
    size_t first = 0;
    while (first < count && !magnitude[first])
        first++;
    uint64_t top = 0;
    size_t used = 0;
    while (first + used < count && !(top >> 56))
        top = top << 8 | magnitude[first + used++];
    for (size_t i = first + used; i < count; i++)
        top |= magnitude[i] != 0;
    double value = ldexp((double)top, 8 * (int)(count - first - used));
    return is_negative ? -value : value;
}

/* By squaring, as Rust's powi and C compilers' runtimes do. */
static double power_of_10(unsigned exponent)
{
    double power = 1, square = 10;
    for (; exponent; exponent /= 2, square *= square)
        if (exponent % 2)
            power *= square;
    return power;
}

/* Early writers put the precision before the scale. */
static bool append_decimal(struct nt_buffer *out, const uint8_t *bytes, size_t count)
{
    static const struct {
        size_t count, integer;
    } kinds[] = {{9, 8}, {17, 16}, {18, 16}, {33, 32}, {34, 32}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (count == kinds[i].count) {
            append_real(out, load_integer(bytes, kinds[i].integer) / power_of_10(bytes[count - 1]));
            return true;
        }
    return false;
}

/* Returns false for invalid bytes; then the appended text is useless. */
static bool jsonb_append_number(struct nt_buffer *out, const uint8_t *bytes, size_t count)
{
    if (!count)
        return false;
    switch (bytes[0]) {
    case ZERO:
        nt_buffer_append_byte(out, '0');
        return true;
    case NOT_A_NUMBER:
    case INFINITE:
    case MINUS_INFINITE:
        nt_buffer_append_string(out, "null");
        return true;
    case SIGNED:
    case UNSIGNED:
        return append_integer(out, bytes + 1, count - 1, bytes[0] == SIGNED);
    case REAL:
        return append_double(out, bytes + 1, count - 1);
    case DECIMAL:
        return append_decimal(out, bytes + 1, count - 1);
    default:
        return false;
    }
}

/* ---- Extensions ---- */

enum { BINARY = 0x00, DATE = 0x10, TIMESTAMP = 0x20, TIMESTAMP_WITH_ZONE = 0x30, INTERVAL = 0x40 };
enum { DAY_SECONDS = 86400, MICROSECONDS = 1000000 };

/* The proleptic Gregorian calendar; false beyond the years 0 to 9999. */
static bool find_date(int64_t seconds, struct tm *date_ret)
{
    const time_t first = INT64_C(-62167219200), last = INT64_C(253402300799), when = seconds;
    return when >= first && when <= last && gmtime_r(&when, date_ret);
}

static bool append_date(struct nt_buffer *out, int32_t days)
{
    struct tm date;
    if (!find_date((int64_t)days * DAY_SECONDS, &date))
        return false;
    nt_buffer_append_format(out, "%04d-%02d-%02d", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday);
    return true;
}

static bool append_time(struct nt_buffer *out, int64_t microseconds, int64_t offset_seconds)
{
    int64_t seconds = microseconds / MICROSECONDS, left = microseconds % MICROSECONDS;
    struct tm date;
    if (left < 0) {
        seconds--;
        left += MICROSECONDS;
    }
    if (!find_date(seconds + offset_seconds, &date))
        return false;
    nt_buffer_append_format(out, "%04d-%02d-%02d %02d:%02d:%02d.%06d", date.tm_year + 1900, date.tm_mon + 1,
                            date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec, (int)left);
    return true;
}

/* The offset from UTC is one byte of hours or 4 bytes of seconds. */
static bool append_zoned_time(struct nt_buffer *out, const uint8_t *bytes, size_t count)
{
    enum { MAX_SECONDS = 26 * 3600 };
    if (count != 9 && count != 12)
        return false;
    int32_t offset = count == 9 ? (int8_t)bytes[8] * 3600 : (int32_t)nt_load_be32(bytes + 8);
    if (offset <= -MAX_SECONDS || offset >= MAX_SECONDS ||
        !append_time(out, (int64_t)nt_load_be64(bytes), offset))
        return false;
    int minutes = (offset < 0 ? -offset : offset) / 60;
    nt_buffer_append_format(out, " %c%02d%02d", offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
    return true;
}

static void append_count(struct nt_buffer *out, int64_t count, const char *unit, bool *has_any)
{
    if (!count)
        return;
    nt_buffer_append_format(out, "%s%" PRId64 " %s%s", *has_any ? " " : "", count, unit,
                            count == 1 || count == -1 ? "" : "s");
    *has_any = true;
}

static void append_interval(struct nt_buffer *out, const uint8_t *bytes)
{
    int32_t months = (int32_t)nt_load_be32(bytes);
    int64_t microseconds = (int64_t)nt_load_be64(bytes + 8);
    bool has_any = false;
    append_count(out, months / 12, "year", &has_any);
    append_count(out, months % 12, "month", &has_any);
    append_count(out, (int32_t)nt_load_be32(bytes + 4), "day", &has_any);
    if (!microseconds && has_any)
        return;
    uint64_t left = microseconds < 0 ? -(uint64_t)microseconds : (uint64_t)microseconds;
    nt_buffer_append_format(out, "%s%s%02" PRIu64 ":%02d:%02d", has_any ? " " : "",
                            microseconds < 0 ? "-" : "", left / MICROSECONDS / 3600,
                            (int)(left / MICROSECONDS / 60 % 60), (int)(left / MICROSECONDS % 60));
    if (left % MICROSECONDS)
        nt_buffer_append_format(out, ".%06d", (int)(left % MICROSECONDS));
}

static bool append_kind(struct nt_buffer *out, uint8_t kind, const uint8_t *bytes, size_t count)
{
    switch (kind) {
    case BINARY:
        for (size_t i = 0; i < count; i++)
            nt_buffer_append_format(out, "%02X", bytes[i]);
        return true;
    case DATE:
        return count == 4 && append_date(out, (int32_t)nt_load_be32(bytes));
    case TIMESTAMP:
        return count == 8 && append_time(out, (int64_t)nt_load_be64(bytes), 0);
    case TIMESTAMP_WITH_ZONE:
        return append_zoned_time(out, bytes, count);
    case INTERVAL:
        if (count != 16)
            return false;
        append_interval(out, bytes);
        return true;
    default:
        return false;
    }
}

/* The same for binaries, dates, times and intervals, in quotes. */
static bool jsonb_append_extension(struct nt_buffer *out, const uint8_t *bytes, size_t count)
{
    nt_buffer_append_byte(out, '"');
    if (!count || !append_kind(out, bytes[0], bytes + 1, count - 1))
        return false;
    nt_buffer_append_byte(out, '"');
    return true;
}

/* ---- Arrays and objects ---- */

enum { MAX_DEPTH = 500, ENTRY_BYTES = 4 };

enum { SCALAR = 1, OBJECT = 2, ARRAY = 4 }; /* 3 bits in the header */
enum { COUNT_MASK = 0x1fffffff, LENGTH_MASK = 0x0fffffff, HEADER_SHIFT = 29, TYPE_SHIFT = 28, TYPE_MASK = 7 };
enum { IS_NULL, IS_STRING, IS_NUMBER, IS_FALSE, IS_TRUE, IS_CONTAINER, IS_EXTENSION };

struct jsonb_decoder {
    struct nt_buffer *out;
    struct nt_error *error;
};

/* The remaining entries, starting with the bytes of the next one. */
struct jsonb_entries {
    const uint8_t *at;
    uint32_t left;
};

struct bytes {
    const uint8_t *at;
    size_t left;
};

static enum nt_status fail(const struct jsonb_decoder *decoder, const char *what)
{
    return nt_fail(decoder->error, NT_CORRUPT, NT_NO_OFFSET, "JSONB: %s", what);
}

/* Takes the bytes of the next entry; false if fewer are left than it needs. */
static bool take(struct jsonb_entries *entries, struct bytes *bytes, unsigned *type_ret,
                 struct bytes *value_ret)
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

static enum nt_status append_container(const struct jsonb_decoder *decoder, struct bytes value,
                                       unsigned depth);

static enum nt_status append_value(const struct jsonb_decoder *decoder, unsigned type, struct bytes value,
                                   unsigned depth)
{
    static const char *const words[] = {[IS_NULL] = "null", [IS_FALSE] = "false", [IS_TRUE] = "true"};
    switch (type) {
    case IS_NULL:
    case IS_FALSE:
    case IS_TRUE:
        nt_buffer_append_string(decoder->out, words[type]);
        return NT_OK;
    case IS_STRING:
        jsonb_append_string(decoder->out, value.at, value.left);
        return NT_OK;
    case IS_NUMBER:
        return jsonb_append_number(decoder->out, value.at, value.left)
                   ? NT_OK
                   : fail(decoder, "a number has an unknown kind");
    case IS_EXTENSION:
        return jsonb_append_extension(decoder->out, value.at, value.left)
                   ? NT_OK
                   : fail(decoder, "an extension has an unknown kind");
    case IS_CONTAINER:
        return append_container(decoder, value, depth + 1);
    default:
        return fail(decoder, "a value has an unknown type");
    }
}

static enum nt_status append_array(const struct jsonb_decoder *decoder, struct jsonb_entries entries,
                                   struct bytes bytes, unsigned depth)
{
    unsigned type;
    struct bytes value;
    nt_buffer_append_byte(decoder->out, '[');
    for (bool is_first = true; entries.left; is_first = false) {
        if (!is_first)
            nt_buffer_append_byte(decoder->out, ',');
        if (!take(&entries, &bytes, &type, &value))
            return fail(decoder, "a value ends after the array that contains it");
        NT_TRY(append_value(decoder, type, value, depth));
    }
    nt_buffer_append_byte(decoder->out, ']');
    return NT_OK;
}

/* Skips the keys, to the bytes of the values; false if fewer are left than the keys need. */
static bool skip_keys(struct jsonb_entries keys, struct bytes *bytes)
{
    unsigned type;
    struct bytes key;
    while (keys.left)
        if (!take(&keys, bytes, &type, &key) || type != IS_STRING)
            return false;
    return true;
}

static enum nt_status append_object(const struct jsonb_decoder *decoder, struct jsonb_entries keys,
                                    struct bytes bytes, unsigned depth)
{
    struct jsonb_entries values = {keys.at + (size_t)keys.left * ENTRY_BYTES, keys.left};
    struct bytes value_bytes = bytes, key, value;
    unsigned type;
    if (!skip_keys(keys, &value_bytes))
        return fail(decoder, "the keys of an object are not strings, or end after the object");
    nt_buffer_append_byte(decoder->out, '{');
    for (bool is_first = true; keys.left; is_first = false) {
        if (!is_first)
            nt_buffer_append_byte(decoder->out, ',');
        if (!take(&keys, &bytes, &type, &key) || !take(&values, &value_bytes, &type, &value))
            return fail(decoder, "a value ends after the object that contains it");
        jsonb_append_string(decoder->out, key.at, key.left);
        nt_buffer_append_byte(decoder->out, ':');
        NT_TRY(append_value(decoder, type, value, depth));
    }
    nt_buffer_append_byte(decoder->out, '}');
    return NT_OK;
}

static enum nt_status append_container(const struct jsonb_decoder *decoder, struct bytes value,
                                       unsigned depth)
{
    unsigned type;
    struct bytes scalar;
    if (depth > MAX_DEPTH)
        return nt_fail(decoder->error, NT_LIMIT, NT_NO_OFFSET, "JSONB is nested deeper than %d levels",
                       MAX_DEPTH);
    if (value.left < ENTRY_BYTES)
        return fail(decoder, "a value has no header");
    uint32_t header = nt_load_be32(value.at), count = header & COUNT_MASK, kind = header >> HEADER_SHIFT;
    struct bytes rest = {value.at + ENTRY_BYTES, value.left - ENTRY_BYTES};
    if (kind == SCALAR)
        count = 1;
    uint64_t room = (uint64_t)count * ENTRY_BYTES * (kind == OBJECT ? 2 : 1);
    if (room > rest.left)
        return fail(decoder, "it has more values than bytes");
    struct jsonb_entries entries = {rest.at, count};
    rest = (struct bytes){rest.at + room, rest.left - room};
    if (kind == ARRAY)
        return append_array(decoder, entries, rest, depth);
    if (kind == OBJECT)
        return append_object(decoder, entries, rest, depth);
    if (kind != SCALAR || !take(&entries, &rest, &type, &scalar) || type == IS_CONTAINER)
        return fail(decoder, "a header has an unknown kind");
    return append_value(decoder, type, scalar, depth);
}

/* Lance's reader treats other bytes as text. JSON text has only white space controls. */
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
    const struct jsonb_decoder decoder = {out, error};
    size_t start = out->length;
    if (!count) {
        nt_buffer_append_string(out, "null");
        return NT_OK;
    }
    enum nt_status status = append_container(&decoder, (struct bytes){bytes, count}, 0);
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
