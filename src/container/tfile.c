/* SPDX-License-Identifier: MIT
 *
 * Reads the structures of a ROOT file (TFile): file header, keys (TKey), directories with their key
 * lists (TDirectory), the list of free segments (TFree), and the objects of keys. Follows ROOT's I/O
 * documentation, "Physical layout of ROOT files", and real files where it is silent.
 */
#include "container/container.h"

#include <stdio.h>

#include "core/base/built_in.h"
#include "core/model/builder.h"

/* ---- Header, keys, directories, free segments ---- */

enum {
    HEADER_BYTES = 75, /* for a big file; a small one has 63 */
    SMALL_HEADER_BYTES = 63,
    BIG_FILE_VERSION = 1000000,   /* added to the version of ROOT */
    LARGE_OFFSETS_VERSION = 1000, /* added to the version of a record with 64-bit offsets */
    DIRECTORY_BYTES = 42,         /* with 64-bit offsets */
    SMALL_DIRECTORY_BYTES = 30,
    USUAL_KEY_BYTES = 512,
    LONG_TEXT = 255, /* the length follows in 32 bits */
    UUID_VERSION_BYTES = 2,
    MAX_FREE_LIST_BYTES = 64 << 20,
};

/* The high bits of a 64-bit directory offset hold a process id number, which we ignore. */
#define DIRECTORY_OFFSET_MASK ((UINT64_C(1) << 48) - 1)

static uint64_t get_offset(struct nt_cursor *cursor, bool is_large)
{
    return is_large ? nt_get_be64(cursor) : nt_get_be32(cursor);
}

/* Records go on after the stored end of a file that was not closed: the next one is there, or there is
 * no list of free segments. */
static enum nt_status find_records_end(struct nt_source *source, struct nt_tfile_header *header,
                                       struct nt_error *error)
{
    struct nt_tfile_key key;
    enum nt_status status = NT_OK;
    header->records_end = header->end;
    header->is_closed = header->free_offset != 0;
    if (header->end >= source->size)
        return NT_OK;
    if (header->is_closed) {
        status = nt_tfile_read_bare_key(source, header->end, &key, error);
        header->is_closed = status || !nt_tfile_is_key_of(&key, header->end, source->size);
    }
    if (!header->is_closed)
        header->records_end = source->size;
    return nt_is_environmental(status) ? status : NT_OK;
}

static enum nt_status check_header(const struct nt_tfile_header *header, struct nt_source *source,
                                   struct nt_error *error)
{
    uint64_t least = header->is_big ? HEADER_BYTES : SMALL_HEADER_BYTES;
    if (header->begin < least || header->begin > header->end)
        return nt_fail(error, NT_CORRUPT, 8,
                       "%s: file header: records from byte %" PRIu64 " to %" PRIu64 " are impossible",
                       source->path, header->begin, header->end);
    if (header->begin + header->name_bytes > header->end)
        return nt_fail(error, NT_CORRUPT, header->is_big ? 36 : 28,
                       "%s: file header: the root directory is past the end of the file", source->path);
    return NT_OK;
}

enum nt_status nt_tfile_read_header(struct nt_source *source, struct nt_tfile_header *header_ret,
                                    struct nt_error *error)
{
    uint8_t bytes[HEADER_BYTES];
    size_t length = (size_t)nt_min(source->size, HEADER_BYTES);
    NT_TRY(nt_source_read(source, 0, bytes, length, error));
    struct nt_cursor cursor = nt_cursor(bytes, length);
    struct nt_tfile_header header = {0};
    nt_cursor_skip(&cursor, NT_TFILE_MAGIC_BYTES);
    header.version = (int32_t)nt_get_be32(&cursor);
    header.is_big = header.version >= BIG_FILE_VERSION;
    header.begin = nt_get_be32(&cursor);
    header.end = get_offset(&cursor, header.is_big);
    header.free_offset = get_offset(&cursor, header.is_big);
    header.free_bytes = nt_get_be32(&cursor);
    nt_cursor_skip(&cursor, 4); /* number of free segments: also in the list */
    header.name_bytes = nt_get_be32(&cursor);
    nt_cursor_skip(&cursor, 1); /* bytes per offset: follows from `version` */
    header.compression = nt_get_be32(&cursor);
    header.info_offset = get_offset(&cursor, header.is_big);
    header.info_bytes = nt_get_be32(&cursor);
    nt_cursor_skip(&cursor, UUID_VERSION_BYTES);
    const uint8_t *uuid = nt_get_bytes(&cursor, NT_TFILE_UUID_BYTES);
    if (!uuid)
        return nt_fail(error, NT_TRUNCATED, source->size, "%s: a ROOT file that ends within its file header",
                       source->path);
    memcpy(header.uuid, uuid, NT_TFILE_UUID_BYTES);
    *header_ret = header;
    NT_TRY(check_header(header_ret, source, error));
    return find_records_end(source, header_ret, error);
}

