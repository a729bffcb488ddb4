/* SPDX-License-Identifier: MIT
 *
 * Containers: ROOT files (TFile) and bare RNTuple files. A container finds the directories of a file
 * and the anchor objects and trees in them; the formats read the rest.
 */
#pragma once

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/model.h"

struct nt_anchor;
struct nt_container_kind;
struct nt_ttree_file;

/* ---- Kinds of containers ---- */

/* An anchor object of a key (or of the bare file). A directory or key list that fails to parse is an
 * item with its failure, so that its anchors are not missed silently. */
struct nt_anchor_object {
    uint32_t directory;  /* index into the file's directories */
    struct nt_text name; /* of the key */
    uint32_t cycle;
    bool is_newest_cycle;   /* false: another anchor of this name and directory has a higher cycle */
    bool is_damage;         /* no anchor, but the failure of a directory, a list of keys or another key */
    const char *class_name; /* "ROOT::RNTuple", "ROOT::Experimental::RNTuple"; or of the failure */
    const uint8_t *bytes;   /* the uncompressed streamed object with its checksum; NULL: see failure */
    size_t length;
    uint64_t offset; /* of the object's stored bytes in the file */
    uint64_t stored_bytes;
    uint16_t schema_major, schema_minor; /* schema version of an attribute set */
    const struct nt_anchor *anchor;      /* if the container has parsed it; NULL: not parsed yet */
    const struct nt_error *failure;
};

/* A tree (TTree, TNtuple, TNtupleD): its key. nt_tfile_read_object reads the object. */
struct nt_tfile_object {
    uint32_t directory; /* index into the file's directories */
    struct nt_text name, title, class_name;
    uint32_t cycle;
    bool is_newest_cycle; /* false: another tree of this name and directory has a higher cycle */
    bool is_listed;       /* false: no list of keys has it; a walk over the records found it */
    bool has_rival;       /* an anchor has its name and directory */
    uint64_t offset;      /* of the record */
    uint32_t key_bytes;   /* offset of the object in the record */
    uint32_t bytes;       /* of the record */
    uint32_t object_bytes;
    const struct nt_error *failure;
};

struct nt_container {
    const struct nt_container_kind *kind;
    /* An anchor failed, or there are signs of more: a walk over the records may find orphans. */
    bool may_have_orphans;
    const struct nt_anchor_object *anchors;
    uint32_t anchor_count;
    const struct nt_tfile_object *objects;
    uint32_t object_count;
    void *details;               /* the container's own */
    struct nt_ttree_file *trees; /* of format ttree: what the trees of the file share */
    uint32_t first_tree;         /* datasets from this index on are trees, those before it RNTuples */
};

static inline const struct nt_container *nt_container_of(const struct nt_file *file)
{
    return file->format_data;
}

/* The record of an anchor, listed or not. The name is valid during the call. */
struct nt_anchor_record {
    uint64_t offset;        /* of the record in the file */
    uint64_t object_offset; /* of the object's stored bytes */
    uint32_t directory;     /* index into the file's directories; NT_NONE: its directory is unknown */
    uint32_t cycle;
    struct nt_text name;
};

/* A status other than NT_OK ends the walk. */
typedef enum nt_status nt_anchor_visit(void *context, const struct nt_anchor_record *record,
                                       struct nt_error *error);

/* A kind of container, from a table in rntuple.c. */
struct nt_container_kind {
    const char *name;  /* "TFile", "bare" or "object store" */
    const char *magic; /* the first bytes of its files; `open` may rely on them */
    /* For text files: a mark that must also be near the beginning. NULL: not a text. */
    const char *text_mark;
    enum nt_status (*open)(struct nt_file *file, struct nt_container *container, struct nt_error *error);
    /* Opens the source of envelopes and pages: objects beneath the file. NULL: the file itself. */
    enum nt_status (*open_objects)(const struct nt_file *file, struct nt_source **objects_ret,
                                   struct nt_error *error);
    /* Callbacks of nt_file, under the same names. */
    enum nt_status (*describe)(const struct nt_file *file, struct nt_json *json, struct nt_error *error);
    enum nt_status (*layout)(const struct nt_file *file, nt_layout_emit *emit, void *context,
                             struct nt_error *error);
    /* Walks all records of the file in order and visits the anchors. NULL: the container has only the
     * anchors that it opened. */
    enum nt_status (*visit_anchors)(const struct nt_file *file, nt_anchor_visit *visit, void *context,
                                    struct nt_error *error);
    const struct nt_document *documents;
    uint32_t document_count;
};

