/* SPDX-License-Identifier: MIT
 *
 * File formats: a static table of rows, tried in order until one recognises the file.
 */
#ifndef NTUPLE_FORMAT_H
#define NTUPLE_FORMAT_H

#include <ntuple/model.h>

#pragma GCC visibility push(default)

struct nt_open_options {
    const char *format; /* name of the only format to try, NULL: all */
    bool
        refuse_trailing_bytes; /* Roaring: bytes behind the end are an error; else metadata.json tells them */
    uint64_t maximum_page_bytes; /* pages that decode to more are refused; 0: 256 MiB */
};

struct nt_format {
    const char *name;        /* "rntuple" */
    const char *description; /* for --help */
    bool takes_directories;  /* `open` is given directories, too */
    /* Open `path`. NT_NOT_THIS_FORMAT where the file is not of this format (the next is tried; the message
     * says what the file is instead, where it can be told). On success the file belongs to the caller. */
    enum nt_status (*open)(const char *path, const struct nt_open_options *options, struct nt_file **file_ret,
                           struct nt_error *error);
};

/* The table; ends with NULL. */
extern const struct nt_format *const nt_formats[];

/* Open a file with the first format that takes it. NT_NOT_THIS_FORMAT names what it is instead. A file of
 * which no data set opens is an error (that of the first data set). */
enum nt_status nt_file_open(const char *path, const struct nt_open_options *options,
                            struct nt_file **file_ret, struct nt_error *error);

#pragma GCC visibility pop

#endif
