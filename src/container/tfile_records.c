/* SPDX-License-Identifier: MIT
 *
 * Scans a ROOT file record by record, from the first to the last, with its keys, free segments and
 * gaps. The scan also finds anchors that no directory lists.
 */
#include "container/container.h"

/* ---- Scan records ---- */

enum {
    WINDOW_BYTES = 65536,
    OFFSET_AT = 18,       /* of the record's own offset in a key, 32 or 64 bits */
    LARGE_OFFSET_AT = 22, /* of the low half of a 64-bit offset */
    OFFSET_END = 26,
};

enum nt_status nt_tfile_walk_init(struct nt_tfile_walk *walk, struct nt_source *source,
                                  const struct nt_tfile_header *header, struct nt_error *error)
{
    *walk = (struct nt_tfile_walk){.source = source,
                                   .position = header->begin,
                                   .end = nt_min(header->records_end, source->size),
                                   .records_end = header->records_end,
                                   .key_buffer = malloc(NT_TFILE_MAX_KEY_BYTES),
                                   .window = malloc(WINDOW_BYTES)};
    NT_TRY(nt_check_memory(walk->key_buffer && walk->window, error));
    return nt_tfile_read_free(source, header, &walk->free_segments, &walk->free_count, error);
}

void nt_tfile_walk_deinit(struct nt_tfile_walk *walk)
{
    free(walk->key_buffer);
    free(walk->window);
    free(walk->free_segments);
    *walk = (struct nt_tfile_walk){0};
}

NT_DEFINE_COUNT_UP_TO(segments_up_to, struct nt_extent, .offset)

/* The first free segment at or after the position; NULL if there is none. */
static const struct nt_extent *free_segment_from(const struct nt_tfile_walk *walk, uint64_t position)
{
    size_t before = position ? segments_up_to(walk->free_segments, walk->free_count, position - 1) : 0;
    return before < walk->free_count ? &walk->free_segments[before] : NULL;
}

static const struct nt_extent *free_segment_at(const struct nt_tfile_walk *walk, uint64_t position)
{
    const struct nt_extent *segment = free_segment_from(walk, position);
    return segment && segment->offset == position ? segment : NULL;
}

/* Unreadable bytes are not a key; records system errors. */
static bool is_read(struct nt_tfile_walk *walk, enum nt_status status, const struct nt_error *failure)
{
    if (nt_is_environmental(status))
        walk->failure = *failure;
    return !status;
}

static bool read_key(struct nt_tfile_walk *walk, uint64_t position, struct nt_tfile_key *key)
{
    struct nt_error failure;
    enum nt_status status = nt_tfile_read_key(walk->source, position, walk->key_buffer, key, &failure);
    return is_read(walk, status, &failure) && nt_tfile_is_key_of(key, position, walk->records_end);
}

/* Size of a segment that marks itself as free (negative size); else 0. A known record must follow. */
static uint64_t marked_free(struct nt_tfile_walk *walk, uint64_t position)
{
    uint8_t mark[4];
    struct nt_tfile_key key;
    struct nt_error failure;
    if (!is_read(walk, nt_source_read(walk->source, position, mark, sizeof(mark), &failure), &failure))
        return 0;
    uint64_t bytes = UINT64_C(0x100000000) - nt_load_be32(mark);
    uint64_t next = position + bytes;
    if (bytes > INT32_MAX || next > walk->records_end)
        return 0;
    bool is_followed = next >= walk->end || free_segment_at(walk, next) || read_key(walk, next, &key);
    return is_followed ? bytes : 0;
}

static bool is_zero(const uint8_t *bytes, size_t length)
{
    return length == 0 || (bytes[0] == 0 && !memcmp(bytes, bytes + 1, length - 1));
}

/* The first offset in the window where a record may start; `length` if there is none. */
static size_t find_record_offset(const uint8_t *window, size_t length, uint64_t position)
{
    if (length < OFFSET_END || is_zero(window, length))
        return length;
    for (size_t i = 0; i + OFFSET_END <= length; i++) {
        uint32_t offset = (uint32_t)(position + i);
        if (nt_load_be32(window + i + OFFSET_AT) == offset ||
            nt_load_be32(window + i + LARGE_OFFSET_AT) == offset)
            return i;
    }
    return length;
}

/* The first record in the window; `length` if there is none. */
static size_t find_record(struct nt_tfile_walk *walk, size_t length, uint64_t position)
{
    struct nt_tfile_key key;
    size_t at = 0;
    while ((at += find_record_offset(walk->window + at, length - at, position + at)) < length) {
        if (read_key(walk, position + at, &key))
            break;
        at++;
    }
    return at;
}

