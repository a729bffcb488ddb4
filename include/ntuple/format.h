/* SPDX-License-Identifier: MIT
 *
 * Opening files: formats are tried in order until one recognises the file.
 */
#ifndef NTUPLE_FORMAT_H
#define NTUPLE_FORMAT_H

#include <ntuple/api.h>
#include <ntuple/dataset.h>
#include <ntuple/source.h>

NT_API_BEGIN

/* Structures of options grow at their end: the first member says how much of them the caller knows, what it
 * does not know is as if it were 0, and 0 is always what is usual. Begin with the macro behind the structure.
 * A program that asks for what the library that it runs with does not know yet is refused with NT_INVALID. */
struct nt_open_options {
    size_t struct_bytes;
    const char *format; /* name of the only format to try, NULL: all */
    /* Roaring: bytes behind the end are an error; else metadata.json tells them. */
    bool refuse_trailing_bytes;
    /* What a file may ask for; 0: what follows from what was read of it. */
    uint64_t metadata_bytes; /* memory for what is made of its metadata */
    uint64_t page_bytes;     /* pages that decode to more are refused */
    /* What is read is shown to users who might not read it themselves: a file of a dataset of several is
     * refused where its mode lets fewer users in than the mode that is told of the dataset. */
    bool for_other_users;
    /* Open a file of which no dataset opens all the same, where what holds its datasets can be read: it has
     * datasets that tell their failures, or none. */
    bool open_broken;
    /* Of a dataset with a history (Lance): which version of it, by its number, a tag, a branch (the latest there) or
     * "BRANCH:NUMBER"; NULL: the latest. NT_NOT_FOUND tells which there are; NT_INVALID where there is no history. */
    const char *version;
    /* Directories beneath which files of a Lance dataset may lie that are not in its own, as the base paths of its manifest tell; a
     * list that ends with NULL, or NULL. */
    const char *const *bases;
    /* By which a file at an address is fetched; NULL: one of its own. Stays the caller's. */
    struct nt_fetcher *fetcher;
};
#define NT_OPEN_OPTIONS_INIT                                                                                 \
    {                                                                                                        \
        sizeof(struct nt_open_options), NULL, false, 0, 0, false, false, NULL, NULL, NULL                    \
    }

/* The formats in the order in which they are tried: the name by which one is asked for, and what it is for
 * people. NULL past the last. */
const char *nt_format_name(uint32_t index);
const char *nt_format_description(uint32_t index);

/* Open a file with the first format that takes it. NT_NOT_THIS_FORMAT names what it is instead, or why it is
 * of none. A file of which no dataset opens is an error (that of the first dataset), but with `open_broken`. */
NT_CHECKED enum nt_status nt_file_open(const char *path, const struct nt_open_options *options,
                                       struct nt_file **file_ret, struct nt_error *error);

/* The same from a source, by whose name the file is called. On success the source is the file's and closed
 * with it, otherwise it stays the caller's. BLZ arrays and tables are folders: they are not read from a
 * source. */
NT_CHECKED enum nt_status nt_file_open_source(struct nt_source *source, const struct nt_open_options *options,
                                              struct nt_file **file_ret, struct nt_error *error);

NT_API_END

#endif
