/* SPDX-License-Identifier: MIT
 *
 * In: a data set of a chain's first file, and another file. Out: the data set there that belongs to it.
 */
#include "chain/own.h"

#include "core/base/text.h"
#include "formats/format.h"

/* A data set that has no name of its own is called like its file. */
static bool is_named_after_file(const struct nt_dataset *dataset)
{
    const char *path = dataset->file->path;
    return nt_texts_are_equal(dataset->name, nt_path_stem(path)) ||
           nt_texts_are_equal(dataset->name, nt_path_name(path));
}

enum nt_status nt_chain_find_own(const struct nt_dataset *first, const struct nt_chain_part *part,
                                 struct nt_dataset **dataset_ret, struct nt_error *error)
{
    enum { MOST_PATH = 4096 };
    char path[MOST_PATH];
    const struct nt_file *file = part->file;
    bool has_one = first->file->dataset_count == 1 && file->dataset_count == 1;
    if (file->format != first->file->format)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "its format is %s, that of %s %s", file->format->name,
                       first->file->path, first->file->format->name);
    if (!part->listed->sample && has_one && is_named_after_file(first) &&
        is_named_after_file(file->datasets[0])) {
        *dataset_ret = file->datasets[0];
        return file->datasets[0]->failure ? nt_fail_with(error, file->datasets[0]->failure) : NT_OK;
    }
    size_t length = nt_dataset_path(first, path, sizeof(path));
    if (!length)
        return nt_fail_memory(error);
    if (length >= sizeof(path))
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the data set's path is longer than %d bytes",
                       MOST_PATH);
    struct nt_error failure = {0};
    enum nt_status status = nt_file_find(file, part->listed->sample ? part->listed->sample->dataset : path,
                                         dataset_ret, &failure);
    if (status == NT_NOT_FOUND)
        failure.status = NT_CORRUPT; /* of a name that is there */
    return status == NT_OK ? NT_OK : nt_fail_with(error, &failure);
}
