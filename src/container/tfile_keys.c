/* SPDX-License-Identifier: MIT
 *
 * The list of a directory's keys: a record that holds a count and copies of the keys, each as long as it
 * says.
 */
#include "container/tfile.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/overflow.h"

enum {
    KEY_LENGTH_AT = 14, /* of the key's own length within a key */
    LEAST_KEY_BYTES = 29,
    COUNT_BYTES = 4,
};

static enum nt_status read_list(struct nt_tfile_key_list *list, struct nt_source *source,
                                const struct nt_tfile_directory *directory, struct nt_error *error)
{
    size_t length = directory->keys_bytes;
    if (!nt_fits(directory->keys_offset, length, source->size))
        return nt_fail(error, NT_TRUNCATED, directory->keys_offset,
                       "%s: a directory's list of keys (%zu bytes) is behind the end of the file (%" PRIu64
                       " bytes)",
                       source->path, length, source->size);
    list->offset = directory->keys_offset;
    list->bytes = malloc(length + 1);
    if (!list->bytes)
        return nt_fail_memory(error);
    list->cursor = nt_cursor(list->bytes, length);
    return nt_source_read(source, list->offset, list->bytes, length, error);
}

/* The record of the list names a directory: ROOT's writer the one whose keys it lists, uproot's the one
 * above. */
static bool is_list_of(const struct nt_tfile_key *key, const struct nt_tfile_directory *directory)
{
    return key->bytes == directory->keys_bytes &&
           (key->directory_offset == directory->offset || key->directory_offset == directory->parent);
}

enum nt_status nt_tfile_key_list_init(struct nt_tfile_key_list *list, struct nt_source *source,
                                      const struct nt_tfile_directory *directory, struct nt_error *error)
{
    *list = (struct nt_tfile_key_list){0};
    if (!directory->keys_offset && !directory->keys_bytes) /* it was never written: the directory is empty */
        return NT_OK;
    enum nt_status status = read_list(list, source, directory, error);
    if (status)
        return status;
    struct nt_tfile_key key = nt_tfile_get_key(&list->cursor);
    list->left = nt_get_be32(&list->cursor);
    if (list->cursor.failed || !nt_tfile_is_key_of(&key, list->offset, source->size) ||
        !is_list_of(&key, directory) || key.key_bytes + COUNT_BYTES != list->cursor.position ||
        list->left > nt_cursor_left(&list->cursor) / LEAST_KEY_BYTES) {
        list->left = 0;
        return nt_fail(error, NT_CORRUPT, list->offset,
                       "%s: no list of the keys of the directory at byte %" PRIu64 " where one must be",
                       source->path, directory->offset);
    }
    return NT_OK;
}

void nt_tfile_key_list_deinit(struct nt_tfile_key_list *list)
{
    free(list->bytes);
    list->bytes = NULL;
}

enum nt_status nt_tfile_key_list_next(struct nt_tfile_key_list *list, struct nt_tfile_key *key_ret,
                                      struct nt_error *error)
{
    if (!list->left)
        return NT_NOT_FOUND;
    list->left--;
    uint64_t offset = list->offset + list->cursor.position;
    uint16_t length = nt_cursor_left(&list->cursor) >= LEAST_KEY_BYTES
                          ? nt_load_be16(list->bytes + list->cursor.position + KEY_LENGTH_AT)
                          : 0;
    struct nt_cursor part = nt_get_cursor(&list->cursor, length);
    if (list->cursor.failed || length < LEAST_KEY_BYTES) {
        list->left = 0; /* without its length there is no way to the next one */
        return nt_fail(error, NT_CORRUPT, offset, "a key in a directory's list has an impossible length, %u",
                       length);
    }
    *key_ret = nt_tfile_get_key(&part);
    if (part.failed || nt_cursor_left(&part))
        return nt_fail(error, NT_CORRUPT, offset, "a key in a directory's list does not fill its %u bytes",
                       length);
    return NT_OK;
}

bool nt_tfile_key_list_goes_on(const struct nt_tfile_key_list *list)
{
    size_t rest = nt_cursor_left(&list->cursor);
    for (size_t i = 0; i < rest; i++)
        if (list->bytes[list->cursor.position + i])
            return true;
    return false;
}
