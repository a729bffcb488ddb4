/* SPDX-License-Identifier: MIT
 *
 * The tables that the tree is made of. Every level of the tree has a table of pseudo-files, a row each: a
 * name, a class and the functions that make its content. A directory is a list of sections (files of the
 * table, fields, columns, pages, ...), each of which can list its entries and find one by name. Listing,
 * looking up, attributes and reading are written once, over these tables.
 *
 * To add a file: write its function, declare it in documents.h or view_files.h, add a row to the level's table in
 * <level>_files.c.
 */
#ifndef NT_VFS_PSEUDO_H
#define NT_VFS_PSEUDO_H

#include <stdio.h>

#include "read/page.h"
#include "vfs/scope.h"

/* What an open file gives: `size` bytes, or a text of unknown size (UINT64_MAX). */
struct nt_content {
    const struct nt_content_ops *ops;
    uint64_t size;
    bool ends_early; /* its last byte stands for what is damaged, and fails */
};

struct nt_content_ops {
    /* Within [0, size) exactly `bytes`; of a text that is unsized or ends early up to its end, *bytes_ret
     * tells. */
    enum nt_status (*read)(struct nt_content *content, uint64_t offset, void *buffer, size_t bytes,
                           size_t *bytes_ret, struct nt_error *error);
    void (*close)(struct nt_content *content);
    /* Of one without a size: as nt_vfs_probable_bytes. NULL: nobody knows. */
    uint64_t (*probable_bytes)(struct nt_content *content);
    /* The same bytes where they lie, as nt_stream_pin gives them, but the content has to stay open. May be NULL. */
    bool (*pin)(const struct nt_content *content, uint64_t offset, size_t bytes, struct nt_pins *pins);
};

struct nt_pseudo {
    const char *name;
    enum nt_vfs_class class;
    unsigned parameter; /* for functions that serve several rows */
    bool is_private;    /* only its owner may read it */
    /* Whether the scope has such a file; NULL: always. Must do no work. */
    bool (*exists)(const struct nt_scope *scope, unsigned parameter);

    /* SIZED. `may_work` false: NT_NOT_FOUND where the size is not known without reading page lists. Also
     * PRODUCED, where it is known before the document is made; NT_NOT_FOUND or no function: it is not. */
    enum nt_status (*size)(const struct nt_scope *scope, bool may_work, uint64_t *size_ret,
                           struct nt_error *error);
    enum nt_status (*open)(const struct nt_scope *scope, struct nt_content **content_ret,
                           struct nt_error *error);
    /* SIZED: whether an outline is enough to tell the size. NULL: it is not. */
    bool (*is_outlined)(const struct nt_scope *scope);
    /* PRODUCED: the same bytes each time, but in .ntuplefs. */
    enum nt_status (*produce)(const struct nt_scope *scope, struct nt_buffer *out, struct nt_error *error);
    /* UNSIZED: `open_text` makes it, the same bytes each time. Where `is_short` finds, from metadata alone, that
     * this is little work, it is done for a look, and the file is as a PRODUCED one. */
    enum nt_status (*open_text)(const struct nt_scope *scope, struct nt_long_text **text_ret,
                                struct nt_error *error);
    enum nt_status (*is_short)(const struct nt_scope *scope, bool *is_short_ret, struct nt_error *error);
    /* DIRECTORY; NULL-terminated. */
    const struct nt_section *const *sections;
};

struct nt_pseudo_table {
    const struct nt_pseudo *rows;
    unsigned count;
};

/* An entry of a directory. */
struct nt_dir_entry {
    uint64_t node;
    enum nt_vfs_class class;
    char name[NT_NAME_BYTES + 1];
};

struct nt_section {
    /* The first entry with an index of at least *index, which is set to its index. NT_NOT_FOUND at
     * the end. */
    enum nt_status (*next)(const struct nt_scope *directory, uint64_t *index, struct nt_dir_entry *listed,
                           struct nt_error *error);
    /* NT_NOT_FOUND where the section has no such name. */
    enum nt_status (*find)(const struct nt_scope *directory, const char *name, uint64_t *node_ret,
                           struct nt_error *error);
    /* Called before a listing starts. May be NULL. */
    enum nt_status (*begin)(const struct nt_scope *directory, struct nt_error *error);
};

