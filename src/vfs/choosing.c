/* SPDX-License-Identifier: MIT
 *
 * In: paths of data sets, as they are in the tree, with choices of entries. Out: these choices in the data sets of a file.
 */
#include "vfs/choosing.h"

#include <string.h>

/* "run2.root/", in front of what is in the place's file; nothing for the root. */
static void put_place(struct nt_places *places, const struct nt_place *place, struct nt_buffer *path)
{
    uint32_t above[NT_MAX_DEPTH];
    char name[NT_NAME_BYTES + 1];
    size_t count = 0;
    for (uint32_t at = nt_place_is_version(place) ? place->parent : place->number; at && count < NT_MAX_DEPTH;
         at = nt_places_parent(places, at))
        above[count++] = at;
    while (count-- > 0) {
        nt_places_name(places, above[count], name);
        nt_buffer_format(path, "%s/", name);
    }
}

/* Of inner places, and of one of many data sets without its name, nothing is chosen. */
static bool is_meant(const struct nt_vfs_choice *choice, const struct nt_place *place,
                     const struct nt_open_file *opened, const char *path)
{
    if (nt_place_is_inner(place))
        return false;
    if (!*choice->dataset)
        return opened->file->dataset_count == 1 &&
               (place->number == 0 || (nt_place_is_version(place) && place->parent == 0));
    return strcmp(choice->dataset, path) == 0;
}

static enum nt_status choose(struct nt_places *places, const struct nt_place *place,
                             struct nt_open_file *opened, struct nt_dataset *dataset, struct nt_error *error)
{
    struct nt_buffer path = {0};
    enum nt_status status = NT_OK;
    put_place(places, place, &path);
    bool is_reached = nt_open_file_path(opened, opened->file->directory_count + dataset->index, &path);
    if (path.failed)
        status = nt_fail_memory(error);
    for (size_t i = 0; status == NT_OK && is_reached && i < places->options.choice_count; i++) {
        const struct nt_vfs_choice *choice = &places->options.choices[i];
        if (is_meant(choice, place, opened, path.bytes))
            status = nt_choice_apply(choice->choice, dataset, error);
    }
    nt_buffer_deinit(&path);
    return status;
}

enum nt_status nt_places_choose(struct nt_places *places, const struct nt_place *place,
                                struct nt_open_file *opened, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    for (uint32_t i = 0; places->options.choice_count && status == NT_OK && i < opened->file->dataset_count;
         i++)
        status = choose(places, place, opened, opened->file->datasets[i], error);
    return status;
}
