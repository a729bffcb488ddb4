/* SPDX-License-Identifier: MIT
 *
 * In: a Manifest. Out: its fragments with their data files, in the manifest's order.
 */
#include "formats/lance/dataset/fragments.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/text.h"
#include "formats/lance/dataset/bases.h"

struct reading {
    struct nt_file *file;
    struct nt_lance_dataset *lance;
    struct nt_error *error;
};

static uint64_t place_of(const struct reading *reading, struct nt_proto message)
{
    return nt_lance_place_in(&reading->lance->manifest, message);
}

/* ---- data files ---- */

static enum nt_lance_generation generation_of(struct nt_proto data_file)
{
    uint64_t major = nt_proto_number(data_file, NT_LANCE_DATA_FILE_MAJOR_VERSION),
             minor = nt_proto_number(data_file, NT_LANCE_DATA_FILE_MINOR_VERSION);
    if (major == 0 && minor < 3)
        return NT_LANCE_IS_LEGACY;
    return major < 2 || minor == 0 ? NT_LANCE_IS_2_0 : NT_LANCE_IS_LATER;
}

/* There may be many: nothing is printed. */
static const char *name_of(const struct reading *reading, const struct nt_lance_base *base,
                           struct nt_text path)
{
    struct nt_text below = nt_text_of(base ? base->below : reading->lance->manifest.version.root),
                   data = nt_text_of(!base || base->is_root ? "data/" : "");
    char *name = nt_arena_alloc(reading->file->arena, below.length + data.length + path.length + 1, 1);
    if (name)
        memcpy(mempcpy(mempcpy(name, below.bytes, below.length), data.bytes, data.length), path.bytes,
               path.length);
    return name;
}

static enum nt_status read_data_file(const struct reading *reading, uint32_t fragment,
                                     struct nt_proto message)
{
    struct nt_lance_data_file *data_file = &reading->lance->files[reading->lance->file_count++];
    struct nt_text path = nt_proto_text(message, NT_LANCE_DATA_FILE_PATH);
    const struct nt_lance_base *base;
    struct nt_error unused;
    *data_file = (struct nt_lance_data_file){.message = message,
                                             .folder = reading->lance->folder,
                                             .fragment = fragment,
                                             .generation = generation_of(message)};
    reading->lance->generations |= data_file->generation;
    if (!nt_folder_is_name_below(path) ||
        nt_lance_find_base(reading->lance, message, NT_LANCE_DATA_FILE_BASE_ID, &base, &unused) != NT_OK)
        return NT_OK; /* told where it is looked at */
    if (base)
        data_file->folder = base->folder;
    data_file->name = name_of(reading, base, path);
    return data_file->name ? NT_OK : nt_fail_memory(reading->error);
}

/* ---- fragments ---- */

/* Manifests of legacy files came without numbers of rows, and with wrong ones as long as they did not name their writer. */
static bool has_rows(const struct reading *reading, const struct nt_lance_fragment_part *fragment)
{
    bool is_legacy =
        fragment->file_count && reading->lance->files[fragment->first_file].generation == NT_LANCE_IS_LEGACY;
    return !is_legacy || (fragment->physical_rows &&
                          nt_proto_has(reading->lance->manifest.message, NT_LANCE_MANIFEST_WRITER_VERSION));
}

static enum nt_status read_files(const struct reading *reading, uint32_t number)
{
    struct nt_lance_fragment_part *fragment = &reading->lance->fragments[number];
    struct nt_proto rest = fragment->message;
    struct nt_proto_item item;
    enum nt_status status = NT_OK;
    fragment->first_file = reading->lance->file_count;
    while (status == NT_OK && nt_proto_next(&rest, &item))
        if (item.number == NT_LANCE_FRAGMENT_FILES)
            status = read_data_file(reading, number, (struct nt_proto){item.bytes, item.size});
    fragment->file_count = reading->lance->file_count - fragment->first_file;
    return status;
}

