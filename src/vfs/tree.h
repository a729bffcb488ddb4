/* SPDX-License-Identifier: MIT
 *
 * The virtual file tree of docs/tree.md as plain functions: lookup, attributes, directory listing, reading
 * and extended attributes. The FUSE mount and the ntuple tool use these functions alone; nothing here
 * depends on FUSE or on a file format.
 */
#ifndef NT_VFS_TREE_H
#define NT_VFS_TREE_H

#include <ntuple/arrow.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "chain/chain.h"
#include "core/base/memory.h"
#include "read/page.h"
#include "read/read.h"

struct nt_vfs;
struct nt_vfs_handle;

/* ---- Options and file classes ---- */

#define NT_VFS_ROOT 1

/* Where generated files are kept on disk by default. */
#define NT_VFS_TEXT_DIRECTORY "/var/tmp"

/* A selection of entries of a dataset, whose path from the root is given; "" is the only dataset of the only source. Both outlive
 * the tree. */
struct nt_vfs_selection {
    const char *dataset;
    const struct nt_selection *choice;
};

struct nt_vfs_options {
    struct nt_open_options open;
    const struct nt_vfs_selection *selections; /* outlive the tree */
    size_t selection_count;
    uint64_t cache_bytes;       /* 0: the reader's default */
    bool always_readahead;      /* as the reader's option */
    unsigned threads;           /* workers; 0: none */
    bool list_sized;            /* leave unsized files out of listings (they still open by name) */
    bool text_sized;            /* materialize every text to know its size: no file is unsized */
    uint64_t text_bytes;        /* with text_sized: as disk_bytes of struct nt_generated_options; 0: 16 GiB */
    const char *text_directory; /* and where; NULL: /var/tmp. Outlives the tree */
    bool follow_links;          /* out of passthrough directories; else they are refused */
    bool counts_lookups;        /* the caller uses nt_vfs_ref and nt_vfs_forget; else no number is reused */
    const struct nt_chain_list
        *chain; /* the sources are these files, as one; outlives the tree. NULL: they are not */
    struct nt_chain_options chain_options;
    const char *const *sandbox; /* the parts of it that hold, for version.json; ends with NULL. NULL: none */
    bool verify_on_open;        /* check all pages of a .bin, .npy or .arrow file when it is opened */
    bool arrow_strings_binary;
    enum nt_arrow_unions arrow_unions;
    const unsigned *owner, *group; /* shown instead of the sources' (NULL); must outlive the tree */
    /* Log a failure that was not seen before, as one line. May be NULL. */
    void (*report)(void *context, const char *line);
    /* Called by a thread before slow work: before it loads a page of 32 KiB or more or a page list, opens a file, or
     * generates a text that may be long. May be NULL. */
    void (*before_blocking)(void *context);
    void *context;
};

enum nt_vfs_class {
    NT_VFS_DIRECTORY,
    NT_VFS_SIZED,     /* size known from metadata */
    NT_VFS_GENERATED, /* generated at the lookup, kept in a bounded cache; size exact */
    NT_VFS_STREAMED,  /* generated while it is read: st_size is 0, reads go from the beginning on */
};

/* A caller that waits for an answer, and may give up. */
struct nt_vfs_caller {
    bool (*is_gone)(void *context);
    void *context;
};

/* ---- Operations ---- */

/* The virtual tree that docs/tree.md defines, as plain functions. The mount and the ntuple tool walk the same
 * tree through them; nothing here knows FUSE or a file format.
 * 
 * A node is a 64-bit number that is computed from what it stands for (dataset, field, file), not stored: see
 * vfs.h. The root is 1. Numbers are stable for as long as what they stand for is there, and for as long as somebody knows
 * them: who is asked for is_told in the options tells that. All functions may be called from several threads. */

/* A tree over one or several sources (files, or directories that are mirrored or are datasets). One source:
 * its tree is the root; several: a directory each. Fails where no source can be opened. Paths are made
 * absolute. */
enum nt_status nt_vfs_new(const char *const *paths, size_t path_count, const struct nt_vfs_options *options,
                          struct nt_vfs **vfs_ret, struct nt_error *error);
void nt_vfs_free(struct nt_vfs *vfs); /* accepts NULL */

/* Why the only source would be refused without `open_broken`, without its name; NT_OK: it would not. */
enum nt_status nt_vfs_broken(struct nt_vfs *vfs, struct nt_error *error);

/* Whether no more files will be opened, apart from temporary ones: all sources are files, are open, and stay open. */
bool nt_vfs_keeps_sources_open(struct nt_vfs *vfs);

/* Look at every source, and report those of which nothing can be shown: files that do not open, and folders
 * in which none of some hundred files does. */
void nt_vfs_try_sources(struct nt_vfs *vfs);

