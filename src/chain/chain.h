/* SPDX-License-Identifier: MIT
 *
 * Shows many files as one. Each dataset of a chain concatenates the datasets with the same path in all
 * member files. A chain opens a list of local or remote files.
 */
#pragma once

#include <ntuple/format.h>

#include "core/base/text.h"
#include "core/io/folder.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/budget.h"
#include "core/model/model.h"
#include "remote/client/client.h"

struct nt_chain_index;

/* ---- Chain options ---- */

/* How to treat files whose fields differ from those of the first file. */
enum nt_chain_rule {
    NT_CHAIN_FAIL,  /* an error when their rows are read */
    NT_CHAIN_CHECK, /* an error at once */
    NT_CHAIN_UNION, /* the chain has the fields of all files */
};

/* How files form a chain. */
struct nt_chain_options {
    enum nt_chain_rule rule;
    bool skip_failed; /* omit files that cannot be opened or have no dataset of the chain */
    bool is_lazy;     /* open others only in nt_file_resolve; with NT_CHAIN_FAIL */
    /* Known files, from which a lazy chain gets its entries; outlives the chain. NULL: none. */
    const struct nt_chain_index *index;
    /* Called with the text of a new index, if it differs, once all files are open. May be NULL. */
    void (*save_index)(void *context, const struct nt_buffer *text);
    /* Called when files are skipped: how many, and why the first is. May be NULL. */
    void (*on_skipped)(void *context, const struct nt_error *why);
    void *context;
};

/* ---- RDataFrame specifications ---- */

enum { NT_SPECIFICATION_BYTES = 16 << 20 }; /* size limit: parsed JSON takes twenty times its text */

/* What a specification says about some of its files: those of a sample, or of a friend. */
struct nt_chain_sample {
    const char *name; /* one text for each sample or friend */
    bool is_friend;
    const char *dataset;  /* path of the dataset to use in these files */
    const char *metadata; /* a JSON object on one line; NULL: none */
};

/* The friend that the files of a sample are of; NULL: none. */
static inline const char *nt_chain_friend_of(const struct nt_chain_sample *sample)
{
    return sample && sample->is_friend ? sample->name : NULL;
}

/* A text is a specification, not a list, if its first character other than white space is '{'. */
bool nt_is_specification(const char *text, size_t length);

/* Called for each file name or pattern: of the samples, then of the friends, in the order of the text. */
typedef enum nt_status nt_specification_take(void *context, const struct nt_chain_sample *sample,
                                             const char *name, struct nt_error *error);

/* Samples are in the arena. NT_CORRUPT if the text is not JSON; NT_INVALID with key and expectation. */
enum nt_status nt_specification_read(const char *text, size_t length, struct nt_arena *arena,
                                     nt_specification_take *take, void *context, struct nt_error *error);

/* ---- Small text files ---- */

/* Appends a whole file. NT_LIMIT above `max_bytes`; messages call the file `what`, as in "an index".
 * `needs_trust`: nothing is read if others can write the file (nt_check_writers). */
enum nt_status nt_chain_read_text(const char *path, const char *what, int max_bytes, bool needs_trust,
                                  struct nt_buffer *text, struct nt_error *error);

/* ---- Local glob patterns ---- */

typedef enum nt_status nt_pattern_take(void *context, const char *path, struct nt_error *error);

/* Calls `take` once for each file or directory that an absolute pattern matches, in byte order. "**"
 * between two slashes matches any number of directories; it enters no directories that are datasets, and
 * follows no links, except one that the pattern names before it. NT_NOT_FOUND if nothing matches. */
enum nt_status nt_pattern_expand(const char *pattern, nt_pattern_take *take, void *context,
                                 struct nt_error *error);
/* Appends a path so that its wildcards match only themselves. */
void nt_pattern_append_escaped(struct nt_buffer *pattern, struct nt_text path);

/* ---- Remote glob patterns ---- */

/* A file or directory on a server that matches a pattern. */
struct nt_remote_match {
    const char *path;         /* relative to the directory before the pattern, with decoded names */
    const char *address;      /* of a directory with a trailing slash */
    struct nt_folder *folder; /* the listed directory, */
    const char *name;         /* and the name in it */
    bool is_folder;
};

/* Listed directories, as snapshots. */
struct nt_open_folders {
    struct nt_folder **items;
    size_t count, capacity;
};

typedef enum nt_status nt_remote_take(void *context, const struct nt_remote_match *match,
                                      struct nt_error *error);

/* Like nt_pattern_expand, for an address (nt_address_is_pattern). Lists each visited directory on its
 * server with one request. Arguments of `take` live in the arena and in directories added to `folders`.
 * NT_NOT_FOUND if nothing matches, NT_LIMIT if the tree is too large; other errors as in
 * nt_folder_open_address. */
