/* SPDX-License-Identifier: MIT
 *
 * Reads Bloscpack files, versions 1 to 3: Blosc chunk headers, file header, metadata section, offsets
 * and chunks. A single Bloscpack file is opened as a dataset with one field.
 */
#include "formats/blz/blz.h"

#include <zlib.h>

/* ---- Blosc chunk headers ---- */

enum {
    FLAG_SHUFFLE = 1,
    FLAG_STORED = 2,
    FLAG_BIT_SHUFFLE = 4,
    CODEC_SHIFT = 5,
    MAXIMUM_PLAIN_BYTES = INT32_MAX - NT_BLOSC_HEADER_BYTES,
};

const char *nt_blosc_header_read(const uint8_t *bytes, uint64_t room, struct nt_blosc_header *header)
{
    *header = (struct nt_blosc_header){
        .version = bytes[0],
        .flags = bytes[2],
        .type_bytes = bytes[3],
        .plain_bytes = nt_load_le32(bytes + 4),
        .block_bytes = nt_load_le32(bytes + 8),
        .stored_bytes = nt_load_le32(bytes + 12),
    };
    if (header->version != 1 && header->version != 2)
        return "the Blosc header has an unknown version";
    if (header->stored_bytes < NT_BLOSC_HEADER_BYTES)
        return "the Blosc header declares fewer bytes than the header has";
    if (header->stored_bytes > room)
        return "the chunk ends past the end of the file";
    if (header->plain_bytes > MAXIMUM_PLAIN_BYTES)
        return "the Blosc header declares more than 2 GB";
    if (header->type_bytes == 0)
        return "the Blosc header has no type size";
    if (header->plain_bytes > 0 && (header->block_bytes == 0 || header->block_bytes > MAXIMUM_PLAIN_BYTES))
        return "the Blosc header has no usable block size";
    return NULL;
}

bool nt_blosc_is_stored(const struct nt_blosc_header *header)
{
    return header->flags & FLAG_STORED;
}

const char *nt_blosc_codec(const struct nt_blosc_header *header)
{
    static const char *const names[8] = {"blosclz", "lz4",     "snappy",  "zlib",
                                         "zstd",    "unknown", "unknown", "unknown"};
    return names[header->flags >> CODEC_SHIFT];
}

const char *nt_blosc_shuffle(const struct nt_blosc_header *header)
{
    return header->flags & FLAG_SHUFFLE ? "byte" : header->flags & FLAG_BIT_SHUFFLE ? "bit" : "none";
}

/* ---- Bloscpack files ---- */

enum { NT_BLOSCPACK_HEADER_BYTES = 32, NT_BLOSCPACK_HEADER_1_BYTES = 16 };

enum {
    OPTION_OFFSETS = 1,
    OPTION_METADATA = 2,
    METADATA_HEADER_BYTES = 32,
    METADATA_MAXIMUM_BYTES = 64 * 1024 * 1024,
    METADATA_CODECS = 2, /* stored, zlib */
    OFFSET_BYTES = 8,
    MAXIMUM_CHUNK_BYTES = INT32_MAX - NT_BLOSC_HEADER_BYTES,
};

/* In the order of their numbers in the file. */
static const enum nt_checksum_kind checksums[] = {
    NT_CHECKSUM_NONE,   NT_CHECKSUM_ADLER32, NT_CHECKSUM_CRC32,  NT_CHECKSUM_MD5,    NT_CHECKSUM_SHA1,
    NT_CHECKSUM_SHA224, NT_CHECKSUM_SHA256,  NT_CHECKSUM_SHA384, NT_CHECKSUM_SHA512,
};

/* ---- Header ---- */

static enum nt_status read_checksum(uint8_t number, enum nt_checksum_kind *kind_ret, struct nt_error *error)
{
    if (number >= sizeof(checksums) / sizeof(*checksums))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "Bloscpack checksum: expected 0 to 8, found %u",
                       number);
    *kind_ret = checksums[number];
    return NT_OK;
}

