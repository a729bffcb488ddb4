/* SPDX-License-Identifier: MIT
 *
 * Lists the byte ranges of a ROOT file and what each belongs to: file header, keys, directories, free
 * segments and all objects that are not part of an RNTuple.
 */
#include "container/container.h"

#include <stdlib.h>

#include "core/base/built_in.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/model/model.h"

/* An object that the container knows by its offset. */
struct landmark {
    uint64_t offset;   /* of the record or of the object in it */
    const char *owner; /* NULL: the caller emits it */
};

struct emitter {
    const struct nt_file *file;
    nt_layout_emit *emit;
    void *context;
    struct landmark *landmarks; /* by offset */
    size_t landmark_count;
};

static int compare_landmarks(const void *a, const void *b)
{
    uint64_t first = ((const struct landmark *)a)->offset, second = ((const struct landmark *)b)->offset;
    return (first > second) - (first < second);
}

static enum nt_status find_landmarks(struct emitter *emitter, struct nt_error *error)
{
    const struct nt_container *container = emitter->file->format_data;
    const struct nt_tfile *tfile = nt_tfile_of(emitter->file);
    size_t capacity =
        2 + 2 * (size_t)tfile->directory_count + container->anchor_count + container->object_count;
    struct landmark *next = emitter->landmarks = calloc(capacity, sizeof(*next));
    if (!next)
        return nt_fail_memory(error);
    *next++ = (struct landmark){tfile->info_offset, "streamer info"};
    *next++ = (struct landmark){tfile->header.free_offset, "free list"};
    for (uint32_t i = 0; i < tfile->directory_count; i++) {
        *next++ = (struct landmark){tfile->directories[i].offset, "directory"};
        *next++ = (struct landmark){tfile->directories[i].keys_offset, "key list"};
    }
    for (uint32_t i = 0; i < container->anchor_count; i++) {
        if (container->anchors[i].stored_bytes)
            *next++ = (struct landmark){container->anchors[i].offset, NULL};
    }
    for (uint32_t i = 0; i < container->object_count; i++)
        if (!container->objects[i].failure)
            *next++ = (struct landmark){container->objects[i].offset, NT_HAS_TTREE ? NULL : "object"};
    emitter->landmark_count = (size_t)(next - emitter->landmarks);
    qsort(emitter->landmarks, emitter->landmark_count, sizeof(*next), compare_landmarks);
    return NT_OK;
}

static const struct landmark *find_landmark(const struct emitter *emitter, uint64_t offset)
{
    const struct landmark requested = {.offset = offset};
    return bsearch(&requested, emitter->landmarks, emitter->landmark_count, sizeof(requested),
                   compare_landmarks);
}

/* The owner of an object; NULL if the code that knows its content emits its bytes. */
static const char *object_owner(const struct emitter *emitter, const struct nt_tfile_key *key)
{
    const struct landmark *landmark = find_landmark(emitter, key->offset);
    if (!landmark)
        landmark = find_landmark(emitter, key->offset + key->key_bytes);
    if (landmark)
        return landmark->owner;
    if (nt_text_is(key->class_name, "RBlob"))
        return NULL;
    bool is_old_directory = nt_tfile_is_directory(key) || nt_text_is(key->class_name, "TFile");
    return is_old_directory ? "directory" : "object";
}

/* The class name, copied with the file's lifetime; NULL if there is none. */
static const char *class_name(const struct nt_tfile *tfile, const struct nt_tfile_key *key)
{
    static const char *const unlisted[] = {"RBlob", "TFile", "TBasket", "TList"};
    for (size_t i = 0; i < sizeof(unlisted) / sizeof(*unlisted); i++) {
        if (nt_text_is(key->class_name, unlisted[i]))
            return unlisted[i];
    }
    for (uint32_t i = 0; i < tfile->class_count; i++) {
        if (nt_text_is(key->class_name, tfile->classes[i].name.bytes))
            return tfile->classes[i].name.bytes;
    }
    return NULL;
}

static enum nt_status emit_range(const struct emitter *emitter, uint64_t offset, uint64_t bytes,
                                 const char *owner, const char *detail)
{
    uint64_t size = emitter->file->source->size;
    if (offset >= size || bytes == 0)
        return NT_OK;
    const struct nt_layout_range range = {.offset = offset,
                                          .bytes = bytes < size - offset ? bytes : size - offset,
                                          .owner = owner,
                                          .dataset = NT_NONE,
                                          .column = NT_NONE,
                                          .cluster = UINT64_MAX,
                                          .page = UINT64_MAX,
                                          .detail = detail};
    return emitter->emit(emitter->context, &range);
}

static enum nt_status emit_record(const struct emitter *emitter, const struct nt_tfile_record *record)
{
    if (record->kind == NT_TFILE_GAP)
        return NT_OK; /* ranges without an owner become gaps anyway */
    if (record->kind == NT_TFILE_FREE)
        return emit_range(emitter, record->offset, record->bytes, "free", NULL);
    const struct nt_tfile_key *key = &record->key;
    const char *class = class_name(nt_tfile_of(emitter->file), key);
    enum nt_status status = emit_range(emitter, record->offset, key->key_bytes, "key", class);
    const char *owner = object_owner(emitter, key);
    if (status || !owner)
        return status;
    return emit_range(emitter, record->offset + key->key_bytes, record->bytes - key->key_bytes, owner, class);
}

static enum nt_status emit_records(const struct emitter *emitter, struct nt_tfile_walk *walk,
                                   struct nt_error *error)
{
    struct nt_tfile_record record;
    enum nt_status status;
    while (!(status = nt_tfile_walk_next(walk, &record, error))) {
        status = emit_record(emitter, &record);
        if (status)
            return status;
    }
    return status == NT_NOT_FOUND ? NT_OK : status;
}

enum nt_status nt_tfile_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                               struct nt_error *error)
{
    const struct nt_tfile_header *header = &nt_tfile_of(file)->header;
    struct emitter emitter = {.file = file, .emit = emit, .context = context};
    struct nt_tfile_walk walk = {0};
    enum nt_status status = find_landmarks(&emitter, error);
    if (!status)
        status = nt_tfile_walk_init(&walk, file->source, header, error);
    if (!status)
        status = emit_range(&emitter, 0, header->begin, "file header", NULL);
    if (!status)
        status = emit_records(&emitter, &walk, error);
    nt_tfile_walk_deinit(&walk);
    free(emitter.landmarks);
    return status;
}
