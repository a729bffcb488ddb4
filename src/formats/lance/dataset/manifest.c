/* SPDX-License-Identifier: MIT
 *
 * Reads the manifest of a version: its feature flags, fragments and data files.
 */
#include "formats/lance/dataset/dataset.h"

/* ---- Feature flags ---- */

/* By bit. `needs` says what reading a supported feature requires, or why a feature is unsupported. */
static const struct {
    const char *name;
    bool is_read;
    const char *needs;
} features[] = {
    {"deletion files", true, "their rows are omitted (deletions.c)"},
    {"stable row ids", true, "nothing: values do not depend on row ids"},
    {"files of version 2", true, "each data file declares its version (data_files.c)"},
    {"table configuration", true, "nothing: the documents show it"},
    {"base paths", true, "files are read from there (base_paths.c)"},
    {"no transaction files", true, "the transaction is in the manifest's file (documents.c)"},
    {"data overlay files", false, "they replace values of data files, and Lance calls them unstable"},
    {"covering columns of indices", true, "nothing: no index is read"},
    {"data files of several versions", true, "each data file is read by its own version (data_files.c)"},
    {"fragment reuse with stable row ids", true, "nothing: it is an index, and no index is read"},
    {"fragment reuse index", true, "nothing: it is an index, and no index is read"},
    {"row lineage in data files", true, "nothing: its hidden columns are no field of the schema"},
    {"fragment tree", false, "the fragments are stored elsewhere, and Lance reserves it"},
    {"independent covering columns of indices", false, "Lance reserves it"},
    {"managed blobs", true, "a blob's description says where its bytes are"},
    {"field ids that are not used again", false, "Lance defines it only for writers"},
    {"statistics seeds of zones", false, "Lance reserves it"},
    {"object metadata", false, "Lance defines it only for writers"},
};
enum { FEATURES = sizeof(features) / sizeof(*features), FLAG_BITS = 64 };

/* Rejects unsupported reader feature flags with NT_UNSUPPORTED; the error has the number and, if known,
 * the name. `offset` is that of the manifest. */
static enum nt_status lance_check_features(uint64_t flags, uint64_t offset, struct nt_error *error)
{
    for (unsigned bit = 0; bit < FLAG_BITS; bit++) {
        uint64_t flag = UINT64_C(1) << bit;
        if (!(flags & flag) || (bit < FEATURES && features[bit].is_read))
            continue;
        if (bit < FEATURES)
            return nt_fail(error, NT_UNSUPPORTED, offset,
                           "cannot read files with the reader feature flag %" PRIu64 " (bit %u, %s): %s",
                           flag, bit, features[bit].name, features[bit].needs);
        return nt_fail(error, NT_UNSUPPORTED, offset,
                       "this version does not know the reader feature flag %" PRIu64 " (bit %u)", flag, bit);
    }
    return NT_OK;
}

/* ---- Read the manifest ---- */

enum { MAGIC_BYTES = 4 };

enum nt_status nt_lance_find_section(struct nt_source *source, uint64_t size, uint64_t position,
                                     const char *what, uint64_t position_offset,
                                     struct nt_lance_buffer *message, struct nt_error *error)
{
    uint8_t length[NT_LANCE_LENGTH_BYTES];
    if (size < NT_LANCE_MANIFEST_TAIL_BYTES ||
        !nt_range_fits(position, NT_LANCE_LENGTH_BYTES, size - NT_LANCE_MANIFEST_TAIL_BYTES))
        return nt_fail(error, NT_CORRUPT, position_offset,
                       "the position of the %s, %" PRIu64 ", is outside the file of %" PRIu64 " bytes", what,
                       position, size);
    NT_TRY(nt_source_read(source, position, length, NT_LANCE_LENGTH_BYTES, error));
    *message = (struct nt_lance_buffer){position + NT_LANCE_LENGTH_BYTES, nt_load_le32(length)};
    if (!nt_range_fits(message->offset, message->bytes, size - NT_LANCE_MANIFEST_TAIL_BYTES))
        return nt_fail(error, NT_CORRUPT, position,
                       "the %s of %" PRIu64 " bytes does not end before the last %d bytes of the file", what,
                       message->bytes, NT_LANCE_MANIFEST_TAIL_BYTES);
    return NT_OK;
}

