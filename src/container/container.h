/* SPDX-License-Identifier: MIT
 *
 * What holds RNTuples: a TFile (ROOT's container of keys and directories), a bare file, or an object store. A container finds
 * the anchors; the rest is found from them.
 */
#ifndef NT_FORMAT_RNTUPLE_CONTAINER_H
#define NT_FORMAT_RNTUPLE_CONTAINER_H

#include "core/json/json.h"
#include "core/model/model.h"

/* An anchor object, as a key (or the bare file) holds it. A directory or a list of keys that cannot be read
 * stands among them with its failure, so that what it may have held is not missed silently. */
struct nt_anchor_object {
    uint32_t directory;  /* index into the file's directories */
    struct nt_text name; /* of the key */
    uint32_t cycle;
    bool is_newest_cycle;   /* false: another anchor of this name in this directory has a higher cycle */
    const char *class_name; /* "ROOT::RNTuple" or "ROOT::Experimental::RNTuple"; of what failed, else */
    const uint8_t *bytes;   /* the streamed object, uncompressed, its checksum included; NULL: see failure */
    size_t length;
    uint64_t offset; /* of the object's stored bytes in the file */
    uint64_t stored_bytes;
    uint16_t schema_major, schema_minor; /* of an attribute set: the version of its schema */
    const struct nt_anchor *anchor;      /* that the container has read itself; NULL: it is to be read */
    const struct nt_error *failure;
};

struct nt_anchor;
struct nt_container_kind;

struct nt_container {
    const struct nt_container_kind *kind;
    /* An anchor failed, or something tells that there are more: its records are worth a walk. */
    bool has_doubts;
    const struct nt_anchor_object *anchors;
    uint32_t anchor_count;
    void *details; /* the container's own */
};

static inline const struct nt_container *nt_container_of(const struct nt_file *file)
{
    return file->format_data;
}

/* The record of an anchor, listed or not. The name is valid during the visit. */
struct nt_anchor_record {
    uint64_t offset;        /* of the record in the file */
    uint64_t object_offset; /* of the object's stored bytes */
    uint32_t directory;     /* index into the file's directories; NT_NONE: it names none of them */
    uint32_t cycle;
    struct nt_text name;
};

/* Anything but NT_OK ends the walk. */
typedef enum nt_status nt_anchor_visit(void *context, const struct nt_anchor_record *record,
                                       struct nt_error *error);

/* A kind of container: a row of the table of container_open.c. */
struct nt_container_kind {
    const char *name;  /* "TFile", "bare" or "object store" */
    const char *magic; /* with which its files begin; `open` may rely on it */
    /* Of one whose files are texts, what stands in their beginnings, too. NULL: none is a text. */
    const char *text_mark;
    enum nt_status (*open)(struct nt_file *file, struct nt_container *container, struct nt_error *error);
    /* What envelopes and pages lie in: objects beneath the file. NULL: the file itself. */
    enum nt_status (*open_objects)(const struct nt_file *file, struct nt_source **objects_ret,
                                   struct nt_error *error);
    /* For the file of the same names: see nt_file. */
    enum nt_status (*describe)(const struct nt_file *file, struct nt_json *json, struct nt_error *error);
    enum nt_status (*layout)(const struct nt_file *file, nt_layout_emit *emit, void *context,
                             struct nt_error *error);
    /* Walk over all records of the file, from the first to the last, and visit those of anchors. NULL: the
     * container has no more than the anchors that it opened. */
    enum nt_status (*visit_anchors)(const struct nt_file *file, nt_anchor_visit *visit, void *context,
                                    struct nt_error *error);
    const struct nt_document *documents;
    uint32_t document_count;
};

extern const struct nt_container_kind nt_container_bare, nt_container_store, nt_container_tfile;

/* Members that the descriptions of all containers have. */
void nt_container_describe_root_version(struct nt_json *json, uint32_t version);
void nt_container_describe_compression(struct nt_json *json, uint32_t setting); /* algorithm * 100 + level */

/* ---- from a file to its container ---- */

/* Recognise the container of file->source, read its directories (added to the file) and its anchors. All
 * memory is the file's arena but for `container` itself, which is the caller's and must live as long as the
 * file: it becomes file->format_data (make it the first member where more is wanted there). Sets the file's
 * documents, describe and layout. The layout has everything but what anchors lead to: anchor objects
 * (`anchors`), envelopes, pages and their checksums are the caller's to add. Where the container can be described
 * and nothing leads to an anchor, the file has its failure; NT_NOT_THIS_FORMAT tells of a ROOT file without an
 * RNTuple the classes of its keys. */
enum nt_status nt_container_open(struct nt_file *file, struct nt_container *container,
                                 struct nt_error *error);

#endif
