/* SPDX-License-Identifier: MIT
 *
 * Containers: ROOT files (TFile) and bare RNTuple files. A container finds the directories of a file and
 * the anchor objects in them; the format reads the rest.
 */
#ifndef NT_CONTAINER_CONTAINER_H
#define NT_CONTAINER_CONTAINER_H

#include <stdbool.h>

#include "core/base/bytes.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/model.h"

struct nt_anchor;
struct nt_container_kind;

/* ---- Kinds of containers ---- */

/* An anchor object, as a key (or the bare file) holds it. A directory or a list of keys that cannot be read
 * stands among them with its failure, so that what it may have held is not missed silently. */
struct nt_anchor_object {
    uint32_t directory;  /* index into the file's directories */
    struct nt_text name; /* of the key */
    uint32_t cycle;
    bool is_newest_cycle;   /* false: another anchor of this name in this directory has a higher cycle */
    const char *class_name; /* "ROOT::RNTuple" or "ROOT::Experimental::RNTuple"; of what failed, else */
    const uint8_t *bytes;   /* the streamed object, uncompressed, its checksum included; NULL: see failure */
    size_t length;
    uint64_t offset; /* of the object's stored bytes in the file */
    uint64_t stored_bytes;
    uint16_t schema_major, schema_minor; /* of an attribute set: the version of its schema */
    const struct nt_anchor *anchor;      /* that the container has read itself; NULL: it is to be read */
    const struct nt_error *failure;
};

struct nt_container {
    const struct nt_container_kind *kind;
    /* An anchor failed, or something tells that there are more: its records are worth a walk. */
    bool may_have_orphans;
    const struct nt_anchor_object *anchors;
    uint32_t anchor_count;
    void *details; /* the container's own */
};

static inline const struct nt_container *nt_container_of(const struct nt_file *file)
{
    return file->format_data;
}

/* The record of an anchor, listed or not. The name is valid during the visit. */
struct nt_anchor_record {
    uint64_t offset;        /* of the record in the file */
    uint64_t object_offset; /* of the object's stored bytes */
    uint32_t directory;     /* index into the file's directories; NT_NONE: it names none of them */
    uint32_t cycle;
    struct nt_text name;
};

/* Anything but NT_OK ends the walk. */
typedef enum nt_status nt_anchor_visit(void *context, const struct nt_anchor_record *record,
                                       struct nt_error *error);

/* A kind of container: a row of the table of container_open.c. */
struct nt_container_kind {
    const char *name;  /* "TFile", "bare" or "object store" */
    const char *magic; /* with which its files begin; `open` may rely on it */
    /* Of one whose files are texts, what stands in their beginnings, too. NULL: none is a text. */
    const char *text_mark;
    enum nt_status (*open)(struct nt_file *file, struct nt_container *container, struct nt_error *error);
    /* What envelopes and pages lie in: objects beneath the file. NULL: the file itself. */
    enum nt_status (*open_objects)(const struct nt_file *file, struct nt_source **objects_ret,
                                   struct nt_error *error);
    /* For the file of the same names: see nt_file. */
    enum nt_status (*describe)(const struct nt_file *file, struct nt_json *json, struct nt_error *error);
    enum nt_status (*layout)(const struct nt_file *file, nt_layout_emit *emit, void *context,
                             struct nt_error *error);
    /* Walk over all records of the file, from the first to the last, and visit those of anchors. NULL: the
     * container has no more than the anchors that it opened. */
    enum nt_status (*visit_anchors)(const struct nt_file *file, nt_anchor_visit *visit, void *context,
                                    struct nt_error *error);
    const struct nt_document *documents;
    uint32_t document_count;
};

extern const struct nt_container_kind nt_container_bare, nt_container_store, nt_container_tfile;

/* Members that the descriptions of all containers have. */
void nt_container_describe_root_version(struct nt_json *json, uint32_t version);
void nt_container_describe_compression(struct nt_json *json, uint32_t setting); /* algorithm * 100 + level */

/* ---- from a file to its container ---- */

/* Recognise the container of file->source, read its directories (added to the file) and its anchors. All
 * memory is the file's arena but for `container` itself, which is the caller's and must live as long as the
 * file: it becomes file->format_data (make it the first member where more is wanted there). Sets the file's
 * documents, describe and layout. The layout has everything but what anchors lead to: anchor objects
 * (`anchors`), envelopes, pages and their checksums are the caller's to add. Where the container can be described
 * and nothing leads to an anchor, the file has its failure; NT_NOT_THIS_FORMAT tells of a ROOT file without an
 * RNTuple the classes of its keys. */
enum nt_status nt_container_open(struct nt_file *file, struct nt_container *container,
                                 struct nt_error *error);

/* ---- TFile structures ---- */

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
bool nt_tfile_is_near_miss(const struct nt_tfile_key *key);

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
