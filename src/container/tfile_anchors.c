/* SPDX-License-Identifier: MIT
 *
 * In: a ROOT file. Out: the records of anchors, whether a directory lists them or not.
 */
#include <stdlib.h>

#include "container/tfile.h"

/* A directory by the place of its record. */
struct place {
    uint64_t offset;
    uint32_t directory;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static struct place *places_of(const struct nt_tfile *tfile)
{
    struct place *places = calloc(tfile->directory_count, sizeof(*places));
    for (uint32_t i = 0; places && i < tfile->directory_count; i++)
        places[i] = (struct place){tfile->directories[i].offset, i};
    if (places)
        qsort(places, tfile->directory_count, sizeof(*places), compare_places);
    return places;
}

static uint32_t directory_at(const struct place *places, uint32_t count, uint64_t offset)
{
    const struct place wanted = {.offset = offset};
    const struct place *found = bsearch(&wanted, places, count, sizeof(*places), compare_places);
    return found ? found->directory : NT_NONE;
}

enum nt_status nt_tfile_visit_anchors(const struct nt_file *file, nt_anchor_visit *visit, void *context,
                                      struct nt_error *error)
{
    const struct nt_tfile *tfile = nt_tfile_of(file);
    struct place *places = places_of(tfile);
    struct nt_tfile_walk walk;
    struct nt_tfile_record record;
    enum nt_status status = nt_tfile_walk_init(&walk, file->source, &tfile->header, error);
    if (!status && !places)
        status = nt_fail_memory(error);
    while (!status && !(status = nt_tfile_walk_next(&walk, &record, error))) {
        if (record.kind != NT_TFILE_KEY || !nt_tfile_is_anchor(&record.key))
            continue;
        const struct nt_anchor_record anchor = {
            .offset = record.offset,
            .object_offset = record.offset + record.key.key_bytes,
            .directory = directory_at(places, tfile->directory_count, record.key.directory_offset),
            .cycle = record.key.cycle,
            .name = record.key.name,
        };
        status = visit(context, &anchor, error);
    }
    nt_tfile_walk_deinit(&walk);
    free(places);
    return status == NT_NOT_FOUND ? NT_OK : status;
}
