/* SPDX-License-Identifier: MIT
 *
 * Many files shown as one: each dataset of a chain is the concatenation of the datasets of the same path
 * in all member files. A chain is made from a list of files, local or remote.
 */
#ifndef NT_CHAIN_CHAIN_H
#define NT_CHAIN_CHAIN_H

#include <ntuple/format.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/io/folder.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/budget.h"
#include "core/model/model.h"

struct nt_arena;
struct nt_buffer;
struct nt_chain_index;
struct nt_fetcher;
struct nt_source_pool;

/* ---- Chain options ---- */

/* What becomes of files whose fields are not those of the first one. */
enum nt_chain_rule {
    NT_CHAIN_FAIL,  /* they are refused when something of them is wanted */
    NT_CHAIN_CHECK, /* at once */
    NT_CHAIN_UNION, /* the chain has the fields of all files */
};

/* How a chain is made of its files. */
struct nt_chain_options {
    enum nt_chain_rule rule;
    bool skip_failed; /* files that cannot be opened are omitted */
    bool
        is_lazy; /* the first file is opened at once, the others by nt_file_resolve_stub; with NT_CHAIN_FAIL alone */
    /* What is known of the files, so that a lazy chain knows its entries; outlives the chain. NULL: nothing. */
    const struct nt_chain_index *index;
    /* Given the text of an index where that would be another one, when all files are open. May be NULL. */
    void (*save_index)(void *context, const struct nt_buffer *text);
    void *context;
};

/* ---- RDataFrame specifications ---- */

enum { NT_SPECIFICATION_BYTES = 16 << 20 }; /* the most that one may have: JSON takes twenty times its text */

/* What a specification tells of some of its files. */
struct nt_chain_sample {
    const char *name;
    const char *dataset;  /* the path of the one that is meant in these files */
    const char *metadata; /* a JSON object, as it stands in a line; NULL: none */
};

/* Whether a text is a specification, not a list: its first character but white space is '{'. */
bool nt_is_specification(const char *text, size_t length);

/* Called for each name of a file, or pattern, in the order of the text. */
typedef enum nt_status nt_specification_take(void *context, const struct nt_chain_sample *sample,
                                             const char *name, struct nt_error *error);

/* Samples lie in the arena. NT_CORRUPT where the text is no JSON, NT_INVALID with the key and what it has to be. */
enum nt_status nt_specification_read(const char *text, size_t length, struct nt_arena *arena,
                                     nt_specification_take *take, void *context, struct nt_error *error);

/* ---- Small text files ---- */

/* Asks whether the text of a file is to be believed. */
typedef enum nt_status nt_chain_check_text(const struct stat *attributes, const char *path,
                                           struct nt_error *error);

/* Append all of a file. NT_LIMIT where it has more bytes than such texts may have; `what` it is, as in "an index". `check` may be
 * NULL; where it fails, nothing is read. */
enum nt_status nt_chain_read_text(const char *path, const char *what, int max_bytes,
                                  nt_chain_check_text *check, struct nt_buffer *text, struct nt_error *error);

/* ---- Local glob patterns ---- */

bool nt_is_pattern(const char *path);

typedef enum nt_status nt_pattern_take(void *context, const char *path, struct nt_error *error);

/* Call `take` for each file or folder that an absolute pattern matches, in the order of their bytes; of equal ones once. "**" between
 * two slashes stands for any folders, or none; links are not followed there, and folders that are datasets not entered.
 * NT_NOT_FOUND where nothing matches. */
enum nt_status nt_pattern_expand(const char *pattern, nt_pattern_take *take, void *context,
                                 struct nt_error *error);

/* ---- Remote glob patterns ---- */

/* A file or folder on a server that a pattern matches. */
struct nt_remote_match {
    const char *path;         /* below the folder in front of the pattern, of names as they are called */
    const char *address;      /* of a folder with a slash at its end */
    struct nt_folder *folder; /* that was listed, */
    const char *name;         /* and what it is called there */
    bool is_folder;
};