enum nt_status nt_remote_pattern_expand(const char *pattern, struct nt_fetcher *fetcher,
                                        struct nt_arena *arena, struct nt_open_folders *folders,
                                        nt_remote_take *take, void *context, struct nt_error *error);

void nt_open_folders_close(struct nt_open_folders *folders);

/* ---- File lists ---- */

struct nt_chain_file {
    const char *path;                     /* absolute; of a file on a server, its printable form */
    const char *address;                  /* to request it by; NULL: a local file */
    const char *named;                    /* of an address: the list and line; NULL: an operand */
    const struct nt_chain_sample *sample; /* NULL: not from a specification */
    struct stat identity; /* of the file or directory when the list was built; zeros: missing or unknown */
    /* Set if a server listed the file: it is opened as the listed version. NULL: not listed. */
    struct nt_folder *folder;
    const char *name; /* in `folder` */
};

struct nt_chain_list {
    const char *name;            /* absolute: the first operand, as the name of the whole list */
    struct nt_chain_file *files; /* in the order given */
    uint32_t count;              /* at least one */
    const char **folders;        /* that contain the files or are datasets; may repeat */
    uint32_t folder_count;
    const char *address; /* of one file or pattern; NULL: all files are local */
    struct nt_open_folders listed;
    struct nt_arena *arena;
};

/* Expands operands to files: files, datasets that are directories, patterns with * ? [] and ** (any number
 * of directories), addresses wherever a file may be named, list files (a name per line relative to the
 * list's directory, '#' starts a comment line), and RDataFrame specifications in JSON. Pattern matches
 * are in byte order. Reads only names and files that may be lists. Keeps addresses as they are,
 * without requests: see nt_chain_list_expand_remote. NT_NOT_FOUND if nothing matches, NT_INVALID if a
 * file's dataset is named twice or a list is in a list. `allow_missing`: files in a list may be
 * missing. */
enum nt_status nt_chain_list_new(const char *const *operands, size_t count, bool allow_missing,
                                 struct nt_chain_list **list_ret, struct nt_error *error);
/* Replaces remote patterns by their matches; required before the list is opened. Sends requests only
 * for patterns. NT_NOT_FOUND if nothing matches, NT_INVALID if a dataset of an address is named twice;
 * else as nt_folder_open_address. */
enum nt_status nt_chain_list_expand_remote(struct nt_chain_list *list, struct nt_fetcher *fetcher,
                                           struct nt_error *error);
void nt_chain_list_free(struct nt_chain_list *list); /* accepts NULL */

/* ---- The chain index ---- */

struct nt_chain_member;

/* The elements of consecutive columns in a cluster. */
struct nt_count_run {
    uint32_t end;      /* the place of the first column after them */
    uint32_t elements; /* of each; NT_COUNT_UNKNOWN: unknown */
};
#define NT_COUNT_UNKNOWN UINT32_MAX

/* The counts of elements of a cluster, as an index says. The columns that do not follow from its entries have
 * places (see nt_chain_find_places). */
struct nt_cluster_counts {
    struct nt_count_run *runs; /* ascending */
    uint32_t run_count;
};

struct nt_indexed_dataset {
    const char *path; /* in the chain */
    uint64_t entries, clusters;
    /* If its schema has a digest (nt_chain_schema_digest), else NULL; and the entries of each cluster. */
    const char *schema;
    const char *path_in_file; /* NULL: `path` */
    uint64_t *cluster_entries;
    bool has_deletions;               /* of rows; entries and clusters are without them */
    struct nt_cluster_counts *counts; /* of each cluster; NULL: none */
};

/* A file at the time of indexing. */
struct nt_indexed_file {
    const char *path;  /* or address */
    const char *meant; /* the dataset that a specification selects; "": none */
    /* Of a dataset in a directory, its version or state; what follows is then of the file that has it. NULL:
     * of a file. */
    const char *state;
    uint64_t bytes, inode;
    const char *modified;  /* as nt_format_exact_time writes it */
    const char *validator; /* of an address, instead of `inode`; NULL: a local file */
    uint32_t files;        /* of a dataset in a directory: nt_chain_count_sources; 0: unknown */
    struct nt_indexed_dataset *datasets;
    uint32_t dataset_count;
};

struct nt_chain_index {
    struct nt_indexed_file *files; /* sorted by `path` and `meant` */
    uint32_t count;
    struct nt_arena *arena;
};

/* Reads an index; a missing or empty file is an empty index. NT_INVALID with the line if a file is not
 * an index, so that a file named by mistake is never replaced. */