/* ---- Keys ---- */

struct nt_text nt_tfile_get_string(struct nt_cursor *cursor)
{
    uint32_t length = nt_get_u8(cursor);
    if (length == LONG_TEXT)
        length = nt_get_be32(cursor);
    const uint8_t *bytes = nt_get_bytes(cursor, length);
    return bytes ? (struct nt_text){(const char *)bytes, length} : (struct nt_text){"", 0};
}

struct nt_text nt_tfile_get_class_name(struct nt_cursor *cursor)
{
    size_t left = nt_min(nt_cursor_left(cursor), NT_TFILE_MAX_CLASS_NAME);
    const char *name = (const char *)cursor->bytes + cursor->position;
    const char *end = left ? memchr(name, 0, left) : NULL;
    cursor->failed |= !end;
    if (!end)
        return (struct nt_text){0};
    nt_cursor_skip(cursor, (uint64_t)(end - name) + 1);
    return (struct nt_text){name, (size_t)(end - name)};
}

/* Parses the key at the cursor; fails if the key does not fit. */
static struct nt_tfile_key tfile_get_key(struct nt_cursor *cursor)
{
    struct nt_tfile_key key = {0};
    size_t start = cursor->position;
    key.bytes = nt_get_be32(cursor);
    bool is_large = nt_get_be16(cursor) > LARGE_OFFSETS_VERSION;
    key.object_bytes = nt_get_be32(cursor);
    key.date = nt_get_be32(cursor);
    key.key_bytes = nt_get_be16(cursor);
    key.cycle = nt_get_be16(cursor);
    key.offset = get_offset(cursor, is_large);
    key.directory_offset = get_offset(cursor, is_large) & DIRECTORY_OFFSET_MASK;
    key.class_name = nt_tfile_get_string(cursor);
    key.name = nt_tfile_get_string(cursor);
    key.title = nt_tfile_get_string(cursor);
    /* Early writers count two 32-bit offsets but write 64-bit ones. */
    uint32_t read = (uint32_t)(cursor->position - start);
    if (is_large && key.key_bytes + 8 == read)
        key.key_bytes = read;
    return key;
}

bool nt_tfile_is_key_of(const struct nt_tfile_key *key, uint64_t offset, uint64_t end)
{
    return key->offset == offset && key->bytes <= INT32_MAX && key->bytes >= key->key_bytes &&
           key->key_bytes > 0 && key->object_bytes <= INT32_MAX && nt_range_fits(offset, key->bytes, end);
}

enum nt_status nt_tfile_read_key(struct nt_source *source, uint64_t offset, uint8_t *buffer,
                                 struct nt_tfile_key *key_ret, struct nt_error *error)
{
    if (offset >= source->size)
        return nt_fail(error, NT_TRUNCATED, offset,
                       "%s: expected a key, found the end of the file (%" PRIu64 " bytes)", source->path,
                       source->size);
    uint64_t left = source->size - offset;
    for (size_t request_bytes = USUAL_KEY_BYTES;; request_bytes = NT_TFILE_MAX_KEY_BYTES) {
        size_t length = (size_t)nt_min(left, request_bytes);
        NT_TRY(nt_source_read(source, offset, buffer, length, error));
        struct nt_cursor cursor = nt_cursor(buffer, length);
        *key_ret = tfile_get_key(&cursor);
        if (!cursor.failed)
            break;
        if (length < request_bytes || request_bytes == NT_TFILE_MAX_KEY_BYTES)
            return nt_fail(error, NT_CORRUPT, offset,
                           "%s: expected a key, found bytes whose strings do not end", source->path);
    }
    if (!nt_tfile_is_key_of(key_ret, offset, UINT64_MAX))
        return nt_fail(error, NT_CORRUPT, offset,
                       "%s: expected a key, found bytes with impossible sizes or another offset",
                       source->path);
    return NT_OK;
}

