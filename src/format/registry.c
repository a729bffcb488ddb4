/* SPDX-License-Identifier: MIT
 *
 * The table of file formats, in the order in which they are tried: those that a few bytes give away first,
 * the one without a magic number last.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "format/formats.h"

const struct nt_format *const nt_formats[] = {&nt_format_rntuple, &nt_format_blz, &nt_format_roaring, NULL};

/* The first data set that opened makes the file worth serving; without one, the first failure is the file's.
 */
static enum nt_status check_datasets(const struct nt_file *file, struct nt_error *error)
{
    const struct nt_error *failure = NULL;
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        if (!file->datasets[i]->failure)
            return NT_OK;
        if (!failure)
            failure = file->datasets[i]->failure;
    }
    if (!failure)
        return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "%s holds no data set", file->path);
    if (error)
        *error = *failure;
    return failure->status;
}

static enum nt_status open_with(const struct nt_format *format, const char *path,
                                const struct nt_open_options *options, struct nt_file **file_ret,
                                struct nt_error *error)
{
    struct nt_file *file = NULL;
    enum nt_status status = format->open(path, options, &file, error);
    if (status != NT_OK)
        return status;
    file->format = format;
    status = check_datasets(file, error);
    if (status != NT_OK) {
        nt_file_close(file);
        return status;
    }
    *file_ret = file;
    return NT_OK;
}

static bool is_directory(const char *path)
{
    struct stat attributes;
    return stat(path, &attributes) == 0 && S_ISDIR(attributes.st_mode);
}

enum nt_status nt_file_open(const char *path, const struct nt_open_options *options,
                            struct nt_file **file_ret, struct nt_error *error)
{
    static const struct nt_open_options defaults;
    const char *only = options ? options->format : NULL;
    struct nt_error first = {0};
    bool is_known = false, was_tried = false, is_folder = is_directory(path);
    for (size_t i = 0; nt_formats[i]; i++) {
        if (only && strcmp(only, nt_formats[i]->name))
            continue;
        is_known = true;
        if (is_folder && !nt_formats[i]->takes_directories)
            continue;
        struct nt_error failure = {0};
        enum nt_status status =
            open_with(nt_formats[i], path, options ? options : &defaults, file_ret, &failure);
        if (status == NT_OK)
            return NT_OK;
        if (status != NT_NOT_THIS_FORMAT) {
            if (error)
                *error = failure;
            return status;
        }
        if (!was_tried)
            first = failure; /* the first format's message tells what the file is instead */
        was_tried = true;
    }
    if (!is_known)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "there is no format '%s'", only);
    if (!was_tried)
        return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "%s is a directory", path);
    if (error)
        *error = first;
    return NT_NOT_THIS_FORMAT;
}