enum nt_status nt_chain_index_read(const char *path, struct nt_chain_index **index_ret,
                                   struct nt_error *error);
void nt_chain_index_free(struct nt_chain_index *index); /* accepts NULL */

/* Replaces an index at once. If its directory cannot be written, the index stays as it is. */
void nt_chain_index_write(const char *path, const struct nt_buffer *text);

/* Returns NULL if the index has no entry. */
const struct nt_indexed_file *nt_chain_index_find(const struct nt_chain_index *index, const char *path,
                                                  const char *meant);
const struct nt_indexed_dataset *nt_indexed_dataset_find(const struct nt_indexed_file *file,
                                                         const char *path);

/* Describes an open member as an index does, for the datasets of a chain, with the page lists that this
 * needs. NULL if later openings could not check that it is the same file, or without memory. */
const struct nt_indexed_file *nt_chain_note_member(const struct nt_file *file,
                                                   const struct nt_chain_member *member,
                                                   struct nt_arena *arena);

/* Appends a line of an index. Skips files that a reader would reject, as with names not in UTF-8. Omits
 * elements if the line would be longer than `max_bytes` with them. */
void nt_indexed_file_append(struct nt_buffer *out, const struct nt_indexed_file *file, size_t max_bytes);

/* ---- Identities of members ---- */

enum { NT_STATE_TEXT = 128 };

/* Identifies the version of a file, or of a dataset in a directory: compared with its entry in the index. */
struct nt_chain_identity {
    char state[NT_STATE_TEXT]; /* as in nt_indexed_file; "": of a file */
    uint64_t bytes, inode;
    char modified[NT_TIME_TEXT];
    bool has_validator; /* it is on a server, which may report none: "" */
    char validator[NT_FETCH_VALIDATOR_BYTES];
};

/* Of a file that is local, or only listed so far. */
struct nt_chain_identity nt_chain_identity_of(const struct stat *found);
enum nt_status nt_chain_identify_member(const struct nt_chain_member *member,
                                        struct nt_chain_identity *identity_ret, struct nt_error *error);
/* Of the current version of the dataset in a directory; `requested` as in nt_open_options. The options then
 * select it while the identity lives. False if it cannot be read, or its changes cannot be seen. */
bool nt_chain_identify_dataset(struct nt_folder *folder, const char *requested,
                               struct nt_open_options *options, struct nt_chain_identity *identity_ret);

/* NT_CHANGED, with the expected and found identities, if the file has changed. */
enum nt_status nt_indexed_file_check(const struct nt_indexed_file *file,
                                     const struct nt_chain_identity *found, struct nt_error *error);

/* ---- Elements of columns in the index ---- */

struct nt_chain;
/* The most bytes of a line, and of the memory for elements of a file: those of all files are bounded. */
size_t nt_chain_line_bytes(const struct nt_chain *chain);

/* Sets the place of each column among those whose elements do not follow from the entries: those below lists
 * and variants, and the bytes of strings and objects. NT_NONE: the column is none of them. Returns how many
 * places there are. */
uint32_t nt_chain_find_places(const struct nt_dataset *dataset, uint32_t *places);
/* Finds the elements of a member's own columns, from page lists that can be loaded; none if they take more
 * than `max_bytes`. False without memory. */
bool nt_chain_find_counts(struct nt_indexed_dataset *known, struct nt_dataset *own, size_t max_bytes,
                          struct nt_arena *arena);
/* Compares the indexed counts of a cluster of an open member with its page list, which is pinned: with that
 * of cluster `own_cluster` of the member's own dataset. Learns what is not indexed, if an index is to be
 * saved. NT_CORRUPT. */
struct nt_chain_slice;
enum nt_status nt_chain_check_counts(const struct nt_dataset *dataset, struct nt_chain_slice *slice,
                                     uint32_t cluster, uint32_t own_cluster, struct nt_error *error);
/* Sets the indexed counts of a slice's dataset and those that were learned. False without memory. */
bool nt_chain_merge_counts(const struct nt_chain_slice *slice, struct nt_indexed_dataset *known,
                           struct nt_arena *arena);
/* nt_dataset_ops.unverified_elements: of lazily opened members. */
bool nt_chain_unverified_elements(struct nt_dataset *dataset, uint32_t cluster, uint32_t field,
                                  uint32_t position, uint64_t *elements_ret);

/* Writes a cluster as "1200*50 33 -": the elements of each place, or "-" if unknown; and "*" with a number
 * if so many follow one another. */
void nt_cluster_counts_append(struct nt_buffer *out, const struct nt_cluster_counts *cluster);
/* Reads it. NT_CORRUPT if the text is of another form. */
enum nt_status nt_cluster_counts_read(const char *text, struct nt_arena *arena,
                                      struct nt_cluster_counts *cluster, struct nt_error *error);