enum nt_status nt_tfile_read_bare_key(struct nt_source *source, uint64_t offset, struct nt_tfile_key *key_ret,
                                      struct nt_error *error)
{
    NT_AUTO_FREE uint8_t *buffer = malloc(NT_TFILE_MAX_KEY_BYTES);
    NT_TRY(nt_check_memory(buffer, error));
    NT_TRY(nt_tfile_read_key(source, offset, buffer, key_ret, error));
    key_ret->class_name = key_ret->name = key_ret->title = (struct nt_text){"", 0};
    return NT_OK;
}

bool nt_tfile_is_compressed(const struct nt_tfile_key *key)
{
    return key->bytes - key->key_bytes < key->object_bytes;
}

static const char *const directory_classes[] = {"TDirectory", "TDirectoryFile", NULL};
static const char *const anchor_classes[] = {"ROOT::RNTuple", "ROOT::Experimental::RNTuple", NULL};
static const char *const tree_classes[] = {"TTree", "TNtuple", "TNtupleD", NULL};

bool nt_tfile_is_directory(const struct nt_tfile_key *key)
{
    return nt_text_is_one_of(key->class_name, directory_classes);
}

bool nt_tfile_is_anchor(const struct nt_tfile_key *key)
{
    return nt_text_is_one_of(key->class_name, anchor_classes);
}

bool nt_tfile_is_tree(const struct nt_tfile_key *key)
{
    return nt_text_is_one_of(key->class_name, tree_classes);
}

static bool is_nearly(struct nt_text text, const char *name)
{
    unsigned differences = 0;
    if (text.length != strlen(name))
        return false;
    for (size_t i = 0; i < text.length; i++)
        differences += text.bytes[i] != name[i];
    return differences <= 2;
}

bool nt_tfile_is_near_miss(const struct nt_tfile_key *key)
{
    static const char *const *const all[] = {directory_classes, anchor_classes, tree_classes};
    for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
        for (const char *const *name = all[i]; *name; name++)
            if (is_nearly(key->class_name, *name))
                return true;
    return false;
}

/* ---- Directories ---- */

enum nt_status nt_tfile_read_directory(struct nt_source *source, uint64_t offset, uint64_t skip,
                                       struct nt_tfile_directory *directory_ret, struct nt_error *error)
{
    uint8_t bytes[DIRECTORY_BYTES];
    uint64_t start;
    if (!nt_checked_add(offset, skip, &start) || !nt_range_fits(start, SMALL_DIRECTORY_BYTES, source->size))
        return nt_fail(error, NT_TRUNCATED, offset,
                       "%s: a directory is past the end of the file (%" PRIu64 " bytes)", source->path,
                       source->size);
    size_t length = (size_t)nt_min(source->size - start, DIRECTORY_BYTES);
    NT_TRY(nt_source_read(source, start, bytes, length, error));
    struct nt_cursor cursor = nt_cursor(bytes, length);
    struct nt_tfile_directory directory = {.offset = offset};
    bool is_large = nt_get_be16(&cursor) > LARGE_OFFSETS_VERSION;
    directory.created = nt_get_be32(&cursor);
    directory.modified = nt_get_be32(&cursor);
    directory.keys_bytes = nt_get_be32(&cursor);
    nt_cursor_skip(&cursor, 4); /* bytes of the name before the directory: `skip` */
    uint64_t seek_offset = get_offset(&cursor, is_large);
    get_offset(&cursor, is_large); /* offset of the parent: known already */
    directory.keys_offset = get_offset(&cursor, is_large);
    directory.has_list = directory.keys_offset || directory.keys_bytes;
    if (cursor.failed)
        return nt_fail(error, NT_TRUNCATED, start, "%s: the file ends within a directory", source->path);
    if (seek_offset != offset)
        return nt_fail_number(error, NT_CORRUPT, start, "offset of a directory in its own record", offset,
                              seek_offset);
    *directory_ret = directory;
    return NT_OK;
}