/* The version of ROOT, 61800 for 6.18/00. That of a file header has 1000000 more if the file is big,
 * and in some small files 1000000 less. */
static inline uint32_t nt_tfile_root_version(int32_t stored)
{
    int32_t version = stored % 1000000;
    return (uint32_t)(version < 0 ? version + 1000000 : version);
}

extern const struct nt_container_kind nt_container_bare, nt_container_store, nt_container_tfile;

/* Members in the descriptions of all containers. */
void nt_container_describe_root_version(struct nt_json *json, int32_t stored);
void nt_container_describe_compression(struct nt_json *json, uint32_t setting); /* 100 * algorithm + level */

/* ---- Opening a container ---- */

/* Recognises the container of file->source; reads its directories (added to the file) and its anchors.
 * The file's arena owns all memory except `container`: the caller owns that and keeps it as long as the
 * file. It becomes file->format_data (make it the first member of a larger structure). Sets the file's
 * documents, describe and layout. The layout omits what anchors refer to: the caller adds anchor
 * objects (`anchors`), trees (`objects`), envelopes, pages and their checksums. A container without a
 * usable anchor or tree sets the file's failure. NT_NOT_THIS_FORMAT names the key classes of a ROOT file
 * without either. */
enum nt_status nt_container_open(struct nt_file *file, struct nt_container *container,
                                 struct nt_error *error);
/* The same for a file that is known to be of this kind. */
enum nt_status nt_container_open_kind(struct nt_file *file, struct nt_container *container,
                                      const struct nt_container_kind *kind, struct nt_error *error);

/* ---- TFile structures ---- */

enum {
    NT_TFILE_MAGIC_BYTES = 4, /* "root" */
    NT_TFILE_UUID_BYTES = 16,
    NT_TFILE_MAX_KEY_BYTES = 65536, /* its length is stored in 16 bits */
};

struct nt_tfile_header {
    int32_t version;                  /* as stored: see nt_tfile_root_version */
    bool is_big;                      /* 64-bit offsets */
    uint64_t begin;                   /* offset of the first record */
    uint64_t end;                     /* end of the last record, as stored */
    uint64_t records_end;             /* the same, or the end of a file that was not closed */
    bool is_closed;                   /* its writer wrote the list of free segments, which is the last */
    uint64_t free_offset, free_bytes; /* record of the free segments list */
    uint64_t info_offset, info_bytes; /* record of the streamer info; 0: none */
    uint32_t name_bytes;              /* bytes between the first record and the root directory */
    uint32_t compression;             /* algorithm * 100 + level */
    uint8_t uuid[NT_TFILE_UUID_BYTES];
};

struct nt_tfile_key {
    uint64_t offset;       /* of the record, in the file */
    uint32_t bytes;        /* of the record, including the key */
    uint32_t key_bytes;    /* offset of the object in the record */
    uint32_t object_bytes; /* uncompressed; differs from the stored bytes if compressed */
    uint32_t date;         /* see nt_tfile_format_date */
    uint16_t cycle;
    uint64_t directory_offset;
    struct nt_text class_name, name, title;
};

struct nt_tfile_directory {
    uint64_t offset;      /* of its record */
    uint64_t parent;      /* offset of the parent directory's record; the root's own for the root */
    uint64_t keys_offset; /* record of its key list; 0: none */
    uint32_t keys_bytes;
    uint32_t created, modified; /* dates */
    bool has_list;              /* its key list was written */
};

/* The number of listed keys of a class. */
struct nt_tfile_class {
    struct nt_text name;
    uint64_t keys;
};

