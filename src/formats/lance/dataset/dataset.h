/* SPDX-License-Identifier: MIT
 *
 * An open Lance dataset: manifest, fragments, data files, versions and documents.
 */
#pragma once

#include <ntuple/format.h>

#include "core/io/folder.h"
#include "formats/formats.h"
#include "formats/lance/file/file.h"

/* ---- Open datasets ---- */

/* A version, parsed from the name of a file in _versions/. */
struct nt_lance_version {
    const char *root; /* in the directory: "", or "tree/BRANCH/", which is a complete dataset */
    uint64_t number;
    bool is_inverted; /* the name has 2^64 - 1 - number in 20 digits: the latest sorts first */
    bool is_detached; /* outside the history: the name starts with "d", the number has bit 63 set */
};

/* The end of a manifest's file: position of the message, version, magic. */
enum { NT_LANCE_MANIFEST_TAIL_BYTES = 16 };

/* A file with a manifest at its end. */
struct nt_lance_manifest_file {
    struct nt_lance_version version;
    const char *name; /* relative to the dataset's directory */
    uint64_t size;
    uint64_t offset;         /* of the message */
    struct nt_proto message; /* a Manifest */
};

/* Returns the file offset of a message within the manifest's message. */
static inline uint64_t nt_lance_manifest_offset(const struct nt_lance_manifest_file *manifest,
                                                struct nt_proto message)
{
    return manifest->offset + (uint64_t)(message.bytes - manifest->message.bytes);
}

/* A directory that may contain base paths. */
struct nt_lance_base_root {
    struct nt_folder *folder;
    const char *real; /* its path, with links resolved */
};

/* A directory outside the dataset that contains some of its files. */
struct nt_lance_base {
    uint64_t id;
    bool is_root;             /* it is a dataset: files are in its data/ and _deletions/ */
    struct nt_text path;      /* as in the manifest */
    struct nt_folder *folder; /* that contains it; NULL: not allowed to be read */
    const char *below;        /* its name there: "", or ending with '/' */
};

struct nt_lance_fragment_part {
    struct nt_proto message; /* a DataFragment */
    uint64_t id;
    uint64_t physical_rows;
    uint64_t deleted_rows;
    bool has_rows;                   /* false: only a data file has them */
    bool has_deleted_rows;           /* false: only the deletion file has them */
    uint32_t first_file, file_count; /* range in the dataset's data files */
    /* By field of the schema; NULL until first used. Fragments that are alike share them. Guarded by the
     * dataset's lock. In legacy files the column is the field's id. */
    const struct nt_lance_leaf *leaves;
    bool has_deletions; /* likewise: `deletions` is set */
    const struct nt_deletion_vector *deletions;
};

/* Bits for versions of data files. */
enum nt_lance_generation {
    NT_LANCE_IS_LEGACY = 1,
    NT_LANCE_IS_2_0 = 2, /* each field has a column */
    NT_LANCE_IS_LATER = 4,
};

/* A data file whose metadata are in memory, until other files need the memory more. */
struct nt_lance_open_file {
    struct nt_lance lance;
    struct nt_lance_memory memory; /* its arena also contains this struct */
    uint32_t number;
    TAILQ_ENTRY(nt_lance_open_file) by_use;
};

/* A file that holds columns of a fragment. */
struct nt_lance_data_file {
    struct nt_proto message; /* a DataFile */
    struct nt_folder *folder;
    const char *name; /* relative to the directory; NULL: in no directory that is read */
    uint32_t fragment;
    enum nt_lance_generation generation; /* according to the message */
    struct nt_lance_open_file *opened;   /* NULL: not open; guarded by the dataset's lock */
};

/* A field's id and its index in the schema. */
struct nt_lance_id {
    int32_t id;
    uint32_t field;
};

/* Detects sequential access to fragments (data_files.c). Guarded by the dataset's lock. */
struct nt_lance_readahead {
    uint32_t next, file; /* the fragment after the last one, and which of its files */
    uint32_t asked;      /* fragments before this one were requested */
    uint32_t count;      /* fragments to request at once; 0: none */
    uint64_t end_bytes;  /* of the metadata at the end of a file: estimated, or more in an earlier file */
};

