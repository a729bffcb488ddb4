/* SPDX-License-Identifier: MIT
 *
 * Persistent cache of remote byte ranges. One append-only file per remote version holds checksummed
 * records; the least recently used files are removed when space runs out.
 */
#include "remote/client/client.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>

/* ---- Cached files ---- */

struct cached_piece {
    uint64_t offset, checksum;
    uint64_t position; /* offset of its bytes in the cache file */
    uint32_t bytes;
};

struct nt_disk_cache_file {
    char name[NT_DISK_NAME_LENGTH + 1];
    LIST_ENTRY(nt_disk_cache_file) open;
    struct nt_disk_cache *cache;
    int file;      /* -1: caching has stopped */
    bool is_full;  /* the last write failed: pieces are read, but none is added */
    uint64_t size; /* of the remote file */
    char *key;
    struct cached_piece *pieces; /* by offset, without overlaps */
    size_t count, capacity;
};

/* ---- Space and eviction ---- */

struct file {
    uint64_t used; /* nanoseconds since 1970 */
    uint64_t bytes;
    char name[NT_DISK_NAME_LENGTH + 1];
};

struct cache_files {
    struct file *list;
    size_t count, capacity;
    uint64_t bytes;
};

enum nt_status nt_disk_cache_open(struct nt_disk_cache *cache, const char *path, uint64_t max_bytes,
                                  struct nt_error *error)
{
    struct stat attributes;
    *cache = (struct nt_disk_cache){.folder = -1, .max_bytes = max_bytes};
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return nt_fail_system(error, errno, "cannot create %s", path);
    cache->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    enum nt_status status = cache->folder < 0 || fstat(cache->folder, &attributes) != 0
                                ? nt_fail_system(error, errno, "cannot open %s", path)
                                : nt_check_writers(&attributes, path, error);
    if (status != NT_OK)
        nt_disk_cache_close(cache);
    return status;
}

void nt_disk_cache_close(struct nt_disk_cache *cache)
{
    if (cache->folder >= 0)
        close(cache->folder);
    cache->folder = -1;
}

void nt_disk_cache_remove(struct nt_disk_cache *cache, const char *name)
{
    int file = openat(cache->folder, name, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file >= 0)
        close(file);
    unlinkat(cache->folder, name, 0);
}

/* ---- Scans ---- */

static uint64_t nanoseconds_of(struct timespec time)
{
    return (uint64_t)time.tv_sec * NT_SECOND + (uint64_t)time.tv_nsec;
}

