/* SPDX-License-Identifier: MIT
 *
 * JSON output: a streaming writer, shortest round-trip numbers, dataset elements as JSON values, and
 * JSONB as JSON text.
 */
#pragma once

#include <ntuple/element.h>
#include <ntuple/error.h>

#include <time.h>

#include "core/base/memory.h"

/* ---- Numbers as text ---- */

/* Room for every text below. The functions add no NUL and return the length. */
#define NT_NUMBER_TEXT 32

size_t nt_format_unsigned(uint64_t value, char *text);
/* Finite numbers only. Integral values keep ".0" or an exponent, so that readers see real numbers. */
size_t nt_format_double(double value, char *text);
size_t nt_format_float(float value, char *text);
size_t nt_format_half(uint16_t bits, char *text); /* 16-bit float */
double nt_half_value(uint16_t bits);
/* The same in the layout of Rust's serde_json: 0.00001 without exponent, 1e-6 without padding. */
size_t nt_format_double_unpadded(double value, char *text);

/* ---- Streaming writer ---- */

enum { NT_JSON_MAX_DEPTH = 1100 };

struct nt_json {
    struct nt_buffer *out;
    bool is_compact;
    unsigned depth;
    bool after_key;
    bool has_items; /* of the innermost object or array */
};

void nt_json_init(struct nt_json *json, struct nt_buffer *out, bool is_compact);

void nt_json_object(struct nt_json *json);
void nt_json_end_object(struct nt_json *json);
void nt_json_array(struct nt_json *json);
void nt_json_end_array(struct nt_json *json);
void nt_json_key(struct nt_json *json, const char *key);
/* A key from a file: any bytes, escaped as a string. */
void nt_json_key_bytes(struct nt_json *json, const void *bytes, size_t length);

void nt_json_string(struct nt_json *json, const char *text);
/* Any bytes: those that are not UTF-8 become \udcXX (one lone surrogate per byte, as Python's
 * surrogateescape reads them). */
void nt_json_bytes(struct nt_json *json, const void *bytes, size_t length);
void nt_json_hex(struct nt_json *json, const void *bytes, size_t length); /* two digits a byte */
/* Writes a buffer's text and frees the buffer; its failure fails the document. */
void nt_json_buffer(struct nt_json *json, struct nt_buffer *text);
void nt_json_unsigned(struct nt_json *json, uint64_t value);
void nt_json_signed(struct nt_json *json, int64_t value);
void nt_json_double(struct nt_json *json, double value);
void nt_json_float(struct nt_json *json, float value);  /* shortest for 32 bits */
void nt_json_half(struct nt_json *json, uint16_t bits); /* shortest for 16 bits */
void nt_json_bool(struct nt_json *json, bool value);
void nt_json_null(struct nt_json *json);
void nt_json_raw(struct nt_json *json, const char *text); /* existing JSON */

/* A key and its value. Text that is not UTF-8 is written under `key`_hex. */
void nt_json_member_string(struct nt_json *json, const char *key, const char *text); /* NULL: null */
void nt_json_member_text(struct nt_json *json, const char *key, struct nt_text text);
void nt_json_member_buffer(struct nt_json *json, const char *key, struct nt_buffer *text); /* freed */
void nt_json_member_format(struct nt_json *json, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void nt_json_member_unsigned(struct nt_json *json, const char *key, uint64_t value);
void nt_json_member_signed(struct nt_json *json, const char *key, int64_t value);
void nt_json_member_double(struct nt_json *json, const char *key, double value);
void nt_json_member_bool(struct nt_json *json, const char *key, bool value);
void nt_json_member_null(struct nt_json *json, const char *key);
/* Begins it, like nt_json_object and nt_json_array. */
void nt_json_member_object(struct nt_json *json, const char *key);
void nt_json_member_array(struct nt_json *json, const char *key);
/* "2026-11-22T09:36:39Z"; null (text: "") for a time outside the calendar. */
void nt_json_member_time(struct nt_json *json, const char *key, time_t when);
enum { NT_TIME_TEXT = 64 };
void nt_format_time(time_t when, char text[NT_TIME_TEXT]);
/* With nanoseconds: two versions of a file may be written within a second. */
void nt_format_exact_time(const struct timespec *when, char text[NT_TIME_TEXT]);
/* Checksums: a string with all digits. */
void nt_json_member_hex64(struct nt_json *json, const char *key, uint64_t value);
void nt_json_member_hex32(struct nt_json *json, const char *key, uint32_t value);

/* Open the document's object with "schema": "ntuplefs.<kind>/1"; nt_json_finish closes it, with a
 * newline. A line has no schema. */
void nt_json_document(struct nt_json *json, struct nt_buffer *out, const char *kind);
void nt_json_line(struct nt_json *json, struct nt_buffer *out);
void nt_json_finish(struct nt_json *json);

/* ---- Decimals ---- */

struct nt_decimal {
    uint32_t precision, bits;
    int32_t scale; /* digits after the point; negative: omitted zeros before it */
};

/* Are elements decimals, by their Arrow format ("d:10,2", "d:50,3,256")? If so, which? */
bool nt_decimal_of(const struct nt_dtype *dtype, struct nt_decimal *decimal_ret);
/* Appends the exact number: "-1.05". */
void nt_decimal_append(struct nt_buffer *out, const struct nt_decimal *decimal, const uint8_t *bytes);

/* Appends the text of a textual element: NumPy's S and U, without trailing zeros, and decimals with all
 * digits; false for others. */
bool nt_element_text(const struct nt_dtype *dtype, const uint8_t *bytes, struct nt_buffer *out);

void nt_json_element(struct nt_json *json, const struct nt_dtype *dtype, const uint8_t *bytes);
void nt_json_base64(struct nt_json *json, const uint8_t *bytes, size_t count);

/* ---- JSONB ---- */

/* Appends a value as compact JSON, like Lance's own reader. Copies text that is not JSONB. NT_CORRUPT
 * if it is neither, NT_LIMIT for deep nesting; then appends nothing. */
enum nt_status nt_jsonb_append(struct nt_buffer *out, const uint8_t *bytes, size_t count,
                               struct nt_error *error);