/* An nt_dataset's format_data. All memory except that of open data files comes from the nt_file's
 * arena. */
struct nt_lance_dataset {
    struct nt_folder *folder;
    struct timespec opened;                 /* time of opening */
    const char *branch;                     /* "": none */
    struct nt_lance_manifest_file manifest; /* the files are in the root of its version */
    struct nt_lance_schema schema;
    const struct nt_lance_id *ids; /* ascending */
    struct nt_lance_fragment_part *fragments;
    struct nt_lance_data_file *files;      /* as many as sources of the nt_dataset, in the same order */
    struct nt_lance_base *bases;           /* ascending ids */
    struct nt_lance_base_root *base_roots; /* the first is the dataset's own directory */
    uint32_t fragment_count, file_count, base_count, base_root_count;
    unsigned generations;                   /* of its files */
    struct nt_lance_physical physical_view; /* shared by the physical datasets */
    struct nt_lance_readahead ahead;
    const struct nt_lance_leaf *last_leaves; /* the last that were found; NULL: none */
    struct {
        TAILQ_HEAD(nt_lance_open_files, nt_lance_open_file) by_use; /* most recently used first */
        uint64_t bytes;                                             /* reserved for them */
    } open; /* open data files, guarded by the dataset's lock */
};

static inline struct nt_lance_dataset *nt_lance_dataset_of(const struct nt_dataset *dataset)
{
    return dataset->format_data;
}

/* ---- Read the manifest ---- */

/* Reads a version's manifest. Returns NT_CORRUPT if it is invalid or has another version number, and
 * NT_UNSUPPORTED, with the feature's name, if it requires an unknown feature. Memory comes from the
 * file's arena and counts against its budget. */
enum nt_status nt_lance_read_manifest(struct nt_file *file, const struct nt_lance_version *version,
                                      struct nt_lance_manifest_file *manifest, struct nt_error *error);

/* Puts the member "timestamp" of a Timestamp: ISO 8601 with nanoseconds, or null if it is invalid. */
void nt_lance_put_timestamp(struct nt_json *json, struct nt_proto timestamp);

/* Finds a message in a manifest's file of `size` bytes. The message starts after its length prefix at
 * `position`, which is itself stored at `position_offset`. `what` names the message in errors. */
enum nt_status nt_lance_find_section(struct nt_source *source, uint64_t size, uint64_t position,
                                     const char *what, uint64_t position_offset,
                                     struct nt_lance_buffer *message, struct nt_error *error);

/* ---- Fragments and data files ---- */

/* Adds a file, which is opened on first use, to the file's sources; NULL: one that nobody can open. */
enum nt_status nt_lance_add_source(struct nt_file *file, struct nt_folder *folder, const char *name,
                                   struct nt_error *error);

/* Fills fragments, data files and their sources from the manifest and reads no other file. Memory comes
 * from the file's arena and counts against its budget. */
enum nt_status nt_lance_read_fragments(struct nt_file *file, struct nt_lance_dataset *lance,
                                       struct nt_error *error);

/* ---- Tags and branches ---- */

/* Their directories, relative to the dataset's directory. */
#define NT_LANCE_TAGS "_refs/tags"
#define NT_LANCE_BRANCHES "_refs/branches"

/* The target of a tag. */
struct nt_lance_tag {
    const char *branch; /* "": the dataset itself */
    uint64_t version;
};

/* Called for each name, in any order. The name is valid during the call. A status other than NT_OK ends
 * the walk. */
typedef enum nt_status nt_lance_visit_ref(void *context, const char *name, struct nt_error *error);

/* Visits the names in one of these directories; a missing directory is empty. */
enum nt_status nt_lance_each_ref(struct nt_folder *folder, const char *refs, nt_lance_visit_ref *visit,
                                 void *context, struct nt_error *error);

/* Reads a tag. Returns NT_NOT_FOUND if there is none, and NT_CORRUPT, with its file's name, if its
 * version is impossible or its branch is a path out of the directory. Texts are in the arena. */
enum nt_status nt_lance_read_tag(struct nt_folder *folder, const char *name, struct nt_arena *arena,
                                 struct nt_lance_tag *tag_ret, struct nt_error *error);