/* Folders that were listed, as they were then. */
struct nt_open_folders {
    struct nt_folder **items;
    size_t count, capacity;
};

typedef enum nt_status nt_remote_take(void *context, const struct nt_remote_match *match,
                                      struct nt_error *error);

/* The same as nt_pattern_expand, of an address (nt_address_is_pattern) and by what its server tells of folders: one request for each folder
 * that is looked at. What `take` is given lies in the arena, and in folders that are added. NT_NOT_FOUND where nothing matches,
 * NT_LIMIT of a tree without an end; else as nt_folder_open_address. */
enum nt_status nt_remote_pattern_expand(const char *pattern, struct nt_fetcher *fetcher,
                                        struct nt_arena *arena, struct nt_open_folders *folders,
                                        nt_remote_take *take, void *context, struct nt_error *error);

void nt_open_folders_close(struct nt_open_folders *folders);

/* ---- File lists ---- */

struct nt_chain_file {
    const char *path;                     /* absolute; of a file on a server how that is shown */
    const char *address;                  /* that it is asked for by; NULL: it is here */
    const char *named;                    /* of an address: where it is named; NULL: it is an operand */
    const struct nt_chain_sample *sample; /* NULL: no specification names it */
    struct stat
        identity; /* of the file or folder, when the list was made; zeros: there was none, or none was told */
    /* Of a file that its server has listed: it is opened as it was then. NULL: it was not. */
    struct nt_folder *folder;
    const char *name; /* there */
};

struct nt_chain_list {
    const char *name;            /* absolute: the first operand, which stands for all of them */
    struct nt_chain_file *files; /* in the order given */
    uint32_t count;              /* one at least */
    const char **folders;        /* that they lie in, or are, each at least once */
    uint32_t folder_count;
    const char *address; /* one of a file, or a pattern; NULL: all files are here */
    struct nt_open_folders listed;
    struct nt_arena *arena;
};

/* The files that operands name: files, datasets that are folders, patterns with * ? [] and ** (any folders between), and
 * text files below whose folder others are named: with a line for each of these, '#' begins one that says nothing; or RDataFrame's
 * specifications, in JSON; and addresses wherever a file may be named. What a pattern matches stands in the order of its bytes. NT_NOT_FOUND where nothing matches, NT_INVALID
 * where a dataset of a file is named twice or a list in a list. `allow_missing`: what a list names may be not there. Reads names, and what
 * may be a list. Of addresses nothing is looked at, they stand as they are: see nt_chain_list_expand_remote. */
enum nt_status nt_chain_list_new(const char *const *operands, size_t count, bool allow_missing,
                                 struct nt_chain_list **list_ret, struct nt_error *error);
/* Put what they match in the place of patterns that are addresses; before, the list cannot be opened. Asks servers, where it has any: NT_NOT_FOUND
 * where nothing matches, NT_INVALID where a dataset of an address is named twice; else as nt_folder_open_address. */
enum nt_status nt_chain_list_expand_remote(struct nt_chain_list *list, struct nt_fetcher *fetcher,
                                           struct nt_error *error);
void nt_chain_list_free(struct nt_chain_list *list); /* accepts NULL */

/* ---- The chain index ---- */

struct nt_indexed_dataset {
    const char *path; /* in the chain */
    uint64_t entries, clusters;
};

/* A file, as it was. */
struct nt_indexed_file {
    const char *path;  /* or address */
    const char *meant; /* the dataset that a specification means; "": none does */
    uint64_t bytes, inode;
    const char *modified; /* as nt_index_time writes it */
    const char *
        validator; /* of an address, instead of an inode: what its server tells this version by. NULL: a file that is here */
    struct nt_indexed_dataset *datasets;
    uint32_t dataset_count;
};

struct nt_chain_index {
    struct nt_indexed_file *files; /* by `path` and `meant` */
    uint32_t count;
    struct nt_arena *arena;
};