/* ---- Numeric type promotion ---- */

/* The widest numbers of a field over all files, in bytes; 0: no number of that kind. */
struct nt_promotion {
    uint32_t unsigned_bytes, signed_bytes, real_bytes;
};

/* Adds a numeric type; false without a change for others: booleans, bytes, dates, big-endian
 * numbers. */
bool nt_promotion_add(struct nt_promotion *numbers, const struct nt_dtype *dtype);

/* Returns the smallest type that holds all of them exactly; NT_ELEMENT_OPAQUE if there is none. */
enum nt_element nt_promotion_element(const struct nt_promotion *numbers);

/* ---- Members and their slices ---- */

#define NT_CHAIN_READABLE (1U << 31)

/* A file of the chain. */
struct nt_chain_member {
    const char *path;
    const struct nt_chain_file *listed;  /* its entry in the list */
    uint32_t number;                     /* index in the list */
    const struct nt_indexed_file *known; /* its index entry, while unchanged; NULL: none */
    bool is_noted;                       /* no index has that entry yet: it was open, and is lazy */
    struct nt_file *file;                /* NULL: not open */
    /* Of a dataset in a directory that is open, of the version that was opened; NULL: unknown. */
    const struct nt_chain_identity *identity;
    /* Stays open without the file, which then does not own it: of a lazy member that is a file, and of a
     * directory on a server, whose lists need not be requested again. Or NULL. */
    struct nt_source *source;
    struct nt_error failure; /* why it failed to open; NT_OK: not tried */
    bool is_lazy;            /* opens with the first read of its rows: see nt_chain_slice */
    /* Of a lazily opened member, under the lock of the file: the number of calls that use it, and the bytes
     * of its metadata. */
    uint32_t users;
    uint64_t lazy_open_bytes;
    /* Of a lazy member that is a directory: NT_CHAIN_READABLE while its sources are open, and the number of
     * calls that use them. */
    atomic_uint readers;
    uint32_t first_source, source_count; /* its sources among the chain's layout sources */
};

/* What a chain that the library opened frees. All are NULL if the caller owns them. */
struct nt_chain_owned {
    struct nt_chain_list *list;
    struct nt_fetcher *fetcher;
    struct nt_chain_index *index;
    char *index_path;
};

/* The format_data of an nt_file: of a stub, which uses only the first member of each series, or of the whole
 * chain. */
struct nt_chain {
    struct nt_chain_member *members; /* the omitted ones follow the member_count others */
    uint32_t member_count;
    uint32_t skipped;            /* number of omitted members */
    struct nt_source_pool *pool; /* for members that are local files */
    struct nt_budget
        *total; /* the common limit of all members and the chain; NULL: the caller set a limit per member */
    struct nt_open_options open; /* how to open members; pointers in it outlive the chain */
    struct nt_chain_owned owned;
    struct nt_chain_options options;
    uint32_t holders; /* nt_files that share this chain */
    /* Of lazy members, under the lock of the file: the one after those opened last, and how many
     * these were. */
    uint32_t next_lazy, opened_together;
    _Atomic uint64_t kept_bytes; /* metadata of the members that stay open */
    /* Of open lazy members, under the lock of the file: their metadata, and the most files that they have
     * open. */
    uint64_t lazy_open_bytes, lazy_open_files;
    struct nt_arena *notes; /* what is known of lazy members that no index had; or NULL */
    struct nt_lock notes_lock;
};

struct nt_chain_series;

/* A member's part of a dataset of the chain. The arrays are in the dataset's arena. */
struct nt_chain_slice {
    const struct nt_chain_member *member;
    const struct nt_chain_series *series;
    struct nt_dataset *dataset;     /* of the member; NULL: the member is not open */
    const struct nt_error *failure; /* why its rows cannot be read in the chain; NULL: they can */
    /* The member has the schema of the first one, and these entries in its clusters. It has one cluster
     * group in the chain, which opens it, and copies what is read of its pages. `dataset` is set during
     * that, under the lock of the file, and stays if pages need it. If fields have groups of their own (in
     * trees, or with friends), the member stays open: with nt_chain_pin_member, and until others need the
     * memory. NULL: the member is open. */
    const struct nt_indexed_dataset *lazy;
    bool stays_open;          /* pages need the dataset of the member, which is a file */
    bool stands_alone;        /* no page needs it: it closes when nobody uses it */
    uint32_t *learned;        /* [cluster of the member][place]: elements that no index has yet; or NULL */
    uint64_t entries;         /* its entries in the chain */
    uint32_t *fields;         /* [field of the chain]: of the member; NT_NONE: missing */
    uint32_t *columns;        /* [column of the member]: of the chain */
    uint32_t *decoders;       /* [decoder of the member]: of the chain; NT_NONE: not mapped yet */
    uint32_t decoder_count;   /* capacity */
    const uint64_t *deferred; /* as in its groups */
    uint64_t first_entry;
    uint32_t first_group;   /* if cluster groups hold all fields */
    uint32_t first_part;    /* if fields have cluster groups of their own */
    uint32_t first_cluster; /* if cluster groups hold all fields */
    uint32_t first_column_group;
};

