/* SPDX-License-Identifier: MIT
 *
 * A file of the disk cache, as another process may have left it. The input is a list of records. Their
 * checksums are right unless the input says otherwise, so that the fuzzer reaches the code after the
 * check. Cached ranges lie within the remote file, and added ones are found.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/base/bytes.h"
#include "remote/client/client.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum { REMOTE_BYTES = 100000, ROOM = 1 << 24, MAGIC = 0x6e74646b, HEADER_BYTES = 24 };

/* The input: a description of a record, then its bytes. */
enum { SEED_BYTES = 7, WRONG_BYTES = 1, WRONG_HEADER = 2, IS_CUT = 4, IS_KEY = 8 };

static const char key[] = "http://a/b\nhttp://a\n\"v\"\n100000\n";
static char folder[] = "/tmp/fuzz_disk_cache-XXXXXX";
static struct nt_disk_cache cache;

struct record {
    uint32_t magic, bytes;
    uint64_t offset, checksum, header_checksum;
};

static void write_record(int file, const uint8_t *bytes, uint32_t count, uint64_t offset, unsigned flags)
{
    struct record record = {MAGIC, count, offset, XXH3_64bits_withSeed(bytes, count, offset), 0};
    record.checksum ^= (flags & WRONG_BYTES) != 0;
    record.header_checksum = XXH3_64bits_withSeed(&record, HEADER_BYTES, MAGIC);
    record.header_checksum ^= (flags & WRONG_HEADER) != 0;
    uint32_t written = flags & IS_CUT ? count / 2 : count;
    if (write(file, &record, sizeof(record)) != sizeof(record) ||
        write(file, bytes, written) != (ssize_t)written)
        abort();
}

static void write_file(const char *path, const uint8_t *bytes, size_t count)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        abort();
    if (count == 0 || bytes[0] % 8)
        write_record(file, (const uint8_t *)key, sizeof(key) - 1, UINT64_MAX, 0);
    for (size_t at = 1; at + SEED_BYTES <= count;) {
        const uint8_t *seed = bytes + at;
        at += SEED_BYTES;
        uint32_t record_bytes = nt_load_le16(seed + 4) % 4096;
        if (record_bytes > count - at)
            record_bytes = (uint32_t)(count - at);
        uint64_t offset = (nt_load_le32(seed) >> 8) % (2 * REMOTE_BYTES);
        write_record(file, bytes + at, record_bytes, seed[0] & IS_KEY ? UINT64_MAX - seed[6] : offset,
                     seed[0]);
        at += record_bytes;
    }
    close(file);
}

static void read_all(struct nt_disk_cache_file *entry)
{
    static uint8_t room[1 << 16];
    for (uint64_t at = 0, end; at < REMOTE_BYTES; at = end) {
        if (!nt_disk_cache_file_find(entry, at, &end)) {
            if (end <= at)
                abort();
            continue;
        }
        if (end <= at || end > REMOTE_BYTES || end - at > sizeof(room))
            abort();
        (void)nt_disk_cache_file_read(entry, at, room, (size_t)(end - at));
    }
}

/* A record added where there was none reads as it was added, if at all. */
static void add(struct nt_disk_cache_file *entry, const uint8_t *bytes, size_t count)
{
    enum { MOST = 1 << 12 };
    static uint8_t room[MOST];
    uint64_t next, end, offset = bytes[0] * 300u;
    size_t added = count < MOST ? count : MOST;
    bool is_free = !nt_disk_cache_file_find(entry, offset, &next) && next - offset >= added;
    nt_disk_cache_file_add(entry, offset, bytes, added);
    if (is_free && nt_disk_cache_file_find(entry, offset, &end) && end - offset >= added &&
        nt_disk_cache_file_read(entry, offset, room, added) && memcmp(room, bytes, added) != 0)
        abort();
    nt_disk_cache_file_invalidate(entry, bytes[0] * 256u, count);
}

static void remove_folder(void)
{
    char words[64];
    snprintf(words, sizeof(words), "rm -rf '%s'", folder);
    if (system(words) != 0)
        perror(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static char path[128];
    struct nt_error error;
    if (!path[0]) {
        XXH128_hash_t name = XXH3_128bits(key, sizeof(key) - 1);
        if (!mkdtemp(folder) || atexit(remove_folder) != 0 ||
            nt_disk_cache_open(&cache, folder, ROOM, &error) != NT_OK)
            abort();
        snprintf(path, sizeof(path), "%s/%016llx%016llx", folder, (unsigned long long)name.high64,
                 (unsigned long long)name.low64);
    }
    write_file(path, bytes, count);
    struct nt_disk_cache_file *entry = nt_disk_cache_file_open(&cache, key, REMOTE_BYTES);
    if (!entry)
        return 0;
    read_all(entry);
    if (count)
        add(entry, bytes, count);
    read_all(entry);
    nt_disk_cache_file_close(entry);
    return 0;
}