static enum nt_status check_counts(const struct nt_bloscpack_header *header, struct nt_error *error)
{
    if (header->chunks < -1 || header->append_chunks < 0)
        return nt_fail(error, NT_CORRUPT, 16,
                       "the number of chunks is negative: %" PRIi64 " chunks and space for %" PRIi64 " more",
                       header->chunks, header->append_chunks);
    if (header->chunk_bytes < -1 || header->last_chunk_bytes < -1 ||
        header->chunk_bytes > MAXIMUM_CHUNK_BYTES || header->last_chunk_bytes > MAXIMUM_CHUNK_BYTES)
        return nt_fail(error, NT_CORRUPT, 8,
                       "impossible chunk sizes: %" PRIi32 " bytes, for the last chunk %" PRIi32,
                       header->chunk_bytes, header->last_chunk_bytes);
    return NT_OK;
}

static enum nt_status parse_version_1(struct nt_cursor *cursor, struct nt_bloscpack_header *header,
                                      struct nt_error *error)
{
    nt_cursor_skip(cursor, 3);
    header->chunks = (int64_t)nt_get_le64(cursor);
    header->chunk_bytes = header->last_chunk_bytes = -1;
    header->checksum = NT_CHECKSUM_NONE;
    header->header_bytes = NT_BLOSCPACK_HEADER_1_BYTES;
    return check_counts(header, error);
}

static enum nt_status parse_version_2_or_3(struct nt_cursor *cursor, struct nt_bloscpack_header *header,
                                           struct nt_error *error)
{
    uint8_t options = nt_get_u8(cursor), checksum = nt_get_u8(cursor);
    header->type_bytes = nt_get_u8(cursor);
    header->chunk_bytes = (int32_t)nt_get_le32(cursor);
    header->last_chunk_bytes = (int32_t)nt_get_le32(cursor);
    header->chunks = (int64_t)nt_get_le64(cursor);
    int64_t last = (int64_t)nt_get_le64(cursor); /* reserved in version 2 */
    header->append_chunks = header->version == 3 ? last : 0;
    header->header_bytes = NT_BLOSCPACK_HEADER_BYTES;
    header->has_offsets = options & OPTION_OFFSETS;
    header->has_metadata = options & OPTION_METADATA;
    if (options & ~(OPTION_OFFSETS | OPTION_METADATA))
        return nt_fail(error, NT_CORRUPT, 5,
                       "options 0x%02x: only the options for offsets and metadata are known", options);
    if (header->has_offsets && header->chunks < 0)
        return nt_fail(error, NT_CORRUPT, 16, "the header has offsets, but no number of chunks");
    NT_TRY(read_checksum(checksum, &header->checksum, error));
    return check_counts(header, error);
}

enum nt_status nt_bloscpack_header_parse(const uint8_t *bytes, size_t count,
                                         struct nt_bloscpack_header *header, struct nt_error *error)
{
    struct nt_cursor cursor = nt_cursor(bytes, count);
    const uint8_t *magic = nt_get_bytes(&cursor, 4);
    *header = (struct nt_bloscpack_header){0};
    if (!magic || memcmp(magic, "blpk", 4))
        return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "not a Bloscpack file");
    header->version = nt_get_u8(&cursor);
    size_t needed = header->version == 1 ? NT_BLOSCPACK_HEADER_1_BYTES : NT_BLOSCPACK_HEADER_BYTES;
    if (count < needed)
        return nt_fail(error, NT_TRUNCATED, NT_NO_OFFSET,
                       "a Bloscpack header needs %zu bytes, but the file has %zu", needed, count);
    if (header->version == 1)
        return parse_version_1(&cursor, header, error);
    if (header->version == 2 || header->version == 3)
        return parse_version_2_or_3(&cursor, header, error);
    return nt_fail(error, NT_UNSUPPORTED, 4, "Bloscpack version: expected 1 to 3, found %u", header->version);
}

bool nt_bloscpack_plain_bytes(const struct nt_bloscpack_header *header, uint64_t *bytes_ret)
{
    *bytes_ret = 0;
    if (header->chunks <= 0 || header->last_chunk_bytes <= 0)
        return header->chunks == 0;
    uint64_t before = (uint64_t)header->chunks - 1;
    if (before > 0 && header->chunk_bytes <= 0)
        return false;
    return (before == 0 || nt_checked_multiply(before, (uint64_t)header->chunk_bytes, bytes_ret)) &&
           nt_checked_add(*bytes_ret, (uint64_t)header->last_chunk_bytes, bytes_ret);
}

