/* SPDX-License-Identifier: MIT
 *
 * Comes in: a dtype and a shape. Goes out: magic, version, length and a Python dictionary, padded with
 * spaces. A dictionary that is too long for version 1.0 (large structured dtypes) gets version 2.0, as NumPy
 * does it.
 */
#include "vfs/npy.h"

enum { ALIGNMENT = 64, PREFIX_1 = 10, PREFIX_2 = 12 };

/* The list of a structure stands as it is, the name of a plain type as a string. */
static void put_dictionary(struct nt_buffer *out, const struct nt_dtype *dtype, bool is_fortran_order,
                           const uint64_t *shape, size_t dimensions)
{
    const char *quote = dtype->member_count ? "" : "'";
    nt_buffer_format(out, "{'descr': %s%s%s, 'fortran_order': %s, 'shape': (", quote, dtype->numpy, quote,
                     is_fortran_order ? "True" : "False");
    for (size_t i = 0; i < dimensions; i++)
        nt_buffer_format(out, i ? ", %llu" : "%llu", (unsigned long long)shape[i]);
    nt_buffer_text(out, dimensions == 1 ? ",), }" : "), }");
}

void nt_npy_header(struct nt_buffer *out, const struct nt_dtype *dtype, bool is_fortran_order,
                   const uint64_t *shape, size_t dimensions)
{
    struct nt_buffer dictionary = {0};
    put_dictionary(&dictionary, dtype, is_fortran_order, shape, dimensions);
    size_t prefix = dictionary.length + PREFIX_1 + ALIGNMENT > UINT16_MAX ? PREFIX_2 : PREFIX_1;
    while (!dictionary.failed && (prefix + dictionary.length + 1) % ALIGNMENT)
        nt_buffer_byte(&dictionary, ' ');
    nt_buffer_byte(&dictionary, '\n');
    nt_buffer_append(out, "\x93NUMPY", 6);
    nt_buffer_byte(out, prefix == PREFIX_1 ? 1 : 2);
    nt_buffer_byte(out, 0);
    for (size_t i = 0; i < prefix - 8; i++)
        nt_buffer_byte(out, (char)(dictionary.length >> (8 * i)));
    nt_buffer_append(out, dictionary.bytes, dictionary.length);
    nt_buffer_deinit_part(&dictionary, out);
}
