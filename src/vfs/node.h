/* SPDX-License-Identifier: MIT
 *
 * What a node number stands for. A number is computed from its parts and taken apart again; nothing is
 * stored, so a directory of a million pages costs nothing. Places and slots are given again once nobody knows a node
 * in them (knowing.c). A number that the kernel presents may be stale or nonsense: unpacking checks its form, nt_scope_open
 * its content.
 */
#ifndef NT_VFS_NODE_H
#define NT_VFS_NODE_H

#include <stdbool.h>
#include <stdint.h>

/* The levels of the tree. Each has directories of its own and a table of pseudo-files (see pseudo.h). */
enum nt_level {
    NT_LEVEL_PLACE, /* a mirrored folder, or a file's directories; place 0 is the root of the mount */
    NT_LEVEL_MOUNT, /* .ntuplefs */
    NT_LEVEL_DATASET,
    NT_LEVEL_FIELD,
    NT_LEVEL_COLUMN,
    NT_LEVEL_PAGE_RAW,  /* pages/<n>.raw */
    NT_LEVEL_PAGE_BIN,  /* pages/<n>.bin */
    NT_LEVEL_PAGE_FILE, /* pages/<n>.<...>: what the page consists of */
    NT_LEVEL_ENTRY,     /* rows.d/<n>.json */
    NT_LEVEL_BLOB,      /* blob.d/<n> of a field */
    NT_LEVEL_COUNT
};

enum {
    NT_NODE_SELF = 1,              /* `file` of the level's directory itself; so that place 0 is node 1 */
    NT_NODE_FIRST_FILE = 2,        /* row 0 of the level's table */
    NT_NODE_FIRST_DOCUMENT = 1024, /* document 0 that the format gives */
};

struct nt_node {
    enum nt_level level;
    uint32_t slot;   /* place; from data sets on: data set slot (see places.h) */
    uint32_t item;   /* index of a directory in its file; of a field, column in its data set */
    uint32_t file;   /* SELF, or which file of the directory; of a page's files the number, counted from 1 */
    uint64_t number; /* of a document, page, entry or blob */
};

/* False where a part does not fit its bits: such a node cannot be shown. */
bool nt_node_pack(const struct nt_node *node, uint64_t *number_ret);
/* False for numbers that nt_node_pack never gives. */
bool nt_node_unpack(uint64_t number, struct nt_node *node);
/* The number of a node that is no document, page, entry or blob; 0: it cannot be shown. */
uint64_t nt_node_number(enum nt_level level, uint32_t slot, uint32_t item, uint32_t file);

#endif