/* The clusters of a member's dataset: those of all fields, or the parts that each field has clusters for. */
static inline uint32_t nt_chain_own_clusters(const struct nt_dataset *own)
{
    return own->field_groups ? own->part_count : own->cluster_count;
}
static inline uint64_t nt_chain_own_entries(const struct nt_dataset *own, uint32_t cluster)
{
    return own->field_groups ? own->part_boundaries[cluster + 1] - own->part_boundaries[cluster]
                             : nt_dataset_cluster(own, cluster).entries;
}

static inline uint64_t nt_chain_slice_clusters(const struct nt_chain_slice *slice)
{
    return slice->failure ? 0 : slice->lazy ? slice->lazy->clusters : nt_chain_own_clusters(slice->dataset);
}

enum { NT_SCHEMA_DIGEST = 16 };

/* The fields of a dataset, before its columns are built. */
struct nt_chain_fields {
    struct nt_field *items;
    uint32_t *owners; /* [field]: the field whose columns it projects; NT_NONE: none */
    uint32_t count;
};

/* Slices with the same fields, whose entries follow one another from 0: those of all samples, or those of a
 * friend. */
struct nt_chain_series {
    const char *friend; /* its name in the specification; NULL: of the samples */
    struct nt_chain_slice *slices;
    uint32_t slice_count;
    struct nt_chain_fields fields;     /* numbered without the other series */
    uint32_t first_field;              /* of the chain */
    char schema[NT_SCHEMA_DIGEST + 1]; /* of the first member; "": its digest would not say all */
    uint32_t *counted_places;          /* [column of the first member]: as nt_chain_find_places sets them */
    uint32_t place_count;
    const struct nt_cluster_counts *first_counts; /* of the first member; or NULL */
};

/* The format_data of an nt_dataset: one slice per member of the chain. */
struct nt_chain_dataset {
    struct nt_chain_slice *slices;
    uint32_t slice_count;
    struct nt_chain_series *series; /* the samples first */
    uint32_t series_count;
    struct nt_chain_fields fields; /* of all series */
};

/* The dataset of the first member of the slice's series: its schema is that of the series. */
static inline struct nt_dataset *nt_chain_first_dataset(const struct nt_chain_slice *slice)
{
    return slice->series->slices[0].dataset;
}

/* A dataset with the schema of a slice that did not fail: its own, or if it is lazy that of the first one. */
static inline const struct nt_dataset *nt_chain_schema_of(const struct nt_chain_slice *slice)
{
    return slice->lazy ? nt_chain_first_dataset(slice) : slice->dataset;
}

static inline const struct nt_chain *nt_chain_of(const struct nt_file *file)
{
    return file->format_data;
}

static inline struct nt_chain_member *nt_chain_member_of(const struct nt_file *file,
                                                         const struct nt_chain_slice *slice)
{
    struct nt_chain *chain = file->format_data;
    return &chain->members[slice->member - chain->members];
}

static inline struct nt_chain_dataset *nt_chain_dataset_of(const struct nt_dataset *dataset)
{
    return dataset->format_data;
}

/* ---- Matching datasets ---- */

/* Finds an open member's dataset at the path of the first member's, or the one that a specification
 * selects. NT_INCOMPATIBLE if it is missing or of another format; else the dataset's own failure. */
enum nt_status nt_chain_match_dataset(const struct nt_dataset *first, const struct nt_chain_member *member,
                                      struct nt_dataset **dataset_ret, struct nt_error *error);

/* ---- Matching fields ---- */

/* Finds each field of a dataset in another one: `fields_ret[field]` is its number there; NT_NONE for
 * fields below a difference. NT_INCOMPATIBLE, with the field and its type on both sides, if one is missing
 * on either side or differs. */
enum nt_status nt_chain_match_fields(const struct nt_dataset *dataset, const struct nt_dataset *other,
                                     uint32_t *fields_ret, struct nt_error *error);

/* Returns a file's own fields as those of the chain. */
enum nt_status nt_chain_copy_fields(struct nt_dataset *dataset, struct nt_arena *arena,
                                    struct nt_chain_fields *fields_ret, struct nt_error *error);

