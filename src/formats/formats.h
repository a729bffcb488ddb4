/* SPDX-License-Identifier: MIT
 *
 * The interface of a file format: how it opens a file or folder, finds versions and detects changes. Also
 * the format table and the identification of unsupported files.
 */
#ifndef NT_FORMATS_FORMATS_H
#define NT_FORMATS_FORMATS_H

#include <ntuple/format.h>

#include <stdbool.h>

#include "core/io/folder.h"
#include "core/io/source.h"
#include "core/model/model.h"

enum { NT_VERSION_WATCHED = 3 };

/* A version of a folder's dataset, as a look at the folder found it; texts from malloc. */
struct nt_dataset_version {
    char *
        series; /* in front of the number: "", or "BRANCH:"; both together open this version, whatever is written later */
    uint64_t number;
    char *file; /* beneath the folder: what the version is read from. Another file is another version */
    /* Beneath the folder, to the first NULL: as long as they are as they were, there or not, the same version is meant. */
    char *watched[NT_VERSION_WATCHED];
    bool is_state; /* see find_state: the number has no meaning, and nobody can ask for it */
};
void nt_version_deinit(struct nt_dataset_version *version); /* accepts one that is all zeros */

struct nt_format {
    const char *name;        /* "rntuple" */
    const char *description; /* for --help */
    /* Whether a folder is a dataset of this format, by a look at what lies in it. NULL: none is. Then `open`
     * is given no folders. */
    enum nt_status (*takes_folder)(struct nt_folder *folder, bool *takes_ret, struct nt_error *error);
    /* Open what a source holds; its path is what the file is called. NT_NOT_THIS_FORMAT where it is not of
     * this format (the next is tried); the message says why, without the path. On success the source is the
     * file's, and the file the caller's; otherwise the source stays the caller's. */
    enum nt_status (*open)(struct nt_source *source, const struct nt_open_options *options,
                           struct nt_file **file_ret, struct nt_error *error);
    /* Which version of a folder that it takes is meant now; `wanted` as in nt_open_options. NULL: datasets of this
     * format have no versions. */
    enum nt_status (*find_version)(struct nt_folder *folder, const char *wanted,
                                   struct nt_dataset_version *version_ret, struct nt_error *error);
    /* Of a format whose datasets have no versions, but change: what the folder's is now. NULL: it is what it was when it was opened. */
    enum nt_status (*find_state)(struct nt_folder *folder, struct nt_dataset_version *version_ret,
                                 struct nt_error *error);
};

/* The table; ends with NULL. */
extern const struct nt_format *const nt_formats[];

/* What a path or an address leads to, a file or a folder, as nt_file_open takes it. */
enum nt_status nt_open_source(const char *path, const struct nt_open_options *options,
                              struct nt_source **source_ret, struct nt_error *error);

/* nt_file_open_source of a source that is for nothing else: it is closed where this fails. */
static inline enum nt_status nt_file_take_source(struct nt_source *source,
                                                 const struct nt_open_options *options,
                                                 struct nt_file **file_ret, struct nt_error *error)
{
    enum nt_status status = nt_file_open_source(source, options, file_ret, error);
    if (status != NT_OK)
        nt_source_close(source);
    return status;
}

/* Whether a folder is one thing, a dataset of some format, be it one that is not read; else it only holds files. */
enum nt_status nt_is_dataset_folder(struct nt_folder *folder, bool *is_dataset_ret, struct nt_error *error);
enum nt_status nt_is_dataset_path(const char *path, bool *is_dataset_ret, struct nt_error *error);

/* The version of a folder's dataset that the options mean; all zeros where the folder's format has none. */
enum nt_status nt_find_version_in(struct nt_folder *folder, const struct nt_open_options *options,
                                  struct nt_dataset_version *version_ret, struct nt_error *error);
enum nt_status nt_find_version(const char *path, const struct nt_open_options *options,
                               struct nt_dataset_version *version_ret, struct nt_error *error);

static inline struct nt_limits nt_open_limits(const struct nt_open_options *options)
{
    return (struct nt_limits){.metadata_bytes = options->metadata_bytes, .page_bytes = options->page_bytes};
}

/* ---- the rows of the formats, each from its own folder; a build may omit all but RNTuple ---- */

extern const struct nt_format nt_format_blz;
extern const struct nt_format nt_format_lance;
extern const struct nt_format nt_format_rntuple;
extern const struct nt_format nt_format_roaring;

/* ---- what a file is that no format takes: for the message of a refusal ---- */

struct nt_file_kind {
    const char
        *text; /* a few words, e.g. "a Parquet file" or "an empty file"; NULL where the bytes tell nothing */
    const char *
        format; /* the name of the format that reads it, which may be omitted from the build; NULL: none does */
};

struct nt_file_kind nt_identify(struct nt_source *source);
/* The same of a folder, e.g. "a Zarr array", by what lies in it. */
enum nt_status nt_identify_folder(struct nt_folder *folder, struct nt_file_kind *kind_ret,
                                  struct nt_error *error);

/* Whether the file begins with nothing but printable UTF-8; false also where it cannot be read. */
bool nt_is_text_file(struct nt_source *source);
enum nt_status nt_find_text(struct nt_source *source, bool *is_text_ret, struct nt_error *error);

#endif
