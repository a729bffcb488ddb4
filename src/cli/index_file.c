/* SPDX-License-Identifier: MIT
 *
 * In: the text of an index. Out: a file that has it, from one moment to the next.
 */
#include "cli/index_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum nt_status nt_index_file_init(struct nt_index_file *file, const char *path, struct nt_error *error)
{
    *file = (struct nt_index_file){.path = path, .descriptor = -1};
    if (path && asprintf(&file->new_path, "%s.%ld.new", path, (long)getpid()) < 0) {
        file->new_path = NULL;
        return nt_fail_memory(error);
    }
    return NT_OK;
}

static void tell(const struct nt_index_file *file, struct nt_log *log, int problem)
{
    struct nt_error error;
    nt_fail_system(&error, problem, "%s: the index is not written", file->path);
    nt_log_line(log, error.message);
}

void nt_index_file_prepare(struct nt_index_file *file, struct nt_log *log)
{
    if (!file->path)
        return;
    file->descriptor = open(file->new_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file->descriptor < 0)
        tell(file, log, errno);
}

enum nt_status nt_index_file_read(struct nt_index_file *file, struct nt_error *error)
{
    enum nt_status status = file->path ? nt_chain_index_read(file->path, &file->index, error) : NT_OK;
    if (status == NT_INVALID)
        nt_error_context(error, "option \"index\"");
    return status;
}

static bool write_all(int descriptor, const char *bytes, size_t count)
{
    while (count) {
        ssize_t written = write(descriptor, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

bool nt_index_file_write(struct nt_index_file *file, const struct nt_buffer *text, struct nt_log *log)
{
    if (file->descriptor < 0)
        return false;
    bool is_written = write_all(file->descriptor, text->bytes, text->length);
    if (!is_written)
        tell(file, log, errno);
    close(file->descriptor);
    file->descriptor = -1;
    return is_written;
}

void nt_index_file_replace(const struct nt_index_file *file, struct nt_log *log)
{
    if (file->path && rename(file->new_path, file->path) != 0)
        tell(file, log, errno);
}

void nt_index_file_deinit(struct nt_index_file *file, bool is_owner)
{
    if (file->new_path && is_owner)
        unlink(file->new_path);
    if (file->descriptor >= 0)
        close(file->descriptor);
    free(file->new_path);
    nt_chain_index_free(file->index);
}