/* ---- Metadata section ---- */

static enum nt_status parse_metadata_header(const uint8_t *bytes, struct nt_bloscpack_metadata *metadata,
                                            struct nt_error *error)
{
    struct nt_cursor cursor = nt_cursor(bytes, METADATA_HEADER_BYTES);
    const uint8_t *format = nt_get_bytes(&cursor, 8);
    if (memcmp(format, "JSON\0\0\0\0", 8) && memcmp(format, "JSON    ", 8))
        return nt_fail(error, NT_UNSUPPORTED, NT_BLOSCPACK_HEADER_BYTES, "the metadata is not JSON");
    uint8_t options = nt_get_u8(&cursor), checksum = nt_get_u8(&cursor);
    metadata->codec = nt_get_u8(&cursor);
    metadata->level = nt_get_u8(&cursor);
    metadata->bytes = nt_get_le32(&cursor);
    metadata->maximum_bytes = nt_get_le32(&cursor);
    metadata->stored_bytes = nt_get_le32(&cursor);
    NT_TRY(read_checksum(checksum, &metadata->checksum, error));
    if (options != 0 || metadata->codec >= METADATA_CODECS ||
        metadata->stored_bytes > metadata->maximum_bytes ||
        (metadata->codec == 0 && metadata->stored_bytes != metadata->bytes))
        return nt_fail(error, NT_CORRUPT, NT_BLOSCPACK_HEADER_BYTES,
                       "metadata header: options %u, codec %u, %" PRIu32 " bytes stored as %" PRIu32
                       " in space for %" PRIu32,
                       options, metadata->codec, metadata->bytes, metadata->stored_bytes,
                       metadata->maximum_bytes);
    if (metadata->bytes > METADATA_MAXIMUM_BYTES || metadata->stored_bytes > METADATA_MAXIMUM_BYTES)
        return nt_fail(error, NT_LIMIT, NT_BLOSCPACK_HEADER_BYTES, "the metadata has more than 64 MiB");
    metadata->section_bytes = METADATA_HEADER_BYTES + (uint64_t)metadata->maximum_bytes +
                              nt_checksum_info(metadata->checksum)->bytes;
    return NT_OK;
}

static enum nt_status unpack_metadata(const struct nt_bloscpack_metadata *metadata, const uint8_t *stored,
                                      struct nt_buffer *text, struct nt_error *error)
{
    uint8_t *bytes = nt_buffer_extend(text, metadata->bytes);
    NT_TRY(nt_check_memory(bytes, error));
    if (metadata->codec == 0) {
        memcpy(bytes, stored, metadata->bytes);
        return NT_OK;
    }
    uLongf unpacked = metadata->bytes;
    int result = uncompress(bytes, &unpacked, stored, metadata->stored_bytes);
    if (result == Z_MEM_ERROR)
        return nt_fail_memory(error);
    if (result != Z_OK || unpacked != metadata->bytes)
        return nt_fail(error, NT_CORRUPT, NT_BLOSCPACK_HEADER_BYTES,
                       "the metadata does not decompress to %" PRIu32 " bytes", metadata->bytes);
    return NT_OK;
}

/* Reads the section, which directly follows the header. */
static enum nt_status read_metadata_section(struct nt_source *source, uint64_t size,
                                            struct nt_bloscpack_metadata *metadata, struct nt_buffer *text,
                                            struct nt_error *error)
{
    uint8_t header[METADATA_HEADER_BYTES], digest[64];
    uint64_t start = NT_BLOSCPACK_HEADER_BYTES + METADATA_HEADER_BYTES;
    NT_TRY(nt_source_read(source, NT_BLOSCPACK_HEADER_BYTES, header, sizeof(header), error));
    NT_TRY(parse_metadata_header(header, metadata, error));
    if (!nt_range_fits(NT_BLOSCPACK_HEADER_BYTES, metadata->section_bytes, size))
        return nt_fail(error, NT_TRUNCATED, start, "the metadata section ends past the end of the file");
    NT_AUTO_FREE uint8_t *stored = malloc(metadata->stored_bytes + 1);
    NT_TRY(nt_check_memory(stored, error));
    NT_TRY(nt_source_read(source, start, stored, metadata->stored_bytes, error));
    NT_TRY(nt_source_read(source, start + metadata->maximum_bytes, digest,
                          nt_checksum_info(metadata->checksum)->bytes, error));
    if (metadata->checksum != NT_CHECKSUM_NONE)
        NT_TRY(nt_checksum_verify(metadata->checksum, stored, metadata->stored_bytes, digest, start, error));
    if (text)
        NT_TRY(unpack_metadata(metadata, stored, text, error));
    return NT_OK;
}

