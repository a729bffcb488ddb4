/* SPDX-License-Identifier: MIT
 *
 * An open Lance dataset: manifest, fragments, data files, versions and documents.
 */
#ifndef NT_FORMATS_LANCE_DATASET_DATASET_H
#define NT_FORMATS_LANCE_DATASET_DATASET_H

#include <ntuple/format.h>

#include <stddef.h>
#include <stdint.h>

#include "core/base/memory.h"
#include "core/io/folder.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "formats/formats.h"
#include "formats/lance/file/file.h"
#include "formats/lance/file/messages.h"

struct nt_arena;

/* ---- Open datasets ---- */

/* A version, as a name in _versions/ tells. */
struct nt_lance_version {
    const char *root; /* beneath the folder: "", or "tree/BRANCH/", which has all that a dataset has */
    uint64_t number;
    bool is_inverted; /* the name has 2^64 - 1 less the number, in 20 digits: the latest is the first */
    bool is_detached; /* apart from the history, with a "d" in front: its number has the highest bit */
};

/* A file that ends in a manifest. */
struct nt_lance_manifest_file {
    struct nt_lance_version version;
    const char *name; /* beneath the dataset's directory */
    uint64_t size;
    uint64_t offset;         /* of the message */
    struct nt_proto message; /* a Manifest */
};

/* Where a message lies that is part of the manifest's. */
static inline uint64_t nt_lance_manifest_offset(const struct nt_lance_manifest_file *manifest,
                                                struct nt_proto message)
{
    return manifest->offset + (uint64_t)(message.bytes - manifest->message.bytes);
}

/* Where a field of the schema is stored in a fragment. */
struct nt_lance_column_location {
    struct nt_lance_leaf leaf; /* in legacy files the column is the field's id */
    uint32_t file;             /* number of one of the dataset's data files */
};

/* A directory that base paths may lie beneath. */
struct nt_lance_base_root {
    struct nt_folder *folder;
    const char *real; /* its path, without links */
};

/* Another place than the dataset where files of it lie. */
struct nt_lance_base {
    uint64_t id;
    bool is_root;             /* it is itself a dataset: files lie in its data/ and _deletions/ */
    struct nt_text path;      /* as the manifest tells it */
    struct nt_folder *folder; /* that it lies beneath; NULL: none that may be read */
    const char *below;        /* its name there: "", or with '/' at its end */
};

struct nt_lance_fragment_part {
    struct nt_proto message; /* a DataFragment */
    uint64_t id;
    uint64_t physical_rows;
    uint64_t deleted_rows;
    bool has_rows;                   /* else the manifest does not tell them, and a data file does */
    bool has_deleted_rows;           /* likewise, and its deletion file does */
    uint32_t first_file, file_count; /* of the dataset's data files */
    /* By field of the schema; NULL until somebody looks. Under the dataset's lock. */
    const struct nt_lance_column_location *stored;
    bool has_deletions; /* the same: `deletions` are known */
    const struct nt_deletion_vector *deletions;
};

/* Bits. */
enum nt_lance_generation {
    NT_LANCE_IS_LEGACY = 1,
    NT_LANCE_IS_2_0 = 2, /* each field has a column */
    NT_LANCE_IS_LATER = 4,
};

/* A data file that is open: what its metadata say, until others are needed more. */
struct nt_lance_open_file {
    struct nt_lance lance;
    struct nt_lance_memory memory; /* whose arena has this, too */
    uint32_t number;
    struct nt_lance_open_file *newer, *older; /* as they were used */
};

/* A file that holds columns of a fragment. */
struct nt_lance_data_file {
    struct nt_proto message; /* a DataFile */
    struct nt_folder *folder;
    const char *name; /* beneath it; NULL where it lies nowhere that is read */
    uint32_t fragment;
    enum nt_lance_generation generation; /* as the message says */
    struct nt_lance_open_file *opened;   /* NULL: it is not. Under the dataset's lock */
};

