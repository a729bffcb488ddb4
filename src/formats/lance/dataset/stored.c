/* SPDX-License-Identifier: MIT
 *
 * In: a fragment's data files, each with the ids of fields and the numbers of columns. Out: by field of the schema, where it
 * is stored: its own column, else that of the first field below it that has one. Ids of fields that were dropped since,
 * and those below 0, which stand for columns that were written anew in another file, are no fields of the schema. Where
 * several files have a field, the first counts, as for Lance's reader: up to 0.10, ids of dropped fields were given again.
 */
#include "formats/lance/dataset/stored.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/text.h"
#include "formats/lance/dataset/fragments.h"
#include "formats/lance/file/places.h"

static int compare_ids(const void *left, const void *right)
{
    const struct nt_lance_id *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

enum nt_status nt_lance_sort_ids(struct nt_arena *arena, struct nt_lance_dataset *lance,
                                 struct nt_error *error)
{
    uint32_t count = lance->schema.field_count;
    struct nt_lance_id *ids = nt_arena_alloc(arena, (size_t)count + 1, sizeof(*ids));
    if (!ids)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < count; i++)
        ids[i] = (struct nt_lance_id){lance->schema.fields[i].id, i};
    qsort(ids, count, sizeof(*ids), compare_ids);
    lance->ids = ids;
    return NT_OK;
}

/* NT_NONE: the schema has no such field. */
static uint32_t find_field(const struct nt_lance_dataset *lance, int32_t id)
{
    const struct nt_lance_id key = {.id = id};
    const struct nt_lance_id *found =
        bsearch(&key, lance->ids, lance->schema.field_count, sizeof(key), compare_ids);
    return found && id >= 0 ? found->field : NT_NONE;
}

struct finding {
    const struct nt_lance_dataset *lance;
    uint64_t place; /* in the manifest: of the DataFile at hand */
    struct nt_lance_stored *stored;
    struct nt_error *error;
};

static enum nt_status add_column(const struct finding *finding, uint32_t file, int32_t id, uint64_t column)
{
    uint32_t field = find_field(finding->lance, id);
    struct nt_lance_stored *stored = field == NT_NONE ? NULL : &finding->stored[field];
    bool has_none = (int32_t)column < 0; /* of 2.1 and later: what only surrounds others */
    if (!stored || has_none)
        return NT_OK;
    if (stored->leaf.field != NT_NONE && stored->file != file)
        return NT_OK;
    if (stored->leaf.field != NT_NONE)
        return nt_fail(finding->error, NT_CORRUPT, finding->place, "two columns for field %" PRId32, id);
    if (column > UINT32_MAX)
        return nt_fail(finding->error, NT_CORRUPT, finding->place, "field %" PRId32 " in column %" PRIu64, id,
                       column);
    *stored = (struct nt_lance_stored){.leaf = {field, (uint32_t)column}, .file = file};
    return NT_OK;
}

/* Legacy files have no numbers of columns: the field's id stands for it. */
static enum nt_status add_legacy_file(const struct finding *finding, uint32_t number)
{
    struct nt_proto_numbers ids =
        nt_proto_numbers(finding->lance->files[number].message, NT_LANCE_DATA_FILE_FIELDS);
    uint64_t id;
    enum nt_status status = NT_OK;
    while (status == NT_OK && nt_proto_next_number(&ids, &id))
        if ((int32_t)id >= 0)
            status = add_column(finding, number, (int32_t)id, (uint32_t)id);
    return status;
}

static enum nt_status add_numbered_file(const struct finding *finding, uint32_t number)
{
    struct nt_proto message = finding->lance->files[number].message;
    struct nt_proto_numbers ids = nt_proto_numbers(message, NT_LANCE_DATA_FILE_FIELDS),
                            columns = nt_proto_numbers(message, NT_LANCE_DATA_FILE_COLUMN_INDICES);
    uint64_t id_count = nt_proto_count_numbers(message, NT_LANCE_DATA_FILE_FIELDS),
             column_count = nt_proto_count_numbers(message, NT_LANCE_DATA_FILE_COLUMN_INDICES), id, column;
    enum nt_status status = NT_OK;
    if (id_count != column_count)
        status = nt_fail_number(finding->error, NT_CORRUPT, finding->place,
                                "numbers of columns, as ids of fields", id_count, column_count);
    while (status == NT_OK && nt_proto_next_number(&ids, &id) && nt_proto_next_number(&columns, &column))
        status = add_column(finding, number, (int32_t)id, column);
    return status;
}

static enum nt_status add_file(struct finding *finding, uint32_t number)
{
    const struct nt_lance_manifest_file *manifest = &finding->lance->manifest;
    struct nt_proto message = finding->lance->files[number].message;
    finding->place = nt_lance_place_in(manifest, message);
    enum nt_status status = finding->lance->files[number].generation == NT_LANCE_IS_LEGACY
                                ? add_legacy_file(finding, number)
                                : add_numbered_file(finding, number);
    if (status != NT_OK) {
        struct nt_text path = nt_proto_text(message, NT_LANCE_DATA_FILE_PATH);
        nt_error_context(finding->error, "%s: data file '%.*s'", manifest->name, (int)path.length,
                         path.bytes);
    }
    return status;
}

/* What surrounds a field that has a column, and has none itself. */
static void find_tellers(const struct finding *finding, unsigned teller)
{
    const struct nt_lance_schema *schema = &finding->lance->schema;
    struct nt_lance_stored *stored = finding->stored;
    for (uint32_t i = 0; i < schema->field_count; i++) {
        if (stored[i].leaf.field != i || nt_lance_teller(&schema->places[i]) != teller)
            continue;
        for (uint32_t at = schema->fields[i].parent; at != NT_NONE && stored[at].leaf.field == NT_NONE;
             at = schema->fields[at].parent)
            stored[at] = stored[i];
    }
}

/* The same, and what lies in a packed structure. */
static void find_leaves(const struct finding *finding)
{
    const struct nt_lance_schema *schema = &finding->lance->schema;
    struct nt_lance_stored *stored = finding->stored;
    for (uint32_t i = 0; i < schema->field_count; i++) {
        uint32_t packed = schema->places[i].packed;
        if (packed != NT_NONE)
            stored[i] = stored[packed];
    }
    for (unsigned teller = 0; teller < NT_LANCE_TELLERS; teller++)
        find_tellers(finding, teller);
}

enum nt_status nt_lance_find_stored(struct nt_file *file, const struct nt_lance_dataset *lance,
                                    struct nt_lance_fragment_part *fragment, struct nt_error *error)
{
    uint32_t count = lance->schema.field_count;
    if (fragment->stored)
        return NT_OK;
    enum nt_status status = nt_budget_take(&file->budget, NT_COST_RANGE, count, NT_NO_OFFSET, error);
    if (status != NT_OK)
        return status;
    struct nt_lance_stored *stored = nt_arena_alloc(file->arena, (size_t)count + 1, sizeof(*stored));
    struct finding finding = {.lance = lance, .stored = stored, .error = error};
    if (!stored)
        return nt_fail_memory(error);
    for (uint32_t i = 0; i < count; i++)
        stored[i].leaf = (struct nt_lance_leaf){NT_NONE, NT_NONE};
    for (uint32_t i = 0; status == NT_OK && i < fragment->file_count; i++)
        status = add_file(&finding, fragment->first_file + i);
    if (status != NT_OK)
        return status;
    find_leaves(&finding);
    fragment->stored = stored;
    return NT_OK;
}