/* The next offset to examine: skips holes, except the zeros that may begin a record's size. */
static uint64_t skip_hole(const struct nt_tfile_walk *walk, uint64_t position)
{
    enum { LEADING_ZEROS = 3 };
    uint64_t next = nt_source_skip_hole(walk->source, position);
    return next > position + LEADING_ZEROS ? next - LEADING_ZEROS : position;
}

/* The start of the next record or free segment after `position`, or the end. */
static enum nt_status find_next(struct nt_tfile_walk *walk, uint64_t position, uint64_t *next_ret,
                                struct nt_error *error)
{
    const struct nt_extent *segment = free_segment_from(walk, position + 1);
    uint64_t limit = segment ? nt_min(segment->offset, walk->end) : walk->end;
    uint64_t at = position + 1;
    while ((at = skip_hole(walk, at)) < limit) {
        size_t length = (size_t)nt_min(limit - at, WINDOW_BYTES);
        NT_TRY(nt_source_read(walk->source, at, walk->window, length, error));
        size_t found = find_record(walk, length, at);
        if (found < length) {
            *next_ret = at + found;
            return NT_OK;
        }
        bool is_last = at + length == limit;
        at += is_last ? length : length - OFFSET_END + 1;
    }
    *next_ret = limit;
    return NT_OK;
}

enum nt_status nt_tfile_walk_next(struct nt_tfile_walk *walk, struct nt_tfile_record *record_ret,
                                  struct nt_error *error)
{
    if (walk->position >= walk->end)
        return NT_NOT_FOUND;
    struct nt_tfile_record record = {.kind = NT_TFILE_FREE, .offset = walk->position};
    walk->failure = (struct nt_error){0};
    const struct nt_extent *segment = free_segment_at(walk, walk->position);
    if (segment) {
        record.bytes = segment->bytes;
    } else if (read_key(walk, walk->position, &record.key)) {
        record.kind = NT_TFILE_KEY;
        record.bytes = record.key.bytes;
    } else {
        record.bytes = marked_free(walk, walk->position);
    }
    if (!record.bytes) {
        uint64_t next;
        NT_TRY(find_next(walk, walk->position, &next, error));
        record.kind = NT_TFILE_GAP;
        record.bytes = next - walk->position;
    }
    if (walk->failure.status)
        return nt_fail_copy(error, &walk->failure);
    walk->position += record.bytes;
    *record_ret = record;
    return NT_OK;
}

/* ---- Find anchor records ---- */

/* A directory by its record's offset. */
struct directory_record {
    uint64_t offset;
    uint32_t directory;
};

static struct directory_record *records_of_directories(const struct nt_tfile *tfile)
{
    struct directory_record *directory_records = calloc(tfile->directory_count, sizeof(*directory_records));
    for (uint32_t i = 0; directory_records && i < tfile->directory_count; i++)
        directory_records[i] = (struct directory_record){tfile->directories[i].offset, i};
    if (directory_records)
        qsort(directory_records, tfile->directory_count, sizeof(*directory_records), nt_compare_u64);
    return directory_records;
}

static uint32_t directory_at(const struct directory_record *directory_records, uint32_t count,
                             uint64_t offset)
{
    const struct directory_record key = {.offset = offset};
    const struct directory_record *found =
        bsearch(&key, directory_records, count, sizeof(*directory_records), nt_compare_u64);
    return found ? found->directory : NT_NONE;
}

enum nt_status nt_tfile_visit_anchors(const struct nt_file *file, nt_anchor_visit *visit, void *context,
                                      struct nt_error *error)
{
    const struct nt_tfile *tfile = nt_tfile_of(file);
    NT_AUTO_FREE struct directory_record *directory_records = records_of_directories(tfile);
    NT_CLEANUP(nt_tfile_walk_deinit) struct nt_tfile_walk walk = {0};
    struct nt_tfile_record record;
    NT_TRY(nt_check_memory(directory_records, error));
    enum nt_status status = nt_tfile_walk_init(&walk, file->source, &tfile->header, error);
    while (!status && !(status = nt_tfile_walk_next(&walk, &record, error))) {
        if (record.kind != NT_TFILE_KEY || !nt_tfile_is_anchor(&record.key))
            continue;
        const struct nt_anchor_record anchor = {
            .offset = record.offset,
            .object_offset = record.offset + record.key.key_bytes,
            .directory = directory_at(directory_records, tfile->directory_count, record.key.directory_offset),
            .cycle = record.key.cycle,
            .name = record.key.name,
        };
        status = visit(context, &anchor, error);
    }
    return status == NT_NOT_FOUND ? NT_OK : status;
}
