/* SPDX-License-Identifier: MIT
 *
 * The virtual file tree of docs/tree.md as plain functions: lookup, attributes, directory listing,
 * reading and extended attributes. The FUSE mount and the ntuple tool use only these functions; nothing
 * here depends on FUSE or on a file format.
 */
#pragma once

#include <ntuple/arrow.h>

#include "chain/chain.h"
#include "core/base/memory.h"
#include "read/page.h"

struct nt_vfs;
struct nt_vfs_handle;

/* ---- Options and file classes ---- */

#define NT_VFS_ROOT 1

/* The default directory for generated files on disk. */
#define NT_VFS_TEXT_DIRECTORY "/var/tmp"

/* A selection of entries of a dataset. `dataset` is its path from the root; "" is the only dataset of
 * the only source. Both members must outlive the tree. */
struct nt_vfs_selection {
    const char *dataset;
    const struct nt_selection *selection;
};

struct nt_vfs_options {
    struct nt_open_options open;
    const struct nt_vfs_selection *selections; /* must outlive the tree */
    size_t selection_count;
    uint64_t cache_bytes;       /* 0: the reader's default */
    bool always_readahead;      /* like the reader's option */
    unsigned threads;           /* worker threads; 0: none */
    bool list_sized;            /* omit streamed files from listings (they still open by name) */
    bool text_sized;            /* generate every text at lookup to know its size: none is streamed */
    bool measures_once;         /* the caller wants only sizes, each once: only the last text is kept */
    uint64_t text_bytes;        /* text_sized: see disk_bytes in nt_generated_options; 0: 16 GiB */
    const char *text_directory; /* for these texts; NULL: /var/tmp. Must outlive the tree */
    bool follow_links;          /* that leave passthrough directories; else refuse them */
    bool counts_lookups;        /* the caller uses nt_vfs_ref/_forget; else no number is reused */
    const struct nt_chain_list
        *chain; /* the sources are these files as one; must outlive the tree. NULL: no chain */
    struct nt_chain_options chain_options;
    const char *const *sandbox; /* the active parts, for version.json; ends with NULL. NULL: none */
    bool verify_on_open;        /* when a .bin, .npy or .arrow file opens, verify all its pages */
    bool arrow_strings_binary;
    enum nt_arrow_unions arrow_unions;
    const unsigned *owner, *group; /* replace the sources' (NULL: no); must outlive the tree */
    /* Logs a failure, as one line, the first time it occurs. May be NULL. */
    void (*report)(void *context, const char *line);
    /* A thread calls this before slow work: loading a page of 32 KiB or more or a page list, opening a
     * file, or generating a text that may be long. May be NULL. */
    void (*before_blocking)(void *context);
    void *context;
};

enum nt_vfs_class {
    NT_VFS_DIRECTORY,
    NT_VFS_SIZED,     /* the size follows from metadata */
    NT_VFS_GENERATED, /* generated at lookup, kept in a bounded cache; exact size */
    NT_VFS_STREAMED,  /* generated while it is read: st_size is 0, reads are sequential */
    NT_VFS_LINK,      /* a symbolic link to a name in the same directory */
};

/* A caller that waits for a result and may give up. */
struct nt_vfs_caller {
    bool (*is_gone)(void *context);
    void *context;
};

/* ---- Operations ---- */

/* A node is a 64-bit number that encodes what it refers to (dataset, field, file); nothing is stored,
 * see vfs.h. The root is 1. A number stays valid while its object exists and while it has references:
 * options.counts_lookups says whether the caller counts them. All functions are thread-safe. */

/* Creates a tree over sources: files, passthrough directories, or directories that are datasets. A single
 * source is the root; several get a directory each. Fails if no source opens. Makes paths absolute. */
enum nt_status nt_vfs_new(const char *const *paths, size_t path_count, const struct nt_vfs_options *options,
                          struct nt_vfs **vfs_ret, struct nt_error *error);
void nt_vfs_free(struct nt_vfs *vfs); /* accepts NULL */
NT_DEFINE_CLEANUP(struct nt_vfs, nt_vfs_free)

/* Returns the reason, without the source's name, why the only source would be refused without
 * `open_broken`; or NT_OK. */
enum nt_status nt_vfs_broken(struct nt_vfs *vfs, struct nt_error *error);
/* Notes say what an option requested but a dataset lacks, such as a friend of a TTree that is in another
 * file. Visits those of the first source, if it is open. */
typedef void nt_vfs_note(void *context, const struct nt_error *note);
void nt_vfs_visit_notes(struct nt_vfs *vfs, nt_vfs_note *visit, void *context);

/* Will the tree open only temporary files from now on? True if all sources are files that stay open, or
 * their group. */
bool nt_vfs_keeps_sources_open(struct nt_vfs *vfs);

/* Checks every source and reports those with nothing to show: files that fail to open, and directories
 * in which none of some hundred files opens. */
void nt_vfs_check_sources(struct nt_vfs *vfs);

struct nt_vfs_attributes {
    uint64_t node;
    uint32_t generation; /* differs when a number is reused */
    enum nt_vfs_class class;
    bool is_immutable;    /* never changes while mounted: caches may keep it forever */
    bool is_name_lasting; /* immutable, and its name always leads to it */
    struct stat stat;     /* all members are set, st_ino = node */
};