static enum nt_status check_deletions(const struct reading *reading,
                                      const struct nt_lance_fragment_part *fragment)
{
    struct nt_proto message = nt_proto_message(fragment->message, NT_LANCE_FRAGMENT_DELETION_FILE);
    if (fragment->has_rows && fragment->deleted_rows > fragment->physical_rows)
        return nt_fail(reading->error, NT_CORRUPT, place_of(reading, message),
                       "%" PRIu64 " deleted rows of %" PRIu64, fragment->deleted_rows,
                       fragment->physical_rows);
    return NT_OK;
}

static enum nt_status read_fragment(const struct reading *reading, uint32_t number, struct nt_proto message)
{
    struct nt_lance_fragment_part *fragment = &reading->lance->fragments[number];
    struct nt_proto deletions = nt_proto_message(message, NT_LANCE_FRAGMENT_DELETION_FILE);
    *fragment = (struct nt_lance_fragment_part){
        .message = message,
        .id = nt_proto_number(message, NT_LANCE_FRAGMENT_ID),
        .physical_rows = nt_proto_number(message, NT_LANCE_FRAGMENT_PHYSICAL_ROWS),
        .deleted_rows = nt_proto_number(deletions, NT_LANCE_DELETION_FILE_ROWS)};
    enum nt_status status = read_files(reading, number);
    fragment->has_rows = has_rows(reading, fragment);
    fragment->has_deleted_rows = !deletions.bytes || fragment->deleted_rows;
    if (status == NT_OK)
        status = check_deletions(reading, fragment);
    if (status != NT_OK)
        nt_error_context(reading->error, "fragment %" PRIu64, fragment->id);
    return status;
}

/* What is kept of a data file that is not open: its names and its source. */
enum { FILE_BYTES = 448 };

/* How many fragments and files there are: as many messages, each of a byte or more. */
static enum nt_status make_room(const struct reading *reading)
{
    struct nt_proto rest = reading->lance->manifest.message;
    struct nt_proto_item item;
    uint64_t fragments = 0, files = 0;
    while (nt_proto_next(&rest, &item)) {
        if (item.number != NT_LANCE_MANIFEST_FRAGMENTS)
            continue;
        fragments++;
        files += nt_proto_count((struct nt_proto){item.bytes, item.size}, NT_LANCE_FRAGMENT_FILES);
    }
    if (fragments >= NT_NONE || files >= NT_NONE)
        return nt_fail(reading->error, NT_LIMIT, reading->lance->manifest.offset,
                       "more fragments or data files than the limit of 2^32");
    enum nt_status status =
        nt_budget_take(&reading->file->budget, NT_COST_CLUSTER, fragments, NT_NO_OFFSET, reading->error);
    if (status == NT_OK)
        status = nt_budget_take(&reading->file->budget, NT_COST_ENVELOPE_BYTE, files * FILE_BYTES,
                                NT_NO_OFFSET, reading->error);
    if (status != NT_OK)
        return status;
    struct nt_arena *arena = reading->file->arena;
    reading->lance->fragments = nt_arena_alloc(arena, fragments + 1, sizeof(*reading->lance->fragments));
    reading->lance->files = nt_arena_alloc(arena, files + 1, sizeof(*reading->lance->files));
    return reading->lance->fragments && reading->lance->files ? NT_OK : nt_fail_memory(reading->error);
}

enum nt_status nt_lance_read_fragments(struct nt_file *file, struct nt_lance_dataset *lance,
                                       struct nt_error *error)
{
    const struct reading reading = {.file = file, .lance = lance, .error = error};
    struct nt_proto rest = lance->manifest.message;
    struct nt_proto_item item;
    enum nt_status status = make_room(&reading);
    while (status == NT_OK && nt_proto_next(&rest, &item))
        if (item.number == NT_LANCE_MANIFEST_FRAGMENTS)
            status =
                read_fragment(&reading, lance->fragment_count++, (struct nt_proto){item.bytes, item.size});
    if (status != NT_OK)
        nt_error_context(error, "%s", lance->manifest.name);
    return status;
}
