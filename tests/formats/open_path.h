/* SPDX-License-Identifier: MIT
 *
 * Opens a path with one format's row, without the other formats and the rules of the registry.
 */
#pragma once

#include <sys/stat.h>

#include "formats/formats.h"
#include "core/io/folder.h"
#include "core/io/source.h"
#include "core/model/model.h"

static inline enum nt_status open_with(const struct nt_format *format, const char *path,
                                       const struct nt_open_options *options, struct nt_file **file_ret,
                                       struct nt_error *error)
{
    struct stat attributes;
    struct nt_source *source;
    bool is_directory = stat(path, &attributes) == 0 && S_ISDIR(attributes.st_mode);
    enum nt_status status = is_directory ? nt_source_open_folder(path, NT_FOLDER_DATASET, &source, error)
                                         : nt_source_open_file(path, &source, error);
    if (status != NT_OK)
        return status;
    status = format->open(source, options, file_ret, error);
    if (status != NT_OK)
        nt_source_close(source);
    return status;
}
