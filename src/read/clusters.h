/* SPDX-License-Identifier: MIT
 *
 * The clusters that hold a field, in the order of their entries, and which of its columns is the active one.
 */
#ifndef NT_PAGE_CLUSTERS_H
#define NT_PAGE_CLUSTERS_H

#include "read/reader.h"

/* Why the rows of a cluster cannot be read. */
enum nt_fault {
    NT_FAULT_NONE,
    NT_FAULT_GROUP,       /* its page list cannot be read */
    NT_FAULT_NOT_COVERED, /* no cluster holds these entries */
    NT_FAULT_MISSING,     /* no representation is stored, and deferral does not explain it */
    NT_FAULT_SEVERAL,     /* more than one representation is stored */
    NT_FAULT_COUNT,       /* not as many elements are stored as there are rows */
    NT_FAULT_POSITION,    /* which rows these are depends on a part that cannot be read */
};

/* A range of entries: a cluster's, or a hole between clusters. */
struct nt_span {
    uint64_t first_entry, entries;
    uint32_t cluster; /* NT_NONE: a hole */
    enum nt_fault fault;
};

/* All spans of a field, holes filled, so that they are the data set's entries in order; `spans_ret` from
 * malloc. Loads all page lists that may tell which spans there are; one that is bad is a fault of its spans. See
 * nt_span_load for the rest. NT_CORRUPT where clusters overlap. */
enum nt_status nt_spans_build(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t field,
                              struct nt_span **spans_ret, uint32_t *count_ret, struct nt_error *error);

/* Load the page list of a span that has no fault yet; where it is bad, that becomes the fault. Fails where the machine
 * does. */
enum nt_status nt_span_load(struct nt_dataset *dataset, struct nt_span *span, struct nt_error *error);

/* Which part of the entries a span is, in a data set with field_groups. */
uint32_t nt_span_part(const struct nt_dataset *dataset, const struct nt_span *span);

/* The failed group whose entries meet a range (or that holds a cluster), for the message; NULL. */
const struct nt_error *nt_span_failure(const struct nt_dataset *dataset, uint32_t cluster,
                                       uint64_t first_entry, uint64_t entries);

/* A field's columns at one position, in one cluster. */
struct nt_active {
    unsigned present; /* how many representations are stored; the members below are valid for 1 */
    uint32_t column;
    uint64_t first_element; /* as the page list tells */
    uint64_t elements;      /* stored */
    const struct nt_page *pages;
    uint32_t page_count;
    bool is_deferred;        /* the column; where none is present: any of them */
    bool is_valid;           /* elements that are not stored are true, not zeros */
    uint64_t deferred_first; /* the first element that a deferred column stores */
};

/* The cluster's group must have been loaded. */
void nt_active_find(const struct nt_dataset *dataset, uint32_t field, uint32_t position, uint32_t cluster,
                    struct nt_active *active);

/* The page of a range that holds an element, counted from the range's first. */
const struct nt_page *nt_find_page(const struct nt_page *pages, uint32_t count, uint64_t element);

/* Rows of a field per row (or item) of nt_field_row_parent: the product of the repetitions between them. */
bool nt_rows_per_item(const struct nt_dataset *dataset, uint32_t field, uint64_t *product_ret);

#endif
