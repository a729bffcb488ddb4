/* SPDX-License-Identifier: MIT
 *
 * The bare-file container: a file header, the name of the only RNTuple and its anchor. Envelopes and
 * pages follow without keys.
 */
#include "container/container.h"

enum {
    MAGIC_BYTES = 7,   /* "rntuple" */
    HEADER_BYTES = 89, /* 70 of them are reserved for an unused anchor */
    FORMAT_VERSION = 1,
    COUNT_BYTES = 4, /* a streamed object begins with its byte count */
    COUNT_MASK = 0x3fffffff,
    CHECKSUM_BYTES = 8,
    MAX_ANCHOR_BYTES = 4096,
};

struct bare {
    int32_t root_version;
    uint32_t format_version, compression;
    uint64_t anchor_offset;
};

static enum nt_status cut(const struct nt_file *file, const char *within, struct nt_error *error)
{
    return nt_fail(error, NT_TRUNCATED, file->source->size, "%s: the file ends within its %s", file->path,
                   within);
}

static enum nt_status read_header(const struct nt_file *file, struct bare *bare, struct nt_error *error)
{
    uint8_t bytes[HEADER_BYTES];
    if (file->source->size < HEADER_BYTES)
        return cut(file, "header", error);
    NT_TRY(nt_source_read(file->source, 0, bytes, sizeof(bytes), error));
    struct nt_cursor cursor = nt_cursor(bytes, sizeof(bytes));
    nt_cursor_skip(&cursor, MAGIC_BYTES);
    bare->root_version = (int32_t)nt_get_be32(&cursor);
    bare->format_version = nt_get_be32(&cursor);
    bare->compression = nt_get_be32(&cursor);
    if (bare->format_version != FORMAT_VERSION)
        return nt_fail(error, NT_UNSUPPORTED, MAGIC_BYTES + 4,
                       "%s: bare RNTuple file of version %" PRIu32 ", known is %d", file->path,
                       bare->format_version, FORMAT_VERSION);
    return NT_OK;
}

static enum nt_status read_name(const struct nt_file *file, struct nt_text *name, struct nt_error *error)
{
    uint8_t length;
    if (file->source->size < HEADER_BYTES + 1)
        return cut(file, "name", error);
    NT_TRY(nt_source_read(file->source, HEADER_BYTES, &length, 1, error));
    if (file->source->size < HEADER_BYTES + 1u + length)
        return cut(file, "name", error);
    char *bytes = nt_arena_alloc(file->arena, 1, length + 1u);
    NT_TRY(nt_check_memory(bytes, error));
    *name = (struct nt_text){bytes, length};
    return nt_source_read(file->source, HEADER_BYTES + 1, bytes, length, error);
}

/* The object contains its length, which omits the checksum of current versions. A damaged object is
 * reported with the bytes that exist. */
static enum nt_status read_anchor(const struct nt_file *file, uint64_t offset,
                                  struct nt_anchor_object *anchor, struct nt_error *error)
{
    uint8_t count[COUNT_BYTES];
    uint64_t left = file->source->size - offset;
    anchor->offset = offset;
    anchor->stored_bytes = left < MAX_ANCHOR_BYTES ? left : MAX_ANCHOR_BYTES;
    if (left < COUNT_BYTES)
        return cut(file, "anchor", error);
    NT_TRY(nt_source_read(file->source, offset, count, COUNT_BYTES, error));
    uint32_t length = (nt_load_be32(count) & COUNT_MASK) + COUNT_BYTES + CHECKSUM_BYTES;
    if (length > MAX_ANCHOR_BYTES)
        return nt_fail(error, NT_CORRUPT, offset, "%s: an anchor of %" PRIu32 " bytes is impossible",
                       file->path, length);
    if (left < length)
        return cut(file, "anchor", error);
    uint8_t *bytes = nt_arena_alloc(file->arena, 1, length);
    NT_TRY(nt_check_memory(bytes, error));
    anchor->bytes = bytes;
    anchor->length = anchor->stored_bytes = length;
    return nt_source_read(file->source, offset, bytes, length, error);
}

static enum nt_status bare_open(struct nt_file *file, struct nt_container *container, struct nt_error *error)
{
    struct bare *bare = nt_arena_alloc(file->arena, 1, sizeof(*bare));
    struct nt_anchor_object *anchor = nt_arena_alloc(file->arena, 1, sizeof(*anchor));
    struct nt_error failure = {0};
    NT_TRY(nt_check_memory(bare && anchor, error));
    *anchor = (struct nt_anchor_object){.is_newest_cycle = true, .class_name = "ROOT::RNTuple"};
    NT_TRY(read_header(file, bare, error));
    NT_TRY(read_name(file, &anchor->name, error));
    bare->anchor_offset = HEADER_BYTES + 1 + anchor->name.length;
    container->anchors = anchor;
    container->anchor_count = 1;
    container->details = bare;
    if (read_anchor(file, bare->anchor_offset, anchor, &failure) == NT_OK)
        return NT_OK;
    return nt_failure_keep(&failure, file->arena, &anchor->failure, error);
}

static const struct bare *bare_of(const struct nt_file *file)
{
    return nt_container_of(file)->details;
}

static enum nt_status bare_describe(const struct nt_file *file, struct nt_json *json, struct nt_error *error)
{
    const struct bare *bare = bare_of(file);
    nt_json_member_string(json, "kind", nt_container_bare.name);
    nt_json_member_unsigned(json, "version", bare->format_version);
    nt_container_describe_root_version(json, bare->root_version);
    nt_container_describe_compression(json, bare->compression);
    return NT_OK;
}

static enum nt_status bare_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                  struct nt_error *error)
{
    const struct nt_layout_output output = {emit, context, NT_NONE, 0};
    return nt_layout_emit_range(&output, 0, bare_of(file)->anchor_offset, "file header");
}

const struct nt_container_kind nt_container_bare = {
    .name = "bare", .magic = "rntuple", .open = bare_open, .describe = bare_describe, .layout = bare_layout};