/* ---- Offsets ---- */

/* All offsets are -1 if a writer did not finish. If any is invalid, chunks are found in sequence. The first
 * chunk follows the offsets: so another number of chunks is noticed, which no checksum covers. */
static enum nt_status check_offsets(struct nt_source *source, struct nt_bloscpack *bloscpack,
                                    struct nt_error *error)
{
    enum { AT_ONCE = 512 };
    uint8_t bytes[AT_ONCE * OFFSET_BYTES];
    uint64_t chunks = (uint64_t)bloscpack->header.chunks, next = bloscpack->chunks_offset;
    for (uint64_t first = 0; first < chunks; first += AT_ONCE) {
        uint64_t count = nt_min(chunks - first, AT_ONCE);
        NT_TRY(nt_source_read(source, bloscpack->offsets_offset + first * OFFSET_BYTES, bytes,
                              (size_t)count * OFFSET_BYTES, error));
        for (uint64_t i = 0; i < count; i++) {
            uint64_t offset = nt_load_le64(bytes + i * OFFSET_BYTES);
            bool is_first = first + i == 0;
            if (offset < next || (is_first && offset != next) ||
                !nt_range_fits(offset, NT_BLOSC_HEADER_BYTES, bloscpack->size))
                return NT_OK;
            next = offset + NT_BLOSC_HEADER_BYTES;
        }
    }
    bloscpack->uses_offsets = true;
    return NT_OK;
}

static enum nt_status fail_surplus(uint64_t offset, uint64_t bytes, struct nt_error *error)
{
    return nt_fail(error, NT_CORRUPT, offset, "%" PRIu64 " bytes follow the last chunk", bytes);
}

static enum nt_status place_chunks(struct nt_source *source, struct nt_bloscpack *bloscpack,
                                   struct nt_error *error)
{
    const struct nt_bloscpack_header *header = &bloscpack->header;
    uint64_t bytes = 0, slots;
    bloscpack->chunks_offset = bloscpack->offsets_offset;
    if (header->has_offsets) {
        if (!nt_checked_add((uint64_t)header->chunks, (uint64_t)header->append_chunks, &slots) ||
            !nt_checked_multiply(slots, OFFSET_BYTES, &bytes) ||
            !nt_range_fits(bloscpack->offsets_offset, bytes, bloscpack->size))
            return nt_fail(error, NT_CORRUPT, bloscpack->offsets_offset,
                           "the offsets of %" PRIi64 " chunks and the space for %" PRIi64
                           " more end past the end of the file",
                           header->chunks, header->append_chunks);
        bloscpack->chunks_offset += bytes;
    }
    uint64_t room = bloscpack->size - bloscpack->chunks_offset;
    if (header->chunks > 0 && (uint64_t)header->chunks - 1 > room / NT_BLOSC_HEADER_BYTES)
        return nt_fail(error, NT_CORRUPT, 16, "%" PRIi64 " chunks do not fit in %" PRIu64 " bytes",
                       header->chunks, room);
    if (header->chunks == 0 && room > 0)
        return fail_surplus(bloscpack->chunks_offset, room, error);
    return header->has_offsets ? check_offsets(source, bloscpack, error) : NT_OK;
}

