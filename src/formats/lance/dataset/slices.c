/* SPDX-License-Identifier: MIT
 *
 * In: the data files of a legacy dataset. Out: the fields that a file cannot tell the rows of, by the schema's numbers, with the first
 * such fragment. Files tell of it alone, and to open them takes time: where there are many fragments, the rows that need one fail instead.
 */
#include "formats/lance/dataset/slices.h"

#include <inttypes.h>

#include "core/base/arena.h"
#include "formats/lance/dataset/load.h"
#include "formats/lance/file/metadata.h"
#include "formats/lance/file/places.h"

enum { MOST_FRAGMENTS = 64 };

static bool has_members(const struct nt_lance_schema *schema)
{
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (schema->places[i].type.shape == NT_LANCE_IS_STRUCT && schema->places[i].children)
            return true;
    return false;
}

/* Of a file's fields those that are refused for another reason than how their pages are made. */
static enum nt_status look_at(struct nt_dataset *dataset, const struct nt_lance_data_file *data_file,
                              const struct nt_lance *opened, const char **refusals, struct nt_error *error)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    for (uint32_t i = 0; opened->legacy && i < opened->schema.field_count; i++) {
        const struct nt_error *failure = opened->columns[i].failure;
        uint32_t field = nt_lance_find_id(&lance->schema, opened->schema.fields[i].id);
        if (!failure || failure == opened->legacy->pagings[i].failure || field == NT_NONE || refusals[field])
            continue;
        refusals[field] =
            nt_arena_format(dataset->arena, "fragment %" PRIu64 ": %s: %s",
                            lance->fragments[data_file->fragment].id, data_file->name, failure->message);
        if (!refusals[field])
            return nt_fail_memory(error);
    }
    return NT_OK;
}

enum nt_status nt_lance_find_slices(struct nt_dataset *dataset, struct nt_error *error)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    const struct nt_lance *opened;
    enum nt_status status = NT_OK;
    if (!lance->schema.is_legacy || lance->fragment_count > MOST_FRAGMENTS || !has_members(&lance->schema))
        return NT_OK;
    for (uint32_t i = 0; status == NT_OK && i < lance->file_count; i++) {
        struct nt_error unused;
        status = nt_lance_open_data_file(dataset, i, &opened, &unused);
        if (nt_is_machine_failure(status))
            return nt_fail_with(error, &unused);
        status = status == NT_OK ? look_at(dataset, &lance->files[i], opened, lance->schema.refusals, error)
                                 : NT_OK;
    }
    return status;
}
