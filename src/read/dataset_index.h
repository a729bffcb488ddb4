/* SPDX-License-Identifier: MIT
 *
 * What the reader works out once per data set and keeps: the order of its clusters, and where in each column
 * its clusters begin.
 */
#ifndef NT_PAGE_DATASET_INDEX_H
#define NT_PAGE_DATASET_INDEX_H

#include <pthread.h>

#include "core/model/model.h"
#include "read/sequence.h"

/* Where every NT_INDEX_STRIDE-th cluster begins within a column. */
struct nt_column_mark {
    uint64_t elements; /* before it */
    uint64_t pages;
};
#define NT_INDEX_STRIDE 32

struct nt_column_index {
    struct nt_sequence sequence; /* of reads */
    uint64_t elements, pages;    /* in all */
    struct nt_column_mark marks[];
};

struct nt_dataset_index {
    const struct nt_dataset *dataset;
    uint32_t column_count;
    struct nt_dataset_index *next;
    pthread_mutex_t lock;                       /* of building */
    _Atomic(uint32_t *) order;                  /* clusters by first entry, then number; NT_NONE */
    _Atomic(struct nt_column_index *) *columns; /* by column; NULL: not built */
    /* What a choice of entries leaves out, NULL: not looked at: of the items of a list or the bytes of strings [field], and
     * of the rows of a variant's alternative [as many as there are fields + field]. NULL: nobody chose. */
    _Atomic(struct nt_drops *) *left_out;
};

struct nt_dataset_indexes *nt_dataset_indexes_new(void);          /* NULL without memory */
void nt_dataset_indexes_free(struct nt_dataset_indexes *indexes); /* accepts NULL */
/* The index of a data set; NULL without memory. Valid until it is forgotten. */
struct nt_dataset_index *nt_dataset_index_get(struct nt_dataset_indexes *indexes,
                                              const struct nt_dataset *dataset);
void nt_dataset_indexes_forget(struct nt_dataset_indexes *indexes, const struct nt_dataset *dataset);

#endif