enum nt_status nt_bloscpack_open(struct nt_source *source, struct nt_bloscpack *bloscpack,
                                 struct nt_buffer *metadata, struct nt_error *error)
{
    uint8_t bytes[NT_BLOSCPACK_HEADER_BYTES];
    *bloscpack = (struct nt_bloscpack){0};
    NT_TRY(nt_source_size(source, &bloscpack->size, error));
    size_t count = nt_min(bloscpack->size, sizeof(bytes));
    NT_TRY(nt_source_read(source, 0, bytes, count, error));
    NT_TRY(nt_bloscpack_header_parse(bytes, count, &bloscpack->header, error));
    if (bloscpack->header.has_metadata)
        NT_TRY(read_metadata_section(source, bloscpack->size, &bloscpack->metadata, metadata, error));
    bloscpack->offsets_offset = bloscpack->header.header_bytes + bloscpack->metadata.section_bytes;
    return place_chunks(source, bloscpack, error);
}

/* ---- Chunks ---- */

static void report_size(const struct nt_bloscpack_header *header, struct nt_bloscpack_chunk *chunk)
{
    bool is_last = header->chunks > 0 && chunk->number == (uint64_t)header->chunks - 1;
    int32_t declared = header->chunks < 0 ? -1 : is_last ? header->last_chunk_bytes : header->chunk_bytes;
    bool is_declared = declared > 0;
    chunk->is_size_known = is_declared || !chunk->damage;
    chunk->plain_bytes = is_declared ? (uint64_t)declared : chunk->damage ? 0 : chunk->header.plain_bytes;
}

/* Finds the start of the chunk, or why it is unknown. */
static enum nt_status find_chunk(const struct nt_bloscpack_walk *walk, struct nt_bloscpack_chunk *chunk,
                                 struct nt_error *error)
{
    uint8_t bytes[OFFSET_BYTES];
    chunk->offset = walk->next;
    chunk->damage = walk->lost_by;
    chunk->is_lost = walk->lost_by != NULL;
    if (!walk->bloscpack->uses_offsets)
        return NT_OK;
    uint64_t offset = walk->bloscpack->offsets_offset + chunk->number * OFFSET_BYTES;
    NT_TRY(nt_source_read(walk->source, offset, bytes, sizeof(bytes), error));
    chunk->offset = nt_load_le64(bytes);
    return NT_OK;
}

static enum nt_status read_chunk(struct nt_bloscpack_walk *walk, struct nt_bloscpack_chunk *chunk,
                                 struct nt_error *error)
{
    const struct nt_bloscpack *bloscpack = walk->bloscpack;
    uint8_t bytes[NT_BLOSC_HEADER_BYTES];
    uint64_t digest_bytes = nt_checksum_info(bloscpack->header.checksum)->bytes;
    NT_TRY(find_chunk(walk, chunk, error));
    if (chunk->is_lost)
        return NT_OK;
    if (!nt_range_fits(chunk->offset, sizeof(bytes) + digest_bytes, bloscpack->size)) {
        chunk->damage = "the file ends before the chunk does";
        return NT_OK;
    }
    NT_TRY(nt_source_read(walk->source, chunk->offset, bytes, sizeof(bytes), error));
    chunk->damage =
        nt_blosc_header_read(bytes, bloscpack->size - chunk->offset - digest_bytes, &chunk->header);
    walk->next = chunk->offset + chunk->header.stored_bytes + digest_bytes;
    return NT_OK;
}

struct nt_bloscpack_walk nt_bloscpack_walk_begin(struct nt_source *source,
                                                 const struct nt_bloscpack *bloscpack)
{
    return (struct nt_bloscpack_walk){
        .source = source, .bloscpack = bloscpack, .next = bloscpack->chunks_offset};
}

static enum nt_status end_walk(const struct nt_bloscpack_walk *walk, struct nt_error *error)
{
    const struct nt_bloscpack *bloscpack = walk->bloscpack;
    bool is_surplus = bloscpack->header.chunks >= 0 && !bloscpack->header.has_offsets && !walk->lost_by &&
                      walk->next < bloscpack->size;
    return is_surplus ? fail_surplus(walk->next, bloscpack->size - walk->next, error) : NT_OK;
}