/* The container's details. Directories match those of the nt_file by index. */
struct nt_tfile {
    struct nt_tfile_header header;
    const struct nt_tfile_directory *directories;
    uint32_t directory_count;
    const struct nt_tfile_class *classes; /* the first ones; `other_keys` counts those of others */
    uint32_t class_count;
    uint64_t other_keys;
    uint64_t info_offset, info_bytes; /* record of the streamer info, in the header or not; 0: none */
};

static inline const struct nt_tfile *nt_tfile_of(const struct nt_file *file)
{
    return nt_container_of(file)->details;
}

/* ---- tfile.c: parsing ---- */

/* The file must begin with "root". NT_TRUNCATED, NT_CORRUPT. */
enum nt_status nt_tfile_read_header(struct nt_source *source, struct nt_tfile_header *header_ret,
                                    struct nt_error *error);

/* Reads the key of the record at `offset` into `buffer` (NT_TFILE_MAX_KEY_BYTES), which holds its
 * texts. NT_CORRUPT if it is not a key: sizes must agree, and a record must contain its own offset. */
enum nt_status nt_tfile_read_key(struct nt_source *source, uint64_t offset, uint8_t *buffer,
                                 struct nt_tfile_key *key_ret, struct nt_error *error);
/* The same without texts and a buffer for them. */
enum nt_status nt_tfile_read_bare_key(struct nt_source *source, uint64_t offset, struct nt_tfile_key *key_ret,
                                      struct nt_error *error);
/* Reads a TString: a length of one byte, or 255 and 32 bits; then the characters. Empty if the cursor fails.
 */
struct nt_text nt_tfile_get_string(struct nt_cursor *cursor);
/* Reads the name of a class in a buffer of objects, which ends with a zero. The cursor fails if it is too
 * long. */
struct nt_text nt_tfile_get_class_name(struct nt_cursor *cursor);
/* Is the key valid at `offset` of a file that ends at `end`? */
bool nt_tfile_is_key_of(const struct nt_tfile_key *key, uint64_t offset, uint64_t end);

/* ROOT's own rule: the stored bytes are fewer than the object's. They can be more if ROOT omits the
 * checksums of pages. */
bool nt_tfile_is_compressed(const struct nt_tfile_key *key);
bool nt_tfile_is_directory(const struct nt_tfile_key *key);
bool nt_tfile_is_anchor(const struct nt_tfile_key *key);
bool nt_tfile_is_tree(const struct nt_tfile_key *key);
/* Does the class name differ from that of a directory, anchor or tree in only one or two bytes? */
bool nt_tfile_is_near_miss(const struct nt_tfile_key *key);

/* Reads the directory whose record is at `offset`. Its members start after `skip` bytes. */
enum nt_status nt_tfile_read_directory(struct nt_source *source, uint64_t offset, uint64_t skip,
                                       struct nt_tfile_directory *directory_ret, struct nt_error *error);

/* The free segments within the file, by offset (from malloc). None if the list is invalid; fails only
 * for system errors. */
enum nt_status nt_tfile_read_free(struct nt_source *source, const struct nt_tfile_header *header,
                                  struct nt_extent **segments_ret, size_t *count_ret, struct nt_error *error);

/* "2024-05-31T12:00:00", in the writer's local time; false if the date is invalid. */
bool nt_tfile_format_date(uint32_t date, char text[static 24]);

/* ---- Buffers of objects (TBufferFile) ---- */

#define NT_TFILE_BYTE_COUNT_MASK UINT32_C(0x40000000)
#define NT_TFILE_CLASS_MASK UINT32_C(0x80000000)
#define NT_TFILE_NEW_CLASS_TAG UINT32_C(0xffffffff)
enum {
    NT_TFILE_MAP_OFFSET = 2,           /* of references */
    NT_TFILE_MAX_CLASS_NAME = 1 << 14, /* it is read again for each item */
    NT_TOBJECT_IS_REFERENCED = 1 << 4,
};

/* ---- tfile.c: key lists of directories ---- */