/* Puts a list of all tags or branches: their names, with the contents of their files or the reason why
 * these cannot be read. */
enum nt_status nt_lance_put_refs(struct nt_folder *folder, const char *refs, const char *key,
                                 struct nt_json *json, struct nt_error *error);

/* ---- List versions ---- */

/* The directory with the manifests, in a dataset or branch. */
#define NT_LANCE_VERSIONS "_versions"

/* Called for each manifest, in any order. A status other than NT_OK ends the walk. */
typedef enum nt_status nt_lance_visit_version(void *context, const struct nt_lance_version *version,
                                              struct nt_error *error);

/* Visits the manifests of a history. The versions point to `root` (see nt_lance_version). */
enum nt_status nt_lance_each_version(struct nt_folder *folder, const char *root,
                                     nt_lance_visit_version *visit, void *context, struct nt_error *error);

/* Appends the name of a version's manifest, relative to the dataset's directory. */
void nt_lance_append_manifest_name(struct nt_buffer *out, const struct nt_lance_version *version);

/* ---- Resolve a version ---- */

struct nt_lance_resolved_version {
    struct nt_lance_version version;
    const char *branch;  /* "": none */
    const char *watched; /* as in nt_dataset_version */
};

/* Resolves a text as in nt_open_options: the number of a version, else a tag, else a branch. The error of
 * NT_NOT_FOUND lists those that exist; NT_INVALID: the text is a path. Memory comes from the arena. */
enum nt_status nt_lance_resolve_version(struct nt_folder *folder, const char *requested,
                                        struct nt_arena *arena,
                                        struct nt_lance_resolved_version *resolved_ret,
                                        struct nt_error *error);

/* A member of nt_format. */
enum nt_status nt_lance_find_version(struct nt_folder *folder, const char *requested,
                                     struct nt_dataset_version *version_ret, struct nt_error *error);

/* ---- Version history ---- */

/* A member of nt_dataset_ops. */
enum nt_status nt_lance_visit_history(const struct nt_dataset *dataset, nt_visit_version *visit,
                                      void *context, struct nt_error *error);

/* Members of nt_document. */
enum nt_status nt_lance_open_versions(const struct nt_document_request *request,
                                      struct nt_text_generator **text_ret, struct nt_error *error);
enum nt_status nt_lance_versions_are_short(const struct nt_document_request *request, bool *is_short_ret,
                                           struct nt_error *error);

/* ---- Base paths ---- */

/* Fills lance->bases from the manifest. Paths in the dataset's directory or in one of the directories
 * `allowed` (may be NULL; ends with NULL) are readable; for others only the reason is recorded. Memory
 * comes from the file's arena and counts against its budget. nt_lance_close_bases closes the
 * directories, also after a failure. */
enum nt_status nt_lance_read_bases(struct nt_file *file, struct nt_lance_dataset *lance,
                                   const char *const *allowed, struct nt_error *error);
void nt_lance_close_bases(struct nt_lance_dataset *lance);
/* Opens only the directories, unless they are open, for a manifest without base paths. */
enum nt_status nt_lance_open_base_roots(struct nt_file *file, struct nt_lance_dataset *lance,
                                        const char *const *allowed, struct nt_error *error);

/* Finds the base path of a DataFile or DeletionFile; its field number `id_field` has the base's id.
 * NULL: the file is in the dataset. Returns NT_CORRUPT if the manifest has no such base path, and
 * NT_UNSUPPORTED if it is not readable. */
enum nt_status nt_lance_find_base(const struct nt_lance_dataset *lance, struct nt_proto message,
                                  uint32_t id_field, const struct nt_lance_base **base_ret,
                                  struct nt_error *error);
/* Finds a base path by its id, which is at an offset of the manifest, or NT_NO_OFFSET. */
enum nt_status nt_lance_find_base_of(const struct nt_lance_dataset *lance, uint64_t id,
                                     uint64_t position_offset, const struct nt_lance_base **base_ret,
                                     struct nt_error *error);

/* Finds the readable directory that contains an absolute path, and the name in that directory, which points
 * into `path`. Returns false if no directory does. */