bool nt_bloscpack_walk_next(struct nt_bloscpack_walk *walk, struct nt_bloscpack_chunk *chunk,
                            enum nt_status *status_ret, struct nt_error *error)
{
    const struct nt_bloscpack *bloscpack = walk->bloscpack;
    bool is_over = bloscpack->header.chunks < 0 ? walk->next == bloscpack->size || walk->lost_by
                                                : walk->number == (uint64_t)bloscpack->header.chunks;
    if (is_over) {
        *status_ret = end_walk(walk, error);
        return false;
    }
    *chunk = (struct nt_bloscpack_chunk){.number = walk->number++};
    *status_ret = read_chunk(walk, chunk, error);
    if (*status_ret != NT_OK)
        return false;
    if (chunk->damage && !bloscpack->uses_offsets)
        walk->lost_by = "cannot find the chunk, because a chunk before it is damaged";
    report_size(&bloscpack->header, chunk);
    return true;
}

/* ---- Open a Bloscpack file ---- */

/* The type and shape of the bytes. */
struct content {
    struct nt_text type;
    struct nt_blz_dtype dtype;
    uint64_t rows;
    uint64_t *dimensions;
    uint32_t dimension_count;
    bool is_scalar; /* an array without dimensions */
    bool is_fortran_order;
};

struct chunk_totals {
    uint64_t bytes;
    uint64_t item_bytes;
    bool is_crossed; /* an item spans two chunks */
};

/* Sums up sizes: from the header alone if it has all of them, else from all chunks. */
static enum nt_status sum_up(struct nt_source *source, const struct nt_bloscpack *bloscpack,
                             struct chunk_totals *totals, struct nt_error *error)
{
    const struct nt_bloscpack_header *header = &bloscpack->header;
    struct nt_bloscpack_walk walk = nt_bloscpack_walk_begin(source, bloscpack);
    struct nt_bloscpack_chunk chunk;
    enum nt_status status;
    if (nt_bloscpack_plain_bytes(header, &totals->bytes)) {
        totals->is_crossed = header->chunks > 1 && (uint64_t)header->chunk_bytes % totals->item_bytes != 0;
        return NT_OK;
    }
    totals->bytes = 0;
    while (nt_bloscpack_walk_next(&walk, &chunk, &status, error)) {
        totals->is_crossed |= totals->bytes % totals->item_bytes != 0;
        if (!nt_checked_add(totals->bytes, chunk.plain_bytes, &totals->bytes))
            return nt_fail(error, NT_LIMIT, chunk.offset, "the chunks have more than 2^64 bytes");
    }
    return status;
}

/* ---- Metadata ---- */

static enum nt_status read_numpy(struct nt_blz_build *build, const json_t *metadata, struct content *content,
                                 struct nt_error *error)
{
    struct nt_arena *arena = build->dataset->arena;
    const json_t *dtype = json_object_get(metadata, "dtype"), *order = json_object_get(metadata, "order");
    if (!json_is_string(dtype))
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "NumPy's metadata has no dtype");
    content->type = (struct nt_text){json_string_value(dtype), json_string_length(dtype)};
    NT_TRY(nt_blz_dtype_parse(arena, content->type.bytes, content->type.length, &content->dtype, error));
    if (content->dtype.is_object)
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "cannot read Python objects in a Bloscpack file");
    NT_TRY(nt_blz_shape_read(arena, json_object_get(metadata, "shape"), &content->rows, &content->dimensions,
                             &content->dimension_count, error));
    content->is_scalar = json_array_size(json_object_get(metadata, "shape")) == 0;
    content->is_fortran_order = json_is_string(order) && !strcmp(json_string_value(order), "F");
    return NT_OK;
}

static bool is_numpy(const json_t *metadata)
{
    const json_t *container = json_object_get(metadata, "container");
    return json_is_string(container) && !strcmp(json_string_value(container), "numpy");
}

/* Metadata may be anything. If it does not describe an array, the file is bytes, and metadata.json
 * contains the reason. */