/* Read an index; one that is not there, or has no bytes, knows nothing. NT_INVALID with the line where a file is no index: what
 * somebody named by mistake is not to be replaced. */
enum nt_status nt_chain_index_read(const char *path, struct nt_chain_index **index_ret,
                                   struct nt_error *error);
void nt_chain_index_free(struct nt_chain_index *index); /* accepts NULL */

/* NULL: it does not know it. */
const struct nt_indexed_file *nt_chain_index_find(const struct nt_chain_index *index, const char *path,
                                                  const char *meant);
const struct nt_indexed_dataset *nt_indexed_dataset_find(const struct nt_indexed_file *file,
                                                         const char *path);

/* NT_CHANGED, with what was expected and found, where a file is another one than it was. `validator`: of the version that is found at an
 * address; NULL: of that only a list has told, or it is no address. */
enum nt_status nt_indexed_file_check(const struct nt_indexed_file *file, const struct stat *found,
                                     const char *validator, struct nt_error *error);

/* Append the line of an index. None where it could not be read: of names that are no UTF-8. */
void nt_indexed_file_append(struct nt_buffer *out, const struct nt_indexed_file *file);

/* ---- Numeric type promotion ---- */

/* The widest numbers that a field has in any file, in bytes; 0: none of that sort. */
struct nt_promotion {
    uint32_t unsigned_bytes, signed_bytes, real_bytes;
};

/* Count numbers of a type in. False, and nothing is changed, where it is none: truth values, bytes, dates, what is stored in the
 * other byte order. */
bool nt_promotion_add(struct nt_promotion *numbers, const struct nt_dtype *dtype);

/* The smallest type that holds each of them exactly; NT_ELEMENT_OPAQUE where there is none. */
enum nt_element nt_promotion_element(const struct nt_promotion *numbers);

/* ---- Members and their slices ---- */

/* A file of the chain. */
struct nt_chain_member {
    const char *path;
    const struct nt_chain_file *listed;  /* what the list tells of it */
    uint32_t number;                     /* there */
    const struct nt_indexed_file *known; /* what an index tells, while the file is as it was; NULL: nothing */
    struct nt_file *file;                /* NULL: it is not open */
    struct nt_error failure;             /* why it could not be opened; NT_OK: that was not tried */
    uint32_t first_source, source_count; /* of the chain's layout sources: its own */
};

/* An nt_file's format_data: that of an stub, of which the first part alone is looked at, and of the whole. */
struct nt_chain {
    struct nt_chain_member *parts; /* behind them those that are omitted */
    uint32_t part_count;
    uint32_t skipped;            /* that are omitted */
    struct nt_source_pool *pool; /* of parts that are no folders */
    struct nt_budget
        *total; /* what all of them may take, and what is made of them; NULL: a limit was given for each */
    struct nt_open_options open; /* how a part is opened; what the options point to outlives the chain */
    struct nt_chain_options options;
    uint32_t holders; /* files that are made of it */
};

/* What a file has of a dataset of the chain. The arrays are in the dataset's arena. */
struct nt_chain_slice {
    const struct nt_chain_member *part;
    struct nt_dataset *dataset;     /* the file's own; NULL: its file is not open */
    const struct nt_error *failure; /* why its rows cannot be those of the chain; NULL: they can */
    uint64_t entries;               /* that the chain has of it */
    uint32_t *fields;               /* [field of the chain]: that of the file, NT_NONE: it has none */
    uint32_t *columns;              /* [column of the file]: that of the chain */
    uint32_t *decoders;             /* [decoder of the file]: that of the chain, or NT_NONE: not known yet */
    uint32_t decoder_count;         /* that there is room for */
    const uint64_t *deferred;       /* as in its groups */
    uint64_t first_entry;
    uint32_t first_group;   /* where fields have no groups of their own */
    uint32_t first_part;    /* where they have */
    uint32_t first_cluster; /* likewise */
    uint32_t first_column_group;
};