/* ---- the levels ---- */

extern const struct nt_pseudo_table nt_container_files; /* of a file: file.json, ... */
extern const struct nt_pseudo_table nt_mount_files;     /* .ntuplefs */
extern const struct nt_pseudo_table nt_dataset_files;
extern const struct nt_pseudo_table nt_field_files;
extern const struct nt_pseudo_table nt_column_files;
extern const struct nt_pseudo_table
    nt_failed_files; /* of a data set or file that cannot be opened: error.json */
extern const struct nt_pseudo nt_page_raw_file, nt_page_bin_file;   /* <n>.raw, <n>.bin */
extern const struct nt_pseudo nt_page_part_file, nt_page_text_file; /* <n>.0.raw, <n>.chunks.jsonl, ... */
extern const struct nt_pseudo nt_entry_file;                        /* rows.d/<n>.json */
extern const struct nt_pseudo nt_blob_file;                         /* blob.d/<n> */
extern const struct nt_pseudo nt_mount_directory;                   /* .ntuplefs */
extern const struct nt_pseudo nt_produced_document, nt_unsized_document; /* given by formats */

/* Sections that several levels have. */
extern const struct nt_section nt_section_files;     /* of the level's table */
extern const struct nt_section nt_section_documents; /* given by the format */
extern const struct nt_section nt_section_places;    /* children of a folder */
extern const struct nt_section nt_section_items;     /* directories and data sets; attribute sets */
extern const struct nt_section nt_section_fields;
extern const struct nt_section nt_section_columns;
extern const struct nt_section nt_section_pages;
extern const struct nt_section nt_section_entries;     /* found by number, not listed */
extern const struct nt_section nt_section_blobs;       /* the same */
extern const struct nt_section nt_section_versions;    /* the same */
extern const struct nt_section nt_section_chain_files; /* found by name, not listed */

/* The files that a page of the scope's column has beside <n>.raw and <n>.bin: none where there is no such page, or no list of
 * pages that can be read. Fails where the machine does. */
enum nt_status nt_page_files(const struct nt_scope *column, uint64_t page,
                             struct nt_page_file files[NT_PAGE_FILES], uint32_t *count_ret,
                             struct nt_error *error);

/* Whether the scope is a directory. */
static inline bool nt_scope_is_directory(const struct nt_scope *scope)
{
    return !scope->pseudo || scope->pseudo->class == NT_VFS_DIRECTORY;
}

/* ---- what a directory has ---- */

/* The sections of the scope's directory; NULL-terminated. */
const struct nt_section *const *nt_scope_sections(const struct nt_scope *scope);

/* The table of the scope's level. */
const struct nt_pseudo_table *nt_scope_files(const struct nt_scope *scope);

/* Whether a name in a file's topmost directory is one of ours. */
bool nt_is_container_file(const struct nt_file *file, struct nt_text name);

/* ---- documents that a format gives: header.json, pagelist.<n>.bin, keys.jsonl ---- */

/* Those in the scope's directory. */
const struct nt_document *nt_scope_documents(const struct nt_scope *scope, uint32_t *count_ret);
uint64_t nt_document_count(const struct nt_scope *scope, const struct nt_document *document);
void nt_document_name(const struct nt_document *document, uint64_t number, struct nt_buffer *name);
/* Whether a name is the document's, whatever its number. */
bool nt_document_is(const struct nt_document *document, struct nt_text name);

/* ---- what the functions of rows and sections have in common ---- */

/* The end of a listing, or a name or a number that is not there. */
static inline enum nt_status nt_no_such_file(struct nt_error *error)
{
    return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "no such file");
}

/* For a size that is asked for without work. */
static inline enum nt_status nt_unknown_size(struct nt_error *error)
{
    return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "the size is not known without reading page lists");
}

static inline void nt_dir_entry_set_name(struct nt_dir_entry *listed, const char *name)
{
    snprintf(listed->name, sizeof(listed->name), "%s", name);
}

#endif
