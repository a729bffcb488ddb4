/* SPDX-License-Identifier: MIT
 *
 * From a page's decoded elements to a stream's.
 */
#ifndef NT_PAGE_ELEMENTS_H
#define NT_PAGE_ELEMENTS_H

#include "core/model/kind.h"
#include "core/model/model.h"

/* A Switch in memory. */
enum { NT_SWITCH_BYTES = 12, NT_SWITCH_TAG = 8 };

/* The rows of a variant's alternative in a cluster. */
struct nt_alternative {
    uint64_t base, rows; /* the first of them in the data set, and how many */
};

/* Elements [first, first + count) of a page, and what is to be made of them. */
struct nt_run {
    const struct nt_field *field;
    const struct nt_dtype *dtype; /* of what is made */
    const struct nt_page *page;
    const struct nt_decoder *decoder;
    const uint8_t *data; /* of the whole page */
    size_t first, count;
    uint64_t base;       /* offsets: added to each value */
    uint64_t limit;      /* offsets: the items of the cluster; its last value */
    bool is_cluster_end; /* the run ends with the cluster's last element */
    bool has_previous;   /* `previous` is the index value before the page's first element */
    uint64_t previous;
    const struct nt_alternative *alternatives; /* index of variants: of the cluster, by tag - 1 */
};

/* `output` has count * dtype->bytes, and need not be aligned. */
typedef enum nt_status nt_transform(const struct nt_run *run, uint8_t *output, struct nt_error *error);

/* The function that does it; NULL for what is made from the page list alone. */
nt_transform *nt_transform_of(enum nt_make make);

/* Element `i` of an index column's decoded elements; false where they are of another type. */
bool nt_load_index(enum nt_element element, const uint8_t *data, size_t i, uint64_t *value_ret);

/* True where values need no change at all: a page may be decoded straight into the stream. */
bool nt_values_are_equal(const struct nt_decoder *decoder, const struct nt_dtype *dtype);

#endif