/* The fields of a dataset, before its columns are known. */
struct nt_chain_fields {
    struct nt_field *items;
    uint32_t *owners; /* [field]: whose columns it shows; NT_NONE: no other's */
    uint32_t count;
};

/* An nt_dataset's format_data: as many shares as the chain has parts. */
struct nt_chain_dataset {
    struct nt_chain_slice *slices;
    uint32_t slice_count;
    struct nt_chain_fields fields;
};

static inline const struct nt_chain *nt_chain_of(const struct nt_file *file)
{
    return file->format_data;
}

static inline struct nt_chain_dataset *nt_chain_dataset_of(const struct nt_dataset *dataset)
{
    return dataset->format_data;
}

/* ---- Matching datasets ---- */

/* What an open part has at the path of a dataset of the first one, or where a specification says. NT_CORRUPT where it has none, or is of
 * another format; the dataset's own failure. */
enum nt_status nt_chain_match_dataset(const struct nt_dataset *first, const struct nt_chain_member *part,
                                      struct nt_dataset **dataset_ret, struct nt_error *error);

/* ---- Matching fields ---- */

/* Find each field of a dataset in another one: `fields_ret[field]` is its number there, NT_NONE of what lies below what
 * differs. NT_CORRUPT with the field, what it is here and there, where one is missing, is another one, or the other dataset
 *  has one that this one has not. */
enum nt_status nt_chain_match_fields(const struct nt_dataset *dataset, const struct nt_dataset *other,
                                     uint32_t *fields_ret, struct nt_error *error);

/* The fields of a file as those of a chain. */
enum nt_status nt_chain_copy_fields(struct nt_dataset *dataset, struct nt_arena *arena,
                                    struct nt_chain_fields *fields_ret, struct nt_error *error);

/* Whether sub-fields of a field are known by their names, as members are; items and alternatives are by their places. */
bool nt_chain_are_named(const struct nt_dataset *dataset, uint32_t parent);

/* Columns of a representation but for the one that tells which rows are null. */
static inline uint32_t nt_chain_columns_of_kind(const struct nt_field *field)
{
    return field->columns_per_representation - field->is_nullable;
}

/* Whether rows of two fields are made alike, of whatever elements, whether they may be null or not. */
bool nt_chain_are_alike(const struct nt_field *a, const struct nt_field *b);
bool nt_chain_have_equal_elements(const struct nt_field *a, const struct nt_field *b);

/* The field whose columns a field shows; NT_NONE: it has its own, or none. */
uint32_t nt_chain_columns_owner(const struct nt_dataset *dataset, uint32_t field);

/* Append what a field is to people: its type as the file calls it, or what its kind and elements are. */
void nt_chain_append_type(struct nt_buffer *out, const struct nt_field *field);

/* ---- The union of schemas ---- */

/* Give a chain's dataset the fields of all its shares, each path once, in the order in which they come first, and set the shares'
 * `fields`: NT_NONE of what a file does not have. Numbers of several types are of one that holds them all. A field that cannot be
 * one is unreadable, with what is below it and what shows its columns, and says why; each of its columns is a representation alone. */
enum nt_status nt_chain_union_fields(struct nt_dataset *dataset, struct nt_error *error);

/* ---- Fields and columns ---- */

/* Give a dataset its fields, and for each way in which a share's file stores one of them a representation:
 * that of another file where its columns are of the same types, else one more. Sets the shares' `columns` and
 * `deferred`; their `fields` are known. */
enum nt_status nt_chain_build_columns(struct nt_dataset *dataset, struct nt_error *error);

/* The share of a column: that of the first file that stores the field so, and the column's number there. */
const struct nt_chain_slice *nt_chain_column_slice(const struct nt_dataset *dataset, uint32_t column,
                                                   uint32_t *column_ret);

/* ---- Sources ---- */

/* A source of no bytes that stands for the chain: it has the attributes of a file, and finds out when that changes. */
enum nt_status nt_chain_source_new(const char *path, struct nt_source *first, struct nt_source **source_ret,
                                   struct nt_error *error);

