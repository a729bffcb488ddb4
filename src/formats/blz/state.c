/* SPDX-License-Identifier: MIT
 *
 * In: a BLZ directory. Out: the files that are written when its data set becomes another one, and a number that follows from
 * what the file system says of them.
 */
#include "formats/blz/state.h"

#include <stdlib.h>
#include <string.h>

#include "core/codec/codec.h"
#include "formats/blz/metadata.h"
#include "formats/blz/opened.h"
#include "core/model/ceiling.h"

/* What is told of a file that is compared. */
struct mark {
    uint64_t device, inode, bytes, seconds, nanoseconds;
};

/* A file that is not there is a state, too. */
static enum nt_status mark_file(struct nt_folder *folder, const char *name, struct mark *mark,
                                struct nt_error *error)
{
    struct stat attributes;
    struct nt_error failure = {0};
    enum nt_status status = nt_folder_stat(folder, name, &attributes, &failure);
    *mark = (struct mark){0};
    if (nt_is_refused_for_now(status, &failure))
        return nt_fail_with(error, &failure);
    if (status == NT_OK)
        *mark = (struct mark){attributes.st_dev, attributes.st_ino, (uint64_t)attributes.st_size,
                              (uint64_t)attributes.st_mtim.tv_sec, (uint64_t)attributes.st_mtim.tv_nsec};
    return NT_OK;
}

/* ---- the files ---- */

/* The table's list of columns; NULL where it cannot be read, which who opens it is told. */
static enum nt_status load_table(struct nt_folder *folder, const char *name, json_t **table_ret,
                                 struct nt_error *error)
{
    struct nt_budget budget;
    struct nt_error failure = {0};
    *table_ret = NULL;
    nt_budget_init(&budget, 0, nt_metadata_ceiling());
    enum nt_status status = nt_blz_json_load(folder, name, 0, &budget, table_ret, &failure);
    nt_budget_deinit(&budget);
    return nt_is_refused_for_now(status, &failure) ? nt_fail_with(error, &failure) : NT_OK;
}

/* The directory of a table's first or last column, in front of which stands the table's; false: there is none. */
static bool append_column(const json_t *table, bool is_last, struct nt_buffer *directory)
{
    const json_t *names = json_object_get(table, "names");
    size_t count = json_array_size(names);
    const json_t *name = count ? json_array_get(names, is_last ? count - 1 : 0) : NULL;
    if (!json_is_string(name))
        return false;
    const json_t *told = json_object_get(json_object_get(table, "dirs"), json_string_value(name));
    const json_t *found = json_is_string(told) ? told : name;
    struct nt_text text = {json_string_value(found), json_string_length(found)};
    if (!nt_folder_is_name_below(text))
        return false;
    nt_buffer_append(directory, text.bytes, text.length);
    nt_buffer_byte(directory, '/');
    return true;
}

/* The sizes of the first or last column, through tables in tables. */
static enum nt_status find_sizes(struct nt_folder *folder, bool is_last, char **name_ret,
                                 struct nt_error *error)
{
    struct nt_buffer directory = {0};
    enum nt_status status = NT_OK;
    bool is_table = true;
    for (unsigned depth = 0; status == NT_OK && is_table && depth <= NT_BLZ_DEPTH; depth++) {
        struct nt_buffer name = {0};
        json_t *table = NULL;
        nt_buffer_format(&name, "%s__rootdirs__", nt_buffer_string(&directory));
        status = name.failed ? nt_fail_memory(error) : load_table(folder, name.bytes, &table, error);
        is_table = table && append_column(table, is_last, &directory);
        json_decref(table);
        nt_buffer_deinit(&name);
    }
    nt_buffer_text(&directory, "meta/sizes");
    if (status == NT_OK && !(*name_ret = nt_buffer_take(&directory)))
        status = nt_fail_memory(error);
    nt_buffer_deinit(&directory);
    return status;
}

static enum nt_status find_watched(struct nt_folder *folder, char *watched[NT_VERSION_WATCHED],
                                   struct nt_error *error)
{
    bool is_table;
    enum nt_status status = nt_folder_has(folder, "__rootdirs__", &is_table, error);
    if (status == NT_OK)
        status = find_sizes(folder, false, &watched[0], error);
    if (status != NT_OK || !is_table)
        return status;
    watched[1] = strdup("__rootdirs__");
    return watched[1] ? find_sizes(folder, true, &watched[2], error) : nt_fail_memory(error);
}

/* ---- the state ---- */

/* The state is as old as the last of the files that is there; takes_folder has found another one where none is. */
static enum nt_status mark_files(struct nt_folder *folder, struct nt_dataset_version *version,
                                 struct nt_error *error)
{
    struct mark marks[NT_VERSION_WATCHED] = {{0}};
    const char *file = "meta/storage";
    enum nt_status status = NT_OK;
    for (size_t i = 0; status == NT_OK && i < NT_VERSION_WATCHED && version->watched[i]; i++) {
        status = mark_file(folder, version->watched[i], &marks[i], error);
        if (marks[i].inode)
            file = version->watched[i];
    }
    version->number = nt_xxh3(marks, sizeof(marks));
    version->file = strdup(file);
    return status == NT_OK && !version->file ? nt_fail_memory(error) : status;
}

enum nt_status nt_blz_find_state(struct nt_folder *folder, struct nt_dataset_version *version_ret,
                                 struct nt_error *error)
{
    struct nt_dataset_version found = {.is_state = true, .series = strdup("")};
    enum nt_status status = found.series ? find_watched(folder, found.watched, error) : nt_fail_memory(error);
    if (status == NT_OK)
        status = mark_files(folder, &found, error);
    if (status != NT_OK)
        nt_version_deinit(&found);
    *version_ret = found;
    return status;
}

enum nt_status nt_blz_state_number(struct nt_folder *folder, uint64_t *number_ret, struct nt_error *error)
{
    struct nt_dataset_version found;
    enum nt_status status = nt_blz_find_state(folder, &found, error);
    *number_ret = found.number;
    nt_version_deinit(&found);
    return status;
}

enum nt_status nt_blz_check_state(const struct nt_blz *blz, struct nt_error *error)
{
    uint64_t state;
    if (!blz->folder)
        return NT_OK;
    enum nt_status status = nt_blz_state_number(blz->folder, &state, error);
    if (status == NT_OK && state != blz->state)
        return nt_fail(error, NT_CHANGED, NT_NO_OFFSET, "%s: was modified since it was opened",
                       blz->folder->path);
    return status;
}
