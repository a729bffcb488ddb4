/* SPDX-License-Identifier: MIT
 *
 * The interface of a file format: how it opens a file or directory, finds versions and detects changes.
 * Also the format table and the identification of unsupported files.
 */
#pragma once

#include <ntuple/format.h>

#include "core/io/folder.h"
#include "core/io/source.h"
#include "core/model/model.h"

enum { NT_VERSION_WATCHED = 3 };

/* A version of a dataset in a directory, as found at one moment; texts from malloc. */
struct nt_dataset_version {
    char *series; /* precedes the number: "" or "BRANCH:". Both together always open this version. */
    uint64_t number;
    char *file; /* relative to the directory; contains the version: another file is another version */
    /* Relative to the directory, up to the first NULL. As long as none of them changes, appears or
     * disappears, this remains the version. */
    char *watched[NT_VERSION_WATCHED];
    bool is_state; /* see find_state: the number has no meaning, and users cannot request it */
};
void nt_version_deinit(struct nt_dataset_version *version); /* accepts a zeroed version */

struct nt_format {
    const char *name;        /* "rntuple" */
    const char *description; /* for --help */
    /* Decides from its files if a directory is a dataset of this format. NULL: no directory is one, and
     * `open` gets no directories. */
    enum nt_status (*accepts_folder)(struct nt_folder *folder, bool *takes_ret, struct nt_error *error);
    /* Looks at a few bytes of a file: NT_NOT_THIS_FORMAT if they are not those of the format; the message
     * contains the reason, without the path. `open` begins with the same look. */
    enum nt_status (*recognize)(struct nt_source *source, struct nt_error *error);
    /* Opens a file from a source, whose path is the file's name. NT_NOT_THIS_FORMAT if it has another
     * format (the caller tries the next); the message contains the reason, without the path. On success
     * the file owns the source, and the caller the file; otherwise the caller keeps the source. Sets the
     * file's format if it is another one. */
    enum nt_status (*open)(struct nt_source *source, const struct nt_open_options *options,
                           struct nt_file **file_ret, struct nt_error *error);
    /* Finds the current version of a directory that accepts_folder accepted; `requested` as in
     * nt_open_options. NULL: datasets of this format have no versions. */
    enum nt_status (*find_version)(struct nt_folder *folder, const char *requested,
                                   struct nt_dataset_version *version_ret, struct nt_error *error);
    /* Finds the current state of a directory, for formats whose datasets change but have no versions.
     * NULL: the state never changes. */
    enum nt_status (*find_state)(struct nt_folder *folder, struct nt_dataset_version *version_ret,
                                 struct nt_error *error);
};

/* Ends with NULL. */
extern const struct nt_format *const nt_formats[];

/* Opens the file or directory at a path or address, like nt_file_open. */
enum nt_status nt_open_source(const char *path, const struct nt_open_options *options,
                              struct nt_source **source_ret, struct nt_error *error);

/* Do a few of its bytes let a file be a data file? If not, opening it fails with NT_NOT_THIS_FORMAT.
 * `format`: of the only format in question; NULL: any. */
bool nt_may_be_data_file(struct nt_source *source, const char *format);

/* Like nt_file_open_source, but closes the source on failure. */
static inline enum nt_status nt_file_take_source(struct nt_source *source,
                                                 const struct nt_open_options *options,
                                                 struct nt_file **file_ret, struct nt_error *error)
{
    enum nt_status status = nt_file_open_source(source, options, file_ret, error);
    if (status != NT_OK)
        nt_source_close(source);
    return status;
}

/* Is the directory a dataset of some format, even an unsupported one? If not, it is a directory of files. */
enum nt_status nt_is_dataset_folder(struct nt_folder *folder, bool *is_dataset_ret, struct nt_error *error);
enum nt_status nt_is_dataset_path(const char *path, bool *is_dataset_ret, struct nt_error *error);

/* Finds the version of a directory's dataset that the options select; zeros if the format has none. */
enum nt_status nt_find_version_in(struct nt_folder *folder, const struct nt_open_options *options,
                                  struct nt_dataset_version *version_ret, struct nt_error *error);
enum nt_status nt_find_version(const char *path, const struct nt_open_options *options,
                               struct nt_dataset_version *version_ret, struct nt_error *error);

static inline struct nt_limits nt_open_limits(const struct nt_open_options *options)
{
    return (struct nt_limits){.metadata_bytes = options->metadata_bytes, .page_bytes = options->page_bytes};
}

/* ---- The formats, each from its own directory; a build may omit all but RNTuple ---- */

extern const struct nt_format nt_format_blz;
extern const struct nt_format nt_format_lance;
extern const struct nt_format nt_format_rntuple;
extern const struct nt_format nt_format_roaring;
extern const struct nt_format nt_format_ttree;

/* ---- Identify unsupported files, for error messages ---- */

struct nt_file_kind {
    const char *text;   /* a few words, e.g. "a Parquet file" or "an empty file"; NULL: unknown */
    const char *format; /* the format that reads it, which the build may omit; NULL: none does */
};

struct nt_file_kind nt_identify(struct nt_source *source);
/* Does the same for a directory, e.g. "a Zarr array", from the files in it. */
enum nt_status nt_identify_folder(struct nt_folder *folder, struct nt_file_kind *kind_ret,
                                  struct nt_error *error);

/* Does the file start with printable UTF-8 only? False also if it cannot be read. */
bool nt_is_text_file(struct nt_source *source);
enum nt_status nt_find_text(struct nt_source *source, bool *is_text_ret, struct nt_error *error);