struct nt_vfs_attributes {
    uint64_t node;
    uint32_t generation; /* a number that is reused has another one */
    enum nt_vfs_class class;
    bool is_immutable;    /* does not change while mounted: may be cached for ever */
    bool is_name_lasting; /* so, and its name always leads to it */
    struct stat stat;     /* all members set, st_ino = node */
};

/* The attributes of a node. `may_block` false: NT_NOT_FOUND where the size is not known without reading a page list or
 * generating a document. */
enum nt_status nt_vfs_stat(struct nt_vfs *vfs, uint64_t node, bool may_block,
                           struct nt_vfs_attributes *attributes, struct nt_error *error);
/* The same with work, for a caller who may give up: NT_CANCELED. */
enum nt_status nt_vfs_stat_for(struct nt_vfs *vfs, uint64_t node, const struct nt_vfs_caller *caller,
                               struct nt_vfs_attributes *attributes, struct nt_error *error);

/* The node of a name in a directory; NT_NOT_FOUND. Does not compute its size. */
enum nt_status nt_vfs_lookup(struct nt_vfs *vfs, uint64_t directory, const char *name, uint64_t *node_ret,
                             struct nt_error *error);
/* The same with its attributes; adds one to the lookup count of the node. */
enum nt_status nt_vfs_lookup_ref(struct nt_vfs *vfs, uint64_t directory, const char *name,
                                 const struct nt_vfs_caller *caller, struct nt_vfs_attributes *attributes,
                                 struct nt_error *error);
/* Add one to the lookup count of a node, which is being listed or was looked up before; take `times` off. */
void nt_vfs_ref(struct nt_vfs *vfs, uint64_t node);
void nt_vfs_forget(struct nt_vfs *vfs, uint64_t node, uint64_t times);
/* The node of a path from the root ("", "/", "Events/run/data.bin"). */
enum nt_status nt_vfs_resolve(struct nt_vfs *vfs, const char *path, uint64_t *node_ret,
                              struct nt_error *error);
uint64_t nt_vfs_parent(struct nt_vfs *vfs, uint64_t node);

/* Emit the entries of a directory from `cursor` on (0: the first; else a `next_cursor` that was emitted),
 * without "." and "..". Stops when `emit` returns false; that entry counts as not emitted. */
typedef bool nt_vfs_emit(void *context, const char *name, uint64_t node, enum nt_vfs_class class,
                         uint64_t next_cursor);
enum nt_status nt_vfs_readdir(struct nt_vfs *vfs, uint64_t directory, uint64_t cursor, nt_vfs_emit *emit,
                              void *context, struct nt_error *error);

/* How many entries of its kind come before a cursor. */
uint64_t nt_vfs_cursor_index(uint64_t cursor);

/* Open a file. Reading at or past the end gives 0 bytes; within, exactly `bytes` or up to the end, or an
 * error; of an unsized handle also fewer, up to a place that cannot be made. Handles may be read from several
 * threads; unsized ones are read in any order, sequentially at full speed. */
enum nt_status nt_vfs_open(struct nt_vfs *vfs, uint64_t node, struct nt_vfs_handle **handle_ret,
                           struct nt_error *error);
enum nt_status nt_vfs_read(struct nt_vfs_handle *handle, uint64_t offset, void *buffer, size_t bytes,
                           size_t *bytes_ret, struct nt_error *error);
/* Whether the handle is read as a stream is: its size is not known, or damage ends it before. */
bool nt_vfs_is_streamed(const struct nt_vfs_handle *handle);
/* How many bytes an unsized handle will have if what was not made yet is like what was; 0: nobody knows. */
uint64_t nt_vfs_probable_bytes(const struct nt_vfs_handle *handle);
/* Pin the same bytes in the cache, as nt_stream_pin does; false: they have to be read. */
bool nt_vfs_pin(struct nt_vfs_handle *handle, uint64_t offset, size_t bytes, struct nt_pins *pins);
void nt_vfs_close(struct nt_vfs_handle *handle);

/* Extended attributes (user.ntuplefs.*): NT_NOT_FOUND for an unknown name. The list has a NUL after each
 * name. */
enum nt_status nt_vfs_getxattr(struct nt_vfs *vfs, uint64_t node, const char *name, struct nt_buffer *value,
                               struct nt_error *error);
enum nt_status nt_vfs_listxattr(struct nt_vfs *vfs, uint64_t node, struct nt_buffer *names,
                                struct nt_error *error);

/* What the text of an extended attribute says: a text; a decimal integer below 2^64; a real number as JSON has it;
 * such integers with commas between them. An unknown one is a text. */
enum nt_vfs_value {
    NT_VFS_VALUE_TEXT,
    NT_VFS_VALUE_INTEGER,
    NT_VFS_VALUE_REAL,
    NT_VFS_VALUE_INTEGERS,
};
enum nt_vfs_value nt_vfs_xattr_value(const char *name);

/* For statfs: bytes of all sources. How many files and directories a walk would find is not known before it. */
uint64_t nt_vfs_source_bytes(struct nt_vfs *vfs);

#endif
