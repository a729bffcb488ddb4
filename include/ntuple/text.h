/* SPDX-License-Identifier: MIT
 *
 * Text with its length.
 */
#ifndef NTUPLE_TEXT_H
#define NTUPLE_TEXT_H

#include <stddef.h>

#include <ntuple/api.h>

NT_API_BEGIN

/* Text from a file: any bytes, of any length, NUL-terminated for convenience. */
struct nt_text {
    const char *bytes;
    size_t length;
};

NT_API_END

#endif