/* A field's id with its number in the schema. */
struct nt_lance_id {
    int32_t id;
    uint32_t field;
};

/* Which fragments were looked at, one after the other (ahead.h). Under the dataset's lock. */
struct nt_lance_readahead {
    uint32_t next, file; /* the fragment behind the last one, and which of its files */
    uint32_t asked;      /* those before it were asked for */
    uint32_t count;      /* that are asked for at once; 0: none */
};

/* An nt_dataset's format_data. All memory is the nt_file's arena's, but that of open data files. */
struct nt_lance_dataset {
    struct nt_folder *folder;
    struct timespec opened;                 /* when */
    const char *branch;                     /* "": none */
    struct nt_lance_manifest_file manifest; /* its version tells where beneath the folder the files are */
    struct nt_lance_schema schema;
    const struct nt_lance_id *ids; /* ascending */
    struct nt_lance_fragment_part *fragments;
    struct nt_lance_data_file *files;  /* as many as the nt_dataset has sources, in their order */
    struct nt_lance_base *bases;       /* by ids, ascending */
    struct nt_lance_base_root *places; /* the first is the dataset's own folder */
    uint32_t fragment_count, file_count, base_count, place_count;
    unsigned generations;          /* of its files */
    struct nt_lance_physical side; /* what its sides are made of */
    struct nt_lance_readahead ahead;
    struct {
        struct nt_lance_open_file *newest, *oldest;
        uint64_t bytes; /* that are taken for them */
    } open;             /* data files. Under the dataset's lock */
};

static inline struct nt_lance_dataset *nt_lance_dataset_of(const struct nt_dataset *dataset)
{
    return dataset->format_data;
}

/* ---- Read the manifest ---- */

/* Read a version's manifest. NT_CORRUPT where it is none, or that of another version; NT_UNSUPPORTED, with its name, where
 * it asks for what is not known. Memory is the file's arena's, counted in its budget. */
enum nt_status nt_lance_read_manifest(struct nt_file *file, const struct nt_lance_version *version,
                                      struct nt_lance_manifest_file *manifest, struct nt_error *error);

/* The member "timestamp" of a Timestamp: ISO 8601, to the nanosecond; null where it is none. */
void nt_lance_put_timestamp(struct nt_json *json, struct nt_proto timestamp);

/* Where a message lies in a manifest's file of so many bytes: behind its length, at a position that is told at another place. `what`: the
 * message, in words. */
enum nt_status nt_lance_find_section(struct nt_source *source, uint64_t size, uint64_t position,
                                     const char *what, uint64_t position_offset,
                                     struct nt_lance_buffer *message, struct nt_error *error);

/* Text of a message's text member, as a string in the arena; NULL without memory. */
const char *nt_lance_text(struct nt_arena *arena, struct nt_proto message, uint32_t number);

/* ---- Fragments and data files ---- */

/* Fill fragments and data files from the manifest; nothing else is read. Memory is the file's arena's, counted in its
 * budget. */
enum nt_status nt_lance_read_fragments(struct nt_file *file, struct nt_lance_dataset *lance,
                                       struct nt_error *error);

/* ---- Tags and branches ---- */

/* Where they are, beneath the dataset's folder. */
#define NT_LANCE_TAGS "_refs/tags"
#define NT_LANCE_BRANCHES "_refs/branches"

/* What a tag names. */
struct nt_lance_tag {
    const char *branch; /* "": none, the dataset itself */
    uint64_t version;
};

/* Called for each name, in no order; valid during the visit. Anything but NT_OK ends the walk. */
typedef enum nt_status nt_lance_visit_ref(void *context, const char *name, struct nt_error *error);

/* Walk over the names in one of these folders, which need not be there. */
enum nt_status nt_lance_each_ref(struct nt_folder *folder, const char *refs, nt_lance_visit_ref *visit,
                                 void *context, struct nt_error *error);

