/* SPDX-License-Identifier: MIT
 *
 * A tree of a real file in ../shared, for tests of the reader.
 */
#pragma once

#include <stdio.h>

#include <ntuple/source.h>

#include "container/container.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "formats/ttree/ttree.h"

struct opened_tree {
    struct nt_source *source;
    struct nt_file *file;
    struct nt_tfile_header header;
    struct nt_streamer_info info;
    struct nt_ttree tree; /* as found: not read yet */
    struct nt_text class_name, key_name;
    uint8_t *object; /* tree.object, for changes */
};

static inline void opened_tree_close(struct opened_tree *opened)
{
    if (opened->file)
        nt_file_discard(opened->file);
    if (opened->source)
        nt_source_close(opened->source);
    *opened = (struct opened_tree){0};
}

/* Opens a file and reads its streamer information. */
static inline enum nt_status opened_tree_open(const char *path, struct opened_tree *opened,
                                              struct nt_error *error)
{
    const struct nt_limits limits = {0};
    *opened = (struct opened_tree){0};
    enum nt_status status = nt_source_open_local(path, &opened->source, error);
    if (status == NT_OK)
        status = nt_tfile_read_header(opened->source, &opened->header, error);
    if (status == NT_OK)
        status = nt_file_new(path, opened->source, &limits, &opened->file, error);
    if (status == NT_OK)
        status = nt_streamer_info_read(opened->file, opened->header.info_offset, opened->header.info_bytes,
                                       &opened->info, error);
    return status;
}

/* An empty file, which describes no classes: there are only the built-in ones. */
static inline enum nt_status opened_tree_open_empty(const char *path, struct opened_tree *opened,
                                                    struct nt_error *error)
{
    const struct nt_limits limits = {0};
    *opened = (struct opened_tree){0};
    FILE *file = fopen(path, "wb");
    if (file)
        fclose(file);
    enum nt_status status = nt_source_open_local(path, &opened->source, error);
    if (status == NT_OK)
        status = nt_file_new(path, opened->source, &limits, &opened->file, error);
    if (status == NT_OK)
        status = nt_streamer_info_read(opened->file, 0, 0, &opened->info, error);
    return status;
}

static inline bool opened_tree_is_tree(struct nt_text class_name)
{
    return nt_text_is(class_name, "TTree") || nt_text_is(class_name, "TNtuple") ||
           nt_text_is(class_name, "TNtupleD");
}

/* Takes the object of a record. */
static inline enum nt_status opened_tree_take(struct opened_tree *opened, const struct nt_tfile_key *key,
                                              struct nt_error *error)
{
    uint32_t stored_bytes = key->bytes - key->key_bytes;
    struct nt_arena *arena = opened->file->arena;
    uint8_t *stored = nt_arena_alloc(arena, 1, stored_bytes + 1);
    opened->object = nt_arena_alloc(arena, 1, key->object_bytes + 1);
    enum nt_status status =
        nt_source_read(opened->source, key->offset + key->key_bytes, stored, stored_bytes, error);
    if (status == NT_OK && nt_tfile_is_compressed(key))
        status = nt_decompress_root_object(stored, stored_bytes, opened->object, key->object_bytes, error);
    else if (status == NT_OK)
        memcpy(opened->object, stored, key->object_bytes);
    opened->tree = (struct nt_ttree){.object = opened->object,
                                     .object_bytes = key->object_bytes,
                                     .record_offset = key->offset,
                                     .key_bytes = key->key_bytes,
                                     .record_bytes = key->bytes};
    nt_text_copy(arena, key->class_name, &opened->class_name);
    nt_text_copy(arena, key->name, &opened->key_name);
    return status;
}

/* Takes the object of the first tree in the file. */
static inline enum nt_status opened_tree_take_first(struct opened_tree *opened, struct nt_error *error)
{
    struct nt_tfile_walk walk;
    struct nt_tfile_record record;
    enum nt_status status = nt_tfile_walk_init(&walk, opened->source, &opened->header, error);
    while (status == NT_OK) {
        status = nt_tfile_walk_next(&walk, &record, error);
        if (status == NT_OK && record.kind == NT_TFILE_KEY && opened_tree_is_tree(record.key.class_name)) {
            status = opened_tree_take(opened, &record.key, error);
            break;
        }
    }
    nt_tfile_walk_deinit(&walk);
    return status;
}

static inline enum nt_status opened_tree_read(struct opened_tree *opened, struct nt_error *error)
{
    return nt_ttree_read(&opened->tree, &opened->info, opened->class_name, opened->tree.key_bytes,
                         opened->file->arena, &opened->file->budget, error);
}
