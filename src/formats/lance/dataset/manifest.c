/* SPDX-License-Identifier: MIT
 *
 * In: a file in _versions/. Out: the Manifest in it (lance's protos/table.proto): its last 16 bytes tell where it lies,
 * behind its length.
 */
#include "formats/lance/dataset/manifest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/base/overflow.h"
#include "core/base/text.h"
#include "formats/lance/dataset/features.h"
#include "formats/lance/dataset/versions.h"
#include "core/model/metadata.h"

enum { TAIL_BYTES = 16, LENGTH_BYTES = 4, MAGIC_BYTES = 4 };

/* ---- the message ---- */

enum nt_status nt_lance_find_section(struct nt_source *source, uint64_t size, uint64_t position,
                                     const char *what, uint64_t told_at, struct nt_lance_buffer *message,
                                     struct nt_error *error)
{
    uint8_t length[LENGTH_BYTES];
    if (size < TAIL_BYTES || !nt_fits(position, LENGTH_BYTES, size - TAIL_BYTES))
        return nt_fail(error, NT_CORRUPT, told_at,
                       "the place of the %s, %" PRIu64 ", is not in the file of %" PRIu64 " bytes", what,
                       position, size);
    enum nt_status status = nt_source_read(source, position, length, LENGTH_BYTES, error);
    if (status != NT_OK)
        return status;
    *message = (struct nt_lance_buffer){position + LENGTH_BYTES, nt_load_le32(length)};
    if (!nt_fits(message->offset, message->bytes, size - TAIL_BYTES))
        return nt_fail(error, NT_CORRUPT, position,
                       "the %s of %" PRIu64 " bytes does not end before the file's last %d", what,
                       message->bytes, TAIL_BYTES);
    return NT_OK;
}

/* Where the message lies in the file. */
static enum nt_status find_message(struct nt_source *source, uint64_t size, struct nt_lance_buffer *message,
                                   struct nt_error *error)
{
    uint8_t tail[TAIL_BYTES];
    if (size < TAIL_BYTES)
        return nt_fail(error, NT_CORRUPT, 0, "%" PRIu64 " bytes, fewer than a manifest's end has", size);
    enum nt_status status = nt_source_read(source, size - TAIL_BYTES, tail, TAIL_BYTES, error);
    if (status != NT_OK)
        return status;
    if (memcmp(tail + TAIL_BYTES - MAGIC_BYTES, "LANC", MAGIC_BYTES) != 0)
        return nt_fail(error, NT_CORRUPT, size - MAGIC_BYTES, "no manifest: it does not end in LANC");
    return nt_lance_find_section(source, size, nt_load_le64(tail), "manifest", size - TAIL_BYTES, message,
                                 error);
}

static enum nt_status read_message(struct nt_file *file, struct nt_source *source,
                                   struct nt_lance_manifest_file *manifest, struct nt_error *error)
{
    struct nt_lance_buffer place = {0, 0};
    enum nt_status status = nt_source_size(source, &manifest->size, error);
    if (status == NT_OK)
        status = find_message(source, manifest->size, &place, error);
    if (status != NT_OK)
        return status;
    uint8_t *bytes;
    const struct nt_metadata_range stretch = {
        .offset = place.offset, .bytes = place.bytes, .place = place.offset};
    status = nt_metadata_read(&file->budget, source, &stretch, &bytes, NULL, error);
    if (status != NT_OK)
        return status;
    if (!nt_arena_adopt(file->arena, bytes)) {
        free(bytes);
        return nt_fail_memory(error);
    }
    manifest->offset = place.offset;
    manifest->message = (struct nt_proto){bytes, (size_t)place.bytes};
    return nt_proto_check(manifest->message, &nt_lance_manifest, place.offset, error);
}

/* A version of Lance that is not known yet may have its fragments elsewhere: there seem to be none then. */
static enum nt_status check_fragments(struct nt_proto message, uint64_t offset, struct nt_error *error)
{
    return nt_proto_has(message, NT_LANCE_MANIFEST_FRAGMENT_TREE)
               ? nt_fail(error, NT_UNSUPPORTED, offset, "its fragments lie in a tree, which is not read")
               : NT_OK;
}

static enum nt_status check_manifest(const struct nt_lance_manifest_file *manifest, struct nt_error *error)
{
    uint64_t number = nt_proto_number(manifest->message, NT_LANCE_MANIFEST_VERSION);
    if (number != manifest->version.number)
        return nt_fail_number(error, NT_CORRUPT, manifest->offset, "version, as the manifest's name tells",
                              manifest->version.number, number);
    uint64_t flags = nt_proto_number(manifest->message, NT_LANCE_MANIFEST_READER_FLAGS);
    enum nt_status status = nt_lance_check_features(flags, manifest->offset, error);
    return status == NT_OK ? check_fragments(manifest->message, manifest->offset, error) : status;
}

enum nt_status nt_lance_read_manifest(struct nt_file *file, const struct nt_lance_version *version,
                                      struct nt_lance_manifest_file *manifest, struct nt_error *error)
{
    struct nt_source *source;
    *manifest = (struct nt_lance_manifest_file){.version = *version};
    struct nt_buffer name = {0};
    nt_lance_append_manifest_name(&name, version);
    manifest->name = nt_buffer_settle(&name, file->arena);
    if (!manifest->name)
        return nt_fail_memory(error);
    enum nt_status status = nt_folder_open_file(file->source->folder, manifest->name, &source, error);
    if (status != NT_OK)
        return status;
    status = read_message(file, source, manifest, error);
    nt_source_close(source);
    if (status == NT_OK)
        status = check_manifest(manifest, error);
    if (status != NT_OK)
        nt_error_context(error, "%s", manifest->name);
    return status;
}

const char *nt_lance_text(struct nt_arena *arena, struct nt_proto message, uint32_t number)
{
    struct nt_text text = nt_proto_text(message, number);
    return nt_arena_copy(arena, text.bytes, text.length);
}

void nt_lance_put_timestamp(struct nt_json *json, struct nt_proto timestamp)
{
    enum { TEXT = 64 };
    char text[TEXT];
    struct tm utc;
    time_t seconds = (time_t)nt_proto_number(timestamp, NT_LANCE_TIMESTAMP_SECONDS);
    uint32_t nanoseconds = (uint32_t)nt_proto_number(timestamp, NT_LANCE_TIMESTAMP_NANOSECONDS);
    bool is_time = timestamp.bytes && nanoseconds < 1000000000 && gmtime_r(&seconds, &utc) &&
                   strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
    if (is_time)
        nt_json_member_format(json, "timestamp", "%s.%09uZ", text, nanoseconds);
    else
        nt_json_member_null(json, "timestamp");
}
