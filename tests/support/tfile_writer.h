/* SPDX-License-Identifier: MIT
 *
 * Writes ROOT files for tests, word by word in file order: file header, records with their keys,
 * directories, key lists, free list. The functions write valid files; a test overwrites a word to
 * create an invalid one.
 *
 *     struct tfile_writer writer;
 *     tfile_writer_init(&writer, TFILE_SMALL);
 *     uint32_t inner = tfile_writer_directory(&writer, 0, "inner");
 *     tfile_writer_object(&writer, inner, "ROOT::RNTuple", "events", 1, anchor, sizeof(anchor));
 *     tfile_writer_finish(&writer);
 */
#pragma once

#include "core/base/memory.h"

enum tfile_size {
    TFILE_SMALL, /* offsets of 32 bits */
    TFILE_BIG,   /* of 64 bits in header, directories, keys and free segments */
};

enum { TFILE_MAX_DIRECTORIES = 320 };

struct tfile_writer_directory {
    uint64_t record;  /* offset of its record in the file */
    uint64_t members; /* offset of its members: version, times, ... */
    uint64_t keys;    /* offset of its key list, once finished */
    uint32_t parent;
    struct nt_buffer list; /* copies of the keys of its entries */
    uint32_t count;
};

struct tfile_writer {
    struct nt_buffer out;
    enum tfile_size size;
    uint64_t hole_at, hole_bytes;                                     /* zeros that `out` omits */
    struct tfile_writer_directory directories[TFILE_MAX_DIRECTORIES]; /* 0: the root */
    uint32_t directory_count;
    struct nt_buffer free_segments;
    uint64_t free_list; /* offset of its record, once finished */
};

void tfile_writer_init(struct tfile_writer *writer, enum tfile_size size);
void tfile_writer_deinit(struct tfile_writer *writer);

/* Each returns the offset of its record; tfile_writer_directory returns the number of the directory. */
uint32_t tfile_writer_directory(struct tfile_writer *writer, uint32_t parent, const char *name);
uint64_t tfile_writer_object(struct tfile_writer *writer, uint32_t directory, const char *class_name,
                             const char *name, uint16_t cycle, const void *object, size_t bytes);
/* Same, but stores different bytes, e.g. compressed ones. */
uint64_t tfile_writer_stored(struct tfile_writer *writer, uint32_t directory, const char *class_name,
                             const char *name, uint16_t cycle, const void *stored, size_t stored_bytes,
                             size_t object_bytes);
/* Writes a record that no directory lists. */
uint64_t tfile_writer_blob(struct tfile_writer *writer, const void *bytes, size_t count);
/* Writes a free segment: listed as such, or only marked by its negative size. */
uint64_t tfile_writer_free(struct tfile_writer *writer, uint32_t bytes, bool is_listed);
/* Adds zeros outside of any record, which are a hole in a file on disk. At most once per file. */
uint64_t tfile_writer_hole(struct tfile_writer *writer, uint64_t bytes);

/* Writes the key lists and the free list, then completes the directories and the file header. */
void tfile_writer_finish(struct tfile_writer *writer);
/* Saves the file with its hole to disk. */
void tfile_writer_save(const struct tfile_writer *writer, const char *path);

/* Offsets of words that tests overwrite. */
enum {
    TFILE_HEADER_BEGIN = 8,
    TFILE_HEADER_END = 12,
    TFILE_HEADER_NAME_BYTES = 28, /* small files */
    TFILE_KEY_BYTES = 0,          /* within a key */
    TFILE_KEY_OBJECT_BYTES = 6,
    TFILE_KEY_LENGTH = 14,
    TFILE_KEY_CYCLE = 16,
    TFILE_KEY_OFFSET = 18, /* 32-bit offsets */
    TFILE_KEY_DIRECTORY = 22,
    TFILE_KEY_CLASS = 26,
    TFILE_DIRECTORY_KEYS_BYTES = 10, /* within a directory's members */
    TFILE_DIRECTORY_KEYS = 26,       /* 32-bit offsets */
};
void tfile_writer_put16(struct tfile_writer *writer, uint64_t offset, uint16_t value);
void tfile_writer_put32(struct tfile_writer *writer, uint64_t offset, uint32_t value);