/* Do a field's children match by name, as members do? Items and alternatives match by position. */
bool nt_chain_are_named(const struct nt_dataset *dataset, uint32_t parent);

/* Columns of a representation, without the one for nulls. */
static inline uint32_t nt_chain_columns_of_kind(const struct nt_field *field)
{
    return field->columns_per_representation - field->is_nullable;
}

/* Do two fields have the same structure, ignoring elements and nullability? */
bool nt_chain_are_alike(const struct nt_field *a, const struct nt_field *b);
bool nt_chain_have_equal_elements(const struct nt_field *a, const struct nt_field *b);

/* The field whose columns a field projects; NT_NONE: it has its own, or none. */
uint32_t nt_chain_columns_owner(const struct nt_dataset *dataset, uint32_t field);

/* Appends a field's type for messages: the file's type name, or its kind, and its elements. */
void nt_chain_append_type(struct nt_buffer *out, const struct nt_field *field);

/* ---- The union of schemas ---- */

/* Merges the fields of all slices of a series of a dataset: each path once, in order of first
 * appearance. Sets `fields` of the series and of the slices; NT_NONE for fields that a file lacks. Promotes
 * numbers to a type that holds all of them. A field that cannot be merged becomes unreadable with a reason,
 * as do its descendants and projections; each of its columns is then a representation of its own. */
enum nt_status nt_chain_union_fields(struct nt_dataset *dataset, struct nt_chain_series *series,
                                     struct nt_error *error);

/* ---- Friends ---- */

/* Is the member the first of the samples, or of a friend? */
bool nt_chain_begins_series(const struct nt_chain *chain, uint32_t member);
/* The end of the series of members that begins at `first`. */
uint32_t nt_chain_series_end(const struct nt_chain *chain, uint32_t first);
/* The member after one that a file uses: in a stub, the first of the next series. */
uint32_t nt_chain_next_member(const struct nt_chain *chain, uint32_t member, bool is_stub);
/* The slice of a member; in a stub, that of the first member of its series. */
struct nt_chain_slice *nt_chain_slice_of(const struct nt_dataset *dataset,
                                         const struct nt_chain_member *member);
/* NT_INCOMPATIBLE if a friend has other entries than the samples. */
enum nt_status nt_chain_check_friend(const char *friend, uint64_t expected, uint64_t found,
                                     struct nt_error *error);

/* Divides the slices of a dataset into series, once their members are set. */
enum nt_status nt_chain_divide(struct nt_dataset *dataset, struct nt_error *error);

/* Joins the fields of all series: those of the samples, and a record for each friend, which has the
 * friend's fields. Renumbers `fields` of the slices. */
enum nt_status nt_chain_join_fields(struct nt_dataset *dataset, struct nt_error *error);

/* Finds the entries of the clusters of members whose cluster groups hold all fields: in a chain with
 * friends or trees, each cluster is a part of the entries of each field. Sets the failure of others. */
enum nt_status nt_chain_find_clusters(struct nt_dataset *dataset, struct nt_error *error);

/* ---- Fields and columns ---- */

/* Sets the fields of a dataset, and a representation for each way in which a member stores one of
 * them. Members whose columns have equal types share one. Sets `columns` and `deferred` of the slices;
 * their `fields` are set. */
enum nt_status nt_chain_build_columns(struct nt_dataset *dataset, struct nt_error *error);

/* Returns the slice of the first member that stores a column, and the column's number there. */
const struct nt_chain_slice *nt_chain_column_slice(const struct nt_dataset *dataset, uint32_t column,
                                                   uint32_t *column_ret);

/* Do columns of two files, or of the chain, have the same types? */
bool nt_chain_columns_agree(const struct nt_column *a, const struct nt_column *b);

/* ---- Open and close members ---- */

/* The sources of a chain's files share a bounded number of descriptors. NULL if out of memory. */
struct nt_source_pool *nt_chain_pool_new(void);
/* Opens a member, or records why that fails. */
void nt_chain_try_member(struct nt_chain_member *member, const struct nt_chain *chain);
typedef void nt_chain_work(void *context, uint32_t member);
/* Calls `work` for each of members [first, end): in this thread, and in as many others as they need and can
 * start. */
void nt_chain_work_together(const struct nt_chain *chain, uint32_t first, uint32_t end, nt_chain_work *work,
                            void *context);
/* Opens those of members [first, end) that are not open, in parallel, and records why a member fails.
 * With the stub of the chain (NULL: all stay open), closes some again. Returns an error only for temporary
 * failures of the machine, which the caller may retry. */