/* ---- Free segments ---- */

/* Appends the segments of the list, a sequence of (version, first byte, last byte). The last one starts
 * at the end of the file, for the space that the file may grow into. */
static size_t get_segments(struct nt_cursor *cursor, uint64_t end, struct nt_extent *segments,
                           size_t capacity)
{
    size_t count = 0;
    while (nt_cursor_left(cursor) > 0 && count < capacity) {
        bool is_large = nt_get_be16(cursor) > LARGE_OFFSETS_VERSION;
        uint64_t first = get_offset(cursor, is_large);
        uint64_t last = get_offset(cursor, is_large);
        if (cursor->failed)
            break;
        if (first <= last && last < end)
            segments[count++] = (struct nt_extent){first, last - first + 1};
    }
    return count;
}

enum nt_status nt_tfile_read_free(struct nt_source *source, const struct nt_tfile_header *header,
                                  struct nt_extent **segments_ret, size_t *count_ret, struct nt_error *error)
{
    enum { SEGMENT_BYTES = 10 };
    *segments_ret = NULL;
    *count_ret = 0;
    if (!header->free_offset || header->free_bytes > MAX_FREE_LIST_BYTES ||
        !nt_range_fits(header->free_offset, header->free_bytes, source->size))
        return NT_OK;
    size_t length = (size_t)header->free_bytes;
    size_t capacity = length / SEGMENT_BYTES + 1;
    NT_AUTO_FREE uint8_t *bytes = malloc(length + 1);
    NT_AUTO_FREE struct nt_extent *segments = calloc(capacity, sizeof(*segments));
    NT_TRY(nt_check_memory(bytes && segments, error));
    enum nt_status status = nt_source_read(source, header->free_offset, bytes, length, error);
    if (status)
        return nt_is_environmental(status) ? status : NT_OK;
    struct nt_cursor cursor = nt_cursor(bytes, length);
    struct nt_tfile_key key = tfile_get_key(&cursor);
    if (cursor.failed || !nt_tfile_is_key_of(&key, header->free_offset, source->size))
        return NT_OK;
    *count_ret = get_segments(&cursor, header->end, segments, capacity);
    qsort(segments, *count_ret, sizeof(*segments), nt_compare_u64);
    *segments_ret = segments;
    segments = NULL;
    return NT_OK;
}

/* ---- Dates ---- */

bool nt_tfile_format_date(uint32_t date, char text[static 24])
{
    enum { FIRST_YEAR = 1995 };
    unsigned year = FIRST_YEAR + (date >> 26), month = date >> 22 & 15, day = date >> 17 & 31;
    unsigned hour = date >> 12 & 31, minute = date >> 6 & 63, second = date & 63;
    if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 60)
        return false;
    snprintf(text, 24, "%04u-%02u-%02uT%02u:%02u:%02u", year, month, day, hour, minute, second);
    return true;
}

/* ---- Key list of a directory ---- */

enum {
    KEY_LENGTH_AT = 14, /* of the key's own length within a key */
    MIN_KEY_BYTES = 29,
    COUNT_BYTES = 4,
};

static enum nt_status read_list(struct nt_tfile_key_list *list, struct nt_source *source,
                                const struct nt_tfile_directory *directory, struct nt_error *error)
{
    size_t length = directory->keys_bytes;
    if (!nt_range_fits(directory->keys_offset, length, source->size))
        return nt_fail(error, NT_TRUNCATED, directory->keys_offset,
                       "%s: the key list of a directory, %zu bytes, is past the end of the file of %" PRIu64
                       " bytes",
                       source->path, length, source->size);
    list->offset = directory->keys_offset;
    list->bytes = malloc(length + 1);
    NT_TRY(nt_check_memory(list->bytes, error));
    list->cursor = nt_cursor(list->bytes, length);
    return nt_source_read(source, list->offset, list->bytes, length, error);
}

