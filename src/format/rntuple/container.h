/* SPDX-License-Identifier: MIT
 *
 * What holds RNTuples: a TFile (ROOT's container of keys and directories) or a bare file. A container finds
 * the anchors; the rest is found from them.
 */
#ifndef NT_FORMAT_RNTUPLE_CONTAINER_H
#define NT_FORMAT_RNTUPLE_CONTAINER_H

#include <ntuple/model.h>

#include "json/json.h"

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
    const struct nt_error *failure;
};

struct nt_container_kind;

struct nt_container {
    const struct nt_container_kind *kind;
    const struct nt_anchor_object *anchors;
    uint32_t anchor_count;
    void *details; /* the container's own */
};

/* A kind of container: a row of the table that nt_container_open goes through. */
struct nt_container_kind {
    const char *name;  /* "TFile" or "bare" */
    const char *magic; /* with which its files begin; `open` may rely on it */
    enum nt_status (*open)(struct nt_file *file, struct nt_container *container, struct nt_error *error);
    /* For the file of the same names: see nt_file. */
    enum nt_status (*describe)(const struct nt_file *file, void *json);
    enum nt_status (*layout)(const struct nt_file *file, nt_layout_emit *emit, void *context,
                             struct nt_error *error);
    const struct nt_document *documents;
    uint32_t document_count;
};

/* Recognise the container of file->source, read its directories (added to the file) and its anchors. All
 * memory is the file's arena but for `container` itself, which is the caller's and must live as long as the
 * file: it becomes file->format_data (make it the first member where more is wanted there). Sets the file's
 * documents, describe and layout. The layout has everything but what anchors lead to: anchor objects
 * (`anchors`), envelopes, pages and their checksums are the caller's to add. NT_NOT_THIS_FORMAT says what the
 * file is instead, where it can be told (a ROOT file without an RNTuple, with the classes of its keys; a
 * Parquet file; ...). */
enum nt_status nt_container_open(struct nt_file *file, struct nt_container *container,
                                 struct nt_error *error);

/* Members that the descriptions of all containers have. */
void nt_container_describe_root_version(struct nt_json *json, uint32_t version);
void nt_container_describe_compression(struct nt_json *json, uint32_t setting); /* algorithm * 100 + level */

/* A source that reads payloads (pages with their digest, envelopes) of `file_source`, which stays the
 * caller's. A payload of more than `maximum_key_bytes` lies in several keys: its first key ends with the
 * little-endian 64-bit offsets of the others. 0: payloads are never split. Reading with the payload's own
 * offset and full size gives its bytes joined; every other read is of the file as it is. */
enum nt_status nt_payload_source_new(struct nt_source *file_source, uint64_t maximum_key_bytes,
                                     struct nt_source **source_ret, struct nt_error *error);

/* Where the payload at `offset` of `bytes` bytes lies: one extent or several (from malloc). */
enum nt_status nt_payload_extents(struct nt_source *payload_source, uint64_t offset, uint64_t bytes,
                                  struct nt_extent **extents_ret, size_t *count_ret, struct nt_error *error);

#endif