/* Finds the message in the file. */
static enum nt_status find_message(struct nt_source *source, uint64_t size, struct nt_lance_buffer *message,
                                   struct nt_error *error)
{
    uint8_t tail[NT_LANCE_MANIFEST_TAIL_BYTES];
    if (size < NT_LANCE_MANIFEST_TAIL_BYTES)
        return nt_fail(error, NT_CORRUPT, 0, "%" PRIu64 " bytes are too few for a manifest", size);
    NT_TRY(nt_source_read(source, size - NT_LANCE_MANIFEST_TAIL_BYTES, tail, NT_LANCE_MANIFEST_TAIL_BYTES,
                          error));
    if (memcmp(tail + NT_LANCE_MANIFEST_TAIL_BYTES - MAGIC_BYTES, "LANC", MAGIC_BYTES) != 0)
        return nt_fail(error, NT_CORRUPT, size - MAGIC_BYTES, "not a manifest: it does not end with LANC");
    return nt_lance_find_section(source, size, nt_load_le64(tail), "manifest",
                                 size - NT_LANCE_MANIFEST_TAIL_BYTES, message, error);
}

static enum nt_status read_message(struct nt_file *file, struct nt_source *source,
                                   struct nt_lance_manifest_file *manifest, struct nt_error *error)
{
    struct nt_lance_buffer range = {0, 0};
    NT_TRY(nt_source_size(source, &manifest->size, error));
    NT_TRY(find_message(source, manifest->size, &range, error));
    uint8_t *bytes;
    const struct nt_metadata_range metadata_range = {
        .offset = range.offset, .bytes = range.bytes, .position = range.offset};
    NT_TRY(nt_metadata_read(&file->budget, source, &metadata_range, &bytes, NULL, error));
    if (!nt_arena_adopt(file->arena, bytes)) {
        free(bytes);
        return nt_fail_memory(error);
    }
    manifest->offset = range.offset;
    manifest->message = (struct nt_proto){bytes, (size_t)range.bytes};
    return nt_proto_check(manifest->message, &nt_lance_manifest, range.offset, error);
}

static enum nt_status check_manifest(const struct nt_lance_manifest_file *manifest, struct nt_error *error)
{
    uint64_t number = nt_proto_number(manifest->message, NT_LANCE_MANIFEST_VERSION);
    if (number != manifest->version.number)
        return nt_fail_number(error, NT_CORRUPT, manifest->offset, "version in the manifest's name",
                              manifest->version.number, number);
    uint64_t flags = nt_proto_number(manifest->message, NT_LANCE_MANIFEST_READER_FLAGS);
    NT_TRY(lance_check_features(flags, manifest->offset, error));
    /* A future version of Lance may store fragments in a tree, and the manifest then seems to have none. */
    if (nt_proto_has(manifest->message, NT_LANCE_MANIFEST_FRAGMENT_TREE))
        return nt_fail(error, NT_UNSUPPORTED, manifest->offset, "cannot read its tree of fragments");
    return NT_OK;
}

