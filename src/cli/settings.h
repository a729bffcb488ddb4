/* SPDX-License-Identifier: MIT
 *
 * What the options of ntuplefs and ntuple set. Each program and command has tables for the members that it
 * uses.
 */
#ifndef NT_CLI_SETTINGS_H
#define NT_CLI_SETTINGS_H

#include "cli/options.h"
#include "vfs/vfs.h"

enum nt_confinement { NT_CONFINEMENT_ON, NT_CONFINEMENT_OFF, NT_CONFINEMENT_STRICT };

struct nt_settings {
    bool help, version;

    /* The tree: nt_tree_options. */
    const char *format, *dataset_version;
    uint64_t cache_bytes;
    uint64_t metadata_bytes, page_bytes; /* 0: what follows from what was read of it */
    unsigned threads;                    /* 0: one for each processor */
    unsigned list;                       /* "all", "sized" */
    unsigned text;                       /* "short", "sized" */
    uint64_t text_bytes;
    unsigned verify;         /* "read", "open" */
    unsigned arrow_strings;  /* "text", "binary" */
    unsigned arrow_unions;   /* enum nt_arrow_unions */
    unsigned trailing_bytes; /* "accept", "refuse" */
    unsigned links;          /* "refuse", "follow" */
    unsigned sandbox;        /* enum nt_confinement */
    unsigned broken;         /* "refuse", "show" */
    bool is_chain;
    unsigned chain_rule;        /* enum nt_chain_rule */
    unsigned missing;           /* "refuse", "skip" */
    const char *const *bases;   /* directories; NULL: none */
    const char *const *select;  /* "DATASET:FILE", the name may be nothing; NULL: none */
    const char *const *entries; /* "DATASET:FIRST:END", the name and its colon may be missing; NULL: none */
    unsigned timeout_seconds;
    unsigned certificate; /* "any", "origin" */
    uint64_t remote_cache_bytes;
    const char *disk_cache; /* a folder; NULL: none */
    uint64_t disk_cache_bytes;
    struct nt_fetcher *fetcher; /* NULL: no source is remote */

    /* ntuplefs */
    bool foreground, debug, single_threaded, force, allow_other, auto_unmount;
    bool is_fake;     /* all but mounting */
    const char *type; /* as mount(8) tells it */
    const char *fsname, *subtype;
    struct nt_id uid, gid;
    unsigned idle_seconds;   /* 0: never */
    unsigned direct_io;      /* enum nt_direct_io */
    const char *index;       /* a file; NULL: none */
    struct nt_buffer passed; /* mount options for libfuse and the kernel */

    /* ntuple's commands */
    bool human, single_column, by_size, by_time;
    bool all, details, recursive, overwrite, json, quiet;
    unsigned depth, rows;
    const char *sort, *row_range;
    bool schema, values, layout; /* parts of a comparison */
};

extern const struct nt_option nt_tree_options[];

/* Those of ntuplefs: in front of operands (-f); the same where mount(8) has called the program as its helper,
 * `mount.ntuplefs SOURCE MOUNTPOINT [-sfnv] [-t TYPE] [-o LIST]`, whose letters mean other things; after -o; and
 * there what mount(8) hands over and what changes nothing here. */
extern const struct nt_option nt_mount_switches[], nt_helper_switches[], nt_mount_options[],
    nt_accepted_options[];

/* What ntuplefs takes behind its options, as commands tell it of theirs. */
extern const char nt_mount_operands[];

/* The formats that there are, for --help. */
void nt_formats_help(FILE *stream);

/* The options of a tree, with defaults filled in. */
struct nt_vfs_options nt_settings_tree(const struct nt_settings *settings);

/* Whether the sources are a chain. */
bool nt_settings_has_chain(const struct nt_settings *settings);
/* The files that sources stand for where they are a chain; NULL: they are none. To be freed. */
enum nt_status nt_settings_chain(const struct nt_settings *settings, const char *const *sources,
                                 size_t source_count, struct nt_chain_list **list_ret,
                                 struct nt_error *error);

/* The processors that this program may use. */
unsigned nt_processors(void);

/* ---- memory of the mount program ---- */

/* Tell the allocator, before the first thread is started. */
void nt_memory_prepare(void);

struct nt_memory {
    uint64_t cache_bytes; /* for the reader: decoded pages, and what is being decoded beyond a little */
    uint64_t reply_bytes; /* for answers to the kernel */
};

/* What is to be had of `cachesize` (0: the default) where so many requests are served at once. */
struct nt_memory nt_memory_share(uint64_t cachesize, unsigned threads);

#endif
