/* SPDX-License-Identifier: MIT
 *
 * In: the schema of a data set. Out: sides whose parts are the columns of the fragments' data files.
 */
#include "formats/lance/dataset/sides.h"

#include <inttypes.h>

#include "formats/lance/dataset/load.h"
#include "formats/lance/dataset/stored.h"
#include "formats/lance/file/sides.h"

/* A field that only surrounds others has no column in a file of 2.1 or later. */
static enum nt_status find_home(struct nt_dataset *dataset, uint32_t field, uint32_t part,
                                struct nt_lance_home *home_ret, struct nt_error *error)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    struct nt_lance_fragment_part *fragment = &lance->fragments[part];
    const struct nt_lance_part *shown = &lance->schema.parts[field];
    *home_ret = (struct nt_lance_home){.fragment = fragment->id};
    enum nt_status status = nt_lance_find_stored(dataset->file, lance, fragment, error);
    const struct nt_lance_stored *stored = status == NT_OK ? &fragment->stored[shown->field] : NULL;
    if (!stored || stored->leaf.field != shown->field)
        return status;
    home_ret->name = lance->files[stored->file].name;
    status = nt_lance_open_data_file(dataset, stored->file, &home_ret->lance, error);
    if (status == NT_OK)
        home_ret->use = nt_lance_use_of(&lance->schema, &stored->leaf,
                                        nt_lance_has_item_columns(&home_ret->lance->tail), shown);
    if (status == NT_OK)
        status = nt_lance_check_column(&lance->schema, home_ret->lance, &stored->leaf, false, error);
    if (status != NT_OK)
        nt_error_context(error, "fragment %" PRIu64, fragment->id);
    return status;
}

static uint32_t find_part(const struct nt_dataset *dataset, uint32_t source)
{
    return nt_lance_dataset_of(dataset)->files[source].fragment;
}

enum nt_status nt_lance_prepare_sides(struct nt_dataset *dataset, struct nt_error *error)
{
    struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    struct nt_lance_side *side = &lance->side;
    uint32_t count;
    side->schema = &lance->schema;
    side->find_home = find_home;
    side->find_part = find_part;
    return nt_lance_number_columns(dataset->arena, &lance->schema, &side->leaves, &count, error);
}

void nt_lance_find_side_columns(struct nt_dataset *dataset)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    for (uint32_t i = 0; i < dataset->column_count; i++) {
        uint32_t field = lance->schema.parts[dataset->columns[i].field].field;
        dataset->columns[i].stored = lance->side.leaves[field].column;
    }
}

enum nt_status nt_lance_add_dataset_sides(struct nt_dataset *dataset, struct nt_error *error)
{
    return nt_lance_add_sides_of(dataset, &nt_lance_dataset_of(dataset)->side, error);
}
