/* SPDX-License-Identifier: MIT
 *
 * Pages that a verification has met: writers merge equal pages, so that many may be the same bytes, and what
 * became of them under the same conditions need not be worked out again. Remembers the latest of them.
 */
#ifndef NT_VIEW_KNOWN_PAGES_H
#define NT_VIEW_KNOWN_PAGES_H

#include "core/model/model.h"

/* What beside its bytes decides about a page's elements. */
struct nt_page_conditions {
    bool is_compared;    /* with the stream's segment */
    bool is_cluster_end; /* the page ends with the cluster's last element */
    bool has_previous;   /* `previous` is the index value before the page */
    uint64_t previous;
    uint64_t limit; /* the items of the cluster */
};

struct nt_known_page {
    const struct nt_page *page; /* of the model; NULL: nothing is known */
    bool has_outcome;           /* the members below are valid */
    struct nt_page_conditions before;
    bool has_previous; /* behind the page */
    uint64_t previous;
    size_t finding; /* 1 + the finding that tells what is wrong; 0: nothing is */
};

struct nt_known_pages {
    struct nt_known_page *slots; /* NULL: nothing is remembered */
};

/* Without memory nothing is remembered. */
void nt_known_pages_init(struct nt_known_pages *known);
void nt_known_pages_deinit(struct nt_known_pages *known);

/* The slot of a page: what is known of it or of a page that is the same bytes, decoded in the same way, else
 * an empty one for it. NULL where nothing is remembered. */
struct nt_known_page *nt_known_pages_find(struct nt_known_pages *known, const struct nt_page *page);

bool nt_page_conditions_equal(const struct nt_page_conditions *left, const struct nt_page_conditions *right);

#endif