/* Number the sources of the chain's first `count` files: those of its layout. */
enum nt_status nt_chain_number_sources(struct nt_file *file, uint32_t count, struct nt_error *error);

/* Give a dataset those of its shares, at the same numbers. */
enum nt_status nt_chain_add_sources(struct nt_dataset *dataset, struct nt_error *error);

/* ---- Cluster groups ---- */

/* Give a dataset whose columns are known a cluster group for each of its files', one after the other. Nothing is read of
 * them; of a share that has failed there is a group that cannot be loaded. */
enum nt_status nt_chain_build_groups(struct nt_dataset *dataset, struct nt_error *error);

/* nt_dataset_ops.load_group: pages and ranges of a file's group, as the chain numbers columns, decoders and sources. */
enum nt_status nt_chain_load_group(struct nt_dataset *dataset, uint32_t group, struct nt_error *error);

/* Tell the file's hook of a share that has failed, as reading rows of it would. */
void nt_chain_report_failure(struct nt_dataset *dataset, const struct nt_chain_slice *slice);

/* The share whose sources a source of the dataset is one of. */
const struct nt_chain_slice *nt_chain_source_slice(const struct nt_dataset *dataset, uint32_t source);

/* The share that a part of the entries is of, where fields have groups of their own. */
const struct nt_chain_slice *nt_chain_part_slice(const struct nt_dataset *dataset, uint32_t part);

/* The file's own page that a page of a share is. NULL: it is none of a loaded group. */
const struct nt_page *nt_chain_member_page(const struct nt_dataset *dataset,
                                           const struct nt_chain_slice *slice, uint32_t column,
                                           const struct nt_page *page);

/* ---- Metadata from the index ---- */

/* Find out which parts are as the index of the options knows them. */
void nt_chain_match_index(struct nt_chain *chain);

/* That a part which was just opened is still so: NT_CHANGED. */
enum nt_status nt_chain_member_check(const struct nt_chain_member *part, struct nt_error *error);

/* What is known of a part's dataset that is at the path of this one. NULL: nothing. */
const struct nt_indexed_dataset *nt_chain_indexed_dataset(const struct nt_chain_member *part,
                                                          const struct nt_dataset *dataset);

/* Give the datasets of an stub the entries of all parts, where these are known, or open. */
void nt_chain_set_stub_entries(struct nt_file *stub);

/* Tell the hook of the options what is to be known of a chain's files from now on, where it was not known. Those that are not open are
 * known as before. */
void nt_chain_save_index(const struct nt_file *file);

/* ---- Format operations ---- */

/* The operations of a chain's dataset. */
extern const struct nt_dataset_ops nt_chain_dataset_ops;

/* Those of the file. */
enum nt_status nt_chain_describe_file(const struct nt_file *file, struct nt_json *json,
                                      struct nt_error *error);
enum nt_status nt_chain_lay_out(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                struct nt_error *error);
enum nt_status nt_chain_check(const struct nt_file *file, nt_failure_emit *emit, void *context,
                              struct nt_error *error);

/* ---- Member descriptions ---- */

/* How many the list has, those that are omitted among them. */
uint32_t nt_chain_file_count(const struct nt_file *chain);
/* Members of a line: which file it is, what its specification tells of it, and what of a chain's dataset lies in it, or why nothing does. */
void nt_chain_write_file(const struct nt_dataset *dataset, uint32_t number, struct nt_json *json);

/* ---- Opening a chain ---- */

/* Open the files of a list as one, which is called by the list's name; the list outlives it. Fails where a file cannot be
 * opened, or has no such dataset: then it is not known how many entries there are. */
enum nt_status nt_chain_open(const struct nt_chain_list *list, const struct nt_chain_options *chain_options,
                             const struct nt_open_options *options, struct nt_file **file_ret,
                             struct nt_error *error);

#endif