enum nt_status nt_chain_members_open(struct nt_chain *chain, uint32_t first, uint32_t end,
                                     const struct nt_file *stub, struct nt_error *error);
/* Opens the members that the index lacks, if they are no more than those that it has. Returns true if
 * all members are then known or open. Ignores failures: a later use of the member repeats them. */
bool nt_chain_members_open_unknown(const struct nt_file *stub);
/* May lazy members have so much metadata and so many files open, with those that are open? Under the lock of
 * the file. */
bool nt_chain_has_room(const struct nt_file *file, uint64_t bytes, uint64_t files);
/* Opens a member and those that probably follow, unless it is open. Under the lock of the file. */
enum nt_status nt_chain_open_lazy(struct nt_file *file, const struct nt_chain_slice *slice,
                                  struct nt_error *error);
/* Closes a member, but not its source if a reader has it. */
void nt_chain_close_member(struct nt_chain_member *member);
/* Closes a lazy member, which counts among those that are open. Under the lock of the file. */
void nt_chain_close_lazy(struct nt_chain *chain, struct nt_chain_member *member);

/* ---- Members that open when their rows are read ---- */

/* A digest of the fields and columns of a dataset. False: it does not say all, because the dataset has
 * deferred columns or shards, or, if its fields have no groups of their own, several sources or columns that
 * are derived from others. */
bool nt_chain_schema_digest(const struct nt_dataset *dataset, char hex[NT_SCHEMA_DIGEST + 1]);
/* Marks the members that the index knows and that need not be open before their rows are read. */
void nt_chain_find_lazy(const struct nt_file *stub);
/* Closes an open member if the chain keeps too much metadata, and it can be lazy. Thread-safe for different
 * members. */
void nt_chain_try_evict(const struct nt_file *stub, struct nt_chain_member *member);
/* Loads the page lists that an index is made from. Ignores failures: they are those of the rows. */
void nt_chain_load_lists(const struct nt_chain_member *member);
/* Opens the lazy member of a slice, and others that will probably follow, and pins its groups. Checks
 * that the dataset is what is known of it. nt_chain_close_slice follows a success, both under the lock of
 * the file. */
enum nt_status nt_chain_open_slice(struct nt_dataset *dataset, struct nt_chain_slice *slice,
                                   struct nt_error *error);
/* Unpins the groups and connects the sources of a slice whose page list has been copied, and closes its
 * member if nothing else needs that. */
void nt_chain_close_slice(struct nt_dataset *dataset, struct nt_chain_slice *slice);
/* Opens the member of a slice, if it is lazy, and keeps it open until nt_chain_unpin_member. For chains whose
 * fields have groups of their own. Closes others if the metadata of all takes too much memory. */
enum nt_status nt_chain_pin_member(const struct nt_dataset *dataset, const struct nt_chain_slice *slice,
                                   struct nt_error *error);
void nt_chain_unpin_member(const struct nt_dataset *dataset, const struct nt_chain_slice *slice);
/* Does a slice of the member need its dataset? */
bool nt_chain_is_in_use(const struct nt_file *file, const struct nt_chain_member *member);

/* ---- Sources ---- */

/* Returns an empty source for the chain. It has the first file's attributes and detects its changes. */
enum nt_status nt_chain_source_new(const char *path, struct nt_source *first, struct nt_source **source_ret,
                                   struct nt_error *error);

/* As many as the file's layout or any of its datasets has. */
uint32_t nt_chain_count_sources(const struct nt_file *file);
/* Numbers the sources of the members: they become the layout sources. */
enum nt_status nt_chain_number_sources(struct nt_file *file, bool is_stub, struct nt_error *error);

/* Sets a dataset's sources to those of its slices, with the same numbers. */
enum nt_status nt_chain_add_sources(struct nt_dataset *dataset, struct nt_error *error);
/* Connects the sources of a slice that waited, and is open now. `is_file`: its pages are read from the file
 * itself, because its dataset closes. */
void nt_chain_connect_sources(struct nt_dataset *dataset, const struct nt_chain_slice *slice, bool is_file);
/* For a member that closes: disconnects its sources; of a file, those that no page refers to. */
void nt_chain_disconnect_sources(struct nt_dataset *dataset, const struct nt_chain_slice *slice);

/* ---- Cluster groups ---- */

/* Concatenates the cluster groups of the members for a dataset whose columns are set. Reads nothing. A
 * slice that failed has a group that fails to load. */
enum nt_status nt_chain_build_groups(struct nt_dataset *dataset, struct nt_error *error);

/* nt_dataset_ops.complete_record. */
void nt_chain_complete_record(const struct nt_dataset *dataset, uint32_t number,
                              struct nt_group_record *record);
