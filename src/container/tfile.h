/* SPDX-License-Identifier: MIT
 *
 * ROOT's container: a file header, then records one after the other, each with a key in front (TKey) or free.
 * Directories are records too; each has a list with copies of the keys of what it holds. All numbers are
 * big-endian. Texts of keys are not NUL-terminated and live as long as the bytes they were read from.
 */
#ifndef NT_FORMAT_RNTUPLE_TFILE_H
#define NT_FORMAT_RNTUPLE_TFILE_H

#include <stdbool.h>

#include "core/base/bytes.h"
#include "container/container.h"

enum {
    NT_TFILE_MAGIC_BYTES = 4, /* "root" */
    NT_TFILE_UUID_BYTES = 16,
    NT_TFILE_MAX_KEY_BYTES = 65536, /* its length is stored in 16 bits */
};

struct nt_tfile_header {
    uint32_t version;                 /* as stored */
    bool is_big;                      /* offsets of 64 bits */
    uint64_t begin;                   /* of the first record */
    uint64_t end;                     /* of the last */
    uint64_t free_offset, free_bytes; /* record with the list of free segments */
    uint64_t info_offset, info_bytes; /* record with the streamer info; 0: none */
    uint32_t name_bytes;              /* from the first record to the root directory */
    uint32_t compression;             /* algorithm * 100 + level */
    uint8_t uuid[NT_TFILE_UUID_BYTES];
};

struct nt_tfile_key {
    uint64_t offset;       /* of the record, in the file */
    uint32_t bytes;        /* of the record, key included */
    uint32_t key_bytes;    /* where the object starts in it */
    uint32_t object_bytes; /* uncompressed; another number than the stored bytes where it is compressed */
    uint32_t date;         /* see nt_tfile_append_date */
    uint16_t cycle;
    uint64_t directory_offset;
    struct nt_text class_name, name, title;
};

struct nt_tfile_directory {
    uint64_t offset;      /* of its record */
    uint64_t parent;      /* of that of the directory that it is in; the root's own */
    uint64_t keys_offset; /* record with the list of its keys; 0: it has none */
    uint32_t keys_bytes;
    uint32_t created, modified; /* dates */
};

/* How many keys of a class the directories list. */
struct nt_tfile_class {
    struct nt_text name;
    uint64_t keys;
};

/* The container's details: directories in step with those of the nt_file. */
struct nt_tfile {
    struct nt_tfile_header header;
    const struct nt_tfile_directory *directories;
    uint32_t directory_count;
    const struct nt_tfile_class *classes; /* those that were met first; `other_keys` are of more classes */
    uint32_t class_count;
    uint64_t other_keys;
};

static inline const struct nt_tfile *nt_tfile_of(const struct nt_file *file)
{
    return nt_container_of(file)->details;
}

/* ---- tfile.c: from bytes to the structures ---- */

/* Of a file that begins with "root". NT_TRUNCATED, NT_CORRUPT. */
enum nt_status nt_tfile_read_header(struct nt_source *source, struct nt_tfile_header *header_ret,
                                    struct nt_error *error);

/* Read the key that the cursor stands at; it fails where the key does not fit. */
struct nt_tfile_key nt_tfile_get_key(struct nt_cursor *cursor);

/* Read the key in front of the record at `offset` into `buffer` (NT_TFILE_MAX_KEY_BYTES), which then holds
 * its texts. NT_CORRUPT where it is none: sizes must agree, and a record must tell its own place. */
enum nt_status nt_tfile_read_key(struct nt_source *source, uint64_t offset, uint8_t *buffer,
                                 struct nt_tfile_key *key_ret, struct nt_error *error);
/* True for a key that can stand at `offset` of a file that ends at `end`. */
bool nt_tfile_is_key_of(const struct nt_tfile_key *key, uint64_t offset, uint64_t end);