bool nt_lance_find_beneath(const struct nt_lance_dataset *lance, struct nt_text path,
                           struct nt_folder **folder_ret, struct nt_text *name_ret);

/* ---- Missing files ---- */

/* Returns the current time of the clock that the file system uses. */
struct timespec nt_lance_now(void);

/* Fails for a missing file in a directory. Returns NT_CHANGED if its directory was modified after the
 * dataset was opened, so that the file may have existed; else NT_CORRUPT. `what` names the file in
 * errors. */
enum nt_status nt_lance_fail_missing(const struct nt_lance_dataset *lance, struct nt_folder *folder,
                                     const char *name, const char *what, struct nt_error *error);

/* ---- Load data files ---- */

/* Finds a fragment's row count and deleted row count. Opens a data file or the deletion file only for
 * counts that the manifest lacks. Returns NT_CORRUPT if more rows are deleted than there are. */
enum nt_status nt_lance_count_rows(struct nt_dataset *dataset, uint32_t part, struct nt_error *error);

/* Returns the metadata of a data file, valid until the next call. The caller holds the dataset's
 * lock. */
enum nt_status nt_lance_open_data_file(struct nt_dataset *dataset, uint32_t number,
                                       const struct nt_lance **opened_ret, struct nt_error *error);
/* The same. If the budget for metadata is used up, it first releases what can be read again, also the
 * metadata of other data files. */
enum nt_status nt_lance_require_data_file(struct nt_dataset *dataset, uint32_t number,
                                          const struct nt_lance **opened_ret, struct nt_error *error);
/* Checks that a file has a column and, with `needs_values`, that the column can be decoded. */
enum nt_status nt_lance_check_column(const struct nt_lance_schema *schema, const struct nt_lance *opened,
                                     const struct nt_lance_leaf *leaf, bool needs_values,
                                     struct nt_error *error);

/* Estimates how many bytes at the end of a data file to request. Call it when the schema is known. */
void nt_lance_estimate_ends(struct nt_lance_dataset *lance);

/* Members of nt_dataset_ops. A data file is opened on first use. */
enum nt_status nt_lance_load_part(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);
bool nt_lance_unverified_elements(struct nt_dataset *dataset, uint32_t cluster, uint32_t field,
                                  uint32_t position, uint64_t *elements_ret);
bool nt_lance_plan_parts(struct nt_dataset *dataset, struct nt_groups groups, bool with_pages,
                         struct nt_prefetch *prefetch);
enum nt_status nt_lance_describe_part_page(const struct nt_dataset *dataset, uint32_t column,
                                           const struct nt_page *page, struct nt_json *json);

/* ---- Columns of a fragment ---- */

/* Fills lance->ids. Duplicate ids were rejected (NT_CORRUPT) when the schema was read. */
enum nt_status nt_lance_sort_ids(struct nt_arena *arena, struct nt_lance_dataset *lance,
                                 struct nt_error *error);

/* Fills fragment->leaves, unless it is set. Returns NT_CORRUPT if the fragment lists a field twice,
 * or lists fewer or more columns than fields. The caller holds the dataset's lock. Memory comes from the
 * file's arena and counts against its budget. */
enum nt_status nt_lance_find_columns(struct nt_file *file, struct nt_lance_dataset *lance,
                                     struct nt_lance_fragment_part *fragment, struct nt_error *error);

/* ---- Unsupported encodings ---- */

/* Fills the schema's `refusals`. For each field, opens the first data file that stores it, but only if
 * the version of that file is not final. Ignores files that cannot be opened: reading their rows
 * reports the error. */
enum nt_status nt_lance_find_unsupported(struct nt_dataset *dataset, struct nt_error *error);

/* ---- Sliced structures ---- */

/* Inspects the data files of a legacy dataset that has structures and few fragments. Adds the reasons
 * why fields cannot be read to the schema's `refusals`; call it after nt_lance_find_unsupported.
 * Ignores files that cannot be opened: reading them reports the error. */
enum nt_status nt_lance_find_slices(struct nt_dataset *dataset, struct nt_error *error);

/* ---- Physical columns ---- */

