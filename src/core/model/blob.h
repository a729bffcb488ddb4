/* SPDX-License-Identifier: MIT
 *
 * Blobs: values whose bytes lie in other files than their rows, as the rows of a structure tell (nt_field.is_description).
 */
#ifndef NT_MODEL_BLOB_H
#define NT_MODEL_BLOB_H

#include <stdbool.h>
#include <stdint.h>

#include <ntuple/text.h>

/* The numbers of `kind` in the file. */
enum nt_blob_kind {
    NT_BLOB_INLINE,    /* in the data file that has the row */
    NT_BLOB_PACKED,    /* in a file beside it that has several */
    NT_BLOB_DEDICATED, /* in a file of its own beside it */
    NT_BLOB_EXTERNAL,  /* in a file that does not belong to the dataset */
    NT_BLOB_MANAGED,   /* in a file of the dataset that has a name of its own */
    NT_BLOB_KINDS
};

/* Whether `uri` is read: the others have none. */
static inline bool nt_blob_has_uri(uint8_t kind)
{
    return kind == NT_BLOB_EXTERNAL || kind == NT_BLOB_MANAGED;
}

/* A row that is not null, in the types of the file. */
struct nt_description {
    uint8_t kind;
    uint64_t position, size;
    uint32_t id;
    struct nt_text uri;
};

struct nt_source;
struct nt_folder;

/* Where a blob lies. Zero at first. */
struct nt_blob {
    uint64_t bytes;
    uint64_t offset;          /* in `source` */
    struct nt_source *source; /* NULL: no file is open */
    struct nt_folder *folder; /* that the file lies beneath, and its name there, from malloc */
    char *name;
};

/* Closes the file. */
void nt_blob_deinit(struct nt_blob *blob);

#endif