/* Ignores files that do not belong to the cache, also in the size. */
static void note(struct cache_files *files, const struct nt_disk_cache *cache, const char *name)
{
    struct stat attributes;
    if (strlen(name) != NT_DISK_NAME_LENGTH || strspn(name, "0123456789abcdef") != NT_DISK_NAME_LENGTH ||
        fstatat(cache->folder, name, &attributes, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(attributes.st_mode))
        return;
    if (!NT_GROW(files->list, files->count, files->capacity))
        return;
    struct file *file = &files->list[files->count++];
    memcpy(file->name, name, sizeof(file->name));
    file->bytes = (uint64_t)attributes.st_blocks * 512;
    uint64_t read = nanoseconds_of(attributes.st_atim), written = nanoseconds_of(attributes.st_mtim);
    file->used = read > written ? read : written;
    files->bytes += file->bytes;
}

static bool look(struct cache_files *files, const struct nt_disk_cache *cache)
{
    int folder = openat(cache->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = folder >= 0 ? fdopendir(folder) : NULL;
    const struct dirent *found;
    if (!directory) {
        if (folder >= 0)
            close(folder);
        return false;
    }
    while ((found = readdir(directory)))
        note(files, cache, found->d_name);
    closedir(directory);
    return true;
}

static bool is_open(const struct nt_disk_cache *cache, const char *name)
{
    const struct nt_disk_cache_file *entry;
    LIST_FOREACH(entry, &cache->open, open)
    if (strcmp(entry->name, name) == 0)
        return true;
    return false;
}

/* The largest allowance between two scans. */
static uint64_t disk_room_share(const struct nt_disk_cache *cache)
{
    return cache->max_bytes / 16;
}

/* Computes a new allowance after eviction. */
static uint64_t allow(struct nt_disk_cache *cache)
{
    struct cache_files files = {0};
    uint64_t share = disk_room_share(cache), goal = cache->max_bytes - 2 * share;
    bool is_known = look(&files, cache);
    if (files.count)
        qsort(files.list, files.count, sizeof(*files.list), nt_compare_u64);
    for (size_t i = 0; i < files.count && files.bytes > goal; i++)
        if (!is_open(cache, files.list[i].name)) {
            nt_disk_cache_remove(cache, files.list[i].name);
            files.bytes -= files.list[i].bytes;
        }
    free(files.list);
    return is_known && files.bytes <= goal ? share : 0;
}

/* May `bytes` be written? Evicts the least recently used files if space is short, except those that
 * this process has open. */
static bool disk_room_take(struct nt_disk_cache *cache, uint64_t bytes)
{
    if (cache->allowance < bytes)
        cache->allowance = allow(cache);
    if (cache->allowance < bytes)
        return false;
    cache->allowance -= bytes;
    return true;
}

/* ---- Records ---- */

/* A file of the cache directory is a list of records. A record has a header and at most 64 KiB of
 * content: the key of the remote file, or a piece of it, in order of arrival. One call appends a record
 * (O_APPEND), so several processes can write to one file. XXH3-64 checksums of header and content
 * detect torn and damaged records. A file whose records do not reach its end is started again. Eviction
 * removes the least recently used files of an oversized directory. */

enum {
    MAGIC = 0x6e74646bu,
    PIECE_BYTES = 64 * 1024,
    FILE_BYTES = 4096,
    AT_ONCE = 128,
    MAX_AT_ONCE = AT_ONCE * PIECE_BYTES
};
#define KEY_OFFSET UINT64_MAX

struct record {
    uint32_t magic, bytes;
    uint64_t offset;   /* in the remote file; KEY_OFFSET: the key. No bytes: an opening of the file */
    uint64_t checksum; /* of the bytes, seeded with the offset */
    uint64_t header_checksum;
};

static uint64_t checksum_of(const void *bytes, size_t count, uint64_t offset)
{
    return XXH3_64bits_withSeed(bytes, count, offset);
}

/* ---- Pieces ---- */

/* The number of pieces that begin at or before an offset. */
NT_DEFINE_COUNT_UP_TO(count_pieces, struct cached_piece, .offset)

static size_t count_up_to(const struct nt_disk_cache_file *entry, uint64_t offset)
{
    return count_pieces(entry->pieces, entry->count, offset);
}

static struct cached_piece *piece_at(const struct nt_disk_cache_file *entry, uint64_t offset)
{
    size_t count = count_up_to(entry, offset);
    struct cached_piece *piece = count ? &entry->pieces[count - 1] : NULL;
    return piece && offset - piece->offset < piece->bytes ? piece : NULL;
}

static void remove_piece(struct nt_disk_cache_file *entry, struct cached_piece *piece)
{
    size_t after = entry->count - (size_t)(piece - entry->pieces) - 1;
    memmove(piece, piece + 1, after * sizeof(*piece));
    entry->count--;
}

void nt_disk_cache_file_invalidate(struct nt_disk_cache_file *entry, uint64_t offset, uint64_t bytes)
{
    size_t count;
    if (!entry || !bytes)
        return;
    while ((count = count_up_to(entry, offset + bytes - 1)) > 0) {
        struct cached_piece *last = &entry->pieces[count - 1];
        if (last->offset + last->bytes <= offset)
            return;
        remove_piece(entry, last);
    }
}

/* The newest record of a piece wins. `position`: of its bytes. */
static void add_piece(struct nt_disk_cache_file *entry, const struct record *record, uint64_t position)
{
    nt_disk_cache_file_invalidate(entry, record->offset, record->bytes);
    if (!NT_GROW(entry->pieces, entry->count, entry->capacity))
        return;
    size_t at = count_up_to(entry, record->offset);
    memmove(entry->pieces + at + 1, entry->pieces + at, (entry->count - at) * sizeof(*entry->pieces));
    entry->pieces[at] = (struct cached_piece){record->offset, record->checksum, position, record->bytes};
    entry->count++;
}

bool nt_disk_cache_file_find(const struct nt_disk_cache_file *entry, uint64_t offset,
                             uint64_t *end_or_next_ret)
{
    const struct cached_piece *piece = entry ? piece_at(entry, offset) : NULL;
    size_t count = entry ? count_up_to(entry, offset) : 0;
    if (piece)
        *end_or_next_ret = piece->offset + piece->bytes;
    else
        *end_or_next_ret = entry && count < entry->count ? entry->pieces[count].offset : UINT64_MAX;
    return piece != NULL;
}

/* ---- Reading records ---- */

static struct record record_of(const void *bytes, size_t count, uint64_t offset)
{
    struct record record = {.magic = MAGIC, .bytes = (uint32_t)count, .offset = offset};
    record.checksum = count ? checksum_of(bytes, count, offset) : 0;
    record.header_checksum = checksum_of(&record, offsetof(struct record, header_checksum), MAGIC);
    return record;
}

static bool is_record(const struct record *record)
{
    return record->magic == MAGIC && record->bytes <= PIECE_BYTES &&
           record->header_checksum == checksum_of(record, offsetof(struct record, header_checksum), MAGIC);
}

/* Does the record hold this file's key? A file begins with its key and may repeat it. */
static bool is_key(const struct nt_disk_cache_file *entry, const struct record *record, uint64_t position)
{
    char key[PIECE_BYTES];
    return record->bytes == strlen(entry->key) &&
           pread(entry->file, key, record->bytes, (off_t)position) == (ssize_t)record->bytes &&
           memcmp(key, entry->key, record->bytes) == 0;
}

/* Reads all records; false if the file has another key or is damaged. An incomplete last record may be
 * one that another process is writing. */
static bool read_records(struct nt_disk_cache_file *entry)
{
    struct record record;
    uint64_t position = 0;
    for (;;) {
        ssize_t count = pread(entry->file, &record, sizeof(record), (off_t)position);
        if (count >= 0 && count < (ssize_t)sizeof(record))
            return true;
        if (count < 0 || !is_record(&record) || (position == 0 && record.offset != KEY_OFFSET))
            return false;
        position += sizeof(record);
        if (record.offset == KEY_OFFSET && !is_key(entry, &record, position))
            return false;
        if (record.offset != KEY_OFFSET && !nt_range_fits(record.offset, record.bytes, entry->size))
            return false;
        if (record.offset != KEY_OFFSET && record.bytes)
            add_piece(entry, &record, position);
        position += record.bytes;
    }
}

/* ---- Opening ---- */

/* Appends the key to a new file, and else an empty record: the file was used now. Without room on the disk
 * the pieces of an old file can still be read. */
static bool write_use(struct nt_disk_cache_file *entry, bool is_new)
{
    size_t length = is_new ? strlen(entry->key) : 0;
    struct record record = is_new ? record_of(entry->key, length, KEY_OFFSET) : record_of(NULL, 0, 0);
    const struct iovec parts[] = {{&record, sizeof(record)}, {entry->key, length}};
    entry->is_full = writev(entry->file, parts, 2) != (ssize_t)(sizeof(record) + length);
    return !entry->is_full || !is_new;
}

/* If another process removes the file, writes to it are lost until write_pieces notices. */
static bool open_file(struct nt_disk_cache_file *entry)
{
    struct stat attributes;
    entry->file = openat(entry->cache->folder, entry->name,
                         O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (entry->file < 0)
        return false;
    if (fstat(entry->file, &attributes) == 0 && S_ISREG(attributes.st_mode)) {
        bool is_new = attributes.st_size == 0;
        if ((is_new || read_records(entry)) && write_use(entry, is_new))
            return true;
        nt_disk_cache_remove(entry->cache, entry->name);
    }
    close(entry->file);
    entry->file = -1;
    return false;
}

struct nt_disk_cache_file *nt_disk_cache_file_open(struct nt_disk_cache *cache, const char *key,
                                                   uint64_t size)
{
    struct nt_disk_cache_file *entry =
        cache->folder >= 0 && disk_room_take(cache, FILE_BYTES) ? calloc(1, sizeof(*entry)) : NULL;
    if (!entry)
        return NULL;
    *entry = (struct nt_disk_cache_file){.cache = cache, .file = -1, .size = size, .key = strdup(key)};
    LIST_INSERT_HEAD(&cache->open, entry, open);
    XXH128_hash_t hash = XXH3_128bits(key, strlen(key));
    snprintf(entry->name, sizeof(entry->name), "%016" PRIx64 "%016" PRIx64, (uint64_t)hash.high64,
             (uint64_t)hash.low64);
    bool may_open = entry->key && strlen(key) <= PIECE_BYTES;
    for (int tries = 0; may_open && tries < 2; tries++) { /* the first one removes an obstacle */
        entry->count = 0;
        if (open_file(entry))
            return entry;
    }
    nt_disk_cache_file_close(entry);
    return NULL;
}

void nt_disk_cache_file_close(struct nt_disk_cache_file *entry)
{
    if (!entry)
        return;
    LIST_REMOVE(entry, open);
    if (entry->file >= 0)
        close(entry->file);
    free(entry->pieces);
    free(entry->key);
    free(entry);
}

/* Reads the whole piece, since the checksum covers all of it. */
bool nt_disk_cache_file_read(struct nt_disk_cache_file *entry, uint64_t offset, void *bytes, size_t count)
{
    uint8_t stored[PIECE_BYTES];
    struct cached_piece *piece = piece_at(entry, offset);
    if (!piece || count > piece->bytes - (offset - piece->offset))
        return false;
    if (pread(entry->file, stored, piece->bytes, (off_t)piece->position) != (ssize_t)piece->bytes ||
        checksum_of(stored, piece->bytes, piece->offset) != piece->checksum) {
        remove_piece(entry, piece);
        entry->cache->bad_pieces++;
        return false;
    }
    memcpy(bytes, stored + (offset - piece->offset), count);
    entry->cache->read_bytes += count;
    return true;
}

/* False if another process has evicted the file: it is then created again. */
static bool is_still_there(struct nt_disk_cache_file *entry)
{
    struct stat attributes;
    if (entry->file < 0 || fstat(entry->file, &attributes) != 0)
        return false;
    if (attributes.st_nlink > 0)
        return true;
    close(entry->file);
    entry->count = 0;
    return open_file(entry);
}

/* Appends consecutive records in one call. After a partial write, as to a full disk, the end is bad: adds
 * nothing more. */
static void write_pieces(struct nt_disk_cache_file *entry, uint64_t offset, const uint8_t *bytes,
                         size_t count)
{
    struct record records[AT_ONCE];
    struct iovec parts[2 * AT_ONCE];
    int part_count = 0;
    size_t total = 0;
    for (size_t at = 0, piece; at < count; at += piece) {
        piece = nt_min(count - at, PIECE_BYTES);
        records[part_count / 2] = record_of(bytes + at, piece, offset + at);
        parts[part_count] = (struct iovec){&records[part_count / 2], sizeof(*records)};
        parts[part_count + 1] = (struct iovec){(void *)(bytes + at), piece};
        part_count += 2;
        total += sizeof(*records) + piece;
    }
    ssize_t written = writev(entry->file, parts, part_count);
    if (written != (ssize_t)total) {
        entry->is_full = true;
        return;
    }
    uint64_t position =
        (uint64_t)lseek(entry->file, 0, SEEK_CUR) - total; /* offset of the appended records */
    for (int i = 0; i < part_count; i += 2) {
        const struct record *record = &records[i / 2];
        position += sizeof(*record);
        add_piece(entry, record, position);
        position += record->bytes;
    }
    entry->cache->written_bytes += count;
}

void nt_disk_cache_file_add(struct nt_disk_cache_file *entry, uint64_t offset, const uint8_t *bytes,
                            size_t count)
{
    const size_t most = entry ? nt_min(disk_room_share(entry->cache), MAX_AT_ONCE) : 0;
    while (count > 0 && most > 0) {
        size_t part = nt_min(count, most);
        if (entry->is_full || !is_still_there(entry) || !disk_room_take(entry->cache, part))
            return;
        write_pieces(entry, offset, bytes, part);
        offset += part;
        bytes += part;
        count -= part;
    }
}