/* nt_dataset_ops.load_group: loads a member's group, renumbers its columns, decoders and sources. */
enum nt_status nt_chain_load_group(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);

/* The slice that a group belongs to. */
struct nt_chain_slice *nt_chain_group_slice(const struct nt_dataset *dataset, uint32_t group);

/* Reports a failed slice to the file's hook, as reading its rows does. */
void nt_chain_report_failure(struct nt_dataset *dataset, const struct nt_chain_slice *slice);

/* Returns the slice that owns a source of the dataset. */
const struct nt_chain_slice *nt_chain_source_slice(const struct nt_dataset *dataset, uint32_t source);

/* nt_dataset_ops.groups_of_parts: a part is a member. */
struct nt_groups nt_chain_groups_of_members(const struct nt_dataset *dataset, uint32_t column, uint32_t first,
                                            uint32_t end);

/* Returns the slice that owns a part of the entries of a field, if fields have cluster groups of their own.
 */
const struct nt_chain_slice *nt_chain_member_slice(const struct nt_dataset *dataset, uint32_t field,
                                                   uint32_t member);

/* Maps a page of a slice to the member's own page, and pins its group there. NULL, without a pin, if its page
 * list cannot be read. */
const struct nt_page *nt_chain_member_page(const struct nt_dataset *dataset,
                                           const struct nt_chain_slice *slice, uint32_t column,
                                           const struct nt_page *page, struct nt_group **group_ret);

/* ---- Metadata from the index ---- */

/* Finds the members that are unchanged since the options' index. */
void nt_chain_match_index(struct nt_chain *chain);

/* NT_CHANGED if a newly opened member differs from its index entry. */
enum nt_status nt_chain_member_check(const struct nt_chain_member *member, struct nt_error *error);

/* Returns the index entry of a member's dataset at the path of `dataset`. NULL: none. */
const struct nt_indexed_dataset *nt_chain_indexed_dataset(const struct nt_chain_member *member,
                                                          const struct nt_dataset *dataset);

/* Sets the entries of a stub's datasets if the entries of all members are known or the members are open.
 * Fails if those of a friend are others than those of the samples. */
enum nt_status nt_chain_set_stub_entries(struct nt_file *stub, struct nt_error *error);

/* Passes an index with new facts to the options' hook. Parts that are not open keep their entries. */
void nt_chain_save_index(const struct nt_file *file);
/* The same, if elements of columns were learned since. */
void nt_chain_save_learned(const struct nt_file *file);

/* ---- Format operations ---- */

/* The operations of a chain's dataset. */
extern const struct nt_dataset_ops nt_chain_dataset_ops;

/* The operations of the file. */
enum nt_status nt_chain_describe_file(const struct nt_file *file, struct nt_json *json,
                                      struct nt_error *error);
enum nt_status nt_chain_lay_out(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                struct nt_error *error);
enum nt_status nt_chain_lay_out_files(const struct nt_file *file, struct nt_layout_sources sources,
                                      nt_layout_emit *emit, void *context, struct nt_error *error);
uint32_t nt_chain_layout_part(const struct nt_file *file, uint32_t source);
enum nt_status nt_chain_check(const struct nt_file *file, nt_failure_emit *emit, void *context,
                              struct nt_error *error);

/* ---- Member descriptions ---- */

bool nt_is_chain(const struct nt_file *file);
/* File `number` of those that have entries of a dataset, without omitted ones; NULL after the last. */
const struct nt_chain_slice *nt_chain_slice(const struct nt_dataset *dataset, uint32_t number);
/* Writes the member "dataset": the path of the slice's dataset in its file. */
void nt_chain_put_slice_dataset(struct nt_json *json, const struct nt_chain_slice *slice);

/* Number of files in the list, with omitted ones. */
uint32_t nt_chain_file_count(const struct nt_file *chain);
/* Writes members of a line: the file, its specification, its slice of the dataset or its failure. */
void nt_chain_write_file(const struct nt_dataset *dataset, uint32_t number, struct nt_json *json);

/* ---- Opening a chain ---- */

/* Opens the local members of a file that was opened lazily and closes them again, for up to a second.
 * Fails if some cannot be opened or have another schema, with their number and the first reason. Does
 * nothing for other files, remote chains and chains with an index. */
enum nt_status nt_chain_check_members(const struct nt_file *file, struct nt_error *error);

/* Opens the files of a list as one file with the list's name; the list outlives it. Fails if a file
 * cannot be opened or lacks the dataset, because the number of entries is then unknown. */
enum nt_status nt_chain_open(const struct nt_chain_list *list, const struct nt_chain_options *chain_options,
                             const struct nt_open_options *options, struct nt_file **file_ret,
                             struct nt_error *error);