/* Read a tag. NT_NOT_FOUND where there is none; NT_CORRUPT, with its file's name, where it names nothing that can be a
 * version, or its branch is a path that leads elsewhere. Texts are the arena's. */
enum nt_status nt_lance_read_tag(struct nt_folder *folder, const char *name, struct nt_arena *arena,
                                 struct nt_lance_tag *tag_ret, struct nt_error *error);

/* A list of all tags, or branches: their names, and what their files hold or why that cannot be read. */
enum nt_status nt_lance_put_refs(struct nt_folder *folder, const char *refs, const char *key,
                                 struct nt_json *json, struct nt_error *error);

/* ---- List versions ---- */

/* The folder that has them, in a dataset's or branch's. */
#define NT_LANCE_VERSIONS "_versions"

/* Called for each manifest, in no order. Anything but NT_OK ends the walk. */
typedef enum nt_status nt_lance_visit_version(void *context, const struct nt_lance_version *version,
                                              struct nt_error *error);

/* Walk over the manifests of a history. `root` (see nt_lance_version) outlives what is found. */
enum nt_status nt_lance_each_version(struct nt_folder *folder, const char *root,
                                     nt_lance_visit_version *visit, void *context, struct nt_error *error);

/* Append the name of a version's manifest, beneath the dataset's folder. */
void nt_lance_append_manifest_name(struct nt_buffer *out, const struct nt_lance_version *version);

/* ---- Resolve a version ---- */

struct nt_lance_resolved_version {
    struct nt_lance_version version;
    const char *branch;  /* "": none */
    const char *watched; /* as in nt_version */
};

/* Find the version that is meant by a text as in nt_open_options: the number of a version, else a tag, else a branch. NT_NOT_FOUND
 * tells which there are, NT_INVALID where it is a path. Memory is the arena's. */
enum nt_status nt_lance_resolve_version(struct nt_folder *folder, const char *wanted, struct nt_arena *arena,
                                        struct nt_lance_resolved_version *choice_ret, struct nt_error *error);

/* As a member of nt_format. */
enum nt_status nt_lance_find_version(struct nt_folder *folder, const char *wanted,
                                     struct nt_dataset_version *version_ret, struct nt_error *error);

/* ---- Version history ---- */

/* As members of nt_document. */
enum nt_status nt_lance_open_versions(const struct nt_file *file, const struct nt_dataset *dataset,
                                      uint64_t number, struct nt_text_generator **text_ret,
                                      struct nt_error *error);
enum nt_status nt_lance_are_versions_short(const struct nt_file *file, const struct nt_dataset *dataset,
                                           uint64_t number, bool *is_short_ret, struct nt_error *error);

/* ---- Base paths ---- */

/* Fill lance->bases from the manifest. What lies beneath the dataset is read, and what lies beneath one of the directories
 * `allowed` (NULL: none; ends with NULL); of the others is known why not. Memory is the file's arena's, counted in its
 * budget; nt_lance_close_bases closes the directories, also after a failure. */
enum nt_status nt_lance_read_bases(struct nt_file *file, struct nt_lance_dataset *lance,
                                   const char *const *allowed, struct nt_error *error);
void nt_lance_close_bases(struct nt_lance_dataset *lance);
/* Open the directories alone, where that was not done: for what has no base path. */
enum nt_status nt_lance_open_base_roots(struct nt_file *file, struct nt_lance_dataset *lance,
                                        const char *const *allowed, struct nt_error *error);

/* Where the files lie that a DataFile or DeletionFile tells of, whose field of this number is the base's id; NULL: in the dataset
 * . NT_CORRUPT where the manifest has no such base path, NT_UNSUPPORTED where it leads to what is not read. */
enum nt_status nt_lance_find_base(const struct nt_lance_dataset *lance, struct nt_proto message,
                                  uint32_t id_field, const struct nt_lance_base **base_ret,
                                  struct nt_error *error);
