/* SPDX-License-Identifier: MIT
 *
 * Reads payloads (envelopes, and pages with their checksums) that are longer than the maximum size of a
 * TFile key. The first key ends with the little-endian offsets of the other keys, as ROOT's writer
 * splits them.
 */
#include "formats/rntuple/rntuple.h"

enum { OFFSET_BYTES = 8 };

struct payload_source {
    struct nt_source source;
    struct nt_source *file;
    uint64_t maximum_key_bytes; /* UINT64_MAX: never split */
};

/* The number of keys of a payload. The first key also stores the offsets; if the last key has no room
 * for the bytes that they displace, one more key follows. */
static uint64_t count_keys(uint64_t bytes, uint64_t maximum)
{
    uint64_t keys = bytes / maximum + (bytes % maximum != 0);
    if (keys <= 1)
        return 1;
    uint64_t room = keys * maximum - bytes;
    return room / OFFSET_BYTES < keys - 1 ? keys + 1 : keys;
}

static enum nt_status read_offsets(struct nt_source *file, struct nt_extent *extents, uint64_t keys,
                                   uint64_t rest, uint64_t maximum, struct nt_error *error)
{
    uint64_t offset = extents[0].offset + extents[0].bytes;
    for (uint64_t i = 1; i < keys; i++, offset += OFFSET_BYTES) {
        uint8_t bytes[OFFSET_BYTES];
        NT_TRY(nt_source_read(file, offset, bytes, OFFSET_BYTES, error));
        extents[i].offset = nt_load_le64(bytes);
        extents[i].bytes = nt_min(rest, maximum);
        rest -= extents[i].bytes;
        if (!nt_range_fits(extents[i].offset, extents[i].bytes, file->size))
            return nt_fail(error, NT_CORRUPT, offset,
                           "%s: extent %" PRIu64 " of a payload (%" PRIu64 " bytes at byte %" PRIu64
                           ") ends past the end of the file",
                           file->path, i, extents[i].bytes, extents[i].offset);
    }
    return NT_OK;
}

bool nt_payload_is_whole(const struct nt_source *payload_source, uint64_t offset, uint64_t bytes)
{
    const struct payload_source *payload = (const struct payload_source *)payload_source;
    return bytes <= payload->maximum_key_bytes && nt_range_fits(offset, bytes, payload->file->size);
}

enum nt_status nt_payload_extents(struct nt_source *payload_source, uint64_t offset, uint64_t bytes,
                                  struct nt_extent **extents_ret, size_t *count_ret, struct nt_error *error)
{
    const struct payload_source *payload = (const struct payload_source *)payload_source;
    struct nt_source *file = payload->file;
    uint64_t maximum = payload->maximum_key_bytes;
    /* The file contains all of the payload, split or not, and the first part is at its offset. */
    if (bytes > file->size || !nt_range_fits(offset, nt_min(bytes, maximum), file->size))
        return nt_fail(error, NT_TRUNCATED, offset,
                       "%s: %" PRIu64 " bytes are outside the file of %" PRIu64 " bytes", file->path, bytes,
                       file->size);
    uint64_t keys = count_keys(bytes, maximum);
    uint64_t list_bytes;
    if (!nt_checked_multiply(keys - 1, OFFSET_BYTES, &list_bytes) || (keys > 1 && list_bytes > maximum))
        return nt_fail(error, NT_CORRUPT, offset,
                       "%s: %" PRIu64 " bytes cannot be split into keys of %" PRIu64 " bytes", file->path,
                       bytes, maximum);
    NT_AUTO_FREE struct nt_extent *extents = calloc((size_t)keys, sizeof(*extents));
    NT_TRY(nt_check_memory(extents, error));
    extents[0] = (struct nt_extent){offset, keys > 1 ? maximum - list_bytes : bytes};
    NT_TRY(read_offsets(file, extents, keys, bytes - extents[0].bytes, maximum, error));
    *extents_ret = extents;
    *count_ret = (size_t)keys;
    extents = NULL;
    return NT_OK;
}

/* Reads a split payload; passes all other reads to the file. */
static enum nt_status payload_read_at(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                      struct nt_error *error)
{
    struct payload_source *payload = (struct payload_source *)source;
    NT_AUTO_FREE struct nt_extent *extents = NULL;
    size_t count;
    NT_TRY(nt_payload_extents(source, offset, bytes, &extents, &count, error));
    uint8_t *output = buffer;
    for (size_t i = 0; i < count; i++) {
        NT_TRY(nt_source_read(payload->file, extents[i].offset, output, (size_t)extents[i].bytes, error));
        output += extents[i].bytes;
    }
    return NT_OK;
}

static enum nt_status payload_stat(struct nt_source *source, struct stat *attributes, struct nt_error *error)
{
    return nt_source_stat(((struct payload_source *)source)->file, attributes, error);
}

static enum nt_status payload_size(struct nt_source *source, uint64_t *size_ret, struct nt_error *error)
{
    return nt_source_size(((struct payload_source *)source)->file, size_ret, error);
}

/* Skips split payloads: only reading them shows where their parts are. */
static void payload_prefetch(struct nt_source *source, const struct nt_extent *extents, size_t count,
                             enum nt_prefetch_need need)
{
    struct payload_source *payload = (struct payload_source *)source;
    size_t first = 0;
    for (size_t i = 0; i <= count; i++)
        if (i == count || extents[i].bytes > payload->maximum_key_bytes) {
            nt_source_prefetch(payload->file, extents + first, i - first, need);
            first = i + 1;
        }
}

static bool payload_forget(struct nt_source *source, uint64_t offset, uint64_t bytes)
{
    struct payload_source *payload = (struct payload_source *)source;
    return bytes <= payload->maximum_key_bytes && nt_source_invalidate(payload->file, offset, bytes);
}

static void payload_close(struct nt_source *source)
{
    free(source);
}

enum nt_status nt_payload_source_new(struct nt_source *file_source, uint64_t maximum_key_bytes,
                                     struct nt_source **source_ret, struct nt_error *error)
{
    /* No check: the file below is the dataset's own, which is checked directly. */
    static const struct nt_source_ops payload_ops = {
        .read_at = payload_read_at,
        .stat = payload_stat,
        .size = payload_size,
        .close = payload_close,
    };
    static const struct nt_source_ops remote_payload_ops = {
        .read_at = payload_read_at,
        .stat = payload_stat,
        .size = payload_size,
        .prefetch = payload_prefetch,
        .forget = payload_forget,
        .close = payload_close,
    };
    struct payload_source *payload = calloc(1, sizeof(*payload));
    NT_TRY(nt_check_memory(payload, error));
    /* A split payload may be longer than the rest of the file, so reads are checked here. */
    payload->source =
        (struct nt_source){.ops = nt_source_can_prefetch(file_source) ? &remote_payload_ops : &payload_ops,
                           .size = NT_UNKNOWN_SIZE,
                           .split_bytes = maximum_key_bytes,
                           .beneath = file_source,
                           .path = file_source->path,
                           .is_object_store = file_source->is_object_store};
    payload->file = file_source;
    payload->maximum_key_bytes = maximum_key_bytes ? maximum_key_bytes : UINT64_MAX;
    *source_ret = &payload->source;
    return NT_OK;
}