/* Returns the attributes of a node. Without `may_block`, returns NT_NOT_FOUND if the size requires
 * reading a page list (but in pages/, whose listing reads them all) or generating a document. */
enum nt_status nt_vfs_stat(struct nt_vfs *vfs, uint64_t node, bool may_block,
                           struct nt_vfs_attributes *attributes, struct nt_error *error);
/* The same, with any necessary work. Returns NT_CANCELED if the caller gives up. */
enum nt_status nt_vfs_stat_for(struct nt_vfs *vfs, uint64_t node, const struct nt_vfs_caller *caller,
                               struct nt_vfs_attributes *attributes, struct nt_error *error);

/* Finds a name in a directory; NT_NOT_FOUND. Does not compute the size of the node. */
enum nt_status nt_vfs_lookup(struct nt_vfs *vfs, uint64_t directory, const char *name, uint64_t *node_ret,
                             struct nt_error *error);
/* Also returns the attributes, and adds 1 to the lookup count of the node. */
enum nt_status nt_vfs_lookup_ref(struct nt_vfs *vfs, uint64_t directory, const char *name,
                                 const struct nt_vfs_caller *caller, struct nt_vfs_attributes *attributes,
                                 struct nt_error *error);
/* Add 1 to, or subtract `times` from, a lookup count. The node is being listed, or was looked up. */
void nt_vfs_ref(struct nt_vfs *vfs, uint64_t node);
void nt_vfs_forget(struct nt_vfs *vfs, uint64_t node, uint64_t times);
/* Resolves a path from the root ("", "/", "Events/run/data.bin"). Follows links. */
enum nt_status nt_vfs_resolve(struct nt_vfs *vfs, const char *path, uint64_t *node_ret,
                              struct nt_error *error);
uint64_t nt_vfs_parent(struct nt_vfs *vfs, uint64_t node);

/* The target of a link. NT_INVALID: the node is none. */
enum { NT_VFS_TARGET = 24 };
enum nt_status nt_vfs_read_link(uint64_t node, char target[NT_VFS_TARGET], struct nt_error *error);

/* Emits the entries of a directory from `cursor` on (0 or an earlier `next_cursor`), without "." and
 * "..". Stops when `emit` returns false; that entry counts as not emitted. */
typedef bool nt_vfs_emit(void *context, const char *name, uint64_t node, enum nt_vfs_class class,
                         uint64_t next_cursor);
enum nt_status nt_vfs_readdir(struct nt_vfs *vfs, uint64_t directory, uint64_t cursor, nt_vfs_emit *emit,
                              void *context, struct nt_error *error);

/* The number of entries of the same kind before a cursor. */
uint64_t nt_vfs_cursor_index(uint64_t cursor);

/* Opens a file. A read at or past the end returns 0 bytes. Within the file it returns `bytes` bytes, or
 * those up to the end, or an error; a streamed handle may return fewer if later text fails. Threads may
 * share a handle. Unsized handles support any order; sequential reads run at full speed. */
enum nt_status nt_vfs_open(struct nt_vfs *vfs, uint64_t node, struct nt_vfs_handle **handle_ret,
                           struct nt_error *error);
enum nt_status nt_vfs_read(struct nt_vfs_handle *handle, uint64_t offset, void *buffer, size_t bytes,
                           size_t *bytes_ret, struct nt_error *error);
/* Is the handle read as a stream: is its size unknown, or does damage truncate it? */
bool nt_vfs_is_streamed(const struct nt_vfs_handle *handle);
/* Estimates the final size of a streamed handle from the part generated so far; 0: unknown. */
uint64_t nt_vfs_probable_bytes(const struct nt_vfs_handle *handle);
/* Pins the bytes in the cache, like nt_stream_pin. False: the caller must read them instead. */
bool nt_vfs_pin(struct nt_vfs_handle *handle, uint64_t offset, size_t bytes, struct nt_pins *pins);
void nt_vfs_close(struct nt_vfs_handle *handle);
NT_DEFINE_CLEANUP(struct nt_vfs_handle, nt_vfs_close)

/* The names of extended attributes begin with this. */
#define NT_VFS_XATTR_PREFIX "user.ntuplefs."

/* Extended attributes; NT_NOT_FOUND: unknown name, or a listed one without a value. A NUL
 * follows each listed name. */
enum nt_status nt_vfs_getxattr(struct nt_vfs *vfs, uint64_t node, const char *name, struct nt_buffer *value,
                               struct nt_error *error);
enum nt_status nt_vfs_listxattr(struct nt_vfs *vfs, uint64_t node, struct nt_buffer *names,
                                struct nt_error *error);

/* The type of an extended attribute's text: a text; a decimal integer below 2^64; a JSON real number;
 * or such integers separated by commas. Unknown names are texts. */
enum nt_vfs_value {
    NT_VFS_VALUE_TEXT,
    NT_VFS_VALUE_INTEGER,
    NT_VFS_VALUE_REAL,
    NT_VFS_VALUE_INTEGERS,
};
enum nt_vfs_value nt_vfs_xattr_value(const char *name);

/* For statfs: the bytes of the sources found so far. The number of files is unknown without a walk. */
uint64_t nt_vfs_source_bytes(struct nt_vfs *vfs);