/* The list's record names a directory: ROOT writes the directory itself, uproot its parent. Early versions of
 * uproot named neither directory nor seek_offset, and left the keys out of the record's size. */
static bool is_list_of(const struct nt_tfile_key *key, const struct nt_tfile_directory *directory,
                       uint64_t file_bytes)
{
    if (key->offset == 0 && key->directory_offset == 0)
        return (uint64_t)key->key_bytes + key->object_bytes == directory->keys_bytes;
    return key->bytes == directory->keys_bytes &&
           nt_tfile_is_key_of(key, directory->keys_offset, file_bytes) &&
           (key->directory_offset == directory->offset || key->directory_offset == directory->parent);
}

enum nt_status nt_tfile_key_list_init(struct nt_tfile_key_list *list, struct nt_source *source,
                                      const struct nt_tfile_directory *directory, struct nt_error *error)
{
    *list = (struct nt_tfile_key_list){0};
    if (!directory->has_list) /* never written: the directory is empty */
        return NT_OK;
    NT_TRY(read_list(list, source, directory, error));
    struct nt_tfile_key key = tfile_get_key(&list->cursor);
    list->left = nt_get_be32(&list->cursor);
    if (list->cursor.failed || !is_list_of(&key, directory, source->size) ||
        key.key_bytes + COUNT_BYTES != list->cursor.position ||
        list->left > nt_cursor_left(&list->cursor) / MIN_KEY_BYTES) {
        list->left = 0;
        return nt_fail(error, NT_CORRUPT, list->offset,
                       "%s: expected the key list of the directory at byte %" PRIu64 ", found other bytes",
                       source->path, directory->offset);
    }
    return NT_OK;
}

void nt_tfile_key_list_deinit(struct nt_tfile_key_list *list)
{
    free(list->bytes);
    list->bytes = NULL;
}

/* A writer may have written "TDirectory" in front of a directory and counted its bytes, but
 * "TDirectoryFile" in the list of keys. */
static bool get_directory_key(struct nt_tfile_key_list *list, size_t start, uint16_t length,
                              struct nt_tfile_key *key_ret)
{
    static const char written[] = "TDirectoryFile", counted[] = "TDirectory";
    struct nt_cursor cursor = list->cursor;
    cursor.position = start;
    struct nt_cursor part = nt_get_cursor(&cursor, length + sizeof(written) - sizeof(counted));
    struct nt_tfile_key key = tfile_get_key(&part);
    if (cursor.failed || part.failed || nt_cursor_left(&part) || !nt_text_is(key.class_name, written))
        return false;
    key.class_name.length = strlen(counted);
    list->cursor = cursor;
    *key_ret = key;
    return true;
}

