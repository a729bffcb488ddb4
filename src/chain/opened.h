/* SPDX-License-Identifier: MIT
 *
 * What is kept of an open chain: its files, and of each data set what of it lies in which file.
 */
#ifndef NT_CHAIN_OPENED_H
#define NT_CHAIN_OPENED_H

#include <ntuple/format.h>

#include "chain/index.h"
#include "chain/list.h"
#include "chain/options.h"
#include "core/model/model.h"

/* A file of the chain. */
struct nt_chain_part {
    const char *path;
    const struct nt_chain_file *listed;  /* what the list tells of it */
    uint32_t number;                     /* there */
    const struct nt_known_file *known;   /* what an index tells, while the file is as it was; NULL: nothing */
    struct nt_file *file;                /* NULL: it is not open */
    struct nt_error failure;             /* why it could not be opened; NT_OK: that was not tried */
    uint32_t first_source, source_count; /* of the chain's layout sources: its own */
};

/* An nt_file's format_data: that of an outline, of which the first part alone is looked at, and of the whole. */
struct nt_chain {
    struct nt_chain_part *parts; /* behind them those that are left out */
    uint32_t part_count;
    uint32_t skipped;            /* that are left out */
    struct nt_source_pool *pool; /* of parts that are no folders */
    struct nt_budget
        *total; /* what all of them may take, and what is made of them; NULL: a limit was given for each */
    struct nt_open_options open; /* how a part is opened; what the options point to outlives the chain */
    struct nt_chain_options options;
    uint32_t holders; /* files that are made of it */
};

/* What a file has of a data set of the chain. The arrays are in the data set's arena. */
struct nt_chain_share {
    const struct nt_chain_part *part;
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

/* The fields of a data set, before its columns are known. */
struct nt_chain_fields {
    struct nt_field *items;
    uint32_t *owners; /* [field]: whose columns it shows; NT_NONE: no other's */
    uint32_t count;
};

/* An nt_dataset's format_data: as many shares as the chain has parts. */
struct nt_chain_dataset {
    struct nt_chain_share *shares;
    uint32_t share_count;
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

#endif
