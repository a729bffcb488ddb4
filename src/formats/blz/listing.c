/* SPDX-License-Identifier: MIT
 *
 * In: a data directory. Out: the numbers of its chunk files, in order. Whatever else lies there is left
 * alone.
 */
#include "formats/blz/listing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/buffer.h"

static const char *const suffixes[NT_BLZ_NAMING_COUNT] = {
    [NT_BLZ_NAMED_CHUNKS] = ".blp",
    [NT_BLZ_NAMED_SUPERCHUNKS] = "__.bin",
};

/* "__", a number without needless zeros, the suffix. */
static bool parse_name(const char *name, enum nt_blz_naming naming, uint64_t *number_ret)
{
    if (strncmp(name, "__", 2) || name[2] < '0' || name[2] > '9' ||
        (name[2] == '0' && name[3] >= '0' && name[3] <= '9'))
        return false;
    char *end;
    errno = 0;
    *number_ret = strtoull(name + 2, &end, 10);
    return errno == 0 && !strcmp(end, suffixes[naming]);
}

static int compare_numbers(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

struct listing_context {
    enum nt_blz_naming naming;
    struct nt_buffer numbers;
};

static enum nt_status take_name(void *context, const struct nt_folder_entry *entry, struct nt_error *error)
{
    struct listing_context *c = context;
    uint64_t number;
    if (parse_name(entry->name, c->naming, &number))
        nt_buffer_append(&c->numbers, &number, sizeof(number));
    return c->numbers.failed ? nt_fail_memory(error) : NT_OK;
}

enum nt_status nt_blz_list(struct nt_arena *arena, struct nt_folder *folder, const char *name,
                           enum nt_blz_naming naming, struct nt_blz_listing *listing, struct nt_error *error)
{
    *listing = (struct nt_blz_listing){0};
    struct listing_context context = {.naming = naming};
    struct nt_buffer *numbers = &context.numbers;
    enum nt_status status = nt_folder_list(folder, name, take_name, &context, error);
    if (status == NT_NOT_FOUND)
        status = NT_OK;
    size_t count = numbers->length / sizeof(uint64_t);
    if (status == NT_OK && count > UINT32_MAX)
        status = nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%s/%s: more than 2^32 files", folder->path, name);
    if (status == NT_OK) {
        listing->numbers = (uint64_t *)(void *)nt_arena_copy(arena, numbers->bytes, numbers->length);
        listing->count = (uint32_t)count;
        if (numbers->failed || !listing->numbers)
            status = nt_fail_memory(error);
    }
    if (status == NT_OK && count)
        qsort(listing->numbers, count, sizeof(uint64_t), compare_numbers);
    nt_buffer_deinit(numbers);
    return status;
}

char *nt_blz_file_name(struct nt_arena *arena, const char *directory, enum nt_blz_naming naming,
                       uint64_t number)
{
    return nt_arena_format(arena, "%s/__%" PRIu64 "%s", directory, number, suffixes[naming]);
}
