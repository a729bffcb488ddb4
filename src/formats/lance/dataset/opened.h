/* SPDX-License-Identifier: MIT
 *
 * What is kept of an open data set of Lance files: the manifest of one version, its schema, its fragments, and the data
 * files that have been looked at.
 */
#ifndef NT_FORMAT_LANCE_DATASET_OPENED_H
#define NT_FORMAT_LANCE_DATASET_OPENED_H

#include "formats/lance/file/messages_table.h"
#include "formats/lance/file/homes.h"
#include "core/io/folder.h"

/* A version, as a name in _versions/ tells. */
struct nt_lance_version {
    const char *root; /* beneath the folder: "", or "tree/BRANCH/", which has all that a data set has */
    uint64_t number;
    bool is_inverted; /* the name has 2^64 - 1 less the number, in 20 digits: the latest is the first */
    bool is_detached; /* apart from the history, with a "d" in front: its number has the highest bit */
};

/* A file that ends in a manifest. */
struct nt_lance_manifest_file {
    struct nt_lance_version version;
    const char *name; /* beneath the data set's directory */
    uint64_t size;
    uint64_t offset;         /* of the message */
    struct nt_proto message; /* a Manifest */
};

/* Where a message lies that is part of the manifest's. */
static inline uint64_t nt_lance_place_in(const struct nt_lance_manifest_file *manifest,
                                         struct nt_proto message)
{
    return manifest->offset + (uint64_t)(message.bytes - manifest->message.bytes);
}

/* Where a field of the schema is stored in a fragment. */
struct nt_lance_stored {
    struct nt_lance_leaf leaf; /* in legacy files the column is the field's id */
    uint32_t file;             /* number of one of the data set's data files */
};

/* A directory that base paths may lie beneath. */
struct nt_lance_place_of_bases {
    struct nt_folder *folder;
    const char *real; /* its path, without links */
};

/* Another place than the data set where files of it lie. */
struct nt_lance_base {
    uint64_t id;
    bool is_root;             /* it is itself a data set: files lie in its data/ and _deletions/ */
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
    uint32_t first_file, file_count; /* of the data set's data files */
    /* By field of the schema; NULL until somebody looks. Under the data set's lock. */
    const struct nt_lance_stored *stored;
    bool has_drops; /* the same: `drops` are known */
    const struct nt_drops *drops;
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
    struct nt_lance_open_file *opened;   /* NULL: it is not. Under the data set's lock */
};

/* A field's id with its number in the schema. */
struct nt_lance_id {
    int32_t id;
    uint32_t field;
};

/* Which fragments were looked at, one after the other (ahead.h). Under the data set's lock. */
struct nt_lance_ahead {
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
    struct nt_lance_data_file *files;       /* as many as the nt_dataset has sources, in their order */
    struct nt_lance_base *bases;            /* by ids, ascending */
    struct nt_lance_place_of_bases *places; /* the first is the data set's own folder */
    uint32_t fragment_count, file_count, base_count, place_count;
    unsigned generations;      /* of its files */
    struct nt_lance_side side; /* what its sides are made of */
    struct nt_lance_ahead ahead;
    struct {
        struct nt_lance_open_file *newest, *oldest;
        uint64_t bytes; /* that are taken for them */
    } open;             /* data files. Under the data set's lock */
};

static inline struct nt_lance_dataset *nt_lance_dataset_of(const struct nt_dataset *dataset)
{
    return dataset->format_data;
}

#endif