enum nt_status nt_tfile_key_list_next(struct nt_tfile_key_list *list, struct nt_tfile_key *key_ret,
                                      struct nt_error *error)
{
    if (!list->left)
        return NT_NOT_FOUND;
    list->left--;
    size_t start = list->cursor.position;
    uint64_t offset = list->offset + start;
    uint16_t length = nt_cursor_left(&list->cursor) >= MIN_KEY_BYTES
                          ? nt_load_be16(list->bytes + list->cursor.position + KEY_LENGTH_AT)
                          : 0;
    struct nt_cursor part = nt_get_cursor(&list->cursor, length);
    if (list->cursor.failed || length < MIN_KEY_BYTES) {
        list->left = 0; /* without its length, the next key cannot be found */
        return nt_fail(error, NT_CORRUPT, offset, "a key in a directory's list has an impossible length, %u",
                       length);
    }
    *key_ret = tfile_get_key(&part);
    if ((part.failed || nt_cursor_left(&part)) && !get_directory_key(list, start, length, key_ret))
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

/* ---- Objects ---- */

static enum nt_status inflate(struct nt_budget *budget, const struct nt_source *source, uint64_t offset,
                              const uint8_t *stored, uint64_t stored_bytes, uint64_t length,
                              uint8_t **bytes_ret, struct nt_error *error)
{
    NT_TRY(nt_budget_take(budget, NT_COST_ENVELOPE_BYTE, length, offset, error));
    uint8_t *bytes = malloc(length + 1);
    enum nt_status status =
        bytes ? nt_decompress_root_object(stored, stored_bytes, bytes, length, error) : nt_fail_memory(error);
    if (status) {
        free(bytes);
        nt_budget_release(budget, NT_COST_ENVELOPE_BYTE, length);
        return nt_with_offset(status, error, nt_source_local_offset(source, offset));
    }
    *bytes_ret = bytes;
    return NT_OK;
}

enum nt_status nt_root_object_read(struct nt_budget *budget, struct nt_source *source, uint64_t offset,
                                   uint64_t stored_bytes, uint64_t length, uint8_t **bytes_ret,
                                   uint64_t *counted_ret, struct nt_error *error)
{
    bool is_compressed = stored_bytes < length;
    const struct nt_metadata_range range = {offset, stored_bytes, offset, is_compressed};
    NT_TRY(nt_metadata_read(budget, source, &range, bytes_ret, counted_ret, error));
    if (!is_compressed)
        return NT_OK;
    NT_AUTO_FREE uint8_t *stored = *bytes_ret; /* read first: they may raise the limit for the others */
    enum nt_status status = inflate(budget, source, offset, stored, stored_bytes, length, bytes_ret, error);
    nt_budget_release(budget, NT_COST_ENVELOPE_BYTE, stored_bytes);
    if (status)
        nt_budget_withdraw(budget, *counted_ret);
    return status;
}

enum nt_status nt_tfile_read_object(struct nt_file *file, const struct nt_tfile_object *object,
                                    const uint8_t **bytes_ret, size_t *length_ret, struct nt_error *error)
{
    uint32_t stored_bytes = object->bytes - object->key_bytes, length = object->object_bytes;
    uint64_t offset = object->offset + object->key_bytes, counted;
    uint8_t *bytes;
    if (object->failure)
        return nt_fail_copy(error, object->failure);
    if (!nt_range_fits(offset, stored_bytes, file->source->size))
        return nt_fail(error, NT_TRUNCATED, offset,
                       "%s: the object's %" PRIu32 " bytes go beyond the end of the file (%" PRIu64 " bytes)",
                       file->path, stored_bytes, file->source->size);
    NT_TRY(nt_root_object_read(&file->budget, file->source, offset, stored_bytes, length, &bytes, &counted,
                               error));
    if (!nt_arena_adopt(file->arena, bytes)) {
        free(bytes);
        nt_budget_release(&file->budget, NT_COST_ENVELOPE_BYTE,
                          stored_bytes < length ? length : stored_bytes);
        nt_budget_withdraw(&file->budget, counted);
        return nt_fail_memory(error);
    }
    *bytes_ret = bytes;
    *length_ret = length;
    return NT_OK;
}

/* ---- Files with nothing to read ---- */

static void append_classes(struct nt_buffer *text, const struct nt_tfile *tfile)
{
    enum { MAX_CLASSES_SHOWN = 8 };
    uint64_t others = tfile->other_keys;
    for (uint32_t i = 0; i < tfile->class_count; i++) {
        const struct nt_tfile_class *class = &tfile->classes[i];
        if (i >= MAX_CLASSES_SHOWN) {
            others += class->keys;
            continue;
        }
        nt_buffer_append_format(text, "%s%" PRIu64 " ", i ? ", " : "it holds ", class->keys);
        nt_append_printable(text, class->name.bytes, class->name.length);
    }
    if (others)
        nt_buffer_append_format(text, ", %" PRIu64 " others", others);
}

enum nt_status nt_tfile_refuse(const struct nt_tfile *tfile, const char *requested, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0};
    if (!requested)
        requested = NT_HAS_TTREE ? "an RNTuple or a TTree" : "an RNTuple";
    append_classes(&text, tfile);
    return text.failed ? nt_fail_memory(error)
                       : nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "a ROOT file without %s: %s",
                                 requested, text.length ? text.bytes : "its directories are empty");
}
