/* SPDX-License-Identifier: MIT */
#ifndef NT_CLI_FORMAT_MODE_H
#define NT_CLI_FORMAT_MODE_H

#include <sys/stat.h>

enum { NT_MODE_TEXT = 11 };

/* "-r--r--r--", as ls(1) shows it. */
static inline void nt_format_mode(mode_t mode, char text[NT_MODE_TEXT])
{
    static const char letters[] = "rwxrwxrwx";
    text[0] = S_ISDIR(mode) ? 'd' : '-';
    for (int bit = 0; bit < 9; bit++)
        text[1 + bit] = mode & (0400u >> bit) ? letters[bit] : '-';
    text[10] = '\0';
}

#endif
