/* SPDX-License-Identifier: MIT
 *
 * versions.d/<n>/ of a data set that has a history: a version of it by its number.
 */
#include "vfs/version_files.h"

#include "vfs/histories.h"
#include "vfs/opening.h"

bool nt_has_versions(const struct nt_scope *scope, unsigned unused)
{
    const struct nt_place *place = nt_places_get(scope->vfs->places, scope->place);
    (void)unused;
    return place && place->version && !place->is_numbered;
}

/* There may be many, and each look at one opens it. */
static enum nt_status versions_next(const struct nt_scope *directory, uint64_t *index,
                                    struct nt_listed *listed, struct nt_error *error)
{
    (void)directory, (void)index, (void)listed;
    return nt_no_such_file(error);
}

/* The data set; of a version that cannot be opened, a directory that tells why. */
static enum nt_status versions_find(const struct nt_scope *directory, const char *name, uint64_t *node_ret,
                                    struct nt_error *error)
{
    struct nt_places *places = directory->vfs->places;
    struct nt_open_file *opened;
    uint64_t number;
    uint32_t place;
    if (!nt_parse_between(name, "", "", &number))
        return nt_no_such_file(error);
    enum nt_status status = nt_history_find(places, directory->place, number, &place, error);
    if (status != NT_OK)
        return status;
    nt_places_hold(places, place, &place, &opened);
    bool has_dataset = opened && opened->file->dataset_count > 0;
    *node_ret = nt_node_number(has_dataset ? NT_LEVEL_DATASET : NT_LEVEL_PLACE,
                               has_dataset ? opened->first_slot : place, 0, NT_NODE_SELF);
    nt_places_release(places, opened);
    return *node_ret ? NT_OK : nt_no_such_file(error);
}

const struct nt_section nt_section_versions = {.next = versions_next, .find = versions_find};
