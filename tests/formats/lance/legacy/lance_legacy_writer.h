/* SPDX-License-Identifier: MIT
 *
 * Writes a legacy Lance file piece by piece, after lance's protos/file.proto: bytes of pages, the page
 * table, the manifest, the metadata, the tail.
 */
#pragma once

#include "proto_writer.h"

enum { LEGACY_FIELDS = 8, LEGACY_BATCHES = 3 };

struct legacy_writer {
    struct nt_buffer out, manifest, statistics; /* the last: a StatisticsMetadata, if there is one */
    uint64_t cells[LEGACY_FIELDS][LEGACY_BATCHES][2];
    int32_t first, last; /* ids */
    uint64_t batches[LEGACY_BATCHES + 1];
    unsigned batch_count;
    uint16_t minor;
    bool has_no_manifest;
    uint64_t table, manifest_at, metadata_at, tail; /* its offset, once all is written */
};

static inline void legacy_put(struct nt_buffer *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        nt_buffer_append_byte(out, (char)(value >> (8 * i)));
}

static inline void legacy_begin(struct legacy_writer *writer, const uint64_t *batches, unsigned count)
{
    *writer = (struct legacy_writer){.first = INT32_MAX, .last = -1, .batch_count = count, .minor = 2};
    memcpy(writer->batches, batches, (count + 1) * sizeof(*batches));
}

static inline void legacy_deinit(struct legacy_writer *writer)
{
    nt_buffer_deinit(&writer->out);
    nt_buffer_deinit(&writer->manifest);
    nt_buffer_deinit(&writer->statistics);
}

/* A Field. `items` of a dictionary at `offset`; UINT64_MAX: there is none. */
static inline void legacy_put_field(struct nt_buffer *list, int32_t id, int32_t parent, const char *name,
                                    const char *type, uint64_t encoding, uint64_t offset, uint64_t items)
{
    struct nt_buffer field = {0}, dictionary = {0};
    put_text(&field, 2, name);
    put_number(&field, 3, (uint64_t)(int64_t)id);
    put_number(&field, 4, (uint64_t)(int64_t)parent);
    put_text(&field, 5, type);
    put_number(&field, 6, 1);
    put_number(&field, 7, encoding);
    if (offset != UINT64_MAX) {
        put_number(&dictionary, 1, offset);
        put_number(&dictionary, 2, items);
        put_message(&field, 8, &dictionary);
    }
    put_message(list, 1, &field);
}

static inline void legacy_field(struct legacy_writer *writer, int32_t id, int32_t parent, const char *name,
                                const char *type)
{
    writer->first = id < writer->first ? id : writer->first;
    writer->last = id > writer->last ? id : writer->last;
    legacy_put_field(&writer->manifest, id, parent, name, type, 1, UINT64_MAX, 0);
}

/* The offset of added bytes. */
static inline uint64_t legacy_bytes(struct legacy_writer *writer, const void *bytes, size_t count)
{
    uint64_t at = writer->out.length;
    nt_buffer_append(&writer->out, bytes, count);
    return at;
}

static inline uint64_t legacy_numbers(struct legacy_writer *writer, unsigned bytes, const uint64_t *numbers,
                                      size_t count)
{
    uint64_t at = writer->out.length;
    for (size_t i = 0; i < count; i++)
        legacy_put(&writer->out, numbers[i], bytes);
    return at;
}

static inline void legacy_page(struct legacy_writer *writer, int32_t id, unsigned batch, uint64_t offset,
                               uint64_t length)
{
    writer->cells[id][batch][0] = offset;
    writer->cells[id][batch][1] = length;
}

static inline uint64_t legacy_message(struct legacy_writer *writer, struct nt_buffer *message)
{
    uint64_t at = writer->out.length;
    legacy_put(&writer->out, message->length, 4);
    nt_buffer_append(&writer->out, nt_buffer_string(message), message->length);
    nt_buffer_deinit(message);
    *message = (struct nt_buffer){0};
    return at;
}

static inline void legacy_end(struct legacy_writer *writer)
{
    struct nt_buffer metadata = {0};
    writer->table = writer->out.length;
    for (int32_t id = writer->first; id <= writer->last; id++)
        for (unsigned batch = 0; batch < writer->batch_count; batch++)
            for (unsigned i = 0; i < 2; i++)
                legacy_put(&writer->out, writer->cells[id][batch][i], 8);
    if (!writer->has_no_manifest) {
        writer->manifest_at = legacy_message(writer, &writer->manifest);
        put_number(&metadata, 1, writer->manifest_at);
    }
    put_packed(&metadata, 2, writer->batches, writer->batch_count + 1);
    put_number(&metadata, 3, writer->table);
    if (writer->statistics.length)
        put_message(&metadata, 5, &writer->statistics);
    writer->metadata_at = legacy_message(writer, &metadata);
    writer->tail = writer->out.length;
    legacy_put(&writer->out, writer->metadata_at, 8);
    legacy_put(&writer->out, 0, 2);
    legacy_put(&writer->out, writer->minor, 2);
    nt_buffer_append(&writer->out, "LANC", 4);
}