static enum nt_status read_array_metadata(struct nt_blz_build *build, const struct nt_buffer *text,
                                          struct content *content, bool *is_array_ret, struct nt_error *error)
{
    struct nt_error failure = {0};
    enum nt_status status = nt_blz_json_parse(text->bytes, text->length, &build->dataset->file->budget,
                                              &build->blz->metadata, &failure);
    *is_array_ret = status == NT_OK && is_numpy(build->blz->metadata);
    if (*is_array_ret)
        status = read_numpy(build, build->blz->metadata, content, &failure);
    if (status == NT_LIMIT || nt_is_retryable(status, &failure))
        return nt_fail_copy(error, &failure);
    if (status == NT_OK)
        return NT_OK;
    *is_array_ret = false;
    build->blz->is_metadata_damaged = status != NT_UNSUPPORTED;
    build->blz->metadata_problem = nt_arena_format(build->dataset->arena, "%s", failure.message);
    return nt_check_memory(build->blz->metadata_problem, error);
}

/* ---- Content ---- */

static struct nt_blz_dtype byte_dtype(void)
{
    return (struct nt_blz_dtype){.dtype = nt_element_dtype(NT_ELEMENT_BYTE), .items = 1};
}

/* Serves items that span two chunks as bytes, with one more dimension. */
static enum nt_status split_items(struct nt_blz_build *build, struct content *content, struct nt_error *error)
{
    uint32_t count = content->dimension_count + content->dtype.dimension_count;
    uint64_t *dimensions = nt_arena_alloc(build->dataset->arena, count + 1, sizeof(*dimensions));
    NT_TRY(nt_check_memory(dimensions, error));
    for (uint32_t i = 0; i < count; i++)
        dimensions[i] = i < content->dimension_count
                            ? content->dimensions[i]
                            : content->dtype.dimensions[i - content->dimension_count];
    dimensions[count] = content->dtype.dtype.bytes;
    content->dimensions = dimensions;
    content->dimension_count = count + 1;
    content->is_scalar = false;
    content->dtype = byte_dtype();
    return NT_OK;
}

static enum nt_status find_content(struct nt_blz_build *build, struct nt_source *source,
                                   const struct nt_buffer *text, struct content *content,
                                   struct nt_error *error)
{
    bool is_array = false;
    if (build->blz->bloscpack.header.has_metadata)
        NT_TRY(read_array_metadata(build, text, content, &is_array, error));
    struct chunk_totals totals = {.item_bytes = is_array ? content->dtype.dtype.bytes : 1};
    NT_TRY(sum_up(source, &build->blz->bloscpack, &totals, error));
    if (is_array && totals.is_crossed && content->is_fortran_order)
        build->blz->metadata_problem = "items in Fortran order cross chunk boundaries";
    if (!is_array || build->blz->metadata_problem)
        *content = (struct content){.type = {"bytes", 5}, .dtype = byte_dtype(), .rows = totals.bytes};
    else if (totals.is_crossed)
        return split_items(build, content, error);
    return NT_OK;
}

/* Counts the stored bytes as metadata, except for repetitions in the text. */
static void count_metadata(struct nt_blz_build *build, const struct nt_buffer *text)
{
    uint64_t worth = nt_information_bytes((const uint8_t *)text->bytes, text->length, false);
    nt_budget_add_metadata(&build->dataset->file->budget,
                           nt_min(build->blz->bloscpack.metadata.stored_bytes, worth));
}

enum nt_status nt_blz_read_bloscpack(struct nt_blz_build *build, struct nt_source *source,
                                     struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0};
    struct content content = {0};
    NT_TRY(nt_bloscpack_open(source, &build->blz->bloscpack, &text, error));
    count_metadata(build, &text);
    NT_TRY(find_content(build, source, &text, &content, error));
    struct nt_blz_column column = {.chunking = NT_BLZ_SUPERCHUNKS, .rows = content.rows, .file_count = 1};
    uint32_t field;
    NT_TRY(nt_blz_add_field(build, NT_NONE, (struct nt_text){"values", 6}, content.type, NT_FIELD_VALUE,
                            &field, error));
    NT_TRY(nt_blz_add_source(&build->chunks, source, error));
    const struct nt_field_extra extra = {.is_scalar = content.is_scalar,
                                         .is_fortran_order =
                                             content.is_fortran_order && content.dimension_count > 0};
    NT_TRY(nt_check_memory(nt_field_set_extra(build->dataset->arena, &build->model.fields[field], &extra),
                           error));
    return nt_blz_add_column(build, field, &content.dtype, content.dimensions, content.dimension_count,
                             &column, error);
}
