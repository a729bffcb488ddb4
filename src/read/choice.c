/* SPDX-License-Identifier: MIT
 *
 * In: a file, or a range. Out: runs of entries, for data sets.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "read/readers.h"

/* No .npy, and no text as far as its first bytes go: a file of a format, or a text with a mistake there. */
static enum nt_status read_unmarked(struct nt_choice *choice, struct nt_source *source, uint64_t size,
                                    struct nt_error *error)
{
    struct nt_error mistake = {0};
    nt_choice_read_text(choice, source, size, &mistake);
    choice->count = 0;
    choice->elements = choice->line = 0;
    enum nt_status status = nt_choice_read_dataset(choice, source, error);
    return status == NT_NOT_THIS_FORMAT ? nt_fail_with(error, &mistake) : status;
}

enum nt_status nt_choice_read(struct nt_choice *choice, struct nt_source *source, struct nt_error *error)
{
    uint8_t head[NT_CHOICE_HEAD_BYTES];
    uint64_t size = 0;
    enum nt_status status = nt_source_size(source, &size, error);
    size_t bytes = size < sizeof(head) ? (size_t)size : sizeof(head);
    if (status == NT_OK && bytes)
        status = nt_source_read(source, 0, head, bytes, error);
    if (status == NT_OK && !nt_choice_is_npy(head, bytes) && !nt_choice_is_text(head, bytes))
        return read_unmarked(choice, source, size, error);
    if (status == NT_OK)
        status = nt_choice_is_npy(head, bytes) ? nt_choice_read_npy(choice, source, size, error)
                                               : nt_choice_read_text(choice, source, size, error);
    nt_source_close(source);
    return status;
}

enum nt_status nt_choice_open(const char *path, struct nt_choice **choice_ret, struct nt_error *error)
{
    struct nt_source *source;
    enum nt_status status = nt_source_open_file(path, &source, error);
    if (status != NT_OK)
        return status;
    struct nt_choice *choice = calloc(1, sizeof(*choice));
    if (!choice || !(choice->path = strdup(path))) {
        nt_choice_free(choice);
        nt_source_close(source);
        return nt_fail_memory(error);
    }
    status = nt_choice_read(choice, source, error);
    if (status == NT_OK)
        *choice_ret = choice;
    else
        nt_choice_free(choice);
    return status;
}

enum nt_status nt_choice_of_range(uint64_t first, uint64_t end, struct nt_choice **choice_ret,
                                  struct nt_error *error)
{
    struct nt_choice *choice = calloc(1, sizeof(*choice));
    if (!choice || !(choice->ranges = calloc(1, sizeof(*choice->ranges)))) {
        free(choice);
        return nt_fail_memory(error);
    }
    choice->ranges[0] = (struct nt_entry_range){first, end > first ? end - first : 0};
    choice->count = 1;
    *choice_ret = choice;
    return NT_OK;
}

void nt_choice_free(struct nt_choice *choice)
{
    if (!choice)
        return;
    free(choice->path);
    free(choice->ranges);
    free(choice);
}
