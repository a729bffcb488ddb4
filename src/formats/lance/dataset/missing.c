/* SPDX-License-Identifier: MIT
 *
 * In: the name of a file that is not there. Out: whether it may have gone while its data set was open, as the files of
 * versions that are cleaned up do.
 */
#include "formats/lance/dataset/missing.h"

#include <string.h>
#include <time.h>

#include "core/base/buffer.h"

struct timespec nt_lance_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return now;
}

static bool is_before(const struct timespec *left, const struct timespec *right)
{
    return left->tv_sec < right->tv_sec || (left->tv_sec == right->tv_sec && left->tv_nsec < right->tv_nsec);
}

/* Of the folder that a name lies in, or, where that has gone, too, of the one around it. */
static enum nt_status look_around(struct nt_folder *folder, const char *name, struct stat *attributes,
                                  struct nt_error *error)
{
    enum nt_status status = NT_NOT_FOUND;
    size_t length = strlen(name);
    while (status == NT_NOT_FOUND && length) {
        struct nt_buffer way = {0};
        const char *end = memrchr(name, '/', length);
        length = end ? (size_t)(end - name) : 0;
        nt_buffer_append(&way, name, length);
        nt_buffer_text(&way, "");
        status = way.failed ? nt_fail_memory(error) : nt_folder_stat(folder, way.bytes, attributes, error);
        nt_buffer_deinit(&way);
    }
    return status;
}

enum nt_status nt_lance_fail_missing(const struct nt_lance_dataset *lance, struct nt_folder *folder,
                                     const char *name, const char *what, struct nt_error *error)
{
    struct stat attributes;
    enum nt_status status = look_around(folder, name, &attributes, error);
    if (status != NT_OK && status != NT_NOT_FOUND)
        return status;
    bool has_changed = status == NT_OK && !is_before(&attributes.st_mtim, &lance->opened);
    return nt_fail(error, has_changed ? NT_CHANGED : NT_CORRUPT, NT_NO_OFFSET, "the %s is missing%s", what,
                   has_changed ? ", whose folder has changed since the data set was opened" : "");
}
