/* SPDX-License-Identifier: MIT
 *
 * versions.d/<n>/ of a data set that has a history, a version of it by its number; files.d/<name>/ of a chain, a file of it by its name.
 */
#include "vfs/inner_files.h"

#include "vfs/chain_places.h"
#include "vfs/histories.h"
#include "vfs/opening.h"

bool nt_has_versions(const struct nt_scope *scope, unsigned unused)
{
    const struct nt_place *place = nt_places_get(scope->vfs->places, scope->place);
    (void)unused;
    return place && place->way == NT_ROUTE_SHOWN && place->version;
}

bool nt_is_of_chain(const struct nt_scope *scope, unsigned unused)
{
    const struct nt_place *place = nt_places_get(scope->vfs->places, scope->place);
    (void)unused;
    return place && place->chain;
}

/* There may be many, and each look at one opens it. */
static enum nt_status list_nothing(const struct nt_scope *directory, uint64_t *index,
                                   struct nt_dir_entry *listed, struct nt_error *error)
{
    (void)directory, (void)index, (void)listed;
    return nt_no_such_file(error);
}

static enum nt_status pack(enum nt_level level, uint32_t slot, uint64_t *node_ret, struct nt_error *error)
{
    *node_ret = nt_node_number(level, slot, 0, NT_NODE_SELF);
    return *node_ret ? NT_OK : nt_no_such_file(error);
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
    status = pack(has_dataset ? NT_LEVEL_DATASET : NT_LEVEL_PLACE, has_dataset ? opened->first_slot : place,
                  node_ret, error);
    nt_places_release(places, opened);
    return status;
}

const struct nt_section nt_section_versions = {.next = list_nothing, .find = versions_find};

static enum nt_status files_find(const struct nt_scope *directory, const char *name, uint64_t *node_ret,
                                 struct nt_error *error)
{
    uint32_t place;
    enum nt_status status =
        nt_chain_places_find(directory->vfs->places, directory->place, name, &place, error);
    return status == NT_OK ? pack(NT_LEVEL_PLACE, place, node_ret, error) : status;
}

const struct nt_section nt_section_chain_files = {.next = list_nothing, .find = files_find};