struct nt_tfile_key_list {
    uint8_t *bytes;
    uint64_t offset; /* of `bytes` in the file */
    struct nt_cursor cursor;
    uint32_t left;
};

/* Reads the key list of a directory. Needs a deinit, also after a failure. */
enum nt_status nt_tfile_key_list_init(struct nt_tfile_key_list *list, struct nt_source *source,
                                      const struct nt_tfile_directory *directory, struct nt_error *error);
void nt_tfile_key_list_deinit(struct nt_tfile_key_list *list);
/* The next key. NT_NOT_FOUND at the end. NT_CORRUPT for a damaged key, which is skipped if its length
 * is known; else the list ends. */
enum nt_status nt_tfile_key_list_next(struct nt_tfile_key_list *list, struct nt_tfile_key *key_ret,
                                      struct nt_error *error);

/* Is there data after the last key? Writers leave nothing there, or zeros. */
bool nt_tfile_key_list_goes_on(const struct nt_tfile_key_list *list);

/* ---- tfile_records.c: records in file order ---- */

enum nt_tfile_record_kind { NT_TFILE_KEY, NT_TFILE_FREE, NT_TFILE_GAP };

struct nt_tfile_record {
    enum nt_tfile_record_kind kind;
    uint64_t offset, bytes;
    struct nt_tfile_key key; /* of a KEY; its texts are valid until the next record */
};

struct nt_tfile_walk {
    struct nt_source *source;
    uint64_t position, end;
    uint64_t records_end; /* from the header; beyond `end` in a truncated file */
    struct nt_extent *free_segments;
    size_t free_count;
    uint8_t *key_buffer, *window;
    struct nt_error failure; /* a system error while probing for a key */
};

/* Needs a deinit, also after a failure. */
enum nt_status nt_tfile_walk_init(struct nt_tfile_walk *walk, struct nt_source *source,
                                  const struct nt_tfile_header *header, struct nt_error *error);
void nt_tfile_walk_deinit(struct nt_tfile_walk *walk);
/* The next record; bytes without a record are a GAP. NT_NOT_FOUND at the end. */
enum nt_status nt_tfile_walk_next(struct nt_tfile_walk *walk, struct nt_tfile_record *record_ret,
                                  struct nt_error *error);

/* ---- tfile.c: objects of keys, and envelopes ---- */

/* Reads `stored_bytes` at `offset`, decompressed if `length` is larger, within the budget. The bytes are from
 * malloc; the budget counts them until the caller releases them. `*counted_ret`: bytes that count as
 * metadata, to be withdrawn if they prove damaged. */
enum nt_status nt_root_object_read(struct nt_budget *budget, struct nt_source *source, uint64_t offset,
                                   uint64_t stored_bytes, uint64_t length, uint8_t **bytes_ret,
                                   uint64_t *counted_ret, struct nt_error *error);
/* Reads the object of a tree into the file's arena, decompressed, within the budget. */
enum nt_status nt_tfile_read_object(struct nt_file *file, const struct nt_tfile_object *object,
                                    const uint8_t **bytes_ret, size_t *length_ret, struct nt_error *error);

/* NT_NOT_THIS_FORMAT: a ROOT file without the requested class ("an RNTuple"; NULL: any that is built in).
 * Names its classes of keys. */
enum nt_status nt_tfile_refuse(const struct nt_tfile *tfile, const char *requested, struct nt_error *error);

/* ---- tfile_records.c: anchor records ---- */

/* See struct nt_container_kind. */
enum nt_status nt_tfile_visit_anchors(const struct nt_file *file, nt_anchor_visit *visit, void *context,
                                      struct nt_error *error);

/* ---- describe.c: documents and layout ---- */

enum { NT_TFILE_DOCUMENT_COUNT = 1 };
extern const struct nt_document nt_tfile_documents[NT_TFILE_DOCUMENT_COUNT];

enum nt_status nt_tfile_describe(const struct nt_file *file, struct nt_json *json, struct nt_error *error);
enum nt_status nt_tfile_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                               struct nt_error *error);