enum nt_status nt_lance_read_manifest(struct nt_file *file, const struct nt_lance_version *version,
                                      struct nt_lance_manifest_file *manifest, struct nt_error *error)
{
    struct nt_source *source;
    *manifest = (struct nt_lance_manifest_file){.version = *version};
    struct nt_buffer name = {0};
    nt_lance_append_manifest_name(&name, version);
    manifest->name = nt_buffer_to_arena(&name, file->arena);
    NT_TRY(nt_check_memory(manifest->name, error));
    NT_TRY(nt_folder_open_file(file->source->folder, manifest->name, &source, error));
    enum nt_status status = read_message(file, source, manifest, error);
    nt_source_close(source);
    if (status == NT_OK)
        status = check_manifest(manifest, error);
    return nt_with_context(status, error, "%s", manifest->name);
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

/* ---- Fragments and data files ---- */

struct manifest_reader {
    struct nt_file *file;
    struct nt_lance_dataset *lance;
    struct nt_buffer *name; /* of a data file */
    struct nt_error *error;
};

static enum nt_lance_generation generation_of(struct nt_proto data_file)
{
    uint64_t major = nt_proto_number(data_file, NT_LANCE_DATA_FILE_MAJOR_VERSION),
             minor = nt_proto_number(data_file, NT_LANCE_DATA_FILE_MINOR_VERSION);
    if (major == 0 && minor < 3)
        return NT_LANCE_IS_LEGACY;
    return major < 2 || minor == 0 ? NT_LANCE_IS_2_0 : NT_LANCE_IS_LATER;
}

/* Adds the file's source, and finds its name in the source's path. Avoids formatted printing, as there may be
 * many files. */
static enum nt_status add_source(const struct manifest_reader *reader, struct nt_lance_data_file *data_file,
                                 const struct nt_lance_base *base, struct nt_text path)
{
    struct nt_buffer *name = reader->name;
    name->length = 0;
    nt_buffer_append_string(name, base ? base->below : reader->lance->manifest.version.root);
    nt_buffer_append_string(name, !base || base->is_root ? "data/" : "");
    nt_buffer_append(name, path.bytes, path.length);
    NT_TRY(nt_check_memory(!name->failed, reader->error));
    NT_TRY(nt_lance_add_source(reader->file, data_file->folder, name->bytes, reader->error));
    const char *shown = reader->file->layout_sources[reader->file->layout_source_count - 1]->path;
    size_t length = strlen(shown);
    bool is_in_path = length >= name->length && strcmp(shown + (length - name->length), name->bytes) == 0;
    data_file->name = is_in_path ? shown + (length - name->length)
                                 : nt_arena_copy(reader->file->arena, name->bytes, name->length);
    return nt_check_memory(data_file->name, reader->error);
}

static enum nt_status read_data_file(const struct manifest_reader *reader, uint32_t fragment,
                                     struct nt_proto message)
{
    struct nt_lance_data_file *data_file = &reader->lance->files[reader->lance->file_count++];
    struct nt_text path = nt_proto_text(message, NT_LANCE_DATA_FILE_PATH);
    const struct nt_lance_base *base;
    struct nt_error unused;
    *data_file = (struct nt_lance_data_file){.message = message,
                                             .folder = reader->lance->folder,
                                             .fragment = fragment,
                                             .generation = generation_of(message)};
    reader->lance->generations |= data_file->generation;
    if (!nt_folder_is_name_below(path) ||
        nt_lance_find_base(reader->lance, message, NT_LANCE_DATA_FILE_BASE_ID, &base, &unused) != NT_OK)
        return nt_lance_add_source(reader->file, NULL, NULL, reader->error); /* reading it reports that */
    if (base)
        data_file->folder = base->folder;
    return add_source(reader, data_file, base, path);
}

/* ---- Fragments ---- */

/* Legacy manifests lack row counts, and these are wrong if the manifest does not name its writer. */
static bool has_rows(const struct manifest_reader *reader, const struct nt_lance_fragment_part *fragment)
{
    bool is_legacy =
        fragment->file_count && reader->lance->files[fragment->first_file].generation == NT_LANCE_IS_LEGACY;
    return !is_legacy || (fragment->physical_rows &&
                          nt_proto_has(reader->lance->manifest.message, NT_LANCE_MANIFEST_WRITER_VERSION));
}

static enum nt_status read_files(const struct manifest_reader *reader, uint32_t number)
{
    struct nt_lance_fragment_part *fragment = &reader->lance->fragments[number];
    struct nt_proto rest = fragment->message, data_file;
    fragment->first_file = reader->lance->file_count;
    while (nt_proto_next_message(&rest, NT_LANCE_FRAGMENT_FILES, &data_file))
        NT_TRY(read_data_file(reader, number, data_file));
    fragment->file_count = reader->lance->file_count - fragment->first_file;
    return NT_OK;
}

static enum nt_status read_fragment(const struct manifest_reader *reader, uint32_t number,
                                    struct nt_proto message)
{
    struct nt_lance_fragment_part *fragment = &reader->lance->fragments[number];
    struct nt_proto deletions = nt_proto_message(message, NT_LANCE_FRAGMENT_DELETION_FILE);
    *fragment = (struct nt_lance_fragment_part){
        .message = message,
        .id = nt_proto_number(message, NT_LANCE_FRAGMENT_ID),
        .physical_rows = nt_proto_number(message, NT_LANCE_FRAGMENT_PHYSICAL_ROWS),
        .deleted_rows = nt_proto_number(deletions, NT_LANCE_DELETION_FILE_ROWS)};
    NT_TRY(read_files(reader, number));
    fragment->has_rows = has_rows(reader, fragment);
    fragment->has_deleted_rows = !deletions.bytes || fragment->deleted_rows;
    if (fragment->has_rows && fragment->deleted_rows > fragment->physical_rows)
        return nt_fail(reader->error, NT_CORRUPT,
                       nt_lance_manifest_offset(&reader->lance->manifest, deletions),
                       "%" PRIu64 " rows are deleted, but there are only %" PRIu64, fragment->deleted_rows,
                       fragment->physical_rows);
    return NT_OK;
}

/* Counts fragments and files. Each is a message of at least one byte, so the manifest's size limits
 * them. */
static enum nt_status make_room(const struct manifest_reader *reader)
{
    struct nt_proto rest = reader->lance->manifest.message, fragment;
    uint64_t fragments = 0, files = 0;
    for (; nt_proto_next_message(&rest, NT_LANCE_MANIFEST_FRAGMENTS, &fragment); fragments++)
        files += nt_proto_count(fragment, NT_LANCE_FRAGMENT_FILES);
    if (fragments >= NT_NONE || files >= NT_NONE)
        return nt_fail(reader->error, NT_LIMIT, reader->lance->manifest.offset,
                       "the dataset has more fragments or data files than the limit of 2^32");
    uint64_t bytes = (fragments + 1) * sizeof(*reader->lance->fragments) +
                     (files + 1) * sizeof(*reader->lance->files) +
                     (files + 1 + fragments) * sizeof(*reader->file->layout_sources);
    NT_TRY(nt_budget_take(&reader->file->budget, NT_COST_ENVELOPE_BYTE, bytes, NT_NO_OFFSET, reader->error));
    struct nt_arena *arena = reader->file->arena;
    reader->lance->fragments = nt_arena_alloc(arena, fragments + 1, sizeof(*reader->lance->fragments));
    reader->lance->files = nt_arena_alloc(arena, files + 1, sizeof(*reader->lance->files));
    /* The layout also has the manifest and the deletion files. */
    reader->file->layout_sources =
        nt_arena_alloc(arena, files + 1 + fragments, sizeof(*reader->file->layout_sources));
    return nt_check_memory(reader->lance->fragments && reader->lance->files && reader->file->layout_sources,
                           reader->error);
}

enum nt_status nt_lance_read_fragments(struct nt_file *file, struct nt_lance_dataset *lance,
                                       struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer name = {0};
    const struct manifest_reader reader = {.file = file, .lance = lance, .name = &name, .error = error};
    struct nt_proto rest = lance->manifest.message, fragment;
    enum nt_status status = make_room(&reader);
    while (status == NT_OK && nt_proto_next_message(&rest, NT_LANCE_MANIFEST_FRAGMENTS, &fragment)) {
        uint32_t number = lance->fragment_count++;
        status = read_fragment(&reader, number, fragment);
        nt_with_context(status, error, "fragment %" PRIu64, lance->fragments[number].id);
    }
    return nt_with_context(status, error, "%s", lance->manifest.name);
}
