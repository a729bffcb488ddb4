/* SPDX-License-Identifier: MIT
 *
 * Writes ROOT files with one TTree for tests, including trees that no writer would write. Branches are of
 * class TBranch with a leaf of class TLeafI, or of class TBranchElement with an object of a class that the
 * file describes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/memory.h"

struct tree_element {
    const char *name, *type_name;
    const char *kind; /* "TStreamerBasicType", "TStreamerObjectAny", "TStreamerSTL", "TStreamerBase" */
    int32_t type;     /* TStreamerElement::fType */
    uint32_t length;  /* of an array of one dimension; 0: none */
    int32_t stl_type, content_type;
};

struct tree_class {
    const char *name;
    const struct tree_element *elements;
    uint32_t element_count;
};

struct tree_basket {
    const void *values; /* as stored */
    uint32_t stored_bytes, object_bytes;
    const int32_t *offsets;        /* of entries + 1, after values that are not compressed; NULL: none */
    uint32_t entries, entry_bytes; /* fNevBuf, fNevBufSize */
    uint32_t last;                 /* from the end of the key; the bytes of the values if it is 0 */
    uint32_t key_length;           /* 0: what it is */
};

struct tree_branch {
    const char *name, *title; /* "x", "x/I"; title of the leaf without the type: "x[n]" */
    const char *object_class; /* NULL: a TBranch */
    const char *counter;      /* an earlier branch whose leaf counts; or its own name; NULL: none */
    int32_t type;             /* TBranchElement::fType */
    int64_t entries;          /* 0: those of the tree */
    uint32_t leaf_length;     /* fLen; 0: 1 */
    uint32_t baskets;         /* how often the basket is listed */
    uint32_t records;         /* how often it is written, one record after the other; 0: once */
    bool is_shared;           /* its records are those of the branch before */
    uint32_t claimed_baskets; /* fMaxBaskets, if it is not what is there */
    bool has_offsets;         /* fEntryOffsetLen */
    const struct tree_basket *basket;
    const struct tree_branch *children;
    uint32_t child_count;
};

struct tree_description {
    int64_t entries;
    const struct tree_branch *branches;
    uint32_t branch_count;
    uint32_t claimed_branches; /* of the list, if it is not what is there */
    const struct tree_class *classes;
    uint32_t class_count;
    bool is_compressed; /* the tree's object and the classes */
};

void tree_write(const struct tree_description *description, struct nt_buffer *out);