/* The same by its id, which is told at a place of the manifest, or NT_NO_OFFSET. */
enum nt_status nt_lance_find_base_of(const struct nt_lance_dataset *lance, uint64_t id,
                                     uint64_t position_offset, const struct nt_lance_base **base_ret,
                                     struct nt_error *error);

/* The folder that an absolute path lies beneath, of those that are read, and its name there, which points into it; false: it lies beneath
 * none. */
bool nt_lance_find_beneath(const struct nt_lance_dataset *lance, struct nt_text path,
                           struct nt_folder **folder_ret, struct nt_text *name_ret);

/* ---- Missing files ---- */

/* Now, on the clock of files' times. */
struct timespec nt_lance_now(void);

/* Fail for a file beneath a folder that is missing: NT_CHANGED where something went out of its directory, or came into it, since the dataset was
 * opened, so that it may have been there; else NT_CORRUPT. `what` is the file, in words. */
enum nt_status nt_lance_fail_missing(const struct nt_lance_dataset *lance, struct nt_folder *folder,
                                     const char *name, const char *what, struct nt_error *error);

/* ---- Load data files ---- */

/* Find the rows of a fragment and how many of them are deleted, where a data file and the deletion file have to tell;
 * nothing where they are known. NT_CORRUPT where there are fewer than are deleted. */
enum nt_status nt_lance_count_rows(struct nt_dataset *dataset, uint32_t part, struct nt_error *error);

/* What the metadata of a data file say, until the next one is opened. Under the dataset's lock. */
enum nt_status nt_lance_open_data_file(struct nt_dataset *dataset, uint32_t number,
                                       const struct nt_lance **opened_ret, struct nt_error *error);
/* Whether a file has a column, and, where its values are wanted, can be decoded. */
enum nt_status nt_lance_check_column(const struct nt_lance_schema *schema, const struct nt_lance *opened,
                                     const struct nt_lance_leaf *leaf, bool wants_values,
                                     struct nt_error *error);

/* As members of nt_dataset_ops. A data file is opened when something of it is wanted for the first time. */
enum nt_status nt_lance_load_part(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);
enum nt_status nt_lance_describe_part_page(const struct nt_dataset *dataset, uint32_t column,
                                           const struct nt_page *page, struct nt_json *json);

/* ---- Columns of a fragment ---- */

/* Fill lance->ids. NT_CORRUPT where two fields have one id was found out when the schema was read. */
enum nt_status nt_lance_sort_ids(struct nt_arena *arena, struct nt_lance_dataset *lance,
                                 struct nt_error *error);

/* Find fragment->stored, if nobody has. NT_CORRUPT where it lists a field twice, or not as many columns as fields. Under the
 * dataset's lock; memory is the file's arena's, counted in its budget. */
enum nt_status nt_lance_find_columns(struct nt_file *file, const struct nt_lance_dataset *lance,
                                     struct nt_lance_fragment_part *fragment, struct nt_error *error);

/* ---- Unsupported encodings ---- */

/* Fill the schema's `refusals`. Only data files of versions that are not settled yet are opened for it, of each field the first that stores
 * it. One that cannot be opened tells nothing: who reads its rows is told. */
enum nt_status nt_lance_find_unsupported(struct nt_dataset *dataset, struct nt_error *error);

/* ---- Sliced structures ---- */

/* Look into the data files of a legacy dataset with structures, where it has few fragments, and tell of each field of the schema why it
 * cannot be read: in the schema's `refusals`, behind nt_lance_find_unsupported. What cannot be opened is told where it is read. */
enum nt_status nt_lance_find_slices(struct nt_dataset *dataset, struct nt_error *error);

/* ---- Physical columns ---- */

/* Number the columns of the sides. Datasets with legacy files have no sides: their columns are shown as parts of the
 * fields. */
enum nt_status nt_lance_prepare_physical(struct nt_dataset *dataset, struct nt_error *error);
/* Tell the dataset's own columns, which are made now, which of them they are made of. */
void nt_lance_find_physical_columns(struct nt_dataset *dataset);