/* By ROOT's own rule: fewer bytes are stored than the object has. More are, where ROOT does not count the checksums of pages. */
bool nt_tfile_is_compressed(const struct nt_tfile_key *key);
bool nt_tfile_is_directory(const struct nt_tfile_key *key);
bool nt_tfile_is_anchor(const struct nt_tfile_key *key);
/* True for a class whose name differs from that of a directory or anchor in a byte or two. */
bool nt_tfile_is_nearly_ours(const struct nt_tfile_key *key);

/* The directory whose record is at `offset`, its members starting after `skip` bytes. */
enum nt_status nt_tfile_read_directory(struct nt_source *source, uint64_t offset, uint64_t skip,
                                       struct nt_tfile_directory *directory_ret, struct nt_error *error);

/* The free segments within the file, by offset (from malloc). None where there is no good list of them; fails
 * only where the machine does. */
enum nt_status nt_tfile_read_free(struct nt_source *source, const struct nt_tfile_header *header,
                                  struct nt_extent **segments_ret, size_t *count_ret, struct nt_error *error);

/* "2024-05-31T12:00:00", in the writer's local time; false where it is no date. */
bool nt_tfile_format_date(uint32_t date, char text[static 24]);

/* ---- tfile_keys.c: the keys of a directory ---- */

struct nt_tfile_key_list {
    uint8_t *bytes;
    uint64_t offset; /* of `bytes` in the file */
    struct nt_cursor cursor;
    uint32_t left;
};

/* Read the list of a directory; must be deinitialised, also after a failure. */
enum nt_status nt_tfile_key_list_init(struct nt_tfile_key_list *list, struct nt_source *source,
                                      const struct nt_tfile_directory *directory, struct nt_error *error);
void nt_tfile_key_list_deinit(struct nt_tfile_key_list *list);
/* The next key. NT_NOT_FOUND at the end; NT_CORRUPT for a damaged key, which is then skipped where its length
 * can be told (the list ends, else). */
enum nt_status nt_tfile_key_list_next(struct nt_tfile_key_list *list, struct nt_tfile_key *key_ret,
                                      struct nt_error *error);

/* Whether something stands behind the last key that was read: writers leave nothing there, or zeros. */
bool nt_tfile_key_list_goes_on(const struct nt_tfile_key_list *list);

/* ---- tfile_records.c: the file from its first record to its last ---- */

enum nt_tfile_record_kind { NT_TFILE_KEY, NT_TFILE_FREE, NT_TFILE_GAP };

struct nt_tfile_record {
    enum nt_tfile_record_kind kind;
    uint64_t offset, bytes;
    struct nt_tfile_key key; /* of a KEY; its texts are valid until the next record */
};

struct nt_tfile_walk {
    struct nt_source *source;
    uint64_t position, end;
    uint64_t records_end; /* as the header tells: beyond `end` in a file that was cut */
    struct nt_extent *free_segments;
    size_t free_count;
    uint8_t *key_buffer, *window;
    struct nt_error failure; /* of the machine, while it was tried whether a key stands somewhere */
};

/* Must be deinitialised, also after a failure. */
enum nt_status nt_tfile_walk_init(struct nt_tfile_walk *walk, struct nt_source *source,
                                  const struct nt_tfile_header *header, struct nt_error *error);
void nt_tfile_walk_deinit(struct nt_tfile_walk *walk);
/* The next record; bytes in which there is none are a GAP. NT_NOT_FOUND at the end. */
enum nt_status nt_tfile_walk_next(struct nt_tfile_walk *walk, struct nt_tfile_record *record_ret,
                                  struct nt_error *error);

/* ---- tfile_anchors.c ---- */

/* See struct nt_container_kind. */
enum nt_status nt_tfile_visit_anchors(const struct nt_file *file, nt_anchor_visit *visit, void *context,
                                      struct nt_error *error);

/* ---- tfile_documents.c, tfile_layout.c: what is shown of it ---- */

enum { NT_TFILE_DOCUMENT_COUNT = 1 };
extern const struct nt_document nt_tfile_documents[NT_TFILE_DOCUMENT_COUNT];

enum nt_status nt_tfile_describe(const struct nt_file *file, struct nt_json *json, struct nt_error *error);
enum nt_status nt_tfile_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                               struct nt_error *error);

#endif
