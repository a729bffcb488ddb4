/* SPDX-License-Identifier: MIT
 *
 * Opens files: tries formats in order until one recognises the file.
 */
#ifndef NTUPLE_FORMAT_H
#define NTUPLE_FORMAT_H

#include <ntuple/api.h>
#include <ntuple/dataset.h>
#include <ntuple/source.h>

NT_API_BEGIN

/* Structures of options grow at the end. Set the first member to the size that the caller knows, with
 * the macro below the structure; members beyond it are 0, and 0 is always the default. The library
 * refuses options that it does not know yet with NT_INVALID. */
struct nt_open_options {
    size_t struct_bytes;
    const char *format; /* the only format to try; NULL: all */
    /* Roaring: bytes after the end are an error; by default metadata.json reports them. */
    bool refuse_trailing_bytes;
    /* Limits for the file; 0: derived from the size of what was read. */
    uint64_t metadata_bytes; /* memory for its metadata */
    uint64_t page_bytes;     /* larger decoded pages are refused */
    /* Other users see the contents, perhaps without permission to read the files. A dataset of several
     * files then refuses a file whose mode admits fewer users than the dataset's. */
    bool for_other_users;
    /* Open a file even if none of its datasets opens, as long as their container can be read. The file
     * then has datasets with failures, or none. */
    bool open_broken;
    /* The version of a dataset with a history (Lance): a number, a tag, a branch (its latest version)
     * or "BRANCH:NUMBER"; NULL: the latest. NT_NOT_FOUND lists them; NT_INVALID without history. */
    const char *version;
    /* Directories that may contain other files of a dataset: those of a Lance dataset outside its own
     * directory, at the base paths of its manifest, and those with baskets of a TTree's branches. Ends
     * with NULL, or is NULL. */
    const char *const *bases;
    /* Fetches a file at an address; NULL: one for this file only. The caller keeps ownership. */
    struct nt_fetcher *fetcher;
    /* TTrees: branches of friends that are in the same file, with as many entries, are fields below the
     * friend's name. */
    bool friends;
    /* Only for nt_file_open_chain: a file that stores how many entries each file of a chain has, as option
     * index= of ntuplefs(1); written, if possible, when all files are open. NULL: none. */
    const char *index;
};
#define NT_OPEN_OPTIONS_INIT                                                                                 \
    {                                                                                                        \
        sizeof(struct nt_open_options), NULL, false, 0, 0, false, false, NULL, NULL, NULL, false, NULL       \
    }

/* The formats of this build in the order of trying: the name for `format`, and a description for people.
 * Static; NULL past the last. Any thread. */
const char *nt_format_name(uint32_t index);
const char *nt_format_description(uint32_t index);

/* Opens a file, a directory or an address with the first format that accepts it. `options` NULL: the
 * defaults. The caller closes the file with nt_file_close. Any thread. NT_NOT_THIS_FORMAT reports what
 * the file is instead, or why no format accepts it. If no dataset opens, fails as the first, unless
 * `open_broken`. NT_NOT_FOUND, NT_INVALID, NT_LIMIT, NT_NO_MEMORY, and the failures of reading. */
NT_CHECKED enum nt_status nt_file_open(const char *path, const struct nt_open_options *options,
                                       struct nt_file **file_ret, struct nt_error *error);

/* The same from a source, which gives the file its name. On success the file owns and closes the
 * source; otherwise the caller keeps it. BLZ arrays and tables are directories and cannot be read from a
 * source. */
NT_CHECKED enum nt_status nt_file_open_source(struct nt_source *source, const struct nt_open_options *options,
                                              struct nt_file **file_ret, struct nt_error *error);

enum {
    NT_CHAIN_UNION_FIELDS = 1, /* the fields of all files; in files without a field its rows are null */
    NT_CHAIN_SKIP_FAILED = 2,  /* omit files that cannot be opened or have no dataset of the chain */
};

/* Opens many files as one, whose datasets have the entries of all files, one after the other. Names are those
 * of ntuplefs(1): files, addresses, patterns, lists of names, specifications of RDataFrame. `flags`:
 * NT_CHAIN_*. Opens all files, in several threads. Without `options->fetcher`, all addresses share one
 * network helper. NT_INCOMPATIBLE if fields differ, NT_NOT_FOUND if nothing matches.
 *
 * With `options->index`: if the index knows all files, opens only the first one (with NT_CHAIN_UNION_FIELDS
 * always all). The file then has the names, fields and entries of the chain, but reading from it is
 * NT_INVALID: nt_file_resolve opens the other files. Rows of a file that cannot be opened, that has changed,
 * or whose fields differ, then fail. NT_INVALID if the file is not an index, or if other users may write to
 * it. */
NT_CHECKED enum nt_status nt_file_open_chain(const char *const *names, size_t count,
                                             const struct nt_open_options *options, unsigned flags,
                                             struct nt_file **file_ret, struct nt_error *error);

/* With NT_CHAIN_SKIP_FAILED: NT_OK if all files of a chain are in it. If some were skipped, fails as the
 * first of them, and says how many they are. Any thread. With an index, call it after nt_file_resolve. */
NT_CHECKED enum nt_status nt_file_check_skipped(const struct nt_file *file, struct nt_error *error);

NT_API_END

#endif