/* A member of nt_dataset_ops. */
enum nt_status nt_lance_add_dataset_physical(struct nt_dataset *dataset, struct nt_error *error);

/* ---- Arrow IPC files ---- */

/* The values of the first column in all record batches, one batch after the other. Anything but NT_OK ends the walk. */
typedef enum nt_status nt_arrow_values(void *context, const uint8_t *values, size_t count,
                                       struct nt_error *error);

/* Walk over the bytes of a file. NT_CORRUPT where they are no Arrow IPC file, its first column has not as many bytes as it
 * has rows, or the batches have more rows than `max_rows` together; NT_UNSUPPORTED where it is compressed by anything but Zstandard, or
 * has more than one column. */
enum nt_status nt_arrow_column_read(const uint8_t *bytes, size_t size, uint64_t max_rows,
                                    nt_arrow_values *take, void *context, struct nt_error *error);

/* ---- Deleted rows ---- */

/* The folder that a fragment's deletion file lies beneath, and its name there; NULL: it has none. */
enum nt_status nt_lance_find_deletion_file(struct nt_file *file, const struct nt_lance_dataset *lance,
                                           const struct nt_lance_fragment_part *fragment,
                                           struct nt_folder **folder_ret, const char **name_ret,
                                           struct nt_error *error);

/* Find fragment->deletions, if nobody has, and their number where the manifest does not tell it. NT_CORRUPT where they are not
 * as many as it tells, or are not rows of the fragment, which are known. Memory is the file's arena's, counted in its budget. Under the dataset's lock. */
enum nt_status nt_lance_read_deletions(struct nt_file *file, const struct nt_lance_dataset *lance,
                                       struct nt_lance_fragment_part *fragment, struct nt_error *error);

/* ---- Blob descriptions ---- */

/* nt_dataset_ops.find_blob. */
enum nt_status nt_lance_find_blob(struct nt_dataset *dataset, uint32_t field, uint32_t part,
                                  const struct nt_description *description, bool wants_file,
                                  struct nt_blob *blob, struct nt_error *error);

/* ---- Table of documents ---- */

extern const struct nt_document nt_lance_dataset_documents[];
extern const uint32_t nt_lance_dataset_document_count;

/* As members of nt_dataset_ops and nt_file. */
enum nt_status nt_lance_describe_dataset(const struct nt_dataset *dataset, struct nt_json *json);
enum nt_status nt_lance_describe_dataset_file(const struct nt_file *file, struct nt_json *json,
                                              struct nt_error *error);

/* ---- Owners of byte ranges ---- */

/* nt_file.layout: of the data files, the manifest and the deletion files, in the order of file->layout_sources. */
enum nt_status nt_lance_lay_out_dataset(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                        struct nt_error *error);

/* ---- Datasets ---- */

/* As members of nt_format. */
enum nt_status nt_lance_takes_folder(struct nt_folder *folder, bool *takes_ret, struct nt_error *error);
enum nt_status nt_lance_open_dataset(struct nt_source *source, const struct nt_open_options *options,
                                     struct nt_file **file_ret, struct nt_error *error);

/* ---- Open data files ---- */

/* One that nothing is read of yet; NULL without memory. */
struct nt_lance_open_file *nt_lance_open_file_new(struct nt_file *file, uint32_t number);
/* The end of one that could not be read. What it has taken is given back. */
void nt_lance_open_file_free(struct nt_lance_open_file *open);
/* One was read: those that were not used for longest make room where the file's budget wants that. NT_LIMIT where it has none
 * for what the file takes in all; then nothing is added. */
enum nt_status nt_lance_open_files_add(struct nt_lance_dataset *lance, struct nt_lance_open_file *open,
                                       struct nt_error *error);
/* One is used. */
void nt_lance_open_files_use(struct nt_lance_dataset *lance, struct nt_lance_open_file *open);
void nt_lance_open_files_close(struct nt_lance_dataset *lance);

#endif