/* Numbers the columns of the physical datasets. Datasets with legacy files have no physical datasets:
 * their columns are shown as parts of the fields. */
enum nt_status nt_lance_prepare_physical(struct nt_dataset *dataset, struct nt_error *error);
/* Links the dataset's own columns, once they exist, to the physical columns that they are built
 * from. */
void nt_lance_find_physical_columns(struct nt_dataset *dataset);

/* A member of nt_dataset_ops. */
enum nt_status nt_lance_add_dataset_physical(struct nt_dataset *dataset, struct nt_error *error);

/* ---- Arrow IPC files ---- */

struct nt_arrow_rows {
    uint32_t *rows; /* from malloc */
    size_t count;
};

/* Reads the bytes of a file: the first column's values in the order of the batches. The caller frees them,
 * also after a failure. Returns NT_CORRUPT if they are no Arrow IPC file, if the size of the first
 * column does not match its rows, or if all batches together have more than `max_rows` rows. Returns
 * NT_UNSUPPORTED for compression other than Zstandard, and for more than one column. */
enum nt_status nt_arrow_column_read(const uint8_t *bytes, size_t size, uint64_t max_rows,
                                    struct nt_arrow_rows *found_ret, struct nt_error *error);

/* ---- Deleted rows ---- */

/* Finds the directory that contains a fragment's deletion file, and the file's name there; NULL: there is
 * none. */
enum nt_status nt_lance_find_deletion_file(struct nt_file *file, const struct nt_lance_dataset *lance,
                                           const struct nt_lance_fragment_part *fragment,
                                           struct nt_folder **folder_ret, const char **name_ret,
                                           struct nt_error *error);

/* Fills fragment->deletions, unless set, and their number if the manifest lacks it. Returns NT_CORRUPT
 * if the number does not match or if they are not rows of the fragment, whose rows must be known.
 * Memory comes from the file's arena and counts against its budget. The caller holds the dataset's
 * lock. */
enum nt_status nt_lance_read_deletions(struct nt_file *file, const struct nt_lance_dataset *lance,
                                       struct nt_lance_fragment_part *fragment, struct nt_error *error);

/* ---- Blob descriptions ---- */

/* nt_dataset_ops.find_blob. */
enum nt_status nt_lance_find_blob(struct nt_dataset *dataset, uint32_t field, uint32_t part,
                                  const struct nt_blob_description *description, bool opens_file,
                                  struct nt_blob *blob, struct nt_error *error);

/* ---- Table of documents ---- */

extern const struct nt_document nt_lance_dataset_documents[];
extern const uint32_t nt_lance_dataset_document_count;

/* Members of nt_dataset_ops and nt_file. */
enum nt_status nt_lance_describe_dataset(const struct nt_dataset *dataset, struct nt_json *json);
enum nt_status nt_lance_describe_dataset_file(const struct nt_file *file, struct nt_json *json,
                                              struct nt_error *error);

/* ---- Owners of byte ranges ---- */

/* nt_file.layout, layout_of and layout_part: data files, manifest and deletion files, in the order of
 * file->layout_sources. */
enum nt_status nt_lance_lay_out_dataset(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                        struct nt_error *error);
enum nt_status nt_lance_lay_out_files(const struct nt_file *file, struct nt_layout_sources sources,
                                      nt_layout_emit *emit, void *context, struct nt_error *error);
uint32_t nt_lance_layout_part(const struct nt_file *file, uint32_t source);

/* ---- Datasets ---- */

/* Removes the ending ".lance", which Lance's writers give to directories and data files, from a name. */
struct nt_text nt_lance_stem(struct nt_text name);

/* Members of nt_format. */
enum nt_status nt_lance_takes_folder(struct nt_folder *folder, bool *takes_ret, struct nt_error *error);
enum nt_status nt_lance_open_dataset(struct nt_source *source, const struct nt_open_options *options,
                                     struct nt_file **file_ret, struct nt_error *error);

/* ---- Open data files ---- */

/* Closes all but the most recently used one, which may be in use. Returns the bytes of the budget. */
uint64_t nt_lance_open_files_release(struct nt_lance_dataset *lance);
void nt_lance_open_files_close(struct nt_lance_dataset *lance);
