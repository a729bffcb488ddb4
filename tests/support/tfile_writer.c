/* SPDX-License-Identifier: MIT
 *
 * Appends each record to the bytes of the file, and fills in positions when they are known.
 */
#include "tfile_writer.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "demand.h"

enum {
    BEGIN = 100,
    ROOT_VERSION = 64000,
    BIG_FILE = 1000000,
    LARGE_OFFSETS = 1000,
    COMPRESSION = 505,
    DATE = (2024 - 1995) << 26 | 5 << 22 | 31 << 17 | 23 << 12 | 59 << 6 | 58, /* 2024-05-31T23:59:58 */
    FREE_TO_THE_END = 2000000000,
};

/* ---- words ---- */

static void word(struct nt_buffer *out, uint64_t value, unsigned bytes)
{
    uint8_t big_endian[sizeof(value)];
    for (unsigned i = 0; i < bytes; i++)
        big_endian[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
    nt_buffer_append(out, big_endian, bytes);
}

static void place(struct nt_buffer *out, enum tfile_size size, uint64_t offset)
{
    word(out, offset, size == TFILE_BIG ? 8 : 4);
}

static void text(struct nt_buffer *out, const char *string)
{
    size_t length = strlen(string);
    word(out, length < 255 ? length : 255, 1);
    if (length >= 255)
        word(out, length, 4);
    nt_buffer_append(out, string, length);
}

static size_t text_bytes(const char *string)
{
    return strlen(string) + (strlen(string) < 255 ? 1 : 5);
}

static void overwrite(struct tfile_writer *writer, uint64_t offset, const struct nt_buffer *words)
{
    uint64_t at = offset >= writer->hole_at + writer->hole_bytes ? offset - writer->hole_bytes : offset;
    demand(!words->failed && at + words->length <= writer->out.length);
    memcpy(writer->out.bytes + at, words->bytes, words->length);
}

static void overwrite_word(struct tfile_writer *writer, uint64_t offset, uint64_t value, unsigned bytes)
{
    struct nt_buffer words = {0};
    word(&words, value, bytes);
    overwrite(writer, offset, &words);
    nt_buffer_deinit(&words);
}

void tfile_writer_put16(struct tfile_writer *writer, uint64_t offset, uint16_t value)
{
    overwrite_word(writer, offset, value, 2);
}

void tfile_writer_put32(struct tfile_writer *writer, uint64_t offset, uint32_t value)
{
    overwrite_word(writer, offset, value, 4);
}

static uint64_t position(const struct tfile_writer *writer)
{
    return writer->out.length + writer->hole_bytes;
}

/* ---- records ---- */

/* A key, as before its object and in its directory's list. */
static void key(struct nt_buffer *out, enum tfile_size size, uint64_t offset, uint64_t directory,
                const char *class_name, const char *name, uint16_t cycle, size_t stored_bytes,
                size_t object_bytes)
{
    static const char title[] = "";
    size_t key_bytes =
        18 + (size == TFILE_BIG ? 16 : 8) + text_bytes(class_name) + text_bytes(name) + text_bytes(title);
    word(out, key_bytes + stored_bytes, 4);
    word(out, size == TFILE_BIG ? LARGE_OFFSETS + 4 : 4, 2);
    word(out, object_bytes, 4);
    word(out, DATE, 4);
    word(out, key_bytes, 2);
    word(out, cycle, 2);
    place(out, size, offset);
    place(out, size, directory);
    text(out, class_name);
    text(out, name);
    text(out, title);
}

static uint64_t record(struct tfile_writer *writer, uint64_t directory, const char *class_name,
                       const char *name, uint16_t cycle, const void *stored, size_t stored_bytes,
                       size_t object_bytes)
{
    uint64_t offset = position(writer);
    key(&writer->out, writer->size, offset, directory, class_name, name, cycle, stored_bytes, object_bytes);
    nt_buffer_append(&writer->out, stored, stored_bytes);
    return offset;
}

uint64_t tfile_writer_stored(struct tfile_writer *writer, uint32_t directory, const char *class_name,
                             const char *name, uint16_t cycle, const void *stored, size_t stored_bytes,
                             size_t object_bytes)
{
    struct tfile_writer_directory *here = &writer->directories[directory];
    key(&here->list, writer->size, position(writer), here->record, class_name, name, cycle, stored_bytes,
        object_bytes);
    here->count++;
    return record(writer, here->record, class_name, name, cycle, stored, stored_bytes, object_bytes);
}

uint64_t tfile_writer_object(struct tfile_writer *writer, uint32_t directory, const char *class_name,
                             const char *name, uint16_t cycle, const void *object, size_t bytes)
{
    return tfile_writer_stored(writer, directory, class_name, name, cycle, object, bytes, bytes);
}

uint64_t tfile_writer_blob(struct tfile_writer *writer, const void *bytes, size_t count)
{
    return record(writer, BEGIN, "RBlob", "", 1, bytes, count, count);
}

uint64_t tfile_writer_free(struct tfile_writer *writer, uint32_t bytes, bool is_listed)
{
    uint64_t offset = position(writer);
    word(&writer->out, is_listed ? 0 : UINT64_C(0x100000000) - bytes, 4);
    memset(nt_buffer_extend(&writer->out, bytes - 4), 'G', bytes - 4);
    if (is_listed) {
        word(&writer->free_segments, writer->size == TFILE_BIG ? LARGE_OFFSETS + 1 : 1, 2);
        place(&writer->free_segments, writer->size, offset);
        place(&writer->free_segments, writer->size, offset + bytes - 1);
    }
    return offset;
}

uint64_t tfile_writer_hole(struct tfile_writer *writer, uint64_t bytes)
{
    writer->hole_at = writer->out.length;
    writer->hole_bytes = bytes;
    return writer->hole_at;
}

/* ---- directories ---- */

static void directory_members(struct nt_buffer *out, const struct tfile_writer *writer, uint32_t directory)
{
    const struct tfile_writer_directory *here = &writer->directories[directory];
    uint64_t parent = directory ? writer->directories[here->parent].record : 0;
    size_t list_bytes = 18 + (writer->size == TFILE_BIG ? 16 : 8) + 3 + 4 + here->list.length;
    word(out, writer->size == TFILE_BIG ? LARGE_OFFSETS + 5 : 5, 2);
    word(out, DATE, 4);
    word(out, DATE, 4);
    word(out, list_bytes, 4);
    word(out, here->members - here->record, 4);
    place(out, writer->size, here->record);
    place(out, writer->size, parent);
    place(out, writer->size, here->keys);
}

uint32_t tfile_writer_directory(struct tfile_writer *writer, uint32_t parent, const char *name)
{
    uint32_t directory = writer->directory_count++;
    demand(directory < TFILE_MAX_DIRECTORIES);
    writer->directories[directory] = (struct tfile_writer_directory){.parent = parent};
    struct nt_buffer members = {0};
    directory_members(&members, writer, directory);
    uint64_t offset =
        tfile_writer_object(writer, parent, "TDirectory", name, 1, members.bytes, members.length);
    writer->directories[directory].record = offset;
    writer->directories[directory].members = position(writer) - members.length;
    nt_buffer_deinit(&members);
    return directory;
}

/* A key whose object is the number of keys and their copies. */
static void finish_directory(struct tfile_writer *writer, uint32_t directory)
{
    struct tfile_writer_directory *here = &writer->directories[directory];
    struct nt_buffer list = {0}, members = {0};
    word(&list, here->count, 4);
    nt_buffer_append(&list, here->list.bytes, here->list.length);
    here->keys = record(writer, here->record, "", "", 1, list.bytes, list.length, list.length);
    directory_members(&members, writer, directory);
    overwrite(writer, here->members, &members);
    nt_buffer_deinit(&list);
    nt_buffer_deinit(&members);
}

/* ---- the file ---- */

void tfile_writer_init(struct tfile_writer *writer, enum tfile_size size)
{
    *writer = (struct tfile_writer){.size = size, .directory_count = 1};
    writer->directories[0].record = BEGIN;
    memset(nt_buffer_extend(&writer->out, BEGIN), 0, BEGIN);
    struct nt_buffer root = {0};
    text(&root, "test.root");
    text(&root, "");
    size_t names = root.length;
    directory_members(&root, writer, 0);
    record(writer, 0, "TFile", "test.root", 1, root.bytes, root.length, root.length);
    writer->directories[0].members = position(writer) - root.length + names;
    nt_buffer_deinit(&root);
}

void tfile_writer_deinit(struct tfile_writer *writer)
{
    for (uint32_t i = 0; i < writer->directory_count; i++)
        nt_buffer_deinit(&writer->directories[i].list);
    nt_buffer_deinit(&writer->free_segments);
    nt_buffer_deinit(&writer->out);
}

static void finish_header(struct tfile_writer *writer, uint64_t free_bytes)
{
    struct nt_buffer header = {0};
    bool is_big = writer->size == TFILE_BIG;
    nt_buffer_append_string(&header, "root");
    word(&header, is_big ? ROOT_VERSION + BIG_FILE : ROOT_VERSION, 4);
    word(&header, BEGIN, 4);
    place(&header, writer->size, position(writer));
    place(&header, writer->size, writer->free_list);
    word(&header, free_bytes, 4);
    word(&header, 1, 4);
    word(&header, writer->directories[0].members - BEGIN, 4);
    word(&header, is_big ? 8 : 4, 1);
    word(&header, COMPRESSION, 4);
    place(&header, writer->size, 0); /* no streamer info */
    word(&header, 0, 4);
    word(&header, 1, 2);
    for (unsigned i = 0; i < 16; i++)
        word(&header, i * 0x11, 1);
    overwrite(writer, 0, &header);
    nt_buffer_deinit(&header);
}

void tfile_writer_finish(struct tfile_writer *writer)
{
    for (uint32_t i = 0; i < writer->directory_count; i++)
        finish_directory(writer, i);
    /* The last segment begins at the end of the file, after this record. */
    struct nt_buffer *segments = &writer->free_segments;
    size_t segment_bytes = writer->size == TFILE_BIG ? 18 : 10;
    size_t key_bytes = 18 + (writer->size == TFILE_BIG ? 16 : 8) + 3;
    uint64_t end = position(writer) + key_bytes + segments->length + segment_bytes;
    word(segments, writer->size == TFILE_BIG ? LARGE_OFFSETS + 1 : 1, 2);
    place(segments, writer->size, end);
    place(segments, writer->size, end + FREE_TO_THE_END);
    writer->free_list = record(writer, BEGIN, "", "", 1, segments->bytes, segments->length, segments->length);
    finish_header(writer, position(writer) - writer->free_list);
    demand(!writer->out.failed && position(writer) == end);
}

void tfile_writer_save(const struct tfile_writer *writer, const char *path)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    demand(descriptor >= 0);
    size_t first = writer->hole_bytes ? writer->hole_at : writer->out.length;
    size_t rest = writer->out.length - first;
    demand(pwrite(descriptor, writer->out.bytes, first, 0) == (ssize_t)first);
    demand(pwrite(descriptor, writer->out.bytes + first, rest, (off_t)(first + writer->hole_bytes)) ==
           (ssize_t)rest);
    demand(close(descriptor) == 0);
}
