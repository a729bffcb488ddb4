/* SPDX-License-Identifier: MIT
 *
 * The header of .npy files, read by a strict reader.
 */
#include <stdio.h>
#include <string.h>

#include "support.h"
#include "vfs/vfs.h"
#include "core/base/memory.h"

/* A strict reader of the header, from NumPy's description of the format (numpy.lib.format). */
struct header {
    char descr[512];
    char order[8];
    char shape[128];
    size_t data_offset;
};

static void between(const char *text, const char *before, const char *after, char *out, size_t size)
{
    const char *first = strstr(text, before);
    ck_assert_msg(first != NULL, "no %s in %s", before, text);
    first += strlen(before);
    const char *end = strstr(first, after);
    ck_assert_ptr_nonnull(end);
    ck_assert_uint_lt((size_t)(end - first), size);
    memcpy(out, first, (size_t)(end - first));
    out[end - first] = '\0';
}

static void parse(const struct nt_buffer *bytes, int version, struct header *header)
{
    const uint8_t *at = (const uint8_t *)bytes->bytes;
    size_t prefix = version == 1 ? 10 : 12, length = 0;
    ck_assert_mem_eq(at, "\x93NUMPY", 6);
    ck_assert_int_eq(at[6], version);
    ck_assert_int_eq(at[7], 0);
    for (size_t i = prefix; i-- > 8;)
        length = length << 8 | at[i];
    ck_assert_uint_eq(prefix + length, bytes->length);
    ck_assert_uint_eq(bytes->length % 64, 0);
    const char *text = (const char *)at + prefix;
    ck_assert_int_eq(text[0], '{');
    ck_assert_int_eq(text[length - 1], '\n');
    size_t last = strcspn(text, "}");
    ck_assert_uint_eq(strspn(text + last + 1, " "), length - last - 2);
    between(text, "'descr': ", ", 'fortran_order': ", header->descr, sizeof(header->descr));
    between(text, "'fortran_order': ", ", 'shape': ", header->order, sizeof(header->order));
    between(text, "'shape': ", ", }", header->shape, sizeof(header->shape));
    header->data_offset = prefix + length;
}

static const struct {
    const char *numpy, *descr;
    bool is_structure, is_fortran_order;
    uint64_t shape[3];
    size_t dimensions;
    const char *expected;
} headers[] = {
    {"<f8", "'<f8'", false, false, {9}, 1, "(9,)"},
    {"|b1", "'|b1'", false, false, {0}, 1, "(0,)"},
    {"<i4", "'<i4'", false, true, {2, 3}, 2, "(2, 3)"},
    {"<f4", "'<f4'", false, false, {UINT64_MAX, 1, 3}, 3, "(18446744073709551615, 1, 3)"},
    {"<f4", "'<f4'", false, false, {0}, 0, "()"},
    {"[('index', '<u8'), ('tag', '<u4')]", "[('index', '<u8'), ('tag', '<u4')]", true, false, {5}, 1, "(5,)"},
};

TEST(a_strict_reader_finds_what_was_written, .end = sizeof(headers) / sizeof(headers[0]))
{
    struct nt_buffer bytes = {0};
    struct header header;
    const struct nt_dtype dtype = {.numpy = headers[_i].numpy,
                                   .member_count = headers[_i].is_structure ? 2 : 0};
    nt_npy_header(&bytes, &dtype, headers[_i].is_fortran_order, headers[_i].shape, headers[_i].dimensions);
    parse(&bytes, 1, &header);
    ck_assert_str_eq(header.descr, headers[_i].descr);
    ck_assert_str_eq(header.order, headers[_i].is_fortran_order ? "True" : "False");
    ck_assert_str_eq(header.shape, headers[_i].expected);
    nt_buffer_deinit(&bytes);
}

TEST(every_length_of_a_dtype_is_padded_to_64_bytes)
{
    char descr[512] = "'";
    for (size_t length = 1; length < 400; length++) {
        struct nt_buffer bytes = {0};
        struct header header;
        descr[length] = 'x';
        const struct nt_dtype dtype = {.numpy = descr + 1};
        nt_npy_header(&bytes, &dtype, false, (const uint64_t[]){1}, 1);
        descr[length + 1] = '\'';
        parse(&bytes, 1, &header);
        ck_assert_str_eq(header.descr, descr);
        descr[length + 1] = '\0';
        nt_buffer_deinit(&bytes);
    }
}

TEST(a_dtype_too_long_for_version_1_gets_version_2)
{
    enum { LONG = 70000 };
    struct nt_buffer bytes = {0};
    char *descr = malloc(LONG + 1);
    memset(descr, 'x', LONG);
    descr[LONG] = '\0';
    nt_npy_header(&bytes, &(const struct nt_dtype){.numpy = descr}, false, (const uint64_t[]){1}, 1);
    ck_assert_mem_eq(bytes.bytes, "\x93NUMPY\x02\x00", 8);
    ck_assert_uint_eq(bytes.length % 64, 0);
    free(descr);
    nt_buffer_deinit(&bytes);
}
