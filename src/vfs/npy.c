/* SPDX-License-Identifier: MIT
 *
 * Comes in: a dtype and a shape. Goes out: magic, version, length and a Python dictionary, padded with
 * spaces. A dictionary that is too long for version 1.0 (large structured dtypes) gets version 2.0, as NumPy
 * does it.
 */
#include "vfs/npy.h"

#include <string.h>

enum { ALIGNMENT = 64, PREFIX_1 = 10, PREFIX_2 = 12 };

static void put_dictionary(struct nt_buffer *out, const char *descr, bool is_fortran_order,
                           const uint64_t *shape, size_t dimensions)
{
    nt_buffer_format(out, "{'descr': %s, 'fortran_order': %s, 'shape': (", descr,
                     is_fortran_order ? "True" : "False");
    for (size_t i = 0; i < dimensions; i++)
        nt_buffer_format(out, i ? ", %llu" : "%llu", (unsigned long long)shape[i]);
    nt_buffer_text(out, dimensions == 1 ? ",), }" : "), }");
}

void nt_npy_header(struct nt_buffer *out, const char *descr, bool is_fortran_order, const uint64_t *shape,
                   size_t dimensions)
{
    struct nt_buffer dictionary = {0};
    put_dictionary(&dictionary, descr, is_fortran_order, shape, dimensions);
    size_t prefix = dictionary.length + PREFIX_1 + ALIGNMENT > UINT16_MAX ? PREFIX_2 : PREFIX_1;
    while ((prefix + dictionary.length + 1) % ALIGNMENT)
        nt_buffer_byte(&dictionary, ' ');
    nt_buffer_byte(&dictionary, '\n');
    nt_buffer_append(out, "\x93NUMPY", 6);
    nt_buffer_byte(out, prefix == PREFIX_1 ? 1 : 2);
    nt_buffer_byte(out, 0);
    for (size_t i = 0; i < prefix - 8; i++)
        nt_buffer_byte(out, (char)(dictionary.length >> (8 * i)));
    nt_buffer_append(out, dictionary.bytes, dictionary.length);
    out->failed = out->failed || dictionary.failed;
    nt_buffer_deinit(&dictionary);
}
